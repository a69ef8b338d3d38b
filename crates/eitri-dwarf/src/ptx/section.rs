//! Debug sections in a text of PTX: `.section .debug_info { .b8 1, 2 … }`.

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
    /// References, in ascending order of offsets.
    pub(crate) references: Vec<Reference<'t>>,
}

/// A field with the address of a label or symbol, or the offset of a section or of a label in one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reference<'t> {
    /// Offset in bytes from the start of the section.
    pub(crate) offset: u64,
    /// Size of the field in bytes.
    pub(crate) bytes: u8,
    pub(crate) name: &'t str,
    pub(crate) addend: u64,
    /// Offset of the name in the text.
    pub(crate) at: usize,
}

const ITEM: &str = "a section has labels and numbers after `.b8`, `.b16`, `.b32` or `.b64`";
const VALUE: &str = "a number, or a name with a number added, is expected";

impl<'t> DebugSection<'t> {
    /// Reads a section after its directive, which starts at `start`.
    pub(super) fn read(from: &mut Lexer<'t>, start: usize) -> Result<Self> {
        let name = from.expect(Kind::Word, "a section has a name")?.text;
        let mut section = Self { name, ..Self::default() };
        from.expect(Kind::Symbol(b'{'), "the contents of a section are in braces")?;
        while !from.take(b'}')? {
            let word = from.expect(Kind::Word, ITEM)?;
            let bytes = match word.text {
                ".b8" => 1,
                ".b16" => 2,
                ".b32" => 4,
                ".b64" => 8,
                label => {
                    if !from.take(b':')? {
                        return Err(from.error(word.span.start, ITEM));
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
                return Err(from.error(word.span.start, VALUE));
            }
            None => {
                let addend = if from.take(b'+')? { from.number(VALUE)? } else { 0 };
                let offset = self.bytes.len() as u64;
                self.references.push(Reference {
                    offset,
                    bytes,
                    name: word.text,
                    addend,
                    at: word.span.start,
                });
                0
            }
        };
        let bits = 8 * u32::from(bytes);
        let fits = match is_negative {
            false => bits == 64 || value >> bits == 0,
            true => value <= 1 << (bits - 1),
        };
        if !fits {
            return Err(from.error(word.span.start, "a number fits its field"));
        }
        let value = if is_negative { value.wrapping_neg() } else { value };
        self.bytes.extend_from_slice(&value.to_le_bytes()[..usize::from(bytes)]);
        Ok(())
    }
}
