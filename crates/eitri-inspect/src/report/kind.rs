//! Kinds of locations, and the meaning of a location in words.

use super::homes::{self, Registers};
use crate::lint::shape::{Number, Part, Place, Selected, Shape};
use eitri_dwarf::error::Count;
use eitri_dwarf::op::Reg;
use eitri_dwarf::target::{SpaceId, Target};

/// Kind of a location. The page has a colour, a pattern and a letter for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Kind {
    /// Unavailable variable.
    Nowhere,
    /// A scalar register.
    Scalar,
    /// A vector register, or an element of one.
    Vector,
    /// Scratch of a lane or a wave, or the stack of a CPU.
    Scratch,
    /// Memory of a work-group (LDS, shared).
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
    /// A rule of a frame, or a position of lanes.
    Rule,
}

/// A location in words.
#[derive(Debug, Clone)]
pub(super) struct PlaceText {
    pub(super) kind: Kind,
    /// A few characters, for a cell of the timeline.
    pub(super) label: String,
    /// Meaning of the whole expression.
    pub(super) meaning: String,
}

impl PlaceText {
    pub(super) fn new(kind: Kind, label: impl Into<String>, meaning: impl Into<String>) -> Self {
        Self { kind, label: label.into(), meaning: meaning.into() }
    }
}

/// Facts beside the expression on which words depend.
#[derive(Debug, Clone, Copy)]
pub(super) struct Names<'a> {
    pub(super) target: Option<&'a Target>,
    pub(super) frame_base: Option<&'a Shape>,
    /// Space of memory in the default space, by `DW_AT_address_class`.
    pub(super) space: Option<SpaceId>,
    pub(super) is_cpu: bool,
    /// PTX registers with the homes of their words.
    pub(super) homes: Option<(&'a Registers, &'a [homes::HomesByWord])>,
}

