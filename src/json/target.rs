//! A description's target: a built-in target's name, or an object with the facts about any other target.

use std::borrow::Cow;

use serde::de::{Deserializer, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::objects::objects;
use super::position;
use super::schema::{HasSchema, Schemas};
use super::values::{Number, Text};
use super::words::Word;
use crate::error::{Error, ErrorKind, Result};
use crate::op::Reg;
use crate::target::{
    Clobbered, ElfIdentity, Per, RegisterNames, Registers, Relocations, Scaling, Space, SpaceId, Target,
    UnspecifiedRegisters,
};

objects! {
    /// A target that is not built in. `scaling` and `data_alignment` are those of [`TargetBuilder`](crate::target::TargetBuilder).
    TargetFacts { name: Text<'a>, registers: Vec<RegisterFacts<'a>> } {
        /// Number of lanes in a wave, by default 1.
        lanes: u32,
        /// Address spaces other than the default one of 64-bit addresses, which is `default` unless it is named here.
        spaces: Vec<SpaceFacts<'a>>,
        /// Register that contains the pc.
        pc: Text<'a>,
        /// Register with the active lanes' mask.
        exec: Text<'a>,
        /// Register whose value in the caller is the canonical frame address by default.
        cfa_register: Text<'a>,
        /// Registers that a call overwrites by the calling convention.
        clobbered: Vec<ClobberedFacts<'a>>,
        /// Register whose rule gives the return address, by default the one with number 0.
        return_register: Text<'a>,
        /// Whether the return register is the pc, which no function preserves.
        return_register_is_pc: bool,
        /// Data alignment factor in call frame information, in bytes, by default -8.
        data_alignment: i8,
        /// Whether the ABI uses `.eh_frame`.
        eh_frame: bool,
        /// What debuggers take a register without a rule to be, by default what the calling convention says.
        unspecified_registers: Word<UnspecifiedRegisters>,
        /// Units that stack and frame pointers count in.
        scaling: Word<Scaling>,
        /// Shortest instruction's size in bytes, by default 1.
        min_instruction_bytes: u8,
        /// Whether a number's most significant byte comes first.
        big_endian: bool,
        /// Target-dependent fields in the ELF header.
        elf: ElfFacts<'a>,
    }
    /// Registers with consecutive numbers and a common layout; exactly one of `names`, `prefix` and `packed`.
    RegisterFacts { bits: u32 } {
        /// DWARF number of the first register; for all but packed names.
        dwarf: Number,
        /// Each register's name.
        names: Vec<Text<'a>>,
        /// Common start of the names, which end in a number.
        prefix: Text<'a>,
        /// First number and last number after the prefix.
        numbers: (Number, Number),
        /// First character in names that are packed into the DWARF number.
        packed: Text<'a>,
        /// Number of lanes in a vector register, each with `bits`.
        lanes: u32,
        /// Another DWARF number for the first register, as some producers write it.
        alias: Number,
    }
    /// Registers with consecutive numbers that a call overwrites.
    ClobberedFacts { dwarf: Number, count: u32 } {
        /// Number of low bits that a function preserves all the same.
        preserved_bits: u32,
    }
    /// An address space.
    SpaceFacts { id: u32, name: Text<'a>, address_bits: u32 } {
        /// Null address, by default 0.
        null: Number,
        /// Owner of each copy, by default `process`.
        per: Word<Per>,
        /// Number in `DW_AT_address_class`, by default `id`.
        address_class: u32,
        /// Size of the memory in bytes, from address 0 on, if the processor limits it.
        bytes: Number,
    }
    /// Target-dependent fields in the ELF header.
    ElfFacts { machine: u16 } {
        flags: u32,
        os_abi: u8,
        abi_version: u8,
        /// Types for an address with 32 bits and with 64 bits, and for a relative address with 32 bits.
        relocations: (u32, u32, u32),
    }
}

impl<'a> TargetFacts<'a> {
    /// Builds the target.
    fn target(&self) -> Result<Target> {
        let mut target = Target::builder(&*self.name, self.lanes.unwrap_or(1));
        for registers in &self.registers {
            target.registers(registers.read(&self.name)?);
        }
        for space in self.spaces.iter().flatten() {
            target.space(space.read());
        }
        if let Some(pc) = &self.pc {
            target.pc(&**pc);
        }
        if let Some(exec) = &self.exec {
            target.exec(&**exec);
        }
        if let Some(cfa_register) = &self.cfa_register {
            target.cfa_register(&**cfa_register);
        }
        for clobbered in self.clobbered.iter().flatten() {
            target.clobbered(clobbered.read());
        }
        if let Some(return_register) = &self.return_register {
            target.return_register(&**return_register, self.return_register_is_pc == Some(true));
        }
        if let Some(data_alignment) = self.data_alignment {
            target.data_alignment(data_alignment);
        }
        if self.eh_frame == Some(true) {
            target.eh_frame();
        }
        if let Some(Word(registers)) = self.unspecified_registers {
            target.unspecified_registers(registers);
        }
        if let Some(Word(scaling)) = self.scaling {
            target.scaling(scaling);
        }
        if let Some(bytes) = self.min_instruction_bytes {
            target.min_instruction_bytes(bytes);
        }
        if self.big_endian == Some(true) {
            target.big_endian();
        }
        if let Some(elf) = &self.elf {
            target.elf(elf.read());
        }
        target.build()
    }

    fn write(target: &'a Target) -> Self {
        let registers = target.register_ranges().iter().map(RegisterFacts::write).collect();
        let call_frames = target.call_frames();
        let clobbered = target.clobbered();
        Self {
            lanes: other_than(1, target.lanes()),
            spaces: Some(target.spaces().iter().map(SpaceFacts::write).collect()),
            pc: name(target, target.pc()),
            exec: name(target, target.exec()),
            cfa_register: name(target, target.cfa_register()),
            clobbered: (!clobbered.is_empty()).then(|| clobbered.iter().map(ClobberedFacts::write).collect()),
            return_register: name(target, Some(call_frames.return_register)),
            return_register_is_pc: other_than(false, call_frames.is_return_register_pc),
            data_alignment: other_than(-8, call_frames.data_alignment),
            eh_frame: other_than(false, call_frames.has_eh_frame),
            unspecified_registers: other_than(
                UnspecifiedRegisters::ByConvention,
                call_frames.unspecified_registers,
            )
            .map(Word),
            scaling: other_than(Scaling::Lane, target.scaling()).map(Word),
            min_instruction_bytes: other_than(1, target.min_instruction_bytes()),
            big_endian: other_than(false, target.is_big_endian()),
            elf: Some(ElfFacts::write(&target.elf())),
            ..Self::new(target.name().into(), registers)
        }
    }
}

/// A value unless it is the default.
fn other_than<T: PartialEq>(default: T, value: T) -> Option<T> {
    (value != default).then_some(value)
}

/// Returns a register's name.
fn name(target: &Target, reg: Option<Reg>) -> Option<Text<'_>> {
    target.register(reg?).map(|register| Text(register.name().to_string().into()))
}

