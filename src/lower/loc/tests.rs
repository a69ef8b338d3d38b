//! The pass over the nodes, and memory at a register, compared with the tree's writer.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::{Extent, Facts, Follows, Lowering, NoEntries, References, Request, Sink};
use crate::build::Builder;
use crate::consumer::Consumer;
use crate::emit::addr::Addresses;
use crate::model::{BaseEncoding, Loc, LocId, Stack, Val, VariableId};
use crate::op::Reg;
use crate::target::{Gfx, Scaling, SpaceId, Target, Wave};

const CASES: usize = 6000;
/// Cases that the pass must take, so that the comparison is not empty.
const TAKEN: usize = 100;

fn spaces() -> impl Strategy<Value = SpaceId> + Clone {
    prop_oneof![4 => Just(SpaceId::DEFAULT), 1 => Just(SpaceId::LOCAL), 2 => Just(SpaceId::PRIVATE_LANE)]
}

fn numbers(scalars: Vec<Reg>) -> impl Strategy<Value = Val> + Clone {
    let leaf = prop_oneof![
        4 => prop::sample::select(scalars).prop_map(Val::register),
        2 => prop_oneof![0..40u64, Just(0x1_0000), Just(u64::MAX)].prop_map(Val::constant),
        1 => (-20..40i64).prop_map(Val::stack_address),
        1 => Just(Val::lane_index()),
    ];
    leaf.prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            4 => (inner.clone(), prop_oneof![-9..9i64, Just(1 << 40), Just(0)])
                .prop_map(|(number, by)| number.plus(by)),
            1 => (inner.clone(), inner.clone()).prop_map(|(one, other)| one.or(other.shl(Val::constant(32)))),
            1 => (inner.clone(), inner.clone()).prop_map(|(one, other)| one.sub(other)),
            1 => (spaces(), inner.clone(), prop::sample::select(vec![8u32, 31, 32, 64]))
                .prop_map(|(space, address, bits)| Loc::memory(space, address).read(bits)),
            1 => inner.prop_map(Val::not),
        ]
    })
}

fn locations(scalars: Vec<Reg>, vectors: Vec<Reg>) -> impl Strategy<Value = Loc> {
    let number = numbers(scalars.clone());
    let leaf = prop_oneof![
        3 => prop::sample::select(scalars).prop_map(Loc::register),
        2 => prop::sample::select(vectors.clone()).prop_map(Loc::per_lane),
        2 => (prop::sample::select(vectors), 0..3u32).prop_map(|(reg, lane)| Loc::lane(reg, lane)),
        5 => (spaces(), number.clone()).prop_map(|(space, address)| Loc::memory(space, address)),
        2 => number.clone().prop_map(Loc::value),
        1 => vec(any::<u8>(), 1..9).prop_map(|bytes| Loc::implicit(&bytes)),
        1 => Just(Loc::undefined()),
    ];
    leaf.prop_recursive(2, 8, 4, move |inner| {
        let bits = prop::sample::select(vec![8u64, 13, 16, 32, 64]);
        prop_oneof![
            2 => (inner.clone(), -5..9i64).prop_map(|(place, by)| place.offset(by)),
            1 => (inner.clone(), -5..9i64).prop_map(|(place, by)| place.bit_offset(by)),
            6 => vec((inner.clone(), bits), 1..4).prop_map(Loc::parts),
            1 => (inner.clone(), 0..40u32).prop_map(|(place, bits)| Loc::memory(
                SpaceId::DEFAULT,
                place.read(if bits < 20 { 64 } else { bits })
            )),
            1 => inner.prop_map(|place| place.extend(8, 4)),
        ]
    })
}

/// Random sizes of an object in bits.
fn sizes() -> impl Strategy<Value = Option<u64>> {
    prop::sample::select(vec![None, Some(8), Some(24), Some(32), Some(64), Some(96)])
}

