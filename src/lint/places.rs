//! Findings about the place of a variable in one location entry.

use std::ops::Range;

use gimli::constants as dw;

use super::code::described;
use super::codes::Code;
use super::file::{File, Function, Kind};
use super::shape::{Number, Part, Place, Selected, Shape};
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
    pub(super) encoding: Encoding,
    pub(super) shape: &'a Shape,
    /// Pcs of the entry; `None` if it is for all pcs.
    pub(super) pcs: Option<Range<u64>>,
}

/// A finding about a part of the location.
pub(super) struct Judged {
    pub(super) code: Code,
    pub(super) operations: Range<usize>,
    pub(super) written: String,
    pub(super) meant: Option<String>,
    pub(super) evidence: Vec<String>,
}

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
    pub(super) fn findings(&self) -> Vec<Judged> {
        if let Some((at, rule)) = &self.shape.error {
            let written = format!("the expression cannot be evaluated: {rule}");
            return vec![self.judged(Code::IllFormed, &(*at..*at), written)];
        }
        let mut all = Vec::new();
        for part in &self.shape.parts {
            all.extend(self.part(part));
        }
        let order = |judged: &Judged| ORDER.iter().position(|code| *code == judged.code);
        let first = all.iter().filter_map(order).min();
        let mut has_first = false;
        all.retain(|judged| match order(judged) {
            None => true,
            here => here == first && !std::mem::replace(&mut has_first, true),
        });
        let mut seen = Vec::new();
        all.retain(|judged| {
            let is_new = !seen.contains(&judged.code);
            seen.push(judged.code);
            is_new
        });
        all.extend(self.sizes());
        all
    }

    fn judged(&self, code: Code, operations: &Range<usize>, written: String) -> Judged {
        Judged { code, operations: operations.clone(), written, meant: None, evidence: Vec::new() }
    }

    fn part(&self, part: &Part) -> Option<Judged> {
        let judged = |code, written| self.judged(code, &part.operations, written);
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
            return Some(judged(Code::UnknownRegister, format!("the target has no register {}", reg.0)));
        }
        if number.find(&|number| matches!(number, Number::Frame(_))).is_some()
            && self.function.is_some()
            && self.frame_base.is_none()
        {
            let mut finding = judged(
                Code::NoFrameBase,
                "an offset from a frame base that the function does not have".into(),
            );
            let name = self.function.and_then(|function| function.entry.name()).unwrap_or_default();
            finding.evidence = vec![format!("`{name}` has no DW_AT_frame_base")];
            return Some(finding);
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
                let name = self.file.name(slot.register);
                let written = format!("scratch of the lane at {name}{:+}", slot.offset);
                self.scaled(part, &slot, &written)
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
        let judged = |code, written| self.judged(code, &part.operations, written);
        let space = match space {
            Number::Known(space) => self.space_name(*space),
            _ => "a computed space".into(),
        };
        let is_value = matches!(part.place, Place::Value(_));
        let written = |address: &str| match is_value {
            true => format!("the value at {address} in {space}"),
            false => format!("memory at the address that is stored at {address} in {space}"),
        };
        match from {
            Number::Known(value) => {
                let mut finding = judged(Code::ConstantDereferenced, written(&format!("{:#x}", *value)));
                finding.meant = Some(format!("the value {}", *value as i64));
                finding.evidence = vec![format!("the constant {} is the address, in {space}", *value as i64)];
                Some(finding)
            }
            Number::Symbol(address) => Some(
                self.removed(part, *address)
                    .unwrap_or_else(|| judged(Code::XderefAsLocation, written(&format!("{address:#x}")))),
            ),
            Number::Register(..) | Number::Frame(_) => {
                let Some(slot) = self.slot(from) else {
                    return Some(judged(Code::XderefAsLocation, written("an offset from the frame base")));
                };
                let name = self.file.name(slot.register);
                let text = written(&format!("{name}{:+}", slot.offset));
                if !self.is_frame_register(slot.register) {
                    return Some(self.value_in_register(part, &slot, text));
                }
                Some(self.scaled(part, &slot, &text).unwrap_or_else(|| judged(Code::XderefAsLocation, text)))
            }
            Number::Computed(_) => {
                let is_register = |number: &Number| matches!(number, Number::Register(reg, _) if !self.is_frame_register(*reg));
                Some(match from.find(&is_register).and_then(|number| self.slot(number)) {
                    Some(slot) => {
                        let name = self.file.name(slot.register);
                        self.value_in_register(
                            part,
                            &slot,
                            written(&format!("an address computed from {name}")),
                        )
                    }
                    None => judged(Code::XderefAsLocation, written("a computed address")),
                })
            }
            _ => Some(judged(Code::XderefAsLocation, written("a computed address"))),
        }
    }

    /// Returns the finding about a register that is taken as an address, and is none.
    fn value_in_register(&self, part: &Part, slot: &Slot, written: String) -> Judged {
        let name = self.file.name(slot.register);
        let is_address = self.file.operand(slot.register).is_some_and(|(kind, number)| {
            kind == RegisterKind::Vector
                && self
                    .function
                    .zip(self.pcs.as_ref())
                    .is_some_and(|(function, pcs)| function.code(self.file).is_scratch_address(number, pcs))
        });
        if is_address {
            return self.judged(Code::XderefAsLocation, &part.operations, written);
        }
        let mut finding = self.judged(Code::RegisterAsMemory, &part.operations, written);
        finding.meant = Some(format!("the value in {name}"));
        finding.evidence.extend(self.setter(slot.register));
        match self.function.and_then(|function| self.file.scratch_bytes(function.start())) {
            Some(0) => {
                finding.evidence.push("private_segment_fixed_size is 0: the kernel has no scratch".into())
            }
            Some(bytes) => finding.evidence.push(format!(
                "no instruction in the range uses {name} as an address in scratch, which has {}",
                Count(bytes, "byte")
            )),
            None => finding
                .evidence
                .push(format!("no instruction in the range uses {name} as an address in scratch")),
        }
        finding
    }

    /// Returns the finding about memory in the default space.
    fn memory(&self, part: &Part, address: &Number) -> Option<Judged> {
        let judged = |code, written| self.judged(code, &part.operations, written);
        match address {
            Number::Known(value) => {
                let mut finding = judged(
                    Code::ConstantAsAddress,
                    format!("memory at address {value:#x} of the default space"),
                );
                finding.meant = Some(format!("the value {}", *value as i64));
                let version = self.encoding.version;
                let has = if version < 4 { "does not have" } else { "has" };
                finding.evidence =
                    vec![format!("DWARF {version}, which {has} stack_value; constant {value}")];
                Some(finding)
            }
            Number::Symbol(address) if self.file.kind == Kind::Amd => self.removed(part, *address),
            Number::Register(..) | Number::Frame(_) if self.file.kind == Kind::Amd => {
                let slot = self.slot(address)?;
                let name = self.file.name(slot.register);
                let written = format!("memory of the default space at {name}{:+}", slot.offset);
                if !self.is_frame_register(slot.register) {
                    let (kind, _) = self.file.operand(slot.register)?;
                    let is_slot = kind == RegisterKind::Scalar;
                    return (!is_slot).then(|| self.value_in_register(part, &slot, written));
                }
                let mut finding = judged(Code::SlotSpaceLost, written);
                finding.meant = Some(format!("scratch at {name}{:+}", slot.offset));
                let base = if matches!(address, Number::Frame(_)) {
                    "the frame base is"
                } else {
                    "the address is in"
                };
                finding.evidence = vec![
                    format!("{base} {name}, of 32 bits; addresses of the default space have 64"),
                    format!("scratch is in the space {}", self.space_name(SpaceId::PRIVATE_LANE.0.into())),
                ];
                finding.evidence.extend(self.stack_moves().into_iter().next());
                Some(finding)
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

    fn scaled(&self, part: &Part, slot: &Slot, written: &str) -> Option<Judged> {
        let target = self.file.target.as_ref().filter(|target| target.scaling() == Scaling::Wave)?;
        let function = self.function?;
        if self.file.scratch_bytes(function.start()).is_some() {
            // A kernel's frame begins at 0.
            return None;
        }
        let mut finding = self.judged(Code::SlotWaveScaled, &part.operations, written.into());
        let (name, lanes) = (self.file.name(slot.register), target.lanes());
        finding.meant = Some(format!("scratch of the lane at {name} / {lanes} {:+}", slot.offset));
        finding.evidence = self.stack_moves();
        finding.evidence.push(format!("{name} counts bytes of the wave, of {}", Count(lanes, "lane")));
        Some(finding)
    }

    /// Describes the first instruction that moves the stack pointer.
    fn stack_moves(&self) -> Vec<String> {
        let Some(function) = self.function else { return Vec::new() };
        let mut moves = function.code(self.file).moves(32);
        let first = moves.next().map(|(at, by)| {
            format!("{} moves the stack pointer by {}", described(at), Count(by.unsigned_abs(), "byte"))
        });
        first.into_iter().collect()
    }

    /// Describes the instruction that set a register before the entry.
    fn setter(&self, reg: Reg) -> Option<String> {
        let (kind, number) = self.file.operand(reg)?;
        let (function, pcs) = (self.function?, self.pcs.as_ref()?);
        match function.code(self.file).setter(kind, number, pcs.start) {
            Some(at) => Some(format!("{} sets {}", described(at), self.file.name(reg))),
            None => Some(format!("{} has its value from the caller or the dispatch", self.file.name(reg))),
        }
    }

    fn removed(&self, part: &Part, address: u64) -> Option<Judged> {
        let file = self.file;
        if address != 0 || !file.has_code || file.is_loaded(0) && !file.object.is_relocatable() {
            return None;
        }
        let linkage = self.variable.inherited(dw::DW_AT_linkage_name).and_then(|name| name.text());
        let name = linkage.or_else(|| self.variable.name()).unwrap_or_default();
        let is_own = |symbol: &str| {
            symbol == name || symbol.strip_suffix(&*name).is_some_and(|before| before.ends_with('.'))
        };
        let mut symbols = file.object.symbols().iter().filter(|symbol| !symbol.is_defined);
        let symbol = symbols.find(|symbol| !name.is_empty() && is_own(&symbol.name));
        let mut finding = self.judged(Code::RemovedSymbol, &part.operations, "the address 0".into());
        finding.evidence = vec![match symbol {
            Some(symbol) => format!("the symbol `{}` is undefined", symbol.name),
            None => "no symbol and no loaded section is at address 0".into(),
        }];
        Some(finding)
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
            let mut finding =
                self.judged(Code::UnknownSpace, &part.operations, format!("memory in address space {space}"));
            let names: Vec<_> =
                target.spaces().iter().map(|one| format!("{} {}", one.id.0, one.name)).collect();
            finding.evidence = vec![format!("{} has the spaces {}", target.name(), names.join(", "))];
            finding
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
            let written = format!("register {}", reg.0);
            let mut finding = self.judged(Code::UnknownRegister, &part.operations, written);
            finding.evidence = vec![format!("{} has no register with this number", target.name())];
            return Some(finding);
        };
        match selected {
            Selected::Bits(bits) if bits >= u64::from(register.bits) => {
                let written =
                    format!("bit {bits} of {}, which has {}", register.name(), Count(register.bits, "bit"));
                let mut finding = self.judged(Code::LaneBeyondWave, &part.operations, written);
                finding.evidence = vec![format!("the wave has {}", Count(register.lanes, "lane"))];
                Some(finding)
            }
            // The last lane's element is beyond the register.
            Selected::Lane(bits)
                if register.lanes > 1
                    && bits.saturating_mul(u64::from(register.lanes) - 1) >= u64::from(register.bits) =>
            {
                let last = register.lanes - 1;
                let written = format!(
                    "bit {} of {} in lane {last}, which has {}",
                    bits.saturating_mul(last.into()),
                    register.name(),
                    Count(register.bits, "bit")
                );
                let mut finding = self.judged(Code::LaneBeyondWave, &part.operations, written);
                finding.evidence = vec![format!("each lane has {}", Count(register.lane_bits(), "bit"))];
                Some(finding)
            }
            Selected::Piece(offset, bits) if offset.saturating_add(bits) > u64::from(register.bits) => {
                let written =
                    format!("bit {offset} of {}, which has {}", register.name(), Count(register.bits, "bit"));
                Some(self.judged(Code::LaneBeyondWave, &part.operations, written))
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
        let type_bits = self.variable.ty().and_then(Entry::size_bits);
        let is_whole = type_bits.is_some_and(|bits| bits >= u64::from(register.bits));
        if !register.is_vector() || is_whole {
            return None;
        }
        let (kind, number) = self.file.operand(reg)?;
        if let Some(function) = self.function
            && kind == RegisterKind::Vector
            && function.code(self.file).is_uniform(number)
        {
            return None;
        }
        let name = register.name();
        let mut finding =
            self.judged(Code::NoLane, &part.operations, format!("lane 0 of {name}, in every lane"));
        finding.meant = Some(format!("the element of {name} of the current lane"));
        let size = type_bits.map_or_else(
            || "a type without a size".into(),
            |bits| format!("a type of {}", Count(bits, "bit")),
        );
        finding.evidence = vec![format!(
            "{size}, in a register of {} for each of {}",
            Count(register.lane_bits(), "bit"),
            Count(register.lanes, "lane")
        )];
        finding.evidence.extend(self.setter(reg));
        Some(finding)
    }

    /// Returns findings about the size of the place.
    fn sizes(&self) -> Vec<Judged> {
        let mut all = Vec::new();
        let Some(ty) = self.variable.ty().and_then(Entry::unqualified) else { return all };
        let bits = ty.size_bits();
        let parts = &self.shape.parts;
        let is_stored = |part: &Part| {
            let place = &part.place;
            matches!(place, Place::Register(..) | Place::Memory { .. } | Place::Value(_) | Place::Implicit(_))
        };
        let end = parts.last().map_or(0, |part| part.operations.end);
        if ty.tag() == dw::DW_TAG_base_type && bits == Some(0) {
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
                let mut finding =
                    self.judged(Code::ZeroSizeType, &(0..end), "a place for a value of 0 bytes".into());
                let name = ty.name().unwrap_or_default();
                finding.evidence = vec![format!("the base type `{name}` has 0 bytes")];
                if count > 0 {
                    finding.evidence.push(format!("the pieces have {}", Count(count / 8, "byte")));
                }
                all.push(finding);
            }
            return all;
        }
        let Some(bits) = bits.filter(|bits| *bits > 0) else { return all };
        let pieces: Option<u64> = parts.iter().map(|part| part.bits).sum();
        match pieces {
            Some(pieces) if pieces > bits.next_multiple_of(8) => {
                let mut finding = self.judged(
                    Code::PiecesBeyondType,
                    &(0..end),
                    format!("pieces of {}", Count(pieces / 8, "byte")),
                );
                finding.evidence = vec![format!("the type has {}", Count(bits.div_ceil(8), "byte"))];
                all.push(finding);
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
                    let mut finding = self.judged(
                        Code::StorageTooShort,
                        &(0..end),
                        format!("a place of {}", Count(has / 8, "byte")),
                    );
                    finding.evidence = vec![format!("the type has {}", Count(bits.div_ceil(8), "byte"))];
                    all.push(finding);
                }
            }
        }
        all
    }
}
