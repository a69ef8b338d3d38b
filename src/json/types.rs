//! Types and their parts: applied to the builder, and written from the model.

use std::io::Write;

use super::choices::{MemberOf, TemplateOf};
use super::ids::Known;
use super::kinds::kind;
use super::later::Later;
use super::loc::{In, Whole};
use super::read::Reader;
use super::rows::{Outcome, Property, call, property, set};
use super::statement::{
    Discriminant, Member, Ref, Statement, Template, TypeFacts, base_statement, describe_type, type_statement,
    variant_part_statement, variant_statement,
};
use super::values::{Text, Word};
use super::write::Writer;
use crate::build::VariantId;
use crate::error::{Error, Result};
use crate::model::{self, Count, FunctionId, Passed, ScopeId, TemplateParameter, TypeId, TypeKind, UnitId};

impl<'a> Member<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let unit = reader.unit(&self.unit)?;
        let of = self.choose(reader, unit)?;
        let facts = self.facts();
        let mut member = Discriminant::new(self.r#type).with(facts);
        let member = member.read(reader, unit)?;
        match of {
            MemberOf::Type(of) => reader.builder.data_member(of, member).map(drop),
            MemberOf::Variant(variant) => reader.builder.data_member(variant, member).map(drop),
        }
    }
}

impl<'a> Template<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        match self.choose(reader, ())? {
            TemplateOf::Type(unit, of) => {
                let parameter = self.read(reader, unit)?;
                reader.builder.template(of, parameter).map(drop)
            }
            TemplateOf::Function(function) => {
                let unit = reader.unit_of(reader.builder.described().function(function).scope);
                let parameter = self.read(reader, unit)?;
                reader.builder.describe_function(function)?.template(parameter).map(drop)
            }
        }
    }
}

property! {
    /// The scope of the declaration.
    value [scope] of |known, id: TypeId| by describe_type = {
        let ty = known.module.ty(id);
        Some(ty.scope()).filter(|&scope| scope != known.module.unit(ty.unit()).scope)
    } => within
}
property! {
    /// The passing to functions.
    value [word Passed] of |known, id: TypeId| by describe_type = known.module.ty(id).passed() => passed
}

impl<'a> Reader<'a> {
    pub fn ty(&self, unit: UnitId, ty: &Ref<'a>) -> Result<TypeId> {
        self.names.types.find(unit, ty)
    }

    pub fn maybe_type(&self, unit: UnitId, ty: Option<&Ref<'a>>) -> Result<Option<TypeId>> {
        ty.map(|ty| self.ty(unit, ty)).transpose()
    }

    /// Registers a new type under its id, or else under its name, if any.
    pub fn named_type(&mut self, ty: TypeId, id: Option<&Text<'a>>, name: Option<&Text<'a>>) -> Result<()> {
        let data = self.builder.described().ty(ty);
        let (unit, own) = (data.unit(), data.own_scope());
        self.names.types.add(ty, id, name.map(|name| (unit, name)))?;
        // A type is a scope by its id only, because a function may have the same name.
        own.map_or(Ok(()), |own| self.names.scopes.add(own, id, None))
    }

    /// Reads a location, number or raw expression outside lists.
    pub fn whole<T: Whole<'a>, J>(&mut self, unit: UnitId, json: &Later<'a, J>) -> Result<T> {
        let Later::Text(text) = json else {
            return Err(Error::malformed("a part that was written is not read"));
        };
        self.part(text, |reader, json| T::deserialized(&mut In::new(reader, unit), json))
    }
}

impl<'m, W: Write> Writer<'m, W> {
    pub fn ty(&mut self, id: TypeId) -> Result<()> {
        let (known, ty) = (self.known, self.module.ty(id));
        self.ensure_scope(self.module.unit(ty.unit()).scope)?;
        self.ensure_parts_of(ty.kind())?;
        self.counts.types += 1;
        let of = (ty.kind(), ty.bits().unwrap_or(0), ty.is_declaration());
        let (unit, name_id) = (known.unit_ref(ty.unit()), known.type_id(id));
        let json = type_statement(known, unit, name_id, of, ());
        if matches!(ty.kind(), TypeKind::Composite(_)) {
            // The statement makes the type's scope too.
            self.counts.scopes += 1;
        }
        self.statement(&json)?;
        self.describe_type(id)
    }

