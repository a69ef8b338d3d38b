//! Facts about targets, as data: registers, address spaces, waves, ELF identity, and AMD instruction formats.
//!
//! A [`Target`] is a value with facts and no behavior: all rooms read the same facts, so that the encoder and the
//! evaluator agree on what `v3` is. [`Target::amdgpu`] takes a processor and a wave size. [`Target::x86_64`],
//! [`Target::aarch64`], [`Target::riscv64`] and [`Target::s390x`] are CPUs: host code, and what does not depend on GPUs,
//! tested with ordinary tools in both byte orders. [`Target::builder`] describes any other target. A call with a
//! register, lane or address space that the target lacks returns an error.
//!
//! The register numbers, address spaces and calling conventions are the default state of a machine and its caller; what
//! a kernel changes at run time (modes, trap handlers) is outside this module. [`code`] decodes instructions only as far
//! as register writes and control flow need it, and only for gfx9 to gfx12.0.
//!
//! ```
//! use eitri_dwarf::target::{Gfx, Target, Wave};
//!
//! let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32)?;
//! assert_eq!(gpu.lanes(), 32);
//! // DWARF numbers of registers, by kind and by name.
//! let v3 = gpu.vgpr(3)?;
//! assert_eq!((v3.0, gpu.register_named("v3")?), (1539, v3));
//! assert!(gpu.sgpr(200).is_err());
//! # Ok::<(), eitri_dwarf::Error>(())
//! ```

mod amdgpu;
mod builder;
pub mod code;
mod cpu;
mod near;
pub mod nvptx;
mod register;
mod space;
mod spirv;

pub use amdgpu::{Gfx, Wave};
#[doc(hidden)]
pub use amdgpu::{is_preserved, operand};
pub use builder::TargetBuilder;
#[doc(hidden)]
pub use cpu::with_extensions;
pub use nvptx::Sm;
pub use register::{Clobbered, Reg, Register, RegisterName, RegisterNames, Registers};
pub use space::{Per, Space, SpaceId};

use std::sync::Arc;

use crate::error::Result;

/// Order of a number's bytes in memory.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ByteOrder {
    /// The least significant byte comes first.
    Little,
    /// The most significant byte comes first.
    Big,
}

/// Relocation types of the ELF machine.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Relocations {
    /// Absolute 32-bit address.
    pub abs32: u32,
    /// Absolute 64-bit address.
    pub abs64: u32,
    /// 32-bit distance from the field to an address.
    pub relative32: u32,
}

/// Target-dependent fields of the ELF header.
///
/// Exhaustive: a literal names all fields.
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

impl ElfIdentity {
    /// Type of the relocation for an offset of 8 bytes in thread-local storage, if linkers have one for the machine:
    /// R_X86_64_DTPOFF64, R_390_TLS_LDO64, R_RISCV_TLS_DTPREL64.
    #[doc(hidden)]
    pub fn thread_local_offset(&self) -> Option<u32> {
        const X86_64: u16 = 62;
        const S390: u16 = 22;
        const RISCV: u16 = 243;
        match self.machine {
            X86_64 => Some(17),
            S390 => Some(53),
            RISCV => Some(9),
            _ => None,
        }
    }
}

/// A target's call frame conventions. DWARF 5 section 6.4.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallFrames {
    /// Register whose rule gives the return address.
    pub return_register: Reg,
    /// Whether that register is the pc itself, which no function preserves.
    pub is_return_register_pc: bool,
    /// Data alignment factor in bytes: offsets from the canonical frame address are multiples of it. Negative if the
    /// stack grows down.
    pub data_alignment: i8,
    /// Whether the ABI uses `.eh_frame`, which the loader maps with the program.
    pub has_eh_frame: bool,
    /// How debuggers treat a register without a rule.
    pub unspecified_registers: UnspecifiedRegisters,
}

/// A caller's registers for which call frame information has no rule. DWARF 5 section 6.4.1 leaves them to the ABI; where
/// the ABI is silent, debuggers differ.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum UnspecifiedRegisters {
    /// A register has the bits that the calling convention [preserves](Target::preserved_bits); its remaining bits are
    /// undefined.
    #[default]
    ByConvention,
    /// A register has the same value, whether or not the calling convention preserves it.
    SameValue,
}

/// Unit in which a function's stack and frame pointers count private memory.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scaling {
    /// Bytes of one lane, with flat scratch instructions.
    Lane,
    /// Bytes of all lanes in the wave, with buffer scratch instructions. A lane's address is the register divided by the
    /// wave size.
    Wave,
}

/// A target: built in, or from [`Target::builder`]. Clones share the facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target(Arc<Facts>);

