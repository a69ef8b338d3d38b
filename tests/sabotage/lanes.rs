//! Faults in pcs of lanes: masks of regions, and active lanes.

use core::ops::Range;

use eitri::build::Builder;
use eitri::check::FindingKind::{Evaluation, Location};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, Loc, Module};
use eitri::target::{SpaceId, Target};
use gimli::constants as dw;

use crate::sabotage::patches::Patches;
use crate::sabotage::{Expected, all_found, missed, sections};

/// Size of the function in bytes.
const BYTES: u64 = 0x80;

type Masks = Vec<(Range<u64>, u16)>;

/// Scalar registers by pc: of the mask of the region, and of the active lanes of whole-wave code.
struct Kernel {
    region: Masks,
    active: Masks,
}

/// Kernel with a divergent region over 0x10..0x60 whose mask moves, followed by whole-wave code. Variable `m` is in
/// the mask's register and variable `b` in the frame base's, except at one instruction each. At another instruction,
/// `b` has two locations. Variable `p` is in local memory, at the address in the frame base's register.
fn module(kernel: &Kernel) -> Module {
    let gpu = Target::named("amdgpu-gfx1030-wave32").unwrap();
    let s = |number: u16| Loc::register(gpu.sgpr(number).unwrap());
    let mut m = Builder::new(gpu.clone());
    let unit = m.unit("a.cl");
    let uint = m.base_type(unit, "uint", BaseEncoding::Unsigned, 32).unwrap();
    let base = m.procedure(unit, &s(20)).unwrap();
    let function = m.function(unit, "k").unwrap().code("k", BYTES).frame_base(&Loc::call(base)).unwrap().id();
    let masks: Vec<_> = kernel.region.iter().map(|(pcs, number)| (pcs.clone(), s(*number))).collect();
    m.lanes(function).unwrap().if_then(0x10..0x60, 0xc, &masks).unwrap();
    for (pcs, number) in &kernel.active {
        m.lanes(function).unwrap().whole_wave(pcs.clone(), &s(*number)).unwrap();
    }
    let mut variable = m.variable(function, "m", uint).unwrap();
    for (pcs, number) in [(0..0x20, 6), (0x20..0x24, 30), (0x24..0x40, 6), (0x40..BYTES, 8)] {
        variable.live(pcs, s(number)).unwrap();
    }
    let mut variable = m.variable(function, "b", uint).unwrap();
    variable.live(0..0x20, s(20)).unwrap().live(0x20..0x24, s(30)).unwrap();
    variable.live(0x24..0x30, s(20)).unwrap().live_in(0x30..0x34, &[s(20), s(21)]).unwrap();
    variable.live(0x34..BYTES, s(20)).unwrap();
    let address = Loc::memory(SpaceId::LOCAL, Loc::call(base).read(32));
    m.variable(function, "p", uint).unwrap().live(0..BYTES, address).unwrap();
    m.finish().unwrap()
}

/// The described kernel.
fn truth(consumer: &Consumer) -> Kernel {
    let active = match consumer.attributes.active_lane {
        Some(_) => vec![(0x60..0x68, 10), (0x68..0x70, 12)],
        None => Vec::new(),
    };
    Kernel { region: vec![(0x10..0x40, 6), (0x40..0x60, 8)], active }
}

fn consumers() -> [Consumer; 3] {
    [Consumer::llvm(), Consumer::rocgdb(), Consumer::rocgdb_legacy()]
}

/// A fault in the description of the written kernel.
type Written = fn(&mut Kernel);

#[rustfmt::skip]
const WRITTEN: &[(&str, Written, u64)] = &[
    ("the mask is elsewhere for an instruction", |k| k.region = vec![(0x10..0x20, 6), (0x20..0x24, 7), (0x24..0x40, 6), (0x40..0x60, 8)], 0x20),
    ("the same where the mask stays", |k| k.region = vec![(0x10..0x40, 6), (0x40..0x44, 8), (0x44..0x48, 9), (0x48..0x60, 8)], 0x44),
];

#[test]
fn masks_are_compared_at_their_own_bounds() {
    let mut all = Vec::new();
    for consumer in consumers() {
        let described = truth(&consumer);
        for &(name, change, pc) in WRITTEN {
            let mut written = truth(&consumer);
            change(&mut written);
            let fault = Expected { kind: Location, variable: None, pc: Some(pc), lane: None };
            all.push((
                name,
                missed(&module(&described), &consumer, &sections(&module(&written), &consumer), &fault),
            ));
        }
    }
    all_found("masks", all);
}

