// `storage`, with which the examples of `eitri::model::Loc` and `Val` show what a location selects. The documentation
// of `Loc` has it in full.
{
    use eitri::eval::{Context, Evaluator, Snapshot};
    use eitri::lower::{Consumer, lower_loc};
    use eitri::model::{Loc, Stack};
    use eitri::target::Target;

    |loc: &Loc| -> Result<String, Box<dyn std::error::Error>> {
        let gpu = Target::named("amdgpu-gfx1030-wave32")?;
        let mut machine = Snapshot::default();
        (machine.lane, machine.lanes) = (Some(5), Some(32));
        machine.registers.insert(gpu.sgpr(4)?, 0x1000_u32.to_le_bytes().into());
        machine.registers.insert(gpu.sgpr(5)?, 2_u32.to_le_bytes().into());
        let mut v40 = vec![0; 32 * 4];
        v40[7 * 4..8 * 4].copy_from_slice(&0x2000_u32.to_le_bytes());
        machine.registers.insert(gpu.vgpr(40)?, v40);
        let consumer = Consumer::llvm();
        let expr = lower_loc(loc, None, &gpu, Stack::kernel(&gpu), &consumer)?;
        let context = Context::new(consumer.encoding(gpu.address_bytes()), &gpu);
        Ok(Evaluator::new().location(expr.bytes(), &machine, &context)?.in_names(&gpu).to_string())
    }
}
