//! Machines with generated contents, on which expressions are evaluated. If the results differ on two machines that differ
//! in one register or in the memory, the expression reads it. A fault that occurs whatever the contents are, on a
//! machine without contents and on machines with different contents, is a fault of the expression.

use std::borrow::Cow;
use std::cell::RefCell;

use gimli::constants as dw;
use hashbrown::HashMap;
use smallvec::{SmallVec, smallvec};

use super::shape::{self, LocationShape, Number};
use eitri_dwarf::eval::{
    Architecture, BaseType, Body, Class, Context, DebugInfo, Element, Evaluator, ExpressionSite, Fault,
    Limits, Location, Machine, ReferencedEntry, ResultKind as EvaluationKind, SpaceLayout, Unavailable,
};
use eitri_dwarf::op::{Decoder, Encoding, Op, Reg};
use eitri_dwarf::target::{SpaceId, Target};

/// Canonical frame address of the machine.
const CFA: u64 = 0x7000_0000;
/// Thread storage address.
const TLS: u64 = 0x6000_0000;
/// Address of the object that contains the located object.
const OBJECT: u64 = 0x5000_0000;
/// Difference between two witnesses' register contents.
const STEP: u64 = 0x10;
/// Limit on evaluated operations.
const MOST_STEPS: u64 = 100_000;
/// Lanes and contents for further machines: an expression that fails on all these machines fails whatever the contents.
const OTHERS: [(u64, Contents); 5] = [
    (0, Contents::Word(0)),
    (1, Contents::Word(1)),
    (0, Contents::Word(4)),
    (1, Contents::Noise(1)),
    (0, Contents::Noise(2)),
];
/// Frame base for expressions in unknown functions: memory, by `const4u`, at an address that is the same in both byte
/// orders. A frame has less than 1 GiB below it.
const FRAME_BASE: [u8; 5] = [0x0c, 0x40, 0x00, 0x00, 0x40];

/// A machine stopped in a function. Register N contains N × 0x100, plus the lane number in each lane; memory contains
/// its own addresses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Witness<'a, 'o> {
    pub(crate) info: &'a DebugInfo<'a, 'o>,
    pub(crate) frame_base: Option<ReferencedEntry<'a>>,
    pub(crate) pc: u64,
    pub(crate) lane: Option<u64>,
    pub(crate) lanes: u64,
    pub(crate) target: &'a Target,
    pub(crate) contents: Contents,
}

/// Register and memory contents.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Contents {
    /// Register numbers and addresses, with changed contents in some registers.
    Numbers(Changed),
    /// The same word everywhere; each vector register element holds its low half.
    Word(u64),
    /// Numbers without a pattern, from a seed.
    Noise(u64),
    /// Nothing: a machine without registers, memory, lanes and frames.
    Nothing,
}

impl Contents {
    /// Returns a byte from noise or from a word.
    fn byte(self, place: u64, offset: u64) -> u8 {
        match self {
            Self::Noise(seed) => {
                // SplitMix64's finalizer.
                let mut mixed =
                    (seed ^ place.rotate_left(32)).wrapping_add(offset).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb).to_le_bytes()[7]
            }
            Self::Word(word) => word.to_le_bytes()[offset as usize % 8],
            _ => 0,
        }
    }
}

/// Registers whose contents are larger by a number; in a vector register, only lane 0's.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Changed {
    None,
    Register(Reg, u64),
    All(u64),
}

impl Machine for Witness<'_, '_> {
    fn register(&self, reg: Reg, _frame: u32, offset: u32, into: &mut [u8]) -> Result<(), Unavailable> {
        let is_vector = self.target.register(reg).is_some_and(|register| register.is_vector());
        let changed = match self.contents {
            Contents::Numbers(changed) => changed,
            Contents::Nothing => return Err(Unavailable),
            contents => {
                for (byte, offset) in into.iter_mut().zip(offset..) {
                    *byte = contents.byte(reg.0, u64::from(if is_vector { offset % 4 } else { offset }));
                }
                return Ok(());
            }
        };
        let difference = match changed {
            Changed::Register(changed, difference) if changed == reg => difference,
            Changed::All(difference) => difference,
            _ => 0,
        };
        let number = (reg.0 & 0xfff) << 8;
        for (byte, offset) in into.iter_mut().zip(offset..) {
            let (word, offset) = if is_vector {
                (number + u64::from(offset / 4) + if offset < 4 { difference } else { 0 }, offset % 4)
            } else {
                (number + difference, offset)
            };
            *byte = word.to_le_bytes().get(offset as usize).copied().unwrap_or(0);
        }
        Ok(())
    }

