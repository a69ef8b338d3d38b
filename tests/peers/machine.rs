//! The machine for random expressions.

use crate::common::with;
use eitri::eval::{BaseType, Caller, Layout, Location, OwnedBody, Snapshot, SpaceLayout, TypeEncoding};
use eitri::op::Reg;
use eitri::target::{Per, SpaceId};

/// Base types known to both evaluators, by offset; 0 is the generic type.
pub const TYPES: [(u64, TypeEncoding, u32); 10] = [
    (0x10, TypeEncoding::Signed, 8),
    (0x11, TypeEncoding::Unsigned, 8),
    (0x12, TypeEncoding::Signed, 16),
    (0x13, TypeEncoding::Unsigned, 16),
    (0x14, TypeEncoding::Signed, 32),
    (0x15, TypeEncoding::Unsigned, 32),
    (0x16, TypeEncoding::Signed, 64),
    (0x17, TypeEncoding::Unsigned, 64),
    (0x18, TypeEncoding::Float, 32),
    (0x19, TypeEncoding::Float, 64),
];

/// Registers of address size, and one of 128 bits.
pub const REGISTERS: [u64; 6] = [0, 1, 2, 3, 4, 5];
pub const WIDE: u64 = 17;

/// A callable entry: offset, expression, numbers of values popped and pushed; `None` for other effects.
type Called = (u64, &'static [u8], Option<(usize, usize)>);

/// The callable entries.
pub const CALLED: [Called; 9] = [
    (0x40, &[0x37], Some((0, 1))),                // lit7
    (0x41, &[0x23, 3], Some((1, 1))),             // plus_uconst 3
    (0x42, &[0x22], Some((2, 1))),                // plus
    (0x43, &[], Some((0, 0))),                    // nothing
    (0x44, &[0x98, 0x40, 0, 0x1e], Some((1, 1))), // call2 0x40; mul
    (0x45, &[0x75, 16], Some((0, 1))),            // breg5 16
    (0x46, &[0x52], None),                        // reg2
    (0x47, &[0x9f], None),                        // stack_value
    (0x48, &[0x93, 4], None),                     // piece 4
];

/// A program with addresses of `address_bytes` bytes, and its architecture.
pub fn machine(address_bytes: u8) -> (Snapshot, Layout) {
    let size = usize::from(address_bytes);
    let number = |number: i64| number.to_le_bytes()[..size].to_vec();
    let mut machine = with::<Snapshot>(|machine| {
        machine.tls = Some(0x1020);
        machine.pc = Some(0x4000);
    });
    let numbers = [0x1008, -7, 5, 0x3fc0_0000_3fc0_0000, 0x7fff_ffff_ffff_fff0, 0x1000];
    machine.registers = REGISTERS.into_iter().map(Reg).zip(numbers.map(number)).collect();
    machine.registers.insert(Reg(WIDE), (0xe0..0xf0).collect());
    let bytes: Vec<u8> = (0..=255u8).map(|byte| byte.wrapping_mul(151) ^ 0x5a).collect();
    machine.store(SpaceId::DEFAULT, None, 0x1000, &bytes);
    machine.store(SpaceId::DEFAULT, None, 0x1040, &number(0x1010));
    machine.store(SpaceId::DEFAULT, None, 0x1048, &1.75f64.to_le_bytes());
    machine.store(SpaceId::DEFAULT, None, 0x1050, &(-2.5f32).to_le_bytes());
    machine.store(SpaceId(1), None, 0x10, &[0x81; 0x40]);
    let memory = |address| Location::memory(SpaceId::DEFAULT, u32::from(address_bytes) * 8, address);
    machine.cfa = Some(memory(0x1060));
    machine.object = Some(memory(0x1030));
    machine.frame_base = Some((OwnedBody::Expression(vec![0x75, 0x20]), 0)); // breg5 32
    machine.debug_addr = vec![0x1018, 0x1040, 3];
    let bits = u32::from(address_bytes) * 8;
    let types = TYPES.iter();
    machine.types = types.map(|&(at, encoding, bits)| ((0, at), BaseType::new(encoding, bits))).collect();
    let entries = CALLED.iter();
    machine.entries = entries.map(|&(at, expr, _)| (at, (OwnedBody::Expression(expr.to_vec()), 0))).collect();
    let saved = [
        (Reg(0), memory(0x1040)),
        (Reg(2), Location::register(Reg(2), bits)),
        (Reg(5), Location::implicit(&number(0x1004))),
        (Reg(WIDE), Location::register(Reg(WIDE), 128)),
    ];
    machine.callers = vec![Caller { pc: Some(0x5000), cfa: None, registers: saved.into() }];
    let space = |address_bits| SpaceLayout { address_bits, per: Per::Process };
    let layout = Layout {
        registers: REGISTERS.iter().map(|&reg| (Reg(reg), bits)).chain([(Reg(WIDE), 128)]).collect(),
        spaces: [(SpaceId::DEFAULT, space(bits)), (SpaceId(1), space(16))].into(),
    };
    (machine, layout)
}