    /// Writes the scopes, variables and locations that a type needs.
    fn ensure_parts_of(&mut self, kind: &TypeKind) -> Result<()> {
        match kind {
            TypeKind::Composite(composite) => match composite.scope.as_u32().checked_sub(1) {
                Some(before) => self.ensure_scope(ScopeId::from_u32(before)),
                None => Ok(()),
            },
            TypeKind::Array { dimensions, .. } => dimensions.iter().try_for_each(|one| match one.count {
                Count::Variable(variable) => self.ensure_variable(variable),
                Count::Value(loc) => self.ensure_loc(loc),
                Count::Unknown | Count::Fixed(_) => Ok(()),
            }),
            _ => Ok(()),
        }
    }

    /// Writes a type's further properties. If they have to wait, an empty `describe_type` comes at once, so that a
    /// later type of equal kind is not merged with this one.
    fn describe_type(&mut self, id: TypeId) -> Result<()> {
        let (known, ty) = (self.known, self.module.ty(id));
        let facts = TypeFacts::of(known, id);
        if facts.is_empty() && !known.comes_again(id) {
            return Ok(());
        }
        let describe = |facts| describe_type(known, known.unit_ref(ty.unit()), None, id, facts);
        let mut json = describe(facts);
        if !self.is_line_written(ty.line()) || ty.scope().as_u32() >= self.counts.scopes {
            let empty = describe(TypeFacts::default());
            self.later.push(core::mem::replace(&mut json, empty));
        }
        self.statement(&json)
    }

    pub fn bases_and_members(&mut self, id: TypeId) -> Result<()> {
        let (known, ty) = (self.known, self.module.ty(id));
        let TypeKind::Composite(composite) = ty.kind() else { return Ok(()) };
        for base in &composite.bases {
            self.statement(&base_statement(known, known.unit_ref(ty.unit()), None, (id, base), ()))?;
        }
        for member in &composite.members {
            self.member(ty.unit(), &MemberOf::Type(id), member)?;
        }
        Ok(())
    }

    fn member(&mut self, unit: UnitId, of: &MemberOf, member: &'m model::Member) -> Result<()> {
        let (known, mut json) = (self.known, Discriminant::write(self.known, member));
        let facts = json.facts();
        let json = Member::new(known.unit_ref(unit), json.r#type).with(facts).chosen(known, of);
        self.statement(&Statement::Member(json))
    }

    pub fn variant_parts(&mut self) -> Result<()> {
        let known = self.known;
        for (id, part) in &self.module.variant_parts {
            let unit = self.module.ty(part.of).unit();
            let of = (part.of, known.part_ref(id), &part.discriminant);
            self.statement(&variant_part_statement(known, known.unit_ref(unit), None, of, ()))?;
            for (index, variant) in part.variants.iter().enumerate() {
                let variant_id = VariantId { part: id, index };
                let of = (known.variant_ref(variant_id), variant);
                self.statement(&variant_statement(known, known.part_ref(id), None, of, ()))?;
                for member in &variant.members {
                    self.member(unit, &MemberOf::Variant(variant_id), member)?;
                }
            }
        }
        Ok(())
    }

    pub fn templates(&mut self, id: TypeId) -> Result<()> {
        let ty = self.module.ty(id);
        let TypeKind::Composite(composite) = ty.kind() else { return Ok(()) };
        self.template_parameters(&composite.templates, &TemplateOf::Type(ty.unit(), id))
    }

    pub fn function_templates(&mut self, id: FunctionId) -> Result<()> {
        self.template_parameters(&self.module.function(id).templates, &TemplateOf::Function(id))
    }

    fn template_parameters(&mut self, parameters: &'m [TemplateParameter], of: &TemplateOf) -> Result<()> {
        for parameter in parameters {
            let json = Template::write(self.known, parameter).chosen(self.known, of);
            self.statement(&Statement::Template(json))?;
        }
        Ok(())
    }
}
