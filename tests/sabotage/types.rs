//! Faults in types of C++ and Rust: the object is written from a module with one difference.

use eitri::build::{Builder, DataMember, Extent, Template};
use eitri::check::FindingKind::{self, Attribute, Extra, MissingEntry, Type};
use eitri::lower::Consumer;
use eitri::model::{
    Accessibility, BaseEncoding, CompositeKind, Loc, MemorySpace, Module, Passed, PointerKind, SourceLine,
    TypeId, Val, VariantValues,
};
use eitri::op::Expr;
use eitri::target::{SpaceId, Target};

use crate::sabotage::{Expected, all_found, missed, sections};

/// Contents of the module that faults change.
#[derive(Clone)]
struct Types {
    class: CompositeKind,
    alignment: u64,
    passed: Option<Passed>,
    line: u32,
    column: u32,
    file: usize,
    is_complete: bool,
    /// Scope; `None` for the unit's.
    scope: Option<&'static str>,
    in_class: bool,
    base: (bool, u64, Option<Accessibility>),
    has_base: bool,
    is_virtual: bool,
    virtual_offset: u64,
    access: Option<Accessibility>,
    is_mutable: bool,
    is_artificial: bool,
    member_line: u32,
    member_column: u32,
    templates: Vec<Template<'static>>,
    value: Loc,
    reference: PointerKind,
    memory: Option<MemorySpace>,
    member_pointer: (bool, bool),
    lower: Option<i64>,
    index: bool,
    stride: Option<u64>,
    count: Extent,
    number: Extent,
    is_enum_class: bool,
    largest: i128,
    unspecified: &'static str,
    has_discriminant: bool,
    discriminant_offset: u64,
    values: Vec<VariantValues>,
    variant_member: &'static str,
    variant_offset: u64,
    has_default: bool,
    has_part: bool,
    has_static: bool,
    static_name: &'static str,
    static_access: Option<Accessibility>,
    static_value: Option<u32>,
    is_defined: bool,
    specification: usize,
    definition_line: u32,
    variable_memory: Option<MemorySpace>,
    extra: Option<&'static str>,
}

fn v(n: u16) -> eitri::op::Reg {
    Target::named("amdgpu-gfx1030-wave32").unwrap().sgpr(n).unwrap()
}

impl Types {
    fn truth() -> Self {
        Self {
            class: CompositeKind::Class,
            alignment: 16,
            passed: Some(Passed::ByReference),
            line: 7,
            column: 5,
            file: 0,
            is_complete: false,
            scope: Some("ns"),
            in_class: true,
            base: (false, 0, Some(Accessibility::Public)),
            has_base: true,
            is_virtual: true,
            virtual_offset: 24,
            access: Some(Accessibility::Protected),
            is_mutable: true,
            is_artificial: false,
            member_line: 8,
            member_column: 9,
            templates: vec![
                Template::value("N", ty(0), &16u32.to_le_bytes()),
                Template::ty("T", None).default(),
                Template::named("C", "box"),
                Template::pack("R", [Template::ty("", Some(ty(0)))]),
            ],
            value: Loc::value(Val::register(v(4)).plus(4)),
            reference: PointerKind::Reference,
            memory: Some(MemorySpace::Group),
            member_pointer: (false, false),
            lower: Some(-1),
            index: true,
            stride: Some(64),
            count: Extent::unknown(),
            number: Extent::value(Val::register(v(6)).plus(1)),
            is_enum_class: true,
            largest: u64::MAX.into(),
            unspecified: "nothing",
            has_discriminant: true,
            discriminant_offset: 0,
            values: vec![VariantValues::Single(-1), VariantValues::Range(64, 127)],
            variant_member: "many",
            variant_offset: 4,
            has_default: true,
            has_part: true,
            has_static: true,
            static_name: "total",
            static_access: Some(Accessibility::Private),
            static_value: None,
            is_defined: true,
            specification: 0,
            definition_line: 30,
            variable_memory: Some(MemorySpace::Constant),
            extra: None,
        }
    }

