//! Types of a module as tree facts.

use eitri::model::{
    BaseEncoding, BaseOffset, CompositeKind, CompositeType, Count, Discriminant, ExtraValue, Member, Node,
    Passed, PointerKind, Qualifier, TemplateArgument, TemplateParameter, Type, TypeId, TypeKind, UnitId,
    VariantPartId,
};
use eitri::omission::{Omission, Property, Subject};

use super::Tree;
use super::described::{Described, type_id, variable_id};

/// The numbers of DWARF 5, table 7.11.
fn encoding(encoding: BaseEncoding) -> u64 {
    match encoding {
        BaseEncoding::Address => 1,
        BaseEncoding::Boolean => 2,
        BaseEncoding::ComplexFloat => 3,
        BaseEncoding::Float
        | BaseEncoding::BFloat16
        | BaseEncoding::Float8E4M3
        | BaseEncoding::Float8E5M2 => 4,
        BaseEncoding::Signed => 5,
        BaseEncoding::SignedChar => 6,
        BaseEncoding::Unsigned => 7,
        BaseEncoding::UnsignedChar => 8,
        BaseEncoding::ImaginaryFloat => 9,
        BaseEncoding::PackedDecimal => 10,
        BaseEncoding::NumericString => 11,
        BaseEncoding::Edited => 12,
        BaseEncoding::SignedFixed => 13,
        BaseEncoding::UnsignedFixed => 14,
        BaseEncoding::DecimalFloat => 15,
        BaseEncoding::Utf => 16,
        BaseEncoding::Ucs => 17,
        BaseEncoding::Ascii => 18,
        BaseEncoding::Numbered(number) => number.into(),
    }
}

