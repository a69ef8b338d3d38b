//! An object's entries, in the form that [described](super::Described) entries have.

use std::collections::BTreeMap;
use std::rc::Rc;

use gimli::{DwAt, DwTag, constants as dw};
use smallvec::SmallVec;

use super::value::{BASES, Value, constant};
use crate::check::{describe::Describe, files::source};
use crate::consumer::Consumer;
use crate::model::{Function, VariantValues};
use crate::read::{self, Entry, LineProgram};

/// Attributes that an entry inherits from the entry that it completes, besides functions' flags.
const INHERITED: [DwAt; 11] = [
    dw::DW_AT_name,
    dw::DW_AT_decl_line,
    dw::DW_AT_decl_column,
    dw::DW_AT_linkage_name,
    // The linkage name before DWARF 4.
    DwAt(0x2007),
    dw::DW_AT_accessibility,
    dw::DW_AT_virtuality,
    dw::DW_AT_defaulted,
    dw::DW_AT_calling_convention,
    dw::DW_AT_prototyped,
    dw::DW_AT_artificial,
];

/// Object as a consumer reads its entries.
#[derive(Clone, Copy)]
pub(in crate::check) struct Found<'f, 'o> {
    pub(in crate::check) consumer: &'f Consumer,
    /// Line programs by offset, for file names.
    pub(in crate::check) programs: &'f BTreeMap<u64, Rc<LineProgram<'o>>>,
    pub(in crate::check) is_big_endian: bool,
    /// Attributes that are omitted in the entry's unit.
    pub(in crate::check) omitted: &'f [DwAt],
}

/// Entry with its attributes, and with the attributes inherited from the entries that it completes.
pub(super) struct Attributes<'a, 'o> {
    entry: Entry<'a, 'o>,
    tag: DwTag,
    /// How many attributes are its own; these are first.
    own: usize,
    names: SmallVec<[DwAt; 24]>,
    /// Values by the same index; `None` for a reference to what the file does not have.
    values: SmallVec<[Option<read::ResolvedValue<'o>>; 24]>,
}

impl<'a, 'o> Attributes<'a, 'o> {
    pub(super) fn new(entry: Entry<'a, 'o>) -> Self {
        let mut names = SmallVec::new();
        let mut values = SmallVec::new();
        entry.each_with_inherited(|name, value| {
            names.push(name);
            values.push(value);
        });
        Self { entry, tag: entry.tag(), own: entry.names().len(), names, values }
    }

    /// Its own attributes' names, in order.
    pub(super) fn names(&self) -> &[DwAt] {
        &self.names[..self.own]
    }

    fn has(&self, name: DwAt) -> bool {
        self.names().contains(&name)
    }

    /// The value that its own first attribute with a name has.
    fn attr(&self, name: DwAt) -> Option<read::ResolvedValue<'o>> {
        let index = self.names().iter().position(|&known| known == name)?;
        self.values[index]
    }

    /// The value that an attribute has in the entry itself, or else in an entry that it completes.
    fn inherited(&self, name: DwAt) -> Option<read::ResolvedValue<'o>> {
        // The entry's own attributes come first, and hide inherited ones.
        let named = self.names.iter().zip(&self.values).filter(|&(&known, _)| known == name);
        named.into_iter().find_map(|(_, &value)| value)
    }
}

