//! Statements: the elements of `describe`, field by field. Reading and writing share these types.

use core::marker::PhantomData;
use core::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::choices::{EntityRef, ExecOf, Filled, MacroStep, TemplateArgument};
use super::ids::Known;
use super::kinds::kind;
use super::language;
use super::later::Later;
use super::lists::{Elements, Live, MaskAt, Row, Rule, Slots};
use super::loc::{ExpressionAt, NumberAt, Place};
use super::read::Reader;
use super::rows::{Name, Outcome, Property, call, facts, owner, plain, set, to_json};
use super::schema::{self, HasSchema, Schemas};
use super::shape::shaped;
use super::values::{Bytes, Integer, Line, Named, Number, Signed, Text, Word};
use crate::build::{DataMember, Extent};
use crate::error::{Error, Result};
use crate::model::entities::{
    call_properties, dimension_properties, file_properties, function_properties, import_properties,
    label_properties, member_properties, region_properties, scope_properties, type_properties,
    unit_properties, variable_properties,
};
use crate::model::{
    self, Accessibility, BaseEncoding, CallId, CompositeKind, Defaulted, DescribedCalls, Dimension, FileId,
    FunctionId, ImportId, LabelId, Member as ModelMember, MemorySpace, Passed, PointerKind, Qualifier,
    RegionId, RegionKind, ScopeId, ScopeKind, TypeId, TypeKind, UnitId, VariableId, Virtuality,
};
use crate::op::Dialect;
use crate::target::{Scaling, SpaceId};

/// Lifetime of the text or module, which an object has even without a borrowed field.
pub(super) type Life<'a> = PhantomData<&'a ()>;

