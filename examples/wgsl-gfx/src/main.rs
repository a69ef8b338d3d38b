//! `wgsl-gfx shader.wgsl -o k.o`: compiles and checks.

use std::path::PathBuf;
use std::process::ExitCode;

use wgsl_gfx::alloc::Limits;
use wgsl_gfx::front::Source;
use wgsl_gfx::input::inputs;
use wgsl_gfx::prove::{Proof, prove};
use wgsl_gfx::{check, compile, draw, generate, trace};

#[derive(Default)]
struct Arguments {
    shader: Option<PathBuf>,
    output: Option<PathBuf>,
    limits: Limits,
    runs: Option<u64>,
    json: bool,
    /// The lane whose variables are printed.
    trace: Option<u32>,
    /// Path of a picture.
    svg: Option<PathBuf>,
    generate: Option<usize>,
    statements: Option<usize>,
    /// Number of generated shaders that run.
    shaders: Option<usize>,
}

const USAGE: &str =
    "usage: wgsl-gfx SHADER.wgsl [-o OBJECT] [--run | --runs N] [--json] [--trace lane=N] [--svg FILE] [--scalars N] \
     [--vectors N] [--reach N]
       wgsl-gfx --generate SEED [--statements N]
       wgsl-gfx --generate SEED --shaders N [--runs N]";

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
            Some("--shaders") => found.shaders = Some(number(value()?)?),
            Some("--statements") => found.statements = Some(number(value()?)?),
            Some("--run") => found.runs = found.runs.or(Some(4)),
            Some("--runs") => found.runs = Some(number(value()?)? as u64),
            Some("--json") => found.json = true,
            Some("--svg") => found.svg = Some(value()?.into()),
            Some("--trace") => {
                let lane = value()?;
                let lane = lane.to_str().and_then(|text| text.strip_prefix("lane="));
                found.trace = Some(lane.and_then(|lane| lane.parse().ok()).ok_or_else(|| USAGE.to_string())?);
            }
            Some("--scalars") => found.limits.scalar = number(value()?)?,
            Some("--reach") => found.limits.reach = number(value()?)? as i64,
            Some("--vectors") => found.limits.vector = number(value()?)?,
            Some(text) if text.starts_with('-') => return Err(USAGE.into()),
            _ => found.shader = Some(next.into()),
        }
    }
    Ok(found)
}

fn run() -> Result<bool, Box<dyn std::error::Error>> {
    let arguments = arguments()?;
    if let (Some(first), Some(count)) = (arguments.generate, arguments.shaders) {
        let all = generate::prove_all(first as u64..(first + count) as u64, arguments.runs.unwrap_or(4))?;
        all.wrong.iter().take(20).for_each(|wrong| println!("{wrong}"));
        let Proof { seen, compared, steps, unwound, local, .. } = all;
        println!("{}\n{seen} claims seen by lanes, {unwound} in frames of callers", all.json());
        println!("{local} dwords of local memory");
        println!("{compared} numbers compared, {steps} steps");
        return Ok(all.wrong.is_empty());
    }
    if let Some(seed) = arguments.generate {
        let statements = arguments.statements.unwrap_or(8 + seed % 12);
        print!("{}", generate::shader(seed as u64, statements as u32));
        return Ok(true);
    }
    let path = arguments.shader.ok_or(USAGE)?;
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let source = Source::new(&path.to_string_lossy(), &text)?;
    let compiled = compile(&source, arguments.limits)?;
    let report = check(&compiled)?;
    if let (true, Some(output)) = (report.is_clean(), &arguments.output) {
        eitri::emit::elf::write_file(output, &compiled.object)?;
    }
    if let Some(path) = &arguments.svg {
        std::fs::write(path, draw::draw(&source, &compiled)?)?;
    }
    if let Some(lane) = arguments.trace {
        print!("{}", trace::trace(&source, &compiled, lane)?);
        return Ok(report.is_clean());
    }
    if arguments.runs.is_some() || arguments.json {
        let runs = arguments.runs.unwrap_or(4);
        let proof = prove(&source, &compiled, &inputs(&source, &compiled, 1, runs)?);
        if arguments.json {
            println!("{}", proof.json());
            return Ok(report.is_clean() && proof.wrong.is_empty());
        }
        proof.wrong.iter().take(20).for_each(|wrong| println!("{wrong}"));
        proof.missed.iter().for_each(|missed| println!("missed: {missed}"));
        let Proof { seen, compared, steps, unwound, local, .. } = proof;
        println!("{}\n{seen} claims seen by lanes, {unwound} in frames of callers", proof.json());
        println!("{local} dwords of local memory");
        println!("{compared} numbers compared, {steps} steps");
        return Ok(report.is_clean() && proof.wrong.is_empty());
    }
    let [code, debug] = compiled.times.map(|time| time.as_secs_f64() * 1e3);
    println!("{report}");
    println!(
        "{} bytes of code; {code:.1} ms, and {debug:.1} ms for debug information",
        compiled.machines.iter().map(|machine| machine.bytes.len()).sum::<usize>()
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
