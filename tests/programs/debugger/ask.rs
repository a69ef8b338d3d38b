//! Runs debuggers with commands and questions.

use std::path::Path;

use crate::programs::common::{Folder, Ran, Tool, skip};
use crate::programs::{GDB, LLDB};

/// A debugger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Debugger {
    Gdb,
    Lldb,
}

/// Output of a debugger.
#[derive(Debug)]
pub struct Answers {
    /// Output of the commands before the first question.
    pub before: String,
    /// Answers to the questions.
    pub answers: Vec<String>,
    /// Complete output and errors.
    pub ran: Ran,
}

impl Debugger {
    /// Runs a program with commands and questions; `None` without the debugger, or without permission to run programs.
    pub fn ask(
        self,
        folder: &Folder,
        program: &Path,
        commands: &[&str],
        questions: &[&str],
    ) -> Option<Answers> {
        let (tool, arguments) = match self {
            Self::Gdb => (GDB, Self::gdb(commands, questions)),
            Self::Lldb => (LLDB, Self::lldb(folder, commands, questions)),
        };
        let output = Self::run(tool, arguments, program)?;
        let mark = match self {
            Self::Gdb => MARK,
            Self::Lldb => "(lldb) ",
        };
        // Each question is echoed before its answer.
        let parts: Vec<&str> = output.out.split(mark).collect();
        assert!(parts.len() > questions.len(), "{output}");
        let (before, answers) = parts.split_at(parts.len() - questions.len());
        let answers = answers.iter().zip(questions).map(|(answer, question)| {
            answer.strip_prefix(question).unwrap_or_else(|| panic!("{question}: {output}")).to_owned()
        });
        Some(Answers { before: before.concat(), answers: answers.collect(), ran: output })
    }

    fn run(tool: Tool, mut arguments: Vec<String>, program: &Path) -> Option<Ran> {
        arguments.push(program.to_str().expect("a path").into());
        let ran = tool.run(&arguments)?;
        if ran.errors.contains("ptrace") {
            skip(&format!("{} may not trace programs here", tool.name));
            return None;
        }
        assert!(ran.succeeded, "{ran}");
        Some(ran)
    }

    fn gdb(commands: &[&str], questions: &[&str]) -> Vec<String> {
        let marked =
            questions.iter().flat_map(|question| [format!("echo {MARK}{question}\\n"), (*question).into()]);
        let commands = READ.iter().chain(commands).map(|command| (*command).to_owned());
        let script = commands.chain(marked).flat_map(|command| ["-ex".to_owned(), command]);
        ["-batch", "-nx", "-iex", "set complaints 100"].map(String::from).into_iter().chain(script).collect()
    }

    /// Writes a script: as arguments, commands end with the first one that fails.
    fn lldb(folder: &Folder, commands: &[&str], questions: &[&str]) -> Vec<String> {
        let script = [commands, questions].concat().join("\n");
        let script = folder.file("commands", script).to_str().expect("a path").to_owned();
        let go_on = "settings set interpreter.stop-command-source-on-error false";
        // Disabling address randomisation may be forbidden, and is not needed.
        let random = "settings set target.disable-aslr false";
        ["--no-lldbinit", "-b", "-O", go_on, "-O", random, "-s", &script].map(String::from).into()
    }
}

const MARK: &str = ">>> ";
/// gdb's complaints about the DWARF of a program, which it prints on request; those about libraries of the running
/// program are disabled again.
const READ: [&str; 3] = ["maintenance expand-symtabs", "set complaints 0", "set confirm off"];
