//! Gathers what a page shows: functions with their variables, location entries, lines, inlined calls and findings.

mod tables;

use std::collections::btree_map::Entry as Slot;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Range;
use std::rc::Rc;

use gimli::constants as dw;

use super::block::Strings;
use super::disassembly::{Disassembly, Sought};
use super::frames::{self, FrameRows};
use super::kind::{LocationKind, LocationText, Wording};
use super::options::ReportOptions;
use super::place::{Entry, In, PlaceId, Places};
use super::types;
use crate::lint;
use crate::lint::homes::{self, Registers};
use crate::lint::shape::{self, Shape};
use crate::lint::witness::{Changed, Contents, Witness};
use crate::ranges::RangeLists;
use crate::stats::{Coverage, FunctionCoverage};
use crate::walk::{Inside, LANE_PC, Scopes, Visit, has_children, position, walk};
use eitri_dwarf::error::{Count, Error, Result};
use eitri_dwarf::eval::{self, Body, DebugInfo};
use eitri_dwarf::read::{self, Dwarf, LineProgram, Object, OtherUnits, ResolvedValue, Unit};
use eitri_dwarf::target::{Target, Wave, with_extensions};

/// Where a timeline column comes from.
#[derive(Debug, Clone, Copy)]
#[repr(u32)]
enum Column {
    Variable,
    Parameter,
    Frame,
    Lanes,
}

#[derive(Debug)]
struct Variable {
    column: Column,
    name: u32,
    ty: u32,
    file: u32,
    line: u32,
    /// Names of the inlined calls around it.
    inlined: u32,
    /// Scope pcs.
    scope: (u32, u32),
    /// Location entries, ordered by pc. Variables that reference the same list share them.
    entries: Rc<[Entry]>,
}

/// A variable's location entries.
#[derive(Debug, Default)]
struct LocationEntries {
    entries: Rc<[Entry]>,
    /// Numbers of the entries by section and offset, without the entries outside the function.
    numbers: HashMap<(&'static str, u64), u32>,
}

/// What decides a location list's entries: its offset, the function, the address class and the scope's pcs.
type ListKey = (u64, usize, Option<u64>, (u32, u32));

/// A finding: its number among `lint`'s findings, the variable's number in the function, and the location entry's
/// number in the variable.
#[derive(Debug, Clone, Copy)]
struct FunctionFinding {
    finding: usize,
    variable: u32,
    entry: u32,
}

const NONE: u32 = u32::MAX;
/// Limit on inlined calls that are named around a variable, from the outermost call on.
const MOST_NAMES: u32 = 32;

#[derive(Debug, Default)]
struct Function {
    name: String,
    unit: u32,
    start: u64,
    size: u32,
    frame_base: Option<Shape>,
    base: Vec<u8>,
    base_body: Option<(Vec<u8>, u64)>,
    variables: Vec<Variable>,
    findings: Vec<FunctionFinding>,
    /// Pc, file, line.
    lines: Vec<[u32; 3]>,
    calls: Vec<Call>,
    /// Pc, text.
    instructions: Vec<[u32; 2]>,
    coverage: [u32; 3],
}

/// An inlined call.
#[derive(Debug)]
struct Call {
    /// Calls that reference the same range list share the pcs.
    pcs: Rc<CodePcs>,
    depth: u32,
    name: u32,
    line: u32,
}

/// The pcs of an inlined call or block, in bytes from the function's start.
#[derive(Debug, Default)]
struct CodePcs {
    ranges: Vec<(u32, u32)>,
    /// First and last pc.
    extent: Option<(u32, u32)>,
}

/// What report keeps for the children of an entry in a function.
#[derive(Debug, Clone, Default)]
struct Own {
    /// Names of the inlined calls around the children.
    inlined: Rc<str>,
    /// Pcs of the innermost scope that has any, in bytes from the function's start.
    pcs: (u32, u32),
}

/// Facts for a page.
pub(super) struct Gathered<'a> {
    findings: &'a [lint::LintFinding],
    /// Findings in each file, by the entry that declares a variable or function.
    by_entry: HashMap<(Option<&'a str>, u64), Vec<usize>>,
    is_shown: Vec<bool>,
    disassembly: Option<Disassembly<'a>>,
    /// Symbol names by address, for a disassembly.
    symbols: HashMap<u64, Vec<&'a str>>,
    functions: Vec<Function>,
    places: Places,
    /// File numbers by path.
    files: HashMap<String, u32>,
    paths: Vec<String>,
    /// Sources in the line tables, by file number.
    sources: HashMap<u32, String>,
    lanes: u32,
    target: String,
}

impl<'a> Gathered<'a> {
    pub(super) fn new(
        options: &ReportOptions<'a>,
        object: &'a Object<'_>,
        findings: &'a [lint::LintFinding],
    ) -> Self {
        let mut symbols = HashMap::<_, Vec<_>>::new();
        for symbol in
            object.symbols().iter().filter(|symbol| symbol.is_defined && options.disassembly.is_some())
        {
            symbols.entry(symbol.address).or_default().push(&*symbol.name);
        }
        let mut by_entry = HashMap::<_, Vec<_>>::new();
        for (index, finding) in findings.iter().enumerate() {
            if let Some(entry) = finding.entry {
                by_entry.entry((finding.split.as_deref(), entry)).or_default().push(index);
            }
        }
        Self {
            findings,
            by_entry,
            is_shown: vec![false; findings.len()],
            disassembly: options.disassembly.map(Disassembly::parse),
            symbols,
            functions: Vec::new(),
            places: Places::default(),
            files: HashMap::new(),
            paths: vec![String::new()],
            sources: HashMap::new(),
            lanes: 0,
            target: String::new(),
        }
    }

