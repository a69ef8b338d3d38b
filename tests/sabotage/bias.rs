//! Faults: addresses that are not relocated by the loader, and constants that are (DWARF 5, 2.5.1.1, `DW_OP_constx`;
//! the extension, A.2.5.4.4.3, `DW_OP_addr`).

use eitri::build::Builder;
use eitri::check::FindingKind::{self, Location};
use eitri::lower::Consumer;
use eitri::model::{BaseEncoding, Loc, Module, Val};
use eitri::target::{SpaceId, Target};
use gimli::constants as dw;

use crate::sabotage::patches::Patches;
use crate::sabotage::{Expected, all_found, missed, sections};

/// Function with two variables: one at the address of a symbol, and one whose value is that address. For a GPU also
/// variables in local and generic memory at the address of a symbol, and a divergent region.
fn module(target: &Target) -> Module {
    let mut m = Builder::new(target.clone());
    let unit = m.unit("a.cl");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
    let long = m.base_type(unit, "long", BaseEncoding::Unsigned, 64).unwrap();
    let data = m.symbol("data");
    m.variable(unit, "g", int).unwrap().external().always(Loc::global_symbol(data)).unwrap();
    let function = m.function(unit, "k").unwrap().code("k", 0x40).id();
    let value = Loc::value(Val::address(data, 4));
    m.variable(function, "to_g", long).unwrap().live(0..0x40, value).unwrap();
    if let Ok(s6) = target.sgpr(6) {
        m.variable(function, "l", int).unwrap().live(0..0x40, Loc::local_symbol(data)).unwrap();
        let flat = Loc::memory(SpaceId::GENERIC, Val::address(data, 0));
        m.variable(function, "f", int).unwrap().live(0..0x40, flat).unwrap();
        m.lanes(function).unwrap().if_then(0x10..0x20, 0xc, &[(0..0x40, Loc::register(s6))]).unwrap();
    }
    m.finish().unwrap()
}

/// Returns the operation with the same operand that swaps address and constant.
fn other(code: u8) -> u8 {
    match gimli::DwOp(code) {
        dw::DW_OP_addrx => dw::DW_OP_constx.0,
        dw::DW_OP_constx => dw::DW_OP_addrx.0,
        dw::DW_OP_addr => dw::DW_OP_const8u.0,
        dw::DW_OP_const8u => dw::DW_OP_addr.0,
        _ => panic!("operation {code:#04x}"),
    }
}

/// Replaces the first operation of a variable's location.
fn of_variable(p: &mut Patches, name: &str) {
    let value = p.value(dw::DW_TAG_variable, name, dw::DW_AT_location);
    value[1] = other(value[1]);
}

/// Replaces the first operation of the pc at which lanes of the region wait.
fn of_region(p: &mut Patches) {
    let is_region = |value: &[u8]| [dw::DW_OP_addr.0, dw::DW_OP_addrx.0].contains(&value[1]);
    let procedures = p.all(dw::DW_TAG_dwarf_procedure, dw::DW_AT_location);
    let (_, value) = procedures.into_iter().find(|(_, value)| is_region(value)).unwrap();
    let at = p.once(".debug_info", &value);
    p.bytes(".debug_info")[at + 1] = other(value[1]);
}

type Fault = (&'static str, fn(&mut Patches), FindingKind, Option<&'static str>);

const FAULTS: [Fault; 2] = [
    ("an address that is a constant", |p| of_variable(p, "g"), Location, Some("g")),
    ("the value of an address that is a constant", |p| of_variable(p, "to_g"), Location, Some("to_g")),
];

const OF_GPUS: [Fault; 3] = [
    ("an address of generic memory that is a constant", |p| of_variable(p, "f"), Location, Some("f")),
    ("an address of local memory that is relocated", |p| of_variable(p, "l"), Location, Some("l")),
    ("where lanes wait is a constant", of_region, Location, None),
];

#[test]
fn wrong_relocation_is_found() {
    let gpu = Target::named("amdgpu-gfx1030-wave32").unwrap();
    let mut all = Vec::new();
    for (target, mut consumer) in [
        (Target::x86_64(), Consumer::dwarf5()),
        (gpu.clone(), Consumer::llvm()),
        (gpu.clone(), Consumer::rocgdb()),
        (gpu, Consumer::rocgdb_legacy()),
    ] {
        consumer.forms = vec![(dw::DW_AT_name, dw::DW_FORM_strp)];
        let is_gpu = target.lanes() > 1;
        for version in 4..=5 {
            consumer.version = version;
            let truth = module(&target);
            for (name, patch, kind, variable) in
                FAULTS.into_iter().chain(OF_GPUS.into_iter().filter(|_| is_gpu))
            {
                let mut patches = Patches { sections: sections(&truth, &consumer) };
                patch(&mut patches);
                let fault = Expected { kind, variable, pc: None, lane: None };
                all.push((name, missed(&truth, &consumer, &patches.sections, &fault)));
            }
        }
    }
    all_found("relocated addresses", all);
}
