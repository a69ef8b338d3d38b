//! Entries that say more than the entries to which they refer, as no compiler is known to write them: what they say is
//! imported or listed.

use eitri::import::{ImportOptions, UnimportedFact, import};

use crate::common::tools::{Folder, Tool};

/// An inlined call in an abstract instance and in its instance with code: the parameter of the first has a constant.
const REPEATED_CALL: &str = r#"
	.text
g:	nop
	nop
	nop
	nop
ge:
	.section .debug_abbrev,"",@progbits
	.byte 1,0x11,1, 0x25,8, 0x13,5, 3,8, 0x11,1, 0x12,7, 0x10,0x17, 0,0
	.byte 2,0x24,0, 3,8, 0x3e,0xb, 0xb,0xb, 0,0
	# 3 abstract subprogram name inline
	.byte 3,0x2e,1, 3,8, 0x20,0xb, 0,0
	# 4 formal param name type
	.byte 4,0x05,0, 3,8, 0x49,0x13, 0,0
	# 5 inlined abstract: origin, call_line, children
	.byte 5,0x1d,1, 0x31,0x13, 0x59,0xb, 0,0
	# 6 param origin const_value
	.byte 6,0x05,0, 0x31,0x13, 0x1c,0xd, 0,0
	# 7 concrete subprogram: origin low high
	.byte 7,0x2e,1, 0x31,0x13, 0x11,1, 0x12,7, 0,0
	# 8 concrete inlined no children
	.byte 8,0x1d,0, 0x31,0x13, 0x59,0xb, 0x11,1, 0x12,7, 0,0
	.byte 0
	.section .debug_info,"",@progbits
0:	.long 9f-1f
1:	.short 4
	.long .debug_abbrev
	.byte 8
	.byte 1
	.asciz "me"
	.short 0x1d
	.asciz "t.c"
	.quad g
	.quad ge-g
	.long L
2:	.byte 2
	.asciz "int"
	.byte 5,4
3:	.byte 3
	.asciz "f"
	.byte 1
4:	.byte 4
	.asciz "p"
	.long 2b-0b
	.byte 0
5:	.byte 3
	.asciz "g"
	.byte 0
	.byte 5
	.long 3b-0b
	.byte 7
	.byte 6
	.long 4b-0b
	.sleb128 42
	.byte 0
	.byte 0
	.byte 7
	.long 5b-0b
	.quad g
	.quad ge-g
	.byte 8
	.long 3b-0b
	.byte 7
	.quad g+1
	.quad 2
	.byte 0
	.byte 0
9:
	.section .debug_line,"",@progbits
L:	.long 8f-7f
7:	.short 4
	.long 6f-5f
5:	.byte 1,1,1,-5,14,13
	.byte 0,1,1,1,1,0,0,0,1,0,0,1
	.byte 0
	.asciz "t.c"
	.byte 0,0,0
	.byte 0
6:	.byte 0,9,2
	.quad g
	.byte 1
	.byte 2,4
	.byte 0,1,1
8:
"#;

/// A declaration that refers to a declaration, and a constant outside the range of its type.
const DECLARED_AGAIN: &str = r#"
	.text
	.section .debug_abbrev,"",@progbits
	.byte 1,0x11,1, 0x25,8, 0x13,5, 3,8, 0,0
	.byte 2,0x24,0, 3,8, 0x3e,0xb, 0xb,0xb, 0,0
	.byte 3,0x34,0, 3,8, 0x49,0x13, 0x1c,0xd, 0,0
	.byte 4,0x2e,1, 3,8, 0x3c,0xc, 0x3f,0xc, 0x49,0x13, 0,0
	.byte 5,0x2e,0, 0x47,0x13, 0x3c,0xc, 0,0
	.byte 6,0x39,1, 3,8, 0,0
	.byte 0
	.section .debug_info,"",@progbits
0:	.long 9f-1f
1:	.short 4
	.long .debug_abbrev
	.byte 8
	.byte 1
	.asciz "me"
	.short 4
	.asciz "t.cc"
2:	.byte 2
	.asciz "signed char"
	.byte 6,1
	.byte 3
	.asciz "c"
	.long 2b-0b
	.sleb128 -200
	.byte 6
	.asciz "N"
3:	.byte 4
	.asciz "f"
	.byte 1,1
	.long 2b-0b
	.byte 0
	.byte 0
	.byte 5
	.long 3b-0b
	.byte 1
	.byte 0
9:
"#;

fn unimported(source: &str) -> Option<Vec<UnimportedFact>> {
    let folder = Folder::new();
    folder.file("a.s", source);
    let ran = Tool::new("gcc", "gcc").run_in(folder.path(), &["-c", "a.s"])?;
    assert!(ran.succeeded, "{ran}");
    let bytes = std::fs::read(folder.path().join("a.o")).expect("an object");
    Some(import(&bytes, &ImportOptions::default()).expect("it is imported").unimported)
}

fn texts(facts: &[UnimportedFact]) -> Vec<String> {
    let text = |fact: &UnimportedFact| {
        format!("{} {}", fact.attribute.map_or_else(String::new, |name| name.to_string()), fact.reason)
    };
    facts.iter().map(text).collect()
}

#[test]
fn repeated_call_loses_no_attribute() {
    let Some(facts) = unimported(REPEATED_CALL) else { return };
    assert_eq!(texts(&facts), ["DW_AT_const_value the model has no such property"]);
}

#[test]
fn declaration_of_a_declaration_is_listed() {
    let Some(facts) = unimported(DECLARED_AGAIN) else { return };
    let expected = [
        "DW_AT_const_value its value -200 is out of range",
        "DW_AT_declaration the model has no such property",
    ];
    assert_eq!(texts(&facts), expected);
}
