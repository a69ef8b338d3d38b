//! The target builder, and the rules that a target follows.

use std::collections::HashSet;

use std::sync::Arc;

use super::{
    CallFrames, Clobbered, ElfIdentity, Facts, Gfx, Per, Reg, RegisterNames, Registers, Relocations, Scaling,
    Space, SpaceId, Target, UnspecifiedRegisters,
};
use crate::error::{Count, Error, ErrorKind, Result};

/// Maximum number of lanes in a wave: a lane mask has 64 bits.
const LANES: u32 = 64;
/// Maximum size of one register in bits, including all lanes.
const REGISTER_BITS: u32 = 1 << 20;
/// Maximum number of registers in a target, not counting packed names. Each listed number and name is checked, so the
/// limit bounds the time.
const REGISTERS: u64 = 0x1_0000;

/// A target under construction, from [`Target::builder`].
///
/// By default, a target has a default space with 64-bit addresses, a minimum instruction size of 1 byte, little-endian
/// numbers, no registers, and an ELF header without a machine. [`build`](Self::build) checks the facts.
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
                unspecified_registers: UnspecifiedRegisters::ByConvention,
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

    /// Adds an address space, or replaces the default space.
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

    /// Names the register that contains the active-lane mask, bit *k* for lane *k*.
    pub fn exec(&mut self, name: impl Into<String>) -> &mut Self {
        self.exec = Some(name.into());
        self
    }

    /// Names the register whose value in the caller is the canonical frame address, unless call frame information has a
    /// rule for the register: the stack pointer in many ABIs.
    pub fn cfa_register(&mut self, name: impl Into<String>) -> &mut Self {
        self.cfa_register = Some(name.into());
        self
    }

    /// Adds registers that a call overwrites by the calling convention. All other registers have the same value in the
    /// caller.
    pub fn clobbered(&mut self, clobbered: Clobbered) -> &mut Self {
        self.facts.clobbered.push(clobbered);
        self
    }

    /// Names the register whose rule gives the return address (DWARF 5 section 6.4.1, return_address_register). By
    /// default, it is the register with number 0. `is_pc` says that the register is the pc itself, which no function
    /// preserves.
    pub fn return_register(&mut self, name: impl Into<String>, is_pc: bool) -> &mut Self {
        self.return_register = Some(name.into());
        self.facts.call_frames.is_return_register_pc = is_pc;
        self
    }

    /// Sets the data alignment factor of call frame information in bytes. It must not be 0; by default it is -8.
    pub fn data_alignment(&mut self, bytes: i8) -> &mut Self {
        self.facts.call_frames.data_alignment = bytes;
        self
    }

    /// Declares that the ABI uses `.eh_frame`.
    pub fn eh_frame(&mut self) -> &mut Self {
        self.facts.call_frames.has_eh_frame = true;
        self
    }

    /// Sets what debuggers take a register without a rule in call frame information to be, by default what the calling
    /// convention says.
    pub fn unspecified_registers(&mut self, registers: UnspecifiedRegisters) -> &mut Self {
        self.facts.call_frames.unspecified_registers = registers;
        self
    }

    /// Sets the unit of stack and frame pointers: by default bytes of one lane.
    pub fn scaling(&mut self, scaling: Scaling) -> &mut Self {
        self.facts.scaling = scaling;
        self
    }

    /// Sets the size of the shortest instruction in bytes, at least 1. pcs are multiples of it.
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

    /// Returns the target.
    ///
    /// # Errors
    /// [`InvalidTarget`](ErrorKind::InvalidTarget) if the target has no name; if the number of lanes is not 1 to 64; if a
    /// register has no bits, or has neither 1 lane nor the target's lanes; if two registers or two spaces share a number
    /// or a name; if addresses do not have 1 to 64 bits, or the default space does not have 64-bit addresses and one copy
    /// for all threads; if a named register is unknown; if the pc or the lane mask is in a vector register or a register
    /// with too few bits; if a clobbered register is unknown, or partly preserved on a big-endian target or on a
    /// target where registers without a rule have the same value; if the minimum instruction size or the data alignment
    /// is 0.
    pub fn build(&self) -> Result<Target> {
        let wrong = |what| Error::from(ErrorKind::InvalidTarget { name: self.facts.name.clone(), what });
        check(&self.facts).map_err(wrong)?;
        let target = self.resolve()?;
        for clobbered in &self.facts.clobbered {
            check_clobbered(&target, clobbered).map_err(wrong)?;
        }
        let Facts { pc, exec, cfa_register, lanes, .. } = *target.0;
        for (role, reg, bits) in
            [("pc", pc, 1), ("active-lane mask", exec, lanes), ("canonical frame address", cfa_register, 1)]
        {
            let Some(register) = reg.and_then(|reg| target.register(reg)) else { continue };
            if register.is_vector() || register.bits < bits {
                let name = register.name();
                let bits = Count(bits, "bit");
                return Err(wrong(format!(
                    "register `{name}` cannot hold the {role}; expected a scalar register of at least {bits}"
                )));
            }
        }
        Ok(target)
    }

    /// Returns the target with the named registers resolved, without checking the facts.
    pub(super) fn resolve(&self) -> Result<Target> {
        let mut target = Target(Arc::new(self.facts.clone()));
        let named = |name: &Option<String>| name.as_ref().map(|name| target.register_named(name)).transpose();
        let [pc, exec, cfa_register] = [named(&self.pc)?, named(&self.exec)?, named(&self.cfa_register)?];
        let return_register = named(&self.return_register)?;
        let facts = Arc::make_mut(&mut target.0);
        facts.pc = pc;
        facts.exec = exec;
        facts.cfa_register = cfa_register;
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
            return Err(format!("clobbered register {first} + {index} does not exist", first = first.0));
        }
    }
    let where_not = match target.call_frames().unspecified_registers {
        _ if target.is_big_endian() => "on a big-endian target",
        // No rule says that a register is partly lost.
        UnspecifiedRegisters::SameValue => "where registers without a rule have the same value",
        UnspecifiedRegisters::ByConvention => return Ok(()),
    };
    if preserved_bits > 0 {
        return Err(format!(
            "register {first} has {bits} {where_not}; expected all or none of its bits preserved",
            bits = Count(preserved_bits, "preserved bit"),
            first = first.0
        ));
    }
    Ok(())
}

