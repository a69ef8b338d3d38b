//! Frames of three functions that call each other: described, encoded, checked, and unwound.
//!
//! ```c
//! kernel void sum(…)       // if (lane < 4) y = lane * add(2)
//! float add(float x)       // x + square(x)
//! float square(float x)    // x * x
//! ```

use std::error::Error;
use std::path::PathBuf;

use eitri::build::Builder;
use eitri::emit::elf::{ObjectCode, new_object, write_file};
use eitri::eval::{CallStack, Snapshot, read_bits, spans};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{Loc, Module, Val};
use eitri::read::{Dwarf, FrameSection, Object};
use eitri::target::{ByteOrder, Gfx, SpaceId, Target, Wave};

/// The code for gfx1030. The numbers on the right are pcs: bytes from each function's start.
const CODE: [u32; 37] = [
    //                         sum
    0xb0200000, //             00  s_movk_i32 s32, 0                the stack begins at 0
    0x7e520d00, //             04  v_cvt_f32_u32 v41, v0            each lane's number, for after the call
    0x7d880084, //             08  v_cmp_gt_u32 vcc_lo, 4, v0
    0xbe853c6a, //             0c  s_and_saveexec_b32 s5, vcc_lo    lanes 0 to 3 only
    0x7e0002f4, //             10  v_mov_b32 v0, 2.0
    0xbb1e0002, //             14  s_call_b64 s[30:31], add
    0x10525300, //             18  v_mul_f32 v41, v0, v41
    0xbf810000, //             1c  s_endpgm
    //                         add: saves v40 of all lanes, v41 of those that run, the return address in v40
    0xbe843dc1, //             00  s_or_saveexec_b32 s4, -1
    0xe0700000, 0x20002800, // 04  buffer_store_dword v40, off, s[0:3], s32
    0xbefe0304, //             0c  s_mov_b32 exec_lo, s4
    0xe0700004, 0x20002900, // 10  buffer_store_dword v41, off, s[0:3], s32 offset:4
    0xd7610028, 0x0001001e, // 18  v_writelane_b32 v40, s30, 0
    0xd7610028, 0x0001021f, // 20  v_writelane_b32 v40, s31, 1
    0xb7a00100, //             28  s_addk_i32 s32, 0x100            8 bytes of each of 32 lanes
    0x7e520300, //             2c  v_mov_b32 v41, v0
    0xbb1e000e, //             30  s_call_b64 s[30:31], square
    0x06005300, //             34  v_add_f32 v0, v0, v41
    0xb7a0ff00, //             38  s_addk_i32 s32, -0x100
    0xd760001f, 0x00010328, // 3c  v_readlane_b32 s31, v40, 1
    0xd760001e, 0x00010128, // 44  v_readlane_b32 s30, v40, 0
    0xe0300004, 0x20002900, // 4c  buffer_load_dword v41, off, s[0:3], s32 offset:4
    0xbe843dc1, //             54  s_or_saveexec_b32 s4, -1
    0xe0300000, 0x20002800, // 58  buffer_load_dword v40, off, s[0:3], s32
    0xbefe0304, //             60  s_mov_b32 exec_lo, s4
    0xbf8c3f70, //             64  s_waitcnt vmcnt(0)
    0xbe80201e, //             68  s_setpc_b64 s[30:31]
    //                         square
    0x10000100, //             00  v_mul_f32 v0, v0, v0
    0xbe80201e, //             04  s_setpc_b64 s[30:31]
];

/// Name, offset in the code, and size in bytes of each function.
const FUNCTIONS: [(&str, u64, u64); 3] = [("sum", 0x00, 0x20), ("add", 0x20, 0x6c), ("square", 0x8c, 0x08)];

fn main() -> Result<(), Box<dyn Error>> {
    let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32)?;
    let module = describe(&gpu)?;
    let consumer = Consumer::rocgdb();
    let written = lower(&module, &consumer, Policy::Strict)?;
    let mut code = ObjectCode::text(CODE.iter().flat_map(|word| word.to_le_bytes()).collect());
    for (name, start, bytes) in FUNCTIONS {
        code = code.with_function(name, start, bytes);
    }
    let object = new_object(&gpu, &code, &written.sections)?;

    unwind(&gpu, &object)?;
    let report = eitri::check(&module, &consumer, &written.omissions, &object)?;
    println!("{report}");
    assert!(report.is_clean());

    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or("target/examples".into()));
    let path = folder.join("sum.o");
    std::fs::create_dir_all(&folder)?;
    write_file(&path, &object)?;
    println!("{}", path.display());
    Ok(())
}

