//! A compiler that writes its DWARF with gimli, and uses eitri for what gimli cannot encode: expressions about lanes,
//! and an object for a GPU.
//!
//! ```sh
//! cargo run --example own_dwarf [FOLDER]
//! ```

use std::error::Error;
use std::path::PathBuf;

use eitri::emit::elf::{ObjectCode, new_object, write_file};
use eitri::emit::{GimliBuffer, from_gimli};
use eitri::lower::{Consumer, lower_loc};
use eitri::model::{Loc, Stack};
use eitri::op::{Expr, GimliTarget, Op, Slot, text};
use eitri::target::{Gfx, Target, Wave};
use gimli::write::{
    Address, AttributeValue, DwarfUnit, Expression, Location, LocationList, Sections, UnitEntryId,
};

/// The described function; gimli's addresses refer to it by index.
const SYMBOLS: &[&str] = &["saxpy"];
const SAXPY: Address = Address::Symbol { symbol: 0, addend: 0 };
const CODE_BYTES: u64 = 0x40;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).map_or_else(|| "target/examples".into(), PathBuf::from);
    std::fs::create_dir_all(&folder)?;
    let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32)?;
    let v3 = gpu.vgpr(3)?;
    let v40 = gpu.vgpr(40)?;
    let s4 = gpu.sgpr(4)?;
    let consumer = Consumer::llvm();
    let encoding = consumer.encoding(gpu.address_bytes());
    let frame = Stack::kernel(&gpu);
    let place = |loc| lower_loc(&loc, Some(32), &gpu, frame, &consumer);
    let text = |expr: &Expr| text::print(expr.bytes(), encoding, Some(&gpu));

    let mut dwarf = DwarfUnit::new(gimli::Encoding {
        format: gimli::Format::Dwarf32,
        version: encoding.version,
        address_size: encoding.address_bytes,
    });
    let root = dwarf.unit.root();
    set_name(&mut dwarf, root, "saxpy.cl");
    let int = base_type(&mut dwarf, "int", gimli::DW_ATE_signed);
    let float = base_type(&mut dwarf, "float", gimli::DW_ATE_float);
    let saxpy = dwarf.unit.add(root, gimli::DW_TAG_subprogram);
    set_name(&mut dwarf, saxpy, "saxpy");
    for entry in [root, saxpy] {
        let entry = dwarf.unit.get_mut(entry);
        entry.set(gimli::DW_AT_low_pc, AttributeValue::Address(SAXPY));
        entry.set(gimli::DW_AT_high_pc, AttributeValue::Udata(CODE_BYTES));
    }

    // One value per lane, always in v3.
    let x = place(Loc::per_lane(v3))?;
    println!("x                  {}", text(&x));
    // To gimli, an expression without references is a sequence of bytes.
    let x = AttributeValue::Exprloc(Expression::raw(x.bytes().into()));
    variable(&mut dwarf, saxpy, "x", float, x);

    // One value for the wave: in s4, then in lane 7 of v40.
    let mut list = Vec::new();
    for (pcs, loc) in [(0x00..0x24, Loc::register(s4)), (0x24..CODE_BYTES, Loc::lane(v40, 7))] {
        let n = place(loc)?;
        println!("n      {:#04x}..{:#04x}  {}", pcs.start, pcs.end, text(&n));
        let data = Expression::raw(n.bytes().into());
        list.push(Location::OffsetPair { begin: pcs.start, end: pcs.end, data });
    }
    let list = dwarf.unit.locations.add(LocationList(list));
    variable(&mut dwarf, saxpy, "n", int, AttributeValue::LocationListRef(list));

    // A computed value: the int in s4, converted to float. Types are entries of this unit; the expression has slots
    // for them until gimli knows their offsets.
    let types = [int, float];
    let mut scale = Expr::build(encoding);
    scale.refer(Op::RegvalType { reg: s4, ty: 0 }, Slot(0)).refer(Op::Convert { ty: 0 }, Slot(1));
    scale.ops().stack_value();
    let scale = scale.finish()?;
    println!("scale              {}", text(&scale));
    let scale = scale.to_gimli(encoding, |Slot(index)| GimliTarget::Entry(types[index as usize]))?;
    variable(&mut dwarf, saxpy, "scale", float, AttributeValue::Exprloc(scale));

    let mut sections = Sections::new(GimliBuffer::new());
    dwarf.write(&mut sections)?;
    // s_nop 0, and s_endpgm at the end.
    let mut code = [0x00, 0x00, 0x80, 0xbf].repeat(CODE_BYTES as usize / 4);
    code.splice(CODE_BYTES as usize - 4.., [0x00, 0x00, 0x81, 0xbf]);
    let code = ObjectCode::text(code).with_function(SYMBOLS[0], 0, CODE_BYTES);
    let object = new_object(&gpu, &code, &from_gimli(&sections, |symbol| SYMBOLS[symbol].into()))?;
    let path = folder.join("own_dwarf.o");
    write_file(&path, &object)?;
    println!("{}: {} bytes", path.display(), object.len());
    Ok(())
}

fn base_type(dwarf: &mut DwarfUnit, name: &str, encoding: gimli::DwAte) -> UnitEntryId {
    let ty = dwarf.unit.add(dwarf.unit.root(), gimli::DW_TAG_base_type);
    set_name(dwarf, ty, name);
    let entry = dwarf.unit.get_mut(ty);
    entry.set(gimli::DW_AT_encoding, AttributeValue::Encoding(encoding));
    entry.set(gimli::DW_AT_byte_size, AttributeValue::Udata(4));
    ty
}

fn variable(dwarf: &mut DwarfUnit, of: UnitEntryId, name: &str, ty: UnitEntryId, place: AttributeValue) {
    let variable = dwarf.unit.add(of, gimli::DW_TAG_variable);
    set_name(dwarf, variable, name);
    let entry = dwarf.unit.get_mut(variable);
    entry.set(gimli::DW_AT_type, AttributeValue::UnitRef(ty));
    entry.set(gimli::DW_AT_location, place);
}

fn set_name(dwarf: &mut DwarfUnit, entry: UnitEntryId, name: &str) {
    dwarf.unit.get_mut(entry).set(gimli::DW_AT_name, AttributeValue::String(name.into()));
}
