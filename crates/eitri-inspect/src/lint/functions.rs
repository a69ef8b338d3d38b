//! Findings about functions: their extent, frames, and lanes that wait.

use std::ops::Range;
use std::sync::Arc;

use gimli::constants as dw;
use hashbrown::HashMap;

use super::bases;
use super::codes::LintCode;
use super::details::{Add, Details};
use super::file::{Architecture, File, Function};
use super::frame_code;
use super::function_code::described;
use super::shape::Shape;
use crate::walk::LANE_PC;
use eitri_dwarf::error::Count;
use eitri_dwarf::read::{CfaRule, Entry, Fde, Frames, OtherUnits, RegisterRule, ResolvedValue};

/// Diagnoses a function with its frame base. `frames` keeps the verdicts on call frame information.
pub(super) fn findings<'r>(
    file: &File<'r, '_>,
    function: &Function<'r, '_>,
    frame_base: Option<&Shape>,
    frames: &mut FrameVerdicts,
    add: Add<'_>,
) {
    extent(file, function, add);
    if function.is_live {
        twice(file, function, add);
        if let Some((code, written)) = frame_base.and_then(|shape| bases::frame_base(file, shape)) {
            add(code, None, &|| Details::new(written.as_str()));
        }
        frame(file, function, frames, add);
        lanes(file, function, add);
    }
}

fn extent<'r>(file: &File<'r, '_>, function: &Function<'r, '_>, add: Add<'_>) {
    let pcs = file.object.pc_notation();
    let beyond = |range: &Range<u64>| file.section(range.start).filter(|section| range.end > section.end);
    let is_wrong = |range: &Range<u64>| range.end < range.start || beyond(range).is_some();
    if let Some(range) = function.ranges.first_wrong(is_wrong) {
        let Some(section) = beyond(range).filter(|_| range.end >= range.start) else {
            let [from, to] = [range.start, range.end].map(|pc| pcs.pc(pc));
            let written = || Details::new(format!("code from {from} to {to}"));
            return add(LintCode::ReversedRange, None, &written);
        };
        return add(LintCode::ExtentNotCode, None, &|| {
            let size = section.end - section.start;
            let bytes = Count(range.end - range.start, "byte");
            let section = format!(
                "the section has {:#x}, from {} to {}",
                Count(size, "byte"),
                pcs.pc(section.start),
                pcs.pc(section.end)
            );
            Details::new(format!("code of {bytes:#x} from {} on", pcs.pc(range.start)))
                .evidence([section])
                .evidence(ends(file, function, range.start))
        });
    }
    if file.architecture == Architecture::Cpu {
        return overlap(file, function, add);
    }
    let ([range], true) = (&function.ranges[..], function.is_live) else { return };
    let mut sizes = file.symbol_sizes(range.start).filter(|size| *size != 0).peekable();
    let Some(&size) = sizes.peek() else { return };
    let bytes = range.end - range.start;
    if sizes.any(|size| size == bytes) {
        return;
    }
    add(LintCode::ExtentNotCode, None, &|| {
        let bytes = Count(bytes, "byte");
        let start = pcs.pc(range.start);
        let symbol = format!("the symbol at {start} has {:#x}", Count(size, "byte"));
        Details::new(format!("code of {bytes:#x} from {start} on")).evidence([symbol]).evidence(ends(
            file,
            function,
            range.start,
        ))
    });
}

/// `DW_LANG_Mips_Assembler`, which assemblers for all machines write, and `DW_LANG_Assembly`.
const ASSEMBLY: [u64; 2] = [0x8001, 0x31];

/// Adds the finding about a function for a CPU that ends after the end of its symbol, in another function with a symbol. A
/// function that shares its code with another, has several entry points, or is in parts has symbols of its code.
fn overlap<'r>(file: &File<'r, '_>, function: &Function<'r, '_>, add: Add<'_>) {
    let is_assembly = |language| ASSEMBLY.contains(&language);
    if !function.is_live || function.entry.unit().language.is_some_and(is_assembly) {
        return;
    }
    for range in function.ranges.iter() {
        let bytes = range.end - range.start;
        let Some(size) = file.symbol_sizes(range.start).max().filter(|size| (1..bytes).contains(size)) else {
            continue;
        };
        let behind = range.start + size..range.end;
        let Some(next) =
            file.function_within(&behind).filter(|next| file.symbol_sizes(next.0).any(|size| size > 0))
        else {
            continue;
        };
        return add(LintCode::ExtentNotCode, None, &|| {
            let pcs = file.object.pc_notation();
            let [start, other] = [range.start, next.0].map(|pc| pcs.pc(pc));
            let name =
                function.entry.dwarf().entry_at(next.1).and_then(|entry| Some(entry.name()?.to_string()));
            let name = name.map_or_else(String::new, |name| format!(" `{name}`"));
            Details::new(format!("code of {:#x} from {start} on", Count(bytes, "byte")))
                .evidence([
                    format!("the symbol at {start} has {:#x}", Count(size, "byte")),
                    format!("the function{name} begins at {other}"),
                ])
                .evidence(ends(file, function, range.start))
        });
    }
}

