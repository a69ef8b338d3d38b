//! State that all functions comparing entries share: what is compared, what matched so far, what must wait, and the
//! report.

use std::borrow::Cow;
use std::collections::BTreeMap;

use gimli::{DwAt, DwForm, DwUt, constants as dw};
use hashbrown::HashMap;

use super::file::File;
use super::known::{Known, Split};
use super::meanings::Meanings;
use super::report::CheckReport;
use super::tables::Tables;
use super::tree::{Described, Entity, Number, Reference};
use crate::error::At;
use crate::model::{CallId, FunctionId, ScopeId, UnitId, VariableId};
use crate::read::{ByAbbreviation, Dwarf, Entry, Unit};

pub(super) struct Compare<'a, 'o> {
    pub(super) described: Described<'a>,
    pub(super) file: File<'a, 'o>,
    pub(super) type_units: TypeUnits<'a, 'o>,
    pub(super) known: Known,
    pub(super) pending: Pending<'a, 'o>,
    pub(super) split: Split<'a, 'o>,
    /// First section offset with a constant's form, by abbreviation.
    pub(super) constants: ByAbbreviation<Option<(DwAt, DwForm)>>,
    pub(super) report: CheckReport,
}

/// Comparisons that depend on all entries in a file.
#[derive(Default)]
pub(super) struct Pending<'a, 'o> {
    pub(super) references: Vec<Referring>,
    /// Numbers, each with the entity that locates findings.
    pub(super) numbers: Vec<(Entity, Number, Entry<'a, 'o>)>,
    /// Composite types, whose scopes are compared.
    pub(super) types: Vec<(ScopeId, Entry<'a, 'o>)>,
    /// Variables, each with its entry's index and the enclosing function.
    pub(super) places: Vec<(VariableId, u32, Option<FunctionId>)>,
    pub(super) frames: Vec<(FunctionId, Entry<'a, 'o>)>,
    pub(super) calls: Vec<(CallId, Entry<'a, 'o>)>,
    /// Functions and inlined calls, for their lanes.
    pub(super) lanes: Vec<(ScopeId, Entry<'a, 'o>)>,
    /// Units, for their procedures.
    pub(super) units: Vec<(UnitId, Entry<'a, 'o>)>,
}

/// Reference from an entity that locates findings. The target entry is an index because there are many references.
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
        let mut report = CheckReport { omitted: described.omitted.all, ..CheckReport::default() };
        let split = Split {
            main: None,
            skeletons: Vec::new(),
            unmatched: HashMap::new(),
            of_file: BTreeMap::new(),
            is_first: true,
            names: &[],
        };
        Self {
            described,
            file: File::new(described, dwarf, &mut report),
            type_units: TypeUnits::default(),
            known: Known::default(),
            pending: Pending::default(),
            split,
            constants: ByAbbreviation::default(),
            report,
        }
    }

    /// Returns the comparison state for lookup tables.
    pub(super) fn tables(&mut self) -> Tables<'_, 'a, 'o> {
        let Self { described, file, known, split, report, .. } = self;
        Tables { described: *described, file, known, split, report }
    }

    /// Returns the comparison state for locations' meanings.
    pub(super) fn meanings(&mut self) -> Meanings<'_, 'a, 'o> {
        let Self { described, file, known, report, .. } = self;
        Meanings::new(*described, file, known, report)
    }

    /// Continues with another file that contains split units.
    pub(super) fn begin_file(&mut self, file: &'a Dwarf<'o>) {
        self.file = File::new(self.described, file, &mut self.report);
        self.known.begin_file();
        self.constants = ByAbbreviation::default();
        self.split.of_file.clear();
    }
}

/// Returns whether a unit is a type unit.
pub(super) fn is_type_unit(unit: &Unit<'_>) -> bool {
    unit.kind == dw::DW_UT_type
}

/// Entries for types with type units, by tag and name.
pub(super) type TypeUnits<'a, 'o> = BTreeMap<(u16, Cow<'a, str>), Vec<Entry<'a, 'o>>>;

/// Compares a unit's header.
pub(super) fn compare_unit_header(compare: &mut Compare<'_, '_>, unit: &Unit<'_>, kind: DwUt, at: &At) {
    compare.report.expect_equal(at, "a unit's kind", &kind, &unit.kind);
    // Without its terminator, a list of children goes on with whatever follows.
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
