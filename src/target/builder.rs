//! The builder of targets, and the rules that a target follows.

use std::collections::HashSet;

use triomphe::Arc;

use super::{
    CallFrames, Clobbered, ElfIdentity, Facts, Gfx, Per, Reg, RegisterNames, Registers, Relocations, Scaling,
    Space, SpaceId, Target,
};
use crate::error::{Count, Error, ErrorKind, Result};

/// Largest number of lanes of a wave: a mask of lanes has 64 bits.
const LANES: u32 = 64;
/// Largest size of one register in bits, including all lanes.
const REGISTER_BITS: u32 = 1 << 20;
/// Largest number of registers of a target, other than those with packed names.
const REGISTERS: u64 = 0x1_0000;

/// A target under construction. Made by [`Target::builder`].
///
/// Without further calls, a target has the default space of 64-bit addresses, instructions of 1 byte or more, the least
/// significant byte first, no register, and an ELF header without a machine. [`build`](Self::build) checks all of it.
#[derive(Debug, Clone)]
pub struct TargetBuilder {
    facts: Facts,
    pc: Option<String>,
    exec: Option<String>,
    cfa_register: Option<String>,
    return_register: Option<String>,
}

impl TargetBuilder {
    pub(super) fn new(name: String, lanes: u32) -> Self {
        let facts = Facts {
            name,
            registers: Vec::new(),
            spaces: vec![Space::new(SpaceId::DEFAULT, "default", 64)],
            lanes,
            scaling: Scaling::Lane,
            min_instruction_bytes: 1,
            big_endian: false,
            has_lane_expressions: false,
            pc: None,
            exec: None,
            cfa_register: None,
            clobbered: Vec::new(),
            call_frames: CallFrames {
                return_register: Reg(0),
                is_return_register_pc: false,
                data_alignment: -8,
                has_eh_frame: false,
            },
            elf: ElfIdentity {
                machine: 0,
                flags: 0,
                os_abi: 0,
                abi_version: 0,
                relocations: Relocations { abs32: 0, abs64: 0, relative32: 0 },
            },
            gfx: None,
            is_shader: false,
        };
        Self { facts, pc: None, exec: None, cfa_register: None, return_register: None }
    }

    /// Adds registers.
    pub fn registers(&mut self, registers: Registers) -> &mut Self {
        self.facts.registers.push(registers);
        self
    }

    /// Adds an address space, or replaces the default one.
    pub fn space(&mut self, space: Space) -> &mut Self {
        match space.id {
            SpaceId::DEFAULT => self.facts.spaces[0] = space,
            _ => self.facts.spaces.push(space),
        }
        self
    }

    /// Names the register that contains the pc.
    pub fn pc(&mut self, name: impl Into<String>) -> &mut Self {
        self.pc = Some(name.into());
        self
    }

    /// Names the register with the mask of active lanes, bit *k* for lane *k*.
    pub fn exec(&mut self, name: impl Into<String>) -> &mut Self {
        self.exec = Some(name.into());
        self
    }

    /// Names the register whose value in the caller is the canonical frame address, unless call frame information has a
    /// rule for it: the stack pointer of many ABIs.
    pub fn cfa_register(&mut self, name: impl Into<String>) -> &mut Self {
        self.cfa_register = Some(name.into());
        self
    }

    /// Adds registers that a call overwrites by the calling convention. Without a rule in call frame information they are
    /// undefined in the caller; all other registers have the same value there.
    pub fn clobbered(&mut self, clobbered: Clobbered) -> &mut Self {
        self.facts.clobbered.push(clobbered);
        self
    }

    /// Names the register whose rule gives the return address; `is_pc` for the pc itself, which no function preserves. DWARF 5 section 6.4.1, return_address_register. By default, the register with
    /// number 0.
    pub fn return_register(&mut self, name: impl Into<String>, is_pc: bool) -> &mut Self {
        self.return_register = Some(name.into());
        self.facts.call_frames.is_return_register_pc = is_pc;
        self
    }

    /// Sets the data alignment factor of call frame information in bytes; not 0. By default -8.
    pub fn data_alignment(&mut self, bytes: i8) -> &mut Self {
        self.facts.call_frames.data_alignment = bytes;
        self
    }

