//! Instructions in functions, and their positions.

use eitri::spirv::{Binding, DebugOperation, Mode, Provider, Set, Statement, attach, import, read, strip};
use pretty_assertions::assert_eq;

use crate::spirv_attach::support::{Case, lines};

/// A function's own scope applies from its first block on, and is repeated in each block.
#[test]
fn a_bound_function_has_its_scope_in_every_block() {
    let case = Case::new();
    let expected = lines(
        "
        entry:
          var
        scope scale
          op 62
          is
          op 247
          op 250
        then:
        scope scale
          more
          two
          three
          op 249
        last:
          sum
        scope scale
          op 254
        ",
    );
    let binding = case.bound();
    assert_eq!(case.shown(&binding, &Mode::exact(Set::OpenCl)), expected);
    let mut expected = expected;
    expected.insert(2, "defines scale scale".into());
    assert_eq!(case.shown(&binding, &Mode::exact(Set::Shader)), expected);
}

/// Scope and line apply until the next statement, in the order of the words; each block repeats them. At one position
/// they precede instructions for variables, and nothing is repeated within a block.
#[test]
fn scopes_and_lines_hold_until_the_next() {
    let case = Case::new();
    let mut binding = case.bound();
    binding
        .value(case.start("then"), case.n, &[Provider::value(case.id("n"))])
        .line(case.start("then"), case.line(4))
        .scope(case.start("then"), case.block)
        .scope(case.after("more"), case.block)
        .line(case.after("more"), case.line(4))
        .line(case.before("entry", 2), case.line(2))
        .declare(case.after("var"), case.n, Provider::value(case.id("var")))
        .line(case.start("last"), case.line(4))
        .no_scope(case.before("last", 1))
        .no_line(case.before("last", 1));
    let mut binding_again = binding.clone();
    // Repeated statements have no effect.
    binding_again.scope(case.after("two"), case.block).line(case.before("then", 2), case.line(4));
    let expected = lines(
        "
        entry:
          var
        scope scale
        declare n var
          op 62
        line scale.cl:2:5
          is
          op 247
          op 250
        then:
        scope block
        line scale.cl:4:5
        value n n
          more
          two
          three
          op 249
        last:
          sum
          op 254
        ",
    );
    for binding in [&binding, &binding_again] {
        assert_eq!(case.shown(binding, &Mode::exact(Set::OpenCl)), expected);
    }
    let mut shader = expected;
    shader.iter_mut().for_each(|line| *line = line.replace("scale.cl:", ""));
    shader.insert(2, "defines scale scale".into());
    assert_eq!(case.shown(&binding, &Mode::exact(Set::Shader)), shader);
}

/// The ends of scope and line are emitted only where one is in force in the block.
#[test]
fn an_end_is_said_where_something_held() {
    let case = Case::new();
    let mut binding = case.bound();
    binding
        .line(case.start("entry"), case.line(2))
        .no_scope(case.after("is"))
        .no_line(case.after("is"))
        .scope(case.after("two"), case.deep);
    let expected = lines(
        "
        entry:
          var
        scope scale
        line scale.cl:2:5
          op 62
          is
        no scope
        no line
          op 247
          op 250
        then:
          more
          two
        scope other at 10 at 7
          three
          op 249
        last:
          sum
        scope other at 10 at 7
          op 254
        ",
    );
    assert_eq!(case.shown(&binding, &Mode::exact(Set::OpenCl)), expected);
}

/// Existing lines of the module stay; after them, the line of the binding is repeated if it is requested there.
#[test]
fn lines_of_the_module_stay() {
    let text = crate::spirv_attach::support::KERNEL
        .replace("names.cl", "scale.cl")
        .replace("%is = OpIEqual", "OpLine %names 77 1\n %is = OpIEqual");
    let case = Case::of(&text);
    let mut binding = case.bound();
    binding
        .line(case.start("entry"), case.line(2))
        .scope(case.after("is"), case.block)
        .line(case.before("entry", 4), case.line(2));
    let shown = case.shown(&binding, &Mode::exact(Set::OpenCl));
    let expected = lines(
        "
        entry:
          var
        scope scale
        line scale.cl:2:5
          op 62
        line scale.cl:77:1
          is
        scope block
        line scale.cl:2:5
          op 247
        ",
    );
    assert_eq!(shown[..expected.len()], expected);
    // Without line statements, existing lines are unchanged.
    let shown = case.shown(&case.bound(), &Mode::exact(Set::OpenCl));
    assert_eq!(shown.iter().filter(|line| line.contains("line")).collect::<Vec<_>>(), ["line scale.cl:77:1"]);
}

