//! Debug information for PTX, which NVIDIA's debugger takes.
//!
//! `data/cuda_kernel.ptx` is what an optimizing compiler makes of `data/cuda_kernel.cu`: variables are in registers, one
//! of them is spilled to local memory, and a function is inlined. This example describes where each variable is, by the
//! numbers of instructions, adds the description to the text, and checks the result. Where ptxas is on the path, the
//! text is assembled for several processors, and each cubin is compared with the description at every pc.
//!
//! ```sh
//! cargo run --example cuda_kernel [FOLDER]
//! ```

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use eitri::build::Builder;
use eitri::emit::ptx;
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, LineTableRow, Loc, Module, Qualifier, SourceLine, Val};
use eitri::target::{Reg, Sm, SpaceId, Target};

/// PTX, without debug information.
const TEXT: &str = include_str!("data/cuda_kernel.ptx");

/// Number of instructions of the kernel: its size.
const SIZE: u64 = 22;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).map_or_else(|| "target/examples".into(), PathBuf::from);
    std::fs::create_dir_all(&folder)?;

    let sm = Sm::named("sm_80").expect("a processor");
    let module = describe(&Target::nvptx(sm))?;
    let consumer = Consumer::cuda_gdb();
    let written = lower(&module, &consumer, Policy::Strict)?;
    let how = {
        let mut options = ptx::PtxAttachOptions::default();
        options.lines = written.lines.as_ref();
        options
    };
    let text = ptx::attach(TEXT, module.target(), &written.sections, &how)?;
    let path = folder.join("cuda_kernel.debug.ptx");
    std::fs::write(&path, &text)?;
    println!("{}: {} bytes, {} of them the compiler's", path.display(), text.len(), TEXT.len());
    let report = eitri::check(&module, &consumer, &written.omissions, text.as_bytes())?;
    println!("{report}");
    if !report.is_clean() {
        return Err("the text does not mean what was described".into());
    }
    assemble(&path, &module, &consumer)
}

