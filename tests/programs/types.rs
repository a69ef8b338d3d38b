//! Types of C++ and Rust: gdb prints them, and other tools read them without complaints.

use eitri::build::{Builder, DataMember, Extent, Major, Template};
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{
    Accessibility, BaseEncoding, CompositeKind, Loc, Module, Passed, PointerKind, SourceLine, Val,
    VariantValues,
};
use eitri::op::Expr;
use eitri::target::{SpaceId, Target};

use super::common::Folder;
use super::{DWARFDUMP, EU_READELF, GDB, LIBDWARF, LLD, READELF};

const BYTES: u64 = 0x40;

/// Every type construct of C++, and of C where different.
fn cpp() -> eitri::Result<Module> {
    let cpu = Target::x86_64();
    let rdi = cpu.register_named("rdi")?;
    let rsi = cpu.register_named("rsi")?;
    let mut m = Builder::new(cpu);
    let unit = m.unit("shapes.cc");
    m.describe_unit(unit)?.directory("/src").producer("eitri").language(gimli::DW_LANG_C_plus_plus_14.0);
    let file = m.primary_file(unit)?;
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let uint = m.base_type(unit, "unsigned int", BaseEncoding::Unsigned, 32)?;
    let ulong = m.base_type(unit, "unsigned long", BaseEncoding::Unsigned, 64)?;
    m.base_type(unit, "_Complex float", BaseEncoding::ComplexFloat, 64)?;
    let nullptr = m.unspecified_type(unit, "decltype(nullptr)")?;
    m.pointer(unit, Some(nullptr))?;

    let space = m.namespace(unit, "geometry")?;
    let point = m.structure(unit, Some("point"), 8)?;
    let line = SourceLine::new(file, 3).column(8);
    m.describe_type(point)?.within(space)?.declared(line).alignment(8)?.passed(Passed::ByValue)?;
    m.member(point, "x", int, 0)?.member(point, "y", int, 4)?;
    let count = m.typedef(unit, "count_t", Some(uint))?;
    m.describe_type(count)?.within(space)?;
    let hidden = m.incomplete(unit, CompositeKind::Class, "hidden")?;
    let to_hidden = m.pointer(unit, Some(hidden))?;

    let shape = m.class(unit, Some("shape"), 48)?;
    m.describe_type(shape)?.declared(SourceLine::new(file, 7)).passed(Passed::ByReference)?;
    m.base(shape, point, 0, Some(Accessibility::Public))?;
    // The offset is in the table of virtual functions: 24 bytes before the target of the object's first word.
    let mut offset = Expr::build(Consumer::dwarf5().encoding(8));
    offset.ops().pick(0).deref().constu(24).minus().deref().plus();
    let offset = m.expr(offset.finish()?, &[])?;
    let other = m.structure(unit, Some("other"), 4)?;
    m.member(other, "o", int, 0)?;
    m.virtual_base(shape, other, offset, Some(Accessibility::Protected))?;
    let grid = m.array(unit, int, &[Some(2), Some(3)])?;
    m.data_member(
        shape,
        DataMember::new("id", int, 8).accessibility(Accessibility::Public).declared(SourceLine::new(file, 8)),
    )?
    .data_member(shape, DataMember::new("cached", int, 12).mutable().accessibility(Accessibility::Protected))?
    .data_member(shape, DataMember::bit_field("low", uint, 128, 3))?
    .data_member(shape, DataMember::bit_field("mode", uint, 131, 5))?
    .member(shape, "grid", grid, 20)?;
    let total = m
        .static_member(shape, "total", int)?
        .declared(SourceLine::new(file, 9))
        .accessibility(Accessibility::Public)
        .id();
    m.constant(shape, "sides", int, &4u32.to_le_bytes())?;
    let inner = m.structure(unit, Some("inner"), 4)?;
    m.describe_type(inner)?.within(shape)?;
    m.member(inner, "i", int, 0)?;

    let overlay = m.union(unit, None, 4)?;
    m.member(overlay, "a", int, 0)?.member(overlay, "b", uint, 0)?;
    let tile = m.structure(unit, Some("tile<int, 16, box, int, unsigned int>"), 4)?;
    m.template(tile, Template::ty("T", Some(int)))?
        .template(tile, Template::value("N", int, &16u32.to_le_bytes()).default())?
        .template(tile, Template::named("C", "box"))?
        .template(
            tile,
            Template::pack("Rest", [Template::ty("", Some(int)), Template::ty("", Some(uint))]),
        )?;
    let spot = m.symbol("work");
    let to_int = m.pointer(unit, Some(int))?;
    m.template(tile, Template::value_at("P", to_int, Loc::value(Val::address(spot, 4))))?;
    m.member(tile, "", overlay, 0)?;

    let mode = m.enum_class(unit, Some("mode"), ulong, &[("off", 0), ("all", u64::MAX.into())])?;
    let signed = m.enumeration(unit, Some("sign"), int, &[("minus", -1), ("plus", 1)])?;
    let field = m.member_pointer(unit, shape, int)?;
    let to_shape = m.pointer(unit, Some(shape))?;
    let takes = m.subroutine(unit, Some(int), &[to_shape])?;
    let method = m.member_pointer(unit, shape, takes)?;
    let lvalue = m.reference(unit, shape)?;
    let rvalue = m.rvalue_reference(unit, int)?;
    let tail = m.structure(unit, Some("tail"), 4)?;
    let flexible = m.array(unit, int, &[None])?;
    m.member(tail, "n", int, 0)?.member(tail, "data", flexible, 4)?;
    let fortran = m.array_of(unit, int, &[Extent::fixed(3).from(-1).index(int)], Some(64))?;
    let pair = m.vector(unit, int, 2)?;
    let pairs = m.matrix_of(unit, pair, 3, Major::Column, Some(128))?;
    m.pointer_of(unit, PointerKind::Pointer, Some(int), SpaceId::DEFAULT, None)?;

    let data = m.symbol("data");
    let at = |by| Loc::memory(SpaceId::DEFAULT, Val::address(data, by));
    m.definition(unit, total)?.declared(SourceLine::new(file, 30)).always(at(0))?;
    for (name, ty) in [
        ("a_shape", shape),
        ("a_tile", tile),
        ("a_mode", mode),
        ("a_sign", signed),
        ("a_field", field),
        ("a_method", method),
        ("an_lvalue", lvalue),
        ("an_rvalue", rvalue),
        ("a_grid", grid),
        ("a_tail", tail),
        ("from_minus_one", fortran),
        ("some_pairs", pairs),
        ("a_point", point),
        ("a_count", count),
        ("to_hidden", to_hidden),
    ] {
        m.variable(unit, name, ty)?.external().always(at(8))?;
    }
    let work = m.function(unit, "work")?.code("work", BYTES).external().id();
    let n = m.variable(work, "n", ulong)?.artificial().always(Loc::register(rdi))?.id();
    let rows = m.array_of(unit, int, &[Extent::variable(n), Extent::fixed(4)], None)?;
    let twice = m.array_of(unit, int, &[Extent::value(Val::register(rsi).add(Val::constant(2)))], None)?;
    let local = m.structure(unit, Some("local"), 4)?;
    m.describe_type(local)?.within(work)?;
    m.member(local, "l", int, 0)?;
    for (name, ty) in [("rows", rows), ("twice", twice), ("a_local", local)] {
        m.variable(work, name, ty)?.always(Loc::memory(SpaceId::DEFAULT, Val::register(rsi)))?;
    }
    m.finish()
}

