//! Type unit signatures, computed again from their entries: DWARF 5 section 7.32.
//!
//! A type is flattened to letters, codes and values in the specification's order, whatever forms and units its
//! entries have. A type that was visited before becomes its number; types in several units are the same type if the
//! same described type was compared with them. The signature is the MD5 digest's last eight bytes.

use std::collections::BTreeMap;

use gimli::{DwAt, DwForm, constants as dw};

use super::tree::is_type;
use crate::model::{Module, TypeId};
use crate::op::{write_sleb, write_uleb};
use crate::read::{Attribute, Entry, ResolvedValue};

/// Attributes that a signature depends on, in their order: step 4. Vendor attributes follow.
const ATTRIBUTES: [DwAt; 50] = [
    dw::DW_AT_name,
    dw::DW_AT_accessibility,
    dw::DW_AT_address_class,
    dw::DW_AT_alignment,
    dw::DW_AT_allocated,
    dw::DW_AT_artificial,
    dw::DW_AT_associated,
    dw::DW_AT_binary_scale,
    dw::DW_AT_bit_size,
    dw::DW_AT_bit_stride,
    dw::DW_AT_byte_size,
    dw::DW_AT_byte_stride,
    dw::DW_AT_const_expr,
    dw::DW_AT_const_value,
    dw::DW_AT_containing_type,
    dw::DW_AT_count,
    dw::DW_AT_data_bit_offset,
    dw::DW_AT_data_location,
    dw::DW_AT_data_member_location,
    dw::DW_AT_decimal_scale,
    dw::DW_AT_decimal_sign,
    dw::DW_AT_default_value,
    dw::DW_AT_digit_count,
    dw::DW_AT_discr,
    dw::DW_AT_discr_list,
    dw::DW_AT_discr_value,
    dw::DW_AT_encoding,
    dw::DW_AT_endianity,
    dw::DW_AT_enum_class,
    dw::DW_AT_explicit,
    dw::DW_AT_is_optional,
    dw::DW_AT_location,
    dw::DW_AT_lower_bound,
    dw::DW_AT_mutable,
    dw::DW_AT_ordering,
    dw::DW_AT_picture_string,
    dw::DW_AT_prototyped,
    dw::DW_AT_rank,
    dw::DW_AT_reference,
    dw::DW_AT_rvalue_reference,
    dw::DW_AT_small,
    dw::DW_AT_segment,
    dw::DW_AT_string_length,
    dw::DW_AT_threads_scaled,
    dw::DW_AT_upper_bound,
    dw::DW_AT_use_location,
    dw::DW_AT_use_UTF8,
    dw::DW_AT_virtuality,
    dw::DW_AT_visibility,
    dw::DW_AT_vtable_elem_location,
];

/// Returns an attribute's position in a description, if a signature depends on it.
fn position(name: DwAt) -> Option<usize> {
    if name.0 >= dw::DW_AT_lo_user.0 {
        return Some(usize::from(name.0));
    }
    ATTRIBUTES.iter().position(|other| *other == name)
}

/// Returns whether a child has its name alone in a description: a nested type or a member function.
fn is_named_only(child: Entry<'_, '_>) -> bool {
    (is_type(child) || child.tag() == dw::DW_TAG_subprogram) && child.has(dw::DW_AT_name)
}

/// A description's pending part.
enum Task<'a, 'o> {
    /// An entry: steps 3 to 7.
    Entry(Entry<'a, 'o>),
    /// An entry's attribute: step 4.
    Attribute(Entry<'a, 'o>, Attribute<'o>),
    /// An entry's `DW_AT_type`: steps 4 and 5.
    Type(Entry<'a, 'o>, ResolvedValue<'o>),
    /// An entry's child: step 7.
    Child(Entry<'a, 'o>),
    /// Where children end.
    End,
}

/// A type's description, during construction.
pub(super) struct Signature<'k, 'a, 'o> {
    /// Described types by the offset of an entry that each was compared with.
    known: &'k BTreeMap<u64, Vec<TypeId>>,
    module: &'k Module,
    out: Vec<u8>,
    /// Pending tasks, the next one last: a list, because types can be nested deeply.
    tasks: Vec<Task<'a, 'o>>,
    /// Visited types' numbers, counted from 1, by offset and by described type.
    offsets: BTreeMap<u64, u64>,
    types: BTreeMap<TypeId, u64>,
    count: u64,
    /// Whether all types' identities are known.
    is_certain: bool,
}

impl<'k, 'a, 'o> Signature<'k, 'a, 'o> {
    pub(super) fn new(module: &'k Module, known: &'k BTreeMap<u64, Vec<TypeId>>) -> Self {
        Self {
            known,
            module,
            out: Vec::new(),
            tasks: Vec::new(),
            offsets: BTreeMap::new(),
            types: BTreeMap::new(),
            count: 0,
            is_certain: true,
        }
    }

