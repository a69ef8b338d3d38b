//! The reference evaluator: an expression's meaning, step by step.
//!
//! The evaluator follows "Allow Location Descriptions on the DWARF Expression Stack" (cited as A.2.5 and so on) and
//! the AMDGPU extension built on it (cited as R). An expression is a sequence of operations on a stack, whose
//! elements are values and locations. The evaluator shares the operation table with the rest of the crate, and no
//! code with the writer of expressions, so that it can check the writer. `run` is the loop over operations, `ops` has
//! the meaning of each; `fast` computes the same results sooner for common operations, and `wave` for all lanes at
//! once.
//!
//! ```text
//!  bytes ──► Decoder ──► ops ──► Element (Value | Location)
//!                         │ ▲
//!                         ▼ │
//!                  Machine, Architecture          read_bits, spans ◄── Location
//! ```
//!
//! * A [`Machine`] is a stopped program; a [`Snapshot`] is a machine as plain data. An [`Architecture`] lists the
//!   registers and address spaces; every [`Target`](crate::target::Target) is an architecture, and so is [`Layout`].
//! * An [`Evaluator`] runs an expression or a location list in a [`Context`], and an expression also in all lanes of a
//!   [`wave`] at once.
//! * [Attributes](attributes) have their own methods, one for each rule in the specification.
//! * A [`CallStack`] unwinds: it finds the callers of a machine's frame, and the locations of their registers.
//! * [`read_bits`] and [`write_bits`] access the bits at a resulting location; [`spans()`] lists them by storage.
//!
//! # Faults
//!
//! A [`Fault`] has one of four [classes](Class), the operation and the broken rule. No input causes a panic or an
//! endless evaluation: exceeding the [`Limits`] is an evaluation error.
//!
//! ```
//! use eitri_dwarf::eval::{Context, Evaluator, Snapshot, spans};
//! use eitri_dwarf::op::{Dialect, Encoding, text};
//! use eitri_dwarf::target::Target;
//!
//! // The element of lane 3 of v0, in a wave of 32 lanes.
//! let target = Target::named("amdgpu-gfx1030-wave32")?;
//! let encoding = Encoding::new(8, Dialect::Llvm);
//! let expr = text::parse("regx v0; push_lane; lit4; mul; offset", encoding, Some(&target))?;
//! let mut machine = Snapshot::default();
//! (machine.lane, machine.lanes) = (Some(3), Some(32));
//! let context = Context::new(encoding, &target);
//! let location = Evaluator::new().location(expr.bytes(), &machine, &context)?;
//! assert_eq!(location.to_string(), "reg:1536+96");
//! assert_eq!(spans(&location, 32, target.byte_order())?.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![doc = include_str!("decisions.md")]

// Documentation lists implementations in this order: `Evaluator::evaluate` comes before the attributes.
mod evaluator;

mod architecture;
mod arith;
pub mod attributes;
mod branch;
mod call_sites;
mod callers;
mod context;
mod conversions;
mod debug_info;
mod decoding;
mod elements;
mod fast;
pub mod fault;
mod float;
pub(crate) mod forward;
mod integer;
mod lane_numbers;
mod limits;
mod lists;
pub(crate) mod location;
pub(crate) mod machine;
mod members;
mod nested;
mod ops;
mod order;
mod per_lane;
mod ptx_registers;
mod read;
mod run;
mod scope;
mod snapshot;
mod spans;
mod stack;
pub mod unwind;
pub(crate) mod value;
mod value_bits;
pub mod wave;
mod wide;
mod word;
mod write;

pub use architecture::{Architecture, Layout, SpaceLayout};
pub use attributes::{MemberLocation, TypeProperty};
pub use context::{Context, CurrentObject, ExpressionSite, ResultKind};
pub use debug_info::{DebugInfo, WithDebugInfo};
pub use elements::Elements;
pub use evaluator::Evaluator;
pub use fault::{Class, Fault, InnerOperation};
pub use limits::Limits;
pub use lists::{EncodedList, LocationListEntry};
pub use location::{Composite, ImplicitBits, Location, Part, SingleLocation, Storage};
pub use machine::{Body, CallValue, Machine, ReferencedEntry, Unavailable};
pub use members::member_location;
pub use ptx_registers::PtxRegisters;
pub use read::{Bits, read_bits, read_pointer};
pub use run::Step;
pub use snapshot::{Caller, OwnedBody, Snapshot};
pub use spans::{Span, are_equal, spans};
#[doc(hidden)]
pub use spans::{all_parts, hash, span_part};
pub use stack::{Element, Outcome};
pub use unwind::{CallStack, Frame, FrameColumn, UnwindFault};
pub use value::{BaseType, ImplicitPointer, TypeEncoding, Value};
pub use wave::{InLane, LaneBits, WaveBits, WaveOutcome};
pub use write::{MachineMut, write_bits};
