//! Lowers a model and its binding to debug instructions.

mod arrays;
mod blocks;
mod body;
mod composites;
mod entities;
mod enumerations;
mod expressions;
mod functions;
mod inverse;
mod lines;
mod macros;
mod metadata;
mod names;
mod omissions;
mod order;
mod out;
mod pointers;
mod positions;
mod replacements;
mod scopes;
mod sources;
mod templates;
mod types;
mod values;
mod variables;
mod vectors;
mod writer;

use writer::Writer;

use super::attached::Attached;
use super::binding::Binding;
use super::layout::Layout;
use super::mode::Mode;
use crate::error::Result;
use crate::model::Module;
use crate::omission::Omission;

/// The module with all its debug instructions.
///
/// # Errors
/// The errors of [`attach`](super::attach()).
pub(super) fn lower(
    layout: &Layout<'_>,
    module: &Module,
    binding: &Binding,
    mode: &Mode,
) -> Result<Attached> {
    let texts = lines::texts(module, mode);
    let places = positions::Places::new(layout, module, binding, &texts)?;
    let mut writer = Writer::new(layout, mode)?;
    let entities = entities::globals(&mut writer, module, binding, &texts)?;
    let out = body::body(&mut writer, module, binding, &places, &entities)?;
    Ok(out.finish(writer.finish()))
}

/// New instructions before the functions, by section of the module.
#[derive(Debug, Default)]
pub(super) struct Preamble {
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
    /// The id bound.
    pub bound: u32,
    /// Omissions.
    pub omissions: Vec<Omission>,
}
