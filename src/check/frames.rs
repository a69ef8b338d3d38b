//! Frames: unwinding by the object's call frame information, compared with the model's rules at every witness.

use core::fmt::Display;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::asked::Asked;
use super::combining::does_combine;
use super::expressions::report_unproven;
use super::index::PlacedPart;
use super::meanings::Meanings;
use super::numbers::does_expression_combine;
use super::places::{encoded_span, fault_text, frame_spans, model_contents, show_spans, whole_machine};
use super::report::{CheckFinding, FindingKind, Obstacle};
use super::tables::in_section;
use super::tree::code_text;
use super::unspecified::Unspecified;
use super::witness;
use super::witnesses::{Witness, witnesses};
use crate::error::{At, Count, Error};
use crate::eval::{self, Architecture, CallStack};
use crate::model::{Column, FrameRule, Function, FunctionId, Module, NoMeaning, Node};
use crate::omission::{Property, Subject};
use crate::op::{Decoder, Encoding, Op, Reg};
use crate::read::{CfaRule, Dwarf, Fde, FrameRows, FrameSection, Frames, KnownRows, RegisterRule, renumber};
use crate::target::Target;

/// Function, with its frame's section and entry.
#[derive(Clone, Copy)]
struct FrameEntry<'f, 'o> {
    function: FunctionId,
    /// Part of the function's code.
    part: &'f PlacedPart,
    frames: &'f Frames<'o>,
    entry: &'f Fde<'o>,
    /// The entry's rows.
    rows: &'f KnownRows<'o>,
}

/// Pcs at which a frame changes, in bytes from the function's start. Between two changes a column is the same, so
/// that these pcs and their neighbours are witnesses enough.
#[derive(Default)]
struct Changes<'o> {
    /// Pcs at which a rule for the column begins or ends.
    of_columns: BTreeMap<Column, Vec<u64>>,
    /// Whether a register depends on other registers' rules, so that each column can change wherever any column does.
    is_coupled: bool,
    /// Whether a rule combines numbers.
    combines: bool,
    /// Columns with a rule in the object.
    ruled: BTreeSet<Column>,
    /// The row before.
    cfa: Option<CfaRule<'o>>,
    rules: Vec<(Reg, RegisterRule<'o>)>,
}

impl<'o> Changes<'o> {
    fn described(&mut self, module: &Module, rule: &FrameRule) {
        self.of_columns.entry(rule.column).or_default().extend([rule.pcs().start, rule.pcs().end]);
        self.is_coupled |= module.nodes(rule.loc).any(|node| matches!(node, Node::EntryRegister(_)));
    }

    /// Adds the changes from row to row in an entry whose function starts at `start`.
    fn encoded(&mut self, target: &Target, rows: &mut FrameRows<'o>, start: u64) -> Result<(), Error> {
        let encoding = rows.encoding();
        let mut now = Vec::new();
        while let Some(row) = rows.next_row()? {
            crate::work::step();
            let pcs = [row.start.wrapping_sub(start), row.end.wrapping_sub(start)];
            // The canonical frame address is needed at all pcs, so each gap between rows is a change.
            let is_new = self.cfa.replace(row.cfa) != Some(row.cfa) || row.start >= row.end;
            let cfa = self.of_columns.entry(Column::Cfa).or_default();
            match cfa.last_mut().filter(|last| !is_new && **last == pcs[0]) {
                Some(last) => *last = pcs[1],
                None => cfa.extend(pcs),
            }
            // Put back at the end, so that all rows share its memory.
            let before = core::mem::take(&mut self.rules);
            now.clone_from(&row.rules);
            renumber(&mut now, |reg| target.first_number(reg));
            if let CfaRule::Expression(expr) = row.cfa {
                self.is_coupled |= is_new && reads_caller(expr, encoding);
                self.combines |= is_new && does_expression_combine(expr, encoding, || false);
            }
            let mut earlier = before.iter().peekable();
            for &(reg, rule) in &now {
                while let Some((gone, _)) = earlier.next_if(|(known, _)| *known < reg) {
                    self.of_columns.entry(Column::Register(*gone)).or_default().push(pcs[0]);
                }
                if earlier.next_if(|(known, _)| *known == reg).is_some_and(|(_, known)| *known == rule) {
                    continue;
                }
                let column = Column::Register(reg);
                self.ruled.insert(column);
                self.of_columns.entry(column).or_default().push(pcs[0]);
                self.is_coupled |= is_coupled(&now, reg, rule, encoding);
                if let RegisterRule::Expression(expr) | RegisterRule::ValExpression(expr) = rule {
                    self.combines |= does_expression_combine(expr, encoding, || false);
                }
            }
            for (gone, _) in earlier {
                self.of_columns.entry(Column::Register(*gone)).or_default().push(pcs[0]);
            }
            self.rules = core::mem::replace(&mut now, before);
        }
        Ok(())
    }

