//! Refused bindings: an error names the variable or function, and the id. Nothing is returned.

use eitri::model::{FileId, FunctionId, ScopeId, SourceLine, VariableId};
use eitri::spirv::{
    Binding, DebugOperation, Id, InstructionName, Mode, Position, Provider, Set, attach, check, import, read,
};
use pretty_assertions::assert_eq;

use crate::spirv_attach::support::Case;

const SCALE: &str = "unit `scale.cl`, function `scale`";

/// Checks that the binding is refused with this text, in which `%name` is the id of a name.
fn refuses(case: &Case, say: impl FnOnce(&mut Binding), expected: &str) {
    let mut binding = case.bound();
    say(&mut binding);
    let mut words: Vec<String> = Vec::new();
    for word in expected.split(' ') {
        words.push(match word.strip_prefix('%') {
            Some(name) => {
                let end = name.find(|char: char| !char.is_alphanumeric()).unwrap_or(name.len());
                match name[..end].parse::<u32>() {
                    Ok(_) => word.to_owned(),
                    Err(_) => format!("{}{}", case.id(&name[..end]), &name[end..]),
                }
            }
            None => word.to_owned(),
        });
    }
    assert_eq!(case.refused(&binding), words.join(" "));
}

#[test]
fn functions_and_globals() {
    let case = Case::new();
    let f = |say: &dyn Fn(&mut Binding), expected: &str| refuses(&case, |binding| say(binding), expected);
    f(
        &|it| {
            it.function(case.scale, Id(900));
        },
        &format!("{SCALE}: the module has no %900"),
    );
    f(
        &|it| {
            it.function(case.scale, case.id("entry"));
        },
        &format!("{SCALE}: %entry is an OpLabel; expected an OpFunction"),
    );
    f(
        &|it| {
            it.function(case.scale, case.id("other"));
        },
        &format!("{SCALE}: %other already is the code of function `other`"),
    );
    f(
        &|it| {
            it.function(FunctionId::from_u32(9), case.id("scale"));
        },
        "the module has no function9",
    );
    let table = "unit `scale.cl`, variable `table`";
    f(
        &|it| {
            it.global(case.table, Id(0));
        },
        &format!("{table}: the module has no %0"),
    );
    f(
        &|it| {
            it.global(case.table, case.id("kind"));
        },
        &format!("{table}: %kind is an OpTypeFunction; expected an OpVariable or a constant"),
    );
    f(
        &|it| {
            it.global(case.table, case.id("var"));
        },
        &format!("{table}: %var is defined in a function"),
    );
    f(
        &|it| {
            it.global(VariableId::from_u32(99), case.id("table"));
        },
        "the module has no variable99",
    );
}

#[test]
fn positions() {
    let case = Case::new();
    let id = |name| case.id(name);
    let scale = id("scale");
    let n = format!("{SCALE}, variable `n`");
    let cases = [
        (Position::start(Id(900), id("entry")), "the module has no %900".to_owned()),
        (Position::start(id("entry"), id("entry")), "%entry is an OpLabel; expected an OpFunction".into()),
        (Position::start(scale, Id(901)), "the module has no %901".into()),
        (Position::start(scale, id("sum")), "%sum is an OpPhi; expected an OpLabel".into()),
        (Position::start(scale, id("single")), "%single is not a block of function %scale".into()),
        (
            Position::start(id("other"), id("single")),
            "the position is in %other, but its scope belongs to %scale".into(),
        ),
        (
            Position::before(id("other"), id("single"), 0),
            "the position is in %other, but its scope belongs to %scale".into(),
        ),
        (Position::after(id("v")), "the position is in %other, but its scope belongs to %scale".into()),
        (
            Position::before(scale, id("entry"), 5),
            "block %entry: index 5 is out of range; the block has 5 instructions".into(),
        ),
        (
            Position::before(scale, id("last"), u32::MAX),
            format!("block %last: index {} is out of range; the block has 2 instructions", u32::MAX),
        ),
        (
            Position::before(scale, id("entry"), 4),
            "block %entry: the position is between a merge instruction and the branch, where nothing can be"
                .into(),
        ),
        (Position::after(Id(902)), "the module has no %902".into()),
        (Position::after(id("u1")), "%u1 is defined outside the blocks of a function".into()),
        (Position::after(scale), "%scale is defined outside the blocks of a function".into()),
    ];
    for (position, expected) in cases {
        let say = |it: &mut Binding| {
            it.value(position, case.n, &[Provider::value(id("u1"))]);
        };
        refuses(&case, say, &format!("{n}: {expected}"));
    }
    // The position determines the function of a line.
    let say = |it: &mut Binding| {
        it.no_line(Position::before(scale, id("last"), 2));
    };
    refuses(
        &case,
        say,
        &format!("{SCALE}: block %last: index 2 is out of range; the block has 2 instructions"),
    );
}