/// An existing line may be in a file that nothing else refers to, or in a described file with text.
#[test]
fn lines_of_the_module_are_of_its_own_files() {
    let text =
        crate::spirv_attach::support::KERNEL.replace("%is = OpIEqual", "OpLine %names 77 1\n %is = OpIEqual");
    let case = Case::of(&text);
    for set in Set::ALL {
        let shown = case.shown(&case.bound(), &Mode::exact(set));
        let lines: Vec<&String> = shown.iter().filter(|line| line.contains("line")).collect();
        assert_eq!(lines, ["line names.cl:77:1"]);
    }
}

/// A line directly before an existing line applies up to it.
#[test]
fn a_line_right_before_one_of_the_module() {
    let text =
        crate::spirv_attach::support::KERNEL.replace("%is = OpIEqual", "OpLine %names 77 1\n %is = OpIEqual");
    let case = Case::of(&text);
    let at = |index| case.before("entry", index);
    let shown = |binding: &Binding| {
        let shown = case.shown(binding, &Mode::exact(Set::OpenCl));
        shown[3..shown.iter().position(|line| line == "  op 247").expect("is there")].to_vec()
    };
    // The `OpLine` is instruction 2.
    let mut binding = case.bound();
    binding.line(at(1), case.line(2)).no_line(at(2));
    let expected = ["line scale.cl:2:5", "  op 62", "no line", "line names.cl:77:1", "  is"];
    assert_eq!(shown(&binding), expected);
    let mut binding = case.bound();
    binding.line(at(2), case.line(2));
    assert_eq!(shown(&binding), ["  op 62", "line scale.cl:2:5", "line names.cl:77:1", "  is"]);
    // A statement after it is a different one.
    let attached = case.attach(&binding, &Mode::exact(Set::OpenCl));
    let mut other = case.bound();
    other.line(at(3), case.line(2));
    let checked = attached.check(&case.module, &other, &Mode::exact(Set::OpenCl)).expect("reads");
    assert_eq!(checked.differences.len(), 1, "{checked}");
    // After it, for any order of calls.
    let mut binding = case.bound();
    binding.line(at(3), case.line(3)).no_line(at(2)).line(at(1), case.line(2));
    let expected =
        ["line scale.cl:2:5", "  op 62", "no line", "line names.cl:77:1", "line scale.cl:3:5", "  is"];
    assert_eq!(shown(&binding), expected);
    // At the start of a block, before the existing line; after a value.
    let text =
        crate::spirv_attach::support::KERNEL.replace("%two = OpCom", "OpLine %names 77 1\n %two = OpCom");
    let text = text.replace("OpStore", "OpLine %names 78 1\n OpStore");
    let case = Case::of(&text);
    let mut binding = case.bound();
    binding.line(case.start("entry"), case.line(2)).line(case.after("more"), case.line(3));
    let shown = case.shown(&binding, &Mode::exact(Set::OpenCl));
    let expected = lines(
        "
        entry:
          var
        scope scale
        line scale.cl:2:5
        line names.cl:78:1
          op 62
          is
          op 247
          op 250
        then:
        scope scale
        line scale.cl:2:5
          more
        line scale.cl:3:5
        line names.cl:77:1
          two
        ",
    );
    assert_eq!(shown[..expected.len()], expected);
}

/// An `OpLine` before the `OpPhi` of a block applies to the following instructions: a line from an earlier block is
/// not repeated there.
#[test]
fn a_line_at_the_start_of_a_block_stays() {
    let text = crate::spirv_attach::support::KERNEL
        .replace("names.cl", "scale.cl")
        .replace("%sum = OpPhi", "OpLine %names 77 1\n %sum = OpPhi");
    let case = Case::of(&text);
    for line in [Some(case.line(2)), None] {
        let mut binding = case.bound();
        match line {
            Some(line) => binding.line(case.start("entry"), line),
            None => binding.line(case.start("entry"), case.line(2)).no_line(case.start("then")),
        };
        let shown = case.shown(&binding, &Mode::exact(Set::OpenCl));
        let last = shown.iter().position(|line| line == "last:").expect("is there");
        let expected = lines(
            "
            last:
            line scale.cl:77:1
              sum
            scope scale
              op 254
            ",
        );
        assert_eq!(shown[last..], expected);
    }
}

