//! Preprocessor macros.

use super::builder::{Builder, Preprocessor};
use super::ids::known;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{FileId, Macro, Module, UnitId};

/// Describes a preprocessor's actions, in order. Made by [`Builder::macros`].
///
/// ```
/// use eitri::build::Builder;
/// use eitri::target::Target;
///
/// let mut m = Builder::new(Target::x86_64());
/// let unit = m.unit("a.cl");
/// let (file, header) = (m.primary_file(unit)?, m.file(unit, "a.h", None)?);
/// m.macros(unit)?
///     .define(0, "__OPENCL_C_VERSION__ 200")?
///     .file(0, file)?
///     .file(1, header)?
///     .define(7, "MAX(a,b) ((a) > (b) ? (a) : (b))")?
///     .end_file()?
///     .undefine(3, "MAX")?
///     .end_file()?;
/// assert_eq!(m.finish()?.macros(unit).len(), 7);
/// # Ok::<(), eitri::Error>(())
/// ```
#[derive(Debug)]
pub struct MacroBuilder<'b> {
    builder: &'b mut Builder,
    unit: UnitId,
}

impl Builder {
    /// Returns a builder for the preprocessor's actions, which continues after the last call for the unit.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`].
    pub fn macros(&mut self, unit: UnitId) -> Result<MacroBuilder<'_>> {
        known(self.module.units.is_valid(unit), || self.module.unknown(unit))?;
        Ok(MacroBuilder { builder: self, unit })
    }

    /// Sorts macros by unit, and records each unit's range.
    pub(super) fn sort_macros(&mut self) {
        let macros = &mut self.module.lists.macros;
        let units = &mut self.macro_units;
        if !units.is_sorted() {
            let mut both: Vec<_> = macros.drain(..).zip(units.drain(..)).collect();
            // A stable sort keeps each unit's actions in their order.
            both.sort_by_key(|&(_, unit)| unit);
            (*macros, *units) = both.into_iter().unzip();
        }
        let mut start = 0;
        for of_unit in units.chunk_by(|first, second| first == second) {
            let end = start + of_unit.len() as u32;
            self.module.units[of_unit[0]].macros = start..end;
            start = end;
        }
    }
}

