//! A description of a module, made from the module itself: its names, types, decorations, lines and control flow.
//!
//! | instruction | description |
//! |---|---|
//! | `OpSource`, `OpSourceContinued`, `OpString`, `OpLine` | unit, language, files, texts, lines |
//! | `OpType…` with `OpName`, `OpMemberName`, `Offset`, `ArrayStride` | types |
//! | `OpVariable` with `OpName`, outside of functions | variables of the unit, bound to the `OpVariable` |
//! | a variable of a named structure, without a name | a variable with the name of the structure, as of a block |
//! | `OpFunction`, `OpFunctionParameter`, `OpEntryPoint` | functions, parameters, kernels |
//! | `OpVariable` with `OpName`, in a function | local variables in memory |
//! | a result with `OpName`, other than a pointer | local variables with values; nothing in a module of LLVM |
//! | in a module of LLVM, `x.addr` beside the parameter `x` | the memory of the parameter |
//! | `OpSelectionMerge`, `OpLoopMerge` | blocks, if variables are used in them alone |

mod code;
mod declarations;
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
use super::lines::Texts;
use super::opcodes as op;
use super::strip::strip;
use super::words::{HEADER, Id, Instruction, Words, string_bytes};
use crate::build::Builder;
use crate::error::Result;
use crate::model::{FileId, FunctionId, Module, SourceLine, UnitId, VariableId};
use crate::omission::{Omission, Property, Reason, Subject};
use crate::target::Target;
use declarations::Declarations;
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
    /// Variables of the description, by variable instruction, parameter, or named result.
    pub variables: HashMap<Id, VariableId>,
    /// Names of the module that the description lacks: of variables whose type is unknown, of temporaries, and lines
    /// outside the text of their file.
    pub omissions: Vec<Omission>,
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
    let is_kernel = is_kernel(&layout);
    let target = if is_kernel { Target::kernel() } else { Target::shader() };
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
        texts: Texts::default(),
        declarations: Declarations::default(),
        beyond: Vec::new(),
        omitted: Vec::new(),
    };
    describer.unit(source)?;
    describer.types(is_kernel)?;
    describer.globals()?;
    for function in layout.functions() {
        describer.function(function)?;
    }
    let Describer { m, mut binding, functions, variables, omitted, .. } = describer;
    binding.shrink();
    let (words, module) = (strip(words)?, m.finish()?);
    let omissions = omitted.into_iter().map(|it| it.omission(&module)).collect();
    Ok(DescribedModule { words, module, binding, functions, variables, omissions })
}

/// Whether the module is one for OpenCL: the addressing models `Physical32` and `Physical64` need the capability
/// `Addresses`, and the memory model `OpenCL` needs `Kernel`. `PhysicalStorageBuffer64` is an addressing model of shaders.
fn is_kernel(layout: &Layout<'_>) -> bool {
    let mut all = layout.words().between(HEADER..layout.globals_end());
    let models = all.find(|it| it.opcode() == op::MEMORY_MODEL).map(|it| it.operands());
    matches!(models, Some([1 | 2, ..] | [0, 2]))
}

/// An omission, before the description is complete.
struct Omitted {
    subject: Subject,
    property: Property,
    reason: Reason,
    /// Name of the variable that is missing.
    name: String,
}

impl Omitted {
    fn omission(self, module: &Module) -> Omission {
        let Self { subject, property, reason, name } = self;
        let mut omission = Omission::of_module(module, subject, property, reason);
        if !name.is_empty() {
            omission.names.object = name;
        }
        omission
    }
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
    /// The text of the primary file, by lines.
    texts: Texts,
    /// Declarations in the text of the primary file.
    declarations: Declarations,
    /// Lines outside the text that the function under construction has.
    beyond: Vec<Reason>,
    omitted: Vec<Omitted>,
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
            self.texts.add(primary, &text);
            if self.texts.has(primary) {
                self.declarations = Declarations::new(&text);
            }
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

