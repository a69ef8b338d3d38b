//! Attributes without a field in an entity: vendors' attributes, and attributes of the standard that few entities have.

use gimli::DwAt;

use super::builder::Builder;
use super::ids::{known, known_symbol};
use super::slots::Slot;
use crate::attributes;
use crate::error::{Error, Result};
use crate::model::{
    Address, AttributeOwner, Count, Dimension, Discriminant, EntityId, ExtraAttribute, ExtraValue,
    FunctionId, Imported, Loc, Member, Module, NamespaceKind, PrimaryMap, ScopeId, ScopeKind, TypeId,
    TypeKind, UnitId, Val, VariableId,
};

/// Value of an attribute, for [`Builder::attribute`]. Each value has the shortest form that the DWARF version has.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum AttributeValue<'a> {
    /// A flag that is set.
    Flag,
    /// An unsigned number.
    Unsigned(u64),
    /// A signed number.
    Signed(i64),
    /// A text, not empty.
    Text(&'a str),
    /// A block of bytes.
    Bytes(&'a [u8]),
    /// An address: a symbol's, plus bytes, or a constant.
    Address(Address),
    /// An expression for a location, or a [raw expression](Loc::expr) for anything.
    Location(Loc),
    /// An expression for a number.
    Number(Val),
    /// A reference to a type in the same unit.
    Type(TypeId),
    /// A reference to a function in the same unit.
    Function(FunctionId),
    /// A reference to a variable in the same unit.
    Variable(VariableId),
    /// A reference to a data member, outside variants, of a type in the same unit, by its index: Ada's bound that is a
    /// discriminant. The member can be added later.
    Member(TypeId, u32),
}

/// Vendor attributes that a property, or the encoding of an entity, writes.
#[rustfmt::skip]
const WRITTEN: [(DwAt, &str); 13] = [
    (gimli::DW_AT_MIPS_linkage_name, "the property `linkage_name`"),
    (gimli::DW_AT_GNU_vector, "a vector"),
    (gimli::DW_AT_GNU_template_name, "a template parameter"),
    (gimli::DW_AT_GNU_call_site_value, "a call argument"),
    (gimli::DW_AT_GNU_call_site_data_value, "a call argument"),
    (gimli::DW_AT_GNU_call_site_target, "the property `target`"),
    (gimli::DW_AT_GNU_call_site_target_clobbered, "the property `clobbered_target`"),
    (gimli::DW_AT_GNU_tail_call, "the property `tail`"),
    (gimli::DW_AT_GNU_all_tail_call_sites, "the property `describes_calls`"),
    (gimli::DW_AT_GNU_all_call_sites, "the property `describes_calls`"),
    (gimli::DW_AT_GNU_all_source_call_sites, "the property `describes_calls`"),
    (gimli::DW_AT_GNU_discriminator, "the property `discriminator`"),
    (gimli::DW_AT_APPLE_optimized, "the property `optimized`"),
];

impl Builder {
    /// Adds an attribute to an entity's entry: what a compiler has to say and the model lacks. `name` is a vendor's number,
    /// from `DW_AT_lo_user` (0x2000) to `DW_AT_hi_user` (0x3fff), or an attribute of the standard that no property of the
    /// owner encodes, such as `DW_AT_artificial` of a function. A reader that does not know the attribute skips it.
    ///
    /// An inlined function's attributes are in its abstract instance, an inlined variable's in the instance.
    ///
    /// Where a consumer has an attribute with the number for a property, such as a function's lanes, or cannot express an
    /// expression, the attribute is omitted.
    ///
    /// ```
    /// # use eitri::build::{AttributeValue, Builder};
    /// # use eitri::target::Target;
    /// /// LLVM's registry has the number; 1 is SIMT, 2 is tiles.
    /// const DW_AT_LLVM_LANGUAGE_DIALECT: gimli::DwAt = gimli::DwAt(0x3e15);
    ///
    /// # let mut m = Builder::new(Target::x86_64());
    /// let unit = m.unit("tiles.py");
    /// m.attribute(unit, DW_AT_LLVM_LANGUAGE_DIALECT, AttributeValue::Unsigned(2))?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`UnknownId`](crate::error::ErrorKind::UnknownId) where the entity does not exist, or the value references an
    /// entity that does not exist or belongs to another unit;
    /// [`BadArgument`](crate::error::ErrorKind::BadArgument) where the number is not a vendor's, the attribute belongs to
    /// a property of the model, the owner has the attribute already, or a text is empty;
    /// [`ZeroByte`](crate::error::ErrorKind::ZeroByte); the same errors as
    /// [`VariableBuilder::live`](super::VariableBuilder::live) for an expression.
    pub fn attribute(
        &mut self,
        owner: impl Into<AttributeOwner>,
        name: DwAt,
        value: AttributeValue<'_>,
    ) -> Result<&mut Self> {
        let owner = self.owner(owner.into())?;
        let refused =
            |what| Err(Error::bad_argument(what).or_at(self.module.at_scope(owner.scope(&self.module))));
        if !attributes::is_vendor(name) && !self.is_rare(owner, name) {
            return refused(format!(
                "attribute {} is none that this entity can have; expected a vendor's attribute, with a number from 0x2000 to \
                 0x3fff",
                attributes::text(name)
            ));
        }
        if let Some((_, what)) = WRITTEN.iter().find(|(written, _)| *written == name) {
            return refused(format!(
                "attribute {} encodes {what}; expected an attribute that no property has",
                attributes::text(name)
            ));
        }
        self.add_attribute(owner, name, value)?;
        Ok(self)
    }

    /// Whether an entity can have a rare attribute of the standard, which no property of the entity encodes.
    fn is_rare(&self, owner: AttributeOwner, name: DwAt) -> bool {
        let module = &self.module;
        let kind = |ty: TypeId| &module.types[ty].kind;
        match (name, owner) {
            (gimli::DW_AT_description | gimli::DW_AT_start_scope | gimli::DW_AT_visibility, _) => {
                !matches!(owner, AttributeOwner::Unit(_))
            }
            (gimli::DW_AT_entry_pc | gimli::DW_AT_identifier_case | gimli::DW_AT_use_UTF8, owner) => {
                matches!(owner, AttributeOwner::Unit(_))
            }
            (
                gimli::DW_AT_elemental
                | gimli::DW_AT_pure
                | gimli::DW_AT_recursive
                | gimli::DW_AT_reference
                | gimli::DW_AT_rvalue_reference
                | gimli::DW_AT_trampoline,
                AttributeOwner::Function(_),
            )
            | (
                // C++'s inline variables, as g++ marks them.
                gimli::DW_AT_default_value
                | gimli::DW_AT_inline
                | gimli::DW_AT_is_optional
                | gimli::DW_AT_variable_parameter,
                AttributeOwner::Variable(_),
            )
            | (gimli::DW_AT_const_value, AttributeOwner::Member(..)) => true,
            // An offset that the object determines is stated instead of the member's.
            (
                gimli::DW_AT_data_member_location,
                AttributeOwner::Member(..) | AttributeOwner::VariantMember(..),
            ) => {
                self.member_with(owner).is_none_or(|member| member.offset_bits == 0 && member.bits.is_none())
            }
            // A line without a file, as Go writes it.
            (gimli::DW_AT_decl_line | gimli::DW_AT_decl_column, owner) => match owner {
                AttributeOwner::Variable(id) => module.variables[id].line.is_none(),
                AttributeOwner::Function(id) => module.functions[id].line.is_none(),
                AttributeOwner::Type(id) => module.types[id].line.is_none(),
                AttributeOwner::Label(id) => module.labels[id].line.is_none(),
                AttributeOwner::Import(id) => module.imports[id].line.is_none(),
                _ => false,
            },
            (gimli::DW_AT_alignment, owner) => matches!(
                owner,
                AttributeOwner::Variable(_)
                    | AttributeOwner::Function(_)
                    | AttributeOwner::Member(..)
                    | AttributeOwner::VariantMember(..)
            ),
            (gimli::DW_AT_const_expr, owner) => {
                matches!(owner, AttributeOwner::Variable(_) | AttributeOwner::Function(_))
            }
            (gimli::DW_AT_endianity, AttributeOwner::Variable(_)) => true,
            (gimli::DW_AT_artificial, owner) => {
                matches!(
                    owner,
                    AttributeOwner::Type(_) | AttributeOwner::Function(_) | AttributeOwner::Parameter(..)
                )
            }
            (gimli::DW_AT_containing_type, AttributeOwner::Function(_)) => true,
            (gimli::DW_AT_containing_type | gimli::DW_AT_export_symbols, AttributeOwner::Type(ty)) => {
                matches!(kind(ty), TypeKind::Composite(_))
            }
            (
                gimli::DW_AT_accessibility
                | gimli::DW_AT_linkage_name
                | gimli::DW_AT_noreturn
                | gimli::DW_AT_reference
                | gimli::DW_AT_rvalue_reference,
                AttributeOwner::Type(_),
            ) => true,
            (gimli::DW_AT_linkage_name | gimli::DW_AT_declaration, AttributeOwner::Scope(scope)) => {
                let kind = &module.scopes[scope].kind;
                let is_taken = |kind| matches!(kind, NamespaceKind::CommonBlock | NamespaceKind::Module);
                matches!(kind, ScopeKind::Namespace { kind, .. } if is_taken(*kind))
            }
            (gimli::DW_AT_encoding | gimli::DW_AT_declaration, AttributeOwner::Type(ty)) => {
                matches!(kind(ty), TypeKind::Enum { .. })
            }
            (gimli::DW_AT_name, AttributeOwner::Parameter(..)) => true,
            (gimli::DW_AT_name, AttributeOwner::Type(ty)) => module.types[ty].name().is_none(),
            (gimli::DW_AT_prototyped, AttributeOwner::Type(ty)) => {
                let is_derived = module.units[module.types[ty].unit].has_prototypes();
                matches!(kind(ty), TypeKind::Subroutine { .. }) && !is_derived
            }
            (gimli::DW_AT_prototyped, AttributeOwner::Function(id)) => {
                let function = &module.functions[id];
                let is_derived = module.units[module.scopes[function.scope].unit].has_prototypes();
                function.specification.is_none() && !is_derived
            }
            (gimli::DW_AT_ordering, AttributeOwner::Type(ty)) => {
                matches!(kind(ty), TypeKind::Array { .. } | TypeKind::Vector { .. })
            }
            (
                gimli::DW_AT_binary_scale
                | gimli::DW_AT_decimal_scale
                | gimli::DW_AT_decimal_sign
                | gimli::DW_AT_digit_count
                | gimli::DW_AT_endianity
                | gimli::DW_AT_picture_string
                | gimli::DW_AT_small,
                AttributeOwner::Type(ty),
            ) => kind(ty).is_base(),
            (gimli::DW_AT_byte_stride | gimli::DW_AT_bit_stride, AttributeOwner::Dimension(..)) => true,
            (gimli::DW_AT_lower_bound, AttributeOwner::Dimension(ty, index)) => {
                self.dimension(ty, index).is_some_and(|dimension| dimension.lower.is_none())
            }
            (gimli::DW_AT_upper_bound | gimli::DW_AT_count, AttributeOwner::Dimension(ty, index)) => {
                self.dimension(ty, index).is_some_and(|dimension| dimension.count == Count::Unknown)
            }
            _ => false,
        }
    }

    /// Returns the member with an attribute, if it is there already.
    fn member_with(&self, owner: AttributeOwner) -> Option<&Member> {
        let module = &self.module;
        match owner {
            AttributeOwner::Member(ty, index) => match &module.types[ty].kind {
                TypeKind::Composite(composite) => composite.members.get(index as usize),
                _ => None,
            },
            AttributeOwner::VariantMember(part, variant, index) => {
                module.variant_parts[part].variants.get(variant as usize)?.members.get(index as usize)
            }
            _ => None,
        }
    }

    fn dimension(&self, ty: TypeId, index: u32) -> Option<&Dimension> {
        match &self.module.types[ty].kind {
            TypeKind::Array { dimensions, .. } => dimensions.get(index as usize),
            _ => None,
        }
    }

    /// Adds an attribute that the owner does not have yet.
    pub(super) fn add_attribute(
        &mut self,
        owner: impl Into<AttributeOwner>,
        name: DwAt,
        value: AttributeValue<'_>,
    ) -> Result<()> {
        let owner = owner.into();
        let scope = owner.scope(&self.module);
        let unit = self.module.scopes[scope].unit;
        if self.attributes.contains(&(owner, name)) {
            let what = format!("attribute {} is set twice for one entry", attributes::text(name));
            return Err(Error::bad_argument(what).or_at(self.module.at_scope(scope)));
        }
        let value = self
            .extra_value(unit, scope, name, value)
            .map_err(|error| error.or_at(self.module.at_scope(scope)))?;
        if let Some(ty) = owner.ty(&self.module) {
            // An equal type that is added later does not have the attribute.
            self.unshare(ty);
        }
        self.attributes.insert((owner, name));
        self.module.lists.attributes.push(ExtraAttribute { unit, owner, name, value });
        Ok(())
    }

    /// Checks a value, and converts it to the model's.
    fn extra_value(
        &mut self,
        unit: UnitId,
        scope: ScopeId,
        name: DwAt,
        value: AttributeValue<'_>,
    ) -> Result<ExtraValue> {
        let module = &self.module;
        let of_unit = |scope: Option<ScopeId>| {
            scope.is_some_and(|scope| module.reaches(unit, module.scopes[scope].unit))
        };
        Ok(match value {
            AttributeValue::Flag => ExtraValue::Flag,
            AttributeValue::Unsigned(number) => ExtraValue::Unsigned(number),
            AttributeValue::Signed(number) => ExtraValue::Signed(number),
            AttributeValue::Text("") => {
                let what = format!("text of attribute {} is empty", attributes::text(name));
                return Err(Error::bad_argument(what));
            }
            AttributeValue::Text(text) => ExtraValue::Text(self.name(text)?),
            AttributeValue::Bytes(bytes) => ExtraValue::Bytes(bytes.to_vec()),
            AttributeValue::Address(address) => {
                if let Address::Symbol(symbol, _) = address {
                    known_symbol(module, symbol)?;
                }
                ExtraValue::Address(address)
            }
            AttributeValue::Location(loc) => {
                ExtraValue::Location(self.attribute_loc(unit, scope, name, &loc)?)
            }
            AttributeValue::Number(number) => {
                ExtraValue::Number(self.attribute_loc(unit, scope, name, &Loc::value(number))?)
            }
            AttributeValue::Type(id) => {
                let is_there = module.types.get(id).is_some_and(|ty| module.reaches(unit, ty.unit));
                known(is_there, || module.unknown_in(id, " of this unit"))?;
                ExtraValue::Type(id)
            }
            AttributeValue::Member(id, index) => {
                let is_there = module.types.get(id).is_some_and(|ty| ty.unit == unit);
                known(is_there, || module.unknown_in(id, " of this unit"))?;
                self.known_composite(id)?;
                ExtraValue::Member(id, index)
            }
            AttributeValue::Function(id) => {
                let is_there = of_unit(module.functions.get(id).map(|function| function.scope));
                known(is_there, || module.unknown_in(id, " of this unit"))?;
                ExtraValue::Function(id)
            }
            AttributeValue::Variable(id) => {
                let is_there = of_unit(module.variables.get(id).map(|variable| variable.scope));
                known(is_there, || module.unknown_in(id, " of this unit"))?;
                ExtraValue::Variable(id)
            }
        })
    }

    fn attribute_loc(
        &mut self,
        unit: UnitId,
        scope: ScopeId,
        name: DwAt,
        loc: &Loc,
    ) -> Result<crate::model::LocId> {
        let what = format!("attribute {}", attributes::text(name));
        if self.check_location(unit, loc, None, &what)? {
            self.slot(Slot::Scope(scope));
        }
        self.module.locs.push(loc)
    }

    /// Refuses an owner that does not exist. A scope that belongs to another entity becomes that entity.
    fn owner(&self, owner: AttributeOwner) -> Result<AttributeOwner> {
        let module = &self.module;
        fn check<K: EntityId, V>(module: &Module, entities: &PrimaryMap<K, V>, id: K) -> Result<()> {
            module.check_id(entities, id)
        }
        match owner {
            AttributeOwner::Unit(id) => check(module, &module.units, id)?,
            AttributeOwner::Scope(id) => check(module, &module.scopes, id)?,
            AttributeOwner::Import(id) => check(module, &module.imports, id)?,
            AttributeOwner::Label(id) => check(module, &module.labels, id)?,
            AttributeOwner::Type(id)
            | AttributeOwner::Base(id, _)
            | AttributeOwner::Member(id, _)
            | AttributeOwner::Enumerator(id, _)
            | AttributeOwner::Dimension(id, _)
            | AttributeOwner::Parameter(id, _)
            | AttributeOwner::TypeTemplate(id, _) => check(module, &module.types, id)?,
            AttributeOwner::VariantMember(part, ..) => check(module, &module.variant_parts, part)?,
            AttributeOwner::Function(id) | AttributeOwner::FunctionTemplate(id, _) => {
                check(module, &module.functions, id)?
            }
            AttributeOwner::Variable(id) => check(module, &module.variables, id)?,
            AttributeOwner::Call(id) | AttributeOwner::Argument(id, _) => check(module, &module.calls, id)?,
        }
        Ok(match owner {
            AttributeOwner::Scope(id) => match module.scopes[id].kind {
                ScopeKind::Unit => AttributeOwner::Unit(module.scopes[id].unit),
                ScopeKind::Function(function) => AttributeOwner::Function(function),
                ScopeKind::Type(ty) => AttributeOwner::Type(ty),
                ScopeKind::Namespace { .. } | ScopeKind::Block | ScopeKind::Inlined { .. } => owner,
            },
            owner => owner,
        })
    }
}

/// Sorts the attributes, and refuses attributes of parts that do not exist.
pub(super) fn sort(module: &mut Module) -> Result<()> {
    module.lists.attributes.sort_by_key(|attribute| (attribute.unit, attribute.owner));
    for attribute in &module.lists.attributes {
        let (what, index, count) = match attribute.owner {
            AttributeOwner::Base(id, index) => ("base class", index, parts(module, id).bases),
            AttributeOwner::Member(id, index) => ("member", index, parts(module, id).members),
            AttributeOwner::Enumerator(id, index) => ("enumerator", index, parts(module, id).enumerators),
            AttributeOwner::Dimension(id, index) => ("dimension", index, parts(module, id).dimensions),
            AttributeOwner::Parameter(id, index) => ("parameter", index, parts(module, id).parameters),
            AttributeOwner::TypeTemplate(id, index) => {
                ("template parameter", index, parts(module, id).templates)
            }
            AttributeOwner::FunctionTemplate(id, index) => {
                ("template parameter", index, module.functions[id].templates.len())
            }
            AttributeOwner::VariantMember(part, variant, index) => {
                let variants = &module.variant_parts[part].variants;
                match variants.get(variant as usize) {
                    Some(variant) => ("member", index, variant.members.len()),
                    None => ("variant", variant, variants.len()),
                }
            }
            AttributeOwner::Argument(id, index) => ("argument", index, module.arguments(id).len()),
            _ => continue,
        };
        if index as usize >= count {
            let text = format!(
                "attribute {} belongs to {what} {index}, counted from 0; the owner has {}",
                attributes::text(attribute.name),
                crate::error::Count(count, what)
            );
            let at = module.at_scope(attribute.owner.scope(module));
            return Err(Error::bad_argument(text).or_at(at));
        }
    }
    let referred = module.lists.attributes.iter().filter_map(|attribute| match attribute.value {
        ExtraValue::Member(ty, index) => Some((attribute.owner.scope(module), ty, index)),
        _ => None,
    });
    let discriminants = module.variant_parts.values().filter_map(|part| match part.discriminant {
        Discriminant::Enclosing(ty, index) => Some((module.types[part.of].scope, ty, index)),
        _ => None,
    });
    let imports = module.imports.values().filter_map(|import| match import.what {
        Imported::Member(ty, index) => Some((import.scope, ty, index)),
        _ => None,
    });
    let enumerators = module.imports.values().filter_map(|import| match import.what {
        Imported::Enumerator(ty, index) => Some((import.scope, ty, index)),
        _ => None,
    });
    for (scope, ty, index) in enumerators {
        let count = parts(module, ty).enumerators;
        if index as usize >= count {
            let text = format!(
                "enumerator {index}, counted from 0, of {} is imported; the type has {}",
                module.called(ty),
                crate::error::Count(count, "enumerator")
            );
            return Err(Error::bad_argument(text).or_at(module.at_scope(scope)));
        }
    }
    for (scope, ty, index) in referred.chain(discriminants).chain(imports) {
        let count = parts(module, ty).members;
        if index as usize >= count {
            let text = format!(
                "member {index}, counted from 0, of {} is referred to; the type has {}",
                module.called(ty),
                crate::error::Count(count, "member")
            );
            return Err(Error::bad_argument(text).or_at(module.at_scope(scope)));
        }
    }
    Ok(())
}

/// Numbers of a type's parts.
#[derive(Default)]
struct Parts {
    bases: usize,
    members: usize,
    enumerators: usize,
    dimensions: usize,
    parameters: usize,
    templates: usize,
}

fn parts(module: &Module, id: TypeId) -> Parts {
    match &module.types[id].kind {
        TypeKind::Composite(composite) => Parts {
            bases: composite.bases.len(),
            members: composite.members.len(),
            templates: composite.templates.len(),
            ..Parts::default()
        },
        TypeKind::Enum { enumerators, .. } => Parts { enumerators: enumerators.len(), ..Parts::default() },
        TypeKind::Array { dimensions, .. } => Parts { dimensions: dimensions.len(), ..Parts::default() },
        TypeKind::Subroutine { parameters, .. } => Parts { parameters: parameters.len(), ..Parts::default() },
        kind => Parts { dimensions: usize::from(kind.elements().is_some()), ..Parts::default() },
    }
}
