//! Findings about locations in memory: loads, constants, stack slots, spaces and removed symbols.

use std::fmt::Write;
use std::ops::Range;

use gimli::constants as dw;

use super::codes::LintCode;
use super::details::Details;
use super::file::Architecture;
use super::function_code::described;
use super::meant::{Meaning, Slot};
use super::places::{Depends, Diagnosed, Located, Type};
use super::shape::{self, LocationShape, Number, PartShape, Selected};
use super::witness::Difference;
use eitri_dwarf::error::Count;
use eitri_dwarf::op::Reg;
use eitri_dwarf::read::Entry;
use eitri_dwarf::target::code::RegisterKind;
use eitri_dwarf::target::{Scaling, SpaceId};

/// Size of a vector register's element.
const LANE_BITS: u64 = 32;
/// Largest result that AMD's ABI returns in registers: 16 vector registers. Larger results are returned in scratch.
const RETURNED_BITS: u64 = 16 * LANE_BITS;

/// Limit on a scope's entries that are searched for artificial pointers.
const MOST_PARAMETERS: usize = 64;

impl Located<'_, '_, '_> {
    /// Returns the finding about a load with `xderef`, which producers write where they mean a location.
    pub(super) fn loaded(&self, part: &PartShape, space: &Number, from: &Number) -> Option<Diagnosed> {
        let written = |address: String| {
            let space = match space {
                Number::Known(space) => self.space_name(*space),
                _ => "a computed space".into(),
            };
            match part.place {
                LocationShape::Value(_) => format!("the value at {address} in {space}"),
                _ => format!("memory at the address that is stored at {address} in {space}"),
            }
        };
        let meant = |address: &dyn Fn() -> String, meaning: &dyn Fn() -> Option<Meaning>| {
            let details = || {
                let details = Details::new(written(address()));
                match meaning() {
                    Some(meaning) => details.meaning(meaning),
                    None => details,
                }
            };
            Some(self.diagnosed(LintCode::XderefAsLocation, &part.operations, details))
        };
        let xderef = |address: &dyn Fn() -> String| meant(address, &|| None);
        match from {
            Number::Known(value) => {
                let details = || {
                    let space = match space {
                        Number::Known(space) => self.space_name(*space),
                        _ => "a computed space".into(),
                    };
                    let value = *value as i64;
                    Details::new(written(format!("{value:#x}")))
                        .meaning(Meaning::Constant(value as u64))
                        .evidence([format!("the constant {value} is the address, in {space}")])
                        .evidence(self.difference(Difference::Registers))
                };
                Some(self.diagnosed(LintCode::ConstantDereferenced, &part.operations, details))
            }
            Number::Symbol(address) => {
                let meaning = || match (space, &part.place) {
                    (Number::Known(space), LocationShape::Memory { .. }) => {
                        let words = format!("memory at {address:#x} in {}", self.space_name(*space));
                        Some(Meaning::Symbol { words, address: *address, space: *space })
                    }
                    _ => None,
                };
                self.removed(part, *address).or_else(|| meant(&|| format!("{address:#x}"), &meaning))
            }
            Number::Register(..) | Number::Frame(_) => {
                let Some(slot) = self.slot(from) else {
                    return xderef(&|| "an offset from the frame base".into());
                };
                let address = || self.slot_name(&slot);
                if !self.is_frame_register(slot.register) {
                    return Some(self.load_of_register(part, &slot, from, || written(address())));
                }
                let meaning = || self.slot_meaning(part, &slot);
                self.scaled(part, &slot, || written(address())).or_else(|| meant(&address, &meaning))
            }
            Number::Computed(_) => {
                let is_register = |number: &Number| matches!(number, Number::Register(reg, _) if !self.is_frame_register(*reg));
                match from.find(&is_register).and_then(|number| self.slot(number)) {
                    Some(slot) => {
                        let address =
                            || format!("an address computed from {}", self.file.name(slot.register));
                        Some(self.load_of_register(part, &slot, from, || written(address())))
                    }
                    None => xderef(&|| "a computed address".into()),
                }
            }
            _ => xderef(&|| "a computed address".into()),
        }
    }

    /// Returns the scratch slot that was meant by a load from it.
    fn slot_meaning(&self, part: &PartShape, slot: &Slot) -> Option<Meaning> {
        let is_memory = matches!(part.place, LocationShape::Memory { .. });
        is_memory.then(|| self.meant_slot(slot))
    }

    fn meant_slot(&self, slot: &Slot) -> Meaning {
        let target = self.file.target.as_ref().filter(|target| target.scaling() == Scaling::Wave);
        // A kernel's frame begins at 0, and a vector register has an address of the lane.
        let is_scaled = self.is_frame_register(slot.register)
            && self.function.is_some_and(|function| self.file.scratch_bytes(function.start()).is_none());
        let lanes = target.filter(|_| is_scaled).map_or(1, |target| target.lanes());
        Meaning::Slot { name: self.file.name(slot.register), slot: *slot, lanes }
    }

    /// Returns the finding about a load through a register: from a stack slot, or from the value itself.
    fn load_of_register(
        &self,
        part: &PartShape,
        slot: &Slot,
        from: &Number,
        written: impl Fn() -> String,
    ) -> Diagnosed {
        // A value is no slot: LLVM adds `stack_value` to what is computed from the variable's register.
        if !matches!(part.place, LocationShape::Value(_)) && self.has_address(slot.register) {
            return self.diagnosed(LintCode::XderefAsLocation, &part.operations, || {
                let details = Details::new(written());
                match self.slot_meaning(part, slot).filter(|_| matches!(from, Number::Register(..))) {
                    Some(meaning) => details.meaning(meaning),
                    None => details,
                }
            });
        }
        self.value_in_register(part, slot, from, written)
    }

    /// Whether a register has an address in scratch: an instruction within the pcs uses the register as one, or the
    /// variable is the result that the function returns in memory.
    fn has_address(&self, reg: Reg) -> bool {
        let Some((RegisterKind::Vector, number)) = self.file.operand(reg) else { return false };
        // A pointer's value is itself an address, so that its use as an address does not show where the pointer is.
        if self.ty.is_some_and(|ty| ty.is_pointer) {
            return false;
        }
        let is_address = self.is_scratch_address(number);
        if self.ty.and_then(|ty| ty.bits).is_some_and(|bits| bits > RETURNED_BITS) {
            self.depends.set(Depends::Function);
            return is_address || self.is_result();
        }
        self.depends.set(match self.depends.get() {
            Depends::Nothing => Depends::Address(number, is_address),
            Depends::Address(known, _) if known == number => Depends::Address(number, is_address),
            _ => Depends::Function,
        });
        is_address
    }

    /// Whether the function returns a value with the variable's type.
    fn is_result(&self) -> bool {
        let result = self.function.and_then(|function| Type::new(function.entry.ty()?));
        result.zip(self.ty).is_some_and(|(result, own)| result.entry.offset() == own.entry.offset())
    }

    /// Returns the finding about a register that is used as an address without being one.
    fn value_in_register(
        &self,
        part: &PartShape,
        slot: &Slot,
        from: &Number,
        written: impl Fn() -> String,
    ) -> Diagnosed {
        self.diagnosed(LintCode::RegisterAsMemory, &part.operations, || {
            let name = self.file.name(slot.register);
            let scratch = match self.function.and_then(|function| self.file.scratch_bytes(function.start())) {
                Some(0) => Some("private_segment_fixed_size is 0: the kernel has no scratch".into()),
                bytes => self.without_scratch(slot.register, &name, bytes),
            };
            let is_value = matches!(part.place, LocationShape::Value(_));
            let is_larger =
                part.bits.is_none() && self.ty.and_then(|ty| ty.bits).is_some_and(|bits| bits > LANE_BITS);
            let lds = if is_larger { self.lds_use(slot.register) } else { None };
            let meant = match (from, if is_value { slot.offset } else { 0 }) {
                (Number::Computed(_), _) if lds.is_some() => {
                    Meaning::Words(format!("memory in LDS at an address computed from {name}"))
                }
                _ if lds.is_some() && slot.offset == 0 => Meaning::Words(format!("memory in LDS at {name}")),
                _ if lds.is_some() => Meaning::Words(format!("memory in LDS at {}", self.slot_name(slot))),
                (Number::Computed(_), _) if is_value => Meaning::Computed { name: name.clone() },
                // Without `stack_value` it is not known what the offset belongs to.
                _ if !is_value && (slot.offset != 0 || matches!(from, Number::Computed(_))) => {
                    Meaning::Words(format!("the value in {name}"))
                }
                (_, plus) => Meaning::Register { name: name.clone(), reg: slot.register, plus },
            };
            let details = Details::new(written());
            // The register is too small for the whole value: it has a part, or an address.
            let details = if is_larger && lds.is_none() { details } else { details.meaning(meant) };
            details
                .evidence(self.setter(slot.register))
                .evidence(lds)
                .evidence(scratch)
                .evidence(self.difference(Difference::Register(slot.register, 8)))
        })
    }

    /// Describes an instruction in the range that uses a vector register as an address in LDS.
    fn lds_use(&self, reg: Reg) -> Option<String> {
        let (RegisterKind::Vector, number) = self.file.operand(reg)? else { return None };
        let function = self.function?;
        let pcs = self.pcs.as_ref()?;
        let instruction = function.code(self.file).lds_use(number, pcs)?;
        Some(format!("{} uses {} as an address in LDS", described(&instruction), self.file.name(reg)))
    }

    /// States that no instruction uses a vector register as an address in scratch, whose size is `bytes`. The
    /// instructions are those known in the entry's range, or else in the function.
    fn without_scratch(&self, reg: Reg, name: &str, bytes: Option<u32>) -> Option<String> {
        let function = self.function?;
        let (RegisterKind::Vector, number) = self.file.operand(reg)? else { return None };
        let (pcs, within) = match &self.pcs {
            Some(pcs) => (pcs.clone(), "range"),
            None => (function.ranges.first()?.clone(), "function"),
        };
        let code = function.code(self.file);
        if pcs.start < function.start() || code.end() < pcs.end {
            return Some(format!(
                "not all instructions in the {within} are known: one can use {name} as an address in scratch"
            ));
        }
        if code.is_scratch_address(number, &pcs) {
            return None;
        }
        let mut text = format!("no instruction in the {within} uses {name} as an address in scratch");
        if let Some(bytes) = bytes {
            let _ = write!(text, ", which has {}", Count(bytes, "byte"));
        }
        Some(text)
    }

    /// Whether a vector register has an address in scratch within the pcs.
    fn is_scratch_address(&self, number: u16) -> bool {
        let context = self.function.zip(self.pcs.as_ref());
        context.is_some_and(|(function, pcs)| function.code(self.file).is_scratch_address(number, pcs))
    }

    /// Returns the finding about memory in the default space.
    pub(super) fn memory(&self, part: &PartShape, address: &Number) -> Option<Diagnosed> {
        match address {
            Number::Known(value) => {
                // Parameters of NVIDIA's kernels are at constants.
                let has_class = self.file.architecture == Architecture::Nvidia
                    && self.variable.has(dw::DW_AT_address_class);
                if has_class || self.is_in_object(*value) {
                    return None;
                }
                let details = || {
                    let version = self.encoding.version;
                    let has = if version < 4 { "does not have" } else { "has" };
                    let details = Details::new(format!("memory at address {value:#x} in the default space"));
                    // On a CPU, it can also be an address in a segment: gcc writes the number alone.
                    let is_value = self.file.architecture != Architecture::Cpu;
                    let details = if is_value { details.meaning(Meaning::Constant(*value)) } else { details };
                    details
                        .evidence([format!("DWARF {version}, which {has} stack_value; constant {value}")])
                        .evidence(self.difference(Difference::Registers))
                };
                Some(self.diagnosed(LintCode::ConstantAsAddress, &part.operations, details))
            }
            Number::Symbol(address) if self.file.architecture == Architecture::Amd => {
                self.removed(part, *address)
            }
            Number::Register(..) | Number::Frame(_) if self.file.architecture == Architecture::Amd => {
                let slot = self.slot(address)?;
                let written = || format!("memory in the default space at {}", self.slot_name(&slot));
                if !self.is_frame_register(slot.register) {
                    let (kind, _) = self.file.operand(slot.register)?;
                    if kind == RegisterKind::Scalar {
                        return None;
                    }
                    if !self.has_address(slot.register) {
                        return Some(self.value_in_register(part, &slot, address, written));
                    }
                }
                let meant = |slot: &Slot| self.meant_slot(slot);
                Some(self.space_lost(part, &slot, address, written, meant))
            }
            _ => None,
        }
    }

    /// Whether an address is inside the object that an artificial pointer such as `this` points to, where the pointer
    /// is a constant at the entry's pcs: gcc describes a null object's members so, where the code reads them. The pointer
    /// is a parameter of the innermost function or inlined call around the variable.
    fn is_in_object(&self, address: u64) -> bool {
        if self.file.architecture != Architecture::Cpu {
            return false;
        }
        let is_called = |entry: &Entry<'_, '_>| {
            matches!(entry.tag(), dw::DW_TAG_subprogram | dw::DW_TAG_inlined_subroutine)
        };
        let mut scopes = std::iter::successors(self.variable.parent(), |scope| scope.parent());
        let Some(scope) = scopes.find(is_called) else { return false };
        self.depends.set(Depends::Function);
        let is_there = |pointer: Entry<'_, '_>| {
            let list = pointer.locations(dw::DW_AT_location).ok().flatten().unwrap_or_default();
            let constant = list.iter().find_map(|entry| {
                let has_pcs = |pcs: &Range<u64>| entry.start <= pcs.start && pcs.end <= entry.end;
                let is_at = entry.is_default() || self.pcs.as_ref().is_some_and(has_pcs);
                shape::analyze(entry.expr, self.encoding, &|_| None).constant().filter(|_| is_at)
            });
            let object = pointer.ty().and_then(Entry::unqualified).and_then(Entry::ty);
            let size = object.and_then(Entry::unqualified).and_then(Entry::size_bits);
            let (Some(start), Some(bits)) = (constant, size) else { return false };
            address.checked_sub(start).is_some_and(|offset| offset < bits.div_ceil(8))
        };
        let parameters = scope.children().take(MOST_PARAMETERS);
        let parameters = parameters.filter(|entry| entry.tag() == dw::DW_TAG_formal_parameter);
        let mut pointers = parameters.filter(|entry| entry.inherited(dw::DW_AT_artificial).is_some());
        pointers.any(is_there)
    }

    /// Returns the finding about a load with `deref` from a slot in scratch.
    pub(super) fn slot_load(&self, part: &PartShape, number: &Number) -> Option<Diagnosed> {
        let from = |number: &Number| match number {
            Number::Loaded { space: None, from } => {
                self.slot(from).filter(|slot| self.is_frame_register(slot.register))
            }
            _ => None,
        };
        let number = number.find(&|number| from(number).is_some())?;
        let (slot, Number::Loaded { from, .. }) = (from(number)?, number) else { return None };
        let written = || format!("memory in the default space at {} has the number", self.slot_name(&slot));
        let meant = |slot: &Slot| Meaning::Words(format!("scratch at {} has it", self.slot_name(slot)));
        Some(self.space_lost(part, &slot, from, written, meant))
    }

    /// Returns the finding about a scratch slot at an address in the default space.
    fn space_lost(
        &self,
        part: &PartShape,
        slot: &Slot,
        address: &Number,
        written: impl Fn() -> String,
        meant: impl Fn(&Slot) -> Meaning,
    ) -> Diagnosed {
        self.diagnosed(LintCode::SlotSpaceLost, &part.operations, || {
            let name = self.file.name(slot.register);
            let base = match address {
                Number::Frame(_) => "the frame base is",
                _ => "the address is in",
            };
            let scratch = self.space_name(SpaceId::PRIVATE_LANE.0.into());
            let moves = self.is_frame_register(slot.register).then(|| self.stack_move()).flatten();
            Details::new(written())
                .meaning(meant(slot))
                .evidence([
                    format!("{base} {name}, which has 32 bits; addresses in the default space have 64"),
                    format!("scratch is in {scratch}"),
                ])
                .evidence(moves)
                .evidence(self.difference(Difference::Lane))
        })
    }

    /// Returns a slot as text: the register, and the offset with its sign.
    pub(super) fn slot_name(&self, slot: &Slot) -> String {
        format!("{}{:+}", self.file.name(slot.register), slot.offset)
    }

    /// Returns the base register of an address that is in a register or relative to the frame base.
    pub(super) fn slot(&self, address: &Number) -> Option<Slot> {
        match address {
            Number::Register(register, offset) => Some(Slot { register: *register, offset: *offset }),
            Number::Frame(bytes) => {
                let part = self.frame_base?.parts.first()?;
                match &part.place {
                    LocationShape::Register(register, Selected::Nothing) => {
                        Some(Slot { register: *register, offset: *bytes })
                    }
                    LocationShape::Memory { space: None, address: Number::Register(register, offset) } => {
                        Some(Slot { register: *register, offset: offset.wrapping_add(*bytes) })
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Whether this is the stack pointer or frame pointer in AMD's ABI: s32 or s33.
    pub(super) fn is_frame_register(&self, reg: Reg) -> bool {
        matches!(self.file.operand(reg), Some((RegisterKind::Scalar, 32 | 33)))
    }

    pub(super) fn scaled(
        &self,
        part: &PartShape,
        slot: &Slot,
        written: impl Fn() -> String,
    ) -> Option<Diagnosed> {
        let target = self.file.target.as_ref().filter(|target| target.scaling() == Scaling::Wave)?;
        self.depends.set(Depends::Function);
        let function = self.function?;
        if self.file.scratch_bytes(function.start()).is_some() {
            // A kernel's frame begins at 0.
            return None;
        }
        Some(self.diagnosed(LintCode::SlotWaveScaled, &part.operations, || {
            let name = self.file.name(slot.register);
            let lanes = target.lanes();
            Details::new(written())
                .meaning(Meaning::ScaledSlot { name: name.clone(), slot: *slot, lanes })
                .evidence(self.stack_move())
                .evidence([format!(
                    "{name} counts bytes for the whole wave, which has {}",
                    Count(lanes, "lane")
                )])
                .evidence(self.difference(Difference::Register(slot.register, lanes.into())))
        }))
    }

    /// Describes the first instruction that moves the stack pointer.
    pub(super) fn stack_move(&self) -> Option<String> {
        let (instruction, change) = self.function?.code(self.file).moves(32).next()?;
        let bytes = Count(change.unsigned_abs(), "byte");
        Some(format!("{} moves the stack pointer by {bytes}", described(&instruction)))
    }

    fn removed(&self, part: &PartShape, address: u64) -> Option<Diagnosed> {
        let file = self.file;
        if address != 0 || !file.has_code || file.is_loaded(0) && !file.object.is_relocatable() {
            return None;
        }
        Some(self.diagnosed(LintCode::RemovedSymbol, &part.operations, || {
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

    pub(super) fn space(&self, part: &PartShape, space: u64) -> Option<Diagnosed> {
        let target = self.file.target.as_ref()?;
        let is_known = u32::try_from(space).is_ok_and(|space| target.space(SpaceId(space)).is_some());
        (!is_known).then(|| {
            self.diagnosed(LintCode::UnknownSpace, &part.operations, || {
                let spaces = target.spaces().iter().map(|space| format!("{} {}", space.id.0, space.name));
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
}
