//! A cubin with lines alone gets variables and keeps its lines.

use eitri::emit::elf::attach;
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
