//! The target of a description: the name of a built-in one, or an object with the facts of another.

use std::borrow::Cow;

use serde::de::{Deserializer, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::kinds::kind;
use super::place;
use super::rows::values;
use super::schema::{self, HasSchema, Schemas};
use super::shape::shaped;
use super::statement::objects;
use super::values::{Number, Text, Word};
use crate::error::{Error, ErrorKind, Result};
use crate::op::Reg;
use crate::target::{
    Clobbered, ElfIdentity, Per, RegisterNames, Registers, Relocations, Scaling, Space, SpaceId, Target,
    TargetBuilder,
};

/// Optional facts of a target: key and type, the value in JSON unless it is the default, and the call of the builder. The
/// names are those of the target, the builder, and the facts.
macro_rules! target_facts { (
    |$target:ident, $to:ident, $facts:ident|
    $(#[$doc:meta])* { $($required:ident: $required_type:ty),* }
    $(#[doc = $about:literal] $key:ident: $type:ty = $write:expr $(=> $read:expr)?;)*
) => {
    objects! {
        $(#[$doc])*
        TargetFacts { $($required: $required_type),* } { $(#[doc = $about] $key: $type),* }
    }

    impl<'a> TargetFacts<'a> {
        fn write_optional(&mut self, $target: &'a Target) {
            $(self.$key = $write;)*
        }

        fn read_optional(&self, $to: &mut TargetBuilder) {
            let $facts = self;
            $($(if let Some($key) = &self.$key {
                $read;
            })?)*
        }
    }
} }

target_facts! { |target, to, facts|
    /// A target of its own. `scaling` and `data_alignment` are those of [`TargetBuilder`](crate::target::TargetBuilder).
    { name: Text<'a>, registers: Vec<RegisterFacts<'a>> }
    /// Number of lanes of a wave, by default 1.
    lanes: u32 = other_than(1, target.lanes());
    /// Address spaces other than the default one of 64-bit addresses, which is `default` unless it is named here.
    spaces: Vec<SpaceFacts<'a>> = Some(target.spaces().iter().map(SpaceFacts::of).collect())
        => for space in spaces { to.space(space.value()); };
    /// Register that contains the pc.
    pc: Text<'a> = name(target, target.pc()) => to.pc(&**pc);
    /// Register with the mask of active lanes.
    exec: Text<'a> = name(target, target.exec()) => to.exec(&**exec);
    /// Register whose value in the caller is the canonical frame address by default.
    cfa_register: Text<'a> = name(target, target.cfa_register()) => to.cfa_register(&**cfa_register);
    /// Registers that a call overwrites: undefined in the caller unless a rule says otherwise.
    clobbered: Vec<ClobberedFacts<'a>> = Some(target.clobbered()).filter(|all| !all.is_empty())
        .map(|all| all.iter().map(ClobberedFacts::of).collect())
        => for clobbered in clobbered { to.clobbered(clobbered.value()); };
    /// Register whose rule gives the return address, by default the one with number 0.
    return_register: Text<'a> = name(target, Some(target.call_frames().return_register))
        => to.return_register(&**return_register, facts.return_register_is_pc == Some(true));
    /// Whether the return register is the pc, which no function preserves.
    return_register_is_pc: bool = other_than(false, target.call_frames().is_return_register_pc);
    /// Data alignment factor of call frame information in bytes, by default -8.
    data_alignment: i8 = other_than(-8, target.call_frames().data_alignment) => to.data_alignment(*data_alignment);
    /// Whether the ABI uses `.eh_frame`.
    eh_frame: bool = other_than(false, target.call_frames().has_eh_frame) => if *eh_frame { to.eh_frame(); };
    /// Units of stack and frame pointers.
    scaling: Word<Scaling> = other_than(Scaling::Lane, target.scaling()).map(Word) => to.scaling(scaling.0);
    /// Size of the shortest instruction in bytes, by default 1.
    min_instruction_bytes: u8 = other_than(1, target.min_instruction_bytes())
        => to.min_instruction_bytes(*min_instruction_bytes);
    /// Whether the most significant byte of a number comes first.
    big_endian: bool = other_than(false, target.is_big_endian()) => if *big_endian { to.big_endian(); };
    /// Target-dependent fields of the ELF header.
    elf: ElfFacts<'a> = Some(ElfFacts::of(&target.elf())) => to.elf(elf.value());
}

/// A value unless it is the default.
fn other_than<T: PartialEq>(default: T, value: T) -> Option<T> {
    (value != default).then_some(value)
}

/// The name of a register.
fn name(target: &Target, reg: Option<Reg>) -> Option<Text<'_>> {
    target.register(reg?).map(|register| Text(register.name().to_string().into()))
}

/// Registers in JSON, for both directions. A form has its keys, each with the value that is written; the names in the
/// target; and the registers that are made. An optional key has the value unless it is the default, and the change.
macro_rules! register_facts { (
    |$registers:ident, $target:ident|
    $(#[$doc:meta])* { $own:ident: $own_type:ty = $own_value:expr }
    { $($(#[doc = $about:literal])? $key:ident: $type:ty,)* }
    forms $wrong:literal {
        $({ $($of:ident = $write:expr),* } $pattern:pat => $make:expr;)*
    }
    $($(#[doc = $may_about:literal])? $may:ident: $may_type:ty = $may_write:expr => $may_read:expr;)*
) => {
    objects! {
        $(#[$doc])*
        RegisterFacts { $own: $own_type } {
            $($(#[doc = $about])? $key: $type,)*
            $($(#[doc = $may_about])? $may: $may_type,)*
        }
    }

    impl<'a> RegisterFacts<'a> {
        fn resolve(&self, $target: &str) -> Result<Registers> {
            let ($own, present) = (self.$own, 0 $(+ usize::from(self.$key.is_some()))*);
            let mut $registers = 'form: {
                $(
                    let of_this = 0 $(+ usize::from(self.$of.is_some()))*;
                    if of_this == present $(&& let Some($of) = &self.$of)* {
                        let made = $make;
                        break 'form made;
                    }
                )*
                return Err(wrong($target, $wrong));
            };
            $(if let Some($may) = self.$may {
                $registers = $may_read;
            })*
            Ok($registers)
        }

        fn of($registers: &'a Registers) -> Self {
            let mut facts = Self::new($own_value);
            match $registers.names() {
                $($pattern => { $(facts.$of = Some($write);)* })*
            }
            $(facts.$may = $may_write;)*
            facts
        }
    }
} }

register_facts! { |registers, target|
    /// Registers with consecutive numbers and a common layout; exactly one of `names`, `prefix` and `packed`.
    { bits: u32 = registers.bits() / registers.lanes() }
    {
        /// DWARF number of the first register; of all but packed names.
        dwarf: Number,
        /// Name of each register.
        names: Vec<Text<'a>>,
        /// Common start of the names, which end in a number.
        prefix: Text<'a>,
        /// First number and last number behind the prefix.
        numbers: (Number, Number),
        /// First character of names that are packed into the DWARF number.
        packed: Text<'a>,
    }
    forms "registers have `dwarf` and `names`, `dwarf`, `prefix` and `numbers`, or `packed`" {
        { dwarf = Number(registers.first().0), names = names.iter().map(|name| Text::from(&**name)).collect() }
            RegisterNames::Individual(names)
            => Registers::named(dwarf.0, names.iter().map(|name| name.to_string()), bits);
        {
            dwarf = Number(registers.first().0),
            prefix = Text::from(&**prefix),
            numbers = (Number(*from), Number(from + registers.count() - 1))
        } RegisterNames::Numbered { prefix, first: from } => {
            let (Number(from), Number(to)) = *numbers;
            Registers::numbered(dwarf.0, prefix.to_string(), from..to.saturating_add(1), bits)
        };
        { packed = Text(char::from(*prefix).to_string().into()) } RegisterNames::Packed { prefix }
            => Registers::packed_names(character(packed, target)?, bits);
    }
    /// Number of lanes of a vector register, each of `bits`.
    lanes: u32 = other_than(1, registers.lanes()) => registers.with_lanes(lanes);
    /// Another DWARF number of the first register, as some producers write it.
    alias: Number = registers.alias().map(|alias| Number(alias.0)) => registers.with_alias(alias.0);
}

/// The only character of the key `packed`.
fn character(packed: &str, target: &str) -> Result<char> {
    let mut chars = packed.chars();
    match (chars.next(), chars.next()) {
        (Some(first), None) => Ok(first),
        _ => Err(wrong(target, &format!("`packed` is one character: `{packed}`"))),
    }
}

values! {
    /// Registers with consecutive numbers that a call overwrites.
    ClobberedFacts of Clobbered { dwarf: [dwarf_register] => first, count: [number u32] => count } {
        /// Number of low bits that a function preserves all the same.
        preserved_bits: [zero u32] => preserved_bits,
    }
    /// An address space.
    SpaceFacts of Space {
        id: [space_id] => id, name: [owned text] => name, address_bits: [number u32] => address_bits
    } {
        /// Null address, by default 0.
        null: [zero_long] => null,
        /// Owner of each copy, by default `process`.
        per: [default Per] => per,
        /// Number in `DW_AT_address_class`, by default `id`.
        address_class: [number u32] => address_class,
    }
    /// Target-dependent fields of the ELF header.
    ElfFacts of ElfIdentity { machine: [number u16] => machine } {
        flags: [zero u32] => flags,
        os_abi: [zero u8] => os_abi,
        abi_version: [zero u8] => abi_version,
        /// Types of an address of 32 and of 64 bits, and of a relative one of 32.
        relocations: [relocations] => relocations,
    }
}

/// The target of a description.
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

/// Schema of a target.
pub(super) fn target_schema(to: &mut Schemas) -> Value {
    json!({"anyOf": [Text::schema(to), TargetFacts::schema(to)]})
}

impl TargetText<'_> {
    /// Makes the target.
    pub fn resolve(&self) -> Result<Target> {
        match self {
            Self::Named(name) => Target::named(name),
            Self::Described(facts) => facts.builder()?.build(),
        }
    }
}

impl TargetFacts<'_> {
    fn builder(&self) -> Result<TargetBuilder> {
        let mut target = Target::builder(&*self.name, self.lanes.unwrap_or(1));
        for registers in &self.registers {
            target.registers(registers.resolve(&self.name)?);
        }
        self.read_optional(&mut target);
        Ok(target)
    }
}

fn wrong(target: &str, what: &str) -> Error {
    ErrorKind::InvalidTarget { name: target.into(), what: what.into() }.into()
}

/// Writes a built-in target by its name, and any other one with its facts.
pub(super) struct TargetJson<'t>(pub &'t Target);

impl Serialize for TargetJson<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let target = self.0;
        if Target::named(target.name()).is_ok_and(|named| named == *target) {
            return to.serialize_str(target.name());
        }
        let registers = target.register_ranges().iter().map(RegisterFacts::of).collect();
        let mut facts = TargetFacts::new(target.name().into(), registers);
        facts.write_optional(target);
        facts.serialize(to)
    }
}

impl Target {
    /// Reads a target: the name of a built-in one in JSON, an object as in a [description](crate::json), or the target
    /// of a whole description.
    ///
    /// # Errors
    /// [`Malformed`](crate::error::ErrorKind::Malformed) for a text of another form; the errors of
    /// [`named`](Self::named) and [`TargetBuilder::build`].
    pub fn from_json(text: impl AsRef<[u8]>) -> Result<Self> {
        const WHAT: &str = "the target";
        let text = place::utf8(WHAT, text.as_ref())?;
        let read = |text| serde_json::from_str::<TargetText<'_>>(text);
        let found = match serde_json::from_str::<Described<'_>>(text) {
            Ok(described) => read(described.target.get()),
            Err(_) => read(text),
        };
        found.map_err(|error| place::of_json(WHAT, text, 0, text, &error))?.resolve()
    }

    /// Writes the target as JSON, from which [`from_json`](Self::from_json) makes an equal one: a built-in target as
    /// its name.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(&TargetJson(self)).unwrap_or_default()
    }
}

/// The target of a description.
#[derive(Deserialize)]
struct Described<'a> {
    #[serde(borrow)]
    target: &'a RawValue,
}