impl MacroBuilder<'_> {
    /// Defines a macro in this line of the current file, counted from 1; 0 for predefined macros, and those of the command
    /// line.
    ///
    /// * `text` – the name; optionally the parameters, in parentheses directly after the name, separated by commas
    ///   without spaces; one space; the definition. The space may be missing before an empty definition.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`](crate::error::ErrorKind::BadArgument) where the text is malformed, or the line is
    /// not 0 outside all files; [`ErrorKind::ZeroByte`].
    pub fn define(&mut self, line: u32, text: &str) -> Result<&mut Self> {
        self.check(line, text)?;
        let head = head_len(text);
        // DWARF separates the name or the parameters from the definition by exactly one space.
        let is_formed = match text[head..].strip_prefix('(') {
            None => matches!(text.as_bytes().get(head), None | Some(b' ')),
            Some(rest) => rest.split_once(')').is_some_and(|(parameters, rest)| {
                !parameters.contains(char::is_whitespace) && (rest.is_empty() || rest.starts_with(' '))
            }),
        };
        if head == 0 || !is_formed {
            let what = format!(
                "macro definition `{}` has the wrong form; expected `NAME text` or `NAME(a,b) text`",
                text.escape_debug()
            );
            return Err(self.error(what));
        }
        // DWARF requires the space even before an empty definition.
        let is_empty = !text.contains(' ');
        let text =
            if is_empty { self.builder.name(&format!("{text} "))? } else { self.builder.name(text)? };
        Ok(self.push(Macro::Define { line, text }))
    }

    /// Undefines a macro.
    ///
    /// * `line` – as for [`define`](Self::define).
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`](crate::error::ErrorKind::BadArgument) where the name is malformed, or the line is
    /// not 0 outside all files; [`ErrorKind::ZeroByte`].
    pub fn undefine(&mut self, line: u32, name: &str) -> Result<&mut Self> {
        self.check(line, name)?;
        if name.is_empty() || head_len(name) != name.len() {
            return Err(self.error(format!("`{}` is not the name of a macro", name.escape_debug())));
        }
        let name = self.builder.name(name)?;
        Ok(self.push(Macro::Undefine { line, name }))
    }

    /// Begins a file: the primary file, or a file included by this line in the enclosing file, counted from 1.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`](crate::error::ErrorKind::UnknownId) where the file does not exist or belongs to another
    /// unit.
    pub fn file(&mut self, line: u32, file: FileId) -> Result<&mut Self> {
        let is_there = self.module().files.get(file).is_some_and(|file| file.unit == self.unit);
        known(is_there, || self.module().unknown_in(file, " of this unit"))
            .map_err(|error| self.at(error))?;
        let state = &mut self.builder.preprocessors[self.unit];
        state.depth += 1;
        Ok(self.push(Macro::File { line, file }))
    }

    /// Ends the file, and returns to the enclosing one.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`](crate::error::ErrorKind::BadArgument) outside all files.
    pub fn end_file(&mut self) -> Result<&mut Self> {
        let state = &mut self.builder.preprocessors[self.unit];
        match state.depth.checked_sub(1) {
            None => Err(self.error("file ends, but no file is open".into())),
            Some(depth) => {
                state.depth = depth;
                Ok(self.push(Macro::EndFile))
            }
        }
    }

    fn check(&self, line: u32, text: &str) -> Result<()> {
        let Preprocessor { depth } = self.builder.preprocessors[self.unit];
        if text.contains('\0') {
            let text = format!("the macro `{}`", text.escape_debug());
            return Err(self.at(ErrorKind::ZeroByte { text }.into()));
        }
        // Line 0 stands for the command line and predefined macros, which gcc has before the first file, and clang in it.
        if line != 0 && depth == 0 {
            return Err(self.error(format!("macro outside all files is in line {line}; expected line 0")));
        }
        Ok(())
    }

    fn push(&mut self, what: Macro) -> &mut Self {
        self.builder.module.lists.macros.push(what);
        self.builder.macro_units.push(self.unit);
        self
    }

    fn module(&self) -> &Module {
        &self.builder.module
    }

    fn error(&self, what: String) -> Error {
        self.at(Error::bad_argument(what))
    }

    fn at(&self, error: Error) -> Error {
        error.or_at(self.module().at_scope(self.module().units[self.unit].scope))
    }
}

/// Returns the byte length of the macro name at the start of the text.
fn head_len(text: &str) -> usize {
    text.find(|char: char| char == '(' || char.is_whitespace()).unwrap_or(text.len())
}

/// Refuses a file that began and did not end.
pub(super) fn check(module: &Module) -> Result<()> {
    for unit in module.units.keys() {
        let mut open = Vec::new();
        for what in module.macros(unit) {
            match what {
                Macro::File { file, .. } => open.push(*file),
                Macro::EndFile => drop(open.pop()),
                Macro::Define { .. } | Macro::Undefine { .. } => {}
            }
        }
        if let Some(&file) = open.last() {
            let name = module.string(module.files[file].name);
            let what = format!("file `{name}` begins among the macros and does not end");
            return Err(Error::bad_argument(what).or_at(module.at_scope(module.units[unit].scope)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Target;

    #[test]
    fn units_may_take_turns() -> Result<()> {
        let mut m = Builder::new(Target::x86_64());
        let units = [m.unit("a.c"), m.unit("b.c")];
        for line in 1..4 {
            for unit in units {
                let file = m.primary_file(unit)?;
                let mut macros = m.macros(unit)?;
                if line == 1 {
                    macros.define(0, "A(x)")?.file(0, file)?;
                }
                macros.define(line, "B")?;
                if line == 3 {
                    macros.end_file()?;
                }
            }
        }
        let module = m.finish()?;
        for unit in units {
            let text = |what: &Macro| match *what {
                Macro::Define { line, text } => format!("{line} {}", module.string(text)),
                Macro::Undefine { .. } => "undefine".into(),
                Macro::File { line, file } => format!("{line} {}", module.string(module.file(file).name)),
                Macro::EndFile => "end".into(),
            };
            let texts: Vec<String> = module.macros(unit).iter().map(text).collect();
            let name = format!("0 {}", module.string(module.unit(unit).name));
            // An empty definition keeps its space.
            assert_eq!(texts, ["0 A(x) ", &*name, "1 B ", "2 B ", "3 B ", "end"]);
        }
        Ok(())
    }
}
