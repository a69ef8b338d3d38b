//! Pcs of Mercury code, the encoding of a cubin's code from which nvlink makes the code again (sm_100 and later).
//!
//! An instruction takes 16 bytes as SASS, and 16 or 32 as Mercury code; some are several instructions in one of the two.
//! NVIDIA does not document the encoding, so that pcs are known only where the object says what corresponds: at the start
//! and the end of a function, at the rows of its line tables, which exist in both encodings, and at its exits.

use std::collections::{BTreeMap, HashMap, VecDeque};

use object::elf;

use super::bytes::{u32_at, u64_at};
use super::image::{Image, ImageSection, unsupported};
use super::line_ops::{LineOp, programs};
use super::symbols::raw_symbols;
use crate::error::Result;

/// Type of the copy of the symbol table.
pub(super) const SYMBOLS: elf::SectionType = elf::SectionType(0x7000_0085);
/// Size of an instruction in bytes; the least size of one in Mercury code.
const INSTRUCTION: u64 = 16;
/// Line tables with copies.
const LINE_TABLES: [&str; 2] = [".debug_line", ".nv_debug_line_sass"];

/// Pcs of all functions, by symbol.
#[derive(Debug, Default)]
pub(super) struct MercuryPcs {
    functions: HashMap<Vec<u8>, FunctionPcs>,
}

/// Pcs of a function, in bytes from its start.
#[derive(Debug, Default)]
struct FunctionPcs {
    /// Sizes as SASS and as Mercury code.
    sizes: [u64; 2],
    /// Starts of instructions, by the SASS pc.
    starts: BTreeMap<u64, u64>,
    /// Mercury pc of the last instruction, if it is known.
    last: Option<u64>,
}

impl MercuryPcs {
    /// Reads what corresponds in a relocatable cubin for sm_100 or later. Empty for other objects.
    ///
    /// Line tables that cannot be read, and rows that differ from their copies, say nothing.
    pub fn read(image: &Image<'_>) -> Result<Self> {
        let tables = [image.find(elf::SHT_SYMTAB), image.find(SYMBOLS)];
        let [Some(sass), Some(mercury)] = tables else { return Ok(Self::default()) };
        if !image.is_cubin() || image.is_linked() {
            return Ok(Self::default());
        }
        let mut functions: HashMap<Vec<u8>, FunctionPcs> = HashMap::new();
        for (table, place) in [(sass, 0), (mercury, 1)] {
            for symbol in raw_symbols(image, table)? {
                if symbol.info.st_type() == elf::STT_FUNC && symbol.is_defined() {
                    functions.entry(symbol.name.to_vec()).or_default().sizes[place] = symbol.size;
                }
            }
        }
        functions.retain(|_, function| function.sizes.iter().all(|size| *size != 0));
        for name in LINE_TABLES {
            let copy = format!(".nv.merc{name}");
            let rows = [(name, sass), (&*copy, mercury)].map(|(name, table)| sequences(image, name, table));
            let [Some(sass), Some(mercury)] = rows else { continue };
            // ptxas writes functions in another order in copies. The sequences of a function are in order.
            let mut copies: HashMap<&[u8], VecDeque<&Sequence>> = HashMap::new();
            for copy in &mercury {
                copies.entry(&copy.function).or_default().push_back(copy);
            }
            for one in &sass {
                let copy = copies.get_mut(&*one.function).and_then(VecDeque::pop_front);
                let Some(copy) = copy.filter(|copy| one.lines == copy.lines) else { continue };
                if let Some(function) = functions.get_mut(&one.function) {
                    function.starts.extend(one.pcs.iter().copied().zip(copy.pcs.iter().copied()));
                }
            }
        }
        for (name, function) in &mut functions {
            function.find_last(image, name);
        }
        Ok(Self { functions })
    }

    /// Returns the Mercury pc at which the instruction at a SASS pc begins, or the size of the code.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](crate::error::ErrorKind::Unsupported) for a pc that no row has.
    pub fn start(&self, function: &str, pc: u64) -> Result<u64> {
        let known = self.function(function)?;
        match pc {
            0 => Ok(0),
            pc if pc == known.sizes[0] => Ok(known.sizes[1]),
            pc => known.starts.get(&pc).copied().ok_or_else(|| unknown(function, pc)),
        }
    }

    /// Returns the Mercury pc of the instruction that ends at a SASS pc.
    ///
    /// # Errors
    /// As [`start`](Self::start), for the instruction's start and its end.
    pub fn last(&self, function: &str, end: u64) -> Result<u64> {
        let known = self.function(function)?;
        if end == known.sizes[0] {
            return known.last.ok_or_else(|| unknown(function, end.saturating_sub(INSTRUCTION)));
        }
        // With a row at the end too, the instruction is a single one as SASS.
        self.start(function, end)?;
        self.start(function, end.saturating_sub(INSTRUCTION))
    }

    fn function(&self, name: &str) -> Result<&FunctionPcs> {
        self.functions.get(name.as_bytes()).ok_or_else(|| {
            unsupported(format!(
                "function `{name}` has no Mercury code; expected its symbol in `.nv.merc.symtab`"
            ))
        })
    }