/// The functions and their frames.
fn describe(gpu: &Target) -> eitri::Result<Module> {
    let s4 = gpu.sgpr(4)?;
    let s30 = gpu.sgpr(30)?;
    let s31 = gpu.sgpr(31)?;
    let s32 = gpu.sgpr(32)?;
    let v0 = gpu.vgpr(0)?;
    let v40 = gpu.vgpr(40)?;
    let v41 = gpu.vgpr(41)?;
    let pc = gpu.register_named("pc")?;
    let exec = gpu.register_named("exec")?;

    let mut m = Builder::new(gpu.clone());
    let unit = m.unit("sum.cl");
    let [sum, add, square] = FUNCTIONS.map(|(name, _, bytes)| (name, bytes));
    m.function(unit, sum.0)?.code(sum.0, sum.1).kernel();
    let add = m.function(unit, add.0)?.code(add.0, add.1).id();
    let square = m.function(unit, square.0)?.code(square.0, square.1).id();

    // In bytes of the wave, as s32 counts.
    let stack = |bytes| Loc::memory(SpaceId::PRIVATE_WAVE, Val::register(s32).plus(bytes));
    // The kernel has no caller: its frame needs no description.
    m.frame(add)?
        // The canonical frame address is what s32 was on entry.
        .cfa(0x00..0x2c, stack(0))?
        .cfa(0x2c..0x3c, stack(-0x100))?
        .cfa(0x3c..0x6c, stack(0))?
        .extent(0..0x100)?
        .saved(0x2c..0x3c, s32, Loc::value(Val::register(s32).plus(-0x100)))?
        // The return address, and the scalar registers that it came in.
        .return_address(0x00..0x28, s30, s31)?
        .saved(0x28..0x4c, pc, Loc::lanes([(v40, 0), (v40, 1)]))?
        .return_address(0x4c..0x6c, s30, s31)?
        .saved_in_lane(0x28..0x4c, s30, v40, 0)?
        .saved_in_lane(0x28..0x4c, s31, v40, 1)?
        // Vector registers, in slots of four bytes per lane: v40 of all lanes, v41 of the active ones.
        .saved_to_scratch(0x18..0x68, v40, 0, None)?
        .saved_to_scratch(0x30..0x68, v41, 4, Some(Val::entry_value(exec)))?
        // While all lanes run.
        .saved(0x04..0x10, exec, Loc::register(s4))?
        .saved(0x58..0x64, exec, Loc::register(s4))?
        .undefined(0x04..0x6c, s4)?
        .undefined(0x34..0x6c, v0)?;
    m.frame(square)?
        .cfa(0x00..0x08, stack(0))?
        .return_address(0x00..0x08, s30, s31)?
        .undefined(0x04..0x08, v0)?;
    m.finish()
}

/// Stops a wave in `square`, and unwinds to its callers, and to v41 of the kernel.
fn unwind(gpu: &Target, object: &[u8]) -> Result<(), Box<dyn Error>> {
    let read = Object::read(object)?;
    let dwarf = Dwarf::read(&read)?;
    let frames = [dwarf.frames(FrameSection::Debug)?];
    let start = |name: &str| read.symbol_address(name).ok_or("no such function");

    // In the kernel, v41 has each lane's number. Lanes 0 to 3 have called `add`, where v41 is 2.
    let mut wave = {
        let mut changed = Snapshot::default();
        changed.pc = Some(start("square")?);
        changed
    };
    let mut put = |name, dwords: &[u32]| -> eitri::Result<()> {
        wave.registers.insert(gpu.register_named(name)?, bytes(dwords));
        Ok(())
    };
    let numbers: Vec<u32> = (0..32).map(|lane| (lane as f32).to_bits()).collect();
    let to_add = start("add")? + 0x34;
    let to_sum = start("sum")? + 0x18;
    put("exec", &[0b1111])?;
    put("s30", &[to_add as u32])?;
    put("s31", &[(to_add >> 32) as u32])?;
    put("s32", &[0x100])?;
    put("v40", &[&[to_sum as u32, (to_sum >> 32) as u32], &[0; 30][..]].concat())?;
    put("v41", &[&[2f32.to_bits(); 4], &numbers[4..]].concat())?;
    // Contents that `add` has stored: all lanes of v40, and four lanes of v41.
    wave.store(SpaceId::PRIVATE_WAVE, None, 0x00, &[0; 4 * 32]);
    wave.store(SpaceId::PRIVATE_WAVE, None, 0x80, &bytes(&numbers[..4]));

    let stack = CallStack::new(&wave, &frames, gpu);
    for (frame, name) in stack.frames().zip(["square", "add", "sum"]) {
        let frame = frame?;
        let pc = frame.resumes_at() - start(name)?;
        println!("#{}  {name:<6}  pc {pc:02x}  frame at {}", frame.number(), frame.cfa()?);
    }
    let kernel = stack.frame(2)?.ok_or("no kernel")?;
    assert!(kernel.step_out()?.is_none());
    let v41 = kernel.register(gpu.vgpr(41)?)?;
    println!("v41 of sum");
    for lane in [0, 3, 4, 31] {
        let lane_of = v41.clone().moved(32 * lane)?;
        let value = read_bits(&lane_of, 32, &wave)?.bytes;
        let value = f32::from_le_bytes(value[..].try_into()?);
        println!("    lane {lane:2}  {value:2}  at {}", spans(&lane_of, 32, ByteOrder::Little)?[0].places[0]);
        assert_eq!(value, lane as f32);
    }
    Ok(())
}

fn bytes(dwords: &[u32]) -> Vec<u8> {
    dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect()
}
