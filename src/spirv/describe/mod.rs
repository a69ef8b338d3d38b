//! A description of a module, made from the module itself: its names, types, decorations, lines and control flow.
//!
//! | instruction | description |
//! |---|---|
//! | `OpSource`, `OpSourceContinued`, `OpString`, `OpLine` | unit, language, files, texts, lines |
//! | `OpType…` with `OpName`, `OpMemberName`, `Offset`, `ArrayStride` | types |
//! | `OpVariable` with `OpName`, outside functions | variables of the unit, bound to the `OpVariable` |
//! | a variable of a named structure, without a name | a variable with the structure's name, as of a block |
//! | `OpFunction`, `OpFunctionParameter`, `OpEntryPoint` | functions, parameters, kernels |
//! | `OpVariable` with `OpName`, in a function | local variables in memory |
//! | a result with `OpName`, other than a pointer | local variables with values; nothing in a module of LLVM |
//! | in a module of LLVM, `x.addr` beside the parameter `x` | the memory of the parameter |
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
pub use source::Source;

use hashbrown::HashMap;

use super::binding::Binding;
use super::layout::Layout;
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

/// A description of a module, and the module that the description is of.
#[derive(Debug)]
pub struct DescribedModule {
    /// The module without debug instructions and lines: see [`strip`]. Positions of the binding count here.
    pub words: Vec<u32>,
    /// The description.
    pub module: Module,
    /// Positions and ids of the description in [`words`](Self::words).
    pub binding: Binding,
    /// The description's functions, by `OpFunction`.
    pub functions: HashMap<Id, FunctionId>,
    /// The description's variables, by variable instruction, parameter, or named result.
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
    Ok(DescribedModule { words, module, binding, functions, variables, omissions })
}

/// Whether the module is one for OpenCL: the addressing models `Physical32` and `Physical64` need the capability
/// `Addresses`, and the memory model `OpenCL` needs `Kernel`. `PhysicalStorageBuffer64` is an addressing model of shaders.
fn is_kernel(layout: &Layout<'_>) -> bool {
    let mut globals = layout.words().between(HEADER..layout.globals_end());
    let models = globals.find(|it| it.opcode() == op::MEMORY_MODEL).map(|it| it.operands());
    matches!(models, Some([1 | 2, ..] | [0, 2]))
}
