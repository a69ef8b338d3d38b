//! Mistakes in descriptions that pass in silence elsewhere: each is an error, or a warning with a name, by builder calls and
//! by JSON. `goldens/errors/mistakes.txt` lists them.

use eitri::Result;
use eitri::build::{DataMember, Extent};
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{
    Address, BaseEncoding, DescribedCalls, LineTableRow, Loc, Module, SourceLine, Val, VariantValues,
};
use eitri::spirv::{Binding, Id, Mode, attach};
use eitri::target::{Gfx, SpaceId, Target, Wave};

use crate::common::check_golden;
use crate::common::tools::{Folder, Tool};
use crate::strict::{Start, gpu, start};

/// A mistake: what it is, on which target, the call, and the statements in JSON after those of [`START`].
struct Mistake {
    what: &'static str,
    target: fn() -> Target,
    call: &'static str,
    describe: fn(&mut Start) -> Result<()>,
    json: &'static str,
}

/// The statements of [`start`].
const START: &str = r#"
{"unit": {"name": "a.cl"}},
{"base_type": {"unit": "a.cl", "name": "int", "encoding": "signed", "bits": 32}},
{"function": {"in": "a.cl", "name": "f", "code": {"symbol": "f", "bytes": 64}}}"#;

fn gfx1100() -> Target {
    Target::amdgpu(Gfx::GFX1100, Wave::W32).expect("a target")
}

fn s4() -> Loc {
    Loc::register(gpu().sgpr(4).expect("a register"))
}

fn s6() -> Loc {
    Loc::register(gpu().sgpr(6).expect("a register"))
}

fn line(a: &Start) -> Result<SourceLine> {
    Ok(SourceLine::new(a.m.primary_file(a.unit)?, 1))
}

macro_rules! mistakes { ($($what:literal, $target:expr, $call:literal, |$a:ident| $body:expr, $json:literal;)*) => {
    &[$(Mistake { what: $what, target: $target, call: $call, describe: |$a| { $body; Ok(()) }, json: $json }),*]
} }

