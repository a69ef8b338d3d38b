//! Objects in pieces, and numbers in them, on machines of both byte orders.
//!
//! The expectation is a list of bits, worked out here by DWARF 5 section 2.6.1.2: the pieces follow each other in memory
//! order. A register and a value have their bits from the least significant on, and so has the value of constant bytes;
//! bits of memory are in the order of the target, which on a big-endian machine begins at the most significant bit of a
//! byte. gdb prints the same objects.

use eitri::build::Builder;
use eitri::consumer::{Consumer, Policy};
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::eval::{Context, Evaluator, Snapshot, read_bits};
use eitri::lower::lower;
use eitri::model::{BaseEncoding, Loc, Module, Val, VariableId};
use eitri::op::{Dialect, Encoding, Reg, text};
use eitri::read::{Dwarf, Object, ResolvedValue};
use eitri::target::{SpaceId, Target};
use pretty_assertions::assert_eq;

use crate::common::cases::{Random, cases};
use crate::common::tools::{Folder, Tool};

const GDB: Tool = Tool::new("gdb-multiarch", "gdb-multiarch");

/// Where a piece's bits are.
#[derive(Debug, Clone)]
enum Source {
    Register(Reg),
    Memory(u64),
    Value(u64),
    Constant(Vec<u8>),
}

/// A piece: `bits` bits from bit `from` on, in the order of DWARF.
#[derive(Debug, Clone)]
struct Piece {
    source: Source,
    from: usize,
    bits: usize,
}

/// A byte of the machine's memory.
fn memory_byte(address: u64) -> u8 {
    (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u8
}

/// The number in a register.
fn register(reg: Reg) -> u64 {
    0x0123_4567_89ab_cdef_u64.rotate_left(reg.0 as u32 * 7) ^ 0x55
}

/// A number's bits in memory order: the most significant bit first on a big-endian machine.
fn in_order(number: u64, bits: usize, is_big: bool) -> Vec<bool> {
    let mut stream: Vec<bool> = (0..bits).map(|bit| number >> bit & 1 == 1).collect();
    if is_big {
        stream.reverse();
    }
    stream
}

/// Bits of bytes in memory order.
fn stream(bytes: &[u8], is_big: bool) -> Vec<bool> {
    bytes.iter().flat_map(|&byte| in_order(byte.into(), 8, is_big)).collect()
}

impl Piece {
    fn stream(&self, is_big: bool) -> Vec<bool> {
        let Self { source, from, bits } = self;
        let number = |number: u64| in_order(number >> from, *bits, is_big);
        match source {
            Source::Register(reg) => number(register(*reg)),
            Source::Value(value) => number(*value),
            Source::Memory(address) => {
                let bytes: Vec<u8> = (*address..*address + 12).map(memory_byte).collect();
                stream(&bytes, is_big)[*from..from + bits].to_vec()
            }
            // The least significant bit of the constant is in the first byte, or in the last.
            Source::Constant(bytes) => {
                let first = if is_big { 8 * bytes.len() - from - bits } else { *from };
                stream(bytes, is_big)[first..first + bits].to_vec()
            }
        }
    }

    fn operations(&self) -> String {
        let Self { source, from, bits } = self;
        let source = match source {
            Source::Register(reg) => format!("reg{}", reg.0),
            Source::Memory(address) => format!("addr {address:#x}"),
            Source::Value(value) => format!("const8u {value:#x}; stack_value"),
            Source::Constant(bytes) => {
                let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                format!("implicit_value {{{}}}", bytes.join(" "))
            }
        };
        if *from == 0 && bits % 8 == 0 && !matches!(self.source, Source::Constant(_)) {
            format!("{source}; piece {}", bits / 8)
        } else {
            format!("{source}; bit_piece {bits} {from}")
        }
    }

    /// The same bits as a location, in which bits of constant bytes are in memory order.
    fn loc(&self, is_big: bool) -> (Loc, u64) {
        let Self { source, from, bits } = self;
        let (loc, from) = match source {
            Source::Register(reg) => (Loc::register(*reg), *from),
            Source::Memory(address) => (Loc::memory(SpaceId::DEFAULT, Val::constant(*address)), *from),
            Source::Value(value) => (Loc::value(Val::constant(*value)), *from),
            Source::Constant(bytes) if is_big => (Loc::implicit(bytes), 8 * bytes.len() - from - bits),
            Source::Constant(bytes) => (Loc::implicit(bytes), *from),
        };
        let loc = if from % 8 == 0 { loc.offset(from as i64 / 8) } else { loc.bit_offset(from as i64) };
        (if from == 0 { source_only(source) } else { loc }, *bits as u64)
    }
}

fn source_only(source: &Source) -> Loc {
    match source {
        Source::Register(reg) => Loc::register(*reg),
        Source::Memory(address) => Loc::memory(SpaceId::DEFAULT, Val::constant(*address)),
        Source::Value(value) => Loc::value(Val::constant(*value)),
        Source::Constant(bytes) => Loc::implicit(bytes),
    }
}

/// Which storage pieces have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Storages {
    Known,
    Any,
}