/// The consumer with names in `.debug_str`, where [`Patches`] finds them.
fn patchable(mut consumer: Consumer) -> Consumer {
    consumer.forms = vec![(dw::DW_AT_name, dw::DW_FORM_strp)];
    consumer
}

/// Returns the fault in the bytes if it is not found.
fn patched(consumer: &Consumer, fault: &Expected, patch: impl Fn(&mut Patches)) -> Option<String> {
    let truth = module(&truth(consumer));
    let mut patches = Patches { sections: sections(&truth, consumer) };
    patch(&mut patches);
    missed(&truth, consumer, &patches.sections, fault)
}

/// Calls of an entry whose location list has other bounds than the mask.
#[test]
fn calls_of_what_moves_elsewhere_are_found() {
    let consumer = patchable(Consumer::rocgdb());
    let fault = Expected { kind: Location, variable: None, pc: Some(0x20), lane: None };
    let patched = |patch: &dyn Fn(&mut Patches)| patched(&consumer, &fault, patch);
    let mask = patched(&|p| {
        // The location of the procedure is the only list.
        let procedures = p.all(dw::DW_TAG_dwarf_procedure, dw::DW_AT_location);
        let (list, _) = procedures.into_iter().find(|(_, value)| value.len() == 1).unwrap();
        let to = p.entry(dw::DW_TAG_variable, "m").offset as u16;
        let [low, high] = (list as u16).to_le_bytes();
        let at = p.once(".debug_info", &[dw::DW_OP_call2.0, low, high, dw::DW_OP_deref_size.0, 4]);
        p.bytes(".debug_info")[at + 1..at + 3].copy_from_slice(&to.to_le_bytes());
    });
    let base = patched(&|p| {
        let to = p.entry(dw::DW_TAG_variable, "b").offset as u32;
        let value = p.value(dw::DW_TAG_subprogram, "k", dw::DW_AT_frame_base);
        assert_eq!(value[..2], [5, dw::DW_OP_call4.0]);
        value[2..].copy_from_slice(&to.to_le_bytes());
    });
    all_found("calls", vec![("a mask", mask), ("a frame base", base)]);
}

/// Replaces the first bytes of a pattern that occurs once in the location lists.
fn in_lists(p: &mut Patches, from: &[u8], to: &[u8]) {
    let at = p.once(".debug_loclists", from);
    p.bytes(".debug_loclists")[at..at + to.len()].copy_from_slice(to);
}

/// `DW_LLE_offset_pair`.
const PAIR: u8 = 4;

/// Overlapping entries of lists: where a number is read, all its locations must have the same contents.
#[test]
fn doubled_lane_attributes_are_found() {
    let mut all = Vec::new();
    let at = |pc| Expected { kind: Evaluation, variable: None, pc: Some(pc), lane: None };
    for consumer in consumers().map(patchable) {
        // In the overlap, the first location is the described one. Each second location starts 4 bytes early.
        let mask = |p: &mut Patches| in_lists(p, &[PAIR, 0x40, 0x60, 2, 0x90, 0x28], &[PAIR, 0x3c]);
        all.push(("a mask", patched(&consumer, &at(0x3c), mask)));
        let pcs = |p: &mut Patches| in_lists(p, &[PAIR, 0x10, 0x60, 9], &[PAIR, 0x0c]);
        all.push(("the pcs of lanes", patched(&consumer, &at(0x0c), pcs)));
        if consumer.attributes.active_lane.is_some() {
            let active = |p: &mut Patches| in_lists(p, &[PAIR, 0x68, 0x70, 2, 0x90, 0x2c], &[PAIR, 0x64]);
            all.push(("active lanes", patched(&consumer, &at(0x64), active)));
        }
        let called = |p: &mut Patches| {
            let to = p.entry(dw::DW_TAG_variable, "b").offset as u32;
            let value = p.value(dw::DW_TAG_variable, "p", dw::DW_AT_location);
            assert_eq!(value[1], dw::DW_OP_call4.0);
            value[2..6].copy_from_slice(&to.to_le_bytes());
        };
        let fault = Expected { variable: Some("p"), ..at(0x30) };
        all.push(("the address of a variable", patched(&consumer, &fault, called)));
    }
    all_found("places that are read", all);
}

