//! Fuzzed entry points and their invariants. The targets in `fuzz/` and the bounded run in `tests/fuzz` share this
//! code.

use eitri::conform::{VectorFile, VectorMachine, Verdict, location};
use eitri::eval::{
    BaseType, CallStack, Caller, Class, Context, Element, Evaluator, ExpressionSite, InLane, Limits,
    Location, LocationListEntry, OwnedBody, ResultKind, Snapshot, TypeEncoding, are_equal, read_bits,
    read_pointer, spans, write_bits,
};
use eitri::op::{Decoder, Dialect, DraftCodes, Encoder, Encoding, Opcode, OperationName, Reg, text};
use eitri::read::{FrameSection, Frames, Sections};
use eitri::target::{ByteOrder, SpaceId, Target};

/// Small limits, so that each evaluation is fast.
const LIMITS: Limits = {
    let mut limits = Limits::new();
    limits.steps = 5_000;
    limits.depth = 16;
    limits.stack = 256;
    limits.parts = 1024;
    limits
};

/// Random bytes as choices.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    /// The next byte; 0 after the end.
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

    /// A number that is mostly small.
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

    /// A block with a length byte, possibly truncated.
    fn block(&mut self) -> &'a [u8] {
        let len = usize::from(self.byte());
        self.take(len)
    }

    fn encoding(&mut self) -> Encoding {
        let what = self.byte();
        let sizes = self.byte();
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

/// Codes for all operations without a number in the draft.
fn draft() -> DraftCodes {
    let free = (0xac..=0xaf).chain(0xb1..=0xdd);
    let unassigned = OperationName::ALL.iter().filter(|name| name.row().six == Opcode::Unassigned);
    unassigned.zip(free).fold(DraftCodes::NONE, |draft, (&name, code)| draft.with(name, code))
}

/// Decodes bytes. Decoded operations encode to the same bytes, and can be printed.
pub fn decode(data: &[u8]) {
    let mut input = Input(data);
    let encoding = input.encoding();
    let bytes = input.0;
    let mut end = 0;
    let mut is_whole = true;
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
    // Undecodable parts, also of inner expressions, are printed in brackets.
    if is_whole && !printed.contains('<') {
        let parsed = text::parse(&printed, encoding, Some(&target)).expect("what was printed is read");
        // Padding of numbers is not printed; without it, branch targets may change.
        if parsed.bytes().len() == bytes.len() {
            assert_eq!(parsed.bytes(), bytes, "{encoding:?}: {printed}");
        }
    }
    let _ = text::parse(&String::from_utf8_lossy(bytes), encoding, Some(&target));
}

/// Evaluates an expression or a list on a machine, then reads and writes at the result.
pub fn eval(data: &[u8]) {
    let mut input = Input(data);
    let mut encoding = input.encoding();
    let target = target(input.byte());
    let what = input.byte();
    encoding.address_bytes = if what & 1 == 0 { target.address_bytes() } else { encoding.address_bytes };
    let mut machine = machine(&mut input, &target);
    machine.big_endian = encoding.big_endian;
    let initial = element(&mut input, &target, encoding);
    let context = Context::new(encoding, &target)
        .with_unit(0x10)
        .with_frame(u32::from(what >> 1 & 1))
        .with_initial(if what & 4 == 0 { &[] } else { core::slice::from_ref(&initial) })
        .with_kind(
            [ResultKind::Location, ResultKind::Any, ResultKind::Value, ResultKind::Location]
                [usize::from(what >> 3) % 4],
        )
        .with_place(if what & 0x20 == 0 { ExpressionSite::Location } else { ExpressionSite::Cfi });
    let bits = u64::from(input.byte());
    let written = input.block();
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
    // Lanes of the wave, and probably one beyond.
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

/// Reads containers and judges their objects, or the bytes as an object.
pub fn lint(data: &[u8]) {
    let options = eitri::lint::LintOptions::default();
    if let Ok(Some(all)) = eitri::read::containers::members(data) {
        for bytes in all.iter().filter_map(|member| member.bytes.as_deref()) {
            let _ = eitri::lint::lint(bytes, &options);
        }
    }
    if let Ok(report) = eitri::lint::lint(data, &options) {
        for finding in &report.findings {
            let _ = finding.fingerprint();
            // The part at fault is a part of the text.
            assert!(finding.expression.as_ref().is_none_or(|one| one.text.get(one.fault.clone()).is_some()));
        }
        let _ = eitri::stats::stats(data, &eitri::stats::StatsOptions::default());
        let build = eitri::stats::Build::new(data);
        let _ = eitri::stats::variable_lines(build, Some(build), true);
        let _ = eitri::report::report(data, &eitri::report::ReportOptions::default());
    }
}

/// Takes containers apart, with those in them.
pub fn containers(data: &[u8]) {
    fn open(data: &[u8], depth: u32) {
        let Ok(Some(all)) = eitri::read::containers::members(data) else { return };
        for bytes in all.iter().filter_map(|member| member.bytes.as_deref()).filter(|_| depth > 0) {
            open(bytes, depth - 1);
        }
    }
    open(data, 4);
}

/// Unwinds with random call frame information: arbitrary bytes, or instructions in valid entries.
pub fn unwind(data: &[u8]) {
    let mut input = Input(data);
    let mut encoding = input.encoding();
    let target = target(input.byte());
    let what = input.byte();
    encoding.address_bytes = target.address_bytes();
    encoding.big_endian = target.is_big_endian();
    let is_eh = what & 1 != 0;
    // Numbered registers: from s0 on, where they exist.
    let first = if target.lanes() > 1 { 32 } else { 0 };
    let bytes =
        if what & 6 == 0 { input.block().to_vec() } else { entries(&mut input, encoding, is_eh, first) };
    let mut sections = Sections::default();
    sections.big_endian = encoding.big_endian;
    *(if is_eh { &mut sections.eh_frame } else { &mut sections.debug_frame }) = &bytes;
    let section = if is_eh { FrameSection::Eh } else { FrameSection::Debug };
    let Ok(frames) = Frames::read(&sections, section, encoding) else { return };
    // Registers and memory contain small numbers: pcs and addresses.
    let mut machine = Snapshot::default();
    machine.big_endian = encoding.big_endian;
    machine.pc = Some(u64::from(input.byte() & 0x3f));
    machine.lane = input.flag().then_some(1);
    machine.lanes = Some(64);
    let mut small = |bytes: usize| {
        let mut number = vec![0; bytes];
        number[if encoding.big_endian { bytes - 1 } else { 0 }] = input.byte() & 0x7f;
        number
    };
    for register in (first..first + 16).filter_map(|reg| target.register(Reg(reg.into()))) {
        let mut bytes = small(register.bits as usize / 8);
        // Bytes of registers count from the least significant one.
        if encoding.big_endian {
            bytes.reverse();
        }
        machine.registers.insert(register.reg, bytes);
    }
    for space in [SpaceId::DEFAULT, SpaceId::PRIVATE_WAVE] {
        (0..16).for_each(|word| machine.store(space, None, word * 8, &small(8)));
    }
    for pc in (0..32).chain([u64::MAX - 1, u64::MAX]) {
        let first = frames.fdes.iter().find(|fde| fde.covers(pc)).map(|fde| fde.offset);
        assert_eq!(frames.fde_at(pc).map(|fde| fde.offset), first, "the index finds what is there");
        if let Ok(Some(row)) = frames.row_at(pc) {
            assert!((row.start..row.end).contains(&pc));
            assert!(row.rules.is_sorted_by(|one, next| one.0 < next.0), "a rule for each register, in order");
        }
    }
    let frames = [frames];
    let stack = || CallStack::new(&machine, &frames, &target).with_frame_limit(20).with_limits(LIMITS);
    let registers: Vec<Reg> = target.registers().map(|register| register.reg).step_by(3).take(24).collect();
    // Walking the frames from the inside or from the outside gives the same result.
    let outward = stack();
    let all: Vec<_> = outward.frames().map_while(Result::ok).collect();
    assert!(all.len() <= 20);
    let inward = stack();
    for frame in all.iter().rev() {
        let same = inward.frame(frame.number()).expect("no fault").expect("it was there");
        assert_eq!((same.pc(), same.resumes_at()), (frame.pc(), frame.resumes_at()));
        assert_eq!(same.cfa(), frame.cfa());
        for &reg in &registers {
            let location = frame.register(reg);
            assert_eq!(same.register(reg), location);
            if let Ok(location) = location {
                let mut bytes = [0; 4];
                let size = target.register(reg).expect("a register").bits;
                let read = frame.read_register(reg, 0, &mut bytes);
                let whole = read_bits(&location, size.into(), &machine);
                if let (Ok(()), Ok(whole)) = (read, whole) {
                    let first = if encoding.big_endian {
                        whole.bytes.iter().rev().take(4).copied().collect()
                    } else {
                        whole.bytes[..4].to_vec()
                    };
                    assert_eq!(bytes[..], first, "the short way: {location}");
                }
            }
        }
        let _ = (frame.saved(registers[0]).map_err(|fault| fault.to_string()), frame.lane_pc(1));
    }
}

/// Entries with valid headers and random instructions.
fn entries(input: &mut Input<'_>, encoding: Encoding, is_eh: bool, first: u8) -> Vec<u8> {
    let number = |bytes: u8, value: u64| {
        if encoding.big_endian {
            value.to_be_bytes()[8 - usize::from(bytes)..].to_vec()
        } else {
            value.to_le_bytes()[..usize::from(bytes)].to_vec()
        }
    };
    let mut section = Vec::new();
    // Version 1 or 4; signal frame or not; alignments 1 and -4; any return address register.
    let is_signal = input.flag();
    let id = if is_eh { 0 } else { u32::MAX.into() };
    let mut cie = number(4, id);
    cie.push(if is_eh { 1 } else { 4 });
    cie.extend(if is_signal { &b"zS\0"[..] } else { b"\0" });
    cie.extend(if is_eh { &[][..] } else { &[8, 0] });
    let return_register = first + (input.byte() & 0xf);
    cie.extend([1, 0x7c, return_register]);
    cie.extend(is_signal.then_some(0));
    // Default rules for the CFA and for the return address at it.
    cie.extend([
        0x0c,
        first + (input.byte() & 0xf),
        input.byte() & 0x3f,
        0x05,
        return_register,
        input.byte() & 7,
    ]);
    cie.extend(instructions(input, first, true));
    section.extend(number(4, cie.len() as u64));
    section.extend(cie);
    for index in 0..1 + u64::from(input.byte() % 4) {
        // CIE pointer to the start: an offset, or a distance backwards.
        let mut fde = number(4, if is_eh { section.len() as u64 + 4 } else { 0 });
        fde.extend(number(8, index * 24 + u64::from(input.byte() & 3)));
        fde.extend(number(8, u64::from(input.byte() & 0x3f)));
        fde.extend(is_signal.then_some(0));
        fde.extend(instructions(input, first, false));
        section.extend(number(4, fde.len() as u64));
        section.extend(fde);
    }
    section
}

/// Valid instructions, or random bytes.
fn instructions(input: &mut Input<'_>, first: u8, is_common: bool) -> Vec<u8> {
    if input.byte() < 0x10 {
        return input.block().to_vec();
    }
    let mut all = Vec::new();
    for _ in 0..input.byte() % 8 {
        let reg = first + (input.byte() & 0xf);
        let number = input.byte() & 0x7f;
        match input.byte() % 12 {
            // Instructions that cannot be in common entries.
            0 | 4 | 8 if is_common => {}
            0 => all.extend([0x40 | number & 7]),
            1 => all.extend([0x0c, reg, number]),
            2 => all.extend([0x30, reg, number, if number & 1 == 0 { 6 } else { 0 }]),
            3 => all.extend([[0x0d, reg], [0x0e, number]][usize::from(number & 1)]),
            4 => all.extend([[0x07, reg], [0x08, reg], [0x06, reg]][usize::from(number) % 3]),
            5 => all.extend([0x05, reg, number & 7]),
            6 => all.extend([0x15, reg, number & 7]),
            7 => all.extend([0x09, reg, first + (number & 0xf)]),
            8 => all.extend([0x0a + (number & 1)]),
            // Expressions with breg, regx and entry values; and random ones.
            _ => {
                let expr = match number % 4 {
                    0 => vec![0x92, first + (number >> 3), 8],
                    1 => vec![0x90, first + (number >> 3)],
                    2 => vec![0xe9, 0x07, first + (number >> 3)],
                    _ => input.block().iter().copied().take(100).collect(),
                };
                match number & 0x18 {
                    0 => all.push(0x0f),
                    8 => all.extend([0x16, reg]),
                    _ => all.extend([0x10, reg]),
                }
                all.push(expr.len() as u8);
                all.extend(expr);
            }
        }
    }
    all
}

/// Exercises the functions on a location.
fn at(location: &Location, bits: u64, bytes: &[u8], machine: &Snapshot) {
    let printed = location.to_string();
    let read = read_bits(location, bits, machine);
    let _ = read_pointer(location, bits);
    if let Ok(spans) = spans(location, bits.into(), ByteOrder::Little) {
        assert!(are_equal(&spans, &spans, ByteOrder::Little), "a location equals itself: {printed}");
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

fn list_entry(expr: &[u8], bounds: Option<(u64, u64)>) -> LocationListEntry<'static> {
    LocationListEntry { bounds, expr: expr.to_vec().into() }
}

fn machine(input: &mut Input<'_>, target: &Target) -> Snapshot {
    let what = input.byte();
    let mut machine = Snapshot::default();
    machine.lane = (what & 1 != 0).then(|| input.small());
    machine.lanes = (what & 2 != 0).then(|| input.small());
    machine.iteration = (what & 4 != 0).then(|| input.small());
    machine.iterations = (what & 8 != 0).then(|| input.small());
    machine.pc = (what & 0x10 != 0).then(|| input.small());
    machine.tls = (what & 0x20 != 0).then(|| input.small());
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
        let cfa = place(input, target);
        let registers = [(Reg(input.small()), place(input, target))];
        machine.callers.push(Caller { pc: Some(input.small()), cfa: Some(cfa), registers: registers.into() });
    }
    machine.cfa = input.flag().then(|| place(input, target));
    machine.object = input.flag().then(|| place(input, target));
    let unit = if input.flag() { 0x10 } else { 0x20 };
    machine.frame_base = Some((body(input), unit));
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
    if input.flag() {
        Element::Location(place(input, target))
    } else {
        Element::Value(eitri::eval::Value::generic(input.number(), encoding.address_bytes))
    }
}

/// Reads a file of vectors, or a machine, and runs it. Printed locations are parsed again.
pub fn conform(data: &[u8]) {
    if let Ok(file) = VectorFile::from_json(data) {
        let mut evaluator = Evaluator::new().with_limits(LIMITS);
        for vector in file.vectors() {
            let outcome = vector.run_with(&mut evaluator);
            assert!(Verdict::ALL.contains(&outcome.verdict), "{outcome}");
        }
    }
    let target = Target::x86_64();
    if let Ok(machine) = VectorMachine::from_json(data, &target.clone().into()) {
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
