//! The promise: every description can be lowered for every consumer, and gimli can read the result.

use crate::common;
use crate::common::consumers;
use crate::common::random;

use std::collections::{BTreeMap, BTreeSet};

use common::Slice;
use consumers::{combinations, consumers, named, varied};
use eitri::lower::{Consumer, Lowered, Policy, lower};
use eitri::model::{LineTableRow, Module, Region, ScopeKind, TypeKind};
use eitri::omission::Reason;
use eitri::op::{Decoder, Encoding};
use eitri::target::Target;
use gimli::{AttributeValue, DebuggingInformationEntry, Dwarf, Unit};
use proptest::prelude::*;
use random::{Choices, choices, fixed_choices, module, targets};

/// Distance of symbols, more than the length of any function.
const APART: u64 = 0x1_0000;

/// An address for a symbol, from the number in its name.
fn address(symbol: &str) -> u64 {
    let digits = symbol.trim_start_matches(|char: char| !char.is_ascii_digit());
    APART * (1 + digits.parse::<u64>().unwrap_or(0))
}

/// Contents found by the reader.
#[derive(Default)]
struct Found {
    /// Pc ranges of each variable's locations, relative to the function.
    live: BTreeMap<String, Vec<(u64, u64)>>,
    /// Number of entries with a single location.
    expressions: usize,
    /// Number of list entries for positions of lanes, or for masks.
    of_lanes: usize,
}

/// Reads all contents.
fn walk(module: &Module, lowered: &Lowered, consumer: &Consumer) -> Result<Found, gimli::Error> {
    let target = module.target();
    let encoding = consumer.encoding(target.address_bytes()).with_big_endian(target.is_big_endian());
    let linked = common::link(&lowered.sections, target, address);
    let dwarf = common::reader(&linked);
    let mut found = Found::default();
    let mut headers = dwarf.units();
    let mut count = 0;
    while let Some(header) = headers.next()? {
        count += 1;
        let unit = dwarf.unit(header)?;
        let mut entries = unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            walk_entry(&dwarf, &unit, entry, encoding, &mut found)?;
        }
        if let Some(program) = unit.line_program.clone() {
            let header = program.header().clone();
            for file in header.file_names() {
                dwarf.attr_string(&unit, file.path_name())?;
                // Before DWARF 5, the first directory is that of the unit, which may have none.
                match file.directory(&header) {
                    Some(directory) => drop(dwarf.attr_string(&unit, directory)?),
                    None => assert!(header.version() < 5 && file.directory_index() == 0),
                }
            }
            let mut rows = program.rows();
            while rows.next_row()?.is_some() {}
        }
    }
    assert_eq!(count, module.units().count());
    Ok(found)
}

fn walk_entry<'a>(
    dwarf: &Dwarf<Slice<'a>>,
    unit: &Unit<Slice<'a>>,
    entry: &DebuggingInformationEntry<Slice<'a>>,
    encoding: Encoding,
    found: &mut Found,
) -> Result<(), gimli::Error> {
    for attribute in entry.attrs() {
        match attribute.value() {
            AttributeValue::Exprloc(expression) => {
                decodes(expression.0.slice(), encoding);
                found.expressions += 1;
            }
            AttributeValue::UnitRef(offset) => drop(unit.entry(offset)?),
            AttributeValue::LocationListsRef(_) | AttributeValue::DebugLocListsIndex(_) => {
                let mut locations = dwarf.attr_locations(unit, attribute.value())?.expect("a list");
                let is_variable =
                    matches!(entry.tag(), gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter);
                while let Some(location) = locations.next()? {
                    decodes(location.data.0.slice(), encoding);
                    // The others are positions of lanes.
                    if !is_variable {
                        found.of_lanes += 1;
                        continue;
                    }
                    let name = name(dwarf, unit, entry)?.expect("a variable with places by pc has a name");
                    let begin = location.range.begin % APART;
                    let end = location.range.end % APART;
                    found.live.entry(name).or_default().push((begin, end));
                }
            }
            AttributeValue::DebugStrRef(_)
            | AttributeValue::DebugLineStrRef(_)
            | AttributeValue::DebugStrOffsetsIndex(_) => drop(dwarf.attr_string(unit, attribute.value())?),
            AttributeValue::DebugInfoRef(offset) => {
                let offset = offset.to_unit_offset(&unit.header).expect("an entry of this unit");
                drop(unit.entry(offset)?);
            }
            AttributeValue::DebugAddrIndex(_) => {
                dwarf.attr_address(unit, attribute.value())?.expect("an address");
            }
            _ => {}
        }
    }
    let mut ranges = dwarf.die_ranges(unit, entry)?;
    while let Some(range) = ranges.next()? {
        assert!(range.begin < range.end);
    }
    Ok(())
}

