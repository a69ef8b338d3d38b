//! Cubins: variables are in the memory that the class of their entry states, at the symbol that a relocation names.

use std::collections::BTreeMap;

use eitri::check::check;
use eitri::emit::elf::attach_with;
use eitri::import::{ImportOptions, import};
use eitri::lint::{LintCode, LintFinding, LintOptions, lint};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::Module;
use eitri::read::{ElfSymbol, ElfSymbolKind, Object};
use serde_json::{Value, json};

use crate::common::tools::{Folder, Tool};
use crate::sass::{CUOBJDUMP, DWARFDUMP, NVLINK, replacing, target};

const NVCC: Tool = Tool::new("nvcc", "nvidia-cuda-nvcc of PyPI");

/// Variables in each of NVIDIA's memories. `tile` and `other` have the same number in the object, as all shared variables
/// have before linking.
const MEMORIES: &str = r#"
__constant__ float coef[16];
__constant__ int offsets[3];
__device__ int counter;
__device__ int sum(int a);
extern "C" __device__ __noinline__ int fill(int *p, int n) {
  int own[4];
  for (int i = 0; i < 4; i++) own[i] = n * i;
  p[0] = own[n & 3];
  return own[1];
}
extern "C" __global__ void k(float *out, const float *in, int n) {
  __shared__ float tile[32];
  __shared__ int other[8];
  int i = threadIdx.x;
  tile[i] = in[i] * coef[i & 15] + offsets[n % 3];
  other[i & 7] = sum(i) + fill(other, n);
  __syncthreads();
  counter = other[n & 7];
  out[i] = tile[31 - i];
}
"#;

/// Returns the locations that variables have at all pcs, by name, and the functions' symbols.
fn locations(module: &Module) -> BTreeMap<String, Value> {
    let all: Value = serde_json::from_str(&module.to_json()).expect("JSON");
    let mut found = BTreeMap::new();
    for statement in all["describe"].as_array().expect("statements") {
        for (kind, key) in [("variable", "always"), ("parameter", "always"), ("function", "code")] {
            let (name, value) = (&statement[kind]["name"], &statement[kind][key]);
            if let (Some(name), false) = (name.as_str(), value.is_null()) {
                found.insert(name.into(), value.clone());
            }
        }
    }
    found
}

/// The lines of `llvm-dwarfdump` that state names, locations, classes and frame bases, by variable and function, without
/// lists and registers, whose places in the map differ.
fn printed(folder: &Folder, cubin: &[u8]) -> Option<Vec<[String; 3]>> {
    let path = folder.file("printed.cubin", cubin);
    let ran = DWARFDUMP.run(&["--debug-info".as_ref(), path.as_os_str()])?;
    let value = |entry: &str, name: &str| {
        let line = entry.lines().find(|line| line.trim_start().starts_with(name));
        line.and_then(|line| line.split_once('(')).map_or(String::new(), |(_, value)| {
            // ptxas fills a slot's offset up with operations that do nothing.
            let value =
                value.trim_end_matches(')').replace(", DW_OP_nop", "").replace(", DW_OP_plus_uconst 0x0", "");
            value.replace("DW_OP_constu", "DW_OP_addr").replace("DW_OP_lit0", "DW_OP_addr 0x0")
        })
    };
    let mut found: Vec<[String; 3]> = ran
        .out
        .split("\n\n")
        .filter(|entry| ["DW_TAG_variable", "DW_TAG_formal_parameter"].iter().any(|tag| entry.contains(tag)))
        .map(|entry| ["DW_AT_name", "DW_AT_location", "DW_AT_address_class"].map(|name| value(entry, name)))
        .map(|[name, location, class]| [name, location, class.trim_start_matches("0x0").into()])
        .filter(|[_, location, _]| !location.contains("reg") || location.contains("fbreg"))
        .filter(|[_, location, _]| !location.starts_with("0x") && !location.is_empty())
        .filter(|[name, ..]| name != "\"coef\"")
        .collect();
    found.sort();
    Some(found)
}

/// Compiles and links the sources: `a.sm_80.cubin` is relocatable, and `linked.cubin` is linked.
fn compiled() -> Option<Folder> {
    let folder = Folder::new();
    folder.file("a.cu", MEMORIES);
    folder.file("b.cu", "__device__ int sum(int a) { return a * 3; }");
    for name in ["a", "b"] {
        let arguments = ["-arch=sm_80", "-G", "-dc", &format!("{name}.cu"), "-o", &format!("{name}.o")];
        let ran = NVCC.run_in(folder.path(), &arguments)?;
        assert!(ran.succeeded, "{ran}");
    }
    let ran = CUOBJDUMP.run_in(folder.path(), &["-xelf", "all", "a.o"])?;
    assert!(ran.succeeded, "{ran}");
    let arguments = ["-arch=sm_80", "-g", "a.o", "b.o", "-o", "linked.cubin"];
    let ran = NVLINK.run_in(folder.path(), &arguments)?;
    assert!(ran.succeeded, "{ran}");
    Some(folder)
}

