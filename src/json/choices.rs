//! Choices: values of the model with several alternatives. A row describes an alternative in both directions: its keys or
//! operands with their [kinds](super::kinds), the value of the model, and the value or call for the builder.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::expression::Raw;
use super::ids::Known;
use super::kinds::kind;
use super::later::Later;
use super::loc::{ExpressionAt, NumberAt, Place};
use super::read::Reader;
use super::schema::{self, HasSchema, Schemas};
use super::shape::shaped;
use super::statement::{
    self, Array, Base, Code, Expression, ExtentFacts, ExtentOf, File, Fixup, Import, Loc, Member,
    MemberFacts, Packed, Ref, Region, Template, VariantPart,
};
use super::values::{Bytes, Number, Signed, Text, Word};
use crate::build::{self, DataMember, Extent, VariantId};
use crate::error::{Error, Result};
use crate::model::{
    self, Address, BaseOffset, Count, Dimension, Discriminant, Entity, ExprId, FunctionId, Imported, Macro,
    RegionId, StringId, TypeId, UnitId,
};
use crate::op::{Dialect, FixupKind};

/// The type of a choice: an object whose key selects the alternative, with an operand or a list of several; or the key
/// alone.
macro_rules! choice { (
    $(#[$doc:meta])*
    $name:ident $(<$life:lifetime>)? $text:literal { $($variant:ident $key:literal $(($($operand:ty),*))?;)* }
) => {
    #[derive(Debug, Serialize, Deserialize)]
    #[serde(remote = "Self", rename = $text)]
    $(#[$doc])*
    pub(super) enum $name $(<$life>)? { $(
        #[serde(rename = $key)]
        $variant $(($($operand),*))?,
    )* }
    shaped! { $name $(<$life>)? }

    impl<'a> HasSchema for $name $(<$life>)? {
        fn schema(to: &mut Schemas) -> Value {
            to.named(stringify!($name), |to| schema::choice([
                $(($key, [$($(<$operand>::schema(to)),*)?].into())),*
            ]))
        }
    }
} }

/// Choices between the keys of an object of its own, each with the value of the model and that for the builder.
macro_rules! choices { ($(
    $(#[$doc:meta])*
    $name:ident $(<$life:lifetime>)? $text:literal, |$reader:ident, $unit:ident $(, $extra:ident: $extra_type:ty)*| $model:ty => $made:ty {
        $($variant:ident $key:literal $(($($operand:ident: $kind:tt),*))?: $pattern:pat => $make:expr;)*
    }
)*) => { $(
    choice! { $(#[$doc])* $name $(<$life>)? $text { $($variant $key $(($(kind!(type $kind)),*))?;)* } }

    #[allow(unused, reason = "not every choice has names")]
    impl<'a> $name $(<$life>)? {
        /// Makes the value for the builder.
        pub fn read<'s>(
            &'s mut self,
            $reader: &mut Reader<'a>,
            $unit: UnitId,
            $($extra: $extra_type,)*
        ) -> Result<$made> {
            Ok(match self { $(
                Self::$variant $(($($operand),*))? => {
                    $($(let $operand = kind!(read $kind $reader $unit (*$operand));)*)?
                    $make
                }
            )* })
        }

        /// Converts a value of the model to JSON.
        pub fn write(known: &'a Known<'a>, value: &$model) -> Self {
            match value { $($pattern => Self::$variant $(($(kind!(write $kind known (*$operand))),*))?,)* }
        }
    }
)* } }

/// Choices between keys of an object that has further ones: each alternative has required keys, optional ones after a
/// semicolon, the value of the model, and that for the builder.
macro_rules! alternatives { ($(
    $object:ident $(<$life:lifetime>)?, |$reader:ident, $unit:ident $(: $unit_type:ty)? $(, $extra:ident: $extra_type:ty)*|
        $model:ty => $made:ty,
        $error:literal {
        $({ $($key:ident: $kind:tt),* $(; $may:ident: $may_kind:tt)? } $pattern:pat $(if $guard:expr)? => $make:expr;)*
    }
)*) => { $(
    impl<'a> $object<'a> {
        /// Takes the keys of the alternative, and makes the value for the builder.
        #[allow(unused, reason = "not every object has keys of each kind")]
        pub fn choose(
            &mut self,
            $reader: &mut Reader<'a>,
            $unit: alternatives!(@unit $($unit_type)?),
            $($extra: $extra_type,)*
        ) -> Result<$made> {
            let present = 0 $($(+ usize::from(self.$key.is_some()))* $(+ usize::from(self.$may.is_some()))?)*;
            $(
                let of_this = 0 $(+ usize::from(self.$key.is_some()))* $(+ usize::from(self.$may.is_some()))?;
                if of_this == present $(&& let Some(mut $key) = self.$key.take())* {
                    $(let $key = kind!(read $kind $reader $unit $key);)*
                    $(let $may = kind!(may_read $may_kind $reader $unit self.$may.take());)?
                    return Ok($make);
                }
            )*
            Err(Error::bad_argument($error))
        }

        /// Sets the keys of a value of the model.
        #[allow(unused, reason = "a number needs no names")]
        pub fn chosen(mut self, known: &'a Known<'a>, value: &$($life)? $model) -> Self {
            match value { $($pattern $(if $guard)? => {
                $(self.$key = Some(kind!(write $kind known (*$key)));)*
                $(self.$may = kind!(may $may_kind known (*$may));)?
            })* }
            self
        }
    }
)* };
    (@unit) => { UnitId };
    (@unit $type:ty) => { $type };
}

choices! {
    /// Argument of a template parameter.
    #[serde(bound(deserialize = "'de: 'a"))]
    TemplateArgument<'a> "an argument of a template", |reader, unit, name: &'s str| model::TemplateArgument => build::Template<'s> {
        Type "type" (ty: [optional type]): model::TemplateArgument::Type(ty) => build::Template::ty(name, ty);
        Value "value" (ty: [type], value: [loc]):
            model::TemplateArgument::Value { ty, value } => build::Template::value_at(name, ty, value.clone());
        Template "template" (template: [text]):
            model::TemplateArgument::Template(template) => build::Template::named(name, template);
        Pack "pack" (pack: [list Packed]): model::TemplateArgument::Pack(pack) => build::Template::pack(name, pack);
    }
    /// [`Entity`].
    #[serde(bound(deserialize = "'de: 'a"))]
    EntityRef<'a> "an entity", |reader, unit| Entity => Entity {
        Variable "variable" (id: [variable]): Entity::Variable(id) => Entity::Variable(id);
        Type "type" (id: [type]): Entity::Type(id) => Entity::Type(id);
        Procedure "procedure" (id: [procedure]): Entity::Procedure(id) => Entity::Procedure(id);
        Symbol "symbol" (symbol: [symbol], by: [signed]): Entity::Symbol(symbol, by) => Entity::Symbol(symbol, by);
    }
    /// [`Macro`].
    #[serde(bound(deserialize = "'de: 'a"))]
    MacroStep<'a> "a macro", |reader, unit| Macro => () {
        Define "define" (line: [number u32], text: [text]):
            Macro::Define { line, text } => reader.builder.macros(unit)?.define(line, text).map(drop)?;
        Undefine "undefine" (line: [number u32], name: [text]):
            Macro::Undefine { line, name } => reader.builder.macros(unit)?.undefine(line, name).map(drop)?;
        File "file" (line: [number u32], file: [file]):
            Macro::File { line, file } => reader.builder.macros(unit)?.file(line, file).map(drop)?;
        EndFile "end_file": Macro::EndFile => reader.builder.macros(unit)?.end_file().map(drop)?;
    }
    /// [`FixupKind`].
    Filled "what is to be filled in", |reader, unit| FixupKind => FixupKind {
        Entry "entry" (bytes: [number u8]): FixupKind::Entry { bytes } => FixupKind::Entry { bytes };
        Type "type" (bytes: [number u8]): FixupKind::Type { bytes } => FixupKind::Type { bytes };
        EntrySection "entry_section": FixupKind::EntrySection => FixupKind::EntrySection;
        Address "address": FixupKind::Address => FixupKind::Address;
    }
}

