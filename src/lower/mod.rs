//! Lowering of the model to DWARF. No other room knows both.
//!
//! [`lower`] walks the module once, unit by unit, and appends entries, lists and rows to the sections as it reaches
//! them. A unit is written in isolation, so that threads can lower units side by side: references to other units stay
//! open until `link` joins the sections and knows each unit's offset. Within a unit, `entry` is the writer that all kinds
//! of entries share, and each kind has a file of functions over this writer; `loc` turns one location into one
//! expression. To follow one fact to its bytes, start at `unit::write`, go to the file of its kind of entry, and from
//! there to `loc` for a location or to `lists` for pc ranges.
//!
//! What a consumer cannot express is decided where the bytes would be written: the function returns an error with the
//! construct, and its caller turns the error into an [`Omission`](crate::omission::Omission), or returns it with
//! [`Policy::Strict`]. `unencodable` lists the properties that no attribute encodes. Since an omission can change which
//! attributes an entry has, expressions are encoded before the entry that contains them is begun.
//!
//! ```
//! use eitri::build::Builder;
//! use eitri::lower::{Consumer, Policy, lower};
//! use eitri::model::{BaseEncoding, Loc};
//! use eitri::target::Target;
//!
//! let gpu = Target::named("amdgpu-gfx1030-wave32")?;
//! let v3 = gpu.vgpr(3)?;
//! let mut m = Builder::new(gpu);
//! let unit = m.unit("scale.cl");
//! let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
//! let kernel = m.function(unit, "scale")?.code("scale", 0x28).kernel().id();
//! m.variable(kernel, "x", int)?.live(0x04..0x28, Loc::per_lane(v3))?;
//! let module = m.finish()?;
//!
//! // LLVM's tools read the element of a lane. Readers of standard DWARF have no operation for
//! // it.
//! let written = lower(&module, &Consumer::llvm(), Policy::Strict)?;
//! assert!(written.omissions.is_empty());
//! assert!(written.sections.iter().any(|section| section.name == ".debug_loclists"));
//! let written = lower(&module, &Consumer::dwarf5(), Policy::Partial)?;
//! assert_eq!(written.omissions.len(), 1);
//! assert!(lower(&module, &Consumer::dwarf5(), Policy::Strict).is_err());
//! # Ok::<(), eitri::Error>(())
//! ```

mod by_unit;
mod calls;
mod children;
mod constants;
mod directives;
mod entry;
mod entry_numbers;
mod expressions;
mod frame;
mod frame_table;
mod functions;
mod homes;
mod imports_and_labels;
mod inlined_rows;
mod lanes;
mod lines;
mod link;
mod lists;
mod loc;
mod lowered;
mod lowering;
mod macros;
mod open;
mod procedures;
mod register_types;
mod scopes;
mod section;
mod sequences;
mod shared_macros;
mod signature;
mod split;
mod stream;
mod strings;
mod thread_locals;
mod type_unit;
mod type_units;
mod types;
mod unencodable;
mod unit;
mod unit_entry;
mod units;
mod variables;

#[doc(no_inline)]
pub use crate::consumer::{Consumer, Policy};
pub use lowered::{Lowered, LoweredUnit, SplitUnit};
pub use stream::Stream;
pub(crate) use thread_locals::thread_locals;
pub use units::Units;

use crate::emit::addr::Addresses;
use crate::error::{Error, Result};
use crate::model::{Loc, Module, Node, Stack};
use crate::op::Expr;

