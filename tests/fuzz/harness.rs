//! What is done with any input, and what must hold then. The targets in `fuzz/` and the bounded run in
//! `tests/fuzz` do the same.

use eitri::conform::{File, Machine, Verdict, location};
use eitri::eval::{
    BaseType, Caller, Class, Context, Element, Evaluator, InLane, Kind, Limits, ListEntry, Location,
    OwnedBody, Snapshot, TypeEncoding, Where, read_bits, read_pointer, same, spans, write_bits,
};
use eitri::op::{Code, Decoder, Dialect, DraftCodes, Encoder, Encoding, Name, Reg, text};
use eitri::target::{SpaceId, Target};

/// Small enough that an evaluation takes no time that is noticed.
const LIMITS: Limits = Limits { steps: 5_000, depth: 16, stack: 256, parts: 1024 };

/// Any bytes, as choices.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    /// The next byte, 0 where none is left.
    fn byte(&mut self) -> u8 {
        self.0.split_off_first().copied().unwrap_or(0)
    }

    fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    fn number(&mut self) -> u64 {
        let len = usize::from(self.byte() % 9);
        self.take(len).iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
    }

    /// A number that is small most of the time.
    fn small(&mut self) -> u64 {
        match self.byte() {
            byte @ ..0xf0 => u64::from(byte) % 16,
            _ => self.number(),
        }
    }

    fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// Up to so many bytes, with their number before them.
    fn block(&mut self) -> &'a [u8] {
        let len = usize::from(self.byte());
        self.take(len)
    }

    fn encoding(&mut self) -> Encoding {
        let (what, sizes) = (self.byte(), self.byte());
        let dialects = [Dialect::Dwarf5, Dialect::Llvm, Dialect::Legacy, Dialect::Dwarf6];
        let mut encoding =
            Encoding::new([8, 4, 2, 1][usize::from(sizes) % 4], dialects[usize::from(what) % 4]);
        encoding.offset_bytes = if sizes & 4 == 0 { 4 } else { 8 };
        encoding.version = 2 + u16::from(sizes >> 3) % 5;
        encoding.big_endian = what & 4 != 0;
        if what & 8 != 0 {
            encoding.draft = draft();
        }
        encoding
    }
}

/// Numbers for all operations that the draft leaves without one.
fn draft() -> DraftCodes {
    let free = (0xac..=0xaf).chain(0xb1..=0xdd);
    let unassigned = Name::ALL.iter().filter(|name| name.row().six == Code::Unassigned);
    unassigned.zip(free).fold(DraftCodes::NONE, |draft, (&name, code)| draft.with(name, code))
}

/// Decodes. What can be decoded is written again to the same bytes, and printed.
pub fn decode(data: &[u8]) {
    let mut input = Input(data);
    let encoding = input.encoding();
    let bytes = input.0;
    let (mut end, mut is_whole) = (0, true);
    let mut again = Vec::new();
    let mut encoder = Encoder::new(&mut again, encoding);
    let mut decoder = Decoder::new(bytes, encoding);
    while let Some(decoded) = decoder.next() {
        let Ok(decoded) = decoded else {
            is_whole = false;
            break;
        };
        assert_eq!(decoded.offset, end, "operations follow each other");
        assert!(decoder.offset() > end && decoder.offset() <= bytes.len());
        end = decoder.offset();
        encoder.spelled(decoded.op, decoded.spelling);
    }
    encoder.finish().expect("an operation that was read is written");
    assert_eq!(again, bytes[..end], "an operation is written as it was read");

    let target = Target::x86_64();
    let printed = text::print(bytes, encoding, Some(&target));
    // What cannot be decoded, perhaps in an inner expression, is printed in brackets.
    if is_whole && !printed.contains('<') {
        let parsed = text::parse(&printed, encoding, Some(&target)).expect("what was printed is read");
        // The padding of numbers is not printed, and where there was some, branches may go elsewhere.
        if parsed.bytes().len() == bytes.len() {
            assert_eq!(parsed.bytes(), bytes, "{encoding:?}: {printed}");
        }
    }
    let _ = text::parse(&String::from_utf8_lossy(bytes), encoding, Some(&target));
}

