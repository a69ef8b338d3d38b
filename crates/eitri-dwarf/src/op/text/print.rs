//! Prints bytes as text.

use core::fmt::Write;

use super::MAX_DEPTH;
use crate::op::compact::Form;
use crate::op::operand::PointerForm;
use crate::op::table::for_each_op;
use crate::op::{Compact, Decoded, Decoder, EncodedAddress, Encoding, LLVM_USER, Op, Opcode, Reg};
use crate::target::Target;

/// Prints an expression. Never fails: undecodable bytes are printed with their error.
pub fn print(bytes: &[u8], encoding: Encoding, target: Option<&Target>) -> String {
    print_with(bytes, encoding, target, &mut |_| None)
}

/// Prints an expression as [`print()`] does. `entry` returns a text to print instead of an entry offset.
pub(crate) fn print_with(
    bytes: &[u8],
    encoding: Encoding,
    target: Option<&Target>,
    entry: &mut dyn FnMut(u64) -> Option<String>,
) -> String {
    let mut printer = Printer { out: String::new(), encoding: &encoding, target, entry, depth: 0 };
    printer.expression(bytes);
    printer.out
}

/// Returns the target offset of a branch, if an operation starts there or the expression ends there.
fn branch_target(operations: &[Decoded<'_>], branch: &Decoded<'_>, end: Option<usize>) -> Option<usize> {
    let (Op::Bra { distance } | Op::Skip { distance }) = branch.op else { return None };
    let target = (branch.offset + 3).checked_add_signed(distance.into())?;
    let is_start = operations.binary_search_by_key(&target, |decoded| decoded.offset).is_ok();
    (Some(target) == end || is_start).then_some(target)
}

/// Returns an operation's name, and the prefix that distinguishes a vendor opcode from the standard opcode of the same
/// operation.
fn prefix_and_name(decoded: &Decoded<'_>) -> (&'static str, &'static str) {
    let row = decoded.op.row();
    match decoded.spelling.code() {
        code if row.gnu == Opcode::Is(code) => ("GNU_", row.name.gnu_text()),
        LLVM_USER if row.std.get().is_some() => ("LLVM_", row.text),
        _ => ("", row.text),
    }
}

struct Printer<'t> {
    out: String,
    encoding: &'t Encoding,
    target: Option<&'t Target>,
    /// Returns a text for an entry offset.
    entry: &'t mut dyn FnMut(u64) -> Option<String>,
    depth: usize,
}

