//! Findings about an expression that recurs: they depend on its shape, the type, the frame base, and sometimes the code.

use std::cell::RefCell;
use std::ops::Range;

use smallvec::SmallVec;

use super::codes::Code;
use super::places::{Findings, Judged, Located};
use super::shape::Shape;

/// Facts around an expression on which its findings depend, beyond its shape and type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Depends {
    /// The presence of a function, and its frame base.
    #[default]
    Frame,
    /// Also whether a vector register has an address in scratch within the pcs.
    Address(u16, bool),
    /// Also the function.
    Function,
}

/// Codes with the operations at fault.
type Codes = SmallVec<[(Code, Range<usize>); 2]>;

#[derive(Debug)]
struct Verdict {
    /// Size in bits of the type, and whether it is a base type.
    ty: Option<(Option<u64>, bool)>,
    has_function: bool,
    /// Number of the frame base.
    frame_base: Option<u32>,
    depends: Depends,
    codes: Codes,
}

/// An expression with its findings so far.
#[derive(Debug)]
pub(super) struct Expr {
    /// Number among the expressions of the unit.
    number: u32,
    pub(super) shape: Shape,
    verdicts: RefCell<SmallVec<[Verdict; 1]>>,
}

/// Maximum number of verdicts that are kept.
const MOST: usize = 8;

impl Expr {
    pub(super) fn new(number: u32, shape: Shape) -> Self {
        Self { number, shape, verdicts: RefCell::default() }
    }

    /// Returns the [findings](Located::findings) about this expression.
    pub(super) fn findings(&self, located: &Located<'_, '_, '_>, frame_base: Option<&Self>) -> Findings {
        let ty = located.ty.map(|ty| (ty.bits, ty.is_base));
        let frame_base = frame_base.map(|base| base.number);
        let is_same = |one: &&Verdict| {
            let is_same_base = one.frame_base == frame_base;
            let holds = match one.depends {
                Depends::Address(register, is_address) => located.is_scratch_address(register) == is_address,
                _ => true,
            };
            one.ty == ty && one.has_function == located.function.is_some() && is_same_base && holds
        };
        if let Some(known) = self.verdicts.borrow().iter().find(is_same)
            && (known.codes.is_empty() || !located.explains)
        {
            let judged = |(code, operations): &(Code, Range<usize>)| Judged {
                code: *code,
                operations: operations.clone(),
                details: None,
            };
            return known.codes.iter().map(judged).collect();
        }
        let found = located.findings();
        let depends = located.depends.get();
        if depends != Depends::Function {
            let codes = found.iter().map(|one| (one.code, one.operations.clone())).collect();
            let mut all = self.verdicts.borrow_mut();
            if all.len() == MOST {
                all.clear();
            }
            let has_function = located.function.is_some();
            all.push(Verdict { ty, has_function, frame_base, depends, codes });
        }
        found
    }
}
