//! Facts about targets, as data: registers, address spaces, waves, ELF identity.
//!
//! [`Target::amdgpu`] is a processor and a wave size; [`Target::x86_64`] and [`Target::s390x`] exist for testing
//! everything that does not depend on GPUs with ordinary tools, in both byte orders. Using a register, lane or address
//! space that the target does not have is an error of the call.

mod amdgpu;
mod generic;
mod near;
mod register;

pub use amdgpu::{Gfx, Wave};
pub use register::Reg;

use crate::error::Result;

/// Number of an address space in DWARF.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpaceId(pub u32);

impl SpaceId {
    /// The default space of every target: global memory.
    pub const DEFAULT: Self = Self(0);

    /// Whether the loader relocates addresses in the space: in global memory, and in the generic space, which includes
    /// global memory on AMD's targets. In other spaces, a symbol's address is that of the linker.
    pub fn is_loaded(self) -> bool {
        matches!(self, Self::DEFAULT | Self::GENERIC)
    }
}

/// Owner of each copy of an address space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Per {
    /// One copy for all threads, or for all that can access it at once.
    Process,
    /// One copy for each thread of execution: for each wave.
    Thread,
    /// One copy for each lane of a wave.
    Lane,
}

/// An address space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// Number of the space.
    pub id: SpaceId,
    /// Name, in lower case.
    pub name: &'static str,
    /// Size of an address in bits.
    pub address_bits: u32,
    /// Null address, which no object has.
    pub null: u64,
    /// Owner of each copy of the memory.
    pub per: Per,
}

/// A register, with its name and layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Register {
    /// DWARF number.
    pub reg: Reg,
    /// Size in bits, including all lanes.
    pub bits: u32,
    /// Number of lanes: 1 for a scalar register. Lane 0 is in the least significant bits, and lanes are contiguous.
    pub lanes: u32,
    range: &'static Range,
}

impl Register {
    /// Returns the name: `v3`, `s4`, `exec`, `rbp`.
    pub fn name(&self) -> RegisterName {
        RegisterName(*self)
    }

    /// Returns the size of one lane in bits.
    pub fn lane_bits(&self) -> u32 {
        self.bits / self.lanes
    }

    /// Whether the register has more than one lane.
    pub fn is_vector(&self) -> bool {
        self.lanes > 1
    }
}

/// Displays the name of a register.
#[derive(Debug, Clone, Copy)]
pub struct RegisterName(Register);

impl core::fmt::Display for RegisterName {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let range = self.0.range;
        let index = self.0.reg.0 - range.dwarf;
        match range.names {
            Names::Numbered { prefix, first } => write!(f, "{prefix}{}", first + index),
            Names::List(names) => f.write_str(names[index as usize]),
        }
    }
}

/// Registers with consecutive DWARF numbers and a common layout.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Range {
    /// DWARF number of the first register.
    dwarf: u64,
    /// Number of registers.
    count: u64,
    names: Names,
    /// Size of each register in bits, including all lanes.
    bits: u32,
    lanes: u32,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Names {
    /// A prefix and a number, counted from `first`.
    Numbered { prefix: &'static str, first: u64 },
    /// An individual name for each register.
    List(&'static [&'static str]),
}

/// Relocation types of the ELF machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Relocations {
    /// An absolute address of 32 bits.
    pub abs32: u32,
    /// An absolute address of 64 bits.
    pub abs64: u32,
    /// The 32-bit distance of an address from the field.
    pub relative32: u32,
}

/// Target-dependent fields of the ELF header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElfIdentity {
    /// `e_machine`.
    pub machine: u16,
    /// `e_flags`.
    pub flags: u32,
    /// `EI_OSABI`.
    pub os_abi: u8,
    /// `EI_ABIVERSION`.
    pub abi_version: u8,
    /// Relocation types.
    pub relocations: Relocations,
}

/// Call frame conventions of a target. DWARF 5 section 6.4.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallFrames {
    /// Register whose rule gives the return address.
    pub return_register: Reg,
    /// Whether that register is the pc itself, which no function preserves.
    pub is_return_register_pc: bool,
    /// Data alignment factor in bytes: offsets from the canonical frame address are its multiples. Negative where the
    /// stack grows down.
    pub data_alignment: i8,
    /// Whether the ABI uses `.eh_frame`, which is loaded with the program.
    pub has_eh_frame: bool,
}

