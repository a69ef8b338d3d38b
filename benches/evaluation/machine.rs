//! The stopped program that both sides query.

use eitri::eval::{Body, Machine, ReferencedEntry, Unavailable};
use eitri::op::Reg;
use eitri::target::SpaceId;

/// An x86-64 program as plain data: registers, and memory from [`START`] on.
pub struct Stopped {
    registers: [u64; 17],
    memory: Vec<u8>,
}

/// First address of the memory.
const START: u64 = 0x7fff_0000;

/// `DW_AT_frame_base` of the function, as written by clang: `DW_OP_reg6`, rbp.
pub const FRAME_BASE: &[u8] = &[0x56];

impl Stopped {
    /// A program with a chain of pointers: at rdi + 8, at 16 bytes from its target, and at 24 bytes from that one's
    /// target.
    pub fn new() -> Self {
        let mut registers = [0; 17];
        for (register, number) in registers.iter_mut().zip(0x1111..) {
            *register = number;
        }
        // rdi, rbp and rsp, by their DWARF numbers.
        (registers[5], registers[6], registers[7]) = (START + 0x100, START + 0x400, START + 0x380);
        let mut memory = vec![0; 0x1000];
        let mut pointer = |at: usize, to: u64| memory[at..at + 8].copy_from_slice(&to.to_le_bytes());
        pointer(0x108, START + 0x200);
        pointer(0x210, START + 0x300);
        pointer(0x318, START + 0x800);
        Self { registers, memory }
    }
}

impl Machine for Stopped {
    fn register(&self, reg: Reg, frame: u32, at: u32, into: &mut [u8]) -> Result<(), Unavailable> {
        let register = self.registers.get(reg.0 as usize).filter(|_| frame == 0).ok_or(Unavailable)?;
        let bytes = register.to_le_bytes();
        let at = at as usize;
        into.copy_from_slice(bytes.get(at..at + into.len()).ok_or(Unavailable)?);
        Ok(())
    }

    fn memory(
        &self,
        space: SpaceId,
        _lane: Option<u32>,
        address: u64,
        into: &mut [u8],
    ) -> Result<(), Unavailable> {
        let at =
            address.checked_sub(START).filter(|_| space == SpaceId::DEFAULT).ok_or(Unavailable)? as usize;
        into.copy_from_slice(
            self.memory.get(at..).and_then(|from| from.get(..into.len())).ok_or(Unavailable)?,
        );
        Ok(())
    }

    fn frame_base(&self, _frame: u32) -> Option<ReferencedEntry<'_>> {
        Some(ReferencedEntry::new(Body::Expression(FRAME_BASE), 0, None))
    }
}
