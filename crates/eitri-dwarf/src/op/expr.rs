//! Whole expressions: operations with branches to labels, and operands that are filled in later.

use super::{Decoder, Encoder, Encoding, Op};
use crate::error::{Count, Error, ErrorKind, Result};

/// Reference from an expression to an entity whose number is not known yet: an entry in `.debug_info`, or an address.
///
/// The number is an index into a list that the expression's owner keeps. The expression does not interpret it.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub u32);

/// Kind of a number to fill in.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FixupKind {
    /// Entry offset from the start of the unit, in this number of bytes.
    Entry {
        /// 2 or 4.
        bytes: u8,
    },
    /// Offset of a base type entry from the start of the unit, as unsigned LEB128, padded to this number of bytes.
    Type {
        /// Number of reserved bytes.
        bytes: u8,
    },
    /// Entry offset from the start of `.debug_info`, with the size of a section offset; in DWARF 2 with the size of an
    /// address.
    EntrySection,
    /// Address in the target's default space.
    Address,
}

/// Field in an expression for a number to fill in.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fixup {
    /// Offset in bytes from the start of the expression.
    pub offset: u32,
    /// Kind of number.
    pub kind: FixupKind,
    /// Referenced entity.
    pub slot: Slot,
}

/// Encoded expression with fixups.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Expr {
    bytes: Vec<u8>,
    fixups: Vec<Fixup>,
}

impl Expr {
    /// Starts an expression.
    pub fn build(encoding: Encoding) -> ExprBuilder {
        ExprBuilder {
            bytes: Vec::new(),
            encoding,
            fixups: Vec::new(),
            labels: Vec::new(),
            branches: Vec::new(),
            error: None,
        }
    }

    /// Returns an expression of raw bytes, for operations that are not in the table.
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self { bytes: bytes.into(), fixups: Vec::new() }
    }

    /// Returns an expression of raw bytes with fixups in ascending order.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] if a fixup overlaps the previous fixup, is outside the bytes, or has a number of bytes
    /// without a form.
    pub fn with_fixups(bytes: impl Into<Vec<u8>>, fixups: impl Into<Vec<Fixup>>) -> Result<Self> {
        let bytes = bytes.into();
        let fixups = fixups.into();
        let mut free = 0;
        for fixup in &fixups {
            let length = match fixup.kind {
                FixupKind::Entry { bytes: bytes @ (2 | 4) } => bytes,
                FixupKind::Type { bytes: bytes @ 1..=10 } => bytes,
                FixupKind::EntrySection | FixupKind::Address => 4,
                FixupKind::Entry { bytes } => {
                    return Err(Error::bad_argument(format!(
                        "entry operand of a fix-up has {}; expected 2 or 4 bytes",
                        Count(bytes, "byte")
                    )));
                }
                FixupKind::Type { bytes } => {
                    return Err(Error::bad_argument(format!(
                        "type operand of a fix-up has {}; expected 1 to 10 bytes",
                        Count(bytes, "byte")
                    )));
                }
            };
            let start = u64::from(fixup.offset);
            let end = start + u64::from(length);
            if end > bytes.len() as u64 {
                let size = Count(bytes.len() as u64, "byte");
                return Err(Error::bad_argument(format!(
                    "fix-up at offset {start:#x} is past the end of the expression, which has {size}"
                )));
            }
            if start < free {
                return Err(Error::bad_argument(format!(
                    "fix-up at offset {start:#x} overlaps the previous fix-up, which ends at {free:#x}"
                )));
            }
            free = end;
        }
        Ok(Self { bytes, fixups })
    }

    /// Returns the expression with slot *n* for the *n*th fixup.
    #[doc(hidden)]
    pub fn with_slots_in_order(&self) -> Self {
        let fixups = self.fixups.iter().zip(0..).map(|(fixup, slot)| Fixup { slot: Slot(slot), ..*fixup });
        Self { bytes: self.bytes.clone(), fixups: fixups.collect() }
    }

    /// Returns the bytes, with 0 at fixups.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the fixups, in ascending order.
    pub fn fixups(&self) -> &[Fixup] {
        &self.fixups
    }

    /// Returns a decoder of the operations.
    pub fn decode(&self, encoding: Encoding) -> Decoder<'_> {
        Decoder::new(&self.bytes, encoding)
    }
}

