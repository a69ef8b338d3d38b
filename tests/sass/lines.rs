//! A cubin with lines alone gets variables and keeps its lines.

use eitri::build::AttributeValue;
use eitri::check::FindingKind;
use eitri::emit::elf::{PtxLines, attach, ptx_lines, relocatable_ptx_lines};
use pretty_assertions::assert_eq;

use super::*;

/// The kernel with a line for each instruction, compiled as nvcc's `-lineinfo` does, under another name.
pub fn with_lines(processor: &str, name: &str, output: Output) -> Option<Vec<u8>> {
    let mut text = String::new();
    for (line, number) in TEXT.lines().zip(1..) {
        if line.ends_with(';') && !line.starts_with('.') {
            text += &format!(".loc 1 {number} 0\n");
        }
        text += line;
        text.push('\n');
    }
    text += ".file 1 \"k.cu\"\n";
    let text = text.replace("k(", &format!("{name}("));
    let folder = Folder::new();
    let source = folder.file("k.ptx", text);
    let cubin = folder.path().join("k.cubin");
    let arch = format!("-arch={processor}");
    let kind = if output == Output::Relocatable { "-c" } else { "-O3" };
    let words = [
        arch.as_ref(),
        "-lineinfo".as_ref(),
        kind.as_ref(),
        source.as_os_str(),
        "-o".as_ref(),
        cubin.as_os_str(),
    ];
    PTXAS.run(&words)?.clean();
    Some(std::fs::read(&cubin).expect("a cubin"))
}

/// A variable with a line in a file.
fn variable(target: &Target, size: u64, file: &str) -> eitri::Result<Module> {
    let mut m = Builder::new(target.clone());
    let unit = m.unit(file);
    let file = m.primary_file(unit)?;
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let kernel = m.function(unit, "k")?.code("k", size).kernel().declared(SourceLine::new(file, 4)).id();
    let r2 = target.register_named("R2")?;
    m.variable(kernel, "x", int)?.declared(SourceLine::new(file, 9)).live(0x10..0x40, Loc::per_lane(r2))?;
    m.finish()
}

#[test]
fn kept_lines_are_those_of_the_added_entries() {
    let keeping = with::<AttachOptions>(|options| options.existing = Existing::KeepLines);
    for processor in ["sm_80", "sm_90", "sm_120"] {
        let Some(cubin) = with_lines(processor, "k", Output::Linked) else { return };
        let target = target(processor);
        let size = symbol_named(&cubin, "k").expect("the kernel").size;
        let sections = |file| {
            let module = variable(&target, size, file).expect("a module");
            lower(&module, &Consumer::cuda_gdb_sass(), Policy::Strict).expect("sections").sections
        };
        let right = sections("k.cu");
        assert!(attach(&cubin, &target, &right).is_err());
        let bytes = attach_with(&cubin, &target, &right, &keeping).expect("a cubin");
        let (Some([before, _]), Some([after, entries])) = (printed(&cubin), printed(&bytes)) else { return };
        assert!(source_lines(&before).len() > 3, "{before}");
        assert_eq!(source_lines(&before), source_lines(&after), "{processor}");
        assert!(entries.contains("DW_TAG_variable") && entries.contains("DW_AT_stmt_list"), "{entries}");
        // The entry's file is number 1 of the kept table, and the unit refers to that table.
        let object = eitri::read::Object::read(&bytes).expect("a cubin");
        let dwarf = eitri::read::Dwarf::read(&object).expect("entries");
        let unit = dwarf.units().first().expect("a unit");
        let program = dwarf.lines(unit).expect("lines").expect("a program");
        assert!(program.rows().count() > 3);
        let file = program.file(1).expect("a file");
        assert_eq!(file.path, b"k.cu");

        let error = attach_with(&cubin, &target, &sections("l.cu"), &keeping).unwrap_err();
        assert!(error.to_string().contains("`l.cu`") && error.to_string().contains("`k.cu`"), "{error}");
    }
}

