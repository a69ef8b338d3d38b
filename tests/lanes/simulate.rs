//! Simulated random programs: the positions of lanes in the object equal the actual ones.

use std::collections::{HashMap, HashSet};

use eitri::build::Builder;
use eitri::emit::elf::{ObjectCode as Text, new_object};
use eitri::eval::{
    BaseType, Context, DebugInfo, Element, Evaluator, Machine, Storage, TypeEncoding, Unavailable,
    WithDebugInfo, spans,
};
use eitri::lower::{Consumer, Policy, lower};
use eitri::op::Reg;
use eitri::read::{Dwarf, Entry, Object, ReadOptions};
use eitri::target::{ByteOrder, Gfx, SpaceId, Target, Wave as Size};
use gimli::DwAt;

use super::compile::{BYTES, Code, VGPR, compile};
use super::describe::structured;
use super::program::{FUNCTION, Id, Program, Random};
use super::wave::{Standing, Wave};

/// Total number of programs.
const PROGRAMS: u64 = 10_000;
/// Number of iterations of a loop in which the positions at a pc are compared.
const ITERATIONS: usize = 2;
/// Number of programs per module.
const IN_MODULE: u64 = 50;

/// Contents of a register.
#[derive(Clone, Copy)]
enum Provider {
    Pc,
    Exec,
    Scalar(usize),
    Vector,
}

/// Registers used by the programs.
fn registers(target: &Target) -> HashMap<Reg, Provider> {
    let scalars = (0..Wave::SCALARS as u16).map(|number| (target.sgpr(number).expect("it is there"), number));
    let mut all: HashMap<Reg, Provider> =
        scalars.map(|(reg, number)| (reg, Provider::Scalar(number.into()))).collect();
    all.insert(target.pc().expect("it is there"), Provider::Pc);
    all.insert(target.exec().expect("it is there"), Provider::Exec);
    all.insert(target.vgpr(VGPR).expect("it is there"), Provider::Vector);
    all
}

/// Registers of a wave stopped in a function.
struct Stopped<'w, 'p> {
    wave: &'w Wave<'p>,
    registers: &'w HashMap<Reg, Provider>,
    /// Address of the function.
    start: u64,
}

impl Machine for Stopped<'_, '_> {
    fn register(&self, reg: Reg, _: u32, at: u32, into: &mut [u8]) -> Result<(), Unavailable> {
        let bytes: Vec<u8> = match *self.registers.get(&reg).ok_or(Unavailable)? {
            Provider::Pc => (self.start + self.wave.pc()).to_le_bytes().to_vec(),
            Provider::Exec => self.wave.exec.to_le_bytes().to_vec(),
            Provider::Scalar(number) => self.wave.scalars[number].to_le_bytes().to_vec(),
            Provider::Vector => self.wave.vector.iter().flat_map(|word| word.to_le_bytes()).collect(),
        };
        let wanted = bytes.get(at as usize..at as usize + into.len()).ok_or(Unavailable)?;
        into.copy_from_slice(wanted);
        Ok(())
    }

    fn memory(&self, _: SpaceId, _: Option<u32>, _: u64, _: &mut [u8]) -> Result<(), Unavailable> {
        Err(Unavailable)
    }

    fn pc(&self, frame: u32) -> Option<u64> {
        (frame == 0).then(|| self.start + self.wave.pc())
    }
}

/// Values of an attribute by pc, relative to the function.
type Values<'o> = Vec<(Option<(u64, u64)>, &'o [u8])>;

fn values<'o>(entry: Entry<'_, 'o>, attribute: DwAt, start: u64) -> Values<'o> {
    let found = entry.locations(attribute).expect("it can be read").unwrap_or_default();
    let one = |one: eitri::read::ListEntry<'o>| {
        let is_default = one.kind == eitri::read::ListKind::Default;
        ((!is_default).then(|| (one.start - start, one.end - start)), one.expr)
    };
    found.into_iter().map(one).collect()
}

