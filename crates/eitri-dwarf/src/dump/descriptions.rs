//! Descriptions for locations, values and queries, with the target's register and space names.

use crate::error::Count;
use crate::eval::{Element, Fault, Location, Part, SingleLocation, Storage};
use crate::op::Reg;
use crate::read::PcNotation;
use crate::target::{SpaceId, Target};

use super::watch::Asked;

/// Maximum number of listed bytes and parts.
const MOST_BYTES: usize = 16;
const MOST_PARTS: usize = 16;
/// Maximum depth to which nested composites are described.
const MOST_LEVELS: usize = 2;

/// Describes stack elements with a target's names.
#[derive(Debug, Clone, Copy)]
pub(super) struct Descriptions<'t> {
    pub(super) target: Option<&'t Target>,
    pub(super) pcs: PcNotation<'t>,
}

/// Describes a bit count, in bytes if possible.
pub(super) fn size(bits: u128) -> String {
    match (bits % 8, bits / 8) {
        (0, 1) => "1 byte".into(),
        (0, bytes) => Count(bytes, "byte").to_string(),
        _ if bits == 1 => "1 bit".into(),
        _ => Count(bits, "bit").to_string(),
    }
}

fn added_offset(bits: u128) -> String {
    if bits == 0 { String::new() } else { format!(" + {}", size(bits)) }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    let mut text: Vec<String> = bytes.iter().take(MOST_BYTES).map(|byte| format!("{byte:02x}")).collect();
    if bytes.len() > MOST_BYTES {
        text.push("…".into());
    }
    text.join(" ")
}

