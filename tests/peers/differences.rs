//! Differences in gimli 0.34's results, and the rule that decides each.

use eitri::eval::{Element, Step, TypeEncoding, Value};
use eitri::op::{Encoding, Op, OperationName};

/// An executed operation, or the end of the expression.
#[derive(Debug)]
pub struct Seen<'a> {
    /// The previously executed operation, possibly in another expression.
    pub previous: Option<OperationName>,
    /// `None` at the end.
    pub op: Option<Op<'a>>,
    /// Stack before the operation, bottom first.
    pub before: &'a [Element],
    /// Stack after the operation; `None` if it failed.
    pub after: Option<&'a [Element]>,
    pub encoding: Encoding,
}

impl Seen<'_> {
    /// The element `index` below the top, if it is a value.
    fn value(&self, index: usize) -> Option<&Value> {
        match self.element(index)? {
            Element::Value(value) => Some(value),
            Element::Location(_) => None,
        }
    }

    fn element(&self, index: usize) -> Option<&Element> {
        self.before.len().checked_sub(index + 1).map(|at| &self.before[at])
    }

    /// Encoding of an element's type; a memory location counts as the generic type.
    fn encoding_of(&self, index: usize) -> TypeEncoding {
        self.value(index).map_or(TypeEncoding::Generic, |value| value.ty().encoding)
    }

    fn is_float(&self, index: usize) -> bool {
        self.encoding_of(index) == TypeEncoding::Float
    }

    fn result(&self) -> Option<&Value> {
        match self.after?.last()? {
            Element::Value(value) => Some(value),
            Element::Location(_) => None,
        }
    }
}

