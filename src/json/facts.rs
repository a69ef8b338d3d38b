//! Entity properties in both directions, from the rows in [`entities`](crate::model::entities).
//!
//! A row becomes an optional key in each statement that makes or describes the entity. [`facts`] declares a type with
//! the keys of all rows, with `describe`, which sets the properties that are present, and `new`, which reads them from
//! the model. [`kind`] contains the conversions for each kind of row. A property with kind `by T` is the type `T` with
//! hand-written conversions: its [`Property`].

use super::ids::Known;
use super::reader::Reader;
use crate::error::Result;
use crate::model::UnitId;

/// A property with hand-written conversions, for an entity that an `Id` identifies.
pub(super) trait Property<'a, Id>: Sized {
    /// Sets the entity's property.
    fn read(self, reader: &mut Reader<'a>, id: Id, unit: UnitId) -> Result<()>;

    /// Converts the entity's property to JSON; `None` for the default.
    fn write(known: &'a Known<'a>, id: Id) -> Option<Self>;
}

/// What a builder's method returns.
pub(super) trait Outcome {
    fn outcome(self) -> Result<()>;
}

impl<T> Outcome for &mut T {
    fn outcome(self) -> Result<()> {
        Ok(())
    }
}

impl<T> Outcome for Result<T> {
    fn outcome(self) -> Result<()> {
        self.map(drop)
    }
}