impl<'o> Found<'_, 'o> {
    /// Returns the canonical attribute for an entry's attribute.
    pub(super) fn canonical(self, attributes: &Attributes<'_, 'o>, name: DwAt) -> DwAt {
        let is_encoded = match name {
            dw::DW_AT_low_pc | dw::DW_AT_high_pc => has_code(attributes.tag),
            dw::DW_AT_data_member_location | dw::DW_AT_bit_offset | dw::DW_AT_byte_size => {
                matches!(attributes.tag, dw::DW_TAG_member | dw::DW_TAG_inheritance)
            }
            dw::DW_AT_byte_stride | dw::DW_AT_discr_list => true,
            name => return name,
        };
        let encoding = ENCODINGS.iter().find(|(_, names)| is_encoded && names.contains(&name));
        encoding.map_or(name, |&(canonical, _)| canonical)
    }

    /// Whether the consumer knows no attribute that encodes a canonical attribute, and such an attribute is omitted.
    pub(super) fn is_omitted(self, name: DwAt) -> bool {
        if self.omitted.is_empty() {
            return false;
        }
        let encodings = ENCODINGS.iter().find(|(canonical, _)| *canonical == name);
        let mut names = encodings.map_or(&[][..], |(_, names)| names).iter().chain([&name]);
        names.clone().any(|name| self.omitted.contains(name))
            && !names.any(|&name| self.consumer.entries.knows(name))
    }

    /// Returns a canonical attribute's value. Errors come from range lists.
    pub(super) fn value<'a>(
        self,
        attributes: &Attributes<'a, 'o>,
        name: DwAt,
    ) -> crate::Result<Value<'a, 'o>> {
        Ok(match name {
            dw::DW_AT_ranges if has_code(attributes.tag) => {
                let names = [dw::DW_AT_low_pc, dw::DW_AT_high_pc, dw::DW_AT_ranges];
                match names.map(|name| attributes.has(name)) {
                    [false, false, false] => Value::Absent,
                    [false, true, _] => Value::Other("an end without a start".into()),
                    [_, true, true] => Value::Other("an end and ranges".into()),
                    _ => Value::Code(attributes.entry.ranges()?),
                }
            }
            dw::DW_AT_decl_file | dw::DW_AT_call_file => {
                let Some(value) = attributes.inherited(name) else { return Ok(Value::Absent) };
                // The number counts files in the unit of the entry that has it.
                let inherited = if attributes.has(name) { None } else { attributes.entry.declared_file() };
                let unit = inherited.map_or(attributes.entry, |(declaration, _)| declaration).unit();
                let program = unit.stmt_list.and_then(|offset| self.programs.get(&offset));
                // Compared by path, because file numbers are the writer's choice.
                let file = value.unsigned().zip(program).and_then(|(file, program)| source(program, file));
                file.map_or_else(|| Value::Other("a file that is not listed".into()), Value::File)
            }
            dw::DW_AT_data_bit_offset => self.offset(attributes),
            dw::DW_AT_bit_stride => match (attributes.attr(dw::DW_AT_byte_stride), attributes.attr(name)) {
                (Some(bytes), None) => bytes
                    .unsigned()
                    .and_then(|bytes| bytes.checked_mul(8))
                    .map_or_else(|| Value::Other(bytes.describe()), |bits| Value::Number(bits.into())),
                (None, bits) => single_value(attributes.entry, bits),
                (Some(_), Some(_)) => Value::Other("two strides".into()),
            },
            // A pointer without a size is as large as an address.
            dw::DW_AT_byte_size if is_pointer(attributes.tag) && !attributes.has(name) => {
                Value::Number(attributes.entry.unit().encoding.address_bytes.into())
            }
            dw::DW_AT_discr => {
                let Some(value) = attributes.attr(name) else { return Ok(Value::Absent) };
                let part = attributes
                    .entry
                    .referred(value)
                    .and_then(|part| attributes.entry.children().position(|child| child == part));
                let referred = attributes.entry.referred(value);
                match (part, referred) {
                    (Some(part), _) => Value::Part(part),
                    (None, Some(member)) => Value::Entry(member),
                    (None, None) => Value::Other(value.describe()),
                }
            }
            // A reader takes the value's class from the attribute: a number, or a block.
            dw::DW_AT_discr_value => match (attributes.attr(name), attributes.attr(dw::DW_AT_discr_list)) {
                (Some(read::ResolvedValue::Block(_)), None) => {
                    Value::Other("a value with the class of a list".into())
                }
                (value, None) | (None, value @ Some(read::ResolvedValue::Block(_))) => {
                    single_value(attributes.entry, value)
                }
                (None, Some(_)) => Value::Other("a list with the class of a value".into()),
                (Some(_), Some(_)) => Value::Other("a value and a list".into()),
            },
            dw::DW_AT_type => {
                match attributes.inherited(name).and_then(|value| attributes.entry.referred(value)) {
                    Some(ty) => Value::Entry(ty),
                    None => single_value(attributes.entry, attributes.inherited(name)),
                }
            }
            // Most attributes that an entity can have are absent.
            name if !attributes.names.contains(&name) => Value::Absent,
            name => {
                let is_flag = Function::FLAGS.iter().any(|(flag, _)| *flag == name);
                let is_inherited = INHERITED.contains(&name)
                    || is_flag
                    || self.consumer.attributes.memory_space == Some(name);
                let value = if is_inherited { attributes.inherited(name) } else { attributes.attr(name) };
                let is_absent = |value: &read::ResolvedValue<'_>| match value {
                    read::ResolvedValue::Unsigned(0) | read::ResolvedValue::Signed(0) => {
                        self.is_zero_absent(attributes, name)
                    }
                    // Comparing the tables follows the offset.
                    read::ResolvedValue::Offset(_) => BASES.contains(&name),
                    _ => false,
                };
                single_value(attributes.entry, value.filter(|value| !is_absent(value)))
            }
        })
    }

    /// Returns whether 0 means that an attribute is absent. A column counts only beside a line.
    fn is_zero_absent(self, attributes: &Attributes<'_, '_>, name: DwAt) -> bool {
        match name {
            dw::DW_AT_decl_column => attributes.inherited(dw::DW_AT_decl_line).is_some(),
            dw::DW_AT_call_column => attributes.has(dw::DW_AT_call_line),
            dw::DW_AT_virtuality => attributes.tag == dw::DW_TAG_inheritance,
            name => {
                name == dw::DW_AT_GNU_discriminator || self.consumer.attributes.address_space == Some(name)
            }
        }
    }

    /// Returns a part's offset in bits from the object's start, or the expression that computes it. Before DWARF 4, a
    /// bit field counts from its storage unit's most significant bit.
    fn offset<'a>(self, part: &Attributes<'a, 'o>) -> Value<'a, 'o> {
        let [bytes, bits, size, from_most] = [
            dw::DW_AT_data_member_location,
            dw::DW_AT_data_bit_offset,
            dw::DW_AT_byte_size,
            dw::DW_AT_bit_offset,
        ]
        .map(|name| part.attr(name));
        let is_base = part.tag == dw::DW_TAG_inheritance;
        let offset = match (bytes, bits, size.or(from_most)) {
            (None, None, None) if is_base => return Value::Absent,
            (None, None, None) => Some(0),
            (Some(read::ResolvedValue::Expr(expr)), None, None) if is_base => {
                return self
                    .constant(expr)
                    .map_or(Value::Expr(expr), |bytes| Value::Number(i128::from(bytes) * 8));
            }
            (Some(value), None, None) => self.bytes(value).and_then(|bytes| bytes.checked_mul(8)),
            (None, Some(bits), None) if !is_base => bits.unsigned(),
            (Some(value), None, Some(_)) if !is_base && self.consumer.version < 4 => (|| {
                let first = self.bytes(value)?.checked_mul(8)?;
                let from_most = from_most?.unsigned()?;
                // The field's end, counted from the storage unit's most significant bit.
                let needs = from_most.checked_add(part.attr(dw::DW_AT_bit_size)?.unsigned()?)?;
                let behind = size?.unsigned()?.checked_mul(8)?.checked_sub(needs)?;
                first.checked_add(if self.is_big_endian { from_most } else { behind })
            })(),
            _ => None,
        };
        offset.map_or_else(|| Value::Other("no one offset".into()), |bits| Value::Number(bits.into()))
    }

    /// Offset in bytes from an object's start. In DWARF 2 an expression adds it.
    fn bytes(self, value: read::ResolvedValue<'_>) -> Option<u64> {
        match value {
            read::ResolvedValue::Expr(expr) => self.constant(expr),
            value if self.consumer.version > 2 => value.unsigned(),
            _ => None,
        }
    }

    /// Constant that a DWARF 2 expression adds, if it adds a constant.
    fn constant(self, expr: &[u8]) -> Option<u64> {
        constant(self.consumer.version, expr)
    }
}

