//! What a type says without the types that it refers to, as bytes: equal bytes are equal facts.

use gimli::{DwAt, constants as dw};
use hashbrown::HashMap;
use smallvec::SmallVec;

use super::candidates::Candidates;
use crate::op::{Decoder, Op};
use crate::read::{Attribute, Dwarf, Entry, LineProgram, ResolvedValue};

/// Where a type is declared.
const DECLARED: [DwAt; 3] = [dw::DW_AT_decl_file, dw::DW_AT_decl_line, dw::DW_AT_decl_column];

/// Attributes that a type in a signature has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    All,
    /// All but the source line.
    Shape,
}

/// A type's bytes, and the types that it refers to, in order.
#[derive(Debug, Default)]
pub(super) struct Signature {
    pub(super) bytes: Vec<u8>,
    pub(super) refers: Vec<u32>,
}

/// Writes signatures.
pub(super) struct Signatures<'d, 'o> {
    dwarf: &'d Dwarf<'o>,
    candidates: &'d Candidates,
    /// Line programs, by the offset of the unit.
    programs: HashMap<u64, Option<LineProgram<'o>>>,
    /// Numbers of source files, by unit and number in the unit.
    files: HashMap<(u64, u64), u32>,
    paths: HashMap<(String, Option<[u8; 16]>), u32>,
    /// Compilation directories, by the offset of the line program: a type unit has none of its own.
    folders: HashMap<u64, &'d str>,
}

/// A type that says something that is only right in its unit.
pub(super) struct OwnOfUnit;

impl<'d, 'o> Signatures<'d, 'o> {
    pub(super) fn new(dwarf: &'d Dwarf<'o>, candidates: &'d Candidates) -> Self {
        let folder = |unit: &'d crate::read::Unit<'o>| Some((unit.stmt_list?, unit.comp_dir.as_deref()?));
        let folders = dwarf.units().iter().filter_map(folder).collect();
        Self {
            dwarf,
            candidates,
            programs: HashMap::new(),
            files: HashMap::new(),
            paths: HashMap::new(),
            folders,
        }
    }

