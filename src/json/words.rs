//! Words for the values of the model's enumerations.

use core::fmt;
use core::marker::PhantomData;

use serde::de::{self, Deserializer, IntoDeserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use super::schema::{self, HasSchema, Schemas};
use crate::model::{
    Accessibility, BaseEncoding, CompositeKind, Defaulted, DescribedCalls, Half, MemorySpace, NamespaceKind,
    Passed, PointerKind, Qualifier, RegionKind, Virtuality,
};
use crate::op::Dialect;
use crate::target::{Per, Scaling, UnspecifiedRegisters};

/// A model value, written as a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word<T>(pub T);

/// Vocabulary for a type's values.
pub(crate) trait Vocabulary: Copy + PartialEq + 'static {
    const WORDS: &'static [(&'static str, Self)];
    const NAMES: &'static [&'static str];
}

impl<'de, T: Vocabulary> Deserialize<'de> for Word<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct AsWord<T>(PhantomData<T>);
        impl<T: Vocabulary> Visitor<'_> for AsWord<T> {
            type Value = Word<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a word")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Word<T>, E> {
                let entry = T::WORDS.iter().find(|(word, _)| *word == text);
                entry.map(|&(_, value)| Word(value)).ok_or_else(|| E::unknown_variant(text, T::NAMES))
            }
        }
        from.deserialize_str(AsWord(PhantomData))
    }
}

impl<T: Vocabulary> Serialize for Word<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let entry = T::WORDS.iter().find(|(_, value)| *value == self.0);
        to.serialize_str(entry.map_or("", |(word, _)| word))
    }
}

impl<T: Vocabulary> HasSchema for Word<T> {
    fn schema(_: &mut Schemas) -> Value {
        schema::one_of_words(T::NAMES.iter().copied())
    }
}

/// A base type's encoding, written as a word, or as the number of an encoding without a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EncodingWord(pub BaseEncoding);

impl<'de> Deserialize<'de> for EncodingWord {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct AsEncoding;
        impl Visitor<'_> for AsEncoding {
            type Value = EncodingWord;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a word, or a number from 19 to 255")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<EncodingWord, E> {
                Word::deserialize(text.into_deserializer()).map(|Word(encoding)| EncodingWord(encoding))
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<EncodingWord, E> {
                let known = u8::try_from(number).ok().filter(|&number| number >= BaseEncoding::FIRST_NUMBER);
                let number =
                    known.ok_or_else(|| E::invalid_value(de::Unexpected::Unsigned(number), &self))?;
                Ok(EncodingWord(BaseEncoding::Numbered(number)))
            }
        }
        from.deserialize_any(AsEncoding)
    }
}

impl Serialize for EncodingWord {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            BaseEncoding::Numbered(number) => to.serialize_u8(number),
            encoding => Word(encoding).serialize(to),
        }
    }
}

impl HasSchema for EncodingWord {
    fn schema(to: &mut Schemas) -> Value {
        let number = json!({"type": "integer", "minimum": BaseEncoding::FIRST_NUMBER, "maximum": u8::MAX});
        json!({"anyOf": [Word::<BaseEncoding>::schema(to), number]})
    }
}

/// Vocabulary for a type's variants. A variant without a word does not compile; one with a number comes last.
macro_rules! words { ($($type:ident { $($variant:ident $word:literal),* $(,)? $(; $number:ident)? })*) => { $(
    impl Vocabulary for $type {
        const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$variant)),*];
        const NAMES: &'static [&'static str] = &[$($word),*];
    }

    const _: fn($type) = |value| match value { $($type::$variant => {})* $($type::$number(_) => {})? };
)* } }
words! {
    NamespaceKind {
        Namespace "namespace", Inline "inline", Module "module", CommonBlock "common_block", Namelist "namelist",
    }
    BaseEncoding {
        Address "address", Boolean "boolean", ComplexFloat "complex_float", Float "float",
        BFloat16 "bfloat16", Float8E4M3 "float8_e4m3", Float8E5M2 "float8_e5m2",
        ImaginaryFloat "imaginary_float", DecimalFloat "decimal_float", Signed "signed",
        SignedChar "signed_char", Unsigned "unsigned", UnsignedChar "unsigned_char",
        SignedFixed "signed_fixed", UnsignedFixed "unsigned_fixed", PackedDecimal "packed_decimal",
        NumericString "numeric_string", Edited "edited", Utf "utf", Ucs "ucs", Ascii "ascii"; Numbered
    }
    PointerKind { Pointer "pointer", Reference "reference", RvalueReference "rvalue_reference" }
    Per { Process "process", Thread "thread", Lane "lane" }
    MemorySpace { Global "global", Constant "constant", Group "group", Private "private" }
    Accessibility { Public "public", Protected "protected", Private "private" }
    Passed { ByValue "by_value", ByReference "by_reference" }
    CompositeKind { Struct "structure", Class "class", Union "union" }
    Virtuality { Virtual "virtual", Pure "pure" }
    Defaulted { InClass "in_class", OutOfClass "out_of_class" }
    DescribedCalls { Tail "tail", All "all", Source "source" }
    Qualifier { Const "const", Volatile "volatile", Restrict "restrict", Atomic "atomic" }
    RegionKind {
        Then "then", Else "else", Loop "loop", Switch "switch", Cases "cases", EarlyReturn "early_return",
        Other "other",
    }
    Half { Low "low", High "high" }
    Dialect { Dwarf5 "dwarf5", Llvm "llvm", Legacy "legacy", Dwarf6 "dwarf6" }
    Scaling { Lane "lane", Wave "wave" }
    UnspecifiedRegisters { ByConvention "by_convention", SameValue "same_value" }
}
