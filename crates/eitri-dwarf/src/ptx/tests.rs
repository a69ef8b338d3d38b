use super::*;
use crate::error::ErrorKind;

/// A kernel with what an LLVM back end writes into functions.
const KERNEL: &str = r#"// Made by hand.
.version 7.8
.target sm_80, debug
.address_size 64
.extern .func (.param .b32 r0) g(.param .b64 g_param_0);
.global .align 4 .b32 table[2] = {1, 2};
.visible .entry k(.param .u64 .ptr .global .align 4 k_param_0, .param .u32 k_param_1)
    .maxntid 32, 1, 1
{
    .reg .pred %p<2>;
    .shared .align 4 .b8 tile[64];
    .loc 1 3 0
$L__start: ld.param.u64 %rd1, [k_param_0]; // 0
    @!%p1 bra $L__end; /* 1; not this; */
    {
        .param .b64 param0;
        .loc 2 9 5, function_name $L__names+4, inlined_at 1 3 0
        st.param.b64 [param0+0], %rd1;
        call.uni (r), g, (param0);
    }
    ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+-16];
    proto: .callprototype _ (.param .b32 _);
$L__end:
    .pragma "nounroll; .loc";
    ret;
}
.file 1 "a.cu"
.file 2 "/inc/b.h", 12, 34
.section .debug_str { $L__names: .b8 102, 0x6f, 0, -1 .b32 .debug_str+2 .b64 $L__end, table }
"#;

#[test]
fn statements_have_positions() {
    let text = Text::read(KERNEL).expect("the text is PTX");
    assert_eq!((text.version, text.processor.map(|(name, _)| name)), ((7, 8), Some("sm_80")));
    assert_eq!(text.debug.map(|span| &KERNEL[span.start..span.end]), Some(", debug"));
    let [function] = &text.functions[..] else { panic!("one function with a body: {text:?}") };
    let instructions: Vec<&str> = function
        .instructions
        .iter()
        .map(|&start| KERNEL[start..].split([' ', ';']).next().unwrap_or(""))
        .collect();
    assert_eq!(
        instructions,
        ["ld.param.u64", "@!%p1", "st.param.b64", "call.uni", "ld.global.v4.f32", "ret"]
    );
    let labels: Vec<_> = function.labels.iter().map(|label| (label.name, label.position)).collect();
    assert_eq!(labels, [("$L__start", 0), ("proto", 5), ("$L__end", 5)]);
    let [first, second] = &function.locs[..] else { panic!("two rows: {:?}", function.locs) };
    assert_eq!(
        (first.position, first.place, first.inlined),
        (0, Place { file: 1, line: 3, column: 0 }, None)
    );
    let inlined = second.inlined.expect("an inlined call");
    assert_eq!((second.position, inlined.function, inlined.call), (2, ("$L__names", 4), first.place));
    assert!(KERNEL[function.end..].starts_with("}\n.file"));
    let symbols: Vec<_> = text.symbols.iter().map(|symbol| (symbol.name, symbol.space)).collect();
    assert_eq!(
        symbols,
        [
            ("r0", ".param"),
            ("g_param_0", ".param"),
            ("table", ".global"),
            ("k_param_0", ".param"),
            ("k_param_1", ".param"),
            ("tile", ".shared"),
            ("param0", ".param"),
        ]
    );
    let files: Vec<_> = text.files.iter().map(|file| (file.number, file.name)).collect();
    assert_eq!(files, [(1, "a.cu"), (2, "/inc/b.h")]);
}

#[test]
fn sections_have_bytes_labels_and_references() {
    let text = Text::read(KERNEL).expect("the text is PTX");
    let [section] = &text.sections[..] else { panic!("one section: {:?}", text.sections) };
    assert_eq!(section.name, ".debug_str");
    assert_eq!(section.bytes[..4], [b'f', b'o', 0, 0xff]);
    assert_eq!(section.bytes[4..], [0; 20]);
    assert_eq!(section.labels, [("$L__names", 0)]);
    let references: Vec<_> = section
        .references
        .iter()
        .map(|field| (field.offset, field.bytes, field.name, field.addend))
        .collect();
    assert_eq!(references, [(4, 4, ".debug_str", 2), (8, 8, "$L__end", 0), (16, 8, "table", 0)]);
}