    /// Writes a candidate's signature.
    ///
    /// # Errors
    /// The type refers to code, data, or entries other than types, or cannot be read.
    pub(super) fn write(&mut self, number: u32, wanted: Wanted, to: &mut Signature) -> Result<(), OwnOfUnit> {
        to.bytes.clear();
        to.refers.clear();
        let candidate = self.candidates.all[number as usize];
        let entry = self.candidates.entry(self.dwarf, number).ok_or(OwnOfUnit)?;
        let around = candidate.around.ok_or(OwnOfUnit)?;
        let language = entry.unit().language.map_or(0, |language| language.wrapping_add(1));
        to.number(around.into());
        to.number(language);
        for inner in core::iter::once(entry).chain(entry.descendants()) {
            // A function that is defined in a type is not the same function in another unit.
            if inner.tag() == dw::DW_TAG_subprogram && !inner.has(dw::DW_AT_declaration) {
                return Err(OwnOfUnit);
            }
            // Tells how deep the next entries are.
            to.number(inner.descendants().len() as u64);
            to.number(inner.tag().0.into());
            let is_wanted = |attribute: &Attribute<'_>| {
                attribute.name != dw::DW_AT_sibling
                    && (wanted == Wanted::All || !DECLARED.contains(&attribute.name))
                    && attribute.value != ResolvedValue::Flag(false)
            };
            // Each producer has an order of its own.
            let mut attributes: SmallVec<[_; 12]> = inner.attributes().filter(is_wanted).collect();
            attributes.sort_by_key(|attribute| attribute.name.0);
            for attribute in attributes {
                to.number(attribute.name.0.into());
                self.value(number, inner, attribute.name, attribute.value, to)?;
            }
            // Attribute 0 ends the attributes.
            to.number(0);
        }
        Ok(())
    }

    fn value(
        &mut self,
        own: u32,
        entry: Entry<'d, 'o>,
        name: DwAt,
        value: ResolvedValue<'o>,
        to: &mut Signature,
    ) -> Result<(), OwnOfUnit> {
        if name == dw::DW_AT_decl_file {
            // `DW_FORM_implicit_const` has signed numbers.
            let number = match value {
                ResolvedValue::Unsigned(number) => Some(number),
                ResolvedValue::Signed(number) => u64::try_from(number).ok(),
                _ => None,
            };
            let file = number.and_then(|number| self.file(entry, number)).ok_or(OwnOfUnit)?;
            to.tagged(11, &file.to_le_bytes());
            return Ok(());
        }
        match value {
            ResolvedValue::Unsigned(number) => to.tagged(1, &number.to_le_bytes()),
            ResolvedValue::Signed(number @ 0..) => to.tagged(1, &number.to_le_bytes()),
            ResolvedValue::Signed(number) => to.tagged(2, &number.to_le_bytes()),
            ResolvedValue::Wide(number) => to.tagged(3, &number.to_le_bytes()),
            ResolvedValue::Flag(_) => to.bytes.push(4),
            ResolvedValue::String(text) => to.block(5, text.bytes()),
            ResolvedValue::Block(bytes) => to.block(6, bytes),
            ResolvedValue::Expr(bytes) if is_plain(entry, bytes) => to.block(7, bytes),
            ResolvedValue::Reference(_) | ResolvedValue::Signature(_) => {
                let referred = entry.referred(value).ok_or(OwnOfUnit)?;
                self.reference(own, referred, to)?;
            }
            _ => return Err(OwnOfUnit),
        }
        Ok(())
    }

    fn reference(&self, own: u32, to_entry: Entry<'d, 'o>, to: &mut Signature) -> Result<(), OwnOfUnit> {
        // Entries of a supplementary file are the same for all units.
        if !core::ptr::eq(to_entry.dwarf(), self.dwarf) {
            to.tagged(8, &to_entry.offset().to_le_bytes());
            return Ok(());
        }
        let number = self.candidates.containing(to_entry.index()).ok_or(OwnOfUnit)?;
        // A declaration with a signature stands for the type of the type unit.
        let is_declaration = self.candidates.all[number as usize].start as usize == to_entry.index();
        let completed = to_entry.reference(dw::DW_AT_signature).filter(|_| is_declaration);
        let number_and_entry = completed
            .filter(|ty| core::ptr::eq(ty.dwarf(), self.dwarf))
            .and_then(|ty| Some((self.candidates.containing(ty.index())?, ty)));
        let (number, to_entry) = number_and_entry.unwrap_or((number, to_entry));
        let inside = to_entry.index() as u64 - u64::from(self.candidates.all[number as usize].start);
        if number == own {
            to.bytes.push(9);
        } else {
            to.bytes.push(10);
            to.refers.push(number);
        }
        to.number(inside);
        Ok(())
    }

    /// Returns a number for a source file, which equal files of other units have, too.
    fn file(&mut self, entry: Entry<'d, 'o>, number: u64) -> Option<u32> {
        let unit = entry.unit();
        if let Some(&known) = self.files.get(&(unit.offset, number)) {
            return Some(known);
        }
        let dwarf = self.dwarf;
        let read = || dwarf.lines(unit).ok().flatten();
        let program = self.programs.entry(unit.offset).or_insert_with(read).as_ref()?;
        let of_program = || self.folders.get(&unit.stmt_list?).copied();
        let path = program.full_path(number, unit.comp_dir.as_deref().or_else(of_program))?;
        let key = (path, program.file(number).and_then(|file| file.md5));
        let next = self.paths.len() as u32;
        let file = *self.paths.entry(key).or_insert(next);
        self.files.insert((unit.offset, number), file);
        Some(file)
    }
}

impl Signature {
    fn number(&mut self, number: u64) {
        crate::op::write_uleb(&mut self.bytes, number);
    }

    fn tagged(&mut self, tag: u8, bytes: &[u8]) {
        self.bytes.push(tag);
        self.bytes.extend_from_slice(bytes);
    }

    fn block(&mut self, tag: u8, bytes: &[u8]) {
        self.bytes.push(tag);
        self.number(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }
}

/// Whether an expression means the same in every unit: it has no addresses, indices or references to entries.
fn is_plain(entry: Entry<'_, '_>, bytes: &[u8]) -> bool {
    let mut decoder = Decoder::new(bytes, entry.unit().encoding);
    let is_plain = decoder.by_ref().all(|decoded| {
        decoded.is_ok_and(|decoded| {
            matches!(
                decoded.op,
                Op::Deref {}
                    | Op::DerefSize { .. }
                    | Op::ConstU { .. }
                    | Op::ConstS { .. }
                    | Op::Drop {}
                    | Op::Pick { .. }
                    | Op::Swap {}
                    | Op::Rot {}
                    | Op::Abs {}
                    | Op::And {}
                    | Op::Div {}
                    | Op::Minus {}
                    | Op::Mod {}
                    | Op::Mul {}
                    | Op::Neg {}
                    | Op::Not {}
                    | Op::Or {}
                    | Op::Plus {}
                    | Op::PlusUconst { .. }
                    | Op::Shl {}
                    | Op::Shr {}
                    | Op::Shra {}
                    | Op::Xor {}
                    | Op::Eq {}
                    | Op::Ge {}
                    | Op::Gt {}
                    | Op::Le {}
                    | Op::Lt {}
                    | Op::Ne {}
                    | Op::Nop {}
                    | Op::PushObjectAddress {}
                    | Op::StackValue {}
            )
        })
    });
    is_plain && decoder.is_at_end()
}
