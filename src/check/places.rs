//! A variable's bits at one witness, from the model and from the object, in the same form.

use std::borrow::Cow;

use super::asked::Asked;
use super::home_spans::in_homes;
use super::machine;
use super::meanings::Meanings;
use super::witness::Stopped;
use super::witnesses::Witness;
use crate::eval::{self, Context, ImplicitBits, ImplicitPointer, Location, SingleLocation};
use crate::model::{DescribedStorage, FunctionId, LocId, NoMeaning, StorageSpan, VariableId};
use crate::op::{Encoder, text};
use crate::read::{Attribute, Entry, ResolvedValue};
use crate::target::{ByteOrder, Per, Space, SpaceId, Target};

/// Variable with its entry.
#[derive(Clone, Copy)]
pub(super) struct Place<'a, 'o> {
    pub(super) id: VariableId,
    pub(super) entry: Entry<'a, 'o>,
    pub(super) function: Option<FunctionId>,
    /// How many bits to compare.
    pub(super) bits: u64,
}

/// A location's bits.
pub(super) type Spans = Vec<eval::Span>;

/// Text for spans.
pub(super) fn show_spans(meanings: &Meanings<'_, '_, '_>, spans: &[eval::Span]) -> String {
    show(spans, meanings.module.target())
}

/// Text for a fault, with the target's register names.
pub(super) fn fault_text(meanings: &Meanings<'_, '_, '_>, fault: &eval::Fault) -> String {
    fault.in_names(meanings.module.target()).to_string()
}

/// An entry's `DW_AT_const_value` as bytes, in memory order.
pub(super) fn const_value<'a, 'o>(
    meanings: &Meanings<'_, 'a, 'o>,
    entry: Entry<'a, 'o>,
) -> Option<Cow<'o, [u8]>> {
    let named = |attribute: &Attribute<'_>| attribute.name == gimli::DW_AT_const_value;
    let attribute = entry.attributes().find(named)?;
    let size = match attribute.form {
        gimli::DW_FORM_data1 => 1,
        gimli::DW_FORM_data2 => 2,
        gimli::DW_FORM_data4 => 4,
        _ => 8,
    };
    match attribute.value {
        ResolvedValue::Block(bytes) => Some(bytes.into()),
        // The form's bytes are the value's, most significant first.
        ResolvedValue::Unsigned(value) if meanings.module.target.is_big_endian() => {
            Some(value.to_be_bytes()[8 - size..].to_vec().into())
        }
        ResolvedValue::Unsigned(value) => Some(value.to_le_bytes().to_vec().into()),
        _ => None,
    }
}

/// Returns the described spans for each of the variable's locations.
pub(super) fn variable_spans<'a, 'o>(
    meanings: &Meanings<'_, 'a, 'o>,
    place: Place<'a, 'o>,
    witness: Witness,
    asked: &Asked,
) -> Vec<Result<Spans, NoMeaning>> {
    let module = meanings.module;
    let symbol = |name: &str| Some(meanings.described.object.symbol(name)?.address);
    let contents = model_contents(meanings, witness, &symbol, asked);
    let denoted = described_locations(meanings, place.id, witness.pc)
        .map(|loc| module.denote(place.function, loc, place.bits, &contents));
    let denoted: Vec<_> = denoted.collect();
    if denoted.iter().all(Result::is_ok) {
        asked.add_result(denoted.iter().flatten().flatten());
    }
    let encoded = |spans: Vec<StorageSpan>| spans.iter().map(|span| encoded_span(meanings, span)).collect();
    denoted.into_iter().map(|spans| spans.map(encoded)).collect()
}

/// Returns a variable's described locations at a pc.
pub(super) fn described_locations<'a, 'o>(
    meanings: &Meanings<'_, 'a, 'o>,
    id: VariableId,
    pc: u64,
) -> impl Iterator<Item = LocId> + use<'a, 'o> {
    let module = meanings.module;
    // Ranges are sorted: only the last ranges with a start at or before the pc, which share a start, can contain
    // the pc.
    let live = module.live(id);
    let before = &live[..live.partition_point(|live| live.pcs().start <= pc)];
    let here = before.iter().rev().take_while(move |live| live.pcs().contains(&pc));
    module.always(id).into_iter().chain(here.map(|live| live.loc))
}

