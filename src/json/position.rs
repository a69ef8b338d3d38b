//! Positions in a JSON text: the item at an offset, and errors with positions.

use crate::error::{At, Error, ErrorKind, JsonPlace, Result};
use crate::near::suggestion;

/// Converts bytes to text. `what` names them in the error.
pub(crate) fn utf8<'a>(what: &str, bytes: &'a [u8]) -> Result<&'a str> {
    core::str::from_utf8(bytes).map_err(|error| {
        // Everything before the first wrong byte is text, so that the position can be counted in it.
        let good = core::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
        with_position(Error::malformed(format!("{what} is not UTF-8")), at_offset(good, good.len()))
    })
}

/// Adds a position to an error without one.
pub(crate) fn with_position(error: Error, json: JsonPlace) -> Error {
    error.or_at(At::new(|context| context.json = Some(json)))
}

/// Adds the position of a borrowed text part to an error; nothing for a part that was copied.
pub(super) fn in_part(error: Error, text: &str, part: &str) -> Error {
    // A part without escapes is borrowed from the text, so that its address gives its offset.
    let offset = (part.as_ptr() as usize).checked_sub(text.as_ptr() as usize);
    match offset.filter(|offset| offset.checked_add(part.len()).is_some_and(|end| end <= text.len())) {
        Some(offset) => with_position(error, at_item(text, offset)),
        None => error,
    }
}

/// Makes the error for a JSON text, or for a part that begins at `start`.
pub(crate) fn syntax_error(
    what: &str,
    text: &str,
    start: usize,
    part: &str,
    error: &serde_json::Error,
) -> Error {
    let offset = start + offset_in(part, error);
    if error.is_eof() {
        return with_position(ErrorKind::Truncated(what.into()).into(), at_offset(text, offset));
    }
    let message = error.to_string();
    // `serde_json` appends its position, which is relative to the part.
    let tail = format!(" at line {} column {}", error.line(), error.column());
    let message = message.strip_suffix(&tail).unwrap_or(&message);
    let message = Error::malformed(format!("{message}{}", nearest(message)));
    // A value with the wrong shape is reported at its start, a syntax error where it is.
    let location = if error.is_data() { at_item(text, offset) } else { at_offset(text, offset) };
    with_position(message, location)
}

/// Returns an error's offset in a text, in bytes.
fn offset_in(part: &str, error: &serde_json::Error) -> usize {
    // Lines count from 1; the column is the number of bytes read from the line.
    let lines = part.split_inclusive('\n').take(error.line().saturating_sub(1));
    lines.map(str::len).sum::<usize>() + error.column()
}

/// Returns the index of the top-level array's element that contains an error.
pub(crate) fn failed_element(text: &str, error: &serde_json::Error, array: &str) -> Option<usize> {
    let offset = offset_in(text, error);
    let mut walk = Walk::default();
    walk.walk(text, |at, _| at >= offset);
    match &walk.open[..] {
        [Open::Object { key, .. }, Open::Array { index }, ..] if key == array => Some(*index),
        _ => None,
    }
}

/// Returns the nearest known name, as a suffix for `serde`'s message about an unknown key or word.
///
/// The message is the only location where `serde` has the word and the known words; a test requires its wording. If the
/// wording changed, errors would lack suggestions, but still be errors.
fn nearest(message: &str) -> String {
    // The known names follow in backquotes, separated by words.
    let begins = ["unknown field `", "unknown variant `"];
    let unknown = begins.iter().find_map(|begin| message.strip_prefix(begin)?.split_once("`, expected "));
    let Some((word, expected)) = unknown else { return String::new() };
    suggestion(word, expected.split('`').skip(1).step_by(2))
}

/// An open object or array.
enum Open {
    Object {
        /// The key as written, with escapes.
        key: String,
        /// Whether a key comes next.
        is_key_next: bool,
    },
    Array {
        index: usize,
    },
}

/// State during a walk through a text. A second walk finds positions, because they are needed only once, for an error:
/// valid texts then pay nothing for them.
#[derive(Default)]
struct Walk {
    open: Vec<Open>,
    /// Start of the current item in the document and in each open object or array.
    starts: Vec<Option<usize>>,
}

