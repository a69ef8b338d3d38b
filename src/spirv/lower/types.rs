//! Types: section 4.3.

use super::entities::{Globals, Operands};
use super::order::{Item, Slot, State};
use super::replacements::spelled;
use super::writer::Word;
use crate::error::Result;
use crate::model::{BaseEncoding, Count, Module, PointerKind, Qualifier, ScopeKind, Type, TypeId, TypeKind};
use crate::omission::{Property, Reason, Subject};
use crate::spirv::mode::{BaseTypes, Feature};
use crate::spirv::names::{COMPLEX, Enumeration, flags};
use crate::spirv::operand::Field;
use crate::spirv::table::Name;
use crate::spirv::words::Id;

pub(super) const UNSPECIFIED: u32 = 0;
const ADDRESS: u32 = 1;
const FLOAT: u32 = 3;

impl Globals<'_, '_, '_> {
    /// Item for the type written in place of `ty`, if any.
    pub(super) fn type_item(&self, ty: TypeId) -> Option<Item> {
        self.described.replacements.get(ty).map(Item::Type)
    }

    /// References to visit before a type is opened: its scope; the function whose variable is its number of elements;
    /// and in sets with members before their type, the target of a pointer.
    pub(super) fn before_type(&self, id: TypeId, mut each: impl FnMut(Item)) {
        let ty = &self.module.types[id];
        match &ty.kind {
            TypeKind::Composite(_)
            | TypeKind::Enum { .. }
            | TypeKind::Typedef { .. }
            | TypeKind::Unspecified { .. } => {
                self.scope_before(ty.scope).into_iter().for_each(each);
            }
            TypeKind::Pointer { .. } | TypeKind::MemberPointer { .. } if self.writer.is_shader() => {
                self.made_of(id, each);
            }
            TypeKind::Array { dimensions, .. } => {
                for dimension in dimensions {
                    if let Count::Variable(variable) = dimension.count
                        && self.counts(variable)
                    {
                        let function = self
                            .described
                            .relations
                            .function_of(self.module.variables[self.origin(variable)].scope);
                        function.map(Item::Function).into_iter().for_each(&mut each);
                    }
                }
            }
            _ => {}
        }
    }

    /// The other references of a type.
    pub(super) fn named_by_type(&self, id: TypeId, each: impl FnMut(Item)) {
        match &self.module.types[id].kind {
            TypeKind::Pointer { .. } | TypeKind::MemberPointer { .. } if self.writer.is_shader() => {}
            TypeKind::Composite(_) if !self.writer.is_shader() => {}
            _ => self.made_of(id, each),
        }
    }

    fn made_of(&self, id: TypeId, mut each: impl FnMut(Item)) {
        let mut of = |ty: TypeId| self.type_item(ty).into_iter().for_each(&mut each);
        match &self.module.types[id].kind {
            TypeKind::Pointer { to, .. } => to.and_then(|to| self.pointee(id, to)).into_iter().for_each(of),
            TypeKind::Qualified { of: ty, .. } | TypeKind::Typedef { of: ty, .. } => {
                self.base_of(id, *ty).into_iter().for_each(of);
            }
            TypeKind::Array { of: ty, dimensions, .. } => {
                of(*ty);
                for dimension in dimensions {
                    if let Count::Variable(variable) = dimension.count
                        && self.counts(variable)
                        && self.can_count(variable)
                    {
                        each(Item::Variable(self.origin(variable)));
                    }
                }
            }
            TypeKind::Vector { of: ty, .. }
            | TypeKind::Matrix { of: ty, .. }
            | TypeKind::CooperativeMatrix { of: ty, .. }
            | TypeKind::Enum { of: ty, .. } => of(*ty),
            TypeKind::MemberPointer { class, to } => [*class, *to].into_iter().for_each(of),
            TypeKind::Subroutine { returns, parameters } => {
                returns.iter().chain(parameters).copied().for_each(of)
            }
            TypeKind::Composite(composite) => {
                let members = composite.members.iter().map(|member| member.ty);
                composite.bases.iter().map(|base| base.ty).chain(members).for_each(of);
                self.described.relations.statics(id).iter().for_each(|&id| each(Item::Variable(id)));
            }
            TypeKind::Base { .. } | TypeKind::Unspecified { .. } => {}
        }
    }

    /// Base type of a qualifier or typedef, if the mode can encode it.
    fn base_of(&self, id: TypeId, of: Option<TypeId>) -> Option<TypeId> {
        let mode = self.writer.mode;
        let is_typedef = matches!(self.module.types[id].kind, TypeKind::Typedef { .. });
        match if is_typedef { mode.typedef } else { mode.pointee } {
            BaseTypes::Any => of,
            BaseTypes::Basic => self.described.replacements.basic(id),
        }
    }

    /// Operand for a type. If the type is not written yet, an omission.
    #[inline]
    pub(super) fn type_word(&mut self, ty: Option<TypeId>, subject: Subject) -> Result<Word> {
        let ty = ty.and_then(|ty| self.described.replacements.get(ty));
        match ty.map(|ty| self.slots.types[ty]) {
            Some(Slot { id: Some(id), state: State::Done }) => Ok(id.into()),
            _ => self.unwritten(ty, subject),
        }
    }

    fn unwritten(&mut self, ty: Option<TypeId>, subject: Subject) -> Result<Word> {
        let Some(ty) = ty else { return self.no_type(None) };
        let item = Item::Type(ty);
        if self.slots.types[ty].state == State::Done {
            return self.id(item).map(Word::Id);
        }
        if self.has_later() {
            return self.id(item).map(Word::Later);
        }
        self.omit(subject, Property::Type, Reason::Cycle(ty, self.writer.mode.has(Feature::NoneTypes)));
        self.no_type(Some(ty))
    }

    /// Operand for a missing type, or for a type that the mode cannot encode.
    fn no_type(&mut self, ty: Option<TypeId>) -> Result<Word> {
        if self.writer.mode.has(Feature::NoneTypes) {
            return self.none();
        }
        let name = match ty {
            Some(ty) => self.name(self.module.types[ty].name())?,
            None => self.text("void")?,
        };
        let size = self.writer.constant(0)?;
        let operands: [_; 4] = basic_type(name, size.into(), UNSPECIFIED);
        self.shared(Name::TypeBasic, operands.into_iter().collect()).map(Word::Id)
    }

    /// Writes an instruction once, however often it is referred to.
    pub(super) fn shared(&mut self, name: Name, operands: Operands) -> Result<Id> {
        if let Some(&id) = self.reused.types.get(&operands) {
            return Ok(id);
        }
        let id = self.writer.instruction(name, &operands)?;
        self.reused.types.insert(operands, id);
        Ok(id)
    }

    /// Writes a type.
    pub(super) fn ty(&mut self, id: TypeId) -> Result<()> {
        let module = self.module;
        let ty = &module.types[id];
        let subject = Subject::Type(id);
        match &ty.kind {
            TypeKind::Base { name, encoding } => {
                let number = self.encoding(id, *encoding);
                let bits = ty.bits.unwrap_or(0);
                let (name, size) = (self.name(Some(*name))?, self.number(bits, subject, Property::Size)?);
                let mut operands: Operands = basic_type(name, size, number).into_iter().collect();
                let format = format(*encoding).filter(|_| number == FLOAT);
                operands.extend(format.map(|format| (Field::FpEncoding, format.into())));
                self.define(id, Name::TypeBasic, &operands)
            }
            TypeKind::Unspecified { name } => {
                let name = self.text(&format!("@{}", module.string(*name)))?;
                self.opaque(id, name, STRUCTURE, 0)
            }
            &TypeKind::Pointer { kind, to, space, memory } => {
                if self.described.replacements.basic(id) == Some(id) {
                    let name = self.text(&spelled(module, id))?;
                    let address = u64::from(module.target.address_bytes()) * 8;
                    let size = self.number(ty.bits.unwrap_or(address), subject, Property::Size)?;
                    return self.basic(id, name, size, ADDRESS);
                }
                let to = to.and_then(|to| self.pointee(id, to));
                let base = self.type_word(to, subject)?;
                let class = self.storage_class(id, space, memory);
                let flags = match kind {
                    PointerKind::Pointer => 0,
                    PointerKind::Reference => flags::LVALUE_REFERENCE,
                    PointerKind::RvalueReference => flags::RVALUE_REFERENCE,
                };
                let operands = [
                    (Field::BaseType, base),
                    (Field::StorageClass, class.into()),
                    (Field::Flags, flags.into()),
                ];
                self.define(id, Name::TypePointer, &operands)
            }
            &TypeKind::Qualified { qualifier, of } => {
                let base = self.type_word(self.base_of(id, of), subject)?;
                let qualifier: u32 = match qualifier {
                    Qualifier::Const => 0,
                    Qualifier::Volatile => 1,
                    Qualifier::Restrict => 2,
                    Qualifier::Atomic => 3,
                };
                let operands = [(Field::BaseType, base), (Field::Qualifier, qualifier.into())];
                self.define(id, Name::TypeQualifier, &operands)
            }
            &TypeKind::Typedef { name, of } => {
                let mut operands = Operands::new();
                operands.push((Field::Name, self.name(Some(name))?));
                let base = self.base_of(id, of);
                operands.push((Field::BaseType, self.type_word(base, subject)?));
                operands.extend(self.place(ty.line, ty.unit, subject, Property::Line));
                operands.push((Field::Scope, self.scope(ty.scope, subject)?));
                self.define(id, Name::Typedef, &operands)
            }
            &TypeKind::MemberPointer { class, to } => {
                let member = self.type_word(Some(to), subject)?;
                let class = self.class(class, subject)?;
                self.define(id, Name::TypePtrToMember, &[(Field::MemberType, member), (Field::Parent, class)])
            }
            TypeKind::Array { of, dimensions, stride_bits } => self.array(id, *of, dimensions, *stride_bits),
            &TypeKind::Vector { of, count, is_packed } => self.vector(id, of, count, is_packed),
            &TypeKind::Matrix { of, count, is_column_major, stride_bits } => {
                self.matrix(id, of, count, is_column_major, stride_bits)
            }
            &TypeKind::CooperativeMatrix { of, scope, rows, columns, usage } => {
                self.cooperative_matrix(id, of, [scope, rows, columns, usage])
            }
            TypeKind::Composite(composite) => self.composite(id, composite),
            TypeKind::Enum { name, of, enumerators, is_class } => {
                self.enumeration(id, *name, *of, enumerators, *is_class)
            }
            TypeKind::Subroutine { returns, parameters } => {
                let parameters: Vec<_> = parameters.iter().map(|&ty| Some(ty)).collect();
                let known = self.slots.types[id].id;
                let result = self.signature(known, *returns, &parameters, subject)?;
                self.slots.types[id].id = Some(result);
                Ok(())
            }
        }
    }

    pub(super) fn define(&mut self, id: TypeId, name: Name, operands: &[(Field, Word)]) -> Result<()> {
        let result = self.id(Item::Type(id))?;
        self.writer.define(result, name, operands)
    }

    pub(super) fn basic(&mut self, id: TypeId, name: Word, size: Word, encoding: u32) -> Result<()> {
        self.define(id, Name::TypeBasic, &basic_type(name, size, encoding))
    }

    /// A `DebugTypeFunction`, shared with an earlier equal one. A forward reference makes it distinct.
    pub(super) fn signature(
        &mut self,
        known: Option<Id>,
        returns: Option<TypeId>,
        parameters: &[Option<TypeId>],
        subject: Subject,
    ) -> Result<Id> {
        let mut operands = Operands::new();
        operands.push((Field::Flags, 0.into()));
        let returns = match returns.filter(|&ty| self.described.replacements.get(ty).is_some()) {
            None => self.writer.void().into(),
            returns => self.type_word(returns, subject)?,
        };
        operands.push((Field::ReturnType, returns));
        for &ty in self.room(parameters, 7, 1, subject, Property::Parameters) {
            let ty = self.type_word(ty, subject)?;
            operands.push((Field::ParameterType, ty));
        }
        match known {
            Some(id) => self.writer.define(id, Name::TypeFunction, &operands).map(|()| id),
            None => self.shared(Name::TypeFunction, operands),
        }
    }

    /// Operand for a class or structure, possibly qualified or behind a typedef.
    pub(super) fn class(&mut self, ty: TypeId, subject: Subject) -> Result<Word> {
        let class = class_of(self.module, ty);
        if class.is_none() {
            self.omit(subject, Property::Class, Reason::NotClass(ty));
            return self.none();
        }
        // The replacement of an unwritten type is not a class.
        if class.is_some_and(|class| self.slots.types[class].state != State::Done) && !self.has_later() {
            self.omit(subject, Property::Class, Reason::Cycle(ty, true));
            return self.none();
        }
        self.type_word(class, subject)
    }

    fn encoding(&mut self, id: TypeId, encoding: BaseEncoding) -> u32 {
        let set = self.writer.mode.set;
        match encoding {
            BaseEncoding::Address => ADDRESS,
            BaseEncoding::Boolean => 2,
            BaseEncoding::Float => FLOAT,
            BaseEncoding::Signed => 4,
            BaseEncoding::SignedChar => 5,
            BaseEncoding::Unsigned => 6,
            BaseEncoding::UnsignedChar => 7,
            BaseEncoding::ComplexFloat if Enumeration::Encoding.has(COMPLEX, set) => COMPLEX,
            _ if format(encoding).is_some() && set.has_operand(Name::TypeBasic, Field::FpEncoding) => FLOAT,
            _ => {
                self.omit(Subject::Type(id), Property::Encoding, Reason::AsUnspecified(encoding));
                UNSPECIFIED
            }
        }
    }

    /// Writes an opaque type, section 2: a name without members or size.
    pub(super) fn opaque(&mut self, id: TypeId, name: Word, tag: u32, flags: u32) -> Result<()> {
        let ty: &Type = &self.module.types[id];
        let subject = Subject::Type(id);
        let mut operands = Operands::new();
        operands.push((Field::Name, name));
        operands.push((Field::Tag, tag.into()));
        operands.extend(self.place(ty.line, ty.unit, subject, Property::Line));
        operands.push((Field::Scope, self.scope(ty.scope, subject)?));
        operands.push((Field::LinkageName, self.text("")?));
        operands.push((Field::Size, self.none()?));
        operands.push((Field::Flags, flags.into()));
        self.define(id, Name::TypeComposite, &operands)
    }
}