/// A merge instruction, followed by the line of the branch.
#[test]
fn lines_between_a_merge_and_its_branch() {
    let text = crate::spirv_attach::support::KERNEL
        .replace("OpBranchConditional", "OpLine %names 3 1\n OpBranchConditional");
    let case = Case::of(&text);
    for index in [4, 5] {
        let say = |it: &mut Binding| {
            it.no_scope(case.before("entry", index));
        };
        let expected =
            "block %entry: the position is between a merge instruction and the branch, where nothing can be";
        refuses(&case, say, &format!("{SCALE}: {expected}"));
    }
}

/// Entities that the model lacks, or has elsewhere.
#[test]
fn entities_of_the_model() {
    let case = Case::new();
    let start = case.start("entry");
    let unit = case.module.scope(case.block).parent.and_then(|parent| case.module.scope(parent).parent);
    let unit = unit.expect("a function is in a unit");
    let f = |say: &dyn Fn(&mut Binding), expected: &str| refuses(&case, |binding| say(binding), expected);
    let provider = Provider::value(case.id("n"));
    f(
        &|it| {
            it.value(start, VariableId::from_u32(77), std::slice::from_ref(&provider));
        },
        &format!("{SCALE}: the module has no variable77"),
    );
    f(
        &|it| {
            it.scope(start, ScopeId::from_u32(77));
        },
        &format!("{SCALE}: the module has no scope77"),
    );
    let line = SourceLine::new(FileId::from_u32(7), 1);
    f(
        &|it| {
            it.line(start, line);
        },
        &format!("{SCALE}: the module has no file7"),
    );
    f(
        &|it| {
            it.scope(start, unit);
        },
        "unit `scale.cl`: the scope is not a function, block or inlined call",
    );
    f(
        &|it| {
            it.declare(start, case.table, provider.clone());
        },
        "unit `scale.cl`, variable `table`: the variable is not one of a function",
    );
    f(
        &|it| {
            it.global(case.n, case.id("table")).value(start, case.n, std::slice::from_ref(&provider));
        },
        &format!("{SCALE}, variable `n`: the variable has positions, but it has the global id %table"),
    );
    f(
        &|it| {
            it.global(case.v, case.id("table")).value(start, case.inner, std::slice::from_ref(&provider));
        },
        &format!(
            "{SCALE}, variable `v`: the variable has positions, but its origin has the global \
             id %table"
        ),
    );
    f(
        &|it| {
            it.value(start, case.v, std::slice::from_ref(&provider));
        },
        "unit `scale.cl`, function `other`, variable `v`: the position is in %scale, but its scope belongs to %other",
    );
    let mut unbound = Binding::new();
    unbound.scope(start, case.block);
    assert_eq!(case.refused(&unbound), format!("{SCALE}: the function is not bound to an OpFunction"));
}

