//! The promise: `report` makes one page that shows each location, its meaning and its findings, in a browser that is
//! driven by mouse and keys. The page sends no request, prints no message, and takes every name as text.

use crate::common::{tools, with};

use std::path::Path;

use eitri::build::Builder;
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, Loc, Module};
use eitri::op::{Dialect, Encoding, Expr, text};
use eitri::read::{Skeleton, SplitFiles};
use eitri::report::{ReportOptions, report};
use eitri::target::Target;
use serde_json::Value;
use tools::{Folder, Tool};

const CHROMIUM: Tool = Tool::new("chromium", "chromium");
const CUOBJDUMP: Tool = Tool::new("cuobjdump", "nvidia-cuda-cuobjdump of PyPI");
const PYTHON: Tool = Tool::new("python3", "python3");

fn object(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(crate::common::ROOT).join("tests/objects").join(name)).expect("an object")
}

fn page(name: &str) -> String {
    report(&object(name), &with::<ReportOptions>(|options| options.name = name)).expect("a page")
}

/// Asks the browser about a page; `None` without a browser. The page has no message and sends no request.
pub fn asked(page: &str, hash: &str, question: &str) -> Option<Value> {
    CHROMIUM.run(&["--version"])?;
    let folder = Folder::new();
    let file = folder.file("page.html", page);
    let url = format!("file://{}{hash}", file.display());
    let script = Path::new(crate::common::ROOT).join("tests/report/browser.py");
    let ran = PYTHON.run(&[script.as_os_str(), url.as_ref(), question.as_ref()])?.clean();
    let mut found: Value = serde_json::from_str(&ran).expect("JSON");
    assert_eq!(found["messages"], Value::Array(vec![]), "messages of the console");
    assert_eq!(found["requests"], Value::Array(vec![]), "requests");
    println!("{question}: the page is ready after {} s", found["seconds"]);
    Some(found["answer"].take())
}

/// Name that would run code if it were markup.
const HOSTILE: &str = r#"</script><img src=x onerror="window.hasRun=1"><!--"#;

/// A kernel for gfx1030 with a variable in a lane of v3, one in s4 and a constant, in two ranges each.
fn made(name: &str) -> Module {
    let target = Target::named("amdgpu-gfx1030-wave32").expect("a target");
    let mut m = Builder::new(target);
    let unit = m.unit("a.cl");
    let ty = m.base_type(unit, name, BaseEncoding::Unsigned, 32).expect("a type");
    let function = m.function(unit, name).expect("a function").code("f", 0x20).id();
    let encoding = Encoding::new(8, Dialect::Llvm);
    for (name, first, second) in [
        ("x", "regx v3; push_lane; lit4; mul; offset", "regx v4; push_lane; lit4; mul; offset"),
        (name, "regx s4", "regx s5"),
        ("count", "consts 7; stack_value", "consts -8; stack_value"),
    ] {
        let parsed = [first, second].map(|expr| {
            text::parse(expr, encoding, None).or_else(|_| {
                text::parse(expr, encoding, Target::named("amdgpu-gfx1030-wave32").ok().as_ref())
            })
        });
        let exprs = parsed.map(|expr| {
            let bytes = expr.expect("an expression").bytes().to_vec();
            m.expr(Expr::raw(bytes), &[]).expect("an expression")
        });
        let mut variable = m.variable(function, name, ty).expect("a variable");
        for (pcs, expr) in [0..0x10, 0x10..0x20].into_iter().zip(exprs) {
            variable.live(pcs, Loc::expr(expr)).expect("a range");
        }
    }
    m.finish().expect("a module")
}

fn made_page(name: &str) -> String {
    let module = made(name);
    let written = lower(&module, &Consumer::llvm(), Policy::Partial).expect("it is lowered");
    let code = ObjectCode::text([0, 0, 0x80, 0xbf].repeat(8)).with_function("f", 0, 0x20);
    let object = new_object(module.target(), &code, &written.sections).expect("an object");
    report(&object, &with::<ReportOptions>(|options| options.name = name)).expect("a page")
}

