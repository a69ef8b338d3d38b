//! Types: their structure, as far as it goes, and where they are declared.

mod array;
mod composite;
mod own;
mod tags;
mod template;
mod units;
mod values;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use gimli::{DwAt, DwTag, constants as dw};

pub(super) use composite::{is_composite, is_part, is_template};
pub(super) use tags::{accessibility, is_type, memory_space};
pub(super) use units::{TypeUnits, is_type_unit};

use tags::{allowed, encoding, tag_of};

use super::attributes::{Difference, only};
use super::compare::Compare;
use super::report::Kind;
use crate::check::words::Words;
use crate::error::At;
use crate::lower::Whose;
use crate::model::{
    Count, Dimension, FunctionId, LocId, ScopeId, ScopeKind, TypeId, TypeKind, UnitId, VariableId,
};
use crate::read::{Entry, Value};

/// Types and entries that are to be compared. `None` is `void`.
type Pairs<'a, 'o> = Vec<(Option<TypeId>, Option<Entry<'a, 'o>>)>;

type Compared = Result<(), Difference>;

/// Entries that are found one after the other.
type Found<'c, 'a, 'o> = &'c mut dyn Iterator<Item = Entry<'a, 'o>>;

/// What is met on the way through a type.
#[derive(Default)]
pub(super) struct Parts<'a, 'o> {
    /// What is being compared.
    pub(super) whose: Option<Whose>,
    /// Types that it is made of.
    pairs: Pairs<'a, 'o>,
    /// Composite types as scopes.
    scopes: Vec<(ScopeId, Entry<'a, 'o>)>,
    /// Scopes that types are declared in, and the entries that they were found in.
    parents: Vec<(ScopeId, u64)>,
    /// Variables that say how many elements there are, and the entries that are said to.
    counts: Vec<(VariableId, u64)>,
    /// Numbers and values.
    values: Vec<ValueOf<'a, 'o>>,
}

/// A number or value that something besides a variable has.
#[derive(Clone, Copy)]
pub(super) struct ValueOf<'a, 'o> {
    whose: Whose,
    loc: LocId,
    bits: Option<u64>,
    entry: Entry<'a, 'o>,
    /// The attribute that is a number; `None` for a value that is somewhere.
    attribute: Option<DwAt>,
}

/// What of types is compared when all entries are known, with where it was met.
#[derive(Default)]
pub(super) struct Later<'a, 'o> {
    /// Composite types, to compare what is declared in them.
    scopes: Vec<(ScopeId, Entry<'a, 'o>)>,
    parents: Vec<(At, ScopeId, u64)>,
    counts: Vec<(At, VariableId, u64)>,
    values: Vec<(At, ValueOf<'a, 'o>)>,
}

impl<'a, 'o> Parts<'a, 'o> {
    /// A number or value of what is being compared.
    fn value(&mut self, loc: LocId, bits: Option<u64>, entry: Entry<'a, 'o>, attribute: Option<DwAt>) {
        let values = self.whose.map(|whose| ValueOf { whose, loc, bits, entry, attribute });
        self.values.extend(values);
    }
}

impl<'a, 'o> Compare<'a, 'o> {
    /// Compares a type with an entry; `None` is `void`.
    pub(super) fn ty(&mut self, ty: Option<TypeId>, entry: Option<Entry<'a, 'o>>, at: &At) {
        match self.same_type(ty, entry) {
            Ok(parts) => self.met(parts, at),
            Err((expected, found)) => self.find(Kind::Type, at.clone(), expected, found),
        }
    }

    /// Compares the parameters of the template that a function is an instance of.
    pub(super) fn function_templates(&mut self, function: FunctionId, entry: Entry<'a, 'o>, at: &At) {
        let mut parts = Parts { whose: Some(Whose::Function(function)), ..Parts::default() };
        let mut children = entry.children().filter(|child| is_template(child.tag()));
        let templates = &self.module.function(function).templates;
        let mut compared = self.templates(templates, &mut children, &mut parts);
        if let (Ok(()), Some(more)) = (&compared, children.next()) {
            compared = Err(("no more template parameters".into(), more.tag().words()));
        }
        match compared {
            Ok(()) => {
                let pairs = core::mem::take(&mut parts.pairs);
                self.met(parts, at);
                pairs.into_iter().for_each(|(ty, entry)| self.ty(ty, entry, at));
            }
            Err((expected, found)) => self.find(Kind::Type, at.clone(), expected, found),
        }
    }