impl<'a> RegisterFacts<'a> {
    /// Returns a target's registers.
    fn read(&self, target: &str) -> Result<Registers> {
        let mut registers = match (&self.dwarf, &self.names, &self.prefix, &self.numbers, &self.packed) {
            (Some(dwarf), Some(names), None, None, None) => {
                Registers::named(dwarf.0, names.iter().map(|name| name.to_string()), self.bits)
            }
            (Some(dwarf), None, Some(prefix), Some((Number(first), Number(last))), None) => {
                // The range in JSON includes its last number.
                let numbers = *first..last.saturating_add(1);
                Registers::numbered(dwarf.0, prefix.to_string(), numbers, self.bits)
            }
            (None, None, None, None, Some(packed)) => {
                Registers::packed_names(character(packed, target)?, self.bits)
            }
            _ => {
                return Err(wrong(
                    target,
                    "registers have an invalid combination of keys; expected `dwarf` and `names`; or `dwarf`, `prefix` and \
                     `numbers`; or `packed`",
                ));
            }
        };
        if let Some(lanes) = self.lanes {
            registers = registers.with_lanes(lanes);
        }
        if let Some(Number(alias)) = self.alias {
            registers = registers.with_alias(alias);
        }
        Ok(registers)
    }

    fn write(registers: &'a Registers) -> Self {
        let mut json = Self::new(registers.bits() / registers.lanes());
        match registers.names() {
            RegisterNames::Individual(names) => {
                json.dwarf = Some(Number(registers.first().0));
                json.names = Some(names.iter().map(|name| Text::from(&**name)).collect());
            }
            RegisterNames::Numbered { prefix, first } => {
                json.dwarf = Some(Number(registers.first().0));
                json.prefix = Some(Text::from(&**prefix));
                json.numbers = Some((Number(*first), Number(first + registers.count() - 1)));
            }
            RegisterNames::Packed { prefix } => {
                json.packed = Some(Text(char::from(*prefix).to_string().into()));
            }
        }
        json.lanes = other_than(1, registers.lanes());
        json.alias = registers.alias().map(|alias| Number(alias.0));
        json
    }
}