/// No byte of a name is markup, in the file or after the script has run.
#[test]
fn names_of_the_object_are_text() {
    let page = made_page(HOSTILE);
    assert!(!page.contains("<img"), "a name is markup");
    // The data, the policy of the page and the style and script are all that is beside the frame.
    assert_eq!(page.matches("<script").count(), 2);
    let Some(found) = asked(&page, "#f=0", "tour") else { return };
    assert_eq!((&found["markup"], &found["has run"]), (&0.into(), &"undefined".into()));
    assert!(found["functions"].as_str().expect("text").contains(HOSTILE), "{found}");
    // The columns are those of the description: x, the hostile name, count.
    let keys: Vec<&str> =
        found["by keys"].as_array().expect("answers").iter().map(|one| one.as_str().expect("text")).collect();
    assert!(keys[1].starts_with(HOSTILE) && keys[1].ends_with("regx s5"), "{keys:?}");
}

#[test]
fn locations_are_chosen_by_mouse_and_by_keys() {
    let Some(found) = asked(&made_page("kernel"), "#f=0", "tour") else { return };
    assert_eq!(found["selected"], Value::from(vec!["v0", "v0e0"]));
    assert_eq!(found["by mouse"], "regx v3; push_lane; lit4; mul; offset");
    assert_eq!(found["hash"], "#f=0&v=0&pc=0x10000");
    let expected = [
        "x, vector register v4, 0x10010 to 0x10020, regx v4; push_lane; lit4; mul; offset",
        "kernel, scalar register s5, 0x10010 to 0x10020, regx s5",
        "count, constant -8, 0x10010 to 0x10020, consts -8; stack_value",
        // The last variable stays.
        "count, constant -8, 0x10010 to 0x10020, consts -8; stack_value",
        "count, constant 7, 0x10000 to 0x10010, consts 7; stack_value",
        "kernel, scalar register s4, 0x10000 to 0x10010, regx s4",
    ];
    assert_eq!(found["by keys"], Value::from(expected.map(Value::from).to_vec()));
    assert_eq!(found["active"], "v1e2");
    assert_eq!(
        (&found["focus after Enter"], &found["focus after Escape"]),
        (&"details".into(), &"timeline".into())
    );
    assert_eq!(found["selection after Escape"], 0);
    assert_eq!(found["roles"], "grid gridcell presentation row status");
    assert_eq!(found["unnamed"], 0);
}

#[test]
fn the_lane_changes_the_place_of_each_lane() {
    let Some(found) = asked(&made_page("kernel"), "#f=0&v=0&pc=0x10004", "lanes") else { return };
    let places = &found["places"];
    assert_eq!(
        (&places[0][0], &places[1][0]),
        (&"v3 (lane 0)".into(), &"v3 + 20 bytes (lane 5)".into()),
        "{found}"
    );
    assert_eq!((&places[0][1], &places[1][1]), (&"vv3[0]".into(), &"vv3[5]".into()));
    assert!(places[1][2].as_str().expect("steps").contains("lane: 5"), "{found}");
    // The figure has 1, 2, 3, 2 and 1 elements of the stack.
    assert_eq!(found["operations"], Value::from(vec!["regx v3", "push_lane", "lit4", "mul", "offset"]));
    assert_eq!(found["cells"], 9, "{found}");
    assert_eq!(found["hash"], "#f=0&v=0&pc=0x10004&lane=5");
}

/// A PTX register is shown where the map of the cubin has it. `cuobjdump -elf` prints of the map:
///
/// ```text
/// (reg: %rd4) 0x5000000, 0x480, 0xb40
/// (reg: %rd3) 0x5000008, 0x450, 0x4f0
/// (reg: %rd3) 0x5000009, 0x460, 0x500
/// (reg: %rd4) 0x500000a, 0x470, 0xb40
/// ```
///
/// Class 5 is the general registers, and the last pc is that of an instruction of 16 bytes; the lower word is written
/// first. By the addends of its relocations, the list
/// has %rd3 at [0x470, 0x4b0) and %rd4 at [0x4b0, 0xc80).
#[test]
fn a_ptx_register_is_shown_by_its_homes() {
    let Some(found) = asked(&page("triton/add.sm_90.cubin"), "#f=0&v=9&pc=add%2B0x470", "column") else {
        return;
    };
    let expected = [
        "x, scalar register R8 R9, add+[0x470, 0x4b0), regx %rd3",
        "x, scalar register R10 R0, add+[0x4b0, 0xb50), regx %rd4",
        "x, nowhere, add+[0xb50, 0xc80), regx %rd4",
    ];
    assert_eq!(found["seen"], Value::from(expected.map(Value::from).to_vec()), "{found}");
    let meaning = found["meaning"].as_str().expect("text");
    assert!(
        meaning.contains("the PTX register %rd4, which no machine register has at these pcs"),
        "{meaning}"
    );
}

