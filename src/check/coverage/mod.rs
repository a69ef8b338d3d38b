//! Coverage of a cubin that ptxas generated from PTX with debug information: at how many machine-code pcs a variable
//! has a location in the description, in the cubin's entries, and in its register map.
//!
//! The PTX lines lead from a machine-code pc to a PTX instruction, which is a pc in the description. There, the
//! location in the cubin's entry is compared with the description, in PTX registers, and read through the register
//! map.

use core::fmt;
use core::ops::Range;
use std::collections::BTreeMap;

use hashbrown::HashMap;

mod entries;

use entries::Entries;

use super::asked::Asked;
use super::machine;
use super::places::{Spans, merged, show, span_of};
use super::reading::dialect;
use super::referred::References;
use super::report::{CheckFinding, FindingKind};
use super::witness::{Fill, Stopped};
use crate::consumer::Consumer;
use crate::error::{At, Count, Error, Result};
use crate::eval::{self, Context, DebugInfo, Evaluator, PtxRegisters, SpaceLayout, Storage, WithDebugInfo};
use crate::model::{FunctionId, LocId, Module, Node, VariableId};
use crate::ptx::Text;
use crate::read::nvidia::{INSTRUCTION_BYTES, MappedFunction, PtxText, RegisterMap, ptx_lines};
use crate::read::{Dwarf, ElfSymbol, Entry, Object, ReadOptions};

/// A cubin's coverage of the described variables.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct PtxCoverage {
    /// Variables that have a location somewhere, in module order.
    pub variables: Vec<PtxVariableCoverage>,
    /// Locations that differ from the description.
    pub findings: Vec<CheckFinding>,
}

/// Numbers of pcs at which a variable has a location.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PtxVariableCoverage {
    /// The variable.
    pub variable: VariableId,
    /// Names for messages.
    pub at: At,
    /// Cubin pcs at which the description has a location.
    pub described: u64,
    /// Pcs among these at which the variable's entry has a location.
    pub located: u64,
    /// Pcs among these at which the location can be read, because the map has a home for each register.
    pub readable: u64,
    /// Other cubin pcs at which the variable's entry has a location: ptxas puts some labels an instruction away from
    /// the line that they belong to.
    pub beyond: u64,
}

impl PtxCoverage {
    /// Whether the cubin has no location that differs.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    /// Sums over all variables: described, located, readable.
    pub fn totals(&self) -> (u64, u64, u64) {
        self.variables.iter().fold((0, 0, 0), |(described, located, readable), one| {
            (described + one.described, located + one.located, readable + one.readable)
        })
    }
}

/// Displays a line for each variable, and a line with the totals.
impl fmt::Display for PtxCoverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            writeln!(f, "{finding}")?;
        }
        for PtxVariableCoverage { at, described, located, readable, beyond, .. } in &self.variables {
            write!(
                f,
                "{at}: described at {}, located at {located}, readable at {readable}",
                Count(*described, "pc")
            )?;
            match beyond {
                0 => writeln!(f)?,
                beyond => writeln!(f, "; located at {} that it is not described at", Count(*beyond, "pc"))?,
            }
        }
        let (described, located, readable) = self.totals();
        let percent = |part: u64| part as f64 * 100.0 / described.max(1) as f64;
        write!(
            f,
            "{}, {} at {} described, {:.1} % located, {:.1} % readable",
            Count(self.findings.len(), "finding"),
            Count(self.variables.len(), "variable"),
            Count(described, "pc"),
            percent(located),
            percent(readable)
        )
    }
}