/// Facts about a target.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Facts {
    name: String,
    registers: Vec<Registers>,
    /// The default space is the first one.
    spaces: Vec<Space>,
    lanes: u32,
    scaling: Scaling,
    min_instruction_bytes: u8,
    big_endian: bool,
    has_lane_expressions: bool,
    pc: Option<Reg>,
    exec: Option<Reg>,
    cfa_register: Option<Reg>,
    clobbered: Vec<Clobbered>,
    call_frames: CallFrames,
    elf: ElfIdentity,
    gfx: Option<Gfx>,
    is_shader: bool,
}

impl Target {
    /// Returns the target for an AMD processor and the wave size of the code.
    ///
    /// # Errors
    /// [`UnknownTarget`](crate::error::ErrorKind::UnknownTarget) if the processor does not run waves of this size.
    pub fn amdgpu(gfx: Gfx, wave: Wave) -> Result<Self> {
        amdgpu::target(gfx, wave)
    }

    /// Returns the target for an NVIDIA processor: its SASS and PTX registers.
    pub fn nvptx(sm: Sm) -> Self {
        nvptx::target(sm)
    }

    /// Returns x86-64, with the DWARF numbers of the System V ABI.
    pub fn x86_64() -> Self {
        cpu::x86_64()
    }

    /// Returns AArch64 (A64, little-endian), with the DWARF numbers of the Arm ABI.
    pub fn aarch64() -> Self {
        cpu::aarch64()
    }

    /// Returns RV64 with the vector extension, with the DWARF numbers of the RISC-V psABI.
    pub fn riscv64() -> Self {
        cpu::riscv64()
    }

    /// Returns s390x (z/Architecture in 64-bit mode), with the DWARF numbers of the s390x ELF ABI: a big-endian target.
    pub fn s390x() -> Self {
        cpu::s390x()
    }

    /// Starts a target for another architecture, from registers and address spaces.
    ///
    /// ```
    /// use eitri_dwarf::target::{Per, Registers, Space, SpaceId, Target};
    ///
    /// let mut target = Target::builder("toy", 16);
    /// target.registers(Registers::named(0, ["pc", "mask", "sp"], 64)).pc("pc").exec("mask");
    /// target.registers(Registers::numbered(16, "r", 0..128, 32).with_lanes(16));
    /// target.space(Space::new(SpaceId::LOCAL, "shared", 32));
    /// target.space(Space { per: Per::Lane, ..Space::new(SpaceId::PRIVATE_LANE, "stack", 32) });
    /// target.return_register("pc", true);
    /// let target = target.build()?;
    /// assert_eq!(target.register_named("r5")?.0, 21);
    /// # Ok::<(), eitri_dwarf::error::Error>(())
    /// ```
    pub fn builder(name: impl Into<String>, lanes: u32) -> TargetBuilder {
        TargetBuilder::new(name.into(), lanes)
    }

    /// Returns the target with a name such as `x86_64` or `amdgpu-gfx1030-wave32`.
    ///
    /// # Errors
    /// [`UnknownTarget`](crate::error::ErrorKind::UnknownTarget).
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri_dwarf::target::Target;
    /// let gpu = Target::named("amdgpu-gfx1100-wave64")?;
    /// assert_eq!(gpu.lanes(), 64);
    /// // An error names similar targets.
    /// println!("{}", Target::named("amdgpu-gfx1100").unwrap_err());
    /// # Ok::<(), eitri_dwarf::Error>(())
    /// ```
    pub fn named(name: &str) -> Result<Self> {
        if let Some(cpu) = cpu::ALL.iter().find(|cpu| cpu.0 == name) {
            return Ok(cpu.1());
        }
        match name {
            "spirv-shader" => return Ok(Self::shader()),
            "spirv-kernel" => return Ok(Self::kernel()),
            _ => {}
        }
        if let Some(sm) = name.strip_prefix("nvptx-").and_then(Sm::named) {
            return Ok(Self::nvptx(sm));
        }
        let parts = name.strip_prefix("amdgpu-").and_then(|rest| rest.rsplit_once('-'));
        let processor = parts.and_then(|(gfx, wave)| {
            let wave = Wave::ALL.into_iter().find(|w| wave == format!("wave{}", w.lanes()))?;
            Some((Gfx::named(gfx)?, wave))
        });
        match processor {
            Some((gfx, wave)) => Self::amdgpu(gfx, wave),
            None => Err(near::unknown_target(name)),
        }
    }