/// The registers of PTX have the machine registers that `cuobjdump` prints of the cubin's map, at the pcs that it
/// prints: `(reg: %r7) 0x500000c, 0x230, 0xb40`. The class is in the upper byte, 2 for predicates and 5 for general
/// registers; the last pc is that of an instruction of 16 bytes. A register without a home at some pcs has no row there.
#[test]
fn registers_of_ptx_have_their_homes() {
    let name = "triton/scan_limit.sm_90.cubin";
    let file = Path::new(crate::common::ROOT).join("tests/objects").join(name);
    let Some(printed) = CUOBJDUMP.run(&["-elf".as_ref(), file.as_os_str()]) else { return };
    let printed = printed.clean();
    let rows = printed.lines().filter_map(|line| line.trim().strip_prefix("(reg: ")?.split_once(") "));
    let number =
        |text: &str| u32::from_str_radix(text.trim().trim_start_matches("0x"), 16).expect("a number");
    let rows: Vec<(String, String, u32, u32)> = rows
        .map(|(register, numbers)| {
            let numbers: Vec<u32> = numbers.split(',').map(number).collect();
            let class = if numbers[0] >> 24 == 2 { "P" } else { "R" };
            let home = format!("{class}{}", numbers[0] & 0xff_ffff);
            (register.to_owned(), home, numbers[1], 0x10 + numbers[2])
        })
        .collect();
    let Some(found) = asked(&page(name), "#f=0", "homes") else { return };
    let mut at_home = 0;
    let mut without = 0;
    for one in found["homes"].as_array().expect("a list") {
        let (pcs, meaning) = one.as_str().expect("text").split_once(": ").expect("pcs and meaning");
        let pcs = pcs.strip_prefix("scan_limit+[").and_then(|pcs| pcs.strip_suffix(')')).expect("pcs");
        let (start, end) = pcs.split_once(", ").expect("two pcs");
        let start = number(start);
        let end = number(end);
        for piece in meaning.split("; ") {
            let Some((_, register)) = piece.split_once("the PTX register ") else { continue };
            let (register, home) = register.split_once(", which ").expect("a home, or none");
            let of = rows.iter().filter(|row| row.0 == register);
            match home.strip_prefix("is in ") {
                Some(homes) => {
                    // The homes of the words; a dash is for none, and a copied value has two.
                    let all = homes.split(" and ").flat_map(|homes| homes.split(" or "));
                    for home in all.filter(|home| *home != "–") {
                        // A home can be in several rows that follow each other.
                        let is_there = (start..end)
                            .step_by(16)
                            .all(|pc| of.clone().any(|row| row.1 == home && (row.2..row.3).contains(&pc)));
                        assert!(is_there, "{one}: {rows:#?}");
                        at_home += 1;
                    }
                }
                None => {
                    let mut of = of;
                    assert!(of.all(|row| end <= row.2 || row.3 <= start), "{one}: {rows:#?}");
                    without += 1;
                }
            }
        }
    }
    assert!(at_home > 4 && without > 4, "{found}");
}

#[test]
fn names_are_searched_and_findings_filtered() {
    let Some(found) = asked(&page("llvm19/k04_diverge.gfx1100.O2.hsaco"), "", "search") else { return };
    assert_eq!(found["focus"], "search");
    assert!(found["results"].as_array().expect("results").len() > 1, "{found}");
    assert_eq!(found["details"], "diverge", "{found}");
    assert!(found["filters"].as_array().expect("codes").len() > 2, "{found}");
    assert!(found["filtered"].as_u64() < found["columns"].as_u64(), "{found}");
}