choice! {
    /// [`ExecWrite`](crate::build::ExecWrite).
    #[serde(bound(deserialize = "'de: 'a"))]
    ExecOf<'a> "an effect on EXEC" {
        Save "save" (Text<'a>);
        And "and" (Text<'a>);
        AndNot "and_not" (Text<'a>);
        Else "else" (Text<'a>);
        Restore "restore" (Text<'a>);
    }
}

/// Whether a dimension has only a number of elements, or none.
fn is_count(dimension: &Dimension) -> bool {
    let Dimension { count, lower, index } = dimension;
    matches!(count, Count::Unknown | Count::Fixed(_)) && lower.is_none() && index.is_none()
}

/// Place of a base class in an object.
pub(super) enum BaseAt {
    /// Bytes from the start of the object.
    Offset(u64),
    /// Raw expression of a virtual base class.
    Virtual(ExprId),
}

/// Place of a member in an object.
pub(super) enum MemberAt {
    /// Bytes from the start of the object.
    Offset(u64),
    /// A bit field: bits from the start of the object, and its size in bits.
    Bits(u64, u64),
}

impl MemberAt {
    /// Returns a member for the builder. An empty name means unnamed.
    pub fn member(self, name: &str, ty: TypeId) -> DataMember<'_> {
        match self {
            Self::Offset(bytes) => DataMember::new(name, ty, bytes),
            Self::Bits(offset, bits) => DataMember::bit_field(name, ty, offset, bits),
        }
    }
}

/// Owner of a member.
pub(super) enum MemberOf {
    Type(TypeId),
    Variant(VariantId),
}

/// Owner of a template parameter.
pub(super) enum TemplateOf {
    Type(UnitId, TypeId),
    Function(FunctionId),
}

/// Discriminant of a variant part for the builder.
pub(super) enum Selector<'a> {
    Member(Box<statement::Discriminant<'a>>),
    Type(TypeId),
}

alternatives! {
    File, |reader, unit| Option<StringId> => Option<Text<'a>>, "a file has a `directory`, or none" {
        {} None => None;
        { directory: [name] } Some(directory) => Some(directory);
    }
    Region, |reader, unit| Option<RegionId> => Option<RegionId>, "a region is `inside` another one, or not" {
        {} None => None;
        { inside: [region] } Some(inside) => Some(inside);
    }
    Import, |reader, unit| Imported => Imported,
        "imported is a `function`, `variable`, `type` or `namespace`, or `all_of` a namespace" {
        { function: [scoped function] } Imported::Function(function) => Imported::Function(function);
        { variable: [variable] } Imported::Variable(variable) => Imported::Variable(variable);
        { r#type: [type] } Imported::Type(r#type) => Imported::Type(r#type);
        { namespace: [scope] } Imported::Namespace(namespace) => Imported::Namespace(namespace);
        { all_of: [scope] } Imported::AllOf(all_of) => Imported::AllOf(all_of);
    }
    Code, |reader, unit, id: FunctionId, bytes: u64| Address => (),
        "code is at a `symbol`, with or without an `offset`, or at an `address`" {
        { symbol: [symbol_name]; offset: [zero_long] } Address::Symbol(symbol, offset) => {
            reader.builder.describe_function(id)?.code_behind(symbol, offset, bytes);
        };
        { address: [long] } Address::Constant(address) => {
            reader.builder.describe_function(id)?.address(Address::Constant(address), bytes);
        };
    }
    Array<'a>, |reader, unit| Vec<Dimension> => Vec<Extent>, "an array has `counts` or `extents`" {
        { counts: [counts] } counts if counts.iter().all(is_count) => counts;
        { extents: [list ExtentOf] } extents => extents;
    }
    Expression, |reader, unit| Raw => Raw,
        "an expression is `bytes`, with or without `fixups`, or `text`, with or without a `dialect`" {
        { bytes: [constant]; fixups: [list Fixup] } Raw::Bytes(bytes, fixups) => Raw::Bytes(Bytes(bytes.clone()), fixups);
        { text: [owned text]; dialect: [default Dialect] } Raw::Text(text, dialect) => Raw::Text(text, dialect);
    }
    ExtentFacts, |reader, unit| Dimension => Extent, "a dimension has one of `count`, `variable`, `value`" {
        {} Dimension { count: Count::Unknown, .. } => Extent::unknown();
        { count: [long] } Dimension { count: Count::Fixed(count), .. } => Extent::fixed(count);
        { variable: [variable] } Dimension { count: Count::Variable(variable), .. } => Extent::variable(variable);
        { value: [val] } Dimension { count: Count::Value(value), .. } => Extent::value(value);
    }
    Base, |reader, unit| BaseOffset => BaseAt, "a base class is at an `offset`, or `virtual`" {
        { offset: [long] } BaseOffset::Bytes(offset) => BaseAt::Offset(offset);
        { r#virtual: [expression] } BaseOffset::Expr(r#virtual) => BaseAt::Virtual(r#virtual);
    }
    MemberFacts, |reader, unit| model::Member => MemberAt,
        "a member has an `offset`, or is a bit field with `offset_bits` and `bits`" {
        { offset: [bytes] } model::Member { offset_bits: offset, bits: None, .. } => MemberAt::Offset(offset);
        { offset_bits: [long], bits: [long] } model::Member { offset_bits, bits: Some(bits), .. } => {
            MemberAt::Bits(offset_bits, bits)
        };
    }
    VariantPart<'a>, |reader, unit| Discriminant => Selector<'a>,
        "a variant part has a `discriminant`, or is `untagged`" {
        { discriminant: [object Discriminant] } Discriminant::Member(discriminant) => {
            Selector::Member(Box::new(discriminant))
        };
        { untagged: [type] } Discriminant::Type(untagged) => Selector::Type(untagged);
    }
    Member, |reader, unit| MemberOf => MemberOf, "a member is `of` a type, or of a `variant`" {
        { of: [type] } MemberOf::Type(of) => MemberOf::Type(of);
        { variant: [variant] } MemberOf::Variant(variant) => MemberOf::Variant(variant);
    }
    Template, |reader, unit: ()| TemplateOf => TemplateOf,
        "a template parameter is of a type, given by `unit` and `of`, or of a `function`" {
        { unit: [unit], of: [type] } TemplateOf::Type(unit, of) => TemplateOf::Type(unit, of);
        { function: [scoped function] } TemplateOf::Function(function) => TemplateOf::Function(function);
    }
}
