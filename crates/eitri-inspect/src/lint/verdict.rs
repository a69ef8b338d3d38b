//! Findings about an expression that recurs: they depend on its shape, the type, the frame base, and sometimes the
//! code.

use std::cell::RefCell;

use eitri_dwarf::read::Entry;
use gimli::constants as dw;
use smallvec::SmallVec;

use super::codes::{Level, LintCode};
use super::places::{Depends, Located, Type};
use super::shape::Shape;

/// Facts around an expression on which its findings depend, beyond its shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Asked {
    /// Type's size in bits, and whether it is a base type or a pointer.
    ty: Option<(Option<u64>, bool, bool)>,
    has_function: bool,
    /// Whether the variable's entry states its memory.
    has_class: bool,
    /// Frame base number.
    frame_base: Option<u32>,
}

impl Asked {
    pub(super) fn new(
        variable: Entry<'_, '_>,
        ty: Option<Type<'_>>,
        has_function: bool,
        frame_base: Option<&Expr>,
    ) -> Self {
        Self {
            ty: ty.map(|ty| (ty.bits, ty.is_base, ty.is_pointer)),
            has_function,
            has_class: variable.has(dw::DW_AT_address_class),
            frame_base: frame_base.map(|base| base.number),
        }
    }
}

/// Codes that a location's findings have.
pub(super) type Codes = SmallVec<[LintCode; 8]>;

/// Codes of the findings about the locations that an expression computes.
#[derive(Debug)]
pub(super) struct Verdict {
    asked: Asked,
    depends: Depends,
    pub(super) codes: Codes,
}

impl Verdict {
    pub(super) fn has_error(&self) -> bool {
        self.codes.iter().any(|code| code.level() == Level::Error)
    }
}

/// An expression with its verdicts so far.
#[derive(Debug)]
pub(crate) struct Expr {
    /// Number among the unit's expressions.
    number: u32,
    pub(super) shape: Shape,
    verdicts: RefCell<SmallVec<[Verdict; 1]>>,
}

/// Limit on cached verdicts.
const MOST: usize = 8;

impl Expr {
    pub(super) fn new(number: u32, shape: Shape) -> Self {
        Self { number, shape, verdicts: RefCell::default() }
    }

    /// Uses the verdict on a location entry with this expression. `is_address` is true for a vector register that has
    /// an address in scratch within the pcs.
    pub(super) fn verdict<'l, 'r: 'l, 'o: 'r, R>(
        &self,
        asked: Asked,
        is_address: impl Fn(u16) -> bool,
        located: impl FnOnce() -> Located<'l, 'r, 'o>,
        with: impl FnOnce(&Verdict) -> R,
    ) -> R {
        let holds = |verdict: &&Verdict| match verdict.depends {
            _ if verdict.asked != asked => false,
            Depends::Address(register, is) => is_address(register) == is,
            _ => true,
        };
        if let Some(known) = self.verdicts.borrow().iter().find(holds) {
            return with(known);
        }
        let located = located();
        let codes = located.findings().iter().map(|finding| finding.code).collect();
        let verdict = Verdict { asked, depends: located.depends.get(), codes };
        let result = with(&verdict);
        if verdict.depends != Depends::Function {
            let mut verdicts = self.verdicts.borrow_mut();
            if verdicts.len() == MOST {
                verdicts.clear();
            }
            verdicts.push(verdict);
        }
        result
    }
}
