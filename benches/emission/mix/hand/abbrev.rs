//! Abbreviations. All kinds of entries are known in advance; codes are assigned in the order of first use.

use eitri::emit::Relocation;
use gimli::constants as dw;

use super::super::content::{LANES, Machine};
use super::bytes::uleb;

/// A kind of entry: everything that determines attributes and forms. `short`: the line takes one byte.
#[derive(Clone, Copy)]
pub enum Die {
    Unit {
        has_lists: bool,
    },
    Base {
        inline: bool,
    },
    Structure {
        short: bool,
    },
    Member {
        inline: bool,
        short: bool,
        later: bool,
    },
    Pointer,
    Abstract {
        short: bool,
        returns: bool,
    },
    Function {
        short: bool,
        returns: bool,
        external: bool,
    },
    /// A variable with a name.
    Named {
        parameter: bool,
        inline: bool,
        short: bool,
        place: Form,
    },
    /// A variable with an abstract origin.
    Copy {
        parameter: bool,
        place: Form,
    },
    Block {
        is_list: bool,
    },
    Call {
        is_list: bool,
        short: bool,
    },
}

/// Form of a variable's location.
#[derive(Clone, Copy)]
pub enum Form {
    None,
    Constant,
    Expression,
    List,
}

const KINDS: usize = 256;

pub struct Abbreviations {
    machine: Machine,
    codes: [u8; KINDS],
    count: u8,
    table: Vec<u8>,
}

impl Die {
    /// Number of the kind.
    #[inline(always)]
    fn index(self) -> usize {
        let bit = |is: bool, at: u32| usize::from(is) << at;
        match self {
            Self::Unit { has_lists } => bit(has_lists, 0),
            Self::Base { inline } => 2 | bit(inline, 0),
            Self::Structure { short } => 4 | bit(short, 0),
            Self::Pointer => 6,
            Self::Block { is_list } => 8 | bit(is_list, 0),
            Self::Call { is_list, short } => 12 | bit(is_list, 0) | bit(short, 1),
            Self::Abstract { short, returns } => 16 | bit(short, 0) | bit(returns, 1),
            Self::Function { short, returns, external } => {
                24 | bit(short, 0) | bit(returns, 1) | bit(external, 2)
            }
            Self::Member { inline, short, later } => 32 | bit(inline, 0) | bit(short, 1) | bit(later, 2),
            Self::Copy { parameter, place } => 64 | bit(parameter, 0) | (place as usize) << 1,
            Self::Named { parameter, inline, short, place } => {
                128 | bit(parameter, 0) | bit(inline, 1) | bit(short, 2) | (place as usize) << 3
            }
        }
    }
}

impl Abbreviations {
    pub fn new(machine: Machine) -> Self {
        Self { machine, codes: [0; KINDS], count: 0, table: Vec::new() }
    }

    #[inline(always)]
    pub fn code(&mut self, die: Die) -> u8 {
        match self.codes[die.index()] {
            0 => self.add(die),
            code => code,
        }
    }

    #[cold]
    fn add(&mut self, die: Die) -> u8 {
        self.count += 1;
        assert!(self.count < 0x80, "a unit has few kinds of entries");
        self.codes[die.index()] = self.count;
        self.table.push(self.count);
        let machine = self.machine;
        Description(&mut self.table).write(machine, die);
        self.table.extend_from_slice(&[0, 0]);
        self.count
    }
}

/// Writer of an abbreviation.
struct Description<'t>(&'t mut Vec<u8>);