/// Rust's `enum`, as described by its compiler.
fn rust() -> eitri::Result<Module> {
    let mut m = Builder::new(Target::x86_64());
    let unit = m.unit("shapes.rs");
    m.describe_unit(unit)?.producer("eitri").language(gimli::DW_LANG_Rust.0);
    let u32 = m.base_type(unit, "u32", BaseEncoding::Unsigned, 32)?;
    let i16 = m.base_type(unit, "i16", BaseEncoding::Signed, 16)?;
    let space = m.namespace(unit, "shapes")?;
    let shape = m.structure(unit, Some("Shape"), 12)?;
    m.describe_type(shape)?.within(space)?;
    let part = m.variant_part(shape, DataMember::new("", u32, 0).artificial())?;
    for (index, (name, fields)) in [("Dot", 0), ("Line", 1), ("Square", 2)].into_iter().enumerate() {
        let inner = m.structure(unit, Some(name), 12)?;
        m.describe_type(inner)?.within(shape)?;
        for (at, field) in ["__0", "__1"].into_iter().take(fields).enumerate() {
            m.member(inner, field, u32, 4 + 4 * at as u64)?;
        }
        let values = [VariantValues::Single(index as i128)];
        let variant = m.variant(part, if name == "Square" { &[] } else { &values })?;
        m.member(variant, name, inner, 0)?;
    }
    // Ranges of a signed number.
    let level = m.structure(unit, Some("Level"), 4)?;
    let part = m.variant_part(level, DataMember::new("", i16, 0).artificial())?;
    let variant = m.variant(
        part,
        &[VariantValues::Range(-200, -1), VariantValues::Single(7), VariantValues::Range(64, 300)],
    )?;
    m.member(variant, "far", i16, 2)?;
    let near = m.variant(part, &[])?;
    m.member(near, "near", i16, 2)?;
    let untagged = m.structure(unit, Some("Untagged"), 4)?;
    let part = m.untagged_variant_part(untagged, u32)?;
    let variant = m.variant(part, &[VariantValues::Single(1)])?;
    m.member(variant, "one", u32, 0)?;
    // The only variant that can exist, beside one that cannot.
    let sure = m.structure(unit, Some("Sure"), 4)?;
    let part = m.undiscriminated_variant_part(sure)?;
    for name in ["Yes", "Never"] {
        let variant = m.variant(part, &[])?;
        m.member(variant, name, u32, 0)?;
    }
    let data = m.symbol("data");
    for (name, ty, by) in [
        ("a_line", shape, 8),
        ("a_square", shape, 20),
        ("a_level", level, 32),
        ("raw", untagged, 8),
        ("sure", sure, 8),
    ] {
        let at = Loc::memory(SpaceId::DEFAULT, Val::address(data, by));
        m.variable(space, name, ty)?.external().always(at)?;
    }
    m.function(unit, "work")?.code("work", BYTES);
    m.finish()
}

