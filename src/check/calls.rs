//! Calls and their arguments: DWARF 5 section 3.4, and GNU's entries before DWARF 5.

use gimli::constants as dw;

use super::asked::Asked;
use super::describe::Describe as _;
use super::expressions::{
    DescribedLocation, Difference, compare_attribute, report_unproven, same_expression,
};
use super::extra::report_unexpected;
use super::meanings::Meanings;
use super::report::FindingKind;
use super::tree::{Compared, Entity};
use super::values::compare_value;
use crate::model::{Argument, CallId, LocId};
use crate::omission::{Property, Subject};
use crate::read::Entry;

/// Compares a call's expressions and arguments.
pub(super) fn compare_call<'a, 'o>(meanings: &mut Meanings<'_, 'a, 'o>, id: CallId, entry: Entry<'a, 'o>) {
    let words = meanings.described.calls();
    let module = meanings.module;
    let call = module.call(id);
    let site = meanings.described.site(Entity::Call(id));
    let Some(function) = module.function_of(call.scope) else { return };
    // The expressions are the caller's, so that they hold at the call.
    let pc = call.pc.or(call.return_pc).unwrap_or(0);
    let described = |loc, is_number| DescribedLocation { function: Some(function), pc, loc, is_number };
    let is_omitted = |subject, property| meanings.described.omitted.count(subject, property) > 0;
    for (property, name, loc) in [
        (Property::Target, words.target, call.target),
        (Property::ClobberedTarget, words.clobbered, call.clobbered_target),
    ] {
        let Some(loc) = loc else { continue };
        // An omission permits a missing attribute, not a wrong one.
        if entry.attr(name).is_some() || !is_omitted(Subject::Call(id), property) {
            compare_attribute(meanings, described(loc, true), entry, name, &site);
        }
    }
    let mut entries = entry.children().peekable();
    let arguments = (0..).zip(module.arguments(id));
    for (index, argument) in
        // Entries have no number, so that an omitted argument leaves no gap.
        arguments.filter(|&(index, _)| !is_omitted(Subject::Argument(id, index), Property::Entity))
    {
        let difference = match entries.peek() {
            Some(&one) => compare_argument(meanings, (index, argument), one, &described, id).err(),
            None => Some((FindingKind::MissingEntry, "an argument of a call".into(), "none".into())),
        };
        match difference {
            None => {}
            Some((kind, expected, text)) => meanings.report.find(kind, site.clone(), expected, text),
        }
        entries.next();
    }
    for child in entries {
        report_unexpected(meanings.report, meanings.described, child, site.clone());
    }
}

/// Compares an argument.
///
/// # Errors
/// The first difference.
fn compare_argument<'a, 'o>(
    meanings: &mut Meanings<'_, 'a, 'o>,
    (index, argument): (u32, &Argument),
    entry: Entry<'a, 'o>,
    described: &dyn Fn(LocId, bool) -> DescribedLocation,
    call: CallId,
) -> Result<(), Difference> {
    let site = &meanings.described.site(Entity::Call(call));
    let unit = meanings.described.unit_of(Entity::Call(call));
    let words = meanings.described.calls();
    let mut compared = Compared::default();
    compared.compare(
        meanings.file.reader(meanings.described, unit),
        &meanings.described.argument(index, argument),
        entry,
    );
    // The parameter's entry is matched by now, so that its reference can be compared at once.
    let Compared { differences, references, numbers, unexpected, .. } = compared;
    let references = references.into_iter();
    let references =
        references.filter_map(|reference| meanings.known.differs(meanings.file.dwarf, reference));
    if let Some((kind, (expected, found))) = differences.into_iter().chain(references).next() {
        return Err((kind, expected, found));
    }
    if let Some(child) = unexpected.first() {
        return Err((FindingKind::Extra, "no more in an argument".into(), child.describe()));
    }
    meanings.report.entries += 1;
    let locations = [
        (Some(dw::DW_AT_location), argument.location, false),
        (Some(words.value), argument.value, true),
        (Some(dw::DW_AT_call_data_location), argument.data_location, false),
        (Some(words.data_value), argument.data_value, true),
    ];
    let mut unproven = Vec::new();
    for (name, loc, is_number) in locations {
        let Some((name, loc)) = name.zip(loc) else { continue };
        unproven.push((
            same_expression(meanings, described(loc, is_number), entry, name, &Asked::default())?,
            name,
        ));
    }
    for (number, entry) in numbers {
        compare_value(meanings, number, entry, Entity::Call(call));
    }
    for (obstacle, name) in unproven {
        report_unproven(meanings, obstacle, format!("{} of an argument", name.describe()), site);
    }
    Ok(())
}
