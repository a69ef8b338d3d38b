//! The mix, written by a hand-written encoder: the cost of the bytes alone.
//!
//! The encoder knows the structure of the content. The encoder appends entries directly to the sections; all kinds of
//! abbreviations are known in advance; strings have numbers; one kind of reference points forward. The sections equal
//! those of eitri byte for byte, including relocations. With `CHECKED`, the encoder checks the facts as eitri does.

mod abbrev;
mod bytes;
mod check;
mod entries;
pub mod expression;
mod lines;
mod lists;
mod strings;

use eitri::emit::{Relocation, RelocationTarget, Section};

use super::content::{At, DIRECTORY, Function, Machine, Mix, PRODUCER, Unit};
use abbrev::{Abbreviations, Die, Tables};
use bytes::{begin_length, end_length, uleb};
use check::{Checks, Wrong};
use lists::Lists;
use strings::Strings;

/// Writes the mix.
pub fn hand(mix: &Mix) -> Vec<Section> {
    Hand::<false>::new(mix).sections().expect("nothing is checked")
}

/// Checks the mix while writing it.
pub fn hand_checked(mix: &Mix) -> Vec<Section> {
    Hand::<true>::new(mix).sections().expect("the mix is right")
}

/// Whether the checks refuse the mix.
pub fn is_refused(mix: &Mix) -> bool {
    Hand::<true>::new(mix).sections().is_err()
}

struct Hand<'m, const CHECKED: bool> {
    mix: &'m Mix,
    machine: Machine,
    checks: Checks,
    info: Vec<u8>,
    info_relocations: Vec<Relocation>,
    /// Offset of the current unit in `.debug_info`.
    unit: usize,
    abbreviations: Abbreviations,
    tables: Tables,
    strings: Strings,
    loclists: Lists,
    rnglists: Lists,
    addr: Vec<u8>,
    line: Vec<u8>,
    /// Offsets of entries in the unit: base types; structures and their pointer types; functions; abstract variables.
    bases: Vec<u32>,
    structures: Vec<(u32, u32)>,
    functions: Vec<u32>,
    origins: Vec<u32>,
}

impl<'m, const CHECKED: bool> Hand<'m, CHECKED> {
    fn new(mix: &'m Mix) -> Self {
        let machine = mix.shape.machine;
        Self {
            mix,
            machine,
            checks: Checks::new(machine),
            info: Vec::new(),
            info_relocations: Vec::new(),
            unit: 0,
            abbreviations: Abbreviations::new(machine),
            tables: Tables::default(),
            strings: Strings::new(mix.strings.len()),
            loclists: Lists::default(),
            rnglists: Lists::default(),
            addr: Vec::new(),
            line: Vec::new(),
            bases: Vec::new(),
            structures: Vec::new(),
            functions: Vec::new(),
            origins: Vec::new(),
        }
    }

    fn sections(mut self) -> Result<Vec<Section>, Wrong> {
        let mix = self.mix;
        for unit in &mix.units {
            self.unit(unit)?;
        }
        let abbrev = self.tables.finish(&mut self.info_relocations);
        let section =
            |name, bytes, relocations| Section { name, bytes, relocations, is_strings: false, group: None };
        Ok(vec![
            section(".debug_abbrev", abbrev, Vec::new()),
            section(".debug_info", self.info, self.info_relocations),
            section(".debug_loclists", self.loclists.section, Vec::new()),
            section(".debug_rnglists", self.rnglists.section, Vec::new()),
            section(".debug_addr", self.addr, Vec::new()),
            section(".debug_str_offsets", self.strings.offsets, self.strings.relocations),
            Section { is_strings: true, ..section(".debug_str", self.strings.bytes, Vec::new()) },
            section(".debug_line", self.line, Vec::new()),
        ])
    }

    fn unit(&mut self, unit: &Unit) -> Result<(), Wrong> {
        let mix = self.mix;
        self.unit = self.info.len();
        let line = self.line.len();
        // Bases of the unit's tables, after their headers.
        let (strings, addr) = (self.strings.offsets.len() + 8, self.addr.len() + 8);
        let (rnglists, loclists) = (self.rnglists.section.len() + 12, self.loclists.section.len() + 12);
        let functions = &mix.functions[unit.functions.clone()];
        let first = functions.first().map_or(0, |function| function.scopes.start);
        let last = functions.last().map_or(0, |function| function.scopes.end);
        let mut variables =
            mix.scopes[first..last].iter().flat_map(|scope| &mix.variables[scope.variables.clone()]);
        let has_lists = variables.any(|variable| matches!(variable.at, At::Entries(_)));

        let length = begin_length(&mut self.info);
        self.info.extend_from_slice(&[5, 0, gimli::DW_UT_compile.0, 8]);
        self.tables.relocate(&self.info_relocations);
        self.section_offset(".debug_abbrev", 0);
        self.begin(Die::Unit { has_lists });
        self.section_offset(".debug_str_offsets", strings);
        self.string(PRODUCER);
        uleb(&mut self.info, self.machine.language().0.into());
        self.string(unit.name);
        self.string(DIRECTORY);
        self.section_offset(".debug_line", line);
        self.section_offset(".debug_addr", addr);
        self.section_offset(".debug_rnglists", rnglists);
        if has_lists {
            self.section_offset(".debug_loclists", loclists);
        }
        // `DW_AT_ranges`: list 0.
        self.info.push(0);
        self.addresses(functions);

        self.types(unit)?;
        self.functions.clear();
        self.origins.clear();
        let mut address = 0;
        for function in functions {
            self.function(unit, function, address)?;
            address += u32::from(function.code.is_some());
        }
        self.info.push(0);
        end_length(&mut self.info, length);

        if CHECKED {
            check::rows(self.machine, functions, &mix.rows)?;
        }
        lines::write(&mut self.line, mix, unit, functions);
        if has_lists {
            self.loclists.finish();
        }
        self.rnglists.finish();
        self.strings.finish(mix);
        self.tables.push(&mut self.abbreviations);
        Ok(())
    }

    /// Appends the addresses of functions, and the range list of the unit.
    fn addresses(&mut self, functions: &[Function]) {
        let length = begin_length(&mut self.addr);
        self.addr.extend_from_slice(&[5, 0, 8, 0]);
        let start = self.rnglists.bytes.len();
        let code = functions.iter().filter_map(|function| function.code);
        for (index, code) in code.enumerate() {
            self.addr.extend_from_slice(&code.address.to_le_bytes());
            self.rnglists.bytes.push(gimli::DW_RLE_startx_length.0);
            uleb(&mut self.rnglists.bytes, index as u64);
            uleb(&mut self.rnglists.bytes, code.bytes.into());
        }
        self.rnglists.end(start);
        end_length(&mut self.addr, length);
    }

    /// Appends an offset in another section, with a relocation.
    fn section_offset(&mut self, section: &'static str, offset: usize) {
        self.info_relocations.push(Relocation {
            offset: self.info.len() as u64,
            bytes: 4,
            target: RelocationTarget::Section(section),
            addend: offset as u64,
        });
        self.info.extend_from_slice(&[0; 4]);
    }

    /// Appends the abbreviation code of an entry, whose attributes follow.
    #[inline]
    fn begin(&mut self, die: Die) {
        let code = self.abbreviations.code(die);
        self.info.push(code);
    }

    /// Offset of the next entry in the unit.
    #[inline]
    fn offset(&self) -> u32 {
        (self.info.len() - self.unit) as u32
    }
}
