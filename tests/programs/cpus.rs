//! CPUs and targets of the caller's own: gdb finds variables where they were described, readelf names registers and
//! frame rules, and a linker takes the object.

use eitri::consumer::{Consumer, Policy};
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::json::write_target;
use eitri::lower::lower;
use eitri::model::Module;
use eitri::target::Target;

use super::common::{Folder, Tool};
use super::{DWARFDUMP, LLD, READELF};

const GDB: Tool = Tool::new("gdb-multiarch", "gdb-multiarch");

/// A CPU: its name, a register of an argument, a saved one, the stack pointer, the return address, the instruction
/// "no operation", and gdb's name of the architecture.
struct Cpu {
    name: &'static str,
    argument: &'static str,
    saved: &'static str,
    stack: &'static str,
    link: &'static str,
    nop: u32,
    gdb: &'static str,
    /// The table of frame rules as readelf prints it.
    readelf: [&'static str; 3],
}

const CPUS: [Cpu; 2] = [
    Cpu {
        name: "aarch64",
        argument: "x0",
        saved: "x19",
        stack: "sp",
        link: "x30",
        nop: 0xd503_201f,
        gdb: "aarch64",
        readelf: ["LOC CFA x19 ra", " sp+0 u u", " sp+32 c-16 c-8"],
    },
    Cpu {
        name: "riscv64",
        argument: "x10",
        saved: "x8",
        stack: "x2",
        link: "x1",
        nop: 0x0000_0013,
        gdb: "riscv:rv64",
        readelf: ["LOC CFA ra s0", " sp+0 u u", " sp+32 c-8 c-16"],
    },
];

/// A function of 32 bytes: its argument `a` moves from a register to a saved one and then to the stack.
fn module(cpu: &Cpu) -> Module {
    let Cpu { name, argument, saved, stack, link, .. } = cpu;
    let below = |bytes: i32| {
        format!(r#"{{"memory": ["default", {{"plus": [{{"register": "{stack}"}}, {bytes}]}}]}}"#)
    };
    let slot = |bytes: i32| format!(r#"{{"offset": ["cfa", {bytes}]}}"#);
    Module::from_json(format!(
        r#"{{"eitri": 1, "target": "{name}", "describe": [
        {{"unit": {{"name": "a.c", "language": "C99"}}}},
        {{"base_type": {{"unit": "a.c", "name": "long", "encoding": "signed", "bits": 64}}}},
        {{"function": {{"in": "a.c", "name": "f", "code": {{"symbol": "f", "bytes": 32}}, "returns": "long"}}}},
        {{"parameter": {{"in": "f", "name": "a", "type": "long", "live": [
            [0, 8, {{"register": "{argument}"}}], [8, 16, {{"register": "{saved}"}}], [16, 32, {at}]]}}}},
        {{"frame": {{"function": "f", "rules": [
            [0, 4, "cfa", {entry}], [4, 32, "cfa", {inside}],
            [4, 32, "{link}", {ra}], [4, 32, "{saved}", {save}]]}}}},
        {{"rows": {{"function": "f", "rows": [[0, "a.c", 3], [8, "a.c", 4], [16, "a.c", 5]]}}}}
        ]}}"#,
        at = below(8),
        entry = below(0),
        inside = below(32),
        ra = slot(-8),
        save = slot(-16),
    ))
    .expect("a module")
}

fn object(module: &Module, nop: u32, consumer: &Consumer) -> Vec<u8> {
    let written = lower(module, consumer, Policy::Strict).expect("sections");
    assert!(written.omissions.is_empty());
    let bytes: Vec<u8> = (0..8).flat_map(|_| nop.to_le_bytes()).collect();
    let code = ObjectCode::text(bytes).with_function("f", 0, 32);
    let object = new_object(module.target(), &code, &written.sections).expect("an object");
    let report = eitri::check(module, consumer, &written.omissions, &object).expect("is read");
    assert!(report.is_clean(), "{report}");
    object
}