/// The unit, its types, the kernel with its variables, and the lines. Positions are numbers of instructions: a value is
/// in a register from the position after the instruction that writes it to that of the last one that reads it.
fn describe(gpu: &Target) -> eitri::Result<Module> {
    let mut m = Builder::new(gpu.clone());
    let unit = m.unit("cuda_kernel.cu");
    let file = m.primary_file(unit)?;
    m.describe_unit(unit)?.directory(".").producer("by hand; eitri").language(gimli::DW_LANG_C_plus_plus.0);
    let [global, shared, local, param] =
        ["global", "shared", "local", "param"].map(|name| gpu.space_named(name));
    let global = global?.id;
    let shared = shared?.id;
    let local = local?.id;
    let param = param?.id;
    let float = m.base_type(unit, "float", BaseEncoding::Float, 32)?;
    let unsigned = m.base_type(unit, "unsigned int", BaseEncoding::Unsigned, 32)?;
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let const_int = m.qualified(unit, Qualifier::Const, Some(int))?;
    let pointer = m.pointer(unit, Some(float))?;
    let tile = m.array(unit, float, &[Some(32)])?;
    let reg = |name: &str| gpu.register_named(name);
    let at = |line, column| SourceLine::new(file, line).column(column);

    // The module's variables: their symbols.
    let symbol = m.symbol("count");
    m.variable(unit, "count", unsigned)?
        .declared(SourceLine::new(file, 1))
        .external()
        .always(memory(global, symbol))?;
    let symbol = m.symbol("tile");
    m.variable(unit, "tile", tile)?
        .declared(SourceLine::new(file, 2))
        .external()
        .always(memory(shared, symbol))?;

    // The inlined function.
    let grown = m
        .function(unit, "grown")?
        .linkage_name("_Z5grownff")
        .declared(SourceLine::new(file, 4))
        .returns(float)?
        .id();
    let x = m.parameter(grown, "x", float)?.declared(SourceLine::new(file, 4)).id();
    let by = m.parameter(grown, "by", float)?.declared(SourceLine::new(file, 4)).id();
    let y = m.variable(grown, "y", float)?.declared(SourceLine::new(file, 5)).id();

    let scale =
        m.function(unit, "scale")?.code("scale", SIZE).kernel().declared(SourceLine::new(file, 9)).id();
    // Parameters are in constant memory for the whole life of the kernel.
    for (number, (name, ty)) in [("data", pointer), ("by", float), ("n", unsigned)].into_iter().enumerate() {
        let symbol = m.symbol(&format!("scale_param_{number}"));
        m.parameter(scale, name, ty)?
            .declared(SourceLine::new(file, 9))
            .live(0..SIZE, memory(param, symbol))?;
    }
    m.variable(scale, "step", const_int)?
        .declared(SourceLine::new(file, 10))
        .always(Loc::implicit(&[1, 0, 0, 0]))?;
    m.variable(scale, "i", unsigned)?
        .declared(SourceLine::new(file, 11))
        .live(4..15, Loc::per_lane(reg("%r2")?))?;
    let body = m.block(scale, &[6..21])?;
    let depot = m.symbol("depot");
    // In a register and in the slot while the register is read, then in the slot alone, and in another register.
    let slot = Loc::memory(local, Val::address(depot, 4));
    m.variable(body, "was", float)?
        .declared(SourceLine::new(file, 13))
        .live(10..11, Loc::per_lane(reg("%f2")?))?
        .live_in(11..12, &[Loc::per_lane(reg("%f2")?), slot.clone()])?
        .live(12..18, slot)?
        .live(18..19, Loc::per_lane(reg("%f5")?))?;
    m.variable(body, "now", float)?
        .declared(SourceLine::new(file, 14))
        .live(13..19, Loc::per_lane(reg("%f4")?))?;

    let call = m.inlined(body, grown, &[11..13], at(14, 17))?;
    m.inlined_variable(call, x)?.live(11..13, Loc::per_lane(reg("%f2")?))?;
    m.inlined_variable(call, by)?.live(11..13, Loc::per_lane(reg("%f1")?))?;
    m.inlined_variable(call, y)?.live(12..13, Loc::per_lane(reg("%f3")?))?;
    // The element that the kernel changes: memory at an address in a register. The debugger reads the register, so the
    // range ends in front of the last instruction that reads it: several instructions of the processor take its place,
    // and the register has a home up to the one that reads it.
    let element = element(global, reg("%rd4")?);
    m.variable(body, "element", float)?
        .declared(SourceLine::new(file, 16))
        .artificial()
        .live(9..19, element)?;

    for (pc, line, column) in [
        (0, 9, 0),
        (3, 11, 16),
        (4, 12, 11),
        (6, 13, 21),
        (11, 5, 15),
        (12, 6, 14),
        (13, 15, 17),
        (17, 16, 23),
        (20, 17, 15),
        (21, 19, 1),
    ] {
        m.row(scale, LineTableRow::new(pc, file, line).column(column))?;
    }
    m.finish()
}

/// Memory at a symbol.
fn memory(space: SpaceId, symbol: eitri::model::Symbol) -> Loc {
    Loc::memory(space, Val::address(symbol, 0))
}

/// Memory at the address that the thread has in a register of 64 bits.
fn element(space: SpaceId, register: Reg) -> Loc {
    Loc::memory(space, Loc::per_lane(register).read(64))
}

/// Assembles the text for several processors, and compares each cubin with the description.
fn assemble(path: &Path, module: &Module, consumer: &Consumer) -> Result<(), Box<dyn Error>> {
    for processor in ["sm_80", "sm_90", "sm_100", "sm_120"] {
        let cubin = std::env::temp_dir().join(format!("eitri-{}-{processor}.cubin", std::process::id()));
        let arch = format!("-arch={processor}");
        let ptxas = Command::new("ptxas").arg(arch).arg("-g").arg(path).arg("-o").arg(&cubin).output();
        let Ok(output) = ptxas else {
            println!("not assembled: there is no ptxas");
            return Ok(());
        };
        if !output.status.success() || !output.stderr.is_empty() {
            return Err(format!("ptxas: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
        let coverage = eitri::check::coverage(module, consumer, &std::fs::read(&cubin)?);
        std::fs::remove_file(&cubin)?;
        println!("{processor}\n{}", coverage?);
    }
    Ok(())
}
