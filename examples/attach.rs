//! Debug information for a code object that somebody else compiled.
//!
//! `data/uspill.o` is LLVM's output for `data/k14_spill.cl` without `-g`. The kernel `uspill` has more scalars than
//! scalar registers, so that they are spilled in turn to lanes of a vector register; with `-g`, LLVM emits locations
//! for none of them. `data/uspill.rs` is the knowledge of a compiler after register allocation. This example turns that
//! knowledge into sections of the object.
//!
//! ```sh
//! cargo run --example attach [FOLDER]
//! # In the folder of the source:
//! cd examples/data && llvm-objdump-19 -S ../../target/examples/uspill.debug.so
//! ```

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use eitri::build::{Builder, VariableBuilder};
use eitri::emit::elf;
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{
    BaseEncoding, FileId, FunctionId, Language, LineTableRow, Loc, Module, Qualifier, SourceLine, TypeId,
};
use eitri::target::{Gfx, Target, Wave};
use object::{Object, ObjectSegment};

#[path = "data/uspill.rs"]
mod uspill;
use uspill::{CODE_BYTES, LINES, Place, SCALARS, Scalar, VCC_HI, VCC_LO, WAVE_SIZE};

/// LLVM's object, without debug information.
const OBJECT: &[u8] = include_bytes!("data/uspill.o");

/// Variables to print, which are in lanes at times.
const SHOWN: &[&str] = &["s4", "s9", "s18", "s19", "s20", "s21", "s22", "s23", "s25", "s26", "acc", "n"];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).map_or_else(|| "target/examples".into(), PathBuf::from);
    std::fs::create_dir_all(&folder)?;

    let module = describe(&Target::amdgpu(Gfx::GFX1030, Wave::W32)?)?;
    let consumer = Consumer::llvm();
    let written = lower(&module, &consumer, Policy::Strict)?;
    let object = elf::attach(OBJECT, module.target(), &written.sections)?;

    SCALARS.iter().filter(|scalar| SHOWN.contains(&scalar.name)).for_each(show);
    let path = folder.join("uspill.debug.o");
    elf::write_file(&path, &object)?;
    println!("{}: {} bytes, {} of them LLVM's", path.display(), object.len(), OBJECT.len());
    let report = eitri::check(&module, &consumer, &written.omissions, &object)?;
    println!("{report}");
    let linked = link(&folder, &path)?;
    if let Some(linked) = linked {
        // The linker moved the code: the decoded addresses must have moved with it.
        println!("linked: {}", eitri::check(&module, &consumer, &written.omissions, &linked)?);
    }
    if report.is_clean() { Ok(()) } else { Err("the object does not mean what was described".into()) }
}

/// The unit, its types, the kernel with its variables, and the line table.
fn describe(gpu: &Target) -> eitri::Result<Module> {
    assert_eq!(gpu.lanes(), u32::from(WAVE_SIZE), "the table is of waves of this size");
    let mut m = Builder::new(gpu.clone());
    let unit = m.unit("k14_spill.cl");
    let file = m.primary_file(unit)?;
    // The directory is relative: the object does not depend on where it is made, and a reader next to the source finds
    // the source.
    m.describe_unit(unit)?.directory(".").producer("clang 19.1.7; eitri").language(Language::OPENCL_C);

    let global = gpu.space_named("global")?.id;
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let const_int = m.qualified(unit, Qualifier::Const, Some(int))?;
    let u = m.pointer_into(unit, Some(const_int), global)?;
    let out = m.pointer_into(unit, Some(int), global)?;

    let kernel = m
        .function(unit, "uspill")?
        .code("uspill", CODE_BYTES)
        .kernel()
        .declared(SourceLine::new(file, 3))
        .id();
    parameters(&mut m, gpu, kernel, file, [u, out, int])?;
    // From after the branch around the loop to the jump back.
    let loop_pcs = 0x1b4..0x398;
    let body = m.block(kernel, &[loop_pcs])?;
    for scalar in SCALARS.iter().filter(|scalar| scalar.name != "n") {
        let variable = match scalar.name {
            "i" => m.variable(body, "i", int)?,
            name => m.variable(kernel, name, int)?,
        };
        stays(variable, gpu, file, scalar)?;
    }
    for row in LINES {
        let mut written = LineTableRow::new(row.pc, file, row.line).column(row.column.into());
        written.is_stmt = row.is_stmt;
        written.is_prologue_end = row.prologue_end;
        m.row(kernel, written)?;
    }
    m.finish()
}

