//! `rewrite`: an object's debug information, written again for a consumer.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use eitri::json::write_rewritten;
use eitri::lower::Consumer;
use eitri::rewrite::{RewriteChange, RewriteOptions, Rewritten, rewrite, rewrite_members};

use super::companions::{may_have_debug_information, supplementary_file};
use super::containers::Reads;
use super::contents::Contents;
use super::output::{Form, print, say_lines, write_files};
use super::progress::Progress;
use super::threads::threads;
use super::{Failure, containers, exit_code, in_file, targets};

/// Arguments for `rewrite`.
#[derive(Debug, Args)]
pub struct RewriteArguments {
    /// Object file, or an archive, bundle or host object, whose members are rewritten in it; `-` is standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Rewrite only members of archives and bundles whose name contains this text. The other members stay as they are.
    #[arg(long, value_name = "TEXT")]
    member: Option<String>,
    /// Consumer that reads the output. The default is a consumer that reads what the producer wrote.
    #[arg(long = "for", value_name = "CONSUMER", value_parser = Consumer::NAMES)]
    consumer: Option<String>,
    /// Write what lint proves wrong as it was meant, as far as the code proves it; remove it otherwise.
    #[arg(long)]
    fix: bool,
    /// Add DWARF 5's name index (`.debug_names`).
    #[arg(long)]
    names: bool,
    /// Remove entries, rows, frames and ranges of code that is not in the linked object, and what only they refer to.
    #[arg(long)]
    gc: bool,
    /// Describe equal types of all units once. Different types with one name stay, and are listed.
    #[arg(long)]
    dedupe: bool,
    /// Target, such as `amdgpu-gfx1030-wave32`, or a `.json` file with a target. The default is the file's target.
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,
    /// Exit with code 1, and write no file, if a fact is lost: it is not imported, or the consumer cannot express it.
    #[arg(long)]
    strict: bool,
    /// Write no output file.
    #[arg(long, conflicts_with = "output")]
    dry_run: bool,
    /// File for the report; `-` is standard output, which is the default unless the output is written there.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Form of the report. `text` is for people and can change.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Output file; `-` is standard output.
    #[arg(short, long, value_name = "FILE", required_unless_present = "dry_run")]
    output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Sizes, changes, and lost facts as lines.
    Text,
    /// A JSON object for each object, on a line.
    Json,
}

/// Names of objects in a file, and how they are rewritten.
type Objects = Vec<(String, Rewritten)>;

impl RewriteArguments {
    pub fn run(&self) -> Result<ExitCode, Failure> {
        let progress = Progress::begin("rewrite", &self.file);
        let bytes = Contents::read(&self.file)?;
        let (new, objects) = self.rewrite(&bytes)?;
        drop(progress);
        let is_written = !self.strict || objects.iter().all(|(_, rewritten)| rewritten.is_complete());
        let output = self.output.as_deref().filter(|_| is_written);
        let report: String = objects
            .iter()
            .map(|(name, rewritten)| match self.format {
                Format::Text => text(name, rewritten),
                Format::Json => write_rewritten(rewritten, name) + "\n",
            })
            .collect();
        let mut files: Vec<(&Path, &[u8])> = Vec::new();
        files.extend(output.map(|output| (output, &new[..])));
        files.extend(self.report.as_deref().map(|file| (file, report.as_bytes())));
        let is_program = output.filter(|output| output.as_os_str() != "-" && !output.exists());
        write_files(&files)?;
        if let Some(output) = is_program.filter(|_| self.file.as_os_str() != "-") {
            // A new file can be run if the input can.
            let set =
                fs::metadata(&self.file).and_then(|from| fs::set_permissions(output, from.permissions()));
            set.map_err(|error| in_file(output)(error.into()))?;
        }
        if self.report.is_none() && self.output.as_deref() != Some(Path::new("-")) {
            print(if self.format == Format::Json { Form::Json } else { Form::Text }, &report)?;
        } else {
            say_lines(objects.iter().flat_map(|(_, rewritten)| rewritten.lost()));
        }
        Ok(exit_code(is_written))
    }

