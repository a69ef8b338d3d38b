//! Random operations in every encoding, and random bytes.

use eitri::error::ErrorKind;
use eitri::op::{
    COMPACT, Compact, Decoder, Dialect, DraftCodes, Encoder, Encoding, Form, LLVM_USER, Op, Opcode,
    OperandKind, OperationName, text,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// Codes for all operations without a number in the draft.
fn draft() -> DraftCodes {
    let free = (0xac..=0xaf).chain(0xb1..=0xdd);
    let unassigned = OperationName::ALL.iter().filter(|name| name.row().six == Opcode::Unassigned);
    unassigned.zip(free).fold(DraftCodes::NONE, |draft, (&name, code)| draft.with(name, code))
}

fn encodings() -> impl Strategy<Value = Encoding> {
    let dialects = vec![Dialect::Dwarf5, Dialect::Llvm, Dialect::Legacy, Dialect::Dwarf6];
    (prop::sample::select(dialects), any::<[bool; 3]>(), 2..=5u16).prop_map(
        |(dialect, [wide_address, wide_offset, big_endian], version)| {
            Encoding::new(8, dialect)
                .with_address_bytes(if wide_address { 8 } else { 4 })
                .with_offset_bytes(if wide_offset { 8 } else { 4 })
                .with_version(version)
                .with_big_endian(big_endian)
                .with_draft(draft())
        },
    )
}

/// A random choice, which determines an operation's bytes in any encoding.
#[derive(Debug, Clone)]
pub struct Choice {
    /// Row of the table, or compact family.
    row: usize,
    /// Opcode of the row or of the family.
    opcode: u8,
    numbers: [u64; 3],
    /// Maximum number of padding bytes of each LEB128 number.
    padding: [usize; 3],
    block: Vec<u8>,
}

/// Numbers of all sizes.
fn numbers() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0..64u32, any::<bool>())
        .prop_map(|(value, shift, negative)| if negative { !(value >> shift) } else { value >> shift })
}

pub fn choices(padded: bool) -> impl Strategy<Value = Choice> {
    let padding = if padded { 0..4usize } else { 0..1 };
    (
        0..OperationName::COUNT + COMPACT.len(),
        any::<u8>(),
        [numbers(), numbers(), numbers()],
        [padding.clone(), padding.clone(), padding],
        vec(any::<u8>(), 0..20),
    )
        .prop_map(|(row, opcode, numbers, padding, block)| Choice {
            row,
            opcode,
            numbers,
            padding,
            block,
        })
}

/// Encodes bytes from the specification alone, without the crate's encoder.
struct Writer<'c> {
    bytes: Vec<u8>,
    encoding: Encoding,
    padding: core::slice::Iter<'c, usize>,
}

