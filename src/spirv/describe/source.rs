//! Describes the unit, with the source that the caller or the module states.

use super::context::Describer;
use super::declarations::Declarations;
use super::style::Style;
use crate::error::Result;
use crate::spirv::languages;
use crate::spirv::opcodes as op;
use crate::spirv::table::Set;
use crate::spirv::words::{HEADER, Id, string_bytes};

/// A module's source, where the caller knows it. Otherwise `OpSource` and `OpLine` provide it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModuleSource {
    /// The primary file's path.
    pub path: Option<String>,
    /// The primary file's text.
    pub text: Option<String>,
    /// The source language's number in the SPIR-V core specification, such as 10 for WGSL.
    pub language: Option<u32>,
}

/// Describes the unit, with the first `OpSource`'s language, path and text where the caller gives none. If there is no
/// path at all, the unit has the first line's path.
pub(super) fn unit(out: &mut Describer<'_, '_>, given: &ModuleSource) -> Result<()> {
    let mut file = None;
    let mut language = None;
    let mut text = None::<Vec<u8>>;
    let mut is_open = false;
    for instruction in out.layout.words().between(HEADER..out.layout.globals_end()) {
        let operands = instruction.operands();
        // Continuations must directly follow their source.
        is_open &= instruction.opcode() == op::SOURCE_CONTINUED;
        match instruction.opcode() {
            op::SOURCE if language.is_none() => {
                language = operands.first().copied();
                file = operands.get(2).map(|&id| Id(id));
                text = operands.get(3..).and_then(|text| string_bytes(text, usize::MAX));
                is_open = true;
            }
            op::SOURCE_CONTINUED if is_open => {
                let more = string_bytes(operands, usize::MAX).unwrap_or_default();
                text.get_or_insert_default().extend(more);
            }
            _ => {}
        }
    }
    // Without a source, the first line's file is the best guess that the module itself offers.
    let mut lines = out.layout.words().instructions().filter(|it| it.opcode() == op::LINE);
    let of_line = || lines.next().and_then(|it| it.operands().first().map(|&id| Id(id)));
    let file = file.or_else(of_line);
    let path = file.and_then(|file| out.layout.string(file));
    let path = given.path.clone().or(path).unwrap_or_else(|| "source".into());
    out.unit = out.m.unit(&path);
    let primary = out.m.primary_file(out.unit)?;
    out.files.extend(file.map(|file| (file, primary)));
    let text = given.text.clone().or_else(|| text.and_then(|text| String::from_utf8(text).ok()));
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        out.m.file_source(primary, &text)?;
        out.texts.add(primary, &text);
        if out.texts.has(primary) {
            out.declarations = Declarations::new(&text);
        }
    }
    let number = given.language.or(language).unwrap_or_default();
    match languages::language(number, Set::Shader) {
        Some(language) => drop(out.m.describe_unit(out.unit)?.language(language)),
        None if number != 0 => drop(out.binding.language(out.unit, number)),
        None => {}
    }
    out.types.style = Style::of_language(number);
    Ok(())
}
