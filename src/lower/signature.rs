//! Type signatures: DWARF 5 section 7.32.
//!
//! A type is flattened to letters, codes and values that do not depend on the unit. A pointer adds its target's name
//! instead of the target's description, so a unit that only declares the target computes the same signature. The
//! signature is the last eight bytes of the MD5 digest over these bytes. Vendor attributes come last, by name, as
//! section 7.32 demands.

use gimli::{DwAt, DwForm, DwTag};
use md5::Context;

use super::constants::{self, discriminant_list};
use crate::consumer::Consumer;
use crate::model::{
    Base, BaseOffset, CompositeType, Count, Dimension, Discriminant, Member, Module, ScopeId, ScopeKind,
    SourceLine, StringId, TemplateArgument, TemplateParameter, Type, TypeId, TypeKind, Variant,
    VariantPartId, VariantValues,
};
use crate::op::{write_sleb, write_uleb};
use crate::target::SpaceId;

/// Generator for type signatures, one after the other.
pub(super) struct Signatures<'m> {
    module: &'m Module,
    consumer: &'m Consumer,
    /// Description so far.
    out: Vec<u8>,
    /// Pending tasks, the next one last. They are a list instead of calls, because types may be nested deeply.
    tasks: Vec<Task<'m>>,
    /// Description in which each type was last visited, and its number there, counted from 1.
    numbers: Vec<(u32, u32)>,
    /// Descriptions so far, and types in the current description.
    descriptions: u32,
    count: u32,
}