/// Returns the only character in the key `packed`.
fn character(packed: &str, target: &str) -> Result<char> {
    let mut chars = packed.chars();
    match (chars.next(), chars.next()) {
        (Some(first), None) => Ok(first),
        _ => Err(wrong(target, &format!("`packed` is `{packed}`; expected one character"))),
    }
}

impl ClobberedFacts<'_> {
    fn read(&self) -> Clobbered {
        Clobbered {
            first: Reg(self.dwarf.0),
            count: self.count,
            preserved_bits: self.preserved_bits.unwrap_or(0),
        }
    }

    fn write(clobbered: &Clobbered) -> Self {
        Self {
            preserved_bits: other_than(0, clobbered.preserved_bits),
            ..Self::new(Number(clobbered.first.0), clobbered.count)
        }
    }
}

impl SpaceFacts<'_> {
    fn read(&self) -> Space {
        Space {
            id: SpaceId(self.id),
            name: self.name.to_string().into(),
            address_bits: self.address_bits,
            null: self.null.map_or(0, |Number(null)| null),
            per: self.per.map_or_else(Per::default, |Word(per)| per),
            address_class: self.address_class,
            bytes: self.bytes.map(|Number(bytes)| bytes),
        }
    }

    fn write(space: &Space) -> Self {
        Self {
            null: other_than(0, space.null).map(Number),
            per: other_than(Per::default(), space.per).map(Word),
            address_class: space.address_class,
            bytes: space.bytes.map(Number),
            ..Self::new(space.id.0, Text(space.name.to_string().into()), space.address_bits)
        }
    }
}

impl ElfFacts<'_> {
    fn read(&self) -> ElfIdentity {
        let (abs32, abs64, relative32) = self.relocations.unwrap_or_default();
        ElfIdentity {
            machine: self.machine,
            flags: self.flags.unwrap_or(0),
            os_abi: self.os_abi.unwrap_or(0),
            abi_version: self.abi_version.unwrap_or(0),
            relocations: Relocations { abs32, abs64, relative32 },
        }
    }

    fn write(elf: &ElfIdentity) -> Self {
        let Relocations { abs32, abs64, relative32 } = elf.relocations;
        Self {
            flags: other_than(0, elf.flags),
            os_abi: other_than(0, elf.os_abi),
            abi_version: other_than(0, elf.abi_version),
            relocations: other_than((0, 0, 0), (abs32, abs64, relative32)),
            ..Self::new(elf.machine)
        }
    }
}

