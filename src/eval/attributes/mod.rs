//! Attributes of entries as a debugger evaluates them: each with the result kind, the object and the initial
//! stack that the text gives it (A.3 to A.6, and DWARF 5 where that was not changed).
//!
//! All are methods of [`Evaluator`]. Of the [`Context`] that they take, what the text says of the attribute
//! replaces result kind, object, initial stack and place; encoding, target, unit and frame stay: those of the
//! unit that has the attribute, and of the frame that the user looks at.
//!
//! | attribute | result | object | initial stack | |
//! |---|---|---|---|---|
//! | `location`, of variables and common blocks | location | none | empty | A.4.1, A.4.2 |
//! | `frame_base`, `static_link`, `return_addr` | location in memory | none | empty | A.3.3.5 |
//! | `call_value`, `call_data_value`, `call_target`: `call_site_value` | value | none | empty | A.3.4.2 |
//! | `call_data_location` | location | none | empty | A.3.4.2 |
//! | `data_member_location` | location | none | the container | A.5.7.3 |
//! | `vtable_elem_location` | location | none | the object | A.5.7.8 |
//! | `use_location` | location | none | the pointer's value, the object | A.5.14 |
//! | `data_location` | location | the descriptor | empty | A.5.18.1 |
//! | bounds, counts, strides, `allocated`, `associated`, `rank` | value | the descriptor | empty | DWARF 5, 2.19, 5.18 |
//! | `string_length` | value at a location | the descriptor | empty | DWARF 5, 5.11 |
//! | lanes | as they say | none | empty | R, A.3.3.5 |
//! | rules of call frame information | as they say | none | the canonical frame address | A.6.4 |

mod frames;
mod types;

pub use types::{MemberLocation, Property};

use super::fault::{Fault, brief, error, ill_formed};
use super::location::{Location, Storage};
use super::machine::{Body, Machine};
use super::stack::Element;
use super::value::Value;
use super::{Context, CurrentObject, Evaluator, Kind, Outcome};

/// The context in which an attribute is evaluated that needs no object and an empty stack.
fn plain<'a>(context: &Context<'a>, kind: Kind) -> Context<'a> {
    Context { kind, object: CurrentObject::Unspecified, initial: &[], ..*context }
}

/// Only one place in memory will do, as the text says of some attributes.
fn in_memory(location: Location, what: &str) -> Result<Location, Fault> {
    match location.single().map(|place| &place.storage) {
        Some(Storage::Memory { .. }) => Ok(location),
        _ => Err(ill_formed(format!("{what} is one place in memory, and not {}", brief(&location)))),
    }
}

impl Evaluator {
    /// Evaluates what an attribute says, expression, list or constant, in the context as it is.
    ///
    /// Entries of a location list are evaluated with an empty stack and no object, whatever the context says
    /// (A.2.5.5).
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate); an evaluation error if the attribute is not there.
    pub fn attribute(
        &mut self,
        body: Body<'_>,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Outcome, Fault> {
        if let Body::Expression(expr) = body {
            return self.evaluate(expr, machine, context);
        }
        self.run(machine, context, None, |run| {
            let location = run.body(run.scope, body)?;
            run.push(location.ok_or_else(|| error("the attribute is not there"))?);
            run.finish(context.kind)
        })
    }

    /// As [`attribute`](Self::attribute), to a location.
    fn located(
        &mut self,
        body: Body<'_>,
        machine: &dyn Machine,
        context: Context<'_>,
    ) -> Result<Location, Fault> {
        match self.attribute(body, machine, &Context { kind: Kind::Location, ..context })? {
            Element::Location(location) => Ok(location),
            // Not with this kind.
            Element::Value(value) => Err(ill_formed(format!("a location is wanted, not {value}"))),
        }
    }

    /// Where a variable, parameter or common block is: `DW_AT_location`, or `DW_AT_const_value` as
    /// [`Body::Constant`] (A.4.1, A.4.2).
    ///
    /// # Errors
    /// As [`attribute`](Self::attribute).
    pub fn variable_location(
        &mut self,
        location: Body<'_>,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault> {
        self.located(location, machine, plain(context, Kind::Location))
    }

    /// A value of a call site (A.3.4.2; DWARF 5, section 3.4.1): that of a parameter when the call was made,
    /// `DW_AT_call_value`, or of what it refers to, `DW_AT_call_data_value`; the address of the subprogram that is
    /// called, `DW_AT_call_target` or `DW_AT_call_target_clobbered`. It is evaluated in the calling frame: that is
    /// the context's.
    ///
    /// # Errors
    /// As [`value`](Self::value).
    pub fn call_site_value(
        &mut self,
        expr: &[u8],
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Value, Fault> {
        self.value(expr, machine, &plain(context, Kind::Value))
    }

    /// Where what a parameter refers to is during the call: `DW_AT_call_data_location` (A.3.4.2).
    ///
    /// # Errors
    /// As [`location`](Self::location).
    pub fn call_data_location(
        &mut self,
        expr: &[u8],
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault> {
        self.location(expr, machine, &plain(context, Kind::Location))
    }
}