fn at<'o>(values: &Values<'o>, pc: u64) -> &'o [u8] {
    let is_here = |bounds: &Option<(u64, u64)>| bounds.is_none_or(|(first, end)| (first..end).contains(&pc));
    let mut here = values.iter().filter(|(bounds, _)| is_here(bounds));
    let (_, expr) = here.next().unwrap_or_else(|| panic!("no value is encoded at {pc:#x}"));
    assert!(here.next().is_none(), "two values are encoded at {pc:#x}");
    expr
}

/// A consumer that evaluates the object.
struct Reader<'a, 'o> {
    info: &'a DebugInfo<'a, 'o>,
    target: &'a Target,
    evaluator: Evaluator,
    lanes: u64,
}

impl Reader<'_, '_> {
    /// Evaluates an expression for all lanes at once.
    fn location(
        &mut self,
        expr: &[u8],
        entry: Entry<'_, '_>,
        wave: &Stopped<'_, '_>,
    ) -> eitri::eval::Location {
        let unit = entry.unit();
        let context = Context::in_unit(unit, self.target);
        let machine = WithDebugInfo::new(self.info, wave, context);
        let outcome = self.evaluator.wave(expr, self.lanes, &machine, &context);
        match outcome.uniform().expect("it is the same for all lanes") {
            Ok(Element::Location(location)) => location.clone(),
            other => panic!("no location: {other:?}"),
        }
    }

    fn standing(&mut self, expr: &[u8], entry: Entry<'_, '_>, wave: &Stopped<'_, '_>) -> Standing {
        let location = self.location(expr, entry, wave);
        let all = spans(&location, 64 * u128::from(self.target.lanes()), ByteOrder::Little)
            .expect("an element for each lane");
        let mut standing = Vec::new();
        for span in all {
            let [place] = &span.places[..] else { panic!("several places") };
            let count = (span.bits / 64) as usize;
            assert_eq!(span.bits % 64, 0);
            match &place.storage {
                Storage::Undefined => standing.extend(vec![None; count]),
                Storage::Register { reg, .. } if Some(*reg) == self.target.pc() => {
                    assert_eq!((place.offset, count), (0, 1));
                    standing.push(Some(wave.wave.pc()));
                }
                Storage::Implicit(bits) => {
                    for index in 0..count {
                        let first = place.offset as usize / 8 + 8 * index;
                        let bytes: [u8; 8] = bits.bytes()[first..first + 8].try_into().expect("8 bytes");
                        standing.push(Some(u64::from_le_bytes(bytes).wrapping_sub(wave.start)));
                    }
                }
                other => panic!("a pc in {other:?}"),
            }
        }
        standing
    }

    fn active(&mut self, expr: &[u8], entry: Entry<'_, '_>, wave: &Stopped<'_, '_>) -> u64 {
        let location = self.location(expr, entry, wave);
        let unit = entry.unit();
        let context = Context::in_unit(unit, self.target);
        let ty = BaseType::new(TypeEncoding::Unsigned, self.target.lanes());
        let mask = self.evaluator.read(&location, ty, wave, &context).expect("a mask");
        mask.as_u64().expect("64 bits at most")
    }
}

/// A function with positions of lanes, and its inlined calls.
struct Function<'a, 'o> {
    start: u64,
    scopes: Vec<Scope<'a, 'o>>,
}

struct Scope<'a, 'o> {
    id: Id,
    pcs: std::ops::Range<u64>,
    entry: Entry<'a, 'o>,
    lane_pc: Values<'o>,
    active_lane: Values<'o>,
}

