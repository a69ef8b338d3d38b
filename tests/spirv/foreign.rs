//! Modules of other producers: read back, attached again and checked. `foreign/README.md` describes how they were
//! made.

use std::ops::Range;

use eitri::model::{Module, TypeId, VariableId};
use eitri::spirv::{
    Facts, ImportedModule, Index, Mode, OPERATIONS, Provider, Set, Statement, Words, attach, from_bytes,
    import, read, validate,
};
use eitri::target::Target;
use pretty_assertions::assert_eq;

use crate::spirv::tools::{Folder, Ran};
use crate::spirv::{SPIRV_VAL, bytes};

const SOURCE: u16 = 3;
const NAME: u16 = 5;
const LINE: u16 = 8;
const NO_LINE: u16 = 317;

/// A module, with the part of a variable that each of its `DebugDeclare` and `DebugValue` describes, typed from the
/// text of `spirv-dis`. The members' `Offset` and `Size` give the bits of the part. glslang writes 0 for both: its
/// members are consecutive, and a vector of three takes the space of four floats.
struct Foreign {
    name: &'static str,
    bytes: &'static [u8],
    providers: &'static [&'static str],
}

fn imported(facts: &Facts<'_>) -> ImportedModule {
    import(facts, &Target::x86_64()).expect("can be described")
}

/// The module without debug instructions, their names, `OpLine` and `OpNoLine`; and without `OpSource`, whose language
/// `spirv-val` of SPIRV-Tools 2023.1 does not know.
pub fn plain(words: &[u32]) -> Vec<u32> {
    let facts = read(words).expect("reads");
    let mut plain = words[..5].to_vec();
    for instruction in Words::new(words).expect("is a module").instructions() {
        if facts.fact(instruction).is_none()
            && !matches!(instruction.opcode(), SOURCE | NAME | LINE | NO_LINE)
        {
            plain.extend(instruction.words);
        }
    }
    plain
}

/// The ids that provide variables, in order.
fn providers(imported: &ImportedModule) -> Vec<String> {
    let ImportedModule { module, binding, .. } = imported;
    let mut all = Vec::new();
    for (_, statement) in binding.statements() {
        let (variable, providers, how) = match *statement {
            Statement::Declare { variable, provider } => {
                (variable, &binding.providers()[provider as usize..][..1], "at")
            }
            Statement::Value { variable, provider, count } => {
                (variable, &binding.providers()[provider as usize..][..count as usize], "=")
            }
            Statement::Scope(_) | Statement::Line(_) => continue,
        };
        let name = name(module, variable);
        all.extend(providers.iter().map(|provider| {
            let ty = module.variable(variable).ty;
            format!("{name}{} {how} {}", part(provider, module, ty), what(provider, how == "at"))
        }));
        if providers.is_empty() {
            all.push(format!("{name} = nothing"));
        }
    }
    all
}

/// Indexes of the part of the variable, and its bits.
fn part(provider: &Provider, module: &Module, ty: TypeId) -> String {
    let bits = match provider.bits_of(module, ty) {
        Some(Range { start, end }) => format!(" {start}..{end}"),
        None => " of unknown bits".into(),
    };
    let index = |index: &Index| match index {
        Index::Number(number) => format!("[{number}]"),
        Index::Id(id) => format!("[{id}]"),
    };
    let indexes: String = provider.indexes().iter().map(index).collect();
    if indexes.is_empty() { indexes } else { indexes + &bits }
}

fn what(provider: &Provider, is_declared: bool) -> String {
    let mut text = provider.id().to_string();
    for operation in provider.operations(is_declared) {
        text += &format!(" {}", OPERATIONS[operation.number() as usize].name);
    }
    text
}