impl Walk {
    /// Walks until `is_there` returns true for an offset, or to the end of valid JSON.
    fn walk(&mut self, text: &str, mut is_there: impl FnMut(usize, &[Open]) -> bool) {
        let bytes = text.as_bytes();
        self.starts.push(None);
        let mut offset = 0;
        while offset < bytes.len() && !is_there(offset, &self.open) {
            let start = offset;
            offset += 1;
            match bytes[start] {
                b' ' | b'\n' | b'\r' | b'\t' => {}
                b'"' => {
                    while offset < bytes.len() && bytes[offset] != b'"' {
                        // An escaped quote does not end the string.
                        offset += if bytes[offset] == b'\\' { 2 } else { 1 };
                    }
                    offset = (offset + 1).min(bytes.len());
                    self.start(start);
                    // A string in an object is a key if it does not follow a colon.
                    if let Some(Open::Object { key, is_key_next: is_next @ true }) = self.open.last_mut() {
                        *key = text.get(start + 1..offset - 1).unwrap_or_default().to_owned();
                        *is_next = false;
                    }
                }
                b'{' | b'[' => {
                    self.start(start);
                    self.starts.push(None);
                    self.open.push(match bytes[start] {
                        b'{' => Open::Object { key: String::new(), is_key_next: true },
                        _ => Open::Array { index: 0 },
                    });
                }
                b'}' | b']' => {
                    self.open.pop();
                    self.starts.pop();
                }
                // A value's start is not its key's start.
                b':' => self.restart(),
                b',' => {
                    self.restart();
                    match self.open.last_mut() {
                        Some(Open::Object { is_key_next, .. }) => *is_key_next = true,
                        Some(Open::Array { index }) => *index += 1,
                        None => {}
                    }
                }
                _ => self.start(start),
            }
        }
    }

    /// Walks to the value that the steps lead to.
    fn to(&mut self, text: &str, path: &[Step]) -> Option<usize> {
        let matches = |(open, step): (&Open, &Step)| match (open, step) {
            (Open::Object { key, is_key_next: false }, Step::Key(expected)) => key == expected,
            (Open::Array { index }, Step::Index(expected)) => index == expected,
            _ => false,
        };
        let mut offset = None;
        self.walk(text, |at, open| {
            // A colon and spaces can come before the value.
            let is_value =
                !text.as_bytes()[at..].starts_with(b":") && !text.as_bytes()[at].is_ascii_whitespace();
            let is_there = is_value && open.len() == path.len() && open.iter().zip(path).all(matches);
            offset = is_there.then_some(at);
            is_there
        });
        offset
    }

    fn start(&mut self, at: usize) {
        if let Some(start) = self.starts.last_mut() {
            start.get_or_insert(at);
        }
    }

    fn restart(&mut self) {
        if let Some(start) = self.starts.last_mut() {
            *start = None;
        }
    }

    /// Returns the innermost item's start.
    fn innermost(&self) -> usize {
        self.starts.iter().rev().find_map(|start| *start).unwrap_or(0)
    }

    fn path(&self) -> String {
        let mut path = String::new();
        for open in &self.open {
            match open {
                Open::Object { key, .. } if key.is_empty() => {}
                Open::Object { key, .. } if path.is_empty() => path.push_str(key),
                Open::Object { key, .. } => path.extend([".", key]),
                Open::Array { index } => path.push_str(&format!("[{index}]")),
            }
        }
        path
    }
}

/// Returns the innermost item at an offset, or the item that ends there, with the line and column where it starts.
pub(super) fn at_item(text: &str, offset: usize) -> JsonPlace {
    let mut walk = Walk::default();
    walk.walk(text, |at, _| at >= offset);
    let start = match (walk.starts.last(), walk.open.last()) {
        // Between a key and its value, the value is meant.
        (Some(None), Some(Open::Object { is_key_next: false, .. })) => after_space(text, offset),
        _ => walk.innermost(),
    };
    place(text, start, walk.path())
}

/// Returns the innermost item at an offset, with the offset's line and column.
pub(super) fn at_offset(text: &str, offset: usize) -> JsonPlace {
    let mut walk = Walk::default();
    walk.walk(text, |at, _| at >= offset);
    place(text, offset, walk.path())
}

/// A step in a path into a JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// The value that an object has for a key.
    Key(String),
    /// An array element, counted from 0.
    Index(usize),
}

/// Returns the position of the value at a path, or of the innermost existing value on it.
pub(crate) fn path(text: &str, steps: &[Step]) -> JsonPlace {
    let mut walk = Walk::default();
    match (walk.to(text, steps), steps.split_last()) {
        // The value is missing: the innermost value that exists is reported.
        (None, Some((_, outer))) => path(text, outer),
        (offset, _) => place(text, offset.unwrap_or(0), walk.path()),
    }
}

