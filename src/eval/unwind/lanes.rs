//! In which lanes a frame is, and where each of them stands (R A.3.3.5, `DW_AT_LLVM_lane_pc`).

use super::super::debug_info::WithDebugInfo;
use super::super::fault::{Fault, error, ill_formed};
use super::super::read::read_bits;
use super::super::{Context, Evaluator};
use super::{Frame, Result};

impl Frame<'_, '_, '_> {
    /// Where a lane is in this frame: what `DW_AT_LLVM_lane_pc` of its subprogram says. Of an active lane that is
    /// what [`resumes_at`](Self::resumes_at) is of the frame, as it is for every lane where there is no such
    /// attribute. `None` if the lane was not active when the subprogram was entered: then it has no frame here.
    ///
    /// # Errors
    /// * An evaluation error if the subprogram has no such lane;
    /// * if the attribute cannot be evaluated or read.
    pub fn lane_pc(&self, lane: u32) -> Result<Option<u64>> {
        self.find_lane_pc(lane).map_err(|fault| self.level.fault(None, fault))
    }

    /// Whether a lane has a frame here: whether it was active when the subprogram was entered.
    ///
    /// # Errors
    /// As [`lane_pc`](Self::lane_pc).
    pub fn has_lane(&self, lane: u32) -> Result<bool> {
        Ok(self.lane_pc(lane)?.is_some())
    }

    fn find_lane_pc(&self, lane: u32) -> Result<Option<u64>, Fault> {
        let lanes = self.lanes();
        if u64::from(lane) >= lanes {
            return Err(error(format!("lane {lane} is asked for, of {lanes}")));
        }
        let said = self.stack.info.and_then(|info| Some((info, info.lane_pc(self.pc())?)));
        let Some((info, said)) = said else { return Ok(Some(self.resumes_at())) };
        let Some(encoding) = said.encoding else { return Ok(Some(self.resumes_at())) };
        let context = Context { unit: said.unit, ..self.context(encoding) };
        let machine = WithDebugInfo::new(info, self.stack, context);
        let pcs = Evaluator::new().lane_pcs(said.body, &machine, &context)?;
        let bits = u32::from(encoding.address_bytes) * 8;
        let pc = pcs.moved(i128::from(lane) * i128::from(bits))?;
        let read = read_bits(&pc, bits.into(), &machine)?;
        if read.defined.iter().all(|&byte| byte == 0) {
            return Ok(None);
        }
        if read.defined.iter().any(|&byte| byte != 0xff) {
            return Err(ill_formed(format!("some bits of the pc of lane {lane} are undefined: {pc}")));
        }
        let push = |pc: u64, byte: &u8| pc << 8 | u64::from(*byte);
        Ok(Some(match encoding.big_endian {
            true => read.bytes.iter().fold(0, push),
            false => read.bytes.iter().rev().fold(0, push),
        }))
    }
}
