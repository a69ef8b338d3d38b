//! Functions whose code has several parts, such as gcc's blocks that are rarely executed, in `.text.unlikely`.

use std::collections::BTreeMap;

use eitri::build::Builder;
use eitri::consumer::{Consumer, Policy};
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::import::{ImportOptions, UnimportedReason, import};
use eitri::lower::lower;
use eitri::model::{Address, BaseEncoding, DescribedCalls, LineTableRow, Loc, Module, SourceLine, Val};
use eitri::target::{SpaceId, Target};

use super::foreign::Program;
use super::{differences, listed};
use crate::common::tools::{Folder, Tool};
use crate::common::with;

const GCC: Tool = Tool::new("gcc", "gcc");
const GXX: Tool = Tool::new("g++", "g++");
const NM: Tool = Tool::new("nm", "binutils");
const DWARFDUMP: Tool = Tool::new("llvm-dwarfdump-19", "llvm-19");

/// `fail` is never expected, so that the block before it is in the cold part, with the variable and the inlined call in it.
const SOURCE: &str = r#"
extern void fail(const char *, int) __attribute__((cold, noreturn));
extern int rare(int) __attribute__((cold));
extern int use(int);
static inline int twice(int x) { int t = x * 2; return rare(t) + t; }
int f(int a, int b) {
    int sum = a + b;
    for (int i = 0; i < a; i++) {
        if (__builtin_expect(use(i) == 3, 0)) {
            int q = rare(sum) + b;
            if (q > 7) fail("f", q);
            sum += twice(q);
        }
        sum += i;
    }
    return sum + use(sum);
}
int g(int a) { if (__builtin_expect(a < 0, 0)) fail("g", a); return use(a + 1) * 3; }
"#;

#[rustfmt::skip]
const PROGRAMS: [Program; 5] = [
    Program { name: "a.c", source: SOURCE, compiler: GCC, arguments: &["-g", "-O2", "-c"] },
    Program { name: "a.c", source: SOURCE, compiler: GCC, arguments: &["-g", "-O2", "-gdwarf-4", "-c"] },
    Program { name: "a.c", source: SOURCE, compiler: GCC, arguments: &["-g", "-O2", "-fno-asynchronous-unwind-tables", "-c"] },
    Program { name: "a.c", source: SOURCE, compiler: GCC, arguments: &["-g", "-O2", "-ffunction-sections", "-gdwarf64", "-c"] },
    Program { name: "a.c", source: SOURCE, compiler: GCC, arguments: &["-g", "-O2", "-shared", "-fPIC", "-Wl,-z,undefs"] },
];

/// Sizes of the symbols, as `nm` lists them.
fn sizes(folder: &Folder) -> Option<BTreeMap<String, u64>> {
    let ran = NM.run_in(folder.path(), &["-S", "out.o"])?;
    let line = |line: &str| {
        let [_, size, _, name] = line.split_whitespace().collect::<Vec<_>>()[..] else { return None };
        Some((name.to_owned(), u64::from_str_radix(size, 16).expect("a size")))
    };
    Some(ran.out.lines().filter_map(line).collect())
}

#[test]
fn cold_parts_of_compiled_functions_are_kept() {
    for program in PROGRAMS {
        let folder = Folder::new();
        let Some(bytes) = program.compiled(&folder) else { continue };
        let Some(sizes) = sizes(&folder) else { continue };
        let imported = import(&bytes, &ImportOptions::default()).expect("the object is imported");
        for fact in &imported.unimported {
            let is_of_parts =
                matches!(fact.reason, UnimportedReason::SeveralRanges | UnimportedReason::OtherCode);
            assert!(!is_of_parts, "{program}: {fact}");
        }
        let module = imported.module;
        for name in ["f", "g"] {
            let function = module
                .functions()
                .find(|(_, function)| module.string(function.name) == name && function.address.is_some());
            let (id, function) = function.expect("the function");
            let parts = function.code_parts().map(|part| part.pcs.end - part.pcs.start);
            let expected = [sizes[name], sizes[&format!("{name}.cold")]];
            assert_eq!(parts.collect::<Vec<_>>(), expected, "{program}");
            let cold = function.code_parts().nth(1).expect("a part").pcs;
            let rows = module.rows(id).iter().filter(|row| cold.contains(&row.pc));
            assert!(rows.count() > 1, "{program}");
            let is_cold = |pc: Option<u64>| pc.is_some_and(|pc| pc > cold.start && pc <= cold.end);
            assert!(module.calls().any(|(_, call)| is_cold(call.return_pc)), "{program}");
            let is_frame_there = module.frame(id).iter().any(|rule| rule.pcs().end > cold.start);
            assert!(is_frame_there, "{program}");
        }
        let is_placed = |name: &str| {
            module.variables().any(|(id, variable)| {
                variable.name.is_some_and(|known| module.string(known) == name)
                    && module.live(id).iter().any(|live| live.pcs().start > sizes["f"])
            })
        };
        assert!(is_placed("q") && is_placed("sum"), "{program}");
        let again = Module::from_json(module.to_json()).expect("the description is read");
        assert!(again == module, "{program}");
        let (_, found) = differences(&bytes);
        assert!(found.is_empty(), "{program}:\n{}", listed(&found));
    }
}