/// Ids that cannot provide a variable.
#[test]
fn invalid_providers_are_refused() {
    let case = Case::new();
    let id = |name| case.id(name);
    let at = |variable: &str| format!("{SCALE}, variable `{variable}`");
    let value = |providers: &[Provider], expected: &str| {
        let say = |it: &mut Binding| {
            it.value(case.after("two"), case.sum, providers);
        };
        refuses(&case, say, &format!("{}: {expected}", at("sum")));
    };
    let pair = |providers: &[Provider], expected: &str| {
        let say = |it: &mut Binding| {
            it.value(case.after("two"), case.pair, providers);
        };
        refuses(&case, say, &format!("{}: {expected}", at("pair")));
    };
    let of = |name| Provider::value(id(name));
    value(&[Provider::value(Id(904))], "the module has no %904");
    value(&[of("then")], "%then is an OpLabel; expected a value");
    value(&[of("uint")], "%uint is an OpTypeInt; expected a value");
    value(&[of("scale")], "%scale is an OpFunction; expected a value");
    value(&[of("v")], "%v is defined in another function");
    let behind = "is defined after the position at which it is bound";
    value(&[of("three")], &format!("%three {behind}"));
    value(&[of("sum")], &format!("%sum {behind}"));
    let cells = |providers: &[Provider], expected: &str| {
        let say = |it: &mut Binding| {
            it.value(case.after("two"), case.cells, providers);
        };
        refuses(&case, say, &format!("{}: {expected}", at("cells")));
    };
    cells(&[of("two").part_by(id("sum"))], &format!("%sum {behind}"));
    cells(&[of("two").part_by(Id(905))], "the module has no %905");
    cells(&[of("two").part_by(id("is"))], "index %is is not an integer");
    cells(&[of("two").part(4)], "index 4 is out of range for type2, which has 4 members or elements");
    cells(&[of("two").part(3).part(2)], "index 2 is out of range for type2, which has 2 members or elements");
    cells(
        &[of("two").part(0).part(1).part(3)],
        "index 3 is out of range for type `pair`, which has 3 members or elements",
    );
    cells(&[of("two").part(0).part(1).part(2)], "the value %two needs 32 bits, but only 64 are available");
    cells(&[of("two").part(0).part(1)], "the value %two needs 96 bits, but only 64 are available");
    cells(&[of("two").part(0)], "the value %two needs 192 bits, but only 64 are available");
    cells(
        &[of("two").part(0).bits(160..224)],
        "the piece of %two needs 224 bits, but only 192 are available",
    );
    cells(
        &[of("n").part(1).part(0).part(1), of("two").part(1).bits(32..96)],
        "bits 224..288 in %two overlap bits 224..256 in %n; several values provide disjoint parts",
    );
    cells(
        &[of("two").part(0).bits(0..64), of("n").part(1).part_by(id("n")).part(0)],
        "the bits that %n provides are unknown; several values provide disjoint parts",
    );

    value(&[of("two")], "the value %two needs 32 bits, but only 64 are available");
    value(&[of("n").part(0)], "type `uint` has no members or elements");
    value(&[of("more").bits(0..16)], "the value %more needs 16 bits, but only 32 are available");
    value(&[of("more").taken(0..16)], "the value %more needs 32 bits, but only 16 are available");
    value(&[of("more").taken(16..48)], "what is taken of %more needs 48 bits, but only 32 are available");
    value(&[of("more").bits(0..0)], "piece of %more is 0 bits wide; expected at least 1");
    #[allow(clippy::reversed_empty_ranges)]
    value(&[of("more").bits(9..3)], "piece of %more is 0 bits wide; expected at least 1");
    pair(&[of("more")], "the value %more needs 96 bits, but only 32 are available");
    pair(&[of("more").bits(80..112)], "the piece of %more needs 112 bits, but only 96 are available");
    pair(
        &[of("two").bits(32..96), of("more").bits(64..96)],
        "bits 64..96 in %more overlap bits 32..96 in %two; several values provide disjoint parts",
    );
    pair(
        &[of("more").bits(0..32), of("two")],
        "%two provides the whole variable; several values provide disjoint parts",
    );
    value(
        &[Provider::expression(id("n"), &[DebugOperation::Plus])],
        "operation 0, Plus, takes 2 entries, but the stack has 1",
    );
    let part = DebugOperation::Fragment { offset: 16, size: 32 };
    value(
        &[Provider::expression(id("n"), &[part])],
        "the piece of %n needs 48 bits, but only 32 are available",
    );
    value(
        &[Provider::expression(id("n"), &[part, DebugOperation::Deref])],
        "operation 0, Fragment, is not the last operation",
    );

    let declare = |provider: Provider, expected: &str| {
        let say = |it: &mut Binding| {
            it.declare(case.after("two"), case.sum, provider);
        };
        refuses(&case, say, &format!("{}: {expected}", at("sum")));
    };
    declare(of("n"), "%n is an OpFunctionParameter; expected an OpVariable or a pointer parameter");
    declare(of("two"), "%two is an OpCompositeConstruct; expected an OpVariable or a pointer parameter");
    declare(of("var").bits(0..16), "the value %var needs 16 bits, but only 32 are available");
    let say = |it: &mut Binding| {
        it.declare(case.after("two"), case.pair, of("var"));
    };
    refuses(&case, say, &format!("{}: the value %var needs 96 bits, but only 32 are available", at("pair")));
}

