//! A module with attributes of every kind, written by `gimli`.

use crate::common::with;
use eitri::read::{Dwarf, ReadOptions, Sections};
use gimli::write::{Address, AttributeValue, EndianVec, Expression, LineString, Location, Range, Writer};
use gimli::{Format, LineEncoding, RunTimeEndian, SectionId, constants as dw};

/// Encoding of a module.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    pub encoding: gimli::Encoding,
    pub big_endian: bool,
}

impl Form {
    pub fn new(version: u16, format: Format, address_size: u8, big_endian: bool) -> Self {
        Self { encoding: gimli::Encoding { format, version, address_size }, big_endian }
    }

    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for version in 2..=5 {
            for format in [Format::Dwarf32, Format::Dwarf64] {
                // Version 3 introduced the 64-bit format.
                if (version, format) == (2, Format::Dwarf64) {
                    continue;
                }
                for (size, big_endian) in [(8, false), (8, true), (4, false), (4, true)] {
                    all.push(Self::new(version, format, size, big_endian));
                }
            }
        }
        all
    }

    fn endian(self) -> RunTimeEndian {
        if self.big_endian { RunTimeEndian::Big } else { RunTimeEndian::Little }
    }
}

/// A row of a line table, relative to the previous row.
#[derive(Debug, Clone)]
pub struct Step {
    pub by: u64,
    pub line: u64,
    pub column: u64,
    pub second_file: bool,
    pub flags: u8,
    pub isa: u64,
    pub discriminator: u64,
}

/// Variable contents of a module.
#[derive(Debug, Clone)]
pub struct Contents {
    pub line_encoding: LineEncoding,
    pub sequences: Vec<(u64, Vec<Step>)>,
    pub locations: Vec<Location>,
    pub ranges: Vec<Range>,
}

pub fn expression(number: u8) -> Expression {
    Expression::raw(vec![0x90, number & 0x7f, 0x93, 4])
}

impl Contents {
    /// Contents with all features of a version.
    pub fn of(version: u16) -> Self {
        let at = |addend| Address::Symbol { symbol: 0, addend };
        let step = |by, line, flags| Step {
            by,
            line,
            column: 7,
            second_file: line % 2 == 1,
            flags,
            isa: 0,
            discriminator: 0,
        };
        let mut all = Self {
            line_encoding: LineEncoding::default(),
            sequences: vec![(0, vec![step(0, 3, 9), step(4, 4, 0), step(300, 90, 1)])],
            locations: vec![
                Location::BaseAddress { address: at(0x10) },
                Location::OffsetPair { begin: 2, end: 8, data: expression(1) },
                Location::StartEnd { begin: at(0x20), end: at(0x30), data: expression(2) },
                Location::StartLength { begin: at(0x30), length: 0x123, data: expression(3) },
                // An empty range and a reversed one.
                Location::OffsetPair { begin: 9, end: 9, data: expression(4) },
                Location::OffsetPair { begin: 9, end: 3, data: expression(5) },
            ],
            ranges: vec![
                Range::StartEnd { begin: at(0x20), end: at(0x30) },
                Range::BaseAddress { address: at(0x10) },
                Range::OffsetPair { begin: 2, end: 8 },
                Range::StartLength { begin: at(0x30), length: 0x123 },
            ],
        };
        if version < 5 {
            // `gimli` writes neither addresses after a base address there, nor empty ranges.
            all.locations.retain(|at| match at {
                Location::BaseAddress { .. } => true,
                Location::OffsetPair { begin, end, .. } => begin != end,
                _ => false,
            });
            all.ranges.retain(|at| matches!(at, Range::BaseAddress { .. } | Range::OffsetPair { .. }));
        }
        all
    }
}

