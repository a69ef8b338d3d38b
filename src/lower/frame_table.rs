//! Frame tables of all units. Equal first rows share one common entry.

use hashbrown::DefaultHashBuilder;
use indexmap::IndexMap;

use super::frame::{self, UnitFrames};
use super::section::symbol_name;
use super::units::Units;
use crate::emit::Section;
use crate::emit::frame::{FrameFormat, FrameSection, FrameTable, Program, Rule};
use crate::error::{Construct, Result};
use crate::model::Address;
use crate::op::Reg;

/// `.debug_frame` and `.eh_frame`, if the consumer reads them.
pub(super) struct FrameTables {
    tables: Vec<(FrameSection, FrameTable)>,
    format: FrameFormat,
    /// First rows, each with its common entry's offset in each table.
    common: IndexMap<FirstRow, [u64; 2], DefaultHashBuilder>,
}

/// Instructions of a common entry.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct FirstRow {
    program: Program,
    /// Rule of each register that a call overwrites.
    stated: Option<Rule>,
    return_register: Reg,
}

impl FrameTables {
    pub(super) fn new(units: &Units<'_>) -> Self {
        let format = frame::format(units);
        let wanted = &units.consumer.frames;
        let sections = [(FrameSection::Debug, wanted.debug_frame), (FrameSection::Eh, wanted.eh_frame)];
        let wanted = sections.into_iter().filter(|(_, is_wanted)| *is_wanted);
        let tables = wanted.map(|(section, _)| (section, FrameTable::new(section, format))).collect();
        Self { tables, format, common: IndexMap::default() }
    }

    /// Appends a unit's frames.
    pub(super) fn push(&mut self, units: &Units<'_>, frames: UnitFrames) -> Result<()> {
        let module = units.module;
        let names = &|number: u32| symbol_name(module, number);
        let mut first = FirstRow {
            program: Program::default(),
            stated: None,
            return_register: self.format.return_register,
        };
        for frame in &frames.frames {
            first.program.clear();
            first.program.append(&frames.program, frame.first.clone());
            first.stated = frame.stated;
            first.return_register = frame.return_register;
            let function = &module.functions[frame.function];
            let (symbol, address) = match frame.part.address {
                Address::Symbol(symbol, addend) => (Some(symbol.0.as_u32()), addend),
                Address::Constant(address) => (None, address),
            };
            // An `.eh_frame` address is a distance, for which a linker needs a symbol.
            if symbol.is_none() && units.consumer.frames.eh_frame {
                let what = Construct::ConstantCode;
                return Err(units.consumer.inexpressible(what).or_at(module.at_scope(function.scope)));
            }
            // Most functions begin with the same rows, so a few common entries serve all functions.
            let known = self.common.get(&first).copied().filter(|_| !units.consumer.frames.are_separate);
            let common = known.unwrap_or_else(|| {
                let mut program = first.program.clone();
                if let Some(rule) = first.stated {
                    frame::state(rule, &module.target, self.format, &mut program);
                }
                let mut offsets = [0; 2];
                for ((_, table), offset) in self.tables.iter_mut().zip(&mut offsets) {
                    *offset = table.common(&program, first.return_register, names);
                }
                self.common.insert(first.clone(), offsets);
                offsets
            });
            for ((_, table), common) in self.tables.iter_mut().zip(common) {
                let rest = (&frames.program, frame.rest.clone());
                let code = (symbol.map(names), address);
                table.description(common, code, frame.part.bytes(), rest, names);
            }
        }
        Ok(())
    }

    /// Forgets first rows that contain symbol addresses, because the next module numbers its symbols differently.
    pub(super) fn renumber(&mut self) {
        self.common.retain(|first, _| first.program.addresses.is_empty());
    }

    pub(super) fn sections(self) -> impl Iterator<Item = Section> {
        self.tables.into_iter().map(|(section, table)| Section {
            name: match section {
                FrameSection::Debug => ".debug_frame",
                FrameSection::Eh => ".eh_frame",
            },
            bytes: table.bytes,
            relocations: table.relocations,
            is_strings: false,
            group: None,
        })
    }
}
