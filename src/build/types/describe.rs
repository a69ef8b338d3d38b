//! Further type and member properties.

use gimli::DwAt;

use crate::attributes;
use crate::build::attributes::AttributeValue;
use crate::build::builder::Builder;
use crate::build::ids::known;
use crate::build::properties::methods;
use crate::build::scopes::InScope;
use crate::error::{Count, Error, ErrorKind, Result};
use crate::model::entities::{member_properties, type_properties};
use crate::model::{Accessibility, Loc, Member, Passed, ScopeId, SourceLine, Type, TypeId, TypeKind};

/// A member in a structure, class, union or variant, for [`Builder::data_member`]. DWARF 5 section 5.7.6.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataMember<'a> {
    pub(super) name: &'a str,
    /// The member, without its name.
    pub(super) member: Member,
}

impl<'a> DataMember<'a> {
    /// Returns a member at `offset` bytes from the object start. An empty name means unnamed.
    pub fn new(name: &'a str, ty: TypeId, offset: u64) -> Self {
        // No structure has 2^64 bits.
        Self { name, member: Member::new(None, ty, offset.saturating_mul(8), None) }
    }

    /// Returns a bit field: `bits` bits from bit `offset_bits`, counted from the object's first bit.
    pub fn bit_field(name: &'a str, ty: TypeId, offset_bits: u64, bits: u64) -> Self {
        Self { name, member: Member::new(None, ty, offset_bits, Some(bits)) }
    }
}

member_properties! { methods (value) DataMember; }
type_properties! { methods (self) TypeBuilder; }

/// Describes a type's further properties. Made by [`Builder::describe_type`].
#[derive(Debug)]
pub struct TypeBuilder<'b> {
    builder: &'b mut Builder,
    id: TypeId,
}

impl Builder {
    /// Returns a builder for a type's further properties: declaration, scope, alignment. An equal type that is added
    /// later is a separate type without these properties.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`].
    pub fn describe_type(&mut self, ty: TypeId) -> Result<TypeBuilder<'_>> {
        known(self.module.types.is_valid(ty), || self.module.unknown(ty))?;
        self.unshare(ty);
        Ok(TypeBuilder { builder: self, id: ty })
    }

    /// Makes a type separate from equal types that are added later.
    pub(in crate::build) fn unshare(&mut self, ty: TypeId) {
        let data = &self.module.types[ty];
        if !matches!(data.kind, TypeKind::Composite(_))
            && let Ok(entry) = self.interned.find_entry(self.hash_of(data), |&(_, other)| other == ty)
        {
            entry.remove();
        }
    }
}

