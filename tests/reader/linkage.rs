//! Linkage names, whose attribute depends on the version.

use eitri::build::Builder;
use eitri::consumer::{Consumer, Policy};
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::lower::lower;
use eitri::read::{Dwarf, Object};
use eitri::target::Target;

/// `DW_AT_linkage_name` came with DWARF 4; before, producers write `DW_AT_MIPS_linkage_name`, as nvcc does.
#[test]
fn function_is_found_by_its_linkage_name_in_each_version() -> eitri::Result<()> {
    let mut m = Builder::new(Target::x86_64());
    let unit = m.unit("a.cc");
    m.function(unit, "f")?.code("_Z1fv", 16).linkage_name("_Z1fv");
    let module = m.finish()?;
    let code = ObjectCode::text(vec![0x90; 32]).with_function("_Z1fv", 16, 16);
    for name in ["dwarf2", "dwarf3", "dwarf4", "dwarf5"] {
        let sections = lower(&module, &Consumer::named(name)?, Policy::Strict)?.sections;
        let object = new_object(module.target(), &code, &sections)?;
        let object = Object::read(&object)?;
        let dwarf = Dwarf::read(&object)?;
        let [named, linked] = ["f", "_Z1fv"].map(|function| dwarf.address_in(function, 4));
        assert_eq!(linked?, named?, "{name}");
    }
    Ok(())
}
