//! Live ranges, masks and rows as JSON.

use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

use super::ids::Known;
use super::loc::Place;
use super::row::RowFacts;

use super::values::Number;
use crate::model::{Mask, Row};

/// Live ranges of a variable.
#[derive(Debug, Clone, Copy)]
pub(in crate::json) struct Live<'m> {
    pub known: &'m Known<'m>,
    pub live: &'m [crate::model::Live],
}

/// Locations of a mask of lanes by pc.
#[derive(Debug, Clone, Copy)]
pub(in crate::json) struct Masks<'m> {
    pub known: &'m Known<'m>,
    pub masks: &'m [Mask],
}

/// Rows of a function.
#[derive(Debug, Clone, Copy)]
pub(in crate::json) struct Rows<'m> {
    pub known: &'m Known<'m>,
    pub rows: &'m [Row],
}

impl Serialize for Live<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.live.iter().map(|live| {
            let pcs = live.pcs();
            (Number(pcs.start), Number(pcs.end), Place { known: self.known, loc: live.loc })
        }))
    }
}

impl Serialize for Masks<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.masks.iter().map(|mask| {
            let pcs = mask.pcs();
            (Number(pcs.start), Number(pcs.end), Place { known: self.known, loc: mask.loc })
        }))
    }
}

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut seq = to.serialize_seq(Some(self.rows.len()))?;
        for row in self.rows {
            let facts = RowFacts {
                discriminator: row.discriminator,
                not_stmt: !row.is_stmt,
                prologue_end: row.is_prologue_end,
                epilogue_begin: row.is_epilogue_begin,
            };
            let line = (Number(row.pc), self.known.file_ref(row.file), row.line);
            match (row.column, facts == RowFacts::default()) {
                (0, true) => seq.serialize_element(&line)?,
                (column, true) => seq.serialize_element(&(line.0, line.1, line.2, column))?,
                (column, false) => seq.serialize_element(&(line.0, line.1, line.2, column, facts))?,
            }
        }
        seq.end()
    }
}
