//! The pass over the nodes, compared with the writer of the tree.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::{Lowering, Request, Sink};
use crate::build::Builder;
use crate::consumer::Consumer;
use crate::emit::addr::Addresses;
use crate::lower::NoEntries;
use crate::model::{Loc, Stack, Val};
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

/// Compares the two on random locations of a target. Returns the number of locations that the pass took.
fn compare(target: &Target, scalars: Vec<Reg>, vectors: Vec<Reg>, consumer: &Consumer) -> usize {
    let mut runner = TestRunner::deterministic();
    let bases = scalars.iter().copied().map(Some).chain([None]).collect::<Vec<_>>();
    let stack = (prop::sample::select(bases), any::<bool>()).prop_map(|(base, is_wave)| Stack {
        base,
        scaling: if is_wave { Scaling::Wave } else { Scaling::Lane },
    });
    let sizes = prop::sample::select(vec![None, Some(8), Some(24), Some(32), Some(64), Some(96)]);
    let cases = (locations(scalars, vectors), sizes, stack, any::<bool>());
    let mut taken = 0;
    for _ in 0..CASES {
        let (loc, bits, stack, is_called) = cases.new_tree(&mut runner).expect("a case").current();
        let mut builder = Builder::new(target.clone());
        let unit = builder.unit("u");
        let Ok(id) = builder.loc(unit, &loc, bits) else { continue };
        let module = builder.finish().expect("a module");
        let mut lowering = Lowering::new(&module, consumer);
        let what = Request::Location { bits, is_called };
        let mut one_pass = vec![7];
        if !lowering.linear(module.nodes(id), what, stack, &mut one_pass) {
            assert_eq!(one_pass, [7], "bytes of a location that needs the tree: {loc:?}");
            continue;
        }
        taken += 1;
        let mut by_tree = vec![7];
        let mut addresses = Addresses::default();
        let mut sink = Sink { out: &mut by_tree, addresses: &mut addresses, entries: &NoEntries, stack };
        let written = lowering.by_tree(module.nodes(id), what, &mut sink);
        assert!(written.is_ok(), "{loc:?}: {written:?}");
        assert_eq!(one_pass, by_tree, "{loc:?}, {bits:?} bits, {stack:?}, called: {is_called}");
    }
    taken
}

#[test]
fn one_pass_and_the_tree_write_the_same_on_a_gpu() {
    let target = Target::amdgpu(Gfx::GFX1030, Wave::W32).unwrap();
    let [s4, s40, v3] = [target.sgpr(4), target.sgpr(40), target.vgpr(3)].map(Result::unwrap);
    let pc = target.pc().unwrap();
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
