//! Two kernels for which LLVM describes neither frames nor lanes: compiled without debug information, described by
//! hand, attached, linked, and checked. Waves are stopped in them at states of a real run; the positions of lanes and
//! the registers of callers are compared with values derived from the instructions.

use crate::common::clean as above;
mod calls;
mod cases;
mod chart;
use crate::common::tools as common;
mod diverge;
use crate::common as golden;
mod llvm;
mod run;
mod stopped;

use common::{Folder, Tool};
use eitri::emit::elf;
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{FileId, FunctionId, LineTableRow, Module};
use eitri::op::Dialect;
use eitri::target::{Gfx, Target, Wave};

const LLD: Tool = Tool::new("ld.lld-19", "lld-19");

fn gfx1030() -> Target {
    Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("gfx1030 runs waves of 32")
}

/// A row of a line table: pc, line, column, `is_stmt`.
type Line = (u64, u32, u32, bool);

fn rows(m: &mut eitri::build::Builder, function: FunctionId, file: FileId, lines: &[Line]) {
    for &(pc, line, column, is_stmt) in lines {
        let row = {
            let mut row = LineTableRow::new(pc, file, line).column(column);
            row.is_stmt = is_stmt;
            row
        };
        m.row(function, row).expect("a row of the function");
    }
}

/// A code object with debug information, and the dialect of its operations.
struct Attached {
    object: Vec<u8>,
    dialect: Dialect,
}

/// Attaches the description to a code object, and also links it if a linker is installed. Each result is checked, and has no finding above a note.
fn attached(object: &[u8], module: &Module, consumer: &Consumer) -> Vec<Attached> {
    let written = lower(module, consumer, Policy::Strict).expect("everything is expressible");
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
        let report = eitri::check(module, consumer, &written.omissions, &object).expect("it can be read");
        assert!(report.is_clean() && report.unproven.is_empty(), "for {}: {report}", consumer.name);
        // A file does not name its dialect, and one-byte operations of AMD's older debuggers are unknown in LLVM's.
        if consumer.expressions.dialect != Dialect::Legacy {
            let found = above::above_notes(consumer.name, &object);
            assert!(found.is_empty(), "{}", found.join("\n"));
        }
        Attached { object, dialect: consumer.expressions.dialect }
    };
    [object].into_iter().chain(linked).map(checked).collect()
}
