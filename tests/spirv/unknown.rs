//! Unknown sets of debug instructions are reported, and prevent attaching.

use eitri::build::Builder;
use eitri::spirv::{Binding, Mode, Set, TextOptions, attach, import, print, read, strip, validate};
use eitri::target::Target;
use pretty_assertions::assert_eq;

/// A module with two instructions of a set, both number 0, and one of `OpenCL.std`.
fn module(set: &str) -> Vec<u32> {
    let import = |id: u32, name: &str| {
        let mut bytes = name.as_bytes().to_vec();
        bytes.resize(bytes.len() / 4 * 4 + 4, 0);
        let name = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word));
        [(bytes.len() as u32 / 4 + 2) << 16 | 11, id].into_iter().chain(name).collect::<Vec<_>>()
    };
    let mut words = vec![0x0723_0203, 0x0001_0600, 0, 10, 0];
    words.extend([import(1, set), import(2, "OpenCL.std")].concat());
    words.extend([2 << 16 | 19, 3]);
    for (id, set) in [(4, 1), (5, 1), (6, 2)] {
        words.extend([5 << 16 | 12, 3, id, set, 0]);
    }
    words
}

/// Sets from the SPIR-V registry, LLVM's translator and proposals, and whether they are debug instruction sets:
/// `DebugPrintf` and `DebugBreak` are not, and a set for graphs does not describe the program.
const SETS: [(&str, bool); 13] = [
    ("NonSemantic.Shader.DebugInfo.99", true),
    ("NonSemantic.Shader.DebugInfo.10x", true),
    ("NonSemantic.Kernel.DebugInfo.100", true),
    ("NonSemantic.Graph.DebugInfo.1", false),
    ("OpenCL.DebugInfo.200", true),
    ("SPIRV.debug", true),
    ("DebugInfo", true),
    ("NonSemantic.DebugPrintf", false),
    ("NonSemantic.DebugBreak", false),
    ("NonSemantic.ClspvReflection.5", false),
    ("GLSL.std.450", false),
    ("SPV_AMD_shader_ballot", false),
    ("NonSemantic.Graph.DebugInfo.2", false),
];

#[test]
fn unknown_sets_are_detected() {
    for (set, is_debug) in SETS {
        let words = module(set);
        let facts = read(&words).expect("reads");
        let report = validate(&facts).to_string();
        let printed = print(&facts, TextOptions::default());
        let mut found = String::new();
        let mut output = String::new();
        if is_debug {
            let what = format!("\"{set}\" is not a known set; it has 2 debug instructions");
            found = format!("unknown-set (2 Binary Form): word 5: {what}\n");
            output = format!("%1 = {what}\n");
        }
        let count = if is_debug { "1 finding" } else { "0 findings" };
        let mut notes = "0 notes";
        if set.contains("Graph") {
            notes = "1 note";
            found = "note: graph-set (2 Binary Form): word 5: the set describes graphs: its instructions are not checked\n".into();
        }
        assert_eq!(report, format!("{found}{count}, {notes}; 0 debug instructions"));
        assert_eq!(printed, format!("SPIR-V 1.6, ids below 10\n{output}"));
        let left = import(&facts, &Target::x86_64()).expect("can be described").omissions;
        let left: String = left.iter().map(|left| left.to_string() + "\n").collect();
        let found = if is_debug { found } else { String::new() };
        let expected = found.replace("unknown-set (2 Binary Form): ", "").replace('\n', ": not imported\n");
        assert_eq!(left, expected);
    }
}

/// The module must not contain debug instructions of any set; other sets are unrelated.
#[test]
fn attach_refuses_modules_with_debug_sets() {
    let module_of = Builder::new(Target::x86_64()).finish().expect("is whole");
    for (name, is_debug) in SETS {
        for set in Set::ALL {
            let attached = attach(&module(name), &module_of, &Binding::new(), &Mode::exact(set));
            if !is_debug {
                assert!(attached.is_ok(), "{name} {set:?}");
                continue;
            }
            let error = attached.map(|_| ()).expect_err(&format!("{name} {set:?}"));
            assert_eq!(error.to_string(), format!("word 5: the module already has {name} instructions"));
            let stripped = strip(&module(name)).expect("is a module");
            assert!(
                attach(&stripped, &module_of, &Binding::new(), &Mode::exact(set)).is_ok(),
                "{name} {set:?}"
            );
        }
    }
}

/// A later version has all instructions of the versions before, with the same numbers and operands.
#[test]
fn later_version_is_read_as_the_newest_known_one() {
    for number in ["102", "300", "9999"] {
        let name = format!("NonSemantic.Shader.DebugInfo.{number}");
        let words = module(&name);
        let facts = read(&words).expect("reads");
        let note = format!(
            "note: later-version (Version Compatibility): word 5: {name} is read as NonSemantic.Shader.DebugInfo.101\n"
        );
        assert_eq!(validate(&facts).to_string(), format!("{note}0 findings, 1 note; 2 debug instructions"));
        let printed = print(&facts, TextOptions::default());
        let expected =
            format!("SPIR-V 1.6, ids below 10\n%1 = \"{name}\"\n%4 = DebugInfoNone\n%5 = DebugInfoNone\n");
        assert_eq!(printed, expected);
        assert_eq!(facts.encode(), words);
        let module_of = Builder::new(Target::x86_64()).finish().expect("is whole");
        let attached = attach(&words, &module_of, &Binding::new(), &Mode::exact(Set::Shader));
        let error = attached.map(|_| ()).expect_err("has instructions");
        assert!(
            error.to_string().ends_with(&format!("the module already has {name} instructions")),
            "{error}"
        );
        let stripped = strip(&words).expect("is a module");
        assert!(read(&stripped).expect("reads").layout().sets().next().is_none());
    }
}