impl Printer<'_> {
    fn expression(&mut self, bytes: &[u8]) {
        let mut decoder = Decoder::new(bytes, *self.encoding);
        let mut operations = Vec::new();
        let mut error = None;
        let mut end = 0;
        for decoded in &mut decoder {
            match decoded {
                Ok(decoded) => operations.push(decoded),
                Err(stop) => {
                    end = stop.at().offset.map_or(0, |offset| offset as usize);
                    error = Some(stop);
                }
            }
        }
        // After an error the end of the expression is no branch target, because its offset is not decoded.
        let whole = error.is_none().then_some(bytes.len());
        let mut labels: Vec<usize> =
            operations.iter().filter_map(|branch| branch_target(&operations, branch, whole)).collect();
        labels.sort_unstable();
        labels.dedup();
        let label = |offset: usize| labels.binary_search(&offset).ok();
        let mut separator = "";
        for decoded in &operations {
            self.out.push_str(separator);
            separator = "; ";
            if let Some(number) = label(decoded.offset) {
                let _ = write!(self.out, "L{number}: ");
            }
            match branch_target(&operations, decoded, whole).and_then(label) {
                Some(number) => {
                    let _ = write!(self.out, "{} L{number}", decoded.op.row().text);
                }
                None => self.operation(decoded),
            }
        }
        if let Some(error) = error {
            let _ = write!(self.out, "{separator}<{error};");
            for byte in &bytes[end..] {
                let _ = write!(self.out, " {byte:02x}");
            }
            self.out.push('>');
        } else if let Some(number) = label(bytes.len()) {
            let _ = write!(self.out, "{separator}L{number}:");
        }
    }

    fn operation(&mut self, decoded: &Decoded<'_>) {
        let code = decoded.spelling.code();
        let Some(family) = Compact::from_opcode(code) else {
            let (prefix, text) = prefix_and_name(decoded);
            self.out.push_str(prefix);
            self.out.push_str(text);
            return self.operands(decoded.op);
        };
        self.out.push_str(family.text);
        match (decoded.op, family.form) {
            // A register with a name is printed by name, as in the general form.
            (Op::RegX { reg } | Op::BregX { reg, .. }, _) if self.has_name(reg) => self.register(reg),
            (_, Form::InOpcode) => {
                let _ = write!(self.out, "{}", code - family.first);
            }
            (Op::ConstU { value }, _) => self.unsigned(value),
            (Op::ConstS { value }, _) => self.signed(value),
            _ => {}
        }
        if let Op::BregX { offset, .. } = decoded.op {
            self.signed(offset);
        }
    }

    fn has_name(&self, reg: Reg) -> bool {
        self.target.is_some_and(|target| target.register(reg).is_some())
    }

    fn register(&mut self, reg: Reg) {
        let _ = match self.target.and_then(|target| target.register(reg)) {
            Some(info) => write!(self.out, " {}", info.name()),
            None => write!(self.out, " {}", reg.0),
        };
    }

    fn unsigned(&mut self, value: u64) {
        let _ = write!(self.out, " {value}");
    }

    fn signed(&mut self, value: i64) {
        let _ = write!(self.out, " {value}");
    }

    fn address(&mut self, value: u64) {
        let _ = write!(self.out, " {value:#x}");
    }

    fn entry(&mut self, value: u64) {
        let _ = match (self.entry)(value) {
            Some(text) => write!(self.out, " @{text}"),
            None => write!(self.out, " @{value:#x}"),
        };
    }

    fn block(&mut self, bytes: &[u8]) {
        self.out.push_str(" {");
        for (index, byte) in bytes.iter().enumerate() {
            let _ = write!(self.out, "{}{byte:02x}", if index == 0 { "" } else { " " });
        }
        self.out.push('}');
    }

    fn nested(&mut self, bytes: &[u8]) {
        if self.depth == MAX_DEPTH {
            return self.block(bytes);
        }
        self.depth += 1;
        self.out.push_str(" (");
        self.expression(bytes);
        self.out.push(')');
        self.depth -= 1;
    }

    fn pointer(&mut self, EncodedAddress { encoding, value }: EncodedAddress) {
        let _ = write!(self.out, " {encoding:#04x}");
        match EncodedAddress::form(encoding, self.encoding.address_bytes) {
            Some(PointerForm::Sleb | PointerForm::Signed(_)) => self.signed(value as i64),
            _ => self.address(value),
        }
    }
}

#[rustfmt::skip]
macro_rules! print_operand {
    ($p:ident, U8, $value:ident) => { $p.unsigned($value.into()) };
    ($p:ident, Uleb, $value:ident) => { $p.unsigned($value) };
    ($p:ident, Sleb, $value:ident) => { $p.signed($value) };
    ($p:ident, Register, $value:ident) => { $p.register($value) };
    ($p:ident, Address, $value:ident) => { $p.address($value) };
    ($p:ident, Branch, $value:ident) => { $p.signed($value.into()) };
    ($p:ident, Entry2, $value:ident) => { $p.entry($value) };
    ($p:ident, Entry4, $value:ident) => { $p.entry($value) };
    ($p:ident, EntrySection, $value:ident) => { $p.entry($value) };
    ($p:ident, TypeEntry, $value:ident) => { $p.entry($value) };
    ($p:ident, Block, $value:ident) => { $p.block($value) };
    ($p:ident, Block1, $value:ident) => { $p.block($value) };
    ($p:ident, Expression, $value:ident) => { $p.nested($value) };
    ($p:ident, Encoded, $value:ident) => { $p.pointer($value) };
}

macro_rules! make_printer { ($(
    $variant:ident $method:ident $text:literal { $($field:ident: $kind:ident),* }
    $codes:tt $stack:tt $since:literal $cfi:tt;
)*) => {
    impl Printer<'_> {
        fn operands(&mut self, op: Op<'_>) {
            match op { $(Op::$variant { $($field),* } => { $(print_operand!(self, $kind, $field);)* })* }
        }
    }
} }
for_each_op!(make_printer);