    /// Returns a register's rule if all rows have it.
    fn constant(&self, reg: Reg) -> Option<RegisterRule<'o>> {
        let changes = self.of_columns.get(&Column::Register(reg))?;
        let index = self.rules.binary_search_by_key(&reg, |&(known, _)| known).ok()?;
        (changes[..] == [0]).then(|| self.rules[index].1)
    }

    /// Returns the pcs at which a column, or a column that it depends on, changes. All columns depend on the
    /// canonical frame address.
    fn pcs(&self, column: Column) -> Vec<u64> {
        if self.is_coupled {
            return self.of_columns.values().flatten().copied().collect();
        }
        let columns = [Column::Cfa, column];
        columns.iter().filter_map(|column| self.of_columns.get(column)).flatten().copied().collect()
    }
}

/// Whether a new rule for a register can depend on other registers' rules: on the caller's values, or in a cycle
/// where registers are saved in each other.
fn is_coupled(
    rules: &[(Reg, RegisterRule<'_>)],
    reg: Reg,
    rule: RegisterRule<'_>,
    encoding: Encoding,
) -> bool {
    match rule {
        RegisterRule::Register(from) => rules.iter().any(|&(register, other)| {
            register == from && matches!(other, RegisterRule::Register(_))
                || other == RegisterRule::Register(reg)
        }),
        RegisterRule::Expression(expr) | RegisterRule::ValExpression(expr) => reads_caller(expr, encoding),
        _ => false,
    }
}

/// Whether an expression reads one of the caller's registers, or cannot be read.
fn reads_caller(expr: &[u8], encoding: Encoding) -> bool {
    Decoder::new(expr, encoding).any(|decoded| {
        decoded.map_or(true, |decoded| {
            matches!(decoded.op, Op::EntryValue { .. } | Op::CallFrameEntryReg { .. })
        })
    })
}

/// Compares all functions' frames, in each section that the consumer has. A cubin keeps the frames of ptxas if the
/// description has none.
pub(super) fn compare_call_frames<'o>(meanings: &mut Meanings<'_, '_, 'o>, dwarf: &Dwarf<'o>) {
    let form = &meanings.described.consumer.frames;
    let is_cubin = meanings.described.consumer.expressions.has_register_map;
    if is_cubin && !meanings.module.functions().any(|(function, _)| is_encoded(meanings, function)) {
        return;
    }
    for (section, is_wanted) in [(FrameSection::Debug, form.debug_frame), (FrameSection::Eh, form.eh_frame)] {
        match dwarf.frames(section) {
            Ok(frames) if is_wanted => frames_in(meanings, &frames),
            // The compiler may have written `.eh_frame`.
            Ok(_) => {}
            Err(error) if is_wanted => {
                meanings.report.unreadable(meanings.described.object, &error, At::default())
            }
            Err(_) => {}
        }
    }
}

fn frames_in<'o>(meanings: &mut Meanings<'_, '_, 'o>, frames: &Frames<'o>) {
    let module = meanings.module;
    let mut fdes: Vec<_> = frames.fdes.iter().collect();
    fdes.sort_by_key(|fde| fde.start);
    // Several functions can have one address: aliases, and functions that a linker folds.
    let mut by_start = BTreeMap::<u64, Vec<(FunctionId, PlacedPart)>>::new();
    for (function, _) in module.functions() {
        for part in meanings.described.parts(function) {
            by_start.entry(part.code().start).or_default().push((function, part));
        }
    }
    // Module order, so that findings are in the module's order.
    for (function, _) in module.functions() {
        // A function without code has no frame.
        for start in meanings.described.parts(function).iter().map(|part| part.code().start) {
            // The first function at an address compares all functions there.
            let Some(parts) = by_start.remove(&start) else { continue };
            let first = fdes.partition_point(|fde| fde.start < start);
            let end = fdes.partition_point(|fde| fde.start <= start);
            frames_from(meanings, parts, frames, fdes[first..end].to_vec());
        }
    }
    more_frames(meanings, frames, &fdes);
}