/// Units in which a function's stack and frame pointers count private memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scaling {
    /// Bytes of one lane, with flat scratch instructions.
    Lane,
    /// Bytes of all lanes of the wave, with buffer scratch instructions. A lane's address is the register divided by
    /// the wave size.
    Wave,
}

/// A target. Made by [`Target::amdgpu`], [`Target::x86_64`] or [`Target::s390x`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    name: String,
    ranges: Vec<&'static Range>,
    spaces: &'static [Space],
    elf: ElfIdentity,
    lanes: u32,
    scaling: Scaling,
    min_instruction_bytes: u8,
    big_endian: bool,
    cfa_register: Option<Reg>,
    call_frames: CallFrames,
    gfx: Option<Gfx>,
}

impl Target {
    /// Returns the target for an AMD processor and the wave size of the code.
    ///
    /// # Errors
    /// [`UnknownTarget`](crate::error::ErrorKind::UnknownTarget) if the processor does not run waves of this size.
    pub fn amdgpu(gfx: Gfx, wave: Wave) -> Result<Self> {
        amdgpu::target(gfx, wave)
    }

    /// Returns x86-64, with the DWARF numbers of its System V ABI.
    pub fn x86_64() -> Self {
        generic::x86_64()
    }

    /// Returns s390x (z/Architecture in 64-bit mode), with the DWARF numbers of its ELF ABI: the big-endian target.
    pub fn s390x() -> Self {
        generic::s390x()
    }

    /// Returns the target of a name: `x86_64`, `s390x`, or such as `amdgpu-gfx1030-wave32`.
    ///
    /// # Errors
    /// [`UnknownTarget`](crate::error::ErrorKind::UnknownTarget).
    pub fn named(name: &str) -> Result<Self> {
        match name {
            "x86_64" => return Ok(Self::x86_64()),
            "s390x" => return Ok(Self::s390x()),
            _ => {}
        }
        let parts = name.strip_prefix("amdgpu-").and_then(|rest| rest.rsplit_once('-'));
        let found = parts.and_then(|(gfx, wave)| {
            let wave = Wave::ALL.into_iter().find(|w| wave == format!("wave{}", w.lanes()))?;
            Some((Gfx::named(gfx)?, wave))
        });
        match found {
            Some((gfx, wave)) => Self::amdgpu(gfx, wave),
            None => Err(near::unknown_target(name)),
        }
    }

    /// Returns all targets: x86-64, s390x, and each processor with each wave size that it runs.
    ///
    /// ```
    /// use eitri::target::Target;
    ///
    /// assert!(Target::all().any(|target| target.name() == "amdgpu-gfx1030-wave32"));
    /// ```
    pub fn all() -> impl Iterator<Item = Self> {
        let waves = |gfx| Wave::ALL.into_iter().filter_map(move |wave| Self::amdgpu(gfx, wave).ok());
        [Self::x86_64(), Self::s390x()].into_iter().chain(Gfx::all().flat_map(waves))
    }

    /// Returns the name, as accepted by [`named`](Self::named).
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the processor of an AMD target.
    pub fn gfx(&self) -> Option<Gfx> {
        self.gfx
    }

    /// Returns the number of lanes of a wave; 1 on targets without waves.
    pub fn lanes(&self) -> u32 {
        self.lanes
    }

    /// Returns the default units of stack and frame pointers on this target.
    pub fn scaling(&self) -> Scaling {
        self.scaling
    }

    /// Returns the size of an address in the default space in bytes.
    pub fn address_bytes(&self) -> u8 {
        (self.spaces[0].address_bits / 8) as u8
    }

    /// Returns the size of the shortest instruction in bytes: pcs are its multiples.
    pub fn min_instruction_bytes(&self) -> u8 {
        self.min_instruction_bytes
    }

    /// Whether the most significant byte of a number comes first.
    pub fn is_big_endian(&self) -> bool {
        self.big_endian
    }

    /// Returns the register whose value in the caller is the canonical frame address, unless call frame information has
    /// a rule for it: `rsp` of x86-64 (System V ABI, AMD64 supplement, section 3.7). Other targets have no such
    /// register.
    pub fn cfa_register(&self) -> Option<Reg> {
        self.cfa_register
    }

    /// Returns the conventions of call frame information.
    pub fn call_frames(&self) -> CallFrames {
        self.call_frames
    }

    /// Returns the target-dependent fields of the ELF header.
    pub fn elf(&self) -> ElfIdentity {
        self.elf
    }