/// The class of a variable's entry states its memory, and the relocation of its address names the symbol: an address alone
/// tells neither. The addresses are those that nvcc's code has: parameters are in constant bank 0 from 0x160 on
/// (`c[0x0][0x160]`), and the frame of `fill` has 16 bytes for `own` below the canonical frame address.
#[test]
fn memories_are_those_of_the_classes() {
    let Some(folder) = compiled() else { return };
    let shared = |name: &str, linked: u64, is_linked: bool| match is_linked {
        // nvlink places shared variables, and leaves no relocation.
        true => json!({"memory": ["shared", linked]}),
        false => json!({"memory": ["shared", {"address": [name, 0]}]}),
    };
    for (file, is_linked) in [("a.sm_80.cubin", false), ("linked.cubin", true)] {
        let bytes = std::fs::read(folder.path().join(file)).expect("a cubin");
        let imported = import(&bytes, &ImportOptions::default()).expect("the cubin is imported");
        let found = locations(&imported.module);
        let expected = [
            ("coef", json!({"memory": ["const", {"address": ["coef", 0]}]})),
            ("offsets", json!({"memory": ["const", {"address": ["offsets", 0]}]})),
            ("counter", json!({"memory": ["global", {"address": ["counter", 0]}]})),
            ("out", json!({"memory": ["param", 0x160]})),
            ("in", json!({"memory": ["param", 0x168]})),
            ("own", json!({"memory": ["local", {"stack_address": -16}]})),
            ("other", shared("_ZZ1kE5other", 0, is_linked)),
            ("tile", shared("_ZZ1kE4tile", 32, is_linked)),
        ];
        for (name, expected) in expected {
            assert_eq!(found[name], expected, "{file}: {name}");
        }
        assert_eq!(found["k"]["symbol"], json!("k"), "{file}");
        let listed = imported
            .unimported
            .iter()
            .filter(|fact| fact.attribute == Some(gimli::constants::DW_AT_address_class));
        assert_eq!(listed.map(ToString::to_string).collect::<Vec<_>>(), [""; 0], "{file}");

        // Written again, a debugger reads the same locations in the same memories.
        let consumer = Consumer::cuda_gdb_sass();
        let written = lower(&imported.module, &consumer, Policy::Strict).expect("sections");
        let target = target("sm_80");
        let attached = attach_with(&bytes, &target, &written.sections, &replacing()).expect("a cubin");

        let report = check(&imported.module, &consumer, &written.omissions, &attached).expect("a report");
        assert!(report.findings.is_empty(), "{file}: {report}");
        let findings = lint(&attached, &LintOptions::default()).expect("a report").findings;
        let is_constant = |finding: &&LintFinding| finding.code == LintCode::ConstantAsAddress;
        assert_eq!(findings.iter().find(is_constant), None, "{file}: a parameter is at a constant address");
        // llvm-dwarfdump applies no relocation of a cubin, and what the field of one contains differs.
        let [Some(before), Some(after)] = [&bytes, &attached].map(|bytes| printed(&folder, bytes)) else {
            return;
        };
        assert!(before.len() >= 8, "{before:#?}");
        assert!(!is_linked || before == after, "{file}: {before:#?}, {after:#?}");
    }
}

/// A variable's address without class and without relocation is a number, also if a memory that begins at 0, such as constant
/// bank 0, contains it. nvlink places the shared variables `other` at 0 and `tile` at 32.
#[test]
fn unplaced_memories_have_no_symbols_by_address() {
    let Some(folder) = compiled() else { return };
    let mut bytes = std::fs::read(folder.path().join("linked.cubin")).expect("a cubin");
    let object = Object::read(&bytes).expect("a cubin");
    let is_memory = |symbol: &&ElfSymbol<'_>| symbol.kind == ElfSymbolKind::Section && symbol.address == 0;
    let mut memories = object.symbols().iter().filter(is_memory);
    assert!(memories.any(|symbol| symbol.name == ".nv.constant0.k"), "{:?}", object.symbols());
    let table = object.section(".debug_abbrev").expect("abbreviations");
    let start = table.data.as_ptr().addr() - bytes.as_ptr().addr();
    let end = start + table.data.len();
    // An attribute with a number that no version of DWARF assigns takes the place of the class.
    let class = [gimli::DW_AT_address_class.0 as u8, gimli::DW_FORM_data1.0 as u8];
    let fields: Vec<usize> = (start..end - 1).filter(|&at| bytes[at..at + 2] == class).collect();
    assert!(fields.len() > 1, "{fields:?}");
    for field in fields {
        bytes[field] = 0x06;
    }
    let imported = import(&bytes, &ImportOptions::default()).expect("the cubin is imported");
    let found = locations(&imported.module);
    // `DW_OP_addr` with a number.
    assert_eq!(found["other"], json!({"expr": {"bytes": "030000000000000000"}}));
    assert_eq!(found["tile"], json!({"expr": {"bytes": "032000000000000000"}}));
    // A relocation names a symbol without a class, too.
    assert_eq!(found["counter"], json!({"memory": ["default", {"address": ["counter", 0]}]}));
}