    fn file(&mut self, path: &str) -> u32 {
        if let Some(number) = self.files.get(path) {
            return *number;
        }
        let number = self.paths.len() as u32;
        self.paths.push(path.into());
        self.files.insert(path.into(), number);
        number
    }

    /// Checks that the disassembly belongs to this object.
    pub(super) fn check_disassembly(&self) -> Result<()> {
        let Some(disassembly) = &self.disassembly else { return Ok(()) };
        if self.functions.iter().any(|function| !function.instructions.is_empty()) {
            return Ok(());
        }
        let count = Count(disassembly.count() as u64, "instruction");
        let functions = Count(self.functions.len() as u64, "function");
        Err(Error::malformed(format!(
            "no function of the object is in the disassembly, by name and address: the text has {count}, and the \
             object has {functions}"
        )))
    }

    /// Adds the functions' coverage: the bytes at which the page shows a location. Functions with the same name are in
    /// the same order.
    pub(super) fn measure(&mut self, functions: &[FunctionCoverage]) {
        let mut by_name: HashMap<&str, VecDeque<&FunctionCoverage>> = HashMap::new();
        for measured in functions {
            by_name.entry(&measured.name).or_default().push_back(measured);
        }
        for function in &mut self.functions {
            if let Some(measured) = by_name.get_mut(function.name.as_str()).and_then(VecDeque::pop_front) {
                let Coverage { scope, sound, .. } = measured.coverage;
                let coverage = [scope, measured.coverage.available(), sound];
                function.coverage = coverage.map(|bytes| u32::try_from(bytes).unwrap_or(u32::MAX));
            }
        }
    }
}

/// Facts about a file during the walk.
struct File<'r, 'o> {
    facts: &'r lint::Facts<'r, 'r>,
    dwarf: &'r Dwarf<'o>,
    info: DebugInfo<'r, 'o>,
    target: Option<Target>,
    is_cpu: bool,
}

pub(super) fn gather<'r, 'o>(
    object: &Object<'_>,
    facts: &'r lint::Facts<'r, 'r>,
    dwarf: &'r Dwarf<'o>,
    gathered: &mut Gathered<'_>,
    strings: &mut Strings,
) {
    gathered.places.begin_file();
    let info = DebugInfo::new(dwarf);
    let target = info.target(object).or_else(|| object.target(Some(Wave::W32)));
    let target = target.map(with_extensions);
    if let Some(target) = &target {
        gathered.lanes = if object.gfx().is_some() || object.sm().is_some() { target.lanes() } else { 0 };
        gathered.target = target.name().into();
    }
    let is_cpu = object.gfx().is_none() && object.machine() != 190 && !object.is_ptx();
    let file = File { facts, dwarf, info, target, is_cpu };
    let others = &OtherUnits::default();
    let mut ranges = RangeLists::default();
    let mut frames = FrameRows::new();
    let mut programs = Programs::new();
    for unit in dwarf.units() {
        let paths = paths(dwarf, unit, gathered, &mut programs);
        let (scopes, lists, pcs) = Default::default();
        let frames = &mut frames;
        let ranges = &mut ranges;
        let own = paths.clone();
        let visitor = Visitor {
            file: &file,
            unit,
            gathered,
            strings,
            scopes,
            paths,
            others,
            lists,
            ranges,
            pcs,
            frames,
        };
        let functions = visitor.unit();
        if let Some(program) = Program::key(unit).and_then(|key| programs.get_mut(&key)) {
            program.functions.extend(functions.map(|function| (function, own.clone())));
        }
    }
    for program in programs.into_values() {
        program.rows(gathered);
    }
}

/// A line program, which units can share.
struct Program<'o> {
    lines: LineProgram<'o>,
    /// Numbers of the files, by the folder in which a unit was compiled.
    paths: HashMap<Option<String>, Rc<[u32]>>,
    /// Functions in the units, each with the numbers of its unit's files.
    functions: Vec<(usize, Rc<[u32]>)>,
}

