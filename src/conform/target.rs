//! The format's `target`: a list of registers and address spaces, or a built-in target.

use core::ops::RangeInclusive;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::{Value, json};

use super::layers::{Layer, Layers, last};
use super::values::{Given, Map, Number, Step, Wrong, choice, objects};
use crate::consumer::Consumer;
use crate::error;
use crate::eval::{Architecture, Layout, SpaceLayout};
use crate::json::schema::{HasSchema, Schemas};
use crate::near;
use crate::op::{Dialect, Encoding, Reg};
use crate::target::{Per, SpaceId};

/// A vector's target: registers, address spaces, and the unit's encoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VectorTarget {
    hardware: Hardware,
    address_bytes: u8,
    offset_bytes: u8,
    version: u16,
    big_endian: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Hardware {
    Given(Arc<Described>),
    BuiltIn(crate::target::Target),
}

/// Listed registers and address spaces, with their names.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Described {
    layout: Layout,
    names: Names,
}

/// Names of the listed registers and address spaces; `None` for an ambiguous name.
#[derive(Debug, Clone, Default)]
struct Names {
    registers: BTreeMap<String, Option<Reg>>,
    spaces: BTreeMap<String, Option<SpaceId>>,
    of_registers: BTreeMap<Reg, String>,
}

impl Names {
    fn add_register(&mut self, name: &str, reg: Reg) {
        // A name that occurs twice is an error only where it is used.
        self.registers.entry(name.to_owned()).and_modify(|other| *other = None).or_insert(Some(reg));
        self.of_registers.insert(reg, name.to_owned());
    }

    fn add_space(&mut self, name: &str, space: SpaceId) {
        self.spaces.entry(name.to_owned()).and_modify(|other| *other = None).or_insert(Some(space));
    }
}

/// Always equal: targets that differ in names only are equal.
impl PartialEq for Names {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Names {}

/// The item with this name; an error if the name is unknown or ambiguous.
fn named<T: Copy>(names: &BTreeMap<String, Option<T>>, what: &str, name: &str) -> Result<T, String> {
    match names.get(name) {
        Some(Some(item)) => Ok(*item),
        Some(None) => Err(format!("the target has several {what}s `{name}`")),
        None => {
            let near = near::suggestion(name, names.keys());
            Err(format!("the target has no {what} `{name}`{near}"))
        }
    }
}

impl VectorTarget {
    /// Makes a target with listed registers and address spaces, and a unit's encoding.
    pub fn new(layout: Layout, encoding: Encoding) -> Self {
        let Encoding { address_bytes, offset_bytes, version, big_endian, .. } = encoding;
        let hardware = Hardware::Given(Arc::new(Described { layout, names: Names::default() }));
        Self { hardware, address_bytes, offset_bytes, version, big_endian }
    }

    /// The built-in target, if the target is one.
    pub fn built_in(&self) -> Option<&crate::target::Target> {
        match &self.hardware {
            Hardware::Given(..) => None,
            Hardware::BuiltIn(target) => Some(target),
        }
    }

    /// Returns the expression encoding in a dialect. Operations of the DWARF 6 draft are in units of version 6 at least.
    pub fn encoding(&self, dialect: Dialect) -> Encoding {
        let Self { address_bytes, offset_bytes, version, big_endian, .. } = *self;
        Encoding::new(address_bytes, dialect)
            .with_offset_bytes(offset_bytes)
            .with_version(if dialect == Dialect::Dwarf6 { version.max(6) } else { version })
            .with_big_endian(big_endian)
    }

    /// Returns the expression encoding for a consumer by its name, or else in a dialect.
    ///
    /// # Errors
    /// The errors of [`Consumer::named`].
    pub fn encoding_for(&self, consumer: Option<&str>, dialect: Dialect) -> error::Result<Encoding> {
        let Some(name) = consumer else { return Ok(self.encoding(dialect)) };
        let consumer = Consumer::named(name)?;
        Ok(self.encoding(consumer.expressions.dialect).with_version(consumer.version))
    }

    /// Returns whether a number's most significant byte comes first.
    pub fn is_big_endian(&self) -> bool {
        self.big_endian
    }

