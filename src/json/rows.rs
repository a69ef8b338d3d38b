//! Rows of statements and their parts. A row has the keys with their [kinds](super::kinds), and what they are in the
//! model and for the builder: it describes both reading and writing.

use super::ids::Known;
use super::read::Reader;
use super::values::Text;
use crate::error::Result;
use crate::model::UnitId;

/// A property with conversions of its own, of an entity that an `Id` identifies.
pub(super) trait Property<'a, Id>: Sized {
    /// Sets the property of an entity.
    fn read(self, reader: &mut Reader<'a>, id: Id, unit: UnitId) -> Result<()>;

    /// Converts the property of an entity to JSON; `None` for the default.
    fn write(known: &'a Known<'a>, id: Id) -> Option<Self>;
}

/// A required or optional key with a name.
pub(super) trait Name<'a> {
    /// Returns the name, if any.
    fn name(&self) -> Option<&Text<'a>>;
}

impl<'a> Name<'a> for Text<'a> {
    fn name(&self) -> Option<&Text<'a>> {
        Some(self)
    }
}

impl<'a> Name<'a> for Option<Text<'a>> {
    fn name(&self) -> Option<&Text<'a>> {
        self.as_ref()
    }
}

/// Result of a builder's method.
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

/// Sets a property that is present.
macro_rules! set {
    ([own $type:ty] $($rest:tt)*) => {};
    ([by $type:ty] $how:tt $reader:ident $id:ident $unit:ident $json:ident $($rest:tt)*) => {
        if let Some(json) = $json { Property::read(json, $reader, $id, $unit)?; }
    };
    ($kind:tt $how:tt $reader:ident $id:ident $unit:ident $json:ident $key:ident $method:ident) => {
        set!($kind $how $reader $id $unit $json $method)
    };
    ([flag] $how:tt $reader:ident $id:ident $unit:ident $json:ident $method:ident) => {
        if $json == Some(true) { call!($how $reader $id $method()); }
    };
    ($kind:tt $how:tt $reader:ident $id:ident $unit:ident $json:ident $method:ident) => {
        if let Some(json) = $json {
            let value = kind!(read $kind $reader $unit json);
            call!($how $reader $id $method(value));
        }
    };
}

/// Calls the method that sets a property: of the builder of an entity, `[by describe_call]`; of
/// [`Builder`](crate::build::Builder) with an id, `[by id]`; or one that returns the changed value,
/// `[by value]` or, where it cannot be copied, `[by clone]`.
macro_rules! call {
    ([by id] $reader:ident $id:ident $method:ident($($value:ident)?)) => {
        $reader.builder.$method($id, $($value)?).outcome()?
    };
    ([by clone] $reader:ident $id:ident $method:ident($($value:ident)?)) => { *$id = $id.clone().$method($($value)?) };
    ([by value] $reader:ident $id:ident $method:ident($($value:ident)?)) => { *$id = $id.$method($($value)?) };
    ([by $describe:ident] $reader:ident $id:ident $method:ident($($value:ident)?)) => {
        $reader.builder.$describe($id)?.$method($($value)?).outcome()?
    };
}

/// Converts a property of the model to JSON.
macro_rules! to_json {
    ([own $type:ty] $known:ident $id:ident) => { None };
    ([by $type:ty] $known:ident $id:ident) => { Property::write($known, $id) };
    ($kind:tt $known:ident $id:ident $($field:ident).+) => { kind!(may $kind $known $($field).+) };
}

