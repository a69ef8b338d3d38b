//! New cubins.

use eitri::emit::elf::{ObjectCode, contents, new_object};
use pretty_assertions::assert_eq;

use super::*;

/// The code of a kernel that ptxas compiled.
fn code(processor: &str, name: &str) -> Option<ObjectCode> {
    let cubin = compiled(processor, name, Output::Linked)?;
    let symbol = symbol_named(&cubin, name).expect("the kernel");
    let code = contents(&cubin, &symbol).expect("its code").to_vec();
    Some(ObjectCode::text(code).with_function(name, 0, symbol.size))
}

#[test]
fn new_cubins_are_printed_and_linked() {
    let folder = Folder::new();
    let mut paths = Vec::new();
    for name in ["k", "l"] {
        let Some(code) = code("sm_80", name) else { return };
        let size = code.symbols[0].size;
        let module = described(&target("sm_80"), name, size).expect("a module");
        let written = lower(&module, &Consumer::cuda_gdb_sass(), Policy::Strict).expect("sections");
        let bytes = new_object(module.target(), &code, &written.sections).expect("a cubin");
        let report = Attached { module, written, bytes: Vec::new() }.check(&bytes);
        assert!(report.is_clean(), "{report}");
        let path = folder.file(&format!("{name}.o"), &bytes);
        let Some(ran) = NVDISASM.run(&["-gi".as_ref(), "-g".as_ref(), "-c".as_ref(), path.as_os_str()])
        else {
            return;
        };
        assert_eq!(source_lines(&ran.clean()).len(), 5);
        for option in ["-elf", "-sass"] {
            let Some(ran) = CUOBJDUMP.run(&[option.as_ref(), path.as_os_str()]) else { return };
            ran.clean();
        }
        paths.push(path);
    }
    let linked = folder.path().join("linked.cubin");
    let words = [
        "-arch=sm_80".as_ref(),
        "-g".as_ref(),
        paths[0].as_os_str(),
        paths[1].as_os_str(),
        "-o".as_ref(),
        linked.as_os_str(),
    ];
    let Some(ran) = NVLINK.run(&words) else { return };
    ran.clean();
    let Some([code, _]) = printed(&std::fs::read(&linked).expect("a cubin")) else { return };
    assert_eq!(source_lines(&code).len(), 10);
}

#[test]
fn other_processors_and_several_functions_in_a_section_are_refused() {
    for (processor, reason) in [("sm_75", "compared"), ("sm_90", ".nv.compat"), ("sm_120", ".nv.capmerc")] {
        let code = ObjectCode::text(vec![0; 32]).with_function("k", 0, 32);
        let error = new_object(&target(processor), &code, &[]).unwrap_err().to_string();
        assert!(error.contains(reason) && error.contains(processor), "{error}");
    }
    let code = ObjectCode::text(vec![0; 32]).with_function("k", 0, 16).with_function("l", 16, 16);
    let error = new_object(&target("sm_80"), &code, &[]).unwrap_err().to_string();
    assert!(error.contains("one function"), "{error}");
}