/// Adds the finding about GPU code that an earlier entry describes. Linkers for CPUs keep a single copy of an inline
/// function, but all its entries, so that this is no mistake there.
fn twice<'r>(file: &File<'r, '_>, function: &Function<'r, '_>, add: Add<'_>) {
    let entry = function.entry;
    let Some(first) = file.first_entry(function.start()).filter(|first| *first < entry.offset()) else {
        return;
    };
    if file.architecture == Architecture::Cpu {
        return;
    }
    add(LintCode::CodeDescribedTwice, None, &|| {
        let name = entry.dwarf().entry_at(first).and_then(|first| Some(first.name()?.to_string()));
        let owner = name.map_or_else(String::new, |name| format!(", `{name}`,"));
        let start = file.object.pc_notation().pc(function.start());
        Details::new(format!("a second entry for the code at {start}"))
            .evidence([format!("the entry {first:#x}{owner} describes it, too")])
    });
}

/// Describes where the line table and the call frame information end the code that contains a pc.
fn ends<'r>(file: &File<'r, '_>, function: &Function<'r, '_>, pc: u64) -> impl Iterator<Item = String> {
    let pcs = file.object.pc_notation();
    let program = file.dwarf.lines(function.entry.unit()).ok().flatten();
    let sequence = program.and_then(|program| {
        let mut start = None;
        program.rows().map_while(Result::ok).find_map(|row| {
            let first = *start.get_or_insert(row.address);
            if row.end_sequence {
                start = None;
            }
            (row.end_sequence && (first..row.address).contains(&pc)).then_some(row.address)
        })
    });
    let entry = file.frames.iter().find_map(|frames| {
        let fde = frames.fde_at(pc)?;
        let section = frames.section.name();
        let end = pcs.pc(fde.start.wrapping_add(fde.length));
        Some(format!("entry {:#x} of {section} ends at {end}", fde.offset))
    });
    sequence.map(move |end| format!("the line sequence ends at {}", pcs.pc(end))).into_iter().chain(entry)
}

/// Verdict on the rules in a frame description entry, which is the same for each function in its code.
#[derive(Debug, Default)]
pub(super) struct FrameVerdict {
    has_cfa: bool,
    has_return: bool,
    /// Whether the return address is undefined in a row: a kernel has no caller.
    is_gpu_root: bool,
    wrong: Option<(LintCode, String)>,
    misplaced: Option<(LintCode, String)>,
    /// Offset and error of an instruction that cannot be read.
    error: Option<(u64, String)>,
}