/// C++ moves the blocks after a `catch` to the cold part.
#[test]
fn facts_of_exceptions_in_cold_parts_are_kept() {
    const SOURCE: &str = r"
struct E { int code; };
extern int use(int);
int h(int a) {
    try { return use(a) + 1; } catch (E &e) { int c = e.code * 3; use(c); return c; }
}
";
    let arguments = &["-g", "-O2", "-c"];
    let program = Program { name: "b.cc", source: SOURCE, compiler: GXX, arguments };
    let Some(bytes) = program.compiled(&Folder::new()) else { return };
    let (imported, found) = differences(&bytes);
    assert!(found.is_empty(), "{}", listed(&found));
    let is_in_parts = |count: usize| count == 2;
    assert!(imported.module.functions().any(|(_, function)| is_in_parts(function.code_parts().count())));
}

/// A function with 0x40 bytes at `f` and 0x18 bytes at `f.cold`, and another function.
fn described() -> Module {
    let target = Target::x86_64();
    let reg = |name| target.register_named(name).expect("a register");
    let [rdi, rsi, rsp, rip] = ["rdi", "rsi", "rsp", "rip"].map(reg);
    let mut m = Builder::new(target.clone());
    let unit = m.unit("a.c");
    let file = m.primary_file(unit).expect("a file");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
    let cold = Address::Symbol(m.symbol("f.cold"), 0);
    let other = m.function(unit, "g").expect("a function").code("g", 0x10).id();
    let f = m
        .function(unit, "f")
        .expect("a function")
        .code("f", 0x40)
        .code_part(0x41..0x59, cold)
        .expect("a part")
        .describes(DescribedCalls::All)
        .id();
    let live = |m: &mut Builder, name, pcs: [core::ops::Range<u64>; 2]| {
        let [hot, cold] = pcs;
        let mut n = m.parameter(f, name, int).expect("a parameter");
        n.live(hot, Loc::register(rdi)).expect("a range").live(cold, Loc::register(rsi)).expect("a range");
    };
    live(&mut m, "n", [0..0x40, 0x41..0x59]);
    live(&mut m, "k", [0x8..0x20, 0x45..0x48]);
    let block = m.block(f, &[0x10..0x20, 0x41..0x44]).expect("a block");
    m.variable(block, "x", int).expect("a variable").live(0x42..0x44, Loc::register(rdi)).expect("a range");
    let cold = m.block(f, &[0x44..0x59]).expect("a block");
    m.variable(cold, "y", int).expect("a variable").always(Loc::register(rsi)).expect("a location");
    m.inlined(cold, other, &[0x44..0x48], SourceLine::new(file, 7)).expect("a call");
    // The last instruction of each part is a call.
    for pc in [0x40, 0x48, 0x59] {
        m.call(f).expect("a call").returns_to(pc).expect("a pc").calls(other).expect("a callee");
    }
    m.label(f, "out").expect("a label").at(0x50).expect("a pc");
    for (pc, line) in [(0, 1), (0x10, 2), (0x41, 9), (0x50, 3)] {
        m.row(f, LineTableRow::new(pc, file, line)).expect("a row");
    }
    m.row(other, LineTableRow::new(0, file, 20)).expect("a row");
    let mut frame = m.frame(f).expect("a frame");
    let address = |by| Loc::memory(SpaceId::DEFAULT, Val::register(rsp).plus(by));
    frame.cfa(0..0x4, address(8)).expect("an address").cfa(0x4..0x44, address(16)).expect("an address");
    frame.cfa(0x44..0x59, address(32)).expect("an address");
    frame.saved(0..0x59, rip, Loc::cfa().offset(-8)).expect("a rule");
    m.finish().expect("a module")
}

