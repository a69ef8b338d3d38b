//! The pcs of a wave's lanes, at every witness and for all lanes: the model's pcs compared with the evaluator's.

use core::ops::Range;

use hashbrown::HashMap;

use super::asked::Asked;
use super::describe;
use super::expressions::report_unproven;
use super::list::List;
use super::machine;
use super::meanings::Meanings;
use super::places::{is_nowhere, list_bounds, machine_at, model_contents};
use super::report::{CheckFinding, FindingKind, Obstacle};
use super::witness::{Fill, Patch, Pcs, Stopped, Tried};
use super::witnesses::Witness;
use crate::error::Count;
use crate::eval::{self, BaseType, Body, Context, Evaluator, Fault, LocationListEntry, TypeEncoding};
use crate::model::{FunctionId, LocId, Mask, Module, NoMeaning, ScopeId};
use crate::op::Reg;
use crate::read::{Entry, ResolvedValue};

/// Index of the innermost mask that a lane is in: 0 for the active lanes, then the regions from the inside out; the
/// mask count, or more, for no mask.
type Outcome = usize;

/// Limit for nested regions that are compared. A region's procedure calls the enclosing region's procedure, and each
/// call takes stack.
const MAX_NESTED: usize = 64;

/// Those of an attribute's entries that apply at a pc; an expression is one entry without bounds.
type DescribedLocation<'o> = Vec<LocationListEntry<'o>>;