/// Line programs by their key.
type Programs<'o> = BTreeMap<(bool, u64), Program<'o>>;

impl<'o> Program<'o> {
    /// Returns the key of a unit's line program: whether it is in the skeletons' file, and its offset.
    fn key(unit: &Unit<'_>) -> Option<(bool, u64)> {
        Some((unit.kind == dw::DW_UT_split_compile, unit.stmt_list?))
    }

    /// Returns the numbers of a unit's files.
    fn paths(&mut self, unit: &Unit<'o>, gathered: &mut Gathered<'_>) -> Rc<[u32]> {
        let folder = unit.comp_dir.as_deref();
        if let Some(known) = self.paths.get(&folder.map(String::from)) {
            return known.clone();
        }
        let mut paths = Vec::new();
        for number in 0..=self.lines.files.len() as u64 {
            let path = self.lines.path(number).unwrap_or_default();
            let path = match folder.filter(|_| !path.starts_with('/') && !path.is_empty()) {
                Some(folder) => format!("{folder}/{path}"),
                None => path.into_owned(),
            };
            let file = if path.is_empty() { 0 } else { gathered.file(&path) };
            if let Some(source) = self.lines.file(number).and_then(|file| file.source) {
                gathered.sources.insert(file, String::from_utf8_lossy(source).into_owned());
            }
            paths.push(file);
        }
        let paths: Rc<[u32]> = paths.into();
        self.paths.insert(folder.map(String::from), paths.clone());
        paths
    }

    /// Adds the rows to the functions.
    fn rows(mut self, gathered: &mut Gathered<'_>) {
        let functions = &mut gathered.functions;
        self.functions.sort_by_key(|(index, _)| functions[*index].start);
        for row in self.lines.rows().map_while(Result::ok).filter(|row| !row.end_sequence) {
            let count = self.functions.partition_point(|(index, _)| functions[*index].start <= row.address);
            let Some((index, paths)) = count.checked_sub(1).map(|last| &self.functions[last]) else {
                continue;
            };
            let function = &mut functions[*index];
            let pc = row.address - function.start;
            if pc >= function.size.into() {
                continue;
            }
            let file = usize::try_from(row.file).ok().and_then(|file| paths.get(file));
            let line = [pc as u32, file.copied().unwrap_or(0), u32::try_from(row.line).unwrap_or(0)];
            match function.lines.last_mut() {
                Some(last) if last[0] == line[0] => *last = line,
                Some(last) if last[1..] == line[1..] => {}
                _ => function.lines.push(line),
            }
        }
        for (index, _) in &self.functions {
            functions[*index].lines.sort_by_key(|line| line[0]);
        }
    }
}