/// Code, and data with the values of the variables.
fn code() -> ObjectCode {
    let mut text = vec![0x90; BYTES as usize];
    // `data`: 77, 0, then a line of 5, a square of 6 and 7, and a level.
    let data = [77u32, 0, 1, 5, 0, 2, 6, 7, 0x0009_ff38, 0, 0, 0, 0, 0];
    text.extend(data.iter().flat_map(|word| word.to_le_bytes()));
    ObjectCode::text(text).with_function("work", 0, BYTES).with_function("data", BYTES, 56)
}

fn object(module: &Module, consumer: &Consumer) -> Vec<u8> {
    // Before DWARF 4 the value of a template parameter cannot be computed.
    let policy = if consumer.version < 4 { Policy::Partial } else { Policy::Strict };
    let written = lower(module, consumer, policy).expect("the consumer can encode everything");
    let object = new_object(module.target(), &code(), &written.sections).expect("an object");
    let report = eitri::check(module, consumer, &written.omissions, &object).expect("it can be read");
    assert!(report.is_clean() && report.unproven.is_empty(), "{report}");
    object
}

/// A question for gdb, and text that the answer must contain, without white space.
type Answer = (&'static str, &'static str);

#[rustfmt::skip] // A table.
const CPP: &[Answer] = &[
    ("ptype a_shape", "type = class shape : public geometry::point, protected virtual other"),
    ("ptype a_shape", "public: int id;"),
    ("ptype a_shape", "protected: int cached;"),
    ("ptype a_shape", "unsigned int low : 3; unsigned int mode : 5; int grid[2][3];"),
    // The object begins with the third word of the data, so that these bits are in the 6.
    ("print a_shape.low", "= 6"),
    ("print a_shape.mode", "= 0"),
    ("ptype a_shape", "static int total;"),
    ("ptype shape::inner", "type = struct shape::inner { int i; }"),
    ("ptype geometry::count_t", "type = unsigned int"),
    ("whatis a_point", "type = geometry::point"),
    ("print sizeof(geometry::point)", "= 8"),
    ("print alignof(geometry::point)", "= 8"),
    ("ptype to_hidden", "type = class hidden { <incomplete type> } *"),
    ("ptype a_tile", "box, int, unsigned int> [with T = int] { union { T a; unsigned int b; }; }"),
    ("ptype a_field", "type = int shape::*"),
    ("ptype a_method", "type = int (shape::*)(shape *)"),
    ("ptype an_lvalue", "type = class shape : public geometry::point, protected virtual other"),
    ("whatis an_lvalue", "type = shape &"),
    ("whatis an_rvalue", "type = int &&"),
    ("ptype a_grid", "type = int [2][3]"),
    ("ptype a_tail", "int data[];"),
    ("ptype a_mode", "type = enum class mode : unsigned long {mode::off, mode::all = "),
    ("print (unsigned long) mode::all", "= 18446744073709551615"),
    ("ptype a_sign", "type = enum sign : int {minus = -1, plus = 1}"),
    ("print mode::all", "= mode::all"),
    ("print shape::total", "= 77"),
    ("print from_minus_one", "= {1, 0, 6}"),
    ("print sizeof(from_minus_one)", "= 24"),
    ("ptype some_pairs", "type = int [3] __attribute__ ((vector_size(2)))"),
    ("print sizeof(some_pairs)", "= 48"),
];

