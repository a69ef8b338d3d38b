//! Enumerations whose variants have a text each: one table.

/// Declares an enumeration, with the text of each variant.
macro_rules! texts { (
    $(#[$doc:meta])* $enum:ident $(: $($derive:ident),*)?;
    $($name:ident $(($($field:ident: $type:ty),*))? $text:literal $(, $argument:expr)*;)*
) => {
    $(#[$doc])*
    #[derive(Debug, Clone, PartialEq, Eq $($(, $derive)*)?)]
    #[non_exhaustive]
    pub enum $enum {
        $(#[doc = concat!("Message text: \"", $text, "\".")] $name $(($($type),*))?,)*
    }

    impl core::fmt::Display for $enum {
        fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
            match self { $(Self::$name $(($($field),*))? => write!(f, $text $(, $argument)*),)* }
        }
    }
} }

pub(super) use texts;
