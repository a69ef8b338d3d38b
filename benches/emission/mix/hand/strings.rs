//! `.debug_str` and `.debug_str_offsets`.

use eitri::emit::{Relocation, RelocationTarget};

use super::super::content::{Mix, Name};
use super::bytes::{begin_length, end_length};

#[derive(Default)]
pub struct Strings {
    pub bytes: Vec<u8>,
    pub offsets: Vec<u8>,
    pub relocations: Vec<Relocation>,
    /// Offset of each string in `bytes`, plus 1; 0 for a string that is not stored yet.
    places: Vec<u32>,
    /// Last unit with each string, and the index of the string in that unit's table.
    indices: Vec<(u32, u32)>,
    /// Number of the current unit, from 1 on.
    unit: u32,
    /// Table of the current unit.
    names: Vec<Name>,
}

impl Strings {
    pub fn new(count: usize) -> Self {
        Self { places: vec![0; count], indices: vec![(0, 0); count], unit: 1, ..Self::default() }
    }

    /// Index of a string in the unit's table.
    #[inline]
    pub fn index(&mut self, name: Name) -> u32 {
        let (unit, index) = &mut self.indices[name as usize];
        if *unit != self.unit {
            (*unit, *index) = (self.unit, self.names.len() as u32);
            self.names.push(name);
        }
        *index
    }

    /// Appends the unit's table to the section.
    pub fn finish(&mut self, mix: &Mix) {
        let length = begin_length(&mut self.offsets);
        self.offsets.extend_from_slice(&[5, 0, 0, 0]);
        for &name in &self.names {
            let place = &mut self.places[name as usize];
            if *place == 0 {
                *place = self.bytes.len() as u32 + 1;
                self.bytes.extend_from_slice(mix.text(name).as_bytes());
                self.bytes.push(0);
            }
            self.relocations.push(Relocation {
                offset: self.offsets.len() as u64,
                bytes: 4,
                target: RelocationTarget::Section(".debug_str"),
                addend: u64::from(*place) - 1,
            });
            self.offsets.extend_from_slice(&[0; 4]);
        }
        end_length(&mut self.offsets, length);
        self.names.clear();
        self.unit += 1;
    }
}
