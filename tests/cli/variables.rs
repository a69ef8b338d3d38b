//! Variables that `eval` and `stats` find in linked programs: in code that is there, in the unit of the pc.

use pretty_assertions::assert_eq;
use serde_json::Value;

use eitri::build::Builder;
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, Loc};
use eitri::target::Target;

use super::tools::Tool;
use super::{Folder, run};
use crate::common::page::data;

/// A function that the linker discards, longer than the code before the function that it keeps: the range of the
/// discarded function, moved to 0, has the pcs of the function that stays.
const DISCARDED: &str = r#"
volatile int sink;
int dead(int val) { int twice = val + 7; asm volatile(".fill 0x300000, 1, 0xcc"); sink = twice; return twice; }
__attribute__((noinline)) int work(int val) { int twice = val * 2; sink = twice; return twice; }
int main(int argc, char **argv) { int res = work(argc); sink = res + 1; return res; }
"#;

/// Statics of one name in two units.
const UNITS: [&str; 2] = [
    "static int s = 1; int fa(int x) { { int x = s; s += x; } return s + x; }\n",
    "static int s = 2; int fa(int x); int fb(int x) { s += x; return s; }\n\
     int main(int c, char **v) { return fa(c) + fb(c); }\n",
];

/// Builds a program of sources with gcc. `None` if it is not installed.
fn program(folder: &Folder, sources: &[&str], options: &[&str]) -> Option<String> {
    let names: Vec<String> = (0..sources.len()).map(|index| format!("s{index}.c")).collect();
    for (name, source) in names.iter().zip(sources) {
        folder.file(name, source);
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let gcc = Tool::new("gcc", "gcc");
    let ran = gcc.run_in(&folder.0, &[&["-g", "-O0", "-o", "program"], options, &names].concat())?;
    assert!(ran.succeeded, "{ran}");
    Some(folder.path("program"))
}

fn machine(folder: &Folder) -> String {
    folder.file(
        "m.json",
        r#"{"target": "x86_64", "machine": {"registers": {"rbp": "00 80 00 00 00 00 00 00"}}}"#,
    )
}

#[test]
fn discarded_function_is_not_a_scope() {
    for version in ["4", "5"] {
        let folder = Folder::new(&format!("discarded-{version}"));
        let version = format!("-gdwarf-{version}");
        let options =
            [&version, "-ffunction-sections", "-fpie", "-pie", "-Wl,--gc-sections", "-fcf-protection=none"];
        let Some(program) = program(&folder, &[DISCARDED], &options) else { return };
        let machine = machine(&folder);
        let ran = run(&[
            "eval",
            &program,
            "--var",
            "twice",
            "--pc",
            "work+14",
            "--machine",
            &machine,
            "--read",
            "0",
        ]);
        // `int twice` of `work` is 4 bytes below the saved frame pointer at -O0: gdb's `info scope`.
        assert_eq!((ran.code, ran.text(), &*ran.errors), (0, "location mem:0:0x7ffc\n".into(), ""));
        // The discarded function has no address.
        let ran = run(&["eval", &program, "--var", "twice", "--pc", "dead+14", "--machine", &machine]);
        assert!(ran.code == 2 && ran.errors.contains("no function has the name `dead`"), "{}", ran.errors);
        let ran = run(&["stats", &program, "--format", "json"]);
        let found: Value = serde_json::from_str(&ran.text()).expect("JSON");
        let functions = found["functions"].as_array().expect("functions");
        let names: Vec<_> = functions.iter().map(|one| one["name"].as_str().expect("a name")).collect();
        assert_eq!(names, ["main", "work"]);
        for count in [
            "sum_all_variables(#bytes in parent scope)",
            "#bytes within functions",
            "#bytes with line information",
        ] {
            assert!(found[count].as_u64().expect(count) < 0x1000, "{count}: {}", found[count]);
        }
        let ran = run(&["stats", &program, "--lines"]);
        assert!(!ran.text().contains("dead"), "{}", ran.text());
        let page = data(&run(&["report", &program, "-o", "-"]).text());
        let has = |name: &[u8]| page.windows(name.len()).any(|bytes| bytes == name);
        assert!(has(b"\0work\0") && !has(b"\0dead\0"), "the page has the discarded function");
    }
}

#[test]
fn static_of_two_units_is_that_of_the_unit_at_the_pc() {
    // Without their ranges, units have those of their functions.
    for (name, options) in [("whole", &["-no-pie"][..]), ("parts", &["-no-pie", "-ffunction-sections"])] {
        let folder = Folder::new(&format!("statics-{name}"));
        let Some(program) = program(&folder, &UNITS, options) else { return };
        let bytes = std::fs::read(&program).expect("a program");
        let object = eitri::read::Object::read(&bytes).expect("an object");
        // In the order of the units.
        let statics = object.symbols().iter().filter(|symbol| symbol.name == "s");
        let addresses: Vec<u64> = statics.map(|symbol| symbol.address).collect();
        let machine = machine(&folder);
        let ask = |pc: &[&str]| {
            run(&[&["eval", &program, "--var", "s", "--machine", &machine, "--read", "0"], pc].concat())
        };
        for (pc, address) in ["fa+4", "fb+4"].into_iter().zip(&addresses) {
            let ran = ask(&["--pc", pc]);
            assert_eq!(
                (ran.code, ran.text()),
                (0, format!("location mem:0:{address:#x}\n")),
                "{}",
                ran.errors
            );
        }
        let ran = ask(&[]);
        assert!(ran.code == 2 && ran.errors.contains("`s` is ambiguous"), "{}", ran.errors);
    }
}

/// A location list whose second entry has an unknown kind: `eval` says why there is no location, and `stats` and `report`
/// count the rest.
#[test]
fn location_that_cannot_be_read_is_named_with_its_place() {
    let mut m = Builder::new(Target::x86_64());
    let unit = m.unit("a.c");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
    let [first, second] = ["rax", "rbx"].map(|name| m.target().register_named(name).unwrap());
    let f = m.function(unit, "f").unwrap().code("f", 0x20).id();
    for name in ["good", "bad"] {
        let mut variable = m.variable(f, name, int).unwrap();
        let end = if name == "good" { 0x18 } else { 0x20 };
        variable.live(0..8, Loc::register(first)).unwrap().live(8..end, Loc::register(second)).unwrap();
    }
    let module = m.finish().unwrap();
    let mut sections = lower(&module, &Consumer::dwarf5(), Policy::Strict).unwrap().sections;
    let lists = sections.iter_mut().find(|one| one.name == ".debug_loclists").unwrap();
    // DW_LLE_offset_pair from 8 to 0x20, with an expression of 1 byte: DW_OP_reg3.
    let entry = lists.bytes.windows(5).position(|one| one == [4, 8, 0x20, 1, 0x53]).expect("the entry");
    lists.bytes[entry] = 0x7f;
    let code = ObjectCode::text(vec![0x90; 0x20]).with_function("f", 0, 0x20);
    let folder = Folder::new("unreadable-location");
    let object = folder.file("a.o", new_object(module.target(), &code, &sections).unwrap());
    let why = format!(
        "eitri: {object}: unit `a.c`, function `f`, variable `bad`, section .debug_loclists, offset {entry:#x}: \
         unknown kind of list entry 0x7f\n"
    );
    let eval = |name: &str| run(&["eval", &object, "--var", name, "--pc", "f+9"]);
    let ran = eval("bad");
    assert_eq!((ran.code, ran.text().as_str(), ran.errors.as_str()), (2, "", why.as_str()));
    assert!(eval("good").text().starts_with("location reg:rbx"), "{}", eval("good").text());

    let ran = run(&["stats", &object]);
    assert_eq!((ran.code, ran.errors.as_str()), (2, why.as_str()));
    // Of 2 times 0x20 bytes, those of `good`.
    assert!(ran.text().contains("  64   37.5 %   37.5 %  all\n"), "{}", ran.text());
    let ran = run(&["report", &object, "-o", &folder.path("page.html")]);
    assert_eq!((ran.code, ran.errors.as_str()), (2, why.as_str()));
    assert!(folder.0.join("page.html").exists());
}

/// A wave in `leaf` of AMD's own compiler: `mid` called it at 0x1800, and `calls` called `mid` at 0x1998 (`llvm-objdump-19 -d
/// --mcpu=gfx1100`); v7 has the return address of `mid` in lanes 0 and 1. By `llvm-dwarfdump-19`, `a` of `mid` is in v5
/// at the call, `base` of `calls` in v10, and `gid` of `calls` in v2, which `leaf` overwrites. Lane 9 begins at bit 288.
#[test]
fn frames_are_unwound_by_the_frames_of_the_object() {
    let folder = Folder::new("frames");
    let object = super::root("tests/objects/amd/k06_calls.gfx1100.O2.hsaco");
    let object = object.to_str().expect("a path");
    let lanes = |number: u32| {
        let lane = |lane| {
            if (number, lane) == (7, 0) {
                0x199c
            } else if number == 7 {
                0
            } else {
                number << 16 | lane
            }
        };
        let bytes = (0..32).flat_map(|number| lane(number).to_le_bytes());
        bytes.map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    let registers = serde_json::json!({
        "v5": lanes(5), "v7": lanes(7), "v10": lanes(10), "v2": lanes(2),
        "s30": "04180000", "s31": "00000000", "s32": "10000000", "s33": "00000000",
    });
    let stop =
        serde_json::json!({"machine": {"pc": "0x1718", "lane": 9, "lanes": 32, "registers": registers}});
    let stop = folder.file("stop.json", stop.to_string());
    let eval = |arguments: &[&str]| run(&[&["eval", object, "--machine", &stop], arguments].concat());

    let a = eval(&["--frame", "1", "--var", "a"]);
    assert_eq!((a.text().as_str(), a.code), ("location reg:v5+288, bytes 09 00 05 00\n", 0), "{}", a.errors);
    let base = eval(&["--frame", "2", "--var", "base"]);
    assert_eq!(base.text(), "location reg:v10+288, bytes 09 00 0a 00\n", "{}", base.errors);
    let explained = run(&["explain", object, "--machine", &stop, "--frame", "2", "--var", "base"]);
    assert!(explained.text().ends_with(&base.text()), "{}", explained.text());
    // The variables of the frame, not those of `leaf`.
    let other = eval(&["--frame", "1", "--var", "s"]);
    assert!(other.code == 2 && other.errors.contains("0x1803"), "{}", other.errors);
    // The innermost frame's pc, from the argument.
    let without = serde_json::json!({"machine": {"lane": 9, "lanes": 32, "registers": registers}});
    let without = folder.file("without.json", without.to_string());
    let arguments = ["eval", object, "--machine", &without, "--frame", "1", "--var", "a"];
    let given = run(&[&arguments[..], &["--pc", "leaf+0x18"]].concat());
    assert_eq!(given.text(), a.text(), "{}", given.errors);
    let ran = run(&arguments);
    assert!(
        ran.code == 2 && ran.errors.contains("frame 1 of the machine cannot be unwound"),
        "{}",
        ran.errors
    );

    let beyond = eval(&["--frame", "3", "--var", "base"]);
    let problem = "the machine has no frame 3: frame 2 has no caller";
    assert!(beyond.code == 2 && beyond.errors.contains(problem), "{}", beyond.errors);
    // The machine's own callers count.
    let callers = serde_json::json!([{"pc": "0x1803", "registers": {"v5": "reg:v10"}}]);
    let known = serde_json::json!({"machine": {"pc": "0x1718", "lane": 9, "lanes": 32, "registers": registers, "callers": callers}});
    let known = folder.file("callers.json", known.to_string());
    let ran = run(&["eval", object, "--machine", &known, "--frame", "1", "--var", "a"]);
    assert_eq!(ran.text(), "location reg:v10+288, bytes 09 00 0a 00\n", "{}", ran.errors);
}

/// At `place`, `k` has its value on entry only: that which `middle` passed. Without `-fno-ipa-ra`, gcc has that in a register
/// that the calling convention does not preserve.
const ON_ENTRY: &str = r#"
__attribute__((noinline)) int leaf(int *p, long k) {
  int local = *p + k;
  __asm__ volatile(".globl place\nplace: nop" ::: "rbx", "r12", "memory");
  return local * 3;
}
__attribute__((noinline)) int middle(int n) {
  long sum = n * 7L;
  int values[4] = {n, n + 1, n + 2, n + 3};
  for (int i = 0; i < 2; i++) sum += leaf(&values[i], sum);
  return sum + values[3];
}
int main(int argc, char **argv) { return middle(argc + 123) & 1; }
"#;

/// The machine that gdb shows at a stop: general registers, and memory from the stack pointer on.
fn machine_in_gdb(shown: &str) -> Value {
    let mut registers = serde_json::Map::new();
    let mut bytes: Vec<String> = Vec::new();
    let mut names = "rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip".split(' ');
    let number = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).expect("hexadecimal");
    let mut name = names.next();
    for line in shown.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match (&words[..], name) {
            ([register, value, ..], Some(expected)) if *register == expected => {
                let bytes = number(value).to_le_bytes().map(|byte| format!("{byte:02x}"));
                registers.insert(expected.into(), bytes.concat().into());
                name = names.next();
            }
            ([address, ..], None) if address.starts_with("0x7") => {
                let values = line.split('\t').skip(1);
                bytes.extend(values.map(|value| format!("{:02x}", number(value.trim()))));
            }
            _ => {}
        }
    }
    let value = |name: &str| {
        let text = registers[name].as_str().expect("bytes");
        let bytes = (0..8).rev().map(|index| &text[2 * index..2 * index + 2]);
        format!("0x{}", bytes.collect::<String>())
    };
    let memory = serde_json::json!([{"space": 0, "address": value("rsp"), "bytes": bytes.concat()}]);
    let pc = value("rip");
    registers.remove("rip");
    serde_json::json!({"target": "x86_64", "machine": {"pc": pc, "registers": registers, "memory": memory}})
}

