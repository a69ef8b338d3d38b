//! Kinds of properties of the [tables](crate::model::entities): one entry describes both reading and writing.

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

/// Conversions of a kind: `type` in JSON, `read` as an argument of the builder's method, `write` from a value of the
/// model, and `may` from a field, whose default is not written.
macro_rules! kind {
    (type [flag]) => { bool };
    (may_read [flag] $reader:ident $unit:ident $json:expr) => { $json == Some(true) };
    (may [flag] $known:ident $field:expr) => { $field.then_some(true) };

    (type [maybe_flag]) => { bool };
    (may_read [maybe_flag] $reader:ident $unit:ident $json:expr) => { $json };
    (may [maybe_flag] $known:ident $field:expr) => { $field.then_some(true) };

    (type [negated]) => { bool };
    (may_read [negated] $reader:ident $unit:ident $json:expr) => { $json != Some(true) };
    (may [negated] $known:ident $field:expr) => { (!$field).then_some(true) };

    (type [text]) => { Text<'a> };
    (read [text] $reader:ident $unit:ident $json:expr) => { &*$json };
    (may_read [text] $reader:ident $unit:ident $json:expr) => { $json.as_deref() };
    (write [text] $known:ident $value:expr) => { $known.text($value) };

    (type [owned text]) => { Text<'a> };
    (read [owned text] $reader:ident $unit:ident $json:expr) => { $json.to_string().into() };
    (write [owned text] $known:ident $value:expr) => { Text($value.to_string().into()) };

    (type [maybe_empty text]) => { Text<'a> };
    (read [maybe_empty text] $reader:ident $unit:ident $json:expr) => { &*$json };
    (write [maybe_empty text] $known:ident $value:expr) => { $value.map_or("".into(), |text| $known.text(text)) };

    (type [word $type:ty]) => { Word<$type> };
    (read [word $type:ty] $reader:ident $unit:ident $json:expr) => { $json.0 };
    (write [word $type:ty] $known:ident $value:expr) => { Word($value) };

    (may_read [word $type:ty] $reader:ident $unit:ident $json:expr) => { $json.map(|Word(value)| value) };

    (type [default $type:ty]) => { Word<$type> };
    (may_read [default $type:ty] $reader:ident $unit:ident $json:expr) => {
        $json.map_or_else(<$type>::default, |Word(value)| value)
    };
    (may [default $type:ty] $known:ident $field:expr) => {
        Some(Word($field)).filter(|Word(value)| *value != <$type>::default())
    };

    (type [space]) => { Named<'a> };
    (may_read [space] $reader:ident $unit:ident $json:expr) => {
        $json.map_or(Ok(SpaceId::DEFAULT), |space| $reader.space(&space))?
    };
    (may [space] $known:ident $field:expr) => {
        Some($field).filter(|&space| space != SpaceId::DEFAULT).map(|space| $known.space(space))
    };

    (type [number $type:ty]) => { $type };
    (read [number $type:ty] $reader:ident $unit:ident $json:expr) => { $json };
    (may_read [number $type:ty] $reader:ident $unit:ident $json:expr) => { $json };
    (write [number $type:ty] $known:ident $value:expr) => { $value };

    (type [zero $type:ty]) => { $type };
    (read [zero $type:ty] $reader:ident $unit:ident $json:expr) => { $json };
    (may_read [zero $type:ty] $reader:ident $unit:ident $json:expr) => { $json.unwrap_or(0) };
    (may [zero $type:ty] $known:ident $field:expr) => { Some($field).filter(|&number| number != 0) };

    (type [long]) => { Number };
    (read [long] $reader:ident $unit:ident $json:expr) => { $json.0 };
    (write [long] $known:ident $value:expr) => { Number($value) };

    (type [zero_long]) => { Number };
    (may_read [zero_long] $reader:ident $unit:ident $json:expr) => { $json.map_or(0, |Number(number)| number) };
    (may [zero_long] $known:ident $field:expr) => { Some(Number($field)).filter(|&Number(number)| number != 0) };

    (type [maybe_long]) => { Number };
    (may_read [maybe_long] $reader:ident $unit:ident $json:expr) => { $json.map(|Number(number)| number) };
    (may [maybe_long] $known:ident $field:expr) => { $field.map(Number) };

    (type [counts]) => { Vec<Option<Number>> };
    (read [counts] $reader:ident $unit:ident $json:expr) => {
        $json.into_iter().map(|count| count.map_or_else(Extent::unknown, |count| Extent::fixed(count.0))).collect()
    };
    (write [counts] $known:ident $value:expr) => {
        $value
            .iter()
            .map(|dimension| match dimension.count {
                Count::Fixed(count) => Some(Number(count)),
                _ => None,
            })
            .collect()
    };

    (type [extents]) => { Vec<ExtentOf<'a>> };
    (read [extents] $reader:ident $unit:ident $json:expr) => {
        $json.into_iter().map(|json| json.read($reader, $unit)).collect::<Result<_>>()?
    };
    (write [extents] $known:ident $value:expr) => {
        $value.iter().map(|value| ExtentOf::write($known, value)).collect()
    };

    (type [enumerators]) => { Vec<(Text<'a>, Integer)> };
    (read [enumerators] $reader:ident $unit:ident $json:expr) => {
        &$json.iter().map(|(name, Integer(value))| (&**name, *value)).collect::<Vec<_>>()
    };
    (write [enumerators] $known:ident $value:expr) => {
        $value.iter().map(|&(name, value)| ($known.text(name), Integer(value))).collect()
    };

    (type [pcs]) => { Vec<Pcs> };
    (read [pcs] $reader:ident $unit:ident $json:expr) => {
        &$json.iter().map(|(start, end)| start.0..end.0).collect::<Vec<_>>()
    };
    (write [pcs] $known:ident $value:expr) => {
        $value.iter().map(|pcs| (Number(pcs.start), Number(pcs.end))).collect()
    };

    (type [space_id]) => { u32 };
    (read [space_id] $reader:ident $unit:ident $json:expr) => { SpaceId($json) };
    (write [space_id] $known:ident $value:expr) => { $value.0 };

    (type [relocations]) => { (u32, u32, u32) };
    (read [relocations] $reader:ident $unit:ident $json:expr) => {
        Relocations { abs32: $json.0, abs64: $json.1, relative32: $json.2 }
    };
    (may_read [relocations] $reader:ident $unit:ident $json:expr) => {{
        let json = $json.unwrap_or_default();
        kind!(read [relocations] $reader $unit json)
    }};
    (write [relocations] $known:ident $value:expr) => { ($value.abs32, $value.abs64, $value.relative32) };
    (may [relocations] $known:ident $value:expr) => {
        Some(kind!(write [relocations] $known $value)).filter(|json| *json != (0, 0, 0))
    };

    (type [signed]) => { Signed };
    (read [signed] $reader:ident $unit:ident $json:expr) => { $json.0 };
    (write [signed] $known:ident $value:expr) => { Signed($value) };

    (type [bytes]) => { Number };
    (read [bytes] $reader:ident $unit:ident $json:expr) => { $json.0 };
    (write [bytes] $known:ident $bits:expr) => { Number($bits / 8) };

    (type [md5]) => { Bytes };
    (read [md5] $reader:ident $unit:ident $json:expr) => {
        <[u8; 16]>::try_from($json.0).map_err(|_| Error::bad_argument("an MD5 sum has 16 bytes"))?
    };
    (write [md5] $known:ident $value:expr) => { Bytes($value.to_vec()) };

    (type [language]) => { Named<'a> };
    (read [language] $reader:ident $unit:ident $json:expr) => {
        $reader.of_key("language", language::read(&$json))?
    };
    (write [language] $known:ident $value:expr) => { language::write($value) };

    (type [line]) => { Line<'a> };
    (read [line] $reader:ident $unit:ident $json:expr) => { $reader.line($unit, &$json)? };
    (write [line] $known:ident $value:expr) => { $known.line($value) };

    (type [type]) => { Ref<'a> };
    (read [type] $reader:ident $unit:ident $json:expr) => { $reader.ty($unit, &$json)? };
    (may_read [type] $reader:ident $unit:ident $json:expr) => { $reader.maybe_type($unit, $json.as_ref())? };
    (write [type] $known:ident $value:expr) => { $known.type_ref($value) };

    (type [optional type]) => { Option<Ref<'a>> };
    (read [optional type] $reader:ident $unit:ident $json:expr) => { $reader.maybe_type($unit, $json.as_ref())? };
    (write [optional type] $known:ident $value:expr) => { $value.map(|ty| $known.type_ref(ty)) };

    (type [types]) => { Vec<Ref<'a>> };
    (read [types] $reader:ident $unit:ident $json:expr) => {
        &$json.iter().map(|ty| $reader.ty($unit, ty)).collect::<Result<Vec<_>>>()?
    };
    (write [types] $known:ident $value:expr) => { $value.iter().map(|&ty| $known.type_ref(ty)).collect() };

    (type [function]) => { Ref<'a> };
    (read [function] $reader:ident $unit:ident $json:expr) => { $reader.names.functions.find($unit, &$json)? };
    (write [function] $known:ident $value:expr) => { $known.function_ref($value) };

    (type [scoped function]) => { Ref<'a> };
    (read [scoped function] $reader:ident $unit:ident $json:expr) => { $reader.function(&$json)?.0 };
    (write [scoped function] $known:ident $value:expr) => { $known.function_ref($value) };

    (type [scope]) => { Ref<'a> };
    (read [scope] $reader:ident $unit:ident $json:expr) => { $reader.scope(&$json)? };
    (write [scope] $known:ident $value:expr) => { $known.scope_ref($value) };

    (type [file]) => { Ref<'a> };
    (read [file] $reader:ident $unit:ident $json:expr) => { $reader.file($unit, &$json)? };
    (write [file] $known:ident $value:expr) => { $known.file_ref($value) };

    (type [procedure]) => { Ref<'a> };
    (read [procedure] $reader:ident $unit:ident $json:expr) => { $reader.names.procedures.find((), &$json)? };
    (write [procedure] $known:ident $value:expr) => { $known.procedure_ref($value) };

    (type [symbol]) => { Text<'a> };
    (read [symbol] $reader:ident $unit:ident $json:expr) => { $reader.builder.symbol(&$json) };
    (write [symbol] $known:ident $value:expr) => { $known.text($value.0) };

    (type [symbol_name]) => { Text<'a> };
    (read [symbol_name] $reader:ident $unit:ident $json:expr) => { &*$json };
    (write [symbol_name] $known:ident $value:expr) => { $known.text($value.0) };

    (type [variable]) => { Ref<'a> };
    (read [variable] $reader:ident $unit:ident $json:expr) => { $reader.names.variables.find((), &$json)? };
    (write [variable] $known:ident $value:expr) => { $known.variable_ref($value) };

    (type [loc]) => { Loc<'a> };
    (read [loc] $reader:ident $unit:ident $json:expr) => { &$reader.loc($unit, &$json)? };
    (write [loc] $known:ident $value:expr) => { Later::Model(Place { known: $known, loc: $value }) };

    (type [val]) => { Val<'a> };
    (read [val] $reader:ident $unit:ident $json:expr) => { $reader.number($unit, &$json)? };
    (write [val] $known:ident $value:expr) => { Later::Model(NumberAt(Place { known: $known, loc: $value })) };

    (type [expression]) => { Later<'a, ExpressionAt<'a>> };
    (read [expression] $reader:ident $unit:ident $json:expr) => { $reader.expression($unit, &$json)? };
    (write [expression] $known:ident $value:expr) => { Later::Model(ExpressionAt(Place { known: $known, loc: $value })) };

    (type [member]) => { statement::Discriminant<'a> };
    (read [member] $reader:ident $unit:ident $json:expr) => { $json.read($reader, $unit)? };
    (write [member] $known:ident $value:expr) => { statement::Discriminant::write($known, &$value) };

    (type [pack]) => { Vec<Packed<'a>> };
    (read [pack] $reader:ident $unit:ident $json:expr) => {
        $json.iter().map(|json| json.read($reader, $unit)).collect::<Result<Vec<_>>>()?
    };
    (write [pack] $known:ident $value:expr) => { $value.iter().map(|value| Packed::write($known, value)).collect() };

    (type [by $type:ty]) => { $type };
    (type [own $type:ty]) => { $type };

    (may $kind:tt $known:ident $field:expr) => { $field.map(|value| kind!(write $kind $known value)) };
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

/// Objects with the fields of a value of the model. A row has a key with its kind, and the field. The value at the end has the
/// other fields.
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

pub(super) use {call, facts, kind, owner, plain, set, to_json, values};