/// Branch target in an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BranchLabel(u32);

/// Builds an [`Expr`].
///
/// ```
/// use eitri_dwarf::op::{Dialect, Encoding, Expr, Reg};
///
/// // The larger of two registers, as a value.
/// let mut e = Expr::build(Encoding::new(8, Dialect::Dwarf5));
/// let done = e.label();
/// e.ops().bregx(Reg(0), 0).bregx(Reg(1), 0).pick(1).pick(1).ge();
/// e.bra(done);
/// e.ops().swap();
/// e.bind(done);
/// e.ops().drop_top().stack_value();
/// assert_eq!(e.finish()?.bytes(), [0x70, 0, 0x71, 0, 0x14, 0x14, 0x2a, 0x28, 1, 0, 0x16, 0x13, 0x9f]);
/// # Ok::<(), eitri_dwarf::Error>(())
/// ```
#[derive(Debug)]
pub struct ExprBuilder {
    bytes: Vec<u8>,
    encoding: Encoding,
    fixups: Vec<Fixup>,
    /// Offset to which each label is bound.
    labels: Vec<Option<usize>>,
    /// Offset of each branch operand, and its label.
    branches: Vec<(usize, BranchLabel)>,
    error: Option<Error>,
}

/// Encoder for an expression under construction. The first error is kept until the end.
#[derive(Debug)]
pub struct Ops<'b> {
    encoder: Option<Encoder<'b>>,
    error: &'b mut Option<Error>,
}

impl<'b> core::ops::Deref for Ops<'b> {
    type Target = Encoder<'b>;
    fn deref(&self) -> &Encoder<'b> {
        self.encoder.as_ref().expect("present until dropped")
    }
}

impl<'b> core::ops::DerefMut for Ops<'b> {
    fn deref_mut(&mut self) -> &mut Encoder<'b> {
        self.encoder.as_mut().expect("present until dropped")
    }
}

impl Drop for Ops<'_> {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.encoder.take().map(Encoder::finish) {
            self.error.get_or_insert(error);
        }
    }
}