/// The [properties](crate::model::entities) of an entity, which several statements have besides their own fields. As a
/// type of their own they are applied to the builder and written from the model.
macro_rules! facts { (
    $facts:ident of |$known:ident, $of:ident: $id:ty| $entity:expr, set $set:ty: $how:tt, in {
        $($statement:ident { $($own:ident: $own_type:ty),* } { $($own_may:ident: $own_may_type:ty),* })*
    }
    $(
        #[doc = $doc:literal] $kind:tt $since:literal $key:ident
        $(=> $field:ident $(by $method:ident)? $(($attribute:ident $(, spirv $bit:literal)?))?)?
        $(in member => $inner:ident $(($inner_attribute:ident $(, spirv $inner_bit:literal)?))?)?;
    )*
) => {
    #[derive(Debug, Default)]
    pub(super) struct $facts<'a> { $(pub $key: Option<kind!(type $kind)>,)* }

    impl<'a> $facts<'a> {
        /// Sets the properties of an entity.
        #[allow(unused, reason = "not every entity has properties of each kind")]
        pub fn describe(self, reader: &mut Reader<'a>, id: $set, unit: UnitId) -> Result<()> {
            let Self { $($key),* } = self;
            $(set!($kind $how reader id unit $key $key $($($method)?)?);)*
            Ok(())
        }

        /// Whether all properties have their defaults.
        #[allow(unused, reason = "few statements are left out")]
        pub fn is_empty(&self) -> bool {
            true $(&& self.$key.is_none())*
        }

        /// Reads the properties of an entity from the model.
        #[allow(unused, reason = "not every entity has properties of each kind")]
        pub fn of($known: &'a Known<'a>, $of: $id) -> Self {
            let entity = $entity;
            Self { $($key: to_json!($kind $known $of $(entity.$field)? $(entity.member.$inner)?),)* }
        }
    }

    facts! { @each [$($statement { $($own: $own_type),* } { $($own_may: $own_may_type),* })*]
        $facts { $(#[doc = $doc] [$since] $key: kind!(type $kind),)* } }
};
    (@each [] $($facts:tt)*) => {};
    (@each
        [$statement:ident { $($own:ident: $own_type:ty),* } { $($own_may:ident: $own_may_type:ty),* } $($rest:tt)*]
        $facts:ident { $(#[doc = $doc:literal] [$since:literal] $key:ident: $type:ty,)* }
    ) => {
        objects! {
            $statement { $($own: $own_type),* } {
                $($own_may: $own_may_type,)* $(#[doc = $doc] [$since] $key: $type),*
            }
        }

        impl<'a> $statement<'a> {
            /// Takes the properties out of the statement.
            #[allow(dead_code, reason = "each statement has it")]
            pub fn facts(&mut self) -> $facts<'a> {
                $facts { $($key: self.$key.take(),)* }
            }

            /// Puts properties into the statement.
            #[allow(dead_code, reason = "each statement has it")]
            pub fn with(mut self, facts: $facts<'a>) -> Self {
                $(self.$key = facts.$key;)*
                self
            }
        }

        facts! { @each [$($rest)*] $facts { $(#[doc = $doc] [$since] $key: $type,)* } }
    };
}

/// Objects with the fields of a value of the model. A row has a key with its kind, and the field. The value at the end
/// has the other fields.
macro_rules! values { ($(
    $(#[$doc:meta])*
    $name:ident of $model:path { $($key:ident: $kind:tt => $field:ident),* $(,)? } {
        $($(#[doc = $about:literal])? $may:ident: $may_kind:tt => $may_field:ident),* $(,)?
    } $(..$rest:ident)?
)*) => { $(
    objects! {
        $(#[$doc])*
        $name { $($key: kind!(type $kind)),* } { $($(#[doc = $about])? $may: kind!(type $may_kind)),* }
    }

    impl<'a> $name<'a> {
        /// Makes the value of the model.
        pub fn value(&self $(, $rest: $model)?) -> $model {
            $model {
                $($field: kind!(read $kind reader unit self.$key),)*
                $($may_field: kind!(may_read $may_kind reader unit self.$may),)*
                $(..$rest)?
            }
        }

        /// Reads the fields of a value of the model.
        pub fn of(value: &$model) -> Self {
            Self {
                $($key: kind!(write $kind known value.$field),)*
                $($may: kind!(may $may_kind known value.$may_field),)*
                life: Default::default(),
            }
        }

        /// Whether all optional fields have their defaults.
        #[allow(dead_code, reason = "each object has it")]
        pub fn is_empty(&self) -> bool {
            true $(&& self.$may.is_none())*
        }
    }
)* } }

/// Conversions of the owner of an entity, which is the unit of a type and the enclosing scope of others: `read` returns
/// the owner, and the unit in which names are found.
macro_rules! owner {
    (read unit $reader:ident $json:ident) => {{
        let unit = $reader.unit(&$json.unit)?;
        (unit, unit)
    }};
    (read r#in $reader:ident $json:ident) => {{
        let scope = $reader.scope(&$json.r#in)?;
        (scope, $reader.unit_of(scope))
    }};
}

/// Statements whose fields alone make an entity. A row has the statement with its required and optional keys, perhaps
/// [alternatives](super::choices) between further keys, the entity in the model, and the method of the builder with its
/// arguments, for both directions.
macro_rules! plain { (
    $(#[$doc:meta])*
    $write:ident of $subject:ty, in $owner:tt, $named:ident {
        $($statement:ident { $($field:ident: $as:tt),* } { $($may:ident: $may_as:tt),* }
            $(+ $chosen:ident { $($choice:ident: $choice_as:tt),* })?
            $pattern:pat => $method:ident($($argument:expr),*) $(at $key:literal)? $(named by $name:ident)?;)*
    }
    $($others:pat => by hand)?
) => {
    objects! { $(
        $statement { $owner: Ref<'a>, $($field: kind!(type $as)),* } {
            $($($choice: kind!(type $choice_as),)*)? $($may: kind!(type $may_as),)* id: Text<'a>
        }
    )* }

    $(impl<'a> $statement<'a> {
        /// Makes the entity.
        #[allow(unused, reason = "not every statement has names and alternatives")]
        pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
            let (owner, unit) = owner!(read $owner reader self);
            $(let $chosen = self.choose(reader, unit)?;)?
            $(let $field = kind!(read $as reader unit self.$field);)*
            $(let $may = kind!(may_read $may_as reader unit self.$may);)*
            let made = reader.builder.$method(owner, $($argument),*);
            $(let made = reader.of_key($key, made);)?
            reader.$named(made?, self.id.as_ref(), None $(.or(self.$name.name()))?)
        }
    })*

    $(#[$doc])*
    pub(super) fn $write<'m>(
        known: &'m Known<'m>,
        owner: Ref<'m>,
        id: Option<Text<'m>>,
        of: $subject,
    ) -> Option<Statement<'m>> {
        Some(match of {
            $($pattern => Statement::$statement($statement {
                $owner: owner,
                $($field: kind!(write $as known (*$field)),)*
                $($may: kind!(may $may_as known (*$may)),)*
                $($($choice: None,)*)?
                id,
                life: Default::default(),
            } $(.chosen(known, $chosen))?),)*
            $($others => return None,)?
        })
    }
} }

pub(super) use {call, facts, owner, plain, set, to_json, values};