/// Returns the numbers of a unit's files; none without a line program, or with a program that cannot be read, for which
/// a finding has the error.
fn paths<'o>(
    dwarf: &Dwarf<'o>,
    unit: &Unit<'o>,
    gathered: &mut Gathered<'_>,
    programs: &mut Programs<'o>,
) -> Rc<[u32]> {
    let Some(key) = Program::key(unit) else { return Rc::default() };
    let program = match programs.entry(key) {
        Slot::Occupied(known) => known.into_mut(),
        Slot::Vacant(vacant) => match dwarf.lines(unit).ok().flatten() {
            Some(lines) => vacant.insert(Program { lines, paths: HashMap::new(), functions: Vec::new() }),
            None => return Rc::default(),
        },
    };
    program.paths(unit, gathered)
}

struct Visitor<'w, 'a, 'r, 'o> {
    file: &'w File<'r, 'o>,
    unit: &'r Unit<'o>,
    gathered: &'w mut Gathered<'a>,
    strings: &'w mut Strings,
    /// Functions around entries are numbers.
    scopes: Scopes<usize, Own>,
    /// Numbers of the unit's files.
    paths: Rc<[u32]>,
    others: &'w OtherUnits<'o>,
    /// Entries of location lists.
    lists: HashMap<ListKey, Rc<LocationEntries>>,
    /// Functions' range lists.
    ranges: &'w mut RangeLists,
    /// Range lists of inlined calls and blocks, by the list's offset and the function.
    pcs: HashMap<(u64, usize), Rc<CodePcs>>,
    frames: &'w mut FrameRows,
}

impl<'r, 'o> Visitor<'_, '_, 'r, 'o> {
    fn unit(mut self) -> Range<usize> {
        let first = self.gathered.functions.len();
        walk(self.file.dwarf, self.unit, &mut self);
        first..self.gathered.functions.len()
    }

    /// Adds an inlined call or block to a function, and returns its scope.
    fn code(&mut self, entry: read::Entry<'r, 'o>, index: usize, mut scope: Own) -> Own {
        let pcs = self.pcs(entry, index);
        scope.pcs = pcs.extent.unwrap_or(scope.pcs);
        if entry.tag() != dw::DW_TAG_inlined_subroutine {
            return scope;
        }
        let depth = self.scopes.calls();
        let name = entry.name().unwrap_or_default();
        let text = self.strings.add(&name);
        let line = entry.number(dw::DW_AT_call_line).unwrap_or(0) as u32;
        self.gathered.functions[index].calls.push(Call { pcs, depth, name: text, line });
        // Chains of names would make the page grow with the square of their depth.
        scope.inlined = match depth {
            0 => (*name).into(),
            1..MOST_NAMES => format!("{} › {name}", scope.inlined).into(),
            MOST_NAMES => format!("{} › …", scope.inlined).into(),
            _ => scope.inlined,
        };
        scope
    }

    /// Returns the pcs of an inlined call or block in a function.
    fn pcs(&mut self, entry: read::Entry<'r, 'o>, index: usize) -> Rc<CodePcs> {
        let key = match entry.attr(dw::DW_AT_ranges) {
            Some(ResolvedValue::RngList(offset)) => Some((offset, index)),
            _ => None,
        };
        if let Some(known) = key.and_then(|key| self.pcs.get(&key)) {
            return known.clone();
        }
        let ranges = entry.ranges().unwrap_or_default();
        let ranges: Vec<_> = ranges.iter().filter_map(|range| self.within(index, range)).collect();
        let first = ranges.iter().map(|pcs| pcs.0).min();
        let extent = first.zip(ranges.iter().map(|pcs| pcs.1).max());
        let pcs = Rc::new(CodePcs { ranges, extent });
        if let Some(key) = key {
            self.pcs.insert(key, pcs.clone());
        }
        pcs
    }