/// Compares a cubin with the description of the PTX from which ptxas generated it.
///
/// A location at a symbol, and a stack slot, is compared by its space alone, because ptxas chooses the address. Pcs
/// that belong to a PTX line with several instructions are not counted.
///
/// # Errors
/// Errors from [`Object::read`] and [`Dwarf::read`]; [`BadArgument`](crate::error::ErrorKind::BadArgument) for an
/// object without its PTX, or without a described function.
pub fn coverage(module: &Module, consumer: &Consumer, bytes: &[u8]) -> Result<PtxCoverage> {
    let object = Object::read_for(bytes, module.target())?;
    let dwarf = Dwarf::read_with(
        &object,
        &ReadOptions::new().dialect(dialect(consumer)).draft(consumer.expressions.draft),
    )?;
    let map = RegisterMap::read(&object)?;
    let texts = texts(&object, bytes.len())?;
    let texts = texts.iter().map(|text| Text::read(text)).collect::<Result<Vec<_>>>()?;
    let positions = positions(&texts);
    let info = DebugInfo::new(&dwarf);
    let references = References::new(&dwarf);
    let compared = Compared { module, consumer, object: &object, info: &info, references: &references };
    let entries = Entries::new(module, &dwarf);
    let findings = super::ptx::compare(module, &texts).findings;
    let mut coverage = PtxCoverage { findings, ..PtxCoverage::default() };
    let rows = rows(&object)?;
    for (id, function) in module.functions() {
        let Some(crate::model::Address::Symbol(symbol, by)) = function.address else { continue };
        let name = module.symbol_name(symbol);
        let Some((positions, symbol)) = positions.get(name).zip(object.symbol(name)) else {
            let problem = format!("the cubin has no function `{name}` with its PTX");
            return Err(Error::bad_argument(problem).or_at(module.at_scope(function.scope)));
        };
        let mut pcs: Vec<(u64, u64)> = code(&object, symbol)
            .step_by(INSTRUCTION_BYTES as usize)
            .filter_map(|pc| {
                let (_, line) = rows.range(..=pc).next_back()?;
                Some((positions.get(line.as_ref()?)?.checked_sub(by)?, pc))
            })
            .collect();
        // By position, because live ranges are ranges of positions.
        pcs.sort_unstable();
        let start = symbol.address;
        let code = FunctionCode { function: id, start, mapped: map.function_at(start) };
        compared.function(code, &entries.in_function(id, start), &pcs, &mut coverage);
    }
    Ok(coverage)
}

/// A function's code addresses, cut at the section's end because a damaged file can have a larger size.
fn code(object: &Object<'_>, symbol: &ElfSymbol<'_>) -> Range<u64> {
    let section = symbol.section.and_then(|index| object.sections().get(index));
    let end = section.map_or(0, |section| section.address.saturating_add(section.data.len() as u64));
    symbol.address..symbol.address.saturating_add(symbol.size).min(end)
}

/// PTX lines by address; `None` after a sequence ends.
fn rows(object: &Object<'_>) -> Result<BTreeMap<u64, Option<u64>>> {
    let mut rows = BTreeMap::new();
    for program in ptx_lines(object) {
        let program = program?;
        for row in program.rows() {
            let row = row?;
            if row.end_sequence {
                // A sequence that starts where another ends has priority.
                rows.entry(row.address).or_insert(None);
            } else {
                rows.insert(row.address, Some(row.line));
            }
        }
    }
    Ok(rows)
}

/// A cubin's PTX texts. Their sections do not overlap, so that together they are at most as long as the file; the
/// check bounds memory for a damaged file.
fn texts(object: &Object<'_>, most: usize) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    let mut left = most;
    for text in PtxText::all(object) {
        let lines: Vec<_> = (1..=text.count() as u64).filter_map(|line| text.line(line)).collect();
        let text = lines.join("\n");
        let rest = left.checked_sub(text.len());
        left = rest.ok_or_else(|| Error::malformed("texts of PTX do not overlap"))?;
        texts.push(text);
    }
    // Without `-g`, ptxas keeps the section and drops the lines.
    if texts.iter().all(String::is_empty) {
        let problem = "coverage needs a cubin with the text of its PTX, as ptxas makes with `-g`";
        return Err(Error::bad_argument(problem));
    }
    Ok(texts)
}

/// Instruction positions in each function, by line. A line with several instructions has no position, because the
/// line table does not state which instruction a pc belongs to.
fn positions<'t>(texts: &[Text<'t>]) -> HashMap<&'t str, BTreeMap<u64, u64>> {
    let mut by_function = HashMap::new();
    for text in texts {
        let mut line = 1;
        let mut done = 0;
        for function in &text.functions {
            let mut positions = BTreeMap::new();
            for (position, &at) in (0..).zip(&function.instructions) {
                line += text.text[done..at].bytes().filter(|&byte| byte == b'\n').count() as u64;
                done = at;
                positions.entry(line).and_modify(|known| *known = None).or_insert(Some(position));
            }
            let known = positions.into_iter().filter_map(|(line, position)| Some((line, position?)));
            by_function.entry(function.name).or_insert_with(|| known.collect());
        }
    }
    by_function
}

/// Number of pcs at which an entry has a location. `pcs` is sorted.
fn covered_pcs(entry: Entry<'_, '_>, pcs: &[u64]) -> u64 {
    let Ok(Some(list)) = entry.locations(gimli::DW_AT_location) else { return 0 };
    let with_location = list.iter().filter(|range| !range.expr.is_empty());
    let mut ranges: Vec<Range<usize>> = with_location
        .map(|range| {
            if range.is_default() {
                0..pcs.len()
            } else {
                // Sorted pcs make each range an index range.
                pcs.partition_point(|&pc| pc < range.start)..pcs.partition_point(|&pc| pc < range.end)
            }
        })
        .collect();
    ranges.sort_unstable_by_key(|range| range.start);
    let mut count = 0;
    // Ranges can overlap: each pc counts once.
    let mut done = 0;
    for range in ranges {
        count += range.end.saturating_sub(range.start.max(done)) as u64;
        done = done.max(range.end);
    }
    count
}