#[rustfmt::skip] // A table.
const RUST: &[Answer] = &[
    ("print shapes::a_line", "= shapes::Shape::Line(5)"),
    ("print shapes::a_square", "= shapes::Shape::Square(6, 7)"),
    ("ptype shapes::a_line", "type = enum shapes::Shape { Dot, Line(u32), Square(u32, u32), }"),
];

fn gdb_says(module: &Module, consumer: &Consumer, language: &str, answers: &[Answer]) {
    let folder = Folder::new();
    let mut path = folder.file("shapes.o", object(module, consumer));
    if consumer.has_type_units {
        // In version 5 an object has several sections of one name; gdb reads one of them.
        let linked = folder.path().join("shapes");
        let text = |path: &std::path::Path| path.to_str().expect("a path").to_owned();
        let Some(ran) = LLD.run(&["-shared", "-o", &text(&linked), &text(&path)]) else { return };
        ran.clean();
        path = linked;
    }
    let mut arguments =
        vec!["-batch".to_owned(), "-nx".into(), "-ex".into(), format!("set language {language}")];
    for (question, _) in answers {
        arguments.extend(["-ex".into(), format!("echo >>> {question}\\n"), "-ex".into(), (*question).into()]);
    }
    arguments.push(path.to_str().expect("a path").into());
    let Some(ran) = GDB.run(&arguments) else { return };
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(ran.out.split(">>> ").count(), answers.len() + 1, "{ran}");
    for (output, (question, expected)) in ran.out.split(">>> ").skip(1).zip(answers) {
        assert!(plain(output).contains(expected), "{question}: expected {expected}\n{ran}");
    }
}

#[test]
fn gdb_prints_types_of_cpp() {
    // DWARF 2 does not define the default accessibility of classes.
    for (version, has_type_units) in [(3, false), (4, false), (5, false), (4, true), (5, true)] {
        let mut consumer = Consumer::dwarf5();
        (consumer.version, consumer.has_type_units) = (version, has_type_units);
        gdb_says(&cpp().expect("a module"), &consumer, "c++", CPP);
    }
}

#[test]
fn gdb_prints_types_of_rust() {
    for (version, has_type_units) in [(5, false), (4, true), (5, true)] {
        let mut consumer = Consumer::dwarf5();
        (consumer.version, consumer.has_type_units) = (version, has_type_units);
        gdb_says(&rust().expect("a module"), &consumer, "rust", RUST);
    }
}

/// Columns of 8 bytes that are 16 bytes apart.
#[test]
fn llvm_prints_the_stride_of_a_matrix() {
    let folder = Folder::new();
    let path = folder.file("types.o", object(&cpp().expect("a module"), &Consumer::dwarf5()));
    let Some(ran) = DWARFDUMP.run(&["--debug-info", path.to_str().expect("a path")]) else { return };
    let mut entries = ran.out.split("\n\n").filter(|entry| entry.contains("DW_TAG_array_type"));
    let is_matrix = |entry: &str| entry.contains("\"int[2]\"") && entry.contains("DW_AT_byte_stride\t(16)");
    assert!(entries.any(is_matrix), "{ran}");
}