/// Verdicts by section and offset of the entry: an entry can have the code of many functions.
pub(super) type FrameVerdicts = HashMap<(&'static str, u64), FrameVerdict>;

impl FrameVerdict {
    fn new(file: &File<'_, '_>, frames: &Frames<'_>, fde: &Fde<'_>) -> Self {
        let mut verdict = Self::default();
        let mut rows = frames.rows(fde);
        let cie = frames.cie(fde);
        let mut known = bases::Known::default();
        let end = fde.start.saturating_add(fde.length);
        let mut last = fde.start;
        let pcs = file.object.pc_notation();
        loop {
            match rows.next_row() {
                Ok(Some(row)) => {
                    eitri_dwarf::work::step();
                    let start = row.start;
                    if verdict.misplaced.is_none() && start < last {
                        let text = format!("a row at {} after one at {}", pcs.pc(start), pcs.pc(last));
                        verdict.misplaced = Some((LintCode::ReversedRow, text));
                    } else if verdict.misplaced.is_none() && start > end {
                        let text = format!("a row at {}", pcs.pc(start));
                        verdict.misplaced = Some((LintCode::RowBeyondCode, text));
                    }
                    last = start;
                    verdict.has_cfa |= row.cfa != CfaRule::Unset;
                    let rule = row.rule(cie.return_register);
                    verdict.has_return |= rule.is_some();
                    verdict.is_gpu_root |= rule == Some(RegisterRule::Undefined);
                    verdict.wrong =
                        verdict.wrong.take().or_else(|| bases::row(file, cie.encoding, row, &mut known));
                }
                Ok(None) => return verdict,
                Err(error) => {
                    let offset = error.at().offset.unwrap_or(fde.offset);
                    verdict.error = Some((offset, error.kind().to_string()));
                    return verdict;
                }
            }
        }
    }
}

fn frame<'r>(file: &File<'r, '_>, function: &Function<'r, '_>, known: &mut FrameVerdicts, add: Add<'_>) {
    // PTX has no frames, because ptxas lays out the frames in machine code.
    if file.object.is_ptx() {
        return;
    }
    let pc = function.start();
    let pcs = file.object.pc_notation();
    let leaves = || {
        let code = function.code(file);
        code.returns().map(|instruction| format!("the function leaves at {}", described(&instruction)))
    };
    let entry = file.frames.iter().find_map(|frames| frames.fde_at(pc).map(|fde| (frames, fde)));
    let Some((frames, fde)) = entry else {
        if file.has_frames_elsewhere {
            return;
        }
        let mut malformed =
            file.frames.iter().flat_map(|frames| frames.errors.first().map(|error| (frames.section, error)));
        if let Some((section, error)) = malformed.next() {
            let place = error.at().offset.map(|at| (section.name(), at));
            return add(LintCode::NoCfa, place, &|| {
                let evidence = [
                    format!("no entry that can be read has the pc {}", pcs.pc(pc)),
                    format!("{} cannot be read: {}", section.name(), error.kind()),
                ];
                Details::new("no call frame information that can be read")
                    .evidence(evidence)
                    .evidence(leaves())
            });
        }
        return add(LintCode::NoCfa, None, &|| {
            let evidence = [format!("no entry has the pc {}", pcs.pc(pc))];
            Details::new("no call frame information").evidence(evidence).evidence(leaves())
        });
    };
    let place = Some((frames.section.name(), fde.offset));
    let return_register = frames.cie(fde).return_register;
    let end = fde.start.saturating_add(fde.length);
    let verdict = known.entry((frames.section.name(), fde.offset));
    let verdict = verdict.or_insert_with(|| FrameVerdict::new(file, frames, fde));
    if let Some((offset, error)) = &verdict.error {
        let place = Some((frames.section.name(), *offset));
        return add(LintCode::BadFrameInstruction, place, &|| Details::new(error.as_str()));
    }
    let FrameVerdict { has_cfa, has_return, is_gpu_root, wrong, misplaced, .. } = verdict;
    let entry = || format!("entry {:#x} of {}", fde.offset, frames.section.name());
    if let Some((code, written)) = wrong {
        add(*code, place, &|| Details::new(written.as_str()).evidence([entry()]));
    }
    if let Some((code, written)) = misplaced {
        add(*code, place, &|| {
            Details::new(written.as_str()).evidence([format!("{} ends at {}", entry(), pcs.pc(end))])
        });
    }
    if !*has_cfa && !*is_gpu_root {
        return add(LintCode::NoCfa, place, &|| {
            Details::new("pcs without a rule for the canonical frame address")
                .evidence([format!("{} has no rules", entry())])
                .evidence(leaves())
        });
    }
    if file.architecture == Architecture::Amd {
        frame_code::findings(file, function, (frames, fde), add);
    }
    // Without a rule, a CPU's return register keeps its value; on x86-64 the column is not a register.
    let needs_rule = file.object.machine() == 62;
    if !*has_return && needs_rule {
        add(LintCode::NoReturnAddress, place, &|| {
            Details::new("a frame whose caller has no pc").evidence([format!(
                "{} has no rule for register {}",
                entry(),
                return_register.0
            )])
        });
    }
}

fn lanes<'r>(file: &File<'r, '_>, function: &Function<'r, '_>, add: Add<'_>) {
    let entry = function.entry;
    let is_location = |value: ResolvedValue<'_>| {
        matches!(value, ResolvedValue::Expr(_) | ResolvedValue::LocList(_) | ResolvedValue::Block(_))
    };
    let is_described = LANE_PC.into_iter().filter_map(|name| entry.attr(name)).any(is_location);
    if file.architecture != Architecture::Amd || is_described {
        return;
    }
    let Some(instruction) = function.code(file).diverges() else { return };
    add(LintCode::NoLanePc, None, &|| {
        let lanes = file.target.as_ref().map_or(0, |target| target.lanes());
        Details::new("all lanes are at the wave's pc").evidence([format!(
            "{} switches lanes off, in a wave with {}",
            described(&instruction),
            Count(lanes, "lane")
        )])
    });
}

/// Returns the file and line where an entry is declared. `files` contains the file names of the entry's unit.
pub(super) fn declared<'r>(
    entry: Entry<'r, 'r>,
    files: &[Arc<str>],
    others: &OtherUnits<'r>,
) -> Option<(Arc<str>, u64)> {
    let line = entry.inherited(dw::DW_AT_decl_line)?.unsigned()?;
    let (declared, file) = entry.declared_file()?;
    let path = if declared.unit().offset == entry.unit().offset {
        files.get(usize::try_from(file).ok()?)?.clone()
    } else {
        others.path(declared, file)?.into()
    };
    Some((path, line))
}
