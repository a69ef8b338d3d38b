//! Generates a description from the module itself: its names, types, decorations, lines and control flow.
//!
//! | instruction | description |
//! |---|---|
//! | `OpSource`, `OpSourceContinued`, `OpString`, `OpLine` | unit, language, files, texts, lines |
//! | `OpType…` with `OpName`, `OpMemberName`, `Offset`, `ArrayStride` | types |
//! | `OpVariable` with `OpName`, outside functions | the unit's variables, bound to the `OpVariable` |
//! | a variable without a name whose structure is named | a variable with the structure's name, as for a block |
//! | `OpFunction`, `OpFunctionParameter`, `OpEntryPoint` | functions, parameters, kernels |
//! | `OpVariable` with `OpName`, in a function | local variables in memory |
//! | a result with `OpName`, other than a pointer | local variables with values; nothing in an LLVM module |
//! | in an LLVM module, `x.addr` beside the parameter `x` | the parameter's memory |
//! | `OpSelectionMerge`, `OpLoopMerge` | blocks, if variables are used in them alone |

mod code;
mod context;
mod declarations;
mod globals;
mod members;
mod names;
mod scopes;
mod source;
mod style;
mod types;

#[cfg(feature = "json")]
pub(crate) use names::names_of_ids;
pub use source::ModuleSource;

use std::collections::BTreeMap;

use super::binding::Binding;
use super::layout::ModuleLayout;
use super::opcodes as op;
use super::strip::strip;
use super::words::{HEADER, Id, Words};
#[cfg(doc)]
use crate::build::Builder;
use crate::error::Result;
use crate::model::{FunctionId, Module, VariableId};
use crate::omission::Omission;
use crate::target::Target;
use context::Describer;

/// A generated description, and the module that it describes.
#[derive(Debug)]
#[non_exhaustive]
pub struct DescribedModule {
    /// The module without debug instructions and lines: see [`strip`]. The binding's positions count here.
    pub words: Vec<u32>,
    /// The description.
    pub module: Module,
    /// The description's positions and ids in [`words`](Self::words).
    pub binding: Binding,
    /// The description's functions, by `OpFunction`.
    pub functions: BTreeMap<Id, FunctionId>,
    /// The description's variables, by variable instruction, parameter, or named result.
    pub variables: BTreeMap<Id, VariableId>,
    /// Names in the module that the description lacks: variables with an unknown type, temporaries, and lines outside
    /// their file's text.
    pub omissions: Vec<Omission>,
}

/// Describes a module from its own names, types, lines and control flow, for [`attach`](super::attach()). The table in
/// the source file lists what is taken.
///
/// Debug instructions in the module are ignored. A structure without `Offset` has its members one after the other; an
/// image, a sampler and any other type without a size becomes an unspecified type.
///
/// # Errors
/// The error names the word, if the words are not a module; the errors of [`Builder::finish`].
pub fn describe(words: &[u32], source: &ModuleSource) -> Result<DescribedModule> {
    let layout = ModuleLayout::new(Words::new(words)?)?;
    let is_kernel = is_kernel(&layout);
    let target = if is_kernel { Target::kernel() } else { Target::shader() };
    let mut describer = Describer::new(&layout, target);
    source::unit(&mut describer, source)?;
    types::types(&mut describer, is_kernel)?;
    globals::globals(&mut describer)?;
    for function in layout.functions() {
        code::function(&mut describer, function)?;
    }
    let Describer { m, mut binding, functions, variables, omitted, .. } = describer;
    binding.shrink();
    let words = strip(words)?;
    let module = m.finish()?;
    let omissions = omitted.into_iter().map(|it| it.omission(&module)).collect();
    let functions = functions.into_iter().collect();
    let variables = variables.into_iter().collect();
    Ok(DescribedModule { words, module, binding, functions, variables, omissions })
}

/// Whether the module is for OpenCL: the addressing models `Physical32` and `Physical64` require the capability
/// `Addresses`, and the memory model `OpenCL` requires `Kernel`. `PhysicalStorageBuffer64` is a shader addressing
/// model.
fn is_kernel(layout: &ModuleLayout<'_>) -> bool {
    let mut globals = layout.words().between(HEADER..layout.globals_end());
    let models = globals.find(|it| it.opcode() == op::MEMORY_MODEL).map(|it| it.operands());
    matches!(models, Some([1 | 2, ..] | [0, 2]))
}
