//! Descriptions compared with the PTX text that they describe: registers, symbols and sizes of functions. The texts are
//! those of nvcc, and ptxas says which registers a text declares.

use core::ops::Range;

use eitri::build::Builder;
use eitri::check::{PtxReport, check_ptx};
use eitri::emit::ptx::{PtxAttachOptions, attach};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, Loc, Module, Val, Warning};
use eitri::op::Reg;
use eitri::read::{Dwarf, Entry, Object};
use eitri::target::{Sm, Target};
use pretty_assertions::assert_eq;

use super::common::{Folder, Tool};
use super::cubin::{PTXAS, TEXT};

const NVCC: Tool = Tool::new("nvcc", "nvidia-cuda-nvcc of PyPI");

/// Texts, each with the name of its kernel: nvcc 13.5 made the second one of a kernel with optimizations.
const TEXTS: [(&str, &str); 3] = [
    (TEXT, "k"),
    (include_str!("nvidia/optimized.ptx"), "k"),
    (include_str!("../../examples/data/cuda_kernel.ptx"), "scale"),
];

fn target() -> Target {
    Target::nvptx(Sm::named("sm_80").expect("a processor"))
}

/// A register that a text declares, as a line by line reading finds it.
struct Register {
    name: String,
    /// Size in bits; 1 for a predicate.
    bits: u64,
    /// Position of the first instruction that names the register.
    first: u64,
}

/// The statements of a kernel without labels. The texts have no `;` in comments.
fn statements(text: &str) -> Vec<&str> {
    let body = text.split_once("\n{").and_then(|(_, rest)| rest.rsplit_once('}')).expect("a body").0;
    let lines = body.lines().map(|line| line.split("//").next().unwrap_or_default());
    let statements = lines.flat_map(|line| line.split(';')).map(str::trim);
    statements.filter(|one| !one.is_empty() && !one.ends_with(':')).collect()
}

/// The registers that instructions name, and the number of instructions.
fn registers(text: &str) -> (Vec<Register>, u64) {
    let mut registers = Vec::<Register>::new();
    let mut declared = Vec::new();
    let mut position = 0;
    for statement in statements(text) {
        if let Some(rest) = statement.strip_prefix(".reg ") {
            let (ty, name) = rest.trim().split_once(char::is_whitespace).expect("a type and a name");
            let bits =
                if ty == ".pred" { "1" } else { ty.trim_start_matches(|char| !char::is_numeric(char)) };
            let name = name.trim().split('<').next().expect("a name").to_owned();
            declared.push((name, bits.parse().expect("a size")));
            continue;
        }
        if statement.starts_with('.') {
            continue;
        }
        let is_word = |char: char| char.is_ascii_alphanumeric() || char == '%' || char == '_';
        for word in statement.split(|char| !is_word(char)).filter(|word| word.starts_with('%')) {
            let base = word.trim_end_matches(|char: char| char.is_ascii_digit());
            let is_known = registers.iter().any(|one| one.name == word);
            if let Some((_, bits)) = declared.iter().find(|(name, _)| name == base).filter(|_| !is_known) {
                registers.push(Register { name: word.into(), bits: *bits, first: position });
            }
        }
        position += 1;
    }
    (registers, position)
}

/// A kernel with one variable of a size, Boolean for one bit.
fn described(kernel: &str, count: u64, bits: u64, live: Option<Range<u64>>, loc: Loc) -> Module {
    let mut m = Builder::new(target());
    let unit = m.unit("k.cu");
    let boolean = (BaseEncoding::Boolean, 8);
    let (encoding, size) = if bits == 1 { boolean } else { (BaseEncoding::Unsigned, bits) };
    let ty = m.base_type(unit, "t", encoding, size).expect("a type");
    let function = m.function(unit, kernel).expect("a function").code(kernel, count).kernel().id();
    let mut variable = m.variable(function, "v", ty).expect("a variable");
    match live {
        Some(live) => variable.live(live, loc).expect("a location"),
        None => variable.always(loc).expect("a location"),
    };
    m.finish().expect("a module")
}

