//! Lines of the PTX: the section `.nv_debug_line_sass`, a second line table.

use crate::error::Result;
use crate::op::{Dialect, Encoding};
use crate::read::cursor::Cursor;
use crate::read::sections::Base;
use crate::read::unreadable::of_section;
use crate::read::{LineProgram, Object, Sections};

const SECTION: &str = ".nv_debug_line_sass";

/// Returns the line programs that map pcs to [PTX](super::PtxText) lines. In a linked cubin they have no files, because
/// there is only one PTX text; other programs name its section. Ends after an error.
pub fn ptx_lines<'o>(object: &'o Object<'_>) -> impl Iterator<Item = Result<LineProgram<'o>>> {
    programs(object, SECTION)
}

/// Returns all line programs of `.debug_line`: with lines alone, a cubin has no units that refer to them. Ends after an
/// error.
pub fn lines<'o>(object: &'o Object<'_>) -> impl Iterator<Item = Result<LineProgram<'o>>> {
    programs(object, ".debug_line")
}

fn programs<'o>(object: &'o Object<'_>, name: &'static str) -> impl Iterator<Item = Result<LineProgram<'o>>> {
    let data = object.section(name).map_or(&[][..], |section| &section.data);
    let section = Cursor::new(name, data, object.is_big_endian());
    let section = section.around(of_section(object.unreadable_fields(), name));
    let sections = Sections::of(object);
    let strings = Base { offset: None, encoding: Encoding::new(object.address_bytes(), Dialect::Dwarf5) };
    let mut next = Some(0);
    core::iter::from_fn(move || {
        let offset = next.take().filter(|offset| *offset < data.len() as u64)?;
        let read = LineProgram::read_in(section, &sections, offset, strings);
        next = read.as_ref().ok().map(LineProgram::end);
        Some(read)
    })
}