    fn module(&self) -> Module {
        let mut m = Builder::new(Target::named("amdgpu-gfx1030-wave32").unwrap());
        let unit = m.unit("a.hip");
        let files = [m.primary_file(unit).unwrap(), m.file(unit, "b.h", None).unwrap()];
        let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
        assert_eq!(int, ty(0));
        let ulong = m.base_type(unit, "ulong", BaseEncoding::Unsigned, 64).unwrap();
        let spaces = ["ns", "other"].map(|name| (name, m.namespace(unit, name).unwrap()));
        let bases = ["first", "second"].map(|name| {
            let base = m.structure(unit, Some(name), 4).unwrap();
            m.member(base, name, int, 0).unwrap();
            base
        });
        let kernel = m.function(unit, "k").unwrap().code("k", 0x40).id();
        let counts = ["n", "m"].map(|name| {
            m.variable(kernel, name, ulong).unwrap().always(Loc::over([v(8), v(9)])).unwrap().id()
        });

        let class = match self.class {
            CompositeKind::Class => m.class(unit, Some("c"), 48),
            CompositeKind::Struct => m.structure(unit, Some("c"), 48),
            CompositeKind::Union => m.union(unit, Some("c"), 48),
        };
        let class = class.unwrap();
        m.describe_type(class)
            .unwrap()
            .declared(SourceLine::new(files[self.file], self.line).column(self.column))
            .alignment(self.alignment)
            .unwrap();
        if let Some(passed) = self.passed {
            m.describe_type(class).unwrap().passed(passed).unwrap();
        }
        if let Some((_, scope)) = spaces.iter().find(|(name, _)| Some(*name) == self.scope) {
            m.describe_type(class).unwrap().within(*scope).unwrap();
        }
        if self.has_base {
            m.base(class, bases[usize::from(self.base.0)], self.base.1, self.base.2).unwrap();
        }
        if self.is_virtual {
            let mut offset = Expr::build(Consumer::dwarf5().encoding(8));
            offset.ops().pick(0).deref().constu(self.virtual_offset).minus().deref().plus();
            let offset = m.expr(offset.finish().unwrap(), &[]).unwrap();
            m.virtual_base(class, bases[1], offset, None).unwrap();
        } else {
            m.base(class, bases[1], 0, None).unwrap();
        }
        let line = SourceLine::new(files[0], self.member_line).column(self.member_column);
        let mut member = DataMember::new("id", int, 8).declared(line);
        if let Some(access) = self.access {
            member = member.accessibility(access);
        }
        if self.is_mutable {
            member = member.mutable();
        }
        if self.is_artificial {
            member = member.artificial();
        }
        m.data_member(class, member).unwrap();
        for parameter in &self.templates {
            m.template(class, parameter.clone()).unwrap();
        }
        m.template(class, Template::value_at("P", ulong, self.value.clone())).unwrap();
        let nested = m.typedef(unit, "size", Some(int)).unwrap();
        if self.in_class {
            m.describe_type(nested).unwrap().within(class).unwrap();
        }
        let mut statics = Vec::new();
        for name in [self.static_name, "other"] {
            if self.has_static {
                let mut member = m.static_member(class, name, int).unwrap();
                if let Some(access) = self.static_access {
                    member.accessibility(access);
                }
                if let Some(value) = self.static_value {
                    member.always(Loc::implicit(&value.to_le_bytes())).unwrap();
                }
                statics.push(member.id());
            }
        }
        if let Some(&member) = statics.get(self.specification)
            && self.is_defined
        {
            let at = m.symbol("data");
            let mut definition = m.definition(unit, member).unwrap();
            definition
                .declared(SourceLine::new(files[0], self.definition_line))
                .always(Loc::global_symbol(at))
                .unwrap();
        }

        let hidden = if self.is_complete {
            m.structure(unit, Some("hidden"), 0).unwrap()
        } else {
            m.incomplete(unit, CompositeKind::Struct, "hidden").unwrap()
        };
        let to_hidden = m.pointer(unit, Some(hidden)).unwrap();
        let reference =
            m.pointer_of(unit, self.reference, Some(class), SpaceId::DEFAULT, self.memory).unwrap();
        let (of, to) = self.member_pointer;
        let of = if of { bases[0] } else { class };
        let to = if to { ulong } else { int };
        let member_pointer = m.member_pointer(unit, of, to).unwrap();
        let mut first = self.count.clone();
        if let Some(lower) = self.lower {
            first = first.from(lower);
        }
        if self.index {
            first = first.index(int);
        }
        let array = m.array_of(unit, int, &[first, self.number.clone()], self.stride).unwrap();
        let by_variable = Extent::variable(counts[if self.count == Extent::fixed(7) { 1 } else { 0 }]);
        let sized = m.array_of(unit, int, &[by_variable], None).unwrap();
        let values = [("off", 0), ("all", self.largest)];
        let enumeration = if self.is_enum_class {
            m.enum_class(unit, Some("e"), ulong, &values).unwrap()
        } else {
            m.enumeration(unit, Some("e"), ulong, &values).unwrap()
        };
        let unspecified = m.unspecified_type(unit, self.unspecified).unwrap();
        let to_nothing = m.pointer(unit, Some(unspecified)).unwrap();
        let variants = m.structure(unit, Some("v"), 16).unwrap();
        if self.has_part {
            let part = if self.has_discriminant {
                m.variant_part(variants, DataMember::new("", int, self.discriminant_offset).artificial())
            } else {
                m.untagged_variant_part(variants, int)
            };
            let part = part.unwrap();
            let variant = m.variant(part, &self.values).unwrap();
            m.member(variant, self.variant_member, int, self.variant_offset).unwrap();
            if self.has_default {
                let rest = m.variant(part, &[]).unwrap();
                m.member(rest, "rest", int, 4).unwrap();
            }
        }
        if let Some(name) = self.extra {
            m.structure(unit, Some(name), 4).unwrap();
        }
        for (name, ty) in [
            ("cl", class),
            ("ne", nested),
            ("hi", to_hidden),
            ("re", reference),
            ("mp", member_pointer),
            ("ar", array),
            ("si", sized),
            ("en", enumeration),
            ("no", to_nothing),
            ("va", variants),
        ] {
            let mut variable = m.variable(kernel, name, ty).unwrap();
            if let Some(memory) = self.variable_memory {
                variable.memory_space(memory);
            }
        }
        m.finish().unwrap()
    }
}