fn in_register(name: &str) -> Loc {
    Loc::per_lane(target().register_named(name).expect("a register"))
}

/// Asserts that `check` of the attached text has the findings of the plain text.
fn is_found_in_the_attached(module: &Module, text: &str, report: &PtxReport) {
    let written = lower(module, &Consumer::cuda_gdb(), Policy::Strict).expect("sections");
    let Ok(attached) = attach(text, module.target(), &written.sections, &PtxAttachOptions::default()) else {
        return;
    };
    let checked = eitri::check(module, &Consumer::cuda_gdb(), &written.omissions, attached.as_bytes());
    assert_eq!(checked.expect("a report").findings, report.findings);
}

/// Each mistake, at each register that an instruction names.
#[test]
fn mistake_is_reported_at_each_register() {
    let mut mistakes = [0; 7];
    for (text, kernel) in TEXTS {
        let (registers, count) = registers(text);
        assert!(registers.len() >= 6, "{kernel}");
        let predicate = registers.iter().find(|one| one.bits == 1);
        for Register { name, bits, first } in &registers {
            let live = first + 1..count;
            let report = |bits: u64, live: Range<u64>, name: &str| {
                let module = described(kernel, count, bits, Some(live), in_register(name));
                let report = check_ptx(&module, text).expect("a report");
                is_found_in_the_attached(&module, text, &report);
                report
            };
            let right = report(*bits, live.clone(), name);
            assert!(right.findings.is_empty() && right.warnings.is_empty(), "{name}: {right:?}");
            let mut refused = |mistake: usize, report: PtxReport, expected: &str| {
                let [finding] = &report.findings[..] else { panic!("{name}, {mistake}: {report:?}") };
                let line = finding.to_string();
                assert!(line.contains("function `k`") || line.contains("function `scale`"), "{line}");
                assert!(line.contains("variable `v`, pc 0x"), "{line}");
                assert!(line.contains(expected), "{line}");
                mistakes[mistake] += 1;
            };
            let base = name.trim_end_matches(|char: char| char.is_ascii_digit());
            for other in [format!("{base}999"), format!("%z{}", &name[1..])] {
                refused(
                    0,
                    report(*bits, live.clone(), &other),
                    &format!("found {other}, which is not declared"),
                );
            }
            if matches!(bits, 16 | 32) {
                let wide = 2 * bits;
                let expected =
                    format!("expected a register of {wide} bits, found {name}, a register of {bits} bits");
                refused(1, report(wide, live.clone(), name), &expected);
            }
            if *bits > 1
                && let Some(Register { name, .. }) = predicate
            {
                let expected = format!("expected a register of {bits} bits, found {name}, a predicate");
                refused(2, report(*bits, count - 1..count, name), &expected);
            }
            if *first > 0 {
                let expected = format!("found {name}, which is first set at {first:#x}");
                refused(3, report(*bits, 0..1, name), &expected);
            }
            // A wider register, and a range that begins too early, can be right.
            let narrow = report(32, live.clone(), name);
            if *bits == 64 {
                let [warning] = &narrow.warnings[..] else { panic!("{narrow:?}") };
                assert!(warning.to_string().contains(&format!("{name} has 64 bits")), "{warning}");
                assert!(narrow.findings.is_empty(), "{narrow:?}");
                mistakes[4] += 1;
            }
            let early = report(*bits, *first..count, name);
            assert_eq!((early.findings.len(), early.warnings.len()), (0, 1), "{name}: {early:?}");
        }
        for size in [count - 1, count + 1] {
            let module = described(kernel, size, 32, None, Loc::implicit(&[0; 4]));
            let report = check_ptx(&module, text).expect("a report");
            let expected = format!(
                "code: unit `k.cu`, function `{kernel}`: expected {count} instructions of `{kernel}`, found {size} instructions"
            );
            assert_eq!(report.findings.iter().map(ToString::to_string).collect::<Vec<_>>(), [expected]);
            is_found_in_the_attached(&module, text, &report);
            mistakes[5] += 1;
        }
        for line in text.lines().filter(|line| line.trim().starts_with(".shared")) {
            let symbol = line.split(['[', ' ']).rev().find(|word| !word.contains(']')).expect("a name");
            for (space, is_right) in
                [("shared", true), ("global", false), ("default", false), ("const", false)]
            {
                let mut m = Builder::new(target());
                let unit = m.unit("k.cu");
                let space = target().space_named(space).expect("a space").id;
                let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
                let loc = Loc::memory(space, Val::address(m.symbol(symbol), 0));
                m.variable(unit, "v", int).expect("a variable").always(loc).expect("a location");
                let module = m.finish().expect("a module");
                let report = check_ptx(&module, text).expect("a report");
                assert_eq!(report.findings.is_empty(), is_right, "{symbol} {report:?}");
                is_found_in_the_attached(&module, text, &report);
                mistakes[6] += usize::from(!is_right);
            }
        }
    }
    // Sums over the three texts, which have 72 registers.
    assert!(mistakes.iter().all(|&count| count > 5), "{mistakes:?}");
    assert!(mistakes[0] > 120 && mistakes[2] > 60, "{mistakes:?}");
}

