//! Comparison of all facts with those that `gimli` reads from the same bytes.

use eitri::read::{Attribute, Dwarf, ListKind, ResolvedValue, Sections, Unit};
use gimli::{EndianSlice, RunTimeEndian, SectionId};

use crate::reader::attributes::read;

type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

/// Number of compared facts.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    pub entries: usize,
    pub attributes: usize,
    pub list_entries: usize,
    pub rows: usize,
}

/// Reads the sections with `gimli`, and compares all facts.
pub fn compare(sections: Sections<'_>) -> Count {
    let ours = read(sections);
    let endian = if sections.big_endian { RunTimeEndian::Big } else { RunTimeEndian::Little };
    let theirs = gimli::Dwarf::load(|id| -> Result<Slice<'_>, gimli::Error> {
        let bytes = match id {
            SectionId::DebugAbbrev => sections.debug_abbrev,
            SectionId::DebugAddr => sections.debug_addr,
            SectionId::DebugInfo => sections.debug_info,
            SectionId::DebugLine => sections.debug_line,
            SectionId::DebugLineStr => sections.debug_line_str,
            SectionId::DebugLoc => sections.debug_loc,
            SectionId::DebugLocLists => sections.debug_loclists,
            SectionId::DebugRanges => sections.debug_ranges,
            SectionId::DebugRngLists => sections.debug_rnglists,
            SectionId::DebugStr => sections.debug_str,
            SectionId::DebugStrOffsets => sections.debug_str_offsets,
            SectionId::DebugTypes => sections.debug_types,
            _ => &[],
        };
        Ok(EndianSlice::new(bytes, endian))
    })
    .unwrap();
    let mut count = Count::default();
    let mut our_units = ours.units().iter();
    let mut all = Vec::new();
    let mut headers = theirs.units();
    while let Some(header) = headers.next().unwrap() {
        all.push((header.offset().0 as u64, header));
    }
    // Type units of DWARF 4 come last; their offsets continue after `.debug_info`.
    let mut headers = theirs.type_units();
    while let Some(header) = headers.next().unwrap() {
        all.push(((sections.debug_info.len() + header.offset().0) as u64, header));
    }
    for (start, header) in all {
        let our_unit = our_units.next().expect("a unit that only gimli finds");
        let unit = theirs.unit(header).unwrap();
        assert_eq!(our_unit.encoding.version, unit.encoding().version);
        assert_eq!(our_unit.encoding.address_bytes, unit.encoding().address_size);
        assert_eq!(our_unit.name.as_deref().map(str::as_bytes), unit.name.map(|name| name.slice()));
        assert_eq!(our_unit.low_pc.unwrap_or(0), unit.low_pc);
        assert_eq!(our_unit.offset, start);
        let (signature, type_offset) = match unit.header.type_() {
            gimli::UnitType::Type { type_signature, type_offset } => {
                (Some(type_signature.0), Some(start + type_offset.0 as u64))
            }
            _ => (None, None),
        };
        assert_eq!((our_unit.signature, our_unit.type_offset), (signature, type_offset));
        let mut entries = ours.entries_of(our_unit);
        let mut cursor = unit.entries();
        while let Some(entry) = cursor.next_dfs().unwrap() {
            let our_entry = entries.next().expect("an entry that only gimli finds");
            assert_eq!(our_entry.offset(), start + entry.offset().0 as u64);
            assert_eq!(our_entry.tag(), entry.tag());
            assert_eq!(our_entry.depth() as isize, entry.depth());
            assert_eq!(ours.entry_at(our_entry.offset()), Some(our_entry));
            assert_eq!(our_entry.attributes().len(), entry.attrs().len());
            count.entries += 1;
            for (attribute, expected) in our_entry.attributes().zip(entry.attrs()) {
                assert_eq!((attribute.name, attribute.form), (expected.name(), expected.form()));
                compare_value(&theirs, &unit, &ours, our_unit, &attribute, expected, &mut count);
                count.attributes += 1;
            }
        }
        assert!(entries.next().is_none(), "an entry that gimli does not find");
        count.rows += compare_lines(&unit, &ours, our_unit);
    }
    assert!(our_units.next().is_none(), "a unit that gimli does not find");
    count
}