/// Conversions for a property kind: `type` in JSON, `read` as the argument to the builder's method, `write` from a
/// model value, and `may` from a field, whose default is not written.
macro_rules! kind {
    (type [flag]) => { bool };
    (type [text]) => { Text<'a> };
    (type [word $type:ty]) => { Word<$type> };
    (type [number $type:ty]) => { $type };
    (type [zero $type:ty]) => { $type };
    (type [long]) => { Number };
    (type [signed]) => { Signed };
    (type [md5]) => { Bytes };
    (type [language]) => { Named<'a> };
    (type [line]) => { Line<'a> };
    (type [type]) => { Ref<'a> };
    (type [function]) => { Ref<'a> };
    (type [variable]) => { Ref<'a> };
    (type [loc]) => { Loc<'a> };
    (type [val]) => { Val<'a> };
    (type [place $at:ident]) => { Loc<'a> };
    (type [length $at:ident]) => { Number };
    (type [attribute $at:ident]) => { AttributeValue<'a> };
    (type [by $type:ty]) => { $type };
    (type [initial $type:ty]) => { $type };

    (read [text] $reader:ident $unit:ident $json:ident) => { &*$json };
    (read [word $type:ty] $reader:ident $unit:ident $json:ident) => { $json.0 };
    (read [number $type:ty] $reader:ident $unit:ident $json:ident) => { $json };
    (read [zero $type:ty] $reader:ident $unit:ident $json:ident) => { $json };
    (read [long] $reader:ident $unit:ident $json:ident) => { $json.0 };
    (read [signed] $reader:ident $unit:ident $json:ident) => { $json.0 };
    (read [md5] $reader:ident $unit:ident $json:ident) => {
        <[u8; 16]>::try_from($json.0).map_err(|bytes: Vec<u8>| {
            Error::bad_argument(format!("MD5 sum has {}; expected 16", Count(bytes.len(), "byte")))
        })?
    };
    (read [language] $reader:ident $unit:ident $json:ident) => {
        $reader.with_key("language", language::read(&$json))?
    };
    (read [line] $reader:ident $unit:ident $json:ident) => { $reader.line($unit, &$json)? };
    (read [type] $reader:ident $unit:ident $json:ident) => { $reader.ty($unit, &$json)? };
    (read [function] $reader:ident $unit:ident $json:ident) => { $reader.names.functions.find($unit, &$json)? };
    (read [variable] $reader:ident $unit:ident $json:ident) => { $reader.variable(&$json)? };
    (read [loc] $reader:ident $unit:ident $json:ident) => { &loc::whole::<model::Loc, _>($reader, $unit, &$json)? };
    (read [val] $reader:ident $unit:ident $json:ident) => { loc::whole::<model::Val, _>($reader, $unit, &$json)? };
    (read [place $at:ident] $reader:ident $unit:ident $json:ident) => {
        &loc::whole::<model::Loc, _>($reader, $unit, &$json)?
    };
    (read [length $at:ident] $reader:ident $unit:ident $json:ident) => { $json.0 };
    (read [attribute $at:ident] $reader:ident $unit:ident $json:ident) => { $json.read($reader, $unit)? };

    (write [text] $known:ident $value:ident) => { $known.text($value) };
    (write [word $type:ty] $known:ident $value:ident) => { Word($value) };
    (write [number $type:ty] $known:ident $value:ident) => { $value };
    (write [long] $known:ident $value:ident) => { Number($value) };
    (write [signed] $known:ident $value:ident) => { Signed($value) };
    (write [md5] $known:ident $value:ident) => { Bytes($value.to_vec()) };
    (write [language] $known:ident $value:ident) => { language::write($value) };
    (write [line] $known:ident $value:ident) => { $known.line($value) };
    (write [type] $known:ident $value:ident) => { $known.type_ref($value) };
    (write [function] $known:ident $value:ident) => { $known.function_ref($value) };
    (write [variable] $known:ident $value:ident) => { $known.variable_ref($value) };
    (write [loc] $known:ident $value:ident) => { loc::written($known, $value) };
    (write [val] $known:ident $value:ident) => { loc::written_number($known, $value) };

    (may [by $type:ty] $known:ident $id:ident) => { Property::write($known, $id) };
    (may [initial $type:ty] $known:ident $id:ident) => { None };
    (may [place $at:ident] $known:ident $id:ident) => { attributes::written_place($known, $id, gimli::$at) };
    (may [length $at:ident] $known:ident $id:ident) => { attributes::written_length($known, $id, gimli::$at) };
    (may [attribute $at:ident] $known:ident $id:ident) => { attributes::written($known, $id, gimli::$at) };
    (may [flag] $known:ident $id:ident $field:expr) => { $field.then_some(true) };
    (may [zero $type:ty] $known:ident $id:ident $field:expr) => { Some($field).filter(|&number| number != 0) };
    (may $kind:tt $known:ident $id:ident $field:expr) => { $field.map(|value| kind!(write $kind $known value)) };
}

/// Declares the type with an entity's properties, and the objects that have these keys in addition to their own keys.
/// `set` says how the builder's methods are called: `[by describe_call]` on an entity's builder, `[by id]` with the id
/// as first argument, or `[by value]` on a value, which the method returns changed.
macro_rules! facts {
    (
        $facts:ident of |$known:ident, $of:ident: $id:ty| $entity:expr, set $set:ty: $how:tt,
        $(object $object:ident $own:tt $own_may:tt)*
        $(
            #[doc = $doc:literal] $kind:tt $since:literal $key:ident
            $(=> $field:ident $(by $method:ident)? $(($attribute:ident $(, spirv $bit:literal)?))?)?
            $(in member => $inner:ident $(($inner_attribute:ident $(, spirv $inner_bit:literal)?))?)?;
        )*
    ) => {
        #[derive(Debug, Default)]
        pub(super) struct $facts<'a> { $(pub $key: Option<kind!(type $kind)>,)* }

        impl<'a> $facts<'a> {
            /// Sets an entity's properties.
            #[allow(unused, clippy::clone_on_copy, reason = "not every entity has properties of each kind")]
            pub fn describe(self, reader: &mut Reader<'a>, id: $set, unit: UnitId) -> Result<()> {
                let Self { $($key),* } = self;
                $(facts!(@set $kind $how reader id unit $key $key $($($method)?)?);)*
                Ok(())
            }

            /// Returns whether all properties have their defaults.
            #[allow(unused, reason = "few statements are left out")]
            pub fn is_empty(&self) -> bool {
                true $(&& self.$key.is_none())*
            }

            /// Converts an entity's properties to JSON.
            #[allow(unused, reason = "not every entity has properties of each kind")]
            pub fn new($known: &'a Known<'a>, $of: $id) -> Self {
                let entity = $entity;
                Self { $($key: kind!(may $kind $known $of $(entity.$field)? $(entity.member.$inner)?),)* }
            }
        }

        facts! {
            @objects $facts { $(#[doc = $doc] [$since] $key: kind!(type $kind),)* } $({ $object $own $own_may })*
        }
    };
    (@objects $facts:ident $properties:tt $({ $object:ident $own:tt $own_may:tt })*) => {
        $(facts! { @object $object $own $own_may $facts $properties })*
    };
    (
        @object $object:ident { $($own:tt)* } { $($may:ident: $may_type:ty),* $(,)? }
        $facts:ident { $(#[doc = $doc:literal] [$since:literal] $key:ident: $type:ty,)* }
    ) => {
        objects! {
            $object { $($own)* } { $($may: $may_type,)* $(#[doc = $doc] [$since] $key: $type),* }
        }

        impl<'a> $object<'a> {
            /// Takes the properties out of the object.
            pub fn facts(&mut self) -> $facts<'a> {
                $facts { $($key: self.$key.take(),)* }
            }

            /// Puts properties into the object.
            #[allow(dead_code, reason = "a few objects are only read")]
            pub fn with(mut self, facts: $facts<'a>) -> Self {
                $(self.$key = facts.$key;)*
                self
            }
        }
    };

    (@set [initial $type:ty] $($rest:tt)*) => {};
    (@set [by $type:ty] $how:tt $reader:ident $id:ident $unit:ident $json:ident $($rest:tt)*) => {
        if let Some(json) = $json { Property::read(json, $reader, $id, $unit)?; }
    };
    (@set $kind:tt $how:tt $reader:ident $id:ident $unit:ident $json:ident $key:ident $method:ident) => {
        facts!(@set $kind $how $reader $id $unit $json $method)
    };
    (@set [flag] $how:tt $reader:ident $id:ident $unit:ident $json:ident $method:ident) => {
        if $json == Some(true) { facts!(@call $how $reader $id $method()); }
    };
    (@set $kind:tt $how:tt $reader:ident $id:ident $unit:ident $json:ident $method:ident) => {
        if let Some(json) = $json {
            let value = kind!(read $kind $reader $unit json);
            facts!(@call $how $reader $id $method(value));
        }
    };
    (@call [by id] $reader:ident $id:ident $method:ident($($value:ident)?)) => {
        $reader.builder.$method($id, $($value)?).outcome()?
    };
    (@call [by value] $reader:ident $id:ident $method:ident($($value:ident)?)) => {
        *$id = $id.clone().$method($($value)?)
    };
    (@call [by $describe:ident] $reader:ident $id:ident $method:ident($($value:ident)?)) => {
        $reader.builder.$describe($id)?.$method($($value)?).outcome()?
    };
}
pub(super) use {facts, kind};