    /// Returns the file with its objects rewritten, and the result for each object.
    fn rewrite(&self, bytes: &Contents) -> Result<(Vec<u8>, Objects), Failure> {
        let (objects, unread) = containers::inside(
            &self.file,
            Contents::Bytes(bytes.to_vec()),
            self.member.as_deref(),
            Reads::Objects,
        )?;
        if let Some(first) = unread.into_iter().next() {
            return Err(first);
        }
        let chosen: BTreeSet<String> = objects.into_iter().map(|object| object.name).collect();
        let mut options = RewriteOptions::default();
        options.target = self.target.as_deref().map(targets::named).transpose()?;
        options.consumer = self.consumer.as_deref().map(Consumer::named).transpose()?;
        options.fix = self.fix;
        options.names = self.names;
        options.gc = self.gc;
        options.dedupe = self.dedupe;
        options.threads = threads();

        let outer = containers::file_name(&self.file);
        let mut all = Vec::new();
        let mut kept = chosen.clone();
        let mut current = outer.clone();
        let new = rewrite_members(&outer, bytes, &mut |name, bytes| {
            name.clone_into(&mut current);
            kept.remove(name);
            // In a container, objects without debug information stay.
            let is_alone = chosen.len() == 1;
            if !chosen.contains(name) || !is_alone && !may_have_debug_information(bytes) {
                return Ok(None);
            }
            let supplementary = supplementary_file(&self.file, name, bytes);
            let mut options = options.clone();
            options.supplementary = supplementary.as_deref();
            let mut rewritten = rewrite(bytes, &options)?;
            let object = std::mem::take(&mut rewritten.object);
            all.push((name.to_owned(), rewritten));
            Ok(Some(object))
        });
        let new = new.map_err(|error| in_file(Path::new(&current))(error))?;
        say_lines(
            kept.iter()
                .map(|name| format!("skipped: {name}: objects in NVIDIA's fat binaries are not rewritten")),
        );
        let none =
            || Failure::line(format_args!("{outer}: no object that can be rewritten has debug information"));
        Ok((new.ok_or_else(none)?, all))
    }
}

fn text(name: &str, rewritten: &Rewritten) -> String {
    let Rewritten { consumer, changes, sizes, .. } = rewritten;
    let mut text = String::new();
    let mut put = |line: std::fmt::Arguments<'_>| writeln!(text, "{line}").unwrap_or_default();
    put(format_args!("{name}: DWARF {} for {}", consumer.version, consumer.name));
    put(format_args!("  {:24}{:>12}{:>12}", "section", "before", "after"));
    for sizes in sizes {
        put(format_args!("  {:24}{:>12}{:>12}", sizes.name, sizes.before, sizes.after));
    }
    let [before, after] = [
        sizes.iter().map(|sizes| sizes.before).sum::<u64>(),
        sizes.iter().map(|sizes| sizes.after).sum::<u64>(),
    ];
    put(format_args!("  {:24}{before:>12}{after:>12}", "all"));
    if rewritten.merged_types > 0 {
        put(format_args!("merged types: {}", rewritten.merged_types));
    }
    for different in &rewritten.different_types {
        put(format_args!("{different}"));
    }
    for change in changes {
        put(format_args!("{change}"));
        match change {
            RewriteChange::Fixed(change) => {
                change.evidence.iter().for_each(|fact| put(format_args!("    {fact}")));
            }
            RewriteChange::Emptied(copies) => {
                copies.sections.iter().for_each(|(name, bytes)| put(format_args!("    {name} {bytes}")));
            }
            _ => {}
        }
    }
    for unfixed in &rewritten.unfixed {
        put(format_args!("not fixed: {unfixed}"));
        unfixed.finding.evidence.iter().for_each(|fact| put(format_args!("    {fact}")));
    }
    for fact in rewritten.lost() {
        put(format_args!("{fact}"));
    }
    text
}
