//! Two kernels of which LLVM describes neither frames nor lanes: compiled without debug information,
//! described by hand, attached, linked, proven. Then waves are stopped in them, as they really run, and asked
//! where their lanes are and what their callers' registers hold; what is to come out was read off the
//! instructions, not from here.

mod calls;
mod cases;
mod chart;
#[path = "../common/tools.rs"]
#[allow(dead_code, reason = "the tools are those of other tests, too")]
mod common;
mod diverge;
#[path = "../common/mod.rs"]
mod golden;
mod llvm;
mod run;
mod stopped;

use common::{Folder, Tool};
use eitri::emit::elf;
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{FileId, FunctionId, Module, Row};
use eitri::op::Dialect;
use eitri::target::{Gfx, Target, Wave};

const LLD: Tool = Tool::new("ld.lld-19", "lld-19");

fn gfx1030() -> Target {
    Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("gfx1030 runs waves of 32")
}

/// A row of a line table: pc, line, column, and whether a statement begins there.
type Line = (u64, u32, u32, bool);

fn rows(m: &mut eitri::build::Builder, function: FunctionId, file: FileId, lines: &[Line]) {
    for &(pc, line, column, is_stmt) in lines {
        let row = Row { is_stmt, ..Row::new(pc, file, line).column(column) };
        m.row(function, row).expect("a row of the function");
    }
}

/// A code object with debug information, and how the operations in that are written.
struct Attached {
    object: Vec<u8>,
    dialect: Dialect,
}

/// A code object with what is said of it attached; and, where there is a linker, what that makes of it. Each
/// means what was described.
fn attached(object: &[u8], module: &Module, consumer: &Consumer) -> Vec<Attached> {
    let written = lower(module, consumer, Policy::Strict).expect("everything can be told");
    let object = elf::attach(object, module.target(), &written.sections).expect("an object");
    let folder = Folder::new();
    let path = folder.file("kernel.o", &object);
    let linked = folder.path().join("kernel.hsaco");
    let ran = LLD.run(&["-shared".as_ref(), path.as_os_str(), "-o".as_ref(), linked.as_os_str()]);
    let linked = ran.map(|ran| {
        assert_eq!(ran.clean(), "");
        std::fs::read(linked).expect("what was linked")
    });
    let checked = |object: Vec<u8>| {
        let report = eitri::check(module, consumer, &written.left_out, &object).expect("it can be read");
        assert!(report.is_clean() && report.unproven.is_empty(), "for {}: {report}", consumer.name);
        Attached { object, dialect: consumer.dialect }
    };
    [object].into_iter().chain(linked).map(checked).collect()
}
