//! Entries that say again what other entries say, written by hand for the assembler.

use eitri::build::{Builder, DataMember};
use eitri::consumer::{Consumer, Policy};
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::gimli::constants as dw;
use eitri::import::{ImportOptions, UnimportedFact, import};
use eitri::lower::lower;
use eitri::model::BaseEncoding;
use eitri::rewrite::{RewriteOptions, rewrite};
use eitri::target::Target;

use crate::common::tools::{Folder, Tool};
use crate::common::with;

fn assembled(text: &str) -> Option<Vec<u8>> {
    let folder = Folder::new();
    folder.file("a.s", text);
    let ran = Tool::new("gcc", "gcc").run_in(folder.path(), &["-c", "-o", "a.o", "a.s"])?;
    assert!(ran.succeeded, "{ran}");
    Some(std::fs::read(folder.path().join("a.o")).expect("an object"))
}

/// A type unit with `struct S { int m(); }`, and a unit whose declaration of `S` has `private: [[noreturn]] long m()` at the
/// same line.
const DECLARED_AGAIN: &str = r#"
    .section .debug_abbrev,"",@progbits
    .uleb128 1,0x11; .byte 1; .uleb128 0x13,0x05, 0x03,0x08, 0,0
    .uleb128 2,0x41; .byte 1; .uleb128 0x13,0x05, 0,0
    .uleb128 3,0x13; .byte 1; .uleb128 0x03,0x08, 0x0b,0x0b, 0,0
    .uleb128 4,0x2e; .byte 0; .uleb128 0x03,0x08, 0x3b,0x0b, 0x3c,0x19, 0x49,0x13, 0x3f,0x19, 0,0
    .uleb128 5,0x24; .byte 0; .uleb128 0x03,0x08, 0x3e,0x0b, 0x0b,0x0b, 0,0
    .uleb128 6,0x13; .byte 1; .uleb128 0x03,0x08, 0x3c,0x19, 0x69,0x20, 0,0
    .uleb128 7,0x2e; .byte 0
    .uleb128 0x03,0x08, 0x3b,0x0b, 0x3c,0x19, 0x49,0x13, 0x3f,0x19, 0x32,0x0b, 0x87,0x19, 0,0
    .uleb128 8,0x34; .byte 0; .uleb128 0x03,0x08, 0x49,0x13, 0,0
    .byte 0
    .section .debug_info,"",@progbits
type: .long type_end - type_start
type_start: .value 5; .byte 2,8; .long 0; .quad 0x1234; .long structure - type
    .uleb128 2; .value 0x1a
structure: .uleb128 3; .asciz "S"; .byte 4
    .uleb128 4; .asciz "m"; .byte 3; .long int - type
    .byte 0
int: .uleb128 5; .asciz "int"; .byte 5,4
    .byte 0
type_end:
unit: .long unit_end - unit_start
unit_start: .value 5; .byte 1,8; .long 0
    .uleb128 1; .value 0x1a; .asciz "a.cc"
declaration: .uleb128 6; .asciz "S"; .quad 0x1234
    .uleb128 7; .asciz "m"; .byte 3; .long long - unit; .byte 3
    .byte 0
long: .uleb128 5; .asciz "long"; .byte 5,8
    .uleb128 8; .asciz "v"; .long declaration - unit
    .byte 0
unit_end:
"#;

/// What the declaration says and the type does not is listed.
#[test]
fn attributes_of_a_repeated_declaration_that_differ_are_listed() {
    let Some(bytes) = assembled(DECLARED_AGAIN) else { return };
    let imported = import(&bytes, &ImportOptions::default()).expect("the object is imported");
    let is_repeated = |fact: &&UnimportedFact| {
        fact.tag == Some(dw::DW_TAG_subprogram) && fact.unit.as_deref() == Some("a.cc")
    };
    let names: Vec<_> =
        imported.unimported.iter().filter(is_repeated).filter_map(|fact| fact.attribute).collect();
    assert_eq!(names, [dw::DW_AT_accessibility, dw::DW_AT_type, dw::DW_AT_noreturn]);
}

/// An abstract block with a number of blocks, and as many blocks of the instance that all refer to it.
fn blocks(count: u64) -> String {
    let header = r#"
    .section .debug_abbrev,"",@progbits
    .uleb128 1,0x11; .byte 1; .uleb128 0x13,0x05, 0x03,0x08, 0,0
    .uleb128 2,0x2e; .byte 1; .uleb128 0x03,0x08, 0x20,0x0b, 0,0
    .uleb128 3,0x0b; .byte 1; .uleb128 0,0
    .uleb128 4,0x0b; .byte 0; .uleb128 0,0
    .uleb128 5,0x2e; .byte 1; .uleb128 0x31,0x13, 0x11,0x01, 0x12,0x06, 0,0
    .uleb128 6,0x0b; .byte 0; .uleb128 0x31,0x13, 0,0
    .byte 0
    .text
f:  .skip 16,0x90
    .section .debug_info,"",@progbits
unit: .long unit_end - unit_start
unit_start: .value 4; .long 0; .byte 8
    .uleb128 1; .value 0x1d; .asciz "a.c"
abstract: .uleb128 2; .asciz "f"; .byte 1
block: .uleb128 3
"#;
    let inner = "    .uleb128 4\n".repeat(count as usize);
    let instances = "    .uleb128 6; .long block - unit\n".repeat(count as usize);
    format!(
        "{header}{inner}    .byte 0,0\n    .uleb128 5; .long abstract - unit; .quad f; .long 16\n{instances}    .byte 0,0\nunit_end:\n"
    )
}

#[test]
fn blocks_that_refer_to_one_block_take_linear_work() {
    let steps = |count| {
        let bytes = assembled(&blocks(count))?;
        Some(eitri_dwarf::work::steps(|| drop(import(&bytes, &ImportOptions::default()).expect("an import"))))
    };
    let (Some(few), Some(many)) = (steps(100), steps(800)) else { return };
    assert!(few > 0 && many < 11 * few, "{few} steps, and {many} for eight times as many");
}

/// Structures of one name: the first has many members, and each other unit's structure has one member.
#[test]
fn different_types_of_one_name_take_linear_work() {
    let object = |count: u64| {
        let mut m = Builder::new(Target::x86_64());
        for number in 0..count {
            let unit = m.unit(&format!("{number}.c"));
            let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
            let members = if number == 0 { count } else { 1 };
            let structure = m.structure(unit, Some("S"), 4 * members).expect("a type");
            for member in 0..members {
                let name = format!("m{number}_{member}");
                m.data_member(structure, DataMember::new(&name, int, 4 * member)).expect("a member");
            }
            m.variable(unit, &format!("v{number}"), structure).expect("a variable");
        }
        let module = m.finish().expect("a module");
        let written = lower(&module, &Consumer::dwarf5(), Policy::Strict).expect("sections");
        new_object(module.target(), &ObjectCode::text(vec![0; 4]), &written.sections).expect("an object")
    };
    let steps = |count| {
        let bytes = object(count);
        let options = with::<RewriteOptions<'_>>(|options| options.dedupe = true);
        eitri_dwarf::work::steps(|| drop(rewrite(&bytes, &options).expect("it is rewritten")))
    };
    let (few, many) = (steps(30), steps(240));
    assert!(few > 0 && many < 11 * few, "{few} steps, and {many} for eight times as many");
}
