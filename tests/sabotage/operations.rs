//! Operations replaced by every other operation of the same length, beyond single-bit changes.

use std::collections::{BTreeMap, BTreeSet};

use eitri::emit::Section;
use eitri::lower::Consumer;
use eitri::model::Module;
use eitri::op::{Decoder, Encoding, Op};
use eitri::read::{CfaRule, Dwarf, FrameSection, Object, ReadOptions, RegisterRule};

use crate::sabotage::patched::is_found;
use crate::sabotage::patches::Patches;
use crate::sabotage::{object, sections};

/// Operation: section, offset, bytes, and the following bytes of its expression.
pub struct Operation {
    pub section: usize,
    pub at: usize,
    pub bytes: Vec<u8>,
    rest: Vec<u8>,
    encoding: Encoding,
}

/// Operations of all expressions. An operation that recurs in an expression is listed once.
pub fn operations(truth: &Module, consumer: &Consumer, all: &[Section]) -> Vec<Operation> {
    let bytes = object(truth, all);
    let object = Object::read(&bytes).unwrap();
    let dwarf = Dwarf::read_with(
        &object,
        &ReadOptions::new().dialect(consumer.expressions.dialect).draft(consumer.expressions.draft),
    )
    .unwrap();
    // Expressions are slices of the sections.
    let place = |expr: &[u8]| {
        let at = expr.as_ptr() as usize;
        let inside = |section: &&eitri::read::ElfSection<'_>| {
            let start = section.data.as_ptr() as usize;
            (start..start + section.data.len()).contains(&at)
        };
        let section = object.sections().iter().find(inside)?;
        let index = all.iter().position(|one| one.name == section.name)?;
        Some((index, at - section.data.as_ptr() as usize))
    };
    let mut exprs: Vec<(&[u8], Encoding)> = Vec::new();
    for entry in dwarf.entries() {
        for attribute in entry.attributes() {
            let places = entry.locations(attribute.name).unwrap().unwrap_or_default();
            exprs.extend(places.iter().map(|one| (one.expr, entry.unit().encoding)));
        }
    }
    let frames = dwarf.frames(FrameSection::Debug).unwrap();
    for fde in &frames.fdes {
        let encoding = frames.cie(fde).encoding;
        let mut rows = frames.rows(fde);
        while let Some(row) = rows.next_row().unwrap() {
            exprs.extend(match row.cfa {
                CfaRule::Expression(expr) => Some((expr, encoding)),
                _ => None,
            });
            exprs.extend(row.rules.iter().filter_map(|(_, rule)| match rule {
                RegisterRule::Expression(expr) | RegisterRule::ValExpression(expr) => Some((*expr, encoding)),
                _ => None,
            }));
        }
    }
    let mut known = BTreeSet::new();
    let mut found = Vec::new();
    while let Some((expr, encoding)) = exprs.pop() {
        let Some((section, start)) = place(expr).filter(|_| known.insert(expr)) else { continue };
        let decoded: Vec<_> = Decoder::new(expr, encoding).map(Result::unwrap).collect();
        for (index, one) in decoded.iter().enumerate() {
            let end = decoded.get(index + 1).map_or(expr.len(), |next| next.offset);
            if let Op::EntryValue { expr } = one.op {
                exprs.push((expr, encoding));
            }
            let bytes = expr[one.offset..end].to_vec();
            let rest = expr[end..].to_vec();
            found.push(Operation { section, at: start + one.offset, bytes, rest, encoding });
        }
    }
    found
}

/// The first operation and its length, if all bytes can be decoded.
fn first(bytes: &[u8], encoding: Encoding) -> Option<(Op<'_>, usize)> {
    let decoded: Result<Vec<_>, _> = Decoder::new(bytes, encoding).collect();
    let decoded = decoded.ok()?;
    Some((decoded.first()?.op, decoded.get(1).map_or(bytes.len(), |next| next.offset)))
}

