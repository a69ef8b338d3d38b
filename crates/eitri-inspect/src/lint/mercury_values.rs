//! Facts in Mercury copies and in their originals, as far as they do not depend on the encoding of the code.

use eitri_dwarf::read::{ElfSymbolKind, Object, ResolvedValue};

/// `DW_OP_addr`.
const ADDR: u8 = 0x03;

/// First difference in a section: offset in the copy, and the contents of both.
pub(super) struct Difference {
    pub(super) offset: u64,
    pub(super) written: String,
    pub(super) meant: String,
}

impl Difference {
    pub(super) fn new(offset: u64, written: impl ToString, meant: impl ToString) -> Self {
        Self { offset, written: written.to_string(), meant: meant.to_string() }
    }
}

/// The file's sections, and the copies.
#[derive(Clone, Copy)]
pub(super) struct Both<'r, 'o> {
    pub(super) object: &'r Object<'o>,
    pub(super) copies: &'r Object<'o>,
}

/// Whether two values of an attribute say the same. Errors are reported where the values are read.
pub(super) fn is_same(both: Both<'_, '_>, own: ResolvedValue<'_>, copied: ResolvedValue<'_>) -> bool {
    use ResolvedValue::{Address, Expr, LineProgram, Unreadable};
    match (own, copied) {
        (Address(own), Address(copied)) => pc_text(both.object, own) == pc_text(both.copies, copied),
        (Expr([ADDR, own @ ..]), Expr([ADDR, copied @ ..])) => {
            // The address is that of data, which the reader assigns in both.
            own.len() == copied.len() && own.get(8..) == copied.get(8..)
        }
        // nvlink makes the copies of line tables again, with other sizes.
        (LineProgram(_), LineProgram(_)) => true,
        (Unreadable, _) | (_, Unreadable) => true,
        (own, copied) => own == copied,
    }
}

/// Describes a pc as far as it does not depend on the encoding of the code.
pub(super) fn pc_text(object: &Object<'_>, pc: u64) -> String {
    let function = |pc| object.symbol_at(pc).filter(|symbol| symbol.kind == ElfSymbolKind::Func);
    if let Some(symbol) = function(pc) {
        let at = if symbol.address == pc { "the start of" } else { "a pc in" };
        return format!("{at} `{}`", symbol.name);
    }
    match pc.checked_sub(1).and_then(function) {
        Some(symbol) => format!("the end of `{}`", symbol.name),
        None => "no function".into(),
    }
}
