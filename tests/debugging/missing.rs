//! Variables without a value, and what a debugger is told about machines and files that do not fit.

use eitri::eval::{
    Body, CallStack, Context, DebugInfo, Evaluator, Location, Snapshot, read_bits, read_pointer,
};
use eitri::gimli::constants as dw;
use eitri::op::{Dialect, Encoding, Reg, text};
use eitri::read::{Dwarf, FrameSection, Object, ReadOptions};
use eitri::target::{SpaceId, Target};

use super::{CC, GDB, compile};
use crate::common::tools::{Folder, skip};

/// gcc -O2: `unused` has no location, `gone` has a list that ends, `constant` has a constant, and `pointer` points to `pair`,
/// which is in registers.
const SOURCE: &str = r"
volatile int sink;
static inline __attribute__((always_inline)) int add(int *p) { int a = *p; return a + sink; }
__attribute__((noinline)) int f(int x) {
    int unused;
    int constant = 42;
    int number = x * 3;
    int *pointer = &number;
    sink = add(pointer);
    sink = 1;
    return number;
}
int main(int count, char **words) { return f(count); }
";

#[test]
fn variable_without_a_value_is_undefined_in_each_way_to_ask() {
    let folder = Folder::new();
    folder.file("a.c", SOURCE);
    let Some(program) = compile(CC, &folder, &["a.c"], &["-O2", "-no-pie"]) else { return };
    let bytes = std::fs::read(&program).expect("the program");
    let object = Object::read(&bytes).expect("an object");
    let dwarf = Dwarf::read(&object).expect("debug information");
    let (info, target) = (DebugInfo::new(&dwarf), Target::x86_64());
    let pc = dwarf.address_in("f", 0).expect("the function");
    let mut machine = Snapshot::default();
    machine.pc = Some(pc);
    let sections = [dwarf.frames(FrameSection::Eh).expect("frames")];
    let stack = CallStack::new(&machine, &sections, &target).with_debug_info(&info);
    let frame = stack.innermost().expect("a frame");
    let found = dwarf.variables_at(pc);
    let unused =
        found.variables.iter().find(|one| one.name().as_deref() == Some("unused")).expect("a variable");
    assert!(unused.location.is_undefined());
    assert_eq!(unused.location_text(Some(&target)), "optimized out");
    let context = Context::in_unit(unused.entry.unit(), &target);
    let locations = [
        info.variable_location(unused.entry, &machine, &target),
        frame.variable_location(unused.entry),
        Evaluator::new().variable_location(info.body(unused.entry), &machine, &context),
        Evaluator::new().variable_location(Body::Nothing, &machine, &context),
    ];
    for location in locations {
        let location = location.expect("the undefined location");
        assert_eq!(location, Location::undefined());
        assert!(read_bits(&location, 32, &machine).expect("undefined bits").is_undefined());
        let int = info.variable_type(unused.entry.offset()).expect("int");
        let fault = Evaluator::new().read(&location, int, &machine, &context).expect_err("no value");
        assert!(fault.is_undefined && !fault.is_limit);
    }
    // A register that is missing is a fault of another kind.
    let number = found.variables.iter().find(|one| one.name().as_deref() == Some("x")).expect("a parameter");
    let location = frame.variable_location(number.located).expect("a location");
    assert!(!read_bits(&location, 32, &machine).expect_err("no register").is_undefined);
    let arguments =
        ["-batch", "-nx", "-ex", "break *f", "-ex", "run", "-ex", "up", "-ex", "info locals", "program"];
    let Some(ran) = GDB.run_in(folder.path(), &arguments) else { return };
    if !ran.out.contains("Breakpoint 1, ") {
        skip("gdb may not trace programs here");
        return;
    }
    assert!(ran.out.contains("unused = <optimized out>"), "{ran}");
}

#[test]
fn location_list_that_cannot_be_read_is_not_optimized_out() {
    let folder = Folder::new();
    folder.file("a.c", SOURCE);
    // A relocatable object, whose list is damaged: an unknown kind of entry.
    let Some(_) = compile(CC, &folder, &["a.c"], &["-O2", "-c"]) else { return };
    let mut bytes = std::fs::read(folder.path().join("program")).expect("the object");
    let (offset, size) = {
        let object = Object::read(&bytes).expect("an object");
        let lists = object.section(".debug_loclists").expect("lists");
        let at = bytes
            .windows(lists.data.len())
            .position(|window| window[..4] == lists.data[..4] && window[4..12] == lists.data[4..12]);
        (at.expect("the section"), lists.data.len())
    };
    bytes[offset + 12..offset + size].fill(0xee);
    let object = Object::read(&bytes).expect("an object");
    let dwarf = Dwarf::read_with(&object, &ReadOptions::new().readable()).expect("debug information");
    let with_list = dwarf.entries().find(|entry| {
        entry.tag() == dw::DW_TAG_formal_parameter && entry.locations(dw::DW_AT_location).is_err()
    });
    let entry = with_list.expect("a parameter with a damaged list");
    let mut machine = Snapshot::default();
    machine.pc = dwarf.address_in("f", 0).ok();
    let info = DebugInfo::new(&dwarf);
    let fault = info.variable_location(entry, &machine, &Target::x86_64()).expect_err("a damaged list");
    assert!(!fault.is_undefined, "{fault}");
}

