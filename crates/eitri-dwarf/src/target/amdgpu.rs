//! AMD GPUs from gfx9 to gfx12: register map, address spaces and ELF flags, as in LLVM's AMDGPU back end user guide.

use core::ops::Range;

use super::code::{RegisterKind, VCC};
use super::{
    Clobbered, ElfIdentity, Per, Reg, RegisterNames, Registers, Relocations, Scaling, Space, SpaceId, Target,
    TargetBuilder, UnspecifiedRegisters, near,
};
use crate::error::Result;

/// Number of lanes in a wave.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wave {
    /// 32 lanes.
    W32,
    /// 64 lanes.
    W64,
}

impl Wave {
    /// Both wave sizes.
    pub(crate) const ALL: [Self; 2] = [Self::W32, Self::W64];

    /// Returns the number of lanes.
    pub const fn lanes(self) -> u32 {
        match self {
            Self::W32 => 32,
            Self::W64 => 64,
        }
    }
}

/// An AMD processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gfx(usize);

/// Wave sizes that a processor runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waves {
    Only32,
    Only64,
    Both,
}

/// `e_flags` fields for xnack and sramecc, in code objects of version 4 and later. In these 2-bit fields, 0 means "not
/// supported by the processor" and 1 means "any", even if the feature is always on (gfx12.5).
const XNACK_ANY: u32 = 0x100;
const SRAMECC_ANY: u32 = 0x400;

