//! `llvm-objdump -S`: source lines next to the instructions of assembled code.

use std::collections::BTreeMap;

use eitri::build::Builder;
use eitri::emit::elf::attach;
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, LineTableRow, Loc};
use pretty_assertions::assert_eq;

use super::common::Folder;
use super::described::{MACHINES, Machine};
use super::{ASSEMBLER, OBJDUMP};

/// The source, from line 1 on.
const SOURCE: &str = "\
kernel void scale(global float *p) {
    float x = *p;
    x = x + x;
    *p = x;
}
";

/// The code, with pcs.
const GPU: &str = "
        .text
        .p2align 8
        .globl scale
        .type scale,@function
scale:
        s_load_dwordx2 s[0:1], s[4:5], 0x0      // 00
        s_waitcnt lgkmcnt(0)                    // 08
        s_load_dword s2, s[0:1], 0x0            // 0c
        s_waitcnt lgkmcnt(0)                    // 14
        v_mov_b32 v0, s2                        // 18
        v_add_f32 v0, v0, v0                    // 1c
        v_mov_b32 v1, 0                         // 20
        global_store_dword v1, v0, s[0:1]       // 24
        s_endpgm                                // 2c
.Lend:
        .size scale, .Lend-scale
";
const CPU: &str = "
        .text
        .globl scale
        .type scale,@function
scale:
        pushq %rbp                              # 00
        movq %rsp, %rbp                         # 01
        movss (%rdi), %xmm0                     # 04
        addss %xmm0, %xmm0                      # 08
        movss %xmm0, (%rdi)                     # 0c
        popq %rbp                               # 10
        retq                                    # 11
.Lend:
        .size scale, .Lend-scale
";

/// Rows of the line table: pc and line.
const GPU_ROWS: &[(u64, u32)] = &[(0x00, 1), (0x0c, 2), (0x1c, 3), (0x20, 4), (0x2c, 5)];
const CPU_ROWS: &[(u64, u32)] = &[(0x00, 1), (0x04, 2), (0x08, 3), (0x0c, 4), (0x10, 5)];

#[test]
fn source_lines_stand_at_their_instructions() {
    for machine in MACHINES {
        let folder = Folder::new();
        folder.file("scale.cl", SOURCE);
        let (assembly, rows, bytes, triple) = match machine {
            Machine::Gpu => (GPU, GPU_ROWS, 0x30, &["--triple=amdgcn-amd-amdhsa", "--mcpu=gfx1030"][..]),
            Machine::Cpu => (CPU, CPU_ROWS, 0x12, &["--triple=x86_64-linux-gnu"][..]),
        };
        let input = folder.file("scale.s", assembly);
        let plain = folder.path().join("plain.o");
        let files = ["--filetype=obj", input.to_str().unwrap(), "-o", plain.to_str().unwrap()];
        let Some(ran) = ASSEMBLER.run(&[triple, &files].concat()) else { return };
        ran.clean();

        let mut m = Builder::new(machine.target());
        let unit = m.unit("scale.cl");
        m.describe_unit(unit).unwrap().directory(folder.path().to_str().unwrap());
        let file = m.primary_file(unit).unwrap();
        let float = m.base_type(unit, "float", BaseEncoding::Float, 32).unwrap();
        let scale = m.function(unit, "scale").unwrap().code("scale", bytes).kernel().id();
        let place = match machine {
            Machine::Gpu => Loc::per_lane(m.target().vgpr(0).unwrap()),
            Machine::Cpu => Loc::register(m.target().register_named("xmm0").unwrap()),
        };
        m.variable(scale, "x", float).unwrap().live(rows[2].0..bytes, place).unwrap();
        for &(pc, line) in rows {
            m.row(scale, LineTableRow::new(pc, file, line)).unwrap();
        }
        let module = m.finish().unwrap();
        let written = lower(&module, &Consumer::llvm(), Policy::Strict).unwrap();
        let plain = std::fs::read(plain).expect("what was assembled");
        let object = attach(&plain, module.target(), &written.sections).unwrap();
        let path = folder.file("scale.o", object);

        let Some(ran) = OBJDUMP.run(&["-d".as_ref(), "-S".as_ref(), path.as_os_str()]) else { return };
        let shown = shown(&ran.clean(), machine);
        let lines: Vec<&str> = SOURCE.lines().collect();
        for (index, &(pc, line)) in rows.iter().enumerate() {
            let end = rows.get(index + 1).map_or(bytes, |row| row.0);
            assert!(shown.contains_key(&pc), "an instruction at {pc:#x}: {shown:x?}");
            for (_, source) in shown.range(pc..end) {
                assert_eq!(source, lines[line as usize - 1]);
            }
        }
        assert_eq!(shown.keys().next(), Some(&0));
    }
}

/// The source line printed before each instruction, by pc.
fn shown(text: &str, machine: Machine) -> BTreeMap<u64, String> {
    let mut source = String::new();
    let mut all = BTreeMap::new();
    for line in text.lines() {
        if let Some(text) = line.strip_prefix("; ") {
            source = text.into();
        }
        // `s_endpgm // 00000000002C: BF810000`, and `  11: c3  retq`.
        let (pc, has_pc) = match machine {
            Machine::Gpu => (line.rsplit("// ").next().unwrap_or_default(), line.contains("// ")),
            Machine::Cpu => (line.trim_start(), line.contains(":\t") || line.contains(": ")),
        };
        let pc = pc.split(':').next().and_then(|pc| u64::from_str_radix(pc, 16).ok());
        if let (Some(pc), true) = (pc, has_pc) {
            all.insert(pc, source.clone());
        }
    }
    all
}
