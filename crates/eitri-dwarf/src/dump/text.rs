//! Prints units, entries and their tables as indented text.
//!
//! ```text
//! unit: DWARF 5, addresses of 8 bytes
//! DW_TAG_compile_unit
//!   DW_AT_name: "a.cl"
//!   DW_TAG_subprogram
//!     DW_AT_low_pc: 0x10000
//!     DW_TAG_variable
//!       DW_AT_type: DW_TAG_pointer_type -> DW_TAG_base_type "float"
//!       DW_AT_location: list
//!         [0x10000, 0x10010): regx v3
//! lines: version 5
//!   file 1: "a.cl"
//!   0x10000      1:12:5  stmt prologue_end
//!
//! frames: .debug_frame
//! [0x10000, 0x10028)
//!   0x10000      cfa=s32+0 pc_reg=same
//! ```
//!
//! An object that is not linked gets assumed addresses for its sections, which are printed first.
//!
//! Equal facts give equal text: section offsets are printed on request only, and entries are referred to by tag and
//! name.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write};

use gimli::{DwAt, constants as dw};

use super::frames::{self, FirstRow};
use super::lists::ListKey;
use super::names;
use super::nvidia;
use super::out::Out;
use crate::attributes::DW_AT_LLVM_ADDRESS_SPACE;
use crate::error::{Count, OneLine};
use crate::op::{Decoder, Encoding, Op, OperandKind, Reg, text};
use crate::read::{Attribute, Dwarf, Entry, LineProgram, Object, ResolvedValue, SUPPLEMENTARY, Unit};
use crate::target::{SpaceId, Target};

/// Dump options.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct DumpOptions {
    /// Prints, in addition, section offsets, forms, abbreviation codes and tables, hashes, index tables, and the encoding of
    /// entries in lists, line programs and frames. Such a text changes with every inserted or removed byte.
    pub verbose: bool,
}

/// Prints all debug sections.
///
/// Registers are printed by name if the target is given; [`Object::target`] often provides it. Lists and line programs
/// that cannot be read are printed as an error in angle brackets. Missing sections are skipped.
///
/// ```
/// # use eitri_dwarf::dump::{DumpOptions, dump};
/// # use eitri_dwarf::read::{Dwarf, Object};
/// # let bytes = include_bytes!("../../data/squares.o");
/// # let object = Object::read(bytes)?;
/// # let dwarf = Dwarf::read(&object)?;
/// let target = object.target(None);
/// let text = dump(&object, &dwarf, target.as_ref(), DumpOptions::default());
/// // Equal facts give equal text. Offsets, forms and encodings differ between equal facts:
/// // they are printed on request.
/// let mut options = DumpOptions::default();
/// options.verbose = true;
/// let verbose = dump(&object, &dwarf, target.as_ref(), options);
/// assert!(verbose.contains("DW_FORM_strx1") && !text.contains("DW_FORM"));
/// # Ok::<(), eitri_dwarf::Error>(())
/// ```
pub fn dump(object: &Object<'_>, dwarf: &Dwarf<'_>, target: Option<&Target>, options: DumpOptions) -> String {
    let mut out = Out::kept();
    print(&mut out, object, dwarf, target, options);
    // Text that is kept does not fail.
    out.finish().unwrap_or_default()
}

/// Prints until the output fails.
pub(super) fn print(
    out: &mut Out<'_>,
    object: &Object<'_>,
    dwarf: &Dwarf<'_>,
    target: Option<&Target>,
    options: DumpOptions,
) {
    let verbose = options.verbose;
    let printed = BTreeSet::new();
    if !dwarf.sections().is_split && has_facts(object, dwarf) {
        addresses(out, object);
    }
    let mut dump = Dump {
        object,
        dwarf,
        target,
        verbose,
        program: None,
        procedures: Vec::new(),
        printed,
        tables: BTreeSet::new(),
        lists: BTreeMap::new(),
        macro_lists: BTreeSet::new(),
        commons: BTreeMap::new(),
        rules_left: frames::MOST_RULES,
        out,
    };
    // The output keeps its error.
    let _ = dump.print();
}

