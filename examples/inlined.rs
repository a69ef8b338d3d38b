//! What a debugger shows at a pc in inlined code: the frames with their lines, and the variables with their values.

use std::error::Error;

use eitri::eval::{DebugInfo, Snapshot, read_bits};
use eitri::op::Reg;
use eitri::read::{Dwarf, Object};

fn main() -> Result<(), Box<dyn Error>> {
    let object = Object::read(include_bytes!("data/squares.o"))?;
    let dwarf = Dwarf::read(&object)?;
    let target = object.target(None).ok_or("unknown machine")?;
    let pc = dwarf.address_in("squares", 0x13)?;
    // A stopped process: the pc, and rax, rdx, rcx, rsi and rdi. A debugger implements `Machine` instead.
    let mut process = Snapshot::default();
    process.pc = Some(pc);
    for (register, value) in [(0, 25u64), (1, 2), (2, 5), (4, 3), (5, 0x7000)] {
        process.registers.insert(Reg(register), value.to_le_bytes().into());
    }

    let info = DebugInfo::new(&dwarf);
    let found = dwarf.variables_at(pc);
    let mut position = dwarf.line_at(pc)?.map(|line| line.to_string());
    for frame in found.scopes.frames() {
        let Some(function) = frame.last() else { continue };
        println!("{} at {}", function.name().unwrap_or_default(), position.unwrap_or_default());
        position = function.call.as_ref().map(|call| call.to_string());
        for variable in found.in_scopes(frame) {
            let name = variable.name().unwrap_or_default();
            if variable.location.is_undefined() {
                println!("    {name} is optimized out");
                continue;
            }
            let location = info.variable_location(variable.located, &process, &target)?;
            let bits = variable.ty().and_then(|ty| ty.size_bits()).unwrap_or(0);
            println!("    {name} = {:02x?}", read_bits(&location, bits, &process)?.bytes);
        }
    }
    Ok(())
}