/// Whether the object has a function's frame.
fn is_encoded(meanings: &Meanings<'_, '_, '_>, function: FunctionId) -> bool {
    meanings.module.has_frame(function, meanings.described.consumer.has_locations_on_the_stack())
        && meanings.described.omitted.count(Subject::Rule(function, Column::Cfa), Property::Rule) == 0
}

/// Compares the frames for the functions at an address. There must be as many entries as described frames, and
/// entries with the same size must be in module order.
fn frames_from<'o>(
    meanings: &mut Meanings<'_, '_, 'o>,
    parts: Vec<(FunctionId, PlacedPart)>,
    frames: &Frames<'o>,
    mut found: Vec<&Fde<'o>>,
) {
    let module = meanings.module;
    let site = |function: FunctionId| {
        module
            .at_scope(module.function(function).scope)
            .with(|context| context.section = Some(frames.section.name().into()))
    };
    let mut encoded: Vec<&(FunctionId, PlacedPart)> =
        parts.iter().filter(|(function, _)| is_encoded(meanings, *function)).collect();
    // Entries have no name: the sizes decide which entry belongs to which function.
    encoded.sort_by_key(|(_, part)| part.pcs.end - part.pcs.start);
    found.sort_by_key(|fde| fde.length);
    match (&encoded[..], &found[..]) {
        (encoded, found) if encoded.len() == found.len() => {
            for (&&(function, ref part), &fde) in encoded.iter().zip(found) {
                meanings.report.entries += 1;
                let pcs = meanings.described.object.pc_notation();
                let code = part.code();
                let covered = fde.start..fde.start.wrapping_add(fde.length);
                if code != covered {
                    meanings.report.find(
                        FindingKind::Code,
                        site(function),
                        code_text(pcs, &[code]),
                        code_text(pcs, &[covered]),
                    );
                }
                compare_common_entry(meanings, frames, fde, function, &site(function));
                // Other entries can cover the same code.
                let frames = &frames.only(fde);
                let entry = &frames.fdes[0];
                let rows = &KnownRows::default();
                compare_frame(meanings, FrameEntry { function, part, frames, entry, rows });
            }
        }
        ([], _) => meanings.report.find(FindingKind::Extra, site(parts[0].0), "no frame", "a frame"),
        (encoded, []) => {
            for (function, _) in encoded {
                meanings.report.find(FindingKind::MissingEntry, site(*function), "a frame", "none");
            }
        }
        (&[&(function, _)], _) => {
            meanings.report.find(FindingKind::Frame, site(function), "one frame", "several")
        }
        (encoded, found) => {
            let expected = Count(encoded.len(), "frame");
            let count = found.len();
            meanings.report.find(
                FindingKind::Frame,
                site(encoded[0].0),
                expected.to_string(),
                count.to_string(),
            );
        }
    }
}

