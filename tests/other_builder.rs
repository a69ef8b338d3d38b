//! The promise: in debug builds, another builder's id is an error at each call that takes an id, and not another entity.

use std::collections::BTreeSet;
use std::path::Path;

use eitri::Result;
use eitri::build::{AttributeValue, Builder, DataMember, Extent, Major, Template, VariantId};
use eitri::error::{Error, ErrorKind};
use eitri::model::{
    Address, BaseEncoding, CallId, CompositeKind, Entity, ExprId, FileId, FunctionId, ImportId, Imported,
    LabelId, LineTableRow, Loc, PointerKind, ProcedureId, Qualifier, RegionId, RegionKind, ScopeId,
    SourceLine, Symbol, TypeId, UnitId, Val, VariableId, VariantPartId,
};
use eitri::op::Expr;
use eitri::target::{Gfx, SpaceId, Target, Wave};
use syn::visit::Visit;
use syn::{FnArg, Ident, ImplItem, Item, Type, Visibility};

use crate::common::ROOT;

/// A vendor's attribute.
const VENDOR: gimli::DwAt = gimli::DwAt(0x3000);

/// Ids of each kind.
struct Ids {
    unit: UnitId,
    file: FileId,
    int: TypeId,
    vector: TypeId,
    composite: TypeId,
    part: VariantPartId,
    variant: VariantId,
    namespace: ScopeId,
    block: ScopeId,
    inlined: ScopeId,
    function: FunctionId,
    callee: FunctionId,
    declared: FunctionId,
    variable: VariableId,
    parameter: VariableId,
    member: VariableId,
    call: CallId,
    import: ImportId,
    label: LabelId,
    procedure: ProcedureId,
    region: RegionId,
    expr: ExprId,
    symbol: Symbol,
}

impl Ids {
    fn line(&self) -> SourceLine {
        SourceLine::new(self.file, 1)
    }

    fn pointer(&self) -> Loc {
        Loc::pointer_to(self.variable, 0)
    }

    fn number(&self) -> Val {
        Val::address(self.symbol, 0)
    }
}

/// A module with an entity of each kind. Ids of all such modules are equal numbers.
fn described() -> Result<(Builder, Ids)> {
    let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32)?;
    let [s4, s6] = [gpu.sgpr(4)?, gpu.sgpr(6)?];
    let mut m = Builder::new(gpu);
    let unit = m.unit("a.cl");
    let file = m.primary_file(unit)?;
    let line = SourceLine::new(file, 1);
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let vector = m.vector(unit, int, 4)?;
    let composite = m.structure(unit, Some("s"), 16)?;
    m.template(composite, Template::ty("T", Some(int)))?;
    let part = m.variant_part(composite, DataMember::new("tag", int, 0))?;
    let variant = m.variant(part, &[])?;
    let member = m.static_member(composite, "shared", int)?.id();
    let namespace = m.namespace(unit, "n")?;
    let callee = m.function(unit, "callee")?.code("callee", 0x40).id();
    let parameter = m.parameter(callee, "p", int)?.id();
    let function = m.function(unit, "f")?.code("f", 0x40).kernel().id();
    let declared = m.function_declaration(unit, "declared")?.id();
    let block = m.block(function, &[0..0x20])?;
    let inlined = m.inlined(function, callee, &[0x20..0x40], line)?;
    let variable = m.variable(function, "x", int)?.id();
    let mut call = m.call(function)?;
    call.returns_to(0x10)?.calls(callee)?;
    let call = call.id();
    let import = m.import(unit, Imported::Namespace(namespace))?.id();
    let label = m.label(function, "l")?.id();
    let procedure = m.procedure(unit, &Loc::register(s4))?;
    let masks = [(0x4..0x10, Loc::register(s6))];
    let region = m.lanes(function)?.if_then(0x4..0x10, 0, &masks)?;
    let expr = m.expr(Expr::raw([]), &[])?;
    let symbol = m.symbol("table");
    let ids = Ids {
        unit,
        file,
        int,
        vector,
        composite,
        part,
        variant,
        namespace,
        block,
        inlined,
        function,
        callee,
        declared,
        variable,
        parameter,
        member,
        call,
        import,
        label,
        procedure,
        region,
        expr,
        symbol,
    };
    Ok((m, ids))
}

