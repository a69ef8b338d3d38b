//! The `target` of the format: every register and address space, given one by one, or a built-in target.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use super::layers::{Layer, Layers, last};
use super::words::{Given, Map, Number, Step, Wrong};
use crate::eval::{Architecture, Layout, SpaceLayout};
use crate::op::{Dialect, DraftCodes, Encoding, Reg};
use crate::target::{Per, SpaceId};

/// What a vector is evaluated for: registers, address spaces, and how its unit is encoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    hardware: Hardware,
    address_bytes: u8,
    offset_bytes: u8,
    version: u16,
    big_endian: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Hardware {
    Given(Arc<Layout>),
    BuiltIn(crate::target::Target),
}

impl Target {
    /// Registers and address spaces that are given one by one, and the encoding of a unit.
    pub fn new(layout: Layout, encoding: Encoding) -> Self {
        let Encoding { address_bytes, offset_bytes, version, big_endian, .. } = encoding;
        let hardware = Hardware::Given(Arc::new(layout));
        Self { hardware, address_bytes, offset_bytes, version, big_endian }
    }

    /// The built-in target, if it is one.
    pub fn built_in(&self) -> Option<&crate::target::Target> {
        match &self.hardware {
            Hardware::Given(_) => None,
            Hardware::BuiltIn(target) => Some(target),
        }
    }

    /// How expressions of a dialect are encoded.
    pub fn encoding(&self, dialect: Dialect) -> Encoding {
        let Self { address_bytes, offset_bytes, version, big_endian, .. } = *self;
        Encoding { address_bytes, offset_bytes, version, big_endian, dialect, draft: DraftCodes::NONE }
    }

    /// Whether the most significant byte of a number comes first.
    pub fn is_big_endian(&self) -> bool {
        self.big_endian
    }

    /// Bytes of an address in the default space.
    pub fn address_bytes(&self) -> u8 {
        self.address_bytes
    }
}

impl From<crate::target::Target> for Target {
    /// A built-in target, with a unit of DWARF 5 in the 32-bit format.
    fn from(target: crate::target::Target) -> Self {
        let (address_bytes, big_endian) = (target.address_bytes(), target.is_big_endian());
        Self { hardware: Hardware::BuiltIn(target), address_bytes, offset_bytes: 4, version: 5, big_endian }
    }
}

impl Architecture for Target {
    fn register_bits(&self, reg: Reg) -> Option<u32> {
        self.hardware.as_dyn().register_bits(reg)
    }

    fn space(&self, space: SpaceId) -> Option<SpaceLayout> {
        self.hardware.as_dyn().space(space)
    }

    fn largest_address_bits(&self) -> u32 {
        self.hardware.as_dyn().largest_address_bits()
    }
}

impl Hardware {
    fn as_dyn(&self) -> &dyn Architecture {
        match self {
            Self::Given(layout) => &**layout,
            Self::BuiltIn(target) => target,
        }
    }
}