/// A difference of gimli.
pub struct Difference {
    /// Behaviour of gimli.
    pub gimli: &'static str,
    /// The deciding rule.
    pub rule: &'static str,
    /// An example on the machine for random expressions, with addresses of 8 bytes.
    pub example: &'static str,
    /// Whether an executed operation can cause the difference.
    pub applies: fn(&Seen<'_>) -> bool,
}

fn is_incomplete(element: &Element) -> bool {
    matches!(element, Element::Location(location) if location.is_incomplete())
}

fn is_piece(op: Option<Op<'_>>) -> bool {
    matches!(op, Some(Op::Piece { .. } | Op::BitPiece { .. }))
}

fn is_shift(op: Option<Op<'_>>) -> bool {
    matches!(op, Some(Op::Shl {} | Op::Shr {} | Op::Shra {}))
}

fn is_nan(value: &Value) -> bool {
    let bits = value.as_u64().unwrap_or(0);
    match (value.ty().encoding, value.ty().bits) {
        (TypeEncoding::Float, 32) => f32::from_bits(bits as u32).is_nan(),
        (TypeEncoding::Float, 64) => f64::from_bits(bits).is_nan(),
        _ => false,
    }
}

/// All differences.
#[rustfmt::skip]
pub const DIFFERENCES: &[Difference] = &[
    Difference {
        gimli: "abs of an unsigned type changes nothing",
        rule: "DWARF 5, 2.5.1.4, DW_OP_abs: \"interprets it as a signed value\"",
        example: "const_type @0x11 {fb}; abs; convert @0",
        applies: |seen| matches!(seen.op, Some(Op::Abs {})) && seen.encoding_of(0) == TypeEncoding::Unsigned,
    },
    Difference {
        gimli: "neg of an unsigned type is refused",
        rule: "DWARF 5, 2.5.1.4: all base types are allowed",
        example: "const_type @0x11 {fb}; neg; convert @0",
        applies: |seen| matches!(seen.op, Some(Op::Neg {})) && seen.encoding_of(0) == TypeEncoding::Unsigned,
    },
    Difference {
        gimli: "abs of -0.0 and of NaN keeps the sign",
        rule: "IEEE 754, 5.5.1: the absolute value has the sign 0",
        example: "const_type @0x18 {00 00 00 80}; abs; reinterpret @0x15; convert @0",
        applies: |seen| matches!(seen.op, Some(Op::Abs {})) && seen.is_float(0),
    },
    Difference {
        gimli: "shr of a signed type and shra of an unsigned one are refused",
        rule: "DWARF 5, 2.5.1.4: integral types are allowed; which of the two says what is shifted in",
        example: "const_type @0x10 {fb}; const_type @0x10 {01}; shr; convert @0",
        applies: |seen| match seen.op {
            Some(Op::Shr {}) => seen.encoding_of(1) == TypeEncoding::Signed,
            Some(Op::Shra {}) => seen.encoding_of(1) == TypeEncoding::Unsigned,
            _ => false,
        },
    },
    Difference {
        gimli: "a shift takes how far to shift of any integral type",
        rule: "DWARF 5, 2.5.1.4: operands have the same type",
        example: "const_type @0x11 {05}; lit1; shl; convert @0",
        applies: |seen| is_shift(seen.op)
            && (seen.encoding_of(0) != seen.encoding_of(1)
                || seen.value(0).zip(seen.value(1)).is_some_and(|(a, b)| a.ty() != b.ty())),
    },
    Difference {
        gimli: "a shift by a number below 0 of a signed type is refused",
        rule: "DWARF 5, 2.5.1.4: nothing makes it wrong; how far to shift counts as unsigned (decision)",
        example: "const_type @0x10 {fb}; const_type @0x10 {ff}; shl; convert @0",
        applies: |seen| is_shift(seen.op) && seen.value(0).is_some_and(|by| by.as_i128().unwrap_or(0) < 0),
    },
    Difference {
        gimli: "the generic type of 4 bytes keeps more bits, which count in how far to shift",
        rule: "DWARF 5, 2.5.1: the generic type has the size of an address",
        example: "",
        applies: |seen| is_shift(seen.op) && seen.encoding.address_bytes < 8
            && seen.encoding_of(0) == TypeEncoding::Generic,
    },
    Difference {
        gimli: "plus_uconst adds to floating point",
        rule: "DWARF 5, 2.5.1.4: it is not among the operations that are for all types",
        example: "const_type @0x18 {00 00 80 3f}; plus_uconst 1; convert @0",
        applies: |seen| matches!(seen.op, Some(Op::PlusUconst { .. })) && seen.is_float(0),
    },
    Difference {
        gimli: "floating point that an integer cannot hold is converted to the nearest that it can",
        rule: "DWARF 5, 2.5.1.6: the result has no number; an evaluation error (decision)",
        example: "const_type @0x18 {00 00 80 bf}; convert @0x11; convert @0",
        applies: |seen| matches!(seen.op, Some(Op::Convert { .. })) && seen.is_float(0) && seen.after.is_none(),
    },
    Difference {
        gimli: "floating point below 0 is converted to 0 of the generic type",
        rule: "DWARF 5, 2.5.1.4: the generic type has no signedness, so that it holds -1 too (decision)",
        example: "const_type @0x18 {00 00 80 bf}; convert @0",
        applies: |seen| matches!(seen.op, Some(Op::Convert { ty: 0 })) && seen.is_float(0),
    },
    Difference {
        gimli: "a signed number below 0 becomes floating point by way of an unsigned one of 64 bits",
        rule: "DWARF 5, 2.5.1.6, DW_OP_convert: it converts the value",
        example: "const_type @0x10 {fd}; convert @0x18; reinterpret @0x15; convert @0",
        applies: |seen| matches!(seen.op, Some(Op::Convert { .. }))
            && seen.encoding_of(0) == TypeEncoding::Signed
            && seen.result().is_some_and(|value| value.ty().encoding == TypeEncoding::Float),
    },
    Difference {
        gimli: "the bits of NaN are the host's",
        rule: "IEEE 754, 6.2: any will do; here they are the same on every host (decision)",
        example: "const_type @0x18 {00 00 00 00}; dup; div; reinterpret @0x15; convert @0",
        applies: |seen| matches!(seen.op,
            Some(Op::Plus {} | Op::Minus {} | Op::Mul {} | Op::Div {} | Op::Convert { .. }))
            && seen.result().is_some_and(is_nan),
    },
    Difference {
        gimli: "regval_type adds 0 to floating point, by which -0.0 becomes 0.0",
        rule: "DWARF 5, 2.5.1.2, DW_OP_regval_type: it pushes the contents of the register",
        example: "",
        applies: |seen| matches!(seen.op, Some(Op::RegvalType { .. }))
            && seen.result().is_some_and(|value| {
                let is_zero = value.as_u64().is_some_and(|bits| bits << (64 - value.ty().bits.min(64)) << 1 == 0);
                value.ty().encoding == TypeEncoding::Float && (is_zero || is_nan(value))
            }),
    },
    Difference {
        gimli: "bra does not take floating point",
        rule: "A.2.5.4.2, DW_OP_bra: it asks of any value whether it is the constant 0",
        example: "lit5; const_type @0x18 {00 00 80 3f}; bra L0; lit6; L0: nop",
        applies: |seen| matches!(seen.op, Some(Op::Bra { .. })) && seen.is_float(0),
    },
    Difference {
        gimli: "a number of any integral type is an address",
        rule: "A.2.5.4.4.3: a value \"with the generic type\" is converted to a location",
        example: "const_type @0x13 {00 10}; deref_size 1",
        applies: |seen| {
            let takes = match seen.op {
                None | Some(Op::Deref {} | Op::DerefSize { .. } | Op::DerefType { .. }) => true,
                op => is_piece(op),
            };
            takes && !matches!(seen.encoding_of(0), TypeEncoding::Generic | TypeEncoding::Float)
        },
    },
    Difference {
        gimli: "a dereference of more bytes than an address has is refused",
        rule: "A.2.5.4.3.4, DW_OP_deref_type: the size is the type's; DW_OP_deref_size: at most the generic type's",
        example: "addr 0x1000; deref_size 9",
        applies: |seen| match seen.op {
            Some(Op::DerefSize { bytes } | Op::DerefType { bytes, .. } | Op::XderefSize { bytes }
                | Op::XderefType { bytes, .. }) => bytes > seen.encoding.address_bytes,
            _ => false,
        },
    },
    Difference {
        gimli: "type 0 is the generic type everywhere",
        rule: "DWARF 5, 2.5.1.2 and 2.5.1.3: only conversions may have the operand 0",
        example: "regval_type 2 @0",
        applies: |seen| matches!(seen.op, Some(Op::RegvalType { ty: 0, .. } | Op::DerefType { ty: 0, .. })),
    },
    Difference {
        gimli: "const_type takes a block that is longer than its type",
        rule: "DWARF 5, 2.5.1.1, DW_OP_const_type: the size of the constant is \"that of the type\"",
        example: "const_type @0x11 {05 00}; convert @0",
        applies: |seen| matches!(seen.op, Some(Op::ConstType { .. })) && seen.after.is_none(),
    },
    Difference {
        gimli: "an entry value can be an address",
        rule: "A.2.5.4.3.4, DW_OP_entry_value: a register or a value, \"otherwise ill-formed\"; breg is a location",
        example: "entry_value (breg5 0)",
        applies: |seen| matches!(seen.op, Some(Op::EntryValue { .. })) && seen.after.is_none(),
    },
    Difference {
        gimli: "at the end of an empty stack there is no answer",
        rule: "A.2.5.1: a location is wanted and the stack is empty: the undefined one",
        example: "nop",
        applies: |seen| seen.op.is_none() && seen.before.is_empty(),
    },
    Difference {
        gimli: "only a piece may follow what describes a location",
        rule: "A.2.5.4: locations are elements of the stack as values are",
        example: "reg2; deref_size 1",
        applies: |seen| !is_piece(seen.op) && match seen.previous {
            Some(OperationName::RegX | OperationName::StackValue | OperationName::ImplicitValue | OperationName::ImplicitPointer) =>
                seen.op.is_some() || seen.before[..seen.before.len().saturating_sub(1)].iter().any(is_incomplete),
            _ => false,
        },
    },
    Difference {
        gimli: "an expression with pieces ends with a piece",
        rule: "DWARF 5, 2.5.1.7, DW_OP_nop: \"it has no effect on the location stack or any of its values\"",
        example: "reg2; piece 4; nop",
        applies: |seen| seen.op.is_none() && seen.before.last().is_some_and(is_incomplete)
            && !matches!(seen.previous, Some(OperationName::Piece | OperationName::BitPiece)),
    },
    Difference {
        gimli: "a composite is not on the stack: operations go on with what was there before it",
        rule: "A.2.5.4.4.6: a composite that is being built is the top of the stack",
        example: "lit1; reg2; piece 4; piece 4",
        applies: |seen| {
            let at = seen.before.iter().rposition(is_incomplete);
            let Some(from_top) = at.map(|at| seen.before.len() - 1 - at) else { return false };
            match seen.op {
                // The entry is the result in both, unless another element is above it.
                None => from_top > 0,
                Some(Op::Piece { .. } | Op::BitPiece { .. }) => match from_top {
                    0 => seen.before.len() > 1,
                    reach => reach > 1,
                },
                Some(op) => op.row().stack.0.is_none_or(|takes| from_top < usize::from(takes))
                    && !matches!(op, Op::Call2 { .. } | Op::Call4 { .. } | Op::CallRef { .. }),
            }
        },
    },
];

/// Watches an evaluation of this crate for possible causes of differences.
pub struct Watch {
    encoding: Encoding,
    before: Vec<Element>,
    previous: Option<OperationName>,
    /// Stack and previous operation before each unfinished nested expression.
    outer: Vec<(Vec<Element>, Option<OperationName>)>,
    /// The rules that apply.
    pub found: Vec<&'static str>,
}

impl Watch {
    pub fn new(encoding: Encoding) -> Self {
        Self { encoding, before: Vec::new(), previous: None, outer: Vec::new(), found: Vec::new() }
    }