#[rustfmt::skip]
const MISTAKES: &[Mistake] = mistakes! {
    "live range outside the block", gpu, "live(0x10..0x20, s4) in a block 0x0..0x10", |a| {
        let block = a.m.block(a.f, &[0..16])?;
        a.m.variable(block, "n", a.int)?.live(16..32, s4())?
    }, r#"{"block": {"in": "f", "pcs": [[0, 16]], "id": "b"}},
        {"variable": {"in": "b", "name": "n", "type": "int", "live": [[16, 32, {"register": "s4"}]]}}"#;
    "live range partly outside the inlined call", gpu, "live(0x8..0x20, s4) in a call 0x0..0x10", |a| {
        let line = line(a)?;
        let inner = a.m.function(a.unit, "inner")?.id();
        let n = a.m.variable(inner, "n", a.int)?.id();
        let call = a.m.inlined(a.f, inner, &[0..16], line)?;
        a.m.inlined_variable(call, n)?.live(8..32, s4())?
    }, r#"{"function": {"in": "a.cl", "name": "inner"}},
        {"variable": {"in": "inner", "name": "n", "type": "int", "id": "n"}},
        {"inlined": {"in": "f", "function": "inner", "pcs": [[0, 16]], "call": ["a.cl", 1], "id": "c"}},
        {"inlined_variable": {"in": "c", "origin": "n", "live": [[8, 32, {"register": "s4"}]]}}"#;
    "array bound that is another function's variable", gpu, "variable(f, array_of(int, [Extent::variable(n of g)]))", |a| {
        let g = a.m.function(a.unit, "g")?.code("g", 64).id();
        let n = a.m.variable(g, "n", a.int)?.always(s4())?.id();
        let ty = a.m.array_of(a.unit, a.int, &[Extent::variable(n)], None)?;
        a.m.variable(a.f, "x", ty)?.always(Loc::local(8))?
    }, r#"{"function": {"in": "a.cl", "name": "g", "code": {"symbol": "g", "bytes": 64}}},
        {"variable": {"in": "g", "name": "n", "type": "int", "id": "n", "always": {"register": "s4"}}},
        {"array": {"unit": "a.cl", "of": "int", "extents": [{"variable": "n"}], "id": "t"}},
        {"variable": {"in": "f", "name": "x", "type": "t", "always": {"memory": ["local", 8]}}}"#;
    "`always` twice on one variable", gpu, "always(s4).always(s6)", |a| {
        a.m.variable(a.f, "n", a.int)?.always(s4())?.always(s6())?
    }, r#"{"variable": {"in": "f", "name": "n", "type": "int", "id": "n", "always": {"register": "s4"}}},
        {"describe_variable": {"variable": "n", "always": {"register": "s6"}}}"#;
    "constant value after a location", gpu, "always(s4).const_value([7, 0, 0, 0])", |a| {
        a.m.variable(a.f, "n", a.int)?.always(s4())?.const_value(&[7, 0, 0, 0])?
    }, r#"{"variable": {"in": "f", "name": "n", "type": "int", "id": "n", "always": {"register": "s4"}}},
        {"describe_variable": {"variable": "n", "const_value": "07000000"}}"#;
    "8 bytes of `implicit` for a 4-byte type", gpu, "live(0x0..0x40, implicit(8 bytes))", |a| {
        a.m.variable(a.f, "n", a.int)?.live(0..64, Loc::implicit(&[7, 0, 0, 0, 0, 0, 0, 0]))?
    }, r#"{"variable": {"in": "f", "name": "n", "type": "int", "live": [[0, 64, {"implicit": "0700000000000000"}]]}}"#;
    "EXEC as a region's mask", gpu, "if_then(0x10..0x20, 0xc, [exec])", |a| {
        let exec = Loc::register(a.m.target().exec().expect("a register"));
        a.m.lanes(a.f)?.if_then(16..32, 12, &[(16..32, exec)])?
    }, r#"{"region": {"in": "f", "kind": "then", "pcs": [16, 32], "waits_at": 12, "masks": [[16, 32, {"register": "exec"}]]}}"#;
    "EXEC's value as a region's mask", gpu, "if_then(0x10..0x20, 0xc, [value of exec])", |a| {
        let exec = Loc::value(Val::register(a.m.target().exec().expect("a register")));
        a.m.lanes(a.f)?.if_then(16..32, 12, &[(16..32, exec)])?
    }, r#"{"region": {"in": "f", "kind": "then", "pcs": [16, 32], "waits_at": 12, "masks": [[16, 32, {"value": {"register": "exec"}}]]}}"#;
    "EXEC as the mask of whole-wave code", gpu, "whole_wave(0x10..0x20, exec)", |a| {
        let exec = Loc::register(a.m.target().exec().expect("a register"));
        a.m.lanes(a.f)?.whole_wave(16..32, &exec)?
    }, r#"{"whole_wave": {"in": "f", "pcs": [16, 32], "mask": {"register": "exec"}}}"#;
    "`if_then` that waits inside its own range", gpu, "if_then(0x10..0x20, 0x14, [s6])", |a| {
        a.m.lanes(a.f)?.if_then(16..32, 20, &[(16..32, s6())])?
    }, r#"{"region": {"in": "f", "kind": "then", "pcs": [16, 32], "waits_at": 20, "masks": [[16, 32, {"register": "s6"}]]}}"#;
    "`else` before `then`", gpu, "if_else(0x18..0x20, 0x10..0x18, 0xc, 0x20, [s6])", |a| {
        a.m.lanes(a.f)?.if_else(24..32, 16..24, 12, 32, &[(16..32, s6())])?
    }, r#"{"region": {"in": "f", "kind": "then", "pcs": [24, 32], "waits_at": 12, "masks": [[16, 32, {"register": "s6"}]]}},
        {"region": {"in": "f", "kind": "else", "pcs": [16, 24], "waits_at": 32, "masks": [[16, 32, {"register": "s6"}]]}}"#;
    "`if_else` whose `start` and `end` are swapped", gpu, "if_else(0x10..0x18, 0x18..0x20, 0x20, 0xc, [s6])", |a| {
        a.m.lanes(a.f)?.if_else(16..24, 24..32, 32, 12, &[(16..32, s6())])?
    }, r#"{"region": {"in": "f", "kind": "then", "pcs": [16, 24], "waits_at": 32, "masks": [[16, 32, {"register": "s6"}]]}},
        {"region": {"in": "f", "kind": "else", "pcs": [24, 32], "waits_at": 12, "masks": [[16, 32, {"register": "s6"}]]}}"#;
    "second side of an `if` that waits before its end", gpu, "if_else(0x10..0x18, 0x18..0x20, 0xc, 0x8, [s6])", |a| {
        a.m.lanes(a.f)?.if_else(16..24, 24..32, 12, 8, &[(16..32, s6())])?
    }, r#"{"region": {"in": "f", "kind": "then", "pcs": [16, 24], "waits_at": 12, "masks": [[16, 32, {"register": "s6"}]]}},
        {"region": {"in": "f", "kind": "else", "pcs": [24, 32], "waits_at": 8, "masks": [[16, 32, {"register": "s6"}]]}}"#;
    "local address beyond the target's local memory", gpu, "live(0x0..0x40, local(0x10000))", |a| {
        a.m.variable(a.f, "n", a.int)?.live(0..64, Loc::local(0x1_0000))?
    }, r#"{"variable": {"in": "f", "name": "n", "type": "int", "live": [[0, 64, {"memory": ["local", 65536]}]]}}"#;
    "variable that exceeds the target's local memory", gpu, "live(0x0..0x40, local(0xfffe))", |a| {
        a.m.variable(a.f, "n", a.int)?.live(0..64, Loc::local(0xfffe))?
    }, r#"{"variable": {"in": "f", "name": "n", "type": "int", "live": [[0, 64, {"memory": ["local", 65534]}]]}}"#;
    "two functions on the same code", gpu, "function(g).code(\"f\", 64)", |a| {
        a.m.function(a.unit, "g")?.code("f", 64)
    }, r#"{"function": {"in": "a.cl", "name": "g", "code": {"symbol": "f", "bytes": 64}}}"#;
    "two functions on overlapping code", gpu, "function(g).address(0x100, 64), function(h).address(0x120, 64)", |a| {
        a.m.function(a.unit, "g")?.address(Address::Constant(0x100), 64);
        a.m.function(a.unit, "h")?.address(Address::Constant(0x120), 64)
    }, r#"{"function": {"in": "a.cl", "name": "g", "code": {"address": 256, "bytes": 64}}},
        {"function": {"in": "a.cl", "name": "h", "code": {"address": 288, "bytes": 64}}}"#;
    "function of 0 bytes", Target::x86_64, "code(\"g\", 0)", |a| {
        a.m.function(a.unit, "g")?.code("g", 0)
    }, r#"{"function": {"in": "a.cl", "name": "g", "code": {"symbol": "g", "bytes": 0}}}"#;
    "kernel without code", gpu, "function(k).kernel()", |a| {
        a.m.function(a.unit, "k")?.kernel()
    }, r#"{"function": {"in": "a.cl", "name": "k", "kernel": true}}"#;
    "integer of 4 bits", gpu, "base_type(\"int\", Signed, 4)", |a| {
        a.m.base_type(a.unit, "int", BaseEncoding::Signed, 4)?
    }, r#"{"base_type": {"unit": "a.cl", "name": "int", "encoding": "signed", "bits": 4, "id": "t"}}"#;
    "float of 33 bits", gpu, "base_type(\"float\", Float, 33)", |a| {
        a.m.base_type(a.unit, "float", BaseEncoding::Float, 33)?
    }, r#"{"base_type": {"unit": "a.cl", "name": "float", "encoding": "float", "bits": 33}}"#;
    "overlapping members", gpu, "member(\"x\", int, 0), member(\"y\", int, 2)", |a| {
        let pair = a.m.structure(a.unit, Some("pair"), 8)?;
        a.m.member(pair, "x", a.int, 0)?.member(pair, "y", a.int, 2)?
    }, r#"{"structure": {"unit": "a.cl", "name": "pair", "bytes": 8}},
        {"member": {"unit": "a.cl", "of": "pair", "name": "x", "type": "int", "offset": 0}},
        {"member": {"unit": "a.cl", "of": "pair", "name": "y", "type": "int", "offset": 2}}"#;
    "overlapping bit fields", gpu, "bit_field(\"x\", 0, 5), bit_field(\"y\", 4, 5)", |a| {
        let pair = a.m.structure(a.unit, Some("pair"), 4)?;
        a.m.bit_field(pair, "x", a.int, 0, 5)?.bit_field(pair, "y", a.int, 4, 5)?
    }, r#"{"structure": {"unit": "a.cl", "name": "pair", "bytes": 4}},
        {"member": {"unit": "a.cl", "of": "pair", "name": "x", "type": "int", "offset_bits": 0, "bits": 5}},
        {"member": {"unit": "a.cl", "of": "pair", "name": "y", "type": "int", "offset_bits": 4, "bits": 5}}"#;
    "overlapping members of a variant", gpu, "member(variant, \"x\", int, 4), member(variant, \"y\", int, 6)", |a| {
        let shape = a.m.structure(a.unit, Some("shape"), 12)?;
        let part = a.m.variant_part(shape, DataMember::new("tag", a.int, 0))?;
        let variant = a.m.variant(part, &[VariantValues::Single(0)])?;
        a.m.member(variant, "x", a.int, 4)?.member(variant, "y", a.int, 6)?
    }, r#"{"structure": {"unit": "a.cl", "name": "shape", "bytes": 12}},
        {"variant_part": {"unit": "a.cl", "of": "shape", "id": "part", "discriminant": {"name": "tag", "type": "int", "offset": 0}}},
        {"variant": {"part": "part", "id": "v", "values": [0]}},
        {"member": {"unit": "a.cl", "variant": "v", "name": "x", "type": "int", "offset": 4}},
        {"member": {"unit": "a.cl", "variant": "v", "name": "y", "type": "int", "offset": 6}}"#;
    "two registers of the caller in one lane", gpu, "saved_in_lane(0x0..0x40, s33, v41, 2), saved_in_lane(0x8..0x30, s31, v41, 2)", |a| {
        let [s31, s33, v41] = [a.m.target().sgpr(31)?, a.m.target().sgpr(33)?, a.m.target().vgpr(41)?];
        a.m.frame(a.f)?.entry_function()?.saved_in_lane(0..64, s33, v41, 2)?.saved_in_lane(8..48, s31, v41, 2)?
    }, r#"{"frame": {"function": "f", "entry_function": true, "rules": [
            [0, 64, "s33", {"lane": ["v41", 2]}], [8, 48, "s31", {"lane": ["v41", 2]}]]}}"#;
    "frame base without a rule", gpu, "cfa(0x0..0x1c, s32), cfa(0x1c..0x40, s33)", |a| {
        let [s30, s31, s32, s33] = [30, 31, 32, 33].map(|number| gpu().sgpr(number).expect("a register"));
        let stack = |reg| Loc::memory(SpaceId::PRIVATE_WAVE, Val::register(reg));
        let mut frame = a.m.frame(a.f)?;
        frame.cfa(0..28, stack(s32))?.cfa(28..64, stack(s33))?.return_address(0..64, s30, s31)?;
        frame.saved(8..64, s32, Loc::value(Val::register(s33)))?
    }, r#"{"frame": {"function": "f", "return_address": [[0, 64, "s30", "s31"]], "rules": [
            [0, 28, "cfa", {"memory": ["private_wave", {"register": "s32"}]}],
            [28, 64, "cfa", {"memory": ["private_wave", {"register": "s33"}]}],
            [8, 64, "s32", {"value": {"register": "s33"}}]]}}"#;
    "moved stack pointer without a rule", gpu, "cfa(0x0..0x8, s32), cfa(0x8..0x40, s32 - 0x100)", |a| {
        let [s30, s31, s32] = [30, 31, 32].map(|number| gpu().sgpr(number).expect("a register"));
        let stack = |bytes| Loc::memory(SpaceId::PRIVATE_WAVE, Val::register(s32).plus(bytes));
        a.m.frame(a.f)?.cfa(0..8, stack(0))?.cfa(8..64, stack(-256))?.return_address(0..64, s30, s31)?
    }, r#"{"frame": {"function": "f", "return_address": [[0, 64, "s30", "s31"]], "rules": [
            [0, 8, "cfa", {"memory": ["private_wave", {"register": "s32"}]}],
            [8, 64, "cfa", {"memory": ["private_wave", {"plus": [{"register": "s32"}, -256]}]}]]}}"#;
    "frame at a register with bytes of one lane", gfx1100, "cfa(0x0..0x40, memory(private_wave, s32))", |a| {
        let [s30, s31, s32] = [30, 31, 32].map(|number| gfx1100().sgpr(number).expect("a register"));
        let stack = Loc::memory(SpaceId::PRIVATE_WAVE, Val::register(s32));
        a.m.frame(a.f)?.cfa(0..64, stack)?.return_address(0..64, s30, s31)?
    }, r#"{"frame": {"function": "f", "return_address": [[0, 64, "s30", "s31"]], "rules": [
            [0, 64, "cfa", {"memory": ["private_wave", {"register": "s32"}]}]]}}"#;
    "called kernel", gpu, "function(k).kernel(), call(f).calls(k)", |a| {
        let k = a.m.function(a.unit, "k")?.code("k", 64).kernel().id();
        a.m.describe_function(a.f)?.describes(DescribedCalls::All);
        a.m.call(a.f)?.calls(k)?.returns_to(0x14)?
    }, r#"{"function": {"in": "a.cl", "name": "k", "code": {"symbol": "k", "bytes": 64}, "kernel": true}},
        {"describe_function": {"function": "f", "describes_calls": "all"}},
        {"call": {"in": "f", "calls": "k", "returns_to": 20}}"#;
    "kernel with a return address", gpu, "function(k).kernel(), return_address(0x0..0x40, s30, s31)", |a| {
        let [s30, s31, s32] = [30, 31, 32].map(|number| gpu().sgpr(number).expect("a register"));
        let k = a.m.function(a.unit, "k")?.code("k", 64).kernel().id();
        let stack = Loc::memory(SpaceId::PRIVATE_WAVE, Val::register(s32));
        a.m.frame(k)?.cfa(0..64, stack)?.return_address(0..64, s30, s31)?
    }, r#"{"function": {"in": "a.cl", "name": "k", "code": {"symbol": "k", "bytes": 64}, "kernel": true}},
        {"frame": {"function": "k", "return_address": [[0, 64, "s30", "s31"]], "rules": [
            [0, 64, "cfa", {"memory": ["private_wave", {"register": "s32"}]}]]}}"#;
    "calls without a statement which are described", gpu, "call(f).calls(g).returns_to(0x14)", |a| {
        let g = a.m.function(a.unit, "g")?.code("g", 64).id();
        a.m.call(a.f)?.calls(g)?.returns_to(0x14)?
    }, r#"{"function": {"in": "a.cl", "name": "g", "code": {"symbol": "g", "bytes": 64}}},
        {"call": {"in": "f", "calls": "g", "returns_to": 20}}"#;
    "stack slot outside the frame", gpu, "stack_base(s33), extent(0..0x200), live(0x0..0x40, stack_slot(16))", |a| {
        let [s30, s31, s33] = [30, 31, 33].map(|number| gpu().sgpr(number).expect("a register"));
        let stack = Loc::memory(SpaceId::PRIVATE_WAVE, Val::register(s33));
        a.m.describe_function(a.f)?.stack_base(s33)?;
        a.m.frame(a.f)?.cfa(0..64, stack)?.return_address(0..64, s30, s31)?.extent(0..0x200)?;
        a.m.variable(a.f, "n", a.int)?.live(0..64, Loc::stack_slot(16))?
    }, r#"{"describe_function": {"function": "f", "stack": {"base": "s33"}}},
        {"frame": {"function": "f", "return_address": [[0, 64, "s30", "s31"]], "extent": [0, 512], "rules": [
            [0, 64, "cfa", {"memory": ["private_wave", {"register": "s33"}]}]]}},
        {"variable": {"in": "f", "name": "n", "type": "int", "live": [[0, 64, {"stack_slot": 16}]]}}"#;
    "stack slot before a kernel's frame", gpu, "function(k).kernel(), live(0x0..0x40, stack_slot(-8))", |a| {
        let k = a.m.function(a.unit, "k")?.code("k", 64).kernel().id();
        a.m.variable(k, "n", a.int)?.live(0..64, Loc::stack_slot(-8))?
    }, r#"{"function": {"in": "a.cl", "name": "k", "code": {"symbol": "k", "bytes": 64}, "kernel": true}},
        {"variable": {"in": "k", "name": "n", "type": "int", "live": [[0, 64, {"stack_slot": -8}]]}}"#;
    "two registers for a 32-bit type", gpu, "live(0x0..0x40, over([s4, s5]))", |a| {
        let [s4, s5] = [4, 5].map(|number| gpu().sgpr(number).expect("a register"));
        a.m.variable(a.f, "n", a.int)?.live(0..64, Loc::over([s4, s5]))?
    }, r#"{"variable": {"in": "f", "name": "n", "type": "int", "live": [
            [0, 64, {"parts": [[{"register": "s4"}, 32], [{"register": "s5"}, 32]]}]]}}"#;
    "call that returns to itself", gpu, "at(0x14).returns_to(0x14)", |a| {
        a.m.call(a.f)?.at(0x14)?.returns_to(0x14)?
    }, r#"{"call": {"in": "f", "at": 20, "returns_to": 20}}"#;
    "return address with its words in swapped lanes", gpu, "saved(0x0..0x40, pc, lanes([(v40, 8), (v40, 7)]))", |a| {
        let [v40, pc] = [a.m.target().vgpr(40)?, a.m.target().pc().expect("a register")];
        a.m.frame(a.f)?.cfa(0..64, Loc::memory(SpaceId::PRIVATE_WAVE, Val::constant(0)))?
            .saved(0..64, pc, Loc::lanes([(v40, 8), (v40, 7)]))?
    }, r#"{"frame": {"function": "f", "rules": [[0, 64, "cfa", {"memory": ["private_wave", 0]}],
        [0, 64, "pc", {"lanes": [["v40", 8], ["v40", 7]]}]]}}"#;
    "return address with its words swapped", gpu, "return_address(0x0..0x40, s31, s30)", |a| {
        let [low, high, sp] = [a.m.target().sgpr(30)?, a.m.target().sgpr(31)?, a.m.target().sgpr(32)?];
        a.m.frame(a.f)?.cfa(0..64, Loc::memory(SpaceId::PRIVATE_WAVE, Val::register(sp)))?.return_address(0..64, high, low)?
    }, r#"{"frame": {"function": "f", "rules": [[0, 64, "cfa", {"memory": ["private_wave", {"register": "s32"}]}]],
        "return_address": [[0, 64, "s31", "s30"]]}}"#;
    "return address above the canonical frame address", Target::x86_64, "saved(0x0..0x40, rip, cfa + 8)", |a| {
        let [rip, rsp] = [a.m.target().register_named("rip")?, a.m.target().register_named("rsp")?];
        a.m.frame(a.f)?.cfa(0..64, Loc::memory(SpaceId::DEFAULT, Val::register(rsp).plus(8)))?
            .saved(0..64, rip, Loc::cfa().offset(8))?
    }, r#"{"frame": {"function": "f", "rules": [
        [0, 64, "cfa", {"memory": ["default", {"plus": [{"register": "rsp"}, 8]}]}],
        [0, 64, "rip", {"offset": ["cfa", 8]}]]}}"#;
    "function without a frame beside functions with frames", Target::x86_64, "frame(g).cfa(0x0..0x40, rsp + 8)", |a| {
        let [rip, rsp] = [a.m.target().register_named("rip")?, a.m.target().register_named("rsp")?];
        let g = a.m.function(a.unit, "g")?.code("g", 64).id();
        a.m.frame(g)?.cfa(0..64, Loc::memory(SpaceId::DEFAULT, Val::register(rsp).plus(8)))?
            .saved(0..64, rip, Loc::cfa().offset(-8))?
    }, r#"{"function": {"in": "a.cl", "name": "g", "code": {"symbol": "g", "bytes": 64}}},
        {"frame": {"function": "g", "rules": [
            [0, 64, "cfa", {"memory": ["default", {"plus": [{"register": "rsp"}, 8]}]}], [0, 64, "rip", {"offset": ["cfa", -8]}]]}}"#;
    "slot of the frame in a function without a frame", Target::x86_64, "live(0x0..0x40, cfa - 8)", |a| {
        a.m.variable(a.f, "n", a.int)?.live(0..64, Loc::cfa().offset(-8))?
    }, r#"{"variable": {"in": "f", "name": "n", "type": "int", "live": [[0, 64, {"offset": ["cfa", -8]}]]}}"#;
    "rows from the second instruction on", gpu, "row(f, LineTableRow::new(0x8, file, 1))", |a| {
        let line = line(a)?;
        a.m.row(a.f, LineTableRow::new(8, line.file, 1))?
    }, r#"{"rows": {"function": "f", "rows": [[8, "a.cl", 1]]}}"#;
    "variable twice in a scope", gpu, "variable(f, \"n\", int).declared(line 1), variable(f, \"n\", int).declared(line 1)", |a| {
        let line = line(a)?;
        a.m.variable(a.f, "n", a.int)?.declared(line).live(0..32, s4())?;
        a.m.variable(a.f, "n", a.int)?.declared(line).live(32..64, s6())?
    }, r#"{"variable": {"in": "f", "name": "n", "type": "int", "declared": ["a.cl", 1], "live": [[0, 32, {"register": "s4"}]]}},
        {"variable": {"in": "f", "name": "n", "type": "int", "declared": ["a.cl", 1], "live": [[32, 64, {"register": "s6"}]]}}"#;
    "instance of a variable twice in an inlined call", gpu, "inlined_variable(call, n), inlined_variable(call, n)", |a| {
        let line = line(a)?;
        let inner = a.m.function(a.unit, "inner")?.id();
        let n = a.m.variable(inner, "n", a.int)?.id();
        let call = a.m.inlined(a.f, inner, &[0..16], line)?;
        a.m.inlined_variable(call, n)?.live(0..8, s4())?;
        a.m.inlined_variable(call, n)?.live(8..16, s6())?
    }, r#"{"function": {"in": "a.cl", "name": "inner"}},
        {"variable": {"in": "inner", "name": "n", "type": "int", "id": "n"}},
        {"inlined": {"in": "f", "function": "inner", "pcs": [[0, 16]], "call": ["a.cl", 1], "id": "c"}},
        {"inlined_variable": {"in": "c", "origin": "n", "live": [[0, 8, {"register": "s4"}]]}},
        {"inlined_variable": {"in": "c", "origin": "n", "live": [[8, 16, {"register": "s6"}]]}}"#;
    "blocks with common code", gpu, "block(f, 0x0..0x10), block(f, 0x20..0x28 and 0xc..0x18)", |a| {
        a.m.block(a.f, &[0..16])?;
        a.m.block(a.f, &[32..40, 12..24])?
    }, r#"{"block": {"in": "f", "pcs": [[0, 16]], "id": "b"}}, {"block": {"in": "f", "pcs": [[32, 40], [12, 24]], "id": "c"}}"#;
    "inlined call that shares code with a block beside it", gpu, "block(f, 0x8..0x10), inlined(f, inner, 0x4..0xc)", |a| {
        let line = line(a)?;
        let inner = a.m.function(a.unit, "inner")?.id();
        a.m.block(a.f, &[8..16])?;
        a.m.inlined(a.f, inner, &[4..12], line)?
    }, r#"{"function": {"in": "a.cl", "name": "inner"}}, {"block": {"in": "f", "pcs": [[8, 16]], "id": "b"}},
        {"inlined": {"in": "f", "function": "inner", "pcs": [[4, 12]], "call": ["a.cl", 1], "id": "c"}}"#;
    "calls that return to one pc", gpu, "call(f).at(0x10).returns_to(0x14), call(block 0x8..0x20).returns_to(0x14)", |a| {
        a.m.describe_function(a.f)?.describes(DescribedCalls::All);
        let block = a.m.block(a.f, &[8..32])?;
        a.m.call(a.f)?.at(0x10)?.returns_to(0x14)?;
        a.m.call(block)?.returns_to(0x14)?
    }, r#"{"describe_function": {"function": "f", "describes_calls": "all"}}, {"block": {"in": "f", "pcs": [[8, 32]], "id": "b"}},
        {"call": {"in": "f", "at": 16, "returns_to": 20}}, {"call": {"in": "b", "returns_to": 20}}"#;
    "calls at one pc", gpu, "call(f).at(0x10), call(f).at(0x10)", |a| {
        a.m.describe_function(a.f)?.describes(DescribedCalls::All);
        a.m.call(a.f)?.at(0x10)?.returns_to(0x14)?;
        a.m.call(a.f)?.at(0x10)?
    }, r#"{"describe_function": {"function": "f", "describes_calls": "all"}},
        {"call": {"in": "f", "at": 16, "returns_to": 20}}, {"call": {"in": "f", "at": 16}}"#;
    "two arguments in one register", gpu, "argument(s4), argument(over([s5, s4]))", |a| {
        let [s4, s5] = [4, 5].map(|number| gpu().sgpr(number).expect("a register"));
        a.m.describe_function(a.f)?.describes(DescribedCalls::All);
        let mut call = a.m.call(a.f)?;
        call.returns_to(0x14)?.argument(&Loc::register(s4))?.value(Val::constant(7))?;
        call.argument(&Loc::over([s5, s4]))?.value(Val::constant(8))?
    }, r#"{"describe_function": {"function": "f", "describes_calls": "all"}},
        {"call": {"in": "f", "returns_to": 20, "id": "c"}},
        {"argument": {"call": "c", "location": {"register": "s4"}, "value": 7}},
        {"argument": {"call": "c", "location": {"over": ["s5", "s4"]}, "value": 8}}"#;
    "argument at a number", gpu, "argument(value(s4))", |a| {
        let s4 = gpu().sgpr(4)?;
        a.m.call(a.f)?.returns_to(0x14)?.argument(&Loc::value(Val::register(s4)))?
    }, r#"{"call": {"in": "f", "returns_to": 20, "id": "c"}},
        {"argument": {"call": "c", "location": {"value": {"register": "s4"}}}}"#;
    "argument in parts of which none is storage", gpu, "argument(parts([(implicit([7]), 8), (undefined, 8)]))", |a| {
        let parts = Loc::parts([(Loc::implicit(&[7]), 8), (Loc::undefined(), 8)]);
        a.m.call(a.f)?.returns_to(0x14)?.argument(&parts)?
    }, r#"{"call": {"in": "f", "returns_to": 20, "id": "c"}},
        {"argument": {"call": "c", "location": {"parts": [[{"implicit": "07"}, 8], ["undefined", 8]]}}}"#;
    "call of a function that has no code", gpu, "call(f).calls(g)", |a| {
        a.m.describe_function(a.f)?.describes(DescribedCalls::All);
        let g = a.m.function(a.unit, "g")?.id();
        a.m.call(a.f)?.calls(g)?.returns_to(0x14)?
    }, r#"{"describe_function": {"function": "f", "describes_calls": "all"}}, {"function": {"in": "a.cl", "name": "g"}},
        {"call": {"in": "f", "calls": "g", "returns_to": 20}}"#;
    "halves of 64-bit registers", Target::x86_64, "live(0x0..0x40, over([rax, rdx]))", |a| {
        let [rax, rdx] = [a.m.target().register_named("rax")?, a.m.target().register_named("rdx")?];
        let long = a.m.base_type(a.unit, "long", BaseEncoding::Signed, 64)?;
        a.m.variable(a.f, "n", long)?.live(0..64, Loc::over([rax, rdx]))?
    }, r#"{"base_type": {"unit": "a.cl", "name": "long", "encoding": "signed", "bits": 64}},
        {"variable": {"in": "f", "name": "n", "type": "long", "live": [[0, 64, {"over": ["rax", "rdx"]}]]}}"#;
    "global variable in a register", gpu, "variable(unit).always(s4)", |a| {
        a.m.variable(a.unit, "n", a.int)?.always(s4())?
    }, r#"{"variable": {"in": "a.cl", "name": "n", "type": "int", "always": {"register": "s4"}}}"#;
};