/// The `target` object.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct TargetText {
    name: Given<String>,
    address_size: Given<Number<u8>>,
    offset_size: Given<Number<u8>>,
    version: Given<Number<u16>>,
    endian: Given<Endian>,
    registers: Given<Vec<RegisterText>>,
    spaces: Given<Vec<SpaceText>>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Endian {
    Little,
    Big,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct RegisterText {
    dwarf: Numbers,
    #[serde(rename = "name")]
    _name: String,
    bits: Number<u32>,
}

/// The DWARF number of a register, or the first and the last of a range of equal ones.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(untagged, expecting = "a number, or the first and the last of a range, are expected")]
enum Numbers {
    One(Number<u64>),
    Range(Number<u64>, Number<u64>),
}

/// Registers of one target, so that no file can use up time or memory.
const MOST_REGISTERS: u64 = 0x1_0000;

impl Numbers {
    fn range(self) -> Result<core::ops::RangeInclusive<u64>, String> {
        let (first, last) = match self {
            Self::One(Number(number)) => (number, number),
            Self::Range(Number(first), Number(last)) => (first, last),
        };
        match last.checked_sub(first) {
            None => Err(format!("a range of registers ascends, and {first} is after {last}")),
            Some(more) if more >= MOST_REGISTERS => {
                Err(format!("a range has at most {MOST_REGISTERS} registers, not {first} to {last}"))
            }
            Some(_) => Ok(first..=last),
        }
    }
}

/// The `targets` object: targets that the file defines, by name.
pub(super) type TargetsText = Map<String, TargetText>;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct SpaceText {
    id: Number<u32>,
    #[serde(rename = "name")]
    _name: String,
    address_bits: Number<u32>,
    per: PerText,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PerText {
    Process,
    Thread,
    Lane,
}

impl From<PerText> for Per {
    fn from(per: PerText) -> Self {
        match per {
            PerText::Process => Self::Process,
            PerText::Thread => Self::Thread,
            PerText::Lane => Self::Lane,
        }
    }
}

impl TargetText {
    /// Whether it is a target of its own, rather than changes to the file's.
    pub fn has_name(&self) -> bool {
        matches!(self.name, Given::Is(_))
    }
}

impl Target {
    /// The target of a vector or a machine. `definitions` are those of its file.
    pub(super) fn of(
        layers: &Layers<'_, TargetText>,
        definitions: &BTreeMap<String, Self>,
    ) -> Result<Self, Wrong> {
        let name = last!(layers, name).ok_or_else(|| layers.missing("name"))?;
        match name.value.as_str() {
            "generic" => Self::given(layers),
            named => {
                let mut target = match definitions.get(named) {
                    Some(defined) => defined.clone(),
                    None => {
                        let found = crate::target::Target::named(named);
                        Self::from(found.map_err(|error| name.error(error.to_string()))?)
                    }
                };
                // Of the unit, not of the target.
                target.offset_bytes = offset_bytes(layers)?.unwrap_or(target.offset_bytes);
                target.version = version(layers)?.unwrap_or(target.version);
                let own = |item: &str| format!("a named target has its own {item}");
                let refused = [
                    last!(layers, address_size).map(|item| item.error(own("address size"))),
                    last!(layers, endian).map(|item| item.error(own("byte order"))),
                    last!(layers, registers).map(|item| item.error(own("registers"))),
                    last!(layers, spaces).map(|item| item.error(own("address spaces"))),
                ];
                refused.into_iter().flatten().next().map_or(Ok(target), Err)
            }
        }
    }

    /// The targets that a file defines, by name.
    pub(super) fn definitions(targets: &Given<TargetsText>) -> Result<BTreeMap<String, Self>, Wrong> {
        let Given::Is(Map(targets)) = targets else { return Ok(BTreeMap::new()) };
        let define = |(name, definition): (&String, &Option<TargetText>)| {
            let path = ["targets", name].map(|key| Step::Key(key.to_owned())).to_vec();
            let nothing = || Wrong { path: path.clone(), what: "nothing is defined".into() };
            let object = definition.as_ref().ok_or_else(nothing)?;
            let layers = Layers(vec![Layer { object, path: path.clone() }]);
            match last!(layers, name) {
                Some(own) => Err(own.error("the key of a definition is its name")),
                None => Ok((name.clone(), Self::given(&layers)?)),
            }
        };
        targets.iter().map(define).collect()
    }

    fn given(layers: &Layers<'_, TargetText>) -> Result<Self, Wrong> {
        let address_size = last!(layers, address_size).ok_or_else(|| layers.missing("address_size"))?;
        let address_bytes = match address_size.value.0 {
            bytes @ 1..=8 => bytes,
            bytes => return Err(address_size.error(format!("an address has 1 to 8 bytes, not {bytes}"))),
        };
        let offset_bytes = match last!(layers, name) {
            // The offset size is the unit's, and a definition can leave it to the vectors.
            None => offset_bytes(layers)?.unwrap_or(4),
            Some(_) => offset_bytes(layers)?.ok_or_else(|| layers.missing("offset_size"))?,
        };
        let endian = last!(layers, endian).ok_or_else(|| layers.missing("endian"))?;
        let mut layout = Layout::default();
        let registers = last!(layers, registers).ok_or_else(|| layers.missing("registers"))?;
        for (index, register) in registers.value.iter().enumerate() {
            let bits = register.bits.0;
            let wrong = |what: String| registers.wrong(Wrong::new(what).at(index));
            if bits == 0 {
                return Err(wrong("a register has at least one bit".into()));
            }
            for number in register.dwarf.range().map_err(wrong)? {
                if layout.registers.insert(Reg(number), bits).is_some() {
                    return Err(wrong(format!("register {number} is there twice")));
                }
            }
            if layout.registers.len() as u64 > MOST_REGISTERS {
                return Err(wrong(format!("a target has at most {MOST_REGISTERS} registers")));
            }
        }
        if let Some(spaces) = last!(layers, spaces) {
            for (index, space) in spaces.value.iter().enumerate() {
                let wrong = |what: String| spaces.wrong(Wrong::new(what).at(index));
                let address_bits = space.address_bits.0;
                if !(1..=64).contains(&address_bits) {
                    return Err(wrong(format!("an address has 1 to 64 bits, not {address_bits}")));
                }
                let layout_of = SpaceLayout { address_bits, per: space.per.into() };
                if layout.spaces.insert(SpaceId(space.id.0), layout_of).is_some() {
                    return Err(wrong(format!("address space {} is there twice", space.id.0)));
                }
            }
        }
        // The default space is always there, and a vector may change the size of its addresses alone.
        let address_bits = u32::from(address_bytes) * 8;
        let default = SpaceLayout { address_bits, per: Per::Process };
        layout.spaces.entry(SpaceId::DEFAULT).or_insert(default).address_bits = address_bits;
        Ok(Self {
            hardware: Hardware::Given(Arc::new(layout)),
            address_bytes,
            offset_bytes,
            version: version(layers)?.unwrap_or(5),
            big_endian: matches!(endian.value, Endian::Big),
        })
    }
}

fn offset_bytes(layers: &Layers<'_, TargetText>) -> Result<Option<u8>, Wrong> {
    let Some(item) = last!(layers, offset_size) else { return Ok(None) };
    match item.value.0 {
        bytes @ (4 | 8) => Ok(Some(bytes)),
        bytes => Err(item.error(format!("a section offset has 4 or 8 bytes, not {bytes}"))),
    }
}

fn version(layers: &Layers<'_, TargetText>) -> Result<Option<u16>, Wrong> {
    let Some(item) = last!(layers, version) else { return Ok(None) };
    match item.value.0 {
        version @ 2..=6 => Ok(Some(version)),
        version => Err(item.error(format!("there is no DWARF version {version}"))),
    }
}