#[test]
fn debuggers_find_variables_of_other_cpus() {
    let folder = Folder::new();
    for cpu in &CPUS {
        let module = module(cpu);
        for version in [4, 5] {
            let mut consumer = Consumer::dwarf5();
            consumer.version = version;
            let path = folder.file(&format!("{}-{version}.o", cpu.name), object(&module, cpu.nop, &consumer));
            let file = path.to_str().expect("a path");
            let arguments =
                ["-batch", "-nx", "-ex", "show architecture", "-ex", "info scope f", "-ex", "info line 4"];
            if let Some(ran) = GDB.run(&[&arguments[..], &[file]].concat()) {
                let found = ran.clean();
                for expected in [
                    format!("(currently \"{}\")", cpu.gdb),
                    format!("Range 0x0-0x8: a variable in ${}", gdb_name(cpu, cpu.argument)),
                    format!("Range 0x8-0x10: a variable in ${}", gdb_name(cpu, cpu.saved)),
                    format!("8 [${}]", gdb_name(cpu, cpu.stack)),
                    "Line 4 of \"a.c\" starts at address 0x8 <f+8> and ends at 0x10 <f+16>.".into(),
                ] {
                    assert!(found.contains(&expected), "{} {version}: {expected}\n{found}", cpu.name);
                }
            }
            if let Some(ran) = READELF.run(&["-wF", file]) {
                let found = ran.clean();
                let text = found.split_whitespace().collect::<Vec<_>>().join(" ");
                for row in cpu.readelf {
                    assert!(text.contains(row), "{row}\n{found}");
                }
            }
            if let Some(ran) = DWARFDUMP.run(&["--verify", file]) {
                ran.clean();
            }
            let linked = folder.path().join("linked").to_str().expect("a path").to_owned();
            if let Some(ran) = LLD.run(&["-shared", "-o", &linked, file]) {
                ran.clean();
                let bytes = std::fs::read(&linked).expect("the linked file");
                let report = eitri::check(&module, &consumer, &[], &bytes).expect("is read");
                assert!(report.is_clean(), "{}: {report}", cpu.name);
            }
        }
    }
}

/// gdb's name of a register.
fn gdb_name(cpu: &Cpu, register: &'static str) -> &'static str {
    match (cpu.name, register) {
        ("riscv64", "x10") => "a0",
        ("riscv64", "x8") => "fp",
        ("riscv64", "x2") => "sp",
        _ => register,
    }
}

/// A target that readers know by its machine, and eitri from its facts alone, is written byte by byte as the built-in
/// one.
#[test]
fn facts_alone_make_the_bytes_of_the_built_in_target() {
    for cpu in &CPUS {
        let built_in = module(cpu);
        let mut own = built_in.to_json();
        let facts = write_target(built_in.target());
        assert_eq!(facts, format!("\"{}\"", cpu.name));
        let written = serde_json::to_string(&facts_of(built_in.target())).expect("JSON");
        own = own.replacen(&facts, &written, 1);
        let own = Module::from_json(&own).expect("a module");
        assert_eq!(own.target().name(), format!("my {}", cpu.name));
        let consumer = Consumer::dwarf5();
        assert_eq!(object(&own, cpu.nop, &consumer), object(&built_in, cpu.nop, &consumer));
    }
}

/// The facts of a target under another name.
fn facts_of(target: &Target) -> serde_json::Value {
    let mut own = Target::builder(format!("my {}", target.name()), target.lanes());
    for registers in target.register_ranges() {
        own.registers(registers.clone());
    }
    let frames = target.call_frames();
    let name = |reg| target.register(reg).expect("a register").name().to_string();
    own.cfa_register(name(target.cfa_register().expect("a stack pointer")));
    own.return_register(name(frames.return_register), frames.is_return_register_pc).eh_frame();
    own.data_alignment(frames.data_alignment).elf(target.elf());
    own.min_instruction_bytes(target.min_instruction_bytes());
    serde_json::from_str(&write_target(&own.build().expect("a target"))).expect("JSON")
}
