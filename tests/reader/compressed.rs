//! Compressed sections have the original contents.

use eitri::error::ErrorKind;
use eitri::read::{Dwarf, Object};

use crate::reader::compiled::{CLANGXX, GXX, compile, sources};
use crate::reader::tools::Tool;

const OBJCOPY: Tool = Tool::new("objcopy", "binutils");
const LLVM_OBJCOPY: Tool = Tool::new("llvm-objcopy-19", "llvm-19");

/// Name of a compressed section, and offset of its contents in the file.
fn compressed_section(bytes: &[u8]) -> (String, usize) {
    let object = Object::read(bytes).unwrap();
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    let header = |index: usize| number(0x28) + 64 * index;
    let is_compressed = |index: &usize| number(header(*index) + 8) & 0x800 != 0;
    let index = (0..object.sections().len()).find(is_compressed).unwrap();
    (object.sections()[index].name.to_string(), number(header(index) + 24))
}

#[test]
fn compressed_sections_are_expanded() {
    let folder = sources();
    for tool in [CLANGXX, GXX] {
        let flags = "-c -gdwarf-5 -fdebug-types-section";
        let Some(path) = compile(tool, folder.path(), "types.cpp", flags, "a.o") else { return };
        let plain = std::fs::read(&path).unwrap();
        let plain = Object::read(&plain).unwrap();
        for (tool, how) in
            [(LLVM_OBJCOPY, "zlib"), (LLVM_OBJCOPY, "zstd"), (OBJCOPY, "zlib"), (OBJCOPY, "zlib-gnu")]
        {
            let flags = format!("--compress-debug-sections={how}");
            let out = folder.path().join("b.o");
            let arguments = [flags.as_ref(), path.as_os_str(), out.as_os_str()];
            let Some(ran) = tool.run(&arguments) else { return };
            ran.clean();
            let bytes = std::fs::read(&out).unwrap();
            let compressed = Object::read(&bytes).unwrap();
            let debug = |object: &Object<'_>| -> Vec<_> {
                let is_debug = |section: &&eitri::read::ElfSection<'_>| section.name.starts_with(".debug_");
                let sections = object.sections().iter().filter(is_debug);
                sections.map(|section| (section.name.to_string(), section.data.to_vec())).collect()
            };
            assert!(debug(&plain).len() > 6);
            assert_eq!(debug(&compressed), debug(&plain), "{how}");
            Dwarf::read(&compressed).unwrap();

            // The section headers of compressed sections, with a wrong size.
            if how == "zlib-gnu" {
                continue;
            }
            let (name, start) = compressed_section(&bytes);
            for (size, is_bomb) in
                [(0u64, false), (1, false), (1 << 20, false), (1 << 33, true), (u64::MAX, true)]
            {
                let mut bytes = bytes.clone();
                bytes[start + 8..start + 16].copy_from_slice(&size.to_le_bytes());
                let error = Object::read(&bytes).unwrap_err();
                assert_eq!(error.at().section.as_deref(), Some(&*name));
                assert_eq!(matches!(error.kind(), ErrorKind::TooLarge(_)), is_bomb, "{error}");
                assert_eq!(matches!(error.kind(), ErrorKind::Malformed(_)), !is_bomb, "{error}");
            }
            // The method, the first byte of the stream, and a byte inside, which zlib's checksum detects.
            for at in [start, start + 24, start + 40] {
                if at == start + 40 && how == "zstd" {
                    continue;
                }
                let mut bytes = bytes.clone();
                bytes[at] ^= 0x55;
                let error = Object::read(&bytes).unwrap_err();
                assert_eq!(error.at().section.as_deref(), Some(&*name), "{error}");
                assert_eq!(matches!(error.kind(), ErrorKind::Unsupported(_)), at == start, "{error}");
                assert_eq!(error.to_string().contains("cannot be decompressed"), at != start, "{error}");
            }
        }
    }
}
