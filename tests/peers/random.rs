//! Random expressions of DWARF 5, most of them well-formed.

use eitri::eval::TypeEncoding;
use eitri::op::{Dialect, Encoder, Encoding, Expr, ExprBuilder, Op, Reg};
use proptest::collection::vec;
use proptest::prelude::*;

use super::machine::{CALLED, REGISTERS, TYPES, WIDE};

/// A random choice.
#[derive(Debug, Clone)]
pub struct Choice {
    what: u8,
    number: u64,
    more: u8,
}

/// An expression as choices: its body and its end.
#[derive(Debug, Clone)]
pub struct Program {
    pub address_bytes: u8,
    body: Vec<Choice>,
    end: Vec<Choice>,
}

pub fn programs() -> impl Strategy<Value = Program> {
    // Numbers of all sizes and both signs.
    let number = (any::<u64>(), 0..64u32, any::<bool>())
        .prop_map(|(number, shift, negative)| if negative { !(number >> shift) } else { number >> shift });
    let choice = (any::<u8>(), number, any::<u8>());
    let choice = choice.prop_map(|(what, number, more)| Choice { what, number, more });
    (prop::sample::select(vec![8u8, 4]), vec(choice.clone(), 0..16), vec(choice, 1..5))
        .prop_map(|(address_bytes, body, end)| Program { address_bytes, body, end })
}

impl Program {
    pub fn encoding(&self) -> Encoding {
        Encoding::new(self.address_bytes, Dialect::Dwarf5)
    }

    pub fn expression(&self) -> Vec<u8> {
        let mut writer =
            Writer { to: Expr::build(self.encoding()), stack: Vec::new(), encoding: self.encoding() };
        writer.choices(&self.body);
        writer.end(&self.end);
        // Numbers that do not fit an address of 4 bytes are never written.
        writer.to.finish().expect("is written").bytes().to_vec()
    }
}

/// An expression under construction, and the types on its stack.
struct Writer {
    to: ExprBuilder,
    stack: Vec<u64>,
    encoding: Encoding,
}

fn is(ty: u64, encoding: TypeEncoding) -> bool {
    TYPES.iter().any(|&(at, known, _)| at == ty && known == encoding)
}

impl Writer {
    fn bits(&self, ty: u64) -> u32 {
        let known = TYPES.iter().find(|known| known.0 == ty);
        known.map_or(u32::from(self.encoding.address_bytes) * 8, |known| known.2)
    }

    fn top(&self) -> u64 {
        self.stack.last().copied().unwrap_or(0)
    }

    fn op(&mut self, op: Op<'_>, takes: usize, leaves: Option<u64>) {
        self.to.ops().op(op);
        self.stack.truncate(self.stack.len().saturating_sub(takes));
        self.stack.extend(leaves);
    }

    /// Ensures that the stack has `count` elements.
    fn need(&mut self, count: usize) {
        while self.stack.len() < count {
            self.op(Op::ConstU { value: 0x1000 + self.stack.len() as u64 * 9 }, 0, Some(0));
        }
    }

    fn convert(&mut self, ty: u64) {
        if self.top() != ty {
            // Converts through an integer of the same size, as the number may not fit.
            if is(self.top(), TypeEncoding::Float) {
                let same = if self.bits(self.top()) == 32 { 0x15 } else { 0x17 };
                self.op(Op::Reinterpret { ty: same }, 1, Some(same));
            }
            self.op(Op::Convert { ty }, 1, Some(ty));
        }
    }

    fn need_generic(&mut self) {
        self.need(1);
        self.convert(0);
    }

    /// Pushes an address of mapped memory.
    fn address(&mut self, choice: &Choice) {
        let address = 0x1000 + u64::from(choice.more);
        match choice.number % 4 {
            0 => self.op(Op::Addr { address }, 0, Some(0)),
            1 => self.op(Op::BregX { reg: Reg(5), offset: (choice.more / 2).into() }, 0, Some(0)),
            2 => self.op(Op::FbReg { offset: (choice.more as i8 / 4).into() }, 0, Some(0)),
            _ => self.op(Op::ConstU { value: address }, 0, Some(0)),
        }
    }

    fn choices(&mut self, choices: &[Choice]) {
        let mut rest = choices;
        while let Some((choice, after)) = rest.split_first() {
            rest = after;
            let inner = rest.len().min(usize::from(choice.more) % 4);
            if matches!(choice.what, 200..=219) {
                let (one, after) = rest.split_at(inner / 2);
                let (other, after) = after.split_at(inner - inner / 2);
                rest = after;
                self.branch(choice, one, other);
            } else {
                self.choice(choice);
            }
        }
    }

