//! Sections as tree facts, read with gimli and nothing of this crate.

use std::collections::BTreeMap;

use gimli::constants as dw;
use gimli::{
    AttributeValue, DebuggingInformationEntry, DwAt, DwTag, Dwarf, Endianity, Error, Reader, Section,
};

use super::{Context, Tree, What};
use crate::agreement::common::Slice;
use crate::agreement::modules::VENDOR;

type Result<T> = std::result::Result<T, Error>;

/// Reader of a unit.
pub(super) struct Found<'f, 'a> {
    dwarf: &'f Dwarf<Slice<'a>>,
    unit: &'f gimli::Unit<Slice<'a>>,
    pub(super) context: Context<'f>,
    pub(super) big_endian: bool,
    dies: BTreeMap<u64, Die<'a>>,
    /// Entries with the code of functions inside other functions, by the functions' entries.
    apart: BTreeMap<u64, u64>,
    /// Rows by the start address of their sequence.
    rows: BTreeMap<u64, Vec<(u64, String)>>,
}

pub(super) struct Die<'a> {
    pub(super) id: u64,
    /// Tag of the entry around it.
    pub(super) around: Option<DwTag>,
    pub(super) tag: DwTag,
    entry: DebuggingInformationEntry<Slice<'a>>,
    pub(super) children: Vec<u64>,
}

pub(super) fn module(dwarf: &Dwarf<Slice<'_>>, context: Context<'_>) -> Result<Tree> {
    let mut all = Tree::new("module", None);
    let mut headers = dwarf.units();
    while let Some(header) = headers.next()? {
        let unit = dwarf.unit(header)?;
        let start = unit.header.debug_info_offset().expect("in .debug_info").0 as u64;
        let (mut dies, mut open) = (BTreeMap::<u64, Die<'_>>::new(), Vec::<u64>::new());
        let mut root = None;
        let mut entries = unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            let id = start + entry.offset().0 as u64;
            open.truncate(entry.depth() as usize);
            match open.last() {
                Some(parent) => dies.get_mut(parent).expect("is there").children.push(id),
                None => root = Some(id),
            }
            let around = open.last().map(|parent| dies[parent].tag);
            open.push(id);
            dies.insert(id, Die { id, around, tag: entry.tag(), entry: entry.clone(), children: Vec::new() });
        }
        let big_endian = dwarf.debug_info.reader().endian().is_big_endian();
        let (apart, rows) = (BTreeMap::new(), BTreeMap::new());
        let mut found = Found { dwarf, unit: &unit, context, big_endian, dies, apart, rows };
        found.read_rows()?;
        found.find_apart();
        all.inside.push(found.unit(&found.dies[&root.expect("an entry")])?);
    }
    Ok(all)
}

impl<'f, 'a> Found<'f, 'a> {
    /// Finds the code that is not beside its abstract instance: it is outside all functions.
    fn find_apart(&mut self) {
        let parents: BTreeMap<u64, u64> =
            self.dies.values().flat_map(|die| die.children.iter().map(|&child| (child, die.id))).collect();
        let around = |id: u64| parents.get(&id).copied();
        let is_function = |id: u64| self.dies[&id].tag == dw::DW_TAG_subprogram;
        let functions = self.dies.values().filter(|die| is_function(die.id));
        let origins = functions.filter_map(|die| {
            let origin = self.reference(own(die, dw::DW_AT_abstract_origin)?)?;
            (around(origin) != around(die.id)).then_some((origin, die.id))
        });
        let apart: Vec<_> = origins.collect();
        for &(_, body) in &apart {
            let outside = std::iter::successors(around(body), |&id| around(id));
            assert!(!outside.into_iter().any(is_function), "{body:#x} is inside a function");
        }
        let count = apart.len();
        self.apart = apart.into_iter().collect();
        assert_eq!(self.apart.len(), count, "a function's code has two entries");
    }

