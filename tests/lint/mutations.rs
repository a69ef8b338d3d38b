//! One-bit changes of an object that is clean: what they are found as.

use std::collections::BTreeMap;

use eitri::build::Builder;
use eitri::emit::elf::{Code as Text, new_object};
use eitri::lint::{Options, lint};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, Loc, Val};
use eitri::read::Object;
use eitri::target::{SpaceId, Target};

/// An object with two functions with frames, and variables in scalar and vector registers, in memory and in pieces.
fn clean() -> Vec<u8> {
    let target = Target::named("amdgpu-gfx1030-wave32").expect("a target");
    let (s4, s5, s32, v3) = ("s4", "s5", "s32", "v3");
    let register = |name| target.register_named(name).expect("a register");
    let returned = [register("s30"), register("s31")];
    let mut m = Builder::new(target.clone());
    let unit = m.unit("a.cl");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
    let long = m.base_type(unit, "long", BaseEncoding::Signed, 64).expect("a type");
    for name in ["f", "g"] {
        let function = m.function(unit, name).expect("a function").code(name, 0x20).id();
        let mut frame = m.frame(function).expect("a frame");
        let base = Loc::memory(SpaceId::PRIVATE_WAVE, Val::register(register(s32)));
        frame.cfa(0..0x20, base).expect("a rule");
        frame.return_address(0..0x20, returned[0], returned[1]).expect("a rule");
        let mut x = m.variable(function, "x", int).expect("a variable");
        x.live(4..0x10, Loc::register(register(s4))).expect("a range");
        x.live(0x10..0x1c, Loc::per_lane(register(v3))).expect("a range");
        let mut y = m.variable(function, "y", long).expect("a variable");
        let parts = [(Loc::register(register(s4)), 32), (Loc::register(register(s5)), 32)];
        y.live(0..0x18, Loc::parts(parts)).expect("a range");
    }
    let module = m.finish().expect("a module");
    let written = lower(&module, &Consumer::llvm(), Policy::Strict).expect("it is lowered");
    let code =
        Text::text([0, 0, 0x80, 0xbf].repeat(16)).with_function("f", 0, 0x20).with_function("g", 0x20, 0x20);
    new_object(module.target(), &code, &written.sections).expect("an object")
}

#[test]
fn an_object_of_this_crate_is_clean() {
    let report = lint(&clean(), &Options::default()).expect("it is read");
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    assert_eq!((report.functions, report.entries), (2, 6));
}

/// Each bit of the sections with units, lists and frames is changed alone.
#[test]
fn one_changed_bit_is_found() {
    let object = clean();
    let read = Object::read(&object).expect("it is read");
    let mut found = BTreeMap::<&'static str, usize>::new();
    for name in [".debug_info", ".debug_loclists", ".debug_frame"] {
        let data = &read.section(name).expect("the section").data;
        // Relocated fields are zero in the file: a window without relocated fields locates the section.
        let window = data.windows(12).enumerate().find_map(|(at, window)| {
            let mut places = object.windows(12).enumerate().filter(|(_, other)| *other == window);
            let first = places.next()?.0;
            places.next().is_none().then_some(first - at)
        });
        let start = window.expect("the section is in the file");
        for bit in 0..8 * data.len() {
            let mut changed = object.clone();
            changed[start + bit / 8] ^= 1 << (bit % 8);
            match lint(&changed, &Options::default()) {
                Ok(report) if report.findings.is_empty() => *found.entry("nothing").or_default() += 1,
                Ok(report) => {
                    for finding in &report.findings {
                        *found.entry(finding.code.name()).or_default() += 1;
                    }
                }
                Err(_) => *found.entry("an error").or_default() += 1,
            }
        }
    }
    let codes = [
        "bad-frame-instruction",
        "bad-reference",
        "constant-as-address",
        "extent-not-code",
        "foreign-range",
        "ill-formed",
        "no-cfa",
        "no-frame-base",
        "one-name-two-types",
        "pieces-beyond-type",
        "range-outside-functions",
        "reversed-range",
        "unknown-register",
        "zero-size-type",
        "an error",
    ];
    for code in codes {
        assert!(found.contains_key(code), "{code}: {found:?}");
    }
}