impl TypeBuilder<'_> {
    /// Returns the type's id.
    pub fn id(&self) -> TypeId {
        self.id
    }

    /// Marks a [function type](Builder::subroutine) without a prototype, as `int (*f)()` points to in C before C23. Other
    /// languages than C and OpenCL C do not encode it. DWARF 5 section 5.10.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] where the type is not a function type.
    pub fn unprototyped(&mut self) -> Result<&mut Self> {
        if !matches!(self.builder.module.types[self.id].kind, TypeKind::Subroutine { .. }) {
            return Err(self.refused(|name| format!("{name} is not a function type")));
        }
        self.data().is_unprototyped = true;
        Ok(self)
    }

    /// Sets how functions take and return a structure, class or union. DWARF 5 section 5.7.1.1; earlier versions do not
    /// encode it.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] where the type is not a structure, class or union.
    pub fn passed(&mut self, passed: Passed) -> Result<&mut Self> {
        self.builder.known_composite(self.id)?;
        self.builder.composite_mut(self.id).passed = Some(passed);
        Ok(self)
    }

    /// Sets the alignment in bytes, where the source declares one (`alignas`). DWARF 5 section 2.24.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] if `bytes` is not a power of two.
    pub fn alignment(&mut self, bytes: u64) -> Result<&mut Self> {
        if !bytes.is_power_of_two() {
            return Err(self.refused(|name| {
                format!("{name} is aligned to {bytes}; expected a power of two", bytes = Count(bytes, "byte"))
            }));
        }
        self.data().alignment = Some(bytes);
        Ok(self)
    }

    /// Sets the location of an object's data, for objects that are descriptors of their data. The expression pushes the
    /// descriptor's location with `push_object_address`. DWARF 5 section 5.18.1, and A.5.18.1.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] where it is set twice; the same errors as
    /// [`VariableBuilder::live`](crate::build::VariableBuilder::live) for the location.
    pub fn data_location(&mut self, loc: &Loc) -> Result<&mut Self> {
        self.attribute(gimli::DW_AT_data_location, AttributeValue::Location(loc.clone()))
    }

    /// Sets whether an object's data is allocated: a number other than 0, as a constant, an expression that can push the
    /// object's location with `push_object_address`, or a variable. DWARF 5 section 5.18.2.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] for any other value; otherwise the errors of [`Builder::attribute`].
    pub fn allocated(&mut self, value: AttributeValue<'_>) -> Result<&mut Self> {
        self.dynamic(gimli::DW_AT_allocated, value)
    }

    /// Sets whether a pointer is associated with data: a number other than 0, as for [`allocated`](Self::allocated). DWARF
    /// 5 section 5.18.2.
    ///
    /// # Errors
    /// Same errors as [`allocated`](Self::allocated).
    pub fn associated(&mut self, value: AttributeValue<'_>) -> Result<&mut Self> {
        self.dynamic(gimli::DW_AT_associated, value)
    }

    /// Sets the number of dimensions of an array that is known at run time only, as for [`allocated`](Self::allocated). The
    /// array has one dimension, which stands for all: the expressions of its bounds and stride begin with the dimension's
    /// number on the stack, counted from 0. DWARF 5 sections 5.14 and 5.18.3.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] where the type is not an array with one dimension; otherwise the errors of
    /// [`allocated`](Self::allocated).
    pub fn rank(&mut self, value: AttributeValue<'_>) -> Result<&mut Self> {
        let dimensions = match &self.builder.module.types[self.id].kind {
            TypeKind::Array { dimensions, .. } => dimensions.len(),
            _ => 0,
        };
        if dimensions != 1 {
            return Err(self.refused(|name| {
                let dimensions = Count(dimensions, "dimension");
                format!("{name} with a number of dimensions has {dimensions}; expected an array with one")
            }));
        }
        self.dynamic(gimli::DW_AT_rank, value)
    }

    /// Sets the location of the member that a [pointer to a member](Builder::member_pointer) refers to. The expression
    /// begins with two elements on the stack: the pointer's value, and on top of it the location of the object that
    /// contains the member. DWARF 5 section 5.14, and A.5.14.
    ///
    /// By the Itanium C++ ABI, the pointer's value is the member's offset in bytes. DWARF 5 adds it to the object's
    /// address (`plus`). With locations on the stack, the object can also be in a register:
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::{BaseEncoding, Loc};
    /// # use eitri::op::{Dialect, Encoding, text::parse};
    /// # use eitri::target::Target;
    /// # let mut m = Builder::new(Target::x86_64());
    /// # let unit = m.unit("s.cc");
    /// # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    /// let s = m.structure(unit, Some("s"), 8)?;
    /// m.member(s, "m", int, 0)?.member(s, "n", int, 4)?;
    /// let pointer = m.member_pointer(unit, s, int)?;
    /// let moved = m.expr(parse("swap; offset", Encoding::new(8, Dialect::Llvm), None)?, &[])?;
    /// m.describe_type(pointer)?.use_location(&Loc::expr(moved))?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] where the type is not a pointer to a member; otherwise the errors of
    /// [`data_location`](Self::data_location).
    pub fn use_location(&mut self, loc: &Loc) -> Result<&mut Self> {
        if !matches!(self.builder.module.types[self.id].kind, TypeKind::MemberPointer { .. }) {
            return Err(self.refused(|name| format!("{name} is not a pointer to a member")));
        }
        self.attribute(gimli::DW_AT_use_location, AttributeValue::Location(loc.clone()))
    }

    /// Sets the length of a [string](Builder::string_type): the location of a number, which is as large as an address or
    /// has [`string_length_bytes`](Self::string_length_bytes) bytes, or the variable that has it. DWARF 5 section 5.11.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] where the type is not a string, or for any other value; otherwise the errors of
    /// [`Builder::attribute`].
    pub fn string_length(&mut self, value: AttributeValue<'_>) -> Result<&mut Self> {
        self.known_string()?;
        if !matches!(value, AttributeValue::Location(_) | AttributeValue::Variable(_)) {
            return Err(self.refused(|name| {
                format!("length of {name} is not a location; expected a location or a variable")
            }));
        }
        self.attribute(gimli::DW_AT_string_length, value)
    }

    /// Sets the size in bytes of the number at the location of a [string's length](Self::string_length), where it is not
    /// an address's. Before DWARF 5, the string's own size cannot be stated beside it.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] where the type is not a string.
    pub fn string_length_bytes(&mut self, bytes: u64) -> Result<&mut Self> {
        self.known_string()?;
        self.attribute(gimli::DW_AT_string_length_byte_size, AttributeValue::Unsigned(bytes))
    }

    fn known_string(&self) -> Result<()> {
        match self.builder.module.types[self.id].kind {
            TypeKind::String { .. } => Ok(()),
            _ => Err(self.refused(|name| format!("{name} is not a string"))),
        }
    }

    /// Sets the least value of a [subrange](Builder::subrange_type): a constant, an expression, or a variable. The default
    /// is that of the language: DWARF 5 table 7.17.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] where the type is not a subrange, or for any other value; otherwise the errors of
    /// [`Builder::attribute`].
    pub fn lower_bound(&mut self, value: AttributeValue<'_>) -> Result<&mut Self> {
        self.bound(gimli::DW_AT_lower_bound, value)
    }

    /// Sets the greatest value of a [subrange](Builder::subrange_type), as for [`lower_bound`](Self::lower_bound). Without
    /// it, the bound is unknown.
    ///
    /// # Errors
    /// Same errors as [`lower_bound`](Self::lower_bound).
    pub fn upper_bound(&mut self, value: AttributeValue<'_>) -> Result<&mut Self> {
        self.bound(gimli::DW_AT_upper_bound, value)
    }

    fn bound(&mut self, name: DwAt, value: AttributeValue<'_>) -> Result<&mut Self> {
        match self.builder.module.types[self.id].kind {
            TypeKind::Subrange { .. } => self.dynamic(name, value),
            _ => Err(self.refused(|name| format!("{name} is not a subrange"))),
        }
    }

    /// Sets the size in bytes of an object whose size is not constant: an expression that can push the object's location with
    /// `push_object_address`, or a variable. DWARF 5 section 2.21.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] where the type is not a [structure, class or union without a constant
    /// size](Builder::dynamic_composite), or for any other value; otherwise the errors of [`Builder::attribute`].
    pub fn size(&mut self, value: AttributeValue<'_>) -> Result<&mut Self> {
        let Type { kind, bits, is_declaration, .. } = &self.builder.module.types[self.id];
        if !matches!(kind, TypeKind::Composite(_)) || bits.is_some() || *is_declaration {
            return Err(self.refused(|name| {
                format!("{name} is not a structure, class or union without a constant size")
            }));
        }
        self.dynamic(gimli::DW_AT_byte_size, value)
    }

    /// Sets a number about an object at run time.
    fn dynamic(&mut self, name: DwAt, value: AttributeValue<'_>) -> Result<&mut Self> {
        if !matches!(
            value,
            AttributeValue::Unsigned(_)
                | AttributeValue::Signed(_)
                | AttributeValue::Location(_)
                | AttributeValue::Number(_)
                | AttributeValue::Variable(_)
                | AttributeValue::Member(..)
        ) {
            let attribute = attributes::text(name);
            return Err(self.refused(|ty| {
                format!("attribute {attribute} of {ty} is not a number; expected a constant, an expression or a variable")
            }));
        }
        self.attribute(name, value)
    }

    fn attribute(&mut self, name: DwAt, value: AttributeValue<'_>) -> Result<&mut Self> {
        self.builder.add_attribute(self.id, name, value)?;
        Ok(self)
    }

    /// Sets the scope that declares the type: a namespace, a function, a block, or a structure, class or union. The
    /// default is the unit.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`] where the scope does not exist or belongs to another unit; [`ErrorKind::CyclicType`]
    /// where the scope is in the type itself; [`ErrorKind::BadArgument`] for a base type, which belongs to the unit,
    /// and for a scope in an inlined call: a type declared in a function belongs to the function.
    pub fn within(&mut self, scope: impl InScope) -> Result<&mut Self> {
        let module = &self.builder.module;
        let scope = scope.scope(module)?;
        let Type { unit, kind, .. } = &module.types[self.id];
        let own = module.types[self.id].own_scope();
        let outermost = module.units[*unit].scope;
        if module.scopes[scope].unit != *unit {
            let error = Error::from(module.unknown_in(scope, " of this unit"));
            return Err(error.or_at(module.at_type(self.id)));
        }
        if scope != outermost && matches!(kind, TypeKind::Base { .. }) {
            return Err(
                self.refused(|name| format!("{name} is a base type in another scope; expected the unit"))
            );
        }
        // A scope without inner scopes encloses no other scope.
        let mut around =
            own.filter(|&own| own == scope || self.builder.around[own].has_scopes).and(Some(scope));
        while let Some(one) = around {
            crate::work::step();
            if Some(one) == own {
                let name = module.types[self.id].name().map(|name| module.string(name).into());
                let name = name.unwrap_or_else(|| self.id.to_string());
                return Err(Error::new(ErrorKind::CyclicType(name)).or_at(module.at_type(self.id)));
            }
            around = module.scopes[one].parent;
        }
        // A type is never in an inlined call, so checking the scope itself suffices.
        if self.builder.around[scope].is_in_call {
            return Err(self.refused(|name| format!("{name} is in an inlined call")));
        }
        self.put(scope, own);
        Ok(self)
    }

    fn put(&mut self, scope: ScopeId, own: Option<ScopeId>) {
        self.data().scope = scope;
        if let Some(own) = own {
            self.builder.module.scopes[own].parent = Some(scope);
            self.builder.around[scope].has_scopes = true;
        }
    }

    fn refused(&self, what: impl FnOnce(String) -> String) -> Error {
        let module = &self.builder.module;
        Error::bad_argument(what(module.called(self.id))).or_at(module.at_type(self.id))
    }

    fn data(&mut self) -> &mut Type {
        &mut self.builder.module.types[self.id]
    }
}
