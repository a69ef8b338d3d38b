//! Bindings of descriptions to SPIR-V modules: the key `spirv`.

#[cfg(feature = "spirv")]
mod read;
#[cfg(feature = "spirv")]
mod write;

use core::fmt;

use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use super::schema::{self, HasSchema, Schemas};
use super::shape::shaped;
use super::statement::{Ref, objects};
use super::values::{Line, Named, Signed, Text};

objects! {
    /// Ids and positions of a SPIR-V module, for the entities of the description.
    Bound {} {
        /// Identifies the debug information of the module: 32 lowercase hexadecimal digits, or more.
        build_identifier: Text<'a>,
        /// Different sources may have the build identifier.
        shared_identifier: bool,
        /// Location of separate debug information.
        storage_path: Text<'a>,
        /// Units, each with the number of its language in SPIR-V.
        languages: Vec<(Ref<'a>, u32)>,
        /// Variables outside of functions, each with its `OpVariable` or constant.
        globals: Vec<(Ref<'a>, Named<'a>)>,
        /// Functions.
        functions: Vec<BoundFunction<'a>>,
    }
    /// The `OpFunction` of a function, and statements about positions in it, in their order.
    BoundFunction { id: Named<'a> } {
        /// The described function. Without one, lines are in files of the first unit.
        function: Ref<'a>,
        at: Vec<BoundPosition<'a>>,
    }
    /// A position: one of `start`, `before`, `after`. The other keys apply from there on.
    BoundPosition {} {
        /// The start of the block with this label.
        start: Named<'a>,
        /// Before an instruction of a block: the label, and the index counted from 0.
        before: (Named<'a>, u32),
        /// After the instruction that defines the id.
        after: Named<'a>,
        /// The scope: a function, block or inlined call.
        scope: Ref<'a>,
        /// No scope.
        no_scope: bool,
        /// The line.
        line: Line<'a>,
        /// No line.
        no_line: bool,
        /// A variable in memory.
        declare: (Ref<'a>, ProvidedBy<'a>),
        /// Values of a variable; without any, the variable is unavailable.
        value: (Ref<'a>, Vec<ProvidedBy<'a>>),
    }
    /// An id that provides a variable or a part of it.
    ProvidedBy { id: Named<'a> } {
        /// The id is the address of the variable.
        pointer: bool,
        /// Storage class of the address.
        space: u32,
        /// Number added to the value or the address, or several.
        plus: Sums,
        /// Exactly these operations: names, each with its operands.
        operations: Vec<(Text<'a>, Vec<u32>)>,
        /// Indexes of the part of the variable: numbers, or ids whose values are the indexes.
        part: Vec<IndexBy<'a>>,
        /// First bit and end of the bits of the value.
        taken: (u32, u32),
        /// First bit and end of the bits of the variable.
        bits: (u32, u32),
    }
}

/// One number to add, or a list of several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sums(pub Vec<Signed>);

impl<'de> Deserialize<'de> for Sums {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct AsSums;
        impl<'de> Visitor<'de> for AsSums {
            type Value = Sums;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a signed number of 32 bits, or a list of them")
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Sums, E> {
                Ok(Sums(vec![Signed(number)]))
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Sums, E> {
                let number = i64::try_from(number);
                number
                    .map(|it| Sums(vec![Signed(it)]))
                    .map_err(|_| E::custom("a number of more than 32 bits"))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Sums, E> {
                Signed::deserialize(de::value::StrDeserializer::new(text)).map(|it| Sums(vec![it]))
            }
            fn visit_seq<S: SeqAccess<'de>>(self, json: S) -> Result<Sums, S::Error> {
                Vec::deserialize(de::value::SeqAccessDeserializer::new(json)).map(Sums)
            }
        }
        from.deserialize_any(AsSums)
    }
}

impl Serialize for Sums {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match &self.0[..] {
            [only] => only.serialize(to),
            all => all.serialize(to),
        }
    }
}

impl HasSchema for Sums {
    fn schema(to: &mut Schemas) -> Value {
        json!({"anyOf": [Signed::schema(to), Vec::<Signed>::schema(to)]})
    }
}

/// An index: a number, or the id whose value it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum IndexBy<'a> {
    Number(u32),
    Id(Named<'a>),
}

objects! {
    /// The id of an index.
    IndexId { id: Named<'a> } {}
}

impl<'de: 'a, 'a> Deserialize<'de> for IndexBy<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct AsIndex;
        impl<'de> Visitor<'de> for AsIndex {
            type Value = IndexBy<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of 32 bits, or an object with an `id`")
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<IndexBy<'de>, E> {
                let wrong = |_| E::invalid_value(de::Unexpected::Unsigned(number), &self);
                u32::try_from(number).map(IndexBy::Number).map_err(wrong)
            }
            fn visit_map<M: MapAccess<'de>>(self, json: M) -> Result<IndexBy<'de>, M::Error> {
                let id = IndexId::deserialize(de::value::MapAccessDeserializer::new(json));
                id.map(|it| IndexBy::Id(it.id))
            }
        }
        from.deserialize_any(AsIndex)
    }
}

impl Serialize for IndexBy<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => number.serialize(to),
            Self::Id(id) => IndexId::new(id.clone()).serialize(to),
        }
    }
}

impl HasSchema for IndexBy<'_> {
    fn schema(to: &mut Schemas) -> Value {
        json!({"anyOf": [u32::schema(to), IndexId::schema(to)]})
    }
}