/// An `OpLine` between two blocks applies up to the end of the second.
#[test]
fn a_line_between_two_blocks_holds_in_the_second() {
    let text = crate::spirv_attach::support::KERNEL
        .replace("names.cl", "scale.cl")
        .replace("%last = OpLabel", "OpLine %names 77 1\n %last = OpLabel");
    let case = Case::of(&text);
    let mut binding = case.bound();
    binding.line(case.start("then"), case.line(2)).line(case.after("sum"), case.line(3));
    let mut of_sum = case.bound();
    of_sum.line(case.start("then"), case.line(2));
    for (binding, own) in [(&binding, &["line scale.cl:3:5"][..]), (&of_sum, &[])] {
        let shown = case.shown(binding, &Mode::exact(Set::OpenCl));
        let last = shown.iter().position(|line| line == "last:").expect("is there");
        let expected =
            [&["line scale.cl:77:1", "last:", "  sum", "scope scale"], own, &["  op 254"]].concat();
        assert_eq!(shown[last - 1..], expected);
    }
    // The positions of other statements do not determine lines.
    let words = case.attach(&of_sum, &Mode::exact(Set::OpenCl)).words;
    let imported = import(&read(&words).expect("reads"), case.module.target()).expect("is a model");
    let lines = imported.binding.statements().iter().filter_map(|&(position, statement)| match statement {
        Statement::Line(line) => Some((position, line.map(|line| line.line))),
        _ => None,
    });
    assert_eq!(
        lines.collect::<Vec<_>>(),
        [(case.before("then", 0), Some(2)), (case.before("last", 1), Some(77))]
    );
}

/// An `OpLine` before an `OpFunction` belongs to the function.
#[test]
fn a_line_before_the_first_function_stays_with_it() {
    let text = crate::spirv_attach::support::KERNEL.replacen(
        "%scale = OpFunction",
        "OpLine %names 1 1\n %scale = OpFunction",
        1,
    );
    let case = Case::of(&text);
    for set in Set::ALL {
        let attached = case.attach(&case.bound(), &Mode::exact(set));
        assert_eq!(attached.detach().expect("is whole"), case.words);
        let facts = read(&attached.words).expect("reads");
        let words = facts.layout().words();
        let lines: Vec<_> = words.instructions().filter(|it| it.opcode() == 8).map(|it| it.at + 4).collect();
        assert_eq!(lines, [facts.layout().functions()[0].at.start]);
    }
}

/// Only the scope identifies the inlined call of a value.
#[test]
fn variables_are_said_in_a_scope_of_their_own_call() {
    let case = Case::new();
    let mut binding = case.bound();
    binding
        .value(case.after("more"), case.inner, &[Provider::value(case.id("more"))])
        .value(case.after("more"), case.sum, &[Provider::value(case.id("more"))])
        .no_scope(case.start("last"))
        .value(case.start("last"), case.sum, &[Provider::value(case.id("sum"))]);
    let expected = lines(
        "
        then:
        scope scale
          more
        scope other at 7
        value v more
        scope scale
        value sum more
          two
          three
          op 249
        last:
          sum
        scope block
        value sum sum
        no scope
          op 254
        ",
    );
    let shown = case.shown(&binding, &Mode::exact(Set::OpenCl));
    assert_eq!(shown[shown.len() - expected.len()..], expected);
}

/// Values of one variable in several ids, parts of values, addresses, and computed values.
#[test]
fn providers_are_written_as_expressions() {
    let case = Case::new();
    let id = |name| case.id(name);
    let all: &[(&[Provider], &[&str])] = &[
        (&[Provider::value(id("more"))], &["value sum more"]),
        (&[Provider::pointer(id("out"))], &["value sum out Deref"]),
        (
            &[Provider::pointer(id("out")).plus(8).in_space(1)],
            &["value sum out PlusUconst 8 Constu 1 Swap Xderef"],
        ),
        (&[Provider::value(id("n")).plus(-1)], &["value sum n Constu 1 Minus StackValue"]),
        (&[Provider::value(id("two")).taken(32..64)], &["value sum two BitPiece 32 32"]),
        (
            &[
                Provider::value(id("more")).bits(16..32).taken(0..16),
                Provider::pointer(id("var")).bits(0..16),
            ],
            &["value sum more BitPiece 0 16 Fragment 16 16", "value sum var Deref Fragment 0 16"],
        ),
        (&[Provider::value(id("table")).plus(4)], &["value sum table PlusUconst 4 StackValue"]),
        (
            &[Provider::expression(id("n"), &[DebugOperation::Constu(3), DebugOperation::Plus])],
            &["value sum n Constu 3 Plus"],
        ),
        (&[], &["value sum new"]),
    ];
    for set in Set::ALL {
        for (providers, expected) in all {
            let mut binding = case.bound();
            binding.value(case.after("three"), case.sum, providers);
            let shown = case.shown(&binding, &Mode::exact(set));
            let values: Vec<&String> = shown.iter().filter(|line| line.starts_with("value")).collect();
            assert_eq!(values, *expected);
        }
    }
}

