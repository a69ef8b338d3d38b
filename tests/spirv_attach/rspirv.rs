//! Attaching to modules of `rspirv`.

use ::rspirv::binary::Assemble;
use ::rspirv::dr::{self, Operand};
use ::rspirv::spirv::Op;
use eitri::spirv::instructions::OperandKind;
use eitri::spirv::{self, Binding, Field, InstructionName, Mode, Provider, Set};
use pretty_assertions::assert_eq;

use crate::spirv_attach::support::{Case, KERNEL};

/// A binding with every kind of statement.
fn binding(case: &Case) -> Binding {
    let mut binding = case.bound();
    binding
        .line(case.start("entry"), case.line(2))
        .declare(case.after("var"), case.n, Provider::value(case.id("var")))
        .scope(case.before("entry", 2), case.block)
        .scope(case.start("then"), case.deep)
        .line(case.after("more"), case.line(4))
        .no_line(case.before("then", 3))
        .no_scope(case.before("then", 3))
        .value(case.after("more"), case.inner, &[Provider::value(case.id("more"))])
        .value(
            case.after("two"),
            case.pair,
            &[Provider::value(case.id("more")).bits(0..32), Provider::value(case.id("two")).bits(32..96)],
        )
        .value(case.before("last", 1), case.sum, &[Provider::pointer(case.id("out")).in_space(1)])
        .value(case.after("sum"), case.n, &[]);
    binding
}

fn load(case: &Case) -> dr::Module {
    let mut module = dr::load_words(&case.words).expect("is loaded");
    // rspirv changes the generator.
    module.header.as_mut().expect("is loaded").generator = case.words[2];
    assert_eq!(module.assemble(), case.words);
    module
}

/// Assembled, the result equals attaching to the words.
#[test]
fn assembled_it_is_the_same() {
    let lined = KERNEL
        .replacen("%scale = OpFunction", "OpLine %names 1 1\n %scale = OpFunction", 1)
        .replace("%is = OpIEqual", "OpLine %names 77 1\n %is = OpIEqual");
    for text in [KERNEL, &lined] {
        let case = Case::of(text);
        for binding in [case.bound(), binding(&case)] {
            for mode in [Mode::exact(Set::OpenCl), Mode::exact(Set::Shader), Mode::translator()] {
                let mut module = load(&case);
                let attached = case.attach(&binding, &mode);
                let left_out = spirv::rspirv::attach(&mut module, &case.module, &binding, &mode);
                assert_eq!(left_out.expect("is attached"), attached.omissions);
                assert_eq!(module.assemble(), attached.words);
            }
        }
    }
}

/// Operands are literals or ids according to the table.
#[test]
fn operands_have_their_kinds() {
    let case = Case::new();
    for set in Set::ALL {
        let mut module = load(&case);
        spirv::rspirv::attach(&mut module, &case.module, &binding(&case), &Mode::exact(set))
            .expect("is attached");
        let mut literals = 0;
        for instruction in module.all_inst_iter().filter(|it| it.class.opcode == Op::ExtInst) {
            let Operand::LiteralExtInstInteger(number) = instruction.operands[1] else {
                panic!("{instruction:?}")
            };
            let row = InstructionName::numbered(set, number).expect("is known").row();
            for (index, operand) in instruction.operands[2..].iter().enumerate() {
                let row = row.operand(set, index, instruction.operands.len() - 2).expect("there is one");
                let is_id = matches!(row.kind, OperandKind::Id(_)) || set.is_shader();
                literals += u32::from(row.field == Field::Line && !is_id);
                let expected = if is_id {
                    matches!(operand, Operand::IdRef(_))
                } else {
                    matches!(operand, Operand::LiteralBit32(_))
                };
                assert!(expected, "{row:?}: {operand:?}");
            }
        }
        assert_eq!(literals > 0, set == Set::OpenCl);
        assert!(module.debug_string_source.len() > 1);
    }
}

/// A refused module is unchanged.
#[test]
fn refused_module_is_unchanged() {
    let case = Case::new();
    let mut module = load(&case);
    let mut wrong = case.bound();
    wrong.value(case.after("two"), case.sum, &[Provider::value(case.id("two"))]);
    let mode = Mode::exact(Set::OpenCl);
    let error = spirv::rspirv::attach(&mut module, &case.module, &wrong, &mode).expect_err("does not fit");
    assert_eq!(error.to_string(), case.refused(&wrong));
    assert_eq!(module.assemble(), case.words);
    module.header = None;
    let error = spirv::rspirv::attach(&mut module, &case.module, &case.bound(), &mode).expect_err("no bound");
    assert_eq!(error.to_string(), "the module has no header with an id bound");
}
