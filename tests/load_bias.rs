//! The promise: addresses are relocated by the load bias, constants are not: computed by hand, compared with gdb, and
//! in linked files.

use crate::common::{tools, with};

use eitri::build::Builder;
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::eval::{Context, DebugInfo, Evaluator, LocationListEntry, ResultKind, Snapshot, WithDebugInfo};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, Loc, Module, Val};
use eitri::op::{Dialect, Encoding, Reg, text};
use eitri::read::{Dwarf, Object, ResolvedValue};
use eitri::target::Target;

use tools::{Folder, Tool};

const CLANG: Tool = Tool::new("clang-19", "clang-19");
const GDB: Tool = Tool::new("gdb", "gdb");
const LLD: Tool = Tool::new("ld.lld-19", "lld-19");

#[test]
fn addresses_move_and_constants_do_not() {
    let target = Target::x86_64();
    let machine = with::<Snapshot>(|machine| {
        machine.load_bias = 0x7000;
        machine.debug_addr = vec![0x10, u64::MAX - 0xff];
        machine.pc = Some(0x1004);
    });
    let encoding = Encoding::new(8, Dialect::Dwarf5);
    for (expr, expected) in [
        ("addr 0x10", "mem:0:0x7010"),
        ("addrx 0", "mem:0:0x7010"),
        // Modulo the size of an address.
        ("addrx 1", "mem:0:0x6f00"),
        ("const8u 0x10", "mem:0:0x10"),
        ("constx 0", "mem:0:0x10"),
        ("lit16", "mem:0:0x10"),
        ("addrx 0; constx 0; plus", "mem:0:0x7020"),
    ] {
        let code = text::parse(expr, encoding, Some(&target)).expect("operations");
        let context = Context::new(encoding, &target);
        let quick = Evaluator::new().location(code.bytes(), &machine, &context).expect("a location");
        let traced = Evaluator::new().traced(code.bytes(), &machine, &context, &mut |_| ());
        assert_eq!(quick.to_string(), expected, "{expr}");
        assert_eq!(traced.expect("a location").to_string(), expected, "{expr}");
    }
    // Bounds of lists are unrelocated addresses of the file.
    let list = [LocationListEntry { bounds: Some((0x1000, 0x1008)), expr: [0x50].as_slice().into() }];
    let found = Evaluator::new().list(&list, &machine, &Context::new(encoding, &target));
    assert_eq!(found.expect("a location"), eitri::eval::Location::register(Reg(0), 64));
}

/// Difference between the program's addresses in memory and in the file.
const BIAS: u64 = 0x1234_0000;

/// Address of `answer` in gdb, with the program loaded at the bias.
fn asked(program: &std::path::Path) -> Option<u64> {
    let symbols = format!("symbol-file -o {BIAS:#x} {}", program.display());
    let output = GDB.run(&["-nx", "-q", "-batch", "-ex", &symbols, "-ex", "output &answer"])?;
    let found = output.out.split("(int *) 0x").nth(1).unwrap_or_else(|| panic!("{output}"));
    let digits = found.split_whitespace().next().unwrap_or_default();
    Some(u64::from_str_radix(digits, 16).expect("an address"))
}

/// Address of `answer` in this crate.
fn evaluated(bytes: &[u8]) -> u64 {
    let object = Object::read(bytes).expect("a program");
    let dwarf = Dwarf::read(&object).expect("DWARF");
    let entry =
        dwarf.entries().find(|entry| entry.name().as_deref() == Some("answer")).expect("the variable");
    let Some(ResolvedValue::Expr(expr)) = entry.attr(gimli::DW_AT_location) else { panic!("no expression") };
    let info = DebugInfo::new(&dwarf);
    let target = Target::x86_64();
    let unit = entry.unit();
    let machine = with::<Snapshot>(|machine| machine.load_bias = BIAS);
    let context = Context::in_unit(unit, &target).with_kind(ResultKind::Value);
    let machine = WithDebugInfo::new(&info, &machine, context);
    let address = Evaluator::new().location(expr, &machine, &context).expect("a location");
    address.default_address().expect("an address")
}