/// Checks the facts, except for the named registers.
fn check(facts: &Facts) -> Result<(), String> {
    if facts.name.is_empty() {
        return Err("target has no name".into());
    }
    if !(1..=LANES).contains(&facts.lanes) {
        return Err(format!("a wave has {}; expected 1 to {LANES}", Count(facts.lanes, "lane")));
    }
    if facts.min_instruction_bytes == 0 {
        return Err("minimum instruction size is 0 bytes; expected at least 1".into());
    }
    if facts.call_frames.data_alignment == 0 {
        return Err("data alignment is 0".into());
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
            return Err(format!(
                "{} from {first} on; expected consecutive numbers below 2^64",
                Count(count, "register")
            ));
        }
        if range.alias.is_some_and(|alias| alias.checked_add(count).is_none()) {
            return Err(format!(
                "{count} aliases from the alias of {first} on; expected consecutive numbers below 2^64"
            ));
        }
        if bits == 0 || bits > REGISTER_BITS {
            let bits = Count(bits, "bit");
            return Err(format!("register {first} has {bits}; expected 1 to {REGISTER_BITS}"));
        }
        if lanes != 1 && lanes != facts.lanes {
            let lanes = Count(lanes, "lane");
            return Err(format!("register {first} has {lanes}; expected 1 or {}", facts.lanes));
        }
        let fits = left.checked_sub(count);
        left = fits.ok_or_else(|| format!("more than {REGISTERS} registers have listed names"))?;
    }
    // The limit is checked first, so that the numbers are few enough to look at each.
    let mut numbers = HashSet::new();
    let mut names = HashSet::new();
    let registers =
        facts.registers.iter().flat_map(|range| range.all().map(move |register| (range, register)));
    for (range, register) in registers {
        let name = register.name().to_string();
        let alias = range.alias.map(|alias| Reg(alias + register.reg.0 - range.first));
        for number in [Some(register.reg), alias].into_iter().flatten() {
            let is_packed = facts.registers.iter().any(|range| range.is_packed(number));
            if is_packed || !numbers.insert(number) {
                return Err(format!("register number {} is used twice (`{name}`)", number.0));
            }
        }
        let is_packed = facts.registers.iter().any(|range| range.packed(&name).is_some());
        if name.is_empty() || is_packed || names.contains(&name) {
            return Err(format!("register name `{name}` is empty or used twice"));
        }
        names.insert(name);
    }
    let mut prefixes = HashSet::new();
    for range in &facts.registers {
        if let RegisterNames::Packed { prefix } = range.names
            && (!prefix.is_ascii_graphic() || !prefixes.insert(prefix))
        {
            return Err(format!(
                "prefix {prefix:#x} of packed names is not printable or used twice; expected a distinct printable character"
            ));
        }
    }
    Ok(())
}

fn check_spaces(spaces: &[Space]) -> Result<(), String> {
    let Space { name, address_bits, per, .. } = &spaces[0];
    if (*address_bits, *per) != (64, Per::Process) {
        let bits = Count(*address_bits, "bit");
        return Err(format!(
            "default space `{name}` has addresses of {bits}; expected 64 bits and one copy for all threads"
        ));
    }
    let mut ids = HashSet::new();
    let mut names = HashSet::new();
    for Space { id, name, address_bits, .. } in spaces {
        if !ids.insert(id) {
            return Err(format!("address space number {id} is used twice (`{name}`)"));
        }
        if name.is_empty() || !names.insert(name) {
            return Err(format!("address space name `{name}` is empty or used twice"));
        }
        if !(1..=64).contains(address_bits) {
            let bits = Count(*address_bits, "bit");
            return Err(format!("address space `{name}` has addresses of {bits}; expected 1 to 64"));
        }
    }
    Ok(())
}
