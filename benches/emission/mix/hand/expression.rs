//! Locations as expressions.

use gimli::constants as dw;

use super::super::content::{Machine, Place};
use super::bytes::{sleb, uleb};

/// `DW_OP_LLVM_user`, and its operations.
const USER: u8 = 0xe9;
const FORM_ASPACE_ADDRESS: u8 = 2;
const PUSH_LANE: u8 = 3;
const OFFSET: u8 = 4;
const OFFSET_UCONST: u8 = 5;

const LIT0: u8 = dw::DW_OP_lit0.0;
/// log₂ of the number of lanes.
const LANES_LOG2: u8 = 5;
/// Address space of a lane's private memory.
const PRIVATE_LANE: u8 = 5;
/// Size in bytes of a lane's element of a vector register.
const LANE_BYTES: u8 = 4;

/// Appends the expression of a location of a variable of size `bits`.
#[inline]
pub fn write(out: &mut Vec<u8>, machine: Machine, place: Place, bits: u32) {
    match place {
        Place::Register(register) => self::register(out, register),
        Place::PerLane(vector) => per_lane(out, vector),
        Place::Lane(vector, lane) => {
            register(out, vector);
            if lane > 0 {
                out.extend_from_slice(&[USER, OFFSET_UCONST]);
                uleb(out, (LANE_BYTES * lane).into());
            }
        }
        Place::Slot(offset) => match machine {
            Machine::Gpu => {
                read(out, machine.frame());
                out.extend_from_slice(&[LIT0 + LANES_LOG2, dw::DW_OP_shr.0]);
                plus(out, offset.into());
                out.extend_from_slice(&[LIT0 + PRIVATE_LANE, USER, FORM_ASPACE_ADDRESS]);
            }
            Machine::Cpu => at_register(out, machine.frame(), -i64::from(offset)),
        },
        Place::Indirect(register, by) => at_register(out, register, by.into()),
        Place::Pointer(register, by, more) => {
            at_register(out, register, by.into());
            out.push(dw::DW_OP_deref.0);
            plus(out, more.into());
        }
        Place::Argument(low, by) => {
            read(out, low);
            read(out, low + 1);
            constant(out, 32);
            out.extend_from_slice(&[dw::DW_OP_shl.0, dw::DW_OP_or.0]);
            plus(out, by.into());
        }
        Place::Pair(low) => {
            for register in [low, low + 1] {
                self::register(out, register);
                piece(out, 32);
            }
        }
        Place::PerLanePair(low) => {
            for vector in [low, low + 1] {
                per_lane(out, vector);
                piece(out, 32);
            }
        }
        Place::Constant(value) if machine == Machine::Gpu && bits == 32 => {
            out.extend_from_slice(&[dw::DW_OP_implicit_value.0, 4]);
            out.extend_from_slice(&value.to_le_bytes());
        }
        Place::Constant(value) => {
            constant(out, value);
            out.push(dw::DW_OP_stack_value.0);
        }
        Place::Sum(register, by) => {
            at_register(out, register, by.into());
            out.push(dw::DW_OP_stack_value.0);
        }
        Place::Split(first, second) => {
            let word = machine.word();
            match machine {
                Machine::Gpu => per_lane(out, first),
                Machine::Cpu => register(out, first),
            }
            piece(out, word);
            register(out, second);
            piece(out, word);
            if bits > 2 * word {
                piece(out, bits - 2 * word);
            }
        }
    }
}

#[inline]
fn register(out: &mut Vec<u8>, number: u16) {
    if number < 32 {
        out.push(dw::DW_OP_reg0.0 + number as u8);
    } else {
        out.push(dw::DW_OP_regx.0);
        uleb(out, number.into());
    }
}

/// Appends the contents of a register of 32 bits.
fn read(out: &mut Vec<u8>, number: u16) {
    register(out, number);
    out.extend_from_slice(&[dw::DW_OP_deref_size.0, 4]);
}

/// Appends the contents of a register of 64 bits plus an offset: a number, or a memory location.
#[inline]
fn at_register(out: &mut Vec<u8>, number: u16, by: i64) {
    out.push(dw::DW_OP_breg0.0 + number as u8);
    sleb(out, by);
}

/// Appends the location of the current lane's element of a vector register.
#[inline]
fn per_lane(out: &mut Vec<u8>, vector: u16) {
    register(out, vector);
    out.extend_from_slice(&[USER, PUSH_LANE, LIT0 + LANE_BYTES, dw::DW_OP_mul.0, USER, OFFSET]);
}

fn plus(out: &mut Vec<u8>, by: u64) {
    if by > 0 {
        out.push(dw::DW_OP_plus_uconst.0);
        uleb(out, by);
    }
}

fn piece(out: &mut Vec<u8>, bits: u32) {
    out.push(dw::DW_OP_piece.0);
    uleb(out, (bits / 8).into());
}

/// Appends a constant in its shortest form.
fn constant(out: &mut Vec<u8>, value: u32) {
    match value {
        0..32 => out.push(LIT0 + value as u8),
        0x80..0x100 => out.extend_from_slice(&[dw::DW_OP_const1u.0, value as u8]),
        0x4000..0x1_0000 => {
            out.push(dw::DW_OP_const2u.0);
            out.extend_from_slice(&(value as u16).to_le_bytes());
        }
        0x1000_0000.. => {
            out.push(dw::DW_OP_const4u.0);
            out.extend_from_slice(&value.to_le_bytes());
        }
        _ => {
            out.push(dw::DW_OP_constu.0);
            uleb(out, value.into());
        }
    }
}
