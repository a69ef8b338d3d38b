//! Cubins that ptxas made of clang's PTX for kernels in OpenCL C: `dump` prints the lines, registers, variables and
//! locations that `nvdisasm` and `cuobjdump` print.

use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;

use super::common::{Folder, Tool};
use super::nvidia::{PTXAS, compare_lines, compare_registers, dumped, elf_of_tool};

const CLANG: Tool = Tool::new("clang-19", "clang-19");

/// Kernels of the project, each with the shared variables of its function. Clang's debug information names these
/// variables with a dot, where its code has `_$_`: ptxas refuses the name.
const KERNELS: [(&str, &[&str]); 6] = [
    ("examples/data/k01_saxpy.cl", &[]),
    ("benches/data/reduce.cl", &["reduce.sm"]),
    ("tests/spirv/kernels/matmul.cl", &["matmul.As", "matmul.Bs"]),
    ("benches/data/calls.cl", &[]),
    ("benches/data/structs.cl", &[]),
    ("benches/data/inline.cl", &[]),
];

/// A cubin of a kernel; `None` without the tools.
fn cubin(
    folder: &Folder,
    (kernel, shared): (&str, &[&str]),
    processor: &str,
    level: &str,
) -> Option<PathBuf> {
    let [text, out] = ["k.ptx", "k.cubin"].map(|name| folder.path().join(name));
    let root = Path::new(crate::common::ROOT);
    let [source, library] = [kernel, "tests/programs/nvidia/minilib.cl"].map(|path| root.join(path));
    let mut arguments: Vec<&str> =
        "-x cl -cl-std=CL2.0 --target=nvptx64-nvidia-cuda -nogpulib -g -S".split(' ').collect();
    // At -O2, entries and not only lines, as ptxas refuses neither.
    arguments.extend([
        "-Xclang",
        "-debug-info-kind=standalone",
        "-Xclang",
        "-target-cpu",
        "-Xclang",
        "sm_80",
    ]);
    arguments.extend([level, "-include", library.to_str()?, "-o", text.to_str()?, source.to_str()?]);
    let ran = CLANG.run(&arguments)?;
    assert!(ran.succeeded, "{ran}");
    let mut ptx = std::fs::read_to_string(&text).expect("a text");
    for name in shared {
        ptx = ptx.replace(name, &name.replace('.', "_$_"));
    }
    std::fs::write(&text, ptx).expect("a file");
    let arch = format!("-arch={processor}");
    let ran = PTXAS.run(&[&arch, "-g", text.to_str()?, "-o", out.to_str()?])?;
    assert!(ran.succeeded, "{ran}");
    Some(out)
}

/// Values of the attributes of variables in the order of the entries, in the notation of `dump`.
fn attributes_of_tool(text: &str) -> Vec<String> {
    let rows = text.lines().filter_map(|line| {
        let (name, value) = line.trim().split_once("   \t")?;
        let value = value.trim();
        match name {
            "DW_AT_address_class" => {
                Some(format!("{name}: {}", u64::from_str_radix(value.strip_prefix("0x")?, 16).ok()?))
            }
            "DW_AT_name" => Some(format!("{name}: {value:?}")),
            "DW_AT_location" => Some(match value.split_once('(') {
                Some((_, operations)) => {
                    let operations = operations.strip_suffix(')')?.replace("DW_OP_", "").replace(": ", " ");
                    format!("{name}: {operations}")
                }
                None => format!("{name}: list"),
            }),
            _ => None,
        }
    });
    rows.collect()
}

fn attributes_of_dump(dump: &str) -> Vec<String> {
    let names = ["DW_AT_address_class: ", "DW_AT_name: ", "DW_AT_location: "];
    let lines = dump.lines().map(str::trim).filter(|line| names.iter().any(|name| line.starts_with(name)));
    lines.map(str::to_owned).collect()
}

#[test]
fn cubins_of_clang_are_printed_as_by_the_tools_of_nvidia() {
    let folder = Folder::new();
    let mut located = 0;
    let mut homes = 0;
    let builds = KERNELS.iter().flat_map(|kernel| ["-O0", "-O2"].map(|level| (*kernel, "sm_80", level)));
    let others = ["sm_90", "sm_100", "sm_120"].map(|processor| (KERNELS[3], processor, "-O0"));
    for (kernel, processor, level) in builds.chain(others) {
        let what = format!("{} {processor} {level}", kernel.0);
        let Some(path) = cubin(&folder, kernel, processor, level) else { return };
        for flag in ["-gi", "-gp"] {
            let Some(lines) = compare_lines(&path, flag, &what) else { return };
            assert!(lines.len() > 4, "{what} {flag}: {lines:?}");
        }
        let Some(count) = compare_registers(&path, &what) else { return };
        homes += count;
        let Some(text) = elf_of_tool(&path) else { return };
        let expected = attributes_of_tool(&text);
        let found = attributes_of_dump(&dumped(&path));
        located += expected.iter().filter(|row| row.starts_with("DW_AT_location")).count();
        assert_eq!(found, expected, "{what}");
    }
    assert!(located > 200 && homes > 500, "{located} locations, {homes} homes");
}

/// ptxas of Triton 3.9 made these cubins; `tests/objects/README.md` describes them.
#[test]
fn cubins_of_triton_are_printed_as_by_the_tools_of_nvidia() {
    let mut located = 0;
    let mut homes = 0;
    for name in ["add", "matmul", "reduce_rows", "scan_limit"] {
        let file = format!("tests/objects/triton/{name}.sm_90.cubin");
        let path = std::path::Path::new(crate::common::ROOT).join(file);
        let Some(lines) = compare_lines(&path, "-gi", name) else { return };
        assert!(lines.len() > 4, "{name}: {lines:?}");
        // cuobjdump 13.5 ends in the lists of this one: "Checked Data was Invalid".
        if name == "reduce_rows" {
            continue;
        }
        let Some(count) = compare_registers(&path, name) else { return };
        homes += count;
        let Some(text) = elf_of_tool(&path) else { return };
        let expected = attributes_of_tool(&text);
        located += expected.iter().filter(|row| row.starts_with("DW_AT_location")).count();
        assert_eq!(attributes_of_dump(&dumped(&path)), expected, "{name}");
    }
    assert!(located > 50 && homes > 100, "{located} locations, {homes} homes");
}