/// Stopped program for the model's own meaning.
pub(super) fn model_contents<'s>(
    meanings: &'s Meanings<'_, '_, '_>,
    witness: Witness,
    symbol: &'s dyn Fn(&str) -> Option<u64>,
    asked: &'s Asked,
) -> Stopped<'s> {
    let lane = (meanings.module.target.lanes() > 1).then_some(witness.lane);
    let target = &meanings.module.target;
    let load_bias = meanings.load_bias;
    Stopped { target, fill: witness.fill, lane, symbol, load_bias, asked, patch: None }
}

/// Stopped program for the evaluator, at an entry.
pub(super) fn machine_at<'a, 'o, 's>(
    meanings: &'s Meanings<'_, 'a, 'o>,
    entry: Entry<'a, 'o>,
    witness: Witness,
    asked: &'s Asked,
) -> machine::Stopped<'s, 'o> {
    let lanes = lane_count(meanings, entry, witness.start.is_some());
    machine::Stopped { lanes, ..whole_machine(meanings, witness, asked) }
}

/// Stopped program for the evaluator, with all of the target's lanes.
pub(super) fn whole_machine<'o, 's>(
    meanings: &'s Meanings<'_, '_, 'o>,
    witness: Witness,
    asked: &'s Asked,
) -> machine::Stopped<'s, 'o> {
    let target = &meanings.module.target;
    machine::Stopped {
        target,
        info: &meanings.file.info,
        references: &meanings.file.references,
        fill: witness.fill,
        lane: (target.lanes() > 1).then_some(witness.lane),
        lanes: target.lanes().into(),
        pc: witness.start.map(|start| start.wrapping_add(witness.pc)),
        load_bias: meanings.load_bias,
        asked,
        patch: None,
        homes: Some(&meanings.file.homes).filter(|homes| !homes.is_empty()),
    }
}

/// Converts a model span to an evaluator span.
pub(super) fn encoded_span(meanings: &Meanings<'_, '_, '_>, span: &StorageSpan) -> eval::Span {
    span_of(&meanings.module.target, span, |variable| variable_entry(meanings, variable))
}

/// Offset of the entry with a variable's location.
fn variable_entry(meanings: &Meanings<'_, '_, '_>, variable: VariableId) -> Option<u64> {
    meanings.known.variable(meanings.file.dwarf, variable)
}

/// Returns the spans at the object's location; `Err(None)` without a location.
pub(super) fn encoded_spans<'a, 'o>(
    meanings: &Meanings<'_, 'a, 'o>,
    place: Place<'a, 'o>,
    witness: Witness,
    asked: &Asked,
    trace: Option<&mut Vec<String>>,
) -> Result<Spans, Option<eval::Fault>> {
    let located =
        evaluate_location(meanings, &mut meanings.evaluator.borrow_mut(), place, witness, asked, trace);
    let machine = whole_machine(meanings, witness, asked);
    located.map(|spans| {
        in_homes(spans_in_variable_space(meanings, spans, place.entry, witness), &machine, asked)
    })
}

/// Replaces memory by memory in the variable's space, for a consumer with an attribute for it.
fn spans_in_variable_space<'a, 'o>(
    meanings: &Meanings<'_, 'a, 'o>,
    mut spans: Spans,
    entry: Entry<'a, 'o>,
    witness: Witness,
) -> Spans {
    if meanings.described.consumer.attributes.variable_space.is_some() {
        let class = variable_space(meanings, entry);
        for place in spans.iter_mut().flat_map(|span| &mut span.places) {
            in_variable_space(place, class, witness.lane);
        }
    }
    spans
}

/// Replaces memory by the thread's memory, for a consumer whose frames do not name their space.
pub(super) fn frame_spans(meanings: &Meanings<'_, '_, '_>, mut spans: Spans, witness: Witness) -> Spans {
    if meanings.described.consumer.expressions.has_register_map {
        let space = meanings.module.target.space(SpaceId::PRIVATE_LANE);
        for place in spans.iter_mut().flat_map(|span| &mut span.places) {
            in_variable_space(place, space, witness.lane);
        }
    }
    spans
}

