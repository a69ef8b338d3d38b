//! `k06_calls.cl`: a kernel that calls `mid`, which calls `leaf` twice.
//!
//! Compiled with LLVM's default interprocedural register allocation: `mid` keeps values in registers that the calling
//! convention does not save, because `leaf` does not write them. Undefined registers are therefore exactly those that
//! a function or its callees write.

use std::ops::Range;
use std::sync::LazyLock;

use eitri::build::{Builder, FrameBuilder};
use eitri::lower::Consumer;
use eitri::model::{FileId, FunctionId, Loc, Module, RegionKind, SourceLine, UnitId, Val};
use eitri::op::Reg;
use eitri::target::SpaceId;

use super::cases::{CASES, PLAIN};
use super::run::follow;
use super::stopped::check;
use super::{Attached, Line, attached, gfx1030, rows};

const OBJECT: &[u8] = include_bytes!("../../examples/data/k06_calls.o");
/// The same source with `-mllvm -enable-ipra=0`: each function follows the calling convention.
const PLAIN_OBJECT: &[u8] = include_bytes!("../../examples/data/k06_calls.noipra.o");

/// Output of clang with `-gline-tables-only`, which does not change the code; without prologue ends.
#[rustfmt::skip]
const LEAF_LINES: &[Line] = &[
    (0x00, 1, 0, true),   (0x08, 3, 3, true),   (0x0c, 3, 21, false), (0x10, 3, 3, false),
    (0x14, 0, 3, false),  (0x18, 3, 46, false), (0x20, 3, 27, false), (0x24, 3, 21, false),
    (0x28, 3, 44, false), (0x2c, 3, 3, false),  (0x30, 3, 44, false), (0x38, 3, 3, false),
    (0x40, 0, 3, false),  (0x48, 4, 3, true),
];
#[rustfmt::skip]
const MID_LINES: &[Line] = &[
    (0x00, 6, 0, true),    (0x20, 7, 13, true),  (0x30, 8, 13, true),  (0x44, 7, 13, true),
    (0x68, 8, 13, true),   (0x7c, 9, 27, true),  (0x80, 9, 20, false), (0x84, 9, 13, false),
    (0x88, 10, 12, true),  (0x8c, 10, 3, false),
];
#[rustfmt::skip]
const CALLS_LINES: &[Line] = &[
    (0x00, 12, 0, true),   (0x14, 13, 13, true),  (0x44, 15, 11, true), (0x48, 15, 7, false),
    (0x50, 13, 13, true),  (0x58, 14, 16, true),  (0x60, 16, 15, true), (0x78, 14, 16, true),
    (0x90, 16, 15, true),  (0x98, 14, 16, true),  (0xa0, 16, 15, true), (0xa4, 17, 15, true),
    (0xa8, 16, 15, true),  (0xac, 17, 15, true),  (0xc4, 18, 16, true), (0xc8, 18, 20, false),
    (0xcc, 18, 12, false), (0xd4, 20, 1, true),
];

/// Describes the functions of one object.
struct Describe {
    m: Builder,
    unit: UnitId,
    file: FileId,
}

impl Describe {
    fn new() -> eitri::Result<Self> {
        let mut m = Builder::new(gfx1030());
        let unit = m.unit("k06_calls.cl");
        let file = m.primary_file(unit)?;
        m.describe_unit(unit)?.language(gimli::DW_LANG_OpenCL.0);
        Ok(Self { m, unit, file })
    }

    fn function(&mut self, name: &str, bytes: u64, line: u32, lines: &[Line]) -> eitri::Result<FunctionId> {
        let id = self
            .m
            .function(self.unit, name)?
            .code(name, bytes)
            .declared(SourceLine::new(self.file, line))
            .id();
        rows(&mut self.m, id, self.file, lines);
        Ok(id)
    }

