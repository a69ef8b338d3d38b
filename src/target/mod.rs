//! Facts about targets, as data: registers, address spaces, waves, ELF identity.
//!
//! [`Target::amdgpu`] is a processor and a wave size; [`Target::x86_64`] and
//! [`Target::s390x`] are there so that all that is no matter of GPUs can be tried with ordinary tools, in both
//! byte orders. A register, lane or address space that a target does
//! not have is refused where it is named.

mod amdgpu;
mod generic;
mod near;

pub use amdgpu::{Gfx, Wave};

use crate::error::Result;
use crate::op::Reg;

/// A number of an address space, as DWARF has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpaceId(pub u32);

impl SpaceId {
    /// The default space of every target: global memory.
    pub const DEFAULT: Self = Self(0);

    /// Reports whether the loader moves addresses in the space: in global memory, and in the generic space, through which
    /// AMD's targets see global memory too. In other spaces, the address of a symbol is what the linker made it.
    pub fn is_loaded(self) -> bool {
        matches!(self, Self::DEFAULT | Self::GENERIC)
    }
}

/// What each copy of an address space belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Per {
    /// One for all threads, or for all that can see it at once.
    Process,
    /// One for each thread of execution, that is for each wave.
    Thread,
    /// One for each lane of a wave.
    Lane,
}

/// An address space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// Its number.
    pub id: SpaceId,
    /// Its name, in lower case.
    pub name: &'static str,
    /// Bits of an address.
    pub address_bits: u32,
    /// The address that no object has.
    pub null: u64,
    /// Whether each thread or lane has its own.
    pub per: Per,
}

/// A register: its name, and how its bits are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Register {
    /// Its DWARF number.
    pub reg: Reg,
    /// The size in bits, of all lanes.
    pub bits: u32,
    /// How many lanes it has: 1 for a scalar register. Lane 0 is in the least significant bits, and lanes
    /// are contiguous.
    pub lanes: u32,
    range: &'static Range,
}

impl Register {
    /// Its name: `v3`, `s4`, `exec`, `rbp`.
    pub fn name(&self) -> RegisterName {
        RegisterName(*self)
    }

    /// Bits of one lane.
    pub fn lane_bits(&self) -> u32 {
        self.bits / self.lanes
    }

    /// Whether it has more than one lane.
    pub fn is_vector(&self) -> bool {
        self.lanes > 1
    }
}

/// Prints the name of a register.
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

/// Registers with consecutive DWARF numbers and one layout.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Range {
    /// The DWARF number of the first.
    dwarf: u64,
    /// How many there are.
    count: u64,
    names: Names,
    /// Bits of each, of all lanes.
    bits: u32,
    lanes: u32,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Names {
    /// A prefix and a number, counted from `first`.
    Numbered { prefix: &'static str, first: u64 },
    /// Each its own.
    List(&'static [&'static str]),
}

/// Relocation types, of the ELF machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Relocations {
    /// An absolute address of 32 bits.
    pub abs32: u32,
    /// An absolute address of 64 bits.
    pub abs64: u32,
    /// The distance of an address from the field, of 32 bits.
    pub relative32: u32,
}

/// What an ELF header says of the target.
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

/// What the call frame information of a target has in common. DWARF 5 section 6.4.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallFrames {
    /// The register whose rule gives the return address.
    pub return_register: Reg,
    /// Whether that is the pc itself, which no function leaves as it was.
    pub is_return_register_pc: bool,
    /// What offsets from the canonical frame address are multiples of, in bytes; negative where a stack grows down.
    pub data_alignment: i8,
    /// Whether the ABI has `.eh_frame`, which is loaded with the program.
    pub has_eh_frame: bool,
}

/// How the stack pointer and frame pointer of a function count private memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scaling {
    /// Bytes of one lane: with flat scratch instructions.
    Lane,
    /// Bytes of all lanes of the wave: with buffer scratch instructions. A lane's address is the register
    /// divided by the wave size.
    Wave,
}

