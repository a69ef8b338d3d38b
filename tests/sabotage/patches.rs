//! Positions of fields in written sections, found with `gimli`'s reader.

use core::ops::Range;

use eitri::emit::{RelocationTarget, Section};
use gimli::{DebugAbbrev, DebugInfo, DwAt, DwTag, EndianSlice, LittleEndian};

/// Sections to patch.
#[derive(Clone)]
pub struct Patches {
    pub sections: Vec<Section>,
}

/// Entry: offset, abbreviation, and attributes with the positions of their values.
pub struct Found {
    pub offset: usize,
    code: u64,
    tag: DwTag,
    name: Option<String>,
    attributes: Vec<(DwAt, Range<usize>)>,
}

impl Patches {
    pub fn section(&mut self, name: &str) -> &mut Section {
        self.sections.iter_mut().find(|section| section.name == name).unwrap()
    }

    pub fn bytes(&mut self, name: &str) -> &mut Vec<u8> {
        &mut self.section(name).bytes
    }

    /// Bytes of a section with the addends of relocations filled in.
    fn filled(&self, name: &str) -> Vec<u8> {
        let section = self.sections.iter().find(|section| section.name == name).unwrap();
        let mut bytes = section.bytes.clone();
        for relocation in &section.relocations {
            if matches!(relocation.target, RelocationTarget::Section(_)) {
                let at = relocation.offset as usize;
                bytes[at..at + 4].copy_from_slice(&relocation.addend.to_le_bytes()[..4]);
            }
        }
        bytes
    }

    fn entries(&self) -> Vec<Found> {
        let info = self.filled(".debug_info");
        let abbrev = self.filled(".debug_abbrev");
        let strings = self.filled(".debug_str");
        let info = DebugInfo::from(EndianSlice::new(&info, LittleEndian));
        let abbrev = DebugAbbrev::from(EndianSlice::new(&abbrev, LittleEndian));
        let mut all = Vec::new();
        // The only unit is at the start of the section.
        let unit = info.units().next().unwrap().unwrap();
        let table = unit.abbreviations(&abbrev).unwrap();
        let mut entries = unit.entries_raw(&table, None).unwrap();
        while !entries.is_empty() {
            let offset = entries.next_offset().0;
            let Some(abbreviation) = entries.read_abbreviation().unwrap() else { continue };
            let mut found = Found {
                offset,
                code: abbreviation.code(),
                tag: abbreviation.tag(),
                name: None,
                attributes: Vec::new(),
            };
            for &spec in abbreviation.attributes() {
                let from = entries.next_offset().0;
                let attribute = entries.read_attribute(spec).unwrap();
                if let (gimli::DW_AT_name, gimli::AttributeValue::DebugStrRef(at)) =
                    (attribute.name(), attribute.value())
                {
                    let text = strings[at.0..].split(|&byte| byte == 0).next().unwrap();
                    found.name = Some(String::from_utf8(text.to_vec()).unwrap());
                }
                found.attributes.push((attribute.name(), from..entries.next_offset().0));
            }
            all.push(found);
        }
        all
    }

    /// Entry with this tag and name; without a name, the first one with this tag.
    pub fn entry(&self, tag: DwTag, name: &str) -> Found {
        let is = |found: &Found| found.tag == tag && (name.is_empty() || found.name.as_deref() == Some(name));
        self.entries().into_iter().find(is).unwrap()
    }

    /// Offsets of the entries with this tag, each with the bytes of an attribute's value.
    pub fn all(&self, tag: DwTag, at: DwAt) -> Vec<(usize, Vec<u8>)> {
        let info = self.filled(".debug_info");
        let value = |found: Found| {
            let (_, range) = found.attributes.into_iter().find(|(name, _)| *name == at)?;
            Some((found.offset, info[range].to_vec()))
        };
        self.entries().into_iter().filter(|found| found.tag == tag).filter_map(value).collect()
    }