fn piece(random: &mut Random, storages: Storages) -> Piece {
    let source = match random.below(if storages == Storages::Any { 4 } else { 2 }) {
        0 => Source::Value(random.next()),
        1 => Source::Constant((0..1 + random.below(12)).map(|_| random.next() as u8).collect()),
        2 => Source::Register(Reg(random.below(16) as u64)),
        _ => Source::Memory(0x1000 + random.next() % 0x1000),
    };
    let size = match &source {
        Source::Constant(bytes) => 8 * bytes.len(),
        _ => 64,
    };
    let bits = 1 + random.below(size);
    let from = random.below(size - bits + 1);
    let whole = |bits: usize| (bits / 8 * 8).max(8);
    match random.below(3) {
        0 => Piece { source, from: 0, bits: whole(bits) },
        1 => Piece { source, from: from / 8 * 8, bits: whole(bits) },
        _ => Piece { source, from, bits },
    }
}

fn pieces(random: &mut Random, storages: Storages) -> Vec<Piece> {
    (0..1 + random.below(5)).map(|_| piece(random, storages)).collect()
}

fn object_stream(pieces: &[Piece], is_big: bool) -> Vec<bool> {
    pieces.iter().flat_map(|piece| piece.stream(is_big)).collect()
}

/// Bytes of bits in memory order. Bits that the last byte lacks are 0.
fn packed(stream: &[bool], is_big: bool) -> Vec<u8> {
    let byte = |bits: &[bool]| {
        let weight = |index: usize| if is_big { 0x80 >> index } else { 1 << index };
        bits.iter().enumerate().map(|(index, &bit)| if bit { weight(index) } else { 0u8 }).sum()
    };
    stream.chunks(8).map(byte).collect()
}

/// The number in bits in memory order.
fn number(stream: &[bool], is_big: bool) -> u64 {
    let push = |number, &bit: &bool| number << 1 | u64::from(bit);
    if is_big { stream.iter().fold(0, push) } else { stream.iter().rev().fold(0, push) }
}

fn targets() -> [Target; 2] {
    [Target::x86_64(), Target::s390x()]
}

/// Registers of 64 bits by the numbers 0 to 15, of both targets.
fn machine(target: &Target) -> Snapshot {
    let mut machine = Snapshot::default();
    machine.big_endian = target.is_big_endian();
    for reg in (0..16).map(Reg) {
        machine.registers.insert(reg, register(reg).to_le_bytes().to_vec());
    }
    for address in 0x1000..0x2100 {
        machine.store(SpaceId::DEFAULT, None, address, &[memory_byte(address)]);
    }
    machine
}

/// Registers 0 to 15 of s390x are general registers; registers above have other sizes.
fn encoding(target: &Target) -> Encoding {
    Encoding::new(8, Dialect::Dwarf5).with_big_endian(target.is_big_endian())
}

fn evaluated(expr: &[u8], bits: usize, target: &Target) -> Vec<u8> {
    let context = Context::new(encoding(target), target);
    let machine = machine(target);
    let location = Evaluator::new().location(expr, &machine, &context).expect("a location");
    read_bits(&location, bits as u64, &machine).expect("bits").bytes
}