/// Modules that cannot be attached to.
#[test]
fn modules() {
    let case = Case::new();
    let of = |words: &[u32]| {
        let mode = Mode::exact(Set::OpenCl);
        attach(words, &case.module, &case.bound(), &mode).expect_err("is refused").to_string()
    };
    assert_eq!(of(&[]), "this is not a SPIR-V module: its first word is not 0x07230203");
    let mut words = case.words.clone();
    words.truncate(words.len() - 3);
    assert!(of(&words).contains("the words end inside the instruction"));
    let mut words = case.words.clone();
    words[3] = 20;
    assert!(of(&words).ends_with("%21 is not below the id bound in the header, 20"), "{}", of(&words));
    // An OpExtInst without an instruction number.
    let mut words = case.words.clone();
    words.splice(5..5, [4 << 16 | 12, 1, 2, 3]);
    assert_eq!(of(&words), "word 5: OpExtInst has 4 words; expected at least 5");
    let mut words = case.words.clone();
    words[3] = u32::MAX;
    assert!(of(&words).ends_with("no id below 2^32 is left"), "{}", of(&words));
}

/// An instruction of another set has a result, but not a value.
#[test]
fn results_that_are_no_values() {
    let case = Case::new();
    let original = case.attach(&case.bound(), &Mode::exact(Set::Shader)).words;
    let mut words = original.clone();
    let facts = read(&original).expect("reads");
    let unit = facts
        .iter()
        .find(|it| it.name() == Some(InstructionName::CompilationUnit))
        .expect("is emitted")
        .result;
    // A set of another name: `.` is `_`.
    let import = facts.layout().sets().next().expect("is imported").0;
    let at = facts.layout().definition(import).expect("is defined").at;
    for word in &mut words[at + 2..at + 11] {
        *word = u32::from_le_bytes(word.to_le_bytes().map(|byte| if byte == b'.' { b'_' } else { byte }));
    }
    let mut binding = case.bound();
    binding.value(case.start("entry"), case.n, &[Provider::value(unit)]);
    let error = attach(&words, &case.module, &binding, &Mode::exact(Set::OpenCl)).expect_err("is refused");
    assert_eq!(error.to_string(), format!("{SCALE}, variable `n`: {unit} is an OpExtInst; expected a value"));
}

/// `%more` is of a block that not every path to the last block passes: attaching refuses it there, and importing lists it.
#[test]
fn values_that_do_not_dominate() -> eitri::Result<()> {
    let case = Case::new();
    let position = Position::start(case.id("scale"), case.id("last"));
    let facts = read(&case.words)?;
    let at = |name| facts.layout().definition(case.id(name)).expect("is there").at;
    // The position is behind the OpPhi, which has 7 words.
    let expected = format!(
        "{SCALE}, variable `n`: %more, defined at word {}, does not dominate its use at word {}",
        at("more"),
        at("sum") + 7
    );
    let say = |it: &mut Binding| {
        it.value(position, case.n, &[Provider::value(case.id("more"))]);
    };
    refuses(&case, say, &expected);

    let mut binding = case.bound();
    binding.value(position, case.n, &[Provider::value(case.id("sum"))]);
    let mut words = attach(&case.words, &case.module, &binding, &Mode::exact(Set::OpenCl))?.words;
    let facts = read(&words)?;
    let target = case.module.target().clone();
    let is_listed = |words: &[u32]| -> eitri::Result<bool> {
        let omissions = import(&read(words)?, &target)?.omissions;
        Ok(omissions.iter().any(|it| it.to_string().contains("does not dominate")))
    };
    assert!(!is_listed(&words)?);
    let value = facts.iter().find(|fact| fact.name() == Some(InstructionName::Value)).expect("is there");
    let operand = value.at + 6;
    assert_eq!(words[operand], case.id("sum").0);
    words[operand] = case.id("more").0;
    assert!(is_listed(&words)?);
    Ok(())
}

