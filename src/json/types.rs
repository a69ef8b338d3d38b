//! Types and their parts: applied to the builder, and written from the model.

use std::io::Write;

use serde_json::value::RawValue;

use super::choices::TemplateArgument;
use super::ids::Known;
use super::kinds::kind;
use super::later::Later;
use super::loc::{ExpressionAt, In, Whole};
use super::read::Reader;
use super::rows::Property;
use super::statement::{
    self, Base, DescribeType, ExtentFacts, ExtentOf, Member, MemberFacts, Packed, Ref, Statement, Template,
    TypeFacts, Values, Variant, VariantPart,
};
use super::values::{Integer, Text, Word};
use super::write::Writer;
use crate::build::{self, DataMember, Extent};
use crate::error::{Error, Result};
use crate::model::{
    self, Accessibility, Count, Dimension, ExprId, FunctionId, Loc, Passed, ScopeId, TemplateParameter,
    TypeId, TypeKind, UnitId, Val, VariantValues,
};

impl<'a> DescribeType<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let unit = reader.unit(&self.unit)?;
        let ty = reader.ty(unit, &self.r#type)?;
        // Even without properties, an equal type in a later statement is a distinct one.
        reader.builder.describe_type(ty)?;
        self.facts().describe(reader, ty, unit)
    }
}

impl<'a> Member<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let unit = reader.unit(&self.unit)?;
        let mut facts = self.facts();
        let name = facts.name.take();
        let member = facts.data_member(reader, unit, &self.r#type, name.as_deref())?;
        match (self.of, self.variant) {
            (Some(of), None) => {
                let of = reader.ty(unit, &of)?;
                reader.builder.data_member(of, member).map(drop)
            }
            (None, Some(variant)) => {
                let variant = reader.names.variants.find((), &variant)?;
                reader.builder.data_member(variant, member).map(drop)
            }
            _ => Err(Error::bad_argument("a member is `of` a type, or of a `variant`")),
        }
    }
}

impl<'a> Base<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let unit = reader.unit(&self.unit)?;
        let (of, ty) = (reader.ty(unit, &self.of)?, reader.ty(unit, &self.r#type)?);
        let accessibility: Option<Accessibility> = self.accessibility.map(|Word(access)| access);
        self.choose(reader, unit, of, ty, accessibility)
    }
}

impl<'a> VariantPart<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let unit = reader.unit(&self.unit)?;
        let of = reader.ty(unit, &self.of)?;
        let part = self.choose(reader, unit, of)?;
        reader.names.parts.add(part, Some(&self.id), None)
    }
}

impl<'a> Variant<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let part = reader.names.parts.find((), &self.part)?;
        let values = kind!(read [values] reader unit self.values);
        let variant = reader.builder.variant(part, values)?;
        reader.names.variants.add(variant, Some(&self.id), None)
    }
}

impl<'a> Template<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        match (&self.unit, &self.of, &self.function) {
            (Some(unit), Some(of), None) => {
                let unit = reader.unit(unit)?;
                let of = reader.ty(unit, of)?;
                let parameter = self.read(reader, unit)?;
                reader.builder.template(of, parameter).map(drop)
            }
            (None, None, Some(function)) => {
                let (function, unit) = reader.function(function)?;
                let parameter = self.read(reader, unit)?;
                reader.builder.describe_function(function)?.template(parameter).map(drop)
            }
            _ => {
                let what = "a template parameter is of a type, given by `unit` and `of`, or of a `function`";
                Err(Error::bad_argument(what))
            }
        }
    }
}

/// The scope of the declaration.
impl<'a> Property<'a, TypeId> for Text<'a> {
    fn read(self, reader: &mut Reader<'a>, id: TypeId, _: UnitId) -> Result<()> {
        let scope = reader.scope(&self)?;
        reader.builder.describe_type(id)?.within(scope).map(drop)
    }

    fn write(known: &'a Known<'a>, id: TypeId) -> Option<Self> {
        let ty = known.module.ty(id);
        (ty.scope() != known.module.unit(ty.unit()).scope).then(|| known.scope_ref(ty.scope()))
    }
}

impl<'a> Property<'a, TypeId> for Word<Passed> {
    fn read(self, reader: &mut Reader<'a>, id: TypeId, _: UnitId) -> Result<()> {
        reader.builder.describe_type(id)?.passed(self.0).map(drop)
    }

    fn write(known: &'a Known<'a>, id: TypeId) -> Option<Self> {
        known.module.ty(id).passed().map(Word)
    }
}

impl<'a> ExtentOf<'a> {
    pub fn read(mut self, reader: &mut Reader<'a>, unit: UnitId) -> Result<Extent> {
        let mut facts = self.facts();
        let mut extent = facts.choose(reader, unit)?;
        facts.describe(reader, &mut extent, unit)?;
        Ok(extent)
    }

    pub fn write(known: &'a Known<'a>, dimension: &'a Dimension) -> Self {
        Self::new().with(ExtentFacts::of(known, dimension).chosen(known, &dimension.count))
    }
}

impl<'a> MemberFacts<'a> {
    fn data_member<'s>(
        mut self,
        reader: &mut Reader<'a>,
        unit: UnitId,
        ty: &Ref<'a>,
        name: Option<&'s str>,
    ) -> Result<DataMember<'s>> {
        let ty = reader.ty(unit, ty)?;
        let mut member = self.choose(reader, unit, name.unwrap_or_default(), ty)?;
        self.describe(reader, &mut member, unit)?;
        Ok(member)
    }

    fn write(known: &'a Known<'a>, member: &'a model::Member) -> Self {
        let mut facts = Self::of(known, member).chosen(known, member);
        facts.name = member.name.map(|name| known.text(name));
        facts
    }
}

