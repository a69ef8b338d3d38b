//! The functions of the module, with their code in the object.

use core::cell::RefCell;
use core::ops::Range;
use std::rc::Rc;

use gimli::constants as dw;
use hashbrown::{HashMap, HashSet};

use super::claims::Facts;
use super::code::{Changed, Code, Waits};
use super::lanes::Lanes;
use super::waits::Pending;
use crate::import::ImportedEntries;
use crate::model::{FunctionId, Module};
use crate::read::{Dwarf, Object};
use crate::target::Wave;
use crate::target::code::InstructionSet;

/// Facts that a fix reads besides the module.
#[derive(Clone, Copy)]
pub(in crate::rewrite) struct Source<'a, 'o> {
    pub object: &'a Object<'o>,
    pub dwarf: &'a Dwarf<'o>,
    pub entries: &'a ImportedEntries,
}

/// Functions of the module with their code.
pub(super) struct Functions<'a, 'o> {
    source: Source<'a, 'o>,
    set: Option<(InstructionSet, Waits)>,
    lanes: u32,
    /// Addresses of the first range of code.
    pub(super) pcs: HashMap<FunctionId, Range<u64>>,
    /// The same, by their start.
    by_start: HashMap<u64, Range<u64>>,
    /// Addresses of functions for which the object has a kernel descriptor.
    kernels: HashSet<u64>,
    /// Registers that functions change, by the functions' addresses.
    changed: RefCell<HashMap<u64, Option<Rc<Changed>>>>,
}

impl<'a, 'o> Functions<'a, 'o> {
    pub(super) fn new(module: &Module, source: Source<'a, 'o>) -> Self {
        let target = module.target();
        let wave = if target.lanes() == 64 { Wave::W64 } else { Wave::W32 };
        let gfx = source.object.gfx();
        let set =
            gfx.and_then(|gfx| Some((InstructionSet::of(gfx, wave)?, Waits::of_processor(gfx.name())?)));
        let mut pcs = HashMap::new();
        for entry in source.dwarf.entries().filter(|entry| entry.tag() == dw::DW_TAG_subprogram) {
            let Some(range) = entry.ranges().ok().and_then(|ranges| ranges.first().cloned()) else {
                continue;
            };
            for function in source.entries.functions(entry.offset()) {
                pcs.entry(function).or_insert_with(|| range.clone());
            }
        }
        let object = source.object;
        let descriptors = object.symbols().iter().filter_map(|symbol| symbol.name.strip_suffix(".kd"));
        let kernels = descriptors.filter_map(|name| object.symbol_address(name)).collect();
        let by_start = pcs.values().map(|pcs: &Range<u64>| (pcs.start, pcs.clone())).collect();
        Self { source, set, lanes: target.lanes(), pcs, by_start, kernels, changed: RefCell::default() }
    }

    /// Returns what is known about a function's code; `None` if its instructions are not known.
    pub(super) fn facts(&self, module: &Module, function: FunctionId) -> Option<Facts> {
        let (_, waits) = self.set?;
        let code = self.code_of(function)?;
        let lanes = Lanes::new(&code);
        let pending = Pending::new(&code, waits);
        Some(Facts { code, lanes, pending, waits, is_kernel: self.is_kernel(module, function) })
    }

    /// Whether a function is a kernel: by its convention, or because the object has a kernel descriptor for it.
    pub(super) fn is_kernel(&self, module: &Module, function: FunctionId) -> bool {
        let start = self.pcs.get(&function).map(|pcs| pcs.start);
        module.function(function).is_kernel || start.is_some_and(|start| self.kernels.contains(&start))
    }

    /// Decodes a function.
    pub(super) fn code_of(&self, function: FunctionId) -> Option<Code> {
        self.code(self.pcs.get(&function)?.clone(), DEEPEST)
    }

    /// Decodes a function; calls are followed to a depth.
    fn code(&self, pcs: Range<u64>, depth: u32) -> Option<Code> {
        let (set, _) = self.set?;
        Code::read(self.source.object, set, pcs, self.lanes, &|callee| self.changed(callee, depth))
    }

    /// Returns the registers that the function at an address changes, if they are known.
    fn changed(&self, callee: u64, depth: u32) -> Option<Rc<Changed>> {
        if let Some(known) = self.changed.borrow().get(&callee) {
            return known.clone();
        }
        let depth = depth.checked_sub(1)?;
        let pcs = self.by_start.get(&callee).cloned();
        let changed = pcs.and_then(|pcs| Changed::of(&self.code(pcs, depth)?)).map(Rc::new);
        // A function at the end of a long chain of calls can be known from elsewhere.
        if changed.is_some() || depth > 0 {
            self.changed.borrow_mut().insert(callee, changed.clone());
        }
        changed
    }
}

/// Limit on the chain of calls that is followed to know which registers a call changes.
const DEEPEST: u32 = 8;