/// A binding that `attach` refuses is no binding to compare with either.
#[test]
fn check_refuses_unknown_ids() {
    let case = Case::new();
    let start = case.start("entry");
    let line = SourceLine::new(FileId::from_u32(99), 1);
    let provider = Provider::value(case.id("n"));
    type Say<'a> = &'a dyn Fn(&mut Binding);
    let calls: [(&str, Say<'_>); 6] = [
        ("function99", &|it| {
            it.function(FunctionId::from_u32(99), case.id("scale"));
        }),
        ("variable99", &|it| {
            it.global(VariableId::from_u32(99), case.id("table"));
        }),
        ("file99", &|it| {
            it.line(start, line);
        }),
        ("scope99", &|it| {
            it.scope(start, ScopeId::from_u32(99));
        }),
        ("variable99", &|it| {
            it.declare(start, VariableId::from_u32(99), provider.clone());
        }),
        ("variable99", &|it| {
            it.value(start, VariableId::from_u32(99), std::slice::from_ref(&provider));
        }),
    ];
    for (name, call) in calls {
        let mut binding = case.bound();
        call(&mut binding);
        let checked = check(&case.module, &binding, &Mode::exact(Set::Shader), &[], &case.words);
        assert_eq!(checked.expect_err("is refused").to_string(), format!("the module has no {name}"));
    }
}

/// Equal entities have equal numbers in both modules, so that only the ids' builders differ.
#[cfg(debug_assertions)]
#[test]
fn ids_of_another_builder() {
    let case = Case::new();
    let other = Case::new();
    let start = case.start("entry");
    let line = SourceLine::new(other.file, 1);
    let unit = other.module.units().next().expect("there is one").0;
    let provider = Provider::value(case.id("n"));
    type Say<'a> = &'a dyn Fn(&mut Binding);
    let calls: [(&str, Say<'_>); 7] = [
        ("an id in the binding", &|it| {
            it.function(other.scale, case.id("scale"));
        }),
        ("an id in the binding", &|it| {
            it.global(other.table, case.id("table"));
        }),
        ("an id in the binding", &|it| {
            it.language(unit, 10);
        }),
        ("file0", &|it| {
            it.line(start, line);
        }),
        (&other.block.to_string(), &|it| {
            it.scope(start, other.block);
        }),
        (&other.n.to_string(), &|it| {
            it.declare(start, other.n, provider.clone());
        }),
        (&other.n.to_string(), &|it| {
            it.value(start, other.n, std::slice::from_ref(&provider));
        }),
    ];
    for (name, call) in calls {
        let mut binding = case.bound();
        call(&mut binding);
        let expected = format!("{name} belongs to another builder");
        let refused = case.refused(&binding);
        assert!(refused.ends_with(&expected), "{refused}");
        let unwritten = binding.to_json(&case.module).expect_err("is refused").to_string();
        assert!(unwritten.ends_with(&expected), "{unwritten}");
        let unchecked = check(&case.module, &binding, &Mode::exact(Set::Shader), &[], &case.words);
        let unchecked = unchecked.expect_err("is refused").to_string();
        assert!(unchecked.ends_with(&expected), "{unchecked}");
    }
    // The binding of the module itself and of a copy is accepted.
    let module = case.module.clone();
    case.bound().to_json(&module).expect("a description");
}
