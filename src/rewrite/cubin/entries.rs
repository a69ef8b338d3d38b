//! `.debug_info` and `.debug_abbrev`: the kept entries, with abbreviations that all units share.

use gimli::{DwAt, DwForm, DwTag, constants as dw};
use hashbrown::{DefaultHashBuilder, HashMap};
use indexmap::IndexMap;

use super::forms::{Field, fields, ref_addr};
use super::kept::{Part, is_code};
use super::lists::Lists;
use super::names::{ABBREVIATIONS, INFO, LINES, LOCATIONS, RANGES, STRINGS};
use super::section::{Copied, Offsets, Original};
use super::strings::Strings;
use crate::error::{ErrorKind, Result};
use crate::import::EqualTypes;
use crate::op::{Decoder, Op, write_uleb};
use crate::read::{Dwarf, Entry, ResolvedValue, Unit};

/// A tag, whether entries have children, and attributes with their forms and implicit constants.
type Shape = (DwTag, bool, Vec<(DwAt, DwForm, Option<i64>)>);

/// What entries refer to in other sections, which moves.
pub(super) struct Moved<'m, 'c> {
    /// New offsets of line programs, by their old offsets.
    pub(super) lines: &'m HashMap<u64, u64>,
    pub(super) strings: &'m mut Strings<'c>,
    pub(super) locations: &'m mut Lists<'c>,
    pub(super) ranges: &'m mut Lists<'c>,
}

/// The entries of the result.
#[derive(Debug, Default)]
pub(super) struct Entries {
    pub(super) info: Copied,
    pub(super) abbreviations: Vec<u8>,
    /// New offsets of entries, by their old offsets.
    pub(super) offsets: HashMap<u64, u64>,
    /// New offsets and sizes of units, by their old offsets.
    pub(super) units: HashMap<u64, (u64, u64)>,
}

/// A reference to an entry, whose new offset is not known yet.
struct Reference {
    field: usize,
    /// Old offset of the entry.
    to: u64,
    /// New offset of the unit to which the reference is relative.
    unit: Option<u64>,
    bytes: usize,
}

/// Writes entries.
pub(super) struct Writer<'w, 'c, 'd, 'o> {
    pub(super) from: Original<'c>,
    pub(super) dwarf: &'d Dwarf<'o>,
    pub(super) parts: &'w [Part],
    /// Types that others stand for.
    pub(super) equal: &'w EqualTypes,
    pub(super) moved: Moved<'w, 'c>,
    pub(super) offsets: &'w Offsets<'c>,
    pub(super) to: Entries,
    pub(super) shapes: IndexMap<Shape, (), DefaultHashBuilder>,
}

impl<'d, 'o> Writer<'_, '_, 'd, 'o> {
    /// Writes all units.
    pub(super) fn write(mut self) -> Result<Entries> {
        let mut references = Vec::new();
        for unit in self.dwarf.units() {
            self.unit(unit, &mut references)?;
        }
        for Reference { field, to, unit, bytes } in references {
            let new = self.to.offsets.get(&to).copied();
            let new = new.ok_or_else(|| self.from.malformed("reference leads to no entry", to as usize))?;
            let relocation = match unit {
                Some(_) => None,
                None => self.offsets.to(INFO, bytes),
            };
            self.to.info.set_offset(field, new - unit.unwrap_or(0), bytes, relocation)?;
        }
        self.to.abbreviations = abbreviations(&self.shapes);
        Ok(self.to)
    }

    fn unit(&mut self, unit: &'d Unit<'o>, references: &mut Vec<Reference>) -> Result<()> {
        let start = self.to.info.bytes.len();
        let encoding = unit.encoding;
        // Length, version, offset of the abbreviations, size of addresses.
        self.to.info.number(0, 4)?;
        self.to.info.number(encoding.version.into(), 2)?;
        self.to.info.offset(0, 4, self.offsets.to(ABBREVIATIONS, 4))?;
        self.to.info.number(encoding.address_bytes.into(), 1)?;
        let parts = self.parts;
        let mut entries =
            self.dwarf.entries_of(unit).filter(|entry| parts[entry.index()] != Part::Nothing).peekable();
        let mut buffer = Vec::new();
        let mut open = 0;
        while let Some(entry) = entries.next() {
            let next = entries.peek().map_or(0, |next| next.depth());
            // Entries with children end with a zero.
            let depth = entry.depth();
            let has_children = next > depth;
            self.entry(entry, has_children, start as u64, &mut buffer, references)?;
            open += usize::from(has_children);
            let closed = depth.saturating_sub(next).min(open);
            self.to.info.bytes.resize(self.to.info.bytes.len() + closed, 0);
            open -= closed;
        }
        self.to.info.bytes.resize(self.to.info.bytes.len() + open, 0);
        let length = self.to.info.bytes.len() - start - 4;
        self.to.units.insert(unit.offset, (start as u64, length as u64 + 4));
        self.to.info.set(start, length as u64, 4)
    }

