//! Dialect of expressions, which no header states. AMD's older dialect is recognized by its operations.

use gimli::{DwForm, constants as dw};

use super::abbreviations::ByAbbreviation;
use super::cfi::CallFrameInstruction;
use super::dwarf::Dwarf;
use super::elf;
use super::frame::FrameSection;
use super::value::ResolvedValue;
use crate::op::{Decoder, Dialect, Encoding};

/// One-byte operations in AMD's older dialect. In LLVM's dialect, [`USER`] begins every operation of AMD.
const LEGACY: core::ops::RangeInclusive<u8> = 0xe1..=0xec;
/// `DW_OP_LLVM_user`.
const USER: u8 = 0xe9;

/// Sets AMD's older dialect, if more expressions have operations of this dialect alone than of LLVM's dialect alone. The
/// dialect was LLVM's. A single damaged expression thus does not change how all others are read.
pub(super) fn recognize(dwarf: &mut Dwarf<'_>) {
    if dwarf.sections.machine != elf::AMDGPU {
        return;
    }
    let (mut legacy, mut llvm) = (0_usize, 0_usize);
    any_expression(dwarf, &mut |expr, encoding| {
        match dialect(expr, encoding) {
            Some(Dialect::Legacy) => legacy += 1,
            Some(_) => llvm += 1,
            None => {}
        }
        false
    });
    if legacy > llvm {
        dwarf.encoding.dialect = Dialect::Legacy;
        dwarf.units.iter_mut().for_each(|unit| unit.encoding.dialect = Dialect::Legacy);
    }
}

/// Whether a condition is true of an expression in an entry, a location list or `.debug_frame`.
#[doc(hidden)]
pub fn any_expression(dwarf: &Dwarf<'_>, is: &mut dyn FnMut(&[u8], Encoding) -> bool) -> bool {
    let mut list = Vec::new();
    let mut shapes = ByAbbreviation::default();
    let in_entries = dwarf.entries().any(|entry| {
        let encoding = entry.unit().encoding;
        let shape = shapes.of(entry, || entry.shape_with(|spec| can_have_expression(spec.form())));
        let mut has = false;
        entry.each_of(&shape, |attribute| match attribute.value() {
            Some(ResolvedValue::Expr(expr)) => has |= is(expr, encoding),
            Some(ResolvedValue::LocList(offset)) => {
                list.clear();
                has |= dwarf.read_locations(entry.unit(), offset, &mut list).is_ok()
                    && list.iter().any(|item| is(item.expr, encoding));
            }
            _ => {}
        });
        has
    });
    in_entries || any_frame_expression(dwarf, is)
}

fn any_frame_expression(dwarf: &Dwarf<'_>, is: &mut dyn FnMut(&[u8], Encoding) -> bool) -> bool {
    let frames = dwarf.readable_frames(FrameSection::Debug);
    let of_cies = frames.cies.iter().map(|cie| (cie, frames.initial_instructions(cie)));
    let of_fdes = frames.fdes.iter().map(|fde| (frames.cie(fde), frames.instructions(fde)));
    of_cies.chain(of_fdes).any(|(cie, mut instructions)| {
        instructions.any(|read| match read.map(|read| read.instruction) {
            Ok(
                CallFrameInstruction::DefCfaExpression { expr }
                | CallFrameInstruction::Expression { expr, .. }
                | CallFrameInstruction::ValExpression { expr, .. },
            ) => is(expr, cie.encoding),
            _ => false,
        })
    })
}

/// Returns the only dialect of AMD's compilers that explains an expression; `None` if both dialects do, or neither.
fn dialect(expr: &[u8], encoding: Encoding) -> Option<Dialect> {
    if !expr.iter().any(|byte| LEGACY.contains(byte)) {
        return None;
    }
    let decoder = |dialect| Decoder::new(expr, encoding.with_dialect(dialect));
    let is_whole = |dialect| decoder(dialect).all(|decoded| decoded.is_ok());
    if !is_whole(Dialect::Llvm) {
        return is_whole(Dialect::Legacy).then_some(Dialect::Legacy);
    }
    // An operand can have such a byte, too.
    let has_user = decoder(Dialect::Llvm).flatten().any(|decoded| decoded.spelling.code() == USER);
    has_user.then_some(Dialect::Llvm)
}

/// Whether a value in a form can be an expression or a location list. Before DWARF 4, both have forms of blocks and numbers.
#[doc(hidden)]
pub fn can_have_expression(form: DwForm) -> bool {
    is_expression_form(form) || matches!(form, dw::DW_FORM_data4 | dw::DW_FORM_data8 | dw::DW_FORM_indirect)
}

/// Whether a form is that of expressions, blocks, or location lists.
#[doc(hidden)]
pub fn is_expression_form(form: DwForm) -> bool {
    matches!(
        form,
        dw::DW_FORM_exprloc
            | dw::DW_FORM_block
            | dw::DW_FORM_block1
            | dw::DW_FORM_block2
            | dw::DW_FORM_block4
            | dw::DW_FORM_loclistx
            | dw::DW_FORM_sec_offset
    )
}