/// Whether there is anything to print but [`NO_UNITS`].
fn has_facts(object: &Object<'_>, dwarf: &Dwarf<'_>) -> bool {
    let is_printed = |name: &str| name.starts_with(".debug_") || name == ".eh_frame";
    !dwarf.units().is_empty() || object.sections().iter().any(|section| is_printed(&section.name))
}

/// Prints the assumed section addresses in an object that is not linked.
pub(super) fn addresses(out: &mut Out<'_>, object: &Object<'_>) {
    if object.is_cubin() {
        return nvidia::functions(out, object);
    }
    let sections = object.sections().iter().filter(|section| section.is_loaded() && section.size != 0);
    let mut sections = sections.filter(|_| object.is_relocatable()).peekable();
    if sections.peek().is_none() {
        return;
    }
    out.push_str("addresses: the object is not linked; its sections are assumed to be at\n");
    for section in sections {
        let _ = writeln!(out, "  {:#x} {}", section.address, OneLine(&section.name));
    }
    out.push('\n');
}

/// Text for an object without units.
const NO_UNITS: &str = "no units\n";
/// Maximum indentation depth, because only the file's size bounds the depth of a tree.
const DEEPEST: usize = 32;
/// Maximum length of a type chain, and maximum depth of nested expressions.
const MOST_STEPS: usize = 8;

pub(super) struct Dump<'a, 'd, 'w> {
    pub(super) object: &'a Object<'a>,
    pub(super) dwarf: &'a Dwarf<'d>,
    pub(super) target: Option<&'a Target>,
    pub(super) verbose: bool,
    /// The unit's line program, for file names.
    pub(super) program: Option<LineProgram<'d>>,
    /// Offsets of the unit's unnamed procedures in ascending order; they are printed as numbers.
    procedures: Vec<u64>,
    /// Offsets of printed line programs, which several units can share.
    pub(super) printed: BTreeSet<u64>,
    /// Abbreviation tables that were printed: the section of their units, because a supplementary file has other tables,
    /// and the offset.
    pub(super) tables: BTreeSet<(&'static str, u64)>,
    /// Long lists that were printed, with the offset of the entry where the list was printed.
    pub(super) lists: BTreeMap<ListKey, u64>,
    /// Macro lists that were printed: whether a list is in the supplementary file, and its offset.
    pub(super) macro_lists: BTreeSet<(bool, u64)>,
    /// The first row that was printed with the rules of a common entry, by the common entry's offset.
    pub(super) commons: BTreeMap<u64, FirstRow<'d>>,
    /// Number of rules that later long frame rows can contain.
    pub(super) rules_left: usize,
    pub(super) out: &'a mut Out<'w>,
}

