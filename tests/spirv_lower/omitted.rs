//! Properties that neither set can encode, which are listed.

use eitri::model::{Accessibility, SourceLine};
use eitri::omission::{Omission, Property};
use eitri::spirv::{Field, Id, InstructionName, Mode, Set, check, read};

use crate::spirv_lower::case::{COMPUTE, Case, KERNEL, MAIN, TABLE};

#[test]
fn unencodable_properties_are_listed() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    let f = case.function("f");
    case.m.extern_variable(f, "far", int).unwrap();
    case.m.constant(f, "four", int, &[4, 0, 0, 0]).unwrap();
    case.m.variable(f, "own", int).unwrap().accessibility(Accessibility::Private);
    let five = case.m.constant(unit, "five", int, &[5, 0, 0, 0]).unwrap();
    let pointer = case.m.pointer(unit, Some(int)).unwrap();
    let line = case.line(3, 1);
    case.m.describe_type(pointer).unwrap().declared(line).within(f).unwrap();
    case.binding.global(five, TABLE);
    case.exact().lacks(&[
        "unit `a.cl`, function `f`: type1: line: no operand encodes this",
        "unit `a.cl`, function `f`: type1: enclosing scope: no operand encodes this",
        "unit `a.cl`, function `f`, variable `far`: external flag: no operand encodes this",
        "unit `a.cl`, function `f`, variable `far`: declaration flag: no operand encodes this",
        "unit `a.cl`, function `f`, variable `four`: value: no operand encodes this",
        "unit `a.cl`, function `f`, variable `four`: constant flag: no operand encodes this",
        "unit `a.cl`, function `f`, variable `own`: accessibility: no operand encodes this",
        "unit `a.cl`, variable `five`: constant flag: no operand encodes this",
        "unit `a.cl`, variable `five`: value: the bound value is encoded",
    ]);
}

/// The module's entry points identify kernels; no instruction of the sets does.
#[test]
fn kernels() {
    let kernel = |is_kernel: bool, is_entered: bool| {
        let mut case = Case::new();
        let declared = case.m.function_declaration(case.unit, "f").unwrap().external().id();
        let mut f = case.m.function_definition(case.unit, declared).unwrap();
        if is_kernel {
            f.kernel();
        }
        let f = f.id();
        if is_entered {
            case.binding.function(f, MAIN);
        }
        case.finish()
    };
    let f = "unit `a.cl`, function `f`";
    for set in Set::ALL {
        let mode = Mode::exact(set);
        kernel(true, true).emitted(&mode).lacks(&[]);
        kernel(false, false).emitted(&mode).lacks(&[]);
        kernel(true, false)
            .emitted(&mode)
            .lacks(&[&format!("{f}: kernel flag: it is not an entry point of the module")]);
        kernel(false, true)
            .emitted(&mode)
            .lacks(&[&format!("{f}: absent kernel flag: it is an entry point of the module")]);
    }
}

/// Properties of declarations that only definitions can encode; for members, in the set with declarations as members.
#[test]
fn declarations() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    let file = case.file;
    case.m.describe_unit(unit).unwrap().optimized();
    let class = case.m.class(unit, Some("C"), 4).unwrap();
    let f =
        case.m.function_declaration(class, "f").unwrap().declared(SourceLine::new(file, 3)).body_line(4).id();
    let this = case.m.parameter(f, "this", int).unwrap().id();
    case.m.describe_function(f).unwrap().object_pointer(this).unwrap();
    case.m.variable(class, "own", int).unwrap();
    case.binding.function(f, MAIN);
    let described = case.finish();
    let kernel = "absent kernel flag: it is an entry point of the module";
    let f = "unit `a.cl`, function `f`";
    let own = "unit `a.cl`, variable `own`: external flag: it is not visible outside its unit";
    let optimized = "unit `a.cl`: optimized flag: only functions have it, and the unit has no function";
    described.emitted(&Mode::exact(Set::OpenCl)).lacks(&[optimized, &format!("{f}: {kernel}"), own]);
    let parameter = format!("{f}, variable `this`: a parameter of a declaration; only its type is encoded");
    described.emitted(&Mode::exact(Set::Shader)).lacks(&[
        optimized,
        &format!("{f}: {kernel}"),
        &format!("{f}: OpFunction: the definition has it"),
        &format!("{f}: line of the body: no operand encodes this"),
        &format!("{f}: object parameter: no operand encodes this"),
        &parameter,
        own,
    ]);
}

