//! Which part of a text in JSON an offset is in, and errors at such places.

use crate::error::{At, Error, ErrorKind, JsonPlace, Result};
use crate::near::suggestion;

/// The bytes as text. `what` they are is for the error.
pub(crate) fn utf8<'a>(what: &str, bytes: &'a [u8]) -> Result<&'a str> {
    core::str::from_utf8(bytes).map_err(|error| {
        let good = core::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
        at(Error::malformed(format!("{what} is not UTF-8")), at_offset(good, good.len()))
    })
}

/// The error at a place of the text, unless it has one.
pub(crate) fn at(error: Error, json: JsonPlace) -> Error {
    error.or_at(At { json: Some(json), ..At::default() })
}

/// The error where a part of the text stands, unless it was copied out of that.
pub(super) fn at_part(error: Error, text: &str, part: &str) -> Error {
    let offset = (part.as_ptr() as usize).checked_sub(text.as_ptr() as usize);
    match offset.filter(|offset| offset.checked_add(part.len()).is_some_and(|end| end <= text.len())) {
        Some(offset) => at(error, at_item(text, offset)),
        None => error,
    }
}

/// What is wrong with the text, or with a part of it that begins at `start`.
pub(crate) fn of_json(what: &str, text: &str, start: usize, part: &str, error: &serde_json::Error) -> Error {
    // Lines count from 1, and the column is the number of bytes of the line that were read.
    let lines = part.split_inclusive('\n').take(error.line().saturating_sub(1));
    let offset = start + lines.map(str::len).sum::<usize>() + error.column();
    if error.is_eof() {
        return at(ErrorKind::Truncated(what.into()).into(), at_offset(text, offset));
    }
    let message = error.to_string();
    let tail = format!(" at line {} column {}", error.line(), error.column());
    let message = message.strip_suffix(&tail).unwrap_or(&message);
    let message = Error::malformed(format!("{message}{}", nearest(message)));
    match error.is_data() {
        true => at(message, at_item(text, offset)),
        false => at(message, at_offset(text, offset)),
    }
}

/// The end of a message of `serde` about an unknown key or word, after its list of the known ones: the nearest.
fn nearest(message: &str) -> String {
    let begins = ["unknown field `", "unknown variant `"];
    let unknown = begins.iter().find_map(|begin| message.strip_prefix(begin)?.split_once("`, expected "));
    let Some((word, expected)) = unknown else { return String::new() };
    suggestion(word, expected.split('`').skip(1).step_by(2))
}

/// An object or array that is open.
enum Open {
    Object {
        /// The key, as it stands in the text.
        key: String,
        /// Whether a key comes next.
        is_key_next: bool,
    },
    Array {
        index: usize,
    },
}

/// What was passed on the way through a text. Walks, rather than remembers: places are asked for once, when
/// something is wrong, and a text that is right pays nothing for it.
#[derive(Default)]
struct Walk {
    open: Vec<Open>,
    /// Where the item that is being read starts, of each that is open and of the whole.
    starts: Vec<Option<usize>>,
}

impl Walk {
    /// Walks until `is_there` says so, given the offset; as far as the text goes on being JSON.
    fn walk(&mut self, text: &str, mut is_there: impl FnMut(usize, &[Open]) -> bool) {
        let bytes = text.as_bytes();
        self.starts.push(None);
        let mut at = 0;
        while at < bytes.len() && !is_there(at, &self.open) {
            let start = at;
            at += 1;
            match bytes[start] {
                b' ' | b'\n' | b'\r' | b'\t' => {}
                b'"' => {
                    while at < bytes.len() && bytes[at] != b'"' {
                        at += if bytes[at] == b'\\' { 2 } else { 1 };
                    }
                    at = (at + 1).min(bytes.len());
                    self.start(start);
                    if let Some(Open::Object { key, is_key_next: is_next @ true }) = self.open.last_mut() {
                        *key = text.get(start + 1..at - 1).unwrap_or_default().to_owned();
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
        let mut found = None;
        self.walk(text, |at, open| {
            // There may be a colon and some space before the value.
            let is_value =
                !text.as_bytes()[at..].starts_with(b":") && !text.as_bytes()[at].is_ascii_whitespace();
            let is_there = is_value && open.len() == path.len() && open.iter().zip(path).all(matches);
            found = is_there.then_some(at);
            is_there
        });
        found
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

    /// Where the innermost item starts.
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

/// The innermost item that is read, or was just read, at an offset. Its line and column are those of its start.
pub(super) fn at_item(text: &str, offset: usize) -> JsonPlace {
    let mut walk = Walk::default();
    walk.walk(text, |at, _| at >= offset);
    let start = match (walk.starts.last(), walk.open.last()) {
        // Between a key and its value: it is about to be read.
        (Some(None), Some(Open::Object { is_key_next: false, .. })) => after_space(text, offset),
        _ => walk.innermost(),
    };
    place(text, start, walk.path())
}

/// The same; line and column are those of the offset.
pub(super) fn at_offset(text: &str, offset: usize) -> JsonPlace {
    let mut walk = Walk::default();
    walk.walk(text, |at, _| at >= offset);
    place(text, offset, walk.path())
}

/// A step into a text in JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Of an object, the value of a key.
    Key(String),
    /// Of an array, an element, counted from 0.
    Index(usize),
}

/// Where the value is that the steps lead to; or the innermost that there is on the way.
pub(crate) fn of_path(text: &str, path: &[Step]) -> JsonPlace {
    let mut walk = Walk::default();
    match (walk.to(text, path), path.split_last()) {
        (None, Some((_, outer))) => of_path(text, outer),
        (found, _) => place(text, found.unwrap_or(0), walk.path()),
    }
}

/// The offset of the value that the steps lead to.
pub(crate) fn offset_of(text: &str, path: &[Step]) -> Option<usize> {
    Walk::default().to(text, path)
}

/// Where the statement of this number is.
pub(super) fn of_statement(text: &str, index: usize) -> JsonPlace {
    let mut walk = Walk::default();
    walk.walk(text, |_, open| match open {
        [Open::Object { key, .. }, Open::Array { index: at }, Open::Object { is_key_next: false, .. }] => {
            key == "describe" && *at == index
        }
        _ => false,
    });
    let start = walk.starts.iter().rev().flatten().nth(1).copied().unwrap_or(0);
    place(text, start, walk.path())
}

/// The place of the value of a key in the statement of this number, or that of the statement.
pub(super) fn of_statement_key(text: &str, index: usize, key: &str) -> JsonPlace {
    let mut walk = Walk::default();
    let mut found = None;
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
        found = is_there.then_some(at);
        is_there
    });
    match found {
        Some(offset) => place(text, offset, walk.path()),
        None => of_statement(text, index),
    }
}

/// Where the value of a key of the whole is.
pub(super) fn of_key(text: &str, key: &str) -> JsonPlace {
    of_path(text, &[Step::Key(key.to_owned())])
}

/// Where a value begins, of which the key ends here.
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
    }
}
