//! Types, except for the contents of composite types.

use super::Importer;
use super::flags::{self, Flags};
use super::omissions::{Made, refused};
use crate::build::{Builder, Extent};
use crate::model::{
    BaseEncoding, CompositeKind, MemorySpace, Passed, PointerKind, Qualifier, TypeId, UnitId,
};
use crate::omission::Unimported;
use crate::spirv::names::Enumeration;
use crate::spirv::operand::Field;
use crate::spirv::read::Fact;
use crate::spirv::table::Name;
use crate::spirv::words::Id;
use crate::target::SpaceId;

/// Encodings by their numbers: section 3.3. `Unspecified` is not an encoding.
const ENCODINGS: [Option<BaseEncoding>; 9] = [
    None,
    Some(BaseEncoding::Address),
    Some(BaseEncoding::Boolean),
    Some(BaseEncoding::Float),
    Some(BaseEncoding::Signed),
    Some(BaseEncoding::SignedChar),
    Some(BaseEncoding::Unsigned),
    Some(BaseEncoding::UnsignedChar),
    // Version 200 has this encoding.
    Some(BaseEncoding::ComplexFloat),
];

/// Storage classes, with their memory and the name of the target's address space for each.
const CLASSES: [(u32, Option<MemorySpace>, &str); 6] = [
    (0, Some(MemorySpace::Constant), ""),
    (4, Some(MemorySpace::Group), "local"),
    (5, Some(MemorySpace::Global), "global"),
    (6, Some(MemorySpace::Private), "private_lane"),
    (7, Some(MemorySpace::Private), "private_lane"),
    (8, None, "generic"),
];

/// The number that the LLVM translator writes for an unknown storage class.
const NO_CLASS: u32 = u32::MAX;

/// The most bits of a base type.
const MOST_BITS: u64 = 1 << 32;