/// The cold part precedes the hot part, as in gcc's programs.
fn code() -> ObjectCode {
    ObjectCode::text(vec![0x90; 0x100])
        .with_function("f.cold", 0x10, 0x18)
        .with_function("f", 0x60, 0x40)
        .with_function("g", 0xa0, 0x10)
}

fn consumers() -> Vec<Consumer> {
    let mut all = Vec::new();
    for version in 2..=5 {
        let mut consumer = Consumer::dwarf5();
        consumer.version = version;
        consumer.tables.aranges = true;
        all.push(consumer.clone());
        consumer.lists.has_absolute_bounds = version < 5;
        all.push(consumer);
    }
    let mut consumer = Consumer::dwarf5();
    consumer.frames.eh_frame = true;
    all.push(consumer);
    all
}

#[test]
fn described_parts_are_written_checked_and_imported() {
    let module = described();
    let again = Module::from_json(module.to_json()).expect("the description is read");
    assert!(again == module);
    for consumer in consumers() {
        let case = format!("DWARF {}, {:?}", consumer.version, consumer.lists);
        let written = lower(&module, &consumer, Policy::Partial).expect("sections");
        let object = new_object(module.target(), &code(), &written.sections).expect("an object");
        let report = eitri::check(&module, &consumer, &written.omissions, &object).expect("a report");
        assert!(report.is_clean(), "{case}: {report}");
        assert!(report.locations > 30, "{case}: {report}");
        if consumer.lists.has_absolute_bounds {
            continue;
        }
        let options = with::<ImportOptions<'_>>(|options| options.target = Some(module.target().clone()));
        let imported = import(&object, &options).expect("the object is imported");
        let (id, function) = imported
            .module
            .functions()
            .find(|(_, function)| function.code_parts().count() == 2)
            .expect("parts");
        let parts: Vec<_> = function.code_parts().map(|part| part.pcs).collect();
        assert_eq!(parts, [0..0x40, 0x41..0x59], "{case}");
        let rows: Vec<_> = imported.module.rows(id).iter().map(|row| (row.pc, row.line)).collect();
        assert_eq!(rows, [(0, 1), (0x10, 2), (0x41, 9), (0x50, 3)], "{case}");
        let facts: Vec<_> = imported.unimported.iter().map(ToString::to_string).collect();
        assert!(
            !facts.iter().any(|fact| fact.contains("outside the function") || fact.contains("ranges")),
            "{facts:?}"
        );
        // The import is written again without a difference.
        let report =
            eitri::check(&imported.module, &consumer, &written.omissions, &object).expect("a report");
        let wrong = report.findings.iter().filter(|finding| finding.at.pcs.is_some());
        assert_eq!(wrong.count(), 0, "{case}: {report}");
    }
}

/// Another reader's view: LLVM finds the function and the block of a pc in the cold part, and no error.
#[test]
fn llvm_finds_what_is_in_a_cold_part() {
    let module = described();
    for version in [4, 5] {
        let mut consumer = Consumer::dwarf5();
        consumer.version = version;
        let written = lower(&module, &consumer, Policy::Partial).expect("sections");
        let object = new_object(module.target(), &code(), &written.sections).expect("an object");
        let folder = Folder::new();
        std::fs::write(folder.path().join("out.o"), &object).expect("a file");
        let Some(ran) = DWARFDUMP.run_in(folder.path(), &["--verify", "out.o"]) else { return };
        assert!(ran.succeeded, "{ran}");
        // pc 0x4a is 9 bytes after the cold part's start.
        let Some(ran) = DWARFDUMP.run_in(folder.path(), &["--lookup=0x19", "out.o"]) else { return };
        for text in ["DW_AT_name\t(\"f\")", "DW_TAG_lexical_block"] {
            assert!(ran.out.contains(text), "{text}: {ran}");
        }
        let Some(ran) = DWARFDUMP.run_in(folder.path(), &["--lookup=0x30", "out.o"]) else { return };
        assert!(!ran.out.contains("DW_AT_name\t(\"f\")"), "{ran}");
    }
}