/// A call with an id of `b`; the other ids are the builder's.
type Call = fn(&mut Builder, &Ids, &Ids) -> Result<()>;

macro_rules! calls { ($($name:ident::$method:ident: $(|$m:ident, $a:ident, $b:ident| $call:expr),+;)*) => {
    &[$($((
        concat!(stringify!($name), "::", stringify!($method)),
        stringify!($call),
        |#[allow(unused)] $m, #[allow(unused)] $a, #[allow(unused)] $b| {
            let _ = $call?;
            Ok(())
        },
    )),+),*]
} }

/// Each public method of the room `build` that takes an id, for each id.
#[rustfmt::skip]
const CALLS: &[(&str, &str, Call)] = calls! {
    Builder::anonymous_namespace: |m, a, b| m.anonymous_namespace(b.unit), |m, a, b| m.anonymous_namespace(b.namespace);
    Builder::array: |m, a, b| m.array(b.unit, a.int, &[Some(2)]), |m, a, b| m.array(a.unit, b.int, &[Some(2)]);
    Builder::array_of: |m, a, b| m.array_of(b.unit, a.int, &[], None), |m, a, b| m.array_of(a.unit, b.int, &[], None),
        |m, a, b| m.array_of(a.unit, a.int, &[Extent::variable(b.variable)], None),
        |m, a, b| m.array_of(a.unit, a.int, &[Extent::value(b.number())], None),
        |m, a, b| m.array_of(a.unit, a.int, &[Extent::fixed(2).index(b.int)], None);
    Builder::attribute: |m, a, b| m.attribute(b.unit, VENDOR, AttributeValue::Flag).map(drop),
        |m, a, b| m.attribute(b.block, VENDOR, AttributeValue::Flag).map(drop),
        |m, a, b| m.attribute(b.int, VENDOR, AttributeValue::Flag).map(drop),
        |m, a, b| m.attribute(b.function, VENDOR, AttributeValue::Flag).map(drop),
        |m, a, b| m.attribute(b.variable, VENDOR, AttributeValue::Flag).map(drop),
        |m, a, b| m.attribute(b.call, VENDOR, AttributeValue::Flag).map(drop),
        |m, a, b| m.attribute(b.import, VENDOR, AttributeValue::Flag).map(drop),
        |m, a, b| m.attribute(b.label, VENDOR, AttributeValue::Flag).map(drop),
        |m, a, b| m.attribute(a.unit, VENDOR, AttributeValue::Address(Address::Symbol(b.symbol, 0))).map(drop),
        |m, a, b| m.attribute(a.unit, VENDOR, AttributeValue::Location(b.pointer())).map(drop),
        |m, a, b| m.attribute(a.unit, VENDOR, AttributeValue::Number(b.number())).map(drop),
        |m, a, b| m.attribute(a.unit, VENDOR, AttributeValue::Type(b.int)).map(drop),
        |m, a, b| m.attribute(a.unit, VENDOR, AttributeValue::Function(b.function)).map(drop),
        |m, a, b| m.attribute(a.unit, VENDOR, AttributeValue::Variable(b.variable)).map(drop);
    Builder::base: |m, a, b| m.base(b.composite, a.composite, 0, None).map(drop), |m, a, b| m.base(a.composite, b.int, 0, None).map(drop);
    Builder::base_type: |m, a, b| m.base_type(b.unit, "u", BaseEncoding::Unsigned, 32);
    Builder::begins: |m, a, b| m.begins(b.block, a.line()), |m, a, b| m.begins(a.block, b.line());
    Builder::bit_field: |m, a, b| m.bit_field(b.composite, "b", a.int, 32, 1).map(drop),
        |m, a, b| m.bit_field(b.variant, "b", a.int, 32, 1).map(drop), |m, a, b| m.bit_field(a.composite, "b", b.int, 32, 1).map(drop);
    Builder::block: |m, a, b| m.block(b.function, &[0..4]), |m, a, b| m.block(b.block, &[0..4]);
    Builder::call: |m, a, b| m.call(b.function).map(drop), |m, a, b| m.call(b.inlined).map(drop);
    Builder::class: |m, a, b| m.class(b.unit, Some("c"), 4);
    Builder::constant: |m, a, b| m.constant(b.function, "c", a.int, &[0; 4]), |m, a, b| m.constant(a.function, "c", b.int, &[0; 4]);
    Builder::common_block: |m, a, b| m.common_block(b.function, "c");
    Builder::cooperative_matrix: |m, a, b| m.cooperative_matrix(b.unit, a.int, 3, 16, 16, 0),
        |m, a, b| m.cooperative_matrix(a.unit, b.int, 3, 16, 16, 0);
    Builder::data_member: |m, a, b| m.data_member(b.composite, DataMember::new("d", a.int, 4)).map(drop),
        |m, a, b| m.data_member(a.composite, DataMember::new("d", b.int, 4)).map(drop),
        |m, a, b| finished(m, |m| m.data_member(a.composite, DataMember::new("d", a.int, 4).declared(b.line())).map(drop));
    Builder::definition: |m, a, b| m.definition(b.unit, a.member).map(drop), |m, a, b| m.definition(a.unit, b.member).map(drop);
    Builder::describe_call: |m, a, b| m.describe_call(b.call).map(drop);
    Builder::describe_function: |m, a, b| m.describe_function(b.function).map(drop);
    Builder::describe_import: |m, a, b| m.describe_import(b.import).map(drop);
    Builder::describe_label: |m, a, b| m.describe_label(b.label).map(drop);
    Builder::describe_type: |m, a, b| m.describe_type(b.int).map(drop);
    Builder::describe_unit: |m, a, b| m.describe_unit(b.unit).map(drop);
    Builder::describe_variable: |m, a, b| m.describe_variable(b.variable).map(drop);
    Builder::discriminator: |m, a, b| m.discriminator(b.block, 1);
    Builder::entry_pc: |m, a, b| m.entry_pc(b.function, 4), |m, a, b| m.entry_pc(b.block, 4);
    Builder::enum_class: |m, a, b| m.enum_class(b.unit, None, a.int, &[]), |m, a, b| m.enum_class(a.unit, None, b.int, &[]);
    Builder::enumeration: |m, a, b| m.enumeration(b.unit, None, a.int, &[]), |m, a, b| m.enumeration(a.unit, None, b.int, &[]);
    Builder::expr: |m, a, b| m.expr(Expr::raw([]), &[Entity::Variable(b.variable)]),
        |m, a, b| m.expr(Expr::raw([]), &[Entity::Type(b.int)]),
        |m, a, b| m.expr(Expr::raw([]), &[Entity::Procedure(b.procedure)]),
        |m, a, b| m.expr(Expr::raw([]), &[Entity::Symbol(b.symbol, 0)]);
    Builder::extern_variable: |m, a, b| m.extern_variable(b.unit, "e", a.int).map(drop), |m, a, b| m.extern_variable(a.unit, "e", b.int).map(drop);
    Builder::file: |m, a, b| m.file(b.unit, "b.h", None);
    Builder::file_md5: |m, a, b| m.file_md5(b.file, [0; 16]);
    Builder::file_source: |m, a, b| m.file_source(b.file, "");
    Builder::frame: |m, a, b| m.frame(b.function).map(drop);
    Builder::function: |m, a, b| m.function(b.unit, "g").map(drop), |m, a, b| m.function(b.namespace, "g").map(drop), |m, a, b| m.function(b.composite, "g").map(drop);
    Builder::function_declaration: |m, a, b| m.function_declaration(b.unit, "g").map(drop);
    Builder::function_definition: |m, a, b| m.function_definition(b.unit, a.declared).map(drop), |m, a, b| m.function_definition(a.unit, b.declared).map(drop);
    Builder::function_instance: |m, a, b| m.function_instance(b.unit, a.callee).map(drop), |m, a, b| m.function_instance(a.unit, b.callee).map(drop);
    Builder::import: |m, a, b| m.import(b.unit, Imported::Namespace(a.namespace)).map(drop),
        |m, a, b| m.import(a.unit, Imported::Namespace(b.namespace)).map(drop), |m, a, b| m.import(a.unit, Imported::AllOf(b.namespace)).map(drop),
        |m, a, b| m.import(a.unit, Imported::Function(b.callee)).map(drop), |m, a, b| m.import(a.unit, Imported::Variable(b.member)).map(drop),
        |m, a, b| m.import(a.unit, Imported::Type(b.int)).map(drop), |m, a, b| m.import(a.unit, Imported::Member(b.composite, 0)).map(drop);
    Builder::incomplete: |m, a, b| m.incomplete(b.unit, CompositeKind::Struct, "i");
    Builder::inline_namespace: |m, a, b| m.inline_namespace(b.unit, "i");
    Builder::inlined: |m, a, b| m.inlined(b.function, a.callee, &[], a.line()), |m, a, b| m.inlined(a.function, b.callee, &[], a.line()),
        |m, a, b| m.inlined(a.function, a.callee, &[], b.line());
    Builder::inlined_block: |m, a, b| m.inlined_block(b.inlined, a.block, &[]), |m, a, b| m.inlined_block(a.inlined, b.block, &[]);
    Builder::inlined_variable: |m, a, b| m.inlined_variable(b.inlined, a.parameter).map(drop), |m, a, b| m.inlined_variable(a.inlined, b.parameter).map(drop);
    Builder::label: |m, a, b| m.label(b.function, "m").map(drop);
    Builder::lanes: |m, a, b| m.lanes(b.function).map(drop), |m, a, b| m.lanes(b.inlined).map(drop);
    Builder::macros: |m, a, b| m.macros(b.unit).map(drop);
    Builder::matrix: |m, a, b| m.matrix(b.unit, a.vector, 2, Major::Row), |m, a, b| m.matrix(a.unit, b.vector, 2, Major::Row);
    Builder::matrix_of: |m, a, b| m.matrix_of(b.unit, a.vector, 2, Major::Row, None), |m, a, b| m.matrix_of(a.unit, b.vector, 2, Major::Row, None);
    Builder::member: |m, a, b| m.member(b.composite, "m", a.int, 4).map(drop), |m, a, b| m.member(b.variant, "m", a.int, 4).map(drop),
        |m, a, b| m.member(a.composite, "m", b.int, 4).map(drop);
    Builder::member_pointer: |m, a, b| m.member_pointer(b.unit, a.composite, a.int), |m, a, b| m.member_pointer(a.unit, b.composite, a.int),
        |m, a, b| m.member_pointer(a.unit, a.composite, b.int);
    Builder::language_module: |m, a, b| m.language_module(b.unit, "m");
    Builder::namelist: |m, a, b| m.namelist(b.function, "l");
    Builder::namespace: |m, a, b| m.namespace(b.unit, "n"), |m, a, b| m.namespace(b.namespace, "n");
    Builder::packed_vector: |m, a, b| m.packed_vector(b.unit, a.int, 3), |m, a, b| m.packed_vector(a.unit, b.int, 3);
    Builder::parameter: |m, a, b| m.parameter(b.function, "p", a.int).map(drop), |m, a, b| m.parameter(a.function, "p", b.int).map(drop);
    Builder::pointer: |m, a, b| m.pointer(b.unit, None), |m, a, b| m.pointer(a.unit, Some(b.int));
    Builder::pointer_into: |m, a, b| m.pointer_into(b.unit, None, SpaceId::DEFAULT), |m, a, b| m.pointer_into(a.unit, Some(b.int), SpaceId::DEFAULT);
    Builder::pointer_of: |m, a, b| m.pointer_of(b.unit, PointerKind::Pointer, None, SpaceId::DEFAULT, None),
        |m, a, b| m.pointer_of(a.unit, PointerKind::Pointer, Some(b.int), SpaceId::DEFAULT, None);
    Builder::primary_file: |m, a, b| m.primary_file(b.unit);
    Builder::procedure: |m, a, b| m.procedure(b.unit, &Loc::undefined()), |m, a, b| m.procedure(a.unit, &b.pointer());
    Builder::qualified: |m, a, b| m.qualified(b.unit, Qualifier::Const, None), |m, a, b| m.qualified(a.unit, Qualifier::Const, Some(b.int));
    Builder::reference: |m, a, b| m.reference(b.unit, a.int), |m, a, b| m.reference(a.unit, b.int);
    Builder::row: |m, a, b| m.row(b.function, LineTableRow::new(0, a.file, 1)), |m, a, b| m.row(a.function, LineTableRow::new(0, b.file, 1));
    Builder::rvalue_reference: |m, a, b| m.rvalue_reference(b.unit, a.int), |m, a, b| m.rvalue_reference(a.unit, b.int);
    Builder::dynamic_composite: |m, a, b| m.dynamic_composite(b.unit, CompositeKind::Struct, None);
    Builder::variant_part_by: |m, a, b| m.variant_part_by(b.composite, 0);
    Builder::sized_enumeration: |m, a, b| m.sized_enumeration(b.unit, None, 4, &[]);
    Builder::set_type: |m, a, b| m.set_type(b.unit, None, None, None), |m, a, b| m.set_type(a.unit, None, Some(b.int), None);
    Builder::static_member: |m, a, b| m.static_member(b.composite, "t", a.int).map(drop), |m, a, b| m.static_member(a.composite, "t", b.int).map(drop);
    Builder::structure: |m, a, b| m.structure(b.unit, None, 4);
    Builder::string_type: |m, a, b| m.string_type(b.unit, None, None);
    Builder::subrange_type: |m, a, b| m.subrange_type(b.unit, None, None, None), |m, a, b| m.subrange_type(a.unit, None, Some(b.int), None);
    Builder::subroutine: |m, a, b| m.subroutine(b.unit, None, &[]), |m, a, b| m.subroutine(a.unit, Some(b.int), &[]), |m, a, b| m.subroutine(a.unit, None, &[b.int]);
    Builder::template: |m, a, b| m.template(b.composite, Template::ty("U", None)).map(drop),
        |m, a, b| m.template(a.composite, Template::ty("U", Some(b.int))).map(drop), |m, a, b| m.template(a.composite, Template::value("U", b.int, &[0; 4])).map(drop),
        |m, a, b| m.template(a.composite, Template::value_at("U", a.int, b.pointer())).map(drop);
    Builder::typedef: |m, a, b| m.typedef(b.unit, "t", None), |m, a, b| m.typedef(a.unit, "t", Some(b.int));
    Builder::variadic_subroutine: |m, a, b| m.variadic_subroutine(b.unit, None, &[]),
        |m, a, b| m.variadic_subroutine(a.unit, Some(b.int), &[]), |m, a, b| m.variadic_subroutine(a.unit, None, &[b.int]);
    Builder::union: |m, a, b| m.union(b.unit, None, 4);
    Builder::unspecified_type: |m, a, b| m.unspecified_type(b.unit, "t");
    Builder::undiscriminated_variant_part: |m, a, b| m.undiscriminated_variant_part(b.composite);
    Builder::untagged_variant_part: |m, a, b| m.untagged_variant_part(b.composite, a.int), |m, a, b| m.untagged_variant_part(a.composite, b.int);
    Builder::variable: |m, a, b| m.variable(b.function, "v", a.int).map(drop), |m, a, b| m.variable(b.unit, "v", a.int).map(drop), |m, a, b| m.variable(a.function, "v", b.int).map(drop);
    Builder::variant: |m, a, b| m.variant(b.part, &[]);
    Builder::variant_part: |m, a, b| m.variant_part(b.composite, DataMember::new("d", a.int, 4)), |m, a, b| m.variant_part(a.composite, DataMember::new("d", b.int, 4));
    Builder::vector: |m, a, b| m.vector(b.unit, a.int, 2), |m, a, b| m.vector(a.unit, b.int, 2);
    Builder::virtual_base: |m, a, b| m.virtual_base(b.composite, a.composite, a.expr, None).map(drop),
        |m, a, b| m.virtual_base(a.composite, b.composite, a.expr, None).map(drop), |m, a, b| m.virtual_base(a.composite, a.composite, b.expr, None).map(drop);
    ArgumentBuilder::parameter: |m, a, b| m.describe_call(a.call)?.argument(&Loc::register(scalar()))?.parameter(b.parameter).map(drop);
    ArgumentBuilder::points_to: |m, a, b| m.describe_call(a.call)?.argument(&Loc::register(scalar()))?.points_to(&b.pointer(), Val::constant(0)).map(drop),
        |m, a, b| m.describe_call(a.call)?.argument(&Loc::register(scalar()))?.points_to(&Loc::undefined(), b.number()).map(drop);
    ArgumentBuilder::points_to_value: |m, a, b| m.describe_call(a.call)?.argument(&Loc::register(scalar()))?.points_to_value(b.number()).map(drop);
    ArgumentBuilder::value: |m, a, b| m.describe_call(a.call)?.argument(&Loc::register(scalar()))?.value(b.number()).map(drop);
    CallBuilder::removed_argument: |m, a, b| m.describe_call(a.call)?.removed_argument(b.parameter).map(drop);
    CallBuilder::argument: |m, a, b| m.describe_call(a.call)?.argument(&b.pointer()).map(drop);
    CallBuilder::calls: |m, a, b| m.describe_call(a.call)?.calls(b.callee).map(drop);
    CallBuilder::clobbered_target: |m, a, b| m.describe_call(a.call)?.clobbered_target(b.number()).map(drop);
    CallBuilder::line: |m, a, b| m.describe_call(a.call)?.line(b.line()).map(drop);
    CallBuilder::target: |m, a, b| m.describe_call(a.call)?.target(b.number()).map(drop);
    FrameBuilder::cfa: |m, a, b| m.frame(a.function)?.cfa(0..4, Loc::memory(SpaceId::PRIVATE_WAVE, b.number())).map(drop);
    FrameBuilder::saved: |m, a, b| m.frame(a.function)?.saved(0..4, scalar(), Loc::global_symbol(b.symbol)).map(drop);
    FrameBuilder::saved_to_scratch: |m, a, b| m.frame(a.function)?.saved_to_scratch(0..4, vector(), 0, Some(b.number())).map(drop);
    FunctionBuilder::address: |m, a, b| finished(m, |m| m.describe_function(a.function).map(|mut it| { it.address(Address::Symbol(b.symbol, 0), 0x40); }));
    FunctionBuilder::code_part: |m, a, b| finished(m, |m| m.describe_function(a.function)?.code_part(0x1000..0x1004, Address::Symbol(b.symbol, 0)).map(drop));
    FunctionBuilder::declared: |m, a, b| finished(m, |m| m.describe_function(a.function).map(|mut it| { it.declared(b.line()); }));
    FunctionBuilder::frame_base: |m, a, b| m.describe_function(a.function)?.frame_base(&Loc::global_symbol(b.symbol)).map(drop);
    FunctionBuilder::frame_base_at: |m, a, b| m.describe_function(a.function)?.frame_base_at(0..4, &Loc::global_symbol(b.symbol)).map(drop);
    FunctionBuilder::object_pointer: |m, a, b| m.describe_function(a.callee)?.object_pointer(b.parameter).map(drop);
    FunctionBuilder::returns: |m, a, b| m.describe_function(a.function)?.returns(b.int).map(drop);
    FunctionBuilder::static_link: |m, a, b| m.describe_function(a.function)?.static_link(&Loc::global_symbol(b.symbol)).map(drop);
    FunctionBuilder::template: |m, a, b| m.describe_function(a.function)?.template(Template::ty("T", Some(b.int))).map(drop);
    FunctionBuilder::vtable_elem_location: |m, a, b| {
        let member = m.function_declaration(a.composite, "member")?.id();
        m.describe_function(member)?.vtable_elem_location(&Loc::expr(b.expr)).map(drop)
    };
    ImportBuilder::declared: |m, a, b| m.describe_import(a.import)?.declared(b.line()).map(drop);
    LabelBuilder::declared: |m, a, b| m.describe_label(a.label)?.declared(b.line()).map(drop);
    LanesBuilder::early_return: |m, a, b| m.lanes(a.function)?.early_return(0x10..0x14, 0x20, &[(0x10..0x14, b.pointer())]);
    LanesBuilder::if_else: |m, a, b| m.lanes(a.function)?.if_else(0x10..0x14, 0x14..0x18, 0x10, 0x18, &[(0x10..0x18, b.pointer())]);
    LanesBuilder::if_then: |m, a, b| m.lanes(a.function)?.if_then(0x14..0x18, 0x10, &[(0x14..0x18, b.pointer())]);
    LanesBuilder::inside: |m, a, b| m.lanes(a.function)?.inside(b.region).map(drop);
    LanesBuilder::loop_: |m, a, b| m.lanes(a.function)?.loop_(0x10..0x14, 0x14, &[(0x10..0x14, b.pointer())]);
    LanesBuilder::region: |m, a, b| m.lanes(a.function)?.region(RegionKind::Then, 0x14..0x18, 0x10, &[(0x14..0x18, b.pointer())]);
    LanesBuilder::switch: |m, a, b| m.lanes(a.function)?.switch(0x10..0x14, 0x10, 0x14, &[(0x10..0x14, b.pointer())], &[(0x10..0x14, Loc::register(scalar()))]),
        |m, a, b| m.lanes(a.function)?.switch(0x10..0x14, 0x10, 0x14, &[(0x10..0x14, Loc::register(scalar()))], &[(0x10..0x14, b.pointer())]);
    LanesBuilder::whole_wave: |m, a, b| m.lanes(a.function)?.whole_wave(0x10..0x14, &b.pointer()).map(drop);
    MacroBuilder::file: |m, a, b| m.macros(a.unit)?.file(0, b.file).map(drop);
    TypeBuilder::allocated: |m, a, b| m.describe_type(a.vector)?.allocated(AttributeValue::Variable(b.variable)).map(drop);
    TypeBuilder::associated: |m, a, b| m.describe_type(a.vector)?.associated(AttributeValue::Variable(b.variable)).map(drop);
    TypeBuilder::data_location: |m, a, b| m.describe_type(a.vector)?.data_location(&Loc::expr(b.expr)).map(drop);
    TypeBuilder::declared: |m, a, b| finished(m, |m| m.describe_type(a.composite).map(|mut it| { it.declared(b.line()); }));
    TypeBuilder::rank: |m, a, b| {
        let array = m.array(a.unit, a.int, &[None])?;
        m.describe_type(array)?.rank(AttributeValue::Variable(b.variable)).map(drop)
    };
    TypeBuilder::string_length: |m, a, b| {
        let text = m.string_type(a.unit, None, None)?;
        m.describe_type(text)?.string_length(AttributeValue::Variable(b.variable)).map(drop)
    };
    TypeBuilder::size: |m, a, b| {
        let record = m.dynamic_composite(a.unit, CompositeKind::Struct, None)?;
        m.describe_type(record)?.size(AttributeValue::Variable(b.variable)).map(drop)
    };
    TypeBuilder::lower_bound: |m, a, b| {
        let small = m.subrange_type(a.unit, None, None, None)?;
        m.describe_type(small)?.lower_bound(AttributeValue::Variable(b.variable)).map(drop)
    };
    TypeBuilder::upper_bound: |m, a, b| {
        let small = m.subrange_type(a.unit, None, None, None)?;
        m.describe_type(small)?.upper_bound(AttributeValue::Variable(b.variable)).map(drop)
    };
    TypeBuilder::use_location: |m, a, b| {
        let pointer = m.member_pointer(a.unit, a.composite, a.int)?;
        m.describe_type(pointer)?.use_location(&Loc::expr(b.expr)).map(drop)
    };
    TypeBuilder::within: |m, a, b| m.describe_type(a.composite)?.within(b.namespace).map(drop);
    VariableBuilder::always: |m, a, b| m.describe_variable(a.variable)?.always(b.pointer()).map(drop),
        |m, a, b| m.describe_variable(a.variable)?.always(Loc::call(b.procedure)).map(drop),
        |m, a, b| m.describe_variable(a.variable)?.always(Loc::expr(b.expr)).map(drop),
        |m, a, b| m.describe_variable(a.variable)?.always(Loc::global_symbol(b.symbol)).map(drop),
        |m, a, b| m.describe_variable(a.variable)?.always(Loc::parts([(Loc::global_symbol(a.symbol), 16), (Loc::global_symbol(b.symbol), 16)])).map(drop);
    VariableBuilder::completed_type: |m, a, b| m.definition(a.unit, a.member)?.completed_type(b.int).map(drop);
    VariableBuilder::declared: |m, a, b| finished(m, |m| m.describe_variable(a.variable).map(|mut it| { it.declared(b.line()); }));
    VariableBuilder::live: |m, a, b| m.variable(a.function, "y", a.int)?.live(0..4, b.pointer()).map(drop);
    VariableBuilder::live_in: |m, a, b| m.variable(a.function, "y", a.int)?.live_in(0..4, &[Loc::register(scalar()), b.pointer()]).map(drop);
};

