//! Builder interface to [`model`](crate::model), called by a compiler as it compiles. A scope is added before its
//! contents, and a function's code before its pcs are used; otherwise the order is free. The `describe_…` methods add
//! properties to an existing unit, type, function or variable.
//!
//! A call checks what its arguments show: ids, pcs, sizes and registers, with the facts that `builder` keeps about
//! earlier calls. What only the complete module shows is checked in `finish`, and `blame` names the call at fault.
//! `loc` checks locations in one pass over their nodes, because they are most of a description.
//!
//! Adding an entity returns its id, or a builder that ends in `id()`; ids are plain numbers and borrow nothing. Each
//! call checks its arguments immediately; its error names the unit, function, variable and pc range.
//! [`Builder::finish`] checks once what only the complete module shows, such as overlapping ranges and cyclic types.
//!
//! ```
//! use eitri::build::Builder;
//! use eitri::model::{BaseEncoding, LineTableRow, Loc};
//! use eitri::target::{Gfx, Target, Wave};
//!
//! let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32)?;
//! let (v3, v40, s4) = (gpu.vgpr(3)?, gpu.vgpr(40)?, gpu.sgpr(4)?);
//! let mut m = Builder::new(gpu);
//! let unit = m.unit("saxpy.cl");
//! let float = m.base_type(unit, "float", BaseEncoding::Float, 32)?;
//! let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
//! let saxpy = m.function(unit, "saxpy")?.code("saxpy", 0x180).kernel().id();
//! m.variable(saxpy, "acc", float)?.live(0x10..0x40, Loc::per_lane(v3))?;
//! m.variable(saxpy, "n", int)?
//!     .live(0x00..0x24, Loc::register(s4))?
//!     .live(0x24..0x180, Loc::lane(v40, 7))?;
//! let file = m.primary_file(unit)?;
//! m.row(saxpy, LineTableRow::new(0, file, 12).column(3))?;
//! let module = m.finish()?;
//! assert_eq!(module.variables().count(), 2);
//!
//! let mut m = Builder::new(module.target().clone());
//! let unit = m.unit("saxpy.cl");
//! let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
//! let saxpy = m.function(unit, "saxpy")?.code("saxpy", 0x180).id();
//! let error = m.variable(saxpy, "n", int)?.live(0x24..0x180, Loc::lane(v40, 70)).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "unit `saxpy.cl`, function `saxpy`, variable `n`, pc 0x24..0x180: lane 70 is out of range for a 32-lane wave"
//! );
//! # Ok::<(), eitri::Error>(())
//! ```

// Documentation lists implementations in this order: `Builder::new` comes first.
mod builder;

mod attributes;
mod blame;
mod calls;
mod control_flow;
mod finish;
mod frame;
mod functions;
mod ids;
mod imports_and_labels;
mod lanes;
mod loc;
mod macros;
mod order;
mod parts;
mod pcs;
mod properties;
#[cfg(feature = "import")]
pub(crate) mod resumed;
mod scopes;
mod sealed;
mod slots;
mod types;
mod units;
mod variables;

pub use attributes::AttributeValue;
#[cfg(feature = "json")]
pub(crate) use blame::Blame;
pub use builder::Builder;
pub use calls::{ArgumentBuilder, CallBuilder};
pub use control_flow::{BlockId, ControlFlow, ExecWrite, MaskId};
pub(crate) use control_flow::{Ends, RegionPiece};
pub use frame::FrameBuilder;
pub use functions::FunctionBuilder;
pub use imports_and_labels::{ImportBuilder, LabelBuilder};
pub use lanes::LanesBuilder;
#[cfg(any(feature = "import", feature = "json"))]
pub(crate) use loc::MAX_LEVELS;
pub(crate) use loc::scalar;
#[cfg(feature = "json")]
pub(crate) use loc::too_deep;
pub use macros::MacroBuilder;
pub use scopes::InScope;
pub(crate) use types::{CompositeSize, EnumeratorType};
pub use types::{DataMember, Extent, HasMembers, Major, Template, TypeBuilder, VariantId};
pub use units::UnitBuilder;
pub use variables::VariableBuilder;
