//! Lines of the PTX in a cubin: `.nv_debug_line_sass`, a line table, and `.nv_debug_ptx_txt`, the text.

use crate::emit::format::Format;
use crate::emit::line::{LineProgram, LineState, Names, Survey};
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
/// A relocatable cubin refuses them: linkers keep texts apart by names of sections that depend on the text.
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
    const FORMAT: Format = Format { version: 3, offset_bytes: 4, address_bytes: 8, big_endian: false };
    if text.contains('\0') {
        return Err(Error::bad_argument("PTX text contains a zero byte, which would end a line"));
    }
    let mut lines = Vec::new();
    for line in text.lines() {
        lines.extend_from_slice(line.as_bytes());
        lines.push(0);
    }
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
    // As in ptxas's linked cubins, there are no files, and rows are in file 0: the only text.
    let mut program =
        LineProgram::begin(&mut bytes, &mut relocations, FORMAT, 1, survey.shape(), names, &[], &[])?;
    for function in functions.iter().filter(|function| !function.rows.is_empty()) {
        program.begin_sequence(Some(RelocationTarget::Symbol(function.symbol.to_owned().into())), 0);
        for &(pc, line) in function.rows {
            program.row(
                pc,
                LineState {
                    file: 0,
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