#[test]
fn errors_have_a_line_and_a_column() {
    let cases = [
        ("/* a", "line 1, column 1: comment is not closed: `/* a`"),
        (".version 8", "line 1, column 10: unexpected `8`; expected a version with two numbers"),
        (".file 1 \"a\n\"", "line 1, column 9: string is not closed on its line: `\"a`"),
        (".version 8.0\n x;", "line 2, column 2: unexpected `x;`; expected a directive outside functions"),
        (".entry k() {\n ret;", "line 1, column 12: function body is not closed: `{`"),
        (".entry k() {\n ret }", "line 2, column 2: statement ends without `;`: `ret }`"),
        (".entry {}", "line 1, column 1: function has no name: `.entry {}`"),
        (".global .b32 x", "line 1, column 1: declaration ends without `;` or a body: `.global .b32 x`"),
        (".section .debug_info { .b8 256 }", "line 1, column 28: number does not fit its field: `256 }`"),
        (".section .debug_info { .b8 -129 }", "line 1, column 29: number does not fit its field: `129 }`"),
        (
            ".section .debug_info { .b32 99999999999999999999 }",
            "line 1, column 29: unexpected `99999999999999999999 }`; expected a number, or a name with an added number",
        ),
        (
            ".section .debug_info { .b32 a-b }",
            "line 1, column 30: unexpected `-b }`; expected a label, or numbers after `.b8`, `.b16`, `.b32` or `.b64`",
        ),
        (
            ".section .debug_info { .b8 1,",
            "line 1, column 30: unexpected end; expected a number, or a name with an added number",
        ),
        ("ä", "line 1, column 1: invalid character outside comments and strings: `ä`"),
        (
            ".entry k() { add ä; }",
            "line 1, column 18: invalid character outside comments and strings: `ä; }`",
        ),
        (".entry k() { add /* x; }", "line 1, column 18: comment is not closed: `/* x; }`"),
        (".entry k() { add \"x; }", "line 1, column 18: string is not closed on its line: `\"x; }`"),
        (
            ".entry k() { .loc 1 2; }",
            "line 1, column 22: unexpected `; }`; expected a source position: file, line and column",
        ),
    ];
    for (text, expected) in cases {
        let error = Text::read(text).expect_err(text);
        assert!(matches!(error.kind(), ErrorKind::Syntax(_)), "{error}");
        assert_eq!(error.to_string(), expected, "{text}");
    }
}

/// A statement does not end within a comment or a string.
#[test]
fn operands_have_comments_and_strings() {
    let body = "ld.u32 /* ; } */ %r1, [a/b]; // ; {\n#line ; }\ncall (%r2), \"f;{\", {%r1, %r3}; { ret; }";
    let text = format!(".entry k() {{ {body} }}");
    let read = Text::read(&text).expect("a text");
    let [function] = &read.functions[..] else { panic!("{read:?}") };
    let starts: Vec<&str> = function.instructions.iter().map(|&start| &text[start..start + 3]).collect();
    assert_eq!(starts, ["ld.", "cal", "ret"]);
}

#[test]
fn every_beginning_of_a_text_is_an_error_or_a_text() {
    for end in (0..=KERNEL.len()).filter(|&end| KERNEL.is_char_boundary(end)) {
        let _ = Text::read(&KERNEL[..end]);
    }
    // A megabyte in a single line: an error at its end has its column.
    let long = format!(".version 8.0 {}ret", ".global .b8 x;".repeat(75_000));
    let error = Text::read(&long).expect_err("no statement");
    assert!(error.to_string().starts_with("line 1, column 1050014: "), "{error}");
}

#[test]
fn a_text_of_ptx_begins_with_its_version() {
    let cases: [(&[u8], bool); 6] = [
        (b".version 8.0", true),
        (b"//\n// \n\n /* .. */.version 8.0", true),
        (b"\x7fELF", false),
        (b"{}", false),
        (b"// no end", false),
        (b"", false),
    ];
    for (bytes, is) in cases {
        assert_eq!(is_ptx(bytes), is, "{}", bytes.escape_ascii());
    }
}