    /// `leaf`, with the same instructions in both objects. The function saves nothing: its frame is empty.
    fn leaf(&mut self) -> eitri::Result<()> {
        let leaf = self.function("leaf", 0x4c, 1, LEAF_LINES)?;
        let gpu = gfx1030();
        let s4 = gpu.sgpr(4)?;
        let exec = gpu.register_named("exec")?;
        let mut frame = self.m.frame(leaf)?;
        frame.cfa(0x00..0x4c, stack(gpu.sgpr(32)?))?.extent(0..0)?;
        frame.return_address(0x00..0x4c, gpu.sgpr(30)?, gpu.sgpr(31)?)?;
        // 08 s_mov_b32 s4, exec_lo; 0c v_cmpx; 44 s_or_b32 exec_lo, exec_lo, s4.
        frame.saved(0x10..0x48, exec, Loc::register(s4))?;
        // The loop begins at 18: registers that it writes are lost there in the second iteration.
        let scalars = [(0x08, 5), (0x0c, 4), (0x18, 6)];
        let vectors = [0, 2, 3].map(|v| (0x18, v));
        lost(&mut frame, 0x4c, &scalars, 0x18)?;
        overwritten(&mut frame, 0x4c, &vectors)?;
        kept(&mut frame, 0x4c, &scalars, 0x18, &vectors)?;
        // Lanes that have left or skipped the loop wait for the others after it.
        self.m.lanes(leaf)?.loop_(0x10..0x48, 0x48, &[(0x0c..0x4c, Loc::register(s4))])?;
        Ok(())
    }

    /// `mid` saves s30 and s31 in lanes of v7, whose inactive lanes it stores, and s33 in s7.
    fn mid(&mut self) -> eitri::Result<()> {
        let mid = self.function("mid", 0xc0, 6, MID_LINES)?;
        let gpu = gfx1030();
        let [s4, s7, s30, s31, s32, s33] = [4, 7, 30, 31, 32, 33].map(|n| gpu.sgpr(n).expect("a register"));
        let v7 = gpu.vgpr(7)?;
        let pc = gpu.register_named("pc")?;
        let exec = gpu.register_named("exec")?;
        let mut frame = self.m.frame(mid)?;
        frame.cfa(0x00..0x0c, stack(s32))?.cfa(0x0c..0xb8, stack(s33))?.cfa(0xb8..0xc0, stack(s32))?;
        frame.extent(0..0x200)?;
        // In lanes during the calls, which overwrite the return address registers.
        frame.return_address(0x00..0x54, s30, s31)?.return_address(0x9c..0xc0, s30, s31)?;
        frame.saved(0x54..0x9c, pc, Loc::lanes([(v7, 0), (v7, 1)]))?;
        frame.saved_in_lane(0x54..0x9c, s30, v7, 0)?.saved_in_lane(0x54..0x9c, s31, v7, 1)?;
        frame.saved(0x0c..0xb8, s33, Loc::register(s7))?.saved(0x30..0xb4, s32, Loc::register(s33))?;
        // 0c s_xor_saveexec_b32 s4, -1; 10 buffer_store_dword v7, off, s[0:3], s33: the inactive lanes.
        let stored = Loc::select(Val::entry_value(exec), Loc::cfa(), Loc::undefined(), 32, 32);
        frame.saved(0x2c..0xbc, v7, stored)?.saved(0xbc..0xc0, v7, written(v7, exec))?;
        for pcs in [0x10..0x1c, 0xa4..0xb0] {
            frame.saved(pcs, exec, Loc::register(s4))?;
        }
        let scalars = [(0x08, 7), (0x10, 4), (0x34, 8), (0x34, 9), (0x78, 5), (0x78, 6)];
        let vectors = [(0x20, 4), (0x24, 3), (0x4c, 2), (0x5c, 0), (0x60, 1), (0x68, 5), (0x7c, 6)];
        lost(&mut frame, 0xc0, &scalars, 0x5c)?;
        overwritten(&mut frame, 0xc0, &vectors)?;
        kept(&mut frame, 0xc0, &scalars, 0x5c, &[&vectors[..], &[(0x2c, 7)]].concat())?;
        self.whole_waves(mid, [0x10..0x1c, 0xa4..0xb0], s4)
    }