impl Described<'_> {
    pub(super) fn base_types(&self, unit: UnitId) -> Vec<Tree> {
        let of_unit = self.module.types().filter(|(_, ty)| ty.unit() == unit);
        let tree = |(id, ty): (TypeId, &Type)| {
            let TypeKind::Base { encoding: of, .. } = ty.kind() else { return None };
            let bits = ty.bits().unwrap_or(0);
            let mut tree = self.named("base type", id, ty);
            tree.add("encoding", encoding(*of));
            tree.add("bytes", bits.div_ceil(8));
            tree.may("bits", Some(bits).filter(|bits| bits % 8 != 0));
            Some(tree)
        };
        of_unit.filter_map(tree).collect()
    }

    /// Facts that every type can have.
    fn named(&self, kind: &str, id: TypeId, ty: &Type) -> Tree {
        let mut tree = Tree::new(kind, Some(type_id(id)));
        tree.may("name", ty.name().map(|name| self.module.string(name)));
        tree.may("line", self.line(ty.line()));
        tree.may("alignment", ty.alignment());
        self.vendor(id, &mut tree);
        tree.is("declaration", ty.is_declaration());
        tree
    }

    /// A type other than a base type.
    pub(super) fn ty(&self, id: TypeId) -> Option<Tree> {
        let module = self.module;
        let ty = module.ty(id);
        let kind = match ty.kind() {
            TypeKind::Base { .. } => return None,
            TypeKind::Unspecified { .. } | TypeKind::CooperativeMatrix { .. } => "unspecified type",
            TypeKind::Pointer { kind: PointerKind::Pointer, .. } => "pointer",
            TypeKind::Pointer { kind: PointerKind::Reference, .. } => "reference",
            TypeKind::Pointer { kind: PointerKind::RvalueReference, .. } => "rvalue reference",
            TypeKind::MemberPointer { .. } => "member pointer",
            TypeKind::String { .. } => "string",
            TypeKind::Subrange { .. } => "subrange",
            TypeKind::Set { .. } => "set",
            TypeKind::Array { .. } | TypeKind::Vector { .. } | TypeKind::Matrix { .. } => "array",
            TypeKind::Composite(CompositeType { kind: CompositeKind::Struct, .. }) => "structure",
            TypeKind::Composite(CompositeType { kind: CompositeKind::Class, .. }) => "class",
            TypeKind::Composite(CompositeType { kind: CompositeKind::Union, .. }) => "union",
            TypeKind::Enum { .. } => "enumeration",
            TypeKind::Typedef { .. } => "typedef",
            TypeKind::Qualified { qualifier: Qualifier::Const, .. } => "const",
            TypeKind::Qualified { qualifier: Qualifier::Volatile, .. } => "volatile",
            TypeKind::Qualified { qualifier: Qualifier::Restrict, .. } => "restrict",
            TypeKind::Qualified { qualifier: Qualifier::Atomic, .. } => "atomic",
            TypeKind::Subroutine { .. } => "subroutine",
        };
        let mut tree = self.named(kind, id, ty);
        let bytes = ty.bits().map(|bits| bits.div_ceil(8));
        match ty.kind() {
            TypeKind::Pointer { to, space, memory, .. } => {
                tree.to("type", to.map(type_id));
                tree.may("bytes", bytes);
                let consumer = self.context.consumer;
                tree.may(
                    "space",
                    consumer.attributes.address_space.map(|_| space.0).filter(|&space| space != 0),
                );
                let memory = consumer.attributes.memory_space.and(*memory);
                tree.may("memory", memory.map(|memory| memory as u64 + 1));
            }
            TypeKind::MemberPointer { class, to } => {
                tree.to("class", Some(type_id(*class)));
                tree.to("type", Some(type_id(*to)));
            }
            TypeKind::Array { of, dimensions, stride_bits } => {
                tree.to("type", Some(type_id(*of)));
                tree.may("stride", *stride_bits);
                for dimension in dimensions {
                    let mut inner = Tree::new("dimension", None);
                    inner.may("lower", dimension.lower);
                    inner.to("type", dimension.index.map(type_id));
                    match dimension.count {
                        Count::Unknown => {}
                        Count::Fixed(count) => inner.add("count", count),
                        Count::Variable(variable) => inner.to("count", Some(variable_id(variable))),
                        Count::Value(_) => inner.add("count", "a number"),
                    }
                    tree.inside.push(inner);
                }
            }
            TypeKind::Vector { of, count, .. } => {
                tree.to("type", Some(type_id(*of)));
                tree.may("bytes", bytes);
                tree.is("vector", true);
                let mut inner = Tree::new("dimension", None);
                inner.add("count", *count);
                tree.inside.push(inner);
            }
            TypeKind::Matrix { of, count, stride_bits, .. } => {
                tree.to("type", Some(type_id(*of)));
                tree.may("stride", *stride_bits);
                let mut inner = Tree::new("dimension", None);
                inner.add("count", *count);
                tree.inside.push(inner);
            }
            TypeKind::Composite(composite) => {
                tree.may("bytes", bytes);
                let passed = composite.passed;
                tree.may("passed", passed.map(|passed| if passed == Passed::ByValue { 5u64 } else { 4 }));
                self.composite(id, composite, &mut tree);
            }
            TypeKind::Enum { of, enumerators, is_class, .. } => {
                tree.to("type", of.map(type_id));
                tree.may("bytes", bytes);
                tree.is("enum class", *is_class);
                for &(name, value) in enumerators {
                    let mut inner = Tree::new("enumerator", None);
                    inner.add("name", module.string(name));
                    inner.add("value", value);
                    tree.inside.push(inner);
                }
            }
            TypeKind::Set { of, .. } => {
                tree.to("type", of.map(type_id));
                tree.may("bytes", ty.bits().filter(|bits| bits % 8 == 0).map(|bits| bits / 8));
                tree.may("bits", ty.bits().filter(|bits| bits % 8 != 0));
            }
            TypeKind::Subrange { of, .. } => {
                tree.to("type", of.map(type_id));
                let of_values = of.and_then(|of| module.ty(of).bits());
                let stated = ty.bits().filter(|_| ty.bits() != of_values);
                tree.may("bytes", stated.filter(|bits| bits % 8 == 0).map(|bits| bits / 8));
                tree.may("bits", stated.filter(|bits| bits % 8 != 0));
                for attribute in module.attributes(id) {
                    let key = if attribute.name == gimli::DW_AT_lower_bound { "lower" } else { "upper" };
                    match attribute.value {
                        ExtraValue::Unsigned(bound) => tree.add(key, bound as i64),
                        ExtraValue::Signed(bound) => tree.add(key, bound),
                        _ => {}
                    }
                }
            }
            TypeKind::Typedef { of, .. } | TypeKind::Qualified { of, .. } => {
                tree.to("type", of.map(type_id));
            }
            TypeKind::Subroutine { returns, parameters, is_variadic } => {
                tree.to("type", returns.map(type_id));
                for &parameter in parameters {
                    let mut inner = Tree::new("parameter", None);
                    inner.to("type", Some(type_id(parameter)));
                    tree.inside.push(inner);
                }
                if *is_variadic {
                    tree.inside.push(Tree::new("more arguments", None));
                }
            }
            TypeKind::Base { .. }
            | TypeKind::Unspecified { .. }
            | TypeKind::String { .. }
            | TypeKind::CooperativeMatrix { .. } => {}
        }
        Some(tree)
    }

    fn composite(&self, id: TypeId, composite: &CompositeType, tree: &mut Tree) {
        let omits = |one: &Omission| (one.subject, one.property) == (Subject::Type(id), Property::Offset);
        let has_omissions = self.omissions.iter().any(omits);
        tree.inside.extend(composite.templates.iter().map(|parameter| self.template(parameter)));
        for base in &composite.bases {
            let mut inner = Tree::new("base", None);
            inner.to("type", Some(type_id(base.ty)));
            inner.may("accessibility", base.accessibility.map(|access| access as u64 + 1));
            inner.is("virtual", base.is_virtual);
            match base.offset {
                BaseOffset::Bytes(bytes) => inner.add("byte", bytes),
                BaseOffset::Expr(loc) => {
                    let Some(Node::Expr(expr)) = self.module.nodes(loc).next() else { panic!("a raw one") };
                    let bytes = self.module.expr(expr).0.bytes();
                    // The modules have two such expressions: one of them is of LLVM's dialect.
                    let is_omitted = has_omissions && bytes.ends_with(&[0xe9, 0x04]);
                    inner.may("offset", (!is_omitted).then_some(bytes));
                }
            }
            tree.inside.push(inner);
        }
        tree.inside.extend(composite.members.iter().map(|member| self.member(member)));
        let parts =
            composite.variant_parts.iter().filter(|&&part| self.module.variant_part(part).inside.is_none());
        tree.inside.extend(parts.map(|&part| self.variant_part(part)));
        self.in_scope(composite.scope, tree);
    }

    fn member(&self, member: &Member) -> Tree {
        let mut tree = Tree::new("member", None);
        tree.may("name", member.name.map(|name| self.module.string(name)));
        tree.to("type", Some(type_id(member.ty)));
        tree.add("bit", member.offset_bits);
        tree.may("bits", member.bits);
        tree.may("accessibility", member.accessibility.map(|access| access as u64 + 1));
        tree.is("mutable", member.is_mutable);
        tree.is("artificial", member.is_artificial);
        tree.may("line", self.line(member.line));
        tree
    }

    fn variant_part(&self, id: VariantPartId) -> Tree {
        let part = self.module.variant_part(id);
        let mut tree = Tree::new("variant part", None);
        match &part.discriminant {
            Discriminant::Member(member) => {
                tree.is("discriminant", true);
                tree.inside.push(self.member(member));
            }
            Discriminant::Enclosing(..) => panic!("a discriminant that these tests do not describe"),
            Discriminant::Type(ty) => tree.to("type", Some(type_id(*ty))),
            Discriminant::None => {}
        }
        for variant in &part.variants {
            let mut inner = Tree::new("variant", None);
            inner.add("values", &variant.values);
            inner.inside = variant.members.iter().map(|member| self.member(member)).collect();
            inner.inside.extend(variant.parts.iter().map(|&part| self.variant_part(part)));
            tree.inside.push(inner);
        }
        tree
    }

    pub(super) fn template(&self, parameter: &TemplateParameter) -> Tree {
        let text = |id| self.module.string(id);
        let mut tree = Tree::new("template parameter", None);
        tree.may("name", parameter.name.map(text));
        tree.is("default", parameter.is_default);
        match &parameter.argument {
            TemplateArgument::Type(ty) => {
                tree.add("of", "type");
                tree.to("type", ty.map(type_id));
            }
            TemplateArgument::Value { ty, value } => {
                tree.add("of", "value");
                tree.to("type", Some(type_id(*ty)));
                // Some versions cannot express the location of a value.
                tree.may("value", self.constant(*value));
            }
            TemplateArgument::Template(name) => {
                tree.add("of", "template");
                tree.add("template", text(*name));
            }
            TemplateArgument::Pack(inner) => {
                tree.add("of", "pack");
                tree.inside = inner.iter().map(|parameter| self.template(parameter)).collect();
            }
        }
        tree
    }
}
