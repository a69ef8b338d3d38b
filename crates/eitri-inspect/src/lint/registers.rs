//! Findings about locations in registers.

use std::fmt::Write;

use super::codes::LintCode;
use super::details::Details;
use super::file::Architecture;
use super::function_code::{Setters, described, unknown as described_unknown};
use super::meant::Meaning;
use super::places::{Depends, Diagnosed, Located};
use super::shape::{Number, PartShape, Selected};
use super::witness::Difference;
use eitri_dwarf::error::Count;
use eitri_dwarf::op::Reg;
use eitri_dwarf::target::code::RegisterKind;

/// Vector registers that a dispatch sets, at most: the work-item number in three dimensions.
const DISPATCHED: u16 = 3;
/// Limit on named instructions that set a register.
const MOST_SETTERS: usize = 3;

impl Located<'_, '_, '_> {
    pub(super) fn register(&self, part: &PartShape, reg: Reg, selected: Selected) -> Option<Diagnosed> {
        let target = self.file.target.as_ref()?;
        let Some(register) = target.register(reg) else {
            let details = || {
                Details::new(format!("register {}", reg.0))
                    .evidence([format!("{} has no register with this number", target.name())])
            };
            return Some(self.diagnosed(LintCode::UnknownRegister, &part.operations, details));
        };
        let bits = u64::from(register.bits);
        let lanes = u64::from(register.lanes);
        let has = || format!("{}, which has {}", register.name(), Count(register.bits, "bit"));
        let beyond = |details: &dyn Fn() -> Details| {
            Some(self.diagnosed(LintCode::LaneBeyondWave, &part.operations, details))
        };
        match selected {
            Selected::Bits(bit) if bit >= bits => beyond(&|| {
                Details::new(format!("bit {bit} of {}", has()))
                    .evidence([format!("the wave has {}", Count(lanes, "lane"))])
            }),
            // The last lane's element is outside the register.
            Selected::Lane(step) if lanes > 1 && step.saturating_mul(lanes - 1) >= bits => beyond(&|| {
                let last = lanes - 1;
                let bit = step.saturating_mul(lanes - 1);
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
            // A piece in lane 0 does not select a lane.
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
    pub(super) fn lane(&self, part: &PartShape, reg: Reg) -> Option<Diagnosed> {
        let target = self.file.target.as_ref().filter(|_| self.file.architecture == Architecture::Amd)?;
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
            && let pc = self.pcs.as_ref().map_or(u64::MAX, |pcs| pcs.start)
            && (code.is_uniform(number, pc) || code.has_scalars(number))
        {
            return None;
        }
        Some(self.diagnosed(LintCode::NoLane, &part.operations, || {
            let name = register.name();
            let size = match type_bits {
                Some(bits) => format!("a type of {}", Count(bits, "bit")),
                None => "a type without a size".into(),
            };
            Details::new(format!("lane 0 of {name}, in every lane"))
                .meaning(Meaning::Element { name: name.to_string(), reg })
                .evidence([format!(
                    "{size}, in a register of {} for each of {}",
                    Count(register.lane_bits(), "bit"),
                    Count(register.lanes, "lane")
                )])
                .evidence(self.setter(reg))
                .evidence(self.difference(Difference::Lane))
        }))
    }

    /// Describes the instructions that can have set a register before the entry.
    pub(super) fn setter(&self, reg: Reg) -> Option<String> {
        let (kind, number) = self.file.operand(reg)?;
        let function = self.function?;
        let pcs = self.pcs.as_ref()?;
        let name = self.file.name(reg);
        let code = function.code(self.file);
        let pc = pcs.start;
        let setters = code.setters(kind, number, pc);
        let Setters { known, outside, unknown } = &*setters;
        if let Some(unknown) = unknown {
            return Some(format!("it is not known what sets {name}: {}", described_unknown(*unknown)));
        }
        let is_kernel = self.file.kernel(function.start()).is_some();
        let is_argument = *outside && (!is_kernel || kind == RegisterKind::Scalar || number < DISPATCHED);
        let shown: Vec<_> = known.iter().take(MOST_SETTERS).map(described).collect();
        let more = known.len() - shown.len();
        let mut setters = shown.join(" or ");
        if more > 0 {
            let _ = write!(setters, " or {}", Count(more, "other instruction"));
        }
        let mut text = match (is_argument, known.is_empty()) {
            (true, true) => format!("{name} has its value from the caller or the dispatch"),
            (true, false) => {
                format!("{name} has its value from the caller or the dispatch, or from {setters}")
            }
            (false, false) => format!("{setters} {} {name}", if more > 1 { "set" } else { "sets" }),
            (false, true) => {
                return Some(format!("no instruction before {pc:#x} sets {name}, nor does the dispatch"));
            }
        };
        if known.last().is_some_and(|last| last.0 >= pc) {
            text.push_str(", and a branch leads back");
        }
        let from = known.first().map_or(function.start(), |first| first.0);
        if let Some(call) = code.call(kind, number, from..pc) {
            let _ = write!(text, ", and the function called at {call:#x} can set it");
        }
        Some(text)
    }

    pub(super) fn unknown_register(&self, number: &Number) -> Option<Reg> {
        let target = self.file.target.as_ref()?;
        let is_unknown =
            |number: &Number| matches!(number, Number::Register(reg, _) if target.register(*reg).is_none());
        match number.find(&is_unknown)? {
            Number::Register(reg, _) => Some(*reg),
            _ => None,
        }
    }

    pub(super) fn is_vector(&self, reg: Reg) -> bool {
        let target = self.file.target.as_ref();
        target.and_then(|target| target.register(reg)).is_some_and(|register| register.is_vector())
    }
}
