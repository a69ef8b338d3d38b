//! Types: their structure, as far as it goes.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use gimli::{DwAt, DwTag, constants as dw};

use super::attributes::{Difference, only};
use super::compare::Compare;
use super::report::Kind;
use crate::error::At;
use crate::model::{BaseEncoding, Composite, Qualifier, StringId, TypeId, TypeKind, UnitId};
use crate::read::{Entry, Value};

/// Types and entries that are to be compared. `None` is `void`.
type Pairs<'a, 'o> = Vec<(Option<TypeId>, Option<Entry<'a, 'o>>)>;

type Compared = Result<(), Difference>;

impl<'a, 'o> Compare<'a, 'o> {
    /// Compares a type with an entry; `None` is `void`.
    pub(super) fn ty(&mut self, ty: Option<TypeId>, entry: Option<Entry<'a, 'o>>, at: &At) {
        if let Err((expected, found)) = self.same_type(ty, entry) {
            self.find(Kind::Type, at.clone(), expected, found);
        }
    }

    /// Compares the types that nothing of the module has, with entries that were not compared yet.
    pub(super) fn rest_of_types(&mut self, unit: UnitId, root: Entry<'a, 'o>) {
        let module = self.module;
        let mut entries = BTreeMap::<(u16, Cow<'_, str>), VecDeque<Entry<'a, 'o>>>::new();
        for child in root.children() {
            if is_type(child.tag()) && !self.type_entries.contains(&child.offset()) {
                let key = (child.tag().0, child.name().unwrap_or_default());
                entries.entry(key).or_default().push_back(child);
            }
        }
        let index = Rc::clone(&self.index);
        for &id in &index.types[unit] {
            if self.types.range((id, 0)..=(id, u64::MAX)).next().is_some() {
                continue;
            }
            let ty = module.ty(id);
            let name = name_of(ty.kind()).map_or("", |name| module.string(name));
            let of_kind = entries.entry((tag_of(ty.kind()).0, name.into())).or_default();
            // They are in the order of the module: the first that is not taken is the one.
            let found = (0..of_kind.len()).find(|&at| self.same_type(Some(id), Some(of_kind[at])).is_ok());
            if found.and_then(|found| of_kind.remove(found)).is_none() {
                let at = module.at_scope(module.unit(unit).scope);
                self.find(Kind::Type, at, format!("{} `{name}`", tag_of(ty.kind())), "none like it");
            }
        }
    }

    /// What is different, as expected and found.
    fn same_type(&mut self, ty: Option<TypeId>, entry: Option<Entry<'a, 'o>>) -> Compared {
        // A list of its own, for types may be nested deeply. Pairs that were seen are being compared, or
        // were: if they are not the same, that is found where they were seen first.
        let mut seen = BTreeSet::new();
        let mut pairs = vec![(ty, entry)];
        while let Some((ty, entry)) = pairs.pop() {
            let (id, entry) = match (ty, entry) {
                (None, None) => continue,
                (Some(ty), Some(entry)) => (ty, entry),
                (None, Some(entry)) => return Err(("void".into(), format!("{}", entry.tag()))),
                (Some(_), None) => return Err(("a type".into(), "void".into())),
            };
            let pair = (id, entry.offset());
            if !self.types.contains(&pair) && seen.insert(pair) {
                self.outermost(id, entry, &mut pairs)?;
            }
        }
        self.type_entries.extend(seen.iter().map(|&(_, entry)| entry));
        self.types.extend(seen);
        Ok(())
    }

    /// Compares a type without the types that it is made of: those it adds to the pairs.
    fn outermost(&self, id: TypeId, entry: Entry<'a, 'o>, pairs: &mut Pairs<'a, 'o>) -> Compared {
        let module = self.module;
        let ty = module.ty(id);
        let tag = tag_of(&ty.kind);
        equal("a type's tag", &tag.to_string(), &entry.tag().to_string())?;
        let named = name_of(&ty.kind).map_or("", |id| module.string(id));
        equal("the name", &named, &&*entry.name().unwrap_or_default())?;
        only(entry, |name| allowed(tag, self.consumer.address_space, name))?;
        let is_sized = !matches!(
            ty.kind,
            TypeKind::Pointer { .. }
                | TypeKind::Array { .. }
                | TypeKind::Typedef { .. }
                | TypeKind::Qualified { .. }
                | TypeKind::Subroutine { .. }
        );
        if is_sized {
            let bytes = ty.bits.map(|bits| bits.div_ceil(8));
            equal(&format!("`{named}` of bytes"), &bytes, &entry.number(dw::DW_AT_byte_size))?;
        }
        let mut children = entry.children();
        match &ty.kind {
            TypeKind::Base { encoding, .. } => {
                let found = entry.number(dw::DW_AT_encoding).unwrap_or(0);
                equal(&format!("`{named}` of encoding"), &number(*encoding), &found)?;
                let bits = ty.bits.filter(|bits| !bits.is_multiple_of(8));
                equal(&format!("`{named}` of bits"), &bits, &entry.number(dw::DW_AT_bit_size))?;
            }
            TypeKind::Pointer { to, space } => {
                let bytes = entry.number(dw::DW_AT_byte_size);
                let bytes = bytes.unwrap_or_else(|| module.target.address_bytes().into());
                equal("a pointer of bits", &ty.bits.unwrap_or(0), &bytes.saturating_mul(8))?;
                // A consumer without an attribute for it is not told.
                if let Some(attribute) = self.consumer.address_space {
                    let found = entry.attr(attribute).map_or(Some(0), Value::unsigned);
                    let text = format!("a pointer with attribute {:#x} (address space)", attribute.0);
                    equal(&text, &Some(u64::from(space.0)), &found)?;
                }
                pairs.push((*to, entry.ty()));
            }
            TypeKind::Array { of, counts } => {
                equal("dimensions", counts, &dimensions(&mut children)?)?;
                let is_vector = entry.attr(dw::DW_AT_GNU_vector).is_some();
                equal("a vector", &false, &is_vector)?;
                equal("the size of an array", &None, &entry.number(dw::DW_AT_byte_size))?;
                pairs.push((Some(*of), entry.ty()));
            }
            TypeKind::Vector { of, count } => {
                equal("elements", &vec![Some(*count)], &dimensions(&mut children)?)?;
                let is_vector = matches!(entry.attr(dw::DW_AT_GNU_vector), Some(Value::Flag(true)));
                equal("a vector", &true, &is_vector)?;
                pairs.push((Some(*of), entry.ty()));
            }
            TypeKind::Struct(composite) | TypeKind::Union(composite) => {
                self.members(composite, &mut children, pairs)?;
            }
            TypeKind::Enum { of, enumerators, .. } => {
                for &(id, value) in enumerators {
                    let expected = (module.string(id).to_owned(), Some(value));
                    let found = of_tag(children.next(), dw::DW_TAG_enumerator)?;
                    only(found, |name| matches!(name, dw::DW_AT_name | dw::DW_AT_const_value))?;
                    equal(
                        "enumerator",
                        &expected,
                        &(found.name().unwrap_or_default().into(), signed(found)),
                    )?;
                }
                pairs.push((Some(*of), entry.ty()));
            }
            TypeKind::Typedef { of, .. } | TypeKind::Qualified { of, .. } => pairs.push((*of, entry.ty())),
            TypeKind::Subroutine { returns, parameters } => {
                for &parameter in parameters {
                    let found = of_tag(children.next(), dw::DW_TAG_formal_parameter)?;
                    only(found, |name| name == dw::DW_AT_type)?;
                    pairs.push((Some(parameter), found.ty()));
                }
                pairs.push((*returns, entry.ty()));
            }
        }
        match children.next() {
            None => Ok(()),
            Some(child) => Err((format!("no more in `{named}`"), format!("{child:?}"))),
        }
    }

    fn members(
        &self,
        composite: &Composite,
        children: &mut dyn Iterator<Item = Entry<'a, 'o>>,
        pairs: &mut Pairs<'a, 'o>,
    ) -> Compared {
        for member in &composite.members {
            let name = member.name.map_or("", |name| self.module.string(name));
            let found = of_tag(children.next(), dw::DW_TAG_member)?;
            equal("the name of a member", &name, &&*found.name().unwrap_or_default())?;
            only(found, |name| MEMBER.contains(&name))?;
            let bytes = found.attr(dw::DW_AT_data_member_location);
            let bits = found.attr(dw::DW_AT_data_bit_offset);
            let offset = match (bytes, bits) {
                (None, None) => Some(0),
                (Some(bytes), None) => bytes.unsigned().and_then(|bytes| bytes.checked_mul(8)),
                (None, Some(bits)) => bits.unsigned(),
                (Some(_), Some(_)) => None,
            };
            equal(&format!("`{name}` at bit"), &Some(member.offset_bits), &offset)?;
            equal(&format!("`{name}` of bits"), &member.bits, &found.number(dw::DW_AT_bit_size))?;
            pairs.push((Some(member.ty), found.ty()));
        }
        Ok(())
    }
}

const MEMBER: &[DwAt] = &[
    dw::DW_AT_name,
    dw::DW_AT_type,
    dw::DW_AT_bit_size,
    dw::DW_AT_data_member_location,
    dw::DW_AT_data_bit_offset,
];

/// The attributes that a type's entry may have.
fn allowed(tag: DwTag, address_space: Option<DwAt>, name: DwAt) -> bool {
    let is_in = |list: &[DwAt]| list.contains(&name);
    match tag {
        dw::DW_TAG_base_type => {
            is_in(&[dw::DW_AT_name, dw::DW_AT_byte_size, dw::DW_AT_encoding, dw::DW_AT_bit_size])
        }
        dw::DW_TAG_pointer_type => {
            is_in(&[dw::DW_AT_type, dw::DW_AT_byte_size]) || address_space == Some(name)
        }
        dw::DW_TAG_array_type => is_in(&[dw::DW_AT_type, dw::DW_AT_byte_size, dw::DW_AT_GNU_vector]),
        dw::DW_TAG_structure_type | dw::DW_TAG_union_type => is_in(&[dw::DW_AT_name, dw::DW_AT_byte_size]),
        dw::DW_TAG_enumeration_type => is_in(&[dw::DW_AT_name, dw::DW_AT_type, dw::DW_AT_byte_size]),
        dw::DW_TAG_typedef => is_in(&[dw::DW_AT_name, dw::DW_AT_type]),
        dw::DW_TAG_subroutine_type => is_in(&[dw::DW_AT_type, dw::DW_AT_prototyped]),
        _ => name == dw::DW_AT_type,
    }
}

/// Whether it is the tag of a type that a module can have.
pub(super) fn is_type(tag: DwTag) -> bool {
    matches!(
        tag,
        dw::DW_TAG_base_type
            | dw::DW_TAG_pointer_type
            | dw::DW_TAG_array_type
            | dw::DW_TAG_structure_type
            | dw::DW_TAG_union_type
            | dw::DW_TAG_enumeration_type
            | dw::DW_TAG_typedef
            | dw::DW_TAG_const_type
            | dw::DW_TAG_volatile_type
            | dw::DW_TAG_restrict_type
            | dw::DW_TAG_atomic_type
            | dw::DW_TAG_subroutine_type
    )
}

fn tag_of(kind: &TypeKind) -> DwTag {
    match kind {
        TypeKind::Base { .. } => dw::DW_TAG_base_type,
        TypeKind::Pointer { .. } => dw::DW_TAG_pointer_type,
        TypeKind::Array { .. } | TypeKind::Vector { .. } => dw::DW_TAG_array_type,
        TypeKind::Struct(_) => dw::DW_TAG_structure_type,
        TypeKind::Union(_) => dw::DW_TAG_union_type,
        TypeKind::Enum { .. } => dw::DW_TAG_enumeration_type,
        TypeKind::Typedef { .. } => dw::DW_TAG_typedef,
        TypeKind::Qualified { qualifier: Qualifier::Const, .. } => dw::DW_TAG_const_type,
        TypeKind::Qualified { qualifier: Qualifier::Volatile, .. } => dw::DW_TAG_volatile_type,
        TypeKind::Qualified { qualifier: Qualifier::Restrict, .. } => dw::DW_TAG_restrict_type,
        TypeKind::Qualified { qualifier: Qualifier::Atomic, .. } => dw::DW_TAG_atomic_type,
        TypeKind::Subroutine { .. } => dw::DW_TAG_subroutine_type,
    }
}

fn name_of(kind: &TypeKind) -> Option<StringId> {
    match kind {
        TypeKind::Base { name, .. } | TypeKind::Typedef { name, .. } => Some(*name),
        TypeKind::Enum { name, .. } => *name,
        TypeKind::Struct(composite) | TypeKind::Union(composite) => composite.name,
        _ => None,
    }
}

fn equal<T: PartialEq + core::fmt::Debug>(what: &str, expected: &T, found: &T) -> Compared {
    if expected == found { Ok(()) } else { Err((format!("{what} {expected:?}"), format!("{found:?}"))) }
}

/// The entry, if there is one of this tag.
fn of_tag<'a, 'o>(entry: Option<Entry<'a, 'o>>, tag: DwTag) -> Result<Entry<'a, 'o>, Difference> {
    match entry {
        Some(entry) if entry.tag() == tag => Ok(entry),
        other => Err((format!("a {tag}"), other.map_or_else(|| "none".into(), |entry| format!("{entry:?}")))),
    }
}

/// How many elements an array has by dimension; `None` where it does not say.
fn dimensions<'a, 'o: 'a>(
    children: &mut dyn Iterator<Item = Entry<'a, 'o>>,
) -> Result<Vec<Option<u64>>, Difference> {
    let mut all = Vec::new();
    for child in children {
        let child = of_tag(Some(child), dw::DW_TAG_subrange_type)?;
        only(child, |name| name == dw::DW_AT_count)?;
        all.push(match child.attr(dw::DW_AT_count) {
            None => None,
            Some(value) => {
                let not_a_number = || ("a number of elements".into(), format!("{value:?}"));
                Some(value.unsigned().ok_or_else(not_a_number)?)
            }
        });
    }
    Ok(all)
}

fn signed(entry: Entry<'_, '_>) -> Option<i64> {
    match entry.attr(dw::DW_AT_const_value) {
        Some(Value::Signed(value)) => Some(*value),
        Some(Value::Unsigned(value)) => Some(*value as i64),
        _ => None,
    }
}

/// DWARF 5, table 7.11.
fn number(encoding: BaseEncoding) -> u64 {
    match encoding {
        BaseEncoding::Address => 0x01,
        BaseEncoding::Boolean => 0x02,
        BaseEncoding::Float => 0x04,
        BaseEncoding::Signed => 0x05,
        BaseEncoding::SignedChar => 0x06,
        BaseEncoding::Unsigned => 0x07,
        BaseEncoding::UnsignedChar => 0x08,
        BaseEncoding::Utf => 0x10,
    }
}