/// A wrong address of a part is a finding.
#[test]
fn wrong_part_is_a_finding() {
    let consumer = Consumer::dwarf5();
    let module = described();
    let written = lower(&module, &consumer, Policy::Strict).expect("sections");
    let object = new_object(module.target(), &code(), &written.sections).expect("an object");
    let text = module.to_json();
    let text: String = text.split_whitespace().collect();
    let from = r#""from":65,"bytes":24,"symbol":"f.cold""#;
    assert!(text.contains(from), "{text}");
    let wrong = text.replacen(from, r#""from":65,"bytes":24,"symbol":"f""#, 1);
    let wrong = Module::from_json(wrong).expect("a description");
    let report = eitri::check(&wrong, &consumer, &[], &object).expect("a report");
    assert!(!report.is_clean(), "{report}");
}

#[test]
fn ranges_in_several_parts_are_refused() {
    let new = || {
        let mut m = Builder::new(Target::x86_64());
        let unit = m.unit("a.c");
        let cold = Address::Symbol(m.symbol("f.cold"), 0);
        let f = m
            .function(unit, "f")
            .expect("a function")
            .code("f", 0x40)
            .code_part(0x48..0x50, cold)
            .expect("a part")
            .id();
        (m, f)
    };
    let refused = |m: Builder| m.finish().expect_err("pcs of two parts").to_string();
    let (mut m, f) = new();
    m.block(f, &[0x20..0x4a]).expect("a block");
    assert!(refused(m).contains("pcs 0x20..0x4a are in several parts of the code"));
    let (mut m, f) = new();
    m.call(f).expect("a call").returns_to(0x44).expect("a pc");
    assert!(refused(m).contains("pc 0x44 is outside the parts of the code"));
    let (mut m, f) = new();
    let cold = Address::Symbol(m.symbol("f.cold"), 0);
    let mut function = m.describe_function(f).expect("a function");
    let error = function.code_part(0x50..0x58, cold).expect_err("the end of the part before").to_string();
    assert!(error.contains("expected code before it, and a pc after 0x50"), "{error}");
    assert!(function.code_part(0x60..0x60, cold).is_err());
}

/// A range that is empty (DWARF 5 section 2.17.3) or of discarded code hides no range after it.
#[test]
fn ranges_after_empty_and_discarded_ranges_are_kept() {
    let folder = Folder::new();
    folder.file("a.c", SOURCE);
    let Some(ran) = GCC.run_in(folder.path(), &["-g", "-gdwarf-5", "-O2", "-S", "-o", "a.s", "a.c"]) else {
        return;
    };
    assert!(ran.succeeded, "{ran}");
    let text = std::fs::read_to_string(folder.path().join("a.s")).expect("a file");
    let parts = |inserted: &str| {
        // Each list begins with a label.
        let lines = text.lines().map(|line| {
            let is_list = line.starts_with(".LLRL") && line.ends_with(':');
            if is_list { format!("{line}\n{inserted}\n") } else { format!("{line}\n") }
        });
        folder.file("b.s", lines.collect::<String>());
        let ran = GCC.run_in(folder.path(), &["-c", "-o", "b.o", "b.s"]).expect("it was there");
        assert!(ran.succeeded, "{ran}");
        let bytes = std::fs::read(folder.path().join("b.o")).expect("an object");
        let imported = import(&bytes, &ImportOptions::default()).expect("the object is imported");
        let functions = imported.module.functions().map(|(_, function)| {
            let parts = function.code_parts().map(|part| part.pcs.clone());
            (imported.module.string(function.name).to_owned(), parts.collect::<Vec<_>>())
        });
        (functions.collect::<Vec<_>>(), imported.unimported)
    };
    let (expected, _) = parts("");
    assert!(expected.iter().any(|(_, parts)| parts.len() > 1), "{expected:?}");
    // `DW_RLE_start_length`.
    for (address, length, reason) in [(".Ltext0", 0, "EmptyPcs"), ("-1", 4, "DiscardedCode")] {
        let (found, unimported) = parts(&format!("\t.byte 7\n\t.quad {address}\n\t.uleb128 {length}"));
        assert_eq!(found, expected, "{address}");
        let is_listed = unimported.iter().any(|fact| format!("{:?}", fact.reason).contains(reason));
        assert!(is_listed, "{unimported:?}");
    }
}