/// Parts of a split structure: by bits, members, and elements. A mode without indexes uses the equivalent bits.
#[test]
fn a_structure_in_several_ids() {
    let case = Case::new();
    let id = |name| case.id(name);
    let [n, two, more] = ["n", "two", "more"].map(|name| Provider::value(case.id(name)));
    let pair = case.pair;
    let cells = case.cells;
    #[rustfmt::skip]
    let all: &[(_, &[Provider], &[&str], &[&str])] = &[
        (pair, &[n.clone().bits(0..32), two.clone().bits(32..96)],
            &["value pair n Fragment 0 32", "value pair two Fragment 32 64"],
            &["value pair n Fragment 0 32", "value pair two Fragment 32 64"]),
        (pair, &[n.clone().part(2), more.clone().part(0), two.clone().taken(32..64).part(1).bits(0..32)],
            &["value pair n [2]", "value pair more [0]", "value pair two BitPiece 32 32 Fragment 0 32 [1]"],
            &["value pair n Fragment 64 32", "value pair more Fragment 0 32", "value pair new Fragment 32 32"]),
        (cells, &[Provider::pointer(id("out")).part(2).part(1).part(0)],
            &["value cells out Deref [2] [1] [0]"],
            &["value cells out Deref Fragment 480 32"]),
        (cells, &[more.clone().taken(8..16).part(1).part_by(id("u1")).part(2).bits(16..24)],
            &["value cells more BitPiece 8 8 Fragment 16 8 [1] [1] [2]"],
            &["value cells new Fragment 368 8"]),
        (cells, &[n.clone().part(3).part_by(id("n")).part(2)],
            &["value cells n [3] [n] [2]"],
            &["value cells new Fragment 576 192"]),
        (cells, &[Provider::pointer(id("out")).part_by(id("n"))], &["value cells out Deref [n]"], &["value cells new"]),
    ];
    for (variable, providers, exact, translator) in all {
        let mut binding = case.bound();
        binding.value(case.after("three"), *variable, providers);
        let values = |mode: &Mode| -> Vec<String> {
            let checked = case.attach(&binding, mode).check(&case.module, &binding, mode).expect("reads");
            assert!(checked.is_clean(), "{checked}");
            case.shown(&binding, mode).into_iter().filter(|line| line.starts_with("value")).collect()
        };
        assert_eq!(values(&Mode::exact(Set::OpenCl)), *exact);
        assert_eq!(values(&Mode::exact(Set::Shader)), *exact);
        assert_eq!(values(&Mode::translator()), *translator);
    }
}

/// A parameter that is a pointer is not an `OpVariable`: its target is described as a value.
#[test]
fn declarations_of_parameters() {
    let case = Case::new();
    let mut binding = case.bound();
    binding
        .declare(case.after("out"), case.n, Provider::value(case.id("out")))
        .declare(case.start("entry"), case.sum, Provider::value(case.id("out")).plus(4).bits(0..16))
        .declare(case.start("entry"), case.pair, Provider::pointer(case.id("var")));
    let shown = case.shown(&binding, &Mode::exact(Set::OpenCl));
    let values: Vec<&String> =
        shown.iter().filter(|line| line.contains("out") || line.contains("var ")).collect();
    assert_eq!(
        values,
        ["value n out Deref", "value sum out PlusUconst 4 Deref Fragment 0 16", "declare pair var Deref"]
    );
}

