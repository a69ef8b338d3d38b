//! The text form, and the command that prints it.

use std::io::Write;
use std::process::{Command, Stdio};

use eitri::dump::{DumpOptions, dump};
use eitri::read::{Dwarf, Object};
use eitri::target::Target;
use gimli::Format;

use crate::reader::attributes::Form;
use crate::reader::objects::{FORM, object};

fn print(bytes: &[u8], verbose: bool) -> String {
    let object = Object::read(bytes).unwrap();
    let dwarf = Dwarf::read(&object).unwrap();
    dump(&object, &dwarf, Some(&Target::x86_64()), {
        let mut options = DumpOptions::default();
        options.verbose = verbose;
        options
    })
}

#[test]
fn the_text_says_what_the_module_does() {
    let text = print(&object(FORM()), false);
    let expected = r#"addresses: the object is not linked; its sections are assumed to be at
  0x10000 .text.other
  0x12000 .text.kernel

unit: DWARF 5, addresses of 8 bytes
DW_TAG_compile_unit
  DW_AT_name: "a.cl"
  DW_AT_comp_dir: "/src"
  DW_AT_language: DW_LANG_OpenCL
  DW_AT_low_pc: 0x12040
  DW_AT_stmt_list: offset
  DW_TAG_base_type
    DW_AT_name: "float"
    DW_AT_encoding: DW_ATE_float
    DW_AT_byte_size: 4
  DW_TAG_pointer_type
    DW_AT_type: DW_TAG_base_type "float"
    DW_AT_LLVM_address_space: 5
  DW_TAG_subprogram
    DW_AT_name: "a kernel"
    DW_AT_ranges: list
      [0x12060, 0x12070)
      [0x12052, 0x12058)
      [0x12070, 0x12193)
    DW_AT_frame_base: regx r9; piece 4
    DW_TAG_variable
      DW_AT_name: "x"
      DW_AT_type: DW_TAG_pointer_type -> DW_TAG_base_type "float"
      DW_AT_location: list
        [0x12052, 0x12058): regx rdx; piece 4
        [0x12060, 0x12070): regx rcx; piece 4
        [0x12070, 0x12193): regx rbx; piece 4
        [0x12059, 0x12059): regx rsi; piece 4
        [0x12059, 0x12053): regx rdi; piece 4
      DW_AT_decl_line: 4660
      DW_AT_decl_column: 305419896
      DW_AT_const_value: -5
      DW_AT_external: true
      DW_AT_GNU_dwo_id: 0x123456789abcdef
      DW_AT_hi_user: {01 02 03}
      DW_AT_artificial: true
      DW_AT_data_location: regval_type rbx @(DW_TAG_base_type "float")
      DW_AT_linkage_name: "of the line table"
      DW_AT_lo_user: 0x10000000000000000000000000
      DW_AT_upper_bound: -1
lines: version 5
  file 0: "a.cl" md5 a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5
  file 1: "include/b.h" md5 a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5
  0x12040      1:3:7 stmt prologue_end
  0x12044      0:4:7
  0x12170      0:90:7 stmt
  0x12174      end
"#;
    pretty_assertions::assert_eq!(text, expected);
}

#[test]
fn the_text_does_not_depend_on_offsets() {
    // All offsets differ between the formats.
    let short = object(FORM());
    let long = object(Form::new(5, Format::Dwarf64, 8, false));
    let [short_text, long_text] = [&short, &long].map(|bytes| print(bytes, false));
    assert_eq!(long_text.replacen(", 64-bit format", "", 1), short_text);
    assert_ne!(print(&short, true), print(&long, true));
    assert!(print(&short, true).contains("DW_TAG_base_type @0x"));
}

fn eitri(arguments: &[&str], input: &[u8]) -> (Option<i32>, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_eitri"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The command may exit before it has read all input.
    let _ = child.stdin.take().unwrap().write_all(input);
    let out = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (out.status.code(), text(out.stdout), text(out.stderr))
}

#[test]
fn the_command_prints_and_refuses() {
    let bytes = object(FORM());
    let (code, out, err) = eitri(&["dump", "-"], &bytes);
    assert_eq!((code, out, err.as_str()), (Some(0), print(&bytes, false), ""));
    let (code, out, _) = eitri(&["dump", "-v", "-"], &bytes);
    assert_eq!((code, out), (Some(0), print(&bytes, true)));
    let (code, out, _) = eitri(&["dump", "--target", "amdgpu-gfx1030-wave32", "-"], &bytes);
    assert!(code == Some(0) && out.contains("regx exec; piece 4"), "{out}");

    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/uspill.o");
    assert_eq!(eitri(&["dump", file], &[]), (Some(0), "no units\n".into(), "".into()));

    for (arguments, input, message) in [
        (&["dump", "-"][..], &b"no object"[..], "eitri: standard input: not an ELF file\n"),
        (&["dump", "-"], &bytes[..100], "eitri: standard input: offset"),
        (&["dump", "/no/such/file"], &[], "eitri: /no/such/file: "),
        (&["dump", "--target", "amdgpu-gfx1", "-"], &bytes, "eitri: unknown target: `amdgpu-gfx1`"),
        (&["dump"], &[], "error: "),
    ] {
        let (code, out, err) = eitri(arguments, input);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(err.starts_with(message), "{err}");
    }
}
