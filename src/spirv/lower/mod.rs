//! A model, and what a SPIR-V module has of it, to debug instructions.

mod arrays;
mod blocks;
mod body;
mod composites;
mod entities;
mod expressions;
mod functions;
mod lines;
mod macros;
mod metadata;
mod names;
mod order;
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
mod widths;
mod writer;

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
    let places = positions::place(layout, module, binding, &texts)?;
    let mut writer = Writer::new(layout, mode)?;
    let entities = entities::globals(&mut writer, module, binding, texts)?;
    body::body(&mut writer, module, binding, &places, &entities)?;
    Ok(writer.finish())
}

/// Debug instructions, by the section of the module that they belong to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
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
    /// Instructions in functions: the word of the module before which they belong, and how many words of
    /// [`body`](Self::body) they are; sorted.
    pub places: Vec<(usize, usize)>,
    /// The words of all instructions in functions.
    pub body: Vec<u32>,
    /// What every id is less than.
    pub bound: u32,
    /// What is not said.
    pub left_out: Vec<LeftOut>,
}