    fn memory(
        &self,
        _space: SpaceId,
        _lane: Option<u32>,
        address: u64,
        into: &mut [u8],
    ) -> Result<(), Unavailable> {
        if matches!(self.contents, Contents::Nothing) {
            return Err(Unavailable);
        }
        for (index, byte) in into.iter_mut().enumerate() {
            let byte_address = address.wrapping_add(index as u64);
            *byte = match self.contents {
                Contents::Numbers(_) => (byte_address & !7).to_le_bytes()[byte_address as usize % 8],
                contents => contents.byte(u64::MAX, byte_address),
            };
        }
        Ok(())
    }

    fn lane(&self) -> Option<u64> {
        self.lane
    }

    fn lanes(&self) -> u64 {
        self.lanes
    }

    fn pc(&self, frame: u32) -> Option<u64> {
        self.is_present(frame).then_some(self.pc)
    }

    fn cfa(&self, frame: u32) -> Option<Location> {
        self.is_present(frame)
            .then(|| Location::memory(SpaceId::DEFAULT, u32::from(self.target.address_bytes()) * 8, CFA))
    }

    fn frame_base(&self, frame: u32) -> Option<ReferencedEntry<'_>> {
        self.frame_base.filter(|_| self.is_present(frame))
    }

    fn tls(&self) -> Option<u64> {
        self.is_present(0).then_some(TLS)
    }

    fn object(&self) -> Option<Location> {
        Some(Location::memory(SpaceId::DEFAULT, u32::from(self.target.address_bytes()) * 8, OBJECT))
            .filter(|_| self.is_present(0))
    }

    fn debug_addr(&self, unit: u64, index: u64) -> Option<u64> {
        self.info.debug_addr(unit, index)
    }

    fn base_type(&self, unit: u64, offset: u64) -> Option<BaseType> {
        self.info.base_type(unit, offset)
    }

    fn entry(&self, offset: u64) -> Option<ReferencedEntry<'_>> {
        self.info.entry(offset)
    }
}

impl Witness<'_, '_> {
    /// Whether the machine has a frame.
    fn is_present(&self, frame: u32) -> bool {
        frame == 0 && !matches!(self.contents, Contents::Nothing)
    }
}

/// A target whose registers are zero-extended to the size of an address, as debuggers read them.
struct Extended<'a>(&'a Target);

impl Architecture for Extended<'_> {
    fn register_bits(&self, reg: Reg) -> Option<u32> {
        let bits = Architecture::register_bits(self.0, reg)?;
        Some(bits.max(u32::from(self.0.address_bytes()) * 8))
    }

    fn whole_register_bits(&self, reg: Reg) -> Option<u32> {
        self.0.whole_register_bits(reg)
    }

    fn space(&self, space: SpaceId) -> Option<SpaceLayout> {
        Architecture::space(self.0, space)
    }

    fn lane_bits(&self, reg: Reg) -> Option<u32> {
        self.0.lane_bits(reg)
    }

    fn first_number(&self, reg: Reg) -> Reg {
        self.0.first_number(reg)
    }

    fn largest_address_bits(&self) -> u32 {
        self.0.largest_address_bits()
    }
}

/// Expression context: the initial stack, and the operations that are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Site {
    /// A location, on an empty stack.
    Location,
    /// A value, on an empty stack.
    Value,
    /// A location, on a stack that holds an object's location.
    Object,
    /// The same, with a pointer to a member below it.
    PointerAndObject,
    /// The canonical frame address, on an empty stack.
    FrameAddress,
    /// A register's location, on a stack with the canonical frame address.
    Rule,
    /// A register's value, on the same stack.
    ValueRule,
}

impl Site {
    /// Returns operations that make the initial stack.
    pub(super) fn operations(self) -> &'static [u8] {
        const OBJECT: u8 = dw::DW_OP_push_object_address.0;
        match self {
            Self::Location | Self::Value | Self::FrameAddress => &[],
            Self::Object => &[OBJECT],
            Self::PointerAndObject => &[OBJECT, OBJECT],
            Self::Rule | Self::ValueRule => &[dw::DW_OP_call_frame_cfa.0],
        }
    }

    fn initial(self, target: &Target) -> SmallVec<[Element; 2]> {
        let memory = |address| {
            let bits = u32::from(target.address_bytes()) * 8;
            Element::Location(Location::memory(SpaceId::DEFAULT, bits, address))
        };
        match self {
            Self::Location | Self::Value | Self::FrameAddress => smallvec![],
            Self::Object => smallvec![memory(OBJECT)],
            Self::PointerAndObject => smallvec![memory(STEP), memory(OBJECT)],
            Self::Rule | Self::ValueRule => smallvec![memory(CFA)],
        }
    }

    fn kind(self) -> EvaluationKind {
        match self {
            Self::Value | Self::ValueRule => EvaluationKind::Any,
            _ => EvaluationKind::Location,
        }
    }

    fn place(self) -> ExpressionSite {
        match self {
            Self::FrameAddress | Self::Rule | Self::ValueRule => ExpressionSite::Cfi,
            _ => ExpressionSite::Location,
        }
    }
}