/// Every reader, every version.
#[test]
fn types_are_read_by_other_tools_without_warnings() {
    for (name, module) in [("cpp", cpp().expect("a module")), ("rust", rust().expect("a module"))] {
        for (version, has_type_units) in
            [2, 3, 4, 5].map(|version| (version, false)).into_iter().chain([(4, true), (5, true)])
        {
            let mut consumer = Consumer::dwarf5();
            (consumer.version, consumer.has_type_units) = (version, has_type_units);
            let folder = Folder::new();
            let path = folder.file("types.o", object(&module, &consumer));
            let path = path.to_str().expect("a path");
            for (tool, arguments) in [
                (DWARFDUMP, &["--verify", path][..]),
                (DWARFDUMP, &["--debug-info", "--debug-types", path]),
                (READELF, &["--debug-dump=info", path]),
                (EU_READELF, &["--debug-dump=info", path]),
                (LIBDWARF, &["-i", path]),
            ] {
                let Some(ran) = tool.run(arguments) else { continue };
                let output = ran.clean();
                for complaint in ["warning", "corrupt", "unknown", "invalid", "truncated", "???", "error:"] {
                    let is_clean = !output.to_lowercase().contains(complaint);
                    assert!(is_clean, "{name}, DWARF {version}, {arguments:?}: {output}");
                }
            }
        }
    }
}

/// Before DWARF 5 a static member is a declared member.
#[test]
fn static_members_are_what_the_version_has() {
    let module = cpp().expect("a module");
    for (version, tag) in [(5, "DW_TAG_variable"), (4, "DW_TAG_member")] {
        let mut consumer = Consumer::dwarf5();
        consumer.version = version;
        let folder = Folder::new();
        let written = lower(&module, &consumer, Policy::Strict).expect("the consumer can encode everything");
        let object = new_object(module.target(), &code(), &written.sections).expect("an object");
        let path = folder.file("types.o", object);
        let Some(ran) = DWARFDUMP.run(&["--name=total", path.to_str().expect("a path")]) else { return };
        let output = ran.clean();
        assert!(output.contains(tag), "{output}");
    }
}

/// Calling conventions of types came with DWARF 5, and older readers skip them; declarations of types have a column in all
/// versions.
#[test]
fn llvm_reads_how_objects_are_passed() {
    let module = cpp().expect("a module");
    for version in [5, 4] {
        let mut consumer = Consumer::dwarf5();
        consumer.version = version;
        let folder = Folder::new();
        let path = folder.file("types.o", object(&module, &consumer));
        let Some(entries) = super::dump::entries(&path) else { return };
        let output = |name: &str, attribute| {
            let entry = entries.iter().find(|entry| entry.name() == Some(name)).expect("a type");
            entry.attribute(attribute)
        };
        assert_eq!(output("point", "calling_convention"), Some("DW_CC_pass_by_value"));
        assert_eq!(output("shape", "calling_convention"), Some("DW_CC_pass_by_reference"));
        assert_eq!(output("other", "calling_convention"), None);
        assert_eq!(output("point", "decl_column"), Some("8"));
        assert_eq!(output("shape", "decl_column"), None);
    }
}

/// DWARF 5 has one binary floating-point encoding. 0x3fc0 is 1.5 as a bfloat16, as clang-19 encodes `(__bf16)1.5f`, and
/// 1.9375 in the format of IEEE 754.
#[test]
fn bfloat16_is_printed_by_gdb_by_the_name_of_its_type() {
    for (name, encoding, expected) in
        [("__bf16", BaseEncoding::BFloat16, "1.5"), ("_Float16", BaseEncoding::Float, "1.9375")]
    {
        let mut m = Builder::new(Target::x86_64());
        let unit = m.unit("a.c");
        let ty = m.base_type(unit, name, encoding, 16).expect("a type");
        m.variable(unit, "x", ty)
            .expect("a variable")
            .always(Loc::implicit(&[0xc0, 0x3f]))
            .expect("a location");
        let module = m.finish().expect("a module");
        let written = lower(&module, &Consumer::dwarf5(), Policy::Partial).expect("sections");
        assert_eq!(written.omissions.len(), usize::from(encoding == BaseEncoding::BFloat16));
        let object =
            new_object(module.target(), &ObjectCode::text(vec![0xc3]), &written.sections).expect("an object");
        let folder = Folder::new();
        let object = folder.file("a.o", object);
        let arguments = ["-batch", "-ex", "print x", object.to_str().expect("a name")];
        let Some(ran) = GDB.run(&arguments) else { return };
        assert!(ran.out.contains(&format!("$1 = {expected}")), "{ran}");
    }
}
