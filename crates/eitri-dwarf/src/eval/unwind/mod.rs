//! Unwinding: from the innermost frame outward, by the rules in call frame information (A.6.4).
//!
//! ```text
//!  Machine (frame 0) ─┐
//!  Frames ────────────┼─► CallStack ──► Frame 0 ──► Frame 1 ──► … ──► the entry function
//!  Architecture ──────┘      │           pc, cfa, where each register is, in which lanes it is
//!                            └─► is a Machine: expressions of any frame can be evaluated
//! ```
//!
//! A [`CallStack`] wraps the stopped [`Machine`](super::Machine). The rules locate outer frames' registers, and that
//! machine has their contents. A location found for an outer frame is therefore the machine's own, and can be read
//! and written there.
//!
//! ```
//! use eitri_dwarf::eval::{CallStack, Snapshot, read_bits};
//! use eitri_dwarf::op::{Dialect, Encoding, Reg};
//! use eitri_dwarf::read::{FrameSection, Frames, Sections};
//! use eitri_dwarf::target::{SpaceId, Target};
//!
//! // A function at 0x1000: rbx is saved at CFA-16, the return address stands at CFA-8. That of
//! // its caller, at 0x2000, is undefined: it is the entry function.
//! let section: Vec<u8> = [
//!     [&[16, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 4, 0, 8, 0, 1, 0x78, 16][..], &[0x0c, 7, 8, 0x90, 1]].concat(),
//!     [&[28, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 16][..], &[0; 7], &[0x0e, 16, 0x83, 2, 0, 0, 0, 0]].concat(),
//!     [&[28, 0, 0, 0, 0, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0, 16][..], &[0; 7], &[0x07, 16, 0, 0, 0, 0, 0, 0]].concat(),
//! ]
//! .concat();
//! let mut sections = Sections::default();
//! sections.debug_frame = &section;
//! let frames = [Frames::read(&sections, FrameSection::Debug, Encoding::new(8, Dialect::Dwarf5))?];
//!
//! let mut machine = Snapshot::default();
//! machine.pc = Some(0x1004);
//! machine.registers.insert(Reg(7), 0x7000u64.to_le_bytes().to_vec());
//! machine.store(SpaceId::DEFAULT, None, 0x7000, &0x1122u64.to_le_bytes());
//! machine.store(SpaceId::DEFAULT, None, 0x7008, &0x2005u64.to_le_bytes());
//!
//! let target = Target::x86_64();
//! let stack = CallStack::new(&machine, &frames, &target);
//! let caller = stack.innermost()?.step_out()?.expect("a caller");
//! assert_eq!((caller.resumes_at(), caller.pc()), (0x2005, 0x2004));
//! let rbx = caller.register(Reg(3))?;
//! assert_eq!(rbx.to_string(), "mem:0:0x7000");
//! assert_eq!(read_bits(&rbx, 64, &machine)?.bytes, 0x1122u64.to_le_bytes());
//! assert!(caller.step_out()?.is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod call_stack;
mod fault;
mod files;
mod frame;
mod lanes;
mod rules;

pub use call_stack::CallStack;
pub use fault::{Cause, FrameColumn, UnwindFault, UnwindResult};
pub use frame::{Frame, FramesOutward};
