//! Enumerations with a message text for each variant.

/// Declares an enumeration, with a text for each variant. `NAME(value)` declares an enumeration whose texts contain
/// `{value}`, which the caller of `write_text` supplies; without it, the enumeration implements `Display`.
#[doc(hidden)]
#[macro_export]
macro_rules! texts {
    ($(#[$doc:meta])* $enum:ident $(: $($derive:ident),*)?; $($variants:tt)*) => {
        $crate::texts! { $(#[$doc])* $enum(_object) $(: $($derive),*)?; $($variants)* }

        impl core::fmt::Display for $enum {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                self.write_text(f, "")
            }
        }
    };
    (
        $(#[$doc:meta])* $enum:ident($object:ident) $(: $($derive:ident),*)?;
        $($(#[$cfg:meta])* $name:ident $(($($field:ident: $type:ty),*))? $text:literal $(, $argument:expr)*;)*
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq $($(, $derive)*)?)]
        #[non_exhaustive]
        pub enum $enum {
            $(#[doc = concat!("Message text: \"", $text, "\".")] $(#[$cfg])* $name $(($($type),*))?,)*
        }

        impl $enum {
            fn write_text(&self, f: &mut core::fmt::Formatter<'_>, $object: &str) -> core::fmt::Result {
                match self { $($(#[$cfg])* Self::$name $(($($field),*))? => write!(f, $text $(, $argument)*),)* }
            }
        }
    };
}