/// Writes the module's debug sections for a consumer.
///
/// The bytes depend on the arguments only.
///
/// # Errors
/// [`ErrorKind::Inexpressible`](crate::error::ErrorKind::Inexpressible) with [`Policy::Strict`];
/// [`ErrorKind::TooLarge`](crate::error::ErrorKind::TooLarge) where a section does not fit the 32-bit DWARF format;
/// [`ErrorKind::InvalidConsumer`](crate::error::ErrorKind::InvalidConsumer) for a consumer that [`Units::new`] refuses.
///
/// # Example
///
/// ```
/// # use eitri::build::Builder;
/// # use eitri::model::{BaseEncoding, Loc};
/// # use eitri::target::Target;
/// # use eitri::emit::RelocationTarget;
/// # use eitri::lower::{Consumer, Policy, lower};
/// # let gpu = Target::named("amdgpu-gfx1030-wave32")?;
/// # let (v3, v4) = (gpu.vgpr(3)?, gpu.vgpr(4)?);
/// # let mut m = Builder::new(gpu);
/// # let unit = m.unit("scale.cl");
/// # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
/// # let kernel = m.function(unit, "scale")?.code("scale", 0x28).kernel().id();
/// # m.variable(kernel, "x", int)?.live(0x04..0x28, Loc::per_lane(v3))?;
/// # let module = m.finish()?;
/// // Sections for a writer of objects. A field that refers to code has a relocation to the
/// // function's symbol.
/// let written = lower(&module, &Consumer::llvm(), Policy::Strict)?;
/// let mut sections = written.sections.iter();
/// let addresses = sections.find(|section| section.name == ".debug_addr").expect("DWARF 5");
/// let relocation = &addresses.relocations[0];
/// // The first address is after the header of 8 bytes.
/// assert_eq!((relocation.offset, relocation.target.symbol()), (8, Some("scale")));
/// # Ok::<(), eitri::Error>(())
/// ```
pub fn lower(module: &Module, consumer: &Consumer, policy: Policy) -> Result<Lowered> {
    let units = Units::new(module, consumer, policy)?;
    let mut linker = link::Linker::new(&units);
    units.push_all(&mut linker)?;
    directives::added(&units, linker.finish()?)
}

/// Returns one location's expression, for a user who writes the rest of the DWARF by other means.
///
/// * `bits` – the object's size, if it is known.
/// * `stack` – the function's stack frame, for stack slots.
///
/// # Errors
/// The errors of [`VariableBuilder::live`](crate::build::VariableBuilder::live) and
/// [`ErrorKind::Inexpressible`](crate::error::ErrorKind::Inexpressible). A location that refers to a symbol, a variable
/// or a procedure has no expression by itself: [`ErrorKind::BadArgument`](crate::error::ErrorKind::BadArgument).
///
/// # Example
///
/// ```
/// # use eitri::lower::{Consumer, lower_loc};
/// # use eitri::model::{Loc, Stack};
/// # use eitri::op::text;
/// # use eitri::target::Target;
/// let gpu = Target::named("amdgpu-gfx1030-wave32")?;
/// let consumer = Consumer::llvm();
/// let x = Loc::per_lane(gpu.vgpr(3)?);
/// let expr = lower_loc(&x, Some(32), &gpu, Stack::kernel(&gpu), &consumer)?;
/// // The current lane times 4 bytes: the example of AMD's specification for a value in each
/// // lane.
/// let text = text::print(expr.bytes(), consumer.encoding(gpu.address_bytes()), Some(&gpu));
/// assert_eq!(text, "regx v3; push_lane; lit4; mul; offset");
/// # Ok::<(), eitri::Error>(())
/// ```
pub fn lower_loc(
    loc: &Loc,
    bits: Option<u64>,
    target: &crate::target::Target,
    stack: Stack,
    consumer: &Consumer,
) -> Result<Expr> {
    let refers = |node| {
        matches!(
            node,
            Node::Address(..) | Node::PointerTo(..) | Node::PassedValue(_) | Node::Call(_) | Node::Expr(_)
        )
    };
    if loc.nodes().any(refers) {
        let what = "location references a symbol, variable or procedure; expected none without a module";
        return Err(Error::bad_argument(what));
    }
    if let Some(reg) = stack.base {
        crate::build::scalar(target, reg)?;
    }
    let mut builder = crate::build::Builder::new(target.clone());
    let unit = builder.unit("");
    let loc = builder.loc(unit, loc, bits)?;
    let module = builder.finish()?;
    let mut out = Vec::new();
    let references = loc::References {
        addresses: &mut Addresses::default(),
        pending: &mut Vec::new(),
        facts: &mut loc::Facts::default(),
        homes: None,
    };
    let entries = &loc::NoEntries;
    let extent = loc::Extent::AllPcs;
    let mut sink = loc::Sink { out: &mut out, references, entries, stack, extent };
    loc::Lowering::new(&module, consumer).lower(loc, bits, &mut sink)?;
    Ok(Expr::raw(out))
}
