//! Describes the DWARF of an object with a builder.

mod places;
mod scopes;
mod types;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use eitri::Result;
use eitri::build::Builder;
use eitri::model::{
    Address, DescribedCalls, FileId, FunctionId, LineTableRow, Module, ScopeId, SourceLine, TypeId, UnitId,
    VariableId,
};
use eitri::read::{Dwarf, Entry, LineProgram, Object, Unit};
use eitri::target::Target;
use gimli::constants as dw;
pub use places::named_type;

/// Describes the unit of an object.
struct Describer<'r, 'o> {
    m: Builder,
    object: &'r Object<'o>,
    dwarf: &'r Dwarf<'o>,
    of: &'r Unit<'o>,
    unit: UnitId,
    /// Files by number in the line program.
    files: Vec<FileId>,
    /// Types by offset of their entries.
    types: HashMap<u64, TypeId>,
    functions: HashMap<u64, FunctionId>,
    variables: HashMap<u64, VariableId>,
    blocks: HashMap<u64, ScopeId>,
    /// Code ranges of functions, by first pc.
    code: BTreeMap<u64, (Range<u64>, FunctionId)>,
}

/// The module of an object with one unit.
///
/// # Errors
/// The errors of the reader and of the builder.
pub fn module(object: &Object<'_>, dwarf: &Dwarf<'_>, target: Target) -> Result<Module> {
    let [of] = dwarf.units() else { panic!("{} units", dwarf.units().len()) };
    let mut m = Builder::new(target);
    let unit = m.unit(of.name.as_deref().unwrap_or_default());
    let mut describer = Describer {
        m,
        object,
        dwarf,
        of,
        unit,
        files: Vec::new(),
        types: HashMap::new(),
        functions: HashMap::new(),
        variables: HashMap::new(),
        blocks: HashMap::new(),
        code: BTreeMap::new(),
    };
    let lines = dwarf.lines(of)?.expect("a line program");
    describer.unit_and_files(&lines)?;
    describer.all_types()?;
    describer.all_functions()?;
    describer.all_scopes()?;
    describer.rows(&lines)?;
    describer.m.finish()
}

impl<'r, 'o> Describer<'r, 'o> {
    fn entries(&self) -> impl Iterator<Item = Entry<'r, 'o>> + use<'r, 'o> {
        self.dwarf.entries_of(self.of)
    }

    fn unit_and_files(&mut self, lines: &LineProgram<'_>) -> Result<()> {
        let mut unit = self.m.describe_unit(self.unit)?;
        if let Some(directory) = &self.of.comp_dir {
            unit.directory(directory);
        }
        if let Some(producer) = &self.of.producer {
            unit.producer(producer);
        }
        if let Some(language) = self.of.language {
            unit.language(eitri::model::Language(language as u16));
        }
        for file in &lines.files {
            let name = String::from_utf8_lossy(file.path);
            let directory = match file.directory {
                0 => None,
                number => lines.directory(number).map(String::from_utf8_lossy),
            };
            let id = self.m.file(self.unit, &name, directory.as_deref())?;
            if let Some(md5) = file.md5 {
                self.m.file_md5(id, md5)?;
            }
            self.files.push(id);
        }
        Ok(())
    }

    /// File and line of a declaration.
    fn declared(&self, entry: Entry<'_, '_>) -> Option<(FileId, u32)> {
        let line = entry.number(dw::DW_AT_decl_line)?;
        Some((self.file(entry.number(dw::DW_AT_decl_file)?), line as u32))
    }

    fn file(&self, number: u64) -> FileId {
        self.files[number as usize]
    }

    /// Describes all functions with their code, before their contents.
    fn all_functions(&mut self) -> Result<()> {
        for entry in self.entries().filter(|entry| entry.tag() == dw::DW_TAG_subprogram) {
            let origin = entry.reference(dw::DW_AT_abstract_origin).unwrap_or(entry);
            let id = match self.functions.get(&origin.offset()) {
                Some(&id) => id,
                None => self.function(origin)?,
            };
            self.functions.insert(entry.offset(), id);
            let Some(low) = entry.low_pc() else { continue };
            let pcs = entry.ranges()?.remove(0);
            let (symbol, by) = self.symbol_at(low);
            let frame_base = match entry.attr(dw::DW_AT_frame_base) {
                Some(eitri::read::ResolvedValue::Expr(expr)) => self.loc(expr)?,
                _ => None,
            };
            let mut function = self.m.describe_function(id)?;
            function.address(Address::Symbol(symbol, by), pcs.end - pcs.start);
            if let Some(loc) = frame_base {
                function.frame_base(&loc)?;
            }
            if entry.attr(dw::DW_AT_call_all_calls).is_some() {
                function.describes(DescribedCalls::All);
            }
            self.code.insert(low, (pcs, id));
        }
        Ok(())
    }

    fn function(&mut self, entry: Entry<'r, 'o>) -> Result<FunctionId> {
        let name = entry.name().unwrap_or_default();
        let declared = self.declared(entry);
        let returns = entry.reference(dw::DW_AT_type).map(|ty| self.ty(ty)).transpose()?;
        let mut function = match entry.attr(dw::DW_AT_declaration) {
            Some(_) => self.m.function_declaration(self.unit, &name)?,
            None => self.m.function(self.unit, &name)?,
        };
        if let Some(name) = entry.attr(dw::DW_AT_linkage_name).and_then(|name| name.text()) {
            function.linkage_name(&name);
        }
        if let Some((file, line)) = declared {
            function.declared(SourceLine::new(file, line));
        }
        if let Some(ty) = returns {
            function.returns(ty)?;
        }
        if entry.attr(dw::DW_AT_external).is_some() {
            function.external();
        }
        if entry.attr(dw::DW_AT_noreturn).is_some() {
            function.noreturn();
        }
        if let Some(convention) = entry.number(dw::DW_AT_calling_convention) {
            function.convention(convention as u8);
        }
        let id = function.id();
        self.functions.insert(entry.offset(), id);
        Ok(id)
    }

    fn rows(&mut self, lines: &LineProgram<'_>) -> Result<()> {
        for row in lines.rows() {
            let row = row?;
            if row.end_sequence {
                continue;
            }
            let (_, (pcs, function)) = self.code.range(..=row.address).next_back().expect("a function's row");
            let mut written =
                LineTableRow::new(row.address - pcs.start, self.file(row.file), row.line as u32)
                    .column(row.column as u32)
                    .discriminator(row.discriminator as u32);
            written.is_stmt = row.is_stmt;
            written.is_prologue_end = row.prologue_end;
            written.is_epilogue_begin = row.epilogue_begin;
            self.m.row(*function, written)?;
        }
        Ok(())
    }
}
