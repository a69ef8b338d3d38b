//! Cubins: variables in PTX registers are in the processor's registers that the cubin's map has for them.

use std::path::Path;

use eitri::import::{ImportOptions, ImportedDwarf, ImportedExpressions, UnimportedReason, import};
use serde_json::{Value, json};

use crate::common::tools::Tool;
use crate::common::with;

const CUOBJDUMP: Tool = Tool::new("cuobjdump", "nvidia-cuda-cuobjdump of PyPI");

fn imported(name: &str, expressions: ImportedExpressions) -> ImportedDwarf {
    let file = Path::new(crate::common::ROOT).join("tests/objects/triton").join(name);
    let bytes = std::fs::read(file).expect("a cubin");
    let options = with::<ImportOptions<'_>>(|options| options.expressions = expressions);
    import(&bytes, &options).expect("the cubin is imported")
}

/// Returns the live ranges of a variable in the description.
fn live(imported: &ImportedDwarf, name: &str) -> Value {
    let all: Value = serde_json::from_str(&imported.module.to_json()).expect("JSON");
    let statements = all["describe"].as_array().expect("statements");
    let found =
        statements.iter().flat_map(|one| [&one["variable"], &one["parameter"], &one["inlined_variable"]]);
    found.into_iter().find(|one| one["name"] == name).expect("the variable")["live"].clone()
}

/// `cuobjdump -elf` prints of the map:
///
/// ```text
/// (reg: %rd4) 0x5000000, 0x480, 0xb40
/// (reg: %rd3) 0x5000008, 0x450, 0x4f0
/// (reg: %rd3) 0x5000009, 0x460, 0x500
/// (reg: %rd4) 0x500000a, 0x470, 0xb40
/// ```
///
/// Class 5 is the general registers. The lower word is written first, and the last pc is that of an instruction of 16 bytes.
/// The list has %rd3 at [0x470, 0x4b0) and %rd4 at [0x4b0, 0xc80).
#[test]
fn ptx_register_is_imported_as_its_homes() {
    let file = Path::new(crate::common::ROOT).join("tests/objects/triton/add.sm_90.cubin");
    if let Some(ran) = CUOBJDUMP.run(&["-elf".as_ref(), file.as_os_str()]) {
        assert!(ran.out.contains("(reg: %rd4) 0x500000a, 0x470, 0xb40"), "{ran}");
    }
    let both = |low: &str, high: &str| json!({"parts": [[{"per_lane": low}, 32], [{"per_lane": high}, 32]]});
    let typed = imported("add.sm_90.cubin", ImportedExpressions::Typed);
    let expected = json!([[0x470, 0x4b0, both("R8", "R9")], [0x4b0, 0xb50, both("R10", "R0")]]);
    assert_eq!(live(&typed, "x"), expected);
    // What no variable has is listed.
    let reasons: Vec<&UnimportedReason> = typed.unimported.iter().map(|fact| &fact.reason).collect();
    assert!(reasons.iter().any(|reason| matches!(reason, UnimportedReason::RegisterHomes(_))), "{reasons:?}");
    assert!(reasons.contains(&&UnimportedReason::RegisterTypes), "{reasons:?}");
    // An expression that is copied refers to the map.
    let raw = imported("add.sm_90.cubin", ImportedExpressions::Raw);
    let ranges = live(&raw, "x");
    assert_eq!((&ranges[0][0], &ranges[1][1]), (&json!(0x470), &json!(0xc80)), "{ranges}");
}

/// Homes in other registers than the general registers have no location that all debuggers read alike.
#[test]
fn homes_of_other_classes_are_listed() {
    for name in ["matmul.sm_90.cubin", "reduce_rows.sm_90.cubin", "scan_limit.sm_90.cubin"] {
        let typed = imported(name, ImportedExpressions::Typed);
        let text = typed.module.to_json();
        assert!(!text.contains("\"%r"), "{name}: a PTX register is left");
        let is_other = |reason: &UnimportedReason| matches!(reason, UnimportedReason::RegisterHome(_));
        let others = typed.unimported.iter().filter(|fact| is_other(&fact.reason)).count();
        assert!(others > 0, "{name}");
    }
}