    /// Returns the size of an address in the default space, in bytes.
    pub fn address_bytes(&self) -> u8 {
        self.address_bytes
    }
}

impl From<crate::target::Target> for VectorTarget {
    /// Makes the built-in target, with a DWARF 5 unit in the 32-bit format.
    fn from(target: crate::target::Target) -> Self {
        let address_bytes = target.address_bytes();
        let big_endian = target.is_big_endian();
        Self { hardware: Hardware::BuiltIn(target), address_bytes, offset_bytes: 4, version: 5, big_endian }
    }
}

impl Architecture for VectorTarget {
    fn register_bits(&self, reg: Reg) -> Option<u32> {
        self.hardware.as_dyn().register_bits(reg)
    }

    fn whole_register_bits(&self, reg: Reg) -> Option<u32> {
        self.hardware.as_dyn().whole_register_bits(reg)
    }

    fn lane_bits(&self, reg: Reg) -> Option<u32> {
        self.hardware.as_dyn().lane_bits(reg)
    }

    fn first_number(&self, reg: Reg) -> Reg {
        self.hardware.as_dyn().first_number(reg)
    }

    fn space(&self, space: SpaceId) -> Option<SpaceLayout> {
        self.hardware.as_dyn().space(space)
    }

    fn largest_address_bits(&self) -> u32 {
        self.hardware.as_dyn().largest_address_bits()
    }

    fn elf_machine(&self) -> Option<u16> {
        self.hardware.as_dyn().elf_machine()
    }

    fn name(&self) -> String {
        self.hardware.as_dyn().name()
    }

    fn lanes(&self) -> Option<u32> {
        self.hardware.as_dyn().lanes()
    }

    fn unknown_register(&self, reg: Reg) -> String {
        self.hardware.as_dyn().unknown_register(reg)
    }

    fn register_named(&self, name: &str) -> Result<Reg, String> {
        match &self.hardware {
            Hardware::Given(given) => named(&given.names.registers, "register", name),
            Hardware::BuiltIn(target) => Architecture::register_named(target, name),
        }
    }

    fn register_name(&self, reg: Reg) -> Option<String> {
        match &self.hardware {
            Hardware::Given(given) => {
                let names = &given.names;
                // A name that is ambiguous, or is not a word in location texts, is not printed.
                let name = names.of_registers.get(&reg).filter(|name| is_name(name))?;
                names.registers.get(name).copied().flatten().map(|_| name.clone())
            }
            Hardware::BuiltIn(target) => target.register_name(reg),
        }
    }

