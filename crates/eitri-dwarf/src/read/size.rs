//! Types: their definitions, names, and constant sizes.

use gimli::constants as dw;

use super::definitions::completing;
use super::entry::Entry;
use super::type_names;
use super::value::ResolvedValue;

/// Maximum length of a type chain, because types that contain themselves have no end.
const MOST_STEPS: usize = 32;

impl Entry<'_, '_> {
    /// Returns the type without qualifiers and typedefs: `const`, `volatile` and the like; for a declaration of a type in a
    /// type unit, the entry there. `None` for `void`, or a cycle.
    pub fn unqualified(self) -> Option<Self> {
        let mut entry = self;
        for _ in 0..MOST_STEPS {
            entry = match entry.tag() {
                dw::DW_TAG_typedef
                | dw::DW_TAG_const_type
                | dw::DW_TAG_volatile_type
                | dw::DW_TAG_restrict_type
                | dw::DW_TAG_atomic_type
                | dw::DW_TAG_immutable_type
                | dw::DW_TAG_packed_type
                | dw::DW_TAG_shared_type => entry.ty()?,
                _ => return Some(entry.signed().unwrap_or(entry)),
            };
        }
        None
    }

    /// Returns the definition of the type that this entry defines or declares. `None` if the file does not contain the
    /// definition.
    ///
    /// * A type that is not a declaration is its own definition.
    /// * A declaration with `DW_AT_signature` is defined in the type unit with this signature; [`ty`](Self::ty),
    ///   [`unqualified`](Self::unqualified), [`name`](Self::name) and [`size_bits`](Self::size_bits) look there
    ///   themselves. [`children`](Self::children) are those in the tree: a declaration's are the members that its unit
    ///   refers to.
    /// * Any other declaration of a structure, class, union or enumeration is defined by the entry whose
    ///   `DW_AT_specification` it is, or by the type that has the same name in the same namespaces and classes, in any
    ///   unit. C allows different types with a name in different units: if definitions differ in their size or members,
    ///   the declaration can mean each, and the result is `None`. So it is for types in functions and in unnamed
    ///   namespaces, which no other unit can define.
    ///
    /// The first call for the third kind makes an index, in one pass over all entries.
    pub fn definition(self) -> Option<Self> {
        if let Some(definition) = self.signed() {
            return Some(definition);
        }
        if !self.has(dw::DW_AT_declaration) {
            return Some(self);
        }
        completing(self)
    }

    /// Returns the type with the signature that a declaration has. DWARF 5 section 5.7.1.
    #[doc(hidden)]
    pub fn signed(self) -> Option<Self> {
        if self.has(dw::DW_AT_signature) { self.reference(dw::DW_AT_signature) } else { None }
    }

    /// Returns the entry's name after those of the namespaces, modules and types around its declaration, as in
    /// `geo::Shape::area`. An unnamed scope is `(anonymous namespace)`, or `(anonymous)` for a type. Scopes outside a function
    /// are left out for what is in the function. `None` without a name.
    ///
    /// ```
    /// # use eitri_dwarf::read::{Dwarf, Object};
    /// # let bytes = include_bytes!("../../data/squares.o");
    /// # let object = Object::read(bytes)?;
    /// # let dwarf = Dwarf::read(&object)?;
    /// // C has no namespaces.
    /// let squares = dwarf.entry_at(0x44).expect("the function");
    /// assert_eq!(squares.qualified_name().as_deref(), Some("squares"));
    /// # Ok::<(), eitri_dwarf::Error>(())
    /// ```
    pub fn qualified_name(self) -> Option<String> {
        type_names::qualified_name(self)
    }

    /// Returns the type as a source of C or C++ would name it, and as gdb prints it: `const char *`, `struct point [4]`,
    /// `int (*)(int, long)`, `geo::Vec<float> &`. Types without a name are `struct {...}`. In units of C, a structure, union
    /// or enumeration follows its keyword.
    ///
    /// The entry is a type, such as the [`ty`](Self::ty) of a variable; without a type there, C's name is `void`. A name is
    /// cut off with `…` after 4096 bytes.
    ///
    /// ```
    /// # use eitri_dwarf::read::{Dwarf, Object};
    /// # let bytes = include_bytes!("../../data/squares.o");
    /// # let object = Object::read(bytes)?;
    /// # let dwarf = Dwarf::read(&object)?;
    /// // int squares(const int *from, int count)
    /// let from = dwarf.entry_at(0x53).expect("a parameter");
    /// assert_eq!(from.ty().expect("a type").type_name(), "const int *");
    /// # Ok::<(), eitri_dwarf::Error>(())
    /// ```
    pub fn type_name(self) -> String {
        type_names::type_name(self)
    }

    /// Returns the size in bits of an object with this entry's type, or of a member or variable that the entry is, after
    /// removing qualifiers: the type's `DW_AT_bit_size` or `DW_AT_byte_size`; without these, the unit's address size for a pointer, that of the values' type for an
    /// enumeration or subrange, the size in
    /// the Itanium C++ ABI for a pointer to a member, and the size of all elements for an array, each with its stride. `None` if the size is not constant, and for a declaration, unless a type
    /// unit defines it: [`definition`](Self::definition) also finds it in other units.
    pub fn size_bits(self) -> Option<u64> {
        self.size_bits_in(MOST_STEPS)
    }