/// What a target is. Made by [`Target::amdgpu`], [`Target::x86_64`] or [`Target::s390x`].
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
    /// A processor of AMD's and the wave size that the code is compiled for.
    ///
    /// # Errors
    /// [`UnknownTarget`](crate::error::ErrorKind::UnknownTarget) if the processor does not run waves of this size.
    pub fn amdgpu(gfx: Gfx, wave: Wave) -> Result<Self> {
        amdgpu::target(gfx, wave)
    }

    /// x86-64 with the DWARF numbers of its System V ABI.
    pub fn x86_64() -> Self {
        generic::x86_64()
    }

    /// s390x (z/Architecture in 64-bit mode) with the DWARF numbers of its ELF ABI: the target with the most
    /// significant byte first.
    pub fn s390x() -> Self {
        generic::s390x()
    }

    /// The target of this name: `x86_64`, `s390x`, or like `amdgpu-gfx1030-wave32`.
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

    /// Every target: x86-64, s390x, and each processor with each wave size that it runs.
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

    /// The name that [`named`](Self::named) takes.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The processor, if it is one of AMD's.
    pub fn gfx(&self) -> Option<Gfx> {
        self.gfx
    }

    /// Lanes of a wave; 1 where code does not run in waves.
    pub fn lanes(&self) -> u32 {
        self.lanes
    }

    /// How functions count private memory on this target, unless they say otherwise.
    pub fn scaling(&self) -> Scaling {
        self.scaling
    }

    /// Bytes of an address in the default space.
    pub fn address_bytes(&self) -> u8 {
        (self.spaces[0].address_bits / 8) as u8
    }

    /// Bytes of the shortest instruction: pcs are multiples of it.
    pub fn min_instruction_bytes(&self) -> u8 {
        self.min_instruction_bytes
    }

    /// Whether the most significant byte of a number comes first.
    pub fn is_big_endian(&self) -> bool {
        self.big_endian
    }

    /// The register whose value in the caller is the canonical frame address, unless call frame information says
    /// otherwise: `rsp` of x86-64 (System V ABI, AMD64 supplement, section 3.7). Other targets have none.
    pub fn cfa_register(&self) -> Option<Reg> {
        self.cfa_register
    }

    /// What call frame information is like.
    pub fn call_frames(&self) -> CallFrames {
        self.call_frames
    }

    /// What an ELF header says.
    pub fn elf(&self) -> ElfIdentity {
        self.elf
    }

    /// Every address space, the default one first.
    pub fn spaces(&self) -> &'static [Space] {
        self.spaces
    }

    /// The address space of this number.
    pub fn space(&self, id: SpaceId) -> Option<&'static Space> {
        self.spaces.iter().find(|space| space.id == id)
    }

    /// The address space of this name.
    ///
    /// # Errors
    /// [`UnknownSpace`](crate::error::ErrorKind::UnknownSpace) if there is none.
    pub fn space_named(&self, name: &str) -> Result<&'static Space> {
        self.spaces.iter().find(|space| space.name == name).ok_or_else(|| near::unknown_space(self, name))
    }

    /// The register of this DWARF number, or `None` if the target has none.
    ///
    /// AMD's numbers are one map for all processors, of which a target has a part:
    ///
    /// * Vector registers have numbers of their own for each wave size: `v0` is 1536 in waves of 32 lanes and
    ///   2560 in waves of 64. The numbers of the other size are no registers.
    /// * The numbers of scalar and vector registers are not contiguous: `s63` is 95, `s64` is 1088;
    ///   `v511` is 2047, `v512` is 3584.
    /// * `exec` and `vcc` have a number of 32 bits (1, 512) and one of 64 (17, 768). The plain name is the
    ///   one of the wave's size; the other is `exec_64` and `vcc_64`, or `exec_32` and `vcc_32`.
    /// * gfx9 has `s0` to `s101`, later processors to `s105`. Accumulation registers are there from gfx908
    ///   on, in compute processors of the gfx9 family only; `v256` to `v1023` in gfx12.5 only.
    #[inline]
    pub fn register(&self, reg: Reg) -> Option<Register> {
        let range = self.ranges.iter().find(|range| reg.0.wrapping_sub(range.dwarf) < range.count)?;
        Some(Register { reg, bits: range.bits, lanes: range.lanes, range })
    }

    /// Every register, in the order of the target's manual.
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

    /// The register of this name.
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
                    // `v01` is no register.
                    number.checked_sub(first).filter(|_| digits == number.to_string())?
                }
                Names::List(names) => names.iter().position(|&known| known == name)? as u64,
            };
            (index < range.count).then(|| Reg(range.dwarf + index))
        })
    }

    /// The register that holds the pc.
    pub fn pc(&self) -> Option<Reg> {
        self.find("pc")
    }

    /// The register that holds the mask of the lanes that run, bit *k* for lane *k*.
    pub fn exec(&self) -> Option<Reg> {
        self.find("exec")
    }

    /// Scalar register `n`.
    ///
    /// # Errors
    /// [`UnknownRegister`](crate::error::ErrorKind::UnknownRegister).
    pub fn sgpr(&self, n: u16) -> Result<Reg> {
        self.register_named(&format!("s{n}"))
    }

    /// Vector register `n`, with one dword for each lane of the wave.
    ///
    /// # Errors
    /// [`UnknownRegister`](crate::error::ErrorKind::UnknownRegister).
    pub fn vgpr(&self, n: u16) -> Result<Reg> {
        self.register_named(&format!("v{n}"))
    }

    /// Accumulation register `n`, with one dword for each lane of the wave.
    ///
    /// # Errors
    /// [`UnknownRegister`](crate::error::ErrorKind::UnknownRegister).
    pub fn agpr(&self, n: u16) -> Result<Reg> {
        self.register_named(&format!("a{n}"))
    }
}