/// Canonical attributes, each with the other attributes that encode it.
const ENCODINGS: [(DwAt, &[DwAt]); 4] = [
    (dw::DW_AT_ranges, &[dw::DW_AT_low_pc, dw::DW_AT_high_pc]),
    (dw::DW_AT_data_bit_offset, &[dw::DW_AT_data_member_location, dw::DW_AT_bit_offset, dw::DW_AT_byte_size]),
    (dw::DW_AT_bit_stride, &[dw::DW_AT_byte_stride]),
    (dw::DW_AT_discr_value, &[dw::DW_AT_discr_list]),
];

/// Returns whether entries with this tag have code.
fn has_code(tag: DwTag) -> bool {
    matches!(
        tag,
        dw::DW_TAG_subprogram
            | dw::DW_TAG_lexical_block
            | dw::DW_TAG_inlined_subroutine
            | dw::DW_TAG_compile_unit
            | dw::DW_TAG_skeleton_unit
    )
}

fn is_pointer(tag: DwTag) -> bool {
    matches!(tag, dw::DW_TAG_pointer_type | dw::DW_TAG_reference_type | dw::DW_TAG_rvalue_reference_type)
}

/// A single attribute's value.
fn single_value<'a, 'o>(entry: Entry<'a, 'o>, value: Option<read::ResolvedValue<'o>>) -> Value<'a, 'o> {
    let Some(value) = value else { return Value::Absent };
    match value {
        read::ResolvedValue::Unsigned(number) => Value::Number(number.into()),
        read::ResolvedValue::Signed(number) => Value::Number(number.into()),
        read::ResolvedValue::Address(address) => Value::Address(address),
        read::ResolvedValue::String(string) => Value::Text(string.text()),
        read::ResolvedValue::Flag(is) => Value::Flag(is),
        read::ResolvedValue::Expr(expr) => Value::Expr(expr),
        read::ResolvedValue::Block(bytes) => Value::Block(bytes),
        read::ResolvedValue::Reference(_) | read::ResolvedValue::Signature(_) => {
            entry.referred(value).map_or_else(|| Value::Other(value.describe()), Value::Entry)
        }
        _ => Value::Other(value.describe()),
    }
}

