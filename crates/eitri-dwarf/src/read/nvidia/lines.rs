//! Lines of the PTX: the section `.nv_debug_line_sass`, a second line table.

use super::{Names, section};
use crate::error::Result;
use crate::op::{Dialect, Encoding};
use crate::read::sections::Base;
use crate::read::{LineProgram, Object, Sections};

const PTX: Names = [".nv_debug_line_sass", ".nv.merc.nv_debug_line_sass"];
const SOURCE: Names = [".debug_line", ".nv.merc.debug_line"];

/// Returns the line programs that map pcs to [PTX](super::PtxText) lines. In a linked cubin they have no files, because
/// there is only one PTX text; other programs name its section. Ends after an error.
pub fn ptx_lines<'o>(object: &'o Object<'_>) -> impl Iterator<Item = Result<LineProgram<'o>>> {
    programs(object, PTX)
}

/// Returns all line programs of `.debug_line`: with lines alone, a cubin has no units that refer to them. Ends after an
/// error.
pub fn lines<'o>(object: &'o Object<'_>) -> impl Iterator<Item = Result<LineProgram<'o>>> {
    programs(object, SOURCE)
}

fn programs<'o>(object: &'o Object<'_>, names: Names) -> impl Iterator<Item = Result<LineProgram<'o>>> {
    let section = section(object, names);
    let sections = Sections::of(object);
    let strings = Base { offset: None, encoding: Encoding::new(object.address_bytes(), Dialect::Dwarf5) };
    let mut next = Some(0);
    core::iter::from_fn(move || {
        let section = section?;
        let offset = next.take().filter(|offset| *offset < section.rest().len() as u64)?;
        let read = LineProgram::read_in(section, &sections, offset, strings);
        next = read.as_ref().ok().map(LineProgram::end);
        Some(read)
    })
}