fn compare_value(
    theirs: &gimli::Dwarf<Slice<'_>>,
    unit: &gimli::Unit<Slice<'_>>,
    ours: &Dwarf<'_>,
    our_unit: &Unit<'_>,
    attribute: &Attribute<'_>,
    expected: &gimli::Attribute<Slice<'_>>,
    count: &mut Count,
) {
    let value = expected.value();
    match attribute.value {
        ResolvedValue::Unsigned(number) => {
            // Small `data` forms have no sign, and `sdata` that is not negative is unsigned as well.
            assert_eq!(expected.udata_value(), Some(number), "{attribute:?}");
        }
        ResolvedValue::Signed(number) => assert_eq!(expected.sdata_value(), Some(number)),
        ResolvedValue::Wide(number) => assert_eq!(value, gimli::AttributeValue::Data16(number)),
        ResolvedValue::Address(address) => {
            assert_eq!(theirs.attr_address(unit, value).unwrap(), Some(address))
        }
        ResolvedValue::String(string) => {
            assert_eq!(theirs.attr_string(unit, value).unwrap().slice(), string.bytes());
        }
        ResolvedValue::Reference(offset) => match value {
            gimli::AttributeValue::UnitRef(by) => assert_eq!(offset, our_unit.offset + by.0 as u64),
            gimli::AttributeValue::DebugInfoRef(at) => assert_eq!(offset, at.0 as u64),
            other => panic!("{offset:#x} is {other:?}"),
        },
        ResolvedValue::Expr(bytes) => assert_eq!(expected.exprloc_value().unwrap().0.slice(), bytes),
        ResolvedValue::Flag(flag) => assert_eq!(value, gimli::AttributeValue::Flag(flag)),
        ResolvedValue::Block(bytes) => match value {
            gimli::AttributeValue::Block(block) => assert_eq!(block.slice(), bytes),
            other => panic!("{bytes:?} is {other:?}"),
        },
        ResolvedValue::LineProgram(offset) => {
            assert_eq!(value, gimli::AttributeValue::DebugLineRef(gimli::DebugLineOffset(offset as usize)));
        }
        ResolvedValue::Offset(offset) => assert_eq!(expected.offset_value(), Some(offset as usize)),
        ResolvedValue::LocList(offset) => {
            let at = theirs.attr_locations_offset(unit, value).unwrap().unwrap();
            assert_eq!(offset, at.0 as u64);
            let mut raw = theirs.raw_locations(unit, at).unwrap();
            let mut our_raw = ours.raw_locations(our_unit, offset).unwrap();
            while let Some(entry) = raw.next().unwrap() {
                let ours = next_raw(&mut our_raw);
                let (kind, data) = raw_location(entry);
                assert_eq!((ours.kind, ours.expr), (kind, data.map_or(&[][..], |data| data.0.slice())));
                count.list_entries += 1;
            }
            assert_eq!(our_raw.next().unwrap().unwrap().kind, ListKind::End);
            // `gimli` skips ranges that are empty, reversed, or near the largest address.
            let mut list = theirs.locations(unit, at).unwrap();
            let mut expected = Vec::new();
            while let Some(entry) = list.next().unwrap() {
                expected.push((entry.range.begin, entry.range.end, entry.data.0.slice()));
            }
            let found = ours.locations(our_unit, offset).unwrap().map(Result::unwrap);
            let found = found.filter(|entry| entry.is_default() || entry.start < entry.end);
            let found: Vec<_> = found
                .map(|entry| {
                    if entry.is_default() {
                        (0, u64::MAX, entry.expr)
                    } else {
                        (entry.start, entry.end, entry.expr)
                    }
                })
                .collect();
            assert_eq!(found, expected);
        }
        ResolvedValue::RngList(offset) => {
            let at = theirs.attr_ranges_offset(unit, value).unwrap().unwrap();
            assert_eq!(offset, at.0 as u64);
            let mut raw = theirs.raw_ranges(unit, at).unwrap();
            let mut our_raw = ours.raw_ranges(our_unit, offset).unwrap();
            while let Some(entry) = raw.next().unwrap() {
                assert_eq!(next_raw(&mut our_raw).kind, raw_range(entry));
                count.list_entries += 1;
            }
            assert_eq!(our_raw.next().unwrap().unwrap().kind, ListKind::End);
            let mut list = theirs.ranges(unit, at).unwrap();
            let mut expected = Vec::new();
            while let Some(range) = list.next().unwrap() {
                expected.push((range.begin, range.end));
            }
            let found = ours.ranges(our_unit, offset).unwrap().map(|entry| entry.unwrap());
            let found = found.map(|entry| (entry.start, entry.end)).filter(|(start, end)| start < end);
            assert_eq!(found.collect::<Vec<_>>(), expected);
        }
        ResolvedValue::Signature(signature) => {
            assert_eq!(value, gimli::AttributeValue::DebugTypesRef(gimli::DebugTypeSignature(signature)));
        }
        ref other => panic!("{other:?} is {value:?}"),
    }
}

/// The next entry, without GNU's view numbers, which `gimli` skips.
fn next_raw<'o>(list: &mut eitri::read::RawList<'o>) -> eitri::read::RawEntry<'o> {
    list.map(Result::unwrap).find(|entry| !matches!(entry.kind, ListKind::Views { .. })).unwrap()
}

