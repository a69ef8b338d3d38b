//! Lines of the PTX in a cubin: `.nv_debug_line_sass`, a line table, and `.nv_debug_ptx_txt`, the text.

use crate::emit::format::Format;
use crate::emit::line::{LineFile, LineProgram, LineState, Names, Survey};
use crate::emit::section::{RelocationTarget, Section};
use crate::error::{Count, Error, Result};

/// PTX lines of a function's machine code.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PtxLines<'l> {
    /// Symbol of the function.
    pub symbol: &'l str,
    /// Size of the code in bytes.
    pub bytes: u64,
    /// Pcs in bytes from the function's start, in ascending order, each with a line of the text, counted from 1.
    pub rows: &'l [(u64, u32)],
}

/// Returns the sections with a PTX text and its lines, to be added to a linked cubin with the others:
/// `.nv_debug_ptx_txt` and `.nv_debug_line_sass`. nvdisasm prints the lines with `-gp`.
///
/// A relocatable cubin refuses them: linkers keep texts apart by the names of their sections, which depend on the text.
/// [`relocatable_ptx_lines`] returns sections for it.
///
/// # Errors
/// [`BadArgument`](crate::error::ErrorKind::BadArgument) for a zero byte in the text, a line that the text lacks, and pcs
/// that descend or exceed the code.
///
/// # Example
///
/// ```
/// use eitri::emit::elf::{PtxLines, ptx_lines};
///
/// let text = ".version 8.0\n.target sm_80\n.entry k()\n{\nret;\n}\n";
/// let lines = PtxLines { symbol: "k", bytes: 0x80, rows: &[(0, 5)] };
/// let sections = ptx_lines(text, &[lines])?;
/// assert!(sections[0].bytes.starts_with(b".version 8.0\0.target sm_80\0"));
/// assert!(ptx_lines(text, &[PtxLines { rows: &[(0, 7)], ..lines }]).is_err());
/// # Ok::<(), eitri::Error>(())
/// ```
pub fn ptx_lines(text: &str, functions: &[PtxLines<'_>]) -> Result<Vec<Section>> {
    sections(text, functions, None)
}

/// Returns the sections with a PTX text and its lines, to be added to a relocatable cubin with the others. The section of
/// the text gets a name that depends on it, `.nv_debug_ptx_txt.` and a number, and the lines name the section, so that
/// rows keep their text when nvlink joins objects.
///
/// # Errors
/// As [`ptx_lines`].
///
/// # Example
///
/// ```
/// use eitri::emit::elf::{PtxLines, relocatable_ptx_lines};
///
/// let text = ".version 8.0\n.target sm_80\n.entry k()\n{\nret;\n}\n";
/// let lines = PtxLines { symbol: "k", bytes: 0x80, rows: &[(0, 5)] };
/// let sections = relocatable_ptx_lines(text, &[lines])?;
/// let name = b".nv_debug_ptx_txt.";
/// assert!(sections[1].bytes.windows(name.len()).any(|it| it == name));
/// # Ok::<(), eitri::Error>(())
/// ```
pub fn relocatable_ptx_lines(text: &str, functions: &[PtxLines<'_>]) -> Result<Vec<Section>> {
    let name = text_name(&lines_of(text));
    sections(text, functions, Some(&name))
}

/// Returns a text's lines, each with a zero byte at its end.
fn lines_of(text: &str) -> Vec<u8> {
    let mut lines = Vec::with_capacity(text.len() + 1);
    for line in text.lines() {
        lines.extend_from_slice(line.as_bytes());
        lines.push(0);
    }
    lines
}

/// Name of the section with a text in a relocatable cubin: different texts have different names with the certainty of 64
/// bits of MD5.
fn text_name(lines: &[u8]) -> String {
    let hash = md5::compute(lines).0;
    let number = hash.iter().take(8).fold(0u64, |number, byte| number << 8 | u64::from(*byte));
    format!("{TEXT}.{number}")
}

/// Returns the name that the lines give to the section with the text. `None` if they name none.
pub(super) fn named_text(sections: &[Section]) -> Option<String> {
    let find = |name| sections.iter().find(|section| section.name == name);
    let text = find(TEXT)?;
    let lines = find(LINES)?;
    let name = text_name(&text.bytes);
    let wanted = [name.as_bytes(), &[0]].concat();
    lines.bytes.windows(wanted.len()).any(|bytes| bytes == wanted).then_some(name)
}

fn sections(text: &str, functions: &[PtxLines<'_>], name: Option<&str>) -> Result<Vec<Section>> {
    const FORMAT: Format = Format { version: 3, offset_bytes: 4, address_bytes: 8, big_endian: false };
    if text.contains('\0') {
        return Err(Error::bad_argument("PTX text contains a zero byte, which would end a line"));
    }
    let lines = lines_of(text);
    let count = text.lines().count();
    let mut survey = Survey::new(FORMAT, 1);
    for function in functions {
        check(function, count)?;
        survey.begin_sequence();
        for &(pc, line) in function.rows {
            survey.row(pc, line, false);
        }
    }
    let section =
        |name, bytes, relocations| Section { name, bytes, relocations, is_strings: false, group: None };
    let mut bytes = Vec::new();
    let mut relocations = Vec::new();
    let names = Names { offset: &mut |_| 0, are_shared: false, has_inlined: false };
    // As in ptxas's linked cubins, there are no files, and rows are in file 0: the only text. In its relocatable cubins,
    // file 1 has the name of the text's section.
    let file = name.map(|name| LineFile { name, directory: 0, md5: None, source: None });
    let files = file.as_slice();
    let number = files.len() as u64;
    let mut program =
        LineProgram::begin(&mut bytes, &mut relocations, FORMAT, 1, survey.shape(), names, &[], files)?;
    for function in functions.iter().filter(|function| !function.rows.is_empty()) {
        program.begin_sequence(Some(RelocationTarget::Symbol(function.symbol.to_owned().into())), 0);
        for &(pc, line) in function.rows {
            program.row(
                pc,
                LineState {
                    file: number,
                    line,
                    column: 0,
                    discriminator: 0,
                    is_stmt: true,
                    is_prologue_end: false,
                    is_epilogue_begin: false,
                },
            );
        }
        program.end_sequence(function.bytes);
    }
    program.finish();
    Ok(vec![section(TEXT, lines, Vec::new()), section(LINES, bytes, relocations)])
}

/// The text, and the line table.
pub(super) const TEXT: &str = ".nv_debug_ptx_txt";
const LINES: &str = ".nv_debug_line_sass";

fn check(function: &PtxLines<'_>, count: usize) -> Result<()> {
    let mut last = 0;
    for &(pc, line) in function.rows {
        let symbol = function.symbol;
        if line == 0 || line as usize > count {
            let what = format!(
                "row at {pc:#x} in `{symbol}` is line {line}; the PTX text has {count}",
                count = Count(count, "line")
            );
            return Err(Error::bad_argument(what));
        }
        if pc < last || pc >= function.bytes {
            let end = function.bytes;
            let what = format!(
                "row at {pc:#x} in `{symbol}` descends or is outside the code; expected {last:#x}..{end:#x}"
            );
            return Err(Error::bad_argument(what));
        }
        last = pc;
    }
    Ok(())
}
