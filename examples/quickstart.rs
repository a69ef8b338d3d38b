//! One kernel: described, encoded, checked, printed.
use std::path::PathBuf;

use eitri::build::Builder;
use eitri::emit::elf::{ObjectCode, new_object, write_file};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, Language, LineTableRow, Loc};
use eitri::target::{Gfx, Target, Wave};

/// A kernel for gfx1030. The numbers on the right are pcs: bytes from its start.
const CODE: [u32; 10] = [
    0x7e0602f2, //             00  v_mov_b32 v3, 1.0             x, one in each lane
    0xd7610028, 0x00010e04, // 04  v_writelane_b32 v40, s4, 7    n, spilled into lane 7
    0x8f048305, //             0c  s_lshl_b32 s4, s5, 3          and its register used again
    0xe0700010, 0x80000300, // 10  buffer_store_dword v3, off, s[0:3], 0 offset:16
    0x06060703, //             18  v_add_f32 v3, v3, v3
    0xd7600004, 0x00010f28, // 1c  v_readlane_b32 s4, v40, 7     n is back
    0xbf810000, //             24  s_endpgm
];

fn main() -> eitri::Result<()> {
    let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32)?;
    let v3 = gpu.vgpr(3)?;
    let v40 = gpu.vgpr(40)?;
    let s4 = gpu.sgpr(4)?;
    let s5 = gpu.sgpr(5)?;

    let mut m = Builder::new(gpu);
    let unit = m.unit("scale.cl");
    let file = m.primary_file(unit)?;
    m.describe_unit(unit)?.language(Language::OPENCL_C);
    let float = m.base_type(unit, "float", BaseEncoding::Float, 32)?;
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let flags = m.structure(unit, Some("flags"), 4)?;
    m.bit_field(flags, "mode", int, 3, 5)?; // 5 bits, from bit 3 on

    let kernel = m.function(unit, "scale")?.code("scale", 0x28).kernel().id();
    m.parameter(kernel, "n", int)?
        .live(0x00..0x0c, Loc::register(s4))?
        .live(0x0c..0x24, Loc::lane(v40, 7))?
        .live_in(0x24..0x28, &[Loc::register(s4), Loc::lane(v40, 7)])?;
    m.parameter(kernel, "f", flags)?.live(0x00..0x28, Loc::register(s5))?;
    m.variable(kernel, "x", float)?.live(0x04..0x28, Loc::per_lane(v3))?;
    m.variable(kernel, "old", float)?.live(0x18..0x28, Loc::stack_slot(16))?;
    for (pc, line) in [(0x00, 2), (0x0c, 3), (0x10, 4), (0x18, 5), (0x1c, 6)] {
        m.row(kernel, LineTableRow::new(pc, file, line))?;
    }
    let module = m.finish()?;

    let consumer = Consumer::llvm();
    let written = lower(&module, &consumer, Policy::Strict)?;
    let code = CODE.iter().flat_map(|word| word.to_le_bytes()).collect();
    let code = ObjectCode::text(code).with_function("scale", 0, 0x28);
    let object = new_object(module.target(), &code, &written.sections)?;

    let report = eitri::check(&module, &consumer, &written.omissions, &object)?;
    println!("{}{report}", eitri::dump::print(&object, Some(module.target()))?);
    assert!(report.is_clean());

    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or("target/examples".into()));
    let path = folder.join("scale.o");
    std::fs::create_dir_all(&folder)?;
    write_file(&path, &object)?;
    println!("{}", path.display());
    Ok(())
}