    /// Returns the signature for an entry's type. `None` if an entry has several described types in one unit, which
    /// the description can visit twice.
    pub(super) fn compute(mut self, ty: Entry<'a, 'o>, is_big_endian: bool) -> Option<u64> {
        // The type itself is number 1: it can refer to itself.
        self.visit(ty);
        self.context(ty);
        self.tasks.push(Task::Entry(ty));
        while let Some(task) = self.tasks.pop() {
            match task {
                Task::Entry(entry) => self.entry(entry),
                Task::Attribute(entry, attribute) => self.attribute(entry, attribute),
                Task::Type(entry, value) => self.ty(entry, value),
                Task::Child(child) if is_named_only(child) => {
                    self.out.push(b'S');
                    self.uleb(child.tag().0.into());
                    self.name(child);
                }
                Task::Child(child) => self.entry(child),
                Task::End => self.out.push(0),
            }
        }
        let [.., a, b, c, d, e, f, g, h] = md5::compute(&self.out).0;
        let last = [a, b, c, d, e, f, g, h];
        let signature = if is_big_endian { u64::from_be_bytes(last) } else { u64::from_le_bytes(last) };
        self.is_certain.then_some(signature)
    }

    /// Gives a type the next number.
    fn visit(&mut self, ty: Entry<'a, 'o>) {
        self.count += 1;
        self.offsets.insert(ty.offset(), self.count);
        let described = self.known.get(&ty.offset()).map_or(&[][..], Vec::as_slice);
        self.types.extend(described.iter().map(|&id| (id, self.count)));
        let mut units: Vec<_> = described.iter().map(|&id| self.module.ty(id).unit()).collect();
        units.sort_unstable();
        // Which of two described types in one unit the writer visited cannot be seen in the entry.
        self.is_certain &= units.windows(2).all(|pair| pair[0] != pair[1]);
    }

    /// Returns a type's number, if the type was visited before.
    fn number(&self, ty: Entry<'a, 'o>) -> Option<u64> {
        let described = self.known.get(&ty.offset()).into_iter().flatten();
        let mut numbers = described.filter_map(|id| self.types.get(id));
        self.offsets.get(&ty.offset()).or_else(|| numbers.next()).copied()
    }

    /// Step 2: namespaces and types around a type, outermost first.
    fn context(&mut self, ty: Entry<'a, 'o>) {
        let is_scope = |entry: &Entry<'_, '_>| {
            matches!(entry.tag(), dw::DW_TAG_namespace | dw::DW_TAG_module) || is_type(*entry)
        };
        let around = core::iter::successors(ty.parent(), |entry| entry.parent()).filter(is_scope);
        for entry in around.collect::<Vec<_>>().into_iter().rev() {
            self.out.push(b'C');
            self.uleb(entry.tag().0.into());
            self.name(entry);
        }
    }

    fn entry(&mut self, entry: Entry<'a, 'o>) {
        self.out.push(b'D');
        self.uleb(entry.tag().0.into());
        let mut attributes: Vec<_> =
            entry.attributes().filter_map(|attribute| Some((position(attribute.name)?, attribute))).collect();
        attributes.sort_by_key(|&(position, _)| position);
        let first = self.tasks.len();
        self.tasks.extend(attributes.into_iter().map(|(_, attribute)| Task::Attribute(entry, attribute)));
        self.tasks.extend(entry.attr(dw::DW_AT_type).map(|value| Task::Type(entry, value)));
        self.tasks.extend(entry.children().map(Task::Child));
        self.tasks.push(Task::End);
        // The last task is the next.
        self.tasks[first..].reverse();
    }

