//! `wgsl-gfx shader.wgsl -o k.o`: compiles and checks.

use std::path::PathBuf;
use std::process::ExitCode;

use wgsl_gfx::alloc::Registers;
use wgsl_gfx::front::Source;
use wgsl_gfx::prove::{Input, prove};
use wgsl_gfx::{check, compile, generate};

#[derive(Default)]
struct Arguments {
    shader: Option<PathBuf>,
    output: Option<PathBuf>,
    registers: Registers,
    runs: bool,
    json: bool,
    generate: Option<usize>,
}

const USAGE: &str =
    "usage: wgsl-gfx SHADER.wgsl [-o OBJECT] [--run] [--json] [--generate SEED] [--scalars N] [--vectors N]";

fn arguments() -> Result<Arguments, String> {
    let mut all = std::env::args_os().skip(1);
    let mut found = Arguments::default();
    while let Some(next) = all.next() {
        let mut value = || all.next().ok_or_else(|| USAGE.to_string());
        let number = |value: std::ffi::OsString| {
            value.to_str().and_then(|text| text.parse().ok()).ok_or_else(|| USAGE.to_string())
        };
        match next.to_str() {
            Some("-o") => found.output = Some(value()?.into()),
            Some("--generate") => found.generate = Some(number(value()?)?),
            Some("--run") => found.runs = true,
            Some("--json") => found.json = true,
            Some("--scalars") => found.registers.scalar = number(value()?)?,
            Some("--vectors") => found.registers.vector = number(value()?)?,
            Some(text) if text.starts_with('-') => return Err(USAGE.into()),
            _ => found.shader = Some(next.into()),
        }
    }
    Ok(found)
}

fn run() -> Result<bool, Box<dyn std::error::Error>> {
    let arguments = arguments()?;
    if let Some(seed) = arguments.generate {
        print!("{}", generate::shader(seed as u64, 8 + seed as u32 % 12));
        return Ok(true);
    }
    let path = arguments.shader.ok_or(USAGE)?;
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let source = Source::new(&path.to_string_lossy(), &text)?;
    let compiled = compile(&source, arguments.registers)?;
    let report = check(&compiled)?;
    if let (true, Some(output)) = (report.is_clean(), &arguments.output) {
        eitri::emit::elf::write_file(output, &compiled.object)?;
    }
    if arguments.runs || arguments.json {
        let inputs: Vec<Input> = (1..=4).map(|seed| Input::random(&source, &compiled, seed)).collect();
        let proof = prove(&source, &compiled, &inputs);
        if arguments.json {
            println!("{}", proof.json());
            return Ok(report.is_clean() && proof.wrong.is_empty());
        }
        proof.wrong.iter().take(20).for_each(|wrong| println!("{wrong}"));
        proof.missed.iter().take(20).for_each(|missed| println!("missed: {missed}"));
        let (seen, compared, steps) = (proof.seen, proof.compared, proof.steps);
        println!("{}\n{seen} claims seen by lanes, {compared} numbers compared, {steps} steps", proof.json());
        return Ok(report.is_clean() && proof.wrong.is_empty());
    }
    let [code, debug] = compiled.times.map(|time| time.as_secs_f64() * 1e3);
    println!("{report}");
    println!(
        "{} bytes of code; {code:.1} ms, and {debug:.1} ms for debug information",
        compiled.machine.bytes.len()
    );
    Ok(report.is_clean())
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