/// Returns the space for a variable's memory locations, if its entry names a known space.
fn variable_space<'a, 'o>(meanings: &Meanings<'_, 'a, 'o>, entry: Entry<'a, 'o>) -> Option<&'a Space> {
    let class = entry.number(meanings.described.consumer.attributes.variable_space?)?;
    meanings.module.target.space_of_class(class)
}

/// Returns whether a location in the object has exactly these bits.
pub(super) fn is_at_location<'a, 'o>(
    meanings: &Meanings<'_, 'a, 'o>,
    found: &Location,
    expected: &[StorageSpan],
    Place { entry, bits, .. }: Place<'a, 'o>,
    witness: Witness,
    asked: &Asked,
) -> bool {
    let order = meanings.module.target.byte_order();
    if meanings.described.consumer.attributes.variable_space.is_some() || order == ByteOrder::Big {
        let expected: Spans = expected.iter().map(|span| encoded_span(meanings, span)).collect();
        let machine = whole_machine(meanings, witness, asked);
        return eval::spans(found, bits.into(), order).is_ok_and(|actual| {
            let actual = spans_in_variable_space(meanings, actual, entry, witness);
            eval::are_equal(&expected, &in_homes(actual, &machine, asked), order)
        });
    }
    let target = &meanings.module.target;
    let place = |span: &StorageSpan| single(target, span, |variable| variable_entry(meanings, variable));
    let mut rest = expected;
    let mut used = 0;
    // Walks both sides in step: the evaluator's parts and the model's spans need not end at the same bits.
    let mut is_next = |storage: &eval::Storage, mut from: u128, mut bits: u128| {
        while bits > 0 {
            let Some((span, others)) = rest.split_first() else { return false };
            let here = bits.min(u128::from(span.bits) - used);
            let expected = place(span).unwrap_or_else(nowhere);
            if !is_same(&expected, used, storage, from, here) {
                return false;
            }
            (from, bits, used) = (from + here, bits - here, used + here);
            if used == span.bits.into() {
                (rest, used) = (others, 0);
            }
        }
        true
    };
    eval::all_parts(found, 0, bits.into(), &mut is_next) && rest.is_empty()
}

fn evaluate_location<'a, 'o>(
    meanings: &Meanings<'_, 'a, 'o>,
    evaluator: &mut eval::Evaluator,
    Place { entry, bits, .. }: Place<'a, 'o>,
    witness: Witness,
    asked: &Asked,
    trace: Option<&mut Vec<String>>,
) -> Result<Spans, Option<eval::Fault>> {
    let target = &meanings.module.target;
    let unit = entry.unit();
    let machine = machine_at(meanings, entry, witness, asked);
    let context = Context::in_unit(unit, target);
    let location = match entry.attr(gimli::DW_AT_location) {
        Some(ResolvedValue::Expr(expr)) => match trace {
            None => evaluator.location(expr, &machine, &context).map_err(Some)?,
            Some(trace) => {
                let mut step = |step: eval::Step<'_>| trace.push(step_text(&step, &context, target));
                match evaluator.traced(expr, &machine, &context, &mut step).map_err(Some)? {
                    eval::Element::Location(location) => location,
                    eval::Element::Value(_) => return Err(None),
                }
            }
        },
        Some(ResolvedValue::LocList(_)) => {
            let list = meanings.file.list(entry).ok_or(None)?;
            let entries: Vec<_> = match machine.pc {
                Some(pc) => list.applicable(pc).collect(),
                None => list.entries.iter().collect(),
            };
            let entries = entries.iter().copied();
            match trace {
                None if machine.pc.is_some() => {
                    let exprs = entries.clone().map(|entry| &*entry.expr);
                    together(evaluator, exprs, &machine, &context)
                        // The reported fault is the whole list's.
                        .or_else(|_| evaluator.list(entries, &machine, &context))
                        .map_err(Some)?
                }
                None => evaluator.list(entries, &machine, &context).map_err(Some)?,
                Some(trace) => {
                    let mut step = |step: eval::Step<'_>| trace.push(step_text(&step, &context, target));
                    evaluator.list_traced(entries, &machine, &context, &mut step).map_err(Some)?
                }
            }
        }
        Some(_) => return Err(None),
        None if !entry.has(gimli::DW_AT_const_value) => return Ok(merged(&[], bits, target.byte_order())),
        None => Location::implicit(&const_value(meanings, entry).ok_or(None)?),
    };
    eval::spans(&location, bits.into(), target.byte_order()).map_err(Some)
}

/// Lane count of the function around an entry. A consumer without the attribute knows the target's lanes.
pub(super) fn lane_count<'a, 'o>(
    meanings: &Meanings<'_, 'a, 'o>,
    entry: Entry<'a, 'o>,
    is_in_function: bool,
) -> u64 {
    let lanes = u64::from(meanings.module.target.lanes());
    let Some(attribute) = meanings.described.consumer.attributes.lanes.filter(|_| is_in_function) else {
        return lanes;
    };
    let mut known = meanings.file.lanes.borrow_mut();
    let mut next = Some(entry);
    let mut below = Vec::new();
    let count = loop {
        crate::work::step();
        let Some(scope) = next else { break None };
        if let Some(&count) = known.get(&scope.offset()) {
            break count;
        }
        // A variable is around no other entry.
        below.extend((scope != entry).then(|| scope.offset()));
        if scope.tag() == gimli::DW_TAG_subprogram {
            break scope.number(attribute);
        }
        next = scope.parent();
    };
    known.extend(below.into_iter().map(|offset| (offset, count)));
    count.unwrap_or(1)
}

/// Replaces memory by memory in the variable's space, whatever space the expression selected, as a debugger does;
/// memory for a variable without a space is nowhere.
fn in_variable_space(place: &mut SingleLocation, class: Option<&Space>, lane: u32) {
    if !matches!(place.storage, eval::Storage::Memory { .. }) {
        return;
    }
    *place = match class {
        None => nowhere(),
        Some(space) => {
            let lane = (space.per == Per::Lane).then_some(lane);
            let storage = eval::Storage::Memory { space: space.id, address_bits: space.address_bits, lane };
            SingleLocation { storage, offset: place.offset % (8 << space.address_bits.min(64)) }
        }
    };
}

/// Evaluates those location list entries that apply at the program location (A.2.5.5), already selected: unlike
/// evaluating a whole list, this does not read the pc, so that the result can hold at other pcs.
fn together<'e>(
    evaluator: &mut eval::Evaluator,
    exprs: impl Iterator<Item = &'e [u8]>,
    machine: &dyn eval::Machine,
    context: &Context<'_>,
) -> Result<Location, eval::Fault> {
    let mut combined: Option<Location> = None;
    for expr in exprs {
        let location = evaluator.location(expr, machine, context)?;
        combined = Some(match combined {
            Some(others) => others.and(location),
            None => location,
        });
    }
    Ok(combined.unwrap_or_else(Location::undefined))
}

