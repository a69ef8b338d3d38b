//! Descriptions from the debug information of any producer.

mod expression;

#[doc(hidden)]
pub use expression::{
    Context, EntryOffset, InitialStack, Procedure, References, Unresolved, Untyped, UntypedReason, location,
    value,
};
