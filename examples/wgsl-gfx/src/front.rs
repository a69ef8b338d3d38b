//! The source: parsed and validated by naga; errors with file, line and column.

use std::fmt;

use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{EntryPoint, Module, Span};

/// A source file and its meaning.
#[derive(Debug)]
pub struct Source {
    pub name: String,
    pub text: String,
    pub module: Module,
    pub info: ModuleInfo,
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
        Ok(Self { name: name.into(), text: text.into(), module, info, lines })
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
