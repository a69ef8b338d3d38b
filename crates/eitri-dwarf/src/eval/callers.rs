//! Frame facts that need both debug information and the caller: the canonical frame address, by call frame
//! information, and the values that a caller passed, for the called frame's entry values (DWARF 5, section 3.4).

use gimli::constants as dw;

use super::call_sites::{
    ORIGIN, PARAMETER, PARAMETERS, TARGET, VALUE, declaration, entry_with, first, reference, register,
};
use super::context::Context;
use super::debug_info::DebugInfo;
use super::location::Location;
use super::machine::{Body, CallValue, Machine};
use super::unwind::CallStack;
use crate::op::Encoding;
use crate::read::{self, FrameSection, Frames, ResolvedValue};

impl<'o> DebugInfo<'_, 'o> {
    /// Returns the innermost frame's canonical frame address, from call frame information.
    pub(super) fn cfa(&self, machine: &dyn Machine, context: &Context<'_>) -> Option<Location> {
        CallStack::new(machine, &self.frames(), context.target).cfa(0)
    }

    /// Returns the reason why call frame information does not give the innermost frame's canonical frame address.
    pub(super) fn cfa_problem(&self, machine: &dyn Machine, context: &Context<'_>) -> Option<String> {
        CallStack::new(machine, &self.frames(), context.target).cfa_problem(0)
    }

    fn frames(&self) -> [Frames<'o>; 2] {
        [FrameSection::Debug, FrameSection::Eh].map(|section| self.dwarf.frames_of_code(section))
    }

    /// Returns the value that a frame's caller passed, from the call site's first matching parameter.
    ///
    /// The caller is the frame that unwinding finds, and need not have called the frame's subprogram: a subprogram
    /// that it called can have jumped there. The call site must therefore name the subprogram, or compute its
    /// address.
    fn passed(
        &self,
        machine: &dyn Machine,
        frame: u32,
        matches: impl Fn(read::Entry<'_, 'o>) -> bool,
    ) -> Option<CallValue<'_>> {
        let callee = self.subprogram(machine.pc(frame)?)?;
        let calls = self.calls();
        // The caller's program location is the address before the return address.
        let return_pc = machine.pc(frame.checked_add(1)?)?.checked_add(1)?;
        let from = calls.sites.partition_point(|&(pc, _)| pc < return_pc);
        let &[(_, site)] = calls.sites[from..].chunk_by(|left, right| left.0 == right.0).next()? else {
            // Several call sites with one return pc: which of them called is unknown.
            return None;
        };
        let site = self.dwarf().entry_at(site).filter(|_| calls.sites[from].0 == return_pc)?;
        let target = match reference(site, &ORIGIN) {
            Some(origin) if calls.subprogram(self.dwarf(), origin) == Some(callee.offset()) => None,
            Some(_) => return None,
            None => match first(site, &TARGET)? {
                ResolvedValue::Expr(expr) => {
                    // The first range begins at the entry point, which a call through an address reaches.
                    let first = callee.ranges().ok()?.first()?.start;
                    Some((entry_with(site, Body::Expression(expr)), first))
                }
                _ => return None,
            },
        };
        // A later tail call could have replaced the parameters.
        if calls.can_call_itself(callee) {
            return None;
        }
        let mut parameters = site.children().filter(|child| PARAMETERS.contains(&child.tag()));
        let parameter = parameters.find(|parameter| matches(*parameter))?;
        match first(parameter, &VALUE)? {
            ResolvedValue::Expr(expr) => {
                Some(CallValue { value: entry_with(parameter, Body::Expression(expr)), target })
            }
            _ => None,
        }
    }

    /// Implements [`Machine::entry_value`].
    pub(super) fn entry_value(
        &self,
        machine: &dyn Machine,
        expr: &[u8],
        encoding: Encoding,
        frame: u32,
    ) -> Option<CallValue<'_>> {
        self.passed(machine, frame, |parameter| match parameter.attr(dw::DW_AT_location) {
            Some(ResolvedValue::Expr(location)) => {
                location == expr || {
                    let reg = register(expr, encoding);
                    // DWARF 5's `DW_OP_regx 5` and `DW_OP_reg5` name the same register in different bytes.
                    reg.is_some() && reg == register(location, parameter.unit().encoding)
                }
            }
            _ => false,
        })
    }

    /// Implements [`Machine::call_value`].
    pub(super) fn call_value(
        &self,
        machine: &dyn Machine,
        parameter: u64,
        frame: u32,
    ) -> Option<CallValue<'_>> {
        let parameter = declaration(self.dwarf().entry_at(parameter)?).offset();
        self.passed(machine, frame, |passed| {
            reference(passed, &PARAMETER).is_some_and(|entry| declaration(entry).offset() == parameter)
        })
    }
}
