//! Lines and columns: missing ones, and those outside of the text of their file.

use eitri::build::DataMember;
use eitri::model::SourceLine;
use eitri::spirv::{Mode, Position, Set};

use crate::spirv_lower::case::{Case, Described, ENTRY, KERNEL, MAIN, SUM};

/// Two lines of three bytes, and an empty one after the last newline.
const TEXT: &str = "one\ntwo\n";

/// A unit whose file has a text.
fn with_text(text: &str) -> Case {
    let mut case = Case::new();
    case.m.file_source(case.file, text).unwrap();
    case
}

fn is_clean(described: &Described, mode: &Mode) {
    let attached = described.attached(mode).unwrap();
    let checked = attached.check(&described.module, &described.binding, mode).unwrap();
    assert!(checked.is_clean(), "{checked}");
}

#[test]
fn lines_outside_the_source_text_are_listed() {
    let mut case = with_text(TEXT);
    let int = case.int();
    let unit = case.unit;
    let line = |line, column| SourceLine::new(case.file, line).column(column);
    let m = &mut case.m;
    let s = m.structure(unit, Some("S"), 8).unwrap();
    m.describe_type(s).unwrap().declared(line(4, 1));
    m.data_member(s, DataMember::new("a", int, 0).declared(line(3, 1))).unwrap();
    m.data_member(s, DataMember::new("b", int, 4).declared(line(3, 2))).unwrap();
    let g = m.function(unit, "g").unwrap().code("g", 0x100).declared(line(2, 4)).body_line(3).id();
    let f = m.function(unit, "f").unwrap().code("f", 0x100).declared(line(2, 5)).body_line(9).id();
    m.variable(f, "there", int).unwrap().declared(line(1, 4));
    m.variable(f, "gone", int).unwrap().declared(line(70, 2));
    let block = m.block(f, &[0..0x20]).unwrap();
    m.begins(block, line(5, 1)).unwrap();
    let call = m.inlined(f, g, &[0x20..0x30], line(6, 0)).unwrap();
    m.describe_function(f).unwrap().external().kernel();
    case.binding.function(f, MAIN).scope(Position::after(SUM), call);
    let described = case.finish();
    for mode in [Mode::exact(Set::OpenCl), Mode::exact(Set::Shader), Mode::translator()] {
        let emitted = described.emitted(&mode);
        emitted
            .has(r#"LocalVariable "there" int </src/a.cl> 1 4 f None"#)
            .has(r#"LocalVariable "gone" int </src/a.cl> 0 0 f None"#)
            .has("LexicalBlock </src/a.cl> 0 0 f")
            .has("InlinedAt 0 f");
        let places = |name: &str| {
            let all = emitted.all(eitri::spirv::InstructionName::Function);
            let line = all.iter().find(|line| line.contains(&format!(r#"Function "{name}""#))).unwrap();
            let words: Vec<&str> = line.split(' ').collect();
            // Line, column, and line of the body, which follows the flags.
            [words[4], words[5], words[9]].map(str::to_owned)
        };
        assert_eq!(places("g"), ["2", "4", "3"]);
        assert_eq!(places("f"), ["2", "0", "0"]);
        let mut left: Vec<&str> = emitted.left().iter().map(String::as_str).collect();
        left.sort_unstable();
        assert_eq!(
            left,
            [
                "unit `a.cl`, function `f`, variable `gone`: line: line 70 is beyond the text of `a.cl`, which has 3 lines",
                "unit `a.cl`, function `f`: a block: line: line 5 is beyond the text of `a.cl`, which has 3 lines",
                "unit `a.cl`, function `f`: line of the body: line 9 is beyond the text of `a.cl`, which has 3 lines",
                "unit `a.cl`, function `f`: line: column 5 is beyond line 2 of the text of `a.cl`, which has 3 bytes",
                "unit `a.cl`, function `f`: the inlined call of `g` in line 6: call line: line 6 is beyond the text of `a.cl`, which has 3 lines",
                "unit `a.cl`: member `b` of type `S`: line: column 2 is beyond line 3 of the text of `a.cl`, which has 0 bytes",
                "unit `a.cl`: type `S`: line: line 4 is beyond the text of `a.cl`, which has 3 lines",
            ],
            "{mode:?}"
        );
        is_clean(&described, &mode);
    }
}

/// Lines counted by a preprocessor differ from those of the text; checksums and omitted texts have no lines.
#[test]
fn texts_that_lines_are_not_of() {
    let long = "\n".repeat(4 * 65_533);
    for text in ["#line 70\none\n", "one\n  #  line 70\n", "# 70 \"a.cl\"\none\n", "//__CSK_MD5:00\n", &long]
    {
        let mut case = with_text(text);
        let at = case.line(300_000, 9);
        let f = case.function("f");
        case.m.describe_function(f).unwrap().declared(at);
        case.binding.function(f, MAIN).line(Position::start(MAIN, ENTRY), at);
        let described = case.finish();
        let emitted = described.emitted(&Mode::exact(Set::OpenCl));
        assert!(emitted.all(eitri::spirv::InstructionName::Function)[0].contains("</src/a.cl> 300000 9 "));
        assert_eq!(emitted.left().iter().filter(|left| left.contains("not in")).count(), 0);
        is_clean(&described, &Mode::exact(Set::OpenCl));
    }
    // The other set encodes it in several strings.
    let mut case = with_text(&long);
    let last = case.line(4 * 65_533 + 1, 1);
    let behind = case.line(4 * 65_533 + 2, 1);
    let int = case.int();
    case.m.variable(case.unit, "last", int).unwrap().declared(last);
    case.m.variable(case.unit, "behind", int).unwrap().declared(behind);
    let described = case.finish();
    described.emitted(&Mode::exact(Set::Shader)).lacks(&[
        "unit `a.cl`, variable `behind`: line: line 262134 is beyond the text of `a.cl`, which has 262133 lines",
    ]);
    is_clean(&described, &Mode::exact(Set::Shader));
}

/// A line of a position belongs to the module's code: no replacement can be emitted.
#[test]
fn a_line_that_is_bound_is_in_the_text() {
    for (line, column, expected) in [
        (3, 1, None),
        (4, 1, Some("line 4 is beyond the text of `a.cl`, which has 3 lines")),
        (2, 4, None),
        (2, 5, Some("column 5 is beyond line 2 of the text of `a.cl`, which has 3 bytes")),
    ] {
        let mut case = with_text(TEXT);
        let f = case.function("f");
        let at = case.line(line, column);
        case.binding.function(f, MAIN).line(Position::start(MAIN, ENTRY), at);
        let described = case.finish();
        for mode in [Mode::exact(Set::OpenCl), Mode::exact(Set::Shader)] {
            let error = described.attached(&mode).map(drop).map_err(|error| error.to_string());
            let expected = expected.map(|what| format!("unit `a.cl`, function `f`: {what}"));
            assert_eq!(error.err(), expected);
        }
    }
}

/// An existing line of the module stays, for any text of its file.
#[test]
fn lines_of_the_module_are_not_checked() {
    let mut case = with_text(TEXT);
    let f = case.function("f");
    case.m.describe_function(f).unwrap().external().kernel();
    case.binding.function(f, MAIN);
    let described = case.finish();
    let mode = Mode::exact(Set::OpenCl);
    for (line, column) in [(2, 1), (2, 70), (70, 1)] {
        let text = KERNEL
            .replace("OpName %main \"main\"", "%file = OpString \"/src/a.cl\"\n OpName %main \"main\"")
            .replace("OpReturn", &format!("OpLine %file {line} {column}\n OpReturn"));
        let attached = described.attached_to(&text, &mode).unwrap();
        assert_eq!(attached.omissions, []);
        let checked = attached.check(&described.module, &described.binding, &mode).unwrap();
        assert!(checked.is_clean(), "{checked}");
    }
}

/// A block without a line is in the file of its parent, if known.
#[test]
fn a_block_without_a_line_is_of_the_file_of_its_function() {
    let mut case = Case::new();
    let unit = case.unit;
    let header = case.m.file(case.unit, "b.h", None).unwrap();
    let inside = SourceLine::new(header, 5).column(1);
    let declared = case.m.function(unit, "f").unwrap().code("f", 0x100).declared(inside).id();
    let block = case.m.block(declared, &[0..0x40]).unwrap();
    let inner = case.m.block(block, &[0..0x20]).unwrap();
    case.m.discriminator(inner, 3).unwrap();
    let nowhere = case.function("g");
    case.m.block(nowhere, &[0..0x20]).unwrap();
    // A call in the block is in the file of the block.
    let call = SourceLine::new(header, 6);
    let call = case.m.inlined(inner, nowhere, &[0..0x10], call).unwrap();
    case.m.describe_function(declared).unwrap().external().kernel();
    case.binding.function(declared, MAIN).scope(Position::start(MAIN, ENTRY), call);
    let described = case.finish();
    for set in Set::ALL {
        let mode = Mode::exact(set);
        described
            .emitted(&mode)
            .has("LexicalBlock </src/b.h> 0 0 f")
            .has("LexicalBlock </src/b.h> 0 0 block:0")
            .has("LexicalBlockDiscriminator </src/b.h> 3 block:0")
            .has("LexicalBlock </src/a.cl> 0 0 g")
            .lacks(&[]);
        is_clean(&described, &mode);
    }
    let mode = Mode::exact(Set::OpenCl).discriminators_as_scopes(true);
    is_clean(&described, &mode);
}