    /// Whether the symbol of code has Mercury code.
    pub fn has(&self, name: &str) -> bool {
        self.functions.contains_key(name.as_bytes())
    }
}

fn unknown(function: &str, pc: u64) -> crate::Error {
    unsupported(format!(
        "pc {pc:#x} of `{function}` is at no row of the object's line tables, so that its pc in the Mercury code, which \
         nvlink reads, is not known; expected pcs of rows, as `-lineinfo` writes for most instructions"
    ))
}

impl FunctionPcs {
    /// Finds the last instruction: a row's, or an exit in `.nv.info`, which both encodings list in the same order.
    fn find_last(&mut self, image: &Image<'_>, name: &[u8]) {
        let last = self.sizes[1].saturating_sub(INSTRUCTION);
        let is_row = self.starts.values().next_back() == Some(&last)
            || self.starts.range(..self.sizes[0]).next_back().is_some_and(|(_, pc)| *pc == last);
        let mercury = exits(image, &[b".nv.merc.nv.info.", name].concat());
        let is_exit = mercury.last() == Some(&(last as u32));
        self.last = (is_row || is_exit).then_some(last);
    }
}

/// Returns the pcs of exits that a function's attributes list.
fn exits(image: &Image<'_>, section: &[u8]) -> Vec<u32> {
    /// Attribute format with a size, and the attribute.
    const SIZED: u8 = 4;
    const EXIT_OFFSETS: u8 = 0x1c;
    let Some(section) = image.sections.iter().find(|it| *it.name == *section) else { return Vec::new() };
    let mut rest = &section.contents[..];
    while let [format, attribute, low, high, after @ ..] = rest {
        let size = if *format == SIZED { usize::from(u16::from_le_bytes([*low, *high])) } else { 0 };
        let Some((value, next)) = after.split_at_checked(size) else { break };
        if *attribute == EXIT_OFFSETS {
            return value.chunks_exact(4).map(|it| u32_at(image.order, it, 0)).collect();
        }
        rest = next;
    }
    Vec::new()
}

/// Rows of a function, in order.
struct Sequence {
    function: Vec<u8>,
    /// In bytes from the function's start.
    pcs: Vec<u64>,
    /// File and line of each row.
    lines: Vec<(u64, i64)>,
}

impl Sequence {
    /// Appends a row. Of several at a pc, the last one counts.
    fn push(&mut self, pc: u64, line: (u64, i64), is_end: bool) {
        if self.pcs.last() == Some(&pc) && !is_end {
            self.pcs.pop();
            self.lines.pop();
        }
        self.pcs.push(pc);
        self.lines.push(line);
    }
}

/// Returns the sequences of a line table. `None` without a table that can be read.
fn sequences(image: &Image<'_>, name: &str, symtab: usize) -> Option<Vec<Sequence>> {
    let index = image.sections.iter().position(|section| section.is_filled(name))?;
    let symbols = raw_symbols(image, symtab).ok()?;
    // The function of each address, by the relocation at its field.
    let mut functions = HashMap::new();
    let is_relocations = |section: &&ImageSection<'_>| {
        section.header.sh_info as usize == index && section.header.sh_link as usize == symtab
    };
    for section in image.sections.iter().filter(is_relocations) {
        let size = section.header.sh_entsize.max(16) as usize;
        for record in section.contents.chunks_exact(size) {
            let [offset, info] = [0, 8].map(|at| u64_at(image.order, record, at));
            let addend = if size >= 24 { u64_at(image.order, record, 16) } else { 0 };
            if let Some(symbol) = symbols.get((info >> 32) as usize).filter(|_| addend == 0) {
                functions.insert(usize::try_from(offset).ok()?, symbol.name);
            }
        }
    }
    let mut sequences = Vec::new();
    for program in programs(&image.sections[index].contents).ok()? {
        let (mut pc, mut line, mut file) = (0u64, 1i64, 1u64);
        let mut sequence: Option<Sequence> = None;
        let mut at = program.operations.start;
        while at < program.operations.end {
            let (operation, next) = program.operation(at).ok()?;
            let is_end = operation == LineOp::End;
            match operation {
                LineOp::Address { field } => {
                    let function = functions.get(&field)?.to_vec();
                    pc = 0;
                    sequence = Some(Sequence { function, pcs: Vec::new(), lines: Vec::new() });
                }
                LineOp::Row { advance, line: by } => {
                    (pc, line) = (pc.wrapping_add(advance), line.wrapping_add(by));
                    sequence.as_mut()?.push(pc, (file, line), false);
                }
                LineOp::Advance(advance) => pc = pc.wrapping_add(advance),
                LineOp::Line(by) => line = line.wrapping_add(by),
                LineOp::File(number) => file = number,
                LineOp::End => sequence.as_mut()?.push(pc, (file, line), true),
                LineOp::Extended { .. } | LineOp::Other => {}
            }
            if is_end {
                sequences.extend(sequence.take());
                (pc, line, file) = (0, 1, 1);
            }
            at = next;
        }
    }
    Some(sequences)
}
