//! Relocatable cubins, linked by nvlink.

use pretty_assertions::assert_eq;

use super::*;

#[test]
fn nvlink_moves_the_offsets_of_two_objects() {
    for processor in ["sm_75", "sm_80", "sm_90"] {
        let folder = Folder::new();
        let mut paths = Vec::new();
        let mut sizes = Vec::new();
        for name in ["k", "l"] {
            let Some(object) = compiled(processor, name, Output::Relocatable) else { return };
            let attached = attached(&object, processor, name);
            let report = attached.check(&attached.bytes);
            assert!(report.is_clean(), "{processor}: {report}");
            if printed_object(&attached.bytes).is_none() {
                return;
            }
            let size = |name| {
                let mut sections = attached.written.sections.iter();
                sections.find(|section| section.name == name).expect("a section").bytes.len()
            };
            sizes.push([".debug_abbrev", ".debug_line", ".debug_loc", ".debug_str"].map(size));
            paths.push(folder.file(&format!("{name}.o"), &attached.bytes));
        }
        let linked = folder.path().join("linked.cubin");
        let arch = format!("-arch={processor}");
        let words = [
            arch.as_ref(),
            "-g".as_ref(),
            paths[0].as_os_str(),
            paths[1].as_os_str(),
            "-o".as_ref(),
            linked.as_os_str(),
        ];
        let Some(ran) = NVLINK.run(&words) else { return };
        ran.clean();
        let bytes = std::fs::read(&linked).expect("a cubin");
        let Some([code, entries]) = printed(&bytes) else { return };
        // The lines of both kernels, with the names of the inlined functions.
        assert_eq!(source_lines(&code).len(), 10, "{processor}: {code}");
        assert_eq!(source_lines(&code).iter().filter(|line| line.contains("inlined at")).count(), 2);
        let [abbreviations, lines, lists, names] = sizes[0];
        for (what, offset) in [
            ("Abbrev Offset:", format!("{abbreviations}")),
            ("DW_AT_stmt_list", format!("{lines:#x}")),
            ("DW_AT_location", format!("{lists:#x}")),
            ("Offset in .debug_str:", format!("{names}")),
        ] {
            let is_there = entries
                .lines()
                .any(|line| line.trim().strip_prefix(what).is_some_and(|rest| rest.trim() == offset));
            assert!(is_there, "{processor}: {what} {offset}: {entries}");
        }
        // A reader of the linked file finds each kernel's variables at its own lists.
        let linked = eitri::read::Object::read(&bytes).expect("a cubin");
        let map = eitri::read::nvidia::RegisterMap::read(&linked).expect("a map");
        assert_eq!(map.functions.len(), 2);
    }
}

/// Runs the tools on an object. llvm-dwarfdump lacks NVIDIA's relocations.
fn printed_object(bytes: &[u8]) -> Option<()> {
    let folder = Folder::new();
    let path = folder.file("a.o", bytes);
    NVDISASM.run(&["-gi".as_ref(), "-g".as_ref(), "-c".as_ref(), path.as_os_str()])?.clean();
    CUOBJDUMP.run(&["-elf".as_ref(), path.as_os_str()])?.clean();
    CUOBJDUMP.run(&["-sass".as_ref(), path.as_os_str()])?.clean();
    Some(())
}