#[test]
fn pieces_are_read_in_the_byte_order_of_the_machine() {
    let mut random = Random(0x5eed_0001);
    for case in 0..cases(3000) {
        let pieces = pieces(&mut random, Storages::Any);
        for target in targets() {
            let is_big = target.is_big_endian();
            let expected = object_stream(&pieces, is_big);
            let operations: Vec<String> = pieces.iter().map(Piece::operations).collect();
            let operations = operations.join("; ");
            let expr = text::parse(&operations, encoding(&target), Some(&target)).expect("an expression");
            // An object can be smaller than its pieces.
            let bits = if case % 2 == 0 { expected.len() } else { 1 + random.below(expected.len()) };
            let found = evaluated(expr.bytes(), bits, &target);
            assert_eq!(
                found,
                packed(&expected[..bits], is_big),
                "{bits} of {operations} on {}",
                target.name()
            );
        }
    }
}

/// The input that showed the mistake: pieces of a value are its least significant bits.
#[test]
fn bit_pieces_of_a_value_are_its_least_significant_bits() {
    let target = Target::s390x();
    let operations = "const8u 0x1122334455668001; stack_value; bit_piece 15 0; bit_piece 1 0";
    let expr = text::parse(operations, encoding(&target), Some(&target)).expect("an expression");
    let context = Context::new(encoding(&target), &target);
    let location = Evaluator::new().location(expr.bytes(), &machine(&target), &context).expect("a location");
    let read = read_bits(&location, 16, &machine(&target)).expect("bits");
    assert_eq!((read.bytes, read.defined), (vec![0x00, 0x02], vec![0xff, 0xfe]));
    // An object smaller than its value has the least significant bits, too.
    let expr =
        text::parse("const8u 0x1122334455667788; stack_value", encoding(&target), Some(&target)).unwrap();
    assert_eq!(evaluated(expr.bytes(), 32, &target), [0x55, 0x66, 0x77, 0x88]);
}

/// A described object and its expected bytes, or number.
struct Described {
    id: VariableId,
    name: String,
    stream: Vec<bool>,
    /// Number of bits that are read as a number, if it is a number.
    number: Option<usize>,
}

impl Described {
    fn expected(&self, is_big: bool) -> Vec<u8> {
        match self.number {
            None => packed(&self.stream, is_big),
            Some(bits) => {
                let number = number(&self.stream[..bits], is_big);
                if is_big { number.to_be_bytes().into() } else { number.to_le_bytes().into() }
            }
        }
    }
}

/// Describes objects in pieces, and numbers in pieces.
fn module(target: &Target, count: usize, seed: u64, storages: Storages) -> (Module, Vec<Described>) {
    let mut random = Random(seed);
    let mut m = Builder::new(target.clone());
    let unit = m.unit("a.c");
    let byte = m.base_type(unit, "byte", BaseEncoding::Unsigned, 8).unwrap();
    let long = m.base_type(unit, "long", BaseEncoding::Unsigned, 64).unwrap();
    let mut all = Vec::new();
    let is_big = target.is_big_endian();
    for index in 0..count {
        let pieces = pieces(&mut random, storages);
        let mut stream = object_stream(&pieces, is_big);
        let parts: Vec<(Loc, u64)> = pieces.iter().map(|piece| piece.loc(is_big)).collect();
        let bits = 1 + random.below(stream.len().min(64));
        let (loc, ty, number) = if index % 2 == 0 && stream.len() >= 8 {
            // The type has whole bytes, and can be smaller than the parts.
            let bytes = 1 + random.below(stream.len() / 8);
            stream.truncate(8 * bytes);
            (Loc::parts(parts), m.array(unit, byte, &[Some(bytes as u64)]).unwrap(), None)
        } else {
            (Loc::value(Loc::parts(parts).read(bits as u32)), long, Some(bits))
        };
        let name = format!("x{index}");
        let id = m.variable(unit, &name, ty).unwrap().always(loc).map(|variable| variable.id());
        let id = id.unwrap_or_else(|error| panic!("{error}: {pieces:?}"));
        all.push(Described { id, name, stream, number });
    }
    (m.finish().unwrap(), all)
}

