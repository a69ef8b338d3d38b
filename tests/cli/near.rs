//! Unknown words: messages name the nearest known word, and the command that lists all.

use eitri::target::{Gfx, Sm, Target, Wave};
use pretty_assertions::assert_eq;

use super::{Folder, lane_wise, run};

#[test]
fn commands_and_options_are_suggested() {
    let cases: &[(&[&str], &str)] = &[
        (&["evl"], "'eval'"),
        (&["chekc", "a", "b"], "'check'"),
        (&["dump", "--verbos", "a"], "'--verbose'"),
        (&["emit", "a", "-o", "b", "--for", "rocgbd"], "'rocgdb'"),
    ];
    for (arguments, nearest) in cases {
        let ran = run(arguments);
        assert!(ran.code == 2 && ran.errors.contains("similar"), "{arguments:?}: {}", ran.errors);
        assert!(ran.errors.contains(nearest), "{arguments:?}: {}", ran.errors);
    }
}

#[test]
fn targets_are_suggested_and_listed() {
    let cases = [
        ("gfx1030", "did you mean `amdgpu-gfx1030-wave32` or `amdgpu-gfx1030-wave64`?"),
        ("amdgpu-gfx1030", "did you mean `amdgpu-gfx1030-wave32` or `amdgpu-gfx1030-wave64`?"),
        ("amdgpu-gfx1030-wave16", "did you mean `amdgpu-gfx1030-wave32` or `amdgpu-gfx1030-wave64`?"),
        ("amdgpu-GFX1030-wave32", "did you mean `amdgpu-gfx1030-wave32`?"),
        ("amdgpu-gfx90a-wave32", "did you mean `amdgpu-gfx90a-wave64`?"),
        ("amdgpu-gfx1o30-wave32", "did you mean `amdgpu-gfx1030-wave32`?"),
        ("gfx90a-wave64", "did you mean `amdgpu-gfx90a-wave64`?"),
        // Ten processors are equally near.
        ("amdgpu-gfx1099-wave32", ""),
        ("x86-64", "did you mean `x86_64`?"),
        ("riscv32", "did you mean `riscv64`?"),
        ("mips", ""),
    ];
    for (name, nearest) in cases {
        let ran = run(&["eval", "lit0", "--target", name]);
        assert!(ran.code == 2 && ran.errors.starts_with("eitri: unknown target: "), "{}", ran.errors);
        let expected = format!("{nearest}\n`eitri targets` lists the targets\n");
        assert!(ran.errors.ends_with(&expected), "not {nearest}: {}", ran.errors);
        assert!(!nearest.is_empty() || !ran.errors.contains("did you mean"), "{}", ran.errors);
    }
    // Every listed name is valid for `--target`, and none is missing.
    let listed = run(&["targets"]);
    assert_eq!((listed.code, &*listed.errors), (0, ""));
    let names: Vec<String> = listed.text().lines().map(String::from).collect();
    for name in &names {
        assert_eq!(Target::named(name).expect("a target").name(), name);
    }
    let waves = |gfx: Gfx| [Wave::W32, Wave::W64].into_iter().filter(|wave| gfx.runs(*wave)).count();
    assert_eq!(names.len(), 4 + Gfx::all().map(waves).sum::<usize>() + Sm::all().count());
}

#[test]
fn registers_are_suggested_and_listed() {
    let target = "amdgpu-gfx1030-wave32";
    let cases = [
        ("S4", "did you mean `s4`?"),
        ("sgpr4", "did you mean `s4`?"),
        ("vgpr3", "did you mean `v3`?"),
        ("v[3]", "did you mean `v3`?"),
        ("EXEC", "did you mean `exec`?"),
        ("exce", "did you mean `exec`?"),
        ("exec_lo", "did you mean `exec`"),
        ("s106", "the target has `s0` to `s105`"),
        ("sgpr200", "the target has `s0` to `s105`"),
        ("v256", "the target has `v0` to `v255`"),
    ];
    let folder = Folder::new("near");
    for (name, nearest) in cases {
        let description = folder.file("a.json", lane_wise(&format!("{{\"register\": \"{name}\"}}")));
        let ran = run(&["emit", &description, "-o", &folder.path("a.o")]);
        let message = format!("the target has no register `{name}` ({target}); {nearest}");
        assert!(ran.code == 2 && ran.errors.contains(&message), "not {nearest}: {}", ran.errors);
    }
    // No name is near.
    let description = folder.file("a.json", lane_wise(r#"{"register": "frame_pointer"}"#));
    let ran = run(&["emit", &description, "-o", &folder.path("a.o")]);
    assert!(
        ran.errors.ends_with("the target has no register `frame_pointer` (amdgpu-gfx1030-wave32)\n"),
        "{}",
        ran.errors
    );
    // The names are those of `registers`, with number and size.
    let listed = run(&["targets", target]);
    assert_eq!((listed.code, &*listed.errors), (0, ""));
    let known = Target::named(target).expect("a target");
    for register in known.registers() {
        assert_eq!(known.register_named(&register.name().to_string()), Ok(register.reg));
    }
    for line in ["pc        16", "s0..s63   32..95", "s64..s105 1088..1129", "v0..v255  1536..1791"] {
        let words: Vec<&str> = line.split_whitespace().collect();
        let found = listed.text().lines().any(|line| {
            line.split_whitespace().zip(&words).filter(|(found, word)| found == *word).count() == words.len()
        });
        assert!(found, "not {line}: {}", listed.text());
    }
    assert!(listed.text().contains("private_lane"), "{}", listed.text());
}

#[test]
fn keys_and_words_are_suggested() {
    let folder = Folder::new("near-keys");
    let good = lane_wise(r#"{"per_lane": "v3"}"#);
    let cases = [
        ("\"type\": \"int\"", "\"tpye\": \"int\"", "unknown field `tpye`", "did you mean `type`?"),
        ("\"variable\"", "\"varaible\"", "unknown variant `varaible`", "did you mean `variable`?"),
        ("per_lane", "perlane", "unknown variant `perlane`", "did you mean `per_lane`?"),
        ("\"describe\"", "\"descibe\"", "unknown field `descibe`", "did you mean `describe`?"),
        ("\"signed\"", "\"singed\"", "unknown variant `singed`", "did you mean `signed`?"),
        ("\"symbol\"", "\"Symbol\"", "unknown field `Symbol`", "did you mean `symbol`?"),
    ];
    for (right, wrong, message, nearest) in cases {
        assert!(good.contains(right), "{right}");
        let description = folder.file("a.json", good.replace(right, wrong));
        let ran = run(&["emit", &description, "-o", &folder.path("a.o")]);
        assert!(ran.code == 2 && ran.errors.contains(message), "{}", ran.errors);
        assert!(ran.errors.contains(nearest), "not {nearest}: {}", ran.errors);
    }
    let machine =
        folder.file("machine.json", r#"{"target": {"name": "x86_64"}, "machine": {"regsters": {}}}"#);
    let ran = run(&["eval", "lit0", "--machine", &machine]);
    assert!(ran.errors.contains("did you mean `registers`?"), "{}", ran.errors);
    let ran = run(&["eval", "push_lnae", "--target", "x86_64"]);
    assert!(
        ran.errors.contains("unknown operation `push_lnae`; did you mean `push_lane`?"),
        "{}",
        ran.errors
    );
}