fn raw_location<'a>(
    entry: gimli::RawLocListEntry<Slice<'a>>,
) -> (ListKind, Option<gimli::Expression<Slice<'a>>>) {
    use gimli::RawLocListEntry as Raw;
    match entry {
        Raw::BaseAddress { addr } => (ListKind::Base { address: addr }, None),
        Raw::BaseAddressx { addr } => (ListKind::BaseIndex { index: addr.0 as u64 }, None),
        Raw::AddressOrOffsetPair { begin, end, data } | Raw::OffsetPair { begin, end, data } => {
            (ListKind::Pair { start: begin, end }, Some(data))
        }
        Raw::StartxEndx { begin, end, data } => {
            (ListKind::IndexEnd { start: begin.0 as u64, end: end.0 as u64 }, Some(data))
        }
        Raw::StartxLength { begin, length, data } => {
            (ListKind::IndexLength { start: begin.0 as u64, length }, Some(data))
        }
        Raw::StartEnd { begin, end, data } => (ListKind::StartEnd { start: begin, end }, Some(data)),
        Raw::StartLength { begin, length, data } => {
            (ListKind::StartLength { start: begin, length }, Some(data))
        }
        Raw::DefaultLocation { data } => (ListKind::Default, Some(data)),
    }
}

fn raw_range(entry: gimli::RawRngListEntry<usize>) -> ListKind {
    use gimli::RawRngListEntry as Raw;
    match entry {
        Raw::BaseAddress { addr } => ListKind::Base { address: addr },
        Raw::BaseAddressx { addr } => ListKind::BaseIndex { index: addr.0 as u64 },
        Raw::AddressOrOffsetPair { begin, end } | Raw::OffsetPair { begin, end } => {
            ListKind::Pair { start: begin, end }
        }
        Raw::StartxEndx { begin, end } => ListKind::IndexEnd { start: begin.0 as u64, end: end.0 as u64 },
        Raw::StartxLength { begin, length } => ListKind::IndexLength { start: begin.0 as u64, length },
        Raw::StartEnd { begin, end } => ListKind::StartEnd { start: begin, end },
        Raw::StartLength { begin, length } => ListKind::StartLength { start: begin, length },
    }
}

/// Compares header and rows of a unit's line program, and returns the number of rows.
fn compare_lines(unit: &gimli::Unit<Slice<'_>>, ours: &Dwarf<'_>, our_unit: &Unit<'_>) -> usize {
    let program = ours.lines(our_unit).unwrap();
    let Some(expected) = &unit.line_program else {
        assert!(program.is_none());
        return 0;
    };
    let program = program.unwrap();
    let header = expected.header();
    assert_eq!(program.version, header.version());
    assert_eq!(program.files.len(), header.file_names().len());
    assert_eq!(program.directories.len(), header.include_directories().len());
    for number in 0..=program.files.len() as u64 {
        let ours = program.file(number);
        let theirs = header.file(number);
        assert_eq!(ours.is_some(), theirs.is_some() && (number > 0 || program.version >= 5), "{number}");
        let (Some(ours), Some(theirs)) = (ours, theirs) else { continue };
        if let gimli::AttributeValue::String(path) = theirs.path_name() {
            assert_eq!(ours.path, path.slice());
        }
        assert_eq!(ours.directory, theirs.directory_index());
        assert_eq!((ours.modified, ours.size), (theirs.timestamp(), theirs.size()));
        assert_eq!(ours.md5, header.file_has_md5().then_some(*theirs.md5()));
    }
    let mut count = 0;
    let mut found = program.rows();
    let mut rows = expected.clone().rows();
    while let Some((_, row)) = rows.next_row().unwrap() {
        let ours = found.next().expect("a row that only gimli finds").unwrap();
        assert_eq!((ours.address, ours.op_index), (row.address(), row.op_index()));
        assert_eq!(ours.end_sequence, row.end_sequence());
        count += 1;
        if ours.end_sequence {
            continue;
        }
        assert_eq!(ours.file, row.file_index());
        assert_eq!(ours.line, row.line().map_or(0, |line| line.get()));
        let column = match row.column() {
            gimli::ColumnType::LeftEdge => 0,
            gimli::ColumnType::Column(column) => column.get(),
        };
        assert_eq!((ours.column, ours.isa, ours.discriminator), (column, row.isa(), row.discriminator()));
        assert_eq!(
            (ours.is_stmt, ours.basic_block, ours.prologue_end, ours.epilogue_begin),
            (row.is_stmt(), row.basic_block(), row.prologue_end(), row.epilogue_begin())
        );
    }
    assert!(found.next().is_none(), "a row that gimli does not find");
    count
}