impl Descriptions<'_> {
    pub(super) fn register(self, reg: Reg, frame: u32) -> String {
        let name = match self.target.and_then(|target| target.register(reg)) {
            Some(register) => register.name().to_string(),
            None => format!("register {}", reg.0),
        };
        if frame == 0 { name } else { format!("{name} of frame {frame}") }
    }

    pub(super) fn fault(self, fault: &Fault) -> String {
        match self.target {
            Some(target) => fault.in_names(target).to_string(),
            None => fault.to_string(),
        }
    }

    pub(super) fn space(self, space: SpaceId, lane: Option<u32>) -> String {
        let name = match self.target.and_then(|target| target.space(space)) {
            Some(space) => space.name.to_string(),
            None if space == SpaceId::DEFAULT => "memory".into(),
            None => format!("space {}", space.0),
        };
        lane.map_or_else(|| name.clone(), |lane| format!("{name} of lane {lane}"))
    }

    /// Describes a storage.
    pub(super) fn storage(self, storage: &Storage) -> String {
        match storage {
            Storage::Undefined => "undefined".into(),
            Storage::Memory { space, lane, .. } => self.space(*space, *lane),
            Storage::Register { reg, frame, .. } => self.register(*reg, *frame),
            Storage::Implicit(_) => "implicit".into(),
            Storage::ImplicitPointer(to) => match to.by {
                0 => format!("pointer to entry {:#x}", to.entry),
                by => format!("pointer to entry {:#x} {by:+}", to.entry),
            },
            Storage::Composite(composite) => match composite.parts().len() {
                1 => "composite of 1 part".into(),
                parts => format!("composite of {parts}", parts = Count(parts, "part")),
            },
        }
    }

    pub(super) fn place(self, place: &SingleLocation) -> String {
        self.place_to(place, MOST_LEVELS)
    }

    fn place_to(self, place: &SingleLocation, levels: usize) -> String {
        let name = self.storage(&place.storage);
        match &place.storage {
            Storage::Undefined => name,
            Storage::Memory { space, lane, .. } => {
                let lane = lane.map_or_else(String::new, |lane| format!(" of lane {lane}"));
                let bits = added_offset(place.offset % 8);
                format!("{} {:#x}{lane}{bits}", self.space(*space, None), place.offset / 8)
            }
            Storage::Register { .. } | Storage::ImplicitPointer(_) => name + &added_offset(place.offset),
            Storage::Implicit(bits) => format!("{name} {}{}", hex(bits.bytes()), added_offset(place.offset)),
            Storage::Composite(_) if levels == 0 => name + &added_offset(place.offset),
            Storage::Composite(composite) => {
                let parts = composite.parts();
                let part = |part| self.part_to(part, levels - 1);
                let mut texts: Vec<String> = parts.iter().take(MOST_PARTS).map(part).collect();
                if parts.len() > MOST_PARTS {
                    texts.push(format!("… {} in all", Count(parts.len(), "part")));
                }
                if !composite.is_complete() {
                    texts.push("…".into());
                }
                format!("{{{}}}{}", texts.join(", "), added_offset(place.offset))
            }
        }
    }

    pub(super) fn location(self, location: &Location) -> String {
        self.location_to(location, MOST_LEVELS)
    }

    fn location_to(self, location: &Location, levels: usize) -> String {
        let places: Vec<String> = location.places().map(|place| self.place_to(place, levels)).collect();
        if places.len() == 1 { places.concat() } else { format!("({})", places.join(" and ")) }
    }

    /// Describes a composite's part, without its number.
    pub(super) fn part(self, part: &Part) -> String {
        self.part_to(part, MOST_LEVELS)
    }

    fn part_to(self, part: &Part, levels: usize) -> String {
        match part.location.single().map(|place| &place.storage) {
            Some(Storage::Undefined) => format!("{} undefined", size(part.bits)),
            _ => format!("{} of {}", size(part.bits), self.location_to(&part.location, levels)),
        }
    }

    pub(super) fn element(self, element: &Element) -> String {
        match element {
            Element::Value(value) => value.to_string(),
            Element::Location(location) => self.location(location),
        }
    }

    /// Describes an element in lines: a composite has a numbered line for each part.
    pub(super) fn lines(self, element: &Element) -> Vec<String> {
        let place = match element {
            Element::Location(location) => location.single(),
            Element::Value(_) => None,
        };
        let Some(SingleLocation { storage: storage @ Storage::Composite(composite), offset }) = place else {
            return vec![self.element(element)];
        };
        let state = if composite.is_complete() { "" } else { ", incomplete" };
        let mut lines = vec![format!("{}{}{state}", self.storage(storage), added_offset(*offset))];
        let parts = composite.parts().iter().enumerate().take(MOST_PARTS);
        lines.extend(parts.map(|(index, part)| format!("  {} {}", index + 1, self.part(part))));
        if composite.parts().len() > MOST_PARTS {
            lines.push("  …".into());
        }
        lines
    }

    /// Describes a query and its answer: `v3 bytes 4 to 7: 01 41 81 c1`.
    pub(super) fn asked(self, asked: &Asked) -> String {
        let unknown = || "unknown".to_owned();
        let contents = |bytes: &Option<Vec<u8>>| bytes.as_ref().map_or_else(unknown, |bytes| hex(bytes));
        let number = |number: &Option<u64>| number.map_or_else(unknown, |number| format!("{number:#x}"));
        let index = |number: &Option<u64>| number.map_or_else(unknown, |number| number.to_string());
        let location = |location: &Option<Location>| {
            location.as_ref().map_or_else(unknown, |location| self.location(location))
        };
        match asked {
            Asked::Register { reg, frame, at, len, bytes } => {
                let bytes = contents(bytes);
                let name = self.register(*reg, *frame);
                match (*at, *len) {
                    (0, _) => format!("{name}: {bytes}"),
                    (at, 1) => format!("{name} byte {at}: {bytes}"),
                    (at, len) => format!("{name} bytes {at} to {}: {bytes}", at as usize + len.max(1) - 1),
                }
            }
            Asked::Memory { space, lane, address, bytes, .. } => {
                let lane = lane.map_or_else(String::new, |lane| format!(" of lane {lane}"));
                format!("{} {address:#x}{lane}: {}", self.space(*space, None), contents(bytes))
            }
            Asked::Lane(lane) => format!("lane: {}", index(lane)),
            Asked::Iteration(iteration) => format!("iteration: {}", index(iteration)),
            Asked::Pc(pc) => format!("pc: {}", pc.map_or_else(unknown, |pc| self.pcs.pc(pc).to_string())),
            Asked::Cfa(cfa) => format!("CFA: {}", location(cfa)),
            Asked::Saved { reg, frame, location: saved } => {
                format!("{}: {}", self.register(*reg, *frame), location(saved))
            }
            Asked::Object(object) => format!("object: {}", location(object)),
            Asked::Tls(tls) => format!("thread-local storage: {}", number(tls)),
            Asked::Address { index, address } => format!("address {index}: {}", number(address)),
            Asked::Type { offset, ty } => match ty {
                Some(ty) => {
                    let elements =
                        if ty.elements == 1 { String::new() } else { format!(" × {}", ty.elements) };
                    format!("type @{offset:#x}: {:?} of {}{elements}", ty.encoding, Count(ty.bits, "bit"))
                }
                None => format!("type @{offset:#x}: unknown"),
            },
            Asked::Entry { offset, is_known } => {
                format!("entry @{offset:#x}{}", if *is_known { "" } else { ": unknown" })
            }
            Asked::CallValue { parameter, is_known } => {
                format!("call value of @{parameter:#x}{}", if *is_known { "" } else { ": unknown" })
            }
        }
    }
}