#[test]
fn the_page_is_light_dark_and_printable() {
    let Some(found) = asked(&page("llvm19/k14_spill.gfx1030.O2.hsaco"), "#f=2", "looks") else { return };
    assert_ne!(found["light"], found["dark"]);
    // Each kind has a colour and a pattern of its own.
    assert_eq!(found["kinds"], 11);
    assert!(found["pages"].as_u64() >= Some(2), "{found}");
    assert!(found["printed"].as_u64() > Some(20) && found["hidden"] == "none", "{found}");
}

/// A kernel with many variables and entries.
fn large(variables: u64, entries: u64) -> Vec<u8> {
    let target = Target::named("amdgpu-gfx1030-wave32").expect("a target");
    let mut m = Builder::new(target);
    let unit = m.unit("a.cl");
    let ty = m.base_type(unit, "uint", BaseEncoding::Unsigned, 32).expect("a type");
    let size = 4 * entries;
    let function = m.function(unit, "kernel").expect("a function").code("f", size).id();
    let each = entries / variables;
    for number in 0..variables {
        let mut variable = m.variable(function, &format!("variable{number}"), ty).expect("a variable");
        for index in 0..each {
            let start = 4 * (number * each + index) % (size - 400);
            let target = Target::named("amdgpu-gfx1030-wave32").expect("a target");
            let name = if index % 2 == 0 { "v" } else { "s" };
            let reg =
                target.register_named(&format!("{name}{}", (number + index) % 100)).expect("a register");
            let place = if index % 2 == 0 { Loc::per_lane(reg) } else { Loc::register(reg) };
            variable.live(start + 40 * index..start + 40 * index + 40, place).expect("a range");
        }
    }
    let module = m.finish().expect("a module");
    let written = lower(&module, &Consumer::llvm(), Policy::Partial).expect("it is lowered");
    let code = ObjectCode::text([0, 0, 0x80, 0xbf].repeat(entries as usize)).with_function("f", 0, size);
    new_object(module.target(), &code, &written.sections).expect("an object")
}

#[test]
fn a_large_kernel_has_a_small_page_of_which_the_seen_part_is_drawn() {
    let object = large(2000, 20_000);
    let page = report(&object, &with::<ReportOptions>(|options| options.name = "large")).expect("a page");
    let read = eitri::read::Object::read(&object).expect("an object");
    let debug: u64 =
        read.sections().iter().filter(|one| one.name.starts_with(".debug")).map(|one| one.size).sum();
    assert!(page.len() as u64 <= 2 * debug, "{} of {debug} bytes", page.len());
    let Some(found) = asked(&page, "#f=0", "scroll") else { return };
    // The times depend on the machine: they are printed.
    println!("{found}");
    assert!(found["most"].as_u64() < Some(5000), "{found}");
    assert_eq!(found["bytes of entries"], 12 * 20_000, "{found}");
}

