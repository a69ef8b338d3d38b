//! The programs, and LLVM's objects of them.

use std::path::{Path, PathBuf};
use std::process::Command;

use eitri::target::{Gfx, Target, Wave};

/// A program with compiler options.
pub struct Program {
    /// Path of the source in the package.
    source: &'static str,
    machine: Machine,
    /// Optimisation level.
    level: u8,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Machine {
    Gfx1030,
    X86_64,
}

const SOURCES: [(&str, Machine); 7] = [
    ("benches/data/reduce.cl", Machine::Gfx1030),
    ("benches/data/calls.cl", Machine::Gfx1030),
    ("benches/data/structs.cl", Machine::Gfx1030),
    ("benches/data/inline.cl", Machine::Gfx1030),
    ("examples/data/k14_spill.cl", Machine::Gfx1030),
    ("benches/data/calc.c", Machine::X86_64),
    ("benches/data/heat.c", Machine::X86_64),
];

/// The work-item functions, which GPU programs include.
const WORK_ITEMS: &str = "examples/data/minilib_amd.cl";

/// All programs, each at `-O0` and `-O2`.
pub fn all() -> Vec<Program> {
    let levels = |(source, machine)| [0, 2].map(|level| Program { source, machine, level });
    SOURCES.into_iter().flat_map(levels).collect()
}

impl Program {
    /// Name of the source, and level.
    pub fn name(&self) -> String {
        let stem = Path::new(self.source).file_stem().expect("a file").to_string_lossy();
        format!("{stem}_O{}", self.level)
    }

    pub fn target(&self) -> Target {
        match self.machine {
            Machine::Gfx1030 => Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("gfx1030 runs waves of 32"),
            Machine::X86_64 => Target::x86_64(),
        }
    }

    /// Compiles the program with LLVM; `None` without the compiler.
    ///
    /// Each function has its own section, as eitri places each function separately: otherwise LLVM emits one sequence
    /// of rows, and one range of the unit's pcs, for several functions.
    pub fn compile(&self) -> Option<Vec<u8>> {
        let out: PathBuf = [env!("CARGO_TARGET_TMPDIR"), &format!("{}.o", self.name())].iter().collect();
        let mut clang = Command::new("clang-19");
        clang.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).env("LC_ALL", "C");
        clang.args(["-g", "-gdwarf-5", "-w", "-ffunction-sections", &format!("-O{}", self.level)]);
        match self.machine {
            Machine::Gfx1030 => clang.args([
                "-xcl",
                "-cl-std=CL2.0",
                "-nogpulib",
                "--target=amdgcn-amd-amdhsa",
                "-mcpu=gfx1030",
                "-include",
                WORK_ITEMS,
            ]),
            Machine::X86_64 => clang.arg("--target=x86_64-linux-gnu"),
        };
        clang.args(["-fdebug-compilation-dir=.", "-c", self.source, "-o"]).arg(&out);
        let output = match clang.output() {
            Ok(output) => output,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
            Err(error) => panic!("clang-19: {error}"),
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(std::fs::read(out).expect("the object"))
    }
}