/// Writes and checks the description. Returns the object, and the omitted variables.
fn written(module: &Module, consumer: &Consumer) -> (Vec<u8>, Vec<VariableId>) {
    let written = lower(module, consumer, Policy::Partial).expect("sections");
    let code = ObjectCode::text(vec![0; 16]).with_function("f", 0, 16);
    let object = new_object(module.target(), &code, &written.sections).expect("an object");
    let report = eitri::check(module, consumer, &written.omissions, &object).expect("is read");
    assert!(report.is_clean(), "{}: {report}", module.target().name());
    assert!(report.unproven.is_empty(), "{report}");
    let omitted = written.omissions.iter().map(|omission| {
        let variable = omission.variable().unwrap_or_else(|| panic!("{omission}"));
        // Only a register's number that no type of the unit has, and a read of more than an address, are left out.
        assert!(omission.to_string().contains("read"), "{omission}");
        variable
    });
    let omitted = omitted.collect();
    (object, omitted)
}

#[test]
fn described_pieces_and_numbers_have_the_byte_order_of_the_target() {
    for target in targets() {
        let (module, described) = module(&target, cases(400), 0x5eed_0002, Storages::Any);
        let (object, omitted) = written(&module, &Consumer::dwarf5());
        let object = Object::read(&object).expect("an object");
        let dwarf = Dwarf::read(&object).expect("DWARF");
        let entries: Vec<_> = dwarf.entries().filter(|entry| entry.tag() == gimli::DW_TAG_variable).collect();
        let mut compared = 0;
        for Described { name, .. } in &described {
            assert!(entries.iter().any(|entry| entry.name().as_deref() == Some(name)), "{name}");
        }
        for entry in entries {
            let one =
                described.iter().find(|described| entry.name().as_deref() == Some(&described.name)).unwrap();
            let Some(ResolvedValue::Expr(expr)) = entry.attr(gimli::DW_AT_location) else {
                assert!(omitted.contains(&one.id), "{}", one.name);
                continue;
            };
            let expected = one.expected(target.is_big_endian());
            let shown = text::print(expr, encoding(&target), Some(&target));
            assert_eq!(evaluated(expr, 8 * expected.len(), &target), expected, "{}: {shown}", one.name);
            compared += 1;
        }
        assert!(compared * 10 >= described.len() * 7, "{compared} of {}", described.len());
    }
}

#[test]
fn a_debugger_prints_known_pieces_in_the_byte_order_of_the_target() {
    let folder = Folder::new();
    for target in targets() {
        let is_big = target.is_big_endian();
        let (module, described) = module(&target, cases(120), 0x5eed_0003, Storages::Known);
        let (object, omitted) = written(&module, &Consumer::dwarf5());
        assert!(omitted.is_empty(), "{omitted:?}");
        let path = folder.file(&format!("{}.o", target.name()), object);
        let mut commands = String::from("set print repeats 0\nset print elements 0\n");
        for Described { name, .. } in &described {
            commands += &format!("output/x {name}\necho \\n\n");
        }
        let commands = folder.file("commands", commands);
        let arguments = ["-batch", "-nx", "-x"].map(Into::into);
        let arguments: Vec<std::ffi::OsString> =
            arguments.into_iter().chain([commands.into_os_string(), path.into_os_string()]).collect();
        let Some(ran) = GDB.run(&arguments) else { return };
        let found = ran.clean();
        let lines: Vec<&str> = found.lines().collect();
        assert_eq!(lines.len(), described.len(), "{found}");
        for (one, line) in described.iter().zip(lines) {
            let expected = one.expected(is_big);
            let expected = match one.number {
                Some(bits) => format!("{:#x}", number(&one.stream[..bits], is_big)),
                None => {
                    let bytes: Vec<String> = expected.iter().map(|byte| format!("{byte:#x}")).collect();
                    format!("{{{}}}", bytes.join(", "))
                }
            };
            assert_eq!(line, expected, "{} on {}", one.name, target.name());
        }
    }
}
