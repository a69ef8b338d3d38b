//! Frame rules in words.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use super::block::Strings;
use super::kind::{LocationKind, LocationText};
use super::place::{Entry, PlaceId, Places};
use crate::lint::RuleWording;
use eitri_dwarf::op::Reg;
use eitri_dwarf::read::{Fde, FrameRow, Frames, RegisterRule};
use eitri_dwarf::target::Target;

/// Limit on saved registers that a rule lists.
const MOST: usize = 8;

/// Frame rows that were read, by section and offset of the entry: an entry can have the code of many functions.
pub(super) type FrameRows = HashMap<(&'static str, u64), Vec<Rule>>;

/// A frame row in words.
#[derive(Debug)]
pub(super) struct Rule {
    pcs: Range<u64>,
    place: PlaceId,
}

/// Returns the frame rows in a function that differ from the row before.
pub(super) fn rows(
    frames: &[Frames<'_>],
    (start, size): (u64, u32),
    target: Option<&Target>,
    places: &mut Places,
    strings: &mut Strings,
    known: &mut FrameRows,
) -> Rc<[Entry]> {
    let entry = frames.iter().find_map(|section| section.fde_at(start).map(|fde| (section, fde)));
    let Some((frames, fde)) = entry else { return Rc::default() };
    let rows = known.entry((frames.section.name(), fde.offset));
    let rows = rows.or_insert_with(|| read(frames, fde, target, places, strings));
    let end = start.saturating_add(size.into());
    let first = rows.partition_point(|rule| rule.pcs.end <= start);
    let rows = rows[first..].iter().take_while(|rule| rule.pcs.start < end);
    let offset = |pc: u64| pc.clamp(start, end) - start;
    let entry = |rule: &Rule| Entry {
        start: offset(rule.pcs.start) as u32,
        end: offset(rule.pcs.end) as u32,
        place: rule.place,
    };
    rows.map(entry).collect()
}

fn read(
    frames: &Frames<'_>,
    fde: &Fde<'_>,
    target: Option<&Target>,
    places: &mut Places,
    strings: &mut Strings,
) -> Vec<Rule> {
    let mut rules: Vec<Rule> = Vec::new();
    let return_register = frames.cie(fde).return_register;
    let mut rows = frames.rows(fde);
    let encoding = rows.encoding();
    let names = RuleWording { target, encoding };
    while let Ok(Some(row)) = rows.next_row() {
        eitri_dwarf::work::step();
        let place = places.plain(&described(&names, row, return_register), "", strings);
        match rules.last_mut() {
            Some(last) if last.place == place && last.pcs.end == row.start => last.pcs.end = row.end,
            _ => rules.push(Rule { pcs: row.start..row.end, place }),
        }
    }
    rules
}

/// Describes a row: the rules of the canonical frame address, of the return address, and of registers that are saved.
fn described(names: &RuleWording<'_>, row: &FrameRow<'_>, return_register: Reg) -> LocationText {
    let cfa = names.cfa(row.cfa);
    let mut meaning = format!("canonical frame address: {cfa}");
    let rule = row.rule(return_register);
    meaning += &format!("\nreturn address: {}", rule.map_or("no rule".into(), |rule| names.rule(rule)));
    let is_saved =
        |rule: &RegisterRule<'_>| !matches!(rule, RegisterRule::Undefined | RegisterRule::SameValue);
    let mut saved = row.rules.iter().filter(|(reg, rule)| *reg != return_register && is_saved(rule));
    for (reg, rule) in saved.by_ref().take(MOST) {
        meaning += &format!("\n{}: {}", names.register(*reg), names.rule(*rule));
    }
    let more = saved.count();
    if more > 0 {
        meaning += &format!("\n… and {more} more");
    }
    LocationText::new(LocationKind::Rule, cfa, meaning)
}