/// Objects: required fields, then optional ones.
macro_rules! objects { ($(
    $(#[$doc:meta])*
    $name:ident { $($field:ident: $type:ty),* $(,)? } {
        $($(#[doc = $about:literal])? $([$since:literal])? $may:ident: $may_type:ty),* $(,)?
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
        #[serde(skip)]
        pub life: $crate::json::statement::Life<'a>,
    }

    impl<'a> $name<'a> {
        /// Makes an object with the required fields.
        #[allow(dead_code, reason = "each object has it, and a few are only read")]
        pub fn new($($field: $type),*) -> Self {
            Self { $($field,)* $($may: None,)* life: Default::default() }
        }
    }

    shaped! { $name<'a> }

    impl<'a> HasSchema for $name<'a> {
        fn schema(to: &mut Schemas) -> Value {
            to.named(stringify!($name), |to| schema::object([
                $((schema::key(stringify!($field)), <$type>::schema(to), false),)*
                $((
                    schema::key(stringify!($may)),
                    schema::about(<$may_type>::schema(to), concat!($($about)?), concat!($($since)?)),
                    true,
                ),)*
            ]))
        }
    }
)* } }

pub(super) use objects;

/// Reference to an entity by id or name.
pub(super) type Ref<'a> = Text<'a>;
/// A half-open range of pcs.
pub(super) type Pcs = (Number, Number);
/// Live ranges of a variable.
pub(super) type LiveRanges<'a> = Later<'a, Elements<'a, Live<'a>>>;
/// A location.
pub(super) type Loc<'a> = Later<'a, Place<'a>>;
pub(super) type Val<'a> = Later<'a, NumberAt<'a>>;

unit_properties! { facts UnitFacts of |known, id: UnitId| known.module.unit(id), set UnitId: [by describe_unit], in {
    Unit { name: Text<'a> } { id: Text<'a> }
    DescribeUnit { unit: Ref<'a> } {}
} }
file_properties! { facts FileFacts of |known, id: FileId| known.module.file(id), set FileId: [by id], in {
    File { unit: Ref<'a>, name: Text<'a> } { id: Text<'a> }
} }
scope_properties! { facts ScopeFacts of |known, id: ScopeId| known.module.scope(id), set ScopeId: [by id], in {
    DescribeScope { scope: Ref<'a> } {}
} }
function_properties! {
    facts FunctionFacts of |known, id: FunctionId| known.module.function(id), set FunctionId: [by describe_function], in {
        Function { r#in: Ref<'a>, name: Text<'a> } { id: Text<'a>, declaration: bool }
        FunctionDefinition { r#in: Ref<'a>, declaration: Ref<'a> } { id: Text<'a> }
        DescribeFunction { function: Ref<'a> } {}
    }
}
variable_properties! {
    facts VariableFacts of |known, id: VariableId| known.module.variable(id), set VariableId: [by describe_variable], in {
        Variable { r#in: Ref<'a>, name: Text<'a>, r#type: Ref<'a> } { id: Text<'a>, declaration: bool }
        Constant { r#in: Ref<'a>, name: Text<'a>, r#type: Ref<'a>, value: Bytes } { id: Text<'a> }
        InlinedVariable { r#in: Ref<'a>, origin: Ref<'a> } { id: Text<'a> }
        Definition { r#in: Ref<'a>, member: Ref<'a> } { id: Text<'a> }
        DescribeVariable { variable: Ref<'a> } {}
    }
}
call_properties! { facts CallFacts of |known, id: CallId| known.module.call(id), set CallId: [by describe_call], in {
    Call { r#in: Ref<'a> } { id: Text<'a> }
    DescribeCall { call: Ref<'a> } {}
} }
import_properties! { facts ImportFacts of |known, id: ImportId| &known.module.imports[id], set ImportId: [by describe_import], in {
    Import { r#in: Ref<'a> } {}
} }
label_properties! { facts LabelFacts of |known, id: LabelId| &known.module.labels[id], set LabelId: [by describe_label], in {
    Label { r#in: Ref<'a>, name: Text<'a> } {}
} }
region_properties! { facts RegionFacts of |known, id: RegionId| known.module.region(id), set RegionId: [by id], in {
    Region { r#in: Ref<'a>, kind: Word<RegionKind>, pcs: Pcs, waits_at: Number, masks: Later<'a, Elements<'a, MaskAt<'a>>> } {
        id: Text<'a>
    }
} }
type_properties! { facts TypeFacts of |known, id: TypeId| known.module.ty(id), set TypeId: [by describe_type], in {
    DescribeType { unit: Ref<'a>, r#type: Ref<'a> } {}
} }
member_properties! {
    facts MemberFacts of |known, member: &'a ModelMember| member, set &mut DataMember<'_>: [by value], in {
        Member { unit: Ref<'a>, r#type: Ref<'a> } { of: Ref<'a>, variant: Ref<'a> }
        Discriminant { r#type: Ref<'a> } {}
    }
}

dimension_properties! {
    facts ExtentFacts of |known, dimension: &'a Dimension| dimension, set &mut Extent: [by clone], in { ExtentOf {} {} }
}

plain! {
    /// Returns the statement of a type with its size in bits, if any, and whether it is a declaration.
    type_statement of (&'m TypeKind, u64, bool), in unit, named_type {
        BaseType { name: [text], encoding: [word BaseEncoding], bits: [long] } {}
            (TypeKind::Base { name, encoding }, ref bits, _) => base_type(name, encoding, bits) named by name;
        MemberPointer { class: [type], to: [type] } {}
            (TypeKind::MemberPointer { class, to }, ..) => member_pointer(class, to);
        UnspecifiedType { name: [text] } {}
            (TypeKind::Unspecified { name }, ..) => unspecified_type(name) named by name;
        Array { of: [type] } { stride_bits: [maybe_long] } + extents { counts: [counts], extents: [extents] }
            (TypeKind::Array { of, dimensions: extents, stride_bits }, ..) => array_of(of, &extents, stride_bits);
        Vector { of: [type], count: [long] } {} (TypeKind::Vector { of, count }, ..) => vector(of, count);
        Matrix { of: [type], count: [long] } { column_major: [flag], stride_bits: [maybe_long] }
            (TypeKind::Matrix { of, count, is_column_major: column_major, stride_bits }, ..)
                => matrix_of(of, count, column_major, stride_bits);
        Typedef { name: [text] } { of: [type] } (TypeKind::Typedef { name, of }, ..) => typedef(name, of) named by name;
        Qualified { qualifier: [word Qualifier] } { of: [type] }
            (TypeKind::Qualified { qualifier, of }, ..) => qualified(qualifier, of);
        Subroutine { parameters: [types] } { returns: [type] }
            (TypeKind::Subroutine { returns, parameters }, ..) => subroutine(returns, parameters);
        Pointer {} { to: [type], kind: [default PointerKind], space: [space], memory_space: [word MemorySpace] }
            (TypeKind::Pointer { kind, to, space, memory: memory_space }, ..)
                => pointer_of(kind, to, space, memory_space);
        Incomplete { kind: [word CompositeKind], name: [maybe_empty text] } {}
            (TypeKind::Composite(model::Composite { kind, name, .. }), _, true) => incomplete(kind, name) named by name;
        Structure { bytes: [bytes] } { name: [text] }
            (TypeKind::Composite(model::Composite { kind: CompositeKind::Struct, name, .. }), ref bytes, false)
                => structure(name, bytes) named by name;
        Class { bytes: [bytes] } { name: [text] }
            (TypeKind::Composite(model::Composite { kind: CompositeKind::Class, name, .. }), ref bytes, false)
                => class(name, bytes) named by name;
        Union { bytes: [bytes] } { name: [text] }
            (TypeKind::Composite(model::Composite { kind: CompositeKind::Union, name, .. }), ref bytes, false)
                => union(name, bytes) named by name;
        Enumeration { of: [type], enumerators: [enumerators] } { name: [text], class: [flag] }
            (TypeKind::Enum { name, of, enumerators, is_class: class }, ..)
                => enumeration_of(name, of, enumerators, class) named by name;
    }
}
plain! {
    /// Returns the statement of a scope with its origin and its ranges; `None` for one that belongs to another entity.
    scope_statement of (&'m ScopeKind, Option<ScopeId>, &'m [Range<u64>]), in r#in, named_scope {
        Namespace {} { name: [text], inline: [maybe_flag] } (ScopeKind::Namespace { name, is_inline: inline }, ..)
            => namespace_of(name, is_inline(name, inline)?) named by name;
        Block { pcs: [pcs] } {} (ScopeKind::Block, None, pcs) => block(pcs) at "pcs";
        InlinedBlock { origin: [scope], pcs: [pcs] } {}
            (ScopeKind::Block, Some(ref origin), pcs) => inlined_block(origin, pcs) at "pcs";
        Inlined { function: [function], pcs: [pcs], call: [line] } {}
            (ScopeKind::Inlined { function, call }, _, pcs) => inlined(function, pcs, call) at "pcs";
    }
    (ScopeKind::Unit | ScopeKind::Function(_) | ScopeKind::Type(_), ..) => by hand
}

/// Whether a namespace is an inline one, as every namespace without a name is.
fn is_inline(name: Option<&str>, inline: Option<bool>) -> Result<bool> {
    match (name, inline) {
        (None, Some(false)) => Err(Error::bad_argument("a namespace without a name is an inline one")),
        (None, _) => Ok(true),
        (Some(_), inline) => Ok(inline == Some(true)),
    }
}

objects! {
    /// Address of code: a symbol and an offset in bytes, or an address.
    Code { bytes: Number } { symbol: Text<'a>, offset: Number, address: Number }
    /// A stack frame.
    Stack {} { base: Named<'a>, scaling: Word<Scaling>, at_zero: bool }

    Argument { call: Ref<'a>, location: Loc<'a> } {
        parameter: Ref<'a>, value: Val<'a>, points_to: (Loc<'a>, Val<'a>),
    }
    Procedure { unit: Ref<'a>, id: Text<'a>, loc: Loc<'a> } {}
    Rows { function: Ref<'a>, rows: Later<'a, Elements<'a, Row<'a>>> } {}
    Frame { function: Ref<'a> } {
        rules: Later<'a, Elements<'a, Rule<'a>>>, return_address: Vec<(Number, Number, Named<'a>, Named<'a>)>, saved_to_scratch: Later<'a, Slots>,
        entry_function: bool, extent: (Signed, Signed),
    }
    Macros { unit: Ref<'a>, macros: Vec<MacroStep<'a>> } {}
    Lanes { r#in: Ref<'a> } {}
    WholeWave { r#in: Ref<'a>, pcs: Pcs, mask: Loc<'a> } {}

    /// Effects of a function's instructions on storage, and assignments to its variables.
    CodeOf { function: Ref<'a>, blocks: Vec<Pcs> } {
        edges: Vec<(u32, u32)>, wave_edges: Vec<(u32, u32)>, lane_edges: Vec<(u32, u32)>,
        exec: Vec<(Number, Number, ExecOf<'a>)>, places: Vec<(Text<'a>, Loc<'a>)>, values: Vec<ValueOf<'a>>,
        entry: Vec<(Ref<'a>, Vec<PlaceOf<'a>>)>, instructions: Vec<InstructionOf<'a>>,
        incoming: Vec<(u32, Ref<'a>, Ref<'a>)>, assign: Vec<AssignOf<'a>>,
        homes: Vec<(Number, Number, Ref<'a>, Loc<'a>)>,
    }
    /// A value, a constant, or a parameter of a block.
    ValueOf { id: Text<'a> } { bits: u32, constant: Bytes, block: u32 }
    /// An instruction, or several that form one step.
    InstructionOf { pcs: Pcs } {
        define: Vec<(Ref<'a>, Vec<PlaceOf<'a>>)>, redefine: Vec<(Ref<'a>, Vec<PlaceOf<'a>>)>,
        define_copy: Vec<(Ref<'a>, Vec<PlaceOf<'a>>, Vec<PlaceOf<'a>>)>,
        copy: Vec<(Vec<PlaceOf<'a>>, Vec<PlaceOf<'a>>)>, copy_uniform: Vec<(Vec<PlaceOf<'a>>, Vec<PlaceOf<'a>>)>,
        clobber: Vec<PlaceOf<'a>>, all_lanes: bool, several: bool,
    }
    /// Value of a variable from a pc on.
    AssignOf { at: Number, variable: Ref<'a> } { value: Ref<'a>, bits: (u32, u32), contents: Vec<PlaceOf<'a>>, of: (Ref<'a>, u32) }
    /// Storage of the wave or of each lane: one of the first keys, and perhaps some of its bits.
    PlaceOf {} {
        register: Named<'a>, per_lane: Named<'a>, lane: (Named<'a>, u32), stack_slot: Signed, lane_bit: Named<'a>,
        own: Ref<'a>, from: u32, bits: u32,
    }

    Base { unit: Ref<'a>, of: Ref<'a>, r#type: Ref<'a> } {
        offset: Number, r#virtual: Later<'a, ExpressionAt<'a>>, accessibility: Word<Accessibility>,
    }
    VariantPart { unit: Ref<'a>, of: Ref<'a>, id: Text<'a> } { discriminant: Discriminant<'a>, untagged: Ref<'a> }
    Variant { part: Ref<'a>, id: Text<'a>, values: Vec<Values> } {}
    Template { argument: TemplateArgument<'a> } { unit: Ref<'a>, of: Ref<'a>, function: Ref<'a>, name: Text<'a>, default: bool }
    /// A parameter in a pack.
    Packed { argument: TemplateArgument<'a> } { name: Text<'a>, default: bool }
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
macro_rules! statements { ($($variant:ident $key:literal $object:ident $(($argument:expr))?;)*) => {
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

    impl<'a> Statement<'a> {
        /// Makes the builder calls of the statement.
        pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
            match self {
                $(Self::$variant(json) => json.apply(reader $(, $argument)?),)*
            }
        }
    }

    /// Keys of the statements.
    pub const STATEMENTS: &[&str] = &[$($key),*];
} }
statements! {
    Unit "unit" Unit;
    DescribeUnit "describe_unit" DescribeUnit;
    File "file" File;
    Namespace "namespace" Namespace;
    DescribeScope "describe_scope" DescribeScope;
    Import "import" Import;
    Label "label" Label;
    Call "call" Call;
    DescribeCall "describe_call" DescribeCall;
    Argument "argument" Argument;
    Function "function" Function;
    FunctionDefinition "function_definition" FunctionDefinition;
    DescribeFunction "describe_function" DescribeFunction;
    Block "block" Block;
    InlinedBlock "inlined_block" InlinedBlock;
    Inlined "inlined" Inlined;
    Variable "variable" Variable(false);
    Parameter "parameter" Variable(true);
    DescribeVariable "describe_variable" DescribeVariable;
    Constant "constant" Constant;
    InlinedVariable "inlined_variable" InlinedVariable;
    Definition "definition" Definition;
    Procedure "procedure" Procedure;
    Rows "rows" Rows;
    Frame "frame" Frame;
    Macros "macros" Macros;
    Lanes "lanes" Lanes;
    Region "region" Region;
    WholeWave "whole_wave" WholeWave;
    Code "code" CodeOf;
    BaseType "base_type" BaseType;
    Pointer "pointer" Pointer;
    Array "array" Array;
    Vector "vector" Vector;
    Matrix "matrix" Matrix;
    Typedef "typedef" Typedef;
    Qualified "qualified" Qualified;
    Subroutine "subroutine" Subroutine;
    MemberPointer "member_pointer" MemberPointer;
    UnspecifiedType "unspecified_type" UnspecifiedType;
    Structure "structure" Structure;
    Class "class" Class;
    Union "union" Union;
    Incomplete "incomplete" Incomplete;
    Enumeration "enumeration" Enumeration;
    DescribeType "describe_type" DescribeType;
    Member "member" Member;
    Base "base" Base;
    VariantPart "variant_part" VariantPart;
    Variant "variant" Variant;
    Template "template" Template;
}

objects! {
    /// A raw expression: its bytes, or its operations as text.
    Expression {} { bytes: Bytes, fixups: Vec<Fixup<'a>>, text: Text<'a>, dialect: Word<Dialect> }
    /// A fix-up of an expression.
    Fixup { offset: u32, kind: Filled, entity: EntityRef<'a> } {}
}

/// Schema of a description.
pub(crate) fn document_schema(to: &mut Schemas) -> Value {
    let statements = Vec::<Statement<'_>>::schema(to);
    schema::object([
        ("$schema", Text::schema(to), true),
        ("eitri", json!({"const": super::read::VERSION}), false),
        ("target", super::target::target_schema(to), false),
        ("describe", statements, false),
        ("spirv", super::spirv::Bound::schema(to), true),
    ])
}
