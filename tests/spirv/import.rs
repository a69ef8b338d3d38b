//! A model from debug instructions: the modules with every instruction are read back as a description, and the
//! remainder is listed.

use std::fmt::Write;

use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, TypeKind};
use eitri::omission::{Omission, Reason, Unimported};
use eitri::spirv::{Field, InstructionName, Statement, import, read};
use eitri::target::{Gfx, Target, Wave};

use crate::spirv::assemble::assemble;
use crate::spirv::common::check_golden;
use crate::spirv::kernels::Kernel;
use crate::spirv::{OPENCL, SHADER, shader101};

/// Text of the description, the binding and the omissions.
fn imported(text: &str) -> String {
    let words = assemble(text).words;
    let target = Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("is known");
    let imported = import(&read(&words).expect("reads"), &target).expect("can be described");
    let module = &imported.module;
    let binding = &imported.binding;
    let mut text = module.to_json();
    for (id, _) in module.functions() {
        if let Some(code) = binding.function_id(id) {
            writeln!(text, "{id} is {code}").expect("is text");
        }
    }
    for (id, _) in module.variables() {
        if let Some(bound) = binding.global_id(id) {
            writeln!(text, "{id} is {bound}").expect("is text");
        }
    }
    for (position, statement) in binding.statements() {
        let what = match statement {
            Statement::Scope(scope) => format!("scope {}", scope.map_or("none".into(), |it| it.to_string())),
            Statement::Line(Some(line)) => format!("line {} {}:{}", line.file, line.line, line.column),
            Statement::Line(None) => "line none".into(),
            Statement::Declare { variable, provider } => {
                let provider = &binding.providers()[*provider as usize];
                format!("{variable} is where {} is: {:?}", provider.id(), provider.operations(true))
            }
            Statement::Value { variable, provider, count } => {
                let all = &binding.providers()[*provider as usize..][..*count as usize];
                let text = all.iter().map(|provider| {
                    format!("{} {:?} {:?}", provider.id(), provider.indexes(), provider.operations(false))
                });
                format!("{variable} is {}", text.collect::<Vec<_>>().join(", "))
            }
        };
        writeln!(text, "{position:?}: {what}").expect("is text");
    }
    for left in &imported.omissions {
        writeln!(text, "omitted: {left}").expect("is text");
    }
    text
}

#[test]
fn every_instruction_is_described_or_listed() {
    check_golden("spirv/opencl.imported.txt", &imported(OPENCL));
    check_golden("spirv/shader.imported.txt", &imported(SHADER));
}

/// Kernels from LLVM's translator have functions with code, lines and variables, and can be lowered to DWARF.
#[test]
fn kernels_of_the_llvm_translator_are_described() {
    let target = Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("is known");
    for name in ["calls", "structs", "matmul"] {
        for level in ["-O0", "-O2"] {
            let Some(words) = Kernel::named(name).compiled(&["-g", level]) else { return };
            let imported = import(&read(&words).expect("reads"), &target).expect("can be described");
            let module = &imported.module;
            let bound = module.functions().filter(|(id, _)| imported.binding.function_id(*id).is_some());
            assert!(bound.count() > 0, "{name}");
            let statements = imported.binding.statements();
            let has = |is: fn(&Statement) -> bool| statements.iter().any(|(_, it)| is(it));
            assert!(has(|it| matches!(it, Statement::Line(Some(_)))), "{name} {level}");
            let holds = |it: &Statement| matches!(it, Statement::Declare { .. } | Statement::Value { .. });
            assert!(has(holds), "{name} {level}");
            // Only known deviations of the translator are listed.
            let known = [
                "linkage name",
                "checksum",
                "size is described as that of the base class",
                "values are described",
                // A block may precede its dominator, and attach refuses that.
                "is defined after the position",
            ];
            for left in &imported.omissions {
                assert!(known.iter().any(|known| left.to_string().contains(known)), "{name} {level}: {left}");
            }
            lower(module, &Consumer::llvm(), Policy::Partial).expect("can be written");
        }
    }
}

/// Additions of version 101, and a matrix: described, or listed.
#[test]
fn types_of_shaders() {
    let words = assemble(&shader101()).words;
    let facts = read(&words).expect("reads");
    let imported = import(&facts, &Target::x86_64()).expect("is imported");
    let of =
        |name: InstructionName| facts.iter().find(|fact| fact.name() == Some(name)).expect("is there").at;
    let left = |word: usize| -> Vec<String> {
        let of_it = imported.omissions.iter().filter(|left| left.names.at.word == Some(word));
        of_it.map(|left| left.to_string().split_once(": ").expect("a place").1.into()).collect()
    };
    let kinds = || imported.module.types().map(|(_, ty)| ty.kind());
    let is_matrix =
        |kind: &&TypeKind| matches!(kind, TypeKind::Matrix { count: 4, is_column_major: true, .. });
    assert_eq!((kinds().filter(is_matrix).count(), left(of(InstructionName::TypeMatrix))), (1, vec![]));
    // Its length is a specialization constant.
    assert_eq!(left(of(InstructionName::TypeVectorId)), ["not imported: its Component Count is unknown"]);
    let is_opaque = |kind: &&TypeKind| matches!(kind, TypeKind::Unspecified { .. });
    assert!(kinds().any(|kind| is_opaque(&kind)));
    let what = "its Rows is unknown, and it is imported as an unspecified type";
    assert_eq!(left(of(InstructionName::TypeCooperativeMatrix)), [what]);
    let basic = facts.iter().find(|fact| fact.operand(Field::FpEncoding).is_some()).expect("is there").at;
    assert_eq!(left(basic), [] as [&str; 0]);
    let is_float8 =
        |kind: &&TypeKind| matches!(kind, TypeKind::Base { encoding: BaseEncoding::Float8E4M3, .. });
    assert_eq!(kinds().filter(is_float8).count(), 1);
    assert_eq!(imported.binding.build_id(), Some(("0123456789abcdef0123456789abcdef", true)));
    assert_eq!(imported.binding.stored_at(), Some("debug/a.spv"));

    let long = shader101().replace("%float %spec\n", "%float %u8\n").replace("%u3 %spec %u8", "%u3 %u4 %u8");
    let words = assemble(&long).words;
    let imported = import(&read(&words).expect("reads"), &Target::x86_64()).expect("is imported");
    let has = |is: &dyn Fn(&TypeKind) -> bool| imported.module.types().any(|(_, ty)| is(ty.kind()));
    assert!(has(&|kind| matches!(kind, TypeKind::Vector { count: 8, .. })));
    assert!(has(&|kind| {
        matches!(kind, TypeKind::CooperativeMatrix { scope: 3, rows: 4, columns: 8, usage: 2, .. })
    }));
    let is_of_length = |left: &Omission| left.reason == Reason::Unimported(Unimported::LengthId);
    assert!(!imported.omissions.iter().any(is_of_length), "{:?}", imported.omissions);

    // A `DebugTypeVector` is written for a short one.
    let short = shader101().replace("%float %spec\n", "%float %u4\n");
    let words = assemble(&short).words;
    let imported = import(&read(&words).expect("reads"), &Target::x86_64()).expect("is imported");
    assert!(imported.omissions.iter().any(is_of_length), "{:?}", imported.omissions);
}
