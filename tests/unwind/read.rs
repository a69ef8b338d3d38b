//! Registers of frames, read directly and at their locations.

use eitri::eval::unwind::Frame;
use eitri::eval::{CallStack, Class, Snapshot, read_bits};
use eitri::op::Reg;
use eitri::target::{SpaceId, Target};
use proptest::prelude::*;

use crate::unwind::cfi::{Program, Section};
use crate::unwind::rules::machine;

const RSP: u64 = 7;
const RETURN: u64 = 16;

/// A rule of a register: most are offsets from the canonical frame address. Some are outside of the mapped memory.
fn rule() -> impl Strategy<Value = Program> {
    // The return address has its own rule.
    let reg = || 0..RETURN;
    let expression = || (0u8..0x40).prop_map(|by| vec![0x23, by, 0x06]);
    prop_oneof![
        6 => (reg(), -12i64..30).prop_map(|(reg, by)| Program::new().offset(reg, by)),
        1 => (reg(), -0x400i64..0x400).prop_map(|(reg, by)| Program::new().offset(reg, by)),
        1 => (reg(), -9i64..9).prop_map(|(reg, by)| Program::new().val_offset(reg, by)),
        2 => (reg(), 0..RETURN + 2).prop_map(|(reg, from)| Program::new().register(reg, from)),
        2 => reg().prop_map(|reg| Program::new().same_value(reg)),
        1 => reg().prop_map(|reg| Program::new().undefined(reg)),
        1 => (reg(), expression()).prop_map(|(reg, expr)| Program::new().at(reg, &expr[..2])),
        1 => (reg(), expression()).prop_map(|(reg, expr)| Program::new().value(reg, &expr)),
    ]
}

fn rules() -> impl Strategy<Value = Program> {
    prop::collection::vec(rule(), 0..12).prop_map(|all| all.into_iter().fold(Program::new(), Program::then))
}

/// The bytes, or the class of the fault.
type Read = Result<Vec<u8>, Option<Class>>;

/// Reads bytes of a register at its location, by which each rule is followed.
fn at_location(frame: &Frame<'_, '_, '_>, reg: Reg, at: u32, bytes: usize, machine: &Snapshot) -> Read {
    let location = frame.register(reg).map_err(|fault| fault.class())?;
    let mut read = read_bits(&location, 64, machine).map_err(|fault| Some(fault.class))?;
    if machine.big_endian {
        read.bytes.reverse();
        read.defined.reverse();
    }
    let wanted = at as usize..at as usize + bytes;
    match read.defined.get(wanted.clone()) {
        Some(defined) if defined.iter().all(|&mask| mask == 0xff) => Ok(read.bytes[wanted].to_vec()),
        _ => Err(Some(Class::Evaluation)),
    }
}

proptest! {
    #![proptest_config(crate::common::cases::config(3000))]

    #[test]
    fn a_register_is_read_as_at_its_location(
        programs in [rules(), rules(), rules()],
        (at, bytes) in (0u32..9, 0usize..9),
        big_endian in prop::bool::weighted(0.2),
    ) {
        let mut section = Section::default();
        let first = Program::new().def_cfa(RSP, 16).offset(RETURN, 1);
        let cie = section.cie("", -8, RETURN, &first);
        let mut machine = { let mut changed = machine(); changed.big_endian = big_endian; changed };
        for (level, program) in (1..).zip(programs) {
            // Without a rule for the stack pointer, the return addresses of two frames are 16 bytes apart.
            let [start, address] = [0x1000 * level, 0x6ff8 + 0x10 * level];
            section.fde(cie, start, 0x100, &program);
            let to: u64 = 0x1001 + start;
            let to = if big_endian { to.to_be_bytes() } else { to.to_le_bytes() };
            machine.store(SpaceId::DEFAULT, None, address, &to);
        }
        section.fde(cie, 0x4000, 0x100, &Program::new().undefined(RETURN));
        let frames = [section.read()];
        let target = Target::x86_64();
        let stack = CallStack::new(&machine, &frames, &target).with_frame_limit(9);
        for frame in stack.frames().map_while(Result::ok) {
            for reg in (0..RETURN).map(Reg) {
                let mut read = vec![0; bytes];
                let read = frame.read_register(reg, at, &mut read).map(|()| read).map_err(|fault| fault.class());
                let expected = at_location(&frame, reg, at, bytes, &machine);
                prop_assert_eq!(read, expected, "register {} of frame {}", reg.0, frame.number());
            }
        }
    }
}