    fn unit(&self, root: &Die<'a>) -> Result<Tree> {
        let mut tree = Tree::new("unit", None);
        tree.may("name", self.text(root, dw::DW_AT_name)?);
        tree.may("directory", self.text(root, dw::DW_AT_comp_dir)?);
        tree.may("producer", self.text(root, dw::DW_AT_producer)?);
        tree.may("language", self.number(root, dw::DW_AT_language));
        tree.may("vendor", self.number(root, VENDOR));
        let mut code = self.ranges(root)?;
        code.sort_unstable();
        tree.add("code", code);
        let program = self.unit.line_program.as_ref().map(|program| program.header());
        let first = u64::from(self.unit.encoding().version < 5);
        let count = program.map_or(0, |program| program.file_names().len()) as u64;
        let files = (first..first + count).map(|file| self.file(file)).collect::<Result<Vec<_>>>()?;
        tree.may("files", program.map(|_| files));
        tree.may("macros", self.macros(root)?);
        self.in_scope(root, None, &mut tree)?;
        Ok(tree)
    }

    /// Actions of the preprocessor, each with a line and a text or a file's name.
    fn macros(&self, root: &Die<'a>) -> Result<Option<Vec<What>>> {
        let has = |at| own(root, at).map(gimli::Attribute::value);
        let entries = match (has(dw::DW_AT_macros), has(dw::DW_AT_macro_info)) {
            (Some(AttributeValue::DebugMacroRef(offset)), None) => self.dwarf.macros(offset)?,
            (None, Some(AttributeValue::DebugMacinfoRef(offset))) => self.dwarf.macinfo(offset)?,
            (None, None) => return Ok(None),
            other => panic!("one list of macros: {other:?}"),
        };
        let text = |text: gimli::MacroString<Slice<'a>>| {
            let text = text.string(self.unit.unit_ref(self.dwarf))?;
            Ok::<_, Error>(text.to_string_lossy().into_owned())
        };
        let mut all = Vec::new();
        let mut open = vec![entries];
        while let Some(entries) = open.last_mut() {
            let Some(entry) = entries.next()? else {
                open.pop();
                continue;
            };
            all.push(match entry {
                // Actions that several lists have.
                gimli::MacroEntry::Import { offset } => {
                    open.push(self.dwarf.macros(offset)?);
                    continue;
                }
                gimli::MacroEntry::Define { line, text: of } => ("define", line, text(of)?),
                gimli::MacroEntry::Undef { line, name } => ("undefine", line, text(name)?),
                gimli::MacroEntry::StartFile { line, file } => {
                    let (directory, name, _) = self.file(file)?;
                    ("file", line, format!("{directory}/{name}"))
                }
                gimli::MacroEntry::EndFile => ("end of file", 0, String::new()),
                other => panic!("a macro: {other:?}"),
            });
        }
        Ok(Some(all))
    }

    fn read_rows(&mut self) -> Result<()> {
        let Some(program) = self.unit.line_program.clone() else { return Ok(()) };
        let (program, sequences) = program.sequences()?;
        for sequence in sequences {
            let mut rows = program.resume_from(&sequence);
            let mut all = Vec::new();
            while let Some((_, row)) = rows.next_row()? {
                let column = match row.column() {
                    gimli::ColumnType::LeftEdge => 0,
                    gimli::ColumnType::Column(column) => column.get(),
                };
                let (directory, name, _) = self.file(row.file_index())?;
                let line = Some((directory, name, row.line().map_or(0, |line| line.get()), column));
                let flags = (row.is_stmt(), row.prologue_end(), row.epilogue_begin());
                let text = if row.end_sequence() {
                    "end".into()
                } else {
                    format!("{:x?}", (line, row.discriminator(), flags))
                };
                all.push((row.address(), text));
            }
            self.rows.insert(sequence.start, all);
        }
        Ok(())
    }

    fn file(&self, number: u64) -> Result<(String, String, Option<[u8; 16]>)> {
        let header = self.unit.line_program.as_ref().expect("a line program").header();
        let file = header.file(number).expect("a file");
        let string =
            |text| Ok::<_, Error>(self.dwarf.attr_string(self.unit, text)?.to_string_lossy().into_owned());
        let directory = match (file.directory_index(), file.directory(header)) {
            // The directory of the compilation.
            (0, _) => ".".into(),
            (_, directory) => string(directory.expect("a directory"))?,
        };
        Ok((directory, string(file.path_name())?, header.file_has_md5().then_some(*file.md5())))
    }

    /// Source position, from three attributes.
    pub(super) fn line(
        &self,
        die: &Die<'a>,
        [file, line, column]: [DwAt; 3],
    ) -> Result<Option<(String, String, u64, u64)>> {
        let [Some(file), line, column] = [file, line, column].map(|at| self.number(die, at)) else {
            return Ok(None);
        };
        let (directory, name, _) = self.file(file)?;
        Ok(Some((directory, name, line.unwrap_or(0), column.unwrap_or(0))))
    }

    pub(super) fn declared(&self, die: &Die<'a>) -> Result<Option<(String, String, u64, u64)>> {
        self.line(die, [dw::DW_AT_decl_file, dw::DW_AT_decl_line, dw::DW_AT_decl_column])
    }

    /// Appends the contents of a scope. `start` is the address of the function's code, if any.
    pub(super) fn in_scope(&self, die: &Die<'a>, start: Option<u64>, tree: &mut Tree) -> Result<()> {
        // Functions whose code is in an entry of its own. Several bodies are functions beside it.
        let mut bodies = BTreeMap::new();
        let mut instances = std::collections::BTreeSet::new();
        for child in self.children(die).filter(|child| child.tag == dw::DW_TAG_subprogram) {
            if let Some(of) = own(child, dw::DW_AT_abstract_origin)
                && !self.apart.values().any(|&body| body == child.id)
                && let Some(first) = bodies.insert(self.reference(of), child)
            {
                instances.extend([first.id, child.id]);
            }
        }
        bodies.retain(|_, body| !instances.contains(&body.id));
        for child in self.children(die) {
            let inner = match child.tag {
                dw::DW_TAG_subprogram if instances.contains(&child.id) => self.function(child)?,
                dw::DW_TAG_subprogram if own(child, dw::DW_AT_abstract_origin).is_some() => continue,
                dw::DW_TAG_subprogram => {
                    let mut tree = self.function(child)?;
                    let apart = self.apart.get(&child.id).map(|body| &self.dies[body]);
                    if let Some(body) = bodies.remove(&Some(child.id)).or(apart) {
                        merge(&mut tree, self.function(body)?);
                    }
                    tree
                }
                dw::DW_TAG_dwarf_procedure => continue,
                _ => match self.inner(child, start)? {
                    Some(inner) => inner,
                    None => match self.part_of_type(child)? {
                        Some(part) => part,
                        None => continue,
                    },
                },
            };
            tree.inside.push(inner);
        }
        tree.inside.extend(bodies.values().map(|body| Tree::new("a body of nothing", Some(body.id))));
        Ok(())
    }

    fn inner(&self, die: &Die<'a>, start: Option<u64>) -> Result<Option<Tree>> {
        let is_member = die.tag == dw::DW_TAG_member && own(die, dw::DW_AT_declaration).is_some();
        let kind = match die.tag {
            dw::DW_TAG_namespace => "namespace",
            dw::DW_TAG_module => "module",
            dw::DW_TAG_common_block => "common block",
            dw::DW_TAG_namelist => "namelist",
            dw::DW_TAG_lexical_block => "block",
            dw::DW_TAG_inlined_subroutine => "inlined",
            dw::DW_TAG_unspecified_parameters => "more arguments",
            dw::DW_TAG_label => "label",
            dw::DW_TAG_imported_declaration | dw::DW_TAG_imported_module => "import",
            dw::DW_TAG_call_site | dw::DW_TAG_GNU_call_site => return self.call(die, start).map(Some),
            dw::DW_TAG_variable => return self.variable("variable", die, start).map(Some),
            dw::DW_TAG_member if is_member => return self.variable("variable", die, start).map(Some),
            dw::DW_TAG_formal_parameter => return self.variable("parameter", die, start).map(Some),
            dw::DW_TAG_constant => return self.variable("constant", die, start).map(Some),
            _ => return Ok(None),
        };
        let mut tree = Tree::new(kind, Some(die.id));
        let origin = own(die, dw::DW_AT_abstract_origin).and_then(|of| self.reference(of));
        match die.tag {
            dw::DW_TAG_lexical_block => tree.to("origin", origin),
            dw::DW_TAG_inlined_subroutine => {
                tree.to("origin", origin);
                let names = [dw::DW_AT_call_file, dw::DW_AT_call_line, dw::DW_AT_call_column];
                tree.may("line", self.line(die, names)?);
                tree.may("discriminator", self.number(die, dw::DW_AT_GNU_discriminator));
            }
            _ => {
                tree.may("name", self.text(die, dw::DW_AT_name)?);
                tree.may("line", self.declared(die)?);
            }
        }
        tree.is("inline", self.flag(die, dw::DW_AT_export_symbols));
        tree.is("all", die.tag == dw::DW_TAG_imported_module);
        tree.to("what", self.to(die, dw::DW_AT_import));
        if die.tag == dw::DW_TAG_label {
            tree.may("pc", self.pc(die, dw::DW_AT_low_pc, start)?);
        } else if start.is_some() {
            let ranges = self.ranges(die)?;
            let from = |pc: u64| pc.wrapping_sub(start.unwrap_or(0));
            let ranges: Vec<_> = ranges.into_iter().map(|(start, end)| (from(start), from(end))).collect();
            tree.may("ranges", Some(ranges).filter(|ranges| !ranges.is_empty()));
            tree.may("entry pc", self.pc(die, dw::DW_AT_entry_pc, start)?);
        }
        self.in_scope(die, start, &mut tree)?;
        Ok(Some(tree))
    }

    fn call(&self, die: &Die<'a>, start: Option<u64>) -> Result<Tree> {
        let mut tree = Tree::new("call", None);
        let is_five = die.tag == dw::DW_TAG_call_site;
        let of = |five, older| if is_five { five } else { older };
        tree.may("return pc", self.pc(die, of(dw::DW_AT_call_return_pc, dw::DW_AT_low_pc), start)?);
        tree.may("pc", self.pc(die, dw::DW_AT_call_pc, start)?);
        let callee = of(dw::DW_AT_call_origin, dw::DW_AT_abstract_origin);
        tree.to("callee", own(die, callee).and_then(|callee| self.reference(callee)));
        let is_there = |die, at| own(die, at).is_some();
        tree.is("tail", is_there(die, of(dw::DW_AT_call_tail_call, dw::DW_AT_GNU_tail_call)));
        let names = [dw::DW_AT_call_file, dw::DW_AT_call_line, dw::DW_AT_call_column];
        tree.may("line", self.line(die, names)?);
        if !self.context.has_calls {
            return Ok(tree);
        }
        tree.is("target", is_there(die, of(dw::DW_AT_call_target, dw::DW_AT_GNU_call_site_target)));
        let clobbered = of(dw::DW_AT_call_target_clobbered, dw::DW_AT_GNU_call_site_target_clobbered);
        tree.is("clobbered", is_there(die, clobbered));
        for child in self.children(die) {
            let mut inner = Tree::new("argument", None);
            let parameter = of(dw::DW_AT_call_parameter, dw::DW_AT_abstract_origin);
            inner.to("parameter", own(child, parameter).and_then(|of| self.reference(of)));
            inner.is("location", is_there(child, dw::DW_AT_location));
            inner.is("value", is_there(child, of(dw::DW_AT_call_value, dw::DW_AT_GNU_call_site_value)));
            inner.is("data location", is_there(child, dw::DW_AT_call_data_location));
            let data = of(dw::DW_AT_call_data_value, dw::DW_AT_GNU_call_site_data_value);
            inner.is("data value", is_there(child, data));
            tree.inside.push(inner);
        }
        Ok(tree)
    }

    fn function(&self, die: &Die<'a>) -> Result<Tree> {
        let mut tree = Tree::new("function", Some(die.id));
        tree.may("name", self.text(die, dw::DW_AT_name)?);
        tree.may("linkage name", self.linkage_name(die)?);
        tree.may("line", self.declared(die)?);
        tree.to("type", self.to(die, dw::DW_AT_type));
        tree.to("definition of", own(die, dw::DW_AT_specification).and_then(|of| self.reference(of)));
        tree.to("origin", own(die, dw::DW_AT_abstract_origin).and_then(|of| self.reference(of)));
        tree.is("external", self.flag(die, dw::DW_AT_external));
        tree.is("noreturn", self.flag(die, dw::DW_AT_noreturn));
        tree.is("main", self.flag(die, dw::DW_AT_main_subprogram));
        tree.is("explicit", self.flag(die, dw::DW_AT_explicit));
        tree.is("deleted", self.flag(die, dw::DW_AT_deleted));
        tree.is("declaration", own(die, dw::DW_AT_declaration).is_some());
        tree.may("convention", self.number(die, dw::DW_AT_calling_convention));
        tree.may("accessibility", self.number(die, dw::DW_AT_accessibility));
        tree.may("virtuality", self.number(die, dw::DW_AT_virtuality));
        tree.may("defaulted", self.number(die, dw::DW_AT_defaulted));
        tree.to("object pointer", own(die, dw::DW_AT_object_pointer).and_then(|of| self.reference(of)));
        let inline = own(die, dw::DW_AT_inline).and_then(|inline| inline.udata_value()).unwrap_or(0);
        tree.is("inlined", inline & 1 != 0);
        tree.is("declared inline", inline & 2 != 0);
        let code = self.ranges(die)?;
        let start = code.first().map(|&(start, _)| start);
        if let [(start, end)] = code[..] {
            tree.add("code", (start, end));
            tree.may("entry pc", self.pc(die, dw::DW_AT_entry_pc, Some(start))?);
            let all = [
                (dw::DW_AT_call_all_tail_calls, dw::DW_AT_GNU_all_tail_call_sites),
                (dw::DW_AT_call_all_calls, dw::DW_AT_GNU_all_call_sites),
                (dw::DW_AT_call_all_source_calls, dw::DW_AT_GNU_all_source_call_sites),
            ];
            let is_five = self.context.consumer.version >= 5;
            let has = |&(five, older): &_| own(die, if is_five { five } else { older }).is_some();
            tree.may("describes", all.iter().position(has).map(|index| index as u64));
            tree.may(
                "lanes",
                self.context.consumer.attributes.lanes.and_then(|lanes| self.number(die, lanes)),
            );
            if self.context.has_calls {
                tree.is("frame base", own(die, dw::DW_AT_frame_base).is_some());
                tree.is("static link", own(die, dw::DW_AT_static_link).is_some());
            }
            let mut rows: Vec<_> = self.rows.range(start..end).flat_map(|(_, rows)| rows.clone()).collect();
            if let Some(last) = rows.pop() {
                assert_eq!(last, (end, "end".to_owned()));
                let rows = rows.iter().map(|(pc, row)| format!("({:x}, {}", pc - start, &row[1..]));
                tree.add("rows", rows.collect::<Vec<_>>());
            }
        }
        self.in_scope(die, start, &mut tree)?;
        Ok(tree)
    }

    fn variable(&self, kind: &str, die: &Die<'a>, start: Option<u64>) -> Result<Tree> {
        let mut tree = Tree::new(kind, Some(die.id));
        tree.may("name", self.text(die, dw::DW_AT_name)?);
        tree.may("linkage name", self.linkage_name(die)?);
        tree.may("line", self.declared(die)?);
        tree.to("type", self.to(die, dw::DW_AT_type));
        tree.to("origin", own(die, dw::DW_AT_abstract_origin).and_then(|of| self.reference(of)));
        tree.to("definition of", own(die, dw::DW_AT_specification).and_then(|of| self.reference(of)));
        tree.is("external", self.flag(die, dw::DW_AT_external));
        tree.is("artificial", self.flag(die, dw::DW_AT_artificial));
        tree.is("declaration", own(die, dw::DW_AT_declaration).is_some());
        tree.may("accessibility", self.number(die, dw::DW_AT_accessibility));
        tree.may("memory", self.context.consumer.attributes.memory_space.and_then(|at| self.number(die, at)));
        tree.may("value", self.value(die));
        let Some(location) = own(die, dw::DW_AT_location) else { return Ok(tree) };
        match self.dwarf.attr_locations(self.unit, location.value())? {
            None => tree.is("always", location.exprloc_value().is_some()),
            Some(mut list) => {
                let mut places = Vec::new();
                while let Some(place) = list.next()? {
                    let from = |pc: u64| pc.wrapping_sub(start.unwrap_or(0));
                    places.push((from(place.range.begin), from(place.range.end)));
                }
                tree.add("places", places);
            }
        }
        Ok(tree)
    }

    /// Bytes of a constant, in memory order.
    pub(super) fn value(&self, die: &Die<'a>) -> Option<Vec<u8>> {
        let number = |value: u64, bytes: usize| {
            if self.big_endian {
                value.to_be_bytes()[8 - bytes..].to_vec()
            } else {
                value.to_le_bytes()[..bytes].to_vec()
            }
        };
        match own(die, dw::DW_AT_const_value)?.raw_value() {
            AttributeValue::Block(bytes) => Some(bytes.slice().to_vec()),
            AttributeValue::Data1(value) => Some(number(value.into(), 1)),
            AttributeValue::Data2(value) => Some(number(value.into(), 2)),
            AttributeValue::Data4(value) => Some(number(value.into(), 4)),
            AttributeValue::Data8(value) => Some(number(value, 8)),
            other => panic!("a constant: {other:?}"),
        }
    }

    fn linkage_name(&self, die: &Die<'a>) -> Result<Option<String>> {
        let is_old = self.context.consumer.version < 4;
        self.text(die, if is_old { dw::DW_AT_MIPS_linkage_name } else { dw::DW_AT_linkage_name })
    }

    pub(super) fn children<'s>(&'s self, die: &'s Die<'a>) -> impl Iterator<Item = &'s Die<'a>> {
        die.children.iter().map(|id| &self.dies[id])
    }

    /// An attribute of the entry, or of its abstract origin or specification.
    fn attr<'s>(&'s self, die: &'s Die<'a>, at: DwAt) -> Option<&'s gimli::Attribute<Slice<'a>>> {
        let of = || own(die, dw::DW_AT_abstract_origin).or(own(die, dw::DW_AT_specification));
        own(die, at).or_else(|| self.attr(&self.dies[&self.reference(of()?)?], at))
    }

    pub(super) fn number(&self, die: &Die<'a>, at: DwAt) -> Option<u64> {
        self.attr(die, at)?.udata_value()
    }

    pub(super) fn flag(&self, die: &Die<'a>, at: DwAt) -> bool {
        self.attr(die, at).is_some_and(|flag| flag.raw_value() == AttributeValue::Flag(true))
    }

    pub(super) fn text(&self, die: &Die<'a>, at: DwAt) -> Result<Option<String>> {
        let Some(text) = self.attr(die, at) else { return Ok(None) };
        Ok(Some(self.dwarf.attr_string(self.unit, text.value())?.to_string_lossy().into_owned()))
    }

    pub(super) fn to(&self, die: &Die<'a>, at: DwAt) -> Option<u64> {
        self.reference(self.attr(die, at)?)
    }

    pub(super) fn reference(&self, attribute: &gimli::Attribute<Slice<'a>>) -> Option<u64> {
        match attribute.value() {
            AttributeValue::UnitRef(offset) => Some(offset.to_debug_info_offset(&self.unit.header)?.0 as u64),
            AttributeValue::DebugInfoRef(offset) => Some(offset.0 as u64),
            _ => None,
        }
    }

    fn pc(&self, die: &Die<'a>, at: DwAt, start: Option<u64>) -> Result<Option<u64>> {
        let Some(pc) = own(die, at) else { return Ok(None) };
        let address = self.dwarf.attr_address(self.unit, pc.value())?.expect("an address");
        Ok(Some(address.wrapping_sub(start.unwrap_or(0))))
    }

    fn ranges(&self, die: &Die<'a>) -> Result<Vec<(u64, u64)>> {
        let mut ranges = self.dwarf.die_ranges(self.unit, &die.entry)?;
        let mut all = Vec::new();
        while let Some(range) = ranges.next()? {
            all.push((range.begin, range.end));
        }
        Ok(all)
    }
}

/// An attribute of the entry itself.
pub(super) fn own<'d, 'a>(die: &'d Die<'a>, at: DwAt) -> Option<&'d gimli::Attribute<Slice<'a>>> {
    die.entry.attr(at)
}

/// Merges the facts of an entry with code into those of its abstract instance.
fn merge(tree: &mut Tree, code: Tree) {
    let origin = code.facts.get("origin").cloned();
    let is_itself = |of: &super::Fact| matches!(of, super::Fact::To(id) if tree.ids.contains(id));
    let is_itself = origin.as_ref().is_some_and(is_itself);
    for (fact, what) in code.facts {
        if fact != "origin" || !is_itself {
            tree.facts.insert(fact, what);
        }
    }
    tree.ids.extend(code.ids);
    let mut taken = BTreeMap::<String, usize>::new();
    for inner in code.inside {
        let nth = taken.entry(inner.kind.clone()).or_default();
        let same = tree.inside.iter_mut().filter(|of| of.kind == inner.kind).nth(*nth);
        *nth += 1;
        match same {
            Some(same) => merge(same, inner),
            None => tree.inside.push(inner),
        }
    }
}