/// Compares the fields of a frame's common entry, and the fields that augmentations add. Augmentations describe signal
/// handlers and exceptions, which a description lacks.
fn compare_common_entry(
    meanings: &mut Meanings<'_, '_, '_>,
    frames: &Frames<'_>,
    fde: &Fde<'_>,
    function: FunctionId,
    site: &At,
) {
    let cie = frames.cie(fde);
    let target = &meanings.module.target;
    let described = target.call_frames();
    let returns = meanings.module.return_register(function);
    let mut find = |what: &str, expected: &dyn Display, found: &dyn Display| {
        let text = |value: &dyn Display| format!("{what} {value}");
        meanings.report.find(FindingKind::Attribute, site.clone(), text(expected), text(found));
    };
    // A register can have a second number in frames.
    if target.first_number(cie.return_register) != returns {
        find("return address register", &returns.0, &cie.return_register.0);
    }
    if cie.code_alignment != u64::from(target.min_instruction_bytes()) {
        find("code alignment factor", &target.min_instruction_bytes(), &cie.code_alignment);
    }
    if cie.data_alignment != i64::from(described.data_alignment) {
        find("data alignment factor", &described.data_alignment, &cie.data_alignment);
    }
    // In `.eh_frame`, the augmentation depends on the encoding of addresses, which differs by producer.
    let augmentation = meanings.described.consumer.frames.augmentation;
    if frames.section == FrameSection::Debug && cie.augmentation != augmentation.as_bytes() {
        find("augmentation", &format!("`{augmentation}`"), &format!("`{}`", cie.augmentation.escape_ascii()));
    }
    if cie.is_signal {
        find("frame", &"of a function", &"of a signal handler");
    }
    if let Some(personality) = cie.personality {
        find("personality routine", &"none", &format!("{:#x}", personality.address));
    }
    if let Some(lsda) = fde.lsda {
        find("language-specific data", &"none", &format!("{:#x}", lsda.address));
    }
}

/// Looks for entries that do not start at a function. All entries for code that is not described are one finding. An
/// entry that starts within a function is a second frame for the function.
fn more_frames<'o>(meanings: &mut Meanings<'_, '_, 'o>, frames: &Frames<'o>, fdes: &[&Fde<'o>]) {
    let module = meanings.module;
    let code = |(id, _): (FunctionId, &Function)| {
        let code = meanings.described.parts(id).into_iter().map(|part| part.code());
        code.map(move |code| (code.start, (code.end, id)))
    };
    let functions: BTreeMap<u64, (u64, FunctionId)> = module.functions().flat_map(code).collect();
    let notation = meanings.described.object.pc_notation();
    let mut more = Vec::new();
    for fde in fdes.iter().filter(|fde| !functions.contains_key(&fde.start)) {
        let pcs = fde.start..fde.start.wrapping_add(fde.length);
        let before = functions.range(..pcs.end).next_back();
        match before.filter(|(_, (end, _))| *end > pcs.start) {
            Some((_, &(_, function))) => {
                let section = Some(frames.section.name().into());
                let site = module
                    .at_scope(module.function(function).scope)
                    .with(|context| context.section = section);
                meanings.report.find(
                    FindingKind::Frame,
                    site,
                    "one frame",
                    format!("another frame for pcs {}", code_text(notation, &[pcs])),
                );
            }
            None => more.push(pcs),
        }
    }
    if let Some(first) = more.first() {
        let actual = format!(
            "{}, the first for pcs {}",
            Count(more.len(), "frame"),
            code_text(notation, core::slice::from_ref(first))
        );
        meanings.report.find(
            FindingKind::Extra,
            in_section(frames.section.name(), None),
            "no more frames",
            actual,
        );
    }
}