/// The data of a page with a `.dwo` is that of the same units in one file.
#[test]
fn split_units_are_shown() {
    const SOURCE: &str =
        "int sum(int *all, int n) { int found = 0; while (n--) found += all[n]; return found; }";
    let folder = Folder::new();
    folder.file("a.c", SOURCE);
    for tool in [Tool::new("gcc", "gcc"), Tool::new("clang-19", "clang-19")] {
        for version in ["-gdwarf-4", "-gdwarf-5"] {
            let object = |more: &[&str]| {
                let all = [&[version, "-O2", "-c", "a.c", "-o", "a.o"], more].concat();
                let ran = tool.run_in(folder.path(), &all)?;
                assert!(ran.succeeded, "{ran}");
                Some(std::fs::read(folder.path().join("a.o")).expect("an object"))
            };
            let (Some(whole), Some(split)) = (object(&[]), object(&["-gsplit-dwarf"])) else { return };
            let read = |name: &str| Ok((name.to_string(), std::fs::read(folder.path().join(name))?));
            let find = |all: &[Skeleton<'_>]| all.iter().map(|one| read(one.dwo_name)).collect();
            let page = |bytes: &[u8], options: &ReportOptions<'_>| report(bytes, options).expect("a page");
            let with = page(&split, &with::<ReportOptions>(|options| options.split = SplitFiles::new(&find)));
            assert!(with.contains("found"), "{} {version}", tool.name);
            let without = page(&split, &ReportOptions::default());
            assert!(without.len() < with.len(), "{} {version}", tool.name);
            assert_eq!(with, page(&whole, &ReportOptions::default()), "{} {version}", tool.name);
        }
    }
}

/// Units, entries and lists of two `.dwo` have equal offsets: places and findings are those of the file.
#[test]
fn findings_are_at_their_own_variables() {
    let clang = Tool::new("clang-19", "clang-19");
    let linker = Tool::new("ld.lld-19", "lld-19");
    let folder = Folder::new();
    let options = ["-cl-std=CL2.0", "-Xclang", "-finclude-default-header", "-target", "amdgcn-amd-amdhsa"];
    for name in ["one", "two"] {
        let source = format!(
            "kernel void {name}(global float *x, float a, int n) {{
  int i = __builtin_amdgcn_workitem_id_x();
  for (int k = 0; k < n; k++) x[i] += a;
}}"
        );
        folder.file(&format!("{name}.cl"), source);
    }
    let linked = |split: &[&str]| {
        for name in ["one", "two"] {
            let files = ["-c", &format!("{name}.cl"), "-o", &format!("{name}.o")].map(String::from);
            let files: Vec<&str> = files.iter().map(String::as_str).collect();
            let more = ["-mcpu=gfx1030", "-nogpulib", "-g", "-O2"];
            let ran = clang.run_in(folder.path(), &[&options[..], &more, split, &files].concat())?;
            assert!(ran.succeeded, "{ran}");
        }
        let ran = linker.run_in(folder.path(), &["-shared", "one.o", "two.o", "-o", "both.hsaco"])?;
        assert!(ran.succeeded, "{ran}");
        Some(std::fs::read(folder.path().join("both.hsaco")).expect("an object"))
    };
    let (Some(whole), Some(split)) = (linked(&[]), linked(&["-gsplit-dwarf"])) else { return };
    let read = |name: &str| Ok((name.to_string(), std::fs::read(folder.path().join(name))?));
    let find = |all: &[Skeleton<'_>]| all.iter().map(|one| read(one.dwo_name)).collect();
    let with = report(&split, &with::<ReportOptions>(|options| options.split = SplitFiles::new(&find)));
    assert_eq!(with.expect("a page"), report(&whole, &ReportOptions::default()).expect("a page"));
}

#[test]
fn findings_outside_functions_are_shown_a_few_at_a_time() {
    let target = Target::named("amdgpu-gfx1030-wave32").expect("a target");
    let mut m = Builder::new(target);
    let unit = m.unit("a.cl");
    let ty = m.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
    m.function(unit, "f").expect("a function").code("f", 0x20);
    for number in 0..250 {
        // `regx` with a number that no register has.
        let expr = m.expr(Expr::raw(vec![0x90, 0xff, 0x7f]), &[]).expect("an expression");
        let mut variable = m.variable(unit, &format!("g{number}"), ty).expect("a variable");
        variable.always(Loc::expr(expr)).expect("a location");
    }
    let module = m.finish().expect("a module");
    let written = lower(&module, &Consumer::llvm(), Policy::Partial).expect("it is lowered");
    let code = ObjectCode::text([0, 0, 0x80, 0xbf].repeat(8)).with_function("f", 0, 0x20);
    let object = new_object(module.target(), &code, &written.sections).expect("an object");
    let page = report(&object, &ReportOptions::default()).expect("a page");
    let Some(counts) = asked(&page, "#f=0", "many") else { return };
    let [first, second, third] = [0, 1, 2].map(|turn| counts[turn].as_u64().expect("a number"));
    // The function without a frame has a finding of its own.
    let own = first.checked_sub(20).filter(|own| *own < 3).expect("twenty of those outside");
    assert_eq!([second, third], [own + 220, own + 250]);
}