fn name<'a>(
    dwarf: &Dwarf<Slice<'a>>,
    unit: &Unit<Slice<'a>>,
    entry: &DebuggingInformationEntry<Slice<'a>>,
) -> Result<Option<String>, gimli::Error> {
    if let Some(AttributeValue::UnitRef(origin)) = entry.attr_value(gimli::DW_AT_abstract_origin) {
        return name(dwarf, unit, &unit.entry(origin)?);
    }
    let Some(text) = entry.attr_value(gimli::DW_AT_name) else { return Ok(None) };
    Ok(Some(dwarf.attr_string(unit, text)?.to_string_lossy().into_owned()))
}

fn decodes(bytes: &[u8], encoding: Encoding) {
    for operation in Decoder::new(bytes, encoding) {
        operation.unwrap_or_else(|error| panic!("{error} in {bytes:02x?}"));
    }
}

/// The pc ranges that a reader should find.
fn expected(module: &Module, lowered: &Lowered) -> BTreeMap<String, Vec<(u64, u64)>> {
    let mut all = BTreeMap::<String, Vec<(u64, u64)>>::new();
    // The definition of a static member has its name there, and a single location.
    for (id, variable) in module.variables().filter(|(_, variable)| variable.specification.is_none()) {
        let name = module.string(variable.name.expect("they all have one"));
        let mut pcs: Vec<_> = module.live(id).iter().map(|live| (live.pcs().start, live.pcs().end)).collect();
        for left_out in lowered.omissions.iter().filter(|left_out| left_out.variable() == Some(id)) {
            let Some(out) = &left_out.pcs else { continue };
            let at = pcs.iter().position(|&pcs| pcs == (out.start, out.end)).expect("was left out of these");
            pcs.remove(at);
        }
        let function = module.function_of(variable.scope).map(|function| module.function(function));
        // A single location for the whole function is not a list.
        let is_list = module.live(id).len() > 1
            || function.is_none_or(|function| pcs.first().is_some_and(|&pcs| pcs != (0, function.bytes)));
        if is_list && !pcs.is_empty() {
            all.insert(name.to_owned(), pcs);
        }
    }
    all
}

/// Line table of each function, as read by gimli.
fn rows(lowered: &Lowered, target: &Target) -> Result<BTreeMap<u64, Vec<gimli::LineRow>>, gimli::Error> {
    let linked = common::link(&lowered.sections, target, address);
    let dwarf = common::reader(&linked);
    let mut all = BTreeMap::<u64, Vec<gimli::LineRow>>::new();
    let mut headers = dwarf.units();
    while let Some(header) = headers.next()? {
        let Some(program) = dwarf.unit(header)?.line_program else { continue };
        let (program, sequences) = program.sequences()?;
        for sequence in sequences {
            let mut rows = program.resume_from(&sequence);
            let found = all.entry(sequence.start / APART).or_default();
            while let Some((_, row)) = rows.next_row()? {
                found.push(*row);
            }
        }
    }
    Ok(all)
}

/// Kinds of types, and of components in composed types.
const KINDS: &str =
    "Array Base Composite Enum Fixed Pack Pointer Qualified Range Template Typedef Value Variable Vector";

/// The random modules contain every kind of node, lists with several places, and expressions: otherwise the properties
/// would not cover them.
#[test]
fn the_modules_have_everything() {
    let mut nodes = BTreeSet::new();
    let mut kinds = BTreeSet::new();
    let mut of_types = 0;
    let mut lists = 0;
    let mut expressions = 0;
    let mut left_out = 0;
    let mut of_lanes = 0;
    let mut whole_waves = 0;
    let mut of_inlined = 0;
    for seed in 0..400 {
        let target = &targets()[seed as usize % 6];
        let module = module(&fixed_choices(seed, 600), target);
        for (_, ty) in module.types() {
            let text = match ty.kind() {
                TypeKind::Composite(composite) => {
                    let parts = composite.variant_parts.iter().map(|&part| module.variant_part(part));
                    format!("Composite({composite:?}) {:?}", parts.collect::<Vec<_>>())
                }
                kind => format!("{kind:?}"),
            };
            for word in KINDS.split_whitespace().filter(|word| text.contains(&format!("{word}("))) {
                kinds.insert(word);
            }
            kinds.extend(
                text.split(['(', ' ']).next().and_then(|kind| KINDS.split(' ').find(|one| *one == kind)),
            );
        }
        let live = module.variables().flat_map(|(id, _)| module.live(id).iter().map(|live| live.loc));
        let always = module.variables().filter_map(|(id, _)| module.always(id));
        for loc in live.chain(always) {
            let debug = module.nodes(loc).map(|node| format!("{node:?}"));
            nodes.extend(debug.map(|text| text.split(['(', ' ']).next().unwrap_or_default().to_owned()));
        }
        let lowered = lower(&module, &Consumer::llvm(), Policy::Partial).expect("is written");
        let found = walk(&module, &lowered, &Consumer::llvm()).expect("gimli reads it");
        lists += found.live.values().filter(|pcs| pcs.len() > 1).count();
        expressions += found.expressions;
        of_lanes += found.of_lanes;
        whole_waves += module.functions().map(|(id, _)| module.whole_waves(id).len()).sum::<usize>();
        let is_inlined =
            |region: &Region| matches!(module.scope(region.scope).kind, ScopeKind::Inlined { .. });
        of_inlined += module.regions().filter(|(_, region)| is_inlined(region)).count();
        left_out += lowered.omissions.len();
        of_types += lowered.omissions.iter().filter(|one| one.variable().is_none()).count();
    }
    let all = "Add Address And BitOffset BitOffsetBy Call Cfa Const Expr Extend Implicit Lane LaneIndex Memory Mul \
               Neg Not Offset OffsetBy Or Overlay Part Parts PerLane Plus PointerTo Read ReadRegister \
               Register Select Shl Shr Shra StackAddress Sub Undefined Value Xor";
    assert_eq!(nodes.into_iter().collect::<Vec<_>>().join(" "), all);
    assert_eq!(kinds.into_iter().collect::<Vec<_>>().join(" "), KINDS);
    assert!(of_types > 5, "{of_types}");
    assert!(of_lanes > 100 && whole_waves > 20 && of_inlined > 5, "{of_lanes} {whole_waves} {of_inlined}");
    assert!(lists > 200 && expressions > 400 && left_out > 20, "{lists} {expressions} {left_out}");
}