impl<'a, 'd> Dump<'a, 'd, '_> {
    fn print(&mut self) -> fmt::Result {
        let dwarf = self.dwarf;
        if dwarf.units().is_empty() {
            self.out.push_str(NO_UNITS);
        }
        // Attribute errors are printed with their entries.
        let mut broken = dwarf.broken_units.iter().peekable();
        for (index, unit) in dwarf.units().iter().enumerate() {
            if index != 0 {
                self.out.push('\n');
            }
            while let Some((_, error)) = broken.next_if(|unit_error| unit_error.0 < unit.offset) {
                writeln!(self.out, "unit: <{error}>\n")?;
            }
            self.unit(unit)?;
        }
        for (_, error) in broken {
            writeln!(self.out, "\nunit: <{error}>")?;
        }
        self.cubin()?;
        self.frames()?;
        self.indices()?;
        // Split units do not have relocations.
        let fields = if dwarf.sections().is_split { &[][..] } else { self.object.symbol_fields() };
        for field in fields {
            let section = self.object.sections().get(field.section);
            let symbol = self.object.symbols().get(field.symbol);
            let (Some(section), Some(symbol)) = (section, symbol.filter(|symbol| !symbol.is_defined)) else {
                continue;
            };
            write!(self.out, "undefined: `{}` in {}", OneLine(&symbol.name), OneLine(&section.name))?;
            self.at(field.offset)?;
            self.out.push('\n');
        }
        Ok(())
    }

    fn unit(&mut self, unit: &'a Unit<'d>) -> fmt::Result {
        let Encoding { version, address_bytes, offset_bytes, .. } = unit.encoding;
        write!(
            self.out,
            "unit: DWARF {version}, addresses of {address_bytes}",
            address_bytes = Count(address_bytes, "byte")
        )?;
        if offset_bytes == 8 {
            self.out.push_str(", 64-bit format");
        }
        if unit.kind != dw::DW_UT_compile {
            let kind = unit.kind.static_string().unwrap_or("unknown kind");
            write!(self.out, ", {kind}")?;
        }
        if let Some(id) = unit.dwo_id {
            write!(self.out, ", id {id:#018x}")?;
        }
        if let Some(signature) = unit.signature {
            write!(self.out, ", signature {signature:#018x}")?;
        }
        self.at_entry(unit.offset)?;
        if self.verbose && unit.signature.is_some() {
            self.out.push_str(", type");
            self.at_entry(unit.type_offset.unwrap_or(unit.offset))?;
        }
        self.out.push('\n');
        let (program, error) = match self.dwarf.lines(unit) {
            Ok(program) => (program, None),
            Err(error) => (None, Some(error)),
        };
        self.program = program;
        let is_nameless =
            |entry: &Entry<'_, '_>| entry.tag() == dw::DW_TAG_dwarf_procedure && entry.name().is_none();
        self.procedures.clear();
        self.procedures.extend(self.dwarf.entries_of(unit).filter(is_nameless).map(|entry| entry.offset()));
        // Parents of the next entry.
        let mut around: Vec<Entry<'a, 'd>> = Vec::new();
        for entry in self.dwarf.entries_of(unit) {
            let parent = entry.parent();
            while around.last().is_some_and(|&last| Some(last) != parent) {
                around.pop();
            }
            self.entry(unit, entry, around.len())?;
            around.push(entry);
        }
        self.abbreviations(unit)?;
        self.macros(unit)?;
        // A split unit's line program is in the other file; type units share their file's line program.
        let is_elsewhere = unit.has_skeleton && unit.signature.is_none();
        if let Some(program) = self.program.take()
            && !is_elsewhere
            && self.printed.insert(program.offset)
        {
            self.lines(&program)?;
        }
        match error {
            Some(error) => writeln!(self.out, "lines: <{error}>"),
            None => Ok(()),
        }
    }

    /// Prints an offset, in verbose dumps.
    pub(super) fn at(&mut self, offset: u64) -> fmt::Result {
        if self.verbose { write!(self.out, " @{offset:#x}") } else { Ok(()) }
    }

    /// Prints the section offset of an entry or unit, in verbose dumps.
    pub(super) fn at_entry(&mut self, offset: u64) -> fmt::Result {
        if self.verbose { self.at(self.dwarf.place(offset).1) } else { Ok(()) }
    }

    /// Prints a register by name, or by number if the target has no name for it.
    pub(super) fn register(&mut self, register: Reg) -> fmt::Result {
        match self.target.and_then(|target| target.register(register)) {
            Some(known) => write!(self.out, "{}", known.name()),
            None => write!(self.out, "reg{}", register.0),
        }
    }

    /// Prints a string literal.
    pub(super) fn quoted(&mut self, bytes: &[u8]) -> fmt::Result {
        self.out.quoted(&String::from_utf8_lossy(bytes))
    }

    pub(super) fn indent(&mut self, depth: usize) {
        for _ in 0..depth.min(DEEPEST) {
            self.out.push_str("  ");
        }
    }

    fn entry(&mut self, unit: &'a Unit<'d>, entry: Entry<'a, 'd>, depth: usize) -> fmt::Result {
        self.indent(depth);
        self.out.push_str(&names::tag(entry.tag()));
        self.procedure_number(entry.offset())?;
        self.at_entry(entry.offset())?;
        if self.verbose {
            write!(self.out, " abbreviation {}", entry.abbreviation())?;
        }
        self.out.push('\n');
        for attribute in entry.attributes() {
            self.indent(depth + 1);
            self.out.push_str(&names::attribute(attribute.name, &attribute.value));
            if self.verbose {
                write!(self.out, " [{}]", names::form(attribute.form))?;
            }
            self.out.push_str(": ");
            match attribute.value {
                ResolvedValue::Unreadable => match entry.problem(attribute.name) {
                    Some(error) => write!(self.out, "<{error}>")?,
                    None => self.out.push_str("<unreadable>"),
                },
                _ => self.value(unit, entry.offset(), depth, &attribute)?,
            }
            self.out.push('\n');
        }
        Ok(())
    }

    /// Prints an attribute value that belongs to the entry `owner`.
    fn value(
        &mut self,
        unit: &'a Unit<'d>,
        owner: u64,
        depth: usize,
        attribute: &Attribute<'d>,
    ) -> fmt::Result {
        match attribute.value {
            ResolvedValue::Unsigned(number) => self.number(attribute.name, number),
            ResolvedValue::Signed(number) => match u64::try_from(number) {
                Ok(number) => self.number(attribute.name, number),
                Err(_) => write!(self.out, "{number}"),
            },
            ResolvedValue::Wide(number) => write!(self.out, "{number:#x}"),
            ResolvedValue::Address(address) => {
                write!(self.out, "{}", self.object.pc_notation().pc(address))
            }
            ResolvedValue::AddressIndex(index) => write!(self.out, "address {index}"),
            ResolvedValue::AddressIndexOffset(index, offset) => {
                write!(self.out, "address {index} + {offset:#x}")
            }
            ResolvedValue::Unreadable => Ok(()),
            ResolvedValue::String(string) => self.quoted(string.bytes()),
            ResolvedValue::Reference(offset) => {
                describe_into(self.out, self.dwarf, offset)?;
                self.at_entry(offset)?;
                if offset >= SUPPLEMENTARY {
                    self.out.push_str(" in the supplementary file");
                }
                Ok(())
            }
            ResolvedValue::Signature(signature) => {
                if let Some(entry) = self.dwarf.type_of_signature(signature) {
                    let text = describe(self.dwarf, entry.offset());
                    self.out.push_str(&text);
                    self.at_entry(entry.offset())?;
                    self.out.push(' ');
                }
                write!(self.out, "signature {signature:#018x}")
            }
            ResolvedValue::Expr(expr) => self.expression(unit, expr),
            ResolvedValue::LocList(offset) => self.locations(unit, depth, offset, owner),
            ResolvedValue::RngList(offset) => self.ranges(unit, depth, offset, owner),
            ResolvedValue::LineProgram(offset) | ResolvedValue::Offset(offset) => {
                self.out.push_str("offset");
                self.at(offset)
            }
            ResolvedValue::Flag(flag) => write!(self.out, "{flag}"),
            ResolvedValue::Block(bytes) => {
                self.out.push('{');
                self.hexadecimal(bytes)?;
                self.out.push('}');
                Ok(())
            }
            _ => {
                self.out.push_str("in a supplementary file");
                Ok(())
            }
        }
    }

    pub(super) fn hexadecimal(&mut self, bytes: &[u8]) -> fmt::Result {
        for (index, byte) in bytes.iter().enumerate() {
            write!(self.out, "{}{byte:02x}", if index == 0 { "" } else { " " })?;
        }
        Ok(())
    }

    fn number(&mut self, name: DwAt, number: u64) -> fmt::Result {
        if let Some(name) = names::constant(name, number) {
            self.out.push_str(&name);
            return Ok(());
        }
        match name {
            dw::DW_AT_high_pc => return write!(self.out, "{number:#x}", number = Count(number, "byte")),
            // In DWARF 2 and 3, a section offset, such as a macro table's, has the same form as a number.
            dw::DW_AT_macro_info | dw::DW_AT_macros | dw::DW_AT_GNU_dwo_id => {
                return write!(self.out, "{number:#x}");
            }
            _ => self.out.decimal(number),
        }
        let detail = match name {
            dw::DW_AT_decl_file | dw::DW_AT_call_file => {
                let path = self.program.as_ref().and_then(|program| program.path(number));
                let Some(path) = path else { return Ok(()) };
                self.out.push_str(" (");
                self.out.quoted(&path)?;
                self.out.push(')');
                return Ok(());
            }
            DW_AT_LLVM_ADDRESS_SPACE => {
                let space = u32::try_from(number).ok().map(SpaceId);
                let space = space.and_then(|space| self.target?.space(space));
                space.map(|space| space.name.to_string())
            }
            _ => None,
        };
        match detail {
            Some(detail) => write!(self.out, " ({detail})"),
            None => Ok(()),
        }
    }

    /// Prints an expression. Referenced entries are printed by [`describe`].
    pub(super) fn expression(&mut self, unit: &Unit<'d>, bytes: &[u8]) -> fmt::Result {
        if self.verbose {
            self.out.push_str(&text::print(bytes, unit.encoding, self.target));
            return self.spaces(unit, bytes);
        }
        let mut starts = Vec::new();
        entry_starts(bytes, unit.encoding, unit.offset, MOST_STEPS, &mut starts);
        let mut starts = starts.into_iter();
        let printed = text::print_with(bytes, unit.encoding, self.target, &mut |offset| {
            let start = starts.next()?;
            // `convert` with entry 0 converts to the generic type.
            if offset == 0 {
                return Some("generic".into());
            }
            let offset = self.dwarf.offset_in_info(start.saturating_add(offset));
            let number = self.procedures.binary_search(&offset).ok();
            let number = number.map_or_else(String::new, |number| format!(" {number}"));
            Some(format!("({}{number})", describe(self.dwarf, offset)))
        });
        self.out.push_str(&printed);
        self.spaces(unit, bytes)
    }

    /// Prints the number that stands for an unnamed procedure.
    fn procedure_number(&mut self, offset: u64) -> fmt::Result {
        match self.procedures.binary_search(&offset) {
            Ok(number) => write!(self.out, " {number}"),
            Err(_) => Ok(()),
        }
    }

    /// Prints the names of the address spaces that an expression refers to by number, if the target is known.
    fn spaces(&mut self, unit: &Unit<'d>, bytes: &[u8]) -> fmt::Result {
        let Some(target) = self.target else { return Ok(()) };
        let mut names: Vec<&str> = Vec::new();
        // The constant that the previous operation pushed; for `xderef` the address is above the space.
        let mut space = None;
        for decoded in Decoder::new(bytes, unit.encoding).map_while(Result::ok) {
            space = match decoded.op {
                Op::ConstU { value } => Some(value),
                Op::Swap {} => space,
                Op::FormAspaceAddress {} | Op::AspaceBregX { .. } | Op::Xderef {} | Op::XderefSize { .. } => {
                    let id = space.and_then(|space| u32::try_from(space).ok()).map(SpaceId);
                    let name = id.and_then(|id| target.space(id)).map(|space| &*space.name);
                    names.extend(name.filter(|name| !names.contains(name)));
                    None
                }
                _ => None,
            };
        }
        if names.is_empty() { Ok(()) } else { write!(self.out, " ({})", names.join(", ")) }
    }
}