    fn entry(
        &mut self,
        entry: Entry<'d, 'o>,
        has_children: bool,
        unit: u64,
        buffer: &mut Vec<Field<'o>>,
        references: &mut Vec<Reference>,
    ) -> Result<()> {
        self.to.offsets.insert(entry.offset(), self.to.info.bytes.len() as u64);
        buffer.clear();
        fields(&self.from, entry, buffer)?;
        let is_without_code = self.parts[entry.index()] == Part::WithoutCode;
        let mut kept = Vec::with_capacity(buffer.len());
        let mut values = Vec::with_capacity(buffer.len());
        for field in buffer.iter() {
            let name = field.spec.name();
            // Siblings only help readers to skip entries.
            if name == dw::DW_AT_sibling || is_without_code && is_code(name) {
                continue;
            }
            let referred = match field.value {
                ResolvedValue::Reference(_) => Some(self.referred(entry, field)?),
                _ => None,
            };
            let form = match referred {
                Some(to) if to.unit().offset == entry.unit().offset => dw::DW_FORM_ref4,
                Some(_) => dw::DW_FORM_ref_addr,
                None => field.form,
            };
            kept.push((name, form, field.spec.implicit_const_value()));
            values.push((field, referred));
        }
        let code = self.shapes.insert_full((entry.tag(), has_children, kept), ()).0 as u64 + 1;
        self.to.info.uleb(code);
        for (field, referred) in values {
            match referred {
                Some(to) => self.reference(entry, to, unit, references)?,
                None => self.value(entry, field)?,
            }
        }
        Ok(())
    }

    /// Returns the entry to which a value refers, or the equal type that stands for it.
    fn referred(&self, entry: Entry<'d, 'o>, field: &Field<'o>) -> Result<Entry<'d, 'o>> {
        let referred = entry.referred(field.value);
        let referred =
            referred.ok_or_else(|| self.from.malformed("reference leads to no entry", field.bytes.start))?;
        let first = self.equal.first(referred.index()).and_then(|it| self.dwarf.entry_with_index(it));
        Ok(first.unwrap_or(referred))
    }

    fn reference(
        &mut self,
        entry: Entry<'d, 'o>,
        to: Entry<'d, 'o>,
        unit: u64,
        references: &mut Vec<Reference>,
    ) -> Result<()> {
        let encoding = entry.unit().encoding;
        let is_near = to.unit().offset == entry.unit().offset;
        let bytes = if is_near { 4 } else { ref_addr(encoding.address_bytes.into(), encoding.version) };
        let field = self.to.info.bytes.len();
        references.push(Reference { field, to: to.offset(), unit: is_near.then_some(unit), bytes });
        self.to.info.number(0, bytes)
    }

    /// Copies a value. Offsets of what has moved change.
    fn value(&mut self, entry: Entry<'d, 'o>, field: &Field<'o>) -> Result<()> {
        let address = usize::from(entry.unit().encoding.address_bytes);
        let (section, moved) = match field.value {
            ResolvedValue::LineProgram(offset) => (LINES, self.moved.lines.get(&offset).copied()),
            ResolvedValue::LocList(offset) => {
                for location in entry.locations(field.spec.name())?.into_iter().flatten() {
                    self.refuse_references(entry, field, location.expr)?;
                }
                (LOCATIONS, self.moved.locations.moved(offset, address)?)
            }
            ResolvedValue::RngList(offset) => (RANGES, self.moved.ranges.moved(offset, address)?),
            ResolvedValue::String(_) if field.form == dw::DW_FORM_strp => {
                (STRINGS, self.moved.strings.moved(self.from.number(field.bytes.start, 4)?)?)
            }
            ResolvedValue::Expr(expr) => {
                self.refuse_references(entry, field, expr)?;
                return self.to.info.part(&self.from, field.bytes.clone());
            }
            _ => return self.to.info.part(&self.from, field.bytes.clone()),
        };
        let missing = || self.from.malformed("offset leads outside its section", field.bytes.start);
        let moved = moved.ok_or_else(missing)?;
        if field.form == dw::DW_FORM_udata {
            self.to.info.uleb(moved);
            return Ok(());
        }
        let bytes = field.bytes.len();
        self.to.info.offset(moved, bytes, self.offsets.to(section, bytes))
    }

    /// Refuses an expression with an offset of an entry, which no cubin has.
    fn refuse_references(&self, entry: Entry<'d, 'o>, field: &Field<'_>, expr: &[u8]) -> Result<()> {
        let refers = |op: Op<'_>| {
            matches!(
                op,
                Op::Call2 { .. }
                    | Op::Call4 { .. }
                    | Op::CallRef { .. }
                    | Op::ImplicitPointer { .. }
                    | Op::GnuVariableValue { .. }
                    | Op::GnuParameterRef { .. }
                    | Op::EntryValue { .. }
            )
        };
        let mut decoded = Decoder::new(expr, entry.unit().encoding).map_while(Result::ok);
        match decoded.find(|decoded| refers(decoded.op)) {
            None => Ok(()),
            Some(decoded) => {
                let text = format!("operation {:?} refers to an entry of the file", decoded.op.name());
                let error = crate::error::Error::from(ErrorKind::Unsupported(text));
                Err(error.in_section(self.from.name).at_offset(field.bytes.start as u64))
            }
        }
    }
}

/// Encodes the abbreviations.
fn abbreviations(shapes: &IndexMap<Shape, (), DefaultHashBuilder>) -> Vec<u8> {
    let mut out = Vec::new();
    if shapes.is_empty() {
        return out;
    }
    for ((tag, has_children, attributes), code) in shapes.keys().zip(1..) {
        write_uleb(&mut out, code);
        write_uleb(&mut out, tag.0.into());
        out.push(u8::from(*has_children));
        for (name, form, constant) in attributes {
            write_uleb(&mut out, name.0.into());
            write_uleb(&mut out, form.0.into());
            if let Some(constant) = constant {
                crate::op::write_sleb(&mut out, *constant);
            }
        }
        out.extend_from_slice(&[0, 0]);
    }
    out.push(0);
    out
}
