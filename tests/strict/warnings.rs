//! What is plausible and may be right is a warning: on standard error, by a name with which it is allowed.

use std::process::Command;

use eitri::Result;
use eitri::model::{Loc, Module};

use crate::{Start, gpu, start};

/// Two types in one register at once, a scalar saved where a variable is, and no frame.
const SHARED: &str = r#"{"eitri": 1, "target": "amdgpu-gfx1030-wave32", "describe": [
{"unit": {"name": "a.cl"}},
{"base_type": {"unit": "a.cl", "name": "int", "encoding": "signed", "bits": 32}},
{"base_type": {"unit": "a.cl", "name": "float", "encoding": "float", "bits": 32}},
{"function": {"in": "a.cl", "name": "f", "code": {"symbol": "f", "bytes": 64}}},
{"function": {"in": "a.cl", "name": "g", "code": {"symbol": "g", "bytes": 64}}},
{"frame": {"function": "f", "entry_function": true, "rules": [[8, 60, "s33", {"lane": ["v40", 7]}]]}},
{"variable": {"in": "f", "name": "n", "type": "int", "live": [[0, 16, {"per_lane": "v3"}], [16, 32, {"lane": ["v40", 7]}]]}},
{"variable": {"in": "f", "name": "x", "type": "float", "live": [[12, 24, {"per_lane": "v3"}]]}}
]}"#;

/// What the command prints on standard error, for these arguments besides.
fn printed(name: &str, arguments: &[&str]) -> Vec<String> {
    let folder = std::env::temp_dir().join(format!("eitri-warnings-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (description, object) = (folder.join("a.json"), folder.join("a.o"));
    std::fs::write(&description, SHARED).expect("a description");
    let command = Command::new(env!("CARGO_BIN_EXE_eitri"))
        .args(["emit".as_ref(), description.as_os_str(), "-o".as_ref(), object.as_os_str()])
        .args(arguments)
        .output()
        .expect("the command");
    std::fs::remove_dir_all(&folder).expect("the folder");
    assert!(command.status.success() || !arguments.is_empty());
    String::from_utf8(command.stderr).expect("text").lines().map(String::from).collect()
}

/// Issue 14, item 14.
#[test]
#[should_panic(expected = "no warning")]
fn what_is_in_the_same_bits_is_printed() {
    let lines = printed("same", &[]);
    assert!(!lines.is_empty(), "no warning");
    for (line, words) in lines.iter().zip([
        ["shared-bits", "`f`", "`n`", "pc 0xc..0x10", "`x`", "v3"],
        ["shared-bits", "`f`", "`n`", "pc 0x10..0x20", "s33", "v40"],
        ["no-frame", "`g`", "", "", "", ""],
    ]) {
        assert!(words.iter().all(|word| line.contains(word)), "{words:?}: {lines:#?}");
    }
    assert_eq!(lines.len(), 3, "{lines:#?}");
}

/// Neighbours with equal places are one range: of a variable, of several places in any order of the calls, over
/// descriptions in any order.
#[test]
#[should_panic(expected = "joined")]
fn equal_neighbours_are_one_range() {
    fn ranges(describe: fn(&mut Start) -> Result<()>) -> Result<Vec<std::ops::Range<u64>>> {
        let mut a = start(gpu());
        describe(&mut a)?;
        let module: Module = a.m.finish()?;
        let (id, _) = module.variables().next().expect("one");
        Ok(module.live(id).iter().map(eitri::model::Live::pcs).collect())
    }
    let of = |describe| ranges(describe).expect("a description");
    assert_eq!(
        of(|a| {
            let s4 = Loc::register(gpu().sgpr(4)?);
            a.m.variable(a.f, "x", a.int)?.live(0..4, s4.clone())?.live(4..8, s4).map(drop)
        }),
        [0..8],
        "joined"
    );
    assert_eq!(
        of(|a| {
            let (s4, s5) = (Loc::register(gpu().sgpr(4)?), Loc::register(gpu().sgpr(5)?));
            let mut x = a.m.variable(a.f, "x", a.int)?;
            x.live(12..16, s4.clone())?.live_in(4..8, &[s4.clone(), s5.clone()])?;
            x.live_in(0..4, &[s4.clone(), s5.clone()])?.live(16..20, s4.clone())?.live(8..12, s5)?;
            x.live(24..28, s4).map(drop)
        }),
        [0..8, 0..8, 8..12, 12..20, 24..28],
    );
}