    /// Returns all built-in targets: the CPUs, each AMD processor with each wave size that it runs, and NVIDIA's
    /// processors.
    ///
    /// ```
    /// use eitri_dwarf::target::Target;
    ///
    /// assert!(Target::all().any(|target| target.name() == "amdgpu-gfx1030-wave32"));
    /// ```
    pub fn all() -> impl Iterator<Item = Self> {
        let waves = |gfx| Wave::ALL.into_iter().filter_map(move |wave| Self::amdgpu(gfx, wave).ok());
        cpu::ALL.iter().map(|cpu| cpu.1()).chain(Gfx::all().flat_map(waves)).chain(Sm::all().map(Self::nvptx))
    }

    /// Returns the name, as accepted by [`named`](Self::named).
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the processor of an AMD target.
    pub fn gfx(&self) -> Option<Gfx> {
        self.0.gfx
    }

    /// Returns the number of lanes in a wave; 1 on targets without waves.
    pub fn lanes(&self) -> u32 {
        self.0.lanes
    }

    /// Returns the default unit of stack and frame pointers on this target.
    pub fn scaling(&self) -> Scaling {
        self.0.scaling
    }

    /// Returns the size of a default-space address in bytes.
    pub fn address_bytes(&self) -> u8 {
        (self.0.spaces[0].address_bits / 8) as u8
    }

    /// Returns the size of the shortest instruction in bytes. pcs are multiples of it.
    pub fn min_instruction_bytes(&self) -> u8 {
        self.0.min_instruction_bytes
    }

    /// Whether the most significant byte of a number comes first.
    pub fn is_big_endian(&self) -> bool {
        self.0.big_endian
    }

    /// Returns the order of a number's bytes in memory.
    pub fn byte_order(&self) -> ByteOrder {
        if self.is_big_endian() { ByteOrder::Big } else { ByteOrder::Little }
    }

    /// Whether an expression describes the current lane, a thread: a register with lanes then means the current lane's
    /// part. NVIDIA targets have no other expressions.
    pub fn has_lane_expressions(&self) -> bool {
        self.0.has_lane_expressions
    }

    /// Returns the register whose value in the caller is the canonical frame address, unless call frame information has
    /// a rule for the register: `rsp` on x86-64 (System V ABI, AMD64 supplement, section 3.7). Most targets have no such
    /// register.
    pub fn cfa_register(&self) -> Option<Reg> {
        self.0.cfa_register
    }

    /// Returns the registers that a call overwrites by the calling convention. All other registers have the same value in
    /// the caller. Whether a debugger takes an overwritten register without a rule as undefined depends on
    /// [`CallFrames::unspecified_registers`].
    pub fn clobbered(&self) -> &[Clobbered] {
        &self.0.clobbered
    }

    /// Returns the number of low bits in a register that a function preserves by the calling convention: all bits of a
    /// callee-saved register and of a register that no code changes, 0 for a call-clobbered register. `None` if the
    /// target lacks the register.
    pub fn preserved_bits(&self, reg: Reg) -> Option<u32> {
        let bits = self.register(reg)?.bits;
        let clobbered = self.0.clobbered.iter().find(|clobbered| clobbered.contains(reg));
        Some(clobbered.map_or(bits, |clobbered| clobbered.preserved_bits.min(bits)))
    }

    /// Returns the call frame conventions.
    pub fn call_frames(&self) -> CallFrames {
        self.0.call_frames
    }

    /// Returns the target-dependent fields of the ELF header.
    pub fn elf(&self) -> ElfIdentity {
        self.0.elf
    }

    /// Returns all address spaces, the default space first.
    pub fn spaces(&self) -> &[Space] {
        &self.0.spaces
    }

    /// Returns the address space with a DWARF number.
    pub fn space(&self, id: SpaceId) -> Option<&Space> {
        self.0.spaces.iter().find(|space| space.id == id)
    }

    /// Returns the address space with a number in `DW_AT_address_class`.
    pub fn space_of_class(&self, class: u64) -> Option<&Space> {
        self.0.spaces.iter().find(|space| u64::from(space.address_class.unwrap_or(space.id.0)) == class)
    }

    /// Returns an address space's number in `DW_AT_address_class`.
    pub fn address_class(&self, space: SpaceId) -> u32 {
        self.space(space).and_then(|space| space.address_class).unwrap_or(space.0)
    }

    /// Returns the address space with a name.
    ///
    /// # Errors
    /// [`UnknownSpace`](crate::error::ErrorKind::UnknownSpace) for an unknown name.
    pub fn space_named(&self, name: &str) -> Result<&Space> {
        self.0.spaces.iter().find(|space| space.name == name).ok_or_else(|| near::unknown_space(self, name))
    }