impl<'a, 'o> Function<'a, 'o> {
    fn new(object: &Object<'_>, dwarf: &'a Dwarf<'o>, name: &str, code: &Code, consumer: &Consumer) -> Self {
        let start = object.symbol(name).expect("the function").address;
        let is_it = |entry: &Entry<'_, '_>| {
            entry.tag() == gimli::DW_TAG_subprogram && entry.name().is_some_and(|found| *found == *name)
        };
        let entry = dwarf.entries().find(is_it).expect("its entry");
        let scope = |id, pcs, entry: Entry<'a, 'o>| Scope {
            id,
            pcs,
            entry,
            lane_pc: values(entry, consumer.attributes.lane_pc.expect("there is one"), start),
            active_lane: consumer
                .attributes
                .active_lane
                .map(|at| values(entry, at, start))
                .unwrap_or_default(),
        };
        let mut scopes = vec![scope(FUNCTION, 0..code.bytes(), entry)];
        // The line identifies an inlined call.
        let mut next = vec![entry];
        while let Some(entry) = next.pop() {
            for child in entry.children() {
                if child.tag() == gimli::DW_TAG_inlined_subroutine {
                    let line = child.number(gimli::DW_AT_call_line).expect("a line") as usize;
                    let inlined = &code.inlined[line - 1];
                    scopes.push(scope(inlined.id, inlined.pcs.clone(), child));
                    next.push(child);
                }
            }
        }
        assert_eq!(scopes.len(), 1 + code.inlined.len());
        Self { start, scopes }
    }
}

/// Prints the seed of a failing test.
struct Running(u64);

impl Drop for Running {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the program of seed {}", self.0);
        }
    }
}

/// Runs the programs of some seeds, in one module.
fn run(seeds: std::ops::Range<u64>, size: Size, consumer: &Consumer) -> Counts {
    let gfx = if size == Size::W32 { Gfx::GFX1030 } else { Gfx::GFX90A };
    let target = Target::amdgpu(gfx, size).expect("the processor runs such waves");
    let lanes = target.lanes();
    let programs: Vec<Program> = seeds.map(Program::random).collect();
    let compiled = |program: &Program| {
        let _running = Running(program.seed);
        compile(program, lanes)
    };
    let codes: Vec<Code> = programs.iter().map(compiled).collect();
    let mut m = Builder::new(target.clone());
    let unit = m.unit("random.cl");
    let callee = m.function(unit, "callee").expect("a function").id();
    let name = |program: &Program| format!("f{}", program.seed);
    for (program, code) in programs.iter().zip(&codes) {
        let _running = Running(program.seed);
        structured(&mut m, unit, callee, &name(program), code);
    }
    let module = m.finish().unwrap_or_else(|error| panic!("{error}"));
    let written = lower(&module, consumer, Policy::Partial).expect("it is written");
    let is_active_lane = |one: &eitri::omission::Omission| one.to_string().contains("the active lanes");
    assert!(
        written.omissions.iter().all(|one| consumer.attributes.active_lane.is_none() && is_active_lane(one))
    );
    let mut text = Text::text(vec![0; codes.iter().map(|code| code.bytes() as usize).sum()]);
    let mut offset = 0;
    for (program, code) in programs.iter().zip(&codes) {
        text = text.with_function(name(program), offset, code.bytes());
        offset += code.bytes();
    }
    let object = new_object(&target, &text, &written.sections).expect("an object");
    let object = Object::read(&object).expect("an object");
    let dwarf = Dwarf::read_with(
        &object,
        &ReadOptions::new().dialect(consumer.expressions.dialect).draft(consumer.expressions.draft),
    )
    .expect("DWARF");
    let info = DebugInfo::new(&dwarf);
    let all = u64::MAX >> (64 - lanes);
    let mut reader = Reader { info: &info, target: &target, evaluator: Evaluator::new(), lanes: all };
    let registers = registers(&target);
    let mut counts = Counts::default();
    for (program, code) in programs.iter().zip(&codes) {
        let _running = Running(program.seed);
        let function = Function::new(&object, &dwarf, &name(program), code, consumer);
        let mut random = Random(program.seed ^ 0x5eed);
        // Mostly, some lanes do not enter.
        let active = match random.below(6) {
            0 => all,
            1 => 1 << random.below(lanes.into()),
            _ => random.number() & all,
        };
        let mut wave = Wave::new(program, code, lanes, active);
        let place = |wave: &Wave<'_>| {
            format!("seed {}, {size:?}, {}, pc {:#x}", program.seed, consumer.name, wave.pc())
        };
        let mut seen: HashMap<_, HashSet<_>> = HashMap::new();
        loop {
            let stopped = Stopped { wave: &wave, registers: &registers, start: function.start };
            let here = function.scopes.iter().filter(|scope| scope.pcs.contains(&wave.pc()));
            for scope in here {
                let standing = wave.standing(scope.id);
                // Repeated states of an iteration are compared once, and at most a few times per pc.
                let known = seen.entry((scope.id, wave.pc())).or_default();
                if known.len() == ITERATIONS || !known.insert((wave.exec, standing.clone())) {
                    continue;
                }
                let found = reader.standing(at(&scope.lane_pc, wave.pc()), scope.entry, &stopped);
                assert_eq!(found, standing, "{}, in {}", place(&wave), scope.id);
                counts.waiting += standing.iter().flatten().filter(|&&pc| pc != wave.pc()).count() as u64;
                counts.vectors += 1;
                if consumer.attributes.active_lane.is_some() {
                    let mask = if scope.active_lane.is_empty() {
                        wave.exec
                    } else {
                        reader.active(at(&scope.active_lane, wave.pc()), scope.entry, &stopped)
                    };
                    assert_eq!(mask, wave.active(), "{}", place(&wave));
                }
            }
            if !wave.step() {
                break;
            }
        }
        assert!(wave.is_done(), "{}", place(&wave));
        assert_eq!(wave.exec, active, "{}", place(&wave));
        counts.programs += 1;
        counts.inlined += code.inlined.len() as u64;
        counts.whole_waves += code.whole_waves.len() as u64;
        let depth = |region: &super::compile::Region| {
            std::iter::successors(region.parent, |&parent| code.regions[parent].parent).count() + 1
        };
        counts.deepest = counts.deepest.max(code.regions.iter().map(depth).max().unwrap_or(0));
        counts.regions += code.regions.len() as u64;
        counts.bytes += code.instructions.len() as u64 * BYTES;
    }
    counts
}

