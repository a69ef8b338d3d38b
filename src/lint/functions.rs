//! Findings about functions: their extent, frames, and lanes that wait.

use gimli::{DwAt, constants as dw};

use super::code::described;
use super::codes::Code;
use super::file::{File, Function, Kind};
use crate::error::Count;
use crate::read::{CfaRule, Rule, Value};

/// A finding about a function: code, section with offset, meaning, evidence.
pub(super) struct OfFunction {
    pub(super) code: Code,
    pub(super) place: Option<(&'static str, u64)>,
    pub(super) written: String,
    pub(super) evidence: Vec<String>,
}

/// Numbers of `DW_AT_LLVM_lane_pc`: the registry's, and that of AMD's documents.
const LANE_PC: [DwAt; 2] = [DwAt(0x3e12), DwAt(0x3e0b)];

pub(super) fn findings<'r>(file: &File<'r, '_>, function: &Function<'r, '_>) -> Vec<OfFunction> {
    let mut all = Vec::new();
    all.extend(extent(file, function));
    if function.is_live {
        all.extend(frame(file, function));
        all.extend(lanes(file, function));
    }
    all
}

fn extent(file: &File<'_, '_>, function: &Function<'_, '_>) -> Option<OfFunction> {
    let found = |written, evidence| {
        let place = None;
        Some(OfFunction { code: Code::ExtentNotCode, place, written, evidence })
    };
    for range in &function.ranges {
        if range.end < range.start {
            let written = format!("code from {:#x} to {:#x}", range.start, range.end);
            return Some(OfFunction {
                code: Code::ReversedRange,
                place: None,
                written,
                evidence: Vec::new(),
            });
        }
        let Some(section) = file.section(range.start).filter(|section| range.end > section.end) else {
            continue;
        };
        let size = section.end - section.start;
        return found(
            format!("code of {:#x} from {:#x} on", Count(range.end - range.start, "byte"), range.start),
            vec![format!(
                "the section has {:#x}, from {:#x} to {:#x}",
                Count(size, "byte"),
                section.start,
                section.end
            )],
        );
    }
    let ([range], true, false) = (&function.ranges[..], function.is_live, file.kind == Kind::Cpu) else {
        return None;
    };
    let mut sizes = file.symbol_sizes(range.start).filter(|size| *size != 0).peekable();
    let size = *sizes.peek()?;
    let bytes = range.end - range.start;
    if sizes.any(|size| size == bytes) {
        return None;
    }
    found(
        format!("code of {:#x} from {:#x} on", Count(bytes, "byte"), range.start),
        vec![format!("the symbol at {:#x} has {:#x}", range.start, Count(size, "byte"))],
    )
}

fn frame<'r>(file: &File<'r, '_>, function: &Function<'r, '_>) -> Option<OfFunction> {
    let pc = function.start();
    let leaves = || {
        let code = function.code(file);
        code.returns().map(|at| format!("the function leaves at {}", described(&at)))
    };
    let found = file.frames.iter().find_map(|frames| frames.fde_at(pc).map(|fde| (frames, fde)));
    let Some((frames, fde)) = found else {
        let mut evidence = vec![format!("no entry has the pc {pc:#x}")];
        evidence.extend(leaves());
        let (written, place) = ("no call frame information".into(), None);
        return Some(OfFunction { code: Code::NoCfa, place, written, evidence });
    };
    let place = Some((frames.section.name(), fde.offset));
    let mut rows = frames.rows(fde);
    let return_register = frames.cie(fde).return_register;
    let (mut has_cfa, mut has_return, mut is_gpu_root) = (false, false, false);
    loop {
        match rows.next_row() {
            Ok(Some(row)) => {
                has_cfa |= row.cfa != CfaRule::Unset;
                let rule = row.rule(return_register);
                has_return |= rule.is_some();
                is_gpu_root |= rule == Some(Rule::Undefined);
            }
            Ok(None) => break,
            Err(error) => {
                let at = error.at().offset.unwrap_or(fde.offset);
                let place = Some((frames.section.name(), at));
                let written = error.kind().to_string();
                let code = Code::BadFrameInstruction;
                return Some(OfFunction { code, place, written, evidence: Vec::new() });
            }
        }
    }
    let entry = format!("entry {:#x} of {}", fde.offset, frames.section.name());
    if !has_cfa && !is_gpu_root {
        let mut evidence = vec![format!("{entry} has no rules")];
        evidence.extend(leaves());
        let written = "pcs without a rule for the canonical frame address".into();
        return Some(OfFunction { code: Code::NoCfa, place, written, evidence });
    }
    // Without a rule, a CPU's return register keeps its value; on x86-64 the column is no register.
    let needs_rule = file.object.machine() == 62;
    if !has_return && needs_rule {
        let evidence = vec![format!("{entry} has no rule for register {}", return_register.0)];
        let written = "a frame whose caller has no pc".into();
        return Some(OfFunction { code: Code::NoReturnAddress, place, written, evidence });
    }
    None
}

fn lanes<'r>(file: &File<'r, '_>, function: &Function<'r, '_>) -> Option<OfFunction> {
    let entry = function.entry;
    let is_location =
        |value: Value<'_>| matches!(value, Value::Expr(_) | Value::LocList(_) | Value::Block(_));
    let is_described = LANE_PC.into_iter().filter_map(|name| entry.attr(name)).any(is_location);
    if file.kind != Kind::Amd || is_described {
        return None;
    }
    let at = function.code(file).diverges()?;
    let lanes = file.target.as_ref().map_or(0, |target| target.lanes());
    let evidence = vec![format!("{} switches lanes off, of {}", described(&at), Count(lanes, "lane"))];
    let written = "all lanes are at the pc of the wave".into();
    Some(OfFunction { code: Code::NoLanePc, place: None, written, evidence })
}

/// Returns file and line of an entry's declaration.
pub(super) fn declared(entry: crate::read::Entry<'_, '_>, files: &[String]) -> Option<(String, u64)> {
    let line = entry.inherited(dw::DW_AT_decl_line)?.unsigned()?;
    let file = entry.inherited(dw::DW_AT_decl_file)?.unsigned()?;
    Some((files.get(usize::try_from(file).ok()?)?.clone(), line))
}