/// A module with one unit that has attributes of every kind.
fn module(form: Form, contents: &Contents) -> gimli::write::Dwarf {
    let Form { encoding, .. } = form;
    let text = |text: &str| AttributeValue::String(text.into());
    let mut dwarf = gimli::write::Dwarf::new();
    let string = |text: &str| LineString::String(text.into());
    let mut lines = gimli::write::LineProgram::new(
        encoding,
        contents.line_encoding,
        string("/src"),
        None,
        string("a.cl"),
        None,
    );
    let directory = lines.add_directory(string("include"));
    let info = gimli::write::FileInfo { timestamp: 5, size: 6, md5: [0xa5; 16], source: None };
    lines.file_has_md5 = encoding.version >= 5;
    lines.file_has_size = true;
    let files = [
        lines.add_file(string("a.cl"), lines.default_directory(), Some(info.clone())),
        lines.add_file(string("b.h"), directory, Some(info)),
    ];
    for (start, steps) in &contents.sequences {
        lines.begin_sequence(Some(Address::Symbol { symbol: 0, addend: *start as i64 }));
        let mut offset = 0;
        for step in steps {
            offset += step.by * u64::from(contents.line_encoding.minimum_instruction_length);
            let row = lines.row();
            row.address_offset = offset;
            row.file = files[usize::from(step.second_file)];
            (row.line, row.column, row.isa, row.discriminator) =
                (step.line, step.column, step.isa, step.discriminator);
            row.is_statement = step.flags & 1 != 0;
            row.basic_block = step.flags & 2 != 0;
            row.prologue_end = step.flags & 8 != 0;
            row.epilogue_begin = step.flags & 4 != 0;
            lines.generate_row();
        }
        lines.end_sequence(offset + 4 * u64::from(contents.line_encoding.minimum_instruction_length));
    }
    let id = dwarf.units.add(gimli::write::Unit::new(encoding, lines));
    let named = dwarf.strings.add("a kernel");
    let line_string = dwarf.line_strings.add("of the line table");
    let unit = dwarf.units.get_mut(id);
    let locations = unit.locations.add(gimli::write::LocationList(contents.locations.clone()));
    let ranges = unit.ranges.add(gimli::write::RangeList(contents.ranges.clone()));
    let root = unit.root();
    for (name, value) in [
        (dw::DW_AT_name, text("a.cl")),
        (dw::DW_AT_comp_dir, text("/src")),
        (dw::DW_AT_language, AttributeValue::Language(dw::DW_LANG_OpenCL)),
        (dw::DW_AT_low_pc, AttributeValue::Address(Address::Symbol { symbol: 0, addend: 0 })),
        (dw::DW_AT_stmt_list, AttributeValue::LineProgramRef),
    ] {
        unit.get_mut(root).set(name, value);
    }
    let base = unit.add(root, dw::DW_TAG_base_type);
    unit.get_mut(base).set(dw::DW_AT_name, text("float"));
    unit.get_mut(base).set(dw::DW_AT_encoding, AttributeValue::Encoding(dw::DW_ATE_float));
    unit.get_mut(base).set(dw::DW_AT_byte_size, AttributeValue::Data1(4));
    let pointer = unit.add(root, dw::DW_TAG_pointer_type);
    unit.get_mut(pointer).set(dw::DW_AT_type, AttributeValue::UnitRef(base));
    unit.get_mut(pointer).set(gimli::DwAt(0x3e10), AttributeValue::Udata(5));
    let func = unit.add(root, dw::DW_TAG_subprogram);
    unit.get_mut(func).set(dw::DW_AT_name, AttributeValue::StringRef(named));
    unit.get_mut(func).set(dw::DW_AT_ranges, AttributeValue::RangeListRef(ranges));
    unit.get_mut(func).set(dw::DW_AT_frame_base, AttributeValue::Exprloc(expression(9)));
    let var = unit.add(func, dw::DW_TAG_variable);
    let whole = dwarf.units.id(0);
    let whole = gimli::write::DebugInfoRef::Entry(whole, pointer);
    let unit = dwarf.units.get_mut(id);
    let mut typed = Expression::new();
    typed.op_regval_type(gimli::Register(3), base);
    for (name, value) in [
        (dw::DW_AT_name, text("x")),
        (dw::DW_AT_type, AttributeValue::DebugInfoRef(whole)),
        (dw::DW_AT_location, AttributeValue::LocationListRef(locations)),
        (dw::DW_AT_decl_line, AttributeValue::Data2(0x1234)),
        (dw::DW_AT_decl_column, AttributeValue::Data4(0x1234_5678)),
        (dw::DW_AT_const_value, AttributeValue::Sdata(-5)),
        (dw::DW_AT_external, AttributeValue::Flag(true)),
        (dw::DW_AT_GNU_dwo_id, AttributeValue::Data8(0x0123_4567_89ab_cdef)),
        (dw::DW_AT_hi_user, AttributeValue::Block(vec![1, 2, 3])),
    ] {
        unit.get_mut(var).set(name, value);
    }
    if encoding.version >= 4 {
        unit.get_mut(var).set(dw::DW_AT_artificial, AttributeValue::FlagPresent);
        unit.get_mut(var).set(dw::DW_AT_data_location, AttributeValue::Exprloc(typed));
    }
    if encoding.version >= 5 {
        unit.get_mut(var).set(dw::DW_AT_linkage_name, AttributeValue::LineStringRef(line_string));
        unit.get_mut(var).set(dw::DW_AT_lo_user, AttributeValue::Data16(1 << 100));
        unit.get_mut(var).set(dw::DW_AT_upper_bound, AttributeValue::ImplicitConst(-1));
    }
    dwarf
}