/// Indexes that a mode cannot encode are omitted, and earlier values of the part end.
#[test]
fn indexes_that_a_mode_has_not() {
    let case = Case::new();
    let mut binding = case.bound();
    binding.value(
        case.after("two"),
        case.cells,
        &[Provider::value(case.id("more")).part(1).part_by(case.id("n")).part(0)],
    );
    let mode = Mode::validating(Set::OpenCl);
    let shown = case.shown(&binding, &mode);
    assert!(shown.contains(&"value cells new [1]".into()), "{shown:#?}");
    let attached = case.attach(&binding, &mode);
    let left: Vec<_> = attached.omissions.iter().map(ToString::to_string).collect();
    let index = format!(
        "unit `scale.cl`, function `scale`, variable `cells`: {} is the element {} of it: the validating mode has \
         no index known at run time",
        case.id("more"),
        case.id("n")
    );
    let deep = "unit `scale.cl`, function `scale`: the inlined call of `other` in line 10: no instruction belongs \
                to it";
    assert_eq!(left, [deep, &index]);
    // In declarations only some sets have indexes; otherwise the equivalent bits are used.
    let mut binding = case.bound();
    binding.declare(case.after("var"), case.pair, Provider::value(case.id("var")).part(1));
    let expected = [(Set::OpenCl, "Fragment 32 32"), (Set::Shader, "[1]"), (Set::Shader101, "[1]")];
    for (set, part) in expected {
        let shown = case.shown(&binding, &Mode::exact(set));
        assert!(shown.contains(&format!("declare pair var {part}")), "{set:?}: {shown:#?}");
    }
    // The bits of an element with a run-time index are unknown.
    let mut binding = case.bound();
    binding.declare(
        case.after("var"),
        case.cells,
        Provider::value(case.id("var")).part(0).part_by(case.id("n")).part(0),
    );
    let attached = case.attach(&binding, &Mode::exact(Set::OpenCl));
    let left: Vec<_> = attached.omissions.iter().map(ToString::to_string).collect();
    let whole = format!(
        "unit `scale.cl`, function `scale`, variable `cells`: {} is a part of it: DebugDeclare of \
         OpenCL.DebugInfo.100 has no indexes, and the bits are unknown",
        case.id("var")
    );
    assert_eq!(left, [deep, &whole]);
}

/// Existing strings, types and constants of the module are reused.
#[test]
fn existing_instructions_are_reused() {
    let case = Case::new();
    let attached = case.attach(&case.bound(), &Mode::exact(Set::Shader));
    let facts = read(&attached.words).expect("reads");
    let words = facts.layout().words();
    for (opcode, operands) in [(19, &[][..]), (21, &[32, 0])] {
        assert_eq!(
            words.instructions().filter(|it| it.opcode() == opcode && it.operands() == operands).count(),
            1
        );
    }
    let ones = words.instructions().filter(|it| it.opcode() == 43 && it.operands() == [1]);
    assert_eq!(ones.count(), 1);
    let mut strings: Vec<_> =
        words.instructions().filter(|it| it.opcode() == 7).map(|it| it.operands()).collect();
    let all = strings.len();
    strings.sort();
    strings.dedup();
    assert_eq!(strings.len(), all);
}

/// A module can contain both sets, attached in sequence.
/// A module has debug instructions of one set: those of another are stripped first.
#[test]
fn second_set_is_refused_until_the_first_is_stripped() {
    let case = Case::new();
    let binding = case.bound();
    let first = case.attach(&binding, &Mode::exact(Set::OpenCl));
    let second = case.attach(&binding, &Mode::exact(Set::Shader));
    for (set, attached) in [(Set::OpenCl, &first), (Set::Shader, &second)] {
        for other in Set::ALL {
            let error = attach(&attached.words, &case.module, &binding, &Mode::exact(other));
            let error = error.expect_err("instructions are there").to_string();
            let expected = format!("the module already has {} instructions", set.name());
            assert!(error.ends_with(&expected), "{error}");
        }
        let stripped = strip(&attached.words).expect("is a module");
        let again = attach(&stripped, &case.module, &binding, &Mode::exact(set)).expect("is attached");
        let count = |words: &[u32]| read(words).expect("reads").iter().count();
        assert_eq!(count(&again.words), count(&attached.words));
    }
}

/// `OpLine` is available for all sets, `DebugLine` for one.
#[test]
fn lines_as_the_mode_has_them() {
    let case = Case::new();
    let mut binding = case.bound();
    binding.line(case.start("last"), case.line(4)).no_line(case.after("sum"));
    let shown = |binding: &Binding, mode: &Mode| {
        let shown = case.shown(binding, mode);
        shown.into_iter().filter(|line| line.contains("line")).collect::<Vec<_>>()
    };
    // At one position the last line applies; ending nothing emits nothing.
    assert_eq!(shown(&binding, &Mode::exact(Set::Shader)), [""; 0]);
    binding.line(case.start("last"), case.line(5));
    let mode = Mode::exact(Set::Shader).lines_as_debug_lines(false);
    assert_eq!(shown(&binding, &mode), ["line scale.cl:5:5"]);
    assert_eq!(shown(&binding, &Mode::exact(Set::Shader)), ["line 5:5"]);
    let mode = Mode::exact(Set::OpenCl).lines_as_debug_lines(true);
    let error = attach(&case.words, &case.module, &binding, &mode).expect_err("there is none");
    assert_eq!(error.to_string(), "OpenCL.DebugInfo.100 has no DebugLine");
}
