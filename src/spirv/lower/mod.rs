//! A model, and what a SPIR-V module has of it, to debug instructions.

mod arrays;
mod blocks;
mod body;
mod composites;
mod entities;
mod enumerations;
mod expressions;
mod forms;
mod functions;
mod lines;
mod macros;
mod metadata;
mod names;
mod order;
mod pointers;
mod positions;
mod related;
mod scopes;
mod sources;
mod stand_ins;
mod templates;
mod types;
mod unsaid;
mod values;
mod variables;
mod vectors;
mod widths;
mod writer;

use core::ops::Range;

use writer::Writer;

use super::LeftOut;
use super::binding::Binding;
use super::layout::Layout;
use super::mode::Mode;
use crate::error::Result;
use crate::model::Module;

/// The debug instructions of a module, all of them.
///
/// # Errors
/// As [`attach`](super::attach()).
pub(super) fn lower(layout: &Layout<'_>, module: &Module, binding: &Binding, mode: &Mode) -> Result<Written> {
    let texts = lines::Texts::new(module, mode);
    let places = positions::Places::new(layout, module, binding, &texts)?;
    let mut writer = Writer::new(layout, mode)?;
    let entities = entities::globals(&mut writer, module, binding, &texts)?;
    body::body(&mut writer, module, binding, &places, &entities)?;
    Ok(writer.finish())
}

/// Debug instructions, by the section of the module that they belong to.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// `OpExtension`.
    pub extensions: Vec<u32>,
    /// `OpExtInstImport`.
    pub imports: Vec<u32>,
    /// `OpString`.
    pub strings: Vec<u32>,
    /// Types and constants.
    pub constants: Vec<u32>,
    /// Debug instructions before the functions.
    pub debug: Vec<u32>,
    /// The functions of the module, with debug instructions among theirs.
    pub functions: Vec<u32>,
    /// The words of [`functions`](Self::functions) that are new: sorted, and none of them next to another.
    pub added: Vec<Range<usize>>,
    /// What every id is less than.
    pub bound: u32,
    /// What is not said.
    pub left_out: Vec<LeftOut>,
}
