//! Location of an error: the parts of the description or the input that it belongs to.

use core::fmt::{self, Write as _};
use core::ops::Range;

use super::pcs::PcText;

/// Location of an error. Each part is present if it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct At {
    /// Name of the file of split units.
    pub split_file: Option<String>,
    /// Name of the supplementary file.
    pub supplementary_file: Option<String>,
    /// Name of the compilation unit.
    pub unit: Option<String>,
    /// Function name.
    pub function: Option<String>,
    /// Name of the variable, parameter or constant.
    pub variable: Option<String>,
    /// Procedure that expressions call.
    pub procedure: Option<String>,
    /// Divergent region.
    pub region: Option<String>,
    /// Frame column: the name of a caller's register, or `CFA`.
    pub column: Option<String>,
    /// Half-open pc range, in bytes from the function's start.
    pub pcs: Option<Range<u64>>,
    /// Half-open pc range of the control flow block, in bytes from the function's start.
    pub block: Option<Range<u64>>,
    /// Tracked storage in the code: `v40 lane 7`, `v3 to s4`.
    pub place: Option<String>,
    /// Operation index in its expression, counted from 0.
    pub operation: Option<usize>,
    /// Section of the object file.
    pub section: Option<String>,
    /// Offset in bytes from the start of the section, or of the expression if there is no section.
    pub offset: Option<u64>,
    /// Word index in a SPIR-V module, counted from 0.
    pub word: Option<usize>,
    /// SPIR-V debug instruction, and the id that it defines.
    pub instruction: Option<String>,
    /// Operand of that instruction.
    pub operand: Option<String>,
    /// Position in a JSON text.
    pub json: Option<JsonPlace>,
    /// Name of a conformance vector.
    pub vector: Option<String>,
}

/// Position in a JSON text.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonPlace {
    /// Path of keys and indices: `describe[17].variable.live[2]`.
    pub path: String,
    /// Line, counted from 1; 0 for a text that nobody has seen, because a program wrote it.
    pub line: usize,
    /// Character in the line, counted from 1; 0 without a line.
    pub column: usize,
    /// Name or id in the statement, where the text has no lines.
    pub name: Option<String>,
}

/// Maximum length of a path that is shown whole, and approximate length of a shortened path, in bytes.
const LONG_PATH: usize = 120;

/// Whether a key or an index in a path begins here.
fn is_step(char: char) -> bool {
    matches!(char, '.' | '[')
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        // The unit and what is in it say more than the statement's name.
        let json = self.json.as_ref().map(|json| JsonPlace {
            name: json.name.clone().filter(|_| self.unit.is_none()),
            ..json.clone()
        });
        parts.extend(json.as_ref().map(JsonPlace::to_string));
        parts.extend(self.vector.as_ref().map(|vector| format!("vector `{vector}`")));
        parts.extend(self.split_file.as_ref().map(|file| format!("split file `{file}`")));
        parts.extend(self.supplementary_file.as_ref().map(|file| format!("supplementary file `{file}`")));
        parts.extend(self.unit.as_ref().map(|unit| format!("unit `{unit}`")));
        parts.extend(self.function.as_ref().map(|function| format!("function `{function}`")));
        parts.extend(self.variable.as_ref().map(|variable| format!("variable `{variable}`")));
        parts.extend(self.procedure.clone());
        parts.extend(self.region.clone());
        parts.extend(self.column.as_ref().map(|column| format!("rule of {column}")));
        parts.extend(self.pcs.as_ref().map(|pcs| format!("pc {:#x}..{:#x}", pcs.start, pcs.end)));
        parts.extend(self.block.as_ref().map(|pcs| format!("block {:#x}..{:#x}", pcs.start, pcs.end)));
        parts.extend(self.place.clone());
        parts.extend(self.section.as_ref().map(|section| format!("section {section}")));
        parts.extend(self.operation.map(|operation| format!("operation {operation}")));
        parts.extend(self.offset.map(|offset| format!("offset {offset:#x}")));
        parts.extend(self.word.map(|word| format!("word {word}")));
        parts.extend(self.instruction.clone());
        parts.extend(self.operand.as_ref().map(|operand| format!("operand {operand}")));
        write!(f, "{}", OneLine(&parts.join(", ")))
    }
}

/// A name from the input, displayed on one line: control characters are escaped, so that a line break in the name
/// cannot break the message.
pub(crate) struct OneLine<'a>(pub(crate) &'a str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.contains(char::is_control) {
            return f.write_str(self.0);
        }
        self.0.chars().try_for_each(|char| {
            if char.is_control() { write!(f, "{}", char.escape_debug()) } else { f.write_char(char) }
        })
    }
}

impl At {
    /// Returns a location with the parts that `set` sets.
    ///
    /// ```
    /// use eitri_dwarf::error::At;
    ///
    /// let at = At::new(|context| context.section = Some(".debug_info".into()));
    /// assert_eq!(at.to_string(), "section .debug_info");
    /// ```
    pub fn new(set: impl FnOnce(&mut Self)) -> Self {
        Self::default().with(set)
    }

    /// Returns the location with the parts that `set` changes.
    #[must_use]
    pub fn with(mut self, set: impl FnOnce(&mut Self)) -> Self {
        set(&mut self);
        self
    }

    /// Returns the part of a message about a name in scope that names the pc.
    pub(super) fn pc(pc: Option<&PcText<'_>>) -> String {
        pc.map_or_else(|| " without a pc".into(), |pc| format!(" at pc {pc}"))
    }
}

impl fmt::Display for JsonPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, column, name } = self;
        match line {
            0 => {}
            _ if path.is_empty() => return write!(f, "line {line}, column {column}"),
            _ => write!(f, "line {line}, column {column}, ")?,
        }
        match path.len() {
            0 => f.write_str("the text"),
            1..=LONG_PATH => write!(f, "`{path}`"),
            // The beginning identifies the statement, and the end identifies the position in it.
            _ => {
                let head = path.floor_char_boundary(LONG_PATH / 2);
                let tail = path.ceil_char_boundary(path.len() - LONG_PATH / 2);
                let head = path[..head].rfind(is_step).unwrap_or(head);
                let tail = path[tail..].find(is_step).map_or(tail, |step| tail + step);
                write!(f, "`{}…{}`", &path[..head], &path[tail..])
            }
        }?;
        name.as_ref().map_or(Ok(()), |name| write!(f, " of `{name}`"))
    }
}