/// Compares a frame, column by column, where the model's rules or the object's rows change.
fn compare_frame<'o>(meanings: &mut Meanings<'_, '_, 'o>, frame: FrameEntry<'_, 'o>) {
    let module = meanings.module;
    let mut columns = BTreeSet::from([Column::Cfa, Column::Register(module.return_register(frame.function))]);
    // An unwinder needs these columns even if neither side has a rule for them: the default rules must agree.
    columns.extend(module.target.cfa_register().map(Column::Register));
    columns.extend(module.target.exec().map(Column::Register));
    let mut changes = Changes::default();
    let frames_encoding = frame.frames.cie(frame.entry).encoding;
    for rule in module.frame(frame.function) {
        changes.described(module, rule);
        changes.combines |= does_combine(meanings, &[rule.loc], &[], frames_encoding);
        columns.insert(rule.column);
    }
    let described = columns.clone();
    if let Err(error) = changes.encoded(&module.target, &mut frame.frames.rows(frame.entry), frame.part.start)
    {
        let site = module.at_scope(module.function(frame.function).scope);
        return meanings.report.unreadable(meanings.described.object, &error, site);
    }
    let ruled = &changes.ruled;
    let unspecified = Unspecified::new(module, frame.function, &described);
    let is_there = |column: &Column| match column {
        Column::Register(reg) => module.target.register(*reg).is_some(),
        Column::Cfa => true,
    };
    columns.extend(ruled.iter().copied().filter(is_there));
    // The rows decide for most registers without a description, which have one rule at all pcs, or none.
    let doubtful = unspecified.doubtful(ruled, |reg| changes.constant(reg));
    for reg in unspecified.registers() {
        columns.remove(&Column::Register(reg));
    }
    columns.extend(doubtful.map(Column::Register));
    let mut different = BTreeMap::new();
    let mut unproven = Vec::new();
    // Column by column: most columns change rarely, so that each has few witnesses.
    for &column in &columns {
        let mut obstacle = None;
        for pc in witness::pcs_within(changes.pcs(column), &frame.part.pcs) {
            match compare_column(meanings, frame, pc, column, changes.combines) {
                Ok(next) => obstacle = obstacle.or(next.map(|next| (next, pc))),
                Err(finding) => {
                    // One finding per column is enough.
                    // Sorted by pc, as a reader of the function meets them.
                    different.insert((pc, column), *finding);
                    break;
                }
            }
        }
        unproven.extend(obstacle.map(|(obstacle, pc)| (obstacle, at_column(meanings, frame, pc, column))));
    }
    let is_different: BTreeSet<Column> = different.keys().map(|&(_, column)| column).collect();
    meanings.report.findings.extend(different.into_values());
    for (obstacle, at) in unproven {
        report_unproven(meanings, Some(obstacle), "a frame".into(), &at);
    }
    // Rules for registers that are not described: these keep the caller's value, or the target does not have them.
    let is_undescribed =
        |column: &&Column| !is_different.contains(column) && !unspecified.needs_rule(**column);
    for &column in ruled.difference(&described).filter(is_undescribed) {
        let site = in_section(
            frame.frames.section.name(),
            Some(module.at_scope(module.function(frame.function).scope)),
        );
        let site = site.with(|context| context.column = Some(column.name(&module.target)));
        meanings.report.find(FindingKind::Extra, site, "no rule", "a rule");
    }
}

fn at_column<'o>(meanings: &Meanings<'_, '_, 'o>, frame: FrameEntry<'_, 'o>, pc: u64, column: Column) -> At {
    let module = meanings.module;
    module.at_scope(module.function(frame.function).scope).with(|context| {
        context.column = Some(column.name(&module.target));
        context.pcs = Some(pc..pc + 1);
        context.section = Some(frame.frames.section.name().into());
    })
}

