//! The source: parsed and validated by naga; errors with file, line and column.

use std::collections::HashSet;
use std::fmt;

use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{Block, EntryPoint, Function, Handle, Module, Span, Statement, TypeInner};

use crate::layout;

/// A source file and its meaning.
#[derive(Debug)]
pub struct Source {
    pub name: String,
    pub text: String,
    pub module: Module,
    pub info: ModuleInfo,
    /// Functions that are called; all others are inlined.
    pub called: HashSet<Handle<Function>>,
    /// Offset of each line in bytes.
    lines: Vec<u32>,
}

/// A refusal, with its place in the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub place: String,
    pub what: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

impl std::error::Error for Refusal {}

/// Feature that this compiler does not support, and its position.
#[derive(Debug, Clone)]
pub struct Unsupported {
    pub what: String,
    pub span: Span,
}

impl Source {
    /// Parses and validates a shader.
    pub fn new(name: &str, text: &str) -> Result<Self, Refusal> {
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at as u32 + 1)).collect();
        let place = |at: Option<naga::SourceLocation>| match at {
            Some(at) => format!("{name}:{}:{}", at.line_number, at.line_position),
            None => name.to_string(),
        };
        let module = naga::front::wgsl::parse_str(text).map_err(|error| Refusal {
            place: place(error.location(text)),
            what: error.message().to_string(),
        })?;
        let capabilities = Capabilities::SUBGROUP | Capabilities::SUBGROUP_BARRIER;
        let mut validator = Validator::new(ValidationFlags::all(), capabilities);
        let info = validator.validate(&module).map_err(|error| {
            let mut what = error.as_inner().to_string();
            let mut cause = std::error::Error::source(error.as_inner());
            while let Some(because) = cause {
                what += &format!(": {because}");
                cause = because.source();
            }
            Refusal { place: place(error.location(text)), what }
        })?;
        let called = called(&module);
        Ok(Self { name: name.into(), text: text.into(), module, info, called, lines })
    }

    /// Returns the compute shader.
    pub fn entry(&self) -> Result<&EntryPoint, Refusal> {
        let mut all = self.module.entry_points.iter();
        match (all.next(), all.next()) {
            (Some(entry), None) if entry.stage == naga::ShaderStage::Compute => Ok(entry),
            _ => Err(Refusal { place: self.name.clone(), what: "a file has one compute shader".into() }),
        }
    }

    /// Line and column of an offset in bytes, counted from 1.
    pub fn line(&self, at: u32) -> (u32, u32) {
        let line = self.lines.partition_point(|&start| start <= at).max(1);
        (line as u32, at - self.lines[line - 1] + 1)
    }

    pub fn refuse(&self, unsupported: &Unsupported) -> Refusal {
        let place = match unsupported.span.to_range() {
            Some(range) => {
                let (line, column) = self.line(range.start as u32);
                format!("{}:{line}:{column}", self.name)
            }
            None => self.name.clone(),
        };
        Refusal { place, what: format!("this compiler does not have {}", unsupported.what) }
    }
}

/// Smallest number of statements of a function that is called, and largest number of dwords that it takes or returns.
const STATEMENTS: usize = 6;
pub const PASSED: usize = 12;

/// The functions that are called: those with two calls in the source and some size, whose arguments and results are
/// values of few dwords. A pointer is a variable of the caller's, so a function that takes one is inlined.
fn called(module: &Module) -> HashSet<Handle<Function>> {
    let mut calls: Vec<Handle<Function>> = Vec::new();
    let bodies = module.functions.iter().map(|(_, function)| function);
    for function in bodies.chain(module.entry_points.iter().map(|entry| &entry.function)) {
        each_statement(&function.body, &mut |statement| {
            if let Statement::Call { function, .. } = statement {
                calls.push(*function);
            }
        });
    }
    let fits = |types: &mut dyn Iterator<Item = Handle<naga::Type>>| {
        let dwords = types.map(|ty| match module.types[ty].inner {
            TypeInner::Pointer { .. } | TypeInner::ValuePointer { .. } => None,
            _ => Some(layout::leaves(module, ty)?.len()),
        });
        dwords.sum::<Option<usize>>().is_some_and(|dwords| dwords <= PASSED)
    };
    let is_called = |&(handle, function): &(Handle<Function>, &Function)| {
        let mut size = 0;
        each_statement(&function.body, &mut |_| size += 1);
        calls.iter().filter(|of| **of == handle).count() > 1
            && size >= STATEMENTS
            && fits(&mut function.arguments.iter().map(|argument| argument.ty))
            && fits(&mut function.result.iter().map(|result| result.ty))
    };
    module.functions.iter().filter(is_called).map(|(handle, _)| handle).collect()
}

/// Visits the statements of a block and of those in it, without evaluations of expressions.
fn each_statement(block: &Block, visit: &mut dyn FnMut(&Statement)) {
    for statement in block {
        let inner: Vec<&Block> = match statement {
            Statement::Emit(_) => continue,
            Statement::Block(block) => vec![block],
            Statement::If { accept, reject, .. } => vec![accept, reject],
            Statement::Switch { cases, .. } => cases.iter().map(|case| &case.body).collect(),
            Statement::Loop { body, continuing, .. } => vec![body, continuing],
            _ => Vec::new(),
        };
        visit(statement);
        inner.into_iter().for_each(|block| each_statement(block, visit));
    }
}
