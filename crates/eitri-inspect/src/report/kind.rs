//! Location kinds, and what a location means in words.

use crate::lint::homes::{self, Registers};
use crate::lint::shape::{LocationShape, Number, PartShape, Selected, Shape};
use eitri_dwarf::error::Count;
use eitri_dwarf::op::Reg;
use eitri_dwarf::target::{SpaceId, Target};

/// Location kind. The page has a colour, a pattern and a letter for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum LocationKind {
    /// Unavailable variable.
    Nowhere,
    /// A scalar register.
    Scalar,
    /// A vector register, or an element in it.
    Vector,
    /// Scratch that belongs to a lane or a wave, or a CPU's stack.
    Scratch,
    /// Work-group memory (LDS, shared).
    Local,
    /// Global, constant and generic memory.
    Global,
    /// A constant.
    Constant,
    /// A value that the expression computes.
    Computed,
    /// Several locations.
    Several,
    /// A location that only an evaluation shows.
    Unknown,
    /// A frame rule, or lane positions.
    Rule,
}

/// A location in words.
#[derive(Debug, Clone)]
pub(super) struct LocationText {
    pub(super) kind: LocationKind,
    /// A few characters, for a timeline cell.
    pub(super) label: String,
    /// What the whole expression means.
    pub(super) meaning: String,
}

impl LocationText {
    pub(super) fn new(kind: LocationKind, label: impl Into<String>, meaning: impl Into<String>) -> Self {
        Self { kind, label: label.into(), meaning: meaning.into() }
    }
}

/// Facts beside the expression on which words depend.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wording<'a> {
    pub(super) target: Option<&'a Target>,
    pub(super) frame_base: Option<&'a Shape>,
    /// Space for memory in the default space, by `DW_AT_address_class`.
    pub(super) space: Option<SpaceId>,
    pub(super) is_cpu: bool,
    /// PTX registers with the homes of their words.
    pub(super) homes: Option<(&'a Registers, &'a [homes::HomesByWord])>,
}