/// Compares a column at a pc, in all contents and lanes that it depends on.
fn compare_column<'o>(
    meanings: &mut Meanings<'_, '_, 'o>,
    frame: FrameEntry<'_, 'o>,
    pc: u64,
    column: Column,
    combines: bool,
) -> Result<Option<Obstacle>, Box<CheckFinding>> {
    let mut unproven = None;
    let mut is_proven = false;
    let lanes = witness::lanes(&meanings.module.target);
    let asked = Asked::default();
    for witness in witnesses(&lanes, pc, Some(frame.part.start), &asked, || combines.then(Rc::default)) {
        let (expected, found) = match compare_column_at(meanings, frame, witness, column, &asked) {
            Ok(None) => {
                meanings.report.locations += 1;
                is_proven = true;
                continue;
            }
            Ok(Some(Obstacle::OutOfBounds)) => continue,
            Ok(obstacle @ Some(Obstacle::Undescribed)) => {
                unproven = unproven.or(obstacle);
                continue;
            }
            Ok(obstacle) => {
                unproven = obstacle;
                continue;
            }
            Err(difference) => difference,
        };
        let site = at_column(meanings, frame, pc, column);
        let lane = (meanings.module.target.lanes() > 1 && asked.lane.get()).then_some(witness.lane);
        let finding =
            CheckFinding { kind: FindingKind::Frame, at: site, lane, expected, found, trace: Vec::new() };
        return Err(finding.into());
    }
    Ok(unproven.or((!is_proven).then_some(Obstacle::OutOfBounds)))
}

/// Compares a column at a witness. Returns the obstacle to the comparison, if there is one.
///
/// # Errors
/// Expected and found, if they differ.
fn compare_column_at<'o>(
    meanings: &Meanings<'_, '_, 'o>,
    frame: FrameEntry<'_, 'o>,
    witness: Witness,
    column: Column,
    asked: &Asked,
) -> Result<Option<Obstacle>, (String, String)> {
    let module = meanings.module;
    let symbol = |name: &str| Some(meanings.described.object.symbol(name)?.address);
    let contents = model_contents(meanings, witness, &symbol, asked);
    let expected = match module.denote_frame(frame.function, witness.pc, column, &contents) {
        Ok(spans) => {
            asked.add_result(spans.iter());
            Ok(spans.iter().map(|span| encoded_span(meanings, span)).collect::<Vec<_>>())
        }
        Err(NoMeaning::Raw) => return Ok(Some(Obstacle::Raw)),
        Err(why) => Err(why),
    };
    let rule = module.frame_rule(frame.function, column, witness.pc);
    let subject = Subject::Rule(frame.function, column);
    let is_omitted =
        // An omitted rule leaves the column undefined, which is not a difference.
        rule.is_some_and(|rule| meanings.described.omitted.of_frames.contains(&(subject, rule.pcs().start)));
    let machine = whole_machine(meanings, witness, asked);
    let sections = core::slice::from_ref(frame.frames);
    let stack = CallStack::new(&machine, sections, &module.target).with_known_rows(frame.rows);
    let actual = stack.innermost().and_then(|frame| match column {
        Column::Cfa => frame.cfa(),
        Column::Register(reg) => frame.saved(reg),
    });
    let bits = module.ruled_bits(column, rule).unwrap_or(0);
    let order = module.target.byte_order();
    let actual = match actual {
        Ok(actual) => eval::spans(&actual, bits.into(), order)
            .map(|spans| frame_spans(meanings, spans, witness))
            .map_err(|fault| fault_text(meanings, &fault)),
        Err(fault) => Err(fault.to_string()),
    };
    let expected = match expected {
        Err(why) if why.is_outside() => {
            let has_place = actual.is_ok_and(|actual| !super::places::is_nowhere(&actual));
            // The model has no meaning outside the storage; what the object has there is neither right nor wrong.
            let is_left = matches!(why, NoMeaning::OutOfBounds(_));
            return Ok(Some(if is_left && has_place {
                Obstacle::Undescribed
            } else {
                Obstacle::OutOfBounds
            }));
        }
        expected => expected.map_err(|why| why.to_string()),
    };
    match (expected, actual) {
        // A location that is unreadable in the model must be unreadable in the object.
        (Err(_), Err(_)) => Ok(None),
        (Ok(expected), Ok(actual)) if eval::are_equal(&expected, &actual, order) => Ok(None),
        (_, Ok(actual)) if is_omitted && super::places::is_nowhere(&actual) => Ok(None),
        (expected, actual) => {
            let text = |spans: Result<Vec<eval::Span>, String>| {
                spans.map_or_else(|why| why, |spans| show_spans(meanings, &spans))
            };
            Err((text(expected), text(actual)))
        }
    }
}
