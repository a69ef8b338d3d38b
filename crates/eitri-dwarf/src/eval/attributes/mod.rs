//! Attributes of entries as a debugger evaluates them: each with the result kind, object and initial stack that the
//! text specifies (A.3 to A.6, and DWARF 5 where unchanged).
//!
//! All are methods of [`Evaluator`]. The text's rule for the attribute replaces the result kind, object, initial stack
//! and position of the given [`Context`]; encoding, target, unit and frame remain those of the unit with the attribute,
//! and of the frame in focus.
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
//! | `lane_pc`, `active_lane` | location | none | empty | R, A.3.3.5 |
//! | `def_cfa_expression` | location in memory | none | empty | A.6.4.2.2 |
//! | rules `expression`, `val_expression` | location, value | none | the canonical frame address | A.6.4.1 |

mod frames;
mod types;

pub use types::{MemberLocation, Property};

use super::fault::{Fault, brief, error, ill_formed};
use super::location::{Location, Storage};
use super::machine::{Body, Machine};
use super::stack::Element;
use super::value::Value;
use super::{Context, CurrentObject, Evaluator, Kind, Outcome};

/// Returns the context of an attribute without an object and with an empty stack.
fn without_object<'a>(context: &Context<'a>, kind: Kind) -> Context<'a> {
    Context { kind, object: CurrentObject::Unspecified, initial: &[], ..*context }
}

/// Refuses a location that is not a single place in memory, as the text does for some attributes.
fn in_memory(location: Location, what: &str) -> Result<Location, Fault> {
    match location.single().map(|place| &place.storage) {
        Some(Storage::Memory { .. }) => Ok(location),
        _ => Err(ill_formed(format!("{what} is a single location in memory: {}", brief(&location)))),
    }
}

impl Evaluator {
    /// Evaluates an attribute's expression, list or constant in the given context.
    ///
    /// Entries of a location list are evaluated with an empty stack and without an object, regardless of the context
    /// (A.2.5.5).
    ///
    /// # Errors
    /// The errors of [`evaluate`](Self::evaluate); an evaluation error if the attribute is missing.
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
            run.push(location.ok_or_else(|| error("the entry does not have the attribute"))?);
            run.finish(context.kind)
        })
    }

    /// Evaluates an attribute to a location.
    fn located(
        &mut self,
        body: Body<'_>,
        machine: &dyn Machine,
        context: Context<'_>,
    ) -> Result<Location, Fault> {
        match self.attribute(body, machine, &Context { kind: Kind::Location, ..context })? {
            Element::Location(location) => Ok(location),
            // Unreachable with this kind.
            Element::Value(value) => Err(ill_formed(format!("a location is expected: {value}"))),
        }
    }

    /// Evaluates the location of a variable, parameter or common block: `DW_AT_location`, or `DW_AT_const_value` as
    /// [`Body::Constant`] (A.4.1, A.4.2).
    ///
    /// # Errors
    /// The errors of [`attribute`](Self::attribute).
    pub fn variable_location(
        &mut self,
        location: Body<'_>,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault> {
        self.located(location, machine, without_object(context, Kind::Location))
    }

    /// Evaluates a value of a call site (A.3.4.2; DWARF 5, section 3.4.1): that of a parameter at the call,
    /// `DW_AT_call_value`, or of its referent, `DW_AT_call_data_value`; or the address of the called subprogram,
    /// `DW_AT_call_target` or `DW_AT_call_target_clobbered`. The context's frame is the calling one.
    ///
    /// # Errors
    /// The errors of [`value`](Self::value).
    pub fn call_site_value(
        &mut self,
        expr: &[u8],
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Value, Fault> {
        self.value(expr, machine, &without_object(context, Kind::Value))
    }

    /// Evaluates the location of a parameter's referent during the call: `DW_AT_call_data_location` (A.3.4.2).
    ///
    /// # Errors
    /// The errors of [`location`](Self::location).
    pub fn call_data_location(
        &mut self,
        expr: &[u8],
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault> {
        self.location(expr, machine, &without_object(context, Kind::Location))
    }
}
