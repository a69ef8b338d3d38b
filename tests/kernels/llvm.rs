//! LLVM's debug information of the same kernels: frames without rules, and no lanes.

use std::path::PathBuf;

use super::common::{Folder, Tool};

const CLANG: Tool = Tool::new("clang-19", "clang-19");
const DWARFDUMP: Tool = Tool::new("llvm-dwarfdump-19", "llvm-19");

const SOURCES: [(&str, &[u8]); 2] = [
    ("k04_diverge.cl", include_bytes!("../../examples/data/k04_diverge.cl")),
    ("k06_calls.cl", include_bytes!("../../examples/data/k06_calls.cl")),
];
const LIBRARY: &[u8] = include_bytes!("../../examples/data/minilib_amd.cl");

/// Compiles a source with debug information; `None` without clang.
fn compile(folder: &Folder, name: &str, source: &[u8]) -> Option<PathBuf> {
    let clang = |source: &str, more: &[&str]| {
        let target = "--target=amdgcn-amd-amdhsa";
        let chip = "-mcpu=gfx1030";
        let common = ["-x", "cl", "-cl-std=CL2.0", target, chip, "-nogpulib", "-O2", "-g", "-c", source];
        CLANG.run(&[&common, more].concat()).map(|ran| assert_eq!(ran.clean(), ""))
    };
    let output = folder.path().join("kernel.o");
    let bitcode = folder.path().join("minilib.bc");
    let [library, input] = [folder.file("minilib.cl", LIBRARY), folder.file(name, source)];
    let [library, bitcode, input, to] =
        [&library, &bitcode, &input, &output].map(|path| path.to_str().expect("a path of text"));
    clang(library, &["-emit-llvm", "-o", bitcode])?;
    clang(input, &["-Xclang", "-mlink-builtin-bitcode", "-Xclang", bitcode, "-o", to])?;
    Some(output)
}

#[test]
fn llvm_writes_no_rule_and_no_lane() {
    for (name, source) in SOURCES {
        let folder = Folder::new();
        let Some(object) = compile(&folder, name, source) else { return };
        let dump = |what: &str| Some(DWARFDUMP.run(&[what.as_ref(), object.as_os_str()])?.clean());
        let (Some(frames), Some(info), Some(abbrev)) =
            (dump("--debug-frame"), dump("--debug-info"), dump("--debug-abbrev"))
        else {
            return;
        };
        // There are entries, and variables with locations; but the entries have no rules.
        assert!(frames.contains(" CIE") && frames.contains(" FDE cie="), "{name}: {frames}");
        let rules: Vec<&str> =
            frames.lines().filter(|line| line.contains("DW_CFA_")).map(str::trim).collect();
        assert_eq!(rules, ["DW_CFA_nop:"], "{name}: {frames}");
        assert!(info.contains("DW_TAG_variable") && info.contains("DW_AT_location"), "{name}: {info}");
        for output in [info, abbrev] {
            for word in ["lane", "DW_AT_LLVM", "DW_AT_unknown", "DW_OP_LLVM"] {
                assert_eq!(output.lines().find(|line| line.contains(word)), None, "{name}");
            }
        }
    }
}
