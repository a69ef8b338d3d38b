//! Statements: the elements of `describe`, field by field. Reading and writing share these types.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::choices::{EntityRef, ExecOf, MacroStep, TemplateArgument};
use super::frames::{RulesOf, Slots};
use super::ids::Known;
use super::kinds::{Outcome, Property, call, facts, kind, plain_types, set, to_json};
use super::language;
use super::later::Later;
use super::lists::{Live, Masks, Rows as RowsOf};
use super::loc::{ExpressionAt, NumberAt, Place};
use super::read::Reader;
use super::schema::{self, HasSchema, Schemas};
use super::shape::shaped;
use super::values::{Bytes, Integer, Line, Named, Number, Signed, Text, Word};
use crate::build::DataMember;
use crate::error::{Error, Result};
use crate::model::entities::{
    call_properties, file_properties, function_properties, import_properties, label_properties,
    member_properties, region_properties, scope_properties, type_properties, unit_properties,
    variable_properties,
};
use crate::model::{
    Accessibility, BaseEncoding, CallId, CompositeKind, Defaulted, DescribedCalls, FileId, FunctionId,
    ImportId, LabelId, Member as ModelMember, MemorySpace, Passed, PointerKind, Qualifier, RegionId,
    RegionKind, ScopeId, TypeId, TypeKind, UnitId, VariableId, Virtuality,
};
use crate::op::Dialect;
use crate::target::{Scaling, SpaceId};

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
    Region { r#in: Ref<'a>, kind: Word<RegionKind>, pcs: Pcs, waits_at: Number, masks: Later<'a, Masks<'a>> } {
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

plain_types! { {
    MemberPointer { class: [type], to: [type] } {} TypeKind::MemberPointer { class, to } => member_pointer(class, to);
    UnspecifiedType { name: [text] } {} TypeKind::Unspecified { name } => unspecified_type(name) named by name;
    Vector { of: [type], count: [long] } {} TypeKind::Vector { of, count } => vector(of, count);
    Matrix { of: [type], count: [long] } { column_major: [flag], stride_bits: [maybe_long] }
        TypeKind::Matrix { of, count, is_column_major: column_major, stride_bits }
            => matrix_of(of, count, column_major, stride_bits);
    Typedef { name: [text] } { of: [type] } TypeKind::Typedef { name, of } => typedef(name, of) named by name;
    Qualified { qualifier: [word Qualifier] } { of: [type] } TypeKind::Qualified { qualifier, of } => qualified(qualifier, of);
    Subroutine { parameters: [types] } { returns: [type] }
        TypeKind::Subroutine { returns, parameters } => subroutine(returns, parameters);
    Pointer {} { to: [type], kind: [default PointerKind], space: [space], memory_space: [word MemorySpace] }
        TypeKind::Pointer { kind, to, space, memory: memory_space } => pointer_of(kind, to, space, memory_space);
} by hand TypeKind::Base { .. }
    | TypeKind::Array { .. }
    | TypeKind::Composite(_)
    | TypeKind::Enum { .. }
}

objects! {
    /// Address of code: a symbol and an offset in bytes, or an address.
    Code { bytes: Number } { symbol: Text<'a>, offset: Number, address: Number }
    /// A stack frame.
    Stack {} { base: Named<'a>, scaling: Word<Scaling>, at_zero: bool }

    Namespace { r#in: Ref<'a> } { name: Text<'a>, inline: bool, id: Text<'a> }
    Argument { call: Ref<'a>, location: Loc<'a> } {
        parameter: Ref<'a>, value: Val<'a>, points_to: (Loc<'a>, Val<'a>),
    }
    Block { r#in: Ref<'a>, pcs: Vec<Pcs> } { id: Text<'a> }
    InlinedBlock { r#in: Ref<'a>, origin: Ref<'a>, pcs: Vec<Pcs> } { id: Text<'a> }
    Inlined { r#in: Ref<'a>, function: Ref<'a>, pcs: Vec<Pcs>, call: Line<'a> } { id: Text<'a> }
    Procedure { unit: Ref<'a>, id: Text<'a>, loc: Loc<'a> } {}
    Rows { function: Ref<'a>, rows: Later<'a, RowsOf<'a>> } {}
    Frame { function: Ref<'a> } {
        rules: Later<'a, RulesOf<'a>>, return_address: Vec<(Number, Number, Named<'a>, Named<'a>)>, saved_to_scratch: Later<'a, Slots>,
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

    BaseType { unit: Ref<'a>, name: Text<'a>, encoding: Word<BaseEncoding>, bits: Number } { id: Text<'a> }
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
    Structure "structure" Composite(CompositeKind::Struct);
    Class "class" Composite(CompositeKind::Class);
    Union "union" Composite(CompositeKind::Union);
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
        ("spirv", super::spirv::Bound::schema(to), true),
    ])
}