    /// Declares that the ABI uses `.eh_frame`.
    pub fn eh_frame(&mut self) -> &mut Self {
        self.facts.call_frames.has_eh_frame = true;
        self
    }

    /// Sets the units of stack and frame pointers. By default bytes of one lane.
    pub fn scaling(&mut self, scaling: Scaling) -> &mut Self {
        self.facts.scaling = scaling;
        self
    }

    /// Sets the size of the shortest instruction in bytes, at least 1: pcs are its multiples.
    pub fn min_instruction_bytes(&mut self, bytes: u8) -> &mut Self {
        self.facts.min_instruction_bytes = bytes;
        self
    }

    /// Declares that the most significant byte of a number comes first.
    pub fn big_endian(&mut self) -> &mut Self {
        self.facts.big_endian = true;
        self
    }

    /// Sets the target-dependent fields of the ELF header.
    pub fn elf(&mut self, elf: ElfIdentity) -> &mut Self {
        self.facts.elf = elf;
        self
    }

    pub(super) fn lane_expressions(&mut self) -> &mut Self {
        self.facts.has_lane_expressions = true;
        self
    }

    pub(super) fn gfx(&mut self, gfx: Gfx) -> &mut Self {
        self.facts.gfx = Some(gfx);
        self
    }

    /// Makes the target.
    ///
    /// # Errors
    /// [`InvalidTarget`](ErrorKind::InvalidTarget) for a target without a name; lanes outside of 1 to 64;
    /// registers without bits or with lanes other than 1 and the target's; two registers of one number or name; two
    /// spaces of one number or name; addresses outside of 1 to 64 bits, or of other than 64 bits in the default space,
    /// which has one copy for all; an unknown name of a register; a pc or mask of lanes in a vector register, or one
    /// that the register has not the bits for; a clobbered register that the target does not have, or one of a
    /// big-endian target that is preserved in part; a minimum instruction size or data alignment of 0.
    pub fn build(&self) -> Result<Target> {
        let wrong = |what| Error::from(ErrorKind::InvalidTarget { name: self.facts.name.to_string(), what });
        check(&self.facts).map_err(wrong)?;
        let target = self.resolve()?;
        for clobbered in &self.facts.clobbered {
            check_clobbered(&target, clobbered).map_err(wrong)?;
        }
        let Facts { pc, exec, cfa_register, lanes, .. } = *target.0;
        for (what, reg, bits) in [
            ("the pc", pc, 1),
            ("the mask of active lanes", exec, lanes),
            ("the canonical frame address", cfa_register, 1),
        ] {
            let Some(register) = reg.and_then(|reg| target.register(reg)) else { continue };
            if register.is_vector() || register.bits < bits {
                let name = register.name();
                let bits = Count(bits, "bit");
                return Err(wrong(format!("{what} is in a scalar register of at least {bits}: `{name}`")));
            }
        }
        Ok(target)
    }

    /// Makes the target of checked facts.
    pub(super) fn resolve(&self) -> Result<Target> {
        let mut target = Target(Arc::new(self.facts.clone()));
        let named = |name: &Option<String>| name.as_ref().map(|name| target.register_named(name)).transpose();
        let [pc, exec, cfa_register] = [named(&self.pc)?, named(&self.exec)?, named(&self.cfa_register)?];
        let return_register = named(&self.return_register)?;
        let facts = Arc::make_mut(&mut target.0);
        (facts.pc, facts.exec, facts.cfa_register) = (pc, exec, cfa_register);
        if let Some(reg) = return_register {
            facts.call_frames.return_register = reg;
        }
        Ok(target)
    }
}

/// Checks registers that a call overwrites.
fn check_clobbered(target: &Target, clobbered: &Clobbered) -> Result<(), String> {
    let Clobbered { first, count, preserved_bits } = *clobbered;
    for index in 0..u64::from(count) {
        let reg = first.0.checked_add(index).map(Reg);
        if reg.and_then(|reg| target.register(reg)).is_none() {
            return Err(format!(
                "the target has no register {first} + {index}: registers that a call overwrites are those of the target",
                first = first.0
            ));
        }
    }
    if preserved_bits > 0 && target.is_big_endian() {
        return Err(format!(
            "{bits} of register {first} on a big-endian target: a call preserves all of a register or nothing",
            bits = Count(preserved_bits, "preserved bit"),
            first = first.0
        ));
    }
    Ok(())
}