/// Converts a model span to an evaluator span. `entry` returns the offset of a variable's entry.
pub(super) fn span_of(
    target: &Target,
    span: &StorageSpan,
    entry: impl Fn(VariableId) -> Option<u64>,
) -> eval::Span {
    let place = single(target, span, entry).unwrap_or_else(nowhere);
    eval::Span { bits: span.bits.into(), places: vec![place] }
}

fn single(
    target: &Target,
    span: &StorageSpan,
    entry: impl Fn(VariableId) -> Option<u64>,
) -> Option<SingleLocation> {
    let storage = match &span.storage {
        DescribedStorage::Register(reg) => {
            eval::Storage::Register { reg: *reg, frame: 0, bits: target.register(*reg)?.bits }
        }
        DescribedStorage::Memory(space, lane) => eval::Storage::Memory {
            space: *space,
            address_bits: target.space(*space)?.address_bits,
            lane: *lane,
        },
        DescribedStorage::Implicit(bytes) => eval::Storage::Implicit(ImplicitBits::new(bytes, span.bits)),
        DescribedStorage::Pointer(variable, by) => eval::Storage::ImplicitPointer(ImplicitPointer {
            // Offset 0 is a unit header, never an entry.
            entry: entry(*variable).unwrap_or(0),
            by: *by,
            space: SpaceId::DEFAULT,
            bits: u32::from(target.address_bytes()) * 8,
        }),
        DescribedStorage::Undefined => return None,
    };
    Some(SingleLocation { storage, offset: span.from })
}

/// Merges the spans of several simultaneous locations; undefined without any.
pub(super) fn merged(places: &[Spans], bits: u64, order: ByteOrder) -> Spans {
    match places {
        [] => return vec![eval::Span { bits: bits.into(), places: vec![nowhere()] }],
        [one] => return one.clone(),
        _ => {}
    }
    // Where any location begins a new span, the merged list does, too.
    let mut cuts: Vec<u128> = Vec::new();
    for spans in places {
        let mut end = 0;
        cuts.extend(spans.iter().map(|span| {
            end += span.bits;
            end
        }));
    }
    cuts.sort_unstable();
    cuts.dedup();
    let mut from = 0;
    let mut spans = Vec::new();
    for end in cuts {
        let mut here: Vec<_> =
            places.iter().filter_map(|spans| slice(spans, from, end - from, order)).collect();
        // In a fixed order, so that equal sets of locations compare equal.
        here.sort_unstable();
        here.dedup();
        spans.push(eval::Span { bits: end - from, places: here });
        from = end;
    }
    spans
}