/// Returns the offset of the value at a path, in bytes.
pub(crate) fn offset(text: &str, path: &[Step]) -> Option<usize> {
    Walk::default().to(text, path)
}

/// Returns a statement's position by index.
pub(super) fn statement(text: &str, index: usize) -> JsonPlace {
    let mut walk = Walk::default();
    walk.walk(text, |_, open| match open {
        [Open::Object { key, .. }, Open::Array { index: at }, Open::Object { is_key_next: false, .. }] => {
            key == "describe" && *at == index
        }
        _ => false,
    });
    // The innermost start is the key's in the statement; the statement is the next outer item.
    let start = walk.starts.iter().rev().flatten().nth(1).copied().unwrap_or(0);
    place(text, start, walk.path())
}

/// Returns the position of a key's value in a statement, or the statement's position if it lacks the key.
pub(super) fn statement_key(text: &str, index: usize, key: &str) -> JsonPlace {
    let mut walk = Walk::default();
    let mut offset = None;
    walk.walk(text, |at, open| {
        let is_value = !matches!(text.as_bytes()[at], b':' | b' ' | b'\n' | b'\r' | b'\t');
        let is_there = match open {
            [
                Open::Object { key: whole, .. },
                Open::Array { index: at },
                Open::Object { .. },
                Open::Object { key: last, is_key_next: false },
            ] => is_value && whole == "describe" && *at == index && last == key,
            _ => false,
        };
        offset = is_there.then_some(at);
        is_there
    });
    match offset {
        Some(offset) => place(text, offset, walk.path()),
        None => statement(text, index),
    }
}

/// Returns the position of a top-level key's value.
pub(super) fn key(text: &str, key: &str) -> JsonPlace {
    path(text, &[Step::Key(key.to_owned())])
}

/// Returns the start of the value whose key ends at an offset.
fn after_space(text: &str, key_end: usize) -> usize {
    let after = text.get(key_end..).unwrap_or_default();
    text.len() - after.trim_start_matches([':', ' ', '\n', '\r', '\t']).len()
}

fn place(text: &str, offset: usize, path: String) -> JsonPlace {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    JsonPlace {
        path,
        line: 1 + before.bytes().filter(|&byte| byte == b'\n').count(),
        column: 1 + before[line_start..].chars().count(),
        name: None,
    }
}

/// Keys by which a person knows a statement.
const KNOWN_BY: [&str; 8] = ["name", "id", "function", "variable", "type", "scope", "unit", "in"];

/// Changes an error's position in a description that a program wrote, such as a binding from a caller's values: nobody has
/// seen the text's lines. The statement keeps its number and its kind, `describe[3].variable`, and gets its name.
pub fn without_lines(error: Error, text: &[u8]) -> Error {
    let Some(place) = error.at().json.clone().filter(|place| place.line > 0) else { return error };
    let index = place.path.strip_prefix("describe[").and_then(|rest| rest.split(']').next()?.parse().ok());
    let name = index.and_then(|index| statement_name(core::str::from_utf8(text).ok()?, index));
    error.with_json(JsonPlace { path: place.path, line: 0, column: 0, name })
}

/// Returns a statement's name, or else what it is known by. `None` for a statement that is no object.
fn statement_name(text: &str, index: usize) -> Option<String> {
    let start = offset(text, &[Step::Key("describe".into()), Step::Index(index)])?;
    let mut json = serde_json::Deserializer::from_str(text.get(start..)?);
    let statement: serde_json::Value = serde::Deserialize::deserialize(&mut json).ok()?;
    let keys = statement.as_object()?.values().next()?;
    KNOWN_BY.into_iter().find_map(|key| keys.get(key)?.as_str()).map(String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "snake_case")]
    #[expect(dead_code, reason = "read by the derived code alone")]
    enum Shape {
        Circle { radius: u32 },
        Rectangle { width: u32, height: u32 },
    }

    /// `nearest` depends on `serde`'s wording, with one known name, with two, and with more.
    #[test]
    fn unknown_words_have_the_nearest_one() {
        let suffix = |text| nearest(&serde_json::from_str::<Shape>(text).unwrap_err().to_string());
        assert_eq!(suffix(r#"{"circel": {}}"#), "; did you mean `circle`?");
        assert_eq!(suffix(r#"{"circle": {"radios": 1}}"#), "; did you mean `radius`?");
        assert_eq!(suffix(r#"{"rectangle": {"widht": 1}}"#), "; did you mean `width`?");
        assert_eq!(suffix(r#"{"circle": {}}"#), "");
    }
}
