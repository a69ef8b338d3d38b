//! The meaning of locations of variables, frames, calls, lanes and procedures, compared at [witnesses](super::witness).

use core::cell::{OnceCell, RefCell};
use std::rc::Rc;

use gimli::constants as dw;

use super::compare::Known;
use super::file::File;
use super::numbers::{does_expression_combine, does_location_combine, offsets};
use super::pairs::Pairs;
use super::procedures::is_procedure;
use super::report::Report;
use super::tree::Described;
use super::witness;
use crate::eval::Evaluator;
use crate::model::{LocId, Module};
use crate::op::Encoding;

/// Comparison of the meaning of locations.
pub(super) struct Meanings<'w, 'a, 'o> {
    pub(super) module: &'a Module,
    pub(super) described: Described<'a>,
    pub(super) file: &'w File<'a, 'o>,
    pub(super) known: &'w Known,
    /// Bytes by which the object is loaded above its addresses.
    pub(super) load_bias: u64,
    pub(super) evaluator: RefCell<Evaluator>,
    /// Locations that were compared before.
    pub(super) pairs: Pairs<'o>,
    pub(super) report: &'w mut Report,
    /// Whether a described procedure, or one of the object, combines numbers.
    combining_procedures: [OnceCell<bool>; 2],
}

impl<'w, 'a, 'o> Meanings<'w, 'a, 'o> {
    pub(super) fn new(
        described: Described<'a>,
        file: &'w File<'a, 'o>,
        known: &'w Known,
        report: &'w mut Report,
    ) -> Self {
        let module = described.module;
        let load_bias = witness::load_bias(described.object, &module.target);
        let (evaluator, pairs) = (Evaluator::new().all_places().into(), Pairs::default());
        let combining_procedures = Default::default();
        Self { module, described, file, known, load_bias, evaluator, pairs, report, combining_procedures }
    }

    /// Returns the constants that described locations, or expressions of the object, add to numbers, if they
    /// [combine](Self::do_combine) numbers.
    pub(super) fn combined<'e>(
        &self,
        described: impl IntoIterator<Item = LocId> + Clone,
        found: impl IntoIterator<Item = &'e [u8]> + Clone,
        encoding: Encoding,
    ) -> Option<Rc<[u64]>> {
        let nodes = described.clone().into_iter().flat_map(|loc| self.module.nodes(loc));
        let exprs = found.clone().into_iter();
        self.do_combine(described, found, encoding).then(|| offsets(nodes, exprs, encoding))
    }

    /// Returns whether described locations, or expressions of the object, combine numbers such that most contents of a
    /// machine hide a mistake.
    pub(super) fn do_combine<'e>(
        &self,
        described: impl IntoIterator<Item = LocId>,
        found: impl IntoIterator<Item = &'e [u8]>,
        encoding: Encoding,
    ) -> bool {
        let [in_module, in_object] = &self.combining_procedures;
        let (module, dwarf) = (self.module, self.file.dwarf);
        let of_module = || {
            *in_module.get_or_init(|| {
                let mut locs = module.procedures.values().map(|procedure| procedure.loc);
                locs.any(|loc| does_location_combine(module.nodes(loc), || false))
            })
        };
        let of_object = || {
            *in_object.get_or_init(|| {
                let mut procedures = dwarf.entries().filter(|&entry| is_procedure(entry));
                procedures.any(|entry| {
                    let list = entry.locations(dw::DW_AT_location).ok().flatten().unwrap_or_default();
                    let combines = |expr| does_expression_combine(expr, entry.unit().encoding, || false);
                    list.iter().any(|one| combines(one.expr))
                })
            })
        };
        described.into_iter().any(|loc| does_location_combine(module.nodes(loc), of_module))
            || found.into_iter().any(|expr| does_expression_combine(expr, encoding, of_object))
    }
}