fn basic_type(name: Word, size: Word, encoding: u32) -> [(Field, Word); 4] {
    [(Field::Name, name), (Field::Size, size), (Field::Encoding, encoding.into()), (Field::Flags, 0.into())]
}

/// Number of a floating-point format other than IEEE 754's: SPIR-V section "FP Encoding".
fn format(encoding: BaseEncoding) -> Option<u32> {
    match encoding {
        BaseEncoding::BFloat16 => Some(0),
        BaseEncoding::Float8E4M3 => Some(4214),
        BaseEncoding::Float8E5M2 => Some(4215),
        _ => None,
    }
}

/// Tag of a structure.
pub(super) const STRUCTURE: u32 = 1;

/// The class or structure below the qualifiers and typedefs of a type.
pub(super) fn class_of(module: &Module, mut ty: TypeId) -> Option<TypeId> {
    use crate::model::CompositeKind;
    loop {
        match &module.types[ty].kind {
            // Types follow their components, so that this ends.
            TypeKind::Typedef { of, .. } | TypeKind::Qualified { of, .. } => ty = (*of)?,
            TypeKind::Composite(composite) => return (composite.kind != CompositeKind::Union).then_some(ty),
            _ => return None,
        }
    }
}

/// Whether a scope is that of a type.
pub(super) fn is_type(kind: &ScopeKind) -> bool {
    matches!(kind, ScopeKind::Type(_))
}