    /// Bytes of an attribute's value.
    pub fn value(&mut self, tag: DwTag, name: &str, at: DwAt) -> &mut [u8] {
        let found = self.entry(tag, name);
        let (_, range) = found.attributes.into_iter().find(|(name, _)| *name == at).unwrap();
        &mut self.bytes(".debug_info")[range]
    }

    /// Makes an attribute refer to an entry of the first unit.
    pub fn refer(&mut self, (tag, name, at): (DwTag, &str, DwAt), to: (DwTag, &str)) {
        let to = self.entry(to.0, to.1).offset as u32;
        self.value(tag, name, at).copy_from_slice(&to.to_le_bytes());
    }

    /// Changes the name of an attribute to one of the same size, in an entry and in all that share its abbreviation.
    pub fn rename(&mut self, tag: DwTag, name: &str, from: DwAt, to: DwAt) {
        let wanted = self.entry(tag, name).code;
        let at = self.abbreviation(wanted).1[&from];
        let mut bytes = Vec::new();
        gimli::leb128::write::unsigned(&mut bytes, to.0.into()).unwrap();
        self.bytes(".debug_abbrev")[at..at + bytes.len()].copy_from_slice(&bytes);
    }

    /// Changes the tag of an entry, and of all that share its abbreviation, to one of one byte.
    pub fn retag(&mut self, tag: DwTag, name: &str, to: DwTag) {
        let wanted = self.entry(tag, name).code;
        let at = self.abbreviation(wanted).0;
        self.bytes(".debug_abbrev")[at] = to.0 as u8;
    }

    /// Positions of an abbreviation's tag and of the names of its attributes.
    fn abbreviation(&mut self, wanted: u64) -> (usize, std::collections::HashMap<DwAt, usize>) {
        let bytes = self.bytes(".debug_abbrev").clone();
        let mut at = 0;
        let uleb = |at: &mut usize| {
            let mut rest = &bytes[*at..];
            let value = gimli::leb128::read::unsigned(&mut EndianSlice::new(rest, LittleEndian)).unwrap();
            while rest[0] & 0x80 != 0 {
                rest = &rest[1..];
                *at += 1;
            }
            *at += 1;
            value
        };
        loop {
            let code = uleb(&mut at);
            let tag_at = at;
            uleb(&mut at);
            at += 1;
            let mut names = std::collections::HashMap::new();
            loop {
                let name_at = at;
                let name = uleb(&mut at);
                let form = uleb(&mut at);
                if (name, form) == (0, 0) {
                    break;
                }
                if form == u64::from(gimli::DW_FORM_implicit_const.0) {
                    uleb(&mut at);
                }
                names.insert(DwAt(name as u16), name_at);
            }
            if code == wanted {
                return (tag_at, names);
            }
        }
    }

    /// Position of list `index` of the first unit's table in a section of lists.
    pub fn list(&mut self, section: &str, index: usize) -> usize {
        let bytes = self.bytes(section);
        let entry = 12 + 4 * index;
        12 + u32::from_le_bytes(bytes[entry..entry + 4].try_into().unwrap()) as usize
    }

    /// Appends a list and makes it list `index`.
    pub fn replace_list(&mut self, section: &str, index: usize, list: &[u8]) {
        let bytes = self.bytes(section);
        let entry = 12 + 4 * index;
        let at = bytes.len() as u32 - 12;
        bytes[entry..entry + 4].copy_from_slice(&at.to_le_bytes());
        bytes.extend_from_slice(list);
        let length = bytes.len() as u32 - 4;
        bytes[..4].copy_from_slice(&length.to_le_bytes());
    }

    /// List index in the location of a variable.
    pub fn list_index(&mut self, name: &str) -> usize {
        self.value(gimli::DW_TAG_variable, name, gimli::DW_AT_location)[0].into()
    }

    /// Position of bytes that occur once.
    pub fn once(&mut self, section: &str, pattern: &[u8]) -> usize {
        let bytes = self.bytes(section);
        let mut all = bytes.windows(pattern.len()).enumerate().filter(|(_, window)| *window == pattern);
        let first = all.next();
        let more = all.next();
        assert!(more.is_none(), "{pattern:x?} is there more than once");
        first.unwrap().0
    }
}
