//! Debug sections in PTX: `.section .debug_info { .b8 1, 2 … }`.

use super::lexer::{Kind, Lexer, number};
use super::text::Span;
use crate::error::Result;

/// A debug section: its bytes, and the fields that the assembler fills in.
#[derive(Debug, Default)]
pub struct DebugSection<'t> {
    /// The whole directive.
    pub span: Span,
    pub name: &'t str,
    /// Contents; references are 0.
    pub(crate) bytes: Vec<u8>,
    /// Labels with their offsets in bytes.
    pub(crate) labels: Vec<(&'t str, u64)>,
    /// References, sorted by offset.
    pub(crate) references: Vec<Reference<'t>>,
}

/// A field that holds a label's or symbol's address, or the offset of a section or of a label in a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reference<'t> {
    /// Field offset in bytes from the section's start.
    pub(crate) offset: u64,
    /// Field size in bytes.
    pub(crate) bytes: u8,
    pub(crate) name: &'t str,
    pub(crate) addend: u64,
    /// Text offset at which the name begins.
    pub(crate) name_offset: usize,
}

const ITEM: &str = "a label, or numbers after `.b8`, `.b16`, `.b32` or `.b64`";
const VALUE: &str = "a number, or a name with an added number";

impl<'t> DebugSection<'t> {
    /// Reads a section after its directive, which starts at `start`.
    pub(super) fn read(from: &mut Lexer<'t>, start: usize) -> Result<Self> {
        let name = from.expect(Kind::Word, "a section name")?.text;
        let mut section = Self { name, ..Self::default() };
        from.expect(Kind::Symbol(b'{'), "section contents in braces")?;
        while !from.take(b'}')? {
            let word = from.expect(Kind::Word, ITEM)?;
            let bytes = match word.text {
                ".b8" => 1,
                ".b16" => 2,
                ".b32" => 4,
                ".b64" => 8,
                label => {
                    if !from.take(b':')? {
                        return Err(from.unexpected(word.span.start, ITEM));
                    }
                    section.labels.push((label, section.bytes.len() as u64));
                    continue;
                }
            };
            section.value(from, bytes)?;
            while from.take(b',')? {
                section.value(from, bytes)?;
            }
        }
        section.span = Span { start, end: from.offset() };
        Ok(section)
    }

    fn value(&mut self, from: &mut Lexer<'t>, bytes: u8) -> Result<()> {
        let is_negative = from.take(b'-')?;
        let word = from.expect(Kind::Word, VALUE)?;
        let value = match number(word.text) {
            Some(value) => value,
            None if is_negative || word.text.starts_with(|first: char| first.is_ascii_digit()) => {
                return Err(from.unexpected(word.span.start, VALUE));
            }
            None => {
                let addend = if from.take(b'+')? { from.number(VALUE)? } else { 0 };
                let offset = self.bytes.len() as u64;
                self.references.push(Reference {
                    offset,
                    bytes,
                    name: word.text,
                    addend,
                    name_offset: word.span.start,
                });
                0
            }
        };
        let bits = 8 * u32::from(bytes);
        let fits = if is_negative { value <= 1 << (bits - 1) } else { bits == 64 || value >> bits == 0 };
        if !fits {
            return Err(from.error(word.span.start, "number does not fit its field"));
        }
        let value = if is_negative { value.wrapping_neg() } else { value };
        self.bytes.extend_from_slice(&value.to_le_bytes()[..usize::from(bytes)]);
        Ok(())
    }
}
