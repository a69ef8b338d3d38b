//! Compiled expressions, and what they are for.

use std::borrow::Cow;

use super::Single;
use super::compile::{Program, compile};
use crate::op::Encoding;

/// An expression with decoded operations, for evaluation on many machines: at every stop of a debugger, at every pc, in
/// every lane.
///
/// Each evaluation has the result that [`Evaluator`](crate::eval::Evaluator) has for the bytes: the same location or
/// value, or the same fault at the same operation. Compiling never fails: an invalid operation is a fault of the
/// evaluation that reaches it.
///
/// * Operands are decoded, targets of branches found, the height of the stack and the kinds of its elements proved, and
///   frequent sequences (a literal and its operation, a register's contents and their target, a register and its piece)
///   fused to one instruction.
/// * Instructions exist for numbers of the generic type, memory, whole registers, lanes, offsets and pieces. The full
///   evaluator evaluates the bytes of an expression with other operations or without a proof, and at a possible fault.
/// * The encoding is that of the compiled expression; [`Context::encoding`](crate::eval::Context) is ignored.
///
/// Compiling takes 90 to 550 ns (`benches/README.md`): an expression that is evaluated a few times is evaluated faster
/// from its bytes.
///
/// ```
/// use eitri_dwarf::eval::{Compiled, Context, Evaluator, Snapshot};
/// use eitri_dwarf::op::{Dialect, Encoding, Reg, text};
/// use eitri_dwarf::target::Target;
///
/// let target = Target::x86_64();
/// let encoding = Encoding::new(8, Dialect::Dwarf5);
/// let expr = text::parse("breg5 16; lit4; plus", encoding, Some(&target))?;
/// let compiled = Compiled::new(expr.bytes(), encoding);
///
/// let context = Context::new(encoding, &target);
/// let mut evaluator = Evaluator::new();
/// for rdi in [0x1000u64, 0x2000, 0x3000] {
///     let mut machine = Snapshot::default();
///     machine.registers.insert(Reg(5), rdi.to_le_bytes().to_vec());
///     let location = evaluator.locate_compiled(&compiled, &machine, &context)?;
///     assert_eq!(location.default_address(), Some(rdi + 20));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Compiled<'e> {
    expr: Cow<'e, [u8]>,
    encoding: Encoding,
    program: Option<Program>,
    single: Option<Single>,
}

impl<'e> Compiled<'e> {
    /// Compiles an expression.
    pub fn new(expr: impl Into<Cow<'e, [u8]>>, encoding: Encoding) -> Self {
        let expr = expr.into();
        let single = Single::of(&expr, &encoding);
        let program = compile(&expr, &encoding);
        Self { expr, encoding, program, single }
    }

    /// Returns the bytes of the expression.
    pub fn bytes(&self) -> &[u8] {
        &self.expr
    }

    /// Returns the encoding of the expression.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    #[inline(always)]
    pub(super) fn encoding_ref(&self) -> &Encoding {
        &self.encoding
    }

    #[inline(always)]
    pub(super) fn single(&self) -> Option<Single> {
        self.single
    }

    #[inline(always)]
    pub(super) fn program(&self) -> Option<&Program> {
        self.program.as_ref()
    }
}
