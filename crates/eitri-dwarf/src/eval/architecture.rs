//! A machine's registers and address spaces.

use std::collections::BTreeMap;

use crate::error::Count;
use crate::op::Reg;
use crate::target::{Per, SpaceId, Target, UnspecifiedRegisters, Wave};

/// An address space's properties.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpaceLayout {
    /// Address size in bits, at most 64.
    pub address_bits: u32,
    /// Owner of the memory: each process, thread or lane.
    pub per: Per,
}

/// The registers and address spaces. Using an unknown number in an expression is ill-formed.
pub trait Architecture {
    /// Returns a register's size in bits.
    fn register_bits(&self, reg: Reg) -> Option<u32>;

    /// Returns a register's size in bits, where an expression that names it means the whole register.
    fn whole_register_bits(&self, reg: Reg) -> Option<u32> {
        self.register_bits(reg)
    }

    /// Returns an address space's properties.
    fn space(&self, space: SpaceId) -> Option<SpaceLayout>;

    /// Returns a lane's size in bits, where an expression that names the register means the current lane's part, as
    /// on NVIDIA's processors. `None` where it means the whole register.
    fn lane_bits(&self, reg: Reg) -> Option<u32> {
        let _ = reg;
        None
    }

    /// Returns the number that a [`Machine`](super::Machine) knows a register by, where a register has several
    /// numbers, as in the frames of NVIDIA's cubins.
    fn first_number(&self, reg: Reg) -> Reg {
        reg
    }

    /// Returns the largest address size in bits among all spaces, which limits composites: no composite is larger
    /// than that memory.
    fn largest_address_bits(&self) -> u32;

    /// Returns the register that contains the canonical frame address in the caller, where call frame information has
    /// no rule for it: a stack pointer, on an architecture that defines the address by it (A.6.4.1, "an ABI authoring
    /// body may specify an alternate default value").
    fn cfa_register(&self) -> Option<Reg> {
        None
    }

    /// Returns how many low bits of a register have the same value in the caller, where call frame information has no
    /// rule for the register; the other bits are undefined there. The default rule is undefined unless the ABI says
    /// otherwise (A.6.4.1), because its calling convention has functions preserve registers. By default all bits of
    /// all registers.
    fn preserved_bits(&self, reg: Reg) -> Option<u32> {
        self.register_bits(reg)
    }

    /// Returns the ELF machine (`e_machine`) that a file's debug information must have. `None` if it can be any.
    fn elf_machine(&self) -> Option<u16> {
        None
    }

    /// Returns the name, for messages.
    fn name(&self) -> String {
        "unnamed".into()
    }

    /// Returns the number of lanes in a wave, which a file's debug information must have where it gives one. `None` if it can
    /// be any.
    fn lanes(&self) -> Option<u32> {
        None
    }

    /// Returns what is wrong with a number that is no register's.
    fn unknown_register(&self, reg: Reg) -> String {
        let _ = reg;
        "the target has no register of this number".into()
    }

    /// Returns the register with a name.
    ///
    /// # Errors
    /// A message with the nearest names, if the name is unknown.
    fn register_named(&self, name: &str) -> Result<Reg, String> {
        Err(format!("the target has no register `{name}`"))
    }

    /// Returns a register's name, if it has a name.
    fn register_name(&self, _reg: Reg) -> Option<String> {
        None
    }

    /// Returns the address space with a name.
    ///
    /// # Errors
    /// A message with the nearest names, if the name is unknown.
    fn space_named(&self, name: &str) -> Result<SpaceId, String> {
        Err(format!("the target has no address space `{name}`"))
    }
}

impl Architecture for Target {
    fn register_bits(&self, reg: Reg) -> Option<u32> {
        Some(self.register(reg)?.bits)
    }

    fn whole_register_bits(&self, reg: Reg) -> Option<u32> {
        let registers = self.registers_of(reg)?;
        (!(self.has_lane_expressions() && registers.are_vectors())).then_some(registers.bits())
    }

    fn lane_bits(&self, reg: Reg) -> Option<u32> {
        if !self.has_lane_expressions() {
            return None;
        }
        self.register(reg).filter(|register| register.is_vector()).map(|register| register.lane_bits())
    }

    fn first_number(&self, reg: Reg) -> Reg {
        self.register(reg).map_or(reg, |register| register.reg)
    }

    fn space(&self, space: SpaceId) -> Option<SpaceLayout> {
        let space = Target::space(self, space)?;
        Some(SpaceLayout { address_bits: space.address_bits, per: space.per })
    }

    fn largest_address_bits(&self) -> u32 {
        self.spaces().iter().map(|space| space.address_bits).max().unwrap_or(64)
    }

    fn cfa_register(&self) -> Option<Reg> {
        Target::cfa_register(self)
    }

    fn preserved_bits(&self, reg: Reg) -> Option<u32> {
        match self.call_frames().unspecified_registers {
            UnspecifiedRegisters::ByConvention => Target::preserved_bits(self, reg),
            UnspecifiedRegisters::SameValue => self.register_bits(reg),
        }
    }

    fn elf_machine(&self) -> Option<u16> {
        Some(self.elf().machine).filter(|&machine| machine > 0)
    }

    fn name(&self) -> String {
        Target::name(self).to_owned()
    }

    fn lanes(&self) -> Option<u32> {
        self.gfx().map(|_| Target::lanes(self))
    }

    fn unknown_register(&self, reg: Reg) -> String {
        let own = Target::lanes(self);
        let other = if own == Wave::W64.lanes() { Wave::W32 } else { Wave::W64 };
        let name = |gfx| Some(Target::amdgpu(gfx, other).ok()?.register(reg)?.name().to_string());
        match self.gfx().and_then(name) {
            Some(name) => format!(
                "the target has no register of this number with {} in a wave; with {}, {name}",
                Count(own, "lane"),
                Count(other.lanes(), "lane")
            ),
            None => "the target has no register of this number".into(),
        }
    }

    fn register_named(&self, name: &str) -> Result<Reg, String> {
        Target::register_named(self, name).map_err(|error| error.to_string())
    }

    fn register_name(&self, reg: Reg) -> Option<String> {
        Some(self.register(reg)?.name().to_string())
    }

    fn space_named(&self, name: &str) -> Result<SpaceId, String> {
        Target::space_named(self, name).map(|space| space.id).map_err(|error| error.to_string())
    }
}

/// An [`Architecture`] as plain data.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layout {
    /// Register sizes in bits.
    pub registers: BTreeMap<Reg, u32>,
    /// Address spaces; number 0 is the default space.
    pub spaces: BTreeMap<SpaceId, SpaceLayout>,
}

impl Architecture for Layout {
    fn register_bits(&self, reg: Reg) -> Option<u32> {
        self.registers.get(&reg).copied()
    }

    fn space(&self, space: SpaceId) -> Option<SpaceLayout> {
        self.spaces.get(&space).copied()
    }

    fn largest_address_bits(&self) -> u32 {
        self.spaces.values().map(|space| space.address_bits).max().unwrap_or(64)
    }
}

/// Function that returns a register's name, if it has a name.
pub(super) type NameOf<'a> = &'a dyn Fn(Reg) -> Option<String>;
