//! Statements: the elements of `describe`, field by field. Reading and writing share these types.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::frames::{RulesOf, Slots};
use super::ids::Known;
use super::later::Later;
use super::live::{Live, Masks, Rows as RowsOf};
use super::loc::{ExpressionAt, NumberAt, Place};
use super::read::Reader;
use super::schema::{self, HasSchema, Schemas};
use super::shape::shaped;
use super::values::{Bytes, Integer, Line, Named, Number, Signed, Text, Word};
use crate::build;
use crate::error::Result;
use crate::model::entities::{call_properties, function_properties, unit_properties, variable_properties};
use crate::model::{
    self, Accessibility, BaseEncoding, CompositeKind, Defaulted, DescribedCalls, MemorySpace, Passed,
    PointerKind, Qualifier, RegionKind, TypeKind, Virtuality,
};
use crate::op::Dialect;
use crate::target::Scaling;

/// Objects: required fields, then optional ones.
macro_rules! objects { ($(
    $(#[$doc:meta])*
    $name:ident { $($field:ident: $type:ty),* $(,)? } {
        $($(#[doc = $about:literal])? $may:ident: $may_type:ty),* $(,)?
    }
)*) => { $(
    $(#[$doc])*
    #[derive(Debug, Serialize, Deserialize)]
    #[serde(remote = "Self", expecting = "an object", deny_unknown_fields, bound(deserialize = "'de: 'a"))]
    pub(super) struct $name<'a> {
        $(pub $field: $type,)*
        $(
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub $may: Option<$may_type>,
        )*
    }

    impl<'a> $name<'a> {
        /// Makes an object with the required fields.
        #[allow(dead_code, reason = "each object has it, and a few are only read")]
        pub fn new($($field: $type),*) -> Self {
            Self { $($field,)* $($may: None),* }
        }
    }

    shaped! { $name<'a> }

    impl<'a> HasSchema for $name<'a> {
        fn schema(to: &mut Schemas) -> Value {
            to.named(stringify!($name), |to| schema::object([
                $((schema::key(stringify!($field)), <$type>::schema(to), false),)*
                $((
                    schema::key(stringify!($may)),
                    schema::about(<$may_type>::schema(to), concat!($($about)?)),
                    true,
                ),)*
            ]))
        }
    }
)* } }

pub(super) use objects;

/// The [properties](crate::model::entities) of an entity, which several statements have besides their own fields. As a
/// type of their own they are applied to the builder and written from the model.
macro_rules! facts { (
    $facts:ident of $entity:ident by $builder:ident, in {
        $($statement:ident { $($own:ident: $own_type:ty),* } { $($own_may:ident: $own_may_type:ty),* })*
    }
    $(
        #[doc = $doc:literal] $kind:tt $key:ident $(=> $field:ident $(($attribute:ident))?)?
        $(in member => $inner:ident $(($inner_attribute:ident))?)?;
    )*
) => {
    #[derive(Debug, Default)]
    pub(super) struct $facts<'a> { $(pub $key: Option<json_type!($kind)>,)* }

    impl<'a> $facts<'a> {
        /// Sets the plain properties.
        pub fn describe(&self, to: &mut build::$builder<'_>) {
            $(describe!($kind self.$key, to.$key);)*
        }

        /// Reads the plain properties of an entity.
        pub fn of(known: &'a Known<'a>, entity: &model::$entity) -> Self {
            let _ = known;
            Self { $($key: written!($kind known $(entity.$field)? $(entity.member.$inner)?),)* }
        }
    }

    facts! { @each [$($statement { $($own: $own_type),* } { $($own_may: $own_may_type),* })*]
        $facts { $(#[doc = $doc] $key: json_type!($kind),)* } }
};
    (@each [] $($facts:tt)*) => {};
    (@each
        [$statement:ident { $($own:ident: $own_type:ty),* } { $($own_may:ident: $own_may_type:ty),* } $($rest:tt)*]
        $facts:ident { $(#[doc = $doc:literal] $key:ident: $type:ty,)* }
    ) => {
        objects! {
            $statement { $($own: $own_type),* } { $($own_may: $own_may_type,)* $(#[doc = $doc] $key: $type),* }
        }

        impl<'a> $statement<'a> {
            /// Takes the properties out of the statement.
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

        facts! { @each [$($rest)*] $facts { $(#[doc = $doc] $key: $type,)* } }
    };
}

/// The type of a property in JSON.
macro_rules! json_type {
    ([flag]) => { bool };
    ([text]) => { Text<'a> };
    ([word $type:ty]) => { Word<$type> };
    ([$kind:ident $type:ty]) => { $type };
}

/// Calls the builder's method of a plain property.
macro_rules! describe {
    ([flag] $from:ident.$key:ident, $to:ident.$method:ident) => {
        if $from.$key == Some(true) {
            $to.$method();
        }
    };
    ([text] $from:ident.$key:ident, $to:ident.$method:ident) => {
        if let Some(text) = &$from.$key {
            $to.$method(text);
        }
    };
    ([word $type:ty] $from:ident.$key:ident, $to:ident.$method:ident) => {
        if let Some(Word(word)) = $from.$key {
            $to.$method(word);
        }
    };
    ([number $type:ty] $from:ident.$key:ident, $to:ident.$method:ident) => {
        if let Some(number) = $from.$key {
            $to.$method(number);
        }
    };
    ([own $type:ty] $($rest:tt)*) => {};
}

/// Converts a plain property of the model to JSON.
macro_rules! written {
    ([flag] $known:ident $($field:ident).+) => { $($field).+.then_some(true) };
    ([text] $known:ident $($field:ident).+) => { $($field).+.map(|text| $known.text(text)) };
    ([word $type:ty] $known:ident $($field:ident).+) => { $($field).+.map(Word) };
    ([number $type:ty] $known:ident $($field:ident).+) => { $($field).+ };
    ([own $type:ty] $known:ident) => { None };
}

/// Reference to an entity by id or name.
pub(super) type Ref<'a> = Text<'a>;
/// A half-open range of pcs.
pub(super) type Pcs = (Number, Number);
/// A location.
pub(super) type Loc<'a> = Later<'a, Place<'a>>;
pub(super) type Val<'a> = Later<'a, NumberAt<'a>>;

unit_properties! { facts UnitFacts of Unit by UnitBuilder, in {
    Unit { name: Text<'a> } { id: Text<'a> }
    DescribeUnit { unit: Ref<'a> } {}
} }
function_properties! { facts FunctionFacts of Function by FunctionBuilder, in {
    Function { r#in: Ref<'a>, name: Text<'a> } { id: Text<'a>, declaration: bool }
    FunctionDefinition { r#in: Ref<'a>, declaration: Ref<'a> } { id: Text<'a> }
    DescribeFunction { function: Ref<'a> } {}
} }
variable_properties! { facts VariableFacts of Variable by VariableBuilder, in {
    Variable { r#in: Ref<'a>, name: Text<'a>, r#type: Ref<'a> } { id: Text<'a>, declaration: bool }
    InlinedVariable { r#in: Ref<'a>, origin: Ref<'a> } { id: Text<'a> }
    Definition { r#in: Ref<'a>, member: Ref<'a> } { id: Text<'a> }
    DescribeVariable { variable: Ref<'a> } {}
} }
call_properties! { facts CallFacts of Call by CallBuilder, in {
    Call { r#in: Ref<'a> } { id: Text<'a> }
    DescribeCall { call: Ref<'a> } {}
} }

/// Types that are made from their fields alone. A row has the statement with its required and optional keys, the kind
/// in the model, and the method of the builder, for both directions.
macro_rules! plain_types { ({
    $($statement:ident { $($field:ident: $as:tt),* } { $($may:ident: $may_as:tt),* }
        $kind:pat => $method:ident($($argument:expr),*) $(named by $name:ident)?;)*
} by hand $others:pat
) => {
    objects! { $(
        $statement { unit: Ref<'a>, $($field: part!(type $as)),* } { $($may: part!(type $may_as),)* id: Text<'a> }
    )* }

    $(impl<'a> $statement<'a> {
        /// Makes the type.
        pub fn make(self, reader: &mut Reader<'a>) -> Result<()> {
            let unit = reader.unit(&self.unit)?;
            $(let $field = part!(read $as reader unit self.$field);)*
            $(let $may = part!(may_read $may_as reader unit self.$may);)*
            let ty = reader.builder.$method(unit, $($argument),*)?;
            reader.named_type(ty, self.id.as_ref(), None $(.or(Some(&self.$name)))?)
        }
    })*

    /// The statement of a kind of type; `None` for a kind that is written by hand.
    pub(super) fn plain_type<'m>(
        known: &'m Known<'m>,
        unit: Ref<'m>,
        id: Option<Text<'m>>,
        kind: &'m TypeKind,
    ) -> Option<Statement<'m>> {
        Some(match kind {
            $($kind => Statement::$statement($statement {
                unit,
                $($field: part!(write $as known $field),)*
                $($may: part!(may_write $may_as known $may),)*
                id,
            }),)*
            $others => return None,
        })
    }
} }

/// A part of a type: its JSON type, its conversion for the builder, and its conversion from the model.
macro_rules! part {
    (type ty) => { Ref<'a> };
    (type types) => { Vec<Ref<'a>> };
    (type text) => { Text<'a> };
    (type number) => { Number };
    (type flag) => { bool };
    (type (word $type:ty)) => { Word<$type> };
    (read ty $reader:ident $unit:ident $said:expr) => { $reader.ty($unit, &$said)? };
    (read types $reader:ident $unit:ident $said:expr) => {
        $said.iter().map(|ty| $reader.ty($unit, ty)).collect::<Result<Vec<_>>>()?
    };
    (read text $reader:ident $unit:ident $said:expr) => { &*$said };
    (read $kind:tt $reader:ident $unit:ident $said:expr) => { $said.0 };
    (may_read ty $reader:ident $unit:ident $said:expr) => { $reader.maybe_type($unit, $said.as_ref())? };
    (may_read flag $reader:ident $unit:ident $said:expr) => { $said == Some(true) };
    (write ty $known:ident $value:ident) => { $known.type_ref(*$value) };
    (write types $known:ident $value:ident) => { $value.iter().map(|&ty| $known.type_ref(ty)).collect() };
    (write text $known:ident $value:ident) => { $known.text(*$value) };
    (write number $known:ident $value:ident) => { Number(*$value) };
    (write $word:tt $known:ident $value:ident) => { Word(*$value) };
    (may_write ty $known:ident $value:ident) => { $value.map(|ty| $known.type_ref(ty)) };
    (may_write flag $known:ident $value:ident) => { $value.then_some(true) };
}
plain_types! { {
    MemberPointer { class: ty, to: ty } {} TypeKind::MemberPointer { class, to } => member_pointer(class, to);
    UnspecifiedType { name: text } {} TypeKind::Unspecified { name } => unspecified_type(name) named by name;
    Vector { of: ty, count: number } {} TypeKind::Vector { of, count } => vector(of, count);
    Matrix { of: ty, count: number } { column_major: flag }
        TypeKind::Matrix { of, count, is_column_major: column_major } => matrix(of, count, column_major);
    Typedef { name: text } { of: ty } TypeKind::Typedef { name, of } => typedef(name, of) named by name;
    Qualified { qualifier: (word Qualifier) } { of: ty } TypeKind::Qualified { qualifier, of } => qualified(qualifier, of);
    Subroutine { parameters: types } { returns: ty }
        TypeKind::Subroutine { returns, parameters } => subroutine(returns, &parameters);
} by hand TypeKind::Base { .. }
    | TypeKind::Pointer { .. }
    | TypeKind::Array { .. }
    | TypeKind::Composite(_)
    | TypeKind::Enum { .. }
}

/// Properties of a member of a type or variant, or of a variant part's discriminant.
#[derive(Debug, Default)]
pub(super) struct MemberFacts<'a> {
    pub name: Option<Text<'a>>,
    pub offset: Option<Number>,
    pub offset_bits: Option<Number>,
    pub bits: Option<Number>,
    pub accessibility: Option<Word<Accessibility>>,
    pub mutable: Option<bool>,
    pub artificial: Option<bool>,
    pub declared: Option<Line<'a>>,
}

facts! { @each [
    Member { unit: Ref<'a>, r#type: Ref<'a> } { of: Ref<'a>, variant: Ref<'a> }
    Discriminant { r#type: Ref<'a> } {}
] MemberFacts {
    #[doc = " Name; without it the member is anonymous."]
    name: Text<'a>,
    #[doc = " Bytes from the start of the object."]
    offset: Number,
    #[doc = " Bits of a bit field from the start of the object."]
    offset_bits: Number,
    #[doc = " Size of a bit field in bits."]
    bits: Number,
    #[doc = " Accessibility, where it is not the language's default. DWARF 5 section 2.8."]
    accessibility: Word<Accessibility>,
    #[doc = " Is mutable in constant objects. DWARF 5 section 5.7.6."]
    mutable: bool,
    #[doc = " Is made by the compiler."]
    artificial: bool,
    #[doc = " Line of the declaration."]
    declared: Line<'a>,
} }

objects! {
    /// Address of code: a symbol and an offset in bytes, or an address.
    Code { bytes: Number } { symbol: Text<'a>, offset: Number, address: Number }
    /// A stack frame.
    Stack {} { base: Named<'a>, scaling: Word<Scaling>, at_zero: bool }

    File { unit: Ref<'a>, name: Text<'a> } { id: Text<'a>, directory: Text<'a>, md5: Bytes, source: Text<'a> }
    Namespace { r#in: Ref<'a> } { name: Text<'a>, inline: bool, id: Text<'a> }
    DescribeScope { scope: Ref<'a> } { begins: Line<'a>, entry_pc: Number, discriminator: u32 }
    Import { r#in: Ref<'a> } {
        function: Ref<'a>, variable: Ref<'a>, r#type: Ref<'a>, namespace: Ref<'a>, all_of: Ref<'a>,
        name: Text<'a>, declared: Line<'a>,
    }
    Label { r#in: Ref<'a>, name: Text<'a> } { at: Number, declared: Line<'a> }
    Argument { call: Ref<'a>, location: Loc<'a> } {
        parameter: Ref<'a>, value: Val<'a>, points_to: (Loc<'a>, Val<'a>),
    }
    Block { r#in: Ref<'a>, pcs: Vec<Pcs> } { id: Text<'a> }
    InlinedBlock { r#in: Ref<'a>, origin: Ref<'a>, pcs: Vec<Pcs> } { id: Text<'a> }
    Inlined { r#in: Ref<'a>, function: Ref<'a>, pcs: Vec<Pcs>, call: Line<'a> } { id: Text<'a> }
    Constant { r#in: Ref<'a>, name: Text<'a>, r#type: Ref<'a>, value: Bytes } {
        id: Text<'a>, declared: Line<'a>, artificial: bool, external: bool, linkage_name: Text<'a>,
        memory_space: Word<MemorySpace>, accessibility: Word<Accessibility>,
    }
    Procedure { unit: Ref<'a>, id: Text<'a>, loc: Loc<'a> } {}
    Rows { function: Ref<'a>, rows: Later<'a, RowsOf<'a>> } {}
    Frame { function: Ref<'a> } {
        rules: Later<'a, RulesOf<'a>>, return_address: Vec<(Number, Number, Named<'a>, Named<'a>)>, saved_to_scratch: Later<'a, Slots>,
        entry_function: bool, extent: (Signed, Signed),
    }
    Macros { unit: Ref<'a>, macros: Vec<MacroStep<'a>> } {}
    Lanes { r#in: Ref<'a> } {}
    Region { r#in: Ref<'a>, kind: Word<RegionKind>, pcs: Pcs, waits_at: Number, masks: Later<'a, Masks<'a>> } {
        inside: Ref<'a>, id: Text<'a>,
    }
    WholeWave { r#in: Ref<'a>, pcs: Pcs, mask: Loc<'a> } {}

    BaseType { unit: Ref<'a>, name: Text<'a>, encoding: Word<BaseEncoding>, bits: Number } { id: Text<'a> }
    Pointer { unit: Ref<'a> } {
        to: Ref<'a>, kind: Word<PointerKind>, space: Named<'a>, memory_space: Word<MemorySpace>, id: Text<'a>,
    }
    Array { unit: Ref<'a>, of: Ref<'a> } {
        counts: Vec<Option<Number>>, extents: Vec<ExtentOf<'a>>, stride_bits: Number, id: Text<'a>,
    }
    /// A dimension of an array with more than a number of elements.
    ExtentOf {} { count: Number, variable: Ref<'a>, value: Val<'a>, lower: Signed, index: Ref<'a> }
    Composite { unit: Ref<'a>, bytes: Number } { name: Text<'a>, id: Text<'a> }
    Incomplete { unit: Ref<'a>, kind: Word<CompositeKind>, name: Text<'a> } { id: Text<'a> }
    Enumeration { unit: Ref<'a>, of: Ref<'a>, enumerators: Vec<(Text<'a>, Integer)> } {
        name: Text<'a>, class: bool, id: Text<'a>,
    }
    DescribeType { unit: Ref<'a>, r#type: Ref<'a> } {
        r#in: Ref<'a>, declared: Line<'a>, alignment: Number, passed: Word<Passed>,
    }
    Base { unit: Ref<'a>, of: Ref<'a>, r#type: Ref<'a> } {
        offset: Number, r#virtual: Later<'a, ExpressionAt<'a>>, accessibility: Word<Accessibility>,
    }
    VariantPart { unit: Ref<'a>, of: Ref<'a>, id: Text<'a> } { discriminant: Discriminant<'a>, untagged: Ref<'a> }
    Variant { part: Ref<'a>, id: Text<'a>, values: Vec<Values> } {}
    Template { argument: Stands<'a> } { unit: Ref<'a>, of: Ref<'a>, function: Ref<'a>, name: Text<'a>, default: bool }
    /// A parameter in a pack.
    Packed { argument: Stands<'a> } { name: Text<'a>, default: bool }
}

/// Choices: an object whose key selects the alternative, with an operand or a list of several; or the key alone.
macro_rules! choices { ($(
    $(#[$doc:meta])*
    $name:ident $what:literal { $($variant:ident $key:literal $(($($type:ty),*))?)* }
)*) => { $(
    $(#[$doc])*
    #[derive(Debug, Serialize, Deserialize)]
    #[serde(remote = "Self", rename = $what, bound(deserialize = "'de: 'a"))]
    pub(super) enum $name<'a> { $(
        #[serde(rename = $key)]
        $variant $(($($type),*))?,
    )* }
    shaped! { $name<'a> }

    impl<'a> HasSchema for $name<'a> {
        fn schema(to: &mut Schemas) -> Value {
            to.named(stringify!($name), |to| schema::choice([
                $(($key, [$($(<$type>::schema(to)),*)?].into())),*
            ]))
        }
    }
)* } }
choices! {
    /// Argument of a template parameter.
    Stands "what a template parameter stands for" {
        Type "type" (Option<Ref<'a>>)
        Value "value" (Ref<'a>, Loc<'a>)
        Template "template" (Text<'a>)
        Pack "pack" (Vec<Packed<'a>>)
    }
    /// [`Entity`](crate::model::Entity).
    EntityRef "an entity" {
        Variable "variable" (Ref<'a>)
        Type "type" (Ref<'a>)
        Procedure "procedure" (Ref<'a>)
        Symbol "symbol" (Text<'a>, Signed)
    }
    /// [`Macro`](crate::model::Macro).
    MacroStep "a macro" {
        Define "define" (u32, Text<'a>)
        Undefine "undefine" (u32, Text<'a>)
        File "file" (u32, Ref<'a>)
        EndFile "end_file"
    }
}

/// Values of a discriminant: one, or an inclusive range.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(untagged, expecting = "a number of 64 bits, or a list of the first and the last")]
pub(super) enum Values {
    One(Integer),
    Range(Integer, Integer),
}

impl HasSchema for Values {
    fn schema(to: &mut Schemas) -> Value {
        json!({"anyOf": [Integer::schema(to), <(Integer, Integer)>::schema(to)]})
    }
}

/// Statements that are read as a whole, with their fields.
macro_rules! statements { ($($variant:ident $key:literal $object:ident)*) => {
    /// One statement: one call of the builder, with calls of the sub-builder that it returns.
    #[derive(Debug, Serialize, Deserialize)]
    #[serde(remote = "Self", rename = "a statement", bound(deserialize = "'de: 'a"))]
    pub(super) enum Statement<'a> { $(
        #[serde(rename = $key)]
        $variant($object<'a>),
    )* }
    shaped! { Statement<'a> }

    impl<'a> HasSchema for Statement<'a> {
        fn schema(to: &mut Schemas) -> Value {
            schema::one_of_keys([$(($key, $object::schema(to))),*])
        }
    }

    /// Keys of the statements.
    pub const STATEMENTS: &[&str] = &[$($key),*];
} }
statements! {
    Unit "unit" Unit
    DescribeUnit "describe_unit" DescribeUnit
    File "file" File
    Namespace "namespace" Namespace
    DescribeScope "describe_scope" DescribeScope
    Import "import" Import
    Label "label" Label
    Call "call" Call
    DescribeCall "describe_call" DescribeCall
    Argument "argument" Argument
    Function "function" Function
    FunctionDefinition "function_definition" FunctionDefinition
    DescribeFunction "describe_function" DescribeFunction
    Block "block" Block
    InlinedBlock "inlined_block" InlinedBlock
    Inlined "inlined" Inlined
    Variable "variable" Variable
    Parameter "parameter" Variable
    DescribeVariable "describe_variable" DescribeVariable
    Constant "constant" Constant
    InlinedVariable "inlined_variable" InlinedVariable
    Definition "definition" Definition
    Procedure "procedure" Procedure
    Rows "rows" Rows
    Frame "frame" Frame
    Macros "macros" Macros
    Lanes "lanes" Lanes
    Region "region" Region
    WholeWave "whole_wave" WholeWave
    BaseType "base_type" BaseType
    Pointer "pointer" Pointer
    Array "array" Array
    Vector "vector" Vector
    Matrix "matrix" Matrix
    Typedef "typedef" Typedef
    Qualified "qualified" Qualified
    Subroutine "subroutine" Subroutine
    MemberPointer "member_pointer" MemberPointer
    UnspecifiedType "unspecified_type" UnspecifiedType
    Structure "structure" Composite
    Class "class" Composite
    Union "union" Composite
    Incomplete "incomplete" Incomplete
    Enumeration "enumeration" Enumeration
    DescribeType "describe_type" DescribeType
    Member "member" Member
    Base "base" Base
    VariantPart "variant_part" VariantPart
    Variant "variant" Variant
    Template "template" Template
}

objects! {
    /// A raw expression: its bytes, or its operations as text.
    Expression {} { bytes: Bytes, fixups: Vec<Fixup<'a>>, text: Text<'a>, dialect: Word<Dialect> }
    /// A fix-up of an expression.
    Fixup { offset: u32, kind: Filled, entity: EntityRef<'a> } {}
}

/// [`FixupKind`](crate::op::FixupKind).
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(remote = "Self", rename = "what is to be filled in", rename_all = "snake_case")]
pub(super) enum Filled {
    /// Offset of an entry in its unit, of 2 or 4 bytes.
    Entry(u8),
    /// Offset of a base type, as ULEB128 padded to this number of bytes.
    Type(u8),
    EntrySection,
    Address,
}
shaped! { Filled }

impl HasSchema for Filled {
    fn schema(to: &mut Schemas) -> Value {
        let bytes = [u8::schema(to)];
        let [entry, ty] = ["entry", "type"].map(|key| (key, bytes.clone().into()));
        schema::choice([entry, ty, ("entry_section", Vec::new()), ("address", Vec::new())])
    }
}

/// Schema of a description.
pub(crate) fn document_schema(to: &mut Schemas) -> Value {
    let statements = Vec::<Statement<'_>>::schema(to);
    schema::object([
        ("$schema", Text::schema(to), true),
        ("eitri", json!({"const": super::read::VERSION}), false),
        ("target", super::target::target_schema(to), false),
        ("describe", statements, false),
    ])
}
