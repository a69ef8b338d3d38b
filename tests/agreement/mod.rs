//! Promise: the emitted bytes agree with the description, for everything that the builder accepts.
//!
//! Random modules, with every kind of node, type, scope and row, are emitted for every consumer and checked.

pub mod choices;
use crate::common;
use crate::common::consumers;
mod expressions;
pub mod locations;
pub mod modules;
mod projection;
mod scopes;
mod split;
mod versions;

use choices::Choices;
use consumers::{consumers, named, varied};
use eitri::check::{Obstacle, Unproven};
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::error::Construct;
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{LocId, Module, Node, VariableId};
use eitri::omission::{Omission, Property, Reason, Subject};
use eitri::target::{Gfx, Target, Wave};
use proptest::prelude::*;

/// A module and the code that it describes.
pub struct Made {
    pub module: Module,
    pub code: ObjectCode,
}

pub fn targets() -> [Target; 7] {
    [
        Target::amdgpu(Gfx::GFX900, Wave::W64).unwrap(),
        Target::amdgpu(Gfx::GFX1030, Wave::W32).unwrap(),
        Target::amdgpu(Gfx::GFX1100, Wave::W32).unwrap(),
        Target::amdgpu(Gfx::GFX1100, Wave::W64).unwrap(),
        Target::amdgpu(Gfx::GFX90A, Wave::W64).unwrap(),
        Target::x86_64(),
        Target::s390x(),
    ]
}

/// Emits and checks a module made from the numbers; an error is a text.
fn agrees(numbers: &[u16]) -> Result<(), String> {
    let mut choices = Choices::new(numbers);
    let target = targets()[choices.below(7)].clone();
    let consumers = consumers().map(|consumer| varied(&consumer, |count| choices.below(count)));
    let made = modules::module(&mut choices, target);
    for consumer in consumers {
        let module = &made.module;
        let written = lower(module, &consumer, Policy::Partial).map_err(|error| error.to_string())?;
        let strict = lower(module, &consumer, Policy::Strict).map(|strict| strict.sections);
        if strict.as_ref().ok() != written.omissions.is_empty().then_some(&written.sections) {
            return Err(format!("{}: {:?} with every property", named(&consumer), strict.err()));
        }
        projection::compare(module, &consumer, &written)
            .map_err(|text| format!("{}: {text}", named(&consumer)))?;
        let object = new_object(module.target(), &made.code, &written.sections).map_err(|e| e.to_string())?;
        let report =
            eitri::check(module, &consumer, &written.omissions, &object).map_err(|e| e.to_string())?;
        if !report.is_clean() {
            let all: Vec<_> = module.variables().map(|(id, _)| nodes(module, id)).collect();
            let target = module.target().name();
            let consumer = named(&consumer);
            return Err(format!("{target} for {consumer}:\n{report}\n{}", all.concat()));
        }
        let locations =
            |variable| module.live(variable).iter().map(|live| live.loc).chain(module.always(variable));
        for Unproven { variable, at, what, why, .. } in &report.unproven {
            let may_be = match why {
                Obstacle::Raw => is_raw,
                Obstacle::OutOfBounds => may_be_outside,
                _ => return Err(format!("unproven: {at}: {what:?}: {why:?}")),
            };
            let explains =
                |mut all: Box<dyn Iterator<Item = LocId> + '_>| all.any(|loc| module.nodes(loc).any(may_be));
            let is_explained = match variable {
                Some(variable) => explains(Box::new(locations(*variable))),
                None => what.is_some() && explains(Box::new(other_locations(module))),
            };
            if !is_explained {
                let nodes = variable.map(|variable| nodes(module, variable)).unwrap_or_default();
                return Err(format!("unproven: {at}: {what:?}: {why:?}\n{nodes}"));
            }
        }
        for left_out in &written.omissions {
            let Reason::Inexpressible(why) = &left_out.reason else {
                return Err(format!("{}: {left_out}", named(&consumer)));
            };
            // Only what is known at run time decides which bits of a register these are.
            if *why == Construct::BitOrder && module.target().is_big_endian() && consumer.name != "DWARF 5" {
                continue;
            }
            // Types lose only values, and only before DWARF 4: the modules' types have no numbers that a consumer
            // cannot express. But offsets of virtual bases are raw expressions of any dialect.
            if let Subject::Type(_) = left_out.subject {
                let is_raw = left_out.property == Property::Offset;
                if is_raw || is_since(why, consumer.version) || is_unencodable(why) {
                    continue;
                }
                return Err(format!("{}: {left_out}", named(&consumer)));
            }
            let Some(variable) = left_out.variable() else {
                if consumer.name != "DWARF 5" && !may_be_left_out(why, consumer.version) {
                    return Err(format!("{}: {left_out}", consumer.name));
                }
                continue;
            };
            // The builder does not know the size of a procedure's location, which can be too small.
            let calls = |node: Node<'_>| matches!(node, Node::Call(_));
            let is_short = *why == Construct::OutsideParts
                && locations(variable).any(|loc| module.nodes(loc).any(calls));
            let is_new = is_since(why, consumer.version) || is_unencodable(why);
            if consumer.name == "DWARF 5" && !is_new && is_plain(module, variable, left_out) {
                return Err(format!("{left_out}\n{}", nodes(module, variable)));
            }
            if consumer.name != "DWARF 5" && !is_short && !may_be_left_out(why, consumer.version) {
                return Err(format!("{}: {left_out}\n{}", named(&consumer), nodes(module, variable)));
            }
        }
    }
    Ok(())
}

