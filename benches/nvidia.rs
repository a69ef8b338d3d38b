//! Speed and memory of debug information in PTX, compared with the same in an object, and of printing a cubin, compared
//! with `cuobjdump`.
//!
//! A kernel has 100,000 instructions and 20,000 variables in blocks of five instructions. With `ptxas`, a tenth of it
//! becomes a cubin; `EITRI_BENCH_FILE` names another one. `nvlink` merges 1,000 kernels of 40 instructions, and a rewrite of the
//! result is compared with the link. The last lines are `ratio NAME VALUE`: the peer's number
//! divided by ours, so that larger is better for us. See `README.md` here.

#[path = "emission/memory.rs"]
#[allow(dead_code, reason = "the parts are those of another bench")]
mod memory;

use std::fmt::Write;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use eitri::build::Builder;
use eitri::dump::{DumpOptions, print_to};
use eitri::emit::elf::{ObjectCode, attach, new_object};
use eitri::emit::ptx::{self, PtxAttachOptions};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, LineTableRow, Loc, Module, SourceLine};
use eitri::op::Dialect;
use eitri::rewrite::{RewriteOptions, rewrite};
use eitri::target::{Gfx, Sm, Target, Wave};

#[global_allocator]
static MEMORY: memory::Counting = memory::Counting;

/// Number of runs of each side, in turn.
const RUNS: usize = 7;
/// Number of registers that the variables are in.
const REGISTERS: u64 = 200;

/// Name of the kernel. In the objects to merge, other digits take the place of these.
const NAME: &str = "k00000";