/// Returns the positions at which a register can have a value, in a text with a single function.
fn set_at(body: &str, register: &str) -> Vec<u64> {
    let text = format!(".version 8.0\n.target sm_80\n.visible .entry k()\n{{\n{body}\n}}\n");
    let text = Text::read(&text).expect("the text is PTX");
    let [function] = &text.functions[..] else { panic!("one function") };
    let flow = Flow::new(&text, function);
    (0..=function.instructions.len() as u64)
        .filter(|&position| flow.is_set(register, position..position + 1))
        .collect()
}

#[test]
fn register_has_a_value_where_control_flows_from_an_instruction_that_sets_it() {
    // Comments and declarations name no register.
    let straight = "mov.u32 %r1, 0; /* %r2; */ .reg .b32 %r2; mov.u32 %r3, %r1; mov.u32 %r2, %r3; ret;";
    assert_eq!(set_at(straight, "%r2"), [3, 4]);
    assert!(set_at(straight, "%r4").is_empty());
    assert_eq!(set_at("mov.b64 {%r1, %r2}, %rd1; ret;", "%r2"), [1, 2]);
    assert_eq!(set_at("call (%r1), f, (%r2); ret;", "%r1"), [1, 2]);
    assert_eq!(set_at("mov.f32 %v.x, 0f00000000; ret;", "%v"), [1, 2]);
    // The loop from 1 to 4, then an instruction after the loop.
    let looped = |last: &str| format!("ret; $L: nop; nop; {last} @%p1 bra.uni $L; mov.u32 %r2, 0; ret;");
    assert_eq!(set_at(&looped("mov.u32 %r1, 0;"), "%r1"), [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(set_at(&looped("nop;"), "%r2"), [6, 7]);
    // Two loops that share an instruction, and two consecutive loops.
    assert_eq!(set_at("A: nop; B: @%p1 bra A; nop; mov.u32 %r1, 0; bra B;", "%r1"), [0, 1, 2, 3, 4, 5]);
    assert_eq!(set_at("A: nop; @%p1 bra A; B: nop; mov.u32 %r1, 0; bra B;", "%r1"), [2, 3, 4, 5]);
    // A block that comes first in the text, but runs after a later block.
    assert_eq!(set_at("bra C; A: nop; ret; C: mov.u32 %r1, 0; bra A;", "%r1"), [1, 2, 4, 5]);
    // The other branch after a condition, which reads the register.
    let branches = "@!%p1 bra E; mov.u32 %r1, 0; bra J; E: mov.u32 %r2, %r1; J: add.s32 %r3, %r1, 1; ret;";
    assert_eq!(set_at(branches, "%r1"), [2, 4, 5, 6]);
    assert_eq!(set_at(branches, "%r2"), [4, 5, 6]);
    // A guarded exit continues, and two labels with the same name are in two blocks.
    assert_eq!(set_at("mov.u32 %r1, 0; @%p1 exit; nop; ret; nop;", "%r1"), [1, 2, 3]);
    assert_eq!(set_at("{ bra L; L: ret; } mov.u32 %r1, 0; bra L; { L: nop; }", "%r1"), [1, 3, 4, 5]);
    // Sources: in a store, in an address, after the first operand. Destinations: two in a comparison, and one in a
    // load.
    assert!(set_at("st.global.v2.u32 [%rd1], {%r1, %r2}; ret;", "%r1").is_empty());
    assert!(set_at("ld.global.u32 %r2, [%rd1+4]; ret;", "%rd1").is_empty());
    assert_eq!(set_at("setp.lt.s32 %p1|%p2, %r1, %r2; ret;", "%p2"), [1, 2]);
    assert!(set_at("setp.lt.s32 %p1|%p2, %r1, %r2; ret;", "%r1").is_empty());
    assert_eq!(set_at("tcgen05.ld.red.sync.f32 {%f1, %f2}, %f3, [%r1], %r2; ret;", "%f3"), [1, 2]);
    assert!(set_at("@%p1 mov.u32 %r1, 0; ret;", "%p1").is_empty());
    // An indirect branch, and a branch to an unknown label, lead to any label.
    assert_eq!(set_at("nop; A: nop; mov.u32 %r1, 0; brx.idx %r2, ts;", "%r1"), [1, 2, 3, 4]);
    assert_eq!(set_at("nop; A: nop; mov.u32 %r1, 0; bra other;", "%r1"), [1, 2, 3, 4]);
}

/// Many copies of inline assembly, each in a block of its own with the same labels. Edges must not grow with the product of
/// labels and jumps.
#[test]
fn label_that_many_blocks_define_has_linearly_many_edges() {
    const COPIES: usize = 1000;
    let body = "{ L: @%p1 bra D; bra L; D: mov.u32 %r1, 0; }".repeat(COPIES);
    let text = format!(".version 8.0\n.target sm_80\n.visible .entry k()\n{{\n{body}\n}}\n");
    let text = Text::read(&text).expect("the text is PTX");
    let flow = Flow::new(&text, &text.functions[0]);
    let edges: usize = flow.before.iter().map(Vec::len).sum();
    assert!(edges < 10 * COPIES, "{edges}");
    // After the first copy's last instruction.
    assert!(flow.is_set("%r1", 3..4));
}

/// Each consecutive block sets a register that the last block reads. The number of visits must not grow with the
/// product of blocks and registers.
#[test]
fn visits_of_blocks_are_limited() {
    let body: String =
        (0..1000).map(|block| format!("L{block}: @%p1 bra L0; mov.u32 %r{block}, 0;")).collect();
    let text = format!(".version 8.0\n.target sm_80\n.visible .entry k()\n{{\n{body}\n}}\n");
    let text = Text::read(&text).expect("the text is PTX");
    let flow = Flow::new(&text, &text.functions[0]);
    for register in 0..1000 {
        assert!(flow.is_set(&format!("%r{register}"), 0..1), "{register}");
    }
    assert_eq!(flow.visits.get(), 0);
    assert!(!flow.is_set("%r1000", 0..1));
}

#[test]
fn declared_registers_are_those_of_the_blocks_around_a_position() {
    let source = "\
.version 8.0
.target sm_80
.reg .b32 %m;
.func (.reg .b32 %out) f(.reg .b64 %a, .reg .f16 %b, .param .b32 p)
{
    .reg .pred %p<2>, %q;
    .reg .v2 .f32 %v;
    nop;
    {
        .reg .b64 %t<10>;
        { .reg .b16 %t1; nop; }
        nop;
    }
    { .reg .b128 %t1; nop; }
    .reg .e9m9 %x<12>;
    nop;
}
";
    let text = Text::read(source).expect("the text is PTX");
    let declared = Declarations::new(&text, &text.functions[0]);
    let kinds = |name: &str, positions: core::ops::Range<u64>| -> Vec<RegisterKind> {
        declared.named(name, &positions).into_iter().map(|registers| registers.kind).collect()
    };
    use RegisterKind::{Bits, Predicate, Unknown};
    for (name, expected) in [
        ("%m", &[Bits(32)][..]),
        ("%out", &[Bits(32)]),
        ("%a", &[Bits(64)]),
        ("%b", &[Bits(16)]),
        ("%p0", &[Predicate]),
        ("%p1", &[Predicate]),
        ("%p2", &[]),
        ("%p01", &[Predicate]),
        ("%p02", &[]),
        ("%p", &[]),
        ("%q", &[Predicate]),
        ("%q0", &[]),
        ("%v", &[Bits(64)]),
        ("%x11", &[Unknown]),
        ("%x12", &[]),
        ("%t9", &[]),
    ] {
        assert_eq!(kinds(name, 0..1), expected, "{name}");
    }
    assert_eq!(kinds("%t9", 1..2), [Bits(64)]);
    assert_eq!(kinds("%t1", 1..2), [Bits(16), Bits(64)]);
    assert_eq!(kinds("%t1", 2..3), [Bits(64)]);
    assert_eq!(kinds("%t1", 3..4), [Bits(128)]);
    assert_eq!(kinds("%t1", 4..5), []);
    assert_eq!(text.functions[0].registers.iter().filter(|registers| registers.is_set).count(), 3);
}