/// Whether the builder does not know the meaning of a node: a raw expression, or a procedure with one.
fn is_raw(node: Node<'_>) -> bool {
    matches!(node, Node::Expr(_) | Node::Call(_))
}

/// Whether a node can be outside its storage on every machine: an offset that is known at run time, memory past the end
/// of its space, or a number that is read there.
fn may_be_outside(node: Node<'_>) -> bool {
    matches!(node, Node::OffsetBy | Node::BitOffsetBy | Node::Overlay)
        || matches!(node, Node::Memory(_) | Node::Call(_) | Node::Read(_))
}

/// Locations of frames, calls, procedures and masks.
fn other_locations(module: &Module) -> impl Iterator<Item = LocId> + '_ {
    let functions = module.functions().flat_map(|(id, function)| {
        let rules = module.frame(id).iter().map(|rule| rule.loc);
        rules.chain(function.frame_base).chain(function.static_link)
    });
    let calls = module.calls().flat_map(|(id, call)| {
        let arguments = module.arguments(id).iter().flat_map(|argument| {
            [argument.location, argument.value, argument.data_location, argument.data_value]
        });
        arguments.flatten().chain(call.target).chain(call.clobbered_target)
    });
    let procedures = module.procedures().map(|(_, procedure)| procedure.loc);
    let masks = module.regions().flat_map(|(id, _)| module.masks(id).iter().map(|mask| mask.loc));
    functions.chain(calls).chain(procedures).chain(masks)
}

/// Locations of a variable, for a message.
fn nodes(module: &Module, variable: VariableId) -> String {
    let live = module.live(variable).iter().map(|live| (Some(live.pcs()), live.loc));
    let all = live.chain(module.always(variable).map(|loc| (None, loc)));
    let bits = module.ty(module.variable(variable).ty).bits();
    all.map(|(pcs, loc)| {
        let nodes: Vec<_> = module.nodes(loc).collect();
        format!("{variable} of {bits:?} bits at {pcs:x?}: {nodes:?}\n")
    })
    .collect()
}

/// Whether DWARF 5 can express every location of the variable at these pcs: parts of registers, and constants.
fn is_plain(module: &Module, variable: VariableId, left_out: &Omission) -> bool {
    let live = module.live(variable).iter();
    let here = live.filter(|live| left_out.pcs.as_ref().is_none_or(|pcs| *pcs == live.pcs()));
    let mut all = here.map(|live| live.loc).chain(module.always(variable));
    let is_plain_node = |node: Node<'_>| {
        matches!(node, Node::Register(_) | Node::Lane(..) | Node::Implicit(_) | Node::Undefined)
            || matches!(node, Node::Parts(_) | Node::Part(_) | Node::Offset(_) | Node::BitOffset(_))
    };
    // A part needs a size, which a type without one does not give.
    let is_sized = module.ty(module.variable(variable).ty).bits().is_some();
    is_sized && all.all(|loc| module.nodes(loc).all(is_plain_node))
}

/// Whether a consumer with locations on the stack may lack an encoding for this reason.
fn may_be_left_out(why: &Construct, version: u16) -> bool {
    // Pieces composed inside a part would be taken for further parts of the whole.
    let is_known = matches!(
        why,
        Construct::SelectedPartsOfPart | Construct::Operation("bit_overlay") | Construct::Procedure
    );
    is_known || is_unencodable(why) || is_since(why, version)
}

