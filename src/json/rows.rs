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

/// Properties of a statement or an object without any.
pub(super) trait NoFacts: Sized {
    /// Reads nothing.
    fn of<Of>(_: &Known<'_>, _: Of) {}

    /// Sets nothing.
    fn describe<Id, Unit>(self, _: &mut Reader<'_>, _: Id, _: Unit) -> Result<()> {
        Ok(())
    }
}

impl NoFacts for () {}

/// Sets a property that is present.
macro_rules! set {
    ([initial $type:ty] $($rest:tt)*) => {};
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
    ([initial $type:ty] $known:ident $id:ident) => { None };
    ([by $type:ty] $known:ident $id:ident) => { Property::write($known, $id) };
    ($kind:tt $known:ident $id:ident $($field:ident).+) => { kind!(may $kind $known $($field).+) };
}

/// The [properties](crate::model::entities) of an entity, which several statements have besides their own fields. The
/// properties have a type of their own, which is applied to the builder and written from the model. `object` declares
/// one that is part of a statement, and `statements` those of the entity, by [`makes`].
macro_rules! facts { (
    $facts:ident of |$known:ident, $of:ident: $id:ty| $entity:expr, set $set:ty: $how:tt,
    $(object $object:ident { $($own:ident: $own_type:ty),* } { $($own_may:ident: $own_may_type:ty),* })*
    $(statements $group:tt)*
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

    facts! { @of $facts { $(#[doc = $doc] [$since] $key: kind!(type $kind),)* }
        [$({ $object { $($own: $own_type),* } { $($own_may: $own_may_type),* } })*] [$($group)*] }
};
    (@of $facts:ident $properties:tt [$({ $($object:tt)* })*] [$($group:tt)*]) => {
        $(declare! { $($object)* with $facts $properties })*
        $(makes! { $group with $facts<'m> [$facts $properties] })*
    };
}

/// Declares a statement or an object, with properties or without.
macro_rules! declare {
    ($object:ident { $($own:tt)* } { $($may:tt)* } with none {}) => {
        objects! { $object { $($own)* } { $($may)* } }

        impl<'a> $object<'a> {
            #[allow(dead_code, reason = "each statement has it")]
            pub fn facts(&mut self) {}

            #[allow(dead_code, reason = "each statement has it")]
            pub fn with(self, (): ()) -> Self {
                self
            }
        }
    };
    (
        $object:ident { $($own:tt)* } { $($may:ident: $may_type:ty),* $(,)? }
        with $facts:ident { $(#[doc = $doc:literal] [$since:literal] $key:ident: $type:ty,)* }
    ) => {
        objects! {
            $object { $($own)* } { $($may: $may_type,)* $(#[doc = $doc] [$since] $key: $type),* }
        }

        impl<'a> $object<'a> {
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
    };
}

/// Statements that make or describe an entity, for both directions. The heading names the reader, the owner and the
/// owner's unit; the function that writes a statement, with its subject; the key of the [owner](owner); and the method
/// that registers the entity. A row has:
///
/// * the statement, perhaps `with id`, with its required and optional keys, and perhaps `+` a choice between keys, of
///   which [`alternatives`](super::choices) has the rows;
/// * the subject as a pattern, with a value for each key;
/// * the method of the builder and its arguments after the owner, or an expression in braces; the key that an error
///   concerns, and the key with the name of the entity.
///
/// Without braces around the group, the statements have no properties.
macro_rules! makes {
    (|$($group:tt)*) => { makes! { { |$($group)* } with () [none {}] } };
    (
        {
            |$reader:ident, $owner:ident, $unit:ident|
            $(#[$doc:meta])*
            $write:ident of $subject:ty, in $owner_key:tt, $named:ident $(, none for { $others:pat })?;
            $($statement:ident $(with $id:ident)? { $($field:ident: $as:tt),* } { $($may:ident: $may_as:tt),* }
                $(+ $chosen:ident { $($choice:ident: $choice_as:tt),* })?
                $pattern:pat => $($method:ident($($argument:expr),*))? $({ $($make:tt)* })?
                $(at $key:literal)? $(named by $name:ident)?;)*
        }
        with $facts:ty [$with:ident $properties:tt]
    ) => {
        $(declare! {
            $statement { $owner_key: Ref<'a>, $($field: kind!(type $as)),* } {
                $($($choice: kind!(type $choice_as),)*)? $($may: kind!(type $may_as),)* $($id: Text<'a>)?
            } with $with $properties
        })*

        $(impl<'a> $statement<'a> {
            /// Makes or describes the entity.
            #[allow(unused, reason = "not every statement has names and alternatives")]
            pub fn apply(mut self, $reader: &mut Reader<'a>) -> Result<()> {
                let owner = owner!(read $owner_key $reader self);
                let $unit = owner.1;
                let $owner = owner.0;
                $(let $chosen = self.choose($reader, $unit)?;)?
                let facts = self.facts();
                $(let $field = kind!(read $as $reader $unit self.$field);)*
                $(let $may = kind!(may_read $may_as $reader $unit self.$may);)*
                $(let made = $reader.builder.$method($owner, $($argument),*);)?
                $(let made: Result<_> = Ok({ $($make)* });)?
                $(let made = $reader.of_key($key, made);)?
                let made = made?;
                $reader.$named(made, None $(.or(self.$id.as_ref()))?, None $(.or(self.$name.name()))?)?;
                facts.describe($reader, made, $unit)
            }
        })*

        $(#[$doc])*
        #[allow(unused, reason = "not every statement has ids")]
        pub(super) fn $write<'m>(
            known: &'m Known<'m>,
            owner: Ref<'m>,
            id: Option<Text<'m>>,
            of: $subject,
            facts: $facts,
        ) -> written!([$($others)?] type Statement<'m>) {
            written!([$($others)?] match of {
                $($pattern => {
                    let json = $statement::new(owner, $(kind!(write $as known (*$field))),*).with(facts);
                    $(let json = json.chosen(known, $chosen);)?
                    Statement::$statement($statement {
                        $($may: kind!(may $may_as known (*$may)),)*
                        $($id: id,)?
                        ..json
                    })
                })*
                $($others => return None,)?
            })
        }
    };
}

/// Objects with properties that make a value for the builder, for both directions. A row has the object with its
/// required keys, the value of the model as a pattern, and that for the builder; then perhaps the key of the name, and
/// perhaps the value that is chosen by properties, with rows of [`alternatives`](super::choices).
macro_rules! parts { (
    |$reader:ident, $unit:ident| $model:ty => $made:ty, with $facts:ty;
    $($object:ident { $($field:ident: $as:tt),* } $pattern:pat => $make:expr
        $(, named by $name:ident)? $(, where $chosen:ident is chosen)?;)*
) => { $(
    impl<'a> $object<'a> {
        /// Makes the value for the builder.
        #[allow(unused, reason = "not every object has a name, a choice and references")]
        pub fn read(&mut self, $reader: &mut Reader<'a>, $unit: UnitId) -> Result<$made> {
            let mut facts = self.facts();
            $(let $chosen = facts.choose($reader, $unit)?;)?
            $(self.$name = facts.$name.take();)?
            $(let $field = kind!(read $as $reader $unit self.$field);)*
            $(let $name = self.$name.as_deref().unwrap_or_default();)?
            let mut made = $make;
            facts.describe($reader, &mut made, $unit)?;
            Ok(made)
        }

        /// Converts a value of the model to JSON.
        #[allow(unused, reason = "not every object has a name")]
        pub fn write(known: &'a Known<'a>, value: &$model) -> Self {
            let mut facts = <$facts>::of(known, value);
            $(let $chosen = (); let mut facts = facts.chosen(known, value);)?
            let $pattern = value;
            $(facts.$name = kind!(may [text] known (*$name));)?
            $object::new($(kind!(write $as known (*$field))),*).with(facts)
        }
    }
)* } }

/// A property that is not a field of its entity, for both directions: a value, or an object of several. A value has its kind,
/// that of the model, or `None`, and the method of the builder that sets it.
macro_rules! property {
    (
        $(#[$doc:meta])*
        object $object:ident of |$known:ident, $of:ident: $id:ty| by $describe:ident
        { $($key:ident: $kind:tt = $value:expr => $method:ident;)* }
    ) => {
        objects! { $(#[$doc])* $object {} { $($key: kind!(type $kind)),* } }

        impl<'a> Property<'a, $id> for $object<'a> {
            #[allow(unused, reason = "not every object has names")]
            fn read(self, reader: &mut Reader<'a>, id: $id, unit: UnitId) -> Result<()> {
                let Self { $($key,)* .. } = self;
                $(set!($kind [by $describe] reader id unit $key $method);)*
                Ok(())
            }

            fn write($known: &'a Known<'a>, $of: $id) -> Option<Self> {
                let mut object = Self::new();
                $(object.$key = kind!(may $kind $known $value);)*
                let is_default = true $(&& object.$key.is_none())*;
                (!is_default).then_some(object)
            }
        }
    };
    (
        $(#[$doc:meta])*
        value $kind:tt of |$known:ident, $of:ident: $id:ty| by $describe:ident = $value:expr => $method:ident
        $(, blamed as $blame:ident at $key:literal)?
    ) => {
        $(#[$doc])*
        impl<'a> Property<'a, $id> for kind!(type $kind) {
            #[allow(unused, reason = "not every value has names")]
            fn read(self, reader: &mut Reader<'a>, id: $id, unit: UnitId) -> Result<()> {
                let json = Some(self);
                set!($kind [by $describe] reader id unit json $method);
                $(
                    let sought = reader.seek(|blame| *blame == Blame::$blame(id));
                    reader.of_key($key, sought)?;
                )?
                Ok(())
            }

            fn write($known: &'a Known<'a>, $of: $id) -> Option<Self> {
                kind!(may $kind $known $value)
            }
        }
    };
}

/// The result of a function that writes a statement: an option, if some are written by hand.
macro_rules! written {
    ([] type $type:ty) => { $type };
    ([$others:pat] type $type:ty) => { Option<$type> };
    ([] $statement:expr) => { $statement };
    ([$others:pat] $statement:expr) => { Some($statement) };
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

/// Conversion of the key that begins a statement: returns the entity that has the new one, or that is described, and the
/// unit in which names are found.
macro_rules! owner {
    (read unit $reader:ident $json:ident) => {{
        let unit = $reader.unit(&$json.unit)?;
        (unit, unit)
    }};
    (read name $reader:ident $json:ident) => {{
        let unit = $reader.builder.unit(&$json.name);
        (unit, unit)
    }};
    (read r#in $reader:ident $json:ident) => {{
        let scope = $reader.scope(&$json.r#in)?;
        (scope, $reader.unit_of(scope))
    }};
    (read scope $reader:ident $json:ident) => {{
        let scope = $reader.scope(&$json.scope)?;
        (scope, $reader.unit_of(scope))
    }};
    (read function $reader:ident $json:ident) => {
        $reader.function(&$json.function)?
    };
    (read variable $reader:ident $json:ident) => {{
        let variable = $reader.names.variables.find((), &$json.variable)?;
        (variable, $reader.unit_of($reader.builder.described().variable(variable).scope))
    }};
    (read call $reader:ident $json:ident) => {{
        let call = $reader.names.calls.find((), &$json.call)?;
        (call, $reader.unit_of($reader.builder.described().call(call).scope))
    }};
    (read part $reader:ident $json:ident) => {
        ($reader.names.parts.find((), &$json.part)?, ())
    };
}

pub(super) use {call, declare, facts, makes, owner, parts, property, set, to_json, values, written};
