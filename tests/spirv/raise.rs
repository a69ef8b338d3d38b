//! A model from debug instructions: what the modules with every instruction describe, and what of them cannot be
//! described.

use std::fmt::Write;

use eitri::lower::{Consumer, Policy, lower};
use eitri::spirv::{Statement, raise, read};
use eitri::target::{Gfx, Target, Wave};

use crate::assemble::assemble;
use crate::common::check_golden;
use crate::kernels::Kernel;
use crate::{OPENCL, SHADER};

/// The description, what the module has of it, and what is left out.
fn raised(text: &str) -> String {
    let words = assemble(text).words;
    let target = Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("is known");
    let raised = raise(&read(&words).expect("reads"), &target).expect("can be described");
    let (module, binding) = (&raised.module, &raised.binding);
    let mut text = module.to_json();
    for (id, _) in module.functions() {
        if let Some(code) = binding.function_id(id) {
            writeln!(text, "{id} is {code}").expect("is text");
        }
    }
    for (id, _) in module.variables() {
        if let Some(held) = binding.global_id(id) {
            writeln!(text, "{id} is {held}").expect("is text");
        }
    }
    for (position, statement) in binding.statements() {
        let what = match statement {
            Statement::Scope(scope) => format!("scope {}", scope.map_or("none".into(), |it| it.to_string())),
            Statement::Line(Some(line)) => format!("line {} {}:{}", line.file, line.line, line.column),
            Statement::Line(None) => "line none".into(),
            Statement::Declare { variable, held } => {
                let held = &binding.held()[*held as usize];
                format!("{variable} is where {} is: {:?}", held.id(), held.operations(true))
            }
            Statement::Value { variable, held, count } => {
                let all = &binding.held()[*held as usize..][..*count as usize];
                let text = all
                    .iter()
                    .map(|held| format!("{} {:?} {:?}", held.id(), held.indexes(), held.operations(false)));
                format!("{variable} is {}", text.collect::<Vec<_>>().join(", "))
            }
        };
        writeln!(text, "{position:?}: {what}").expect("is text");
    }
    for left in &raised.left_out {
        writeln!(text, "left out: {left}").expect("is text");
    }
    text
}

#[test]
fn every_instruction_is_described_or_listed() {
    check_golden("spirv/opencl.raised.txt", &raised(OPENCL));
    check_golden("spirv/shader.raised.txt", &raised(SHADER));
}

/// Whatever the LLVM translator writes of kernels has functions with code, lines and variables, and becomes DWARF.
#[test]
fn kernels_of_the_llvm_translator_are_described() {
    let target = Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("is known");
    for name in ["calls", "structs", "matmul"] {
        for level in ["-O0", "-O2"] {
            let Some(words) = Kernel::named(name).compiled(&["-g", level]) else { return };
            let raised = raise(&read(&words).expect("reads"), &target).expect("can be described");
            let module = &raised.module;
            let bound = module.functions().filter(|(id, _)| raised.binding.function_id(*id).is_some());
            assert!(bound.count() > 0, "{name}");
            let statements = raised.binding.statements();
            let has = |is: fn(&Statement) -> bool| statements.iter().any(|(_, it)| is(it));
            assert!(has(|it| matches!(it, Statement::Line(Some(_)))), "{name} {level}");
            let holds = |it: &Statement| matches!(it, Statement::Declare { .. } | Statement::Value { .. });
            assert!(has(holds), "{name} {level}");
            // Nothing but what the translator says otherwise than the specification.
            let known = [
                "linkage name",
                "checksum",
                "size is described as that of the base class",
                "values are described",
            ];
            for left in &raised.left_out {
                assert!(known.iter().any(|known| left.what.contains(known)), "{name} {level}: {left}");
            }
            lower(module, &Consumer::llvm(), Policy::Partial).expect("can be written");
        }
    }
}
