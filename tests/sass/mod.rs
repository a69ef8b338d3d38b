//! The promise: a description attached to a cubin, machine code that ptxas optimized, is what NVIDIA's tools and `check`
//! read in it.

mod attached;
mod changed;
mod copied_frames;
pub mod copied_lists;
mod copied_rows;
mod damaged;
mod lines;
mod linked;
mod mercury;
mod names;
mod new;
mod page;
mod tables;
mod untouched;

use eitri::build::Builder;
use eitri::check::{CheckReport, check};
use eitri::emit::elf::{AttachOptions, Existing, attach_with, symbol_named};
use eitri::lower::{Consumer, Lowered, Policy, lower};
use eitri::model::{BaseEncoding, LineTableRow, Loc, Module, SourceLine, Val};
use eitri::target::{Sm, SpaceId, Target};

use crate::common::cubin::{PTXAS, TEXT};
use crate::common::tools::{Folder, Tool};
use crate::common::with;

pub const NVDISASM: Tool = Tool::new("nvdisasm", "nvidia-cuda-nvcc of PyPI");
pub const CUOBJDUMP: Tool = Tool::new("cuobjdump", "nvidia-cuda-nvcc of PyPI");
pub const NVLINK: Tool = Tool::new("nvlink", "nvidia-cuda-nvcc of PyPI");
pub const DWARFDUMP: Tool = Tool::new("llvm-dwarfdump-19", "llvm-19");

/// The optimized cubin of the example, for sm_80.
pub const OPTIMIZED: &[u8] = include_bytes!("../../examples/data/sass_kernel.cubin");

/// What ptxas makes of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    Linked,
    Relocatable,
}

/// The optimized code of the kernel `k`, under another name; `None` without ptxas.
pub fn compiled(processor: &str, name: &str, output: Output) -> Option<Vec<u8>> {
    let text = TEXT
        .replace("sm_80", if processor == "sm_75" { "sm_75" } else { "sm_80" })
        .replace("k(", &format!("{name}("));
    let folder = Folder::new();
    let source = folder.file("k.ptx", text);
    let cubin = folder.path().join("k.cubin");
    let arch = format!("-arch={processor}");
    let kind = if output == Output::Relocatable { "-c" } else { "-O3" };
    let words = [arch.as_ref(), kind.as_ref(), source.as_os_str(), "-o".as_ref(), cubin.as_os_str()];
    PTXAS.run(&words)?.clean();
    Some(std::fs::read(&cubin).expect("a cubin"))
}

pub fn target(processor: &str) -> Target {
    Target::nvptx(Sm::named(processor).expect("a processor"))
}

/// Variables in each kind of storage, whatever the code does, and rows with an inlined call.
pub fn described(target: &Target, name: &str, size: u64) -> eitri::Result<Module> {
    let mut m = Builder::new(target.clone());
    let unit = m.unit("made.cu");
    let file = m.primary_file(unit)?;
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let long = m.base_type(unit, "long", BaseEncoding::Signed, 64)?;
    let short = m.base_type(unit, "short", BaseEncoding::Signed, 16)?;
    let boolean = m.base_type(unit, "bool", BaseEncoding::Boolean, 8)?;
    let helper = m.function(unit, "helper")?.declared(SourceLine::new(file, 20)).id();
    let kernel = m.function(unit, name)?.code(name, size).kernel().declared(SourceLine::new(file, 2)).id();
    for (pc, line) in [(0, 4), (0x20, 5), (0x40, 21), (0x60, 7)] {
        m.row(kernel, LineTableRow::new(pc, file, line))?;
    }
    m.inlined(kernel, helper, &[0x40..0x60], SourceLine::new(file, 5))?;
    let register = |name: &str| target.register_named(name);
    let lane = |name: &str| register(name).map(Loc::per_lane);
    let pair = || Ok::<_, eitri::Error>(Loc::per_lane_over([register("R2")?, register("R3")?]));
    let local = |by| Ok::<_, eitri::Error>(Loc::memory(SpaceId::PRIVATE_LANE, lane("R1")?.read(32).plus(by)));
    let param = target.space_named("param")?.id;
    let global = target.space_named("global")?.id;
    m.parameter(kernel, "argument", long)?.always(Loc::memory(param, Val::constant(0x160)))?;
    m.variable(kernel, "plain", int)?.live(0x20..0x60, lane("R4")?)?;
    m.variable(kernel, "pair", long)?.live(0x10..0x40, pair()?)?;
    m.variable(kernel, "uniform", int)?.live(0..0x50, Loc::register(register("UR4")?))?;
    m.variable(kernel, "half", short)?.live(0x10..0x50, lane("R4")?.bit_offset(16))?;
    let flag = Loc::parts([(lane("P1")?, 1), (Loc::implicit(&[0]), 7)]);
    m.variable(kernel, "flag", boolean)?.live(0x10..0x50, flag)?;
    m.variable(kernel, "spilled", int)?.live(0x10..0x30, lane("R5")?)?.live(0x30..size, local(16)?)?;
    m.variable(kernel, "stacked", int)?.live(0x10..size, local(24)?)?;
    m.variable(kernel, "element", int)?.live(0x10..0x40, Loc::memory(global, pair()?.read(64).plus(12)))?;
    m.frame(kernel)?.cfa(0..0x30, local(0)?)?.cfa(0x30..size, local(8)?)?;
    m.finish()
}

/// A cubin with a description attached.
pub struct Attached {
    pub module: Module,
    pub written: Lowered,
    pub bytes: Vec<u8>,
}

/// Attaches the description to a kernel. ptxas writes frames without `-g`, too, which are replaced.
pub fn attached(cubin: &[u8], processor: &str, name: &str) -> Attached {
    let target = target(processor);
    let size = symbol_named(cubin, name).expect("the kernel").size;
    let module = described(&target, name, size).expect("a module");
    let written = lower(&module, &Consumer::cuda_gdb_sass(), Policy::Strict).expect("sections");
    let bytes = attach_with(cubin, &target, &written.sections, &replacing()).expect("a cubin");
    Attached { module, written, bytes }
}

pub fn replacing() -> AttachOptions {
    with::<AttachOptions>(|options| options.existing = Existing::Replace)
}

impl Attached {
    pub fn check(&self, bytes: &[u8]) -> CheckReport {
        check(&self.module, &Consumer::cuda_gdb_sass(), &self.written.omissions, bytes).expect("a report")
    }
}

/// Runs all tools on a cubin, and returns what nvdisasm and cuobjdump print; `None` without one.
pub fn printed(bytes: &[u8]) -> Option<[String; 2]> {
    let folder = Folder::new();
    let path = folder.file("a.cubin", bytes);
    let words = ["-gi".as_ref(), "-g".as_ref(), "-c".as_ref(), path.as_os_str()];
    let code = NVDISASM.run(&words)?.clean();
    CUOBJDUMP.run(&["-sass".as_ref(), path.as_os_str()])?.clean();
    let entries = CUOBJDUMP.run(&["-elf".as_ref(), path.as_os_str()])?.clean();
    let verified = DWARFDUMP.run(&["--verify".as_ref(), path.as_os_str()])?;
    assert!(verified.succeeded, "{verified}");
    Some([code, entries])
}

/// Source lines in a disassembly.
pub fn source_lines(code: &str) -> Vec<&str> {
    let lines = code.lines().filter_map(|line| line.trim().strip_prefix("//## File "));
    lines.collect()
}
