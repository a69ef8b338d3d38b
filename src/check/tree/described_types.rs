//! Type entries that a module describes: DWARF 5 chapter 5.

use gimli::constants as dw;

use super::described::{Described, Encoded, Node, Number};
use super::tags::{accessibility, encoding, memory_space, passed};
use super::value::{Entity, Value, constant};
use crate::model::{
    AttributeOwner, Base, BaseOffset, CompositeType, Count, Dimension, Discriminant, Member, Node as LocNode,
    ScopeKind, TemplateArgument, TemplateParameter, Type, TypeId, TypeKind, VariantPartId,
};
use crate::omission::{Property, Subject, TemplateOwner};

/// `DW_ORD_col_major`: table 7.22. Rows are the default in all languages but Fortran.
const COLUMN_MAJOR: u8 = 1;

impl<'a> Described<'a> {
    /// Returns a type's entry, without the declarations in its scope.
    pub(super) fn ty(self, id: TypeId) -> Node<'a> {
        let module = self.module;
        let consumer = self.consumer;
        let ty = module.ty(id);
        let mut node = Node::new(ty.kind.tag());
        if let Some(name) = ty.name() {
            node = node.named(module.string(name));
        }
        node = self.extras(self.declared(node, ty.line), id).number(dw::DW_AT_alignment, ty.alignment);
        // A type that is always complete in the model can have the attribute among the further attributes.
        let declaration = dw::DW_AT_declaration;
        if !node.attributes.iter().any(|(name, _)| *name == declaration) {
            node = node.flag(declaration, ty.is_declaration);
        }
        let type_ = dw::DW_AT_type;
        let bytes = dw::DW_AT_byte_size;
        let entity = |ty: TypeId| Some(Entity::Type(ty));
        let size = ty.bits.map(|bits| bits.div_ceil(8));
        match &ty.kind {
            TypeKind::Base { encoding: entity, .. } => {
                let bits = ty.bits.filter(|bits| !bits.is_multiple_of(8));
                node =
                    node.number(bytes, size.or(Some(0))).number(dw::DW_AT_encoding, Some(encoding(*entity)));
                node.number(dw::DW_AT_bit_size, bits)
            }
            TypeKind::Unspecified { .. } | TypeKind::CooperativeMatrix { .. } => node,
            TypeKind::Pointer { to, space, memory, .. } => {
                node = node.number(bytes, size.or(Some(0))).entry(type_, to.map(Entity::Type));
                if let Some(name) = consumer.attributes.address_space {
                    node = node.number(name, consumer.pointer_space(&module.target, *space));
                }
                if let Some(name) = consumer.attributes.memory_space {
                    node = node.number(name, memory.map(memory_space));
                }
                node
            }
            TypeKind::String { .. } => {
                // Before DWARF 5, the size of the length may have the attribute, which is listed with the others.
                let is_listed = node.attributes.iter().any(|(name, _)| *name == bytes);
                if is_listed { node } else { node.number(bytes, size.filter(|_| self.has_string_size(id))) }
            }
            TypeKind::Subrange { of: values, .. } | TypeKind::Set { of: values, .. } => {
                let of_values = values.and_then(|values| module.ty(values).bits());
                let is_set = ty.kind().tag() == dw::DW_TAG_set_type;
                let stated = ty.bits.filter(|_| is_set || ty.bits != of_values);
                let is_whole = |bits: &u64| bits.is_multiple_of(8);
                node.number(bytes, stated.filter(is_whole).map(|bits| bits / 8))
                    .number(dw::DW_AT_bit_size, stated.filter(|bits| !is_whole(bits)))
                    .entry(type_, values.map(Entity::Type))
            }
            TypeKind::MemberPointer { class, to } => {
                node.entry(type_, entity(*to)).entry(dw::DW_AT_containing_type, entity(*class))
            }
            TypeKind::Array { of: element, dimensions, stride_bits } => {
                node = node.number(dw::DW_AT_bit_stride, *stride_bits);
                let known = if self.has_dimensions(id) { &dimensions[..] } else { &[] };
                node.parts =
                    (0..).zip(known).map(|(index, dimension)| self.dimension(id, index, dimension)).collect();
                node.number(bytes, None::<u64>)
                    .flag(dw::DW_AT_GNU_vector, false)
                    .entry(type_, entity(*element))
            }
            TypeKind::Vector { of: element, count, .. } | TypeKind::Matrix { of: element, count, .. } => {
                let is_vector = matches!(ty.kind, TypeKind::Vector { .. });
                if let TypeKind::Matrix { stride_bits, is_column_major, .. } = ty.kind {
                    node = node.number(dw::DW_AT_bit_stride, stride_bits);
                    node = node.number(dw::DW_AT_ordering, is_column_major.then_some(COLUMN_MAJOR));
                }
                let dimension = Node::dimension().number(dw::DW_AT_count, Some(*count));
                node.parts.push(self.extras(dimension, AttributeOwner::Dimension(id, 0)));
                node = node.number(bytes, size.filter(|_| is_vector)).entry(type_, entity(*element));
                node.flag(dw::DW_AT_GNU_vector, is_vector)
            }
            TypeKind::Composite(composite) => {
                // A size that the object determines is among the attributes.
                if !self.has_extra(id, bytes) {
                    node = node.number(bytes, size);
                }
                node = node.number(dw::DW_AT_calling_convention, composite.passed.map(passed));
                self.composite(node, id, composite)
            }
            TypeKind::Enum { of: number, enumerators, is_class, .. } => {
                node = node
                    .number(bytes, size)
                    .flag(dw::DW_AT_enum_class, *is_class)
                    .entry(type_, number.map(Entity::Type));
                node.parts.extend((0..).zip(enumerators).map(|(index, &(name, value))| {
                    let enumerator = Node::new(dw::DW_TAG_enumerator).named(module.string(name));
                    let enumerator = enumerator.number(dw::DW_AT_const_value, Some(value));
                    self.extras(enumerator, AttributeOwner::Enumerator(id, index))
                }));
                node
            }
            TypeKind::Typedef { of, .. } | TypeKind::Qualified { of, .. } => {
                node.entry(type_, of.map(Entity::Type))
            }
            TypeKind::Subroutine { returns, parameters, is_variadic } => {
                node = node.entry(type_, returns.map(Entity::Type));
                node.parts.extend((0..).zip(parameters).map(|(index, &ty)| {
                    let parameter = Node::new(dw::DW_TAG_formal_parameter).entry(type_, entity(ty));
                    self.extras(parameter, AttributeOwner::Parameter(id, index))
                }));
                node.parts.extend(is_variadic.then(|| Node::new(dw::DW_TAG_unspecified_parameters)));
                let is_prototyped = self.has_prototypes(ty.unit) && !ty.is_unprototyped;
                // A prototype can be among the attributes, like that of a function.
                if is_prototyped || !self.has_extra(id, dw::DW_AT_prototyped) {
                    node = node.flag(dw::DW_AT_prototyped, is_prototyped);
                }
                node
            }
        }
    }

    /// Whether a string's entry states the string's size: before DWARF 5, the attribute beside a length is the length's.
    pub(in crate::check) fn has_string_size(self, string: TypeId) -> bool {
        let is_length = |name| matches!(name, dw::DW_AT_string_length | dw::DW_AT_string_length_byte_size);
        let mut attributes = self.module.attributes(string).iter();
        self.consumer.version >= 5 || !attributes.any(|attribute| is_length(attribute.name))
    }

    /// Whether the number of an array's dimensions is known at run time only.
    fn has_rank(self, array: TypeId) -> bool {
        self.module.attributes(array).iter().any(|attribute| attribute.name == dw::DW_AT_rank)
    }

    /// Whether an array's entry has its dimensions: the consumer knows the entry for a dimension that stands for all.
    pub(in crate::check) fn has_dimensions(self, array: TypeId) -> bool {
        !self.has_rank(array) || self.consumer.entries.knows_tag(dw::DW_TAG_generic_subrange)
    }

    fn dimension(self, array: TypeId, index: u32, dimension: &Dimension) -> Node<'a> {
        let owner = AttributeOwner::Dimension(array, index);
        let has = |name| self.module.attributes(owner).iter().any(|attribute| attribute.name == name);
        let mut node =
            if self.has_rank(array) { Node::new(dw::DW_TAG_generic_subrange) } else { Node::dimension() };
        // A lower bound or a count that is no property is among the attributes.
        if dimension.lower.is_some() || !has(dw::DW_AT_lower_bound) {
            node = node.number(dw::DW_AT_lower_bound, dimension.lower);
        }
        node = node.entry(dw::DW_AT_type, dimension.index.map(Entity::Type));
        let count = match dimension.count {
            Count::Unknown => None,
            Count::Fixed(count) => Some(Value::Number(count.into())),
            Count::Variable(variable) => Some(Value::Entity(Entity::Either(variable))),
            Count::Value(loc) => {
                let subject = Subject::Type(array);
                let encoded = Encoded::Count(dw::DW_AT_count);
                let property = Property::Count;
                node.numbers.push(Number { subject, property, loc, bits: Some(64), encoded });
                Some(Value::Elsewhere)
            }
        };
        if count.is_some() || !has(dw::DW_AT_count) {
            node = node.with(dw::DW_AT_count, count);
        }
        self.extras(node, owner)
    }

    fn composite(self, node: Node<'a>, id: TypeId, composite: &'a CompositeType) -> Node<'a> {
        let mut node = self.templates(node, TemplateOwner::Type(id), &composite.templates);
        node.parts.extend((0..).zip(&composite.bases).map(|(index, base)| self.base(id, index, base)));
        node.parts.extend(
            (0..)
                .zip(&composite.members)
                .map(|(index, member)| self.data_member(member, AttributeOwner::Member(id, index))),
        );
        node.parts.extend(composite.outer_parts(self.module).map(|part| self.variant_part(part)));
        node
    }

    fn base(self, class: TypeId, index: u32, base: &Base) -> Node<'a> {
        let is_omitted = self.omitted.count(Subject::Type(class), Property::Offset) > 0;
        let offset = match base.offset {
            BaseOffset::Bytes(bytes) => Some(Value::Number(i128::from(bytes) * 8)),
            // Raw expressions are compared byte by byte.
            BaseOffset::Expr(loc) => match self.module.nodes(loc).next() {
                Some(LocNode::Expr(expr)) => {
                    let expr = self.module.expr(expr).0.bytes();
                    Some(match constant(self.consumer.version, expr) {
                        Some(bytes) => Value::Number(i128::from(bytes) * 8),
                        None if is_omitted => Value::PerhapsExpr(expr),
                        None => Value::Expr(expr),
                    })
                }
                _ => None,
            },
        };
        let node = Node::new(dw::DW_TAG_inheritance)
            .entry(dw::DW_AT_type, Some(Entity::Type(base.ty)))
            .with(dw::DW_AT_data_bit_offset, offset)
            .number(dw::DW_AT_accessibility, base.accessibility.map(accessibility))
            .number(dw::DW_AT_virtuality, base.is_virtual.then_some(1));
        self.extras(node, AttributeOwner::Base(class, index))
    }

    fn data_member(self, member: &Member, owner: AttributeOwner) -> Node<'a> {
        let mut node = Node::new(dw::DW_TAG_member)
            .named(self.text(member.name))
            .entry(dw::DW_AT_type, Some(Entity::Type(member.ty)));
        // An offset that the object determines is among the attributes.
        if !self.has_extra(owner, dw::DW_AT_data_member_location) {
            node = node.number(dw::DW_AT_data_bit_offset, Some(member.offset_bits));
        }
        let node = node
            .number(dw::DW_AT_bit_size, member.bits)
            .number(dw::DW_AT_accessibility, member.accessibility.map(accessibility))
            .flag(dw::DW_AT_mutable, member.is_mutable)
            .flag(dw::DW_AT_artificial, member.is_artificial);
        self.extras(self.declared(node, member.line), owner)
    }

    fn variant_part(self, id: VariantPartId) -> Node<'a> {
        let part = self.module.variant_part(id);
        let is_signed =
            part.discriminant.ty(self.module).and_then(|ty| self.module.is_signed(ty)).unwrap_or(false);
        let mut node = Node::new(dw::DW_TAG_variant_part);
        node = match &part.discriminant {
            Discriminant::Member(member) => {
                // A discriminant has no attributes.
                node.parts.push(self.data_member(member, AttributeOwner::VariantMember(id, u32::MAX, 0)));
                node.with(dw::DW_AT_discr, Some(Value::Part(0))).entry(dw::DW_AT_type, None)
            }
            &Discriminant::Enclosing(ty, index) => {
                node.with(dw::DW_AT_discr, Some(Value::Member(ty, index))).entry(dw::DW_AT_type, None)
            }
            Discriminant::Type(ty) => {
                node.with(dw::DW_AT_discr, None).entry(dw::DW_AT_type, Some(Entity::Type(*ty)))
            }
            Discriminant::None => node.with(dw::DW_AT_discr, None).entry(dw::DW_AT_type, None),
        };
        node.parts.extend((0..).zip(&part.variants).map(|(number, variant)| {
            let values = Value::Variants(variant.values.clone(), is_signed);
            let mut node = Node::new(dw::DW_TAG_variant).with(dw::DW_AT_discr_value, Some(values));
            node.parts.extend((0..).zip(&variant.members).map(|(index, member)| {
                self.data_member(member, AttributeOwner::VariantMember(id, number, index))
            }));
            node.parts.extend(variant.parts.iter().map(|&part| self.variant_part(part)));
            node
        }));
        node
    }

    /// Adds a template's parameters: DWARF 5 section 2.23.
    pub(super) fn templates(
        self,
        mut node: Node<'a>,
        owner: TemplateOwner,
        all: &'a [TemplateParameter],
    ) -> Node<'a> {
        let is_omitted = |index| {
            let subject = Subject::TemplateParameter(owner, index, None);
            self.omitted.count(subject, Property::Entity) > 0
        };
        let rest = (0..).zip(all).filter(|&(index, _)| !is_omitted(index));
        node.parts.extend(rest.map(|(index, parameter)| {
            let (subject, attributes) = match owner {
                TemplateOwner::Type(id) => (Subject::Type(id), AttributeOwner::TypeTemplate(id, index)),
                TemplateOwner::Function(id) => {
                    (Subject::Function(id), AttributeOwner::FunctionTemplate(id, index))
                }
            };
            self.extras(self.template(subject, parameter), attributes)
        }));
        node
    }

    fn template(self, subject: Subject, parameter: &'a TemplateParameter) -> Node<'a> {
        let module = self.module;
        let node = |tag| {
            let node = Node::new(tag).named(self.text(parameter.name));
            node.flag(dw::DW_AT_default_value, parameter.is_default)
        };
        match &parameter.argument {
            TemplateArgument::Type(ty) => {
                node(dw::DW_TAG_template_type_parameter).entry(dw::DW_AT_type, ty.map(Entity::Type))
            }
            TemplateArgument::Value { ty, value } => {
                let bits = module.ty(*ty).value_bits();
                let mut node = node(dw::DW_TAG_template_value_parameter)
                    .entry(dw::DW_AT_type, Some(Entity::Type(*ty)))
                    .elsewhere([dw::DW_AT_const_value, dw::DW_AT_location]);
                let property = Property::Value;
                let encoded = Encoded::Value;
                node.numbers.push(Number { subject, property, loc: *value, bits, encoded });
                node
            }
            TemplateArgument::Template(name) => node(dw::DW_TAG_GNU_template_template_param)
                .text(dw::DW_AT_GNU_template_name, Some(module.string(*name))),
            TemplateArgument::Pack(parameters) => {
                let mut node = node(dw::DW_TAG_GNU_template_parameter_pack);
                node.parts.extend(parameters.iter().map(|parameter| self.template(subject, parameter)));
                node
            }
        }
    }

    /// Type or scope in which a type is declared.
    pub(in crate::check) fn around(self, ty: &Type) -> Entity {
        match self.module.scope(ty.scope).kind {
            ScopeKind::Type(outer) => Entity::Type(outer),
            _ => Entity::Inside(ty.scope),
        }
    }
}

impl Node<'_> {
    fn dimension() -> Self {
        Self::new(dw::DW_TAG_subrange_type)
    }
}