/// Location of bits within a span, if the span has a single location.
fn slice(spans: &[eval::Span], mut from: u128, bits: u128, order: ByteOrder) -> Option<SingleLocation> {
    for span in spans {
        if from >= span.bits {
            from -= span.bits;
            continue;
        }
        let place = span.places.first()?;
        return Some(eval::span_part(span, place, from, bits, order));
    }
    None
}

/// Returns whether a location's bits from `skip` on are a storage's bits from `from` on. Known bits are compared by
/// value.
fn is_same(place: &SingleLocation, skip: u128, storage: &eval::Storage, from: u128, bits: u128) -> bool {
    match (&place.storage, storage) {
        (eval::Storage::Undefined, eval::Storage::Undefined) => true,
        (eval::Storage::Implicit(left), eval::Storage::Implicit(right)) => {
            let left = left.bytes();
            let right = right.bytes();
            let first = (place.offset + skip) as usize;
            let from = from as usize;
            (0..bits as usize).step_by(8).all(|bit| {
                // The last byte can be partial.
                let more = u8::MAX >> (8 - (bits as usize - bit).min(8));
                (byte_at(left, first + bit) ^ byte_at(right, from + bit)) & more == 0
            })
        }
        (left, right) => left == right && place.offset + skip == from,
    }
}

/// Returns 8 bits from a bit on.
fn byte_at(bytes: &[u8], bit: usize) -> u8 {
    let byte = |index: usize| bytes.get(index).copied().unwrap_or(0);
    (u16::from_le_bytes([byte(bit / 8), byte(bit / 8 + 1)]) >> (bit % 8)) as u8
}

fn nowhere() -> SingleLocation {
    SingleLocation { storage: eval::Storage::Undefined, offset: 0 }
}

/// Returns whether all bits are undefined.
pub(super) fn is_nowhere(spans: &[eval::Span]) -> bool {
    spans.iter().all(|span| span.places.iter().all(|place| place.storage == eval::Storage::Undefined))
}

/// Text for an evaluation step: the operation, and the stack after it.
fn step_text(step: &eval::Step<'_>, context: &Context<'_>, target: &Target) -> String {
    let mut bytes = Vec::new();
    Encoder::new(&mut bytes, context.encoding).op(step.op);
    // Longer composites are cut.
    const MOST: usize = 200;
    let named = |element: &eval::Element| match element {
        eval::Element::Location(location) => location.in_names(target).to_string(),
        eval::Element::Value(value) => value.to_string(),
    };
    let stack = step.stack.iter().map(|element| match named(element) {
        text if text.len() <= MOST => text,
        text => text.chars().take(MOST).chain("…".chars()).collect(),
    });
    let stack: Vec<String> = stack.collect();
    let op = text::print(&bytes, context.encoding, Some(target));
    format!("{:#04x} {op} -> {}", step.offset, stack.join(", "))
}

/// Text for spans, with the target's names for registers and spaces.
pub(super) fn show(spans: &[eval::Span], target: &Target) -> String {
    let places = |span: &eval::Span| {
        let place = |place: &eval::SingleLocation| Location::from(place.clone()).in_names(target).to_string();
        let places: Vec<String> = span.places.iter().map(place).collect();
        places.join(" | ")
    };
    match spans {
        [] => "nothing".into(),
        [span] => places(span),
        _ => {
            let parts: Vec<String> =
                spans.iter().map(|span| format!("{}/{}", places(span), span.bits)).collect();
            format!("[{}]", parts.join(", "))
        }
    }
}

/// Bounds in an entry's location list, in bytes from the function's start.
pub(super) fn list_bounds(meanings: &Meanings<'_, '_, '_>, entry: u64, start: u64) -> Vec<u64> {
    let list = meanings.file.dwarf.entry_at(entry).and_then(|entry| meanings.file.list(entry));
    list.iter().flat_map(|list| list.bounds_from(start)).collect()
}
