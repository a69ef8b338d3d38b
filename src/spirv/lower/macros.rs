//! Writes macros: section 4.9.

use hashbrown::HashMap;

use super::entities::{Globals, Operands};
use crate::error::Result;
use crate::model::{FileId, Macro, UnitId};
use crate::omission::{Property, Reason, Subject};
use crate::spirv::mode::Feature;
use crate::spirv::operand::Field;
use crate::spirv::table::InstructionName;
use crate::spirv::words::Id;

/// Writes all units' macros.
pub(super) fn macros(out: &mut Globals<'_, '_, '_>) -> Result<()> {
    for (id, _) in out.module.units() {
        if out.module.macros(id).is_empty() {
            continue;
        }
        let mode = out.writer.mode;
        if mode.has(Feature::Macros) {
            macros_of(out, id).map_err(|error| error.or_at(out.module.at_unit(id)))?;
        } else {
            out.omit(Subject::Unit(id), Property::Macros, Reason::Mode(mode.name));
        }
    }
    Ok(())
}

fn macros_of<'m>(out: &mut Globals<'_, '_, 'm>, id: UnitId) -> Result<()> {
    let module = out.module;
    let mut defined: HashMap<&'m str, Id> = HashMap::new();
    // Files that are not ended, and whether macros are recorded for them.
    let mut files: Vec<(FileId, bool)> = Vec::new();
    for (index, what) in (0..).zip(module.macros(id)) {
        let subject = Subject::Macro(id, index);
        let file = files.last().map_or(module.units[id].file, |&(file, _)| file);
        // Every file has a path.
        let path = (Field::Source, out.files.paths[file].unwrap_or(Id(0)).into());
        match *what {
            Macro::Define { line, text } => {
                let text = module.string(text);
                // The name includes the parameters, as in DWARF.
                let (head, value) = text.split_once(' ').unwrap_or((text, ""));
                let mut operands = Operands::new();
                operands.push(path);
                operands.push((Field::Line, line.into()));
                operands.push((Field::Name, out.text(head)?));
                if !value.is_empty() {
                    operands.push((Field::Value, out.text(value)?));
                }
                files.last_mut().into_iter().for_each(|(_, is_encoded)| *is_encoded = true);
                let define = out.writer.instruction(InstructionName::MacroDef, &operands)?;
                defined.insert(head.split_once('(').map_or(head, |(name, _)| name), define);
            }
            // `DebugMacroUndef` refers to a definition, so that an undefinition without one is lost.
            Macro::Undefine { line, name } => match defined.remove(module.string(name)) {
                Some(define) => {
                    let operands = [path, (Field::Line, line.into()), (Field::Macro, define.into())];
                    files.last_mut().into_iter().for_each(|(_, is_encoded)| *is_encoded = true);
                    out.writer.instruction(InstructionName::MacroUndef, &operands)?;
                }
                None => {
                    out.omit(subject, Property::MacroUndefinition, Reason::NotDefined(name));
                }
            },
            Macro::File { line, file } => {
                if line != 0 {
                    out.omit(subject, Property::MacroInclusion, Reason::Included(file, line));
                }
                // The including file and line cannot be encoded.
                files.push((file, line != 0));
            }
            Macro::EndFile => {
                if let Some((file, false)) = files.pop() {
                    out.omit(subject, Property::MacroFile, Reason::NoMacros(file));
                }
            }
        }
    }
    Ok(())
}