impl Value<'_, '_> {
    /// A variant's values; empty for the default variant.
    pub(super) fn variants(&self, is_signed: bool) -> Option<Vec<VariantValues>> {
        match *self {
            Self::Absent => Some(Vec::new()),
            Self::Number(number) => Some(Vec::from([VariantValues::Single(number)])),
            Self::Block(bytes) => list(bytes, is_signed),
            _ => None,
        }
    }
}

/// Discriminant list: DWARF 5 section 7.18.
fn list(mut bytes: &[u8], is_signed: bool) -> Option<Vec<VariantValues>> {
    let number = |bytes: &mut &[u8]| -> Option<i128> {
        let length = bytes.iter().position(|byte| byte & 0x80 == 0)? + 1;
        let (number, rest) = bytes.split_at(length);
        *bytes = rest;
        let bits = |value: i128, (at, byte): (usize, &u8)| value | i128::from(byte & 0x7f) << (7 * at);
        let value = number.iter().enumerate().take(18).fold(0, bits);
        // Signed LEB128: bit 6 of the last byte is the sign.
        let is_negative = is_signed && number.last()? & 0x40 != 0 && length < 18;
        Some(if is_negative { value - (1 << (7 * length)) } else { value })
    };
    let mut values = Vec::new();
    while let Some((&kind, rest)) = bytes.split_first() {
        bytes = rest;
        values.push(match kind {
            0 => VariantValues::Single(number(&mut bytes)?),
            1 => VariantValues::Range(number(&mut bytes)?, number(&mut bytes)?),
            _ => return None,
        });
    }
    Some(values)
}
