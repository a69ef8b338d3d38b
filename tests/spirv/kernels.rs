//! Kernels compiled without debug information, as input for attaching. `kernels/README.md` describes how they were
//! made.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use eitri::spirv::{Id, Instruction, Words, from_bytes, read};
use pretty_assertions::assert_eq;

use crate::spirv::tools::{Folder, Tool};

/// A kernel with its compiled modules.
pub struct Kernel {
    pub name: &'static str,
    /// File, from the root of the project.
    pub source: &'static str,
    o0: &'static [u8],
    o2: &'static [u8],
    /// Names of the functions with a source, in the order of the modules.
    functions: &'static [&'static str],
}

macro_rules! kernels { ($($name:literal $source:literal $functions:tt)*) => { &[$(Kernel {
    name: $name,
    source: $source,
    o0: include_bytes!(concat!("kernels/", $name, ".O0.spv")),
    o2: include_bytes!(concat!("kernels/", $name, ".O2.spv")),
    functions: &$functions,
}),*] } }

pub const KERNELS: &[Kernel] = kernels! {
    "saxpy" "tests/spirv/kernels/saxpy.cl" ["saxpy"]
    "reduce" "benches/data/reduce.cl" ["reduce"]
    "matmul" "tests/spirv/kernels/matmul.cl" ["matmul"]
    "diverge" "examples/data/k04_diverge.cl" ["diverge"]
    "collatz" "tests/spirv/kernels/collatz.cl" ["collatz"]
    "calls" "benches/data/calls.cl" ["leaf", "mid", "calls"]
    "structs" "tests/spirv/kernels/structs.cl" ["structs"]
    "inline" "benches/data/inline.cl" ["fractal"]
    "spill" "examples/data/k14_spill.cl" ["clobber", "uspill", "vspillf", "vspillk"]
};

/// Optimisation options of clang.
pub const LEVELS: [&str; 2] = ["-O0", "-O2"];

impl Kernel {
    pub fn named(name: &str) -> &'static Self {
        KERNELS.iter().find(|kernel| kernel.name == name).expect("is a kernel")
    }

    /// Words of the module for a level.
    pub fn words(&self, level: &str) -> Vec<u32> {
        let bytes = if level == "-O0" { self.o0 } else { self.o2 };
        from_bytes(bytes).expect("is a module")
    }

    /// Words compiled now with clang and the translator.
    pub fn compiled(&self, flags: &[&str]) -> Option<Vec<u32>> {
        compiled(&Path::new(crate::common::ROOT).join(self.source), flags)
    }
}

const CLANG: Tool = Tool::new("clang-15", "clang-15");
const LLVM_SPIRV: Tool = Tool::new("llvm-spirv-15", "llvm-spirv-15");

/// Words compiled from a file with clang and the translator.
pub fn compiled(source: &Path, flags: &[&str]) -> Option<Vec<u32>> {
    let folder = Folder::new();
    let bitcode = bitcode(&folder, source, flags)?;
    let module = folder.path().join("a.spv");
    LLVM_SPIRV.run(&[bitcode.as_os_str(), "-o".as_ref(), module.as_os_str()])?.clean();
    Some(from_bytes(&std::fs::read(module).expect("it is written")).expect("is a module"))
}

/// Bitcode compiled from a file with clang.
pub fn bitcode(folder: &Folder, source: &Path, flags: &[&str]) -> Option<PathBuf> {
    let bitcode = folder.path().join("a.bc");
    let is_cpp = source.extension().is_some_and(|it| it == "clcpp");
    let standard = if is_cpp { "-cl-std=clc++" } else { "-cl-std=CL2.0" };
    let always =
        ["-target", "spir64", standard, "-Xclang", "-finclude-default-header", "-emit-llvm", "-c", "-o"];
    let mut arguments: Vec<&OsStr> = flags.iter().chain(&always).map(AsRef::as_ref).collect();
    arguments.extend([bitcode.as_os_str(), source.as_os_str()]);
    CLANG.run(&arguments)?.clean();
    Some(bitcode)
}

#[test]
fn the_modules_are_those_that_clang_makes() {
    for kernel in KERNELS {
        for level in LEVELS {
            let Some(words) = kernel.compiled(&[level]) else { return };
            assert_eq!(kernel.words(level), words, "{} {level}", kernel.name);
        }
    }
}

/// Named functions, in order: those of the source. The entry point of a kernel is unnamed, and calls the kernel.
pub fn functions(words: &[u32]) -> Vec<(Id, String)> {
    let words = Words::new(words).expect("is a module");
    let name = |function: Id| {
        let is_name = |it: &Instruction<'_>| it.opcode() == OP_NAME && it.operands()[0] == function.0;
        words.instructions().find(is_name).map(|it| (function, string(&it.operands()[1..])))
    };
    let functions = words.instructions().filter(|it| it.opcode() == OP_FUNCTION);
    functions.filter_map(|it| name(it.result()?)).collect()
}

const OP_NAME: u16 = 5;
const OP_FUNCTION: u16 = 54;

/// Decodes a string.
fn string(words: &[u32]) -> String {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes());
    String::from_utf8(bytes.take_while(|&byte| byte != 0).collect()).expect("is text")
}

/// The modules have no debug instructions yet.
#[test]
fn the_modules_have_no_debug_information() {
    for kernel in KERNELS {
        for level in LEVELS {
            let words = kernel.words(level);
            let at = format!("{} {level}", kernel.name);
            let facts = read(&words).expect("reads");
            assert_eq!(facts.iter().count(), 0, "{at}");
            assert_eq!(facts.encode(), words, "{at}");
            let names: Vec<_> = functions(&words).into_iter().map(|(_, name)| name).collect();
            assert_eq!(names, kernel.functions, "{at}");
        }
    }
}