    fn space_named(&self, name: &str) -> Result<SpaceId, String> {
        match &self.hardware {
            Hardware::Given(given) => named(&given.names.spaces, "address space", name),
            Hardware::BuiltIn(target) => Architecture::space_named(target, name),
        }
    }
}

/// Whether a location can contain the name: a letter, then letters, digits and `_`.
fn is_name(name: &str) -> bool {
    name.starts_with(|char: char| char.is_alphabetic() || char == '_')
        && name.chars().all(|char| char.is_alphanumeric() || char == '_')
}

impl Hardware {
    fn as_dyn(&self) -> &dyn Architecture {
        match self {
            Self::Given(given) => &given.layout,
            Self::BuiltIn(target) => target,
        }
    }
}

objects! {
    "target"
    /// The `target` object, or its `name` alone.
    #[derive(Default)]
    #[serde(default)]
    pub(super) struct TargetText or String {
        name: Given<String>,
        address_size: Given<Number<u8>>,
        offset_size: Given<Number<u8>>,
        version: Given<Number<u16>>,
        endian: Given<Endian>,
        registers: Given<Vec<RegisterText>>,
        spaces: Given<Vec<SpaceText>>,
    }
}

choice! {
    enum Endian {
        Little "little",
        Big "big",
    }
}

objects! {
    "register"
    struct RegisterText {
        dwarf: Numbers,
        name: String,
        bits: Number<u32>,
    }
}

/// A register's DWARF number, or the first and last number in a range of equal registers.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(untagged, expecting = "a number, or the first and the last number of a range, is expected")]
enum Numbers {
    Single(Number<u64>),
    Range(Number<u64>, Number<u64>),
}

impl HasSchema for Numbers {
    fn schema(to: &mut Schemas) -> Value {
        json!({"anyOf": [Number::<u64>::schema(to), <(Number<u64>, Number<u64>)>::schema(to)]})
    }
}

/// Maximum number of registers in a target, which bounds time and memory.
const MOST_REGISTERS: u64 = 0x1_0000;

impl Numbers {
    fn range(self) -> Result<RangeInclusive<u64>, String> {
        let (first, last) = match self {
            Self::Single(Number(number)) => (number, number),
            Self::Range(Number(first), Number(last)) => (first, last),
        };
        match last.checked_sub(first) {
            None => Err(format!("register range {first} to {last} descends; expected an ascending range")),
            Some(more) if more >= MOST_REGISTERS => Err(format!(
                "register range {first} to {last} is too large; expected at most {MOST_REGISTERS} registers"
            )),
            Some(_) => Ok(first..=last),
        }
    }
}

/// The `targets` object: targets defined in the file, by name.
pub(super) type TargetsText = Map<String, TargetText>;

objects! {
    "space"
    struct SpaceText {
        id: Number<u32>,
        name: String,
        address_bits: Number<u32>,
        per: PerText,
    }
}

choice! {
    enum PerText {
        Process "process",
        Thread "thread",
        Lane "lane",
    }
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

impl<'de> Deserialize<'de> for TargetText {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct AsTarget;
        impl<'de> Visitor<'de> for AsTarget {
            type Value = TargetText;
            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("the name of a target, or an object")
            }
            fn visit_str<E>(self, name: &str) -> Result<TargetText, E> {
                Ok(TargetText { name: Given::Is(name.to_owned()), ..TargetText::default() })
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<TargetText, A::Error> {
                TargetText::deserialize(MapAccessDeserializer::new(map))
            }
        }
        from.deserialize_any(AsTarget)
    }
}

impl TargetText {
    /// Whether the object is a complete target rather than changes to the file's target.
    pub fn has_name(&self) -> bool {
        matches!(self.name, Given::Is(_))
    }
}

impl VectorTarget {
    /// Resolves the target for a vector or a machine. `definitions` are its file's definitions.
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
                        let target = crate::target::Target::named(named);
                        Self::from(target.map_err(|error| name.error(error.to_string()))?)
                    }
                };
                // Properties of the unit rather than of the target.
                target.offset_bytes = offset_bytes(layers)?.unwrap_or(target.offset_bytes);
                target.version = version(layers)?.unwrap_or(target.version);
                let own = |item: &str| format!("key is given, but a named target defines its {item}");
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

    /// Resolves the targets that a file defines, by name.
    pub(super) fn definitions(targets: &Given<TargetsText>) -> Result<BTreeMap<String, Self>, Wrong> {
        let Given::Is(Map(targets)) = targets else { return Ok(BTreeMap::new()) };
        let define = |(name, definition): (&String, &Option<TargetText>)| {
            let path = ["targets", name].map(|key| Step::Key(key.to_owned())).to_vec();
            let nothing = || Wrong { path: path.clone(), what: "definition is empty".into() };
            let object = definition.as_ref().ok_or_else(nothing)?;
            let layers = Layers(vec![Layer { object, path: path.clone() }]);
            match last!(layers, name) {
                Some(own) => {
                    Err(own.error("definition has a name; expected none, because its key is its name"))
                }
                None => Ok((name.clone(), Self::given(&layers)?)),
            }
        };
        targets.iter().map(define).collect()
    }

    fn given(layers: &Layers<'_, TargetText>) -> Result<Self, Wrong> {
        let address_size = last!(layers, address_size).ok_or_else(|| layers.missing("address_size"))?;
        let address_bytes = match address_size.value.0 {
            bytes @ 1..=8 => bytes,
            bytes => {
                return Err(address_size
                    .error(format!("address size {bytes} is out of range; expected 1 to 8 bytes")));
            }
        };
        let offset_bytes = match last!(layers, name) {
            // The offset size is a unit property, which a definition can leave to the vectors.
            None => offset_bytes(layers)?.unwrap_or(4),
            Some(_) => offset_bytes(layers)?.ok_or_else(|| layers.missing("offset_size"))?,
        };
        let endian = last!(layers, endian).ok_or_else(|| layers.missing("endian"))?;
        let mut layout = Layout::default();
        let mut names = Names::default();
        let registers = last!(layers, registers).ok_or_else(|| layers.missing("registers"))?;
        for (index, register) in registers.value.iter().enumerate() {
            let bits = register.bits.0;
            let wrong = |what: String| registers.wrong(Wrong::new(what).at(index));
            if bits == 0 {
                return Err(wrong("register has 0 bits; expected at least 1".into()));
            }
            let range = register.dwarf.range().map_err(wrong)?;
            for (number, name) in range.clone().zip(each_name(&register.name, range)) {
                if layout.registers.insert(Reg(number), bits).is_some() {
                    return Err(wrong(format!("register {number} occurs twice")));
                }
                names.add_register(&name, Reg(number));
            }
            // Each range is limited, but not the number of ranges.
            if layout.registers.len() as u64 > MOST_REGISTERS {
                return Err(wrong(format!(
                    "target has too many registers; expected at most {MOST_REGISTERS}"
                )));
            }
        }
        if let Some(spaces) = last!(layers, spaces) {
            for (index, space) in spaces.value.iter().enumerate() {
                let wrong = |what: String| spaces.wrong(Wrong::new(what).at(index));
                let address_bits = space.address_bits.0;
                if !(1..=64).contains(&address_bits) {
                    return Err(wrong(format!(
                        "address size {address_bits} is out of range; expected 1 to 64 bits"
                    )));
                }
                let layout_of = SpaceLayout { address_bits, per: space.per.into() };
                if layout.spaces.insert(SpaceId(space.id.0), layout_of).is_some() {
                    return Err(wrong(format!("address space {} occurs twice", space.id.0)));
                }
                names.add_space(&space.name, SpaceId(space.id.0));
            }
        }
        // The default space always exists; a vector may change only its address size.
        let address_bits = u32::from(address_bytes) * 8;
        let default = SpaceLayout { address_bits, per: Per::Process };
        layout.spaces.entry(SpaceId::DEFAULT).or_insert(default).address_bits = address_bits;
        Ok(Self {
            hardware: Hardware::Given(Arc::new(Described { layout, names })),
            address_bytes,
            offset_bytes,
            version: version(layers)?.unwrap_or(5),
            big_endian: matches!(endian.value, Endian::Big),
        })
    }
}

