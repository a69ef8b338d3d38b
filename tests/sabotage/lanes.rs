//! Faults of where lanes stand: the mask of a region, and which lanes are active.

use core::ops::Range;

use eitri::build::Builder;
use eitri::check::Kind::Location;
use eitri::lower::Consumer;
use eitri::model::{BaseEncoding, Loc, Module};
use eitri::target::Target;
use gimli::constants as dw;

use crate::patches::Patches;
use crate::{Expected, all_found, missed, sections};

/// Bytes of the function.
const BYTES: u64 = 0x80;

type Masks = Vec<(Range<u64>, u16)>;

/// Scalar registers by pc: in which the mask of the region is, and in which the lanes that are active in whole-wave
/// code are.
struct Kernel {
    region: Masks,
    active: Masks,
}

/// A kernel with a divergent region over 0x10..0x60 whose mask moves, and with whole-wave code behind it. The
/// variable `m` is where the mask is, and `b` where the frame base is, but for one instruction.
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
    for (name, from, to) in [("m", 6, 8), ("b", 20, 20)] {
        let mut variable = m.variable(function, name, uint).unwrap();
        for (pcs, number) in [(0..0x20, from), (0x20..0x24, 30), (0x24..0x40, from), (0x40..BYTES, to)] {
            variable.live(pcs, s(number)).unwrap();
        }
    }
    m.finish().unwrap()
}

/// What is described.
fn truth(consumer: &Consumer) -> Kernel {
    let active = match consumer.active_lane {
        Some(_) => vec![(0x60..0x68, 10), (0x68..0x70, 12)],
        None => Vec::new(),
    };
    Kernel { region: vec![(0x10..0x40, 6), (0x40..0x60, 8)], active }
}

fn consumers() -> [Consumer; 3] {
    [Consumer::llvm(), Consumer::rocgdb(), Consumer::rocgdb_legacy()]
}

/// Faults of the description: what was written instead.
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

/// What is called is elsewhere by pcs of its own.
#[test]
fn calls_of_what_moves_elsewhere_are_found() {
    let mut consumer = Consumer::rocgdb();
    consumer.forms = vec![(dw::DW_AT_name, dw::DW_FORM_strp)];
    let truth = module(&truth(&consumer));
    let patched = |patch: &dyn Fn(&mut Patches)| {
        let mut patches = Patches { sections: sections(&truth, &consumer) };
        patch(&mut patches);
        let fault = Expected { kind: Location, variable: None, pc: Some(0x20), lane: None };
        missed(&truth, &consumer, &patches.sections, &fault)
    };
    let mask = patched(&|p| {
        // The location of the procedure is the only one that is a list.
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
