//! Blocks, namespaces, discriminators, inlined calls and variables: sections 4.7 and 4.8.

use eitri::model::{ScopeKind, SourceLine};
use eitri::omission::{Omission, Reason, Unimported};
use eitri::spirv::{Attached, Fact, Facts, Field, InstructionName, Mode, Position, Set};
use eitri::spirv::{check, import, read};

use crate::spirv_lower::case::{Case, ENTRY, MAIN};

#[test]
fn blocks_and_namespaces() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    let outer = case.m.namespace(unit, "outer").unwrap();
    let inner = case.m.inline_namespace(outer, "inner").unwrap();
    case.m.anonymous_namespace(inner).unwrap();
    let at = case.line(1, 1);
    case.m.begins(outer, at).unwrap();
    let f = case.m.function(inner, "f").unwrap().code("f", 0x100).id();
    let block = case.m.block(f, &[0..0x20]).unwrap();
    let at = case.line(12, 5);
    case.m.begins(block, at).unwrap();
    case.m.variable(block, "x", int).unwrap();
    let described = case.finish();
    for set in Set::ALL {
        described
            .emitted(&Mode::exact(set))
            .has(r#"LexicalBlock </src/a.cl> 1 1 unit "outer""#)
            .has(match set {
                Set::Shader200 => r#"LexicalBlock </src/a.cl> 0 0 namespace:outer "inner" 1"#,
                _ => r#"LexicalBlock </src/a.cl> 0 0 namespace:outer "inner""#,
            })
            .has(r#"LexicalBlock </src/a.cl> 0 0 namespace:inner """#)
            .has("LexicalBlock </src/a.cl> 12 5 f")
            .has(r#"LocalVariable "x" int </src/a.cl> 0 0 block:12 None"#)
            .is_before(r#"LexicalBlock </src/a.cl> 0 0 namespace:outer"#, r#"Function "f""#)
            .lacks(match set {
                Set::Shader200 => &[],
                _ => &["unit `a.cl`: namespace `inner`: inline flag: no operand encodes this"],
            });
    }
}

#[test]
fn discriminators() {
    let mut case = Case::new();
    let f = case.function("f");
    case.m.describe_function(f).unwrap().kernel();
    let block = case.m.block(f, &[0..0x20]).unwrap();
    case.m.discriminator(block, 3).unwrap();
    case.binding.function(f, MAIN);
    case.binding.scope(Position::start(MAIN, ENTRY), block);
    let described = case.finish();
    for set in Set::ALL {
        let emitted = described.emitted(&Mode::exact(set));
        emitted.has("LexicalBlockDiscriminator </src/a.cl> 3 block:0").lacks(&[]);
        assert_eq!(scope(&emitted.words), "DebugLexicalBlock");
    }
    let mode = Mode::exact(Set::OpenCl).discriminators_as_scopes(true);
    let words = described.attached(&mode).unwrap().words;
    assert_eq!(scope(&words), "DebugLexicalBlockDiscriminator");
}

/// Scope of the only function.
fn scope(words: &[u32]) -> &'static str {
    let facts: Facts<'_> = read(words).expect("reads");
    let scopes: Vec<Fact<'_>> =
        facts.iter().filter(|fact| fact.name() == Some(InstructionName::Scope)).collect();
    let last = scopes.last().expect("a DebugScope");
    facts.named(last, Field::Scope).and_then(|of| of.name()).expect("is there").text()
}

#[test]
fn inlined_calls() {
    let mut case = Case::new();
    let int = case.int();
    let leaf = case.function("leaf");
    let x = case.m.parameter(leaf, "x", int).unwrap().id();
    let block = case.m.block(leaf, &[0x10..0x20]).unwrap();
    let y = case.m.variable(block, "y", int).unwrap().id();
    let middle = case.function("middle");
    let f = case.function("f");
    let first = case.line(20, 0);
    let second = case.line(30, 7);
    let outer = case.m.inlined(f, middle, &[0..0x80], first).unwrap();
    let inner = case.m.inlined(outer, leaf, &[0x10..0x40], second).unwrap();
    case.m.discriminator(inner, 2).unwrap();
    let instance = case.m.inlined_block(inner, block, &[0x20..0x30]).unwrap();
    case.m.inlined_variable(inner, x).unwrap();
    case.m.inlined_variable(instance, y).unwrap();
    let other = case.m.block(inner, &[0x10..0x14]).unwrap();
    case.m.variable(other, "z", int).unwrap();
    let described = case.finish();
    let left = "unit `a.cl`, function `f`: an inlined block: without an origin, it is encoded as the enclosing scope";
    let call = "unit `a.cl`, function `f`: the inlined call of `leaf` in line 30:";
    let own =
        "unit `a.cl`, function `f`, variable `z`: inlined call of the scope: function `leaf` is encoded";
    for set in Set::ALL {
        let emitted = described.emitted(&Mode::exact(set));
        let has_column = set == Set::Shader200;
        let discriminator = format!("{call} discriminator: no operand encodes this");
        let column = format!("{call} column: no operand encodes this");
        let mut left: Vec<&str> = vec![&discriminator, left, own];
        if !has_column {
            left.insert(1, &column);
        }
        emitted
            .has(if has_column { "InlinedAt 20 0 f" } else { "InlinedAt 20 f" })
            .has(if has_column { "InlinedAt 30 7 middle call:20" } else { "InlinedAt 30 middle call:20" })
            .has("InlinedVariable x call:30")
            .has("InlinedVariable y call:30")
            .has(r#"LocalVariable "x" int </src/a.cl> 0 0 leaf None 1"#)
            .has(r#"LocalVariable "y" int </src/a.cl> 0 0 block:0 None"#)
            // The scope belongs to the inlined function.
            .has(r#"LocalVariable "z" int </src/a.cl> 0 0 leaf None"#)
            .lacks(&left);
        assert_eq!(emitted.all(InstructionName::LexicalBlock), ["LexicalBlock </src/a.cl> 0 0 leaf"]);
        assert_eq!(emitted.all(InstructionName::LocalVariable).len(), 3);
    }
    // The translator's mode has the call in a block with a discriminator.
    let attached = described.attached(&Mode::translator()).unwrap();
    let left_out: Vec<_> = attached.omissions.iter().map(ToString::to_string).collect();
    let instance = |name: &str| {
        format!(
            "unit `a.cl`, function `f`, variable `{name}`: an inlined instance exists, and no value is \
             bound to it"
        )
    };
    // Contents of inlined calls appear in a DebugInlinedVariable or at a position only.
    let nothing = [
        format!("{call} no instruction belongs to it"),
        "unit `a.cl`, function `f`: an inlined block: no instruction belongs to it".to_owned(),
    ];
    let [x, y] = [instance("x"), instance("y")];
    let [no_call, no_block] = nothing;
    let all = [
        format!("{call} column: no operand encodes this"),
        left.to_owned(),
        x,
        y,
        no_call,
        no_block,
        own.to_owned(),
    ];
    assert_eq!(left_out, all);
    let facts = read(&attached.words).expect("reads");
    let names: Vec<_> = facts.iter().filter_map(|fact| fact.name()).collect();
    assert!(!names.contains(&InstructionName::InlinedVariable));
    assert_eq!(names.iter().filter(|&&name| name == InstructionName::LexicalBlockDiscriminator).count(), 1);
    described.emitted_as(&Mode::translator());
}

/// Where discriminators are scopes, that of a call is its scope.
#[test]
fn discriminators_of_calls() {
    let mut case = Case::new();
    let int = case.int();
    let leaf = case.function("leaf");
    let x = case.m.variable(leaf, "x", int).unwrap().id();
    let f = case.function("f");
    let start = Position::start(MAIN, ENTRY);
    // The last one contains only a call.
    let [block, bare, lone] = [(1, 3), (2, 4), (3, 9)].map(|(line, number)| {
        let block = case.m.block(f, &[]).unwrap();
        let at = case.line(line, 1);
        case.m.begins(block, at).unwrap();
        case.m.discriminator(block, number).unwrap();
        block
    });
    let body = case.m.block(f, &[]).unwrap();
    case.binding.function(f, MAIN).scope(start, block);
    for (scope, line, number) in [
        (block, 20, 5),
        (block, 21, 6),
        (block, 22, 0),
        (bare, 23, 0),
        (bare, 24, 7),
        (body, 25, 8),
        (lone, 26, 0),
    ] {
        let at = case.line(line, 0);
        let call = case.m.inlined(scope, leaf, &[], at).unwrap();
        case.m.discriminator(call, number).unwrap();
        let of_call = case.m.inlined_variable(call, x).unwrap().id();
        case.binding.value(start, of_call, &[]);
    }
    let described = case.finish();
    let mode = Mode::translator();
    described
        .emitted_as(&mode)
        .has("InlinedAt 20 discriminator:5")
        .has("InlinedAt 21 discriminator:6")
        .has("InlinedAt 22 discriminator:3")
        .has("InlinedAt 23 discriminator:4")
        .has("InlinedAt 24 discriminator:7")
        .has("InlinedAt 25 discriminator:8")
        .has("InlinedAt 26 discriminator:9")
        .has("LexicalBlockDiscriminator </src/a.cl> 8 block:0");
    // The words give each call its own discriminator.
    let Attached { words, omissions: left_out, .. } = described.attached(&mode).unwrap();
    let facts = read(&words).unwrap();
    let imported = import(&facts, described.module.target()).unwrap();
    let is_other = |left: &&Omission| left.reason == Reason::Unimported(Unimported::OwnBlock);
    assert_eq!(imported.omissions.iter().find(is_other), None);
    let calls = imported.module.scopes().filter_map(|(_, scope)| match scope.kind {
        ScopeKind::Inlined { call, .. } => Some((call.line, scope.discriminator)),
        _ => None,
    });
    let mut calls: Vec<_> = calls.collect();
    calls.sort_unstable();
    assert_eq!(calls, [(20, 5), (21, 6), (22, 0), (23, 0), (24, 7), (25, 8), (26, 9)]);
    // Another number is found.
    for fact in facts.iter().filter(|fact| fact.name() == Some(InstructionName::LexicalBlockDiscriminator)) {
        let mut words = words.clone();
        words[fact.at + 6] += 1;
        let checked = check(&described.module, &described.binding, &mode, &left_out, &words).unwrap();
        assert!(!checked.is_clean(), "{:?}", fact.operands);
    }
}

/// An instance of a block can have another discriminator than the block.
#[test]
fn discriminators_of_instances() {
    let mut case = Case::new();
    let int = case.int();
    let leaf = case.function("leaf");
    let block = case.m.block(leaf, &[]).unwrap();
    case.m.discriminator(block, 2).unwrap();
    let x = case.m.variable(block, "x", int).unwrap().id();
    let f = case.function("f");
    let start = Position::start(MAIN, ENTRY);
    case.binding.function(f, MAIN);
    for (line, number) in [(20, 2), (21, 3), (22, 0), (23, 4)] {
        let at = case.line(line, 0);
        let call = case.m.inlined(f, leaf, &[], at).unwrap();
        let instance = case.m.inlined_block(call, block, &[]).unwrap();
        case.m.discriminator(instance, number).unwrap();
        let of_call = case.m.inlined_variable(instance, x).unwrap().id();
        case.binding.scope(start, instance).value(start, of_call, &[]);
    }
    let described = case.finish();
    let mode = Mode::translator();
    let words = described.emitted_as(&mode).words;
    let imported = import(&read(&words).unwrap(), described.module.target()).unwrap();
    let scopes = imported.module.scopes().filter(|(_, scope)| scope.kind == ScopeKind::Block);
    let mut numbers: Vec<_> =
        scopes.map(|(_, scope)| (scope.origin.is_some(), scope.discriminator)).collect();
    numbers.sort_unstable();
    // None of the block's own instructions is present, so that the words do not determine its discriminator.
    assert_eq!(numbers, [(false, 0), (true, 0), (true, 2), (true, 3), (true, 4)]);
}

/// A call has a line, but no file.
#[test]
fn calls_in_other_files() {
    let mut case = Case::new();
    let header = case.m.file(case.unit, "b.h", None).unwrap();
    let leaf = case.function("leaf");
    let f = case.function("f");
    let at = SourceLine::new(header, 4);
    case.m.inlined(f, leaf, &[0..0x80], at).unwrap();
    case.exact().has("InlinedAt 4 f").lacks(&[
        "unit `a.cl`, function `f`: the inlined call of `leaf` in line 4: call file: it is not the file \
         of the enclosing scope",
        "unit `a.cl`, function `f`: the inlined call of `leaf` in line 4: no instruction belongs to it",
    ]);
}
