//! Attributes without a field: other programs print vendors' attributes, gdb uses those of the standard, and g++ and gfortran
//! write the same.

use eitri::build::{AttributeValue, Builder, Extent};
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, Loc, Module, Val};
use eitri::op::{Expr, text::parse};
use eitri::target::{SpaceId, Target};

use super::common::{Folder, Tool};
use super::{DWARFDUMP, EU_READELF, GDB, LIBDWARF, READELF};

const GXX: Tool = Tool::new("g++", "g++");
const GFORTRAN: Tool = Tool::new("gfortran", "gfortran");

const BYTES: u64 = 0x40;

fn consumer(version: u16) -> Consumer {
    let mut consumer = Consumer::dwarf5();
    consumer.version = version;
    consumer
}

fn object(module: &Module, version: u16, code: &ObjectCode) -> Vec<u8> {
    let consumer = consumer(version);
    let written = lower(module, &consumer, Policy::Partial).expect("an output");
    let object = new_object(module.target(), code, &written.sections).expect("an object");
    let report = eitri::check(module, &consumer, &written.omissions, &object).expect("it can be read");
    assert!(report.is_clean() && report.unproven.is_empty(), "{report}");
    object
}

/// Runs a program on a file, and returns its output.
fn printed(tool: Tool, arguments: &[&str], path: &std::path::Path) -> Option<String> {
    let path = path.to_str().expect("a path");
    let arguments: Vec<&str> = arguments.iter().copied().chain([path]).collect();
    let ran = tool.run(&arguments)?;
    assert!(ran.succeeded, "{ran}");
    Some(ran.out)
}

/// Lines of `llvm-dwarfdump` that mention an attribute, without positions of entries.
fn lines_of(path: &std::path::Path, attributes: &[&str]) -> Option<Vec<String>> {
    let out = printed(DWARFDUMP, &["--debug-info"], path)?;
    let is_wanted = |line: &&str| attributes.iter().any(|name| line.contains(name));
    Some(out.lines().filter(is_wanted).map(|line| line.trim().replace('\t', " ")).collect())
}

fn raw(m: &mut Builder, version: u16, text: &str) -> Loc {
    let encoding = consumer(version).encoding(8);
    let expr: Expr = parse(text, encoding, None).expect(text);
    Loc::expr(m.expr(expr, &[]).expect("an expression"))
}

/// `struct s { int m; int n; virtual int get(int); }; int s::* p;`
fn cpp(version: u16) -> eitri::Result<Module> {
    let mut m = Builder::new(Target::x86_64());
    let unit = m.unit("s.cc");
    m.describe_unit(unit)?.language(gimli::DW_LANG_C_plus_plus.0);
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let s = m.structure(unit, Some("s"), 16)?;
    m.member(s, "m", int, 8)?.member(s, "n", int, 12)?;
    let slot = raw(&mut m, version, "constu 0");
    m.function_declaration(s, "get")?.vtable_elem_location(&slot)?;
    let pointer = m.member_pointer(unit, s, int)?;
    let plus = raw(&mut m, version, "plus");
    m.describe_type(pointer)?.use_location(&plus)?;
    let at = Loc::memory(SpaceId::DEFAULT, Val::constant(0x1000));
    m.variable(unit, "p", pointer)?.external().always(at)?;
    m.finish()
}

/// Attributes of pointers to members and of virtual functions, in each version.
#[test]
fn gpp_writes_the_same_attributes_of_members() {
    const ATTRIBUTES: [&str; 2] = ["DW_AT_use_location", "DW_AT_vtable_elem_location"];
    let source = "struct s { int m; int n; virtual int get(int); };
        int s::get(int x) { return m + x; }
        int s::* p;";
    for version in [2, 3, 4, 5] {
        let folder = Folder::new();
        folder.file("s.cc", source);
        let arguments = [&format!("-gdwarf-{version}"), "-c", "s.cc", "-o", "s.o"];
        let Some(ran) = GXX.run_in(folder.path(), &arguments) else { return };
        ran.clean();
        let ours =
            folder.file("ours.o", object(&cpp(version).expect("a module"), version, &ObjectCode::default()));
        let Some(theirs) = lines_of(&folder.path().join("s.o"), &ATTRIBUTES) else { return };
        assert_eq!(theirs.len(), 2, "{theirs:?}");
        assert_eq!(lines_of(&ours, &ATTRIBUTES), Some(theirs), "DWARF {version}");
    }
}