    /// `mid` of the other object saves s30, s31, s33, s34 and s35 in lanes of v43, all lanes of v43, and the active
    /// lanes of v40 to v42.
    fn plain_mid(&mut self) -> eitri::Result<()> {
        let mid = self.function("mid", 0x124, 6, &[(0x00, 6, 0, true)])?;
        let gpu = gfx1030();
        let [s4, s5, s30, s31, s32, s33] = [4, 5, 30, 31, 32, 33].map(|n| gpu.sgpr(n).expect("a register"));
        let v43 = gpu.vgpr(43)?;
        let pc = gpu.register_named("pc")?;
        let exec = gpu.register_named("exec")?;
        let mut frame = self.m.frame(mid)?;
        frame.cfa(0x00..0x0c, stack(s32))?.cfa(0x0c..0x11c, stack(s33))?.cfa(0x11c..0x124, stack(s32))?;
        frame.extent(0..0x400)?;
        frame.return_address(0x00..0x60, s30, s31)?.return_address(0xdc..0x124, s30, s31)?;
        frame.saved(0x60..0xdc, pc, Loc::lanes([(v43, 0), (v43, 1)]))?;
        frame.saved_in_lane(0x60..0xdc, s30, v43, 0)?.saved_in_lane(0x60..0xdc, s31, v43, 1)?;
        frame.saved_in_lane(0x8c..0xcc, gpu.sgpr(34)?, v43, 2)?;
        frame.saved_in_lane(0x8c..0xc4, gpu.sgpr(35)?, v43, 3)?;
        // In s4, which `leaf` overwrites; in a lane during that call.
        frame.saved(0x0c..0x44, s33, Loc::register(s4))?;
        frame.saved_in_lane(0x44..0x104, s33, v43, 4)?;
        frame.saved(0x104..0x11c, s33, Loc::register(s4))?;
        frame.saved(0x48..0x118, s32, Loc::register(s33))?;
        frame.saved_to_scratch(0x44..0x120, v43, 12, None)?;
        for (from, v, slot) in [(0x38, 40, 8), (0x7c, 41, 4), (0xac, 42, 0)] {
            frame.saved_to_scratch(from..0x120, gpu.vgpr(v)?, slot, Some(Val::entry_value(exec)))?;
        }
        for pcs in [0x10..0x1c, 0x108..0x114] {
            frame.saved(pcs, exec, Loc::register(s5))?;
        }
        let scalars = [(0x08, 4), (0x10, 5), (0xa8, 6)];
        let vectors = [(0x3c, 3), (0x50, 2), (0x68, 0), (0x6c, 1)];
        lost(&mut frame, 0x124, &scalars, 0x68)?;
        overwritten(&mut frame, 0x124, &vectors)?;
        kept(&mut frame, 0x124, &scalars, 0x68, &vectors)?;
        self.whole_waves(mid, [0x10..0x1c, 0x108..0x114], s5)
    }

    /// Code where EXEC differs from the active lanes, which are in a register.
    fn whole_waves(&mut self, mid: FunctionId, pcs: [Range<u64>; 2], saved: Reg) -> eitri::Result<()> {
        let mut lanes = self.m.lanes(mid)?;
        pcs.into_iter().try_for_each(|pcs| lanes.whole_wave(pcs, &Loc::register(saved)).map(|_| ()))
    }

    /// The kernel, which has no caller whose registers it could overwrite.
    fn calls(&mut self) -> eitri::Result<()> {
        let calls = self.function("calls", 0xd8, 12, CALLS_LINES)?;
        self.m.describe_function(calls)?.kernel();
        self.m.frame(calls)?.entry_function()?;
        // a0 calls `mid`, which overwrites s4: from there on, the lanes outside of the `if` are unknown.
        let masks = [(0x4c..0xa0, Loc::register(gfx1030().sgpr(4)?))];
        self.m.lanes(calls)?.region(RegionKind::Then, 0x4c..0xa0, 0xd4, &masks)?;
        Ok(())
    }
}

/// Scratch memory at a stack pointer, which counts bytes of the wave.
fn stack(pointer: Reg) -> Loc {
    Loc::memory(SpaceId::PRIVATE_WAVE, Val::register(pointer))
}

