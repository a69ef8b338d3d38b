//! Positions of a wave's lanes in an `if`: described, encoded, checked, and evaluated.
//!
//! ```c
//! kernel void weigh(…)      // line 1
//!     if (x < 0) x = -x;    // line 2
//!     else x <<= 1;         // line 3
//!     y = x + below(x);     // line 4, below: of the lane before this one, also where that does not run
//! ```

use std::error::Error;
use std::path::PathBuf;

use eitri::build::Builder;
use eitri::emit::elf::{ObjectCode, new_object, write_file};
use eitri::eval::{CallStack, DebugInfo, Snapshot};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, LineTableRow, Loc, Module};
use eitri::read::{Dwarf, Object};
use eitri::target::{Gfx, Target, Wave};

/// The kernel for gfx1030. The numbers on the right are pcs: bytes from its start.
const CODE: [u32; 13] = [
    0x7d080280, //             00  v_cmp_gt_i32 vcc_lo, 0, v1
    0xbe843c6a, //             04  s_and_saveexec_b32 s4, vcc_lo   the `if`: EXEC has the lanes that run line 2
    0x8904047e, //             08  s_xor_b32 s4, exec_lo, s4       s4 has the lanes that do not
    0x4c020280, //             0c  v_sub_nc_u32 v1, 0, v1
    0xbe843f04, //             10  s_andn2_saveexec_b32 s4, s4     the other way round: EXEC has the `else`
    0x34020281, //             14  v_lshlrev_b32 v1, 1, v1
    0x887e047e, //             18  s_or_b32 exec_lo, exec_lo, s4   after the `if`: EXEC has all again
    0xbe853dc1, //             1c  s_or_saveexec_b32 s5, -1        all 32 lanes run, s5 has the active ones
    0x7e0402fa, 0xff011101, // 20  v_mov_b32_dpp v2, v1 row_shr:1
    0x4a040302, //             28  v_add_nc_u32 v2, v2, v1
    0xbefe0305, //             2c  s_mov_b32 exec_lo, s5
    0xbf810000, //             30  s_endpgm
];
const CODE_BYTES: u64 = 4 * CODE.len() as u64;

fn main() -> Result<(), Box<dyn Error>> {
    let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32)?;
    let module = describe(&gpu)?;
    let consumer = Consumer::rocgdb();
    let written = lower(&module, &consumer, Policy::Strict)?;
    let code = CODE.iter().flat_map(|word| word.to_le_bytes()).collect();
    let code = ObjectCode::text(code).with_function("weigh", 0, CODE_BYTES);
    let object = new_object(&gpu, &code, &written.sections)?;

    show(&gpu, &object)?;
    let report = eitri::check(&module, &consumer, &written.omissions, &object)?;
    println!("{report}");
    assert!(report.is_clean());

    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or("target/examples".into()));
    let path = folder.join("weigh.o");
    std::fs::create_dir_all(&folder)?;
    write_file(&path, &object)?;
    println!("{}", path.display());
    Ok(())
}

/// The kernel, its `if`, and the code that all lanes run.
fn describe(gpu: &Target) -> eitri::Result<Module> {
    let v1 = gpu.vgpr(1)?;
    let v2 = gpu.vgpr(2)?;
    let s4 = gpu.sgpr(4)?;
    let s5 = gpu.sgpr(5)?;
    let mut m = Builder::new(gpu.clone());
    let unit = m.unit("weigh.cl");
    let file = m.primary_file(unit)?;
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;

    let kernel = m.function(unit, "weigh")?.code("weigh", CODE_BYTES).kernel().id();
    m.variable(kernel, "x", int)?.live(0x00..CODE_BYTES, Loc::per_lane(v1))?;
    m.variable(kernel, "y", int)?.live(0x2c..CODE_BYTES, Loc::per_lane(v2))?;
    for (pc, line) in [(0x00, 2), (0x10, 3), (0x18, 2), (0x1c, 4)] {
        m.row(kernel, LineTableRow::new(pc, file, line))?;
    }

    let mut lanes = m.lanes(kernel)?;
    // While line 2 runs, the lanes of line 3 wait at the `if`; then those of line 2 wait after it. s4 has the mask of
    // these lanes from the first s_and_saveexec to the s_or.
    lanes.if_else(0x08..0x14, 0x14..0x1c, 0x04, 0x1c, &[(0x08..0x1c, Loc::register(s4))])?;
    lanes.whole_wave(0x20..0x30, &Loc::register(s5))?;
    m.finish()
}

/// Stops a wave before each of its instructions, and evaluates the positions of its lanes.
///
/// Lanes 0 to 7 were active on entry, the others never; `x` is negative in lanes 0 to 2.
fn show(gpu: &Target, object: &[u8]) -> Result<(), Box<dyn Error>> {
    #[rustfmt::skip]
    let stops: [(u64, u32, u32, u32); 12] = [
    //   pc,   EXEC,        s4,   s5
        (0x00, 0x0000_00ff, 0,    0),
        (0x04, 0x0000_00ff, 0,    0),
        (0x08, 0x0000_0007, 0xff, 0),
        (0x0c, 0x0000_0007, 0xf8, 0),
        (0x10, 0x0000_0007, 0xf8, 0),
        (0x14, 0x0000_00f8, 0x07, 0),
        (0x18, 0x0000_00f8, 0x07, 0),
        (0x1c, 0x0000_00ff, 0x07, 0),
        (0x20, 0xffff_ffff, 0x07, 0xff),
        (0x28, 0xffff_ffff, 0x07, 0xff),
        (0x2c, 0xffff_ffff, 0x07, 0xff),
        (0x30, 0x0000_00ff, 0x07, 0xff),
    ];

    let read = Object::read(object)?;
    let dwarf = Dwarf::read(&read)?;
    let info = DebugInfo::new(&dwarf);
    let start = read.symbol_address("weigh").ok_or("no kernel")?;

    println!("pc  EXEC      active    lanes 0 to 8");
    for (pc, exec, s4, s5) in stops {
        let pc = start + pc;
        let mut wave = {
            let mut changed = Snapshot::default();
            changed.pc = Some(pc);
            changed
        };
        wave.registers.insert(gpu.register_named("pc")?, pc.to_le_bytes().into());
        for (name, value) in [("exec", exec), ("s4", s4), ("s5", s5)] {
            wave.registers.insert(gpu.register_named(name)?, value.to_le_bytes().into());
        }
        let stack = CallStack::new(&wave, &[], gpu).with_debug_info(&info);
        let frame = stack.innermost()?;

        let active = frame.active_lanes()?.and_then(|mask| mask.as_u64()).ok_or("no mask")?;
        print!("{:02x}  {exec:08x}  {active:08x} ", pc - start);
        for lane in 0..=8 {
            match frame.lane_pc(lane)? {
                Some(at) => print!(" {:02x}", at - start),
                None => print!(" --"),
            }
        }
        println!();
    }
    Ok(())
}