#[test]
fn ptx_lines_are_printed_for_the_code() {
    for processor in ["sm_80", "sm_90", "sm_120"] {
        let Some(cubin) = compiled(processor, "k", Output::Linked) else { return };
        let size = symbol_named(&cubin, "k").expect("the kernel").size;
        let rows = [(0, 9), (0x20, 11), (0x40, 12)];
        let sections =
            ptx_lines(TEXT, &[PtxLines { symbol: "k", bytes: size, rows: &rows }]).expect("sections");
        let bytes = attach(&cubin, &target(processor), &sections).expect("a cubin");
        let folder = Folder::new();
        let path = folder.file("a.cubin", &bytes);
        let words = ["-gp".as_ref(), "-g".as_ref(), "-c".as_ref(), path.as_os_str()];
        let Some(ran) = NVDISASM.run(&words) else { return };
        let code = ran.clean();
        let found: Vec<&str> =
            code.lines().filter_map(|line| line.trim().strip_prefix("//## File ")).collect();
        assert_eq!(found.len(), 3, "{processor}: {code}");
        for (line, (_, number)) in found.iter().zip(rows) {
            assert!(line.ends_with(&format!("line {number}")), "{line}");
        }
        // Another reader of the two sections.
        let object = eitri::read::Object::read(&bytes).expect("a cubin");
        let text = eitri::read::nvidia::PtxText::read(&object);
        assert_eq!(text.line(9).as_deref(), TEXT.lines().nth(8));
        let programs: Vec<_> =
            eitri::read::nvidia::ptx_lines(&object).map(|it| it.expect("a program")).collect();
        let [program] = &programs[..] else { panic!("{programs:?}") };
        let lines: Vec<u64> = program
            .rows()
            .map(|row| row.expect("a row"))
            .filter(|row| !row.end_sequence)
            .map(|row| row.line)
            .collect();
        assert_eq!(lines, [9, 11, 12]);
    }
}

/// Each linked row is in the text of its object.
#[test]
fn ptx_lines_of_two_objects_keep_their_texts() {
    for processor in ["sm_80", "sm_90", "sm_120"] {
        let mut objects = Vec::new();
        for name in ["k", "l"] {
            let Some(object) = with_lines(processor, name, Output::Relocatable) else { return };
            let size = symbol_named(&object, name).expect("the kernel").size;
            let text = TEXT.replace("k(", &format!("{name}("));
            let lines = PtxLines { symbol: name, bytes: size, rows: &[(0, 9), (0x40, 11)] };
            let target = target(processor);
            let linked = ptx_lines(&text, &[lines]).expect("sections");
            let error = attach_with(&object, &target, &linked, &replacing()).unwrap_err().to_string();
            assert!(error.contains("relocatable_ptx_lines"), "{error}");
            let sections = relocatable_ptx_lines(&text, &[lines]).expect("sections");
            objects.push(attach_with(&object, &target, &sections, &replacing()).expect("a cubin"));
        }
        let Some(bytes) = super::mercury::linked(processor, [&objects[0], &objects[1]]) else { return };
        let folder = Folder::new();
        let path = folder.file("a.cubin", &bytes);
        let words = ["-gp".as_ref(), "-g".as_ref(), "-c".as_ref(), path.as_os_str()];
        let Some(ran) = NVDISASM.run(&words) else { return };
        let code = ran.clean();
        let lines: Vec<_> = source_lines(&code).iter().filter_map(|line| line.split_once(", ")).collect();
        let numbers: Vec<_> = lines.iter().map(|line| line.1).collect();
        assert_eq!(numbers, ["line 9", "line 11", "line 9", "line 11"], "{processor}: {code}");
        assert!(lines[0].0.starts_with("\".nv_debug_ptx_txt.") && lines[0].0 == lines[1].0, "{lines:?}");
        assert!(lines[2].0 == lines[3].0 && lines[0].0 != lines[2].0, "{lines:?}");
        // The sections that the rows name have the kernels' texts.
        let object = eitri::read::Object::read(&bytes).expect("a cubin");
        let text = |line: (&str, &str)| {
            let section = object.section(line.0.trim_matches('"')).expect("the text");
            String::from_utf8_lossy(&section.data).into_owned()
        };
        let texts = [text(lines[0]), text(lines[2])];
        let has = |name: &str| texts.iter().filter(|text| text.contains(name)).count();
        assert_eq!([has(".entry k("), has(".entry l(")], [1, 1], "{texts:?}");
    }
}

