//! A frame's lanes, with their program locations and activity (R A.3.3.5, `DW_AT_LLVM_lane_pc` and
//! `DW_AT_LLVM_active_lane`).

use super::super::context::Context;
use super::super::debug_info::WithDebugInfo;
use super::super::fault::{Fault, error};
use super::super::machine::{Body, Machine, ReferencedEntry};
use super::super::read::read_bits;
use super::super::value::{BaseType, Value};
use super::super::value_bits::value_of_stream;
use super::call_stack::LanePcs;
use super::fault::UnwindResult;
use super::frame::Frame;

impl Frame<'_, '_, '_> {
    /// Returns the lane count of the frame's subprogram.
    pub fn lanes(&self) -> u64 {
        let lanes = self.debug_info().and_then(|info| info.lanes(self.pc()));
        lanes.unwrap_or_else(|| self.stack.machine.lanes())
    }

    /// Returns a lane's pc in this frame, from its subprogram's `DW_AT_LLVM_lane_pc`. For an active lane, and for all
    /// lanes without such an attribute, it equals the frame's [`resumes_at`](Self::resumes_at). `None` if the lane
    /// was not active when the subprogram was entered: then it has no frame here.
    ///
    /// # Errors
    /// * An evaluation error if the subprogram has no such lane;
    /// * an attribute that cannot be evaluated or read.
    pub fn lane_pc(&self, lane: u32) -> UnwindResult<Option<u64>> {
        self.find_lane_pc(lane).map_err(|fault| self.level.fault(None, fault))
    }

    /// Whether a lane has a frame here, because it was active when the subprogram was entered.
    ///
    /// # Errors
    /// Errors from [`lane_pc`](Self::lane_pc).
    pub fn has_lane(&self, lane: u32) -> UnwindResult<bool> {
        Ok(self.lane_pc(lane)?.is_some())
    }

    /// Returns this frame's active lanes, lane 0 in the least significant bit, from its subprogram's
    /// `DW_AT_LLVM_active_lane`. `None` without the attribute: then the processor's mask has them.
    ///
    /// # Errors
    /// An attribute that cannot be evaluated or read.
    pub fn active_lanes(&self) -> UnwindResult<Option<Value>> {
        let attribute = self.debug_info().and_then(|info| info.active_lane(self.pc()));
        let active = |body: Body<'_>, machine: &dyn Machine, context: &Context<'_>| {
            self.stack.with_evaluator(|evaluator| evaluator.active_lanes(body, machine, context))
        };
        self.attribute(attribute, active).map_err(|fault| self.level.fault(None, fault))
    }

    /// Evaluates the subprogram's attribute in this frame.
    fn attribute<T>(
        &self,
        attribute: Option<ReferencedEntry<'_>>,
        evaluate: impl FnOnce(Body<'_>, &dyn Machine, &Context<'_>) -> UnwindResult<T, Fault>,
    ) -> UnwindResult<Option<T>, Fault> {
        let attribute =
            attribute.and_then(|attribute| Some((self.debug_info()?, attribute.encoding?, attribute)));
        let Some((info, encoding, attribute)) = attribute else { return Ok(None) };
        let context = Context { unit: attribute.unit, ..self.context(encoding) };
        let machine = WithDebugInfo::new(info, self.stack, context);
        evaluate(attribute.body, &machine, &context).map(Some)
    }

    fn find_lane_pc(&self, lane: u32) -> UnwindResult<Option<u64>, Fault> {
        let lanes = self.lanes();
        if u64::from(lane) >= lanes {
            return Err(error(format!("lane {lane} is out of range 0..{lanes}")));
        }
        let known = self.level.lane_pcs.get_or_init(|| self.find_lane_pcs());
        let Some(LanePcs { pcs, address_bytes }) = known.as_ref().map_err(Clone::clone)? else {
            return Ok(Some(self.resumes_at()));
        };
        let bits = u64::from(*address_bytes) * 8;
        let pc = pcs.clone().moved(i128::from(lane) * i128::from(bits))?;
        let mut read = read_bits(&pc, bits, self.stack)?;
        // An undefined pc is how the attribute marks a lane that was not active on entry.
        if read.defined.iter().all(|&byte| byte == 0) {
            return Ok(None);
        }
        if read.defined.iter().any(|&byte| byte != 0xff) {
            return Err(error(format!("pc of lane {lane} is only partly defined: {pc}")));
        }
        let big_endian = self.stack.is_big_endian();
        let loaded = value_of_stream(BaseType::generic(*address_bytes), &mut read.bytes, big_endian).as_u64();
        Ok(loaded.map(|loaded| self.stack.file(self.level.file).pc(loaded, *address_bytes)))
    }

    fn find_lane_pcs(&self) -> UnwindResult<Option<LanePcs>, Fault> {
        let attribute = self.debug_info().and_then(|info| info.lane_pc(self.pc()));
        self.attribute(attribute, |body, machine, context| {
            let pcs = self.stack.with_evaluator(|evaluator| evaluator.lane_pcs(body, machine, context))?;
            Ok(LanePcs { pcs, address_bytes: context.encoding.address_bytes })
        })
    }
}
