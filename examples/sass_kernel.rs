//! Debug information for *optimized* machine code of NVIDIA, which ptxas compiles only without.
//!
//! `data/sass_kernel.cubin` is the output of `nvcc -O3 -arch=sm_80 -cubin` for `data/sass_kernel.cu`, without `-g`. The
//! description below is what its disassembly shows: parameters in constant memory, a pointer in a pair of registers, a
//! loop counter, a coefficient that is spilled, and an accumulator that moves from register to register.
//!
//! ```sh
//! cargo run --example sass_kernel [FOLDER]
//! nvdisasm -gi -c target/examples/sass_kernel.debug.cubin
//! cuobjdump -elf target/examples/sass_kernel.debug.cubin
//! ```

use std::error::Error;
use std::path::PathBuf;

use eitri::build::Builder;
use eitri::check::check;
use eitri::emit::elf::{self, AttachOptions, Existing};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, Language, LineTableRow, Loc, Module, SourceLine, Val};
use eitri::target::{Sm, SpaceId, Target};

const CUBIN: &[u8] = include_bytes!("data/sass_kernel.cubin");

/// Pcs and lines of the source, by the disassembly.
const LINES: &[(u64, u32)] = &[
    (0x000, 2),
    (0x010, 9),
    (0x040, 2),
    (0x050, 9),
    (0x080, 3),
    (0x130, 6),
    (0x2b0, 7),
    (0x2c0, 9),
    (0x2d0, 6),
    (0x2e0, 10),
    (0x300, 12),
    (0x310, 9),
    (0x330, 12),
    (0x4b0, 9),
    (0x4d0, 14),
    (0x4e0, 15),
    (0x4f0, 14),
    (0x540, 15),
    (0x550, 14),
    (0x560, 15),
    (0x570, 14),
    (0x580, 15),
    (0x590, 14),
    (0x5a0, 15),
    (0x5b0, 14),
    (0x5c0, 15),
    (0x5d0, 16),
];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).map_or_else(|| "target/examples".into(), PathBuf::from);
    std::fs::create_dir_all(&folder)?;
    let target = Target::nvptx(Sm::named("sm_80").ok_or("a processor")?);
    let module = describe(&target)?;
    let consumer = Consumer::cuda_gdb_sass();
    let written = lower(&module, &consumer, Policy::Strict)?;
    // ptxas writes frames even without `-g`; the described frames replace them.
    let mut how = AttachOptions::new();
    how.existing = Existing::Replace;
    let cubin = elf::attach_with(CUBIN, &target, &written.sections, &how)?;
    let path = folder.join("sass_kernel.debug.cubin");
    elf::write_file(&path, &cubin)?;
    println!("{}: {} bytes, {} of them ptxas's", path.display(), cubin.len(), CUBIN.len());
    let report = check(&module, &consumer, &written.omissions, &cubin)?;
    println!("{report}");
    if report.is_clean() { Ok(()) } else { Err("the cubin does not mean what was described".into()) }
}

fn describe(target: &Target) -> eitri::Result<Module> {
    let size = elf::symbol_named(CUBIN, "norms")?.size;
    let mut m = Builder::new(target.clone());
    let unit = m.unit("sass_kernel.cu");
    let file = m.primary_file(unit)?;
    m.describe_unit(unit)?.directory(".").producer("eitri").language(Language::CPP);
    let float = m.base_type(unit, "float", BaseEncoding::Float, 32)?;
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let pointer = m.pointer_into(unit, Some(float), SpaceId::DEFAULT)?;
    let kernel =
        m.function(unit, "norms")?.code("norms", size).kernel().declared(SourceLine::new(file, 2)).id();
    for &(pc, line) in LINES {
        m.row(kernel, LineTableRow::new(pc, file, line))?;
    }

    // Parameters are in constant memory from 0x160 on: `c[0x0][0x160]`.
    let parameter = target.space_named("param")?.id;
    for (name, ty, address) in
        [("out", pointer, 0x160), ("in", pointer, 0x168), ("n", int, 0x170), ("pitch", int, 0x174)]
    {
        m.parameter(kernel, name, ty)?.always(Loc::memory(parameter, Val::constant(address)))?;
    }

    let register = |name: &str| target.register_named(name);
    let in_lane = |name: &str| register(name).map(Loc::per_lane);
    let word = |name: &str| Ok::<_, eitri::Error>((in_lane(name)?, 32));

    // The pointer is computed in uniform registers, and moved to a pair of general registers.
    let uniform = Loc::parts([(Loc::register(register("UR6")?), 32), (Loc::register(register("UR5")?), 32)]);
    let pair = Loc::parts([word("R14")?, word("R15")?]);
    m.variable(kernel, "row", pointer)?
        .declared(SourceLine::new(file, 3))
        .live(0x110..0x130, uniform)?
        .live(0x130..0x4c0, pair)?;

    // The first coefficient is stored at [R1] before the loop, and loaded again for each element.
    let stack = Loc::memory(SpaceId::PRIVATE_LANE, in_lane("R1")?.read(32));
    m.variable(kernel, "a0", float)?
        .declared(SourceLine::new(file, 4))
        .live(0x140..0x2e0, in_lane("R17")?)?
        .live(0x2e0..0x310, stack.clone())?
        .live(0x310..0x340, in_lane("R17")?)?
        .live(0x340..0x4c0, stack)?;

    // The loop counter is in the register of the thread number until it gets one of its own.
    let counter = m.block(kernel, &[0x20..0x4c0])?;
    m.variable(counter, "i", int)?
        .declared(SourceLine::new(file, 9))
        .live(0x20..0x2d0, in_lane("R16")?)?
        .live(0x2d0..0x4c0, in_lane("R29")?)?;

    // Each step of the reduction leaves the sum in another register.
    m.variable(kernel, "sum", float)?
        .declared(SourceLine::new(file, 7))
        .live(0x2c0..0x500, in_lane("R0")?)?
        .live(0x500..0x520, in_lane("R4")?)?
        .live(0x520..0x540, in_lane("R5")?)?
        .live(0x540..0x580, in_lane("R6")?)?
        .live(0x580..0x5c0, in_lane("R7")?)?
        .live(0x5c0..0x5e0, in_lane("R9")?)?;

    // The stack pointer is 8 bytes below the frame's address after the subtraction at 0x40.
    let at = |by| Ok::<_, eitri::Error>(Loc::memory(SpaceId::PRIVATE_LANE, in_lane("R1")?.read(32).plus(by)));
    m.frame(kernel)?.cfa(0..0x50, at(0)?)?.cfa(0x50..size, at(8)?)?;
    m.finish()
}
