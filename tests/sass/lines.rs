//! A cubin with lines alone gets variables and keeps its lines.

use eitri::emit::elf::{PtxLines, attach, ptx_lines};
use pretty_assertions::assert_eq;

use super::*;

/// The kernel with a line for each instruction, compiled as nvcc's `-lineinfo` does.
fn with_lines(processor: &str) -> Option<Vec<u8>> {
    let mut text = String::new();
    for (line, number) in TEXT.lines().zip(1..) {
        if line.ends_with(';') && !line.starts_with('.') {
            text += &format!(".loc 1 {number} 0\n");
        }
        text += line;
        text.push('\n');
    }
    text += ".file 1 \"k.cu\"\n";
    let folder = Folder::new();
    let source = folder.file("k.ptx", text);
    let cubin = folder.path().join("k.cubin");
    let arch = format!("-arch={processor}");
    let words = [arch.as_ref(), "-lineinfo".as_ref(), source.as_os_str(), "-o".as_ref(), cubin.as_os_str()];
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
        let Some(cubin) = with_lines(processor) else { return };
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