    fn attribute(&mut self, entry: Entry<'a, 'o>, Attribute { name, form, value }: Attribute<'o>) {
        match value {
            ResolvedValue::Flag(is_set) => {
                self.start(name, dw::DW_FORM_flag);
                self.out.push(is_set.into());
            }
            ResolvedValue::Unsigned(number) => self.signed(name, extended(name, form, number)),
            ResolvedValue::Signed(number) => self.signed(name, number),
            ResolvedValue::String(string) => {
                self.start(name, dw::DW_FORM_string);
                self.text(string.bytes());
            }
            ResolvedValue::Block(bytes) | ResolvedValue::Expr(bytes) => self.block(name, bytes),
            ResolvedValue::Reference(_) | ResolvedValue::Signature(_) => {
                // A variant part's discriminant is a child, which is visited later.
                if let Some(ty) = entry.referred(value).filter(|to| is_type(*to)) {
                    self.refer(name, ty);
                }
            }
            // No type in a type unit has these.
            _ => self.is_certain = false,
        }
    }

    fn ty(&mut self, entry: Entry<'a, 'o>, value: ResolvedValue<'o>) {
        let Some(ty) = entry.referred(value) else { return self.is_certain = false };
        let is_pointer = matches!(
            entry.tag(),
            dw::DW_TAG_pointer_type
                | dw::DW_TAG_reference_type
                | dw::DW_TAG_rvalue_reference_type
                | dw::DW_TAG_ptr_to_member_type
                | dw::DW_TAG_friend
        );
        // Step 5: a pointer to a named type needs the name alone, so that a declaration is enough.
        if is_pointer && ty.has(dw::DW_AT_name) {
            self.out.push(b'N');
            self.uleb(dw::DW_AT_type.0.into());
            self.context(ty);
            self.out.push(b'E');
            return self.name(ty);
        }
        self.refer(dw::DW_AT_type, ty);
    }

    /// Step 4 for an attribute that refers to a type.
    fn refer(&mut self, name: DwAt, ty: Entry<'a, 'o>) {
        if let Some(number) = self.number(ty) {
            self.out.push(b'R');
            self.uleb(name.0.into());
            return self.uleb(number);
        }
        self.out.push(b'T');
        self.uleb(name.0.into());
        self.visit(ty);
        self.context(ty);
        // Flattened in place, before the remaining attributes.
        self.tasks.push(Task::Entry(ty));
    }

    fn start(&mut self, name: DwAt, form: DwForm) {
        self.out.push(b'A');
        self.uleb(name.0.into());
        self.uleb(form.0.into());
    }

    fn signed(&mut self, name: DwAt, value: i64) {
        self.start(name, dw::DW_FORM_sdata);
        write_sleb(&mut self.out, value);
    }

    fn block(&mut self, name: DwAt, bytes: &[u8]) {
        self.start(name, dw::DW_FORM_block);
        self.uleb(bytes.len() as u64);
        self.out.extend_from_slice(bytes);
    }

    fn name(&mut self, entry: Entry<'a, 'o>) {
        let name = entry.attr(dw::DW_AT_name).and_then(ResolvedValue::string);
        self.text(name.map_or(&[], |name| name.bytes()));
    }

    /// Appends a text and the final 0.
    fn text(&mut self, text: &[u8]) {
        self.out.extend_from_slice(text);
        self.out.push(0);
    }

    fn uleb(&mut self, value: u64) {
        write_uleb(&mut self.out, value);
    }
}

/// Returns a number's value where its form has no sign. A constant's highest bit is its sign.
fn extended(name: DwAt, form: DwForm, number: u64) -> i64 {
    let bits = match form {
        _ if name != dw::DW_AT_const_value => 64,
        dw::DW_FORM_data1 => 8,
        dw::DW_FORM_data2 => 16,
        dw::DW_FORM_data4 => 32,
        _ => 64,
    };
    (number << (64 - bits)) as i64 >> (64 - bits)
}