/// A narrow screen: functions, timeline and details are below each other, the timeline has the width, and at least two
/// variables are seen beside the pcs.
#[test]
fn narrow_page_has_the_timeline() {
    const OBJDUMP: Tool = Tool::new("llvm-objdump-19", "llvm-19");
    let name = "llvm19/k04_diverge.gfx1100.O2.hsaco";
    let path = Path::new(crate::common::ROOT).join("tests/objects").join(name);
    let Some(disassembly) = OBJDUMP.run(&["-d".as_ref(), path.as_os_str()]) else { return };
    let disassembly = disassembly.clean();
    let options = with::<ReportOptions>(|options| options.disassembly = Some(&disassembly));
    let page = report(&object(name), &options).expect("a page");
    let Some(found) = asked(&page, "#f=0", "narrow") else { return };
    let sizes = |part: &str| -> Vec<i64> {
        let numbers = found[part].as_array().expect("numbers");
        numbers.iter().map(|number| number.as_i64().expect("a number")).collect()
    };
    for part in ["functions", "timeline", "details"] {
        let [x, width, height] = sizes(part)[..] else { panic!("three numbers: {found}") };
        assert!(x == 0 && width == 400 && height >= 48, "{part}: {found}");
    }
    assert!(sizes("timeline")[2] > 250, "{found}");
    assert!(found["scroll"].as_i64() <= Some(400) && found["columns"].as_i64() >= Some(2), "{found}");
    // Instructions have room on a wide screen only.
    assert_eq!((found["wide"].as_i64(), found["instructions"].as_i64()), (Some(1), Some(0)), "{found}");
}

/// The margin has room for pcs with four to twelve digits and for lines of headers, and leaves room for variables.
#[test]
fn margin_is_as_wide_as_its_texts() {
    let folder = Folder::new();
    folder.file(
        "mixed.h",
        "static inline int mix(int x, int y) { int t = x * 31; while (y--) t ^= t << 3; return t; }",
    );
    let source = "#include \"mixed.h\"\nint sum(int *all, int n) { int found = 0; while (n--) found += mix(all[n], n); return found; }";
    folder.file("a.c", source);
    for text in ["0x1000", "0x123000", "0x7ff000123000"] {
        let address = format!("-Wl,-Ttext={text},-e,sum");
        let arguments = ["-g", "-O2", "-fno-pie", "-static", "-nostdlib", &address, "a.c", "-o", "a"];
        let Some(ran) = Tool::new("clang-19", "clang-19").run_in(folder.path(), &arguments) else { return };
        assert!(ran.succeeded, "{ran}");
        let linked = std::fs::read(folder.path().join("a")).expect("a program");
        let page = report(&linked, &ReportOptions::default()).expect("a page");
        let Some(found) = asked(&page, "#f=0", "margins") else { return };
        for (width, seen) in [1280, 400].into_iter().zip(found.as_array().expect("two widths")) {
            assert_eq!(seen["wide"], Value::Array(vec![]), "{text}, {width} pixels: {seen}");
            assert!(seen["pcs"].as_u64() > Some(10) && seen["columns"].as_u64() >= Some(2), "{text}: {seen}");
            assert!(seen["scroll"].as_u64() <= Some(width), "{text}: {seen}");
        }
    }
}

/// A link to a variable without a pc selects its first location; a link with a pc, the location there.
#[test]
fn link_to_a_variable_selects_a_location() {
    let page = made_page("f");
    let rows = [
        ("#f=0&v=0", "0 to 0x", 1),
        ("#f=0&v=0&pc=0x10014", "regx v4", 1),
        ("#f=0&v=0&pc=0x90000", "No location at", 0),
    ];
    for (hash, details, selected) in rows {
        let Some(found) = asked(&page, hash, "link") else { return };
        let text = found["details"].as_str().expect("a text");
        assert!(text.contains(details), "{hash}: {found}");
        assert_eq!(found["selected"].as_i64(), Some(selected), "{hash}: {found}");
        assert_eq!(text.contains("No location"), selected == 0, "{hash}: {found}");
    }
}