fn stacks(scalars: &[Reg]) -> impl Strategy<Value = Stack> + use<> {
    let bases = scalars.iter().copied().map(Some).chain([None]).collect::<Vec<_>>();
    (prop::sample::select(bases), any::<bool>()).prop_map(|(base, is_wave)| Stack {
        base,
        scaling: if is_wave { Scaling::Wave } else { Scaling::Lane },
    })
}

/// Compares the two on random locations for a target. Returns how many locations the pass took.
fn compare(target: &Target, scalars: Vec<Reg>, vectors: Vec<Reg>, consumer: &Consumer) -> usize {
    let mut runner = TestRunner::deterministic();
    let stack = stacks(&scalars);
    let cases = (locations(scalars, vectors), sizes(), stack);
    let mut taken = 0;
    for _ in 0..CASES {
        let (loc, bits, stack) = cases.new_tree(&mut runner).expect("a case").current();
        let mut builder = Builder::new(target.clone());
        let unit = builder.unit("u");
        let Ok(id) = builder.loc(unit, &loc, bits) else { continue };
        let module = builder.finish().expect("a module");
        let mut lowering = Lowering::new(&module, consumer);
        let request = Request::Location { bits, follows: Follows::End };
        let mut one_pass = vec![7];
        if !lowering.linear.write(module.nodes(id), bits, stack, &mut one_pass) {
            assert_eq!(one_pass, [7], "bytes of a location that needs the tree: {loc:?}");
            continue;
        }
        taken += 1;
        let from_tree = written(stack, |sink| lowering.lower_tree(module.nodes(id), request, sink));
        assert_eq!(Ok(one_pass), from_tree, "{loc:?}, {bits:?} bits, {stack:?}");
        // Memory at a register is written without either.
        let whole = lowered(&mut Lowering::new(&module, consumer), (id, bits, stack));
        assert_eq!(whole, from_tree, "{loc:?}, {bits:?} bits, {stack:?}");
    }
    taken
}

#[test]
fn one_pass_and_the_tree_write_the_same_on_a_gpu() {
    let target = Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("a target");
    let [s4, s40, v3] = [target.sgpr(4), target.sgpr(40), target.vgpr(3)].map(Result::unwrap);
    let pc = target.pc().expect("a register");
    for consumer in [Consumer::llvm(), Consumer::dwarf5()] {
        let taken = compare(&target, vec![s4, s40, pc], vec![v3], &consumer);
        assert!(taken > TAKEN, "{taken}");
    }
}

#[test]
fn one_pass_and_the_tree_write_the_same_on_x86_64() {
    let target = Target::x86_64();
    for consumer in [Consumer::llvm(), Consumer::dwarf5()] {
        let taken = compare(&target, vec![Reg(6), Reg(12)], vec![Reg(17)], &consumer);
        assert!(taken > TAKEN, "{taken}");
    }
}

/// The targets with some registers: scalars, and vectors.
fn targets() -> [(Target, Vec<Reg>, Vec<Reg>); 2] {
    let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("a target");
    let [s4, s40, v3] = [gpu.sgpr(4), gpu.sgpr(40), gpu.vgpr(3)].map(Result::unwrap);
    [(gpu, vec![s4, s40], vec![v3]), (Target::x86_64(), vec![Reg(6), Reg(12)], vec![Reg(17)])]
}

/// Expression bytes, or the error's text.
fn lowered(
    lowering: &mut Lowering<'_>,
    (loc, bits, stack): (LocId, Option<u64>, Stack),
) -> Result<Vec<u8>, String> {
    written(stack, |sink| lowering.lower(loc, bits, sink))
}