/// Checks the facts, other than names of registers with a role.
fn check(facts: &Facts) -> Result<(), String> {
    if facts.name.is_empty() {
        return Err("a target has a name".into());
    }
    if !(1..=LANES).contains(&facts.lanes) {
        return Err(format!("a wave has 1 to {LANES} lanes: {}", facts.lanes));
    }
    if facts.min_instruction_bytes == 0 {
        return Err("an instruction has at least 1 byte: 0".into());
    }
    if facts.call_frames.data_alignment == 0 {
        return Err("the data alignment is not 0: 0".into());
    }
    check_registers(facts)?;
    check_spaces(&facts.spaces)
}

fn check_registers(facts: &Facts) -> Result<(), String> {
    let mut left = REGISTERS;
    for range in &facts.registers {
        let Registers { first, count, bits, lanes, .. } = *range;
        let is_packed = matches!(range.names, RegisterNames::Packed { .. });
        if !is_packed && (count == 0 || first.checked_add(count).is_none()) {
            return Err(format!("registers have consecutive numbers below 2^64: {count} from {first}"));
        }
        if range.alias.is_some_and(|alias| alias.checked_add(count).is_none()) {
            return Err(format!(
                "registers have consecutive numbers below 2^64: {count} from the alias of {first}"
            ));
        }
        if bits == 0 || bits > REGISTER_BITS {
            return Err(format!("a register has 1 to {REGISTER_BITS} bits: {bits} (register {first})"));
        }
        if lanes != 1 && lanes != facts.lanes {
            return Err(format!("a register has 1 lane or {}: {lanes} (register {first})", facts.lanes));
        }
        let fits = left.checked_sub(count);
        left = fits.ok_or_else(|| format!("a target has at most {REGISTERS} registers with listed names"))?;
    }
    // The numbers are few enough now to look at each.
    let (mut numbers, mut names) = (HashSet::new(), HashSet::new());
    for (range, register) in facts.registers.iter().flat_map(|range| range.all().map(move |one| (range, one)))
    {
        let name = register.name().to_string();
        let alias = range.alias.map(|alias| Reg(alias + register.reg.0 - range.first));
        for number in [Some(register.reg), alias].into_iter().flatten() {
            let is_packed = facts.registers.iter().any(|range| range.is_packed(number));
            if is_packed || !numbers.insert(number) {
                return Err(format!("a number is that of one register: {} (`{name}`)", number.0));
            }
        }
        let is_packed = facts.registers.iter().any(|range| range.packed(&name).is_some());
        if name.is_empty() || is_packed || names.contains(&name) {
            return Err(format!("a register has a name of its own: `{name}`"));
        }
        names.insert(name);
    }
    let mut prefixes = HashSet::new();
    for range in &facts.registers {
        if let RegisterNames::Packed { prefix } = range.names
            && (!prefix.is_ascii_graphic() || !prefixes.insert(prefix))
        {
            return Err(format!("packed names begin with a printable character of their own: {prefix:#x}"));
        }
    }
    Ok(())
}

fn check_spaces(spaces: &[Space]) -> Result<(), String> {
    if (spaces[0].address_bits, spaces[0].per) != (64, Per::Process) {
        let (name, bits) = (&spaces[0].name, Count(spaces[0].address_bits, "bit"));
        return Err(format!(
            "the default space has addresses of 64 bits and one copy for all: `{name}`, {bits}"
        ));
    }
    let (mut ids, mut names) = (HashSet::new(), HashSet::new());
    for Space { id, name, address_bits, .. } in spaces {
        if !ids.insert(id) {
            return Err(format!("a number is that of one address space: {id} (`{name}`)"));
        }
        if name.is_empty() || !names.insert(name) {
            return Err(format!("an address space has a name of its own: `{name}`"));
        }
        if !(1..=64).contains(address_bits) {
            return Err(format!("an address has 1 to 64 bits: {address_bits} (`{name}`)"));
        }
    }
    Ok(())
}