/// Machines for a unit's expressions.
#[derive(Clone, Copy)]
pub(super) struct Machines<'a, 'o> {
    pub(super) info: &'a DebugInfo<'a, 'o>,
    pub(super) target: &'a Target,
    pub(super) unit: u64,
    pub(super) encoding: Encoding,
}

/// An expression in a unit.
#[derive(Clone, Copy)]
pub(super) struct Witnessed<'a, 'o> {
    pub(super) known: &'a Known<'o>,
    pub(super) on: Machines<'a, 'o>,
    pub(super) expr: &'o [u8],
}

/// Locations that do not depend on a frame base, by the unit's expressions.
pub(super) type Known<'o> = RefCell<HashMap<(&'o [u8], Difference), Option<String>>>;

/// Things in which two witnesses differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Difference {
    /// The lane in focus.
    Lane,
    /// A register's contents, by a number.
    Register(Reg, u64),
    /// All registers' contents.
    Registers,
}

impl<'a, 'o> Machines<'a, 'o> {
    /// Returns the rule by which the expression fails on every machine, with the operation's offset.
    ///
    /// A machine without contents and a machine with contents fail in the same way only if the operations and constants
    /// are at fault. Once contents were used, the rule must concern the elements on the stack, a division by the
    /// constant 0, or an address space with a constant number, and no branch may have led there, because other numbers
    /// can be right on a machine that is no witness.
    pub(super) fn failure(&self, expr: &[u8], site: Site) -> Option<(usize, Cow<'static, str>)> {
        let base = ReferencedEntry::new(Body::Expression(&FRAME_BASE), self.unit, None);
        let machine = self.machine(Some(base));
        let fault = self.evaluate(expr, &machine, site).err()?;
        // A witness's frame holds no values from callers or other entries.
        let needs_others = |op: Op<'_>| {
            matches!(
                op,
                Op::EntryValue { .. }
                    | Op::CallFrameEntryReg { .. }
                    | Op::GnuParameterRef { .. }
                    | Op::GnuVariableValue { .. }
                    | Op::Call2 { .. }
                    | Op::Call4 { .. }
                    | Op::CallRef { .. }
            )
        };
        let operations = || Decoder::new(expr, self.encoding).flatten();
        if fault.is_limit || operations().any(|operation| needs_others(operation.op)) {
            return None;
        }
        // DWARF 5 recommends a type with the same size, but debuggers take the low bits: gcc puts a `float`'s bits into
        // the generic type.
        let is_reinterpretation = |op: Op<'_>| match op {
            Op::Reinterpret { ty } => self.info.base_type(self.unit, ty).is_some(),
            _ => false,
        };
        if operations()
            .any(|operation| fault.offset == Some(operation.offset) && is_reinterpretation(operation.op))
        {
            return None;
        }
        // Bit offsets decide whether a location starts at a byte, and messages contain them.
        let moves_by_bits = operations().any(|operation| matches!(operation.op, Op::BitOffset { .. }));
        let is_same = |witness: &Witness<'_, '_>| {
            self.evaluate(expr, witness, site).err().is_some_and(|other| {
                let has_same_rule = !moves_by_bits || other.rule == fault.rule;
                has_same_rule && (other.class, other.offset) == (fault.class, fault.offset)
            })
        };
        let nothing = Witness { contents: Contents::Nothing, lane: None, ..machine };
        let is_certain = match fault.class {
            Class::IllFormed | Class::Evaluation
                if self.evaluate(expr, &nothing, site).err().as_ref() == Some(&fault) =>
            {
                true
            }
            Class::Evaluation if !self.divides_by_zero(expr, site, fault.offset) => false,
            Class::IllFormed if !self.has_known_space(expr, site, fault.offset) => false,
            Class::IllFormed | Class::Evaluation => {
                let with = |(lane, contents)| Witness { lane: Some(lane), contents, ..machine };
                !operations().any(|operation| matches!(operation.op, Op::Bra { .. }))
                    && OTHERS.into_iter().all(|other| is_same(&with(other)))
            }
            _ => false,
        };
        is_certain.then(|| (fault.offset.unwrap_or(0), fault.rule))
    }

    /// Whether the operation at an offset divides by the constant 0.
    fn divides_by_zero(&self, expr: &[u8], site: Site, offset: Option<usize>) -> bool {
        let initial = site.operations();
        let shape = shape::analyze(&[initial, expr].concat(), self.encoding, &|_| None);
        offset.is_some() && shape.zero_divisor == offset.map(|offset| offset + initial.len())
    }

    /// Whether the operation at an offset pops no address space number, or a constant number, or lacks an element.
    fn has_known_space(&self, expr: &[u8], site: Site, offset: Option<usize>) -> bool {
        let mut operations = Decoder::new(expr, self.encoding).flatten();
        let Some(fault) = operations.find(|operation| Some(operation.offset) == offset) else { return true };
        let pops_space = matches!(
            fault.op,
            Op::FormAspaceAddress { .. }
                | Op::AspaceBregX { .. }
                | Op::Xderef { .. }
                | Op::XderefSize { .. }
                | Op::XderefType { .. }
        );
        let end = operations.next().map_or(expr.len(), |next| next.offset);
        let place = |end| {
            let shape = shape::analyze(&[site.operations(), &expr[..end]].concat(), self.encoding, &|_| None);
            shape.parts.into_iter().next().map_or(LocationShape::Nothing, |part| part.place)
        };
        !pops_space
            || match place(end) {
                LocationShape::Memory { space: Some(space), .. } => matches!(space, Number::Known(_)),
                LocationShape::Memory { address: Number::Loaded { space: Some(space), .. }, .. } => {
                    matches!(*space, Number::Known(_))
                }
                // The elements before the operation are known, and too few.
                _ => place(fault.offset) != LocationShape::Other,
            }
    }

    fn described(&self, expr: &[u8], frame_base: Option<&'a [u8]>, difference: Difference) -> Option<String> {
        let base = frame_base
            .map(|expr| ReferencedEntry::new(Body::Expression(expr), self.unit, Some(self.encoding)));
        let machine = self.machine(base);
        let with = |changed| Witness { contents: Contents::Numbers(changed), ..machine };
        let other = match difference {
            Difference::Lane => Witness { lane: Some(1), ..machine },
            Difference::Register(reg, change) => with(Changed::Register(reg, change)),
            Difference::Registers => with(Changed::All(STEP)),
        };
        let place = |machine: &Witness<'_, '_>| {
            let result = self.evaluate(expr, machine, Site::Location).ok()?;
            let Element::Location(location) = result else { return None };
            Some(location.in_names(self.target).to_string())
        };
        let first = place(&machine)?;
        let second = place(&other)?;
        let locations = if first == second {
            format!("at {first} in both")
        } else {
            format!("at {first} and at {second}")
        };
        Some(match difference {
            Difference::Lane => format!("with lane 0 and lane 1 in focus, the location is {locations}"),
            Difference::Register(reg, change) => {
                let register = self.target.register(reg)?;
                let lane = if register.is_vector() { "lane 0 of " } else { "" };
                format!("with {change:#x} more in {lane}{}, the location is {locations}", register.name())
            }
            Difference::Registers => {
                format!("with other contents in all registers, the location is {locations}")
            }
        })
    }

    fn machine(&self, frame_base: Option<ReferencedEntry<'a>>) -> Witness<'a, 'o> {
        Witness {
            info: self.info,
            frame_base,
            pc: 0,
            lane: Some(0),
            lanes: self.target.lanes().into(),
            target: self.target,
            contents: Contents::Numbers(Changed::None),
        }
    }

    fn evaluate(&self, expr: &[u8], machine: &Witness<'_, '_>, site: Site) -> Result<Element, Fault> {
        let target = Extended(self.target);
        let initial = site.initial(self.target);
        let context = Context::new(self.encoding, &target)
            .with_unit(self.unit)
            .with_initial(&initial)
            .with_kind(site.kind())
            .with_place(site.place());
        let limits = {
            let mut limits = Limits::default();
            limits.steps = MOST_STEPS;
            limits
        };
        Evaluator::new().with_limits(limits).evaluate(expr, machine, &context)
    }
}

impl<'a> Witnessed<'a, '_> {
    /// Describes the locations at two witnesses. `None` if the expression has no location there. `frame_base` is what the
    /// expression depends on.
    pub(super) fn places(&self, frame_base: Option<&'a [u8]>, difference: Difference) -> Option<String> {
        if frame_base.is_some() {
            return self.on.described(self.expr, frame_base, difference);
        }
        if let Some(known) = self.known.borrow().get(&(self.expr, difference)) {
            return known.clone();
        }
        let places = self.on.described(self.expr, None, difference);
        self.known.borrow_mut().insert((self.expr, difference), places.clone());
        places
    }
}
