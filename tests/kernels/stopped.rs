//! Waves stopped in functions that call each other, and the expected registers of their callers.

use eitri::dump::{Standing, lanes};
use eitri::eval::{CallStack, DebugInfo, Frame, Snapshot, read_bits, spans};
use eitri::read::{Dwarf, FrameSection, Object, ReadOptions};
use eitri::target::{ByteOrder, SpaceId, Target};

use super::{Attached, gfx1030};
use crate::common::with;

/// A function, and an offset in bytes.
pub type Pc = (&'static str, u64);

/// Contents of a register.
#[derive(Debug, Clone, Copy)]
pub enum Holds {
    Number(u32),
    /// A code address; its high half is 0 here.
    Code(Pc),
}

/// Expected result for a register of a caller.
#[derive(Debug, Clone, Copy)]
pub enum Found {
    Is(u32),
    /// Place in scratch memory, at this offset in bytes of the wave.
    InScratch(u64, u32),
    Undefined,
}

/// A register, or a lane of one: `s30`, `v7[25]`.
pub type Name = &'static str;

/// A stopped wave. Lane 5 is active in all its frames, lane 25 in none.
#[derive(Debug)]
pub struct Case {
    pub at: Pc,
    pub exec: u32,
    /// Active lanes, in all frames.
    pub active: u32,
    pub holds: &'static [(Name, Holds)],
    /// Dwords in scratch memory, by offset in bytes of the wave. The rest cannot be read.
    pub scratch: &'static [(u64, u32)],
    /// Canonical frame address of the innermost frame.
    pub cfa: u64,
    /// Callers: resumption pc and canonical frame address of each.
    pub callers: &'static [(Pc, u64)],
    /// Expected registers of frames.
    pub finds: &'static [(u32, Name, Found)],
}

/// Default contents of a register: different for every register and lane.
fn of_nobody(name: &str, lane: u32) -> u32 {
    let number: u32 = name[1..].parse().unwrap_or(0xff);
    match name.as_bytes()[0] {
        b'v' => 0xb000_0000 + (number << 8) + lane,
        _ => 0xa500_0000 + number,
    }
}

/// Splits a name into register and lane.
pub fn split(name: &str) -> (&str, Option<usize>) {
    match name.strip_suffix(']').and_then(|name| name.split_once('[')) {
        Some((register, lane)) => (register, Some(lane.parse().expect("a lane"))),
        None => (name, None),
    }
}

/// A wave with different contents in every register.
pub fn wave(gpu: &Target) -> Snapshot {
    let mut wave = with::<Snapshot>(|machine| machine.lanes = Some(32));
    let scalars = (0..106).map(|n| (format!("s{n}"), 1));
    let vectors = (0..48).map(|n| (format!("v{n}"), 32));
    for (name, lanes) in scalars.chain(vectors).chain([("vcc".into(), 1)]) {
        let bytes = (0..lanes).flat_map(|lane| of_nobody(&name, lane).to_le_bytes()).collect();
        wave.registers.insert(gpu.register_named(&name).expect("a register"), bytes);
    }
    wave
}

/// Sets a dword of a register.
pub fn put(wave: &mut Snapshot, gpu: &Target, name: &str, value: u32) {
    let (register, lane) = split(name);
    let register = gpu.register_named(register).expect("a register");
    let bytes = wave.registers.entry(register).or_insert_with(|| vec![0; 4]);
    bytes[4 * lane.unwrap_or(0)..][..4].copy_from_slice(&value.to_le_bytes());
}

/// A frame's result for a register: the dword, if defined, and its location.
pub fn find(frame: &Frame<'_, '_, '_>, wave: &Snapshot, gpu: &Target, name: &str) -> (Option<u32>, String) {
    let (register, lane) = split(name);
    let register = gpu.register_named(register).expect("a register");
    let place = frame.register(register).unwrap_or_else(|fault| panic!("{name}: {fault}"));
    let place = place.moved(32 * lane.unwrap_or(0) as i128).expect("a lane of it");
    let read = read_bits(&place, 32, wave).unwrap_or_else(|fault| panic!("{name} at {place}: {fault}"));
    let value = u32::from_le_bytes(read.bytes.try_into().expect("a dword"));
    let at = spans(&place, 32, ByteOrder::Little).expect("a place")[0].places[0].to_string();
    match read.defined[..] {
        [0xff, 0xff, 0xff, 0xff] => (Some(value), at),
        [0, 0, 0, 0] => (None, at),
        _ => panic!("{name} at {place}: a part of it is defined"),
    }
}

/// Unwinds the wave, and compares.
pub fn check(attached: &Attached, case: &Case) {
    let gpu = gfx1030();
    let object = Object::read(&attached.object).expect("an object");
    let dwarf = Dwarf::read_with(&object, &ReadOptions::new().dialect(attached.dialect)).expect("DWARF");
    let frames = [dwarf.frames(FrameSection::Debug).expect("frames")];
    let info = DebugInfo::new(&dwarf);
    let address = |(name, pc): Pc| object.symbol_address(name).expect("a function") + pc;

    let pc = address(case.at);
    let mut wave = wave(&gpu);
    wave.pc = Some(pc);
    wave.registers.insert(gpu.pc().expect("its register"), pc.to_le_bytes().into());
    put(&mut wave, &gpu, "exec", case.exec);
    for &(name, holds) in case.holds {
        let value = match holds {
            Holds::Number(number) => number,
            Holds::Code(pc) => u32::try_from(address(pc)).expect("low addresses"),
        };
        put(&mut wave, &gpu, name, value);
    }
    for &(at, value) in case.scratch {
        wave.store(SpaceId::PRIVATE_WAVE, None, at, &value.to_le_bytes());
    }

    let stack = CallStack::new(&wave, &frames, &gpu).with_debug_info(&info);
    let all: Vec<_> = stack.frames().map(|frame| frame.unwrap_or_else(|fault| panic!("{fault}"))).collect();
    let expected = [(case.at, case.cfa)].into_iter().chain(case.callers.iter().copied());
    let expected: Vec<_> = expected.map(|(pc, cfa)| (address(pc), format!("mem:6:{cfa:#x}"))).collect();
    let found: Vec<_> =
        all.iter().map(|frame| (frame.resumes_at(), frame.cfa().expect("a place").to_string())).collect();
    assert_eq!(found, expected, "{case:x?}");

    let functions = [case.at].into_iter().chain(case.callers.iter().map(|(pc, _)| *pc)).map(|(name, _)| name);
    for (frame, function) in all.iter().zip(functions) {
        let mask = frame.active_lanes().expect("a mask").and_then(|mask| mask.as_u64());
        let active = mask.or_else(|| find(frame, &wave, &gpu, "exec").0.map(u64::from));
        assert_eq!(active, Some(case.active.into()), "{frame:?}, {case:x?}");
        assert_eq!(frame.lane_pc(5).expect("a lane"), Some(frame.resumes_at()), "{frame:?}, {case:x?}");
        assert_eq!(frame.lane_pc(25).expect("a lane"), None, "{frame:?}, {case:x?}");
        // The chart of a function shows its frame.
        let listing = lanes(&info, Some(function), &[&wave], &gpu).expect("the function is on the stack");
        let standing = listing.stops[0].lanes.as_ref().expect("a frame");
        assert_eq!((listing.stops[0].pc, standing[5]), (frame.resumes_at(), Standing::Active), "{case:x?}");
        assert_eq!(standing[25], Standing::Nowhere, "{case:x?}");
    }
    for &(number, name, expected) in case.finds {
        let (value, at) = find(&all[number as usize], &wave, &gpu, name);
        let (wanted, place) = match expected {
            Found::Is(value) => (Some(value), "reg:".into()),
            Found::InScratch(at, value) => (Some(value), format!("mem:6:{at:#x}")),
            Found::Undefined => (None, "undefined".into()),
        };
        assert!(
            value == wanted && at.starts_with(&place),
            "{name} of frame {number}: {value:x?} at {at}, {case:x?}"
        );
    }
}