impl Names<'_> {
    /// Describes the location of a variable.
    pub(super) fn describe(&self, shape: &Shape) -> PlaceText {
        if let Some((_, rule)) = &shape.error {
            return PlaceText::new(Kind::Unknown, "?", format!("it cannot be evaluated: {rule}"));
        }
        match &shape.parts[..] {
            [] => PlaceText::new(Kind::Nowhere, "", "not available"),
            [part] => {
                let place = self.place(&part.place);
                match part.bits {
                    Some(bits) => {
                        PlaceText { meaning: format!("{} in {}", size(bits), place.meaning), ..place }
                    }
                    None => place,
                }
            }
            parts => self.several(parts),
        }
    }

    fn several(&self, parts: &[Part]) -> PlaceText {
        let places: Vec<PlaceText> = parts.iter().map(|part| self.place(&part.place)).collect();
        let mut meaning = String::new();
        for (index, (part, one)) in parts.iter().zip(&places).take(8).enumerate() {
            let join = if index == 0 { "" } else { "; " };
            let bits = part.bits.map_or_else(|| "the rest".into(), size);
            meaning += &format!("{join}{bits}: {}", one.meaning);
        }
        if parts.len() > 8 {
            meaning += &format!("; {} in all", Count(parts.len(), "part"));
        }
        let label: Vec<&str> = places.iter().take(2).map(|one| one.label.as_str()).collect();
        if places.iter().all(|one| one.kind == Kind::Nowhere) {
            PlaceText::new(Kind::Nowhere, "", meaning)
        } else {
            PlaceText::new(Kind::Several, label.join(" ").trim(), meaning)
        }
    }

    fn place(&self, place: &Place) -> PlaceText {
        match place {
            Place::Nothing => PlaceText::new(Kind::Nowhere, "", "not available"),
            Place::Register(reg, selected) => self.register(*reg, *selected),
            Place::Memory { space, address } => self.memory(space.as_ref(), address),
            Place::Value(Number::Known(value)) => {
                let value = *value as i64;
                PlaceText::new(Kind::Constant, value.to_string(), format!("the constant {value}"))
            }
            Place::Value(number) => {
                let text = self.loaded(number).unwrap_or_else(|| self.number(number));
                PlaceText::new(
                    Kind::Computed,
                    format!("={}", self.short(number)),
                    format!("the value {text}"),
                )
            }
            Place::Implicit(bytes) => {
                let bytes: Vec<String> = bytes.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
                let text = bytes.join(" ");
                PlaceText::new(Kind::Constant, text.clone(), format!("the bytes {text}"))
            }
            Place::Other => PlaceText::new(Kind::Unknown, "…", "a location that the steps show"),
        }
    }

    fn name(&self, reg: Reg) -> String {
        let register = self.target.and_then(|target| target.register(reg));
        register.map_or_else(|| format!("register {}", reg.0), |register| register.name().to_string())
    }

    /// Returns the homes of the words of a PTX register.
    fn homes(&self, reg: Reg) -> Option<&homes::HomesByWord> {
        let (registers, homes) = self.homes?;
        homes.get(registers.iter().position(|known| known.0 == reg)?)
    }

    /// Returns the name of a register in a number, with its home.
    fn register_home(&self, reg: Reg) -> String {
        let name = self.name(reg);
        match self.homes(reg).map(homes::texts) {
            Some(Some(texts)) => format!("{name} in {}", texts.join(" and ")),
            Some(None) => format!("{name} in no machine register"),
            None => name,
        }
    }

    fn register(&self, reg: Reg, selected: Selected) -> PlaceText {
        let name = self.name(reg);
        if let Some(words) = self.homes(reg) {
            let Some(texts) = homes::texts(words) else {
                let meaning = format!("the PTX register {name}, which no machine register has at these pcs");
                return PlaceText::new(Kind::Nowhere, "", meaning);
            };
            let is_memory = words.iter().flatten().any(|home| home.is_memory());
            let kind = if is_memory { Kind::Scratch } else { Kind::Scalar };
            let places = texts.join(" and ").replace('/', " or ");
            let meaning = format!("the PTX register {name}, which is in {places}");
            return PlaceText::new(kind, texts.join(" "), meaning);
        }
        let register = self.target.and_then(|target| target.register(reg));
        let Some(register) = register.filter(|register| register.is_vector()) else {
            return PlaceText::new(Kind::Scalar, name.clone(), format!("the register {name}"));
        };
        let lane_bits = u64::from(register.lane_bits()).max(1);
        let is_implied = self.target.is_some_and(Target::has_lane_expressions);
        let (label, meaning) = match selected {
            Selected::Lane(bits) if bits == lane_bits => {
                (name.clone(), format!("the element of {name} of the current lane"))
            }
            Selected::Lane(bits) => (name.clone(), format!("{name} from bit {bits} × lane on")),
            Selected::Computed => (name.clone(), format!("a computed part of {name}")),
            Selected::Nothing if is_implied => {
                (name.clone(), format!("the element of {name} of the current lane"))
            }
            Selected::Nothing => (format!("{name}!"), format!("{name} from its first bit on: lane 0")),
            Selected::Bits(bits) | Selected::Piece(bits, _) => {
                let lane = bits / lane_bits;
                (format!("{name}[{lane}]"), format!("the element of {name} of lane {lane}"))
            }
        };
        PlaceText::new(Kind::Vector, label, meaning)
    }

    fn memory(&self, space: Option<&Number>, address: &Number) -> PlaceText {
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
            Some(SpaceId::LOCAL) => Kind::Local,
            Some(SpaceId::PRIVATE_LANE | SpaceId::PRIVATE_WAVE) => Kind::Scratch,
            _ if self.is_cpu && is_stack(address) => Kind::Scratch,
            Some(_) => Kind::Global,
            None => Kind::Unknown,
        };
        let meaning = if self.is_cpu {
            format!("memory at {text}")
        } else {
            format!("memory of the space {name} at {text}")
        };
        PlaceText::new(kind, format!("[{}]", self.short(address)), meaning)
    }

    /// Describes a number in words.
    fn number(&self, number: &Number) -> String {
        match number {
            Number::Known(value) => format!("{value:#x}"),
            Number::Register(reg, 0) => self.register_home(*reg),
            Number::Register(reg, by) => match self.homes(*reg) {
                Some(_) => format!("{:#x} from {} on", Count(*by, "byte"), self.register_home(*reg)),
                None => format!("{}{by:+}", self.name(*reg)),
            },
            Number::Symbol(address) => format!("the address {address:#x}"),
            Number::Frame(by) => match self.base() {
                Some(base) => format!("{base}{by:+}, from the frame base"),
                None => format!("the frame base{by:+}"),
            },
            Number::Cfa(by) => format!("the canonical frame address{by:+}"),
            Number::Loaded { .. } => format!("what is {}", self.loaded(number).unwrap_or_default()),
            Number::Lane(1) => "the lane".into(),
            Number::Lane(by) => format!("{by} × lane"),
            Number::Computed(of) if of.len() < 4 => {
                let of: Vec<String> = of.iter().map(|one| self.number(one)).collect();
                if of.is_empty() {
                    "a computed number".into()
                } else {
                    format!("a number computed from {}", of.join(" and "))
                }
            }
            Number::Computed(_) => "a computed number".into(),
            Number::Other => "a number of a caller or another entry".into(),
        }
    }

    /// Place of a number that is read from memory.
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

    /// Register or address of the frame base.
    fn base(&self) -> Option<String> {
        match &self.frame_base?.parts.first()?.place {
            Place::Register(reg, _) => Some(self.name(*reg)),
            Place::Memory { address: Number::Cfa(0), .. } => Some("the canonical frame address".into()),
            _ => None,
        }
    }

    /// Describes a number in a few characters.
    fn short(&self, number: &Number) -> String {
        match number {
            Number::Known(value) | Number::Symbol(value) => format!("{value:#x}"),
            Number::Register(reg, 0) => self.name(*reg),
            Number::Register(reg, by) => format!("{}{by:+}", self.name(*reg)),
            Number::Frame(by) => format!("fb{by:+}"),
            Number::Cfa(by) => format!("cfa{by:+}"),
            Number::Loaded { from, .. } => format!("*{}", self.short(from)),
            Number::Lane(_) => "lane".into(),
            Number::Computed(_) | Number::Other => "…".into(),
        }
    }
}

/// A number of bits, in bytes if possible.
fn size(bits: u64) -> String {
    if bits.is_multiple_of(8) { Count(bits / 8, "byte").to_string() } else { Count(bits, "bit").to_string() }
}