/// A subroutine of Fortran with a string, an allocatable array and a pointer.
fn fortran() -> eitri::Result<Module> {
    let mut m = Builder::new(Target::x86_64());
    let unit = m.unit("a.f90");
    m.describe_unit(unit)?.language(gimli::DW_LANG_Fortran08.0);
    let long = m.base_type(unit, "integer(kind=8)", BaseEncoding::Signed, 64)?;
    let real = m.base_type(unit, "real(kind=4)", BaseEncoding::Float, 32)?;
    let scale = m.function(unit, "scale")?.code("scale_", BYTES).id();
    let memory = || Loc::memory(SpaceId::DEFAULT, Val::constant(0x1000));
    let length = m.parameter(scale, "_text", long)?.artificial().always(memory())?.id();
    let text = m.string_type(unit, None, None)?;
    m.describe_type(text)?.string_length(AttributeValue::Variable(length))?;
    m.parameter(scale, "text", text)?.always(memory())?;
    let data = raw(&mut m, 5, "push_object_address; deref");
    let is_there = raw(&mut m, 5, "push_object_address; deref; lit0; ne");
    let values = m.array_of(unit, real, &[Extent::unknown()], None)?;
    m.describe_type(values)?.data_location(&data)?.allocated(AttributeValue::Location(is_there.clone()))?;
    let total = m.array_of(unit, real, &[Extent::unknown()], None)?;
    m.describe_type(total)?.data_location(&data)?.associated(AttributeValue::Location(is_there))?;
    m.parameter(scale, "values", values)?.always(memory())?;
    m.parameter(scale, "total", total)?.always(memory())?;
    m.finish()
}

#[test]
fn gfortran_writes_the_same_attributes_of_descriptors() {
    const ATTRIBUTES: [&str; 4] =
        ["DW_AT_data_location", "DW_AT_allocated", "DW_AT_associated", "DW_TAG_string_type"];
    let source = "subroutine scale(text, values, total)
  character(len=*), intent(in) :: text
  real, allocatable, intent(inout) :: values(:)
  real, pointer :: total(:)
  values = values * len(text)
  total = values
end subroutine\n";
    let folder = Folder::new();
    folder.file("a.f90", source);
    let Some(ran) = GFORTRAN.run_in(folder.path(), &["-gdwarf-5", "-c", "a.f90", "-o", "a.o"]) else {
        return;
    };
    ran.clean();
    let code = ObjectCode::text(vec![0x90; BYTES as usize]).with_function("scale_", 0, BYTES);
    let ours = folder.file("ours.o", object(&fortran().expect("a module"), 5, &code));
    let theirs = folder.path().join("a.o");
    let sorted = |path| {
        let lines = lines_of(path, &ATTRIBUTES)?;
        // The entries' offsets differ.
        let mut lines: Vec<_> =
            lines.iter().map(|line| line.rsplit(": ").next().unwrap_or(line).trim().to_owned()).collect();
        lines.sort();
        Some(lines)
    };
    let Some(expected) = sorted(&theirs) else { return };
    assert_eq!(expected.len(), 5, "{expected:?}");
    assert_eq!(sorted(&ours), Some(expected));
    // Both refer to the argument with the length.
    for path in [&theirs, &ours] {
        let Some(out) = printed(DWARFDUMP, &["--debug-info"], path) else { return };
        let line = out.lines().find(|line| line.contains("DW_AT_string_length")).expect("a length");
        let entry = line.split(['(', ')', ' ']).find(|word| word.starts_with("0x")).expect("an entry");
        let entry = out.split("\n\n").find(|text| text.starts_with(entry)).expect("the entry");
        assert!(entry.contains("DW_TAG_formal_parameter") && entry.contains("(\"_text\")"), "{entry}");
    }
}

/// Descriptors and strings of Fortran, with their contents in the object.
fn contents(version: u16) -> eitri::Result<Module> {
    let mut m = Builder::new(Target::x86_64());
    let unit = m.unit("a.f90");
    m.describe_unit(unit)?.language(gimli::DW_LANG_Fortran90.0);
    let int = m.base_type(unit, "integer", BaseEncoding::Signed, 32)?;
    let data = m.symbol("data");
    let at = |by| Loc::memory(SpaceId::DEFAULT, Val::address(data, by));
    let after_it = raw(&mut m, version, "push_object_address; plus_uconst 4");
    let first = raw(&mut m, version, "push_object_address; deref_size 4");
    let allocatable = m.array_of(unit, int, &[Extent::fixed(3)], None)?;
    m.describe_type(allocatable)?
        .data_location(&after_it)?
        .allocated(AttributeValue::Location(first.clone()))?;
    let pointer = m.array_of(unit, int, &[Extent::fixed(3)], None)?;
    m.describe_type(pointer)?.data_location(&after_it)?.associated(AttributeValue::Location(first))?;
    for (name, ty, by) in [
        ("values", allocatable, 0),
        ("none", allocatable, 16),
        ("target", pointer, 0),
        ("nowhere", pointer, 16),
    ] {
        m.variable(unit, name, ty)?.external().always(at(by))?;
    }
    let text = m.string_type(unit, None, None)?;
    m.describe_type(text)?.string_length(AttributeValue::Location(at(20)))?.string_length_bytes(4)?;
    m.variable(unit, "text", text)?.external().always(at(24))?;
    m.function(unit, "work")?.code("work", BYTES);
    m.finish()
}

