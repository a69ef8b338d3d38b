//! Findings about the place of a variable in one location entry.

use std::cell::Cell;
use std::ops::Range;

use gimli::constants as dw;
use smallvec::SmallVec;

use super::code::described;
use super::codes::Code;
use super::details::Details;
use super::file::{File, Function, Kind};
use super::shape::{Number, Part, Place, Selected, Shape};
use super::verdict::Depends;
use super::witness::{Difference, Witnessed};
use crate::error::Count;
use crate::op::{Encoding, Reg};
use crate::read::Entry;
use crate::target::code::RegisterKind;
use crate::target::{Scaling, SpaceId};

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
    /// The expression on machines of the target.
    pub(super) witnessed: Option<Witnessed<'a, 'r>>,
    /// Expression of the frame base.
    pub(super) base: Option<&'a [u8]>,
    /// Pcs of the entry; `None` if it is for all pcs.
    pub(super) pcs: Option<Range<u64>>,
    /// Whether the findings have texts.
    pub(super) explains: bool,
    /// Facts on which the findings depend.
    pub(super) depends: Cell<Depends>,
}

/// Type of a variable without its qualifiers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Type<'r> {
    pub(super) entry: Entry<'r, 'r>,
    pub(super) bits: Option<u64>,
    pub(super) is_base: bool,
}

impl<'r> Type<'r> {
    /// Returns the type at an entry, without its qualifiers.
    pub(super) fn of(entry: Entry<'r, 'r>) -> Option<Self> {
        let entry = entry.unqualified()?;
        let is_base = entry.tag() == dw::DW_TAG_base_type;
        Some(Self { entry, bits: entry.size_bits(), is_base })
    }
}

/// A finding about a part of the location.
pub(super) struct Judged {
    pub(super) code: Code,
    pub(super) operations: Range<usize>,
    /// Its texts; `None` where they are not asked for.
    pub(super) details: Option<Box<Details>>,
}

impl Judged {
    /// Returns a finding that is not about operations.
    pub(super) fn new(code: Code, details: Details) -> Self {
        Self { code, operations: 0..0, details: Some(Box::new(details)) }
    }
}

/// Findings about a location: most have one.
pub(super) type Findings = SmallVec<[Judged; 2]>;

/// Codes of places in the order in which the first that fits is reported.
const ORDER: [Code; 7] = [
    Code::NoFrameBase,
    Code::RemovedSymbol,
    Code::ConstantDereferenced,
    Code::RegisterAsMemory,
    Code::SlotWaveScaled,
    Code::SlotSpaceLost,
    Code::XderefAsLocation,
];

/// Base register of a stack slot, and whether it is the frame base's.
struct Slot {
    register: Reg,
    offset: i64,
}

