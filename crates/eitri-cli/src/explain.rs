//! `explain`: an evaluation with its steps, or the positions of a wave's lanes.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use eitri::dump::lane_chart;

use super::evaluate::{self, Answer};
use super::output::{Form, print, write_files};
use super::question::{Lane, Question};
use super::{Failure, exit_code, lanes};

/// End of the help for `explain`.
pub const EXPLAINED: &str = "\
Example: eitri explain 'regx v3; push_lane; lit4; mul; offset' --machine wave.json --svg a.svg
Example: eitri explain --var x --pc scale+0x8 --lane 5 scale.o --machine machine.json
Example: eitri explain --lanes kernel.o --machine stops.json --svg lanes.svg

With --lanes, the machines are stops of one wave, in order. Each has its pc, and the registers that contain masks, the \
least significant byte first. Each stop is a file, or an element of the `stops` of one file, which add to its \
`machine`:

  {\"target\": \"amdgpu-gfx1030-wave32\", \"stops\": [
      {\"pc\": \"0x10008\", \"registers\": {\"exec\": \"0f 00 00 00\", \"s4\": \"f0 00 00 00\"}},
      {\"pc\": \"0x10014\", \"registers\": {\"exec\": \"f0 00 00 00\", \"s4\": \"0f 00 00 00\"}}
  ]}

Addresses are those that `eitri dump` prints for the object. The pc is not repeated as a register.";

/// Arguments for `explain`.
#[derive(Debug, Args)]
pub struct ExplainArguments {
    #[command(flatten)]
    question: Question,
    /// Print the position of each lane in a wave, by an object file's debug information, in the innermost function at
    /// the first stop. --machine can be repeated.
    #[arg(long, requires = "machine",
          conflicts_with_all = ["var", "kind", "initial", "pc", "frame", "lane", "read", "consumer"])]
    lanes: bool,
    /// Function for --lanes: the innermost function at the first stop, or a caller.
    #[arg(long, value_name = "NAME", requires = "lanes")]
    function: Option<String>,
    /// Draw a figure too: a panel for each step, with the stack and the storages; with --lanes, a column for each
    /// stop.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

impl ExplainArguments {
    pub fn run(self) -> Result<ExitCode, Failure> {
        let Self { question, lanes, function, svg } = self;
        if question.lane == Some(Lane::All) {
            return Err(Failure(
                "--lane all: `explain` shows the steps in one lane; expected a number".into(),
            ));
        }
        let (text, is_result, figure) = if lanes {
            let positions = lanes::positions(&question, function.as_deref())?;
            let is_known = positions.stops.iter().all(|stop| stop.lanes.is_ok());
            (positions.to_string(), is_known, svg.is_some().then(|| lane_chart(&positions)))
        } else {
            let Answer { steps, found, is_result, figure, .. } =
                evaluate::answer("explain", &question, svg.is_some())?;
            (format!("{steps}{found}\n"), is_result, figure)
        };
        if let (Some(file), Some(figure)) = (svg, figure) {
            write_files(&[(&file, figure.as_bytes())])?;
        }
        print(Form::Text, &text)?;
        Ok(exit_code(is_result))
    }
}