    /// Returns a range in bytes from a function's start, cut at the function's ends.
    fn within(&self, index: usize, range: &Range<u64>) -> Option<(u32, u32)> {
        let function = &self.gathered.functions[index];
        let end = function.start.saturating_add(function.size.into());
        let start = range.start.max(function.start);
        let end = range.end.min(end);
        (start < end).then(|| ((start - function.start) as u32, (end - function.start) as u32))
    }

    fn function(&mut self, entry: read::Entry<'r, 'o>) -> Option<usize> {
        let ranges = self.ranges.ranges(entry).unwrap_or_default();
        let start = ranges.iter().filter(|range| range.start < range.end).map(|range| range.start).min()?;
        if !self.file.dwarf.is_code(start) {
            return None;
        }
        let end = ranges.iter().map(|range| range.end).max().unwrap_or(start);
        let size = u32::try_from(end - start).unwrap_or(u32::MAX);
        let name = entry.name().map_or_else(String::new, |name| name.into_owned());
        let unit = self.strings.add(self.unit.name.as_deref().unwrap_or_default());
        let base = match entry.attr(dw::DW_AT_frame_base) {
            Some(ResolvedValue::Expr(expr)) => Some(expr),
            _ => None,
        };
        let mut function = Function { name, unit, start, size, ..Function::default() };
        function.frame_base = base.map(|expr| self.shape(expr));
        function.base_body = base.map(|expr| (expr.to_vec(), self.unit.offset));
        function.base = base.unwrap_or_default().to_vec();
        if let Some(disassembly) = &self.gathered.disassembly {
            let linkage = entry.inherited(dw::DW_AT_linkage_name).and_then(|name| name.text());
            let symbols = self.gathered.symbols.get(&start).into_iter().flatten().copied();
            let names = symbols.chain(linkage.as_deref()).chain([&*function.name]).collect();
            let section = read::code_section(self.file.facts.code, start);
            let offset = start - section.map_or(0, |section| section.start);
            function.instructions = disassembly
                .function(&Sought { names, start, offset, size: size.into() })
                .into_iter()
                .map(|(pc, text)| [pc as u32, self.strings.add(&text.replace('\t', " "))])
                .collect();
        }
        let index = self.gathered.functions.len();
        self.gathered.functions.push(function);
        let target = self.file.target.as_ref();
        let frames = &self.file.facts.frames;
        let places = &mut self.gathered.places;
        let rows = frames::rows(frames, (start, size), target, places, self.strings, self.frames);
        if !rows.is_empty() {
            self.column(index, Column::Frame, "frame", rows);
        }
        let lanes: Vec<_> = LANE_PC.iter().filter_map(|name| entry.locations(*name).ok().flatten()).collect();
        if let Some(list) = lanes.first() {
            let mut rows = Vec::new();
            for entry in list {
                let pcs = if entry.is_default() {
                    Some((0, size))
                } else {
                    self.within(index, &(entry.start..entry.end))
                };
                let Some((start, end)) = pcs else { continue };
                let place = self.place(entry.expr, index, None, None);
                let words =
                    LocationText::new(LocationKind::Rule, "lanes", "pcs of the lanes, active or waiting");
                let place = self.gathered.places.renamed(place, &words, self.strings);
                rows.push(Entry { start, end, place });
            }
            self.column(index, Column::Lanes, "lane pc", rows);
        }
        self.add_findings(index, entry.offset(), NONE, &HashMap::new());
        Some(index)
    }

    fn column(&mut self, index: usize, column: Column, name: &str, entries: impl Into<Rc<[Entry]>>) {
        let function = &mut self.gathered.functions[index];
        let name = self.strings.add(name);
        let scope = (0, function.size);
        let entries = entries.into();
        let rest = Variable { column, name, ty: 0, file: 0, line: 0, inlined: 0, scope, entries };
        function.variables.push(rest);
    }

    fn shape(&self, expr: &[u8]) -> Shape {
        shape::analyze(expr, self.unit.encoding, &|index| self.file.dwarf.address(self.unit, index).ok())
    }