    /// Returns the enumerator with a value, after removing qualifiers and typedefs of this enumeration; for a declaration, that
    /// of its [`definition`](Self::definition). The value has the enumeration's [size](Self::size_bits): more bits, such as
    /// those of an extended sign, are not compared. The first of several equal enumerators is returned, as in gdb.
    ///
    /// ```
    /// # fn name(variable: eitri_dwarf::read::Entry<'_, '_>, bytes: [u8; 4]) -> Option<String> {
    /// // The bytes of a variable, as `read_bits` returns them.
    /// let value = u64::from(u32::from_le_bytes(bytes));
    /// Some(variable.ty()?.enumerator(value)?.name()?.into_owned())
    /// # }
    /// ```
    pub fn enumerator(self, value: u64) -> Option<Self> {
        let ty = self.unqualified()?.definition()?;
        if ty.tag() != dw::DW_TAG_enumeration_type {
            return None;
        }
        let unused = u32::try_from(64u64.saturating_sub(ty.size_bits().unwrap_or(64))).ok()?;
        let is_value = |enumerator: &Self| {
            let constant = match enumerator.attr(dw::DW_AT_const_value) {
                Some(ResolvedValue::Unsigned(value)) => value,
                Some(ResolvedValue::Signed(value)) => value as u64,
                _ => return false,
            };
            enumerator.tag() == dw::DW_TAG_enumerator
                && (constant ^ value).checked_shl(unused).unwrap_or(0) == 0
        };
        ty.children().find(is_value)
    }

    fn size_bits_in(self, steps: usize) -> Option<u64> {
        let ty = self.unqualified()?;
        if let Some(bits) = ty.number(dw::DW_AT_bit_size) {
            return Some(bits);
        }
        if let Some(bytes) = ty.number(dw::DW_AT_byte_size) {
            return bytes.checked_mul(8);
        }
        match ty.tag() {
            dw::DW_TAG_pointer_type | dw::DW_TAG_reference_type | dw::DW_TAG_rvalue_reference_type => {
                Some(u64::from(ty.unit().encoding.address_bytes) * 8)
            }
            dw::DW_TAG_member
            | dw::DW_TAG_inheritance
            | dw::DW_TAG_variable
            | dw::DW_TAG_formal_parameter => ty.ty()?.size_bits_in(steps.checked_sub(1)?),
            // The Itanium C++ ABI, section 2.3: an offset, or an address and an offset.
            dw::DW_TAG_ptr_to_member_type => {
                let address = u64::from(ty.unit().encoding.address_bytes) * 8;
                let is_function = ty.ty().is_some_and(|ty| ty.tag() == dw::DW_TAG_subroutine_type);
                Some(if is_function { 2 * address } else { address })
            }
            dw::DW_TAG_enumeration_type | dw::DW_TAG_subrange_type => {
                ty.ty()?.size_bits_in(steps.checked_sub(1)?)
            }
            dw::DW_TAG_array_type => {
                let element = match (ty.has(dw::DW_AT_bit_stride), ty.has(dw::DW_AT_byte_stride)) {
                    (true, _) => ty.number(dw::DW_AT_bit_stride)?,
                    (_, true) => ty.number(dw::DW_AT_byte_stride)?.checked_mul(8)?,
                    _ => ty.ty()?.size_bits_in(steps.checked_sub(1)?)?,
                };
                let is_dimension = |child: &Self| {
                    matches!(child.tag(), dw::DW_TAG_subrange_type | dw::DW_TAG_enumeration_type)
                };
                let mut dimensions = ty.children().filter(is_dimension).peekable();
                dimensions.peek()?;
                dimensions.try_fold(element, |bits, dimension| bits.checked_mul(dimension.count()?))
            }
            _ => None,
        }
    }

    /// Returns the lower bound of an array dimension without the attribute.
    pub(crate) fn default_lower_bound(self) -> i128 {
        default_lower_bound(self.unit().language)
    }

    /// Returns the number of elements in an array dimension: a subrange, or an enumeration, whose enumerators are the
    /// indices. DWARF 5 sections 5.5 and 5.13.
    pub(crate) fn count(self) -> Option<u64> {
        if self.tag() == dw::DW_TAG_enumeration_type {
            return u64::try_from(self.children().count()).ok();
        }
        if let Some(count) = self.number(dw::DW_AT_count) {
            return Some(count);
        }
        let bound = |value: ResolvedValue<'_>| match value {
            ResolvedValue::Signed(value) => Some(i128::from(value)),
            value => value.unsigned().map(i128::from),
        };
        let lower = match self.attr(dw::DW_AT_lower_bound) {
            Some(lower) => bound(lower)?,
            None => self.default_lower_bound(),
        };
        u64::try_from(bound(self.attr(dw::DW_AT_upper_bound)?)? - lower + 1).ok()
    }
}

/// Returns an array's default lower bound: DWARF 5 table 7.17, and the committee's list of languages that
/// were registered later, which begin at 0 except for Fortran and Ada.
fn default_lower_bound(language: Option<u64>) -> i128 {
    const FORTRAN_18: u16 = 0x2d;
    const ADA_2012: u16 = 0x2f;
    let code = language.and_then(|language| u16::try_from(language).ok()).unwrap_or(0);
    match dw::DwLang(code).default_lower_bound() {
        Some(bound) => bound as i128,
        None => i128::from((FORTRAN_18..=ADA_2012).contains(&code)),
    }
}