/// Numbers that are computed from registers: the register has the bits that are read, and a value when the range begins.
#[test]
fn register_in_a_computation_has_the_bits_that_are_read() {
    let [(text, _), ..] = TEXTS;
    let reg = |name: &str| target().register_named(name).expect("a register");
    let global = target().space_named("global").expect("a space").id;
    let parts = |bits| Loc::parts([(in_register("%r1"), 32), (in_register("%r2"), bits)]);
    let read = |name: &str, bits| Loc::per_lane(reg(name)).read(bits);
    let cases: [(u64, Range<u64>, Loc, Option<&str>); 10] = [
        (64, 4..10, parts(32), None),
        (32, 4..10, in_register("%r1").offset(2), Some("expected a register of 48 bits, found %r1")),
        (16, 4..10, in_register("%r1").offset(2), None),
        (96, 4..10, parts(64), Some("expected a register of 64 bits, found %r2, a register of 32 bits")),
        (32, 4..10, Loc::memory(global, read("%rd2", 64).plus(4)), None),
        (32, 1..10, Loc::memory(global, read("%rd2", 64)), Some("%rd2, which is first set at 0x1")),
        (32, 4..10, Loc::memory(global, read("%r2", 64)), Some("expected a register of 64 bits, found %r2")),
        (32, 4..10, Loc::value(read("%rd2", 32)), None),
        (
            32,
            4..10,
            Loc::value(read("%r1", 32).add(read("%r7", 32))),
            Some("%r7, which no instruction of `k` sets"),
        ),
        (2048, 4..10, Loc::whole(reg("%r1")), None),
    ];
    for (bits, live, loc, expected) in cases {
        let mut m = Builder::new(target());
        let unit = m.unit("k.cu");
        let half = m.base_type(unit, "half", BaseEncoding::Unsigned, 16).expect("a type");
        let ty = m.array(unit, half, &[Some(bits / 16)]).expect("a type");
        let function = m.function(unit, "k").expect("a function").code("k", 10).kernel().id();
        let mut variable = m.variable(function, "v", ty).expect("a variable");
        variable.live(live, loc.clone()).expect("a location");
        let report = check_ptx(&m.finish().expect("a module"), text).expect("a report");
        let found: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
        match expected {
            None => assert_eq!(found, Vec::<String>::new(), "{loc:?}"),
            Some(expected) => assert!(found.len() == 1 && found[0].contains(expected), "{loc:?}: {found:?}"),
        }
    }
}

/// Name of a PTX register: its number is the ASCII of the name, packed.
fn packed_name(number: u64) -> Option<Reg> {
    let bytes = number.to_be_bytes();
    let name = core::str::from_utf8(&bytes).ok()?.trim_start_matches('\0').to_owned();
    name.starts_with('%').then(|| target().register_named(&name).ok())?
}

