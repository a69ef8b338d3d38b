//! Attributes of subprograms, and the rules of call frame information.

use super::super::fault::{Fault, brief, ill_formed};
use super::super::location::{ImplicitBits, Location, Storage};
use super::super::machine::{Body, Entry, Machine};
use super::super::order::stream_of_value;
use super::super::stack::Element;
use super::super::{Context, Evaluator, ExpressionSite, Kind};
use super::{in_memory, without_object};
use crate::error::Count;
use crate::op::Reg;

/// Returns the context of an expression in call frame information, which belongs to no unit, and may not use all
/// operations (A.6.4.2).
fn in_cfi<'a>(context: &Context<'a>, kind: Kind) -> Context<'a> {
    Context { place: ExpressionSite::Cfi, ..without_object(context, kind) }
}

impl Evaluator {
    /// Evaluates the frame base of a subprogram: `DW_AT_frame_base` (A.3.3.5). If the attribute is a register, the
    /// result is the location in the default space that the register contains.
    ///
    /// # Errors
    /// Ill-formed if it contains `DW_OP_fbreg`, or is not a single place in a register or in memory; and the errors of
    /// [`attribute`](Self::attribute).
    pub fn frame_base(
        &mut self,
        frame_base: Body<'_>,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault> {
        let entry = Entry { body: frame_base, unit: context.unit, encoding: None };
        self.run(machine, &without_object(context, Kind::Location), None, |run| run.frame_base_of(&entry))
    }

    /// Evaluates the canonical frame address of the enclosing subprogram's frame: `DW_AT_static_link` (A.3.3.5).
    ///
    /// # Errors
    /// Ill-formed if it is not a single place in memory; and the errors of [`attribute`](Self::attribute).
    pub fn static_link(
        &mut self,
        static_link: Body<'_>,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault> {
        in_memory(self.variable_location(static_link, machine, context)?, "a static link (A.3.3.5)")
    }

    /// Evaluates the location of the return address: `DW_AT_return_addr` (A.3.3.5).
    ///
    /// # Errors
    /// Ill-formed if it is not a single place in memory; and the errors of [`attribute`](Self::attribute).
    pub fn return_addr(
        &mut self,
        return_addr: Body<'_>,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault> {
        in_memory(self.variable_location(return_addr, machine, context)?, "a return address (A.3.3.5)")
    }

    /// Evaluates the canonical frame address by `DW_CFA_def_cfa_expression` (A.6.4.2.2).
    ///
    /// # Errors
    /// Ill-formed if it is not a single byte of memory; and the errors of [`location`](Self::location).
    pub fn cfa_expression(
        &mut self,
        expr: &[u8],
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault> {
        let found = self.location(expr, machine, &in_cfi(context, Kind::Location))?;
        let cfa = in_memory(found, "a canonical frame address (A.6.4.2.2)")?;
        match cfa.single().is_some_and(|place| place.offset.is_multiple_of(8)) {
            true => Ok(cfa),
            false => {
                let cfa = brief(&cfa);
                Err(ill_formed(format!("a canonical frame address within a byte: {cfa} (A.6.4.2.2)")))
            }
        }
    }

    /// Evaluates the location of a register of the caller by the rule `expression(E)` (A.6.4.1).
    ///
    /// # Errors
    /// The errors of [`location`](Self::location).
    pub fn expression_rule(
        &mut self,
        expr: &[u8],
        cfa: &Location,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault> {
        let initial = [Element::Location(cfa.clone())];
        let context = Context { initial: &initial, ..in_cfi(context, Kind::Location) };
        self.location(expr, machine, &context)
    }

    /// Evaluates the value of a register of the caller by the rule `val_expression(E)`, as an implicit location
    /// (A.6.4.1).
    ///
    /// # Errors
    /// Ill-formed if the value and the register differ in size; and the errors of [`value`](Self::value).
    pub fn val_expression_rule(
        &mut self,
        expr: &[u8],
        reg: Reg,
        cfa: &Location,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault> {
        let initial = [Element::Location(cfa.clone())];
        let context = Context { initial: &initial, ..in_cfi(context, Kind::Value) };
        let value = self.value(expr, machine, &context)?;
        let bits = context.target.register_bits(reg).map(u64::from);
        if bits != Some(value.ty().size()) {
            let rule = format!(
                "the value of a register has the size of the register, {} (A.6.4.1), not {}",
                Count(bits.unwrap_or(0), "bit"),
                value.ty().size()
            );
            return Err(ill_formed(rule).about(reg));
        }
        Ok(match value.as_pointer() {
            Some(pointer) => Storage::ImplicitPointer(pointer).into(),
            None => stream_of_value(&value, machine.is_big_endian(), |bytes| {
                Storage::Implicit(ImplicitBits::new(bytes, value.ty().size())).into()
            }),
        })
    }
}