/// Writer of addresses as `base` plus the addend; optionally records relocations.
#[derive(Debug, Clone)]
pub struct Out {
    pub bytes: EndianVec<RunTimeEndian>,
    base: u64,
    pub relocations: Vec<gimli::write::Relocation>,
    is_relocatable: bool,
}

impl Writer for Out {
    type Endian = RunTimeEndian;

    fn endian(&self) -> RunTimeEndian {
        self.bytes.endian()
    }

    fn len(&self) -> usize {
        self.bytes.len()
    }

    fn write(&mut self, bytes: &[u8]) -> gimli::write::Result<()> {
        self.bytes.write(bytes)
    }

    fn write_at(&mut self, offset: usize, bytes: &[u8]) -> gimli::write::Result<()> {
        self.bytes.write_at(offset, bytes)
    }

    fn write_address(&mut self, address: Address, size: u8) -> gimli::write::Result<()> {
        let Address::Symbol { symbol, addend } = address else {
            return self.bytes.write_address(address, size);
        };
        let target = gimli::write::RelocationTarget::Symbol(symbol);
        self.relocate(size, target, addend);
        let value = if self.is_relocatable { 0 } else { self.base.wrapping_add(addend as u64) };
        self.bytes.write_udata(value, size)
    }

    fn write_offset(&mut self, value: usize, section: SectionId, size: u8) -> gimli::write::Result<()> {
        self.relocate(size, gimli::write::RelocationTarget::Section(section), value as i64);
        self.bytes.write_udata(if self.is_relocatable { 0 } else { value as u64 }, size)
    }

    fn write_offset_at(
        &mut self,
        offset: usize,
        value: usize,
        section: SectionId,
        size: u8,
    ) -> gimli::write::Result<()> {
        let target = gimli::write::RelocationTarget::Section(section);
        self.relocations.push(gimli::write::Relocation {
            offset,
            size,
            target,
            addend: value as i64,
            eh_pe: None,
        });
        self.bytes.write_udata_at(offset, if self.is_relocatable { 0 } else { value as u64 }, size)
    }
}

impl Out {
    fn relocate(&mut self, size: u8, target: gimli::write::RelocationTarget, addend: i64) {
        let offset = self.bytes.len();
        self.relocations.push(gimli::write::Relocation { offset, size, target, addend, eh_pe: None });
    }
}

pub fn write(
    form: Form,
    contents: &Contents,
    base: u64,
    is_relocatable: bool,
) -> gimli::write::Sections<Out> {
    let bytes = EndianVec::new(form.endian());
    let mut sections =
        gimli::write::Sections::new(Out { bytes, base, relocations: Vec::new(), is_relocatable });
    module(form, contents).write(&mut sections).unwrap();
    sections
}

pub fn sections_of(form: Form, written: &gimli::write::Sections<Out>) -> Sections<'_> {
    let of = |id| written.get(id).map_or(&[][..], |out: &Out| out.bytes.slice());
    with::<Sections>(|sections| {
        sections.big_endian = form.big_endian;
        sections.debug_abbrev = of(SectionId::DebugAbbrev);
        sections.debug_info = of(SectionId::DebugInfo);
        sections.debug_line = of(SectionId::DebugLine);
        sections.debug_line_str = of(SectionId::DebugLineStr);
        sections.debug_loc = of(SectionId::DebugLoc);
        sections.debug_loclists = of(SectionId::DebugLocLists);
        sections.debug_ranges = of(SectionId::DebugRanges);
        sections.debug_rnglists = of(SectionId::DebugRngLists);
        sections.debug_str = of(SectionId::DebugStr);
    })
}

pub fn read<'o>(sections: Sections<'o>) -> Dwarf<'o> {
    Dwarf::from_sections(sections, &ReadOptions::new()).unwrap()
}
