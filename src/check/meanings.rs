//! What the comparisons at [witnesses](super::witness) share: those for variables, frames, calls, lanes and
//! procedures.

use core::cell::{OnceCell, RefCell};

use super::file::File;
use super::known::Known;
use super::pairs::Pairs;
use super::report::CheckReport;
use super::tree::Described;
use super::witness;
use crate::eval::Evaluator;
use crate::model::Module;

/// State for comparing locations by meaning.
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
    pub(super) report: &'w mut CheckReport,
    /// Whether a described procedure [combines](super::combining) numbers, once a comparison has asked.
    pub(super) described_procedures_combine: OnceCell<bool>,
    /// Whether a procedure in the object combines numbers, once a comparison has asked.
    pub(super) encoded_procedures_combine: OnceCell<bool>,
}

impl<'w, 'a, 'o> Meanings<'w, 'a, 'o> {
    pub(super) fn new(
        described: Described<'a>,
        file: &'w File<'a, 'o>,
        known: &'w Known,
        report: &'w mut CheckReport,
    ) -> Self {
        let module = described.module;
        let load_bias = witness::load_bias(described.object, &module.target);
        let evaluator = Evaluator::new().all_places().into();
        let pairs = Pairs::default();
        Self {
            module,
            described,
            file,
            known,
            load_bias,
            evaluator,
            pairs,
            report,
            described_procedures_combine: OnceCell::new(),
            encoded_procedures_combine: OnceCell::new(),
        }
    }
}