/// Findings name attributes by the consumer's numbers.
#[test]
fn findings_name_attributes_as_the_consumer_does() {
    for consumer in [Consumer::rocgdb(), Consumer::rocgdb_legacy()].map(patchable) {
        let described = module(&truth(&consumer));
        let silent = {
            let mut m = Builder::new(described.target().clone());
            let unit = m.unit("a.cl");
            m.function(unit, "k").unwrap().code("k", BYTES);
            m.finish().unwrap()
        };
        // A second attribute with the number of lanes replaces the one with their pcs.
        let mut twice = Patches { sections: sections(&described, &consumer) };
        let lane_pc = consumer.attributes.lane_pc.unwrap();
        let lanes = consumer.attributes.lanes.unwrap();
        twice.rename(dw::DW_TAG_subprogram, "k", lane_pc, lanes);
        let written = sections(&described, &consumer);
        for (truth, sections, name) in [
            (&silent, &written, "DW_AT_LLVM_lane_pc"),
            (&silent, &written, "DW_AT_LLVM_active_lane"),
            (&described, &twice.sections, "DW_AT_LLVM_lanes once"),
        ] {
            let object = crate::sabotage::object(&described, sections);
            let text = eitri::check(truth, &consumer, &[], &object).unwrap().to_string();
            let is_named = text.contains(name) && !text.contains("ptrauth") && !text.contains("inhabitants");
            assert!(is_named, "{name} is a name of the consumer's: {text}");
        }
    }
}

/// The omission of active lanes in whole-wave code, which a consumer lacks, excuses no pcs of lanes.
#[test]
fn lane_pc_is_compared_in_whole_wave_code() {
    let consumer = patchable(Consumer::llvm());
    let described = module(&Kernel { region: vec![(0x10..0x60, 6)], active: vec![(0x20..0x30, 10)] });
    let written = lower(&described, &consumer, Policy::Partial).unwrap();
    assert_eq!(written.omissions.len(), 1, "the active lanes");
    let check = |patch: &dyn Fn(&mut Patches)| {
        let mut patches = Patches { sections: written.sections.clone() };
        patch(&mut patches);
        let object = crate::sabotage::object(&described, &patches.sections);
        let report = eitri::check(&described, &consumer, &written.omissions, &object).unwrap();
        let pcs = report.findings.iter().filter_map(|one| one.at.pcs.clone());
        pcs.map(|pcs| pcs.start).collect::<Vec<_>>()
    };
    assert!(check(&|_| ()).is_empty());
    // An entry calls three procedures: for no lane, the region, and the active lanes.
    let garbage = |p: &mut Patches| {
        let at = p.once(".debug_loclists", &[PAIR, 0x20, 0x30, 9]) + 4;
        p.bytes(".debug_loclists")[at..at + 3].copy_from_slice(&[dw::DW_OP_drop.0, dw::DW_OP_minus.0, 0xff]);
    };
    assert_eq!(check(&garbage), [0x20, 0x2f]);
    let missing = |p: &mut Patches| in_lists(p, &[PAIR, 0x20, 0x30, 9], &[PAIR, 0x2f]);
    assert_eq!(check(&missing), [0x20, 0x2e]);
}

/// Two entries of a list at a pc are two locations, even of one expression: the extension requires a single one.
#[test]
fn overlapping_entries_of_lane_pc_are_found() {
    for consumer in consumers().map(patchable) {
        let described = module(&Kernel { region: vec![(0x10..0x60, 6)], active: Vec::new() });
        let mut patches = Patches { sections: sections(&described, &consumer) };
        // The entry after the region has the expression of the entry before it.
        let at = patches.once(".debug_loclists", &[PAIR, 0x60, BYTES as u8 | 0x80, 1, 6]);
        patches.bytes(".debug_loclists")[at + 1] = 0x08;
        let object = crate::sabotage::object(&described, &patches.sections);
        let report = eitri::check(&described, &consumer, &[], &object).unwrap();
        let is_found = |pc| {
            let mut findings = report.findings.iter();
            findings
                .any(|one| one.kind == Evaluation && one.at.pcs.as_ref().is_some_and(|pcs| pcs.contains(&pc)))
        };
        assert!([0x08, 0x0f].into_iter().all(is_found), "{}: {report}", consumer.name);
    }
}