/// A scalar register.
fn scalar() -> eitri::op::Reg {
    gpu().sgpr(8).expect("a register")
}

fn vector() -> eitri::op::Reg {
    gpu().vgpr(40).expect("a register")
}

fn gpu() -> Target {
    Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("gfx1030 runs waves of 32")
}

/// The errors of a call that returns no error, which `finish` has.
fn finished(m: &mut Builder, call: impl FnOnce(&mut Builder) -> Result<()>) -> Result<()> {
    call(m)?;
    m.hand_over(|_| Ok(()))
}

fn is_other(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::OtherBuilder(_))
        && error.to_string().contains("belongs to another builder")
}

#[test]
fn id_of_another_builder_is_an_error_at_each_call() {
    let mut wrong = Vec::new();
    for (_, text, call) in CALLS {
        let (mut m, ids) = described().expect("is correct");
        let (_other, others) = described().expect("is correct");
        match call(&mut m, &ids, &others) {
            Err(error) if is_other(&error) => {}
            result => wrong.push(format!("{text}: {result:?}")),
        }
        let (mut m, ids) = described().expect("is correct");
        if let Err(error) = call(&mut m, &ids, &ids)
            && is_other(&error)
        {
            wrong.push(format!("{text} with the builder's ids: {error}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The names in a type.
#[derive(Default)]
struct Names(Vec<String>);

impl Visit<'_> for Names {
    fn visit_ident(&mut self, name: &Ident) {
        self.0.push(name.to_string());
    }
}

#[test]
fn calls_with_ids_are_all_public_methods_that_take_one() {
    const IDS: &[&str] = &[
        "UnitId",
        "FileId",
        "TypeId",
        "VariantPartId",
        "VariantId",
        "ScopeId",
        "FunctionId",
        "VariableId",
        "CallId",
        "ImportId",
        "LabelId",
        "ProcedureId",
        "RegionId",
        "ExprId",
        "Symbol",
        "Entity",
        "SourceLine",
        "Imported",
        "LineTableRow",
        "Loc",
        "Val",
        "InScope",
        "HasMembers",
        "Extent",
        "Template",
        "DataMember",
        "Address",
        "AttributeOwner",
        "AttributeValue",
    ];
    // These values hold ids, and a call that takes the values checks the ids; `ControlFlow` describes its masks by
    // `LanesBuilder::region`.
    const VALUES: &[&str] = &["ControlFlow", "DataMember", "Extent", "Template"];
    let mut methods = BTreeSet::new();
    let mut folders = vec![Path::new(ROOT).join("src/build")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the folder exists") {
            let path = entry.expect("is readable").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("is text");
            for item in syn::parse_file(&text).expect("is Rust").items {
                let Item::Impl(implementation) = item else { continue };
                let Type::Path(owner) = &*implementation.self_ty else { continue };
                let owner = owner.path.segments.last().expect("a name").ident.to_string();
                if implementation.trait_.is_some() || VALUES.contains(&&*owner) {
                    continue;
                }
                for item in implementation.items {
                    let ImplItem::Fn(method) = item else { continue };
                    let takes_id = method.sig.inputs.iter().any(|input| match input {
                        FnArg::Typed(input) => {
                            let mut names = Names::default();
                            names.visit_type(&input.ty);
                            names.0.iter().any(|name| IDS.contains(&&**name))
                        }
                        FnArg::Receiver(_) => false,
                    });
                    if takes_id && matches!(method.vis, Visibility::Public(_)) {
                        methods.insert(format!("{owner}::{}", method.sig.ident));
                    }
                }
            }
        }
    }
    // Methods that a macro writes are not in the files.
    let called: BTreeSet<_> = CALLS.iter().map(|(name, ..)| (*name).to_owned()).collect();
    let missing: Vec<_> = methods.difference(&called).collect();
    assert!(missing.is_empty() && methods.len() > 80, "{} methods; missing: {missing:?}", methods.len());
}
