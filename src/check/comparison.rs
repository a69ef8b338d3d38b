//! State of a comparison, which all functions that compare entries extend.

use std::borrow::Cow;
use std::collections::BTreeMap;

use gimli::{DwAt, DwUt, constants as dw};

use super::file::File;
use super::known::{Known, Split};
use super::meanings::Meanings;
use super::report::Report;
use super::tables::Tables;
use super::tree::{Described, Entity, Number, Reference};
use crate::error::At;
use crate::model::{CallId, FunctionId, ScopeId, UnitId, VariableId};
use crate::read::{Dwarf, Entry, Unit};

pub(super) struct Compare<'a, 'o> {
    pub(super) described: Described<'a>,
    pub(super) file: File<'a, 'o>,
    pub(super) type_units: TypeUnits<'a, 'o>,
    pub(super) known: Known,
    pub(super) pending: Pending<'a, 'o>,
    pub(super) split: Split<'a, 'o>,
    pub(super) report: Report,
}

/// Comparisons that depend on all entries of a file.
#[derive(Default)]
pub(super) struct Pending<'a, 'o> {
    pub(super) references: Vec<Referring>,
    /// Numbers, each of an entity that locates findings.
    pub(super) numbers: Vec<(Entity, Number, Entry<'a, 'o>)>,
    /// Composite types, whose scopes are compared.
    pub(super) types: Vec<(ScopeId, Entry<'a, 'o>)>,
    /// Variables, each with the index of its entry, and the function around it.
    pub(super) places: Vec<(VariableId, u32, Option<FunctionId>)>,
    pub(super) frames: Vec<(FunctionId, Entry<'a, 'o>)>,
    pub(super) calls: Vec<(CallId, Entry<'a, 'o>)>,
    /// Functions and inlined calls, for their lanes.
    pub(super) lanes: Vec<(ScopeId, Entry<'a, 'o>)>,
    /// Units, for their procedures.
    pub(super) units: Vec<(UnitId, Entry<'a, 'o>)>,
}

/// Reference of an entity that locates findings. There are many: the entry that it leads to is an index.
pub(super) struct Referring {
    pub(super) of: Entity,
    pub(super) attribute: Option<DwAt>,
    pub(super) entity: Entity,
    pub(super) found: Option<u32>,
}

impl<'a, 'o> Pending<'a, 'o> {
    pub(super) fn refer(&mut self, of: Entity, Reference { attribute, entity, found }: Reference<'a, 'o>) {
        let index = found.map(|entry| entry.index() as u32);
        self.references.push(Referring { of, attribute, entity, found: index });
    }

    pub(super) fn place(&mut self, id: VariableId, entry: Entry<'a, 'o>, function: Option<FunctionId>) {
        self.places.push((id, entry.index() as u32, function));
    }
}

impl<'a, 'o> Compare<'a, 'o> {
    pub(super) fn new(described: Described<'a>, dwarf: &'a Dwarf<'o>) -> Self {
        let mut report = Report { omitted: described.omitted.all, ..Report::default() };
        let split =
            Split { main: None, skeletons: Vec::new(), of_file: BTreeMap::new(), is_first: true, names: &[] };
        Self {
            described,
            file: File::new(described, dwarf, &mut report),
            type_units: TypeUnits::default(),
            known: Known::default(),
            pending: Pending::default(),
            split,
            report,
        }
    }

    /// Returns the comparison of lookup tables.
    pub(super) fn tables(&mut self) -> Tables<'_, 'a, 'o> {
        let Self { described, file, known, split, report, .. } = self;
        Tables { described: *described, file, known, split, report }
    }

    /// Returns the comparison of the meaning of locations.
    pub(super) fn meanings(&mut self) -> Meanings<'_, 'a, 'o> {
        let Self { described, file, known, report, .. } = self;
        Meanings::new(*described, file, known, report)
    }

    /// Continues with another file of split units.
    pub(super) fn begin_file(&mut self, file: &'a Dwarf<'o>) {
        self.file = File::new(self.described, file, &mut self.report);
        self.known.begin_file();
        self.split.of_file.clear();
    }
}

/// Returns whether a unit is a type unit.
pub(super) fn is_type_unit(unit: &Unit<'_>) -> bool {
    unit.kind == dw::DW_UT_type
}

/// Entries of types with type units, by tag and name.
pub(super) type TypeUnits<'a, 'o> = BTreeMap<(u16, Cow<'a, str>), Vec<Entry<'a, 'o>>>;

/// Compares the header of a unit.
pub(super) fn compare_unit_header(compare: &mut Compare<'_, '_>, unit: &Unit<'_>, kind: DwUt, at: &At) {
    compare.report.expect_equal(at, "a unit's kind", &kind, &unit.kind);
    compare.report.expect_equal(at, "entries that do not end", &0, &unit.contents.unclosed);
    let expected = compare.described.consumer;
    let encoding = &unit.encoding;
    let address_bytes = compare.described.module.target.address_bytes();
    compare.report.expect_equal(at, "bytes of an address", &address_bytes, &encoding.address_bytes);
    compare.report.expect_equal(at, "the DWARF version", &expected.version, &encoding.version);
    compare.report.expect_equal(
        at,
        "bytes of an offset",
        &expected.format.word_size(),
        &encoding.offset_bytes,
    );
}