impl<'a> Importer<'_, 'a> {
    pub(super) fn make_type(&mut self, id: Id, unit: UnitId) {
        let Some(fact) = self.facts.get(id).filter(|_| !self.facts.is_nothing(id)) else { return };
        let made = self.new_type(&fact, unit);
        if let Some(ty) = self.omissions.made(&fact, made) {
            self.entities.types.insert((id, unit), ty);
        }
    }

    fn new_type(&mut self, fact: &Fact<'a>, unit: UnitId) -> Made<TypeId> {
        let (Some(name), id) = (fact.name(), fact.result) else { return Err(Unimported::NoType) };
        match name {
            Name::TypeBasic => self.basic(fact, unit),
            Name::TypePointer => self.pointer(fact, unit),
            Name::TypeQualifier => {
                let of = self.pointee(fact, Field::BaseType, unit)?;
                let qualifier = match self.facts.number(fact, Field::Qualifier) {
                    Some(0) => Qualifier::Const,
                    Some(1) => Qualifier::Volatile,
                    Some(2) => Qualifier::Restrict,
                    Some(3) => Qualifier::Atomic,
                    _ => return Err(Unimported::Qualifier),
                };
                self.m.qualified(unit, qualifier, of).map_err(refused)
            }
            Name::TypeArray if fact.operand(Field::Subrange).is_some() => self.subranges(fact, unit),
            Name::TypeArrayDynamic => {
                for field in [Field::DataLocation, Field::Associated, Field::Allocated, Field::Rank] {
                    if fact.id(field).is_some_and(|id| !self.facts.is_nothing(id)) {
                        self.omissions.omit(fact, Unimported::Descriptor(field.text()));
                    }
                }
                self.subranges(fact, unit)
            }
            Name::TypeString => {
                self.omissions.omit(fact, Unimported::StringType);
                let name = self.facts.text(fact, Field::Name);
                self.m.unspecified_type(unit, &name).map_err(refused)
            }
            Name::TypeArray => self.array(fact, unit),
            Name::TypeVector => {
                let of = self.ty(fact, Field::BaseType, unit)?;
                let count =
                    self.facts.number(fact, Field::ComponentCount).ok_or(Unimported::Unknown("length"))?;
                self.m.vector(unit, of, count).map_err(refused)
            }
            Name::TypeMatrix => {
                let of = self.ty(fact, Field::VectorType, unit)?;
                let count = self
                    .facts
                    .number(fact, Field::VectorCount)
                    .ok_or(Unimported::Unknown("number of vectors"))?;
                let major =
                    self.facts.number(fact, Field::ColumnMajor).ok_or(Unimported::Unknown("order"))?;
                self.m.matrix(unit, of, count, major != 0).map_err(refused)
            }
            Name::TypeVectorId => {
                let of = self.ty(fact, Field::ComponentType, unit)?;
                let count =
                    self.facts.number(fact, Field::ComponentCount).ok_or(Unimported::Unknown("length"))?;
                self.omissions.omit(fact, Unimported::LengthId);
                self.m.vector(unit, of, count).map_err(refused)
            }
            Name::TypeCooperativeMatrix => {
                self.omissions.omit(fact, Unimported::CooperativeMatrix);
                self.m.unspecified_type(unit, "").map_err(refused)
            }
            Name::Typedef => {
                let of = self.pointee(fact, Field::BaseType, unit)?;
                let name = self.facts.text(fact, Field::Name);
                let ty = self.m.typedef(unit, &name, of).map_err(refused)?;
                self.declared(fact, unit, ty);
                Ok(ty)
            }
            Name::TypeFunction => {
                let returns = self.pointee(fact, Field::ReturnType, unit)?;
                let mut flags = Flags(self.facts.word(fact, Field::Flags));
                flags.take(flags::PROTOTYPED);
                self.rest(fact, flags);
                let mut parameters = Vec::new();
                for id in fact.ids(Field::ParameterType) {
                    match self.entities.types.get(&(self.facts.not_template(id), unit)).copied() {
                        Some(ty) => parameters.push(ty),
                        None if self.facts.is_nothing(id) => {
                            self.omissions.omit(fact, Unimported::NoParameterType)
                        }
                        None => return Err(Unimported::TypeNotImported(id.0)),
                    }
                }
                self.m.subroutine(unit, returns, &parameters).map_err(refused)
            }
            Name::TypeEnum => self.enumeration(fact, unit),
            Name::TypeComposite => self.composite(fact, unit),
            Name::TypePtrToMember => {
                let class = match self.is_none(fact, Field::Parent) {
                    true => self.m.incomplete(unit, CompositeKind::Struct, "").map_err(refused)?,
                    false => self.ty(fact, Field::Parent, unit)?,
                };
                let to = self.ty(fact, Field::MemberType, unit)?;
                self.m.member_pointer(unit, class, to).map_err(refused)
            }
            Name::TypeTemplate => {
                let target = self.facts.not_template(id);
                self.entities.types.get(&(target, unit)).copied().ok_or(Unimported::NotType(target.0))
            }
            _ => Err(Unimported::NotTypeInstruction(name.row().text)),
        }
    }

    /// Whether an operand is a `DebugInfoNone` in place of a type, which is then listed.
    fn is_none(&mut self, fact: &Fact<'_>, field: Field) -> bool {
        let is_none = self.facts.named(fact, field, Name::InfoNone).is_some();
        if is_none {
            self.omissions.omit(fact, Unimported::Untyped(field.text()));
        }
        is_none
    }

    /// The type that an operand references; an unspecified type in place of a `DebugInfoNone`.
    pub(super) fn ty(&mut self, fact: &Fact<'_>, field: Field, unit: UnitId) -> Made<TypeId> {
        let id = fact.id(field).ok_or_else(|| Unimported::Missing(field.text()))?;
        match self.entities.types.get(&(self.facts.not_template(id), unit)).copied() {
            Some(ty) => Ok(ty),
            None if self.is_none(fact, field) => self.m.unspecified_type(unit, "").map_err(refused),
            None => Err(Unimported::NotImported(field.text(), id.0)),
        }
    }

    /// The type that an operand references; `None` for `void`.
    pub(super) fn pointee(&mut self, fact: &Fact<'_>, field: Field, unit: UnitId) -> Made<Option<TypeId>> {
        match fact.id(field) {
            Some(id) if self.facts.is_nothing(id) => Ok(None),
            _ => self.ty(fact, field, unit).map(Some),
        }
    }

    fn basic(&mut self, fact: &Fact<'a>, unit: UnitId) -> Made<TypeId> {
        let name = self.facts.text(fact, Field::Name);
        let (bits, number) = (self.facts.number(fact, Field::Size), self.facts.number(fact, Field::Encoding));
        self.rest(fact, Flags(self.facts.word(fact, Field::Flags)));
        let known = number.filter(|&number| {
            u32::try_from(number).is_ok_and(|number| Enumeration::Encoding.has(number, fact.set))
        });
        let encoding = known.and_then(|number| *ENCODINGS.get(usize::try_from(number).ok()?)?);
        if fact.operand(Field::FpEncoding).is_some() {
            let number = self.facts.word(fact, Field::FpEncoding);
            self.omissions.omit(fact, Unimported::Format(number));
            return self.m.unspecified_type(unit, &name).map_err(refused);
        }
        match (encoding, bits) {
            (Some(encoding), Some(bits @ 1..=MOST_BITS)) => self.m.base_type(unit, &name, encoding, bits),
            _ => {
                let bits = bits.unwrap_or_default();
                self.omissions.omit(fact, Unimported::NameOnly(bits));
                self.m.unspecified_type(unit, &name)
            }
        }
        .map_err(refused)
    }

    fn pointer(&mut self, fact: &Fact<'a>, unit: UnitId) -> Made<TypeId> {
        let to = self.pointee(fact, Field::BaseType, unit)?;
        let mut flags = Flags(self.facts.word(fact, Field::Flags));
        let kind = match (flags.take(flags::LVALUE_REFERENCE), flags.take(flags::RVALUE_REFERENCE)) {
            (true, _) => PointerKind::Reference,
            (_, true) => PointerKind::RvalueReference,
            _ => PointerKind::Pointer,
        };
        // Set on the type of an object parameter (`this`); the model has them on the variable.
        flags.take(flags::ARTIFICIAL | flags::OBJECT_POINTER);
        self.rest(fact, flags);
        let class = self.facts.number(fact, Field::StorageClass).and_then(|class| u32::try_from(class).ok());
        let of_shader = class.and_then(|class| self.m.target().space_of_storage_class(class));
        let known = CLASSES.iter().find(|(number, ..)| Some(*number) == class);
        let (memory, space) = match known {
            _ if of_shader.is_some() => (None, of_shader.unwrap_or(SpaceId::DEFAULT)),
            Some(&(_, memory, name)) => {
                let space = self.m.target().spaces().iter().find(|space| space.name == name);
                (memory, space.map_or(SpaceId::DEFAULT, |space| space.id))
            }
            None => (None, SpaceId::DEFAULT),
        };
        if known.is_none() && of_shader.is_none() && class != Some(NO_CLASS) {
            self.omissions.omit(fact, Unimported::StorageClass);
        }
        self.m.pointer_of(unit, kind, to, space, memory).map_err(refused)
    }

    fn array(&mut self, fact: &Fact<'a>, unit: UnitId) -> Made<TypeId> {
        let of = self.ty(fact, Field::BaseType, unit)?;
        let mut counts: Vec<Id> = fact.ids(Field::ComponentCount).collect();
        let layout = self.facts.layout();
        let constant = |id: Id| layout.constant(id).and_then(|constant| constant.value);
        let is_bound = |id: &Id| self.facts.is_nothing(*id) || constant(*id) == Some(0);
        let half = counts.len() / 2;
        let (first, second) = counts.split_at(half);
        // The LLVM translator appends the lower bounds.
        if first.len() == second.len() && second.iter().all(is_bound) && !first.iter().any(is_bound) {
            counts.truncate(half);
        }
        let mut extents = Vec::new();
        for count in counts {
            let all_ones = layout.constant(count).and_then(|of| of.integer_bits).map(|bits| match bits {
                ..64 => u64::from(u32::MAX),
                _ => u64::MAX,
            });
            extents.push(match (constant(count), self.entities.variables.get(&count)) {
                (Some(number), _) if Some(number) == all_ones => Extent::unknown(),
                // Producers of those sets write 0 for an unknown count.
                (Some(0), _) if fact.set.is_shader() => Extent::unknown(),
                (Some(number), _) => Extent::fixed(number),
                (None, Some(&variable)) => Extent::variable(variable),
                _ => {
                    if !self.facts.is_nothing(count) {
                        self.omissions.omit(fact, Unimported::UnknownCount(count.0));
                    }
                    Extent::unknown()
                }
            });
        }
        self.m.array_of(unit, of, &extents, None).map_err(refused)
    }

    fn enumeration(&mut self, fact: &Fact<'a>, unit: UnitId) -> Made<TypeId> {
        let size = self.facts.number(fact, Field::Size).unwrap_or_default();
        let of = match self.pointee(fact, Field::UnderlyingType, unit)? {
            Some(of) => of,
            None => {
                self.omissions.omit(fact, Unimported::NoUnderlyingType(size));
                self.m.base_type(unit, "", BaseEncoding::Unsigned, size).map_err(refused)?
            }
        };
        let bits = self.m.described().ty(of).bits().unwrap_or(64).min(64);
        if bits != size {
            self.omissions.omit(fact, Unimported::UnderlyingSize(bits, size));
        }
        let is_signed = self.m.described().is_signed(of).unwrap_or_default();
        let mut enumerators = Vec::new();
        let names: Vec<Id> = fact.ids(Field::EnumeratorName).collect();
        let values: Vec<Id> = fact.ids(Field::Value).collect();
        if names.len() != values.len() {
            self.omissions.omit(fact, Unimported::UnnamedEnumerator);
        }
        for (value, name) in values.into_iter().zip(names) {
            let name = self.facts.layout().string(name).unwrap_or_default();
            match self.facts.layout().constant(value).and_then(|constant| constant.value) {
                Some(value) => enumerators.push((name, narrowed(value, bits as u32, is_signed))),
                None => self.omissions.omit(fact, Unimported::UnknownEnumerator(name)),
            }
        }
        let all: Vec<(&str, i128)> = enumerators.iter().map(|(name, value)| (&**name, *value)).collect();
        let name = Some(self.facts.text(fact, Field::Name)).filter(|name| !name.is_empty());
        let mut flags = Flags(self.facts.word(fact, Field::Flags));
        let make = if flags.take(flags::ENUM_CLASS) { Builder::enum_class } else { Builder::enumeration };
        let ty = make(&mut self.m, unit, name.as_deref(), of, &all).map_err(refused)?;
        self.rest(fact, flags);
        self.declared(fact, unit, ty);
        Ok(ty)
    }

    fn composite(&mut self, fact: &Fact<'a>, unit: UnitId) -> Made<TypeId> {
        let kind = match self.facts.number(fact, Field::Tag) {
            Some(0) => CompositeKind::Class,
            Some(1) => CompositeKind::Struct,
            Some(2) => CompositeKind::Union,
            _ => return Err(Unimported::Tag),
        };
        let mut flags = Flags(self.facts.word(fact, Field::Flags));
        let is_forward = flags.take(flags::FWD_DECL);
        let is_sized = !fact.id(Field::Size).is_some_and(|size| self.facts.is_nothing(size));
        let has_members = fact.ids(Field::Member).next().is_some();
        let text = self.facts.text(fact, Field::Name);
        let opaque = text.strip_prefix('@').filter(|_| !is_sized);
        let ty = match opaque {
            Some(name) if !is_forward && !has_members => {
                let ty = self.m.unspecified_type(unit, name).map_err(refused)?;
                let is_plain =
                    self.facts.text(fact, Field::LinkageName).is_empty() && kind == CompositeKind::Struct;
                if !is_plain || flags.0 != 0 {
                    self.omissions.omit(fact, Unimported::OpaqueNameOnly);
                }
                self.declared(fact, unit, ty);
                return Ok(ty);
            }
            _ if !is_sized || is_forward && !has_members => {
                self.m.incomplete(unit, kind, opaque.unwrap_or(&text)).map_err(refused)?
            }
            _ => {
                let bits = match self.facts.has_no_layout(fact) {
                    true => self.lay_out(fact, unit, kind),
                    false => self.facts.number(fact, Field::Size).ok_or(Unimported::Unknown("size"))?,
                };
                if !bits.is_multiple_of(8) {
                    self.omissions.omit(fact, Unimported::WholeBytes(bits));
                }
                let name = Some(&*text).filter(|name| !name.is_empty());
                let make = match kind {
                    CompositeKind::Class => Builder::class,
                    CompositeKind::Struct => Builder::structure,
                    CompositeKind::Union => Builder::union,
                };
                make(&mut self.m, unit, name, bits.div_ceil(8)).map_err(refused)?
            }
        };
        let passed = match (flags.take(flags::PASS_BY_VALUE), flags.take(flags::PASS_BY_REFERENCE)) {
            (true, _) => Some(Passed::ByValue),
            (_, true) => Some(Passed::ByReference),
            _ => None,
        };
        if let (Some(passed), Ok(mut of)) = (passed, self.m.describe_type(ty)) {
            drop(of.passed(passed));
        }
        self.rest(fact, flags);
        if !self.facts.text(fact, Field::LinkageName).is_empty() {
            self.omissions.omit(fact, Unimported::LinkageName);
        }
        self.declared(fact, unit, ty);
        self.pending.composites.push((fact.result, unit, ty));
        if self.own_unit(fact.result) == unit {
            self.entities
                .scopes
                .extend(self.m.described().ty(ty).own_scope().map(|scope| (fact.result, scope)));
        } else {
            self.omissions.omit(fact, Unimported::DescribedAgain);
        }
        Ok(ty)
    }

    /// Describes where a type is declared. Equal types can be declared in different places, and stay distinct.
    fn declared(&mut self, fact: &Fact<'a>, unit: UnitId, ty: TypeId) {
        let line = self.line(fact, unit);
        let is_within = self.unit_of(fact.result) == Some(unit)
            && fact.id(Field::Scope).is_some_and(|scope| !self.units.by_id.contains_key(&scope));
        if let Ok(mut of) = self.m.describe_type(ty)
            && let Some(line) = line
        {
            of.declared_at(line);
        }
        if is_within {
            self.pending.within.push((fact.result, ty));
        }
    }

    /// Places types that are declared in namespaces, functions, blocks and other types.
    pub(super) fn place_types(&mut self) {
        for (id, ty) in core::mem::take(&mut self.pending.within) {
            let Some(fact) = self.facts.get(id) else { continue };
            let Some(scope) = fact.id(Field::Scope).map(|scope| self.facts.not_template(scope)) else {
                continue;
            };
            let placed = match self.entities.scopes.get(&scope) {
                Some(&scope) => {
                    self.m.describe_type(ty).and_then(|mut of| of.within(scope).map(|_| ())).map_err(refused)
                }
                None => Err(Unimported::NotImported(Field::Scope.text(), scope.0)),
            };
            if let Err(what) = placed {
                self.omissions.omit(&fact, Unimported::DescribedInUnit(Box::new(what)));
            }
        }
    }

    /// Lists the flags that were not imported.
    pub(super) fn rest(&mut self, fact: &Fact<'_>, flags: Flags) {
        if let Some(what) = flags.left() {
            self.omissions.omit(fact, what);
        }
    }
}

/// A number of `bits` bits, signed or unsigned; unchanged if it has more.
fn narrowed(value: u64, bits: u32, is_signed: bool) -> i128 {
    let unused = 64 - bits.clamp(1, 64);
    let (signed, unsigned) = ((value << unused) as i64 >> unused, value << unused >> unused);
    match unsigned == value || signed as u64 == value {
        true if is_signed => signed.into(),
        true => unsigned.into(),
        false => value.into(),
    }
}
