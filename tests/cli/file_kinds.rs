//! Files that are no objects: the message says what they are, and which command takes them.

use super::{Folder, run, tools::Tool};

/// First bytes of files, from the formats' specifications, with what the message says.
fn rows() -> Vec<(&'static str, Vec<u8>, &'static str, &'static str)> {
    let coff = [&[0x64, 0x86, 2, 0][..], &[0; 16]].concat();
    let big = [&[0, 0, 0xff, 0xff, 2, 0, 0x64, 0x86][..], &[0; 48]].concat();
    let word = |word: u32| word.to_le_bytes().to_vec();
    let swapped = |word: u32| word.to_be_bytes().to_vec();
    vec![
        ("a.spv", word(0x0723_0203), "a SPIR-V module", "`eitri lint`"),
        ("b.spv", swapped(0x0723_0203), "a SPIR-V module", "`eitri lint`"),
        ("a.bc", b"BC\xc0\xde".to_vec(), "LLVM bitcode", "llc -filetype=obj"),
        ("b.bc", word(0x0b17_c0de), "LLVM bitcode", "llc -filetype=obj"),
        ("a.ll", b"; ModuleID = 'a.c'\n".to_vec(), "LLVM assembly", "llc -filetype=obj"),
        ("a.dylib", word(0xfeed_facf), "a Mach-O file", "no command"),
        ("a.macho", swapped(0xfeed_face), "a Mach-O file", "no command"),
        ("fat", swapped(0xcafe_babe), "a universal Mach-O file", "no command"),
        ("a.obj", coff, "a COFF object", "no command"),
        ("b.obj", big, "a COFF object", "no command"),
        ("a.exe", b"MZ\x90\0".to_vec(), "a PE file (COFF)", "no command"),
        ("a.wasm", b"\0asm\x01\0\0\0".to_vec(), "a WebAssembly module", "no command"),
        ("a.dxil", b"DXBC".to_vec(), "a DXIL container", "dxc -spirv"),
        ("a.gz", b"\x1f\x8b\x08".to_vec(), "a compressed file", "decompress"),
        ("a.json", b" {\"eitri\": 1}".to_vec(), "a description or other JSON", "`eitri emit`"),
    ]
}

#[test]
fn each_command_says_what_a_file_is() {
    let folder = Folder::new("kinds");
    let page = folder.path("page.html");
    for (name, bytes, kind, advice) in rows() {
        let file = folder.file(name, bytes);
        let commands = [
            &["lint", &file][..],
            &["stats", &file],
            &["report", &file, "-o", &page],
            &["import", &file, "-o", &page],
            &["rewrite", &file, "--dry-run"],
            &["eval", "--var", "x", "--pc", "0", &file],
        ];
        for command in commands {
            // `lint` takes modules.
            if command[0] == "lint" && kind == "a SPIR-V module" {
                continue;
            }
            let ran = run(command);
            let says = ran.errors.contains(&format!("{name}: this is {kind}; expected an ELF object"));
            assert!(ran.code == 2 && says && ran.errors.contains(advice), "{command:?}: {}", ran.errors);
        }
    }
    // Text is nothing known.
    let ran = run(&["lint", &folder.file("a.txt", "text")]);
    assert!(ran.errors.contains("not an ELF file"), "{}", ran.errors);
}

/// What compilers write has these starts.
#[test]
fn files_of_compilers_are_recognised() {
    let folder = Folder::new("kinds-compiled");
    let source = folder.file("a.c", "int f(int x) { return x + 1; }\n");
    let rows = [
        ("bitcode.o", &["-emit-llvm"][..], "LLVM bitcode"),
        ("macho.o", &["-target", "arm64-apple-macos"], "a Mach-O file"),
        ("coff.o", &["-target", "x86_64-pc-windows-msvc"], "a COFF object"),
        ("arm.o", &["-target", "aarch64-pc-windows-msvc"], "a COFF object"),
        ("wasm.o", &["-target", "wasm32"], "a WebAssembly module"),
    ];
    for (name, options, kind) in rows {
        let object = folder.path(name);
        let arguments = [options, &["-c", &source, "-o", &object]].concat();
        let Some(made) = Tool::new("clang-19", "clang-19").run(&arguments) else { return };
        assert!(made.succeeded, "{made}");
        let ran = run(&["lint", &object]);
        assert!(ran.code == 2 && ran.errors.contains(&format!("this is {kind}; ")), "{name}: {}", ran.errors);
    }
}