impl<'a> statement::Discriminant<'a> {
    pub fn read(&mut self, reader: &mut Reader<'a>, unit: UnitId) -> Result<DataMember<'_>> {
        let mut facts = self.facts();
        self.name = facts.name.take();
        facts.data_member(reader, unit, &self.r#type, self.name.as_deref())
    }

    pub fn write(known: &'a Known<'a>, member: &'a model::Member) -> Self {
        Self::new(known.type_ref(member.ty)).with(MemberFacts::write(known, member))
    }
}

macro_rules! template_parameters { ($($object:ident)*) => { $(
    impl<'a> $object<'a> {
        pub fn read<'s>(&'s self, reader: &mut Reader<'a>, unit: UnitId) -> Result<build::Template<'s>> {
            let name = self.name.as_deref().unwrap_or_default();
            let parameter = self.argument.read(reader, unit, name)?;
            Ok(if self.default == Some(true) { parameter.default() } else { parameter })
        }

        pub fn write(known: &'a Known<'a>, parameter: &'a TemplateParameter) -> Self {
            let mut json = Self::new(TemplateArgument::write(known, &parameter.argument));
            json.name = parameter.name.map(|name| known.text(name));
            json.default = parameter.is_default.then_some(true);
            json
        }
    }
)* } }
template_parameters! { Template Packed }

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

    /// Reads a location outside lists.
    pub fn loc<T>(&mut self, unit: UnitId, loc: &Later<'a, T>) -> Result<Loc> {
        let Later::Text(loc) = loc else { return Ok(Loc::undefined()) };
        self.within(unit, loc)
    }

    /// Reads a number outside lists.
    pub fn number<T>(&mut self, unit: UnitId, number: &Later<'a, T>) -> Result<Val> {
        let Later::Text(number) = number else { return Ok(Val::constant(0)) };
        self.within(unit, number)
    }

    /// Reads a raw expression outside lists.
    pub fn expression(&mut self, unit: UnitId, expr: &Later<'a, ExpressionAt<'a>>) -> Result<ExprId> {
        let Later::Text(expr) = expr else {
            return Err(Error::malformed("an expression of a module is written only"));
        };
        self.within(unit, expr)
    }

    /// Reads a location, number or raw expression.
    fn within<T: Whole<'a>>(&mut self, unit: UnitId, text: &'a RawValue) -> Result<T> {
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
        let Some(json) = statement::type_statement(known, unit, name_id, of) else { return Ok(()) };
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
        let describe = || DescribeType::new(known.unit_ref(ty.unit()), known.type_ref(id));
        let mut json = Statement::DescribeType(describe().with(facts));
        if !self.is_line_written(ty.line()) || ty.scope().as_u32() >= self.counts.scopes {
            let empty = Statement::DescribeType(describe());
            self.later.push(core::mem::replace(&mut json, empty));
        }
        self.statement(&json)
    }

    pub fn bases_and_members(&mut self, id: TypeId) -> Result<()> {
        let (known, ty) = (self.known, self.module.ty(id));
        let TypeKind::Composite(composite) = ty.kind() else { return Ok(()) };
        for base in &composite.bases {
            let unit = known.unit_ref(ty.unit());
            let json = Base::new(unit, known.type_ref(id), known.type_ref(base.ty));
            let mut json = json.chosen(known, &base.offset);
            json.accessibility = base.accessibility.map(Word);
            self.statement(&Statement::Base(json))?;
        }
        for member in &composite.members {
            let mut json = self.member(ty.unit(), member);
            json.of = Some(known.type_ref(id));
            self.statement(&Statement::Member(json))?;
        }
        Ok(())
    }

    fn member(&self, unit: UnitId, member: &'m model::Member) -> Member<'m> {
        let json = Member::new(self.known.unit_ref(unit), self.known.type_ref(member.ty));
        json.with(MemberFacts::write(self.known, member))
    }

    pub fn variant_parts(&mut self) -> Result<()> {
        let known = self.known;
        for (id, part) in &self.module.variant_parts {
            let unit = self.module.ty(part.of).unit();
            let name = format!("part#{}", id.as_u32());
            let (of, part_id) = (known.type_ref(part.of), Text(name.clone().into()));
            let json = VariantPart::new(known.unit_ref(unit), of, part_id).chosen(known, &part.discriminant);
            self.statement(&Statement::VariantPart(json))?;
            for (index, variant) in part.variants.iter().enumerate() {
                let variant_id = format!("{name}.{index}");
                let text = |text: &str| Text(text.to_owned().into());
                let values = kind!(write [values] known variant.values);
                let json = Variant::new(text(&name), text(&variant_id), values);
                self.statement(&Statement::Variant(json))?;
                for member in &variant.members {
                    let mut json = self.member(unit, member);
                    json.variant = Some(text(&variant_id));
                    self.statement(&Statement::Member(json))?;
                }
            }
        }
        Ok(())
    }

    pub fn templates(&mut self, id: TypeId) -> Result<()> {
        let (known, ty) = (self.known, self.module.ty(id));
        let TypeKind::Composite(composite) = ty.kind() else { return Ok(()) };
        for parameter in &composite.templates {
            let mut json = Template::write(known, parameter);
            json.unit = Some(known.unit_ref(ty.unit()));
            json.of = Some(known.type_ref(id));
            self.statement(&Statement::Template(json))?;
        }
        Ok(())
    }

    pub fn function_templates(&mut self, id: FunctionId) -> Result<()> {
        for parameter in &self.module.function(id).templates {
            let mut json = Template::write(self.known, parameter);
            json.function = Some(self.known.function_ref(id));
            self.statement(&Statement::Template(json))?;
        }
        Ok(())
    }
}