    /// The line of an `OpLine`, as far as the text of the file has it; `None` for line 0. Excess is kept for
    /// `omit_lines`.
    fn line(&mut self, &[file, line, column]: &[u32; 3]) -> Result<Option<SourceLine>> {
        let file = self.file(Id(file))?;
        let (line, excess) = self.texts.fit(SourceLine { file, line, column });
        if let Some(reason) = excess.filter(|reason| !self.beyond.contains(reason)) {
            self.beyond.push(reason);
        }
        Ok(Some(line).filter(|line| line.line != 0))
    }

    /// Lists the lines outside the text of their files since the last call.
    fn omit_lines(&mut self, subject: Subject) {
        for reason in core::mem::take(&mut self.beyond) {
            self.omit(subject, Property::Line, reason);
        }
    }

    /// Lists a property that the description lacks.
    fn omit(&mut self, subject: Subject, property: Property, reason: Reason) {
        self.omitted.push(Omitted { subject, property, reason, name: String::new() });
    }

    /// Lists a variable that is not described.
    fn omit_variable(&mut self, subject: Subject, name: &str, reason: Reason) {
        self.omitted.push(Omitted { subject, property: Property::Entity, reason, name: name.to_owned() });
    }

    /// Describes variables outside of functions: with their own name, or with that of their structure, as blocks have
    /// whose members the source names directly.
    fn globals(&mut self) -> Result<()> {
        let mut line = None;
        for instruction in self.layout.words().between(HEADER..self.layout.globals_end()) {
            match (instruction.opcode(), instruction.operands().as_array()) {
                (op::LINE, Some(at)) => line = self.line(at)?,
                (op::NO_LINE, _) => line = None,
                _ => {}
            }
            let (Some(id), Some(to)) = (instruction.result(), self.contents(&instruction)) else { continue };
            let name = self.names.get(id).or_else(|| self.names.structure(self.element(to)));
            let Some(name) = name.map(str::to_owned) else { continue };
            // spirv-val 2025.5 takes no untyped variable as that of a DebugGlobalVariable.
            let is_untyped = instruction.opcode() == op::UNTYPED_VARIABLE;
            let Some(ty) = self.ty(to)?.filter(|_| !is_untyped) else {
                self.omit_variable(Subject::Unit(self.unit), &name, Reason::NoDescription(id.0));
                continue;
            };
            let file = self.m.primary_file(self.unit)?;
            let line = line
                .or_else(|| Some(SourceLine { file, line: self.declarations.variable(&name)?, column: 0 }));
            let mut variable = self.m.variable(self.unit, &name, ty)?;
            line.map(|line| variable.declared_at(line).id());
            let variable = variable.external().id();
            self.binding.global(variable, id);
            self.variables.insert(id, variable);
        }
        self.omit_lines(Subject::Unit(self.unit));
        Ok(())
    }

    /// The type of what a variable instruction holds; `None` for any other instruction.
    fn contents(&self, it: &Instruction<'_>) -> Option<Id> {
        match it.opcode() {
            op::VARIABLE => self.types.pointee(it.result_type()?),
            // The data type is an operand, which not all storage classes need.
            op::UNTYPED_VARIABLE => it.operands().get(1).map(|&ty| Id(ty)),
            _ => None,
        }
    }

    /// The structure in arrays of it; the type itself if it is not an array of structures.
    fn element(&self, mut ty: Id) -> Id {
        for _ in 0..MOST_ARRAYS {
            let Some(it) = self.layout.definition(ty) else { break };
            match (it.opcode(), it.operands().first()) {
                (op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY, Some(&of)) => ty = Id(of),
                (op::TYPE_STRUCT, _) => return ty,
                _ => break,
            }
        }
        Id(0)
    }
}

/// The most arrays of arrays around a block.
const MOST_ARRAYS: usize = 64;