/// The register of an expression `regx`.
fn named_register(expr: &[u8]) -> Option<Reg> {
    let [0x90, rest @ ..] = expr else { return None };
    let number = rest.iter().rev().fold(0, |number, byte| number << 7 | u64::from(byte & 0x7f));
    packed_name(number)
}

/// nvcc's own description of unoptimized code: variables of 1 to 64 bits in registers, in lists and for whole scopes.
#[test]
fn description_of_nvcc_has_no_mistake() {
    let folder = Folder::new();
    let mut counts = [0; 2];
    for source in ["kernel.cu", "kinds.cu"] {
        let source = format!("{}/tests/programs/nvidia/{source}", crate::common::ROOT);
        let out = folder.path().join("k.ptx");
        let out = out.to_str().expect("a path");
        let Some(ran) = NVCC.run(&["-G", "-arch=sm_80", "-ptx", "-o", out, &source]) else { return };
        assert!(ran.succeeded, "{ran}");
        let text = std::fs::read_to_string(out).expect("the text");
        let object = Object::read(text.as_bytes()).expect("the text");
        let dwarf = Dwarf::read(&object).expect("entries");
        let mut m = Builder::new(target());
        let unit = m.unit("k.cu");
        let functions = dwarf.entries().filter(|entry| entry.tag() == gimli::DW_TAG_subprogram);
        for entry in functions {
            let name = entry.attr(gimli::DW_AT_MIPS_linkage_name).expect("a name").text().expect("a name");
            let range = entry.ranges().expect("ranges")[0].clone();
            let mut function = m.function(unit, &name).expect("a function");
            let function = function.code(&name, range.end - range.start).id();
            for variable in entry.descendants() {
                let Ok(Some(list)) = variable.locations(gimli::DW_AT_location) else { continue };
                let bits = variable.ty().and_then(Entry::size_bits).expect("a size");
                let ty = m.base_type(unit, &format!("t{}", variable.offset()), BaseEncoding::Unsigned, bits);
                let ty = ty.expect("a type");
                let name = variable.name().expect("a name").into_owned();
                for location in list {
                    let Some(reg) = named_register(location.expr) else { continue };
                    let mut described = m.variable(function, &name, ty).expect("a variable");
                    if location.is_default() {
                        described.always(Loc::per_lane(reg))
                    } else {
                        let pcs = location.start - range.start..location.end - range.start;
                        described.live(pcs, Loc::per_lane(reg))
                    }
                    .expect("a location");
                    counts[usize::from(location.is_default())] += 1;
                }
            }
        }
        let report = check_ptx(&m.finish().expect("a module"), &text).expect("a report");
        assert!(report.findings.is_empty(), "{report:#?}");
        // nvcc's ranges of parameters begin before the instruction that loads the parameter.
        let is_at_start = |one: &Warning| one.at.pcs.as_ref().is_some_and(|pcs| pcs.start == 0);
        assert!(report.warnings.iter().all(is_at_start), "{:#?}", report.warnings);
    }
    assert!(counts.iter().all(|&count| count > 10), "{counts:?}");
}

/// A call at an instruction of the second text, whose first four instructions set %SPL, %rd2, %rd3 and %r1.
#[test]
fn operands_of_calls_are_compared_with_the_registers_of_the_text() {
    let (text, kernel) = TEXTS[1];
    let (_, count) = registers(text);
    let read = |name, bits| Loc::per_lane(target().register_named(name).expect("a register")).read(bits);
    let cases: [(u64, &str, Val, Option<&str>); 6] = [
        (3, "%r1", read("%rd3", 64), None),
        (2, "%r1", read("%rd3", 64), Some("pc 0x2..0x3: expected pcs that a value of %rd3 reaches")),
        (3, "%r1", read("%r1", 32), Some("found %r1, which is first set at 0x3")),
        (9, "%r1", read("%rd99", 64), Some("found %rd99, which is not declared")),
        (9, "%r1", read("%r1", 64), Some("expected a register of 64 bits, found %r1")),
        (9, "%r14", read("%r1", 32), Some("found %r14, which is not declared")),
    ];
    for (pc, location, value, expected) in cases {
        for is_target in [false, true] {
            let mut m = Builder::new(target());
            let unit = m.unit("k.cu");
            let function = m.function(unit, kernel).expect("a function").code(kernel, count).kernel().id();
            let mut call = m.call(function).expect("a call");
            call.at(pc).expect("a pc").returns_to(pc + 1).expect("a pc").calls(function).expect("a function");
            if is_target {
                call.target(value.clone()).expect("a target");
            }
            let mut argument = call.argument(&in_register(location)).expect("an argument");
            if !is_target {
                argument.value(value.clone()).expect("a value");
            }
            let report = check_ptx(&m.finish().expect("a module"), text).expect("a report");
            let found: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
            match expected {
                None => assert_eq!(found, Vec::<String>::new(), "{value:?}"),
                Some(expected) => {
                    let is_found = found.len() == 1 && found[0].contains(expected);
                    assert!(is_found && found[0].contains("function `k`"), "{value:?}: {found:?}");
                }
            }
        }
    }
}