    /// Appends operations that leave one number of the generic type on the stack.
    fn block(&mut self, choices: &[Choice]) {
        let below = std::mem::take(&mut self.stack);
        self.choices(choices);
        while self.stack.len() > 1 {
            self.op(Op::Drop {}, 1, None);
        }
        self.need_generic();
        self.stack = [below, vec![0]].concat();
    }

    fn branch(&mut self, choice: &Choice, one: &[Choice], other: &[Choice]) {
        self.need_generic();
        let other_starts = self.to.label();
        let end = self.to.label();
        if choice.number.is_multiple_of(4) {
            self.to.skip(other_starts);
        } else {
            if choice.number % 4 == 1 {
                self.op(Op::ConstU { value: choice.number % 8 / 4 }, 0, Some(0));
            }
            self.to.bra(other_starts);
            self.stack.pop();
        }
        self.block(one);
        self.stack.pop();
        self.to.skip(end);
        self.to.bind(other_starts);
        self.block(other);
        self.to.bind(end);
    }

    fn choice(&mut self, choice: &Choice) {
        let Choice { what, number, more } = *choice;
        let ty = TYPES[usize::from(more) % TYPES.len()].0;
        let reg = REGISTERS[usize::from(more) % REGISTERS.len()];
        // Some operations have wrong operands.
        let tame = more < 248;
        match what {
            0..=19 => self.op(Op::ConstU { value: number }, 0, Some(0)),
            20..=39 => self.op(Op::ConstS { value: number as i64 }, 0, Some(0)),
            40..=49 => self.address(choice),
            50..=56 => self.op(Op::BregX { reg: Reg(reg), offset: number as i64 % 1000 }, 0, Some(0)),
            57 if tame => self.op(Op::FbReg { offset: number as i64 % 0x800 }, 0, Some(0)),
            57 => self.op(Op::FbReg { offset: number as i64 }, 0, Some(0)),
            58 | 59 => self.op(Op::CallFrameCfa {}, 0, Some(0)),
            60 | 61 => self.op(Op::Addrx { index: number % if tame { 3 } else { 4 } }, 0, Some(0)),
            62 | 63 => self.op(Op::Constx { index: number % if tame { 3 } else { 4 } }, 0, Some(0)),
            64..=79 => {
                let len = self.bits(ty) / 8 + u32::from(!tame);
                // Small floating-point numbers are as likely as others.
                let bytes = match number % 2 {
                    0 if is(ty, TypeEncoding::Float) => {
                        let value = f64::from(number as u16 as i16) / 4.0;
                        if len < 8 { (value as f32).to_bits().into() } else { value.to_bits() }
                    }
                    _ => number,
                };
                let bytes = &[bytes.to_le_bytes().to_vec(), vec![0; 2]].concat()[..len as usize];
                self.op(Op::ConstType { ty, bytes }, 0, Some(ty));
            }
            80..=85 => {
                let reg = if self.bits(ty) > self.bits(0) { WIDE } else { reg };
                self.op(Op::RegvalType { reg: Reg(reg), ty: if tame { ty } else { 0 } }, 0, Some(ty));
            }
            86 | 87 => self.op(Op::PushObjectAddress {}, 0, Some(0)),
            88..=91 => self.entry_value(choice, tame),
            92..=99 => {
                self.need(1);
                let below = self.stack.len() - 1 - usize::from(more) % self.stack.len().min(4);
                let index = (self.stack.len() - 1 - below) as u8 + u8::from(!tame) * 4;
                let ty = self.stack[below];
                self.op(Op::Pick { index }, 0, Some(ty));
            }
            100..=104 => {
                self.need(2);
                self.op(Op::Swap {}, 0, None);
                let len = self.stack.len();
                self.stack.swap(len - 1, len - 2);
            }
            105..=109 => {
                self.need(3);
                self.op(Op::Rot {}, 0, None);
                let start = self.stack.len() - 3;
                self.stack[start..].rotate_right(1);
            }
            110..=112 => {
                self.need(1);
                self.op(Op::Drop {}, 1, None);
            }
            113..=139 => self.binary(choice, tame),
            140..=147 => {
                self.same_types(tame);
                let all = [Op::Eq {}, Op::Ge {}, Op::Gt {}, Op::Le {}, Op::Lt {}, Op::Ne {}];
                self.op(all[number as usize % 6], 2, Some(0));
            }
            148..=155 => self.unary(choice, tame),
            156..=159 => {
                self.need(1);
                if tame && is(self.top(), TypeEncoding::Float) {
                    self.convert(0);
                }
                let ty = self.top();
                self.op(Op::PlusUconst { value: number }, 1, Some(ty));
            }
            160..=179 => self.deref(choice, tame),
            180..=189 => {
                self.need(1);
                let ty = if number % 3 == 0 { 0 } else { ty };
                if tame && is(ty, TypeEncoding::Float) && is(self.top(), TypeEncoding::Signed) {
                    return self.op(Op::Nop {}, 0, None);
                }
                if tame {
                    return self.convert(ty);
                }
                self.op(Op::Convert { ty }, 1, Some(ty));
            }
            190..=194 => {
                self.need(1);
                let bits = self.bits(self.top());
                let same = [0].into_iter().chain(TYPES.iter().map(|known| known.0));
                let same: Vec<u64> = same.filter(|&ty| self.bits(ty) == bits).collect();
                let ty = if tame { same[number as usize % same.len()] } else { ty };
                self.op(Op::Reinterpret { ty }, 1, Some(ty));
            }
            195..=199 => self.op(Op::Nop {}, 0, None),
            200..=231 => {
                let (entry, _, effect) = CALLED[number as usize % if tame { 6 } else { 9 }];
                let (takes, leaves) = effect.unwrap_or((0, 0));
                self.need(takes);
                for index in 0..takes {
                    if index > 0 {
                        self.op(Op::Swap {}, 0, None);
                        let len = self.stack.len();
                        self.stack.swap(len - 1, len - 2);
                    }
                    self.convert(0);
                }
                let call = [Op::Call2 { entry }, Op::Call4 { entry }, Op::CallRef { entry }];
                self.op(call[usize::from(more) % 3], takes, (leaves == 1).then_some(0));
            }
            232..=235 => {
                self.op(Op::ConstU { value: number % 0x80 }, 0, Some(0));
                self.op(Op::FormTlsAddress {}, 1, Some(0));
            }
            _ if tame => self.op(Op::ConstU { value: u64::from(more) }, 0, Some(0)),
            // Location operations at arbitrary positions.
            _ => match number % 6 {
                0 => self.op(Op::RegX { reg: Reg(reg) }, 0, Some(0)),
                1 => self.op(Op::StackValue {}, 1, Some(0)),
                2 => self.op(Op::ImplicitValue { bytes: &[1, 2, 3, 4, 5, 6, 7, 8] }, 0, Some(0)),
                3 => self.op(Op::ImplicitPointer { entry: 0x40, offset: -4 }, 0, Some(0)),
                4 => self.op(Op::Piece { bytes: 4 }, 1, None),
                _ => self.op(Op::BitPiece { bits: 5, offset: 2 }, 1, None),
            },
        }
    }

