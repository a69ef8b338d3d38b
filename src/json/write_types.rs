//! Writes types as statements.

use std::io::Write;

use super::later::Later;
use super::statement::{self as say, MemberFacts, Stands, Statement, Values};
use super::values::{Integer, Number, Signed, Word};
use super::write::{Describe, ExpressionAt, NumberAt, Place, Writer};
use crate::error::Result;
use crate::model::{
    BaseOffset, Composite, CompositeKind, Count, Discriminant, FunctionId, Member, PointerKind, ScopeId,
    TemplateArgument, TemplateParameter, TypeId, TypeKind, UnitId, VariantValues,
};
use crate::target::SpaceId;

impl<'m, W: Write> Writer<'m, W> {
    pub fn say_type(&mut self, id: TypeId) -> Result<()> {
        let (known, ty) = (self.known, self.module.ty(id));
        self.ensure_scope(self.module.unit(ty.unit()).scope)?;
        self.ensure_parts_of(ty.kind())?;
        self.counts.types += 1;
        let unit = known.unit_ref(ty.unit());
        let maybe = |ty: Option<TypeId>| ty.map(|ty| known.type_ref(ty));
        let name_id = known.type_id(id);
        /// A statement with its required and optional fields.
        macro_rules! said { ($variant:ident $object:ident($($value:expr),*) { $($field:ident: $may:expr),* }) => {{
            let mut said = say::$object::new($($value),*);
            said.id = name_id;
            $(said.$field = $may;)*
            Statement::$variant(said)
        }} }
        let plain = say::plain_type(known, unit.clone(), name_id.clone(), ty.kind());
        let said = match ty.kind() {
            TypeKind::Base { name, encoding } => {
                let bits = Number(ty.bits().unwrap_or(0));
                said!(BaseType BaseType(unit, known.text(*name), Word(*encoding), bits) {})
            }
            TypeKind::Pointer { kind, to, space, memory } => {
                let space = Some(*space).filter(|&space| space != SpaceId::DEFAULT);
                let kind = Some(*kind).filter(|&kind| kind != PointerKind::Pointer);
                said!(Pointer Pointer(unit) {
                    to: maybe(*to), space: space.map(|space| known.space(space)), kind: kind.map(Word),
                    memory_space: memory.map(Word)
                })
            }
            TypeKind::Array { of, dimensions, stride_bits } => {
                let extents = dimensions.iter().map(|dimension| {
                    let mut extent = say::ExtentOf::new();
                    match dimension.count {
                        Count::Unknown => {}
                        Count::Fixed(count) => extent.count = Some(Number(count)),
                        Count::Variable(id) => extent.variable = Some(known.variable_ref(id)),
                        Count::Value(loc) => {
                            extent.value = Some(Later::Model(NumberAt(Place { known, loc })));
                        }
                    }
                    extent.lower = dimension.lower.map(Signed);
                    extent.index = maybe(dimension.index);
                    extent
                });
                let counts = dimensions.iter().map(|dimension| match dimension.count {
                    Count::Unknown => Some(None),
                    Count::Fixed(count) => Some(Some(Number(count))),
                    _ => None,
                });
                let is_plain = dimensions.iter().all(|one| one.lower.is_none() && one.index.is_none());
                let counts = counts.collect::<Option<Vec<_>>>().filter(|_| is_plain);
                let extents = if counts.is_some() { None } else { Some(extents.collect()) };
                said!(Array Array(unit, known.type_ref(*of)) {
                    counts: counts, extents: extents, stride_bits: stride_bits.map(Number)
                })
            }
            TypeKind::Composite(Composite { kind, name, .. }) => {
                let name = name.map(|name| known.text(name));
                let bytes = Number(ty.bits().unwrap_or(0) / 8);
                // The statement makes the type's scope too.
                self.counts.scopes += 1;
                match kind {
                    _ if ty.is_declaration() => {
                        said!(Incomplete Incomplete(unit, Word(*kind), name.unwrap_or("".into())) {})
                    }
                    CompositeKind::Struct => said!(Structure Composite(unit, bytes) { name: name }),
                    CompositeKind::Class => said!(Class Composite(unit, bytes) { name: name }),
                    CompositeKind::Union => said!(Union Composite(unit, bytes) { name: name }),
                }
            }
            TypeKind::Enum { name, of, enumerators, is_class } => {
                let each = enumerators.iter().map(|&(name, value)| (known.text(name), Integer(value)));
                let name = name.map(|name| known.text(name));
                said!(Enumeration Enumeration(unit, known.type_ref(*of), each.collect()) {
                    name: name, class: is_class.then_some(true)
                })
            }
            _ => match plain {
                Some(said) => said,
                None => return Ok(()),
            },
        };
        self.say(&said)?;
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
        let ty = self.module.ty(id);
        let has_facts = ty.line().is_some()
            || ty.alignment().is_some()
            || ty.passed().is_some()
            || ty.scope() != self.module.unit(ty.unit()).scope;
        if !has_facts && !self.known.comes_again(id) {
            return Ok(());
        }
        let is_ready = self.is_line_said(ty.line()) && ty.scope().as_u32() < self.counts.scopes;
        if is_ready {
            return self.say(&self.described_type(id));
        }
        self.later.push(Describe::Type(id));
        let unit = self.known.unit_ref(ty.unit());
        self.say(&Statement::DescribeType(say::DescribeType::new(unit, self.known.type_ref(id))))
    }