/// Collects, in order, the offset from which each entry reference in an expression counts.
fn entry_starts(bytes: &[u8], encoding: Encoding, unit: u64, steps: usize, starts: &mut Vec<u64>) {
    for decoded in Decoder::new(bytes, encoding).map_while(Result::ok) {
        for (_, kind) in decoded.op.row().operands {
            match kind {
                OperandKind::Entry2 | OperandKind::Entry4 | OperandKind::TypeEntry => starts.push(unit),
                OperandKind::EntrySection => starts.push(0),
                _ => {}
            }
        }
        if let (Op::EntryValue { expr }, Some(steps)) = (decoded.op, steps.checked_sub(1)) {
            entry_starts(expr, encoding, unit, steps, starts);
        }
    }
}

/// Describes an entry by tag and name, or an unnamed entry by its type chain.
pub(super) fn describe(dwarf: &Dwarf<'_>, offset: u64) -> String {
    let mut out = Out::kept();
    let _ = describe_into(&mut out, dwarf, offset);
    out.finish().unwrap_or_default()
}

pub(super) fn describe_into(out: &mut Out<'_>, dwarf: &Dwarf<'_>, offset: u64) -> fmt::Result {
    let Some(mut entry) = dwarf.entry_at(offset) else { return out.write_str("no entry") };
    for _ in 0..MOST_STEPS {
        out.push_str(&names::tag(entry.tag()));
        if let Some(name) = entry.name() {
            out.push(' ');
            return out.quoted(&name);
        }
        // A declaration's name can be in its type unit.
        let next = entry.ty().or_else(|| entry.reference(dw::DW_AT_signature));
        let Some(next) = next else { return Ok(()) };
        out.push_str(" -> ");
        entry = next;
    }
    out.write_str("...")
}