/// Evaluates an expression or a list on a machine. What comes out is read and written.
pub fn eval(data: &[u8]) {
    let mut input = Input(data);
    let mut encoding = input.encoding();
    let (target, what) = (target(input.byte()), input.byte());
    encoding.address_bytes = if what & 1 == 0 { target.address_bytes() } else { encoding.address_bytes };
    let mut machine = machine(&mut input, &target);
    machine.big_endian = encoding.big_endian;
    let initial = element(&mut input, &target, encoding);
    let context = Context {
        unit: 0x10,
        frame: u32::from(what >> 1 & 1),
        initial: if what & 4 == 0 { &[] } else { core::slice::from_ref(&initial) },
        kind: [Kind::Location, Kind::Any, Kind::Value, Kind::Location][usize::from(what >> 3) % 4],
        place: if what & 0x20 == 0 { Where::Location } else { Where::Cfi },
        ..Context::new(encoding, &target)
    };
    let (bits, written) = (u64::from(input.byte()), input.block());
    let expr = input.0;

    let mut evaluator = Evaluator::new().with_limits(LIMITS);
    let result = evaluator.evaluate(expr, &machine, &context);
    let mut steps = 0;
    let traced = evaluator.traced(expr, &machine, &context, &mut |_| steps += 1);
    assert_eq!(result, traced, "a trace changes nothing");
    assert!(steps <= LIMITS.steps, "{steps} steps");
    if let Ok(Element::Location(location)) = &result {
        at(location, bits, written, &machine);
    }
    // Lanes of the wave, and most likely one beyond.
    let lanes = [0, 1, 2, 63];
    let wave = evaluator.wave(expr, lanes.iter().fold(0, |all, lane| all | 1 << lane), &machine, &context);
    for lane in lanes {
        let alone = evaluator.evaluate(expr, &InLane::new(&machine, lane.into()), &context);
        assert_eq!(wave.lane(lane), Some(alone), "lane {lane}");
    }
    let half = expr.len() / 2;
    let list = [list_entry(&expr[..half], Some((0, 8))), list_entry(&expr[half..], Some((4, 9)))];
    if let Ok(location) = evaluator.list(&list, &machine, &context) {
        at(&location, bits, written, &machine);
    }
}

/// What can be done at a location.
fn at(location: &Location, bits: u64, bytes: &[u8], machine: &Snapshot) {
    let printed = location.to_string();
    let read = read_bits(location, bits, machine);
    let _ = read_pointer(location, bits);
    if let Ok(spans) = spans(location, bits.into()) {
        assert!(same(&spans, &spans), "a location equals itself: {printed}");
        let sum: u128 = spans.iter().map(|span| span.bits).sum();
        assert_eq!(sum, bits.into(), "{printed}");
        if let Ok(read) = &read {
            assert_eq!(read.bytes.len() as u64, bits.div_ceil(8));
        }
    }
    let mut after = machine.clone();
    if let Err(fault) = write_bits(location, bits, bytes, &mut after)
        && fault.class == Class::Evaluation
    {
        assert!(after == *machine, "a store that is refused changed something: {printed}");
    }
}

fn target(choice: u8) -> Target {
    let name = ["x86_64", "amdgpu-gfx1030-wave32", "amdgpu-gfx900-wave64", "s390x"][usize::from(choice) % 4];
    Target::named(name).expect("a target")
}

fn list_entry(expr: &[u8], bounds: Option<(u64, u64)>) -> ListEntry<'static> {
    ListEntry { bounds, expr: expr.to_vec().into() }
}