    fn entry_value(&mut self, choice: &Choice, tame: bool) {
        let mut expr = Vec::new();
        let mut to = Encoder::new(&mut expr, self.encoding);
        let reg = Reg([0, 2, 5][choice.number as usize % 3]);
        match choice.number / 3 % 4 {
            0 => to.regx(reg),
            1 => to.op(Op::BregX { reg, offset: 3 }).constu(1).plus(),
            2 => to.op(Op::BregX { reg: Reg(5), offset: 8 }).deref(),
            _ if tame => to.op(Op::RegvalType { reg: Reg(2), ty: 0x14 }),
            _ => to.op(Op::BregX { reg: Reg(1), offset: 0 }),
        };
        let leaves = if choice.number / 3 % 4 == 3 { 0x14 } else { 0 };
        self.op(Op::EntryValue { expr: &expr }, 0, Some(leaves));
    }

    /// Ensures two elements of one type.
    fn same_types(&mut self, tame: bool) {
        self.need(2);
        let below = self.stack[self.stack.len() - 2];
        if tame {
            match (is(self.top(), TypeEncoding::Signed), is(below, TypeEncoding::Float)) {
                (true, true) => {
                    self.convert(if self.bits(below) == 32 { 0x15 } else { 0x17 });
                    self.convert(below);
                }
                _ => self.convert(below),
            }
        }
    }