/// Whether the reason is a property without an attribute.
fn is_unencodable(why: &Construct) -> bool {
    matches!(
        why,
        Construct::LanguageVersion
            | Construct::Checksum(_)
            | Construct::SourceText(_)
            | Construct::MemorySpace
            | Construct::Unprototyped
            | Construct::BodyLine
            | Construct::FrameOfNoCode
            | Construct::StaticLinkOfNoCode
            | Construct::CallsOfNoCode
    )
}

/// Operations newer than DWARF 2 without a substitute: DWARF 5 section 7.7.1 and the tables of the versions before.
const SINCE: [(u16, &str); 7] = [
    (3, "call_frame_cfa"),
    (3, "call2"),
    (3, "call4"),
    (3, "bit_piece"),
    (4, "stack_value"),
    (4, "implicit_value"),
    (5, "implicit_pointer"),
];

/// Whether the reason is an operation newer than this version.
fn is_since(why: &Construct, version: u16) -> bool {
    let (Construct::Operation(operation) | Construct::CallFrameOperation(operation)) = why else {
        return false;
    };
    SINCE.iter().any(|(since, name)| version < *since && name == operation)
}

fn config() -> ProptestConfig {
    ProptestConfig { max_shrink_iters: 4000, ..common::cases::config(300) }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn written_modules_mean_their_description(
        numbers in proptest::collection::vec(any::<u16>(), 100..3000),
    ) {
        if let Err(text) = agrees(&numbers) {
            return Err(TestCaseError::fail(text));
        }
    }
}

/// A stack slot in a procedure belongs to the calling function: here a function whose base register may count the
/// wave's bytes, and a kernel, whose base is 0.
#[test]
fn a_procedure_has_the_stack_of_its_caller() -> eitri::Result<()> {
    use eitri::model::{Loc, Val};
    for name in ["amdgpu-gfx1030-wave32", "amdgpu-gfx1100-wave64"] {
        for consumer in [Consumer::llvm(), Consumer::rocgdb_legacy(), Consumer::dwarf5()] {
            let target = eitri::target::Target::named(name)?;
            let s33 = target.sgpr(33)?;
            let s4 = target.sgpr(4)?;
            let mut m = eitri::build::Builder::new(target);
            let unit = m.unit("a.cl");
            let long = m.base_type(unit, "long", eitri::model::BaseEncoding::Signed, 64)?;
            let parts = Loc::parts([(Loc::stack_slot(8), 32), (Loc::register(s4), 32)]);
            let places = [m.procedure(unit, &Loc::stack_slot(8))?, m.procedure(unit, &parts)?].map(Loc::call);
            let function = m.function(unit, "f")?.code("f", 64).stack_base(s33)?.id();
            let kernel = m.function(unit, "k")?.code("k", 64).kernel().id();
            for scope in [function, kernel] {
                for loc in places.iter().cloned().chain([Loc::value(Val::stack_address(8))]) {
                    m.variable(scope, "x", long)?.live(0..32, loc)?;
                }
            }
            let module = m.finish()?;
            let written = lower(&module, &consumer, Policy::Partial)?;
            let code = eitri::emit::elf::ObjectCode::text(vec![0; 128]);
            let code = code.with_function("f", 0, 64).with_function("k", 64, 64);
            let object = eitri::emit::elf::new_object(module.target(), &code, &written.sections)?;
            let report = eitri::check(&module, &consumer, &written.omissions, &object)?;
            assert!(report.is_clean() && report.unproven.is_empty(), "{name}, {}: {report}", consumer.name);
            // Plain DWARF 5 has no private memory; it can encode the numbers.
            let untold = if consumer == Consumer::dwarf5() { 4 } else { 0 };
            assert_eq!(written.omissions.len(), untold);
        }
    }
    Ok(())
}

/// Numbers of a module, from a seed.
fn numbers(mut seed: u64, count: usize) -> Vec<u16> {
    let mut next = || {
        // xorshift64
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 24) as u16
    };
    (0..count).map(|_| next()).collect()
}