    /// Returns the register with a DWARF number, or `None` if the target lacks it. If a register has
    /// [two numbers](Registers::with_alias), [`Register::reg`] is the first number.
    ///
    /// AMD's numbers are one map for all processors, and each target has a part of the map:
    ///
    /// * Vector registers have separate numbers for each wave size: `v0` is 1536 in 32-lane waves and 2560 in 64-lane
    ///   waves. A target lacks the numbers of the other wave size.
    /// * The numbers of scalar and vector registers are not contiguous: `s63` is 95, `s64` is 1088; `v511` is 2047,
    ///   `v512` is 3584.
    /// * `exec` and `vcc` have a 32-bit number (1, 512) and a 64-bit number (17, 768). The plain name belongs to the
    ///   number that matches the wave size; the other number is `exec_64` and `vcc_64`, or `exec_32` and `vcc_32`.
    /// * gfx9 has `s0` to `s101`, later processors `s0` to `s105`. Only gfx9 compute processors from gfx908 on have
    ///   accumulation registers; only gfx12.5 has `v256` to `v1023`.
    #[inline]
    pub fn register(&self, reg: Reg) -> Option<Register<'_>> {
        match self.0.registers.iter().find(|registers| registers.contains(reg)) {
            Some(registers) => Some(registers.register(reg)),
            None => self.rare_register(reg),
        }
    }

    /// Returns the range of registers to which a register belongs.
    #[inline]
    pub(crate) fn registers_of(&self, reg: Reg) -> Option<&Registers> {
        match self.0.registers.iter().find(|registers| registers.contains(reg)) {
            Some(registers) => Some(registers),
            None => self.rare_range(reg),
        }
    }

    /// Returns the register whose alias or packed name is this number.
    fn rare_register(&self, reg: Reg) -> Option<Register<'_>> {
        let registers = self.rare_range(reg)?;
        Some(registers.register(registers.aliased(reg).unwrap_or(reg)))
    }

    /// Returns the range with a register whose alias or packed name is this number.
    fn rare_range(&self, reg: Reg) -> Option<&Registers> {
        let mut ranges = self.0.registers.iter();
        ranges.find(|registers| registers.aliased(reg).is_some() || registers.is_packed(reg))
    }

    /// Returns the ranges of registers with consecutive numbers, in manual order.
    pub fn register_ranges(&self) -> &[Registers] {
        &self.0.registers
    }

    /// Returns all registers in manual order, except for registers with packed names.
    pub fn registers(&self) -> impl Iterator<Item = Register<'_>> + '_ {
        self.0.registers.iter().flat_map(Registers::all)
    }

    /// Returns the register with a name.
    ///
    /// # Errors
    /// [`UnknownRegister`](crate::error::ErrorKind::UnknownRegister).
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri_dwarf::op::Reg;
    /// # use eitri_dwarf::target::Target;
    /// // The psABI numbers x86-64 registers in another order than instructions do: rcx is 2.
    /// assert_eq!(Target::x86_64().register_named("rcx")?, Reg(2));
    /// # Ok::<(), eitri_dwarf::Error>(())
    /// ```
    pub fn register_named(&self, name: &str) -> Result<Reg> {
        self.find(name).ok_or_else(|| near::unknown_register(self, name))
    }

    fn find(&self, name: &str) -> Option<Reg> {
        self.0.registers.iter().find_map(|registers| registers.find(name))
    }

    /// Returns the register that contains the pc.
    pub fn pc(&self) -> Option<Reg> {
        self.0.pc
    }

    /// Returns the register that contains the active-lane mask, bit *k* for lane *k*.
    pub fn exec(&self) -> Option<Reg> {
        self.0.exec
    }

    /// Returns scalar register `s<n>`.
    ///
    /// # Errors
    /// [`UnknownRegister`](crate::error::ErrorKind::UnknownRegister).
    pub fn sgpr(&self, n: u16) -> Result<Reg> {
        self.register_named(&format!("s{n}"))
    }

    /// Returns vector register `v<n>`, with one dword for each lane.
    ///
    /// # Errors
    /// [`UnknownRegister`](crate::error::ErrorKind::UnknownRegister).
    pub fn vgpr(&self, n: u16) -> Result<Reg> {
        self.register_named(&format!("v{n}"))
    }

    /// Returns accumulation register `a<n>`, with one dword for each lane.
    ///
    /// # Errors
    /// [`UnknownRegister`](crate::error::ErrorKind::UnknownRegister).
    pub fn agpr(&self, n: u16) -> Result<Reg> {
        self.register_named(&format!("a{n}"))
    }
}
