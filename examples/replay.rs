//! Evaluates every variable in scope at every step of a trace, for every active lane.
//!
//! A trace is what a wave's registers and memory contain before each instruction: the first line is a header, and each
//! other line a step, as JSON. Emulators and simulators can write one.
//!
//! ```sh
//! replay OBJECT TRACE.jsonl [llvm|legacy|dwarf5|dwarf6]   # a line for each step, with each variable's bytes by lane
//! replay --machine STEP LANE TRACE.jsonl                  # the stopped machine, as `eitri eval --machine` reads it
//! replay --unwind OBJECT TRACE.jsonl                      # callers' registers and variables, compared with the calls
//! ```

#[path = "replay/machine.rs"]
mod machine;
#[path = "replay/unwind.rs"]
mod unwind;
#[path = "replay/variables.rs"]
mod variables;

use std::error::Error;
use std::io::{BufRead, BufReader, BufWriter, Write};

use eitri::eval::DebugInfo;
use eitri::op::Dialect;
use eitri::read::{Dwarf, Object, ReadOptions};
use eitri::target::Target;
use machine::{EXEC, Trace};
use serde_json::{Value, json};
use variables::{Answers, innermost, variables};

/// Lanes of the waves in a trace.
const LANES: u64 = 32;
const TARGET: &str = "amdgpu-gfx1100-wave32";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match &arguments[..] {
        ["--machine", step, lane, trace] => print_machine(step.parse()?, lane.parse()?, trace),
        ["--unwind", object, trace] => unwind::unwind(object, trace),
        [object, trace] => replay(object, trace, Dialect::Llvm),
        [object, trace, dialect] => replay(object, trace, dialect_named(dialect)),
        _ => {
            Err("expected OBJECT TRACE [DIALECT], --machine STEP LANE TRACE, or --unwind OBJECT TRACE".into())
        }
    }
}

fn dialect_named(name: &str) -> Dialect {
    match name {
        "legacy" => Dialect::Legacy,
        "dwarf5" => Dialect::Dwarf5,
        "dwarf6" => Dialect::Dwarf6,
        _ => Dialect::Llvm,
    }
}

/// Returns the lines of a trace as JSON.
fn lines(trace: &str) -> Result<impl Iterator<Item = Result<Value, Box<dyn Error>>> + use<>, Box<dyn Error>> {
    let lines = BufReader::new(std::fs::File::open(trace)?).lines();
    Ok(lines.map(|line| Ok(serde_json::from_str(&line?)?)))
}

/// Calls a function at each step, after the trace's state has changed. The end of the steps ends the trace.
fn steps(
    trace: &str,
    mut at_step: impl FnMut(&mut Trace, &Value) -> Result<bool, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let mut state = None;
    for line in lines(trace)? {
        let line = line?;
        match (line["kind"].as_str(), &mut state) {
            (Some("header"), _) => state = Some(Trace::new(&line)),
            (Some("step"), Some(state)) => {
                state.step(&line);
                if !at_step(state, &line)? {
                    break;
                }
            }
            _ => break,
        }
    }
    Ok(())
}

fn replay(object: &str, trace: &str, dialect: Dialect) -> Result<(), Box<dyn Error>> {
    let bytes = std::fs::read(object)?;
    let object = Object::read(&bytes)?;
    let dwarf = Dwarf::read_with(&object, &ReadOptions::new().dialect(dialect))?;
    let info = DebugInfo::new(&dwarf);
    let target = Target::named(TARGET)?;
    let all = variables(&dwarf);
    let mut out = BufWriter::new(std::io::stdout().lock());
    steps(trace, |trace, line| {
        let pc = trace.world.pc;
        let exec = trace.world.wave.scalars[EXEC];
        let mut values = Vec::new();
        for (name, same) in innermost(&all, pc) {
            for variable in &same {
                let mut answers = Answers::default();
                for lane in (0..LANES).filter(|lane| exec >> lane & 1 == 1) {
                    trace.world.lane = lane;
                    answers.add(lane, variable, &info, &trace.world, &target);
                }
                let mut value = json!({
                    "name": name,
                    "function": variable.function,
                    "line": variable.line,
                    "entry": variable.entry.offset(),
                    "bits": variable.bits,
                    "expr": variable.expression(pc),
                    "lanes": answers.lanes,
                });
                if same.len() > 1 {
                    value["ambiguous"] = json!(same.len());
                }
                values.push(value);
            }
        }
        let line =
            json!({"wave": line["wave"], "step": line["step"], "pc": pc, "exec": exec, "vars": values});
        writeln!(out, "{line}")?;
        Ok(true)
    })?;
    Ok(out.flush()?)
}

/// Prints the machine of wave 0 at a step.
fn print_machine(step: u64, lane: u64, trace: &str) -> Result<(), Box<dyn Error>> {
    steps(trace, |trace, line| {
        if line["wave"] != 0 || line["step"].as_u64() != Some(step) {
            return Ok(true);
        }
        println!("{}", trace.world.stopped(lane));
        Ok(false)
    })
}