/// Each omission excuses a difference of its own: without one of them, `check` has a finding.
#[test]
fn every_omission_excuses_a_difference() -> eitri::Result<()> {
    let mut count = 0;
    let mut nothing = 0;
    let mut idle = Vec::new();
    for seed in 1..=12 {
        let numbers = numbers(seed, 1200);
        let mut choices = Choices::new(&numbers);
        let target = targets()[choices.below(7)].clone();
        let Made { module, code } = modules::module(&mut choices, target);
        for version in [2, 3, 5] {
            for mut consumer in consumers() {
                consumer.version = version;
                let written = lower(&module, &consumer, Policy::Partial)?;
                let object = new_object(module.target(), &code, &written.sections)?;
                let is_clean = |omissions: &[Omission]| {
                    eitri::check(&module, &consumer, omissions, &object).map(|report| report.is_clean())
                };
                assert!(is_clean(&written.omissions)?);
                for index in 0..written.omissions.len() {
                    let mut others = written.omissions.clone();
                    let one = others.remove(index);
                    if is_clean(&others)? {
                        let variable = one.variable();
                        if variable.is_some_and(|variable| may_mean_nothing(&module, variable)) {
                            nothing += 1
                        } else {
                            let nodes = variable.map(|variable| nodes(&module, variable));
                            idle.push(format!("{seed}, {}: {one}\n{nodes:?}", named(&consumer)));
                        }
                    }
                    count += 1;
                }
            }
        }
    }
    assert!(idle.is_empty(), "{} of {count}:\n{}", idle.len(), idle.join("\n"));
    assert!(count > 300 && nothing < count / 20, "{count} {nothing}");
    Ok(())
}

/// Whether the locations of a variable may have no bits of any storage, as an absent location: an object of no bits, or a
/// location with undefined parts.
fn may_mean_nothing(module: &Module, variable: VariableId) -> bool {
    let locs = module.live(variable).iter().map(|live| live.loc).chain(module.always(variable));
    let is_undefined = |loc| module.nodes(loc).any(|node| node == Node::Undefined);
    module.ty(module.variable(variable).ty).bits() == Some(0) || { locs }.any(is_undefined)
}

/// On a big-endian machine the parts of a number come from the most significant on, and bits of memory count from the
/// most significant of a byte (DWARF 5, 2.6.1.2, and decisions.md of the evaluator), in every dialect.
#[test]
fn numbers_in_parts_and_bits_are_clean_on_big_endian_machines() -> eitri::Result<()> {
    use eitri::model::Loc;
    use eitri::target::SpaceId;
    let memory = |address| Loc::memory(SpaceId::DEFAULT, eitri::model::Val::constant(address));
    let value = |number| Loc::value(eitri::model::Val::constant(number));
    for target in [Target::x86_64(), Target::s390x()] {
        let register = Loc::register(eitri::op::Reg(3));
        let parts = |first: &Loc| Loc::parts([(first.clone(), 12), (value(0x1234_5678), 20)]);
        let numbers = [
            Loc::implicit(&[1, 2]).read(16),
            Loc::implicit(&[1, 2]).read(12),
            Loc::parts([(memory(0x1000), 8), (memory(0x1002), 8)]).read(16),
            memory(0x1000).bit_offset(4).read(12),
            memory(0x1000).read(12),
            value(7).read(16),
            value(0x1234).bit_offset(4).read(4),
            memory(0x1000).offset(2).read(16),
            register.clone().read(16),
            register.clone().read(13),
            register.clone().bit_offset(4).read(12),
            register.clone().bit_offset(52).read(12),
            parts(&register).read(32),
            parts(&register).read(10),
            parts(&memory(0x1000).bit_offset(3)).read(29),
            parts(&Loc::implicit(&[1, 2])).read(17),
        ];
        for number in numbers {
            let mut m = eitri::build::Builder::new(target.clone());
            let unit = m.unit("a.c");
            let long = m.base_type(unit, "long", eitri::model::BaseEncoding::Unsigned, 64)?;
            let f = m.function(unit, "f")?.code("f", 16).id();
            m.variable(f, "x", long)?.live(0..16, Loc::value(number.clone()))?;
            let module = m.finish()?;
            for consumer in [Consumer::llvm(), Consumer::rocgdb(), Consumer::dwarf5()] {
                let written = lower(&module, &consumer, Policy::Strict)?;
                let code = ObjectCode::text(vec![0; 16]).with_function("f", 0, 16);
                let object = new_object(&target, &code, &written.sections)?;
                let report = eitri::check(&module, &consumer, &written.omissions, &object)?;
                assert!(report.is_clean(), "{number:?}: {report}");
            }
        }
    }
    Ok(())
}
