//! Statements: the elements of `describe`, field by field. Reading and writing share these types.

use core::marker::PhantomData;
use core::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::choices::{BaseAt, EntityRef, ExecOf, Filled, MacroStep, Selector, TemplateArgument};
use super::frames::FrameOf;
use super::functions::Stack;
use super::ids::Known;
use super::kinds::kind;
use super::language;
use super::later::Later;
use super::lists::{Elements, Live, MaskAt, Row, Rule, Slots};
use super::loc::{ExpressionAt, NumberAt, Place};
use super::read::Reader;
use super::rows::{
    Name, NoFacts, Outcome, Property, call, declare, facts, makes, owner, parts, set, to_json, written,
};
use super::schema::{self, HasSchema, Schemas};
use super::shape::shaped;
use super::values::{Bytes, Integer, Line, Named, Number, Signed, Text, Word};
use crate::build::{self, Blame, DataMember, Extent, Major};
use crate::error::{Error, Result};
use crate::model::entities::{
    call_properties, dimension_properties, file_properties, function_properties, import_properties,
    label_properties, member_properties, region_properties, scope_properties, template_properties,
    type_properties, unit_properties, variable_properties,
};
use crate::model::{
    self, Accessibility, BaseEncoding, CallId, CompositeKind, Defaulted, DescribedCalls, Dimension, Entity,
    FileId, FrameRule, FunctionId, ImportId, Imported, LabelId, LocId, Macro, Mask, MemorySpace, Passed,
    PointerKind, Qualifier, RegionId, RegionKind, ScopeId, ScopeKind, TemplateParameter, TypeId, TypeKind,
    UnitId, VariableId, VariableKind, VariantValues, Virtuality,
};
use crate::op::{Dialect, FixupKind};
use crate::target::SpaceId;

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

