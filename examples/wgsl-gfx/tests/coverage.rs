//! Coverage as `llvm-dwarfdump --statistics` counts it: of eight kernels in OpenCL by clang at `-O2`, and of shaders that
//! do the same by this compiler.

use std::path::{Path, PathBuf};
use std::process::Command;

use wgsl_gfx::alloc::Limits;
use wgsl_gfx::compile;
use wgsl_gfx::front::Source;

const KERNELS: [(&str, &str); 8] = [
    ("k01_saxpy", "saxpy"),
    ("k02_reduce", "reduction"),
    ("k03_matmul", "matmul"),
    ("k04_diverge", "branches"),
    ("k05_loopbreak", "collatz"),
    ("k06_calls", "calls"),
    ("k07_structs", "structs"),
    ("k09_inline", "fractal"),
];

/// Bytes with a location, and bytes of scope, of all variables and parameters.
fn covered(object: &Path) -> [u64; 2] {
    let output = Command::new("llvm-dwarfdump-19").arg("--statistics").arg(object).output().expect("it runs");
    let text = String::from_utf8(output.stdout).expect("text");
    let number = |key: &str| {
        let at = text.find(&format!("\"{key}\":")).unwrap_or_else(|| panic!("{key}: {text}"));
        let rest = &text[at + key.len() + 3..];
        let digits: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
        digits.parse().expect("a number")
    };
    [
        number("sum_all_variables(#bytes in parent scope covered by DW_AT_location)"),
        number("sum_all_variables(#bytes in parent scope)"),
    ]
}

#[test]
fn locations_cover_three_times_as_much_as_clangs() {
    let is_there = |tool: &str| Command::new(tool).arg("--version").output().is_ok();
    if !is_there("clang-19") || !is_there("llvm-dwarfdump-19") {
        println!("clang-19 or llvm-dwarfdump-19 is not there: not compared");
        assert!(std::env::var_os("CI").is_none_or(|value| value != "true"), "a tool is missing");
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let mut total = [[0; 2]; 2];
    for (kernel, shader) in KERNELS {
        let object = folder.join(format!("{kernel}.o"));
        let compiled = Command::new("clang-19")
            .args(["-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx1100", "-O2", "-g"])
            .args([
                "-nogpulib",
                "-Xclang",
                "-fdeclare-opencl-builtins",
                "-Xclang",
                "-finclude-default-header",
            ])
            .arg("-c")
            .arg(root.join("tests/kernels").join(format!("{kernel}.cl")))
            .arg("-o")
            .arg(&object)
            .status();
        assert!(compiled.is_ok_and(|status| status.success()), "{kernel} is compiled");
        let theirs = covered(&object);
        let name = format!("{shader}.wgsl");
        let text = std::fs::read_to_string(root.join("shaders").join(&name)).expect("a shader");
        let source = Source::new(&name, &text).expect("a shader");
        let made = compile(&source, Limits::default()).expect("it is compiled");
        let object = folder.join(format!("{shader}.o"));
        std::fs::write(&object, &made.object).expect("a file");
        let ours = covered(&object);
        let part = |[covered, all]: [u64; 2]| 100.0 * covered as f64 / all as f64;
        println!("{shader}: {:.1} % by clang, {:.1} % here", part(theirs), part(ours));
        assert!(part(ours) >= 2.0 * part(theirs), "{shader}");
        for (sum, one) in total.iter_mut().zip([theirs, ours]) {
            *sum = [sum[0] + one[0], sum[1] + one[1]];
        }
    }
    let [theirs, ours] = total.map(|[covered, all]| covered as f64 / all as f64);
    println!("all: {:.1} % by clang, {:.1} % here", 100.0 * theirs, 100.0 * ours);
    assert!(ours >= 3.0 * theirs, "{ours} and {theirs}");
}