/// The words of a module with the two functions `%5` and `%6`, and its functions' mistakes when they are bound.
fn two_functions() -> Vec<u32> {
    // OpCapability Kernel; OpMemoryModel Physical64 OpenCL; %1 void, %2 its function type.
    let mut words = vec![0x0723_0203, 0x0001_0000, 0, 10, 0, 2 << 16 | 17, 6, 3 << 16 | 14, 2, 2];
    words.extend([2 << 16 | 19, 1, 3 << 16 | 33, 2, 1]);
    for (function, label) in [(5, 7), (6, 8)] {
        // OpFunction, OpLabel, OpReturn, OpFunctionEnd.
        words.extend([5 << 16 | 54, 1, function, 0, 2, 2 << 16 | 248, label, 1 << 16 | 253, 1 << 16 | 56]);
    }
    words
}

/// A mistake, the call, and the error by calls and by JSON.
type Use = (&'static str, &'static str, Vec<String>, Vec<String>);

/// Mistakes in what a description is used for: the error by calls, and by JSON where it has them.
fn uses() -> Result<[Use; 2]> {
    let words = two_functions();
    let a = start(gpu());
    let f = a.f;
    let module = a.m.finish()?;
    let written = lower(&module, &Consumer::cuda_gdb(), Policy::Partial);
    let error = |result: Result<()>| {
        vec![result.map_or_else(|error| format!("error: {error}"), |()| "accepted".into())]
    };
    let mut binding = Binding::new();
    binding.function(f, Id(5)).function(f, Id(6));
    let attached = attach(&words, &module, &binding, &Mode::opencl()).map(drop);
    let json = format!(
        "{{\"eitri\": 1, \"target\": \"{target}\", \"describe\": [{START}],\n\
         \"spirv\": {{\"functions\": [{{\"id\": 5, \"function\": \"f\"}}, {{\"id\": 6, \"function\": \"f\"}}]}}}}",
        target = module.target().name()
    );
    let read = Binding::from_json(&json, &words).map(drop);
    let written = error(written.map(drop));
    Ok([
        (
            "consumer of PTX for another target",
            "lower(&module, &Consumer::cuda_gdb(), policy)",
            written.clone(),
            written,
        ),
        ("SPIR-V function bound twice", "function(f, %5).function(f, %6)", error(attached), error(read)),
    ])
}