/// Deterministic coverage: each consumer in each version and format, with modules for each target.
#[test]
fn every_combination_is_read() {
    for (seed, target) in (0..12).zip(targets().iter().cycle()) {
        let module = module(&fixed_choices(seed, 600), target);
        for consumer in combinations() {
            let lowered = lower(&module, &consumer, Policy::Partial).expect("is written");
            let found = walk(&module, &lowered, &consumer);
            let found = found.unwrap_or_else(|error| panic!("{error}: {}", named(&consumer)));
            assert_eq!(found.live, expected(&module, &lowered), "{}", named(&consumer));
        }
    }
}

proptest! {
    #![proptest_config(common::cases::config(256))]

    #[test]
    fn every_module_is_written_and_read(choices in choices(600), target in 0..6usize, vary in choices(100)) {
        let module = module(&choices, &targets()[target]);
        let mut vary = Choices::new(&vary);
        for consumer in consumers().map(|consumer| varied(&consumer, |count| vary.below(count))) {
            let lowered = lower(&module, &consumer, Policy::Partial).expect("the inexpressible is omitted");
            for left_out in &lowered.omissions {
                prop_assert!(matches!(left_out.reason, Reason::Inexpressible(_)), "{}", left_out);
            }
            match lower(&module, &consumer, Policy::Strict) {
                Ok(strict) => prop_assert!(strict == lowered && lowered.omissions.is_empty()),
                Err(error) => prop_assert_eq!(Some(error), lowered.omissions[0].error()),
            }
            let found = walk(&module, &lowered, &consumer);
        let found = found.unwrap_or_else(|error| panic!("{error}: {}", named(&consumer)));
            prop_assert_eq!(found.live, expected(&module, &lowered), "{}", named(&consumer));
        }
    }

    #[test]
    fn rows_are_read_as_they_were_described(
        choices in choices(300),
        target in 0..6usize,
        vary in choices(100),
    ) {
        let module = module(&choices, &targets()[target]);
        let mut vary = Choices::new(&vary);
        let consumer = varied(&Consumer::llvm(), |count| vary.below(count));
        let lowered = lower(&module, &consumer, Policy::Partial).expect("is written");
        let mut found = rows(&lowered, module.target()).expect("gimli reads it");
        for (id, function) in module.functions() {
            let described = module.rows(id);
            if described.is_empty() {
                continue;
            }
            let start = address(module.string(function.name));
            let mut read = found.remove(&(start / APART)).expect("its rows");
            let end = read.pop().expect("an end");
            prop_assert!(end.end_sequence() && end.address() == start + function.bytes);
            prop_assert_eq!(read.len(), described.len());
            for (read, row) in read.iter().zip(described) {
                let LineTableRow { pc, line, column, discriminator, is_stmt, is_prologue_end, is_epilogue_begin, .. } = *row;
                prop_assert_eq!(read.address(), start + pc);
                prop_assert_eq!(read.line().map_or(0, |line| line.get()), u64::from(line));
                let found = match read.column() {
                    gimli::ColumnType::LeftEdge => 0,
                    gimli::ColumnType::Column(column) => column.get(),
                };
                prop_assert_eq!(found, u64::from(column));
                prop_assert_eq!(read.discriminator(), u64::from(discriminator));
                prop_assert_eq!(
                    (read.is_stmt(), read.prologue_end(), read.epilogue_begin()),
                    (is_stmt, is_prologue_end, is_epilogue_begin)
                );
            }
        }
        prop_assert!(found.is_empty());
    }
}