    /// Compares the types that nothing of the module has, with entries that were not compared yet; and what is
    /// declared in composite types.
    pub(super) fn rest_of_types(&mut self, unit: UnitId, root: Entry<'a, 'o>) {
        let module = self.module;
        self.scopes_of_types();
        let mut entries = BTreeMap::<(u16, Cow<'_, str>), VecDeque<Entry<'a, 'o>>>::new();
        for entry in root.descendants().filter(|entry| is_type(entry.tag())) {
            let key = (entry.tag().0, entry.name().unwrap_or_default());
            entries.entry(key).or_default().push_back(entry);
        }
        let at = module.at_scope(module.unit(unit).scope);
        let index = Rc::clone(&self.index);
        let span = root.unit().offset..root.unit().end;
        for &id in &index.types[unit] {
            if self.is_compared(id, &span) {
                continue;
            }
            let ty = module.ty(id);
            let name = ty.name().map_or("", |name| module.string(name));
            let of_kind = entries.entry((tag_of(ty.kind()).0, name.into())).or_default();
            of_kind.retain(|entry| !self.type_entries.contains(&entry.offset()));
            // They are in the order of the module: the first that is not taken is the one, in its own scope if
            // there is one.
            let is_in_scope = |entry: &Entry<'_, '_>| {
                entry
                    .parent()
                    .is_some_and(|parent| self.scope_entries.contains(&(ty.scope(), parent.offset())))
            };
            let (mut candidates, others): (Vec<_>, Vec<_>) = of_kind.iter().copied().partition(is_in_scope);
            candidates.extend(others);
            candidates.extend(self.in_type_units(tag_of(ty.kind()), name));
            let found = candidates.into_iter().find_map(|entry| self.same_type(Some(id), Some(entry)).ok());
            match found {
                Some(parts) => {
                    self.met(parts, &at);
                    self.scopes_of_types();
                }
                None => {
                    self.find(
                        Kind::Type,
                        at.clone(),
                        format!("{} `{name}`", tag_of(ty.kind()).words()),
                        "none like it",
                    );
                }
            }
        }
        for entry in root.descendants().filter(|entry| is_type(entry.tag())) {
            // Expressions have base types of their own, also where all of those that need one were left out.
            let is_known =
                self.type_entries.contains(&entry.offset()) || self.referred.contains_key(&entry.offset());
            if !is_known && !self.is_for_expressions(entry) {
                let name = entry.name().unwrap_or_default();
                let found = format!("{} `{name}`", entry.tag().words());
                self.find(Kind::Extra, at.clone(), "no more types", found);
            }
        }
    }

    /// Whether it is a base type for narrow registers in typed expressions, by the name that LLVM gives to such.
    fn is_for_expressions(&self, entry: Entry<'a, 'o>) -> bool {
        let is_typed = entry.tag() == dw::DW_TAG_base_type && !self.consumer.has_locations_on_the_stack();
        let bits = entry.number(dw::DW_AT_byte_size).unwrap_or(0).saturating_mul(8);
        is_typed && entry.name().is_some_and(|name| name == format!("unsigned_{bits}"))
    }

    /// Compares what is declared in the composite types that were met.
    fn scopes_of_types(&mut self) {
        while let Some((scope, entry)) = self.later.scopes.pop() {
            self.scope(scope, entry, None);
        }
    }

    /// Notes what was met in types that are the same.
    fn met(&mut self, parts: Parts<'a, 'o>, at: &At) {
        let Parts { whose: _, pairs: _, scopes, parents, counts, values } = parts;
        self.later.scopes.extend(scopes);
        self.later.parents.extend(parents.into_iter().map(|(scope, parent)| (at.clone(), scope, parent)));
        self.later.counts.extend(counts.into_iter().map(|(of, found)| (at.clone(), of, found)));
        self.later.values.extend(values.into_iter().map(|value| (at.clone(), value)));
    }

    /// Compares what needed all entries.
    pub(super) fn rest_of_parts(&mut self) {
        let Later { scopes: _, parents, counts, values } = core::mem::take(&mut self.later);
        for (at, scope, parent) in parents {
            if !self.scope_entries.contains(&(scope, parent)) {
                let text = |entry: Option<Entry<'_, '_>>| entry.map_or("nothing".into(), |it| it.words());
                let own = self.scope_entries.range((scope, 0)..=(scope, u64::MAX)).next();
                let own = own.and_then(|&(_, offset)| self.dwarf.entry_at(offset));
                let found = text(self.dwarf.entry_at(parent));
                self.find(Kind::Type, at, format!("a type in {}", text(own)), found);
            }
        }
        for (at, variable, found) in counts {
            let known = [self.variables[variable], self.variable_origins[variable]];
            if !known.contains(&Some(found)) {
                let name = self.module.name_of(variable).unwrap_or_default();
                let found = self.dwarf.entry_at(found).map(|entry| entry.words());
                self.find(Kind::Type, at, format!("as many elements as `{name}`"), found.unwrap_or_default());
            }
        }
        for (at, value) in values {
            self.value(value, &at);
        }
    }

    /// Compares a type with an entry, and all that it is made of. What is different, as expected and found.
    pub(super) fn same_type(
        &mut self,
        ty: Option<TypeId>,
        entry: Option<Entry<'a, 'o>>,
    ) -> Result<Parts<'a, 'o>, Difference> {
        // A list of its own, for types may be nested deeply. Pairs that were seen are being compared, or
        // were: if they are not the same, that is found where they were seen first.
        let mut seen = BTreeSet::new();
        let mut parts = Parts { pairs: vec![(ty, entry)], ..Parts::default() };
        while let Some((ty, entry)) = parts.pairs.pop() {
            let (id, entry) = match (ty, entry) {
                (None, None) => continue,
                (Some(ty), Some(entry)) => (ty, entry),
                (None, Some(entry)) => return Err(("void".into(), entry.tag().words())),
                (Some(_), None) => return Err(("a type".into(), "void".into())),
            };
            let pair = (id, entry.offset());
            if !self.types.contains(&pair) && seen.insert(pair) {
                self.outermost(id, entry, &mut parts)?;
            }
        }
        self.type_entries.extend(seen.iter().map(|&(_, entry)| entry));
        self.types.extend(seen);
        Ok(parts)
    }

    /// Compares a type without the types that it is made of: those it adds to the parts.
    fn outermost(&self, id: TypeId, entry: Entry<'a, 'o>, parts: &mut Parts<'a, 'o>) -> Compared {
        let module = self.module;
        let ty = module.ty(id);
        parts.whose = Some(Whose::Type(id));
        let tag = tag_of(&ty.kind);
        equal("a type's tag", &tag, &entry.tag())?;
        let named = ty.name().map_or("", |id| module.string(id));
        equal("the name", &named, &&*entry.name().unwrap_or_default())?;
        only(entry, |name| allowed(tag, self.consumer, name))?;
        self.line(ty.line(), entry)?;
        let alignment = entry.number(dw::DW_AT_alignment);
        equal(&format!("the alignment of `{named}`"), &ty.alignment(), &alignment)?;
        let is_declaration = is_set(entry, dw::DW_AT_declaration);
        equal(&format!("`{named}` is incomplete"), &ty.is_declaration(), &is_declaration)?;
        if let Some(parent) = entry.parent().filter(|_| is_type_unit(entry.unit())) {
            self.context(id, parent)?;
        } else if let Some(parent) = entry.parent() {
            match module.scope(ty.scope()).kind {
                ScopeKind::Type(outer) => parts.pairs.push((Some(outer), Some(parent))),
                _ => parts.parents.push((ty.scope(), parent.offset())),
            }
        }
        let is_sized = matches!(
            ty.kind,
            TypeKind::Base { .. } | TypeKind::Vector { .. } | TypeKind::Composite(_) | TypeKind::Enum { .. }
        );
        if is_sized {
            let bytes = ty.bits.map(|bits| bits.div_ceil(8));
            equal(&format!("`{named}` of bytes"), &bytes, &entry.number(dw::DW_AT_byte_size))?;
        }
        let mut children = entry.children();
        match &ty.kind {
            TypeKind::Base { encoding: expected, .. } => {
                let found = entry.number(dw::DW_AT_encoding).unwrap_or(0);
                equal(&format!("`{named}` of encoding"), &encoding(*expected), &found)?;
                let bits = ty.bits.filter(|bits| !bits.is_multiple_of(8));
                equal(&format!("`{named}` of bits"), &bits, &entry.number(dw::DW_AT_bit_size))?;
            }
            TypeKind::Unspecified { .. } => {}
            TypeKind::Pointer { to, space, memory, .. } => {
                let bytes = entry.number(dw::DW_AT_byte_size);
                let bytes = bytes.unwrap_or_else(|| module.target.address_bytes().into());
                equal("a pointer of bits", &ty.bits.unwrap_or(0), &bytes.saturating_mul(8))?;
                // A consumer without an attribute for it is not told.
                if let Some(attribute) = self.consumer.address_space {
                    let found = entry.attr(attribute).map_or(Some(0), Value::unsigned);
                    let text = format!("a pointer with attribute {:#x} (address space)", attribute.0);
                    equal(&text, &Some(u64::from(space.0)), &found)?;
                }
                if let Some(attribute) = self.consumer.memory_space {
                    let text = format!("a pointer with attribute {:#x} (memory space)", attribute.0);
                    equal(&text, &memory.map(memory_space), &entry.number(attribute))?;
                }
                parts.pairs.push((*to, entry.ty()));
            }
            TypeKind::MemberPointer { class, to } => {
                parts.pairs.push((Some(*to), entry.ty()));
                parts.pairs.push((Some(*class), entry.reference(dw::DW_AT_containing_type)));
            }
            TypeKind::Array { of, dimensions, stride_bits } => {
                parts.pairs.push((Some(*of), entry.ty()));
                return self.array(dimensions, *stride_bits, entry, parts);
            }
            TypeKind::Vector { of, count } => {
                parts.pairs.push((Some(*of), entry.ty()));
                equal("a vector", &true, &is_set(entry, dw::DW_AT_GNU_vector))?;
                let strides = [dw::DW_AT_byte_stride, dw::DW_AT_bit_stride].map(|name| entry.number(name));
                equal("the strides of a vector", &[None; 2], &strides)?;
                let only = Dimension { count: Count::Fixed(*count), lower: None, index: None };
                return self.dimensions(&[only], &mut children, parts);
            }
            TypeKind::Matrix { of, count, is_column_major: _ } => {
                parts.pairs.push((Some(*of), entry.ty()));
                let only = Dimension { count: Count::Fixed(*count), lower: None, index: None };
                return self.array(&[only], None, entry, parts);
            }
            TypeKind::Composite(composite) => return self.composite(composite, entry, parts),
            TypeKind::Enum { of, enumerators, is_class, .. } => {
                let found = is_set(entry, dw::DW_AT_enum_class);
                equal(&format!("`{named}` is a class"), is_class, &found)?;
                for &(id, value) in enumerators {
                    let expected = (module.string(id).to_owned(), Some(value));
                    let found = of_tag(children.next(), dw::DW_TAG_enumerator)?;
                    only(found, |name| matches!(name, dw::DW_AT_name | dw::DW_AT_const_value))?;
                    let value = constant(found.attr(dw::DW_AT_const_value));
                    equal("enumerator", &expected, &(found.name().unwrap_or_default().into(), value))?;
                }
                parts.pairs.push((Some(*of), entry.ty()));
            }
            TypeKind::Typedef { of, .. } | TypeKind::Qualified { of, .. } => {
                parts.pairs.push((*of, entry.ty()));
            }
            TypeKind::Subroutine { returns, parameters } => {
                for &parameter in parameters {
                    let found = of_tag(children.next(), dw::DW_TAG_formal_parameter)?;
                    only(found, |name| name == dw::DW_AT_type)?;
                    parts.pairs.push((Some(parameter), found.ty()));
                }
                parts.pairs.push((*returns, entry.ty()));
            }
        }
        match children.next() {
            None => Ok(()),
            Some(child) => Err((format!("no more in `{named}`"), child.words())),
        }
    }
}

fn equal<T: PartialEq + Words>(what: &str, expected: &T, found: &T) -> Compared {
    if expected == found { Ok(()) } else { Err((format!("{what} {}", expected.words()), found.words())) }
}

/// The entry, if there is one of this tag.
fn of_tag<'a, 'o>(entry: Option<Entry<'a, 'o>>, tag: DwTag) -> Result<Entry<'a, 'o>, Difference> {
    match entry {
        Some(entry) if entry.tag() == tag => Ok(entry),
        other => Err((format!("a {}", tag.words()), other.words())),
    }
}

/// Whether a flag is there and set.
fn is_set(entry: Entry<'_, '_>, name: DwAt) -> bool {
    matches!(entry.attr(name), Some(Value::Flag(true)))
}

/// A number with its sign.
fn constant(value: Option<&Value<'_>>) -> Option<i128> {
    match *value? {
        Value::Signed(value) => Some(value.into()),
        Value::Unsigned(value) => Some(value.into()),
        _ => None,
    }
}