/// The text of a kernel. Each instruction computes a register from two others.
fn text(instructions: u64) -> String {
    let mut text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry {NAME}(\n.param .u64 {NAME}_param_0)\n{{\n",
    );
    writeln!(text, ".reg .b32 %r<{REGISTERS}>;\n.reg .b64 %rd<3>;").expect("memory");
    writeln!(text, "ld.param.u64 %rd1, [{NAME}_param_0];\nld.global.u32 %r0, [%rd1];").expect("memory");
    for index in 2..instructions - 2 {
        let [to, one, two] = [index, index + 7, index + 13].map(|number| number % REGISTERS);
        writeln!(text, "mad.lo.s32 %r{to}, %r{one}, %r{two}, {index};").expect("memory");
    }
    text + "st.global.u32 [%rd1], %r1;\nret;\n}\n"
}

/// The description of the kernel: a variable in a register for each five instructions, and a row for each two.
fn module(target: &Target, instructions: u64) -> eitri::Result<Module> {
    let mut m = Builder::new(target.clone());
    let unit = m.unit("k.cu");
    let file = m.primary_file(unit)?;
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let kernel =
        m.function(unit, NAME)?.code(NAME, instructions).kernel().declared(SourceLine::new(file, 1)).id();
    for number in 0..instructions / 5 {
        let pcs = 5 * number..5 * number + 5;
        let block = m.block(kernel, std::slice::from_ref(&pcs))?;
        let register = target.register_named(&format!("%r{}", number % REGISTERS))?;
        let place = Loc::per_lane(register);
        let name = format!("v{number}");
        m.variable(block, &name, int)?
            .declared(SourceLine::new(file, number as u32))
            .live(pcs.start + 1..pcs.end, place)?;
    }
    for pc in (0..instructions).step_by(2) {
        m.row(kernel, LineTableRow::new(pc, file, 2 + pc as u32))?;
    }
    m.finish()
}

/// Writes the text with debug information.
fn attached(text: &str, module: &Module) -> String {
    let written = lower(module, &Consumer::cuda_gdb(), Policy::Strict).expect("sections");
    let mut how = PtxAttachOptions::default();
    how.lines = written.lines.as_ref();
    ptx::attach(text, module.target(), &written.sections, &how).expect("a text")
}

/// Writes an object with the same, with a section for the lines, and a copy of the text.
fn object(text: &str, module: &Module, instructions: u64) -> (Vec<u8>, String) {
    let mut consumer = Consumer::cuda_gdb();
    consumer.has_line_directives = false;
    let written = lower(module, &consumer, Policy::Strict).expect("sections");
    let code = ObjectCode::text(vec![0; instructions as usize]).with_function(NAME, 0, instructions);
    (new_object(module.target(), &code, &written.sections).expect("an object"), text.to_owned())
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64()
}

/// The cubin to print; `None` without ptxas.
fn cubin(folder: &Path, target: &Target) -> Option<PathBuf> {
    if let Some(file) = std::env::var_os("EITRI_BENCH_FILE") {
        return Some(file.into());
    }
    let count = 10_000;
    let [source, out] = ["k.ptx", "k.cubin"].map(|name| folder.join(name));
    std::fs::write(&source, attached(&text(count), &module(target, count).expect("a module"))).ok()?;
    let mut ptxas = Command::new("ptxas");
    ptxas.args(["-arch=sm_80", "-g"]).arg(&source).arg("-o").arg(&out).stderr(Stdio::null());
    ptxas.status().is_ok_and(|status| status.success()).then_some(out)
}

/// A cubin that nvlink has merged.
struct Merged {
    path: PathBuf,
    /// nvlink's time.
    linked: Duration,
}

/// 1,000 small kernels, merged by nvlink; `None` without it. One is assembled; the others differ in the name.
fn merged(folder: &Path, target: &Target, processor: &str) -> Option<Merged> {
    let count = 40;
    let [source, object, out] =
        ["k.ptx", "k.o", &format!("merged.{processor}.cubin")].map(|name| folder.join(name));
    std::fs::write(&source, attached(&text(count), &module(target, count).expect("a module"))).ok()?;
    let arch = format!("-arch={processor}");
    let mut ptxas = Command::new("ptxas");
    ptxas.args([&arch, "-g", "-c"]).arg(&source).arg("-o").arg(&object).stderr(Stdio::null());
    ptxas.status().ok().filter(|status| status.success())?;
    let bytes = std::fs::read(&object).ok()?;
    let mut nvlink = Command::new("nvlink");
    nvlink.args(["-g", &arch, "-o"]).arg(&out).stderr(Stdio::null());
    for number in 0..1000 {
        let name = format!("k{number:05}");
        let path = folder.join(format!("{name}.o"));
        let mut one = bytes.clone();
        for at in 0..one.len() - NAME.len() {
            if one[at..].starts_with(NAME.as_bytes()) {
                one[at..at + NAME.len()].copy_from_slice(name.as_bytes());
            }
        }
        std::fs::write(&path, one).ok()?;
        nvlink.arg(path);
    }
    let start = Instant::now();
    let is_linked = nvlink.status().is_ok_and(|status| status.success());
    is_linked.then(|| Merged { path: out, linked: start.elapsed() })
}

/// Code of a kernel for a target, a variable in a register for each ten instructions of 16 bytes, and a row for each two.
fn machine_code(target: &Target, prefix: char, instructions: u64) -> eitri::Result<(ObjectCode, Module)> {
    let size = 16 * instructions;
    let code = ObjectCode::text(vec![0; size as usize]).with_function(NAME, 0, size);
    let mut m = Builder::new(target.clone());
    let unit = m.unit("k.cu");
    let file = m.primary_file(unit)?;
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let kernel = m.function(unit, NAME)?.code(NAME, size).kernel().declared(SourceLine::new(file, 1)).id();
    for number in 0..instructions / 10 {
        let pcs = 160 * number..160 * number + 160;
        let block = m.block(kernel, std::slice::from_ref(&pcs))?;
        let register = target.register_named(&format!("{prefix}{}", 2 + number % REGISTERS))?;
        m.variable(block, &format!("v{number}"), int)?
            .declared(SourceLine::new(file, number as u32))
            .live(pcs.start + 16..pcs.end, Loc::per_lane(register))?;
    }
    for index in (0..instructions).step_by(2) {
        m.row(kernel, LineTableRow::new(16 * index, file, 2 + index as u32))?;
    }
    Ok((code, m.finish()?))
}

/// Measures the time to attach a description to a cubin, and to an object for an AMD GPU.
fn compare_attach(sm_80: &Target) {
    let instructions = 50_000;
    let gfx = Target::amdgpu(Gfx::named("gfx1100").expect("a processor"), Wave::W32).expect("a target");
    let sides = [(sm_80.clone(), 'R', Consumer::cuda_gdb_sass()), (gfx, 'v', Consumer::rocgdb())].map(
        |(target, prefix, consumer)| {
            let (code, module) = machine_code(&target, prefix, instructions).expect("a module");
            let plain = new_object(&target, &code, &[]).expect("an object");
            (target, consumer, module, plain)
        },
    );
    let run = |(target, consumer, module, plain): &(Target, Consumer, Module, Vec<u8>)| {
        let written = lower(module, consumer, Policy::Strict).expect("sections");
        attach(plain, target, &written.sections).expect("an object")
    };
    let mut taken = [Vec::new(), Vec::new()];
    for _ in 0..RUNS {
        for (side, taken) in sides.iter().zip(&mut taken) {
            let start = ThreadTime::now();
            black_box(run(side));
            taken.push(start.elapsed());
        }
    }
    let [cubin, amd] = taken.map(median);
    for (side, name, time) in [(&sides[0], "cubin", cubin), (&sides[1], "AMD's object", amd)] {
        let peak = memory::peak_of(|| run(side).len());
        println!(
            "attaching to a {name}: {:.1} ms, {} bytes, {:.2} bytes a byte",
            time * 1e3,
            peak.written,
            peak.ratio()
        );
    }
    println!("ratio cubin_attach {:.2}", amd / cubin);
}

/// Measures a rewrite of a merged cubin, and compares it with the time of the link.
fn compare_rewrite(name: &str, merged: Option<&Merged>) {
    let Some(merged) = merged else { return println!("NVIDIA's tools are missing: no {name}") };
    let bytes = std::fs::read(&merged.path).expect("the cubin");
    let run = || rewrite(&bytes, &RewriteOptions::default()).expect("a rewritten cubin").object.len();
    let mut taken = Vec::new();
    for _ in 0..3 {
        let start = Instant::now();
        black_box(run());
        taken.push(start.elapsed());
    }
    let ours = median(taken);
    let peer = merged.linked.as_secs_f64();
    let peak = memory::peak_of(run);
    println!(
        "{name}, cubin of {} bytes: eitri {:.1} ms, nvlink {:.1} ms",
        bytes.len(),
        ours * 1e3,
        peer * 1e3
    );
    println!("peak memory for each byte of the cubin: {:.2}", peak.peak as f64 / bytes.len() as f64);
    println!("ratio {name} {:.2}", peer / ours);
}

fn print(bytes: &[u8]) {
    print_to(&mut std::io::sink(), bytes, None, None, Dialect::Dwarf5, DumpOptions::default())
        .expect("a dump");
}

/// Measures the time to print a cubin, and that of `cuobjdump`.
fn compare(name: &str, file: Option<PathBuf>) {
    let Some(file) = file else { return println!("NVIDIA's tools are missing: no {name}") };
    let bytes = std::fs::read(&file).expect("the cubin");
    let mut taken = [Vec::new(), Vec::new()];
    for _ in 0..3 {
        let start = Instant::now();
        print(&bytes);
        taken[0].push(start.elapsed());
        let start = Instant::now();
        let mut peer = Command::new("cuobjdump");
        peer.arg("-elf").arg(&file).stdout(Stdio::null()).stderr(Stdio::null());
        if peer.status().is_ok_and(|status| status.success()) {
            taken[1].push(start.elapsed());
        }
    }
    if taken[1].is_empty() {
        return println!("cuobjdump is missing, or does not print the file: no {name}");
    }
    let [ours, peer] = taken.map(median);
    println!(
        "{name}, cubin of {} bytes: eitri {:.1} ms, cuobjdump {:.1} ms",
        bytes.len(),
        ours * 1e3,
        peer * 1e3
    );
    println!("ratio {name} {:.2}", peer / ours);
}

fn main() {
    let target = Target::nvptx(Sm::named("sm_80").expect("a processor"));
    let count = 100_000;
    let (plain, module) = (text(count), module(&target, count).expect("a module"));
    if std::env::var_os("EITRI_BENCH_ONCE").is_some() {
        println!("{} bytes", attached(&plain, &module).len());
        return;
    }
    let mut taken = [Vec::new(), Vec::new()];
    for _ in 0..RUNS {
        let start = ThreadTime::now();
        black_box(attached(&plain, &module));
        taken[0].push(start.elapsed());
        let start = ThreadTime::now();
        black_box(object(&plain, &module, count));
        taken[1].push(start.elapsed());
    }
    let [ours, peer] = taken.map(median);
    let peak = memory::peak_of(|| attached(&plain, &module).len());
    println!("PTX of {} bytes: {} bytes with debug information", plain.len(), peak.written);
    println!("attaching {:.1} ms, an object and the text {:.1} ms", ours * 1e3, peer * 1e3);
    println!("peak memory for each byte written: {:.2}", peak.ratio());
    println!("ratio ptx_attach {:.2}", peer / ours);
    println!("ratio ptx_peak_memory {:.2}", 1.0 / peak.ratio());

    compare_attach(&target);
    let folder = std::env::temp_dir().join(format!("eitri-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    compare("cubin_dump", cubin(&folder, &target));
    let [older, newer] = ["sm_80", "sm_120"].map(|processor| merged(&folder, &target, processor));
    compare_rewrite("merged_rewrite", older.as_ref());
    compare_rewrite("merged_rewrite_sm_120", newer.as_ref());
    compare("merged_dump", older.map(|merged| merged.path));
    let _ = std::fs::remove_dir_all(&folder);
}
