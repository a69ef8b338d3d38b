//! Linked cubins of all processors.

use eitri::emit::elf::{attach, contents, symbol_named};
use eitri::error::ErrorKind;
use eitri::read::Object;
use eitri::read::nvidia::{Home, RegisterMap, RegisterTypes};
use pretty_assertions::assert_eq;

use super::*;

/// Lines of the description; the row of the call is repeated at the inlined code only if the sequence lacks it.
const LINES: [&str; 5] = [
    "\"made.cu\", line 4",
    "\"made.cu\", line 5",
    "\"made.cu\", line 21 inlined at \"made.cu\", line 5",
    "\"made.cu\", line 5",
    "\"made.cu\", line 7",
];

#[test]
fn linked_cubins_of_all_processors_are_printed_by_the_tools() {
    for processor in ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120", "sm_121"] {
        let Some(cubin) = compiled(processor, "k", Output::Linked) else { return };
        let attached = attached(&cubin, processor, "k");
        let report = attached.check(&attached.bytes);
        assert!(report.is_clean() && report.locations > 100, "{processor}: {report}");
        let Some([code, entries]) = printed(&attached.bytes) else { return };
        assert_eq!(source_lines(&code), LINES, "{processor}");
        for text in ["DW_OP_regx: %e0", "DW_OP_bregx: %e0 0xc", "DW_AT_address_class", "(DW_OP_constu: 352)"]
        {
            assert!(entries.contains(text), "{processor}: {text}: {entries}");
        }
    }
}

/// Everything but the section headers, the names, and what ELF's header says about them.
fn kept(before: &[u8], after: &[u8]) {
    let [old, new] = [before, after].map(|bytes| Object::read(bytes).expect("a cubin"));
    assert!(new.sections().len() > old.sections().len());
    for (old, new) in old.sections().iter().zip(new.sections()) {
        assert_eq!(
            (&old.name, old.size * u64::from(old.is_loaded())),
            (&new.name, new.size * u64::from(new.is_loaded()))
        );
        if old.is_loaded() {
            assert!(old.data == new.data, "{}", old.name);
        }
    }
    // `e_shoff`, `e_shnum`.
    let header = |bytes: &[u8]| {
        let mut header = bytes[..64].to_vec();
        header[40..48].fill(0);
        header[60..62].fill(0);
        header
    };
    assert_eq!(header(before), header(after));
}

#[test]
fn code_indices_and_flags_stay() {
    let attached = attached_example();
    kept(OPTIMIZED, &attached.bytes);
    let code = |bytes: &[u8]| {
        let symbol = symbol_named(bytes, "norms").expect("the kernel");
        contents(bytes, &symbol).expect("its code").to_vec()
    };
    assert_eq!(code(OPTIMIZED), code(&attached.bytes));
    for processor in ["sm_90", "sm_120"] {
        let Some(cubin) = compiled(processor, "k", Output::Linked) else { return };
        kept(&cubin, &super::attached(&cubin, processor, "k").bytes);
    }
}

pub fn attached_example() -> Attached {
    super::attached(OPTIMIZED, "sm_80", "norms")
}

/// Homes by the document of NVIDIA's classes: 5 is R, 11 UR, 4 halves of R, 2 predicates, 7 local memory at a register.
#[test]
fn each_kind_of_storage_has_its_home_in_the_map() {
    let attached = attached_example();
    let object = Object::read(&attached.bytes).expect("a cubin");
    let map = RegisterMap::read(&object).expect("a map");
    let [function] = &map.functions[..] else { panic!("{map:?}") };
    assert_eq!(function.name(), "norms");
    let homes: Vec<_> = function
        .homes()
        .iter()
        .map(|it| (it.word, it.home, u64::from(it.start), u64::from(it.end)))
        .collect();
    let size = symbol_named(OPTIMIZED, "norms").expect("the kernel").size;
    for home in [
        (0, Home(0x0500_0002), 0x10, 0x30),
        (1, Home(0x0500_0003), 0x10, 0x30),
        (0, Home(0x0b00_0004), 0, 0x40),
        (0, Home(0x0400_0009), 0x10, 0x40),
        (0, Home(0x0200_0001), 0x10, 0x40),
        (0, Home(0x0701_0010), 0x30, size - 16),
    ] {
        assert!(homes.contains(&home), "{home:x?}: {homes:x?}");
    }
    // A plain register, and a variable that is always in memory, have no home.
    assert_eq!(homes.len(), 6);
    let types = RegisterTypes::read(&object).expect("types");
    let mut names: Vec<_> = types.of(b"norms").iter().filter_map(|ty| RegisterTypes::name(*ty)).collect();
    names.sort_unstable();
    assert_eq!(names, ["b16", "b32", "b32", "b64", "b64", "pred"]);
}

