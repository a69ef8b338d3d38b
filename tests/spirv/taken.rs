//! `attach` takes every binding that `import` makes: `import` lists the statements that `attach` would refuse.

use eitri::spirv::{
    ImportedModule, InstructionName, Mode, Set, Statement, attach, from_bytes, import, read, validate,
};
use eitri::target::{Gfx, Target, Wave};

use crate::spirv::assemble::assemble;
use crate::spirv::foreign::plain;
use crate::spirv::kernels::{Kernel, LEVELS};
use crate::spirv::{OPENCL, SHADER};

fn imported(words: &[u32]) -> ImportedModule {
    let target = Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("is known");
    import(&read(words).expect("reads"), &target).expect("can be described")
}

/// Attaches the description in every mode, and returns it.
fn taken(name: &str, words: &[u32]) -> ImportedModule {
    let imported = imported(words);
    for mode in Set::ALL.map(Mode::exact).into_iter().chain([Mode::translator()]) {
        let attached = attach(&plain(words), &imported.module, &imported.binding, &mode);
        assert!(attached.is_ok(), "{name} {:?}: {:?}", mode.set(), attached.err());
    }
    imported
}

fn modules() -> Vec<(&'static str, Vec<u32>)> {
    let foreign: [(_, &[u8]); 4] = [
        ("glslang", include_bytes!("foreign/glslang.spv")),
        ("glslang.opt", include_bytes!("foreign/glslang.opt.spv")),
        ("slang", include_bytes!("foreign/slang.spv")),
        ("slang.opt", include_bytes!("foreign/slang.opt.spv")),
    ];
    let own = [("opencl", OPENCL), ("shader", SHADER)].map(|(name, text)| (name, assemble(text).words));
    let foreign = foreign.map(|(name, bytes)| (name, from_bytes(bytes).expect("is a module")));
    own.into_iter().chain(foreign).collect()
}

#[test]
fn modules_of_all_producers() {
    for (name, words) in modules() {
        taken(name, &words);
    }
    // The translator drops the debug information of other modules.
    for name in ["calls", "structs", "matmul"] {
        for level in LEVELS {
            let Some(words) = Kernel::named(name).compiled(&["-g", level]) else { return };
            taken(&format!("{name} {level}"), &words);
        }
    }
}

/// LLVM's translator declares a variable without memory as an `OpUndef`: the variable is listed.
#[test]
fn a_declaration_of_nothing() {
    for (text, variable) in [(OPENCL, "%arg"), (SHADER, "%arg")] {
        for expression in ["%deref_it", "%plain"] {
            let declare = format!("DebugDeclare {variable} %var %plain");
            assert!(text.contains(&declare), "{text}");
            let undefined = format!("DebugDeclare {variable} %undefined {expression}");
            let text = text.replace(&declare, &undefined);
            let var = text.lines().find(|line| line.contains("%var = OpVariable ")).expect("a variable");
            let ty = var.split_whitespace().nth(3).expect("a type");
            let plain = text.lines().find(|line| line.contains(" DebugExpression")).expect("an expression");
            let plain = plain.split_once(" = ").expect("a result").1;
            let dereferenced = plain.split(" DebugExpression").next().expect("the start");
            let text = text.replacen(
                "%plain = ",
                &format!("%deref_it = {dereferenced} DebugExpression %deref\n%plain = "),
                1,
            );
            let text = text.replace(var, &format!("{var}\n%undefined = OpUndef {ty}"));
            let words = assemble(&text).words;
            let imported = taken(expression, &words);
            let left: Vec<_> = imported.omissions.iter().map(ToString::to_string).collect();
            let is_listed = |it: &String| {
                it.contains("DebugDeclare") && it.contains("expected an OpVariable or a pointer parameter")
            };
            assert_eq!(left.iter().filter(|it| is_listed(it)).count(), 1, "{left:?}");
            // The other variable is kept.
            let values = imported.binding.statements().iter();
            assert_eq!(values.filter(|(_, it)| matches!(it, Statement::Value { .. })).count(), 1);
        }
    }
}

/// Any id in place of any operand that names a variable's holder or an instruction's scope.
#[test]
fn whatever_an_operand_names() {
    let mut tried = 0;
    let mut valid = 0;
    for (name, words) in modules() {
        let facts = read(&words).expect("reads");
        let is_in_body = |name| {
            matches!(name, Some(InstructionName::Declare | InstructionName::Value | InstructionName::Scope))
        };
        let places: Vec<_> = facts.iter().filter(|fact| is_in_body(fact.name())).collect();
        let bound = words[3];
        for (number, fact) in places.iter().enumerate() {
            for operand in 0..fact.operands.len() {
                for id in (1 + (number + operand) as u32 % 97..bound).step_by(97) {
                    let mut words = words.clone();
                    words[fact.at + 5 + operand] = id;
                    tried += 1;
                    valid += usize::from(validate(&read(&words).expect("reads")).is_clean());
                    let target = Target::x86_64();
                    let imported = import(&read(&words).expect("reads"), &target);
                    let imported =
                        imported.unwrap_or_else(|error| panic!("{name} {fact:?} {operand} %{id}: {error}"));
                    let mode = Mode::exact(facts.iter().next().expect("is there").set);
                    let attached = attach(&plain(&words), &imported.module, &imported.binding, &mode);
                    assert!(attached.is_ok(), "{name} {fact:?} {operand} %{id}: {:?}", attached.err());
                }
            }
        }
    }
    assert!(tried > 500 && valid > 10, "{tried} {valid}");
}