/// NVIDIA's and PGI's attributes are written where a compiler states them, and cuobjdump prints them.
#[test]
fn vendor_attributes_are_printed_by_name() {
    const FLAGS: gimli::DwAt = gimli::DwAt(0x2703);
    const BASE: gimli::DwAt = gimli::DwAt(0x3a00);
    let Some(cubin) = compiled("sm_80", "k", Output::Linked) else { return };
    let target = target("sm_80");
    let size = symbol_named(&cubin, "k").expect("the kernel").size;
    let mut m = Builder::new(target.clone());
    let unit = m.unit("k.cu");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
    let kernel = m.function(unit, "k").expect("a function").code("k", size).kernel().id();
    let array = m.variable(kernel, "array", int).expect("a variable").id();
    m.attribute(kernel, FLAGS, AttributeValue::Unsigned(5)).expect("an attribute");
    for (number, offset) in [(0, 0x20), (1, 0x24), (2, 0x28)] {
        // `breg1 offset`.
        let expression = [0x71, offset];
        m.attribute(array, gimli::DwAt(BASE.0 + number), AttributeValue::Bytes(&expression))
            .expect("an attribute");
    }
    let module = m.finish().expect("a module");
    let written = lower(&module, &Consumer::cuda_gdb_sass(), Policy::Strict).expect("sections");
    let bytes = attach_with(&cubin, &target, &written.sections, &replacing()).expect("a cubin");
    let Some([_, entries]) = printed(&bytes) else { return };
    let value = |name: &str| {
        let line = entries.lines().find_map(|line| line.trim().strip_prefix(name));
        line.map(|rest| rest.split_whitespace().collect::<Vec<_>>().join(" ")).unwrap_or_default()
    };
    assert_eq!(value("DW_AT_NV_general_flags "), "5", "{entries}");
    for (name, offset) in [("lbase", 32), ("soffset", 36), ("lstride", 40)] {
        let text = value(&format!("DW_AT_PGI_{name} "));
        assert!(text.contains(&format!("(DW_OP_breg1 {offset})")), "{text}: {entries}");
    }
}

/// A function in a namespace is listed by its linkage name, and one without by its name.
#[test]
fn public_names_are_linkage_names() {
    let target = target("sm_80");
    let mut m = Builder::new(target);
    let unit = m.unit("k.cu");
    let space = m.namespace(unit, "outer").expect("a namespace");
    m.function(space, "f").expect("a function").linkage_name("_ZN5outer1fEv").external().code("k", 64);
    m.function(unit, "g").expect("a function").external().code("g", 64);
    let module = m.finish().expect("a module");
    let names = |consumer: &Consumer| {
        let written = lower(&module, consumer, Policy::Strict).expect("sections");
        let bytes = &written.sections.iter().find(|it| it.name == ".debug_pubnames").expect("a table").bytes;
        // The header has 14 bytes, and each offset four.
        let mut rest = &bytes[14..];
        let mut names = Vec::new();
        while rest[..4] != [0; 4] {
            let end = rest[4..].iter().position(|byte| *byte == 0).expect("an end");
            names.push(String::from_utf8_lossy(&rest[4..4 + end]).into_owned());
            rest = &rest[4 + end + 1..];
        }
        names
    };
    let mut consumer = Consumer::cuda_gdb_sass();
    assert_eq!(names(&consumer), ["_ZN5outer1fEv", "g"]);
    consumer.tables.has_public_linkage_names = false;
    assert_eq!(names(&consumer), ["outer::f", "g"]);
    // `check` compares the table with the description.
    let Some(cubin) = compiled("sm_80", "k", Output::Linked) else { return };
    let target = self::target("sm_80");
    let mut m = Builder::new(target.clone());
    let unit = m.unit("k.cu");
    let size = symbol_named(&cubin, "k").expect("the kernel").size;
    m.function(unit, "kernel").expect("a function").linkage_name("k").code("k", size).kernel();
    let module = m.finish().expect("a module");
    let findings = |consumer: &Consumer| {
        let written = lower(&module, &Consumer::cuda_gdb_sass(), Policy::Strict).expect("sections");
        let bytes = attach_with(&cubin, &target, &written.sections, &replacing()).expect("a cubin");
        let report = check(&module, consumer, &written.omissions, &bytes).expect("a report");
        // The frames of ptxas stay, which are not described.
        report.findings.iter().filter(|it| it.kind == FindingKind::Table).count()
    };
    // The name that is there, and the name that is expected, or neither.
    assert_eq!([findings(&Consumer::cuda_gdb_sass()), findings(&consumer)], [0, 2]);
}
