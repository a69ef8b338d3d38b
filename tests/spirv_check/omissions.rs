//! Omissions excuse exactly their own differences, even if there are many omissions.

use eitri::build::{Builder, Extent, Template};
use eitri::model::{BaseEncoding, CompositeKind, SourceLine};
use eitri::omission::Names;
use eitri::spirv::{Binding, Mode, Position, Provider, Set, attach, read};
use eitri::target::Target;

use crate::spirv_check::described::{Code, Core, Described, described};
use crate::spirv_check::idle::idle;
use crate::spirv_check::moves::{self, Tried};
use crate::spirv_check::random::{Choices, fixed_choices, targets};
use crate::spirv_check::sabotage::{self, Counts, Missed, Written, listed};

/// Types and scopes that reference each other in ways that the sets cannot encode.
pub(crate) fn tangled(target: &Target) -> Described {
    let mut core = Core::new();
    let choices = fixed_choices(3, 40);
    let code: Code = core.function(&mut Choices::new(&choices));
    let mut m = Builder::new(target.clone());
    let unit = m.unit("0.cl");
    let file = m.primary_file(unit).expect("the file");
    let line = |line, column| SourceLine::new(file, line).column(column);
    let mut make = || -> eitri::Result<_> {
        let uint = m.base_type(unit, "uint", BaseEncoding::Unsigned, 32)?;
        let long = m.base_type(unit, "long", BaseEncoding::Signed, 64)?;
        // A structure that points to itself, directly and through the type of a function, with a static member of its
        // type.
        let node = m.structure(unit, Some("node"), 32)?;
        let to_node = m.pointer(unit, Some(node))?;
        let call = m.subroutine(unit, Some(to_node), &[uint, node])?;
        let to_call = m.pointer(unit, Some(call))?;
        m.member(node, "next", to_node, 0)?;
        m.member(node, "call", to_call, 8)?;
        m.member(node, "size", uint, 16)?;
        m.static_member(node, "first", node)?;
        m.static_member(node, "count", uint)?;
        // A pointer to a member of a class that contains the pointer, and one to a member of a union.
        let class = m.class(unit, Some("C"), 32)?;
        let to_member = m.member_pointer(unit, class, uint)?;
        m.member(class, "which", to_member, 0)?;
        m.member(class, "n", uint, 16)?;
        let union = m.union(unit, Some("U"), 4)?;
        m.member_pointer(unit, union, uint)?;
        m.template(class, Template::ty("T", Some(class)))?;
        m.enumeration(unit, Some("E"), long, &[("A", 1), ("B", 1 << 40), ("D", 4), ("E", -1), ("F", 6)])?;
        let f = m.function(unit, "f")?.declared(line(2, 1)).id();
        let n = m.parameter(f, "n", uint)?.declared(line(2, 7)).id();
        let counted = m.array_of(unit, uint, &[Extent::variable(n)], None)?;
        let to_counted = m.pointer(unit, Some(counted))?;
        m.parameter(f, "all", to_counted)?.declared(line(2, 9));
        // Local types that their function returns, with functions and members of their own.
        let local = m.structure(unit, Some("S"), 16)?;
        m.describe_type(local)?.declared(line(3, 1)).within(f)?;
        m.member(local, "x", uint, 0)?;
        let of_local = m.pointer(unit, Some(local))?;
        m.static_member(local, "only", uint)?;
        m.static_member(local, "self", of_local)?;
        let method = m.function_declaration(local, "method")?.declared(line(4, 1)).id();
        m.parameter(method, "this", of_local)?;
        let defined = m.function_declaration(local, "defined")?.declared(line(5, 1)).id();
        m.parameter(defined, "this", of_local)?;
        let definition = m.function_definition(unit, defined)?.id();
        m.parameter(definition, "this", of_local)?;
        let inner = m.structure(unit, Some("inner"), 4)?;
        m.describe_type(inner)?.within(local)?;
        m.member(inner, "y", uint, 0)?;
        m.describe_function(f)?.returns(local)?;
        let block = m.block(f, &[])?;
        let hidden = m.structure(unit, Some("hidden"), 4)?;
        m.describe_type(hidden)?.within(block)?;
        m.member(hidden, "z", uint, 0)?;
        m.static_member(hidden, "there", uint)?;
        m.incomplete(unit, CompositeKind::Class, "opaque")?;
        // A block of an inlined call, without an origin.
        let g = m.function(unit, "g")?.declared(line(9, 1)).id();
        let inlined = m.inlined(f, g, &[], line(6, 0))?;
        let other = m.block(inlined, &[])?;
        let lone = m.variable(other, "lone", uint)?.declared(line(10, 3)).id();
        Ok((f, n, block, inlined, lone))
    };
    let (f, n, block, inlined, lone) = make().expect("every call is right");
    let mut binding = Binding::new();
    let first = &code.blocks[0];
    let start = Position::start(code.id, first.id);
    binding.function(f, code.id).scope(start, block).value(start, n, &[Provider::value(code.parameter)]);
    let last = Position::before(code.id, first.id, first.instructions - 1);
    binding.scope(last, inlined).value(last, lone, &[Provider::value(code.parameter)]);
    Described { words: core.words(), module: m.finish().expect("every call is right"), binding }
}