impl Foreign {
    /// Compares the binding that was read back with the typed lines; then attaches it, reads it back and compares
    /// again.
    fn says_what_was_typed(&self) {
        let words = from_bytes(self.bytes).expect("is a module");
        let imported = imported(&read(&words).expect("reads"));
        let plain = plain(&words);
        for mode in Set::ALL.into_iter().filter(|set| set.is_shader()).map(mode) {
            let attached = attach(&plain, &imported.module, &imported.binding, &mode);
            let attached = attached.unwrap_or_else(|error| panic!("{}: {error}", self.name));
            let facts = read(&attached.words).expect("reads");
            let report = validate(&facts);
            assert!(report.is_clean(), "{}: {report}", self.name);
            let checked = attached.check(&imported.module, &imported.binding, &mode).expect("reads");
            assert!(checked.is_clean(), "{}: {checked}", self.name);
            // `DebugDeclare` requires an OpVariable: the target of a parameter is a value.
            let line = |text: &&str| text.replace("at %38", "= %38 Deref");
            let expected: Vec<_> = self.providers.iter().map(line).collect();
            assert_eq!(providers(&self::imported(&facts)), expected, "{}, again", self.name);
            if let Some(ran) = tool_says(&attached.words) {
                ran.clean();
            }
        }
        assert_eq!(providers(&imported), self.providers, "{}", self.name);
    }
}

/// A mode with languages that `spirv-val` knows in a `DebugCompilationUnit`.
fn mode(set: Set) -> Mode {
    Mode::exact(set).highest_language(7)
}

fn tool_says(words: &[u32]) -> Option<Ran> {
    let folder = Folder::new();
    SPIRV_VAL.run(&[folder.file("a.spv", bytes(words))])
}

#[test]
fn glslang() {
    let providers = &["at at %71", "cell at %107", "turn at %175", "range at %38"];
    Foreign { name: "glslang", bytes: include_bytes!("foreign/glslang.spv"), providers }
        .says_what_was_typed();
}

/// `spirv-opt` replaces the members of a structure by separate values. The remains of `range` are outside of the scope
/// of their inlined call.
#[test]
fn glslang_optimized() {
    let providers = &[
        "at = %84",
        "cell[0] 0..32 = %112",
        "cell[1][0] 32..64 = %131",
        "cell[1][1] 64..96 = %138",
        "cell[2] 96..192 = %147",
        "cell[3][0] 224..256 = %302",
        "cell[3][1] 256..288 = %164",
        "turn = nothing",
        "turn = %421",
    ];
    let bytes = include_bytes!("foreign/glslang.opt.spv");
    Foreign { name: "glslang.opt", bytes, providers }.says_what_was_typed();
}

/// Slang writes a `DebugValue` for each assignment, with the assigned part of the variable.
#[test]
fn slang() {
    let providers = &[
        "id at %16",
        "id = %59",
        "at at %18",
        "at = %73",
        "cell at %27",
        "cell[0] 0..32 = %114",
        "cell[1][0] 32..64 = %139",
        "cell[1][1] 64..96 = %150",
        "cell[2] 96..192 = %162",
        "cell[3][0] 192..224 = %175",
        "cell[3][1] 224..256 = %217",
        "turn at %34",
        "turn[0] 0..64 = %247",
        "turn[1] 64..128 = %256",
        "turn[1][0] 64..96 = %264",
        "range at %180",
        "range[0] 0..32 = %192",
        "range[1] 32..64 = %196",
    ];
    Foreign { name: "slang", bytes: include_bytes!("foreign/slang.spv"), providers }.says_what_was_typed();
}

/// `cell[3]` is the target of an `OpUndef`, and the members of `range` are an `OpUndef` each: one part is undefined,
/// and the others are not mentioned.
#[test]
fn slang_optimized() {
    let providers = &[
        "cell[3] 192..256 = %584 Deref",
        "id = nothing",
        "range[0] 0..32 = %586",
        "range[1] 32..64 = %586",
        "turn = nothing",
    ];
    Foreign { name: "slang.opt", bytes: include_bytes!("foreign/slang.opt.spv"), providers }
        .says_what_was_typed();
}

/// Name of a variable; an inlined instance has the name of its origin.
fn name(module: &Module, id: VariableId) -> &str {
    let variable = module.variable(id);
    match (variable.name, variable.origin) {
        (Some(name), _) => module.string(name),
        (None, Some(origin)) => name(module, origin),
        (None, None) => "",
    }
}
