//! Frames in the format's `machine`.

use serde_json::Value;

use super::location::LocationText;
use super::target::VectorTarget;
use super::values::{Bytes, Given, Map, Named, Offset, Parsed, Textual, Wrong, objects};
use crate::error::Result;
use crate::eval::{Architecture, Caller, Location};

objects! {
    "outer_frame"
    /// An outer frame.
    pub(super) struct CallerText {
        pc: Option<Parsed<Offset>>,
        cfa: Option<Parsed<CfaText>>,
        #[serde(default)]
        registers: Given<Map<Named, Parsed<LocationText>>>,
    }
}

impl CallerText {
    pub fn resolve(&self, target: &VectorTarget) -> Result<Caller, Wrong> {
        let cfa = self.cfa.as_ref().map(|Parsed(cfa)| cfa.resolve(target)).transpose();
        let mut caller = Caller {
            pc: self.pc.as_ref().map(|pc| pc.0.0),
            cfa: cfa.map_err(|what| Wrong::new(what).under("cfa"))?,
            ..Caller::default()
        };
        if let Given::Is(Map(registers)) = &self.registers {
            for (named, location) in registers {
                let Some(Parsed(location)) = location else { continue };
                let wrong = |what| Wrong::new(what).under(named).under("registers");
                let reg = named.register(target).map_err(wrong)?;
                if target.register_bits(reg).is_none() {
                    return Err(wrong(format!("the target has no register {}", reg.0)));
                }
                if caller.registers.insert(reg, location.resolve(target).map_err(wrong)?).is_some() {
                    return Err(wrong(format!("register {} occurs twice", reg.0)));
                }
            }
        }
        Ok(caller)
    }
}

/// A canonical frame address.
#[derive(Debug, Clone)]
pub(super) enum CfaText {
    Default(u64),
    Location(LocationText),
}

impl core::str::FromStr for CfaText {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.starts_with("0x") {
            return text.parse::<Offset>().map(|Offset(address)| Self::Default(address));
        }
        text.parse().map(Self::Location)
    }
}

impl Textual for CfaText {
    const IS_NUMBER: bool = true;

    fn schema() -> Value {
        serde_json::json!({"anyOf": [Offset::schema(), LocationText::schema()]})
    }
}

impl CfaText {
    pub fn resolve(&self, target: &VectorTarget) -> Result<Location, String> {
        match self {
            Self::Default(address) => format!("mem:0:{address:#x}").parse::<LocationText>()?.resolve(target),
            Self::Location(location) => location.resolve(target),
        }
    }
}

objects! {
    "frame_base"
    /// `DW_AT_frame_base`.
    pub(super) struct FrameBaseText {
        pub expr: Option<Bytes>,
    }
}
