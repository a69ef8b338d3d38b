//! Source texts that are emitted.

use super::writer::Writer;
use crate::model::Module;
use crate::spirv::lines::Texts;
use crate::spirv::mode::Mode;

/// The lines in files whose text is emitted.
pub(super) fn texts(module: &Module, mode: &Mode) -> Texts {
    let mut texts = Texts::default();
    for (id, file) in &module.files {
        let text = file.source.map_or("", |text| module.string(text));
        if is_encoded(text, mode) {
            texts.add(id, text);
        }
    }
    texts
}

/// Whether a text is emitted: not empty, and not too long for the set.
pub(super) fn is_encoded(text: &str, mode: &Mode) -> bool {
    !text.is_empty() && (mode.set.is_shader() || text.len() <= Writer::most_text())
}