#[test]
fn values_on_entry_come_from_callers_by_the_frames_of_the_object() {
    for (level, more) in [("-O2", "-gdwarf-5"), ("-O1", "-gdwarf-5"), ("-O2", "-gdwarf-4")] {
        let folder = Folder::new("entry");
        let Some(program) = program(&folder, &[ON_ENTRY], &[level, more, "-no-pie", "-fno-ipa-ra"]) else {
            return;
        };
        let commands = "break *place,run,info registers,x/1024xb $rsp,print k,print *p".split(',');
        let mut arguments = vec!["-nx", "-batch", "-ex", "set debuginfod enabled off"];
        commands.for_each(|command| arguments.extend(["-ex", command]));
        arguments.push(&program);
        let Some(ran) = Tool::new("gdb", "gdb").run_in(&folder.0, &arguments) else { return };
        // Where gdb cannot run programs, there is nothing to compare.
        let Some((_, k)) = ran.out.split_once("$1 = ") else {
            assert!(ran.errors.contains("ptrace") || ran.errors.contains("Cannot create"), "{ran}");
            return;
        };
        let k: i64 = k.lines().next().and_then(|line| line.parse().ok()).expect("a number");
        assert_eq!(k, 124 * 7, "{ran}");
        let stop = folder.file("stop.json", machine_in_gdb(&ran.out).to_string());
        let arguments = ["eval", &program, "--machine", &stop, "--var", "k"];
        let answer = run(&arguments);
        let bytes = k.to_le_bytes().map(|byte| format!("{byte:02x}")).join(" ");
        let implicit = bytes.replace(' ', "");
        let expected = format!("location implicit:{implicit}, bytes {bytes}\n");
        assert_eq!(answer.text(), expected, "{level} {more}: {}", answer.errors);
        let named = run(&[&arguments[..], &["--frame", "0"]].concat());
        assert_eq!(named.text(), answer.text());
    }
}