/// Names of registers in the scopes of a text: ptxas refuses an instruction with a name that is not declared there.
#[test]
fn registers_are_declared_where_ptxas_accepts_their_names() {
    const NAMES: [&str; 14] =
        ["%a", "%a0", "%a1", "%a2", "%a01", "%a10", "%a11", "%b", "%b0", "%c", "%c4", "%c5", "%d", "%e"];
    const DECLARED: [&str; 8] =
        ["%a<2>", "%a1<2>", "%a", "%b<1>, %c", "%c<5>", "%d, %e", "%c1<0x10>", "%a<11>"];
    // Each function has blocks inside and beside each other, with declarations that the number of the function selects.
    let mut text = String::from(".version 8.0\n.target sm_80\n.address_size 64\n");
    let mut uses = Vec::new();
    for function in 0..24usize {
        let mut chosen = (0..4).map(|depth| DECLARED[(function * (depth + 3) + depth) % DECLARED.len()]);
        let mut position = 0;
        text += &format!(".visible .entry k{function}()\n{{\n");
        let mut block = |text: &mut String, declared: Option<&str>| {
            if let Some(declared) = declared {
                *text += &format!(".reg .b32 {declared};\n");
            }
            for name in NAMES {
                uses.push((function, name, position, text.lines().count() + 1));
                *text += &format!("mov.b32 {name}, 0;\n");
                position += 1;
            }
        };
        block(&mut text, chosen.next());
        text += "{\n";
        block(&mut text, chosen.next());
        text += "{\n";
        block(&mut text, chosen.next());
        text += "}\n";
        block(&mut text, None);
        text += "}\n{\n";
        block(&mut text, chosen.next());
        text += "}\n";
        block(&mut text, None);
        text += "ret;\n}\n";
    }
    let folder = Folder::new();
    let source = folder.file("k.ptx", &text);
    let out = folder.path().join("k.cubin");
    let source = source.to_str().expect("a path");
    let out = out.to_str().expect("a path");
    let Some(ran) = PTXAS.run(&["-arch=sm_80", source, "-o", out]) else { return };
    assert!(!ran.succeeded);
    // `ptxas k.ptx, line 8; error   : Unknown symbol '%a2'`
    let lines = ran.errors.lines().filter(|line| line.contains("Unknown symbol"));
    let refused: Vec<usize> =
        lines.filter_map(|line| line.split_once("line ")?.1.split(';').next()?.trim().parse().ok()).collect();
    let count = NAMES.len() as u64 * 6 + 1;
    let mut declared = 0;
    for (function, name, position, line) in &uses {
        let kernel = format!("k{function}");
        let module = described(&kernel, count, 32, Some(*position..position + 1), in_register(name));
        let report = check_ptx(&module, &text).expect("a report");
        let is_declared = report.findings.iter().all(|one| !one.found.contains("not declared"));
        assert_eq!(is_declared, !refused.contains(line), "{kernel}, {name} in line {line}: {report:?}");
        declared += usize::from(is_declared);
    }
    assert!(declared > 300 && uses.len() - declared > 300, "{declared} of {}", uses.len());
}