#[test]
fn existing_sections_and_other_processors_are_refused() {
    let attached = attached_example();
    let target = target("sm_80");
    let error = attach(&attached.bytes, &target, &attached.written.sections).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::AlreadyPresent(_)), "{error}");
    let error = attach(OPTIMIZED, &super::target("sm_90"), &attached.written.sections).unwrap_err();
    assert!(error.to_string().contains("sm_80") && error.to_string().contains("sm_90"), "{error}");
    // A second attachment replaces the first, without growing the file.
    let again = super::attached(&attached.bytes, "sm_80", "norms");
    assert!(again.bytes.len() <= attached.bytes.len() + 64, "{} {}", again.bytes.len(), attached.bytes.len());
    assert!(again.check(&again.bytes).is_clean());
}

/// A register that a variable has in the whole function gets the same name as a register at some pcs.
#[test]
fn variables_that_never_move_have_homes() {
    let target = target("sm_80");
    let size = symbol_named(OPTIMIZED, "norms").expect("the kernel").size;
    let describe = |has_list: bool| -> eitri::Result<Module> {
        let mut m = Builder::new(target.clone());
        let unit = m.unit("made.cu");
        let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
        let long = m.base_type(unit, "long", BaseEncoding::Signed, 64)?;
        let kernel = m.function(unit, "norms")?.code("norms", size).kernel().id();
        let uniform = Loc::register(target.register_named("UR4")?);
        let pair = Loc::per_lane_over([target.register_named("R2")?, target.register_named("R3")?]);
        for (name, ty, loc) in [("uniform", int, uniform), ("pair", long, pair)] {
            let mut variable = m.variable(kernel, name, ty)?;
            if has_list {
                variable.live(0..size, loc)?
            } else {
                variable.always(loc)?
            };
        }
        m.finish()
    };
    let [always, live] = [false, true].map(|has_list| {
        let module = describe(has_list).expect("a description");
        let written = lower(&module, &Consumer::cuda_gdb_sass(), Policy::Strict).expect("it is written");
        let bytes = attach_with(OPTIMIZED, &target, &written.sections, &replacing()).expect("a cubin");
        let attached = Attached { module, written, bytes };
        // The frames of ptxas stay, because the description has none.
        let report = attached.check(&attached.bytes);
        assert!(report.is_clean(), "{report}");
        attached
    });
    assert!(always.bytes == live.bytes);
    let Some([_, entries]) = printed(&always.bytes) else { return };
    for text in ["DW_OP_regx: %e0", "DW_OP_regx: %e1"] {
        assert!(entries.contains(text), "{text}: {entries}");
    }
    let object = Object::read(&always.bytes).expect("a cubin");
    let map = RegisterMap::read(&object).expect("a map");
    let homes: Vec<_> = map.functions[0].homes().iter().map(|it| (it.home, it.start, it.end)).collect();
    let last = size as u32 - 16;
    assert_eq!(homes, [Home(0x0b00_0004), Home(0x0500_0002), Home(0x0500_0003)].map(|home| (home, 0, last)));
}

/// The commands of the page, for a description without frames: the cubin keeps those of ptxas, and `check` agrees.
#[test]
fn commands_of_the_page_agree_without_frames() {
    let folder = Folder::new();
    folder.file("k.cubin", OPTIMIZED);
    let size = symbol_named(OPTIMIZED, "norms").expect("the kernel").size;
    let text = format!(
        r#"{{"eitri": 1, "target": "nvptx-sm_80", "describe": [
            {{"unit": {{"name": "k.cu"}}}},
            {{"base_type": {{"unit": "k.cu", "name": "int", "encoding": "signed", "bits": 32}}}},
            {{"function": {{"in": "k.cu", "name": "norms", "code": {{"bytes": {size}, "symbol": "norms"}}}}}},
            {{"variable": {{"in": "norms", "name": "v", "type": "int", "always": {{"register": "UR4"}}}}}}]}}"#
    );
    folder.file("d.json", text);
    let command = Tool::new(env!("CARGO_BIN_EXE_eitri"), "the command");
    for words in [
        &[
            "emit",
            "d.json",
            "--for",
            "cuda-gdb-sass",
            "--object",
            "k.cubin",
            "--replace",
            "-o",
            "k.debug.cubin",
        ][..],
        &["check", "d.json", "--for", "cuda-gdb-sass", "k.debug.cubin"],
    ] {
        let Some(ran) = command.run_in(folder.path(), words) else { return };
        assert!(ran.succeeded, "{ran}");
    }
}