#[test]
fn gdb_uses_descriptors_and_lengths() {
    for version in [3, 4, 5] {
        let mut text = vec![0x90; BYTES as usize];
        // A descriptor, a descriptor without data, a length, and characters.
        let data = [1u32, 10, 20, 30, 0, 3, u32::from_le_bytes(*b"abcd")];
        text.extend(data.iter().flat_map(|word| word.to_le_bytes()));
        let code = ObjectCode::text(text).with_function("work", 0, BYTES).with_function("data", BYTES, 28);
        let folder = Folder::new();
        let path = folder.file("a.o", object(&contents(version).expect("a module"), version, &code));
        let names = ["values", "none", "target", "nowhere", "text"];
        let mut arguments: Vec<String> =
            ["-batch", "-nx", "-ex", "set language fortran"].map(String::from).to_vec();
        arguments.extend(names.iter().flat_map(|name| ["-ex".into(), format!("print {name}")]));
        arguments.push(path.to_str().expect("a path").into());
        let Some(ran) = GDB.run(&arguments) else { return };
        let answers: Vec<_> = ran.out.lines().filter_map(|line| Some(line.split_once(" = ")?.1)).collect();
        let expected = ["(10, 20, 30)", "<not allocated>", "(10, 20, 30)", "<not associated>", "'abc'"];
        assert_eq!(answers, expected, "DWARF {version}: {ran}");
    }
}

fn vendor() -> eitri::Result<Module> {
    let mut m = Builder::new(Target::x86_64());
    let unit = m.unit("tiles.py");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let f = m.function(unit, "f")?.code("f", BYTES).id();
    let x = m.variable(f, "x", int)?.always(Loc::memory(SpaceId::DEFAULT, Val::constant(16)))?.id();
    m.attribute(unit, gimli::DwAt(0x3e15), AttributeValue::Unsigned(2))?
        .attribute(unit, gimli::DwAt(0x3e02), AttributeValue::Text("/opt/tiles"))?
        .attribute(f, gimli::DwAt(0x3001), AttributeValue::Signed(-300))?
        .attribute(f, gimli::DwAt(0x3002), AttributeValue::Flag)?
        .attribute(x, gimli::DwAt(0x3003), AttributeValue::Bytes(&[0xde, 0xad]))?
        .attribute(x, gimli::DwAt(0x3004), AttributeValue::Type(int))?;
    m.finish()
}

/// Numbers without a name are printed as numbers, and nobody complains.
#[test]
fn other_programs_print_vendor_attributes() {
    for version in [2, 3, 4, 5] {
        let code = ObjectCode::text(vec![0x90; BYTES as usize]).with_function("f", 0, BYTES);
        let folder = Folder::new();
        let path = folder.file("a.o", object(&vendor().expect("a module"), version, &code));
        let plain = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        for (tool, arguments, expected) in [
            (
                DWARFDUMP,
                &["--debug-info"][..],
                &[
                    "DW_AT_unknown_3e15 (2)",
                    "DW_AT_LLVM_sysroot (\"/opt/tiles\")",
                    "DW_AT_unknown_3001 (-300)",
                    "DW_AT_unknown_3002 (",
                    "DW_AT_unknown_3003 (<0x02> de ad )",
                ][..],
            ),
            (
                READELF,
                &["--debug-dump=info"],
                &[
                    "Unknown AT value: 3e15: 2",
                    "Unknown AT value: 3001: -300",
                    "Unknown AT value: 3003: 2 byte block: de ad",
                ],
            ),
            (
                EU_READELF,
                &["--debug-dump=info"],
                &["lo_user+0x1e15 (udata) 2", "lo_user+0x1001 (sdata) -300", "2 byte block: de ad"],
            ),
            (LIBDWARF, &["-i"], &["<Unknown AT value 0x3e15> 0x00000002", "(-300)", "0xdead"]),
        ] {
            let Some(out) = printed(tool, arguments, &path).map(plain) else { continue };
            for text in expected {
                assert!(out.contains(text), "DWARF {version}, {}: {text} in\n{out}", tool.name);
            }
        }
        let Some(out) = printed(DWARFDUMP, &["--verify"], &path) else { return };
        assert!(out.contains("No errors"), "DWARF {version}: {out}");
    }
}