/// Pending part of a description.
enum Task<'m> {
    /// Type that is an attribute's value.
    Refer(DwAt, TypeId),
    /// Pointer target.
    Pointee(TypeId),
    Member(&'m Member),
    Base(&'m Base),
    Template(&'m TemplateParameter),
    VariantPart(VariantPartId),
    Variant(&'m Variant, bool),
    Dimension(&'m Dimension),
    /// Dimension with a constant element count.
    Elements(u64),
    Enumerator(StringId, i128),
    Parameter(TypeId),
    MoreParameters,
    /// End of children.
    End,
}

/// Purpose of a description.
#[derive(Clone, Copy)]
enum Purpose<'k> {
    /// Equal for equal types, as the specification defines.
    Signature,
    /// Equal where the type units would have equal contents. The slice holds the types' signatures.
    Contents(&'k [Option<u64>]),
}

impl<'m> Signatures<'m> {
    pub(super) fn new(module: &'m Module, consumer: &'m Consumer) -> Self {
        Self {
            module,
            consumer,
            out: Vec::new(),
            tasks: Vec::new(),
            numbers: vec![(0, 0); module.types.len()],
            descriptions: 0,
            count: 0,
        }
    }

    /// Returns a type's signature: the number whose bytes, in the target's order, are the last eight of the
    /// digest.
    pub(super) fn signature(&mut self, id: TypeId) -> u64 {
        let digest = self.digest(id, Purpose::Signature);
        // Section 7.32 takes the digest's low-order 64 bits.
        let [.., a, b, c, d, e, f, g, h] = digest;
        let last = [a, b, c, d, e, f, g, h];
        if self.module.target.is_big_endian() { u64::from_be_bytes(last) } else { u64::from_le_bytes(last) }
    }

    /// Returns a digest over a type unit's whole contents, including source positions and pointer targets. Types with a
    /// signature are represented by it.
    pub(super) fn contents(&mut self, id: TypeId, signatures: &[Option<u64>]) -> [u8; 16] {
        self.digest(id, Purpose::Contents(signatures))
    }

    fn digest(&mut self, id: TypeId, purpose: Purpose<'_>) -> [u8; 16] {
        self.descriptions += 1;
        self.count = 0;
        self.out.clear();
        self.visit(id);
        // A signature does not cover the unit's language, but the type unit states it.
        if let Purpose::Contents(_) = purpose {
            let unit = &self.module.units[self.module.types[id].unit];
            let languages = [unit.language.map(|language| language.0.into()), unit.language_version];
            languages
                .into_iter()
                .for_each(|language| self.uleb(language.map_or(0, |language: u32| u64::from(language) + 1)));
        }
        self.ty(id, purpose);
        let mut digest = Context::new();
        while let Some(task) = self.tasks.pop() {
            self.task(task, purpose);
            // The digest is fed in chunks, so a large description is never in memory as a whole.
            if self.out.len() >= CHUNK {
                digest.consume(&self.out);
                self.out.clear();
            }
        }
        digest.consume(&self.out);
        digest.finalize().0
    }

    /// Gives a type the next number.
    fn visit(&mut self, id: TypeId) {
        self.count += 1;
        self.numbers[id.as_u32() as usize] = (self.descriptions, self.count);
    }

    fn task(&mut self, task: Task<'m>, purpose: Purpose<'_>) {
        match task {
            Task::Refer(at, id) => self.refer(at, id, purpose),
            Task::Pointee(to) => self.pointee(to, purpose),
            Task::Member(member) => self.member(member, purpose),
            Task::Base(base) => self.base(base),
            Task::Template(parameter) => self.template(parameter),
            Task::VariantPart(part) => self.variant_part(part),
            Task::Variant(variant, is_signed) => self.variant(variant, is_signed),
            Task::Dimension(dimension) => {
                let count = match dimension.count {
                    Count::Fixed(count) => Some(count),
                    // Types with other counts have no type units.
                    Count::Unknown | Count::Variable(_) | Count::Value(_) => None,
                };
                self.dimension(count, dimension.lower, dimension.index);
            }
            Task::Elements(count) => self.dimension(Some(count), None, None),
            Task::Enumerator(name, value) => {
                self.tag(gimli::DW_TAG_enumerator);
                self.name(Some(name));
                self.wide(gimli::DW_AT_const_value, value);
                self.out.push(0);
            }
            Task::Parameter(ty) => {
                self.tag(gimli::DW_TAG_formal_parameter);
                self.tasks.extend([Task::End, Task::Refer(gimli::DW_AT_type, ty)]);
            }
            Task::MoreParameters => {
                self.tag(gimli::DW_TAG_unspecified_parameters);
                self.out.push(0);
            }
            Task::End => self.out.push(0),
        }
    }

    /// Steps 2 to 7 for a type.
    fn ty(&mut self, id: TypeId, purpose: Purpose<'_>) {
        let module = self.module;
        let ty = &module.types[id];
        self.context(ty.scope);
        self.tag(ty.kind.tag());
        if let Purpose::Contents(_) = purpose {
            self.line(ty.line);
            self.out.push(ty.is_declaration.into());
            // Whether an enclosing namespace is inline changes the unit's contents, but not the signature.
            let mut around = Some(ty.scope);
            while let Some(scope) = around {
                let is_inline = match module.scopes[scope].kind {
                    ScopeKind::Namespace { kind, .. } => kind.is_inline(),
                    _ => false,
                };
                self.out.push(is_inline.into());
                around = module.scopes[scope].parent;
            }
        }
        self.name(ty.name());
        let first = self.tasks.len();
        let consumer = self.consumer;
        let target = &module.target;
        match &ty.kind {
            TypeKind::Base { encoding, .. } => {
                let bits = ty.bits.unwrap_or(0);
                self.alignment(ty);
                if !bits.is_multiple_of(8) {
                    self.number(gimli::DW_AT_bit_size, bits);
                }
                self.number(gimli::DW_AT_byte_size, bits.div_ceil(8));
                self.number(gimli::DW_AT_encoding, constants::encoding(*encoding).0.into());
            }
            TypeKind::Unspecified { .. } | TypeKind::CooperativeMatrix { .. } => self.alignment(ty),
            TypeKind::Pointer { to, space, memory, .. } => {
                let space = consumer
                    .attributes
                    .address_space
                    .filter(|_| *space != SpaceId::DEFAULT)
                    .map(|location| (location, *space));
                // Standard attributes have an order in section 7.32, into which a vendor attribute does not fit.
                let (standard, vendor) = match space {
                    Some((at, space)) if at.0 < gimli::DW_AT_lo_user.0 => (Some((at, space)), None),
                    space => (None, space),
                };
                if let Some((at, space)) = standard {
                    self.number(at, space.0.into());
                }
                self.alignment(ty);
                let bytes = ty.bits.unwrap_or(0) / 8;
                if bytes != u64::from(target.address_bytes()) {
                    self.number(gimli::DW_AT_byte_size, bytes);
                }
                if let Some((at, space)) = vendor {
                    self.number(at, space.0.into());
                }
                if let (Some(at), Some(memory)) = (consumer.attributes.memory_space, *memory) {
                    self.number(at, constants::memory_space(memory));
                }
                self.tasks.extend(to.map(Task::Pointee));
            }
            TypeKind::String { .. } => {
                self.alignment(ty);
                self.byte_size(ty);
            }
            TypeKind::MemberPointer { class, to } => {
                self.alignment(ty);
                self.tasks.extend([Task::Refer(gimli::DW_AT_containing_type, *class), Task::Pointee(*to)]);
            }
            TypeKind::Array { of, dimensions, stride_bits } => {
                self.alignment(ty);
                self.stride(*stride_bits);
                self.refer_later(Some(*of));
                self.tasks.extend(dimensions.iter().map(Task::Dimension));
            }
            TypeKind::Vector { of, count, .. } => {
                self.alignment(ty);
                self.byte_size(ty);
                self.flag(gimli::DW_AT_GNU_vector, true);
                self.refer_later(Some(*of));
                self.tasks.push(Task::Elements(*count));
            }
            TypeKind::Matrix { of, count, is_column_major, stride_bits } => {
                self.alignment(ty);
                self.stride(*stride_bits);
                if *is_column_major {
                    self.number(gimli::DW_AT_ordering, gimli::DW_ORD_col_major.0.into());
                }
                self.refer_later(Some(*of));
                self.tasks.push(Task::Elements(*count));
            }
            TypeKind::Composite(composite) => {
                let CompositeType {
                    kind: _,
                    name: _,
                    scope: _,
                    passed,
                    templates,
                    bases,
                    members,
                    variant_parts: _,
                } = composite;
                // DWARF 5 section 7.32 does not list this attribute.
                if let (Purpose::Contents(_), Some(passed)) = (purpose, *passed) {
                    self.uleb(constants::calling_convention(passed).0.into());
                }
                self.alignment(ty);
                self.byte_size(ty);
                self.tasks.extend(templates.iter().map(Task::Template));
                self.tasks.extend(bases.iter().map(Task::Base));
                self.tasks.extend(members.iter().map(Task::Member));
                self.tasks.extend(composite.outer_parts(module).map(Task::VariantPart));
            }
            TypeKind::Enum { of, enumerators, is_class, .. } => {
                self.alignment(ty);
                self.byte_size(ty);
                self.flag(gimli::DW_AT_enum_class, *is_class);
                self.refer_later(*of);
                self.tasks.extend(enumerators.iter().map(|&(name, value)| Task::Enumerator(name, value)));
            }
            TypeKind::Subrange { of, .. } | TypeKind::Set { of, .. } => {
                self.alignment(ty);
                match ty.bits.filter(|_| module.has_stated_size(ty)) {
                    Some(bits) if bits.is_multiple_of(8) => self.number(gimli::DW_AT_byte_size, bits / 8),
                    Some(bits) => self.number(gimli::DW_AT_bit_size, bits),
                    None => {}
                }
                self.refer_later(*of);
            }
            TypeKind::Typedef { of, .. } | TypeKind::Qualified { of, .. } => {
                self.alignment(ty);
                self.refer_later(*of);
            }
            TypeKind::Subroutine { returns, parameters, is_variadic } => {
                self.alignment(ty);
                let is_prototyped = module.units[ty.unit].has_prototypes() && !ty.is_unprototyped;
                self.flag(gimli::DW_AT_prototyped, is_prototyped);
                self.refer_later(*returns);
                self.tasks.extend(parameters.iter().map(|&ty| Task::Parameter(ty)));
                self.tasks.extend(is_variadic.then_some(Task::MoreParameters));
            }
        }
        self.tasks.push(Task::End);
        // Tasks are taken from the end.
        self.tasks[first..].reverse();
    }

    /// Step 5: a pointer's target, by name if it has one.
    fn pointee(&mut self, to: TypeId, purpose: Purpose<'_>) {
        let ty = &self.module.types[to];
        match (purpose, ty.name()) {
            (Purpose::Signature, Some(name)) => {
                self.out.push(b'N');
                self.uleb(gimli::DW_AT_type.0.into());
                self.context(ty.scope);
                self.out.push(b'E');
                self.text(self.module.string(name));
            }
            _ => self.refer(gimli::DW_AT_type, to, purpose),
        }
    }

    /// Step 4 for an attribute that refers to a type.
    fn refer(&mut self, at: DwAt, id: TypeId, purpose: Purpose<'_>) {
        let (description, number) = self.numbers[id.as_u32() as usize];
        // A type that the description already contains is referred to by its number, which also ends cycles.
        if description == self.descriptions {
            self.out.push(b'R');
            self.uleb(at.0.into());
            return self.uleb(number.into());
        }
        if let Purpose::Contents(signatures) = purpose
            && let Some(signature) = signatures[id.as_u32() as usize]
        {
            self.out.push(b'M');
            self.uleb(at.0.into());
            return self.out.extend_from_slice(&signature.to_le_bytes());
        }
        self.out.push(b'T');
        self.uleb(at.0.into());
        self.visit(id);
        self.ty(id, purpose);
    }

    fn refer_later(&mut self, ty: Option<TypeId>) {
        self.tasks.extend(ty.map(|ty| Task::Refer(gimli::DW_AT_type, ty)));
    }

    fn member(&mut self, member: &'m Member, purpose: Purpose<'_>) {
        self.tag(gimli::DW_TAG_member);
        if let Purpose::Contents(_) = purpose {
            self.line(member.line);
        }
        self.name(member.name);
        self.accessibility(member.accessibility);
        self.flag(gimli::DW_AT_artificial, member.is_artificial);
        if let Some(bits) = member.bits {
            self.number(gimli::DW_AT_bit_size, bits);
        }
        if member.bits.is_some() || !member.offset_bits.is_multiple_of(8) {
            self.number(gimli::DW_AT_data_bit_offset, member.offset_bits);
        } else {
            self.number(gimli::DW_AT_data_member_location, member.offset_bits / 8);
        }
        self.flag(gimli::DW_AT_mutable, member.is_mutable);
        self.tasks.extend([Task::End, Task::Refer(gimli::DW_AT_type, member.ty)]);
    }

    fn base(&mut self, base: &'m Base) {
        self.tag(gimli::DW_TAG_inheritance);
        self.accessibility(base.accessibility);
        match base.offset {
            BaseOffset::Bytes(bytes) => self.number(gimli::DW_AT_data_member_location, bytes),
            // Classes with these have no type units.
            BaseOffset::Expr(_) => {}
        }
        if base.is_virtual {
            self.number(gimli::DW_AT_virtuality, gimli::DW_VIRTUALITY_virtual.0.into());
        }
        self.tasks.extend([Task::End, Task::Refer(gimli::DW_AT_type, base.ty)]);
    }

    fn template(&mut self, parameter: &'m TemplateParameter) {
        let module = self.module;
        self.tag(match parameter.argument {
            TemplateArgument::Type(_) => gimli::DW_TAG_template_type_parameter,
            TemplateArgument::Value { .. } => gimli::DW_TAG_template_value_parameter,
            TemplateArgument::Template(_) => gimli::DW_TAG_GNU_template_template_param,
            TemplateArgument::Pack(_) => gimli::DW_TAG_GNU_template_parameter_pack,
        });
        self.name(parameter.name);
        if let TemplateArgument::Value { value, .. } = parameter.argument {
            // Types with values that are not constant have no type units.
            self.const_value(module.constant(value).unwrap_or_default());
        }
        self.flag(gimli::DW_AT_default_value, parameter.is_default);
        let first = self.tasks.len();
        match &parameter.argument {
            TemplateArgument::Type(ty) => self.refer_later(*ty),
            TemplateArgument::Value { ty, .. } => self.refer_later(Some(*ty)),
            TemplateArgument::Template(name) => {
                self.string(gimli::DW_AT_GNU_template_name, *name);
            }
            TemplateArgument::Pack(inner) => self.tasks.extend(inner.iter().map(Task::Template)),
        }
        self.tasks.push(Task::End);
        self.tasks[first..].reverse();
    }

    /// A discriminant that is a member is the first child, without an attribute for it.
    fn variant_part(&mut self, id: VariantPartId) {
        let part = &self.module.variant_parts[id];
        self.tag(gimli::DW_TAG_variant_part);
        let first = self.tasks.len();
        match &part.discriminant {
            Discriminant::Member(member) => self.tasks.push(Task::Member(member)),
            Discriminant::Type(ty) => self.refer_later(Some(*ty)),
            // Types with these have no type units.
            Discriminant::Enclosing(..) | Discriminant::None => {}
        }
        let is_signed =
            part.discriminant.ty(self.module).and_then(|ty| self.module.is_signed(ty)).unwrap_or(false);
        self.tasks.extend(part.variants.iter().map(|variant| Task::Variant(variant, is_signed)));
        self.tasks.push(Task::End);
        self.tasks[first..].reverse();
    }

    fn variant(&mut self, variant: &'m Variant, is_signed: bool) {
        self.tag(gimli::DW_TAG_variant);
        match variant.values[..] {
            [] => {}
            [VariantValues::Single(value)] => self.wide(gimli::DW_AT_discr_value, value),
            _ => self.block(gimli::DW_AT_discr_list, &discriminant_list(&variant.values, is_signed)),
        }
        self.tasks.push(Task::End);
        self.tasks.extend(variant.parts.iter().rev().map(|&part| Task::VariantPart(part)));
        self.tasks.extend(variant.members.iter().rev().map(Task::Member));
    }

    fn dimension(&mut self, count: Option<u64>, lower: Option<i64>, index: Option<TypeId>) {
        self.tag(gimli::DW_TAG_subrange_type);
        if let Some(count) = count {
            self.number(gimli::DW_AT_count, count);
        }
        if let Some(lower) = lower {
            self.wide(gimli::DW_AT_lower_bound, lower.into());
        }
        self.tasks.push(Task::End);
        self.refer_later(index);
    }

    /// Step 2: the scopes around a type, outermost first.
    fn context(&mut self, scope: ScopeId) {
        let module = self.module;
        let around = |scope: ScopeId| match &module.scopes[scope].kind {
            ScopeKind::Namespace { name, kind } => Some((kind.tag(), *name)),
            ScopeKind::Type(ty) => Some((module.types[*ty].kind.tag(), module.types[*ty].name())),
            _ => None,
        };
        let parents = |scope: &ScopeId| module.scopes[*scope].parent;
        let around: Vec<_> = core::iter::successors(Some(scope), parents).filter_map(around).collect();
        for (tag, name) in around.into_iter().rev() {
            self.out.push(b'C');
            self.uleb(tag.0.into());
            self.text(name.map_or("", |name| module.string(name)));
        }
    }

    /// Step 3: the tag.
    fn tag(&mut self, tag: DwTag) {
        self.out.push(b'D');
        self.uleb(tag.0.into());
    }

    /// Step 4: an attribute's name and form, and the value after them. An attribute that the consumer does not know is
    /// not in the entry.
    fn attribute(&mut self, at: DwAt, form: DwForm, value: impl FnOnce(&mut Vec<u8>)) {
        if self.consumer.entries.knows(at) {
            self.out.push(b'A');
            self.uleb(at.0.into());
            self.uleb(form.0.into());
            value(&mut self.out);
        }
    }

    fn name(&mut self, name: Option<StringId>) {
        if let Some(name) = name.filter(|&name| !self.module.string(name).is_empty()) {
            self.string(gimli::DW_AT_name, name);
        }
    }

    fn string(&mut self, at: DwAt, text: StringId) {
        let text = self.module.string(text);
        self.attribute(at, gimli::DW_FORM_string, |out| {
            out.extend_from_slice(text.as_bytes());
            out.push(0);
        });
    }

    fn flag(&mut self, at: DwAt, is_set: bool) {
        if is_set {
            self.attribute(at, gimli::DW_FORM_flag, |out| out.push(1));
        }
    }

    fn number(&mut self, at: DwAt, value: u64) {
        self.wide(at, value.into());
    }

    /// Appends a number that fits 64 bits.
    fn wide(&mut self, at: DwAt, value: i128) {
        self.attribute(at, gimli::DW_FORM_sdata, |out| write_sleb(out, value as i64));
    }

    fn block(&mut self, at: DwAt, bytes: &[u8]) {
        self.attribute(at, gimli::DW_FORM_block, |out| {
            write_uleb(out, bytes.len() as u64);
            out.extend_from_slice(bytes);
        });
    }

    /// Appends a constant, as a number if it has a number's size.
    fn const_value(&mut self, bytes: &[u8]) {
        let attribute = gimli::DW_AT_const_value;
        let is_big_endian = self.module.target.is_big_endian();
        // The highest bit is the sign, because the form is signed.
        let number = |mut bytes: Vec<u8>| {
            if is_big_endian {
                bytes.reverse();
            }
            let sign = if bytes.last().is_some_and(|&last| last >= 0x80) { -1 } else { 0 };
            bytes.iter().rev().fold(sign, |number: i128, &byte| number << 8 | i128::from(byte))
        };
        match bytes.len() {
            1 | 2 | 4 | 8 => self.wide(attribute, number(bytes.to_vec())),
            _ => self.block(attribute, bytes),
        }
    }

    fn accessibility(&mut self, accessibility: Option<crate::model::Accessibility>) {
        if let Some(accessibility) = accessibility {
            self.number(gimli::DW_AT_accessibility, constants::accessibility(accessibility).0.into());
        }
    }

    fn alignment(&mut self, ty: &Type) {
        if let Some(bytes) = ty.alignment {
            self.number(gimli::DW_AT_alignment, bytes);
        }
    }

    fn stride(&mut self, bits: Option<u64>) {
        match bits {
            None => {}
            Some(bits) if bits.is_multiple_of(8) => self.number(gimli::DW_AT_byte_stride, bits / 8),
            Some(bits) => self.number(gimli::DW_AT_bit_stride, bits),
        }
    }

    fn byte_size(&mut self, ty: &Type) {
        if let Some(bits) = ty.bits {
            self.number(gimli::DW_AT_byte_size, bits.div_ceil(8));
        }
    }

    /// Appends a source position, which no signature depends on.
    fn line(&mut self, line: Option<SourceLine>) {
        let module = self.module;
        let Some(SourceLine { file, line, column }) = line else { return self.out.push(0) };
        let file = &module.files[file];
        self.out.push(1);
        let directory = file.directory.or(module.units[file.unit].directory);
        for text in [Some(file.name), directory] {
            self.text(text.map_or("", |text| module.string(text)));
        }
        self.out.push(file.md5.is_some().into());
        self.out.extend_from_slice(&file.md5.unwrap_or_default());
        self.uleb(line.into());
        self.uleb(column.into());
    }

    /// Appends a text and the final 0.
    fn text(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
        self.out.push(0);
    }

    fn uleb(&mut self, value: u64) {
        write_uleb(&mut self.out, value);
    }
}

/// Description bytes that are collected before they go into the digest.
const CHUNK: usize = 1 << 12;