unit_properties! {
    facts UnitFacts of |known, id: UnitId| known.module.unit(id), set UnitId: [by describe_unit],
    statements {
        |reader, unit, unit| unit_statement of (), in name, named_unit;
        Unit with id {} {} () => { unit } named by name;
    }
    statements {
        |reader, unit, unit| describe_unit of (), in unit, unnamed;
        DescribeUnit {} {} () => { unit };
    }
}
file_properties! {
    facts FileFacts of |known, id: FileId| known.module.file(id), set FileId: [by id],
    statements {
        |reader, unit, unit| file_statement of &'m model::File, in unit, named_file;
        File with id { name: [text] } {} + directory {}
            model::File { name, directory, .. } => file(name, directory.as_deref()) named by name;
    }
}
scope_properties! {
    facts ScopeFacts of |known, id: ScopeId| known.module.scope(id), set ScopeId: [by id],
    statements {
        |reader, scope, unit| describe_scope of (), in scope, unnamed;
        DescribeScope {} {} () => { scope };
    }
}
function_properties! {
    facts FunctionFacts of |known, id: FunctionId| known.module.function(id), set FunctionId: [by describe_function],
    statements {
        |reader, scope, unit| function_statement of &'m model::Function, in r#in, named_function;
        FunctionDefinition with id { declaration: [scoped function] } {}
            model::Function { specification: Some(declaration), .. }
                => { reader.builder.function_definition(scope, declaration)?.id() };
        Function with id { name: [text] } { declaration: [flag] }
            model::Function { name, is_declaration: declaration, .. } => {
                match declaration {
                    true => reader.builder.function_declaration(scope, name)?.id(),
                    false => reader.builder.function(scope, name)?.id(),
                }
            } named by name;
    }
    statements {
        |reader, function, unit| describe_function of (), in function, unnamed;
        DescribeFunction {} {} () => { function };
    }
}
variable_properties! {
    facts VariableFacts of |known, id: VariableId| known.module.variable(id), set VariableId: [by describe_variable],
    statements {
        |reader, scope, unit|
        /// Returns the statement of a variable with its constant value.
        variable_statement of (&'m model::Variable, Bytes), in r#in, named_variable;
        InlinedVariable with id { origin: [variable] } {}
            (model::Variable { origin: Some(origin), .. }, _)
                => { reader.builder.inlined_variable(scope, origin)?.id() };
        Definition with id { member: [variable] } {}
            (model::Variable { specification: Some(member), .. }, _)
                => { reader.builder.definition(scope, member)?.id() };
        Constant with id { name: [maybe_empty text], r#type: [type], value: [constant] } {}
            (model::Variable { kind: VariableKind::Constant, name, ty: r#type, .. }, ref value)
                => constant(name, r#type, value);
        Parameter with id { name: [maybe_empty text], r#type: [type] } {}
            (model::Variable { kind: VariableKind::Parameter, name, ty: r#type, .. }, _)
                => { reader.builder.parameter(scope, name, r#type)?.id() };
        Variable with id { name: [maybe_empty text], r#type: [type] } { declaration: [flag] }
            (model::Variable { name, ty: r#type, is_declaration: declaration, .. }, _) => {
                match declaration {
                    true => reader.builder.extern_variable(scope, name, r#type)?.id(),
                    false => reader.builder.variable(scope, name, r#type)?.id(),
                }
            };
    }
    statements {
        |reader, variable, unit| describe_variable of (), in variable, unnamed;
        DescribeVariable {} {} () => { variable };
    }
}
call_properties! {
    facts CallFacts of |known, id: CallId| known.module.call(id), set CallId: [by describe_call],
    statements {
        |reader, scope, unit| call_statement of (), in r#in, named_call;
        Call with id {} {} () => { reader.builder.call(scope)?.id() };
    }
    statements {
        |reader, call, unit| describe_call of (), in call, unnamed;
        DescribeCall {} {} () => { call };
    }
}
import_properties! {
    facts ImportFacts of |known, id: ImportId| &known.module.imports[id], set ImportId: [by describe_import],
    statements {
        |reader, scope, unit| import_statement of &'m Imported, in r#in, unnamed;
        Import {} {} + imported {} imported => { reader.builder.import(scope, imported)?.id() };
    }
}
label_properties! {
    facts LabelFacts of |known, id: LabelId| &known.module.labels[id], set LabelId: [by describe_label],
    statements {
        |reader, scope, unit| label_statement of &'m model::Label, in r#in, unnamed;
        Label { name: [text] } {} model::Label { name, .. } => { reader.builder.label(scope, name)?.id() };
    }
}
region_properties! {
    facts RegionFacts of |known, id: RegionId| known.module.region(id), set RegionId: [by id],
    statements {
        |reader, scope, unit|
        /// Returns the statement of a region with its pcs, the pc at which lanes wait, and its masks.
        region_statement of (&'m model::Region, Range<u64>, u64, &'m [Mask]), in r#in, named_region;
        Region with id { kind: [word RegionKind], pcs: [pc_range], waits_at: [long], masks: [masks] } {} + inside {}
            (model::Region { kind, parent: inside, .. }, ref pcs, ref waits_at, masks) => {
                let mut lanes = reader.builder.lanes(scope)?;
                if let Some(inside) = inside {
                    lanes.inside(inside)?;
                }
                let region = lanes.region(kind, pcs, waits_at, &masks)?;
                reader.seek(|blame| *blame == Blame::Region(region))?;
                region
            };
    }
}
type_properties! {
    facts TypeFacts of |known, id: TypeId| known.module.ty(id), set TypeId: [by describe_type],
    statements {
        |reader, unit, unit|
        /// Returns the statement that describes a type. Even without properties, an equal type of a later statement is
        /// another one.
        describe_type of TypeId, in unit, unnamed;
        DescribeType { r#type: [type] } {} ref r#type => {
            reader.builder.describe_type(r#type)?;
            r#type
        };
    }
}
member_properties! {
    facts MemberFacts of |known, member: &model::Member| member, set &mut DataMember<'_>: [by value],
    object Member { unit: Ref<'a>, r#type: Ref<'a> } { of: Ref<'a>, variant: Ref<'a> }
    object Discriminant { r#type: Ref<'a> } {}
}
dimension_properties! {
    facts ExtentFacts of |known, dimension: &Dimension| dimension, set &mut Extent: [by clone],
    object ExtentOf {} {}
}
template_properties! {
    facts TemplateFacts of |known, parameter: &TemplateParameter| parameter, set &mut build::Template<'_>: [by clone],
    object Template { argument: TemplateArgument<'a> } { unit: Ref<'a>, of: Ref<'a>, function: Ref<'a> }
    object Packed { argument: TemplateArgument<'a> } {}
}
parts! {
    |reader, unit| model::Member => DataMember<'_>, with MemberFacts;
    Discriminant { r#type: [type] } model::Member { ty: r#type, name, .. }
        => place.member(name, r#type), named by name, where place is chosen;
}
parts! {
    |reader, unit| Dimension => Extent, with ExtentFacts;
    ExtentOf {} _ => count, where count is chosen;
}
parts! {
    |reader, unit| TemplateParameter => build::Template<'_>, with TemplateFacts;
    Template { argument: [argument] } TemplateParameter { name, argument, .. }
        => argument.read(reader, unit, name)?, named by name;
    Packed { argument: [argument] } TemplateParameter { name, argument, .. }
        => argument.read(reader, unit, name)?, named by name;
}

makes! {
    |reader, call, unit|
    /// Returns the statement of an argument with the location and the value of the object to which it points.
    argument_statement of (&'m model::Argument, Option<(LocId, LocId)>), in call, unnamed;
    Argument { location: [loc] } { parameter: [variable], value: [val], points_to: [loc_val] }
        (model::Argument { location, parameter, value, .. }, ref points_to) => {
            let mut call = reader.builder.describe_call(call)?;
            let mut argument = call.argument(location)?;
            if let Some(value) = value {
                argument.value(value)?;
            }
            if let Some((location, value)) = points_to {
                argument.points_to(&location, value)?;
            }
            if let Some(parameter) = parameter {
                argument.parameter(parameter)?;
            }
        };
}
makes! {
    |reader, unit, unit| procedure_statement of (Text<'m>, LocId), in unit, named_procedure;
    Procedure { id: [id], loc: [loc] } {} (ref id, ref loc) => procedure(loc) named by id;
}
makes! {
    |reader, scope, unit| lanes_statement of (), in r#in, unnamed;
    Lanes {} {} () => { reader.builder.lanes(scope).map(|_| ())? };
}
makes! {
    |reader, scope, unit| whole_wave_statement of (Range<u64>, LocId), in r#in, unnamed;
    WholeWave { pcs: [pc_range], mask: [loc] } {} (ref pcs, ref mask) => {
        reader.builder.lanes(scope)?.whole_wave(pcs.clone(), mask)?;
        let function = reader.builder.described().function_of(scope);
        reader.seek(|blame| function.is_some_and(|of| *blame == Blame::WholeWave(of, pcs)))?
    };
}
makes! {
    |reader, function, unit| rows_statement of &'m [model::Row], in function, unnamed;
    Rows { rows: [later Row] } {}
        rows => { reader.rows(function, unit, rows)? };
}
makes! {
    |reader, function, unit|
    /// Returns the statement of a frame with its rules and its extent. The other keys stand for rules.
    frame_statement of (Option<&'m [FrameRule]>, Option<Range<i64>>), in function, unnamed;
    Frame {} {
        rules: [later Rule], return_address: [short Vec<(Number, Number, Named<'a>, Named<'a>)>],
        saved_to_scratch: [short Later<'a, Slots>], entry_function: [short bool], extent: [signed_range]
    } (ref rules, ref extent) => {
        let frame = FrameOf { function, unit };
        frame.rules(reader, rules)?;
        frame.slots(reader, saved_to_scratch)?;
        frame.return_addresses(reader, return_address)?;
        let mut frame = reader.builder.frame(function)?;
        if entry_function == Some(true) {
            frame.entry_function()?;
        }
        if let Some(extent) = extent {
            frame.extent(extent)?;
        }
    };
}
makes! {
    |reader, unit, unit| macros_statement of &'m [Macro], in unit, unnamed;
    Macros { macros: [macros] } {}
        macros => { macros.iter_mut().try_for_each(|step| step.read(reader, unit))? };
}
makes! {
    |reader, unit, unit|
    /// Returns the statement of a base class of a type.
    base_statement of (TypeId, &'m model::Base), in unit, unnamed;
    Base { of: [type], r#type: [type] } { accessibility: [word Accessibility] }
        + offset { offset: [long], r#virtual: [expression] }
        (ref of, model::Base { ty: r#type, accessibility, offset, .. }) => {
            match offset {
                BaseAt::Offset(bytes) => drop(reader.builder.base(of, r#type, bytes, accessibility)?),
                BaseAt::Virtual(expr) => drop(reader.builder.virtual_base(of, r#type, expr, accessibility)?),
            }
        };
}
makes! {
    |reader, unit, unit|
    /// Returns the statement of a variant part of a type.
    variant_part_statement of (TypeId, Text<'m>, &'m model::Discriminant), in unit, named_part;
    VariantPart { of: [type], id: [id] } {} + discriminant { discriminant: [object Discriminant], untagged: [type] }
        (ref of, ref id, discriminant) => {
            match discriminant {
                Selector::Member(mut json) => {
                    let member = json.read(reader, unit)?;
                    reader.builder.variant_part(of, member)?
                }
                Selector::Type(untagged) => reader.builder.untagged_variant_part(of, untagged)?,
            }
        } named by id;
}
makes! {
    |reader, part, unit|
    /// Returns the statement of a variant of a variant part.
    variant_statement of (Text<'m>, &'m model::Variant), in part, named_variant;
    Variant { id: [id], values: [values] } {}
        (ref id, model::Variant { values, .. }) => variant(values) named by id;
}
makes! {
    |reader, unit, unit|
    /// Returns the statement of a type with its size in bits, if any, and whether it is a declaration.
    type_statement of (&'m TypeKind, u64, bool), in unit, named_type;
    BaseType with id { name: [text], encoding: [word BaseEncoding], bits: [long] } {}
        (TypeKind::Base { name, encoding }, ref bits, _) => base_type(name, encoding, bits) named by name;
    MemberPointer with id { class: [type], to: [type] } {}
        (TypeKind::MemberPointer { class, to }, ..) => member_pointer(class, to);
    UnspecifiedType with id { name: [text] } {}
        (TypeKind::Unspecified { name }, ..) => unspecified_type(name) named by name;
    Array with id { of: [type] } { stride_bits: [maybe_long] } + extents { counts: [counts], extents: [list ExtentOf] }
        (TypeKind::Array { of, dimensions: extents, stride_bits }, ..) => array_of(of, &extents, stride_bits);
    Vector with id { of: [type], count: [long] } { packed: [flag] }
        (TypeKind::Vector { of, count, is_packed: packed }, ..) => vector_of(of, count, packed);
    Matrix with id { of: [type], count: [long] } { column_major: [flag], stride_bits: [maybe_long] }
        (TypeKind::Matrix { of, count, is_column_major: column_major, stride_bits }, ..)
            => matrix_of(of, count, major(column_major), stride_bits);
    Typedef with id { name: [text] } { of: [type] } (TypeKind::Typedef { name, of }, ..) => typedef(name, of) named by name;
    Qualified with id { qualifier: [word Qualifier] } { of: [type] }
        (TypeKind::Qualified { qualifier, of }, ..) => qualified(qualifier, of);
    Subroutine with id { parameters: [types] } { returns: [type] }
        (TypeKind::Subroutine { returns, parameters }, ..) => subroutine(returns, parameters);
    Pointer with id {} { to: [type], kind: [default PointerKind], space: [space], memory_space: [word MemorySpace] }
        (TypeKind::Pointer { kind, to, space, memory: memory_space }, ..)
            => pointer_of(kind, to, space, memory_space);
    Incomplete with id { kind: [word CompositeKind], name: [maybe_empty text] } {}
        (TypeKind::Composite(model::Composite { kind, name, .. }), _, true) => incomplete(kind, name) named by name;
    Structure with id { bytes: [bytes] } { name: [text] }
        (TypeKind::Composite(model::Composite { kind: CompositeKind::Struct, name, .. }), ref bytes, false)
            => structure(name, bytes) named by name;
    Class with id { bytes: [bytes] } { name: [text] }
        (TypeKind::Composite(model::Composite { kind: CompositeKind::Class, name, .. }), ref bytes, false)
            => class(name, bytes) named by name;
    Union with id { bytes: [bytes] } { name: [text] }
        (TypeKind::Composite(model::Composite { kind: CompositeKind::Union, name, .. }), ref bytes, false)
            => union(name, bytes) named by name;
    Enumeration with id { of: [type], enumerators: [enumerators] } { name: [text], class: [flag] }
        (TypeKind::Enum { name, of, enumerators, is_class: class }, ..)
            => enumeration_of(name, of, enumerators, class) named by name;
}
makes! {
    |reader, scope, unit|
    /// Returns the statement of a scope with its origin and its ranges; `None` for one that belongs to another entity.
    scope_statement of (&'m ScopeKind, Option<ScopeId>, &'m [Range<u64>]), in r#in, named_scope,
        none for { (ScopeKind::Unit | ScopeKind::Function(_) | ScopeKind::Type(_), ..) };
    Namespace with id {} { name: [text], inline: [maybe_flag] } (ScopeKind::Namespace { name, is_inline: inline }, ..)
        => namespace_of(name, is_inline(name, inline)?) named by name;
    Block with id { pcs: [pcs] } {} (ScopeKind::Block, None, pcs) => block(pcs) at "pcs";
    InlinedBlock with id { origin: [scope], pcs: [pcs] } {}
        (ScopeKind::Block, Some(ref origin), pcs) => inlined_block(origin, pcs) at "pcs";
    Inlined with id { function: [function], pcs: [pcs], call: [line] } {}
        (ScopeKind::Inlined { function, call }, _, pcs) => inlined(function, pcs, call) at "pcs";
}

fn major(is_column_major: bool) -> Major {
    if is_column_major { Major::Column } else { Major::Row }
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
}

/// Values of a discriminant: one, or an inclusive range.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(untagged, expecting = "a number of 64 bits, or a list of the first and the last")]
pub(super) enum Values {
    Single(Integer),
    Range(Integer, Integer),
}

impl HasSchema for Values {
    fn schema(to: &mut Schemas) -> Value {
        json!({"anyOf": [Integer::schema(to), <(Integer, Integer)>::schema(to)]})
    }
}

/// Statements that are read as a whole, with their fields.
macro_rules! statements { ($($variant:ident $key:literal $object:ident;)*) => {
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
                $(Self::$variant(json) => json.apply(reader),)*
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
    Variable "variable" Variable;
    Parameter "parameter" Parameter;
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
}
declare! { Fixup { offset: u32, kind: Filled, entity: EntityRef<'a> } {} with none {} }
parts! {
    |reader, unit| (u32, FixupKind, Entity) => (u32, FixupKind, Entity), with ();
    Fixup { offset: [number u32], kind: [choice Filled], entity: [choice EntityRef<'_>] }
        (offset, kind, entity) => (offset, kind, entity);
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