/// The parameters: in memory while a register points there, then in registers and lanes.
///
/// The kernel descriptor, `uspill.kd`, defines at byte 56 the registers on entry: of 0x040b, bit 0 (private segment
/// buffer) takes s0 to s3, bit 1 (dispatch pointer) s4 and s5, bit 3 (pointer to the arguments) s6 and s7. The
/// object's metadata puts the arguments at bytes 0, 8 and 16, and the code loads them from there:
/// 0x010 s_load_dwordx4 s[8:11], s[6:7], null; 0x018 s_load_dword s0, s[6:7], 0x10.
/// No instruction stores to an argument, and 0x088 s_mov_b64 s[6:7], s[10:11] overwrites the pointer.
fn parameters(
    m: &mut Builder,
    gpu: &Target,
    kernel: FunctionId,
    file: FileId,
    [u, out, n]: [TypeId; 3],
) -> eitri::Result<()> {
    let low = gpu.sgpr(6)?;
    let high = gpu.sgpr(7)?;
    let v1 = gpu.vgpr(1)?;
    let argument = |offset| Loc::kernel_argument(low, high, offset);
    let pair = |low, high| Ok::<_, eitri::Error>(Loc::over([gpu.sgpr(low)?, gpu.sgpr(high)?]));

    // s[4:5] from 0x024 s_mov_b64 s[4:5], s[8:9] on; in the loop s5 is overwritten at 0x1d4 v_readlane_b32 s5, v1, 2,
    // around the loop s4 at 0x3f0 s_mov_b32 s4, s16.
    m.parameter(kernel, "u", u)?
        .declared(SourceLine::new(file, 3))
        .live(0x000..0x08c, argument(0))?
        .live(0x08c..0x1dc, pair(4, 5)?)?
        .live(0x3e4..0x3f4, pair(4, 5)?)?;
    // s[10:11] from 0x020 s_waitcnt lgkmcnt(0) on; the lanes from 0x190 v_writelane_b32 v1, s10, 11 and 0x198
    // v_writelane_b32 v1, s11, 12 on, which are the only writes to them.
    m.parameter(kernel, "out", out)?
        .declared(SourceLine::new(file, 3))
        .live(0x000..0x08c, argument(8))?
        .live(0x08c..0x1a0, pair(10, 11)?)?
        .live(0x1a0..CODE_BYTES, Loc::lanes([(v1, 11), (v1, 12)]))?;
    let mut parameter = m.parameter(kernel, "n", n)?;
    parameter.live(0x000..0x024, argument(16))?;
    let loaded = SCALARS.iter().find(|scalar| scalar.name == "n").expect("the table has n");
    stays(parameter, gpu, file, loaded)
}

/// Sets a variable's locations from the table.
fn stays(mut variable: VariableBuilder<'_>, gpu: &Target, file: FileId, of: &Scalar) -> eitri::Result<()> {
    variable.declared(SourceLine::new(file, of.line));
    for stay in of.stays {
        let places: Vec<Loc> = stay.places.iter().map(|&stay| place(gpu, stay)).collect::<Result<_, _>>()?;
        variable.live_in(stay.start..stay.end, &places)?;
    }
    Ok(())
}

/// Location of a place in the table.
fn place(gpu: &Target, at: Place) -> eitri::Result<Loc> {
    Ok(match at {
        // In waves of 32 lanes `vcc` is the low half. The high half has no DWARF number, but the whole register has
        // one.
        Place::Sgpr(VCC_LO) => Loc::register(gpu.register_named("vcc")?),
        Place::Sgpr(VCC_HI) => Loc::register(gpu.register_named("vcc_64")?).offset(4),
        Place::Sgpr(number) => Loc::register(gpu.sgpr(number)?),
        Place::Lane { vgpr, lane } => Loc::lane(gpu.vgpr(vgpr)?, lane.into()),
    })
}

/// Prints a variable's locations, and the instructions that begin and end each of them.
fn show(scalar: &Scalar) {
    println!("{}", scalar.name);
    for stay in scalar.stays {
        let places = stay.places.iter().map(|at| match *at {
            Place::Sgpr(VCC_LO) => "vcc_lo".into(),
            Place::Sgpr(VCC_HI) => "vcc_hi".into(),
            Place::Sgpr(number) => format!("s{number}"),
            Place::Lane { vgpr, lane } => format!("v{vgpr} lane {lane}"),
        });
        let places = places.collect::<Vec<_>>().join(", ");
        println!("  {:#05x}..{:#05x}  {places:<18}  {}", stay.start, stay.end, stay.because);
    }
    println!();
}

/// Links both objects and compares their loaded segments.
fn link(folder: &Path, debug: &Path) -> Result<Option<Vec<u8>>, Box<dyn Error>> {
    let plain = folder.join("uspill.o");
    elf::write_file(&plain, OBJECT)?;
    let mut loaded = Vec::new();
    let mut last = None;
    for object in [&*plain, debug] {
        let linked = object.with_extension("so");
        let linker = Command::new("ld.lld-19").arg("-shared").arg(object).arg("-o").arg(&linked).status();
        match linker {
            Ok(status) if status.success() => {}
            Ok(status) => return Err(format!("ld.lld-19: {status}").into()),
            Err(error) => {
                println!("not linked: ld.lld-19: {error}");
                return Ok(None);
            }
        }
        let bytes = std::fs::read(&linked)?;
        println!("{}: {} bytes", linked.display(), bytes.len());
        loaded.push(segments(bytes.clone())?);
        last = Some(bytes);
    }
    if loaded[0] != loaded[1] {
        return Err("debug information has changed what is loaded".into());
    }
    let bytes: usize = loaded[0].iter().map(|(_, bytes)| bytes.len()).sum();
    println!("loaded segments: {}, {bytes} bytes, the same with and without", loaded[0].len());
    Ok(last)
}

/// Loaded segments of a linked object: addresses and bytes.
fn segments(mut linked: Vec<u8>) -> Result<Vec<(u64, Vec<u8>)>, object::Error> {
    // The ELF header is loaded too. The header's fields for section headers (e_shoff; e_shentsize, e_shnum and
    // e_shstrndx) do not affect a loader, and differ with the number of sections.
    linked[40..48].fill(0);
    linked[58..64].fill(0);
    let file = object::File::parse(&*linked)?;
    file.segments().map(|segment| Ok((segment.address(), segment.data()?.to_vec()))).collect()
}
