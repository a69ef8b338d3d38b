//! Names the function or the consumer for an object that was written for something else: otherwise each entry would be a
//! finding, and none would say why.

use std::collections::BTreeSet;

use gimli::{DwAt, constants as dw};

use super::report::{CheckReport, FindingKind};
use crate::consumer::Consumer;
use crate::error::At;
use crate::model::Module;
use crate::read::Dwarf;

/// Vendor attributes whose numbers differ between consumers.
const NUMBERED: core::ops::RangeInclusive<u16> = 0x3e08..=0x3e12;

/// Adds a finding in front of the others, if the object has skeletons of split units, or the attributes of another consumer.
pub(super) fn name_likely(report: &mut CheckReport, module: &Module, consumer: &Consumer, dwarf: &Dwarf<'_>) {
    if report.is_clean() {
        return;
    }
    let mut other = CheckReport::default();
    if let Some(skeleton) = dwarf.units().iter().find(|unit| unit.kind == dw::DW_UT_skeleton) {
        let file = skeleton.dwo_name.as_deref().unwrap_or("another file");
        let text = format!(
            "a skeleton, whose entries are in {file}: `check_split` (`eitri check --split-dwarf`) compares both files"
        );
        let at = At::new(|context| context.unit = skeleton.name.as_deref().map(Into::into));
        other.find(FindingKind::MissingEntry, at, "a unit with its entries", text);
    } else if let Some((text, likely)) = likely_consumers(module, consumer, dwarf) {
        let expected = format!("an object for {}", consumer.name);
        other.find(
            FindingKind::Attribute,
            At::default(),
            expected,
            format!("{text}, as for `{}`", likely.join("` or `")),
        );
    }
    report.findings.splice(0..0, other.findings);
}

/// Returns what the object has instead of the consumer's attributes, and the names of the consumers whose objects have it.
fn likely_consumers(
    module: &Module,
    consumer: &Consumer,
    dwarf: &Dwarf<'_>,
) -> Option<(String, Vec<&'static str>)> {
    let names = dwarf.entries().flat_map(|entry| entry.names().collect::<Vec<_>>());
    let found: BTreeSet<u16> =
        names.map(|DwAt(number)| number).filter(|number| NUMBERED.contains(number)).collect();
    let of = |consumer: &Consumer| {
        let numbers = &consumer.attributes;
        let all = [
            numbers.address_space,
            numbers.memory_space,
            numbers.lanes,
            numbers.lane_pc,
            numbers.active_lane,
        ];
        all.into_iter().flatten().map(|DwAt(number)| number).collect::<BTreeSet<_>>()
    };
    let own = of(consumer);
    if let Some(first) = found.iter().find(|number| !own.contains(*number)) {
        let fits = |name: &&str| Consumer::named(name).is_ok_and(|other| found.is_subset(&of(&other)));
        let likely: Vec<_> = Consumer::NAMES.into_iter().filter(fits).collect();
        return (!likely.is_empty()).then(|| (format!("attribute {first:#x}"), likely));
    }
    // An object for a standard reader has no lanes, which are described for each function with code.
    let has_lanes = consumer.attributes.lanes.is_some_and(|DwAt(number)| found.contains(&number));
    let is_code = |function: &crate::model::Function| function.address.is_some();
    if has_lanes
        || consumer.attributes.lanes.is_none()
        || module.target().lanes() == 1
        || !module.functions().any(|(_, function)| is_code(function))
    {
        return None;
    }
    let version = dwarf.units().first()?.encoding.version;
    let named = |name: &&str| {
        Consumer::named(name).is_ok_and(|other| {
            other.version == version
                && other.attributes.lanes.is_none()
                && !other.has_line_directives
                && !other.expressions.has_register_map
        })
    };
    let likely: Vec<_> = Consumer::NAMES.into_iter().filter(named).collect();
    (!likely.is_empty()).then(|| ("no number of lanes".into(), likely))
}