/// Counts of comparisons.
#[derive(Debug, Default)]
struct Counts {
    programs: u64,
    regions: u64,
    bytes: u64,
    inlined: u64,
    whole_waves: u64,
    deepest: usize,
    /// Number of compared vectors with an element per lane.
    vectors: u64,
    /// Number of waiting lanes.
    waiting: u64,
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.programs += other.programs;
        self.regions += other.regions;
        self.bytes += other.bytes;
        self.inlined += other.inlined;
        self.whole_waves += other.whole_waves;
        self.deepest = self.deepest.max(other.deepest);
        self.vectors += other.vectors;
        self.waiting += other.waiting;
    }
}

/// Runs one part of the seeds.
fn run_part(part: u64, parts: u64) {
    let choices = [
        (Size::W32, Consumer::llvm()),
        (Size::W64, Consumer::rocgdb()),
        (Size::W32, Consumer::rocgdb_legacy()),
        (Size::W64, Consumer::llvm()),
        (Size::W32, Consumer::rocgdb()),
        (Size::W64, Consumer::rocgdb_legacy()),
    ];
    let mut counts = Counts::default();
    for module in (part..PROGRAMS / IN_MODULE).step_by(parts as usize) {
        let (size, consumer) = &choices[module as usize % choices.len()];
        let first = module * IN_MODULE;
        counts.add(run(first..first + IN_MODULE, *size, consumer));
    }
    println!("{counts:?}");
    assert_eq!(counts.programs, PROGRAMS / parts);
    // The programs cover all features.
    assert!(counts.deepest >= 5 && counts.inlined > 0 && counts.whole_waves > 0, "{counts:?}");
    assert!(counts.waiting > counts.vectors, "{counts:?}");
}

#[test]
fn random_programs_run_as_they_are_described() {
    run_part(0, 4);
}

#[test]
fn more_random_programs_run_as_they_are_described() {
    run_part(1, 4);
}

#[test]
fn further_random_programs_run_as_described() {
    run_part(2, 4);
}

#[test]
fn the_rest_of_the_random_programs_run_as_they_are_described() {
    run_part(3, 4);
}