impl Located<'_, '_, '_> {
    /// Returns the findings: at most one of [`ORDER`], and the others.
    pub(super) fn findings(&self) -> Findings {
        if let Some((at, rule)) = &self.shape.error {
            let details = || Details::new(format!("the expression cannot be evaluated: {rule}"));
            return [self.judged(Code::IllFormed, &(*at..*at), details)].into_iter().collect();
        }
        let mut all = Findings::new();
        for part in &self.shape.parts {
            if let Some(found) = self.part(part) {
                all.push(found);
            }
        }
        if all.len() > 1 {
            retain_first(&mut all);
        }
        self.sizes(&mut all);
        if let Some((at, rule)) = self.shape.failure.as_ref().filter(|_| all.is_empty()) {
            let details = || Details::new(format!("the expression fails on every machine: {rule}"));
            all.push(self.judged(Code::IllFormed, &(*at..*at), details));
        }
        all
    }

    /// Describes the places at two witnesses that differ in one thing.
    fn difference(&self, difference: Difference) -> Option<String> {
        self.witnessed?.places(self.base.filter(|_| self.shape.uses_frame_base), difference)
    }

    fn judged(&self, code: Code, operations: &Range<usize>, details: impl FnOnce() -> Details) -> Judged {
        let details = self.explains.then(|| Box::new(details()));
        Judged { code, operations: operations.clone(), details }
    }

    fn part(&self, part: &Part) -> Option<Judged> {
        let number = match &part.place {
            Place::Register(reg, selected) => return self.register(part, *reg, *selected),
            Place::Memory { space, address } => {
                if let Some(Number::Known(space)) = space
                    && let Some(finding) = self.space(part, *space)
                {
                    return Some(finding);
                }
                address
            }
            Place::Value(number) => number,
            _ => return None,
        };
        if let Some(reg) = self.unknown_register(number) {
            let details = || Details::new(format!("the target has no register {}", reg.0));
            return Some(self.judged(Code::UnknownRegister, &part.operations, details));
        }
        if number.find(&|number| matches!(number, Number::Frame(_))).is_some()
            && let (Some(function), None) = (self.function, self.frame_base)
        {
            let details = || {
                let name = function.entry.name().unwrap_or_default();
                Details::new("an offset from a frame base that the function does not have")
                    .evidence([format!("`{name}` has no DW_AT_frame_base")])
            };
            return Some(self.judged(Code::NoFrameBase, &part.operations, details));
        }
        let is_load = |number: &Number| matches!(number, Number::Loaded { space: Some(_), .. });
        match (&part.place, number.find(&is_load)) {
            (_, Some(Number::Loaded { space: Some(space), from })) if self.file.kind == Kind::Amd => {
                self.loaded(part, space, from)
            }
            (Place::Memory { space: None, address }, None) => self.memory(part, address),
            (Place::Memory { space: Some(Number::Known(space)), address }, None)
                if *space == u64::from(SpaceId::PRIVATE_LANE.0) =>
            {
                let slot = self.slot(address).filter(|slot| self.is_frame_register(slot.register))?;
                let written =
                    || format!("scratch of the lane at {}{:+}", self.file.name(slot.register), slot.offset);
                self.scaled(part, &slot, written)
            }
            (Place::Value(number), None) => {
                let is_vector =
                    |number: &Number| matches!(number, Number::Register(reg, _) if self.is_vector(*reg));
                let has_lane = number.find(&|number| matches!(number, Number::Lane(_))).is_some();
                match number.find(&is_vector) {
                    Some(Number::Register(reg, _)) if !has_lane => self.lane(part, *reg),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Returns the finding about a load with `xderef`, which is written where a place is meant.
    fn loaded(&self, part: &Part, space: &Number, from: &Number) -> Option<Judged> {
        let written = |address: String| {
            let space = match space {
                Number::Known(space) => self.space_name(*space),
                _ => "a computed space".into(),
            };
            match part.place {
                Place::Value(_) => format!("the value at {address} in {space}"),
                _ => format!("memory at the address that is stored at {address} in {space}"),
            }
        };
        let xderef = |address: &dyn Fn() -> String| {
            let details = || Details::new(written(address()));
            Some(self.judged(Code::XderefAsLocation, &part.operations, details))
        };
        match from {
            Number::Known(value) => {
                let details = || {
                    let space = match space {
                        Number::Known(space) => self.space_name(*space),
                        _ => "a computed space".into(),
                    };
                    let value = *value as i64;
                    Details::new(written(format!("{value:#x}")))
                        .meant(format!("the value {value}"))
                        .evidence([format!("the constant {value} is the address, in {space}")])
                        .evidence(self.difference(Difference::Registers))
                };
                Some(self.judged(Code::ConstantDereferenced, &part.operations, details))
            }
            Number::Symbol(address) => {
                self.removed(part, *address).or_else(|| xderef(&|| format!("{address:#x}")))
            }
            Number::Register(..) | Number::Frame(_) => {
                let Some(slot) = self.slot(from) else {
                    return xderef(&|| "an offset from the frame base".into());
                };
                let address = || format!("{}{:+}", self.file.name(slot.register), slot.offset);
                if !self.is_frame_register(slot.register) {
                    return Some(self.value_in_register(part, &slot, from, || written(address())));
                }
                self.scaled(part, &slot, || written(address())).or_else(|| xderef(&address))
            }
            Number::Computed(_) => {
                let is_register = |number: &Number| matches!(number, Number::Register(reg, _) if !self.is_frame_register(*reg));
                match from.find(&is_register).and_then(|number| self.slot(number)) {
                    Some(slot) => {
                        let address =
                            || format!("an address computed from {}", self.file.name(slot.register));
                        Some(self.value_in_register(part, &slot, from, || written(address())))
                    }
                    None => xderef(&|| "a computed address".into()),
                }
            }
            _ => xderef(&|| "a computed address".into()),
        }
    }

    /// Returns the finding about a register that is taken as an address, and is none.
    fn value_in_register(
        &self,
        part: &Part,
        slot: &Slot,
        from: &Number,
        written: impl Fn() -> String,
    ) -> Judged {
        let is_address = match self.file.operand(slot.register) {
            Some((RegisterKind::Vector, number)) => {
                let is_address = self.is_scratch_address(number);
                self.depends.set(match self.depends.get() {
                    Depends::Nothing => Depends::Address(number, is_address),
                    Depends::Address(known, _) if known == number => Depends::Address(number, is_address),
                    _ => Depends::Function,
                });
                is_address
            }
            _ => false,
        };
        if is_address {
            return self.judged(Code::XderefAsLocation, &part.operations, || Details::new(written()));
        }
        self.judged(Code::RegisterAsMemory, &part.operations, || {
            let name = self.file.name(slot.register);
            let scratch = match self.function.and_then(|function| self.file.scratch_bytes(function.start())) {
                Some(0) => "private_segment_fixed_size is 0: the kernel has no scratch".into(),
                Some(bytes) => format!(
                    "no instruction in the range uses {name} as an address in scratch, which has {}",
                    Count(bytes, "byte")
                ),
                None => format!("no instruction in the range uses {name} as an address in scratch"),
            };
            let is_value = matches!(part.place, Place::Value(_));
            let meant = match (from, if is_value { slot.offset } else { 0 }) {
                (Number::Computed(_), _) if is_value => format!("a value computed from {name}"),
                (_, 0) => format!("the value in {name}"),
                (_, by @ ..0) => format!("the value in {name} minus {}", by.unsigned_abs()),
                (_, by) => format!("the value in {name} plus {by}"),
            };
            Details::new(written())
                .meant(meant)
                .evidence(self.setter(slot.register))
                .evidence([scratch])
                .evidence(self.difference(Difference::Register(slot.register, 8)))
        })
    }

    /// Whether a vector register has an address in scratch within the pcs.
    fn is_scratch_address(&self, number: u16) -> bool {
        let of = self.function.zip(self.pcs.as_ref());
        of.is_some_and(|(function, pcs)| function.code(self.file).is_scratch_address(number, pcs))
    }

    /// Returns the finding about memory in the default space.
    fn memory(&self, part: &Part, address: &Number) -> Option<Judged> {
        match address {
            Number::Known(value) => {
                let details = || {
                    let version = self.encoding.version;
                    let has = if version < 4 { "does not have" } else { "has" };
                    Details::new(format!("memory at address {value:#x} of the default space"))
                        .meant(format!("the value {}", *value as i64))
                        .evidence([format!("DWARF {version}, which {has} stack_value; constant {value}")])
                        .evidence(self.difference(Difference::Registers))
                };
                Some(self.judged(Code::ConstantAsAddress, &part.operations, details))
            }
            Number::Symbol(address) if self.file.kind == Kind::Amd => self.removed(part, *address),
            Number::Register(..) | Number::Frame(_) if self.file.kind == Kind::Amd => {
                let slot = self.slot(address)?;
                let written = || {
                    let name = self.file.name(slot.register);
                    format!("memory of the default space at {name}{:+}", slot.offset)
                };
                if !self.is_frame_register(slot.register) {
                    let (kind, _) = self.file.operand(slot.register)?;
                    let is_slot = kind == RegisterKind::Scalar;
                    return (!is_slot).then(|| self.value_in_register(part, &slot, address, written));
                }
                Some(self.judged(Code::SlotSpaceLost, &part.operations, || {
                    let name = self.file.name(slot.register);
                    let base = match address {
                        Number::Frame(_) => "the frame base is",
                        _ => "the address is in",
                    };
                    let scratch = self.space_name(SpaceId::PRIVATE_LANE.0.into());
                    Details::new(written())
                        .meant(format!("scratch at {name}{:+}", slot.offset))
                        .evidence([
                            format!("{base} {name}, of 32 bits; addresses of the default space have 64"),
                            format!("scratch is in {scratch}"),
                        ])
                        .evidence(self.stack_move())
                        .evidence(self.difference(Difference::Lane))
                }))
            }
            _ => None,
        }
    }

    /// Returns the base register of an address in a register or relative to the frame base.
    fn slot(&self, address: &Number) -> Option<Slot> {
        match address {
            Number::Register(register, offset) => Some(Slot { register: *register, offset: *offset }),
            Number::Frame(by) => {
                let part = self.frame_base?.parts.first()?;
                match &part.place {
                    Place::Register(register, Selected::Nothing) => {
                        Some(Slot { register: *register, offset: *by })
                    }
                    Place::Memory { space: None, address: Number::Register(register, offset) } => {
                        Some(Slot { register: *register, offset: offset.wrapping_add(*by) })
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Whether it is the stack or frame pointer of AMD's ABI: s32 or s33.
    fn is_frame_register(&self, reg: Reg) -> bool {
        matches!(self.file.operand(reg), Some((RegisterKind::Scalar, 32 | 33)))
    }

    fn scaled(&self, part: &Part, slot: &Slot, written: impl Fn() -> String) -> Option<Judged> {
        let target = self.file.target.as_ref().filter(|target| target.scaling() == Scaling::Wave)?;
        self.depends.set(Depends::Function);
        let function = self.function?;
        if self.file.scratch_bytes(function.start()).is_some() {
            // A kernel's frame begins at 0.
            return None;
        }
        Some(self.judged(Code::SlotWaveScaled, &part.operations, || {
            let (name, lanes) = (self.file.name(slot.register), target.lanes());
            Details::new(written())
                .meant(format!("scratch of the lane at {name} / {lanes} {:+}", slot.offset))
                .evidence(self.stack_move())
                .evidence([format!("{name} counts bytes of the wave, of {}", Count(lanes, "lane"))])
                .evidence(self.difference(Difference::Register(slot.register, lanes.into())))
        }))
    }

    /// Describes the first instruction that moves the stack pointer.
    fn stack_move(&self) -> Option<String> {
        let (at, by) = self.function?.code(self.file).moves(32).next()?;
        let bytes = Count(by.unsigned_abs(), "byte");
        Some(format!("{} moves the stack pointer by {bytes}", described(&at)))
    }

    /// Describes the instruction that set a register before the entry.
    fn setter(&self, reg: Reg) -> Option<String> {
        let (kind, number) = self.file.operand(reg)?;
        let (function, pcs) = (self.function?, self.pcs.as_ref()?);
        match function.code(self.file).setter(kind, number, pcs.start) {
            Some(at) => Some(format!("{} sets {}", described(&at), self.file.name(reg))),
            None => Some(format!("{} has its value from the caller or the dispatch", self.file.name(reg))),
        }
    }

    fn removed(&self, part: &Part, address: u64) -> Option<Judged> {
        let file = self.file;
        if address != 0 || !file.has_code || file.is_loaded(0) && !file.object.is_relocatable() {
            return None;
        }
        Some(self.judged(Code::RemovedSymbol, &part.operations, || {
            let linkage = self.variable.inherited(dw::DW_AT_linkage_name).and_then(|name| name.text());
            let name = linkage.or_else(|| self.variable.name()).unwrap_or_default();
            let is_own = |symbol: &str| {
                symbol == name || symbol.strip_suffix(&*name).is_some_and(|before| before.ends_with('.'))
            };
            let mut symbols = file.object.symbols().iter().filter(|symbol| !symbol.is_defined);
            let symbol = symbols.find(|symbol| !name.is_empty() && is_own(&symbol.name));
            Details::new("the address 0").evidence([match symbol {
                Some(symbol) => format!("the symbol `{}` is undefined", symbol.name),
                None => "no symbol and no loaded section is at address 0".into(),
            }])
        }))
    }

    fn is_vector(&self, reg: Reg) -> bool {
        let target = self.file.target.as_ref();
        target.and_then(|target| target.register(reg)).is_some_and(|register| register.is_vector())
    }

    fn unknown_register(&self, number: &Number) -> Option<Reg> {
        let target = self.file.target.as_ref()?;
        let is_unknown =
            |number: &Number| matches!(number, Number::Register(reg, _) if target.register(*reg).is_none());
        match number.find(&is_unknown)? {
            Number::Register(reg, _) => Some(*reg),
            _ => None,
        }
    }

    fn space(&self, part: &Part, space: u64) -> Option<Judged> {
        let target = self.file.target.as_ref()?;
        let is_known = u32::try_from(space).is_ok_and(|space| target.space(SpaceId(space)).is_some());
        (!is_known).then(|| {
            self.judged(Code::UnknownSpace, &part.operations, || {
                let spaces = target.spaces().iter().map(|one| format!("{} {}", one.id.0, one.name));
                let names = spaces.collect::<Vec<_>>().join(", ");
                Details::new(format!("memory in address space {space}"))
                    .evidence([format!("{} has the spaces {names}", target.name())])
            })
        })
    }

    fn space_name(&self, number: u64) -> String {
        let target = self.file.target.as_ref();
        let id = u32::try_from(number).ok().map(SpaceId);
        let space = target.zip(id).and_then(|(target, id)| target.space(id));
        space.map_or_else(|| format!("space {number}"), |space| format!("space {number} ({})", space.name))
    }

    fn register(&self, part: &Part, reg: Reg, selected: Selected) -> Option<Judged> {
        let target = self.file.target.as_ref()?;
        let Some(register) = target.register(reg) else {
            let details = || {
                Details::new(format!("register {}", reg.0))
                    .evidence([format!("{} has no register with this number", target.name())])
            };
            return Some(self.judged(Code::UnknownRegister, &part.operations, details));
        };
        let (bits, lanes) = (u64::from(register.bits), u64::from(register.lanes));
        let has = || format!("{}, which has {}", register.name(), Count(register.bits, "bit"));
        let beyond = |details: &dyn Fn() -> Details| {
            Some(self.judged(Code::LaneBeyondWave, &part.operations, details))
        };
        match selected {
            Selected::Bits(bit) if bit >= bits => beyond(&|| {
                Details::new(format!("bit {bit} of {}", has()))
                    .evidence([format!("the wave has {}", Count(lanes, "lane"))])
            }),
            // The last lane's element is beyond the register.
            Selected::Lane(step) if lanes > 1 && step.saturating_mul(lanes - 1) >= bits => beyond(&|| {
                let (last, bit) = (lanes - 1, step.saturating_mul(lanes - 1));
                let name = register.name();
                Details::new(format!(
                    "bit {bit} of {name} in lane {last}, which has {}",
                    Count(register.bits, "bit")
                ))
                .evidence([format!("each lane has {}", Count(register.lane_bits(), "bit"))])
            }),
            Selected::Piece(offset, size) if offset.saturating_add(size) > bits => {
                beyond(&|| Details::new(format!("bit {offset} of {}", has())))
            }
            // A part of lane 0 is no choice of a lane.
            Selected::Piece(offset, bits)
                if offset.saturating_add(bits) <= u64::from(register.lane_bits()) =>
            {
                if bits < u64::from(register.lane_bits()) { self.lane(part, reg) } else { None }
            }
            Selected::Nothing if register.is_vector() => self.lane(part, reg),
            _ => None,
        }
    }

    /// Returns the finding about a vector register that is read in lane 0.
    fn lane(&self, part: &Part, reg: Reg) -> Option<Judged> {
        let target = self.file.target.as_ref().filter(|_| self.file.kind == Kind::Amd)?;
        let register = target.register(reg)?;
        let type_bits = self.ty.and_then(|ty| ty.bits);
        let is_whole = type_bits.is_some_and(|bits| bits >= u64::from(register.bits));
        if !register.is_vector() || is_whole {
            return None;
        }
        let (kind, number) = self.file.operand(reg)?;
        self.depends.set(Depends::Function);
        if let Some(function) = self.function
            && kind == RegisterKind::Vector
            && let code = function.code(self.file)
            && (code.is_uniform(number) || code.has_scalars(number))
        {
            return None;
        }
        Some(self.judged(Code::NoLane, &part.operations, || {
            let name = register.name();
            let size = match type_bits {
                Some(bits) => format!("a type of {}", Count(bits, "bit")),
                None => "a type without a size".into(),
            };
            Details::new(format!("lane 0 of {name}, in every lane"))
                .meant(format!("the element of {name} of the current lane"))
                .evidence([format!(
                    "{size}, in a register of {} for each of {}",
                    Count(register.lane_bits(), "bit"),
                    Count(register.lanes, "lane")
                )])
                .evidence(self.setter(reg))
                .evidence(self.difference(Difference::Lane))
        }))
    }

    /// Appends findings about the size of the place.
    fn sizes(&self, all: &mut Findings) {
        let Some(Type { entry, bits, is_base }) = self.ty else { return };
        let parts = &self.shape.parts;
        let is_stored = |part: &Part| {
            let place = &part.place;
            matches!(place, Place::Register(..) | Place::Memory { .. } | Place::Value(_) | Place::Implicit(_))
        };
        let end = parts.last().map_or(0, |part| part.operations.end);
        if is_base && bits == Some(0) {
            let is_register = |part: &Part| match &part.place {
                Place::Register(..) => true,
                Place::Value(number) => {
                    number.find(&|number| matches!(number, Number::Register(..))).is_some()
                        || part.bits.is_some()
                }
                _ => part.bits.is_some(),
            };
            if parts.iter().any(is_register) {
                let count: u64 = parts.iter().filter_map(|part| part.bits).sum();
                all.push(self.judged(Code::ZeroSizeType, &(0..end), || {
                    let name = entry.name().unwrap_or_default();
                    let pieces = (count > 0).then(|| format!("the pieces have {}", Count(count / 8, "byte")));
                    Details::new("a place for a value of 0 bytes")
                        .evidence([format!("the base type `{name}` has 0 bytes")])
                        .evidence(pieces)
                }));
            }
            return;
        }
        let Some(bits) = bits.filter(|bits| *bits > 0) else { return };
        let size = || format!("the type has {}", Count(bits.div_ceil(8), "byte"));
        let pieces: Option<u64> = parts.iter().map(|part| part.bits).sum();
        match pieces {
            Some(pieces) if pieces > bits.next_multiple_of(8) => {
                let written = || format!("pieces of {}", Count(pieces / 8, "byte"));
                let details = || Details::new(written()).evidence([size()]);
                all.push(self.judged(Code::PiecesBeyondType, &(0..end), details));
            }
            Some(_) => {}
            None => {
                let place = parts.first().filter(|part| is_stored(part)).map(|part| &part.place);
                let target = self.file.target.as_ref();
                let has = match place {
                    Some(Place::Value(number)) => {
                        let is_typed =
                            number.find(&|number| matches!(number, Number::Computed(_) | Number::Other));
                        is_typed.is_none().then(|| u64::from(self.encoding.address_bytes) * 8)
                    }
                    Some(Place::Implicit(bytes)) => Some(bytes.len() as u64 * 8),
                    Some(Place::Register(reg, Selected::Nothing)) => target
                        .and_then(|target| target.register(*reg))
                        .map(|register| u64::from(register.bits)),
                    _ => None,
                };
                // Registers of PTX have sizes of their own, which the target does not have.
                let is_known = |reg: Reg| {
                    let register = target.and_then(|target| target.register(reg));
                    self.file.kind == Kind::Cpu
                        || self.file.kind == Kind::Amd && register.is_some_and(|one| !one.is_vector())
                };
                let is_scalar = match place {
                    Some(Place::Register(reg, _)) => is_known(*reg),
                    _ => true,
                };
                if let Some(has) = has.filter(|has| *has < bits && is_scalar) {
                    let written = || format!("a place of {}", Count(has / 8, "byte"));
                    let details = || Details::new(written()).evidence([size()]);
                    all.push(self.judged(Code::StorageTooShort, &(0..end), details));
                }
            }
        }
    }
}

/// Retains one finding of each code, and of those of [`ORDER`] one of the first code.
fn retain_first(all: &mut Findings) {
    let order = |judged: &Judged| ORDER.iter().position(|code| *code == judged.code);
    let first = all.iter().filter_map(order).min();
    let mut has_first = false;
    all.retain(|judged| match order(judged) {
        None => true,
        here => here == first && !std::mem::replace(&mut has_first, true),
    });
    let mut seen = SmallVec::<[Code; 4]>::new();
    all.retain(|judged| {
        let is_new = !seen.contains(&judged.code);
        seen.push(judged.code);
        is_new
    });
}