impl Wording<'_> {
    /// Describes a variable's location.
    pub(super) fn describe(&self, shape: &Shape) -> LocationText {
        if let Some((_, rule)) = &shape.error {
            return LocationText::new(LocationKind::Unknown, "?", format!("it cannot be evaluated: {rule}"));
        }
        match &shape.parts[..] {
            [] => LocationText::new(LocationKind::Nowhere, "", "not available"),
            [part] => {
                let place = self.place(&part.place);
                match part.bits {
                    Some(bits) => {
                        LocationText { meaning: format!("{} in {}", size(bits), place.meaning), ..place }
                    }
                    None => place,
                }
            }
            parts => self.several(parts),
        }
    }

    fn several(&self, parts: &[PartShape]) -> LocationText {
        let places: Vec<LocationText> = parts.iter().map(|part| self.place(&part.place)).collect();
        let mut meaning = String::new();
        for (index, (part, place)) in parts.iter().zip(&places).take(8).enumerate() {
            let join = if index == 0 { "" } else { "; " };
            let bits = part.bits.map_or_else(|| "the rest".into(), size);
            meaning += &format!("{join}{bits}: {}", place.meaning);
        }
        if parts.len() > 8 {
            meaning += &format!("; {} in all", Count(parts.len(), "part"));
        }
        let label: Vec<&str> = places.iter().take(2).map(|place| place.label.as_str()).collect();
        if places.iter().all(|place| place.kind == LocationKind::Nowhere) {
            LocationText::new(LocationKind::Nowhere, "", meaning)
        } else {
            LocationText::new(LocationKind::Several, label.join(" ").trim(), meaning)
        }
    }

    fn place(&self, place: &LocationShape) -> LocationText {
        match place {
            LocationShape::Nothing => LocationText::new(LocationKind::Nowhere, "", "not available"),
            LocationShape::Register(reg, selected) => self.register(*reg, *selected),
            LocationShape::Memory { space, address } => self.memory(space.as_ref(), address),
            LocationShape::Value(Number::Known(value)) => {
                let value = *value as i64;
                LocationText::new(LocationKind::Constant, value.to_string(), format!("the constant {value}"))
            }
            LocationShape::Value(number) => {
                let text = self.loaded(number).unwrap_or_else(|| self.number(number));
                LocationText::new(
                    LocationKind::Computed,
                    format!("={}", self.short(number)),
                    format!("the value {text}"),
                )
            }
            LocationShape::Implicit(bytes) => {
                let bytes: Vec<String> = bytes.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
                let text = bytes.join(" ");
                LocationText::new(LocationKind::Constant, text.clone(), format!("the bytes {text}"))
            }
            LocationShape::Other => {
                LocationText::new(LocationKind::Unknown, "…", "a location that the steps show")
            }
        }
    }

    fn name(&self, reg: Reg) -> String {
        let register = self.target.and_then(|target| target.register(reg));
        register.map_or_else(|| format!("register {}", reg.0), |register| register.name().to_string())
    }

    /// Returns the homes of a PTX register's words.
    fn homes(&self, reg: Reg) -> Option<&homes::HomesByWord> {
        let (registers, homes) = self.homes?;
        homes.get(registers.iter().position(|known| known.0 == reg)?)
    }

    /// Returns a register name in a number, with its home.
    fn register_home(&self, reg: Reg) -> String {
        let name = self.name(reg);
        match self.homes(reg).map(homes::texts) {
            Some(Some(texts)) => format!("{name} in {}", texts.join(" and ")),
            Some(None) => format!("{name} in no machine register"),
            None => name,
        }
    }

    fn register(&self, reg: Reg, selected: Selected) -> LocationText {
        let name = self.name(reg);
        if let Some(words) = self.homes(reg) {
            let Some(texts) = homes::texts(words) else {
                let meaning = format!("the PTX register {name}, which no machine register has at these pcs");
                return LocationText::new(LocationKind::Nowhere, "", meaning);
            };
            let is_memory = words.iter().flatten().any(|home| home.is_memory());
            let kind = if is_memory { LocationKind::Scratch } else { LocationKind::Scalar };
            let places = texts.join(" and ").replace('/', " or ");
            let meaning = format!("the PTX register {name}, which is in {places}");
            return LocationText::new(kind, texts.join(" "), meaning);
        }
        let register = self.target.and_then(|target| target.register(reg));
        let Some(register) = register.filter(|register| register.is_vector()) else {
            return LocationText::new(LocationKind::Scalar, name.clone(), format!("the register {name}"));
        };
        let lane_bits = u64::from(register.lane_bits()).max(1);
        let is_implied = self.target.is_some_and(Target::has_lane_expressions);
        let (label, meaning) = match selected {
            Selected::Lane(bits) if bits == lane_bits => {
                (name.clone(), format!("the current lane's element of {name}"))
            }
            Selected::Lane(bits) => (name.clone(), format!("{name} from bit {bits} × lane on")),
            Selected::Computed => (name.clone(), format!("a computed part of {name}")),
            Selected::Nothing if is_implied => {
                (name.clone(), format!("the current lane's element of {name}"))
            }
            Selected::Nothing => (format!("{name}!"), format!("{name} from its first bit on: lane 0")),
            Selected::Bits(bits) | Selected::Piece(bits, _) => {
                let lane = bits / lane_bits;
                (format!("{name}[{lane}]"), format!("lane {lane}'s element of {name}"))
            }
        };
        LocationText::new(LocationKind::Vector, label, meaning)
    }

    fn memory(&self, space: Option<&Number>, address: &Number) -> LocationText {
        let text = self.number(address);
        let number = match space {
            None => self.space.or(Some(SpaceId::DEFAULT)),
            Some(Number::Known(number)) => u32::try_from(*number).ok().map(SpaceId),
            Some(_) => None,
        };
        let known = number.and_then(|number| self.target?.space(number));
        let name = match (known, number) {
            (Some(known), _) => known.name.to_string(),
            (None, Some(number)) => format!("space {}", number.0),
            (None, None) => "a computed space".into(),
        };
        let is_stack = |number: &Number| matches!(number, Number::Frame(_) | Number::Cfa(_));
        let kind = match number {
            Some(SpaceId::LOCAL) => LocationKind::Local,
            Some(SpaceId::PRIVATE_LANE | SpaceId::PRIVATE_WAVE) => LocationKind::Scratch,
            _ if self.is_cpu && is_stack(address) => LocationKind::Scratch,
            Some(_) => LocationKind::Global,
            None => LocationKind::Unknown,
        };
        let meaning = if self.is_cpu {
            format!("memory at {text}")
        } else {
            format!("memory in the space {name} at {text}")
        };
        LocationText::new(kind, format!("[{}]", self.short(address)), meaning)
    }

    /// Describes a number in words.
    fn number(&self, number: &Number) -> String {
        match number {
            Number::Known(value) => format!("{value:#x}"),
            Number::Register(reg, 0) => self.register_home(*reg),
            Number::Register(reg, offset) => match self.homes(*reg) {
                Some(_) => format!("{:#x} from {} on", Count(*offset, "byte"), self.register_home(*reg)),
                None => format!("{}{offset:+}", self.name(*reg)),
            },
            Number::Symbol(address) => format!("the address {address:#x}"),
            Number::Frame(offset) => match self.base() {
                Some(base) => format!("{base}{offset:+}, from the frame base"),
                None => format!("the frame base{offset:+}"),
            },
            Number::Cfa(offset) => format!("the canonical frame address{offset:+}"),
            Number::Loaded { .. } => format!("what is {}", self.loaded(number).unwrap_or_default()),
            Number::Lane(1) => "the lane".into(),
            Number::Lane(bytes) => format!("{bytes} × lane"),
            Number::Computed(operands) if operands.len() < 4 => {
                let operands: Vec<String> = operands.iter().map(|operand| self.number(operand)).collect();
                if operands.is_empty() {
                    "a computed number".into()
                } else {
                    format!("a number computed from {}", operands.join(" and "))
                }
            }
            Number::Computed(_) => "a computed number".into(),
            Number::Other => "a number from a caller or another entry".into(),
        }
    }

    /// Where a number is loaded from.
    fn loaded(&self, number: &Number) -> Option<String> {
        let Number::Loaded { space, from } = number else { return None };
        let known = match space.as_deref() {
            Some(Number::Known(space)) => u32::try_from(*space).ok().map(SpaceId),
            _ => None,
        };
        let known = known.and_then(|space| self.target?.space(space));
        let space = known.map_or_else(String::new, |space| format!(" in the space {}", space.name));
        Some(format!("stored at {}{space}", self.number(from)))
    }

    /// Frame base register or address.
    fn base(&self) -> Option<String> {
        match &self.frame_base?.parts.first()?.place {
            LocationShape::Register(reg, _) => Some(self.name(*reg)),
            LocationShape::Memory { address: Number::Cfa(0), .. } => {
                Some("the canonical frame address".into())
            }
            _ => None,
        }
    }

    /// Describes a number in a few characters.
    fn short(&self, number: &Number) -> String {
        match number {
            Number::Known(value) | Number::Symbol(value) => format!("{value:#x}"),
            Number::Register(reg, 0) => self.name(*reg),
            Number::Register(reg, offset) => format!("{}{offset:+}", self.name(*reg)),
            Number::Frame(offset) => format!("fb{offset:+}"),
            Number::Cfa(offset) => format!("cfa{offset:+}"),
            Number::Loaded { from, .. } => format!("*{}", self.short(from)),
            Number::Lane(_) => "lane".into(),
            Number::Computed(_) | Number::Other => "…".into(),
        }
    }
}

/// Formats a bit count, in bytes if possible.
fn size(bits: u64) -> String {
    if bits.is_multiple_of(8) { Count(bits / 8, "byte").to_string() } else { Count(bits, "bit").to_string() }
}