/// Scalar registers, each with the pc from which on its value is lost, and the pc from which on VCC is lost.
fn lost(frame: &mut FrameBuilder<'_>, end: u64, scalars: &[(u64, u16)], vcc: u64) -> eitri::Result<()> {
    let gpu = gfx1030();
    for &(from, number) in scalars {
        frame.undefined(from..end, gpu.sgpr(number)?)?;
    }
    frame.undefined(vcc..end, gpu.register_named("vcc")?).map(|_| ())
}

/// Vector registers, each with the pc from which on its active lanes are lost.
fn overwritten(frame: &mut FrameBuilder<'_>, end: u64, vectors: &[(u64, u16)]) -> eitri::Result<()> {
    let gpu = gfx1030();
    let exec = gpu.register_named("exec")?;
    for &(from, number) in vectors {
        let v = gpu.vgpr(number)?;
        frame.saved(from..end, v, written(v, exec))?;
    }
    Ok(())
}

/// Describes the call-clobbered registers as unchanged at the pcs before a function writes them: by interprocedural
/// register allocation, callers keep values in registers that the calling convention does not preserve.
fn kept(
    frame: &mut FrameBuilder<'_>,
    end: u64,
    scalars: &[(u64, u16)],
    vcc: u64,
    vectors: &[(u64, u16)],
) -> eitri::Result<()> {
    let gpu = gfx1030();
    let until = |written: &[(u64, u16)], number| {
        written.iter().find(|(_, known)| *known == number).map_or(end, |(from, _)| *from)
    };
    let mut all = vec![(vcc, gpu.register_named("vcc")?)];
    for number in 0..106 {
        all.push((until(scalars, number), gpu.sgpr(number)?));
    }
    for number in 0..256 {
        all.push((until(vectors, number), gpu.vgpr(number)?));
    }
    for (until, reg) in all.into_iter().filter(|(until, _)| *until > 0) {
        if gpu.preserved_bits(reg) == Some(0) {
            frame.same_value(0..until, reg)?;
        }
    }
    Ok(())
}

/// A vector register written under a mask: inactive lanes are unchanged.
fn written(v: Reg, exec: Reg) -> Loc {
    Loc::select(Val::entry_value(exec), Loc::register(v), Loc::undefined(), 32, 32)
}

static OBJECTS: LazyLock<Vec<Attached>> = LazyLock::new(|| {
    let describe = || {
        let mut all = Describe::new()?;
        all.leaf()?;
        all.mid()?;
        all.calls()?;
        all.m.finish()
    };
    objects(OBJECT, describe().expect("the functions"))
});

static PLAIN_OBJECTS: LazyLock<Vec<Attached>> = LazyLock::new(|| {
    let describe = || {
        let mut all = Describe::new()?;
        all.leaf()?;
        all.plain_mid()?;
        all.calls()?;
        all.m.finish()
    };
    objects(PLAIN_OBJECT, describe().expect("the functions"))
});

/// The objects for each consumer. LLVM has no number for the attribute of active lanes.
fn objects(object: &[u8], module: Module) -> Vec<Attached> {
    let mut llvm = Consumer::llvm();
    llvm.attributes.active_lane = Consumer::rocgdb().attributes.active_lane;
    let consumers = [llvm, Consumer::rocgdb(), Consumer::rocgdb_legacy()];
    consumers.iter().flat_map(|consumer| attached(object, &module, consumer)).collect()
}

#[test]
fn callers_are_found_with_their_registers() {
    for object in &*OBJECTS {
        CASES.iter().for_each(|case| check(object, case));
    }
    for object in &*PLAIN_OBJECTS {
        check(object, &PLAIN);
    }
}

#[test]
fn callers_are_unwound_at_each_instruction() {
    let kept = ["exec", "s30", "s31", "s32", "s33", "s34", "s35", "v7[25]"];
    OBJECTS.iter().for_each(|object| follow(object, include_str!("k06_run.txt"), &kept));
    let lanes = ["v40[5]", "v40[25]", "v41[5]", "v42[0]", "v42[25]", "v43[0]", "v43[1]", "v43[5]", "v43[25]"];
    let kept = [&kept[..], &lanes].concat();
    PLAIN_OBJECTS.iter().for_each(|object| follow(object, include_str!("k06_plain_run.txt"), &kept));
}