/// Entries that apply, and the attribute's value.
type Attribute<'s, 'o> = (&'s DescribedLocation<'o>, Option<ResolvedValue<'o>>);

/// A function's or inlined call's code, with its entry.
#[derive(Clone, Copy)]
struct Code<'a, 'o> {
    scope: ScopeId,
    function: FunctionId,
    entry: Entry<'a, 'o>,
    /// The function's address.
    start: u64,
}

/// Pcs at which the described lanes of functions change, sorted. Inlined calls in a function share them.
#[derive(Default)]
pub(super) struct LaneBounds(HashMap<FunctionId, Vec<u64>>);

impl LaneBounds {
    fn of_function(&mut self, module: &Module, function: FunctionId) -> &[u64] {
        self.0.entry(function).or_insert_with(|| {
            let ends = |mask: &Mask| [mask.pcs().start, mask.pcs().end];
            let mut bounds: Vec<u64> = Vec::new();
            for &region in module.regions_of(function) {
                bounds.extend(module.masks(region).iter().flat_map(ends));
            }
            bounds.extend(module.whole_waves(function).iter().flat_map(|whole_wave| ends(&whole_wave.mask)));
            bounds.sort_unstable();
            bounds.dedup();
            bounds
        })
    }
}

/// Stopped wave.
#[derive(Clone)]
struct Wave {
    pc: u64,
    fill: Fill,
    patch: Patch,
}

/// Each lane's pc in bytes from the function's start, or 1 for each active lane; or the reason why that is unknown.
type Standing = Result<Vec<Option<u64>>, String>;

/// Compares the lane pcs in a function or inlined call.
pub(super) fn compare_lanes<'a, 'o>(
    meanings: &mut Meanings<'_, 'a, 'o>,
    known_bounds: &mut LaneBounds,
    scope: ScopeId,
    entry: Entry<'a, 'o>,
) {
    let module = meanings.module;
    let Some(function) = module.function_of(scope) else { return };
    let site = module.at_scope(scope);
    let is_described = module.describes_lanes(function);
    let code = Code { scope, function, entry, start: meanings.described.address(function).unwrap_or(0) };
    let mut ranges = module.ranges(scope).to_vec();
    ranges.sort_unstable_by_key(|range| range.start);
    let bounds = lane_bounds(meanings, known_bounds.of_function(module, function), &ranges, code);
    let is_here = |pcs: &Range<u64>| ranges.is_empty() || meets(&ranges, pcs);
    let whole_waves = module.whole_waves(function);
    let has_whole_wave = is_described
        && match ranges[..] {
            [] => !whole_waves.is_empty(),
            _ => ranges.iter().any(|range| {
                let before =
                    whole_waves.partition_point(|whole_wave| whole_wave.mask.pcs().start < range.end);
                before > 0 && range.start < whole_waves[before - 1].mask.pcs().end
            }),
        };
    for (attribute, is_wanted, is_active) in [
        (meanings.described.consumer.attributes.lane_pc, is_described, false),
        (meanings.described.consumer.attributes.active_lane, has_whole_wave, true),
    ] {
        // The consumer does not know the attribute.
        let Some(attribute) = attribute else { continue };
        if !is_wanted {
            let name = describe::of_location(attribute);
            meanings.report.expect_equal(&site, &name, &false, &entry.attr(attribute).is_some());
            continue;
        }
        let list = match entry.locations(attribute) {
            Ok(list) => List::new(list.unwrap_or_default().into_iter().map(Into::into).collect()),
            Err(error) => {
                meanings.report.unreadable(meanings.described.object, &error, site.clone());
                continue;
            }
        };
        let listed_bounds = list.entries.iter().filter_map(|entry| entry.bounds);
        let listed_bounds =
            listed_bounds.flat_map(|(first, end)| [first, end]).map(|bound| bound.wrapping_sub(code.start));
        check_lane_ranges(meanings, code, &listed_bounds.collect::<Vec<_>>());
        let mut unproven = None;
        let asked = Asked::default();
        let mut pcs = Pcs::new(bounds.iter().copied(), 0..module.function(function).bytes);
        while let Some(Tried { pc, .. }) = pcs.next() {
            if !is_here(&(pc..pc + 1)) {
                continue;
            }
            // Deeper calls could exhaust the stack: unproven, not wrong.
            if module.regions_at(scope, pc).nth(MAX_NESTED).is_some() {
                unproven = unproven.or(Some((Obstacle::Depth, pc)));
                continue;
            }
            let entries: DescribedLocation<'o> =
                list.applicable(code.start.wrapping_add(pc)).cloned().collect();
            let attribute = (&entries, entry.attr(attribute));
            match compare_lanes_at(meanings, code, pc, attribute, is_active, &asked) {
                Ok(obstacle) => unproven = unproven.or(obstacle.map(|obstacle| (obstacle, pc))),
                Err(finding) => meanings.report.findings.push(*finding),
            }
            pcs.follow(&asked, |entry| list_bounds(meanings, entry, code.start));
        }
        for entry in pcs.into_entries() {
            check_lane_ranges(meanings, code, &list_bounds(meanings, entry, code.start));
        }
        if let Some((obstacle, pc)) = unproven {
            let site = site.clone().with(|context| context.pcs = Some(pc..pc + 1));
            report_unproven(meanings, Some(obstacle), describe::of_location(attribute).into(), &site);
        }
    }
}

/// Returns the pcs at which the model or an attribute changes. `described` has those of the function's model, `ranges`
/// the scope's own code, sorted; an inlined call's lanes are compared within it.
fn lane_bounds<'a, 'o>(
    meanings: &Meanings<'_, 'a, 'o>,
    described: &[u64],
    ranges: &[Range<u64>],
    Code { entry, start, .. }: Code<'a, 'o>,
) -> Vec<u64> {
    let mut bounds: Vec<u64> = Vec::new();
    if ranges.is_empty() {
        bounds.extend_from_slice(described);
    }
    for range in ranges {
        crate::work::step();
        let first = described.partition_point(|&bound| bound < range.start);
        let inside = described[first..].iter().take_while(|&&bound| bound <= range.end);
        bounds.extend(inside.inspect(|_| crate::work::step()));
        bounds.extend([range.start, range.end]);
    }
    for attribute in
        [meanings.described.consumer.attributes.lane_pc, meanings.described.consumer.attributes.active_lane]
            .into_iter()
            .flatten()
    {
        let list = entry.locations(attribute).ok().flatten().unwrap_or_default();
        let listed = list.into_iter().map(LocationListEntry::from).filter_map(|entry| entry.bounds);
        bounds.extend(listed.flat_map(|(first, end)| [first, end]).map(|bound| bound.wrapping_sub(start)));
    }
    bounds
}

/// Reports ranges that are empty, reversed, or outside the function, which contain no witness. `bounds` are pairs of
/// start and end, in bytes from the function's start.
fn check_lane_ranges<'a, 'o>(meanings: &mut Meanings<'_, 'a, 'o>, code: Code<'a, 'o>, bounds: &[u64]) {
    let size = meanings.module.function(code.function).bytes;
    for range in bounds.chunks_exact(2) {
        let first = range[0];
        let end = range[1];
        if first >= end || end > size {
            let site = meanings.module.at_scope(code.scope);
            meanings.report.find(
                FindingKind::Range,
                site,
                format!("a range in 0x0..{size:#x}"),
                format!("{first:#x}..{end:#x}"),
            );
        }
    }
}

/// Compares all lanes at a pc. Returns the obstacle to the comparison, or the first finding.
fn compare_lanes_at<'a, 'o>(
    meanings: &mut Meanings<'_, 'a, 'o>,
    code: Code<'a, 'o>,
    pc: u64,
    list: Attribute<'_, 'o>,
    is_active: bool,
    asked: &Asked,
) -> Result<Option<Obstacle>, Box<CheckFinding>> {
    let mut unproven = None;
    let mut is_proven = false;
    let (entries, value) = list;
    // Several locations for one wave would be alternatives; the attribute has one.
    if let (Some(ResolvedValue::LocList(_)), [_, _, ..]) = (value, &entries[..]) {
        let site = meanings.module.at_scope(code.scope).with(|context| context.pcs = Some(pc..pc + 1));
        let actual = format!("{} of the list", Count(entries.len(), "entry"));
        let expected = "one location (3.3.5)".into();
        let trace = Vec::new();
        return Err(CheckFinding {
            kind: FindingKind::Evaluation,
            at: site,
            lane: None,
            expected,
            found: actual,
            trace,
        }
        .into());
    }
    // An omission leaves out the attribute or the entry: an expression that is there must be right.
    let is_there =
        value.is_some() && (!matches!(value, Some(ResolvedValue::LocList(_))) || !entries.is_empty());
    let is_omitted = !is_there && are_lanes_omitted(meanings, code.scope, pc, is_active);
    for wave in waves(meanings, code, pc) {
        let expected = described_lanes(meanings, code, &wave, is_active);
        let actual = encoded_lanes(meanings, code, &wave, list, is_active, asked);
        let (expected, actual) = match (expected, actual) {
            // What the description cannot read is in the object all the same, unless it is omitted.
            (Err(why), Err(text))
                if !is_there && !is_omitted && why != NoMeaning::Raw && !why.is_outside() =>
            {
                (Ok(Vec::new()), Err(text))
            }
            // A location that is unreadable in the model must be unreadable in the object.
            (Err(NoMeaning::Unreadable(_)), Err(_)) => {
                is_proven = true;
                continue;
            }
            (Err(NoMeaning::Raw), _) => {
                unproven = Some(Obstacle::Raw);
                continue;
            }
            (Err(NoMeaning::OutOfBounds(_)), Ok(_)) if is_there => {
                unproven = unproven.or(Some(Obstacle::Undescribed));
                continue;
            }
            (Err(why), _) if why.is_outside() => continue,
            // Nothing is there, as the omission says, also where the description cannot be read.
            _ if is_omitted => {
                is_proven = true;
                continue;
            }
            (expected, actual) => (expected.map_err(|why| why.to_string()), actual),
        };
        meanings.report.locations += 1;
        is_proven = true;
        if let Some(finding) = lane_difference(meanings, code, pc, expected, actual) {
            return Err(finding.into());
        }
    }
    Ok(unproven.or((!is_proven).then_some(Obstacle::OutOfBounds)))
}

/// Returns a finding for the first lane with another pc.
fn lane_difference<'a, 'o>(
    meanings: &Meanings<'_, 'a, 'o>,
    code: Code<'a, 'o>,
    pc: u64,
    expected: Standing,
    found: Standing,
) -> Option<CheckFinding> {
    let module = meanings.module;
    let region = module.regions_at(code.scope, pc).next().map(|region| module.region_text(region));
    let site = module.at_scope(code.scope).with(|context| {
        context.region = region;
        context.pcs = Some(pc..pc + 1);
    });
    let finding = |kind, lane, expected, found| CheckFinding {
        kind,
        at: site.clone(),
        lane,
        expected,
        found,
        trace: Vec::new(),
    };
    match (expected, found) {
        (Ok(expected), Ok(found)) => {
            // The first lane is enough: a wrong stride moves all lanes after it.
            let lane = (0..expected.len()).find(|&lane| expected.get(lane) != found.get(lane))?;
            let text = |standing: &[Option<u64>]| match standing.get(lane).copied().flatten() {
                Some(pc) => format!("{pc:#x}"),
                None => "nowhere".into(),
            };
            Some(finding(FindingKind::Location, Some(lane as u32), text(&expected), text(&found)))
        }
        (Ok(_), Err(why)) => {
            Some(finding(FindingKind::Evaluation, None, "where each lane stands".into(), why))
        }
        (Err(why), Ok(_)) => Some(finding(FindingKind::Location, None, why, "where each lane stands".into())),
        (Err(_), Err(_)) => None,
    }
}

/// Returns whether an attribute for the lanes of a scope is omitted at a pc.
fn are_lanes_omitted(meanings: &Meanings<'_, '_, '_>, scope: ScopeId, pc: u64, is_active: bool) -> bool {
    let omitted = meanings.described.omitted;
    let of_scope = if is_active { &omitted.of_active_lanes } else { &omitted.of_lane_pcs };
    of_scope.get(&scope).is_some_and(|ranges| ranges.meet(&(pc..pc + 1)))
}

/// Returns the waves to try at a pc: all machine contents; and masks that put lanes in turn into each region, into
/// the active lanes and into no mask; that alternate; and that make one lane active while another lane waits.
fn waves<'a, 'o>(meanings: &Meanings<'_, 'a, 'o>, code: Code<'a, 'o>, pc: u64) -> Vec<Wave> {
    let module = meanings.module;
    let mask_at = |masks: &[Mask]| {
        let before = &masks[..masks.partition_point(|mask| mask.pcs().start <= pc)];
        before.last().filter(|mask| mask.pcs().contains(&pc)).map(|mask| mask.loc)
    };
    let active = module.whole_wave_at(code.function, pc).map(|whole_wave| whole_wave.mask.loc);
    let masks: Vec<Option<LocId>> = core::iter::once(active)
        .chain(module.regions_at(code.scope, pc).map(|region| mask_at(module.masks(region))))
        .collect();
    let lanes = module.target.lanes() as usize;
    let outcomes = masks.len() + 1;
    let rotated = |shift: usize| move |lane: usize, _: usize| (lane + shift) % outcomes;
    let mut patterns: Vec<Box<dyn Fn(usize, usize) -> Outcome>> = Vec::new();
    for by in (0..outcomes).step_by(lanes) {
        patterns.push(Box::new(rotated(by)));
    }
    // Alternating masks, which are not nested as a program's masks are.
    patterns.push(Box::new(|lane, mask| if (lane + mask) % 2 == 0 { mask } else { usize::MAX }));
    patterns.push(Box::new(move |lane, mask| match lane {
        0 => 0,
        _ if lane + 1 == lanes => mask.max(1),
        _ => usize::MAX,
    }));
    let mut waves: Vec<Wave> =
        Fill::ALL.into_iter().map(|fill| stopped_wave(meanings, code, pc, fill)).collect();
    for pattern in patterns {
        let mut wave = stopped_wave(meanings, code, pc, Fill::Spelled);
        // Outermost first: where two masks share a location, the inner mask counts.
        for (index, mask) in masks.iter().enumerate().rev() {
            let has = |&lane: &usize| pattern(lane, index) <= index;
            let number = (0..lanes).filter(has).fold(0u64, |mask, lane| mask | 1 << lane);
            put_mask(meanings, code, &mut wave, *mask, number);
        }
        // A mask can share bits with the pc, which then counts.
        put_pc(meanings, code, &mut wave);
        waves.push(wave);
    }
    waves
}

/// Address at which the function's first instruction is loaded.
fn loaded_start<'a, 'o>(meanings: &Meanings<'_, 'a, 'o>, code: Code<'a, 'o>) -> u64 {
    code.start.wrapping_add(meanings.load_bias)
}

/// Returns a wave that is stopped at a pc.
fn stopped_wave<'a, 'o>(meanings: &Meanings<'_, 'a, 'o>, code: Code<'a, 'o>, pc: u64, fill: Fill) -> Wave {
    let mut wave = Wave { pc, fill, patch: Patch::default() };
    put_pc(meanings, code, &mut wave);
    wave
}

/// Writes the address at which a wave is stopped into its pc register, so that the register and the pc that the
/// machine reports agree.
fn put_pc<'a, 'o>(meanings: &Meanings<'_, 'a, 'o>, code: Code<'a, 'o>, wave: &mut Wave) {
    if let Some(reg) = meanings.module.target.pc() {
        let address = loaded_start(meanings, code).wrapping_add(wave.pc);
        wave.patch.store(wave.fill, meanings.module.target.byte_order(), &[whole(reg, 64)], address);
    }
}

/// Writes a number into a mask's location, or into EXEC for a mask without a location.
fn put_mask<'a, 'o>(
    meanings: &Meanings<'_, 'a, 'o>,
    code: Code<'a, 'o>,
    wave: &mut Wave,
    mask: Option<LocId>,
    number: u64,
) {
    let module = meanings.module;
    let lanes = module.target.lanes();
    let spans = match (mask, module.target.exec()) {
        (Some(loc), _) => {
            let bits = u64::from(lanes);
            with_contents(meanings, code, wave, |contents| {
                module.denote(Some(code.function), loc, bits, contents).unwrap_or_default()
            })
        }
        (None, Some(exec)) => vec![whole(exec, lanes.into())],
        (None, None) => Vec::new(),
    };
    // Bits that share storage with an earlier mask are overwritten, as in a program.
    wave.patch.store(wave.fill, module.target.byte_order(), &spans, number);
}

fn with_contents<'a, 'o, T>(
    meanings: &Meanings<'_, 'a, 'o>,
    code: Code<'a, 'o>,
    wave: &Wave,
    then: impl FnOnce(&Stopped<'_>) -> T,
) -> T {
    let asked = Asked::default();
    let symbol = |name: &str| Some(meanings.described.object.symbol(name)?.address);
    let witness = Witness { pc: wave.pc, start: Some(code.start), lane: 0, fill: wave.fill };
    let contents = model_contents(meanings, witness, &symbol, &asked);
    then(&Stopped { lane: None, patch: Some(&wave.patch), ..contents })
}

/// Returns each lane's described pc, or 1 for each active lane.
fn described_lanes<'a, 'o>(
    meanings: &Meanings<'_, 'a, 'o>,
    code: Code<'a, 'o>,
    wave: &Wave,
    is_active: bool,
) -> Result<Vec<Option<u64>>, NoMeaning> {
    let module = meanings.module;
    with_contents(meanings, code, wave, |contents| {
        if is_active {
            let mask = module.active_lanes(code.scope, wave.pc, contents)?;
            Ok(flags(mask, module.target.lanes()))
        } else {
            module.lane_pcs(code.scope, wave.pc, contents)
        }
    })
}

/// Returns each lane's pc in the object, or 1 for each active lane.
fn encoded_lanes<'a, 'o>(
    meanings: &Meanings<'_, 'a, 'o>,
    code: Code<'a, 'o>,
    wave: &Wave,
    (list, value): Attribute<'_, 'o>,
    is_active: bool,
    asked: &Asked,
) -> Standing {
    let Some(value) = value else { return Err("no attribute".into()) };
    let body = match value {
        ResolvedValue::Expr(expr) => Body::Expression(expr),
        _ => Body::List(list),
    };
    let target = &meanings.module.target;
    let unit = code.entry.unit();
    let context = Context::in_unit(unit, target);
    let witness = Witness { pc: wave.pc, start: Some(code.start), lane: 0, fill: wave.fill };
    let machine = machine_at(meanings, code.entry, witness, asked);
    // The machine has no current lane, as the attribute describes all lanes at once.
    let machine = machine::Stopped { lane: None, patch: Some(&wave.patch), ..machine };
    // Each region's procedure calls the procedure of the region around it. The list calls the first procedure. The
    // last procedure calls a mask that moves, whose location may contain calls, too.
    let mut limits = eval::Limits::default();
    limits.depth += MAX_NESTED as u32;
    let mut evaluator = Evaluator::new().all_places().with_limits(limits);
    let text = |fault: Fault| fault.to_string();
    if is_active {
        let mask = evaluator.active_lanes(body, &machine, &context).map_err(text)?;
        let mask = mask.as_u64().ok_or("no mask")?;
        return Ok(flags(mask, target.lanes()));
    }
    let located = evaluator.lane_pcs(body, &machine, &context).map_err(text)?;
    // The vector's elements are generic values, as wide as an address.
    let bits = u32::from(target.address_bytes()) * 8;
    let ty = BaseType::new(TypeEncoding::Unsigned, bits);
    let start = loaded_start(meanings, code);
    let element = |lane: u32| {
        let place = located.clone().moved(i128::from(lane) * i128::from(bits))?;
        // A lane that is in no mask has an undefined pc.
        if is_nowhere(&eval::spans(&place, bits.into(), target.byte_order())?) {
            return Ok(None);
        }
        let pc = evaluator.read(&place, ty, &machine, &context)?;
        Ok(pc.as_u64().map(|pc| pc.wrapping_sub(start)))
    };
    (0..target.lanes()).map(element).collect::<Result<_, Fault>>().map_err(text)
}

/// Returns whether pcs overlap any of the ranges, which are sorted.
fn meets(ranges: &[Range<u64>], pcs: &Range<u64>) -> bool {
    let before = &ranges[..ranges.partition_point(|range| range.start < pcs.end)];
    before.last().is_some_and(|last| pcs.start < last.end)
}

/// Span with a register's first bits.
fn whole(reg: Reg, bits: u64) -> crate::model::StorageSpan {
    crate::model::StorageSpan { storage: crate::model::DescribedStorage::Register(reg), from: 0, bits }
}

/// Returns 1 for each lane in a mask.
fn flags(mask: u64, lanes: u32) -> Vec<Option<u64>> {
    (0..lanes).map(|lane| (mask >> lane & 1 == 1).then_some(1)).collect()
}
