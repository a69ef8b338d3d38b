//! Findings about a variable's location in a single location entry.

use std::cell::{Cell, RefCell};
use std::ops::Range;

use gimli::constants as dw;
use smallvec::SmallVec;

use super::codes::LintCode;
use super::details::Details;
use super::file::{Architecture, File, Function};
use super::meant::{Meaning, Slot};
use super::shape::{LocationShape, Number, PartShape, Shape};
use super::witness::{Difference, Witnessed};
use eitri_dwarf::op::Encoding;
use eitri_dwarf::read::Entry;
use eitri_dwarf::target::SpaceId;

/// A location entry with its context.
pub(super) struct Located<'a, 'r, 'o> {
    pub(super) file: &'a File<'r, 'o>,
    pub(super) function: Option<&'a Function<'r, 'r>>,
    /// Frame base of the function; `None` without one.
    pub(super) frame_base: Option<&'a Shape>,
    pub(super) variable: Entry<'r, 'r>,
    pub(super) ty: Option<Type<'r>>,
    pub(super) encoding: Encoding,
    pub(super) shape: &'a Shape,
    /// The entry's expression.
    pub(super) expr: &'a [u8],
    /// The expression on target machines.
    pub(super) witnessed: Option<Witnessed<'a, 'r>>,
    /// Frame base expression.
    pub(super) base: Option<&'a [u8]>,
    /// The entry's pcs; `None` if it holds for all pcs.
    pub(super) pcs: Option<Range<u64>>,
    /// Whether the findings have texts.
    pub(super) explains: bool,
    /// Facts on which the findings depend.
    pub(super) depends: Cell<Depends>,
    /// Intended meaning of each part with a finding, if the findings have texts.
    pub(super) meanings: RefCell<Vec<Option<Meaning>>>,
}

/// Further facts on which findings depend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Depends {
    /// No finding.
    #[default]
    Nothing,
    /// Whether a vector register has an address in scratch within the pcs.
    Address(u16, bool),
    /// The function.
    Function,
}

/// A variable's type without its qualifiers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Type<'r> {
    pub(super) entry: Entry<'r, 'r>,
    pub(super) bits: Option<u64>,
    pub(super) is_base: bool,
    /// Whether values with this type are addresses.
    pub(super) is_pointer: bool,
}

impl<'r> Type<'r> {
    /// Returns the type at an entry, without its qualifiers.
    pub(super) fn new(entry: Entry<'r, 'r>) -> Option<Self> {
        let entry = entry.unqualified()?;
        let is_base = entry.tag() == dw::DW_TAG_base_type;
        let is_pointer = matches!(
            entry.tag(),
            dw::DW_TAG_pointer_type | dw::DW_TAG_reference_type | dw::DW_TAG_rvalue_reference_type
        );
        Some(Self { entry, bits: entry.size_bits(), is_base, is_pointer })
    }
}

/// A finding about part of the location.
pub(super) struct Diagnosed {
    pub(super) code: LintCode,
    pub(super) operations: Range<usize>,
    /// Texts; `None` where no text is requested.
    pub(super) details: Option<Box<Details>>,
}

impl Diagnosed {
    /// Returns a finding that is not about operations.
    pub(super) fn new(code: LintCode, details: Details) -> Self {
        Self { code, operations: 0..0, details: Some(Box::new(details)) }
    }
}

/// Findings about a location: usually one.
pub(super) type Findings = SmallVec<[Diagnosed; 2]>;

/// Codes that have a common cause, so that only the first that fits is reported.
const ORDER: [LintCode; 7] = [
    LintCode::NoFrameBase,
    LintCode::RemovedSymbol,
    LintCode::ConstantDereferenced,
    LintCode::RegisterAsMemory,
    LintCode::SlotWaveScaled,
    LintCode::SlotSpaceLost,
    LintCode::XderefAsLocation,
];