/// Facts about a processor.
#[derive(Debug)]
struct Processor {
    name: &'static str,
    /// The `EF_AMDGPU_MACH` number.
    mach: u32,
    /// Other `e_flags` bits, with xnack and sramecc left open.
    features: u32,
    waves: Waves,
    sgprs: Sgprs,
    vgprs: Vgprs,
    scaling: Scaling,
    /// Local memory (LDS) that a workgroup can have, in KiB: `AddressableLocalMemorySize` in LLVM.
    local_kib: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sgprs {
    /// s0 to s101.
    To101,
    /// s0 to s105.
    To105,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Vgprs {
    /// v0 to v255.
    V256,
    /// v0 to v255 and a0 to a255.
    V256A256,
    /// v0 to v1023.
    V1024,
}

use Sgprs::{To101, To105};
use Vgprs::{V256, V256A256, V1024};
use Waves::{Both, Only32, Only64};

macro_rules! processors { ($($konst:ident $name:literal $mach:literal $features:expr, $waves:ident $sgprs:ident $vgprs:ident $scaling:ident $local:literal;)*) => {
    static PROCESSORS: &[Processor] = &[$(Processor {
        name: $name, mach: $mach, features: $features, waves: $waves, sgprs: $sgprs, vgprs: $vgprs,
        scaling: Scaling::$scaling, local_kib: $local,
    }),*];

    #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "the names are the processors'")]
    enum Index { $($konst),* }

    impl Gfx { $(
        #[doc = concat!("The processor `", $name, "`.")]
        pub const $konst: Self = Self(Index::$konst as usize);
    )* }
} }

#[rustfmt::skip]
processors! {
    // constant       name            mach  xnack, sramecc            waves  sgprs  vgprs    scaling local
    GFX900            "gfx900"          0x2c  XNACK_ANY,                Only64 To101  V256     Wave      64;
    GFX902            "gfx902"          0x2d  XNACK_ANY,                Only64 To101  V256     Wave      64;
    GFX904            "gfx904"          0x2e  XNACK_ANY,                Only64 To101  V256     Wave      64;
    GFX906            "gfx906"          0x2f  XNACK_ANY | SRAMECC_ANY,  Only64 To101  V256     Wave      64;
    GFX908            "gfx908"          0x30  XNACK_ANY | SRAMECC_ANY,  Only64 To101  V256A256 Wave      64;
    GFX909            "gfx909"          0x31  XNACK_ANY,                Only64 To101  V256     Wave      64;
    GFX90A            "gfx90a"          0x3f  XNACK_ANY | SRAMECC_ANY,  Only64 To101  V256A256 Wave      64;
    GFX90C            "gfx90c"          0x32  XNACK_ANY,                Only64 To101  V256     Wave      64;
    GFX942            "gfx942"          0x4c  XNACK_ANY | SRAMECC_ANY,  Only64 To101  V256A256 Lane      64;
    GFX950            "gfx950"          0x4f  XNACK_ANY | SRAMECC_ANY,  Only64 To101  V256A256 Lane     160;
    GFX1010           "gfx1010"         0x33  XNACK_ANY,                Both   To105  V256     Wave      64;
    GFX1011           "gfx1011"         0x34  XNACK_ANY,                Both   To105  V256     Wave      64;
    GFX1012           "gfx1012"         0x35  XNACK_ANY,                Both   To105  V256     Wave      64;
    GFX1013           "gfx1013"         0x42  XNACK_ANY,                Both   To105  V256     Wave      64;
    GFX1030           "gfx1030"         0x36  0,                        Both   To105  V256     Wave      64;
    GFX1031           "gfx1031"         0x37  0,                        Both   To105  V256     Wave      64;
    GFX1032           "gfx1032"         0x38  0,                        Both   To105  V256     Wave      64;
    GFX1033           "gfx1033"         0x39  0,                        Both   To105  V256     Wave      64;
    GFX1034           "gfx1034"         0x3e  0,                        Both   To105  V256     Wave      64;
    GFX1035           "gfx1035"         0x3d  0,                        Both   To105  V256     Wave      64;
    GFX1036           "gfx1036"         0x45  0,                        Both   To105  V256     Wave      64;
    GFX1100           "gfx1100"         0x41  0,                        Both   To105  V256     Lane      64;
    GFX1101           "gfx1101"         0x46  0,                        Both   To105  V256     Lane      64;
    GFX1102           "gfx1102"         0x47  0,                        Both   To105  V256     Lane      64;
    GFX1103           "gfx1103"         0x44  0,                        Both   To105  V256     Lane      64;
    GFX1150           "gfx1150"         0x43  0,                        Both   To105  V256     Lane      64;
    GFX1151           "gfx1151"         0x4a  0,                        Both   To105  V256     Lane      64;
    GFX1152           "gfx1152"         0x55  0,                        Both   To105  V256     Lane      64;
    GFX1153           "gfx1153"         0x58  0,                        Both   To105  V256     Lane      64;
    GFX1170           "gfx1170"         0x5d  0,                        Both   To105  V256     Lane      64;
    GFX1200           "gfx1200"         0x48  0,                        Both   To105  V256     Lane      64;
    GFX1201           "gfx1201"         0x4e  0,                        Both   To105  V256     Lane      64;
    GFX1250           "gfx1250"         0x49  XNACK_ANY | SRAMECC_ANY,  Only32 To105  V1024    Lane     320;
    GFX1251           "gfx1251"         0x5a  XNACK_ANY | SRAMECC_ANY,  Only32 To105  V1024    Lane     320;
    GFX9_GENERIC      "gfx9-generic"    0x51  XNACK_ANY,                Only64 To101  V256     Wave      64;
    GFX9_4_GENERIC    "gfx9-4-generic"  0x5f  XNACK_ANY | SRAMECC_ANY,  Only64 To101  V256A256 Lane      64;
    GFX10_1_GENERIC   "gfx10-1-generic" 0x52  XNACK_ANY,                Both   To105  V256     Wave      64;
    GFX10_3_GENERIC   "gfx10-3-generic" 0x53  0,                        Both   To105  V256     Wave      64;
    GFX11_GENERIC     "gfx11-generic"   0x54  0,                        Both   To105  V256     Lane      64;
    GFX12_GENERIC     "gfx12-generic"   0x59  0,                        Both   To105  V256     Lane      64;
    GFX12_5_GENERIC   "gfx12-5-generic" 0x5b  XNACK_ANY | SRAMECC_ANY,  Only32 To105  V1024    Lane     320;
}

impl Gfx {
    /// Returns the processor with a name such as `gfx1030`.
    pub fn named(name: &str) -> Option<Self> {
        PROCESSORS.iter().position(|processor| processor.name == name).map(Self)
    }

    /// Returns all processors.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..PROCESSORS.len()).map(Self)
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        PROCESSORS[self.0].name
    }

    /// Whether the processor runs waves of this size.
    pub fn runs(self, wave: Wave) -> bool {
        matches!((PROCESSORS[self.0].waves, wave), (Both, _) | (Only32, Wave::W32) | (Only64, Wave::W64))
    }
}

/// Scalar registers that every processor has. If a hardware register has a 32-bit and a 64-bit DWARF number, the plain
/// name belongs to the number that matches the wave size.
///
/// DWARF register 0, a 32-bit pc, is left out, because processes on these processors have 64-bit addresses.
#[rustfmt::skip]
const WAVE32: [(u64, &str, u32); 6] =
    [(16, "pc", 64), (1, "exec", 32), (17, "exec_64", 64), (128, "status", 32), (512, "vcc", 32), (768, "vcc_64", 64)];
#[rustfmt::skip]
const WAVE64: [(u64, &str, u32); 6] =
    [(16, "pc", 64), (17, "exec", 64), (1, "exec_32", 32), (128, "status", 32), (768, "vcc", 64), (512, "vcc_32", 32)];

/// Whether a function preserves a register, by the calling convention for non-kernel functions in LLVM's AMDGPU user
/// guide. The number of a scalar register is its number in instruction encodings.
///
/// LLVM 14 to 20 preserve s30 to s105. Later versions preserve stripes of these registers (`CSR_AMDGPU_SGPRs`). An object
/// does not say which version compiled it, so only the stripes are sure to be preserved.
pub fn is_preserved(kind: RegisterKind, number: u16) -> bool {
    match kind {
        RegisterKind::Scalar if number >= 40 => number < VCC && (number % 16 < 8 || number >= 104),
        RegisterKind::Scalar => number >= 30,
        RegisterKind::Vector => (40..256).contains(&number) && number % 16 >= 8,
        RegisterKind::Accumulator => number >= 32,
    }
}

/// Returns a DWARF register's kind and number in instructions of an AMD GPU. `None` for other registers.
pub fn operand(target: &Target, reg: Reg) -> Option<(RegisterKind, u16)> {
    let mut ranges = target.register_ranges().iter();
    let registers = ranges.find(|registers| registers.contains(reg))?;
    let RegisterNames::Numbered { prefix, first } = registers.names() else { return None };
    let number = u16::try_from(first + (reg.0 - registers.first().0)).ok()?;
    let kind = match &**prefix {
        "s" => RegisterKind::Scalar,
        "v" => RegisterKind::Vector,
        "a" => RegisterKind::Accumulator,
        _ => return None,
    };
    Some((kind, number))
}

/// Adds the registers that a call overwrites. Each range has a first DWARF number, and the register numbers.
fn clobber(target: &mut TargetBuilder, kind: RegisterKind, ranges: &[(u64, Range<u16>)]) {
    for (first, numbers) in ranges {
        let mut rest = numbers.clone().peekable();
        while let Some(number) = rest.next() {
            if is_preserved(kind, number) {
                continue;
            }
            let mut count = 1;
            while rest.next_if(|number| !is_preserved(kind, *number)).is_some() {
                count += 1;
            }
            target.clobbered(Clobbered::new(first + u64::from(number - numbers.start), count));
        }
    }
}

const NO_OBJECT: u64 = 0xffff_ffff;

fn space(id: u32, name: &'static str, per: Per) -> Space {
    Space { null: NO_OBJECT, per, ..Space::new(SpaceId(id), name, 32) }
}

/// HSA's ABI version number for code object version 5.
const ABI_VERSION: u8 = 3;
/// ABI version number for generic processors: code object version 6, the first version with generic processors.
const ABI_VERSION_FAMILY: u8 = 4;
/// Generic version 1, in the top byte of `e_flags`.
const FAMILY_VERSION: u32 = 1 << 24;

pub(super) fn target(gfx: Gfx, wave: Wave) -> Result<Target> {
    let processor = &PROCESSORS[gfx.0];
    if !gfx.runs(wave) {
        return Err(near::unknown_wave(gfx, wave));
    }
    let lanes = wave.lanes();
    let mut target = Target::builder(format!("amdgpu-{}-wave{lanes}", processor.name), lanes);
    let vector = |first, prefix, numbers| Registers::numbered(first, prefix, numbers, 32).with_lanes(lanes);
    let (v, a, scalars) = match wave {
        Wave::W32 => (1536, 2048, WAVE32),
        Wave::W64 => (2560, 3072, WAVE64),
    };
    target.registers(vector(v, "v", 0..256)).registers(Registers::numbered(32, "s", 0..64, 32));
    for (number, name, bits) in scalars {
        target.registers(Registers::named(number, [name], bits));
    }
    let sgprs = match processor.sgprs {
        To101 => 102,
        To105 => 106,
    };
    target.registers(Registers::numbered(1088, "s", 64..sgprs.into(), 32));
    clobber(&mut target, RegisterKind::Vector, &[(v, 0..256)]);
    clobber(&mut target, RegisterKind::Scalar, &[(32, 0..64), (1088, 64..sgprs)]);
    match processor.vgprs {
        V256 => {}
        V256A256 => {
            target.registers(vector(a, "a", 0..256));
            clobber(&mut target, RegisterKind::Accumulator, &[(a, 0..256)]);
        }
        V1024 => {
            target.registers(vector(1792, "v", 256..512)).registers(vector(3584, "v", 512..1024));
            clobber(&mut target, RegisterKind::Vector, &[(1792, 256..512), (3584, 512..1024)]);
        }
    }
    // `vcc`, and the condition code in `status`: no convention preserves them.
    for number in [512, 768, 128] {
        target.clobbered(Clobbered::new(number, 1));
    }
    target.space(Space::new(SpaceId(0), "global", 64)).space(Space::new(SpaceId(1), "generic", 64));
    target.space(space(2, "region", Per::Process));
    target.space(Space {
        bytes: Some(u64::from(processor.local_kib) * 1024),
        ..space(3, "local", Per::Process)
    });
    target.space(space(5, "private_lane", Per::Lane)).space(space(6, "private_wave", Per::Thread));
    let family = processor.name.ends_with("generic");
    target.elf(ElfIdentity {
        machine: 224,
        flags: processor.mach | processor.features | if family { FAMILY_VERSION } else { 0 },
        os_abi: 64,
        abi_version: if family { ABI_VERSION_FAMILY } else { ABI_VERSION },
        relocations: Relocations { abs32: 6, abs64: 3, relative32: 4 },
    });
    target.scaling(processor.scaling).min_instruction_bytes(4);
    target.pc("pc").exec("exec").return_register("pc", true).data_alignment(4).gfx(gfx);
    // ROCgdb's `amdgpu-tdep.c` sets no `dwarf2_frame_set_init_reg`, so that gdb's default holds. AMD's compiler lists the
    // registers that a function overwrites as undefined.
    target.unspecified_registers(UnspecifiedRegisters::SameValue);
    target.resolve()
}

#[cfg(test)]
mod tests {
    use super::{RegisterKind, is_preserved};

    /// The numbers are those of LLVM's lists: "Non-Kernel Functions" in its user guide for AMDGPU, and
    /// `CSR_AMDGPU_SGPRs` in `AMDGPUCallingConv.td`.
    #[test]
    fn calls_preserve_the_registers_of_the_convention() {
        let vectors = [40..48, 56..64, 72..80, 88..96, 104..112, 120..128, 136..144, 152..160, 168..176];
        let more = [184..192, 200..208, 216..224, 232..240, 248..256];
        for number in 0..256 {
            let is_listed = vectors.iter().chain(&more).any(|range| range.contains(&number));
            assert_eq!(is_preserved(RegisterKind::Vector, number), is_listed, "v{number}");
            assert_eq!(is_preserved(RegisterKind::Accumulator, number), number >= 32, "a{number}");
        }
        // The first stripes contain the return address, stack pointer, frame pointer and base pointer.
        let scalars = [30..40, 48..56, 64..72, 80..88, 96..106];
        for number in 0..108 {
            let is_listed = scalars.iter().any(|range| range.contains(&number));
            assert_eq!(is_preserved(RegisterKind::Scalar, number), is_listed, "s{number}");
        }
    }
}