#[test]
fn pointee_of_an_implicit_pointer_has_a_location() {
    let folder = Folder::new();
    folder.file("a.c", SOURCE);
    let Some(program) = compile(CC, &folder, &["a.c"], &["-O2", "-no-pie"]) else { return };
    let bytes = std::fs::read(&program).expect("the program");
    let object = Object::read(&bytes).expect("an object");
    let dwarf = Dwarf::read(&object).expect("debug information");
    let (info, target) = (DebugInfo::new(&dwarf), Target::x86_64());
    let start = dwarf.address_in("f", 0).expect("the function");
    let mut machine = Snapshot::default();
    for register in 0..16 {
        machine.registers.insert(Reg(register), (100 + register).to_le_bytes().into());
    }
    let mut pointers = 0;
    for pc in start..start + 16 {
        machine.pc = Some(pc);
        let Ok(pointer) = dwarf.variable_named("pointer", Some(pc)) else { continue };
        let Ok(location) = info.variable_location(pointer.located, &machine, &target) else { continue };
        let Ok(Some(to)) = read_pointer(&location, 64) else { continue };
        let number = dwarf.variable_named("number", Some(pc)).expect("the pointee");
        assert_eq!(dwarf.entry_at(to.entry), Some(number.entry));
        let context = Context::in_unit(pointer.located.unit(), &target);
        let whole = eitri::eval::WithDebugInfo::new(&info, &machine, context);
        let pointee = Evaluator::new().pointee(to, &whole, &context).expect("a location");
        // The location of the variable that it points to.
        assert_eq!(Ok(pointee), info.variable_location(number.located, &machine, &target));
        pointers += 1;
    }
    assert!(pointers > 0, "gcc describes the pointer as DW_OP_implicit_pointer");
}

#[test]
fn messages_name_addresses_registers_and_files() {
    let location = Location::memory(SpaceId::DEFAULT, 64, 0x10);
    let outside = location.moved(-608).expect_err("an address below 0").to_string();
    // 608 bits are 76 bytes.
    assert!(
        outside.contains("address 0x10 - 0x4c bytes") || outside.contains("address 0x10 - 76 bytes"),
        "{outside}"
    );

    // A register with too few bytes: v0 of a wave of 32 lanes has 128.
    let gpu = Target::named("amdgpu-gfx1030-wave32").expect("a target");
    let mut machine = Snapshot::default();
    machine.registers.insert(Reg(1536), vec![1, 2, 3, 4]);
    let context = Context::new(Encoding::new(8, Dialect::Llvm), &gpu);
    let expr = text::parse("regx v0", context.encoding, Some(&gpu)).expect("an expression");
    let location = Evaluator::new().location(expr.bytes(), &machine, &context).expect("a location");
    let short = read_bits(&location, 1024, &machine).expect_err("4 of 128 bytes").to_string();
    assert!(short.contains("register 1536 has 4 bytes"), "{short}");

    // The file's own bounds: a section table after its end.
    let mut bytes = include_bytes!("../../crates/eitri-dwarf/data/squares.o").to_vec();
    bytes[40..48].copy_from_slice(&0xffff_0000_u64.to_le_bytes());
    let outside = Object::read(&bytes).expect_err("no section table").to_string();
    assert!(outside.contains("outside the file"), "{outside}");
}

#[test]
fn machine_with_the_wrong_byte_order_is_refused() {
    let bytes = include_bytes!("../../crates/eitri-dwarf/data/squares.o");
    let object = Object::read(bytes).expect("an object");
    let dwarf = Dwarf::read(&object).expect("debug information");
    let pc = dwarf.address_in("squares", 0x13).expect("the function");
    let mut machine = Snapshot::default();
    machine.pc = Some(pc);
    machine.big_endian = true;
    let total = dwarf.variable_named("total", Some(pc)).expect("a variable").located;
    let fault = DebugInfo::new(&dwarf).variable_location(total, &machine, &Target::x86_64());
    let fault = fault.expect_err("another byte order").to_string();
    assert!(fault.contains("the machine is big-endian; expected little-endian"), "{fault}");
}

#[test]
fn call_frame_information_in_the_other_section_is_named() {
    let folder = Folder::new();
    folder.file("a.c", SOURCE);
    let Some(program) = compile(CC, &folder, &["a.c"], &["-O0"]) else { return };
    let bytes = std::fs::read(&program).expect("the program");
    let object = Object::read(&bytes).expect("an object");
    let dwarf = Dwarf::read(&object).expect("debug information");
    let mut machine = Snapshot::default();
    machine.pc = dwarf.address_in("f", 0).ok();
    let target = Target::x86_64();
    // gcc writes `.eh_frame` alone.
    let sections = [dwarf.frames(FrameSection::Debug).expect("no frames")];
    let stack = CallStack::new(&machine, &sections, &target);
    let fault = stack.frame(1).expect_err("no call frame information").to_string();
    assert!(fault.contains("`.eh_frame`"), "{fault}");
}

#[test]
fn declared_position_is_that_of_the_source() {
    let folder = Folder::new();
    folder.file("a.c", SOURCE);
    let Some(program) = compile(CC, &folder, &["a.c"], &[]) else { return };
    let bytes = std::fs::read(&program).expect("the program");
    let object = Object::read(&bytes).expect("an object");
    let dwarf = Dwarf::read(&object).expect("debug information");
    // Line and column, counted in the source by hand.
    for (name, line, column) in [("f", 4, 31), ("number", 7, 9), ("sink", 2, 14)] {
        let entry = dwarf.entries().find(|entry| entry.name().as_deref() == Some(name)).expect("an entry");
        let position = entry.declared_at().expect("lines").expect("a position");
        let path = folder.path().join("a.c");
        assert_eq!(position.to_string(), format!("{}:{line}:{column}", path.display()), "{name}");
    }
    let int = dwarf.entries().find(|entry| entry.tag() == dw::DW_TAG_base_type).expect("a type");
    assert_eq!(int.declared_at().expect("lines"), None);
}
