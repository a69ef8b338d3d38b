//! SPIR-V debug instructions: `OpenCL.DebugInfo.100` and `NonSemantic.Shader.DebugInfo`, versions 100, 101 and 200,
//! from any producer.
//!
//! A compiler that emits SPIR-V describes its program with a [`Builder`](crate::build::Builder), binds the described
//! functions, variables and lines to ids and positions in its module with a [`Binding`], and [attaches](attach()) the
//! result: the module gets debug instructions, and no other word changes. [`import`] goes the other way,
//! [`check`](check()) compares both, [`describe()`] generates a description from the module's own names and types, and
//! [`strip`](strip()) removes all debug instructions. `lint` diagnoses valid modules whose debug instructions mislead a debugger.
//!
//! The invariant: what a set cannot express is listed as an omission, and an import lists what it drops. Nothing is
//! guessed. Limits: specialization constants have no known value, and instructions from sets that describe graphs are
//! kept, but not read.
//!
//! One table lists for every [instruction](InstructionName) in these sets its operands, the instructions that each operand may
//! refer to, and the module section that contains it. [`read`], [`print`](print()) and [`validate`] are based on it.
//!
//! ```
//! use eitri::spirv::{InstructionName, Set, read, validate};
//!
//! # fn string(text: &str) -> Vec<u32> {
//! #     let mut bytes = text.as_bytes().to_vec();
//! #     bytes.resize(bytes.len() / 4 * 4 + 4, 0);
//! #     bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
//! # }
//! let mut words = vec![0x0723_0203, 0x0001_0000, 0, 5, 0];
//! # let import = string("OpenCL.DebugInfo.100");
//! # words.push((import.len() as u32 + 2) << 16 | 11);
//! # words.push(1);
//! # words.extend(import);
//! // ... %1 = OpExtInstImport "OpenCL.DebugInfo.100", and then:
//! words.extend([2 << 16 | 19, 2]); //             %2 = OpTypeVoid
//! words.extend([5 << 16 | 12, 2, 3, 1, 0]); //    %3 = OpExtInst %2 %1 DebugInfoNone
//! words.extend([6 << 16 | 12, 2, 4, 1, 35, 9]); // %4 = OpExtInst %2 %1 DebugSource %9
//!
//! let facts = read(&words)?;
//! let names: Vec<_> = facts.iter().map(|fact| (fact.set, fact.name())).collect();
//! assert_eq!(names[0], (Set::OpenCl, Some(InstructionName::InfoNone)));
//! assert_eq!(names[1], (Set::OpenCl, Some(InstructionName::Source)));
//!
//! // %9 is undefined, and not below the id bound.
//! let report = validate(&facts);
//! assert_eq!(report.findings[0].rule.name(), "id-range");
//! # Ok::<(), eitri::Error>(())
//! ```

mod attach;
mod attached;
mod binding;
mod build;
#[cfg(feature = "read")]
mod check;
mod describe;
mod dominance;
#[cfg(feature = "read")]
mod evaluate;
mod expression;
mod floats;
mod grammar;
mod languages;
mod layout;
mod lines;
#[cfg(feature = "lint")]
mod lint;
mod provider;
mod provider_rules;

mod import;
mod lower;
mod mode;
mod names;
mod opcodes;
mod operand;
mod operations;
mod read;
mod rows;
#[cfg(feature = "rspirv")]
pub mod rspirv;
mod strip;
mod table;
mod text;
mod uses;
mod validate;
mod words;

/// The table of instructions, for the tests that compare it with the specifications.
#[doc(hidden)]
pub mod instructions {
    pub use super::operand::{
        Area, ConstantType, CoreInstruction, OperandKind, OperandRow, Referents, Repeat,
    };
    pub use super::rows::{InstructionRow, Numbers};
}

pub use attach::attach;
pub use attached::Attached;
pub use binding::{Binding, Position, Statement};
pub use build::{ModuleBuilder, ModulePart};
#[cfg(feature = "read")]
pub use check::{Checked, Difference, check};
#[cfg(feature = "json")]
pub(crate) use describe::names_of_ids;
pub use describe::{DescribedModule, ModuleSource, describe};
#[cfg(feature = "read")]
pub use evaluate::{Evaluated, Initial, evaluate};
pub use import::{ImportedModule, import};
pub use layout::{Constant, FunctionLayout, ModuleLayout};
#[cfg(feature = "lint")]
pub use lint::lint;
pub use mode::Mode;
pub use names::Enumeration;
pub use operand::{Field, SpecificationSection};
pub use operations::{OPERATIONS, Operation, operations};
#[cfg(feature = "json")]
pub(crate) use provider::Interpretation;
pub use provider::{DebugOperation, ExtendedOperation, Index, Provider};
pub use read::{Fact, Facts, Operand, read};
pub use strip::{strip, strip_unused};
pub use table::{InstructionName, Set};
pub use text::{TextOptions, print};
pub use validate::{ValidationFinding, ValidationReport, ValidationRule, validate};
pub use words::{HEADER, Id, Ids, Instruction, Instructions, MAGIC, Words, from_bytes, is_module, to_bytes};