    /// Returns all address spaces, the default one first.
    pub fn spaces(&self) -> &'static [Space] {
        self.spaces
    }

    /// Returns the address space of a number.
    pub fn space(&self, id: SpaceId) -> Option<&'static Space> {
        self.spaces.iter().find(|space| space.id == id)
    }

    /// Returns the address space of a name.
    ///
    /// # Errors
    /// [`UnknownSpace`](crate::error::ErrorKind::UnknownSpace) for an unknown name.
    pub fn space_named(&self, name: &str) -> Result<&'static Space> {
        self.spaces.iter().find(|space| space.name == name).ok_or_else(|| near::unknown_space(self, name))
    }

    /// Returns the register of a DWARF number, or `None` if the target does not have it.
    ///
    /// AMD's numbers are one map for all processors, and a target has a part of it:
    ///
    /// * Vector registers have separate numbers for each wave size: `v0` is 1536 in waves of 32 lanes and 2560 in waves
    ///   of 64. A target does not have the numbers of the other size.
    /// * The numbers of scalar and vector registers are not contiguous: `s63` is 95, `s64` is 1088; `v511` is 2047,
    ///   `v512` is 3584.
    /// * `exec` and `vcc` have a number of 32 bits (1, 512) and one of 64 (17, 768). The plain name is that of the
    ///   wave's size; the other is `exec_64` and `vcc_64`, or `exec_32` and `vcc_32`.
    /// * gfx9 has `s0` to `s101`, later processors `s0` to `s105`. Only compute processors of the gfx9 family, from
    ///   gfx908 on, have accumulation registers; only gfx12.5 has `v256` to `v1023`.
    #[inline]
    pub fn register(&self, reg: Reg) -> Option<Register> {
        let range = self.ranges.iter().find(|range| reg.0.wrapping_sub(range.dwarf) < range.count)?;
        Some(Register { reg, bits: range.bits, lanes: range.lanes, range })
    }

    /// Returns all registers, in the order of the target's manual.
    pub fn registers(&self) -> impl Iterator<Item = Register> + '_ {
        self.ranges.iter().flat_map(|&range| {
            (range.dwarf..range.dwarf + range.count).map(move |number| Register {
                reg: Reg(number),
                bits: range.bits,
                lanes: range.lanes,
                range,
            })
        })
    }

    /// Returns the register of a name.
    ///
    /// # Errors
    /// [`UnknownRegister`](crate::error::ErrorKind::UnknownRegister).
    pub fn register_named(&self, name: &str) -> Result<Reg> {
        self.find(name).ok_or_else(|| near::unknown_register(self, name))
    }

    fn find(&self, name: &str) -> Option<Reg> {
        self.ranges.iter().find_map(|range| {
            let index = match range.names {
                Names::Numbered { prefix, first } => {
                    let digits = name.strip_prefix(prefix)?;
                    let number: u64 = digits.parse().ok()?;
                    // `v01` is not a register.
                    number.checked_sub(first).filter(|_| digits == number.to_string())?
                }
                Names::List(names) => names.iter().position(|&known| known == name)? as u64,
            };
            (index < range.count).then(|| Reg(range.dwarf + index))
        })
    }

    /// Returns the register that contains the pc.
    pub fn pc(&self) -> Option<Reg> {
        self.find("pc")
    }

    /// Returns the register with the mask of active lanes, bit *k* for lane *k*.
    pub fn exec(&self) -> Option<Reg> {
        self.find("exec")
    }

    /// Returns scalar register `n`.
    ///
    /// # Errors
    /// [`UnknownRegister`](crate::error::ErrorKind::UnknownRegister).
    pub fn sgpr(&self, n: u16) -> Result<Reg> {
        self.register_named(&format!("s{n}"))
    }

    /// Returns vector register `n`, with one dword for each lane of the wave.
    ///
    /// # Errors
    /// [`UnknownRegister`](crate::error::ErrorKind::UnknownRegister).
    pub fn vgpr(&self, n: u16) -> Result<Reg> {
        self.register_named(&format!("v{n}"))
    }

    /// Returns accumulation register `n`, with one dword for each lane of the wave.
    ///
    /// # Errors
    /// [`UnknownRegister`](crate::error::ErrorKind::UnknownRegister).
    pub fn agpr(&self, n: u16) -> Result<Reg> {
        self.register_named(&format!("a{n}"))
    }
}