/// A function that the module imports: one set refers to it in its description, the other in its code.
#[test]
fn functions_without_code() {
    let mut case = Case::new();
    let f = case.m.function(case.unit, "f").unwrap().id();
    case.binding.function(f, Id(10));
    let described = case.finish();
    let imported = "OpFunctionEnd\n%far = OpFunction %void None %kind\nOpFunctionEnd";
    let left = |text: &str, set| {
        let text = text.replacen("OpFunctionEnd", imported, 1);
        let attached = described.attached_to(&text, &Mode::exact(set)).unwrap();
        attached.omissions.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(left(KERNEL, Set::OpenCl), [""; 0]);
    let what = "unit `a.cl`, function `f`: OpFunction: the function has no block";
    assert_eq!(left(COMPUTE, Set::Shader), [what]);
}

/// Properties of an inlined instance beyond its origin.
#[test]
fn inlined_instances() {
    let mut case = Case::new();
    let int = case.int();
    let line = case.line(3, 5);
    let callee = case.m.function(case.unit, "callee").unwrap().id();
    let f = case.function("f");
    let call = case.m.inlined(f, callee, &[], at(line, 9)).unwrap();
    for (name, is_made, own) in [("same", true, line), ("other", false, at(line, 4))] {
        let mut of = case.m.parameter(callee, name, int).unwrap();
        of.declared(line);
        if is_made {
            of.artificial();
        }
        let of = of.id();
        case.m.inlined_variable(call, of).unwrap().declared(own).artificial();
    }
    case.exact().lacks(&[
        "unit `a.cl`, function `f`: the inlined call of `callee` in line 9: column: no operand encodes this",
        "unit `a.cl`, function `f`, variable `other`: line: the inlined instance has it",
        "unit `a.cl`, function `f`, variable `other`: artificial flag: the inlined instance has it",
    ]);
}

/// The same position in another line.
fn at(place: SourceLine, line: u32) -> SourceLine {
    SourceLine { line, ..place }
}

/// An omission of one variable excuses no difference of another variable with the same name.
#[test]
fn two_variables_of_one_name() {
    let mut case = Case::new();
    let int = case.int();
    let f = case.function("f");
    case.m.constant(f, "i", int, &[4, 0, 0, 0]).unwrap();
    let second = case.m.variable(f, "i", int).unwrap().id();
    case.binding.global(second, TABLE);
    let described = case.finish();
    for set in Set::ALL {
        let mode = Mode::exact(set);
        let attached = described.attached(&mode).unwrap();
        let is_value = |omission: &&Omission| omission.property == Property::Value;
        let omitted: Vec<_> = attached.omissions.iter().filter(is_value).map(|it| it.variable()).collect();
        assert!(omitted.len() == 1 && omitted != [Some(second)], "{omitted:?}");
        let facts = read(&attached.words).unwrap();
        let global = facts.iter().find(|fact| fact.name() == Some(InstructionName::GlobalVariable)).unwrap();
        let place = global.operands().find(|it| it.field() == Some(Field::Variable)).unwrap();
        let constants = facts.layout().words().instructions();
        let constant =
            constants.filter_map(|it| it.result()).find(|&id| facts.layout().constant(id).is_some());
        let mut words = attached.words.clone();
        words[global.at + 5 + place.index] = constant.unwrap().0;
        let checked = |words: &[u32]| {
            let checked = check(&described.module, &described.binding, &mode, &attached.omissions, words);
            checked.unwrap().is_clean()
        };
        assert!(checked(&attached.words) && !checked(&words), "{set:?}");
    }
}
