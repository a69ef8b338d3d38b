//! A cubin that ptxas makes of a small kernel of our own, with a description of its variables.

#![allow(dead_code, reason = "each test uses a part")]

use eitri::build::Builder;
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::emit::{Section, ptx};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, LineTableRow, Loc, Module, SourceLine};
use eitri::target::{Sm, Target};

use super::tools::{Folder, Tool};
use crate::common::with;

pub const PTXAS: Tool = Tool::new("ptxas", "nvidia-cuda-nvcc of PyPI");

/// A kernel of ten instructions. The last two are in one line.
pub const TEXT: &str = "\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(
.param .u64 k_param_0)
{
.reg .b32 %r<8>;
.reg .b64 %rd<4>;
ld.param.u64 %rd1, [k_param_0];
cvta.to.global.u64 %rd2, %rd1;
ld.global.u32 %r1, [%rd2];
add.s32 %r2, %r1, 7;
mul.lo.s32 %r3, %r2, %r1;
xor.b32 %r4, %r3, %r2;
st.global.u32 [%rd2], %r4;
st.global.u32 [%rd2+4], %r3;
st.global.u32 [%rd2+8], %r2; ret;
}
";

/// Registers of the kernel's `by`, of the inlined call's `by`, and of the variables `i` of two blocks.
pub const REGISTERS: [&str; 4] = ["%r3", "%r2", "%r1", "%r4"];

/// A description of the kernel. The inlined call's `by` is visible before the kernel's, and around it.
pub fn described(registers: [&str; 4]) -> eitri::Result<Module> {
    let gpu = Target::nvptx(Sm::named("sm_80").expect("a processor"));
    let mut m = Builder::new(gpu.clone());
    let unit = m.unit("k.cu");
    let file = m.primary_file(unit)?;
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let inlined = m.function(unit, "f")?.declared(SourceLine::new(file, 1)).id();
    let inlined_by = m.parameter(inlined, "by", int)?.declared(SourceLine::new(file, 1)).id();
    let kernel = m.function(unit, "k")?.code("k", 10).kernel().declared(SourceLine::new(file, 2)).id();
    let [outer, inner, first, second] = registers;
    let at = |name| gpu.register_named(name).map(Loc::per_lane);
    m.variable(kernel, "by", int)?.declared(SourceLine::new(file, 3)).live(5..8, at(outer)?)?;
    let call = m.inlined(kernel, inlined, &[4..7], SourceLine::new(file, 4).column(1))?;
    m.inlined_variable(call, inlined_by)?.live(4..7, at(inner)?)?;
    for (pcs, register) in [(3..5, first), (6..8, second)] {
        let block = m.block(kernel, std::slice::from_ref(&pcs))?;
        m.variable(block, "i", int)?.declared(SourceLine::new(file, 6)).live(pcs, at(register)?)?;
    }
    for pc in 0..10 {
        m.row(kernel, LineTableRow::new(pc, file, 2 + pc as u32))?;
    }
    m.finish()
}

/// The cubin of the text with the description of `REGISTERS`; `None` without ptxas.
pub fn cubin(processor: &str) -> Option<Vec<u8>> {
    assembled(&described(REGISTERS).expect("a module"), processor)
}

/// The cubin of the text with a description; `None` without ptxas.
pub fn assembled(module: &Module, processor: &str) -> Option<Vec<u8>> {
    let written = lower(module, &Consumer::cuda_gdb(), Policy::Strict).expect("sections");
    let how = with::<ptx::PtxAttachOptions>(|options| options.lines = written.lines.as_ref());
    let text = ptx::attach(TEXT, module.target(), &written.sections, &how).expect("a text");
    let folder = Folder::new();
    let source = folder.path().join("k.ptx");
    let cubin = folder.path().join("k.cubin");
    std::fs::write(&source, text).expect("a file");
    let arch = format!("-arch={processor}");
    let paths = [&source, &cubin].map(|path| path.to_str().expect("a path"));
    PTXAS.run(&[&arch, "-g", paths[0], "-o", paths[1]])?.clean();
    Some(std::fs::read(&cubin).expect("the cubin"))
}

/// An object with a processor's identity in ELF and what is typed. A new cubin has further sections, and only for sm_80.
pub fn typed(processor: &str, code: &ObjectCode, sections: &[Section]) -> Vec<u8> {
    let mut identity = Target::named(processor).expect("a target").elf();
    let machine = identity.machine;
    identity.machine = 0xfeed;
    let mut target = Target::builder("typed", 1);
    target.elf(identity);
    let mut bytes = new_object(&target.build().expect("a target"), code, sections).expect("an object");
    // e_machine.
    bytes[18..20].copy_from_slice(&machine.to_le_bytes());
    bytes
}