    fn binary(&mut self, choice: &Choice, tame: bool) {
        let all = [
            Op::Plus {},
            Op::Minus {},
            Op::Mul {},
            Op::Div {},
            Op::And {},
            Op::Or {},
            Op::Xor {},
            Op::Mod {},
            Op::Shl {},
            Op::Shr {},
            Op::Shra {},
        ];
        let mut op = all[usize::from(choice.what) % all.len()];
        self.need(2);
        let below = self.stack[self.stack.len() - 2];
        let is_shift = matches!(op, Op::Shl {} | Op::Shr {} | Op::Shra {});
        if tame {
            op = match op {
                Op::Shr {} if is(below, TypeEncoding::Signed) => Op::Shra {},
                Op::Shra {} if is(below, TypeEncoding::Unsigned) => Op::Shr {},
                op if !is(below, TypeEncoding::Float) => op,
                _ => all[usize::from(choice.what) % 4],
            };
        }
        if is_shift && tame {
            // A small distance.
            self.op(Op::Drop {}, 1, None);
            self.op(Op::ConstU { value: choice.number % 70 }, 0, Some(0));
        }
        self.same_types(tame);
        self.op(op, 2, Some(below));
    }

    fn unary(&mut self, choice: &Choice, tame: bool) {
        self.need(1);
        let ty = self.top();
        let mut op = [Op::Abs {}, Op::Neg {}, Op::Not {}][choice.number as usize % 3];
        if tame && is(ty, TypeEncoding::Unsigned) {
            op = Op::Not {};
        }
        if tame && is(ty, TypeEncoding::Float) {
            op = Op::Neg {};
        }
        self.op(op, 1, Some(ty));
    }

    fn deref(&mut self, choice: &Choice, tame: bool) {
        if !choice.number.is_multiple_of(4) || self.stack.is_empty() || tame && self.top() != 0 {
            self.address(choice);
        }
        let spare = usize::from(choice.more) % TYPES.len();
        let mut ty = TYPES[spare].0;
        while self.bits(ty) > self.bits(0) && tame {
            ty -= 8;
        }
        let bytes = (self.bits(ty) / 8) as u8 + u8::from(!tame);
        let is_other = (choice.number / 4).is_multiple_of(4);
        if is_other {
            self.op(Op::ConstU { value: if tame { choice.number / 16 % 2 } else { 9 } }, 0, Some(0));
            self.op(Op::Swap {}, 0, None);
        }
        let takes = 1 + usize::from(is_other);
        match (choice.number / 16 % 3, is_other) {
            (0, false) => self.op(Op::Deref {}, takes, Some(0)),
            (1, false) => self.op(Op::DerefSize { bytes }, takes, Some(0)),
            (_, false) => self.op(Op::DerefType { bytes, ty }, takes, Some(ty)),
            (0, true) => self.op(Op::Xderef {}, takes, Some(0)),
            (1, true) => self.op(Op::XderefSize { bytes }, takes, Some(0)),
            (_, true) => self.op(Op::XderefType { bytes, ty }, takes, Some(ty)),
        }
    }

    fn end(&mut self, choices: &[Choice]) {
        let [choice, ..] = choices else { return };
        let tame = choice.more < 248;
        match choice.what {
            0..=59 => {
                if tame {
                    self.need_generic();
                }
            }
            60..=119 => {
                self.need(1);
                self.op(Op::StackValue {}, 1, None);
            }
            120..=139 => self.place(choice),
            _ => {
                // Elements below the first piece would be used by later pieces.
                while tame && self.stack.len() > 1 {
                    self.op(Op::Swap {}, 0, None);
                    self.op(Op::Drop {}, 1, None);
                    self.stack = vec![0; self.stack.len()];
                }
                for choice in choices {
                    self.piece(choice);
                }
            }
        }
    }

    /// A location of its own.
    fn place(&mut self, choice: &Choice) {
        let Choice { what, number, more } = *choice;
        match what % 5 {
            0 => self.op(
                Op::RegX { reg: Reg(if more % 4 == 0 { WIDE } else { u64::from(more) % 6 }) },
                0,
                None,
            ),
            1 => self.op(Op::ImplicitValue { bytes: &number.to_le_bytes() }, 0, None),
            2 => self.op(Op::ImplicitPointer { entry: number % 0x100, offset: number as i8 as i64 }, 0, None),
            3 => {
                self.choice(&Choice { what: what.wrapping_mul(7) % 90, number, more: more % 248 });
                self.op(Op::StackValue {}, 1, None);
            }
            _ => {
                self.address(choice);
                self.stack.pop();
            }
        }
    }

    fn piece(&mut self, choice: &Choice) {
        if !choice.what.is_multiple_of(6) {
            self.place(choice);
        }
        let number = choice.number;
        match choice.more % 3 {
            0 => self.op(Op::BitPiece { bits: number % 33, offset: number / 33 % 31 }, 0, None),
            _ => self.op(Op::Piece { bytes: number % if choice.more % 16 == 1 { 9 } else { 5 } }, 0, None),
        }
    }
}
