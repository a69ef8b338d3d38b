//! Facts in debug sections, independent of their encoding: equal text for equal content.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use eitri::Result;
use eitri::op::{Decoder, Op};
use eitri::read::{Attribute, Dwarf, Entry, ResolvedValue};
use gimli::constants as dw;
use gimli::{DwAt, DwTag};

use crate::describe::named_type;

/// Facts of a unit.
#[derive(Debug, Default)]
pub struct Facts {
    /// Number of entries per tag.
    pub tags: BTreeMap<u16, usize>,
    /// Entries with their ancestors and attributes, sorted.
    pub entries: Vec<String>,
    /// Rows of the line table, sorted.
    pub rows: Vec<String>,
    /// Number of variables and parameters, without those of function types.
    pub variables: usize,
    /// Number of attributes with compared values.
    pub attributes: usize,
    /// Number of attributes and entries that are not compared, by reason.
    pub excepted: BTreeMap<&'static str, usize>,
}

/// Attributes that locate other sections, which each side encodes differently: their targets are compared.
const MEANS: [DwAt; 8] = [
    dw::DW_AT_str_offsets_base,
    dw::DW_AT_addr_base,
    dw::DW_AT_loclists_base,
    dw::DW_AT_rnglists_base,
    dw::DW_AT_stmt_list,
    dw::DW_AT_low_pc,
    dw::DW_AT_high_pc,
    dw::DW_AT_ranges,
];