/// A description's target, or nothing in another object.
#[derive(Debug)]
pub(super) enum TargetText<'a> {
    Named(Text<'a>),
    Described(Box<TargetFacts<'a>>),
}

impl<'de: 'a, 'a> Deserialize<'de> for TargetText<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct AsTarget;
        impl<'de> Visitor<'de> for AsTarget {
            type Value = TargetText<'de>;
            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("the name of a target, or an object")
            }
            fn visit_borrowed_str<E>(self, name: &'de str) -> Result<TargetText<'de>, E> {
                Ok(TargetText::Named(Text(Cow::Borrowed(name))))
            }
            fn visit_str<E>(self, name: &str) -> Result<TargetText<'de>, E> {
                Ok(TargetText::Named(Text(Cow::Owned(name.to_owned()))))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<TargetText<'de>, A::Error> {
                let facts = Deserialize::deserialize(MapAccessDeserializer::new(map))?;
                Ok(TargetText::Described(Box::new(facts)))
            }
        }
        from.deserialize_any(AsTarget)
    }
}

/// Returns a target's schema.
pub(super) fn target_schema(to: &mut Schemas) -> Value {
    json!({"anyOf": [Text::schema(to), TargetFacts::schema(to)]})
}

impl TargetText<'_> {
    /// Makes the target.
    pub fn resolve(&self) -> Result<Target> {
        match self {
            Self::Named(name) => Target::named(name),
            Self::Described(facts) => facts.target(),
        }
    }
}

fn wrong(target: &str, what: &str) -> Error {
    ErrorKind::InvalidTarget { name: target.into(), what: what.into() }.into()
}

/// Writes a built-in target by its name, and any other target with its facts.
pub(super) struct TargetJson<'t>(pub &'t Target);

impl Serialize for TargetJson<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let target = self.0;
        // A target that was changed keeps its name, so that the name alone does not identify it.
        if Target::named(target.name()).is_ok_and(|named| named == *target) {
            return to.serialize_str(target.name());
        }
        TargetFacts::write(target).serialize(to)
    }
}

/// Reads a target: a built-in target's name in JSON, an object as in a [description](crate::json), or the target of a
/// whole description.
///
/// # Errors
/// [`Malformed`](crate::error::ErrorKind::Malformed) for a text with another form; the errors that [`Target::named`]
/// and [`TargetBuilder::build`](crate::target::TargetBuilder::build) return.
pub fn read_target(text: impl AsRef<[u8]>) -> Result<Target> {
    const WHAT: &str = "the target";
    let text = position::utf8(WHAT, text.as_ref())?;
    // A target's object has no key `target`, so that the two forms cannot be confused.
    let part = if text.trim_start().starts_with('{') {
        let described: Described<'_> = serde_json::from_str(text)
            .map_err(|error| position::syntax_error(WHAT, text, 0, text, &error))?;
        described.target.map_or(text, RawValue::get)
    } else {
        text
    };
    // The part is borrowed from the text.
    let start = part.as_ptr() as usize - text.as_ptr() as usize;
    let target: TargetText<'_> = serde_json::from_str(part)
        .map_err(|error| position::syntax_error(WHAT, text, start, part, &error))?;
    target.resolve()
}

/// Returns the target that a user gives: a built-in target's name, or an object as [`read_target`] reads it.
///
/// ```
/// use eitri::json;
///
/// let named = json::target("amdgpu-gfx1100-wave32")?;
/// assert_eq!(json::target(&json::write_target(&named))?, named);
/// # Ok::<(), eitri::Error>(())
/// ```
///
/// # Errors
/// The errors of [`Target::named`] and [`read_target`].
pub fn target(text: &str) -> Result<Target> {
    match text.trim_start().as_bytes().first() {
        Some(b'{' | b'"') => read_target(text),
        _ => Target::named(text),
    }
}

/// Writes a target as JSON, from which [`read_target`] makes an equal one: a built-in target as
/// its name.
///
/// # Panics
/// Never: every key is a string, and writing to memory does not fail.
pub fn write_target(target: &Target) -> String {
    serde_json::to_string_pretty(&TargetJson(target)).expect("keys are strings, and memory can be written to")
}

/// A description's target.
#[derive(Deserialize)]
struct Described<'a> {
    #[serde(borrow)]
    target: Option<&'a RawValue>,
}