/// Bytes that `write` appends to another byte, or the error's text.
fn written(stack: Stack, write: impl FnOnce(&mut Sink<'_>) -> crate::Result<()>) -> Result<Vec<u8>, String> {
    let mut out = vec![7];
    let references = References {
        addresses: &mut Addresses::default(),
        pending: &mut Vec::new(),
        facts: &mut Facts::default(),
        homes: None,
    };
    let extent = Extent::AllPcs;
    write(&mut Sink { out: &mut out, references, entries: &NoEntries, stack, extent })
        .map_err(|error| error.to_string())?;
    Ok(out)
}

#[test]
fn a_remembered_expression_is_that_of_a_new_lowering() {
    for (target, scalars, vectors) in targets() {
        let mut runner = TestRunner::deterministic();
        let mut builder = Builder::new(target);
        let mut locs = Vec::new();
        let unit = builder.unit("u");
        let value = (0..40u64).prop_map(|number| Loc::value(Val::constant(number)));
        let random = prop_oneof![3 => locations(scalars.clone(), vectors), 1 => value];
        while locs.len() < 100 {
            let loc = random.new_tree(&mut runner).expect("a location").current();
            if loc.postfix().small().is_some() {
                locs.extend(builder.loc(unit, &loc, None));
            }
        }
        let module = builder.finish().expect("a module");
        let cases = (prop::sample::select(locs), sizes(), stacks(&scalars));
        for consumer in [Consumer::llvm(), Consumer::dwarf5()] {
            let mut remembering = Lowering::new(&module, &consumer);
            let mut remembered = 0;
            for _ in 0..CASES {
                let case = cases.new_tree(&mut runner).expect("a case").current();
                let (loc, bits, stack) = case;
                let key = remembering.key(bits, stack);
                remembered += usize::from(key.is_some_and(|key| remembering.memo.get(loc, key).is_some()));
                let with = lowered(&mut remembering, case);
                let without = lowered(&mut Lowering::new(&module, &consumer), case);
                assert_eq!(with, without, "{:?}, {case:?}", module.nodes(loc));
            }
            assert!(remembered > TAKEN, "{remembered}");
        }
    }
}

#[test]
fn a_location_described_again_is_checked_as_the_first_time() {
    for (target, scalars, vectors) in targets() {
        let mut runner = TestRunner::deterministic();
        let whole = prop::sample::select([scalars.clone(), vectors.clone()].concat()).prop_map(Loc::whole);
        let random = prop_oneof![4 => locations(scalars, vectors), 1 => whole];
        let locs: Vec<Loc> =
            (0..100).map(|_| random.new_tree(&mut runner).expect("a location").current()).collect();
        let cases = (prop::sample::select(locs), prop::sample::select(vec![8u64, 16, 32, 64, 128, 1024]));
        let described = |builder: &mut Builder, (loc, bits): (Loc, u64)| -> crate::Result<VariableId> {
            let unit = builder.unit("u");
            let ty = builder.base_type(unit, "t", BaseEncoding::Unsigned, bits)?;
            let mut variable = builder.variable(unit, "x", ty)?;
            Ok(variable.always(loc)?.id())
        };
        let mut builder = Builder::new(target.clone());
        let mut expressions = Vec::new();
        for _ in 0..CASES {
            let (loc, bits) = cases.new_tree(&mut runner).expect("a case").current();
            let again = described(&mut builder, (loc.clone(), bits));
            let first = described(&mut Builder::new(target.clone()), (loc.clone(), bits));
            let text = |result: &crate::Result<VariableId>| result.as_ref().err().map(ToString::to_string);
            assert_eq!(text(&again), text(&first), "{loc:?}, {bits} bits");
            expressions.extend(again.ok().map(|id| (id, loc)));
        }
        let module = builder.finish().expect("a module");
        for (id, loc) in expressions {
            let stored = module.always(id).expect("a location");
            assert!(module.nodes(stored).eq(loc.nodes()), "{loc:?}");
        }
    }
}

#[test]
fn a_procedure_called_in_its_unit_is_unknown_in_another() {
    let mut builder = Builder::new(Target::x86_64());
    let units = ["a", "b"].map(|name| builder.unit(name));
    let procedure = builder.procedure(units[0], &Loc::register(Reg(3))).expect("a procedure");
    let called = units.map(|unit| {
        let ty = builder.base_type(unit, "t", BaseEncoding::Unsigned, 64).expect("a type");
        let mut variable = builder.variable(unit, "x", ty).expect("a variable");
        variable.always(Loc::call(procedure)).map(|variable| variable.id())
    });
    assert!(called[0].is_ok() && called[1].is_err(), "{called:?}");
}
