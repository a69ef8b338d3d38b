//! One kernel, four variables: described, written, checked.
use eitri::build::Builder;
use eitri::emit::elf::{Code, new_object, write_file};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{Encoding, Loc, Row};
use eitri::target::{Gfx, Target, Wave};

fn main() -> eitri::Result<()> {
    let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32)?;
    let (v3, v40, s4) = (gpu.vgpr(3)?, gpu.vgpr(40)?, gpu.sgpr(4)?);

    let mut m = Builder::new(gpu);
    let unit = m.unit("saxpy.cl");
    let float = m.base_type(unit, "float", Encoding::Float, 32)?;
    let int = m.base_type(unit, "int", Encoding::Signed, 32)?;
    let kernel = m.function(unit, "saxpy")?.code("saxpy", 0x40).kernel().id();
    m.variable(kernel, "x", float)?.live(0x08..0x40, Loc::per_lane(v3))?;
    m.variable(kernel, "n", int)?.live(0x00..0x24, Loc::register(s4))?.live(0x24..0x40, Loc::lane(v40, 7))?;
    m.variable(kernel, "tmp", float)?.live(0x10..0x40, Loc::stack_slot(16))?;
    let flags = m.structure(unit, Some("flags"), 4)?;
    m.bit_field(flags, "mode", int, 3, 5)?;
    m.variable(kernel, "f", flags)?.live(0x00..0x40, Loc::register(s4))?;
    let file = m.primary_file(unit)?;
    m.row(kernel, Row::new(0x00, file, 3))?;
    m.row(kernel, Row::new(0x08, file, 4).column(12).prologue_end())?;
    m.row(kernel, Row::new(0x24, file, 6).column(3))?;
    let module = m.finish()?;

    let written = lower(&module, &Consumer::llvm(), Policy::Strict)?;
    let code = Code::text(vec![0; 0x40]).with_function("saxpy", 0, 0x40);
    let object = new_object(module.target(), &code, &written.sections)?;
    let report = eitri::check(&module, &Consumer::llvm(), &written.left_out, &object)?;
    println!("{report}");
    write_file(std::path::Path::new("target/saxpy.o"), &object)?;
    Ok(())
}
