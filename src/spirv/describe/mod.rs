//! A description of a module, made from the module itself: its names, types, decorations, lines and control flow.
//!
//! | instruction | description |
//! |---|---|
//! | `OpSource`, `OpSourceContinued`, `OpString`, `OpLine` | unit, language, files, texts, lines |
//! | `OpType…` with `OpName`, `OpMemberName`, `Offset`, `ArrayStride` | types |
//! | `OpVariable` with `OpName`, outside of functions | variables of the unit, bound to the `OpVariable` |
//! | `OpFunction`, `OpFunctionParameter`, `OpEntryPoint` | functions, parameters, kernels |
//! | `OpVariable` with `OpName`, in a function | local variables in memory |
//! | a result with `OpName`, other than a pointer | local variables with values |
//! | `OpSelectionMerge`, `OpLoopMerge` | blocks, if variables are used in them alone |

mod code;
mod members;
mod names;
mod scopes;
mod types;

#[cfg(feature = "json")]
pub(crate) use names::names_of_ids;

use hashbrown::HashMap;

use super::Set;
use super::binding::Binding;
use super::languages;
use super::layout::Layout;
use super::opcodes as op;
use super::strip::strip;
use super::words::{HEADER, Id, Words, string_bytes};
use crate::build::Builder;
use crate::error::Result;
use crate::model::{FileId, FunctionId, Module, UnitId, VariableId};
use crate::target::Target;
use names::Names;
use types::Types;

/// The source of a module, as far as the caller knows it. Otherwise `OpSource` and `OpLine` provide it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Source {
    /// Path of the primary file.
    pub path: Option<String>,
    /// Text of the primary file.
    pub text: Option<String>,
    /// Number of the source language in the core specification of SPIR-V, such as 10 for WGSL.
    pub language: Option<u32>,
}

/// A description of a module, and the module that the description is of.
#[derive(Debug)]
pub struct DescribedModule {
    /// The module without debug instructions and lines: see [`strip`]. Positions of the binding count here.
    pub words: Vec<u32>,
    /// The description.
    pub module: Module,
    /// Positions and ids of the description in [`words`](Self::words).
    pub binding: Binding,
    /// Functions of the description, by `OpFunction`.
    pub functions: HashMap<Id, FunctionId>,
    /// Variables of the description, by `OpVariable`, parameter, or named result.
    pub variables: HashMap<Id, VariableId>,
}

/// Describes a module from its own names, types, lines and control flow, for [`attach`](super::attach()). The table of
/// the source file lists what is taken.
///
/// Debug instructions that the module has are ignored. A structure without `Offset` has its members one after the
/// other; an image, a sampler and any other type without a size becomes an unspecified type.
///
/// # Errors
/// With the word, if the words are not a module; the errors of [`Builder::finish`].
pub fn describe(words: &[u32], source: &Source) -> Result<DescribedModule> {
    let layout = Layout::new(Words::new(words)?)?;
    let is_physical = memory_model(&layout).is_some_and(|addressing| addressing != 0);
    let target = if is_physical { Target::kernel() } else { Target::shader() };
    let mut describer = Describer {
        names: Names::new(&layout),
        layout: &layout,
        m: Builder::new(target),
        unit: UnitId::from_u32(0),
        files: HashMap::new(),
        binding: Binding::new(),
        types: Types::default(),
        functions: HashMap::new(),
        variables: HashMap::new(),
    };
    describer.unit(source)?;
    describer.types(is_physical)?;
    describer.globals()?;
    for function in layout.functions() {
        describer.function(function)?;
    }
    let Describer { m, mut binding, functions, variables, .. } = describer;
    binding.shrink();
    Ok(DescribedModule { words: strip(words)?, module: m.finish()?, binding, functions, variables })
}

/// The addressing model; 0 is logical.
fn memory_model(layout: &Layout<'_>) -> Option<u32> {
    let mut all = layout.words().between(HEADER..layout.globals_end());
    all.find(|it| it.opcode() == op::MEMORY_MODEL).and_then(|it| it.operands().first().copied())
}

/// A description under construction.
struct Describer<'l, 'a> {
    layout: &'l Layout<'a>,
    names: Names,
    m: Builder,
    unit: UnitId,
    /// Files by the `OpString` of their path.
    files: HashMap<Id, FileId>,
    binding: Binding,
    types: Types,
    functions: HashMap<Id, FunctionId>,
    variables: HashMap<Id, VariableId>,
}

impl Describer<'_, '_> {
    /// Makes the unit, with language, path and text of the first `OpSource` where the caller gives none. Without any
    /// path, the unit has the path of the first line.
    fn unit(&mut self, given: &Source) -> Result<()> {
        let (mut file, mut language, mut text) = (None, None, None::<Vec<u8>>);
        let mut is_open = false;
        for instruction in self.layout.words().between(HEADER..self.layout.globals_end()) {
            let operands = instruction.operands();
            is_open &= instruction.opcode() == op::SOURCE_CONTINUED;
            match instruction.opcode() {
                op::SOURCE if language.is_none() => {
                    language = operands.first().copied();
                    file = operands.get(2).map(|&id| Id(id));
                    text = operands.get(3..).and_then(|text| string_bytes(text, usize::MAX));
                    is_open = true;
                }
                op::SOURCE_CONTINUED if is_open => {
                    let more = string_bytes(operands, usize::MAX).unwrap_or_default();
                    text.get_or_insert_default().extend(more);
                }
                _ => {}
            }
        }
        let mut lines = self.layout.words().instructions().filter(|it| it.opcode() == op::LINE);
        let of_line = || lines.next().and_then(|it| it.operands().first().map(|&id| Id(id)));
        let file = file.or_else(of_line);
        let path = file.and_then(|file| self.layout.string(file));
        let path = given.path.clone().or(path).unwrap_or_else(|| "source".into());
        self.unit = self.m.unit(&path);
        let primary = self.m.primary_file(self.unit)?;
        self.files.extend(file.map(|file| (file, primary)));
        let text = given.text.clone().or_else(|| text.and_then(|text| String::from_utf8(text).ok()));
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.m.file_source(primary, &text)?;
        }
        let number = given.language.or(language).unwrap_or_default();
        match languages::language(number, Set::Shader) {
            Some(language) => drop(self.m.describe_unit(self.unit)?.language(language)),
            None if number != 0 => drop(self.binding.language(self.unit, number)),
            None => {}
        }
        self.types.style = types::Style::of(number);
        Ok(())
    }

    /// The file of an `OpString` with a path.
    fn file(&mut self, path: Id) -> Result<FileId> {
        if let Some(&file) = self.files.get(&path) {
            return Ok(file);
        }
        let text = self.layout.string(path).unwrap_or_default();
        let primary = self.m.primary_file(self.unit)?;
        let file = match text.is_empty() {
            true => primary,
            false => self.m.file(self.unit, &text, None)?,
        };
        self.files.insert(path, file);
        Ok(file)
    }

    /// Describes named variables outside of functions.
    fn globals(&mut self) -> Result<()> {
        for instruction in self.layout.words().between(HEADER..self.layout.globals_end()) {
            let (op::VARIABLE, Some(id)) = (instruction.opcode(), instruction.result()) else { continue };
            let (Some(name), Some(ty)) = (self.names.get(id).map(str::to_owned), instruction.result_type())
            else {
                continue;
            };
            let Some(ty) = self.target_of(ty)? else { continue };
            let variable = self.m.variable(self.unit, &name, ty)?.external().id();
            self.binding.global(variable, id);
            self.variables.insert(id, variable);
        }
        Ok(())
    }
}
