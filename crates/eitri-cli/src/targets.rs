//! `eitri targets`: names for descriptions, machines and `--target`.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use eitri::json::read_target;
use eitri::target::{Per, Register, RegisterNames, Scaling, SpaceId, Target};

use crate::output::{Form, print};
use crate::{Failure, in_file, input};

/// Arguments for `targets`.
#[derive(Debug, Args)]
pub struct TargetsArguments {
    /// Target, or a `.json` file with a target.
    #[arg(value_name = "TARGET")]
    name: Option<String>,
}

impl TargetsArguments {
    pub fn run(self) -> Result<ExitCode, Failure> {
        let text = match self.name {
            None => names(),
            Some(name) => description(&named(&name)?),
        };
        print(Form::Text, &text)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the target with a name, or in a JSON file, whose name ends in `.json`.
pub fn named(name: &str) -> Result<Target, Failure> {
    match Path::new(name) {
        file if file.extension().is_some_and(|extension| extension == "json") => {
            read_target(input(file)?).map_err(in_file(file))
        }
        _ => Ok(Target::named(name)?),
    }
}

/// Returns the names of all targets, one on each line.
fn names() -> String {
    Target::all().map(|target| format!("{}\n", target.name())).collect()
}

/// A run of registers with consecutive numbers and names that are otherwise equal.
struct Run<'t> {
    first: Register<'t>,
    last: Register<'t>,
}

/// Splits a name into letters and the number at its end.
fn split(register: Register<'_>) -> Option<(String, u64)> {
    let name = register.name().to_string();
    let letters = name.trim_end_matches(|char: char| char.is_ascii_digit());
    Some((letters.to_owned(), name[letters.len()..].parse().ok()?))
}

impl Run<'_> {
    /// Whether the register continues the run.
    fn goes_on(&self, register: Register<'_>) -> bool {
        let follows = match (split(self.last), split(register)) {
            (Some((letters, number)), Some((next, after))) => letters == next && number + 1 == after,
            _ => false,
        };
        let layout = |register: Register| (register.bits, register.lanes);
        follows && register.reg.0 == self.last.reg.0 + 1 && layout(register) == layout(self.last)
    }
}

/// `first`, or `first..last`.
fn range<T: ToString>(first: T, last: T) -> String {
    let first = first.to_string();
    let last = last.to_string();
    if first == last { first } else { format!("{first}..{last}") }
}

/// Returns a register's bits, and the bits in each lane of a vector register.
fn layout(bits: u32, lanes: u32) -> String {
    match lanes {
        1 => bits.to_string(),
        lanes => format!("{} of each of {} lanes", bits / lanes, lanes),
    }
}

/// A target's registers and address spaces.
fn description(target: &Target) -> String {
    let mut runs: Vec<Run<'_>> = Vec::new();
    for register in target.registers() {
        match runs.last_mut() {
            Some(run) if run.goes_on(register) => run.last = register,
            _ => runs.push(Run { first: register, last: register }),
        }
    }
    let mut text = String::from("registers, their DWARF numbers and their bits\n");
    for Run { first, last } in runs {
        let names = range(first.name(), last.name());
        let numbers = range(first.reg.0, last.reg.0);
        let bits = layout(first.bits, first.lanes);
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {names:<10} {numbers:<10} {bits}");
    }
    for registers in target.register_ranges() {
        if let RegisterNames::Packed { prefix } = registers.names() {
            let bits = layout(registers.bits(), registers.lanes());
            let names = format!("{}...", char::from(*prefix));
            let _ = writeln!(text, "  {names:<10} {:<10} {bits}", "packed");
        }
    }
    text += &frames(target);
    text += "address spaces, their DWARF numbers and the bits of their addresses\n";
    for space in target.spaces() {
        let per = match space.per {
            Per::Process => "",
            Per::Thread => ", one for each wave",
            Per::Lane => ", one for each lane",
        };
        let _ = writeln!(text, "  {:<12} {:<3} {}{per}", space.name, space.id.0, space.address_bits);
    }
    text
}

/// The conventions that frames depend on; empty if there are none.
fn frames(target: &Target) -> String {
    let stack_pointer = target.cfa_register().and_then(|reg| target.register(reg));
    let cfa = stack_pointer
        .map(|register| format!("  {} without a rule is the canonical frame address\n", register.name()));
    // Without private memory, nothing is scaled.
    let scaling = target.space(SpaceId::PRIVATE_WAVE).map(|_| match target.scaling() {
        Scaling::Lane => "  stack and frame pointers count the bytes of one lane\n".into(),
        Scaling::Wave => "  stack and frame pointers count the bytes of all lanes in the wave\n".into(),
    });
    let lines: String = cfa.into_iter().chain(scaling).collect();
    if lines.is_empty() { lines } else { format!("frames\n{lines}") }
}