/// The program's operation, and others in its place: gdb and this crate relocate the same ones.
#[test]
fn gdb_relocates_the_same() {
    let folder = Folder::new();
    let source = folder.file("a.c", "int answer = 42;\nint main(void) { return answer - 42; }\n");
    for (version, operations) in [
        ("-gdwarf-4", &[(0x03, true), (0x0e, false)][..]),
        ("-gdwarf-5", &[(0xa1, true), (0xfb, true), (0xfc, false)]),
    ] {
        let program = folder.path().join("a");
        let arguments = ["-g", version, "-fPIE", "-pie", "-fuse-ld=lld", "-nostdlib", "-Wl,-e,main", "-o"];
        let arguments = arguments.into_iter().map(std::ffi::OsStr::new);
        let arguments: Vec<_> = arguments.chain([program.as_os_str(), source.as_os_str()]).collect();
        let Some(ran) = CLANG.run(&arguments) else { return };
        ran.clean();
        let bytes = std::fs::read(&program).expect("a program");
        let object = Object::read(&bytes).expect("a program");
        assert!(!object.is_fixed() && !object.is_relocatable());
        let address = object.symbol_address("answer").expect("the variable");
        let expr = match operations[0].0 {
            0x03 => [&[9, 0x03][..], &address.to_le_bytes()].concat(),
            code => vec![2, code, 0],
        };
        let info = object.section(".debug_info").expect("entries").data.to_vec();
        let section = bytes.windows(info.len()).position(|window| window == info).expect("its bytes");
        let at = info.windows(expr.len()).position(|window| window == expr).expect("the location");
        for &(operation, is_relocated) in operations {
            let mut patched = bytes.clone();
            patched[section + at + 1] = operation;
            let file = folder.file("patched", &patched);
            let expected = if is_relocated { address + BIAS } else { address };
            assert_eq!(evaluated(&patched), expected, "operation {operation:#x}");
            let Some(found) = asked(&file) else { return };
            assert_eq!(found, expected, "operation {operation:#x}, by gdb");
        }
    }
}

/// A function with a pointer to its variable.
fn module() -> Module {
    let mut m = Builder::new(Target::x86_64());
    let unit = m.unit("a.c");
    let long = m.base_type(unit, "long", BaseEncoding::Unsigned, 64).expect("a type");
    let data = m.symbol("data");
    m.variable(unit, "g", long).expect("a variable").always(Loc::global_symbol(data)).expect("a place");
    let f = m.function(unit, "f").expect("a function").code("f", 0x40).id();
    let value = Loc::value(Val::address(data, 0));
    m.variable(f, "to_g", long).expect("a variable").live(0..0x40, value).expect("a place");
    m.finish().expect("a module")
}

/// Position-independent files, and a file with a fixed address: there, an address and a constant are equivalent.
#[test]
fn linked_files_are_checked_where_they_are_loaded() {
    let module = module();
    let folder = Folder::new();
    let code = ObjectCode::text(vec![0x90; 0x80]).with_function("f", 0, 0x40).with_function("data", 0x40, 8);
    for version in [4, 5] {
        let mut consumer = Consumer::dwarf5();
        consumer.version = version;
        let written = lower(&module, &consumer, Policy::Strict).expect("the consumer can encode it");
        let object = new_object(module.target(), &code, &written.sections).expect("an object");
        let input = folder.file("a.o", &object);
        for (kind, is_fixed) in
            [(&["-shared"][..], false), (&["-pie", "-e", "f"], false), (&["-no-pie", "-e", "f"], true)]
        {
            let linked = folder.path().join("a");
            let arguments = kind.iter().map(std::ffi::OsStr::new);
            let arguments = arguments.chain(["-o".as_ref(), linked.as_os_str(), input.as_os_str()]);
            let Some(ran) = LLD.run(&arguments.collect::<Vec<_>>()) else { return };
            ran.clean();
            let bytes = std::fs::read(&linked).expect("what was linked");
            let object = Object::read(&bytes).expect("what was linked");
            assert_eq!(object.is_fixed(), is_fixed);
            let report = eitri::check(&module, &consumer, &[], &bytes).expect("it can be read");
            assert!(report.is_clean(), "{kind:?}: {report}");
            let address = object.symbol_address("data").expect("the symbol").to_le_bytes();
            let (from, to) = match version {
                5 => (vec![0xa1, 0x01], vec![0xa2]),
                _ => ([&[0x03][..], &address].concat(), vec![0x0e]),
            };
            let info = object.section(".debug_info").expect("entries").data.to_vec();
            let section = bytes.windows(info.len()).position(|window| window == info).expect("its bytes");
            let places = (0..info.len()).filter(|&at| info[at..].starts_with(&from));
            let places: Vec<usize> = places.collect();
            assert_eq!(places.len(), 2, "{from:02x?} in {info:02x?}");
            for at in places {
                let mut bytes = bytes.clone();
                bytes[section + at..][..to.len()].copy_from_slice(&to);
                let report = eitri::check(&module, &consumer, &[], &bytes).expect("it can be read");
                assert_eq!(report.is_clean(), is_fixed, "{kind:?}, DWARF {version}: {report}");
            }
        }
    }
}