/// The error, or the warnings of the kinds that are mistakes.
fn outcome(module: Result<Module>) -> Vec<String> {
    match module {
        Err(error) => vec![format!("error: {error}")],
        Ok(module) => {
            // The function of the start has no frame.
            let is_of_start = |text: &String| text.ends_with("expected rules, which lead to its caller");
            module.warnings().iter().map(ToString::to_string).filter(|text| !is_of_start(text)).collect()
        }
    }
}

#[test]
fn mistakes_are_errors_or_warnings() {
    let mut text = String::from(
        "# What is done wrong: the call, and the error or warning. See tests/strict/mistakes.rs;\n\
         # `EITRI_BLESS=1 cargo test --test dwarf mistakes` rewrites this.\n",
    );
    let mut silent = Vec::new();
    let mut add = |what: &str, call: &str, by_calls: Vec<String>, by_json: Vec<String>| {
        // An error in JSON begins with its position.
        let message = |text: &String| text.replacen("error: ", "", 1);
        let is_same = |(one, other): (&String, &String)| other == one || other.ends_with(&message(one));
        if by_calls.is_empty()
            || by_calls.len() != by_json.len()
            || !by_calls.iter().zip(&by_json).all(is_same)
        {
            silent.push(format!("{what}: {by_calls:?}, {by_json:?}"));
        }
        text += &format!("{what} | {call} | {}\n", by_calls.join("; "));
    };
    for Mistake { what, target, call, describe, json } in MISTAKES {
        let mut a = start(target());
        let by_calls = outcome(describe(&mut a).and_then(|()| a.m.finish()));
        let name = target();
        let name = name.name();
        let document = format!("{{\"eitri\": 1, \"target\": \"{name}\", \"describe\": [{START},\n{json}]}}");
        let by_json = outcome(Module::from_json(&document));
        add(what, call, by_calls, by_json);
    }
    for (what, call, by_calls, by_json) in uses().expect("a module") {
        add(what, call, by_calls, by_json);
    }
    println!("{text}");
    assert!(silent.is_empty(), "accepted, or different by JSON: {silent:#?}");
    check_golden("errors/mistakes.txt", &text);
}