/// Encodings of every other operation of the same length with the same operand bytes.
fn others(operation: &Operation) -> Vec<Vec<u8>> {
    let Operation { bytes, rest, encoding, .. } = operation;
    let own = first(&[&bytes[..], rest].concat(), *encoding).map(|(op, _)| format!("{op:?}"));
    let mut all = Vec::new();
    for code in 0..=255 {
        let mut other = bytes.clone();
        other[0] = code;
        all.push(other.clone());
        // Vendor operations have their number in a second byte.
        if code == 0xe9 && bytes.len() > 1 {
            all.extend((0..0x10).map(|sub| [&[0xe9, sub], &other[2..]].concat()));
        }
    }
    all.retain(|other| {
        let expr = [&other[..], rest].concat();
        let decoded = first(&expr, *encoding);
        decoded.is_some_and(|(op, length)| length == bytes.len() && Some(format!("{op:?}")) != own)
    });
    all.sort();
    all.dedup();
    all
}

/// Returns the reason if another operation has the same meaning.
fn same(own: Op<'_>, other: Op<'_>, next: Option<Op<'_>>, is_frame: bool) -> Option<&'static str> {
    let constant = |op: &Op<'_>| match *op {
        Op::ConstU { value } => Some(i128::from(value)),
        Op::ConstS { value } => Some(i128::from(value)),
        _ => None,
    };
    match (own, other) {
        _ if constant(&own).is_some() && constant(&own) == constant(&other) => {
            Some("2.5.1.1: a constant, with a sign or without")
        }
        (Op::Swap {}, Op::Pick { index: 1 }) => {
            Some("2.5.1: the result is the top of the stack, whatever is below")
        }
        (Op::PlusUconst { value }, Op::OffsetUconst { bytes })
            if value == bytes && next == Some(Op::StackValue {}) =>
        {
            Some(
                "A.2.5.4.4.3: an address is a location where one is required, and that the address where a value is",
            )
        }
        // The frame has no rule for the register.
        (Op::RegX { reg }, Op::CallFrameEntryReg { reg: other })
        | (Op::CallFrameEntryReg { reg }, Op::RegX { reg: other })
            if is_frame && reg == other =>
        {
            Some("6.4.1: a register without a rule is where it was, so that it is what the caller had in it")
        }
        _ => None,
    }
}

fn all_operations_matter(truth: &Module, consumer: &Consumer) {
    let clean = Patches { sections: sections(truth, consumer) };
    let mut patches = clean.clone();
    let mut count = 0;
    let mut missed = Vec::new();
    let mut equal = BTreeMap::<&str, usize>::new();
    for operation in operations(truth, consumer, &clean.sections) {
        let Operation { section, at, bytes, rest, encoding } = &operation;
        let range = *at..at + bytes.len();
        for other in others(&operation) {
            patches.sections[*section].bytes[range.clone()].copy_from_slice(&other);
            count += 1;
            if is_found(truth, consumer, &patches) {
                continue;
            }
            let own = [&bytes[..], rest].concat();
            let changed = [&other[..], rest].concat();
            let [own, changed] = [&own, &changed].map(|expr| first(expr, *encoding).unwrap().0);
            let name = clean.sections[*section].name;
            let next = first(rest, *encoding).map(|(op, _)| op);
            match same(own, changed, next, name == ".debug_frame") {
                Some(why) => *equal.entry(why).or_default() += 1,
                None => missed.push(format!(
                    "{} {name} {at:#x}: {own:?} as {changed:?}, before {rest:02x?}",
                    consumer.name
                )),
            }
        }
        patches.sections[*section].bytes[range].copy_from_slice(bytes);
    }
    assert!(missed.is_empty(), "{} of {count} missed:\n{}", missed.len(), missed.join("\n"));
    println!("{}: {count} operations replaced, and all found but these: {equal:#?}", consumer.name);
}

#[test]
fn changed_operations_are_found() {
    all_operations_matter(&crate::sabotage::patched::truth(), &crate::sabotage::patched::fixed());
    all_operations_matter(&crate::sabotage::scopes::truth(), &Consumer::dwarf5());
}

#[test]
fn changed_frame_operations_are_found() {
    for consumer in crate::sabotage::waves::consumers() {
        all_operations_matter(&crate::sabotage::waves::frames(), &consumer);
    }
}

#[test]
fn changed_lane_operations_are_found() {
    for consumer in crate::sabotage::waves::consumers() {
        all_operations_matter(&crate::sabotage::waves::lanes(&consumer), &consumer);
    }
}
