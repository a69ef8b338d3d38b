//! A variable in each lane of a vector register, and a scalar spilled into one lane of another.
use eitri::build::Builder;
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, Loc};
use eitri::target::{Gfx, Target, Wave};

fn main() -> eitri::Result<()> {
    let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32)?;
    let v3 = gpu.vgpr(3)?;
    let v40 = gpu.vgpr(40)?;
    let s4 = gpu.sgpr(4)?;

    let mut m = Builder::new(gpu);
    let unit = m.unit("scale.cl");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let kernel = m.function(unit, "scale")?.code("scale", 0x28).kernel().id();
    m.variable(kernel, "x", int)?.live(0x04..0x28, Loc::per_lane(v3))?;
    m.variable(kernel, "n", int)?.live(0x00..0x0c, Loc::register(s4))?.live(0x0c..0x28, Loc::lane(v40, 7))?;
    let module = m.finish()?;

    let consumer = Consumer::llvm();
    let written = lower(&module, &consumer, Policy::Strict)?;
    let code = ObjectCode::text(vec![0; 0x28]).with_function("scale", 0, 0x28);
    let object = new_object(module.target(), &code, &written.sections)?;
    let report = eitri::check(&module, &consumer, &written.omissions, &object)?;
    print!("{}{report}", eitri::dump::print(&object, Some(module.target()))?);
    Ok(())
}