    /// Records an executed operation.
    pub fn step(&mut self, step: &Step<'_>) {
        while self.outer.len() < step.depth as usize {
            self.outer.push((self.before.clone(), self.previous));
        }
        let mut before = None;
        while self.outer.len() > step.depth as usize {
            before = self.outer.pop();
        }
        match step.op {
            // The called operations were recorded.
            Op::Call2 { .. } | Op::Call4 { .. } | Op::CallRef { .. } => return,
            // Nested expressions have a stack of their own.
            Op::EntryValue { .. } | Op::FbReg { .. } => {
                if let Some((before, previous)) = before {
                    (self.before, self.previous) = (before, previous);
                }
            }
            _ => {}
        }
        self.look(Some(step.op), Some(step.stack));
        self.before = step.stack.to_vec();
        self.previous = Some(step.op.name());
    }

    /// Records a failed operation, or the end of the expression.
    pub fn end(&mut self, failed: Option<Op<'_>>) {
        self.look(failed, None);
    }

    fn look(&mut self, op: Option<Op<'_>>, after: Option<&[Element]>) {
        let seen = Seen { previous: self.previous, op, before: &self.before, after, encoding: self.encoding };
        self.found.extend(DIFFERENCES.iter().filter(|one| (one.applies)(&seen)).map(|one| one.gimli));
    }
}
