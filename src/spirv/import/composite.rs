//! Contents of composite types: members, base classes, template parameters.

use super::Importer;
use super::flags::{self, Flags};
use super::omissions::{Made, refused};
use super::order::Node;
use crate::build::{DataMember, Template};
use crate::error::Result;
use crate::model::{CompositeKind, TypeId, UnitId};
use crate::omission::Unimported;
use crate::spirv::opcodes as op;
use crate::spirv::operand::Field;
use crate::spirv::read::Fact;
use crate::spirv::table::{Name, Set};
use crate::spirv::words::Id;

/// A template parameter and its argument.
enum Parameter {
    Type(String, Option<TypeId>),
    Value(String, TypeId, Vec<u8>),
    Template(String, String),
    Pack(String, Vec<Parameter>),
}

impl Parameter {
    fn as_template(&self) -> Template<'_> {
        match self {
            Self::Type(name, ty) => Template::ty(name, *ty),
            Self::Value(name, ty, value) => Template::value(name, *ty, value),
            Self::Template(name, template) => Template::named(name, template),
            Self::Pack(name, all) => {
                Template::pack(name, all.iter().map(Self::as_template).collect::<Vec<_>>())
            }
        }
    }
}

impl<'a> Importer<'_, 'a> {
    /// Imports the members of composite types, in order. The import of types comes first, because a member can have any
    /// type.
    pub(super) fn members(&mut self) -> Result<()> {
        while let Some((id, unit, ty)) = self.pending.composites.pop() {
            let Some(fact) = self.facts.get(id) else { continue };
            let is_own = self.own_unit(id) == unit;
            for member in fact.ids(Field::Member) {
                let Some(member) = self.facts.get(member).filter(|member| member.set == fact.set) else {
                    self.omissions.omit(&fact, Unimported::NotDebug("member", member.0));
                    continue;
                };
                let made = match member.name() {
                    Some(Name::TypeMember) if self.facts.is_static_member(&member) => Ok(()),
                    Some(Name::TypeMember) => self.member(&member, unit, ty)?,
                    Some(Name::TypeInheritance) => self.base(&member, unit, ty)?,
                    Some(Name::Function | Name::FunctionDeclaration) => {
                        let scope = member.id(Field::Scope).map(|scope| self.facts.not_template(scope));
                        match scope == Some(id) || !is_own {
                            true => Ok(()),
                            false => Err(Unimported::OtherScope),
                        }
                    }
                    _ => Err(Unimported::NotMember(id.0)),
                };
                if self.omissions.made(&member, made).is_none() && member.name() == Some(Name::TypeMember) {
                    self.entities.partial.insert(ty);
                }
            }
            if let Some(template) =
                self.references.templates.get(&id).and_then(|&template| self.facts.get(template))
            {
                for parameter in self.template_parameters(&template, unit)? {
                    let made = self.m.template(ty, parameter.as_template()).map(drop).map_err(refused);
                    self.omissions.made(&template, made);
                }
            }
        }
        Ok(())
    }

    /// Lays out the members of a composite type one after the other. Returns the size in bits.
    pub(super) fn lay_out(&mut self, fact: &Fact<'a>, unit: UnitId, kind: CompositeKind) -> u64 {
        let (mut end, mut all) = (0u64, Vec::new());
        for member in self.facts.data_members(fact).collect::<Vec<_>>() {
            let ty = self.ty(&member, Field::Type, unit).ok();
            let bits = ty.and_then(|ty| self.m.described().ty(ty).bits()).unwrap_or_default();
            let bits = bits.div_ceil(8).saturating_mul(8);
            let start = if kind == CompositeKind::Union { 0 } else { end };
            all.push(((member.result, unit), start));
            end = end.max(start.saturating_add(bits));
        }
        self.pending.offsets.extend(all);
        if end > 0 {
            self.omissions.omit(fact, Unimported::NoLayout);
        }
        end
    }

    fn member(&mut self, fact: &Fact<'a>, unit: UnitId, of: TypeId) -> Result<Made<()>> {
        if let Some(ty) = fact.id(Field::Type) {
            self.want(Node::Type(ty, unit))?;
        }
        Ok(self.data_member(fact, unit, of))
    }

    fn data_member(&mut self, fact: &Fact<'a>, unit: UnitId, of: TypeId) -> Made<()> {
        let ty = self.ty(fact, Field::Type, unit)?;
        let name = self.facts.text(fact, Field::Name);
        let (offset, bits) = match self.pending.offsets.get(&(fact.result, unit)) {
            Some(&offset) => (offset, None),
            None => {
                let offset = self.facts.number(fact, Field::Offset).ok_or(Unimported::Unknown("offset"))?;
                (offset, self.facts.number(fact, Field::Size))
            }
        };
        let data = self.m.described().ty(ty);
        let (whole, of_values) = (data.bits(), data.value_bits());
        let is_larger = bits.zip(whole).is_some_and(|(bits, whole)| bits > whole);
        if is_larger {
            self.omissions.omit(fact, Unimported::LargerThanType);
        }
        // A vector of three elements as the last member may have no padding for a fourth one.
        let has = self.m.described().ty(of).bits();
        let has_room = |bits: u64| has.is_none_or(|has| offset.saturating_add(bits) <= has);
        let mut flags = Flags(self.facts.word(fact, Field::Flags));
        let is_bit_field = flags.take(flags::BIT_FIELD) && bits.is_some_and(|bits| bits > 0) && !is_larger;
        let is_whole = !is_bit_field
            && (is_larger
                || bits.is_none()
                || whole.is_none()
                || bits == whole
                || bits == of_values && whole.is_none_or(has_room));
        let mut member = match is_whole && offset.is_multiple_of(8) {
            true => DataMember::new(&name, ty, offset / 8),
            false => DataMember::bit_field(
                &name,
                ty,
                offset,
                bits.filter(|_| !is_whole).or(whole).unwrap_or_default(),
            ),
        };
        if let Some(access) = flags.access() {
            member = member.accessibility(access);
        }
        if flags.take(flags::ARTIFICIAL) {
            member = member.artificial();
        }
        self.rest(fact, flags);
        if let Some(line) = self.line(fact, unit) {
            member = member.declared_at(line);
        }
        if fact.operand(Field::Value).is_some() {
            self.omissions.omit(fact, Unimported::MemberValue);
        }
        self.m.data_member(of, member).map(drop).map_err(refused)
    }

    fn base(&mut self, fact: &Fact<'a>, unit: UnitId, of: TypeId) -> Result<Made<()>> {
        if let Some(parent) = fact.id(Field::Parent) {
            self.want(Node::Type(parent, unit))?;
        }
        Ok(self.base_class(fact, unit, of))
    }

    fn base_class(&mut self, fact: &Fact<'a>, unit: UnitId, of: TypeId) -> Made<()> {
        let parent = self.ty(fact, Field::Parent, unit)?;
        let offset = self.facts.number(fact, Field::Offset).ok_or(Unimported::Unknown("offset"))?;
        if !offset.is_multiple_of(8) {
            return Err(Unimported::BaseBit(offset));
        }
        let mut flags = Flags(self.facts.word(fact, Field::Flags));
        let access = flags.access();
        self.rest(fact, flags);
        if fact.set == Set::OpenCl
            && fact.id(Field::Child) != self.references.owners.get(&fact.result).copied()
        {
            self.omissions.omit(fact, Unimported::OtherDerived);
        }
        let size = self.facts.number(fact, Field::Size);
        if size != self.m.described().ty(parent).bits() {
            self.omissions.omit(fact, Unimported::BaseSize);
        }
        self.m.base(of, parent, offset / 8, access).map(drop).map_err(refused)
    }

    /// Adds the template parameters of a function.
    pub(super) fn function_template(&mut self, id: Id) -> Result<()> {
        let template = self.references.templates.get(&id).and_then(|&template| self.facts.get(template));
        let (Some(template), Some(unit)) = (template, self.unit_of(id)) else { return Ok(()) };
        let Some(&function) = self.entities.functions.get(&id) else { return Ok(()) };
        for parameter in self.template_parameters(&template, unit)? {
            let function = self.m.describe_function(function);
            let made = function.and_then(|mut of| of.template(parameter.as_template()).map(drop));
            self.omissions.made(&template, made.map_err(refused));
        }
        Ok(())
    }

    fn template_parameters(&mut self, template: &Fact<'a>, unit: UnitId) -> Result<Vec<Parameter>> {
        let mut all = Vec::new();
        for id in template.ids(Field::Parameter) {
            let Some(fact) = self.facts.get(id) else {
                self.omissions.omit(template, Unimported::NotDebug("parameter", id.0));
                continue;
            };
            let made = self.template_parameter(&fact, unit, true)?;
            all.extend(self.omissions.made(&fact, made));
        }
        Ok(all)
    }

    fn template_parameter(
        &mut self,
        fact: &Fact<'a>,
        unit: UnitId,
        is_outer: bool,
    ) -> Result<Made<Parameter>> {
        let name = self.facts.text(fact, Field::Name);
        // The LLVM translator swaps 16 and 17: a template template parameter has its name where a pack has its source.
        let operand = |index: usize| fact.operands.get(index).copied().map(Id);
        let layout = self.facts.layout();
        let is_string = |id: Id| layout.string(id).is_some();
        match fact.name() {
            Some(Name::TypeTemplateParameter) => {
                if let Some(ty) = fact.id(Field::ActualType) {
                    self.want(Node::Type(ty, unit))?;
                }
                self.unlined(fact);
                let ty = match self.pointee(fact, Field::ActualType, unit) {
                    Ok(ty) => ty,
                    Err(what) => return Ok(Err(what)),
                };
                let value = fact.id(Field::Value).filter(|&value| !self.facts.is_nothing(value));
                let Some(value) = value else { return Ok(Ok(Parameter::Type(name, ty))) };
                let Some(ty) = ty else { return Ok(Err(Unimported::ValueWithoutType)) };
                Ok(self.constant(value, ty).map(|value| Parameter::Value(name, ty, value)))
            }
            Some(Name::TypeTemplateTemplateParameter | Name::TypeTemplateParameterPack) => {
                self.unlined(fact);
                if let Some(template) = operand(1).filter(|&id| is_string(id)) {
                    let template = layout.string(template).unwrap_or_default();
                    return Ok(Ok(Parameter::Template(name, template)));
                }
                if !is_outer {
                    return Ok(Err(Unimported::PackInPack));
                }
                let mut all = Vec::new();
                for &id in fact.operands.get(4..).unwrap_or_default() {
                    let Some(inner) = self.facts.get(Id(id)) else {
                        self.omissions.omit(fact, Unimported::NotDebug("parameter", id));
                        continue;
                    };
                    // Recursion ends here: a pack cannot contain a pack.
                    let made = self.template_parameter(&inner, unit, false)?;
                    all.extend(self.omissions.made(&inner, made));
                }
                Ok(Ok(Parameter::Pack(name, all)))
            }
            _ => Ok(Err(Unimported::NotTemplateParameter)),
        }
    }

    /// Lists the line of a template parameter as not imported: the model does not have it.
    fn unlined(&mut self, fact: &Fact<'_>) {
        if self.facts.word(fact, Field::Line) != 0 || self.facts.word(fact, Field::Column) != 0 {
            self.omissions.omit(fact, Unimported::TemplateParameterLine);
        }
    }

    /// The bytes of a constant of a type, in the target's byte order.
    pub(super) fn constant(&self, id: Id, ty: TypeId) -> Made<Vec<u8>> {
        let bits = self.m.described().ty(ty).bits();
        let Some(bytes) = bits.and_then(|bits| usize::try_from(bits.div_ceil(8)).ok()).filter(|&it| it <= 64)
        else {
            return Err(Unimported::UnsizedConstant(id.0));
        };
        let layout = self.facts.layout();
        let constant = layout.definition(id).filter(|_| layout.constant(id).is_some());
        let mut value: Vec<u8> = match constant.map(|it| (it.opcode(), it.operands())) {
            Some((op::CONSTANT, words)) => words.iter().flat_map(|word| word.to_le_bytes()).collect(),
            Some((op::CONSTANT_TRUE, _)) => vec![1],
            Some((op::CONSTANT_FALSE | op::CONSTANT_NULL, _)) => Vec::new(),
            _ => return Err(Unimported::UnknownConstant(id.0)),
        };
        let is_negative = layout.constant(id).and_then(|it| it.value).is_some_and(|it| it >> 63 != 0);
        value.resize(bytes, if is_negative { 0xff } else { 0 });
        if self.m.target().is_big_endian() {
            value.reverse();
        }
        Ok(value)
    }
}
