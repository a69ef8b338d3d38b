//! Functions in a cubin, and the sections that only NVIDIA's tools write: PTX lines, and the storage that holds PTX
//! registers.

use std::fmt::{self, Write};

use super::out::Out;
use super::text::Dump;
use crate::error::{Count, OneLine};
use crate::read::nvidia::{MercuryCode, RegisterMap, RegisterTypes, lines, ptx_lines};
use crate::read::{ElfSymbolKind, Object};

/// Prints a cubin's functions: where each is in its section, and its size.
pub(super) fn functions(out: &mut Out<'_>, object: &Object<'_>) {
    let notation = object.pc_notation();
    let is_code = |index: usize| object.sections().get(index).is_some_and(|section| section.is_code());
    let mut functions: Vec<_> = object
        .symbols()
        .iter()
        .filter(|symbol| symbol.kind == ElfSymbolKind::Func && symbol.section.is_some_and(is_code))
        .collect();
    functions.sort_by_key(|symbol| symbol.address);
    let unit = if object.is_ptx() { "instruction" } else { "byte" };
    let encoding = if object.is_mercury() { " of Mercury code" } else { "" };
    for symbol in &functions {
        let size = Count(symbol.size, unit);
        let _ = write!(out, "function {}: {size}{encoding}", OneLine(&symbol.name));
        // ptxas puts a function that only one kernel calls after the kernel.
        let start = notation.pc(symbol.address);
        if start.in_function().is_none_or(|(function, pcs)| function != symbol.name || pcs.start != 0) {
            let _ = write!(out, " from {start} on");
        }
        out.push('\n');
    }
    for code in MercuryCode::all(object) {
        let _ = match code {
            Ok(code) => {
                let name = code.section_name();
                let text = code.text;
                let kind = code.kind;
                let bits = Count(code.bits, "bit");
                writeln!(out, "code {}: for section {text}, kind {kind:#x}, a map of {bits}", OneLine(&name))
            }
            Err(error) => writeln!(out, "code: <{error}>"),
        };
    }
    if !functions.is_empty() || object.is_mercury() {
        out.push('\n');
    }
}

impl Dump<'_, '_, '_> {
    /// Prints what only cubins have.
    pub(super) fn cubin(&mut self) -> fmt::Result {
        let object = self.object;
        if !object.is_cubin() {
            return Ok(());
        }
        for program in lines(object) {
            match program {
                Ok(program) if self.printed.insert(program.offset) => self.lines(&program)?,
                Ok(_) => {}
                Err(error) => writeln!(self.out, "lines: <{error}>")?,
            }
        }
        for program in ptx_lines(object) {
            match program {
                Ok(program) => self.line_table("lines of the PTX", Some(".nv_debug_ptx_txt"), &program)?,
                Err(error) => writeln!(self.out, "lines of the PTX: <{error}>")?,
            }
        }
        let map = match RegisterMap::read(object) {
            Ok(map) => map,
            Err(error) => return writeln!(self.out, "registers: <{error}>"),
        };
        let types = match RegisterTypes::read(object) {
            Ok(types) => types,
            Err(error) => {
                writeln!(self.out, "types of registers: <{error}>")?;
                RegisterTypes::default()
            }
        };
        for function in &map.functions {
            writeln!(self.out, "registers of {}", OneLine(&function.name()))?;
            let types = types.of(function.name);
            let base = function.address.unwrap_or(0);
            for (index, home) in function.homes().iter().enumerate() {
                let start = base.wrapping_add(home.start.into());
                let end = base.wrapping_add(home.end.into());
                let register = String::from_utf8_lossy(home.register);
                let pcs = object.pc_notation().pcs_to_last(start, end);
                write!(self.out, "  {pcs} {register} word {}: {}", home.word, home.home)?;
                if self.verbose
                    && let Some(ty) = types.get(index)
                {
                    match RegisterTypes::name(*ty) {
                        Some(name) => write!(self.out, " {name}")?,
                        None => write!(self.out, " type {ty:#x}")?,
                    }
                }
                self.out.push('\n');
            }
        }
        self.copies()
    }

    /// Prints whether the copies of debug sections are equal to the originals.
    fn copies(&mut self) -> fmt::Result {
        let object = self.object;
        let name = |index: usize| object.sections().get(index).map_or("", |section| &*section.name);
        for copy in object.mercury_copies() {
            let (Some(original), copied) = (copy.original, name(copy.copy)) else { continue };
            if copied.contains(".rela.") || !copied.contains("debug_") {
                continue;
            }
            let is_empty = object.sections().get(copy.copy).is_some_and(|section| section.data.is_empty());
            if is_empty {
                // Debug information that was added or rewritten has no copy.
                writeln!(self.out, "copy {}: empty", OneLine(copied))?;
                continue;
            }
            let verdict = if copy.is_equal { "equal to" } else { "different from" };
            writeln!(self.out, "copy {}: {verdict} {}", OneLine(copied), OneLine(name(original)))?;
        }
        Ok(())
    }
}