impl Description<'_> {
    fn tag(&mut self, tag: gimli::DwTag, has_children: bool) -> &mut Self {
        uleb(self.0, tag.0.into());
        self.0.push(has_children.into());
        self
    }

    fn has(&mut self, at: gimli::DwAt, form: gimli::DwForm) -> &mut Self {
        uleb(self.0, at.0.into());
        uleb(self.0, form.0.into());
        self
    }

    /// An attribute with its value in the abbreviation: a number below 64.
    fn is(&mut self, at: gimli::DwAt, value: u8) -> &mut Self {
        self.has(at, dw::DW_FORM_implicit_const).0.push(value);
        self
    }

    fn name(&mut self, inline: bool) -> &mut Self {
        self.has(dw::DW_AT_name, if inline { dw::DW_FORM_string } else { dw::DW_FORM_strx })
    }

    /// A declaration in the primary source file.
    fn declared(&mut self, short: bool) -> &mut Self {
        self.is(dw::DW_AT_decl_file, 0).has(dw::DW_AT_decl_line, line(short))
    }

    fn pcs(&mut self) -> &mut Self {
        self.has(dw::DW_AT_low_pc, dw::DW_FORM_addrx).has(dw::DW_AT_high_pc, dw::DW_FORM_udata)
    }

    fn ranges(&mut self, is_list: bool) -> &mut Self {
        if is_list { self.has(dw::DW_AT_ranges, dw::DW_FORM_rnglistx) } else { self.pcs() }
    }

    fn place(&mut self, place: Form) -> &mut Self {
        match place {
            Form::None => self,
            Form::Constant => self.has(dw::DW_AT_const_value, dw::DW_FORM_data4),
            Form::Expression => self.has(dw::DW_AT_location, dw::DW_FORM_exprloc),
            Form::List => self.has(dw::DW_AT_location, dw::DW_FORM_loclistx),
        }
    }

    fn function(&mut self, short: bool, returns: bool) -> &mut Self {
        self.tag(dw::DW_TAG_subprogram, true).name(false).declared(short);
        self.has(dw::DW_AT_prototyped, dw::DW_FORM_flag_present);
        if returns {
            self.has(dw::DW_AT_type, dw::DW_FORM_ref_udata);
        }
        self
    }

    fn write(&mut self, machine: Machine, die: Die) {
        let variable = |parameter| if parameter { dw::DW_TAG_formal_parameter } else { dw::DW_TAG_variable };
        match die {
            Die::Unit { has_lists } => {
                self.tag(dw::DW_TAG_compile_unit, true)
                    .has(dw::DW_AT_str_offsets_base, dw::DW_FORM_sec_offset)
                    .has(dw::DW_AT_producer, dw::DW_FORM_strx)
                    .has(dw::DW_AT_language, dw::DW_FORM_udata)
                    .name(false)
                    .has(dw::DW_AT_comp_dir, dw::DW_FORM_strx)
                    .has(dw::DW_AT_stmt_list, dw::DW_FORM_sec_offset)
                    .has(dw::DW_AT_addr_base, dw::DW_FORM_sec_offset)
                    .has(dw::DW_AT_rnglists_base, dw::DW_FORM_sec_offset);
                if has_lists {
                    self.has(dw::DW_AT_loclists_base, dw::DW_FORM_sec_offset);
                }
                self.ranges(true)
            }
            Die::Base { inline } => self
                .tag(dw::DW_TAG_base_type, false)
                .name(inline)
                .has(dw::DW_AT_encoding, dw::DW_FORM_udata)
                .has(dw::DW_AT_byte_size, dw::DW_FORM_udata),
            Die::Structure { short } => self
                .tag(dw::DW_TAG_structure_type, true)
                .name(false)
                .has(dw::DW_AT_byte_size, dw::DW_FORM_udata)
                .declared(short),
            Die::Member { inline, short, later } => self
                .tag(dw::DW_TAG_member, false)
                .name(inline)
                .declared(short)
                .has(dw::DW_AT_type, if later { dw::DW_FORM_ref4 } else { dw::DW_FORM_ref_udata })
                .has(dw::DW_AT_data_member_location, dw::DW_FORM_udata),
            Die::Pointer => {
                self.tag(dw::DW_TAG_pointer_type, false).has(dw::DW_AT_type, dw::DW_FORM_ref_udata)
            }
            Die::Abstract { short, returns } => {
                self.function(short, returns).is(dw::DW_AT_inline, dw::DW_INL_inlined.0)
            }
            Die::Function { short, returns, external } => {
                self.function(short, returns);
                if external {
                    self.has(dw::DW_AT_external, dw::DW_FORM_flag_present);
                }
                self.pcs();
                if machine == Machine::Gpu {
                    self.is(eitri::consumer::DW_AT_LLVM_LANES, LANES);
                }
                self.has(dw::DW_AT_frame_base, dw::DW_FORM_exprloc)
            }
            Die::Named { parameter, inline, short, place } => self
                .tag(variable(parameter), false)
                .name(inline)
                .declared(short)
                .has(dw::DW_AT_type, dw::DW_FORM_ref_udata)
                .place(place),
            Die::Copy { parameter, place } => self
                .tag(variable(parameter), false)
                .has(dw::DW_AT_abstract_origin, dw::DW_FORM_ref_udata)
                .place(place),
            Die::Block { is_list } => self.tag(dw::DW_TAG_lexical_block, true).ranges(is_list),
            Die::Call { is_list, short } => self
                .tag(dw::DW_TAG_inlined_subroutine, true)
                .has(dw::DW_AT_abstract_origin, dw::DW_FORM_ref_udata)
                .ranges(is_list)
                .has(dw::DW_AT_call_file, dw::DW_FORM_udata)
                .has(dw::DW_AT_call_line, line(short))
                .has(dw::DW_AT_call_column, dw::DW_FORM_udata),
        };
    }
}

fn line(short: bool) -> gimli::DwForm {
    if short { dw::DW_FORM_data1 } else { dw::DW_FORM_data2 }
}

/// Tables of all units. Units with the same codes share a table.
#[derive(Default)]
pub struct Tables {
    tables: Vec<Vec<u8>>,
    /// Relocation of each unit's table offset, and the index of the table.
    used: Vec<(usize, usize)>,
}

/// Number of recent tables that a unit's table is compared with.
const COMPARED: usize = 8;

impl Tables {
    /// Records that the next relocation is that of the unit's table offset.
    pub fn relocate(&mut self, relocations: &[Relocation]) {
        self.used.push((relocations.len(), 0));
    }

    /// Adds the unit's table, and resets the codes.
    pub fn push(&mut self, unit: &mut Abbreviations) {
        (unit.codes, unit.count) = ([0; KINDS], 0);
        let table = std::mem::take(&mut unit.table);
        let at = self.find(table);
        if let Some(used) = self.used.last_mut() {
            used.1 = at;
        }
    }

    fn find(&mut self, table: Vec<u8>) -> usize {
        for at in (self.tables.len().saturating_sub(COMPARED)..self.tables.len()).rev() {
            if self.tables[at].starts_with(&table) {
                return at;
            }
            if table.starts_with(&self.tables[at]) {
                self.tables[at] = table;
                return at;
            }
        }
        self.tables.push(table);
        self.tables.len() - 1
    }

    pub fn finish(self, relocations: &mut [Relocation]) -> Vec<u8> {
        let (mut out, mut starts) = (Vec::new(), Vec::new());
        for table in self.tables {
            starts.push(out.len() as u64);
            out.extend_from_slice(&table);
            out.push(0);
        }
        for (relocation, table) in self.used {
            relocations[relocation].addend = starts[table];
        }
        out
    }
}
