//! Page that shows an object's debug information: a timeline for each function's variables, with sources, expressions,
//! their steps, and the findings from [`lint`].
//!
//! The page is a single HTML file without references to other files. The data is a block of numbers and texts; the
//! script draws only what is visible. Everything from the object is text, and never markup.
//!
//! ```
//! use eitri_inspect::report::{ReportOptions, report};
//!
//! # let bytes = include_bytes!("../../data/squares.o");
//! let mut options = ReportOptions::default();
//! options.name = "squares.o";
//! let page = report(bytes, &options)?;
//! assert!(page.starts_with("<!doctype html>"));
//! # Ok::<(), eitri_dwarf::Error>(())
//! ```

mod block;
mod disassembly;
mod frames;
mod gather;
mod kind;
mod options;
mod place;
mod types;

use crate::lint;
use crate::stats;
use eitri_dwarf::error::{Error, Result};
use eitri_dwarf::read::{Dwarf, Object, ReadOptions};

pub use options::{ReportOptions, SourceReader};

use block::{Block, Strings};

/// The page's script: data, timeline, panels.
const SCRIPT: &str =
    concat!(include_str!("data.js"), "\n", include_str!("timeline.js"), "\n", include_str!("page.js"));

/// Generates the page for an object file from any producer. Parts that cannot be read are findings on the page.
///
/// # Errors
/// As [`readable_report`].
///
/// # Example
///
/// ```
/// # use eitri_inspect::report::{ReportOptions, report};
/// # let bytes = include_bytes!("../../data/squares.o");
/// let mut options = ReportOptions::default();
/// // `llvm-objdump -d squares.o`, whole or in parts: the page shows the instructions beside
/// // the variables.
/// options.disassembly = Some(
///     "0000000000000000 <squares>:
///       10: 8b 34 97                     \tmovl\t(%rdi,%rdx,4), %esi
///       13: 0f af f6                     \timull\t%esi, %esi\n",
/// );
/// let source = |path: &str| std::fs::read_to_string(path).ok();
/// options.source = Some(&source);
/// report(bytes, &options)?;
/// // A listing of another object is refused.
/// options.disassembly = Some("0000000000000000 <main>:\n       0: c3    \tretq\n");
/// assert!(report(bytes, &options).is_err());
/// # Ok::<(), eitri_dwarf::Error>(())
/// ```
pub fn report(bytes: &[u8], options: &ReportOptions<'_>) -> Result<String> {
    readable_report(bytes, options).map(|page_and_errors| page_and_errors.0)
}

/// Generates the page for an object file as [`report()`] does, and returns it with the errors in parts that cannot be
/// read.
///
/// # Errors
/// The errors of [`Object::read`] and [`Dwarf::read_with`], and errors from the finder in [`ReportOptions::split`];
/// [`Malformed`](eitri_dwarf::error::ErrorKind::Malformed) if no instruction in [`ReportOptions::disassembly`] belongs to a
/// function in the object.
pub fn readable_report(bytes: &[u8], options: &ReportOptions<'_>) -> Result<(String, Vec<Error>)> {
    let (strings, tables, unreadable) = tables(bytes, options)?;
    let block = Block::new(&tables, &strings);
    let page = include_str!("page.html");
    let parts = [
        ("<!--title-->", escaped(options.name)),
        ("/*style*/", include_str!("page.css").into()),
        ("<!--data-->", block.element()),
        ("/*script*/", SCRIPT.into()),
    ];
    let mut out = String::with_capacity(page.len() + parts.iter().map(|part| part.1.len()).sum::<usize>());
    let mut rest = page;
    for (mark, text) in &parts {
        let (before, after) = rest.split_once(mark).expect("the page has each mark, in this order");
        out.push_str(before);
        out.push_str(text);
        rest = after;
    }
    out.push_str(rest);
    Ok((out, unreadable))
}

/// Returns a page's texts and tables, and the errors in parts that cannot be read. There is a table for each kind of
/// record, whose records have a fixed number of words.
fn tables(bytes: &[u8], options: &ReportOptions<'_>) -> Result<(Strings, Vec<Vec<u32>>, Vec<Error>)> {
    let object = Object::read_with(bytes, options.supplementary, None)?;
    let dwarf = Dwarf::read_with(&object, &ReadOptions::new().readable())?;
    let copies = Object::read_mercury(bytes)?;
    let mut facts = lint::Facts::new(&object, &dwarf, 1)?;
    facts.copies = copies.as_ref();
    options.split.with(&object, &dwarf, |split| {
        let mut findings = Vec::new();
        let lint_options = lint::LintOptions { split: options.split, ..lint::LintOptions::default() };
        let diagnosed =
            lint::units(&facts, &dwarf, split, &lint_options, &mut |finding| findings.push(finding))?;
        let stats_options = stats::StatsOptions { split: options.split, ..stats::StatsOptions::default() };
        let coverage = stats::measure(&object, Some(&facts), &dwarf, split, &stats_options)?;
        let mut strings = Strings::default();
        let mut gathered = gather::Gathered::new(options, &object, &findings);
        for dwarf in std::iter::once(&dwarf).chain(split) {
            gather::gather(&object, &facts, dwarf, &mut gathered, &mut strings);
        }
        gathered.check_disassembly()?;
        gathered.measure(&coverage.functions);
        let (strings, tables) = gathered.finish(&object, options, strings);
        let unreadable = diagnosed.unreadable.into_iter().chain(coverage.unreadable);
        Ok((strings, tables, stats::distinct(unreadable)))
    })
}

/// Escapes text for HTML.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            char => out.push(char),
        }
    }
    out
}