struct Compared<'c, 'o> {
    module: &'c Module,
    consumer: &'c Consumer,
    object: &'c Object<'o>,
    info: &'c DebugInfo<'c, 'c>,
    references: &'c References<'c, 'c>,
}

impl<'c> Compared<'c, '_> {
    /// Compares a function's variables at cubin pcs, which are sorted by their positions.
    fn function(
        &self,
        code: FunctionCode<'c>,
        variables: &[(VariableId, Option<Entry<'c, 'c>>)],
        pcs: &[(u64, u64)],
        coverage: &mut PtxCoverage,
    ) {
        let module = self.module;
        let mut by_pc: Vec<u64> = pcs.iter().map(|&(_, pc)| pc).collect();
        by_pc.sort_unstable();
        for &(id, entry) in variables {
            let bits = module.ty(module.variable(id).ty).value_bits().unwrap_or(8);
            let mut counts = PtxVariableCoverage {
                variable: id,
                at: module.at_variable(id, None),
                described: 0,
                located: 0,
                readable: 0,
                beyond: 0,
            };
            let mut is_different = false;
            // Several locations at a pc are alternatives: the cubin's entry may have any.
            for here in self.described(id, pcs).chunk_by(|a, b| a.pc == b.pc).filter(|_| bits != 0) {
                let Described { pc, position, .. } = here[0];
                let places: Vec<LocId> = here.iter().map(|described| described.loc).collect();
                counts.described += 1;
                let Some(entry) = entry else { continue };
                let spot = Spot { code, pc, bits };
                let Some(spans) = self.spans(entry, spot) else { continue };
                counts.located += 1;
                let expected: Vec<Option<Spans>> = places
                    .iter()
                    .map(|&loc| self.expected(loc, spot).filter(|_| !self.is_placed(loc)))
                    .collect();
                let is_same = expected.iter().zip(&places).any(|(expected, &loc)| match expected {
                    Some(expected) => eval::are_equal(expected, &spans, module.target().byte_order()),
                    // ptxas chose the address, so that only the space can be compared.
                    None => self.is_placed(loc) && self.is_in_space(loc, &spans),
                });
                // One finding per variable is enough: a mistake usually recurs at each pc.
                if !is_same && !is_different {
                    is_different = true;
                    let whole: Vec<Spans> = expected.into_iter().flatten().collect();
                    coverage.findings.push(CheckFinding {
                        kind: FindingKind::Location,
                        at: module
                            .at_variable(id, None)
                            .with(|context| context.pcs = Some(position..position + 1)),
                        lane: Some(LANE),
                        expected: show(&merged(&whole, bits, module.target().byte_order()), module.target()),
                        found: format!(
                            "{} at {}",
                            show(&spans, module.target()),
                            self.object.pc_notation().pc(pc)
                        ),
                        trace: Vec::new(),
                    });
                }
                counts.readable += u64::from(self.is_readable(entry, spot));
            }
            if counts.readable == 0 && counts.described > 0 && self.has_place(id) {
                coverage.findings.push(CheckFinding {
                    kind: FindingKind::Location,
                    at: module.at_variable(id, None),
                    lane: None,
                    expected: format!("a readable location at some of {}", Count(counts.described, "pc")),
                    found: "none".into(),
                    trace: Vec::new(),
                });
            }
            let covered = entry.map_or(0, |entry| covered_pcs(entry, &by_pc));
            counts.beyond = covered.saturating_sub(counts.located);
            if counts.described > 0 || counts.beyond > 0 {
                coverage.variables.push(counts);
            }
        }
    }

    /// Returns whether a variable has a location other than the undefined one.
    fn has_place(&self, id: VariableId) -> bool {
        let live = self.module.live(id).iter().map(|live| live.loc);
        let mut locs = live.chain(self.module.always(id));
        locs.any(|loc| self.module.nodes(loc).any(|node| node != Node::Undefined))
    }

    /// Returns a variable's described locations at the cubin's pcs, in ascending pc order. `pcs` is sorted by
    /// position.
    fn described(&self, id: VariableId, pcs: &[(u64, u64)]) -> Vec<Described> {
        let always = self.module.always(id).map(|loc| (0..u64::MAX, loc));
        let live = self.module.live(id).iter().map(|live| (live.pcs(), live.loc));
        let mut places = Vec::new();
        for (positions, loc) in always.into_iter().chain(live) {
            let start = pcs.partition_point(|&(position, _)| position < positions.start);
            let rest = pcs[start..].iter().take_while(|(position, _)| *position < positions.end);
            places.extend(rest.map(|&(position, pc)| Described { pc, position, loc }));
        }
        places.sort_by_key(|place| place.pc);
        places
    }

    fn stopped<'s>(&'s self, spot: Spot<'c>, asked: &'s Asked) -> machine::Stopped<'s, 'c> {
        machine::Stopped {
            target: self.module.target(),
            info: self.info,
            references: self.references,
            fill: Fill::ALL[0],
            lane: Some(LANE),
            lanes: self.module.target().lanes().into(),
            pc: Some(spot.pc),
            load_bias: 0,
            asked,
            patch: None,
            homes: None,
        }
    }

    fn context(&self, entry: Entry<'c, 'c>) -> Context<'c> {
        Context::in_unit(entry.unit(), self.module.target())
    }

    /// An entry's location, in PTX registers; `None` without a location.
    fn spans(&self, entry: Entry<'c, 'c>, spot: Spot<'c>) -> Option<Spans> {
        let asked = Asked::default();
        let stopped = self.stopped(spot, &asked);
        let machine = WithDebugInfo::new(self.info, &stopped, self.context(entry));
        let location = self.location(entry, &machine)?;
        let spans = eval::spans(&location, spot.bits.into(), self.module.target().byte_order()).ok()?;
        let has_place =
            |span: &eval::Span| span.places.iter().any(|place| place.storage != Storage::Undefined);
        spans.iter().any(has_place).then_some(spans)
    }

    fn location(&self, entry: Entry<'c, 'c>, machine: &dyn eval::Machine) -> Option<eval::Location> {
        let location =
            Evaluator::new().variable_location(self.info.body(entry), machine, &self.context(entry)).ok()?;
        // NVIDIA's debugger takes the memory space from an attribute, not from the expression.
        let class = self.consumer.attributes.variable_space.and_then(|name| entry.number(name));
        let Some(space) = class.and_then(|class| self.module.target().space_of_class(class)) else {
            return Some(location);
        };
        let layout = SpaceLayout { address_bits: space.address_bits, per: space.per };
        Some(location.in_space(space.id, layout, Some(LANE)))
    }

    /// Whether the bits at a location can be read through the register map.
    fn is_readable(&self, entry: Entry<'c, 'c>, spot: Spot<'c>) -> bool {
        let asked = Asked::default();
        let stopped = self.stopped(spot, &asked);
        let position = spot.pc - spot.code.start;
        let registers = PtxRegisters::new(&stopped, self.module.target(), spot.code.mapped, position);
        let machine = WithDebugInfo::new(self.info, &registers, self.context(entry));
        let Some(location) = self.location(entry, &machine) else { return false };
        eval::read_bits(&location, spot.bits, &machine).is_ok()
    }

    /// A described location's meaning.
    fn expected(&self, loc: LocId, spot: Spot<'c>) -> Option<Spans> {
        let module = self.module;
        let asked = Asked::default();
        let symbol = |name: &str| Some(self.object.symbol(name)?.address);
        let contents = Stopped {
            target: module.target(),
            fill: Fill::ALL[0],
            lane: Some(LANE),
            symbol: &symbol,
            load_bias: 0,
            asked: &asked,
            patch: None,
        };
        let spans = module.denote(Some(spot.code.function), loc, spot.bits, &contents).ok()?;
        Some(spans.iter().map(|span| span_of(module.target(), span, |_| None)).collect())
    }

    /// Whether ptxas chooses a location's address, as it does for symbols and stack slots.
    fn is_placed(&self, loc: LocId) -> bool {
        self.module.nodes(loc).any(|node| matches!(node, Node::Address(..) | Node::StackAddress(_)))
    }

    /// Whether all bits are in the memory spaces that a location names.
    fn is_in_space(&self, loc: LocId, spans: &[eval::Span]) -> bool {
        let is_there = |space| self.module.nodes(loc).any(|node| node == Node::Memory(space));
        spans.iter().flat_map(|span| &span.places).all(|place| match place.storage {
            Storage::Memory { space, .. } => is_there(space),
            _ => false,
        })
    }
}

/// Lane for the comparison. One lane is enough because the expressions do not depend on it.
const LANE: u32 = 5;

/// A function's code in the cubin.
#[derive(Clone, Copy)]
struct FunctionCode<'c> {
    function: FunctionId,
    /// The function's address.
    start: u64,
    /// Homes for its PTX registers.
    mapped: Option<&'c MappedFunction<'c>>,
}

/// A variable's described location at a cubin pc.
#[derive(Clone, Copy)]
struct Described {
    pc: u64,
    position: u64,
    loc: LocId,
}

/// Where a comparison takes place.
#[derive(Clone, Copy)]
struct Spot<'c> {
    code: FunctionCode<'c>,
    /// Cubin pc.
    pc: u64,
    bits: u64,
}