    pub fn described_type(&self, id: TypeId) -> Statement<'m> {
        let (known, ty) = (self.known, self.module.ty(id));
        let mut said = say::DescribeType::new(known.unit_ref(ty.unit()), known.type_ref(id));
        said.declared = ty.line().map(|line| known.line(line));
        said.alignment = ty.alignment().map(Number);
        said.passed = ty.passed().map(Word);
        let is_in_unit = ty.scope() == self.module.unit(ty.unit()).scope;
        said.r#in = Some(known.scope_ref(ty.scope())).filter(|_| !is_in_unit);
        Statement::DescribeType(said)
    }

    pub fn bases_and_members(&mut self, id: TypeId) -> Result<()> {
        let (known, ty) = (self.known, self.module.ty(id));
        let TypeKind::Composite(composite) = ty.kind() else { return Ok(()) };
        for base in &composite.bases {
            let unit = known.unit_ref(ty.unit());
            let mut said = say::Base::new(unit, known.type_ref(id), known.type_ref(base.ty));
            match base.offset {
                BaseOffset::Bytes(offset) => said.offset = Some(Number(offset)),
                BaseOffset::Expr(loc) => {
                    said.r#virtual = Some(Later::Model(ExpressionAt(Place { known, loc })))
                }
            }
            said.accessibility = base.accessibility.map(Word);
            self.say(&Statement::Base(said))?;
        }
        for member in &composite.members {
            let mut said = self.member(ty.unit(), member);
            said.of = Some(known.type_ref(id));
            self.say(&Statement::Member(said))?;
        }
        Ok(())
    }

    fn member(&self, unit: UnitId, member: &Member) -> say::Member<'m> {
        let said = say::Member::new(self.known.unit_ref(unit), self.known.type_ref(member.ty));
        said.with(self.member_facts(member))
    }

    fn member_facts(&self, member: &Member) -> MemberFacts<'m> {
        let (offset, offset_bits) = match member.bits {
            None => (Some(Number(member.offset_bits / 8)), None),
            Some(_) => (None, Some(Number(member.offset_bits))),
        };
        MemberFacts {
            name: member.name.map(|name| self.known.text(name)),
            offset,
            offset_bits,
            bits: member.bits.map(Number),
            accessibility: member.accessibility.map(Word),
            mutable: member.is_mutable.then_some(true),
            artificial: member.is_artificial.then_some(true),
            declared: member.line.map(|line| self.known.line(line)),
        }
    }

    pub fn variant_parts(&mut self) -> Result<()> {
        let known = self.known;
        for (id, part) in &self.module.variant_parts {
            let unit = self.module.ty(part.of).unit();
            let name = format!("part#{}", id.as_u32());
            let (of, part_id) = (known.type_ref(part.of), super::values::Text(name.clone().into()));
            let mut said = say::VariantPart::new(known.unit_ref(unit), of, part_id);
            match &part.discriminant {
                Discriminant::Type(tag) => said.untagged = Some(known.type_ref(*tag)),
                Discriminant::Member(member) => {
                    let ty = known.type_ref(member.ty);
                    said.discriminant = Some(say::Discriminant::new(ty).with(self.member_facts(member)));
                }
            }
            self.say(&Statement::VariantPart(said))?;
            for (index, variant) in part.variants.iter().enumerate() {
                let variant_id = format!("{name}.{index}");
                let text = |text: &str| super::values::Text(text.to_owned().into());
                let values = variant.values.iter().map(|values| match *values {
                    VariantValues::One(value) => Values::One(Integer(value)),
                    VariantValues::Range(first, last) => Values::Range(Integer(first), Integer(last)),
                });
                let said = say::Variant::new(text(&name), text(&variant_id), values.collect());
                self.say(&Statement::Variant(said))?;
                for member in &variant.members {
                    let mut said = self.member(unit, member);
                    said.variant = Some(text(&variant_id));
                    self.say(&Statement::Member(said))?;
                }
            }
        }
        Ok(())
    }

    pub fn templates(&mut self, id: TypeId) -> Result<()> {
        let (known, ty) = (self.known, self.module.ty(id));
        let TypeKind::Composite(composite) = ty.kind() else { return Ok(()) };
        for parameter in &composite.templates {
            let mut said = self.template(parameter);
            said.unit = Some(known.unit_ref(ty.unit()));
            said.of = Some(known.type_ref(id));
            self.say(&Statement::Template(said))?;
        }
        Ok(())
    }

    pub fn function_templates(&mut self, id: FunctionId) -> Result<()> {
        for parameter in &self.module.function(id).templates {
            let mut said = self.template(parameter);
            said.function = Some(self.known.function_ref(id));
            self.say(&Statement::Template(said))?;
        }
        Ok(())
    }

    fn template(&self, parameter: &'m TemplateParameter) -> say::Template<'m> {
        let mut said = say::Template::new(self.argument(&parameter.argument));
        said.name = parameter.name.map(|name| self.known.text(name));
        said.default = parameter.is_default.then_some(true);
        said
    }

    fn argument(&self, argument: &'m TemplateArgument) -> Stands<'m> {
        let known = self.known;
        match argument {
            TemplateArgument::Type(ty) => Stands::Type(ty.map(|ty| known.type_ref(ty))),
            TemplateArgument::Value { ty, value } => {
                Stands::Value(known.type_ref(*ty), Later::Model(Place { known, loc: *value }))
            }
            TemplateArgument::Template(name) => Stands::Template(known.text(*name)),
            TemplateArgument::Pack(parameters) => {
                let each = parameters.iter().map(|parameter| {
                    let mut said = say::Packed::new(self.argument(&parameter.argument));
                    said.name = parameter.name.map(|name| known.text(name));
                    said.default = parameter.is_default.then_some(true);
                    said
                });
                Stands::Pack(each.collect())
            }
        }
    }
}