/// The reason why an attribute's value is not compared; `None` for a compared one.
fn exception(entry: Entry<'_, '_>, attribute: &Attribute<'_>) -> Option<&'static str> {
    let parent = || entry.parent().filter(|parent| parent.attr(dw::DW_AT_GNU_vector).is_some());
    let is_open_cl = || entry.unit().language == Some(dw::DW_LANG_OpenCL.0.into());
    match (attribute.name, entry.tag()) {
        (dw::DW_AT_prototyped, _) if is_open_cl() => {
            Some("prototyped functions of OpenCL C: eitri emits the flag")
        }
        (dw::DW_AT_byte_size, dw::DW_TAG_array_type) => Some("the size of a vector: eitri emits it"),
        (dw::DW_AT_type, dw::DW_TAG_subrange_type) if parent().is_some() => {
            Some("the type of a vector's index: LLVM emits it")
        }
        (dw::DW_AT_address_class, dw::DW_TAG_pointer_type) => {
            Some("the address space of a pointer: LLVM emits it, with another number than AMD's documents")
        }
        (dw::DW_AT_call_target, _) => match attribute.value {
            ResolvedValue::Expr(expr) if !is_one_register(entry, expr) => {
                Some("a call's target in two registers: LLVM emits it as a place")
            }
            _ => None,
        },
        (dw::DW_AT_call_value, _) => match attribute.value {
            ResolvedValue::Expr(expr) if has(entry, expr, |op| matches!(op, Op::FbReg { .. })) => {
                Some("an argument that is an address in the frame: LLVM emits it")
            }
            _ => None,
        },
        (dw::DW_AT_location, _) => match attribute.value {
            ResolvedValue::Expr(expr)
                if has(entry, expr, |op| matches!(op, Op::Addrx { .. }))
                    && has(entry, expr, |op| matches!(op, Op::Xderef {})) =>
            {
                Some("a symbol in another address space: LLVM emits it")
            }
            _ => None,
        },
        _ => None,
    }
}

const INLINED_IN_NO_CODE: &str =
    "an inlined call, and what is in it, in the abstract instance of a function: eitri emits it";

/// Whether the entry belongs to an inlined call in an abstract instance. LLVM emits those in code only.
fn is_inlined_in_no_code(entry: Entry<'_, '_>) -> bool {
    let around = || std::iter::successors(Some(entry), |one| one.parent());
    around().any(|one| one.tag() == dw::DW_TAG_inlined_subroutine)
        && around().any(|one| one.attr(dw::DW_AT_inline).is_some())
}

fn has(entry: Entry<'_, '_>, expr: &[u8], is: impl Fn(&Op<'_>) -> bool) -> bool {
    Decoder::new(expr, entry.unit().encoding).flatten().any(|one| is(&one.op))
}

fn is_one_register(entry: Entry<'_, '_>, expr: &[u8]) -> bool {
    let mut ops = Decoder::new(expr, entry.unit().encoding);
    matches!(ops.next(), Some(Ok(one)) if matches!(one.op, Op::RegX { .. } | Op::BregX { offset: 0, .. }))
        && ops.is_at_end()
}

impl Facts {
    /// Reads the unit of a file.
    ///
    /// # Errors
    /// The errors of the reader.
    pub fn read(dwarf: &Dwarf<'_>) -> Result<Self> {
        let mut facts = Self::default();
        let files = Files::new(dwarf)?;
        for entry in dwarf.entries() {
            if is_inlined_in_no_code(entry) {
                *facts.excepted.entry(INLINED_IN_NO_CODE).or_default() += 1;
                continue;
            }
            *facts.tags.entry(entry.tag().0).or_default() += 1;
            let in_type = entry.parent().is_some_and(|parent| parent.tag() == dw::DW_TAG_subroutine_type);
            let is_variable = matches!(entry.tag(), dw::DW_TAG_variable | dw::DW_TAG_formal_parameter);
            facts.variables += usize::from(is_variable && !in_type);
            let mut texts = Vec::new();
            for attribute in entry.attributes() {
                if let Some(why) = exception(entry, &attribute) {
                    *facts.excepted.entry(why).or_default() += 1;
                } else if !MEANS.contains(&attribute.name) {
                    texts.push(format!("{}={}", attribute.name, files.value(entry, &attribute)?));
                }
            }
            let mut ranges = entry.ranges()?;
            if !ranges.is_empty() {
                ranges.sort_by_key(|range| range.start);
                texts.push(format!("pcs={ranges:x?}"));
            } else if let Some(pc) = entry.low_pc().filter(|_| entry.tag() == dw::DW_TAG_label) {
                texts.push(format!("pc={pc:x}"));
            }
            facts.attributes += texts.len();
            texts.sort();
            let mut text = String::new();
            let mut around = entry.parent();
            while let Some(one) = around {
                let _ = write!(text, "{} < ", head(one)?);
                around = one.parent();
            }
            facts.entries.push(format!("{} {} in {text}", entry.tag(), texts.join(" ")));
        }
        facts.entries.sort();
        for row in files.lines.rows() {
            let mut row = row?;
            let path = files.path(std::mem::take(&mut row.file));
            facts.rows.push(format!("{path} {row:?}"));
        }
        facts.rows.sort();
        Ok(facts)
    }
}

/// Files by number.
struct Files<'o> {
    lines: eitri::read::LineProgram<'o>,
}

impl<'o> Files<'o> {
    fn new(dwarf: &Dwarf<'o>) -> Result<Self> {
        let lines = dwarf.lines(&dwarf.units()[0])?.expect("a line program");
        Ok(Self { lines })
    }

    fn path(&self, number: u64) -> String {
        let md5 = self.lines.file(number).and_then(|file| file.md5);
        format!("{:?} {md5:x?}", self.lines.path(number).unwrap_or_default())
    }

    fn value(&self, entry: Entry<'_, '_>, Attribute { name, value, .. }: &Attribute<'_>) -> Result<String> {
        Ok(match (*name, *value) {
            (dw::DW_AT_decl_file | dw::DW_AT_call_file, value) => {
                self.path(value.unsigned().unwrap_or(u64::MAX))
            }
            // Truncated to the size of the type: forms differ in their extension.
            (dw::DW_AT_const_value, ResolvedValue::Signed(value)) => constant(entry, value as u64),
            (dw::DW_AT_const_value, ResolvedValue::Unsigned(value)) => constant(entry, value),
            (_, ResolvedValue::Reference(offset)) => {
                let target = entry.dwarf().entry_at(offset).expect("an entry");
                let text = described(target, 0);
                // For a function that is inlined elsewhere, LLVM refers to the concrete entry, eitri to the abstract
                // one.
                if *name == dw::DW_AT_call_origin { text.replace(" abstract", "") } else { text }
            }
            (dw::DW_AT_call_target, ResolvedValue::Expr(expr)) => {
                operations(entry, expr).replace("RegX", "BregX").replace(", by: 0", "")
            }
            (_, ResolvedValue::Expr(expr)) => operations(entry, expr),
            (_, ResolvedValue::LocList(_)) => {
                let mut all = String::new();
                for one in entry.locations(*name)?.unwrap_or_default() {
                    let _ = write!(all, "{:x}..{:x}: {}; ", one.start, one.end, operations(entry, one.expr));
                }
                all
            }
            (_, ResolvedValue::Address(address)) => format!("{address:x}"),
            (_, ResolvedValue::String(text)) => format!("{:?}", text.text()),
            (_, ResolvedValue::Signed(value)) => value.to_string(),
            (_, ResolvedValue::Unsigned(value)) => value.to_string(),
            (_, other) => format!("{other:?}"),
        })
    }
}

fn constant(entry: Entry<'_, '_>, value: u64) -> String {
    let bits = bytes_of(entry).map_or(64, |bytes| 8 * bytes);
    let value = if bits < 64 { value & ((1 << bits) - 1) } else { value };
    value.to_string()
}

/// Identifies an entry: tag, name and declaration; without a name, its components.
fn described(entry: Entry<'_, '_>, depth: usize) -> String {
    let name = entry.name();
    let line = |at| entry.inherited(at).and_then(ResolvedValue::unsigned).unwrap_or(0);
    let mut text = format!("({} {name:?} {}", entry.tag(), line(dw::DW_AT_decl_line));
    if entry.attr(dw::DW_AT_inline).is_some() {
        text.push_str(" abstract");
    }
    if name.is_none() && depth < 8 {
        if let Some(of) = entry.ty() {
            text.push_str(&described(of, depth + 1));
        }
        let is_type = |child: &Entry<'_, '_>| child.tag() == dw::DW_TAG_structure_type;
        for child in entry.children().filter(|child| !is_type(child)) {
            let count = child.number(dw::DW_AT_count);
            let _ = write!(text, " {:?} {count:?}", child.attr(dw::DW_AT_name).and_then(ResolvedValue::text));
        }
    }
    text + ")"
}

/// A shorter description, for the parents of an entry.
fn head(entry: Entry<'_, '_>) -> Result<String> {
    let inline = if entry.attr(dw::DW_AT_inline).is_some() { " abstract" } else { "" };
    let pcs = if entry.tag() == dw::DW_TAG_compile_unit { Vec::new() } else { entry.ranges()? };
    let line = entry.number(dw::DW_AT_decl_line);
    Ok(format!("{} {:?} {line:?} {}{inline}", entry.tag(), entry.name(), sorted(pcs)))
}

fn sorted(mut ranges: Vec<Range<u64>>) -> String {
    ranges.sort_by_key(|range| range.start);
    format!("{ranges:x?}")
}

/// Operations of an expression, with resolved references.
fn operations(entry: Entry<'_, '_>, expr: &[u8]) -> String {
    let (dwarf, unit) = (entry.dwarf(), entry.unit());
    let mut text = String::new();
    for one in Decoder::new(expr, unit.encoding) {
        let one = one.expect("an operation");
        let _ = match (one.op, named_type(&one.op)) {
            (Op::Addrx { index }, _) => {
                write!(text, "address {:x}", dwarf.address(unit, index).expect("an address"))
            }
            (op, Some(ty)) => {
                let ty = dwarf.entry_at(unit.offset + ty).expect("a type");
                let op = format!("{op:?}");
                write!(text, "{} {}", op.split("ty:").next().unwrap_or_default(), described(ty, 0))
            }
            (op, None) => write!(text, "{op:?}"),
        };
        text.push_str(", ");
    }
    text
}

/// Size in bytes of an entry's type, below typedefs and qualifiers; for an enumerator, that of its enumeration.
pub fn bytes_of(entry: Entry<'_, '_>) -> Option<u64> {
    let mut ty = match entry.tag() {
        dw::DW_TAG_enumerator => entry.parent()?,
        _ => entry.ty()?,
    };
    loop {
        match ty.tag() {
            dw::DW_TAG_pointer_type => return Some(ty.unit().encoding.address_bytes.into()),
            _ => match ty.number(dw::DW_AT_byte_size) {
                Some(bytes) => return Some(bytes),
                None => ty = ty.ty()?,
            },
        }
    }
}

/// Panics unless both files have the same facts.
pub fn assert_same(program: &str, llvm: &Facts, ours: &Facts) {
    let differences: Vec<String> = llvm
        .tags
        .keys()
        .chain(ours.tags.keys())
        .filter(|tag| llvm.tags.get(tag) != ours.tags.get(tag))
        .map(|tag| format!("{}: {:?} and {:?}", DwTag(*tag), llvm.tags.get(tag), ours.tags.get(tag)))
        .collect();
    same(program, "entries", &llvm.entries, &ours.entries);
    assert!(differences.is_empty(), "{program}, entries of LLVM and eitri: {differences:#?}");
    same(program, "rows", &llvm.rows, &ours.rows);
}

fn same(program: &str, what: &str, llvm: &[String], ours: &[String]) {
    let only = |these: &[String], others: &[String]| {
        let mut counts: BTreeMap<&String, i64> = BTreeMap::new();
        these.iter().for_each(|one| *counts.entry(one).or_default() += 1);
        others.iter().for_each(|one| *counts.entry(one).or_default() -= 1);
        let more = counts.into_iter().filter(|&(_, count)| count > 0);
        more.map(|(one, count)| format!("{count} × {one}")).collect::<Vec<_>>()
    };
    let (theirs, mine) = (only(llvm, ours), only(ours, llvm));
    assert!(
        theirs.is_empty() && mine.is_empty(),
        "{program}: {what} differ\nonly LLVM ({}):\n{}\nonly eitri ({}):\n{}",
        theirs.len(),
        theirs.join("\n"),
        mine.len(),
        mine.join("\n"),
    );
}
