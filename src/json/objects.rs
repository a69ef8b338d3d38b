//! The format's objects: required keys, then optional keys. The macro declares the type with its reading, writing and
//! schema, so that a key's documentation is also its description in the schema.

use core::marker::PhantomData;

/// Lifetime of the text or module, which an object has even without a borrowed field.
pub(super) type Life<'a> = PhantomData<&'a ()>;

/// Declares objects. `[since]` is the first format version with the key.
macro_rules! objects { ($(
    $(#[$doc:meta])*
    $name:ident { $($field:ident: $type:ty),* $(,)? } {
        $($(#[doc = $about:literal])? $([$since:literal])? $may:ident: $may_type:ty),* $(,)?
    }
)*) => { $(
    $(#[$doc])*
    #[derive(Debug, serde::Serialize, serde::Deserialize)]
    #[serde(remote = "Self", expecting = "an object", deny_unknown_fields, bound(deserialize = "'de: 'a"))]
    pub(in crate::json) struct $name<'a> {
        $(pub $field: $type,)*
        $(
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub $may: Option<$may_type>,
        )*
        #[serde(skip)]
        pub life: $crate::json::objects::Life<'a>,
    }

    impl<'a> $name<'a> {
        /// Returns an object with the required keys alone.
        #[allow(dead_code, reason = "each object has it, and a few are only read")]
        pub fn new($($field: $type),*) -> Self {
            Self { $($field,)* $($may: None,)* life: Default::default() }
        }
    }

    impl<'de: 'a, 'a> serde::Deserialize<'de> for $name<'a> {
        #[inline]
        fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            Self::deserialize($crate::json::shape::Shaped(from))
        }
    }

    impl serde::Serialize for $name<'_> {
        fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
            Self::serialize(self, to)
        }
    }

    impl<'a> $crate::json::schema::HasSchema for $name<'a> {
        fn schema(to: &mut $crate::json::schema::Schemas) -> serde_json::Value {
            use $crate::json::schema::{self, HasSchema};
            to.named(stringify!($name), |to| schema::object([
                $((schema::key(stringify!($field)), <$type as HasSchema>::schema(to), false),)*
                $((
                    schema::key(stringify!($may)),
                    schema::about(<$may_type as HasSchema>::schema(to), concat!($($about)?), concat!($($since)?)),
                    true,
                ),)*
            ]))
        }
    }
)* } }
pub(super) use objects;
