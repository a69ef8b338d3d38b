//! Types of a module as plain facts.

use eitri::model::{
    BaseEncoding, BaseOffset, Composite, CompositeKind, Count, Discriminant, Member, Node, Passed,
    PointerKind, Qualifier, TemplateArgument, TemplateParameter, Type, TypeId, TypeKind, UnitId,
    VariantPartId,
};

use super::Plain;
use super::described::{Described, type_id, variable_id};

/// The numbers of DWARF 5, table 7.11.
fn encoding(encoding: BaseEncoding) -> u64 {
    match encoding {
        BaseEncoding::Address => 1,
        BaseEncoding::Boolean => 2,
        BaseEncoding::ComplexFloat => 3,
        BaseEncoding::Float => 4,
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
    }
}

impl Described<'_> {
    pub(super) fn base_types(&self, unit: UnitId) -> Vec<Plain> {
        let of_unit = self.module.types().filter(|(_, ty)| ty.unit() == unit);
        let plain = |(id, ty): (TypeId, &Type)| {
            let TypeKind::Base { encoding: of, .. } = ty.kind() else { return None };
            let bits = ty.bits().unwrap_or(0);
            let mut plain = self.named("base type", id, ty);
            plain.says("encoding", encoding(*of));
            plain.says("bytes", bits.div_ceil(8));
            plain.may("bits", Some(bits).filter(|bits| bits % 8 != 0));
            Some(plain)
        };
        of_unit.filter_map(plain).collect()
    }

    /// Facts that every type can have.
    fn named(&self, kind: &str, id: TypeId, ty: &Type) -> Plain {
        let mut plain = Plain::new(kind, Some(type_id(id)));
        plain.may("name", ty.name().map(|name| self.module.string(name)));
        plain.may("line", self.line(ty.line()));
        plain.may("alignment", ty.alignment());
        plain.is("declaration", ty.is_declaration());
        plain
    }

    /// A type other than a base type.
    pub(super) fn ty(&self, id: TypeId) -> Option<Plain> {
        let module = self.module;
        let ty = module.ty(id);
        let kind = match ty.kind() {
            TypeKind::Base { .. } => return None,
            TypeKind::Unspecified { .. } => "unspecified type",
            TypeKind::Pointer { kind: PointerKind::Pointer, .. } => "pointer",
            TypeKind::Pointer { kind: PointerKind::Reference, .. } => "reference",
            TypeKind::Pointer { kind: PointerKind::RvalueReference, .. } => "rvalue reference",
            TypeKind::MemberPointer { .. } => "member pointer",
            TypeKind::Array { .. } | TypeKind::Vector { .. } | TypeKind::Matrix { .. } => "array",
            TypeKind::Composite(Composite { kind: CompositeKind::Struct, .. }) => "structure",
            TypeKind::Composite(Composite { kind: CompositeKind::Class, .. }) => "class",
            TypeKind::Composite(Composite { kind: CompositeKind::Union, .. }) => "union",
            TypeKind::Enum { .. } => "enumeration",
            TypeKind::Typedef { .. } => "typedef",
            TypeKind::Qualified { qualifier: Qualifier::Const, .. } => "const",
            TypeKind::Qualified { qualifier: Qualifier::Volatile, .. } => "volatile",
            TypeKind::Qualified { qualifier: Qualifier::Restrict, .. } => "restrict",
            TypeKind::Qualified { qualifier: Qualifier::Atomic, .. } => "atomic",
            TypeKind::Subroutine { .. } => "subroutine",
        };
        let mut plain = self.named(kind, id, ty);
        let bytes = ty.bits().map(|bits| bits.div_ceil(8));
        match ty.kind() {
            TypeKind::Pointer { to, space, memory, .. } => {
                plain.to("type", to.map(type_id));
                plain.may("bytes", bytes);
                let consumer = self.told.consumer;
                plain.may("space", consumer.address_space.map(|_| space.0).filter(|&space| space != 0));
                let memory = consumer.memory_space.and(*memory);
                plain.may("memory", memory.map(|memory| memory as u64 + 1));
            }
            TypeKind::MemberPointer { class, to } => {
                plain.to("class", Some(type_id(*class)));
                plain.to("type", Some(type_id(*to)));
            }
            TypeKind::Array { of, dimensions, stride_bits } => {
                plain.to("type", Some(type_id(*of)));
                plain.may("stride", *stride_bits);
                for dimension in dimensions {
                    let mut inner = Plain::new("dimension", None);
                    inner.may("lower", dimension.lower);
                    inner.to("type", dimension.index.map(type_id));
                    match dimension.count {
                        Count::Unknown => {}
                        Count::Fixed(count) => inner.says("count", count),
                        Count::Variable(variable) => inner.to("count", Some(variable_id(variable))),
                        Count::Value(_) => inner.says("count", "a number"),
                    }
                    plain.inside.push(inner);
                }
            }
            TypeKind::Vector { of, count } => {
                plain.to("type", Some(type_id(*of)));
                plain.may("bytes", bytes);
                plain.is("vector", true);
                let mut inner = Plain::new("dimension", None);
                inner.says("count", *count);
                plain.inside.push(inner);
            }
            TypeKind::Matrix { of, count, .. } => {
                plain.to("type", Some(type_id(*of)));
                let mut inner = Plain::new("dimension", None);
                inner.says("count", *count);
                plain.inside.push(inner);
            }
            TypeKind::Composite(composite) => {
                plain.may("bytes", bytes);
                let passed = composite.passed.filter(|_| self.told.consumer.version >= 5);
                plain.may("passed", passed.map(|passed| if passed == Passed::ByValue { 5u64 } else { 4 }));
                self.composite(composite, &mut plain);
            }
            TypeKind::Enum { of, enumerators, is_class, .. } => {
                plain.to("type", Some(type_id(*of)));
                plain.may("bytes", bytes);
                plain.is("enum class", *is_class);
                for &(name, value) in enumerators {
                    let mut inner = Plain::new("enumerator", None);
                    inner.says("name", module.string(name));
                    inner.says("value", value);
                    plain.inside.push(inner);
                }
            }
            TypeKind::Typedef { of, .. } | TypeKind::Qualified { of, .. } => {
                plain.to("type", of.map(type_id));
            }
            TypeKind::Subroutine { returns, parameters } => {
                plain.to("type", returns.map(type_id));
                for &parameter in parameters {
                    let mut inner = Plain::new("parameter", None);
                    inner.to("type", Some(type_id(parameter)));
                    plain.inside.push(inner);
                }
            }
            TypeKind::Base { .. } | TypeKind::Unspecified { .. } => {}
        }
        Some(plain)
    }

    fn composite(&self, composite: &Composite, plain: &mut Plain) {
        plain.inside.extend(composite.templates.iter().map(|parameter| self.template(parameter)));
        for base in &composite.bases {
            let mut inner = Plain::new("base", None);
            inner.to("type", Some(type_id(base.ty)));
            inner.may("accessibility", base.accessibility.map(|access| access as u64 + 1));
            inner.is("virtual", base.is_virtual);
            match base.offset {
                BaseOffset::Bytes(bytes) => inner.says("byte", bytes),
                BaseOffset::Expr(loc) => {
                    let Some(Node::Expr(expr)) = self.module.nodes(loc).next() else { panic!("a raw one") };
                    inner.says("offset", self.module.expr(expr).0.bytes());
                }
            }
            plain.inside.push(inner);
        }
        plain.inside.extend(composite.members.iter().map(|member| self.member(member)));
        plain.inside.extend(composite.variant_parts.iter().map(|&part| self.variant_part(part)));
        self.in_scope(composite.scope, plain);
    }

    fn member(&self, member: &Member) -> Plain {
        let mut plain = Plain::new("member", None);
        plain.may("name", member.name.map(|name| self.module.string(name)));
        plain.to("type", Some(type_id(member.ty)));
        plain.says("bit", member.offset_bits);
        plain.may("bits", member.bits);
        plain.may("accessibility", member.accessibility.map(|access| access as u64 + 1));
        plain.is("mutable", member.is_mutable);
        plain.is("artificial", member.is_artificial);
        plain.may("line", self.line(member.line));
        plain
    }

    fn variant_part(&self, id: VariantPartId) -> Plain {
        let part = self.module.variant_part(id);
        let mut plain = Plain::new("variant part", None);
        match &part.discriminant {
            Discriminant::Member(member) => {
                plain.is("discriminant", true);
                plain.inside.push(self.member(member));
            }
            Discriminant::Type(ty) => plain.to("type", Some(type_id(*ty))),
        }
        for variant in &part.variants {
            let mut inner = Plain::new("variant", None);
            inner.says("values", &variant.values);
            inner.inside = variant.members.iter().map(|member| self.member(member)).collect();
            plain.inside.push(inner);
        }
        plain
    }

    pub(super) fn template(&self, parameter: &TemplateParameter) -> Plain {
        let text = |id| self.module.string(id);
        let mut plain = Plain::new("template parameter", None);
        plain.may("name", parameter.name.map(text));
        plain.is("default", parameter.is_default);
        match &parameter.argument {
            TemplateArgument::Type(ty) => {
                plain.says("of", "type");
                plain.to("type", ty.map(type_id));
            }
            TemplateArgument::Value { ty, value } => {
                plain.says("of", "value");
                plain.to("type", Some(type_id(*ty)));
                // Some versions cannot express the location of a value.
                plain.may("value", self.constant(*value));
            }
            TemplateArgument::Template(name) => {
                plain.says("of", "template");
                plain.says("template", text(*name));
            }
            TemplateArgument::Pack(inner) => {
                plain.says("of", "pack");
                plain.inside = inner.iter().map(|parameter| self.template(parameter)).collect();
            }
        }
        plain
    }
}