pub(crate) fn modes() -> Vec<Mode> {
    let mut modes: Vec<Mode> = Set::ALL.map(Mode::exact).into();
    modes.extend([Mode::validating(Set::OpenCl), Mode::validating(Set::Shader), Mode::translator()]);
    modes.push(Mode::exact(Set::Shader).none_types(false));
    modes
}

#[test]
fn listed_omissions_are_no_difference() {
    for target in targets() {
        for mode in modes() {
            let written = Written::of(tangled(&target), mode.clone());
            let checked = written.checked(&written.words).expect("is a module");
            let left: Vec<_> = written.omissions.iter().map(ToString::to_string).collect();
            assert!(checked.is_clean(), "{} {:?}: {checked}\n{}", mode.name(), mode.set(), left.join("\n"));
            assert!(left.len() > 3, "{left:?}");
        }
    }
}

/// Each omission excuses a difference of its own.
#[test]
fn every_omission_excuses_a_difference() {
    let target = &targets()[0];
    let mut count = 0;
    let random = (0..8).map(|seed| described(&fixed_choices(seed, 400), target));
    for Described { words, module, binding } in random.chain([tangled(target)]) {
        for mode in modes() {
            let attached = attach(&words, &module, &binding, &mode).expect("is attached");
            let idle = idle(&module, &binding, &mode, &attached);
            assert_eq!(idle, Ok(Vec::new()), "{} {:?}", mode.name(), mode.set());
            count += attached.omissions.len();
        }
    }
    assert!(count > 300, "{count}");
}

#[test]
fn unlisted_omissions_are_a_difference() {
    let mut counts = Counts::new(5);
    let mut places = Tried::new(1);
    let mut missed = Missed::new();
    for mode in modes() {
        let written = Written::of(tangled(&targets()[0]), mode);
        sabotage::not_found(&written, &mut missed, &mut counts);
        moves::not_found(&written, &mut missed, &mut places);
    }
    assert!(missed.is_empty(), "of {} mistakes not found:\n{}", counts.tried, listed(&missed));
    assert!(counts.tried > 300, "{}", counts.tried);
}

/// The names in omissions serve messages only: without the names, each mutant has the same verdict.
#[test]
fn names_change_no_verdict() {
    let target = &targets()[0];
    let mut verdicts = [0, 0];
    for mode in modes() {
        let written = Written::of(tangled(target), mode);
        let mut blank = Written::of(tangled(target), written.mode.clone());
        for omission in &mut blank.omissions {
            omission.names = Names { subject: "x".into(), object: "x".into(), ..Names::default() };
        }
        assert!(blank.is_clean(&blank.words));
        let facts = read(&written.words).expect("is a module");
        for fact in facts.iter() {
            for operand in fact.operands() {
                if operand.field().is_none() {
                    continue;
                }
                let others = sabotage::others(&facts, fact.set, operand);
                for other in others
                    .into_iter()
                    .filter(|other| (fact.at + operand.index + *other as usize).is_multiple_of(2))
                {
                    let mut words = written.words.clone();
                    words[fact.at + 5 + operand.index] = other;
                    let verdict = written.is_clean(&words);
                    assert_eq!(blank.is_clean(&words), verdict, "word {}: {other}", fact.at);
                    verdicts[usize::from(verdict)] += 1;
                }
            }
        }
    }
    assert!(verdicts.iter().all(|&count| count > 10), "{verdicts:?}");
}