impl Located<'_, '_, '_> {
    /// Returns the findings, with at most one code in [`ORDER`].
    pub(super) fn findings(&self) -> Findings {
        if let Some((offset, rule)) = &self.shape.error {
            let details = || Details::new(format!("the expression cannot be evaluated: {rule}"));
            return [self.diagnosed(LintCode::IllFormed, &(*offset..*offset), details)].into_iter().collect();
        }
        let mut findings = Findings::new();
        let mut meanings: Vec<Option<Meaning>> = Vec::new();
        for part in &self.shape.parts {
            let diagnosed = self.part(part);
            if self.explains {
                // A wrong part without a meaning has no known location.
                let meaning = |diagnosed: &Diagnosed| {
                    let known = diagnosed.details.as_ref().and_then(|details| details.meaning.clone());
                    known.unwrap_or_else(|| Meaning::Words(String::new()))
                };
                meanings.push(diagnosed.as_ref().map(meaning));
            }
            findings.extend(diagnosed);
        }
        self.meanings.replace(meanings);
        if findings.len() > 1 {
            retain_first(&mut findings);
        }
        self.sizes(&mut findings);
        if findings.iter().all(|diagnosed| diagnosed.code != LintCode::PiecesBeyondType) {
            self.pieces(&mut findings);
        }
        let ends_piece =
            |end| self.shape.parts.iter().any(|part| part.bits.is_some() && part.operations.end == end);
        let failure = self.shape.failure.as_ref().filter(|failure| !ends_piece(failure.0));
        if let Some((offset, rule)) = failure.filter(|_| findings.is_empty()) {
            let details = || Details::new(format!("the expression fails on every machine: {rule}"));
            findings.push(self.diagnosed(LintCode::IllFormed, &(*offset..*offset), details));
        }
        findings
    }

    /// Describes the locations at two witnesses that differ in one fact.
    pub(super) fn difference(&self, difference: Difference) -> Option<String> {
        self.witnessed?.places(self.base.filter(|_| self.shape.uses_frame_base), difference)
    }

    pub(super) fn diagnosed(
        &self,
        code: LintCode,
        operations: &Range<usize>,
        details: impl FnOnce() -> Details,
    ) -> Diagnosed {
        let details = self.explains.then(|| Box::new(details()));
        Diagnosed { code, operations: operations.clone(), details }
    }

    fn part(&self, part: &PartShape) -> Option<Diagnosed> {
        let number = match &part.place {
            LocationShape::Register(reg, selected) => return self.register(part, *reg, *selected),
            LocationShape::Memory { space, address } => {
                if let Some(Number::Known(space)) = space
                    && let Some(finding) = self.space(part, *space)
                {
                    return Some(finding);
                }
                address
            }
            LocationShape::Value(number) => number,
            _ => return None,
        };
        if let Some(reg) = self.unknown_register(number) {
            let details = || Details::new(format!("the target has no register {}", reg.0));
            return Some(self.diagnosed(LintCode::UnknownRegister, &part.operations, details));
        }
        if number.find(&|number| matches!(number, Number::Frame(_))).is_some()
            && let (Some(function), None) = (self.function, self.frame_base)
        {
            let details = || {
                let name = function.entry.name().unwrap_or_default();
                Details::new("an offset from a frame base that the function does not have")
                    .evidence([format!("`{name}` has no DW_AT_frame_base")])
            };
            return Some(self.diagnosed(LintCode::NoFrameBase, &part.operations, details));
        }
        if let Some(finding) = self.slot_load(part, number) {
            return Some(finding);
        }
        let is_load = |number: &Number| matches!(number, Number::Loaded { space: Some(_), .. });
        match (&part.place, number.find(&is_load)) {
            (_, Some(Number::Loaded { space: Some(space), from }))
                if self.file.architecture == Architecture::Amd =>
            {
                self.loaded(part, space, from)
            }
            (LocationShape::Memory { space: None, address }, None) => self.memory(part, address),
            (LocationShape::Memory { space: Some(Number::Known(space)), address }, None)
                if *space == u64::from(SpaceId::PRIVATE_LANE.0) =>
            {
                let slot = self.slot(address).filter(|slot| self.is_frame_register(slot.register))?;
                let written = || format!("lane scratch at {}", self.slot_name(&slot));
                self.scaled(part, &slot, written)
            }
            (LocationShape::Value(number), None) => match self.frame_slot(number) {
                Some(slot) => {
                    let written = || format!("a value computed from {}", self.slot_name(&slot));
                    self.scaled(part, &slot, written).or_else(|| self.value(part, number))
                }
                None => self.value(part, number),
            },
            _ => None,
        }
    }

    /// Returns the stack slot whose address a number has in one operation with a vector register.
    fn frame_slot(&self, number: &Number) -> Option<Slot> {
        let is_vector = |number: &Number| matches!(number, Number::Register(reg, _) if self.is_vector(*reg));
        let slot = |number: &Number| self.slot(number).filter(|slot| self.is_frame_register(slot.register));
        let with_slot = |number: &Number| match number {
            Number::Computed(operands) if operands.iter().any(is_vector) => operands.iter().find_map(slot),
            _ => None,
        };
        number.find(&|number| with_slot(number).is_some()).and_then(with_slot)
    }

    /// Returns the finding about a value that is computed from a vector register.
    fn value(&self, part: &PartShape, number: &Number) -> Option<Diagnosed> {
        let is_vector = |number: &Number| matches!(number, Number::Register(reg, _) if self.is_vector(*reg));
        let has_lane = number.find(&|number| matches!(number, Number::Lane(_))).is_some();
        match number.find(&is_vector) {
            Some(Number::Register(reg, _)) if !has_lane => self.lane(part, *reg),
            _ => None,
        }
    }
}

/// Retains a single finding for each code, and only the first code in [`ORDER`].
fn retain_first(findings: &mut Findings) {
    let order = |diagnosed: &Diagnosed| ORDER.iter().position(|code| *code == diagnosed.code);
    let first = findings.iter().filter_map(order).min();
    let mut has_first = false;
    findings.retain(|diagnosed| match order(diagnosed) {
        None => true,
        here => here == first && !std::mem::replace(&mut has_first, true),
    });
    let mut seen = SmallVec::<[LintCode; 4]>::new();
    findings.retain(|diagnosed| {
        let is_new = !seen.contains(&diagnosed.code);
        seen.push(diagnosed.code);
        is_new
    });
}