impl Writer<'_> {
    fn fixed(&mut self, value: u64, bytes: u8) {
        let bytes = usize::from(bytes);
        if self.encoding.big_endian {
            self.bytes.extend(&value.to_be_bytes()[8 - bytes..])
        } else {
            self.bytes.extend(&value.to_le_bytes()[..bytes])
        }
    }

    /// Appends a LEB128 number of up to 128 bits.
    fn leb(&mut self, value: i128, signed: bool) {
        let needed = (1..).find(|&bytes| {
            if signed { value >> (7 * bytes - 1) == value >> 127 } else { value >> (7 * bytes) == 0 }
        });
        let bytes: usize = needed.unwrap() + self.padding.next().unwrap_or(&0);
        for index in 0..bytes {
            let more = if index + 1 < bytes { 0x80 } else { 0 };
            self.bytes.push((value >> (7 * index).min(127)) as u8 & 0x7f | more);
        }
    }

    fn operand(&mut self, kind: OperandKind, number: u64, block: &[u8]) {
        let Encoding { address_bytes, offset_bytes, version, .. } = self.encoding;
        match kind {
            OperandKind::U8 => self.fixed(number, 1),
            OperandKind::Uleb | OperandKind::Register | OperandKind::TypeEntry => {
                self.leb(number.into(), false)
            }
            OperandKind::Sleb => self.leb((number as i64).into(), true),
            OperandKind::Address => self.fixed(number, address_bytes),
            OperandKind::Branch | OperandKind::Entry2 => self.fixed(number, 2),
            OperandKind::Entry4 => self.fixed(number, 4),
            OperandKind::EntrySection => {
                self.fixed(number, if version == 2 { address_bytes } else { offset_bytes });
            }
            OperandKind::Block => {
                self.leb(block.len() as i128, false);
                self.bytes.extend(block);
            }
            OperandKind::Block1 => {
                self.fixed(block.len() as u64, 1);
                self.bytes.extend(block);
            }
            OperandKind::Expression => {
                // A valid expression: constants of one byte.
                let expression: Vec<u8> = block.iter().flat_map(|&byte| [0x08, byte]).collect();
                self.leb(expression.len() as i128, false);
                self.bytes.extend(expression);
            }
            OperandKind::Encoded => {
                let forms = [0x00u8, 0x01, 0x02, 0x03, 0x04, 0x08, 0x09, 0x0a, 0x0b, 0x0c];
                let form = forms[block.len() % forms.len()];
                self.fixed(u64::from(form) | (number & 0x10), 1);
                match form {
                    0x00 | 0x08 => self.fixed(number, address_bytes),
                    0x01 => self.leb(number.into(), false),
                    0x09 => self.leb((number as i64).into(), true),
                    0x02 | 0x0a => self.fixed(number, 2),
                    0x03 | 0x0b => self.fixed(number, 4),
                    _ => self.fixed(number, 8),
                }
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Bytes of a choice, and the operation that they decode to; `None` if the dialect lacks the operation or cannot
/// decode it.
pub fn bytes_of(choice: &Choice, encoding: Encoding) -> Option<(OperationName, Vec<u8>)> {
    let mut to = Writer { bytes: Vec::new(), encoding, padding: choice.padding.iter() };
    if let Some(family) = choice.row.checked_sub(OperationName::COUNT).map(|index| &COMPACT[index]) {
        to.bytes.push(family.first + choice.opcode % family.count);
        if let Form::Unsigned(bytes) | Form::Signed(bytes) = family.form {
            to.fixed(choice.numbers[0], bytes);
        }
        if family.name == OperationName::BregX {
            to.leb((choice.numbers[0] as i64).into(), true);
        }
        return Some((family.name, to.bytes));
    }
    let name = OperationName::ALL[choice.row];
    if matches!(name, OperationName::NvidiaMux | OperationName::Extended | OperationName::UserExtended) {
        return None;
    }
    let row = name.row();
    let six = match row.six {
        Opcode::Unassigned => encoding.draft.get(name),
        six => six.get(),
    };
    let vendor = match encoding.dialect {
        Dialect::Dwarf5 => None,
        Dialect::Llvm => row.user.get().map(|_| LLVM_USER),
        Dialect::Legacy => row.legacy.get(),
        Dialect::Dwarf6 => six,
    };
    let opcodes: Vec<u8> = [row.std.get(), row.gnu.get(), vendor].into_iter().flatten().collect();
    let opcode = *opcodes.get(usize::from(choice.opcode) % opcodes.len().max(1))?;
    to.bytes.push(opcode);
    if opcode == LLVM_USER && encoding.dialect == Dialect::Llvm {
        to.leb(row.user.get().unwrap().into(), false);
    }
    for (&(_, kind), &number) in row.operands.iter().zip(&choice.numbers) {
        to.operand(kind, number, &choice.block);
    }
    Some((name, to.bytes))
}

/// Bytes of several choices.
fn expression_of(choices: &[Choice], encoding: Encoding) -> Vec<u8> {
    choices.iter().filter_map(|choice| bytes_of(choice, encoding)).flat_map(|(_, bytes)| bytes).collect()
}

fn encoded(op: Op<'_>, encoding: Encoding) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, encoding);
    encoder.op(op);
    encoder.finish().unwrap();
    bytes
}

/// Sizes of all compact spellings of the operation.
fn compact_lengths(op: Op<'_>) -> impl Iterator<Item = usize> {
    let (value, more) = match op {
        Op::ConstU { value } => (i128::from(value), 0),
        Op::ConstS { value } => (value.into(), 0),
        Op::Pick { index } => (index.into(), 0),
        Op::RegX { reg } => (reg.0.into(), 0),
        Op::BregX { reg, offset } => (
            reg.0.into(),
            (1..).find(|n| i128::from(offset) >> (7 * n - 1) == i128::from(offset) >> 127).unwrap(),
        ),
        _ => (-1, 0),
    };
    let families = COMPACT.iter().filter(move |family| family.name == op.name());
    families.filter_map(move |family| {
        let (range, bytes) = match family.form {
            Form::InOpcode => (0..i128::from(family.count), 0),
            Form::Fixed(only) => (only.into()..i128::from(only) + 1, 0),
            Form::Unsigned(bytes) => (0..1 << (8 * bytes), bytes),
            Form::Signed(bytes) => (-1 << (8 * bytes - 1)..1 << (8 * bytes - 1), bytes),
        };
        range.contains(&value).then_some(1 + usize::from(bytes) + more)
    })
}

/// Decodes up to the end or an error, and encodes each operation in its spelling.
fn respelled(bytes: &[u8], encoding: Encoding) -> (Vec<u8>, usize) {
    let mut out = Vec::new();
    let mut encoder = Encoder::new(&mut out, encoding);
    let mut decoder = Decoder::new(bytes, encoding);
    let mut end = 0;
    while let Some(Ok(one)) = decoder.next() {
        assert_eq!(one.offset, end);
        encoder.spelled(one.op, one.spelling);
        end = decoder.offset();
    }
    encoder.finish().unwrap();
    (out, end)
}

proptest! {
    #![proptest_config(crate::common::cases::config(4000))]

    #[test]
    fn every_spelling_is_decoded_and_reproduced(choice in choices(true), encoding in encodings()) {
        let Some((name, bytes)) = bytes_of(&choice, encoding) else { return Ok(()) };
        let mut decoder = Decoder::new(&bytes, encoding);
        let one = decoder.next().unwrap().unwrap();
        prop_assert_eq!((one.op.name(), one.offset), (name, 0));
        prop_assert!(decoder.is_at_end());
        prop_assert_eq!(&respelled(&bytes, encoding).0, &bytes);

        // Before the version that introduced it, an operation has a vendor code or none.
        let row = one.op.row();
        let mut shortest = Vec::new();
        let mut encoder = Encoder::new(&mut shortest, encoding);
        encoder.op(one.op);
        match encoder.finish() {
            Ok(()) => prop_assert!(row.since <= encoding.version || Some(shortest[0]) != row.std.get()),
            Err(error) => {
                let is_refused = matches!(error.kind(), ErrorKind::Inexpressible { .. });
                prop_assert!(is_refused && row.since > encoding.version, "{}", error);
                return Ok(());
            }
        }
        let mut decoder = Decoder::new(&shortest, encoding);
        prop_assert_eq!(decoder.next().unwrap().unwrap().op, one.op);
        prop_assert!(decoder.is_at_end());
        prop_assert!(shortest.len() <= bytes.len());
        for len in compact_lengths(one.op) {
            prop_assert!(shortest.len() <= len, "{:?}: {:x?}", one.op, shortest);
        }
    }

    #[test]
    fn text_and_bytes_determine_each_other(choices in vec(choices(false), 0..12), encoding in encodings()) {
        let bytes = expression_of(&choices, encoding);
        for target in [None, Some(eitri::target::Target::x86_64())] {
            let text = text::print(&bytes, encoding, target.as_ref());
            let back = text::parse(&text, encoding, target.as_ref()).map_err(|error| {
                TestCaseError::fail(format!("{text}: {error}"))
            })?;
            prop_assert_eq!(back.bytes(), &bytes, "{}", text);
            prop_assert_eq!(text::print(back.bytes(), encoding, target.as_ref()), text);
        }
    }

    #[test]
    fn branches_are_printed_with_labels_and_read_back(
        choices in vec(choices(false), 1..12),
        branches in vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<bool>()), 1..4),
        encoding in encodings(),
    ) {
        let mut bytes = expression_of(&choices, encoding);
        // Branches at the end, to any operation or to the end.
        let mut starts: Vec<_> = Decoder::new(&bytes, encoding).map(|one| one.unwrap().offset).collect();
        let end = bytes.len() + 3 * branches.len();
        starts.push(end);
        for (index, _, is_skip) in &branches {
            let by = *index.get(&starts) as i64 - (bytes.len() as i64 + 3);
            bytes.push(if *is_skip { 0x2f } else { 0x28 });
            let by = by as i16;
            bytes.extend(if encoding.big_endian { by.to_be_bytes() } else { by.to_le_bytes() });
        }
        let text = text::print(&bytes, encoding, None);
        prop_assert!(text.contains(" L") && text.contains("L0:"));
        let back = text::parse(&text, encoding, None).unwrap();
        prop_assert_eq!(back.bytes(), &bytes, "{}", text);
    }

    #[test]
    fn any_bytes_are_printed_and_what_decodes_comes_out_again(
        bytes in vec(any::<u8>(), 0..64),
        encoding in encodings(),
    ) {
        let (again, end) = respelled(&bytes, encoding);
        prop_assert_eq!(&again, &bytes[..end]);
        let text = text::print(&bytes, encoding, None);
        if end < bytes.len() {
            prop_assert!(text.ends_with('>'));
        } else {
            let _ = text::parse(&text, encoding, None);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "(L0: |lit|reg|const1u|bra L0|entry_value |[(){};:@Lx0-9a-f -]){0,12}") {
        let _ = text::parse(&text, Encoding::new(8, Dialect::Llvm), None);
    }
}

/// Constants at all boundaries of the spellings.
#[test]
fn constants_take_the_fewest_bytes_at_every_edge() {
    let encoding = Encoding::new(8, Dialect::Dwarf5);
    for shift in 0..64 {
        for near in [-1i64, 0, 1] {
            let value = (1u64 << shift).wrapping_add_signed(near);
            for op in [
                Op::ConstU { value },
                Op::ConstS { value: value as i64 },
                Op::ConstS { value: (value as i64).wrapping_neg() },
            ] {
                let bytes = encoded(op, encoding);
                assert_eq!(Decoder::new(&bytes, encoding).next().unwrap().unwrap().op, op);
                assert!(compact_lengths(op).all(|len| bytes.len() <= len), "{op:?}: {bytes:x?}");
            }
        }
    }
    assert!((0..=255).all(|code| Compact::from_opcode(code).is_none_or(|family| family.first <= code)));
}

#[test]
fn expressions_in_expressions_do_not_overflow_the_stack() {
    let encoding = Encoding::new(8, Dialect::Dwarf5);
    let mut bytes = vec![0x96];
    for _ in 0..2000 {
        let mut outer = vec![0xa3];
        let mut len = bytes.len();
        while len >= 0x80 {
            outer.push(len as u8 | 0x80);
            len >>= 7;
        }
        outer.push(len as u8);
        outer.append(&mut bytes);
        bytes = outer;
    }
    let text = text::print(&bytes, encoding, None);
    assert_eq!(text.matches('(').count(), 16);
    assert_eq!(text::parse(&text, encoding, None).unwrap().bytes(), bytes);
}

#[test]
fn numbers_of_over_255_bytes_are_malformed() {
    let encoding = Encoding::new(8, Dialect::Dwarf5);
    for padding in [254, 255, 400] {
        let mut bytes = vec![0x10, 0x85];
        bytes.resize(1 + padding, 0x80);
        bytes.push(0);
        let one = Decoder::new(&bytes, encoding).next().unwrap();
        assert_eq!(one.is_ok(), padding < 255);
        if let Ok(one) = one {
            assert_eq!((one.op, one.spelling.leb_bytes(0)), (Op::ConstU { value: 5 }, 255));
            assert_eq!(respelled(&bytes, encoding).0, bytes);
        }
    }
}
