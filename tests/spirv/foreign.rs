//! Modules of other producers: what they say is raised, attached again and checked. `foreign/README.md` says how they
//! were made.

use eitri::model::{Module, VariableId};
use eitri::spirv::{
    Facts, Held, Index, Mode, OPERATIONS, Raised, Set, Statement, Words, attach, from_bytes, raise, read,
    validate,
};
use eitri::target::Target;
use pretty_assertions::assert_eq;

use crate::tools::{Folder, Ran};
use crate::{SPIRV_VAL, bytes};

const LINE: u16 = 8;
const NO_LINE: u16 = 317;

/// A module, and which part of which variable each of its `DebugDeclare` and `DebugValue` is about: typed from the
/// text of `spirv-dis`.
struct Foreign {
    name: &'static str,
    bytes: &'static [u8],
    held: &'static [&'static str],
}

fn raised(facts: &Facts<'_>) -> Raised {
    raise(facts, &Target::x86_64()).expect("can be described")
}

/// The module without debug instructions, `OpLine` and `OpNoLine`.
fn plain(words: &[u32]) -> Vec<u32> {
    let facts = read(words).expect("reads");
    let mut plain = words[..5].to_vec();
    for instruction in Words::new(words).expect("is a module").instructions() {
        if facts.fact(instruction).is_none() && !matches!(instruction.opcode(), LINE | NO_LINE) {
            plain.extend(instruction.words);
        }
    }
    plain
}

/// What holds variables, in order.
fn held(raised: &Raised) -> Vec<String> {
    let Raised { module, binding, .. } = raised;
    let mut all = Vec::new();
    for (_, statement) in binding.statements() {
        let (variable, held, how) = match *statement {
            Statement::Declare { variable, held } => (variable, &binding.held()[held as usize..][..1], "at"),
            Statement::Value { variable, held, count } => {
                (variable, &binding.held()[held as usize..][..count as usize], "=")
            }
            Statement::Scope(_) | Statement::Line(_) => continue,
        };
        let name = name(module, variable);
        all.extend(
            held.iter().map(|held| format!("{name}{} {how} {}", indexes(held), what(held, how == "at"))),
        );
        if held.is_empty() {
            all.push(format!("{name} = nothing"));
        }
    }
    all
}

fn indexes(held: &Held) -> String {
    let index = |index: &Index| match index {
        Index::Number(number) => format!("[{number}]"),
        Index::Id(id) => format!("[{id}]"),
    };
    held.indexes().iter().map(index).collect()
}

fn what(held: &Held, is_declared: bool) -> String {
    let mut text = held.id().to_string();
    for operation in held.operations(is_declared) {
        text += &format!(" {}", OPERATIONS[operation.number() as usize].name);
    }
    text
}

impl Foreign {
    /// What is raised is what was typed; it is attached again, and says the same.
    fn says_what_was_typed(&self) {
        let words = from_bytes(self.bytes).expect("is a module");
        let raised = raised(&read(&words).expect("reads"));
        let plain = plain(&words);
        for mode in Set::ALL.into_iter().filter(|set| set.is_shader()).map(Mode::exact) {
            let attached = attach(&plain, &raised.module, &raised.binding, &mode);
            let attached = attached.unwrap_or_else(|error| panic!("{}: {error}", self.name));
            let facts = read(&attached.words).expect("reads");
            let report = validate(&facts);
            assert!(report.is_clean(), "{}: {report}", self.name);
            let checked = attached.check(&raised.module, &raised.binding, &mode).expect("reads");
            assert!(checked.is_clean(), "{}: {checked}", self.name);
            // A `DebugDeclare` names an OpVariable: what a parameter points to is a value.
            let said = |line: &&str| line.replace("at %38", "= %38 Deref");
            let expected: Vec<_> = self.held.iter().map(said).collect();
            assert_eq!(held(&self::raised(&facts)), expected, "{}, again", self.name);
            if let Some(ran) = tool_says(&attached.words) {
                ran.clean();
            }
        }
        assert_eq!(held(&raised), self.held, "{}", self.name);
    }
}

fn tool_says(words: &[u32]) -> Option<Ran> {
    let folder = Folder::new();
    SPIRV_VAL.run(&[folder.file("a.spv", bytes(words))])
}

#[test]
fn glslang() {
    let held = &["at at %71", "cell at %107", "turn at %175", "range at %38"];
    Foreign { name: "glslang", bytes: include_bytes!("foreign/glslang.spv"), held }.says_what_was_typed();
}

/// `spirv-opt` replaces the members of a structure by a value each. What it leaves of `range` is in no scope that it is
/// inlined in.
#[test]
#[should_panic(expected = "an OpTypeInt, has no parts")]
fn glslang_optimized() {
    let held = &[
        "at = %84",
        "cell[0] = %112",
        "cell[1][0] = %131",
        "cell[1][1] = %138",
        "cell[2] = %147",
        "cell[3][0] = %302",
        "cell[3][1] = %164",
        "turn = nothing",
        "turn = %421",
    ];
    let bytes = include_bytes!("foreign/glslang.opt.spv");
    Foreign { name: "glslang.opt", bytes, held }.says_what_was_typed();
}

/// Slang says of each assignment which part of the variable it is to.
#[test]
#[should_panic(expected = "an OpTypeInt, has no parts")]
fn slang() {
    let held = &[
        "id at %16",
        "id = %59",
        "at at %18",
        "at = %73",
        "cell at %27",
        "cell[0] = %114",
        "cell[1][0] = %139",
        "cell[1][1] = %150",
        "cell[2] = %162",
        "cell[3][0] = %175",
        "cell[3][1] = %217",
        "turn at %34",
        "turn[0] = %247",
        "turn[1] = %256",
        "turn[1][0] = %264",
        "range at %180",
        "range[0] = %192",
        "range[1] = %196",
    ];
    Foreign { name: "slang", bytes: include_bytes!("foreign/slang.spv"), held }.says_what_was_typed();
}

/// `cell[3]` is where an `OpUndef` points to, and the members of `range` are an `OpUndef` each: nothing is known of a part,
/// and nothing is said of the others.
#[test]
#[should_panic(expected = "range = nothing")]
fn slang_optimized() {
    let held =
        &["cell[3] = %584 Deref", "id = nothing", "range[0] = %586", "range[1] = %586", "turn = nothing"];
    Foreign { name: "slang.opt", bytes: include_bytes!("foreign/slang.opt.spv"), held }.says_what_was_typed();
}

/// The name of a variable; of an instance of an inlined one, that of what it is an instance of.
fn name(module: &Module, id: VariableId) -> &str {
    let variable = module.variable(id);
    match (variable.name, variable.origin) {
        (Some(name), _) => module.string(name),
        (None, Some(origin)) => name(module, origin),
        (None, None) => "",
    }
}