    /// Adds an expression's entries at some pcs: an entry for each set of PTX register homes, or a single entry
    /// if it uses no PTX register.
    fn entries(
        &mut self,
        expr: &[u8],
        index: usize,
        class: Option<u64>,
        pcs: (u32, u32),
        entries: &mut Vec<Entry>,
    ) {
        let map = self.file.facts.registers.function_at(self.gathered.functions[index].start);
        let registers = map.map(|_| homes::registers(&self.shape(expr), self.file.target.as_ref()));
        let registers = registers.filter(|registers| !registers.is_empty());
        let Some((map, registers)) = map.zip(registers) else {
            let place = self.place(expr, index, class, None);
            return entries.push(Entry { start: pcs.0, end: pcs.1, place });
        };
        for homes in homes::cut(map, &registers, pcs) {
            let place = self.place(expr, index, class, Some((&registers, &homes.registers)));
            entries.push(Entry { start: homes.pcs.0, end: homes.pcs.1, place });
        }
    }

    fn place(
        &mut self,
        expr: &[u8],
        index: usize,
        class: Option<u64>,
        homes: Option<(&Registers, &[homes::HomesByWord])>,
    ) -> PlaceId {
        let shape = self.shape(expr);
        let file = self.file;
        let function = &self.gathered.functions[index];
        let target = file.target.as_ref();
        let space = class.zip(target).and_then(|(class, target)| target.space_of_class(class));
        let names = Wording {
            target,
            frame_base: function.frame_base.as_ref(),
            space: space.map(|space| space.id),
            is_cpu: file.is_cpu,
            homes,
        };
        let frame_base = function.base_body.as_ref().map(|(expr, unit)| {
            eval::ReferencedEntry::new(Body::Expression(expr), *unit, Some(self.unit.encoding))
        });
        let witness = target.map(|target| Witness {
            info: &file.info,
            frame_base,
            pc: function.start,
            lane: None,
            lanes: target.lanes().into(),
            target,
            contents: Contents::Numbers(Changed::None),
        });
        let within = In { unit: self.unit, names, witness, frame_base: Some(&function.base) };
        self.gathered.places.computed(expr, &shape, &within, self.strings)
    }

    fn variable(&mut self, entry: read::Entry<'r, 'o>, index: usize, scope: &Own) {
        if entry.has(dw::DW_AT_declaration) {
            return;
        }
        let class = entry.number(dw::DW_AT_address_class).filter(|_| !self.file.is_cpu);
        let number = self.gathered.functions[index].variables.len() as u32;
        let list = match entry.attr(dw::DW_AT_location) {
            Some(ResolvedValue::LocList(offset)) => Some((offset, index, class, scope.pcs)),
            _ => None,
        };
        let known = match list.and_then(|key| self.lists.get(&key)) {
            Some(known) => known.clone(),
            None => Rc::new(self.location_entries(entry, scope, index, class)),
        };
        if let Some(key) = list {
            self.lists.insert(key, known.clone());
        }
        let declared = |name| entry.inherited(name).and_then(|value| value.unsigned());
        let file = entry.declared_file().and_then(|(declared, file)| {
            if declared.unit().offset == entry.unit().offset {
                return self.paths.get(usize::try_from(file).ok()?).copied();
            }
            let path = self.others.path(declared, file)?;
            Some(self.gathered.file(&path))
        });
        let is_parameter = entry.tag() == dw::DW_TAG_formal_parameter;
        let variable = Variable {
            column: if is_parameter { Column::Parameter } else { Column::Variable },
            name: self.strings.add(entry.name().as_deref().unwrap_or("(no name)")),
            ty: self.strings.add(&types::name(entry)),
            file: file.unwrap_or(0),
            line: declared(dw::DW_AT_decl_line).unwrap_or(0) as u32,
            inlined: self.strings.add(&scope.inlined),
            scope: scope.pcs,
            entries: known.entries.clone(),
        };
        self.gathered.functions[index].variables.push(variable);
        self.add_findings(index, entry.offset(), number, &known.numbers);
    }