fn machine(input: &mut Input<'_>, target: &Target) -> Snapshot {
    let what = input.byte();
    let mut machine = Snapshot {
        lane: (what & 1 != 0).then(|| input.small()),
        lanes: (what & 2 != 0).then(|| input.small()),
        iteration: (what & 4 != 0).then(|| input.small()),
        iterations: (what & 8 != 0).then(|| input.small()),
        pc: (what & 0x10 != 0).then(|| input.small()),
        tls: (what & 0x20 != 0).then(|| input.small()),
        ..Snapshot::default()
    };
    for _ in 0..input.byte() % 4 {
        let registers: Vec<Reg> = target.registers().map(|register| register.reg).collect();
        let reg = registers[input.small() as usize % registers.len()];
        machine.registers.insert(reg, input.block().to_vec());
    }
    for _ in 0..input.byte() % 4 {
        let lane = input.flag().then(|| input.small() as u32);
        machine.store(SpaceId(u32::from(input.byte() % 8)), lane, input.small(), input.block());
    }
    for _ in 0..input.byte() % 3 {
        let (cfa, registers) = (place(input, target), [(Reg(input.small()), place(input, target))]);
        machine.callers.push(Caller { pc: Some(input.small()), cfa: Some(cfa), registers: registers.into() });
    }
    machine.cfa = input.flag().then(|| place(input, target));
    machine.object = input.flag().then(|| place(input, target));
    machine.frame_base = body(input);
    machine.debug_addr = vec![input.number(), input.number()];
    for offset in 0..input.byte() % 5 {
        machine.types.insert((0x10, offset.into()), base_type(input));
    }
    for offset in 0..input.byte() % 4 {
        let unit = if input.flag() { 0x10 } else { 0x20 };
        machine.entries.insert(0x10 + u64::from(offset), (body(input), unit));
    }
    machine
}

fn body(input: &mut Input<'_>) -> OwnedBody {
    match input.byte() % 4 {
        0 => OwnedBody::Nothing,
        1 => OwnedBody::Constant(input.block().to_vec()),
        2 => OwnedBody::Expression(input.block().to_vec()),
        _ => OwnedBody::List(vec![
            list_entry(input.block(), Some((input.small(), input.small()))),
            list_entry(input.block(), None),
        ]),
    }
}

fn base_type(input: &mut Input<'_>) -> BaseType {
    let bits = match input.byte() {
        byte @ ..0xfc => [1, 8, 16, 32, 64, 128, 24, 13][usize::from(byte) % 8],
        _ => input.number() as u32,
    };
    let elements = if input.flag() { 1 + input.small() as u32 % 64 } else { 1 };
    BaseType { encoding: TypeEncoding::from_code(input.byte() % 20), bits, elements }
}

fn place(input: &mut Input<'_>, target: &Target) -> Location {
    let choice = input.byte();
    let number = input.small();
    let text = match choice % 6 {
        0 => format!("mem:0:{number:#x}"),
        1 => format!("reg:{number}"),
        2 => format!("implicit:{number:016x}"),
        3 => format!("implptr:0x10:{}", number as i64),
        4 => format!("[reg:0/{}, undefined/8, (mem:0:0x4 | reg:0+8)/24]", number % 64),
        _ => "undefined".into(),
    };
    location::parse(&text, target).unwrap_or_else(|_| Location::undefined())
}

fn element(input: &mut Input<'_>, target: &Target, encoding: Encoding) -> Element {
    match input.flag() {
        true => Element::Location(place(input, target)),
        false => Element::Value(eitri::eval::Value::generic(input.number(), encoding.address_bytes)),
    }
}

/// Reads a file of vectors, or a machine, and runs it. What is printed of a location is read again.
pub fn conform(data: &[u8]) {
    if let Ok(file) = File::from_json(data) {
        let mut evaluator = Evaluator::new().with_limits(LIMITS);
        for vector in file.vectors() {
            let outcome = vector.run_with(&mut evaluator);
            assert!(Verdict::ALL.contains(&outcome.verdict), "{outcome}");
        }
    }
    let target = Target::x86_64();
    if let Ok(machine) = Machine::from_json(data, &target.clone().into()) {
        let Ok(Element::Location(location)) = Evaluator::new().with_limits(LIMITS).evaluate(
            &[0x9c],
            &machine.snapshot,
            &Context::new(ENCODING, &target),
        ) else {
            return;
        };
        let printed = location.to_string();
        let read = location::parse(&printed, &target).expect("what was printed is read");
        assert_eq!(read.to_string(), printed);
    }
    if let Ok(text) = core::str::from_utf8(data)
        && let Ok(location) = location::parse(text, &target)
    {
        let printed = location.to_string();
        let read = location::parse(&printed, &target).expect("what was printed is read");
        assert_eq!(read, location, "{printed}");
    }
}

const ENCODING: Encoding = Encoding::new(8, Dialect::Llvm);
