//! A stack slot is at an offset from the base of the function's frame. The frame of a kernel is at address 0 of
//! private memory. Other functions get the base in a register, s32 or s33 by the calling convention (AMDGPU back end
//! user guide, "Call Convention": "SGPR32 … unswizzled stack pointer"). Without a base, the offset would be an
//! address in the kernel's frame.

use eitri::Result;
use eitri::build::VariableBuilder;
use eitri::model::{Loc, SourceLine, Val};

use crate::strict::{Start, gpu, start};

/// Call with a slot.
type Call = fn(&mut Start) -> Result<()>;

fn x(a: &mut Start) -> Result<VariableBuilder<'_>> {
    a.m.variable(a.f, "x", a.int)
}

#[rustfmt::skip]
const SLOTS: &[(&str, Call)] = &[
    ("live", |a| x(a)?.live(8..16, Loc::stack_slot(4)).map(drop)),
    ("live_in", |a| x(a)?.live_in(8..16, &[Loc::local(0), Loc::stack_slot(4)]).map(drop)),
    ("always", |a| x(a)?.always(Loc::stack_slot(4)).map(drop)),
    ("a part", |a| x(a)?.live(8..16, Loc::parts([(Loc::local(0), 16), (Loc::stack_slot(4), 16)])).map(drop)),
    ("a pointer", |a| x(a)?.live(8..16, Loc::value(Val::stack_address(4))).map(drop)),
    ("in a block", |a| {
        let block = a.m.block(a.f, &[8..16])?;
        a.m.variable(block, "x", a.int)?.always(Loc::stack_slot(4)).map(drop)
    }),
    ("an inlined variable", |a| {
        let inner = a.m.function(a.unit, "inner")?.id();
        let of = a.m.variable(inner, "x", a.int)?.id();
        let line = SourceLine::new(a.m.primary_file(a.unit)?, 1);
        let call = a.m.inlined(a.f, inner, &[8..16], line)?;
        a.m.inlined_variable(call, of)?.live(8..16, Loc::stack_slot(4)).map(drop)
    }),
    ("a procedure", |a| {
        let inner = a.m.procedure(a.unit, &Loc::stack_slot(4))?;
        let outer = a.m.procedure(a.unit, &Loc::call(inner))?;
        x(a)?.live(8..16, Loc::call(outer)).map(drop)
    }),
];

#[test]
fn a_function_has_no_slot_without_a_base() {
    let mut a = start(gpu());
    x(&mut a).expect("a variable").live(8..16, Loc::stack_slot(4)).expect("the base may come later");
    let error = a.m.finish().expect_err("private address 4").to_string();
    assert!(error.starts_with("unit `a.cl`, function `f`, variable `x`, pc 0x8..0x10: "), "{error}");
    assert!(error.contains("stack_base") && error.contains("kernel"), "{error}");
}

/// Every call with a slot is refused without a base.
#[test]
fn neither_has_anything_else() {
    for (name, slot) in SLOTS {
        let mut a = start(gpu());
        slot(&mut a).unwrap_or_else(|error| panic!("{name}: {error}"));
        let error = a.m.finish().err().unwrap_or_else(|| panic!("{name}: private address 4")).to_string();
        assert!(error.contains("variable `x`") && error.contains("stack_base"), "{name}: {error}");
    }
}

#[rustfmt::skip]
const BASES: &[(&str, Call)] = &[
    ("a base", |a| { let s33 = a.m.target().sgpr(33)?; a.m.describe_function(a.f)?.stack_base(s33).map(drop) }),
    ("a kernel", |a| { a.m.describe_function(a.f)?.kernel(); Ok(()) }),
    ("a function that the host enters", |a| a.m.frame(a.f)?.entry_function().map(drop)),
];

#[test]
fn slots_require_a_base_in_any_call_order() {
    for (slot_name, slot) in SLOTS {
        for (base_name, base) in BASES {
            for is_first in [true, false] {
                let mut a = start(gpu());
                let (first, second) = if is_first { (base, slot) } else { (slot, base) };
                let done = first(&mut a).and_then(|()| second(&mut a)).and_then(|()| a.m.finish().map(drop));
                assert!(done.is_ok(), "{slot_name}, {base_name}, {is_first}: {done:?}");
            }
        }
    }
}