    /// Returns a variable's location entries, ordered by pc.
    fn location_entries(
        &mut self,
        entry: read::Entry<'r, 'o>,
        scope: &Own,
        index: usize,
        class: Option<u64>,
    ) -> LocationEntries {
        let mut entries = Vec::new();
        let mut numbers = HashMap::new();
        let list = entry.locations(dw::DW_AT_location).ok().flatten().unwrap_or_default();
        for location in &list {
            eitri_dwarf::work::step();
            let pcs = if location.is_default() {
                Some(scope.pcs)
            } else {
                self.within(index, &(location.start..location.end))
            };
            if let Some(pcs) = pcs {
                numbers.insert(position(entry, &list, location), entries.len() as u32);
                self.entries(location.expr, index, class, pcs, &mut entries);
            }
        }
        if let Some(value) = entry.attr(dw::DW_AT_const_value).filter(|_| list.is_empty()) {
            let value = match value {
                ResolvedValue::Block(bytes) => {
                    bytes.iter().take(16).map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
                }
                ResolvedValue::String(text) => text.text().into_owned(),
                ResolvedValue::Signed(value) => value.to_string(),
                value => value.unsigned().map_or_else(String::new, |value| (value as i64).to_string()),
            };
            let words =
                LocationText::new(LocationKind::Constant, value.clone(), format!("the constant {value}"));
            let place =
                self.gathered.places.plain(&words, &format!("DW_AT_const_value {value}"), self.strings);
            entries.push(Entry { start: scope.pcs.0, end: scope.pcs.1, place });
        }
        // The page draws entries in pc order.
        let mut order: Vec<usize> = (0..entries.len()).collect();
        order.sort_by_key(|&index| (entries[index].start, entries[index].end));
        let mut position = vec![NONE; entries.len()];
        order.iter().enumerate().for_each(|(new, &old)| position[old] = new as u32);
        for number in numbers.values_mut() {
            *number = position.get(*number as usize).copied().unwrap_or(NONE);
        }
        LocationEntries { entries: order.into_iter().map(|index| entries[index]).collect(), numbers }
    }

    /// Adds the findings about a variable or function, or about an entry of the variable's location list.
    fn add_findings(
        &mut self,
        index: usize,
        offset: u64,
        variable: u32,
        numbers: &HashMap<(&'static str, u64), u32>,
    ) {
        let owner = (self.file.dwarf.split_file(), offset);
        for finding in self.gathered.by_entry.get(&owner).cloned().unwrap_or_default() {
            let about = &self.gathered.findings[finding];
            let place = (&*about.section, about.offset);
            let entry = about.expression.as_ref().and_then(|_| numbers.get(&place)).copied();
            let entry = entry.unwrap_or(NONE);
            self.gathered.is_shown[finding] = true;
            self.gathered.functions[index].findings.push(FunctionFinding { finding, variable, entry });
        }
    }
}

impl<'r, 'o> Visit<'r, 'o> for Visitor<'_, '_, 'r, 'o> {
    type Function = usize;
    type Scope = Own;

    fn scopes(&mut self) -> &mut Scopes<usize, Own> {
        &mut self.scopes
    }

    /// Ranges and lists that cannot be read count as empty: a finding has the error.
    fn enter(&mut self, entry: read::Entry<'r, 'o>) -> Option<(Inside<usize>, Own)> {
        let around = self.scopes.innermost().map_or(Own::default(), |scope| scope.own.clone());
        Some(match (entry.tag(), self.scopes.function().copied()) {
            (dw::DW_TAG_subprogram, _) => {
                let function = self.function(entry);
                let size = function.map(|index| self.gathered.functions[index].size);
                let pcs = size.map_or(around.pcs, |size| (0, size));
                (Inside::Function(function), Own { inlined: Rc::default(), pcs })
            }
            (dw::DW_TAG_inlined_subroutine, Some(index)) => (Inside::Call, self.code(entry, index, around)),
            (dw::DW_TAG_lexical_block, Some(index)) => (Inside::Same, self.code(entry, index, around)),
            (dw::DW_TAG_variable | dw::DW_TAG_formal_parameter, Some(index)) => {
                self.variable(entry, index, &around);
                (Inside::Same, around)
            }
            _ => (Inside::Same, around),
        })
        .filter(|_| has_children(entry))
    }
}