/// Descriptions beside each mistake that a compiler means: neither an error nor a warning.
#[test]
fn neighbours_of_mistakes_are_accepted() -> Result<()> {
    type Accepted = (&'static str, fn() -> Target, fn(&mut Start) -> Result<()>);
    let accepted: &[Accepted] = &[
        ("a live range over adjacent ranges of the block", gpu, |a| {
            let block = a.m.block(a.f, &[8..16, 0..8])?;
            a.m.variable(block, "n", a.int)?.live(4..12, s4()).map(drop)
        }),
        ("a block without ranges in a function", gpu, |a| {
            let block = a.m.block(a.f, &[])?;
            a.m.variable(block, "n", a.int)?.live(4..60, s4()).map(drop)
        }),
        ("an array bound of the function, of an outer function, and of none", gpu, |a| {
            let n = a.m.variable(a.f, "n", a.int)?.always(s4())?.id();
            let global = a.m.variable(a.unit, "size", a.int)?.id();
            let inner = a.m.function(a.f, "inner")?.code("inner", 64).id();
            for (bound, scope) in [(n, a.f), (n, inner), (global, inner)] {
                let ty = a.m.array_of(a.unit, a.int, &[Extent::variable(bound)], None)?;
                let pointer = a.m.pointer(a.unit, Some(ty))?;
                a.m.variable(scope, "x", pointer)?;
            }
            Ok(())
        }),
        ("an array bound of the inlined function", gpu, |a| {
            let line = line(a)?;
            let inner = a.m.function(a.unit, "inner")?.id();
            let n = a.m.variable(inner, "n", a.int)?.id();
            let ty = a.m.array_of(a.unit, a.int, &[Extent::variable(n)], None)?;
            let x = a.m.variable(inner, "x", ty)?.id();
            let call = a.m.inlined(a.f, inner, &[0..16], line)?;
            a.m.inlined_variable(call, n)?.always(s4())?;
            a.m.inlined_variable(call, x)?.always(Loc::local(16)).map(drop)
        }),
        ("a constant of the type's bytes, with its padding", gpu, |a| {
            let vector = a.m.vector(a.unit, a.int, 3)?;
            a.m.variable(a.f, "n", a.int)?.live(0..64, Loc::implicit(&[7; 4]))?;
            a.m.variable(a.f, "v", vector)?.live(0..64, Loc::implicit(&[7; 16])).map(drop)
        }),
        ("the mask on entry, and lanes that wait before their region", gpu, |a| {
            let exec = a.m.target().exec().expect("a register");
            let masks = [(16..32, Loc::value(Val::entry_value(exec)))];
            a.m.lanes(a.f)?.if_else(16..24, 24..32, 12, 32, &masks).map(drop)
        }),
        ("the last bytes of local memory", gpu, |a| {
            a.m.variable(a.f, "n", a.int)?.always(Loc::local(0xfffc)).map(drop)
        }),
        ("functions one after the other, at a symbol and at an address", gpu, |a| {
            let f = a.m.symbol("f");
            a.m.function(a.unit, "g")?.address(Address::Symbol(f, 64), 64);
            a.m.function(a.unit, "h")?.address(Address::Constant(0), 64);
            a.m.function(a.unit, "i")?.address(Address::Constant(64), 64);
            Ok(())
        }),
        ("a declared kernel", gpu, |a| {
            a.m.function_declaration(a.unit, "k")?.kernel();
            Ok(())
        }),
        ("a kernel in a SPIR-V module", Target::kernel, |a| {
            a.m.function(a.unit, "k")?.kernel();
            Ok(())
        }),
        ("numbers of their own sizes", gpu, |a| {
            for (name, encoding, bits) in [
                ("_BitInt(4)", BaseEncoding::Signed, 4),
                ("bool", BaseEncoding::Boolean, 1),
                ("long double", BaseEncoding::Float, 80),
                ("fp4", BaseEncoding::Float, 4),
                ("complex", BaseEncoding::ComplexFloat, 64),
                ("bf16", BaseEncoding::BFloat16, 16),
            ] {
                a.m.base_type(a.unit, name, encoding, bits)?;
            }
            Ok(())
        }),
        ("members of a union, of variants, without bits, and in padding", gpu, |a| {
            let either = a.m.union(a.unit, Some("either"), 4)?;
            a.m.member(either, "x", a.int, 0)?.member(either, "y", a.int, 0)?;
            let empty = a.m.class(a.unit, Some("empty"), 1)?;
            let padded = a.m.class(a.unit, Some("padded"), 8)?;
            a.m.bit_field(padded, "low", a.int, 0, 8)?.bit_field(padded, "high", a.int, 8, 8)?;
            let class = a.m.class(a.unit, Some("class"), 16)?;
            a.m.member(class, "e", empty, 0)?
                .member(class, "p", padded, 0)?
                .member(class, "next", a.int, 4)?;
            let shape = a.m.structure(a.unit, Some("shape"), 8)?;
            let part = a.m.variant_part(shape, DataMember::new("tag", a.int, 0))?;
            for value in [0, 1] {
                let variant = a.m.variant(part, &[VariantValues::Single(value)])?;
                a.m.member(variant, "x", a.int, 4)?;
            }
            Ok(())
        }),
        ("a return address in registers, and in lanes", gpu, |a| {
            let [low, high, v40] = [a.m.target().sgpr(30)?, a.m.target().sgpr(31)?, a.m.target().vgpr(40)?];
            let pc = a.m.target().pc().expect("a register");
            let cfa = Loc::memory(SpaceId::PRIVATE_WAVE, Val::constant(0));
            let mut frame = a.m.frame(a.f)?;
            frame.cfa(0..64, cfa)?.return_address(0..32, low, high)?;
            frame.saved(32..64, pc, Loc::lanes([(v40, 7), (v40, 8)])).map(drop)
        }),
        (
            "a return address in the lanes of the registers that it came in, and a moved base with a rule",
            gpu,
            |a| {
                let target = gpu();
                let [s30, s31, s32, s33] =
                    [30, 31, 32, 33].map(|number| target.sgpr(number).expect("a register"));
                let v40 = target.vgpr(40)?;
                let pc = target.pc().expect("a register");
                let stack = |reg| Loc::memory(SpaceId::PRIVATE_WAVE, Val::register(reg));
                let mut frame = a.m.frame(a.f)?;
                frame.cfa(0..16, stack(s32))?.cfa(16..64, stack(s33))?.return_address(0..8, s30, s31)?;
                frame.saved(8..64, pc, Loc::lanes([(v40, 0), (v40, 1)]))?;
                frame.saved_in_lane(8..64, s30, v40, 0)?.saved_in_lane(8..64, s31, v40, 1)?;
                frame.saved_in_lane(4..64, s33, v40, 2)?;
                frame.saved(4..64, s32, Loc::value(Val::register(s33))).map(drop)
            },
        ),
        ("a frame at a scaled register, and calls that are described", gfx1100, |a| {
            let [s30, s31, s32] = [30, 31, 32].map(|number| gfx1100().sgpr(number).expect("a register"));
            let mut frame = a.m.frame(a.f)?;
            frame.cfa_in_scratch(0..8, s32, 0)?.cfa_in_scratch(8..64, s32, -16)?.return_address(
                0..64,
                s30,
                s31,
            )?;
            frame.saved(8..64, s32, Loc::value(Val::register(s32).plus(-16)))?;
            a.m.describe_function(a.f)?.describes(DescribedCalls::Tail);
            a.m.call(a.f)?.at(0x10)?.returns_to(0x14).map(drop)
        }),
        ("a return address where a call pushes it", Target::x86_64, |a| {
            let [rip, rsp] = [a.m.target().register_named("rip")?, a.m.target().register_named("rsp")?];
            let cfa = Loc::memory(SpaceId::DEFAULT, Val::register(rsp).plus(8));
            a.m.frame(a.f)?.cfa(0..64, cfa)?.saved(0..64, rip, Loc::cfa().offset(-8)).map(drop)
        }),
        ("a row at the start, and a function without rows", gpu, |a| {
            let file = line(a)?.file;
            a.m.function(a.unit, "g")?.code("g", 64);
            a.m.row(a.f, LineTableRow::new(8, file, 1))?;
            a.m.row(a.f, LineTableRow::new(0, file, 0)).map(drop)
        }),
        (
            "variables of one name: in nested scopes, of other types, other lines, and other linkage names",
            gpu,
            |a| {
                let line = line(a)?;
                let block = a.m.block(a.f, &[])?;
                let long = a.m.base_type(a.unit, "long", BaseEncoding::Signed, 64)?;
                a.m.variable(a.f, "n", a.int)?.declared(line);
                a.m.variable(block, "n", a.int)?.declared(line);
                a.m.variable(a.f, "n", long)?.declared(line);
                a.m.variable(a.f, "n", a.int)?.declared(SourceLine::new(line.file, 2));
                for text in ["_ZL1t", "_ZL1u"] {
                    a.m.variable(a.unit, "t", a.int)?.linkage_name(text);
                }
                Ok(())
            },
        ),
        ("blocks side by side, one in the other, and without pcs", gpu, |a| {
            let outer = a.m.block(a.f, &[0..8, 16..32])?;
            a.m.block(a.f, &[8..16, 32..40])?;
            a.m.block(a.f, &[])?;
            a.m.block(outer, &[0..8, 16..24])?;
            a.m.block(outer, &[24..32])?;
            // A range within the range of a block beside it.
            a.m.block(outer, &[16..20]).map(drop)
        }),
        (
            "calls one after the other, of a declaration, with arguments in halves, lanes and memory",
            gpu,
            |a| {
                let [s4, v3] = [a.m.target().sgpr(4)?, a.m.target().vgpr(3)?];
                a.m.describe_function(a.f)?.describes(DescribedCalls::All);
                let g = a.m.function_declaration(a.unit, "g")?.id();
                let h = a.m.function(a.unit, "h")?.code("h", 64).id();
                a.m.call(h)?.returns_to(0x14)?;
                a.m.describe_function(h)?.describes(DescribedCalls::All);
                a.m.call(a.f)?.calls(g)?.at(0x14)?.returns_to(0x18)?;
                let mut call = a.m.call(a.f)?;
                call.at(0x10)?.returns_to(0x14)?.calls(h)?;
                call.argument(&Loc::parts([(Loc::register(s4), 16), (Loc::undefined(), 16)]))?;
                call.argument(&Loc::register(s4).offset(2))?;
                call.argument(&Loc::lane(v3, 0))?;
                call.argument(&Loc::lane(v3, 1))?;
                call.argument(&Loc::memory(SpaceId::DEFAULT, Val::register(s4)))?;
                call.argument(&Loc::memory(SpaceId::DEFAULT, Val::register(s4).plus(8))).map(drop)
            },
        ),
        (
            "members and halves of a structure in registers of 64 bits, and numbers in whole registers",
            Target::x86_64,
            |a| {
                let [rax, rdx] = [a.m.target().register_named("rax")?, a.m.target().register_named("rdx")?];
                let wide = a.m.base_type(a.unit, "__int128", BaseEncoding::Signed, 128)?;
                let pair = a.m.structure(a.unit, Some("pair"), 8)?;
                a.m.member(pair, "x", a.int, 0)?.member(pair, "y", a.int, 4)?;
                a.m.variable(a.f, "p", pair)?.live(0..16, Loc::over([rax, rdx]))?;
                a.m.variable(a.f, "n", a.int)?.live(16..32, Loc::over([rax]))?;
                let parts = Loc::parts([(Loc::register(rax), 64), (Loc::register(rdx), 64)]);
                a.m.variable(a.f, "w", wide)?.live(32..64, parts).map(drop)
            },
        ),
        ("a global variable in memory, and a variable of a function in a register", gpu, |a| {
            a.m.variable(a.unit, "n", a.int)?.always(Loc::local(8))?;
            a.m.variable(a.f, "n", a.int)?.always(s4()).map(drop)
        }),
        ("slots of a frame that is described, and functions without frames", Target::x86_64, |a| {
            let [rip, rsp] = [a.m.target().register_named("rip")?, a.m.target().register_named("rsp")?];
            a.m.frame(a.f)?.cfa(0..64, Loc::memory(SpaceId::DEFAULT, Val::register(rsp).plus(8)))?.saved(
                0..64,
                rip,
                Loc::cfa().offset(-8),
            )?;
            a.m.function_declaration(a.unit, "g")?;
            a.m.function(a.unit, "inner")?;
            a.m.variable(a.f, "n", a.int)?.live(0..64, Loc::cfa().offset(-16)).map(drop)
        }),
    ];
    for (what, target, describe) in accepted {
        let mut a = start(target());
        describe(&mut a).unwrap_or_else(|error| panic!("{what}: {error}"));
        let module = a.m.finish().unwrap_or_else(|error| panic!("{what}: {error}"));
        let found = outcome(Ok(module));
        assert!(found.is_empty(), "{what}: {found:?}");
    }
    Ok(())
}

/// A kernel has the frame with which the hardware enters it: at address 0 of the wave's private memory, without a caller.
/// AMD's compiler begins each kernel with the same bytes: `.cfi_escape 0x0f, 0x04, 0x30, 0x36, 0xe9, 0x02 ; CFA is 0 in
/// private_wave aspace`, and `.cfi_undefined 16`. Readers of standard DWARF have no such memory: the frame is left out,
/// without an omission.
#[test]
fn kernels_have_the_entry_frame() -> Result<()> {
    let rules = |describe: fn(&mut Start) -> Result<()>| -> Result<_> {
        let mut a = start(gpu());
        describe(&mut a)?;
        let module = a.m.finish()?;
        let warned = module.warnings().len();
        let rules: Vec<_> = module.frame(a.f).iter().map(|rule| (rule.column, rule.pcs())).collect();
        Ok((module, rules, warned))
    };
    let kernel = |a: &mut Start| {
        a.m.describe_function(a.f)?.kernel();
        Ok(())
    };
    let (implied, of_kernel, warned) = rules(kernel)?;
    let (_, of_entry, _) = rules(|a| a.m.frame(a.f)?.entry_function().map(drop))?;
    assert_eq!((of_kernel.len(), &of_kernel, warned), (2, &of_entry, 0));
    assert_eq!(Module::from_json(implied.to_json())?, implied);

    // Rules for other registers do not replace it.
    let (_, more, _) = rules(|a| {
        let s33 = a.m.target().sgpr(33)?;
        a.m.describe_function(a.f)?.kernel();
        a.m.frame(a.f)?.undefined(0..64, s33).map(drop)
    })?;
    assert_eq!(more.len(), 3);

    for (consumer, frames) in [(Consumer::llvm(), 1), (Consumer::rocgdb(), 1), (Consumer::dwarf5(), 0)] {
        let written = lower(&implied, &consumer, Policy::Strict)?;
        assert!(written.omissions.is_empty());
        let code = ObjectCode::text(vec![0; 64]).with_function("f", 0, 64);
        let object = new_object(implied.target(), &code, &written.sections)?;
        let report = eitri::check(&implied, &consumer, &written.omissions, &object)?;
        assert!(report.is_clean(), "{report}");
        let section = written.sections.iter().find(|section| section.name == ".debug_frame");
        let rows = [0x0f, 0x04, 0x30, 0x36, 0xe9, 0x02, 0x07, 16];
        let found =
            section.map_or(0, |section| section.bytes.windows(8).filter(|bytes| *bytes == rows).count());
        assert_eq!(found, frames, "{}", consumer.name);
    }
    Ok(())
}

/// An object without kernels states its wave size in `DW_AT_LLVM_lanes`, so that registers have names without a target.
#[test]
fn dump_names_registers_by_the_number_of_lanes() -> Result<()> {
    let wave64 = || Target::amdgpu(Gfx::GFX1030, Wave::W64).expect("a target");
    for target in [gpu as fn() -> Target, wave64] {
        let mut a = start(target());
        let v3 = a.m.target().vgpr(3)?;
        a.m.variable(a.f, "x", a.int)?.live(0..64, Loc::per_lane(v3))?;
        let module = a.m.finish()?;
        let written = lower(&module, &Consumer::llvm(), Policy::Strict)?;
        let code = ObjectCode::text(vec![0; 64]).with_function("f", 0, 64);
        let object = new_object(module.target(), &code, &written.sections)?;
        let printed = eitri::dump::print(&object, None)?;
        assert!(printed.contains("regx v3"), "{printed}");
    }
    Ok(())
}

/// The first finding about an object for another consumer names it, and that about a split object the function.
#[test]
fn objects_for_other_readers_are_named() -> Result<()> {
    let mut a = start(gpu());
    a.m.variable(a.f, "n", a.int)?.live(0..64, s4())?;
    a.m.lanes(a.f)?.if_then(16..32, 12, &[(16..32, s6())])?;
    let module = a.m.finish()?;
    let object = |consumer: &Consumer| -> Result<Vec<u8>> {
        let written = lower(&module, consumer, Policy::Partial)?;
        let code = ObjectCode::text(vec![0; 64]).with_function("f", 0, 64);
        new_object(module.target(), &code, &written.sections)
    };
    let mut split = Consumer::llvm();
    split.is_split = true;
    let dwarf4 = Consumer::named("dwarf4")?;
    for (written, read, words) in [
        (Consumer::rocgdb(), Consumer::llvm(), "as for `rocgdb`"),
        (Consumer::llvm(), Consumer::rocgdb(), "as for `llvm`"),
        (Consumer::rocgdb_legacy(), Consumer::llvm(), "as for `rocgdb-legacy`"),
        (dwarf4, Consumer::llvm(), "as for `dwarf4`"),
        (split, Consumer::llvm(), "`check_split`"),
    ] {
        let report = eitri::check(&module, &read, &[], &object(&written)?)?;
        let first = report.findings.first().map(ToString::to_string).unwrap_or_default();
        assert!(first.contains(words), "{words}: {report}");
        let own = eitri::check(
            &module,
            &written,
            &lower(&module, &written, Policy::Partial)?.omissions,
            &object(&written)?,
        )?;
        assert!(written.is_split || own.is_clean(), "{own}");
    }
    Ok(())
}

/// Local memory is as large as LLVM lets a kernel have: a larger kernel is an error of `llc`.
#[test]
fn local_memory_is_as_large_as_for_llvm() {
    const LLC: Tool = Tool::new("llc-19", "llvm-19");
    let folder = Folder::new();
    for processor in ["gfx900", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1200"] {
        let gfx = Gfx::named(processor).expect("a processor");
        let wave = if gfx.runs(Wave::W64) { Wave::W64 } else { Wave::W32 };
        let target = Target::amdgpu(gfx, wave).expect("a target");
        let bytes = target.space(SpaceId::LOCAL).and_then(|space| space.bytes).expect("a size");
        for (bytes, is_compiled) in [(bytes, true), (bytes + 4, false)] {
            let text = format!(
                "@tile = internal addrspace(3) global [{} x i32] poison\n\
                 define amdgpu_kernel void @k(i32 %i) {{\n\
                 %p = getelementptr i32, ptr addrspace(3) @tile, i32 %i\n\
                 store volatile i32 1, ptr addrspace(3) %p\nret void\n}}\n",
                bytes / 4
            );
            let file = folder.file("a.ll", text);
            let cpu = format!("-mcpu={processor}");
            let arguments = ["-mtriple=amdgcn-amd-amdhsa", &cpu, "-filetype=null", &*file.to_string_lossy()];
            let Some(ran) = LLC.run(&arguments) else { return };
            assert_eq!(ran.succeeded, is_compiled, "{ran}");
            assert!(is_compiled || ran.errors.contains("local memory"), "{ran}");
        }
    }
}
