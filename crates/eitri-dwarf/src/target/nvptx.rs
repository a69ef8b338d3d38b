//! NVIDIA processors from sm_75 on: SASS and PTX registers, address spaces, and ELF flags of cubins.
//!
//! A PTX register's DWARF number is its name, packed as ASCII. SASS registers have numbers of the form class times 2²⁴
//! plus number in call frame information; in expressions, R registers have plain numbers.
//!
//! ```
//! use eitri_dwarf::target::Target;
//! use eitri_dwarf::target::nvptx::{Sm, class};
//!
//! let gpu = Target::nvptx(Sm::named("sm_90a").expect("a known processor"));
//! // PTX: the characters `%`, `r` and `1`.
//! assert_eq!(gpu.register_named("%r1")?.0, 0x25_72_31);
//! // SASS: a uniform register.
//! assert_eq!(gpu.register_named("UR4")?.0, u64::from(class::UR) << 24 | 4);
//! # Ok::<(), eitri_dwarf::Error>(())
//! ```

use super::{ElfIdentity, Per, Registers, Relocations, Space, SpaceId, Target};

/// An NVIDIA processor, or a variant with architecture-specific (`a`) or family-specific (`f`) features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sm {
    number: u16,
    features: Features,
}

/// Features that later processors need not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Features {
    None,
    Architecture,
    Family,
}

impl Features {
    const fn letter(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Architecture => "a",
            Self::Family => "f",
        }
    }
}

/// Processors, and the feature sets for which PTX can be compiled on each.
const PROCESSORS: &[(u16, &[Features])] = {
    use Features::{Architecture, Family, None};
    &[
        (75, &[None]),
        (80, &[None]),
        (86, &[None]),
        (87, &[None]),
        (88, &[None]),
        (89, &[None]),
        (90, &[None, Architecture]),
        (100, &[None, Architecture, Family]),
        (103, &[None, Architecture, Family]),
        (107, &[None, Architecture, Family]),
        (110, &[None, Architecture, Family]),
        (120, &[None, Architecture, Family]),
        (121, &[None, Architecture, Family]),
    ]
};

impl Sm {
    /// Returns the processor with a name such as `sm_80` or `sm_90a`.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|sm| sm.name() == name)
    }

    /// Returns the processor with a number such as 80, without further features.
    pub fn numbered(number: u16) -> Option<Self> {
        Self::all().find(|sm| sm.number == number)
    }

    /// Returns all processors, each in all variants.
    pub fn all() -> impl Iterator<Item = Self> {
        PROCESSORS
            .iter()
            .flat_map(|&(number, features)| features.iter().map(move |&features| Self { number, features }))
    }

    /// Returns the number, such as 80.
    pub fn number(self) -> u16 {
        self.number
    }

    /// Returns the name, such as `sm_80`.
    pub fn name(self) -> String {
        format!("sm_{}{}", self.number, self.features.letter())
    }
}

/// Register classes in call frame information and in the map of PTX registers.
///
/// ```
/// # use eitri_dwarf::target::Target;
/// # use eitri_dwarf::target::nvptx::{Sm, class};
/// // R4 in call frame information; in expressions it is 4.
/// let sass = eitri_dwarf::op::Reg(u64::from(class::R) << 24 | 4);
/// let gpu = Target::nvptx(Sm::named("sm_80").expect("a known processor"));
/// println!("{:?}", gpu.register(sass));
/// ```
pub mod class {
    /// Condition code.
    pub const CC: u8 = 1;
    /// One-bit predicates.
    pub const P: u8 = 2;
    /// Address registers.
    pub const A: u8 = 3;
    /// Halves of R registers: the number divided by 2 is the register, the remainder is the half.
    pub const R_HALF: u8 = 4;
    /// General registers.
    pub const R: u8 = 5;
    /// Local memory at an offset.
    pub const LOCAL: u8 = 6;
    /// Local memory at an offset from an R register.
    pub const SPILL: u8 = 7;
    /// Uniform predicates.
    pub const UP: u8 = 9;
    /// Halves of uniform registers.
    pub const UR_HALF: u8 = 10;
    /// Uniform registers: UR0 to UR62, and to UR254 from sm_100 on. The next number is URZ, which reads as 0.
    pub const UR: u8 = 11;
}

const LANES: u32 = 32;

const fn number(class: u8, n: u64) -> u64 {
    (class as u64) << 24 | n
}

fn space(id: u32, name: &'static str, address_bits: u32, class: u32) -> Space {
    Space { address_class: Some(class), ..Space::new(SpaceId(id), name, address_bits) }
}

pub(super) fn target(sm: Sm) -> Target {
    let mut target = Target::builder(format!("nvptx-{}", sm.name()), LANES);
    let per_lane = |registers: Registers| registers.with_lanes(LANES);
    // Operands of instructions have 6 bits for a uniform register, and 8 from sm_100 on.
    let uniform_zero = if sm.number < 100 { 63 } else { 255 };
    // RZ and URZ read as 0.
    target
        .registers(per_lane(Registers::numbered(0, "R", 0..255, 32)).with_alias(number(class::R, 0)))
        .registers(per_lane(Registers::named(255, ["RZ"], 32)).with_alias(number(class::R, 255)))
        .registers(per_lane(Registers::numbered(number(class::P, 0), "P", 0..7, 1)))
        .registers(per_lane(Registers::named(number(class::P, 7), ["PT"], 1)))
        .registers(Registers::numbered(number(class::UR, 0), "UR", 0..uniform_zero, 32))
        .registers(Registers::named(number(class::UR, uniform_zero), ["URZ"], 32))
        .registers(Registers::numbered(number(class::UP, 0), "UP", 0..7, 1))
        // A PTX register has up to two words.
        .registers(per_lane(Registers::packed_names('%', 64)));
    target.registers(per_lane(Registers::named(number(class::CC, 0), ["CC"], 32)));
    target
        .space(space(SpaceId::DEFAULT.0, "default", 64, 12))
        .space(space(SpaceId::LOCAL.0, "shared", 32, 8))
        .space(Space { per: Per::Lane, ..space(SpaceId::PRIVATE_LANE.0, "local", 32, 6) })
        .space(space(8, "global", 64, 5))
        .space(space(9, "const", 32, 4))
        .space(space(10, "param", 32, 7));
    // The low byte differs from sm_100 on.
    let low = if sm.number < 100 { 4 } else { 2 };
    target.elf(ElfIdentity {
        machine: 190,
        flags: 6 << 24 | u32::from(sm.number) << 8 | low,
        os_abi: 0x41,
        abi_version: 8,
        relocations: Relocations { abs32: 1, abs64: 2, relative32: 0 },
    });
    target.return_register("R20", false).data_alignment(-4).lane_expressions();
    target.resolve().expect("the target has the named registers")
}