/// Returns the names in a register range: `v0` to `v255` for `v0-v255`. A name without numbers names all registers.
fn each_name(name: &str, range: RangeInclusive<u64>) -> impl Iterator<Item = String> {
    let numbered = |name: &str| {
        let digits = name.trim_start_matches(|char: char| !char.is_ascii_digit());
        Some((name.strip_suffix(digits)?.to_owned(), digits.parse::<u64>().ok()?))
    };
    // Only if both ends have the same stem and as many numbers as the range, the name is a range.
    let ends = name.split_once('-').and_then(|(first, last)| Some((numbered(first)?, numbered(last)?)));
    let many = range.end() - range.start();
    let first = ends.and_then(|((stem, first), (other, last))| {
        (stem == other && last.checked_sub(first) == Some(many)).then_some((stem, first))
    });
    let name = name.to_owned();
    (0..=many).map(move |index| match &first {
        Some((stem, first)) => format!("{stem}{}", first + index),
        None => name.clone(),
    })
}

fn offset_bytes(layers: &Layers<'_, TargetText>) -> Result<Option<u8>, Wrong> {
    let Some(item) = last!(layers, offset_size) else { return Ok(None) };
    match item.value.0 {
        bytes @ (4 | 8) => Ok(Some(bytes)),
        bytes => Err(item.error(format!("section offset size {bytes} is invalid; expected 4 or 8 bytes"))),
    }
}

fn version(layers: &Layers<'_, TargetText>) -> Result<Option<u16>, Wrong> {
    let Some(item) = last!(layers, version) else { return Ok(None) };
    match item.value.0 {
        version @ 2..=6 => Ok(Some(version)),
        version => Err(item.error(format!("DWARF version {version} is unknown; expected 2 to 6"))),
    }
}
