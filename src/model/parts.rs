//! Parts of a function's code, at addresses that are independent of each other: DWARF 5 section 2.17.3.

use core::ops::Range;

use super::functions::Function;
use super::scopes::Address;

/// A contiguous part of a function's code.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodePart {
    /// Address of the first pc.
    pub address: Address,
    /// Half-open range of the function's pcs.
    pub pcs: Range<u64>,
}

/// All parts of code that has several. Few functions have any, so that a function holds a pointer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CodeParts {
    pub(crate) list: Vec<CodePart>,
}

impl CodePart {
    pub(crate) fn new(address: Address, pcs: Range<u64>) -> Self {
        Self { address, pcs }
    }

    /// Size in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.pcs.end - self.pcs.start
    }

    /// Returns the address of a pc in the part, or at its end.
    pub(crate) fn address_at(&self, pc: u64) -> Address {
        self.address.plus(pc.wrapping_sub(self.pcs.start))
    }

    /// Whether a pc is in the part, or at its end.
    fn reaches(&self, pc: u64) -> bool {
        (self.pcs.start..=self.pcs.end).contains(&pc)
    }
}

impl Function {
    /// Returns the contiguous parts of the code, with ascending pcs; no part for a function without
    /// code.
    pub fn code_parts(&self) -> impl Iterator<Item = CodePart> + '_ {
        let whole = self.address.filter(|_| !self.is_in_parts());
        let whole = whole.map(|address| CodePart::new(address, 0..self.bytes));
        whole.into_iter().chain(self.several_parts().iter().cloned())
    }

    /// Whether the code has several parts.
    pub(crate) fn is_in_parts(&self) -> bool {
        self.parts.is_some()
    }

    /// Returns the parts if there are several.
    fn several_parts(&self) -> &[CodePart] {
        self.parts.as_ref().map_or(&[], |parts| &parts.list)
    }

    /// Returns the address of a pc in the code, or at the end of a part. Between two parts and after the code, pcs count
    /// from the part before.
    pub(crate) fn address_at(&self, pc: u64) -> Option<Address> {
        match self.several_parts().iter().rfind(|part| part.pcs.start <= pc) {
            Some(part) => Some(part.address_at(pc)),
            None => self.address.map(|address| address.plus(pc)),
        }
    }

    /// Whether a single part contains a range, which can be empty, such as the return pc of a call that ends a part.
    pub(crate) fn has_part_with(&self, pcs: &Range<u64>) -> bool {
        self.code_parts().any(|part| part.reaches(pcs.start) && part.reaches(pcs.end))
    }
}