impl ExprBuilder {
    /// Returns the encoder for operations without references.
    pub fn ops(&mut self) -> Ops<'_> {
        Ops { encoder: Some(Encoder::new(&mut self.bytes, self.encoding)), error: &mut self.error }
    }

    /// Returns a new label, not yet bound.
    pub fn label(&mut self) -> BranchLabel {
        self.labels.push(None);
        BranchLabel(self.labels.len() as u32 - 1)
    }

    /// Binds the label to the position after the last operation.
    pub fn bind(&mut self, label: BranchLabel) -> &mut Self {
        match self.labels.get_mut(label.0 as usize) {
            Some(offset @ None) => *offset = Some(self.bytes.len()),
            Some(Some(_)) => self.fail("label is bound twice"),
            None => self.fail("label belongs to another expression"),
        }
        self
    }

    /// Appends `skip` to a label.
    pub fn skip(&mut self, target: BranchLabel) -> &mut Self {
        self.ops().skip(0);
        self.branch(target)
    }

    /// Appends `bra` to a label.
    pub fn bra(&mut self, target: BranchLabel) -> &mut Self {
        self.ops().bra(0);
        self.branch(target)
    }

    fn branch(&mut self, target: BranchLabel) -> &mut Self {
        self.branches.push((self.bytes.len() - 2, target));
        self
    }

    /// Appends an operation whose referencing operand is filled in later. The operand's value in `op` is ignored.
    ///
    /// References to base types are padded to three bytes, which cover a unit's first two million bytes.
    pub fn refer(&mut self, op: Op<'_>, slot: Slot) -> &mut Self {
        let start = self.bytes.len();
        let (op, kind, before) = match op {
            Op::Addr { .. } => (Op::Addr { address: 0 }, FixupKind::Address, 1),
            Op::Call2 { .. } => (Op::Call2 { entry: 0 }, FixupKind::Entry { bytes: 2 }, 1),
            Op::Call4 { .. } => (Op::Call4 { entry: 0 }, FixupKind::Entry { bytes: 4 }, 1),
            Op::CallRef { .. } => (Op::CallRef { entry: 0 }, FixupKind::EntrySection, 1),
            Op::ImplicitPointer { offset, .. } => {
                (Op::ImplicitPointer { entry: 0, offset }, FixupKind::EntrySection, 1)
            }
            Op::GnuParameterRef { .. } => {
                (Op::GnuParameterRef { entry: 0 }, FixupKind::Entry { bytes: 4 }, 1)
            }
            Op::GnuVariableValue { .. } => (Op::GnuVariableValue { entry: 0 }, FixupKind::EntrySection, 1),
            Op::ConstType { bytes, .. } => (Op::ConstType { ty: PADDED, bytes }, TYPE, 1),
            Op::Convert { .. } => (Op::Convert { ty: PADDED }, TYPE, 1),
            Op::Reinterpret { .. } => (Op::Reinterpret { ty: PADDED }, TYPE, 1),
            Op::DerefType { bytes, .. } => (Op::DerefType { bytes, ty: PADDED }, TYPE, 2),
            Op::XderefType { bytes, .. } => (Op::XderefType { bytes, ty: PADDED }, TYPE, 2),
            Op::RegvalType { reg, .. } => {
                (Op::RegvalType { reg, ty: PADDED }, TYPE, 1 + super::uleb_len(reg.0))
            }
            _ => {
                let name = op.row().text;
                self.fail(&format!("operation `{name}` has no operand that a fix-up can fill in"));
                return self;
            }
        };
        self.ops().op(op);
        let offset = (start + before) as u32;
        if kind == TYPE {
            // The placeholder was the largest number of three bytes; the operand stays padded to that length.
            self.bytes[start + before..][..3].copy_from_slice(&[0x80, 0x80, 0x00]);
        }
        self.fixups.push(Fixup { offset, kind, slot });
        self
    }

    /// Returns the expression.
    ///
    /// # Errors
    /// [`ErrorKind::Inexpressible`] if the dialect lacks an operation; [`ErrorKind::BadArgument`] if a label is bound
    /// twice, is not bound, or is too far away (a branch reaches 32 KiB).
    pub fn finish(mut self) -> Result<Expr> {
        for index in 0..self.branches.len() {
            let (operand, label) = self.branches[index];
            let Some(&Some(target)) = self.labels.get(label.0 as usize) else {
                self.fail("label of a branch is not bound");
                break;
            };
            // A branch counts from the end of its two-byte operand.
            let distance = target as i64 - (operand as i64 + 2);
            match i16::try_from(distance) {
                Ok(distance) if self.encoding.big_endian => {
                    self.bytes[operand..operand + 2].copy_from_slice(&distance.to_be_bytes())
                }
                Ok(distance) => self.bytes[operand..operand + 2].copy_from_slice(&distance.to_le_bytes()),
                Err(_) => self.fail(&format!("branch distance {distance:+} exceeds 32 KiB")),
            }
        }
        match self.error {
            Some(error) => Err(error),
            None => Ok(Expr { bytes: self.bytes, fixups: self.fixups }),
        }
    }

    fn fail(&mut self, message: &str) {
        self.error.get_or_insert(Error::new(ErrorKind::BadArgument(message.into())));
    }
}

/// Number that takes three bytes as LEB128.
const PADDED: u64 = 0x1f_ffff;
const TYPE: FixupKind = FixupKind::Type { bytes: 3 };