/// Type with this number.
fn ty(number: u32) -> TypeId {
    TypeId::from_u32(number)
}

type Change = fn(&mut Types);

/// Fault, change, kind of finding, variable.
type Fault = (&'static str, Change, FindingKind, Option<&'static str>);

#[rustfmt::skip]
const FAULTS: &[Fault] = &[
    ("a structure for a class", |t| t.class = CompositeKind::Struct, Type, Some("cl")),
    ("a union for a class", |t| t.class = CompositeKind::Union, Type, Some("cl")),
    ("another alignment", |t| t.alignment = 8, Type, Some("cl")),
    ("another line of a type", |t| t.line = 8, Type, Some("cl")),
    ("another column of a type", |t| t.column = 6, Type, Some("cl")),
    ("no column of a type", |t| t.column = 0, Type, Some("cl")),
    ("passed in another way", |t| t.passed = Some(Passed::ByValue), Type, Some("cl")),
    ("no passing of objects", |t| t.passed = None, Type, Some("cl")),
    ("another file of a type", |t| t.file = 1, Type, Some("cl")),
    ("a type in another namespace", |t| t.scope = Some("other"), Type, Some("cl")),
    ("a type outside of its namespace", |t| t.scope = None, Type, Some("cl")),
    ("a nested type outside of its class", |t| t.in_class = false, Type, Some("ne")),
    ("a complete type", |t| t.is_complete = true, Type, Some("hi")),
    ("another base class", |t| t.base.0 = true, Type, Some("cl")),
    ("another offset of a base class", |t| t.base.1 = 4, Type, Some("cl")),
    ("another access of a base class", |t| t.base.2 = None, Type, Some("cl")),
    ("a base class missing", |t| t.has_base = false, Type, Some("cl")),
    ("a base class that is not virtual", |t| t.is_virtual = false, Type, Some("cl")),
    ("another offset of a virtual base class", |t| t.virtual_offset = 16, Type, Some("cl")),
    ("another access of a member", |t| t.access = Some(Accessibility::Private), Type, Some("cl")),
    ("no access of a member", |t| t.access = None, Type, Some("cl")),
    ("a member that is not mutable", |t| t.is_mutable = false, Type, Some("cl")),
    ("a member of the compiler's", |t| t.is_artificial = true, Type, Some("cl")),
    ("another line of a member", |t| t.member_line = 9, Type, Some("cl")),
    ("another column of a member", |t| t.member_column = 8, Type, Some("cl")),
    ("another value of a template parameter", |t| t.templates[0] = Template::value("N", ty(0), &[17, 0, 0, 0]), Type, Some("cl")),
    ("another type of a template parameter", |t| t.templates[1] = Template::ty("T", Some(ty(0))).default(), Type, Some("cl")),
    ("a template parameter that is no default", |t| t.templates[1] = Template::ty("T", None), Type, Some("cl")),
    ("another name of a template parameter", |t| t.templates[1] = Template::ty("U", None).default(), Type, Some("cl")),
    ("another template", |t| t.templates[2] = Template::named("C", "cell"), Type, Some("cl")),
    ("a template parameter missing", |t| t.templates.truncate(3), Type, Some("cl")),
    ("a template parameter too many", |t| t.templates.push(Template::ty("Z", None)), Type, Some("cl")),
    ("another type in a pack", |t| t.templates[3] = Template::pack("R", [Template::ty("", None)]), Type, Some("cl")),
    ("an empty pack", |t| t.templates[3] = Template::pack("R", []), Type, Some("cl")),
    ("template parameters in another order", |t| t.templates.reverse(), Type, Some("cl")),
    ("another value at run time", |t| t.value = Loc::value(Val::register(v(5)).plus(4)), Type, Some("cl")),
    ("a constant for a value", |t| t.value = Loc::implicit(&[4, 0, 0, 0, 0, 0, 0, 0]), Type, Some("cl")),
    ("an rvalue reference", |t| t.reference = PointerKind::RvalueReference, Type, Some("re")),
    ("a pointer for a reference", |t| t.reference = PointerKind::Pointer, Type, Some("re")),
    ("another memory space of a reference", |t| t.memory = Some(MemorySpace::Global), Type, Some("re")),
    ("no memory space of a reference", |t| t.memory = None, Type, Some("re")),
    ("a pointer to a member of another class", |t| t.member_pointer.0 = true, Type, Some("mp")),
    ("a pointer to a member of another type", |t| t.member_pointer.1 = true, Type, Some("mp")),
    ("another first index", |t| t.lower = Some(1), Type, Some("ar")),
    ("no first index", |t| t.lower = None, Type, Some("ar")),
    ("no type of an index", |t| t.index = false, Type, Some("ar")),
    ("another stride", |t| t.stride = Some(68), Type, Some("ar")),
    ("no stride", |t| t.stride = None, Type, Some("ar")),
    ("a number of elements that is not known", |t| t.count = Extent::fixed(3), Type, Some("ar")),
    ("another number at run time", |t| t.number = Extent::value(Val::register(v(6)).plus(2)), Type, Some("ar")),
    ("a fixed number for one at run time", |t| t.number = Extent::fixed(1), Type, Some("ar")),
    ("as many elements as another variable says", |t| t.count = Extent::fixed(7), Type, Some("si")),
    ("no enum class", |t| t.is_enum_class = false, Type, Some("en")),
    ("another large value", |t| t.largest = (1 << 63) - 1, Type, Some("en")),
    ("another name of an unspecified type", |t| t.unspecified = "void", Type, Some("no")),
    ("no discriminant", |t| t.has_discriminant = false, Type, Some("va")),
    ("a discriminant elsewhere", |t| t.discriminant_offset = 8, Type, Some("va")),
    ("other values of a variant", |t| t.values[1] = VariantValues::Range(64, 128), Type, Some("va")),
    ("a value of a variant missing", |t| t.values.truncate(1), Type, Some("va")),
    ("another sign of a variant's value", |t| t.values[0] = VariantValues::Single(127), Type, Some("va")),
    ("another name of a variant's member", |t| t.variant_member = "few", Type, Some("va")),
    ("another offset of a variant's member", |t| t.variant_offset = 8, Type, Some("va")),
    ("a variant missing", |t| t.has_default = false, Type, Some("va")),
    ("no variants", |t| t.has_part = false, Type, Some("va")),
    ("no static members", |t| t.has_static = false, MissingEntry, Some("total")),
    ("another static member", |t| t.static_name = "sum", Extra, Some("sum")),
    ("another access of a static member", |t| t.static_access = None, Attribute, Some("total")),
    ("a value of a static member", |t| t.static_value = Some(4), Attribute, Some("total")),
    ("a definition missing", |t| t.is_defined = false, MissingEntry, Some("total")),
    ("the definition of another member", |t| t.specification = 1, MissingEntry, Some("total")),
    ("another line of a definition", |t| t.definition_line = 31, Attribute, Some("total")),
    ("another memory space of a variable", |t| t.variable_memory = Some(MemorySpace::Global), Attribute, Some("cl")),
    ("no memory space of a variable", |t| t.variable_memory = None, Attribute, Some("cl")),
    ("a type too many", |t| t.extra = Some("extra"), Extra, None),
];

#[test]
fn wrong_types_are_found() {
    let consumer = Consumer::llvm();
    let truth = Types::truth().module();
    let all = FAULTS.iter().map(|&(fault, change, kind, variable)| {
        let mut types = Types::truth();
        change(&mut types);
        let expected = Expected { kind, variable, pc: None, lane: None };
        (fault, missed(&truth, &consumer, &sections(&types.module(), &consumer), &expected))
    });
    all_found("types", all.collect());
}

/// A value of a static member in its class must be equal.
#[test]
fn wrong_values_of_static_members_are_found() {
    let consumer = Consumer::llvm();
    let with = |value| {
        let mut types = Types::truth();
        (types.static_value, types.is_defined) = (value, false);
        types.module()
    };
    let expected = |kind| Expected { kind, variable: Some("total"), pc: None, lane: None };
    let truth = with(Some(4));
    all_found(
        "static members",
        vec![
            (
                "another value",
                missed(
                    &truth,
                    &consumer,
                    &sections(&with(Some(5)), &consumer),
                    &expected(FindingKind::Location),
                ),
            ),
            ("no value", missed(&truth, &consumer, &sections(&with(None), &consumer), &expected(Attribute))),
        ],
    );
}
