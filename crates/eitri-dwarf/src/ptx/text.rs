//! PTX statements.

use super::lexer::{Kind, Lexer, Token};
use super::registers::{Blocks, Registers};
use super::section::DebugSection;
use crate::error::Result;

/// Byte range in the text, from `start` to before `end`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

/// A PTX text, statement by statement.
#[derive(Debug, Default)]
pub struct Text<'t> {
    pub text: &'t str,
    /// Language version: major and minor number.
    pub version: (u64, u64),
    /// Processor in `.target`, and the offset at which the directive ends without `debug`.
    pub processor: Option<(&'t str, usize)>,
    /// Option `debug` in `.target`, with the comma before it.
    pub debug: Option<Span>,
    pub functions: Vec<Function<'t>>,
    /// Registers that are declared outside functions.
    pub(crate) registers: Vec<Registers<'t>>,
    /// Variables and parameters that the module and its functions declare.
    pub symbols: Vec<Symbol<'t>>,
    pub files: Vec<File<'t>>,
    pub sections: Vec<DebugSection<'t>>,
    /// Line directives outside functions, which belong to no instruction.
    pub stray: Vec<Span>,
}

/// A function with a body.
#[derive(Debug)]
pub struct Function<'t> {
    pub name: &'t str,
    /// Instruction offsets, in text order.
    pub instructions: Vec<usize>,
    pub labels: Vec<Label<'t>>,
    /// Registers that the function declares as parameters and in its blocks.
    pub(crate) registers: Vec<Registers<'t>>,
    pub locs: Vec<Loc<'t>>,
    /// Offset of the closing brace.
    pub end: usize,
}

/// A label in a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label<'t> {
    pub name: &'t str,
    /// Number of instructions before the label.
    pub(crate) position: usize,
    /// The label with its colon.
    pub span: Span,
}

/// A variable or parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Symbol<'t> {
    pub name: &'t str,
    /// State space directive, such as `.shared`.
    pub space: &'t str,
}

/// `.file`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct File<'t> {
    pub(crate) number: u64,
    pub(crate) name: &'t str,
    pub span: Span,
}

/// Source position: file number, line, column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub(crate) file: u64,
    pub(crate) line: u64,
    pub(crate) column: u64,
}

/// `.loc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loc<'t> {
    /// Number of instructions before the directive.
    pub(crate) position: usize,
    pub(crate) place: Place,
    pub(crate) inlined: Option<Inlined<'t>>,
    pub span: Span,
}

/// Inlined call in a line directive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Inlined<'t> {
    /// Label at the function's name, and the number of bytes after the label.
    pub(crate) function: (&'t str, u64),
    /// Text offset at which the label name begins.
    pub(crate) label_at: usize,
    /// Source position of the call.
    pub(crate) call: Place,
}

const SPACES: [&str; 6] = [".global", ".const", ".shared", ".local", ".param", ".tex"];
const PLACE: &str = "a source position: file, line and column";

impl<'t> Text<'t> {
    /// Reads a PTX text.
    ///
    /// # Errors
    /// [`Syntax`](crate::error::ErrorKind::Syntax), with line and column.
    pub fn read(text: &'t str) -> Result<Self> {
        let mut from = Lexer::new(text);
        let mut read = Self { text, ..Self::default() };
        while let Some(token) = from.next()? {
            read.statement(&mut from, token)?;
        }
        Ok(read)
    }

    /// Reads a statement outside functions.
    fn statement(&mut self, from: &mut Lexer<'t>, first: Token<'t>) -> Result<()> {
        let start = first.span.start;
        let word = if first.kind == Kind::String { "" } else { first.text };
        match word {
            ".version" => {
                let expected = "a version with two numbers";
                let word = from.expect(Kind::Word, expected)?;
                let parts = word.text.split_once('.');
                let version =
                    parts.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
                self.version = version.ok_or_else(|| from.unexpected(word.span.start, expected))?;
            }
            ".target" => self.target(from)?,
            ".address_size" => {
                from.number("the address size in bits")?;
            }
            ".file" => self.file(from, start)?,
            ".loc" => {
                let loc = Loc::read(from, 0, start)?;
                self.stray.push(loc.span);
            }
            ".reg" => {
                Registers::read(from, |read| self.registers.push(Registers { is_set: true, ..read }))?;
            }
            ".section" => self.sections.push(DebugSection::read(from, start)?),
            ";" => {}
            _ if word.starts_with('.') && word.len() > 1 => self.declaration(from, first)?,
            _ => return Err(from.unexpected(start, "a directive outside functions")),
        }
        Ok(())
    }

    fn target(&mut self, from: &mut Lexer<'t>) -> Result<()> {
        let first = from.expect(Kind::Word, "a processor")?;
        let mut end = first.span.end;
        loop {
            let comma = from.offset();
            if !from.take(b',')? {
                break;
            }
            let option = from.expect(Kind::Word, "a target option after the comma")?;
            match option.text {
                "debug" => self.debug = Some(Span { start: comma, end: option.span.end }),
                _ if self.debug.is_none() => end = option.span.end,
                _ => {}
            }
        }
        self.processor = Some((first.text, end));
        Ok(())
    }

    fn file(&mut self, from: &mut Lexer<'t>, start: usize) -> Result<()> {
        let expected = "a file number and a file name";
        let number = from.number(expected)?;
        let name = from.expect(Kind::String, expected)?.text;
        // Modification time and size.
        if from.take(b',')? {
            from.number(expected)?;
            if from.take(b',')? {
                from.number(expected)?;
            }
        }
        self.files.push(File { number, name, span: Span { start, end: from.offset() } });
        Ok(())
    }

    /// Reads a declaration, or a function with its body.
    fn declaration(&mut self, from: &mut Lexer<'t>, first: Token<'t>) -> Result<()> {
        let mut token = first;
        let mut depth = 0u32;
        let mut space = None;
        let mut is_function = false;
        let mut name = None;
        // Parameters in registers.
        let mut registers = Vec::new();
        loop {
            match token.kind {
                Kind::Symbol(b'(' | b'[') => depth += 1,
                Kind::Symbol(b')' | b']') => {
                    depth = depth
                        .checked_sub(1)
                        .ok_or_else(|| from.error(token.span.start, "bracket has no opening bracket"))?;
                }
                Kind::Symbol(b';') => return Ok(()),
                Kind::Symbol(b'=') => return skip(from, first),
                Kind::Symbol(b'{') if depth == 0 && is_function => {
                    let name = name.ok_or_else(|| from.error(first.span.start, "function has no name"))?;
                    return self.body(from, name, registers);
                }
                Kind::Symbol(b'{') => {
                    return Err(from.error(token.span.start, "body belongs to no function"));
                }
                Kind::Word if matches!(token.text, ".entry" | ".func") => is_function = true,
                Kind::Word if token.text == ".reg" => {
                    Registers::read(from, |read| registers.push(Registers { is_set: true, ..read }))?;
                }
                Kind::Word if token.text.starts_with('.') => {
                    // A pointer parameter is followed by the pointee's space.
                    space = space.or_else(|| SPACES.into_iter().find(|space| *space == token.text));
                }
                Kind::Word if is_identifier(token.text) => match space {
                    _ if is_function && depth == 0 => {
                        name.get_or_insert(token.text);
                    }
                    Some(space) => self.symbols.push(Symbol { name: token.text, space }),
                    None => {}
                },
                _ => {}
            }
            token = from
                .next()?
                .ok_or_else(|| from.error(first.span.start, "declaration ends without `;` or a body"))?;
        }
    }

    fn body(&mut self, from: &mut Lexer<'t>, name: &'t str, registers: Vec<Registers<'t>>) -> Result<()> {
        let start = from.offset();
        let mut function = Function {
            name,
            instructions: Vec::new(),
            labels: Vec::new(),
            registers,
            locs: Vec::new(),
            end: 0,
        };
        let mut blocks = Blocks::default();
        loop {
            let Some(token) = from.next()? else {
                return Err(from.error(start.saturating_sub(1), "function body is not closed"));
            };
            let position = function.instructions.len();
            match token.kind {
                Kind::Symbol(b'{') => blocks.open(position),
                Kind::Symbol(b'}') => {
                    if !blocks.close(position, &mut function.registers) {
                        function.end = token.span.start;
                        break;
                    }
                }
                Kind::Symbol(b';') => {}
                Kind::Word if token.text == ".reg" => {
                    Registers::read(from, |read| blocks.declare(read, &mut function.registers))?;
                }
                Kind::Word if token.text == ".loc" => {
                    function.locs.push(Loc::read(from, position, token.span.start)?);
                }
                Kind::Word if token.text == ".file" => self.file(from, token.span.start)?,
                Kind::Word if token.text.starts_with('.') => self.declaration(from, token)?,
                Kind::Word if from.take(b':')? => {
                    let span = Span { start: token.span.start, end: from.offset() };
                    function.labels.push(Label { name: token.text, position, span });
                }
                Kind::Word | Kind::Symbol(b'@') => {
                    function.instructions.push(token.span.start);
                    skip(from, token)?;
                }
                _ => return Err(from.unexpected(token.span.start, "a statement")),
            }
        }
        self.functions.push(function);
        Ok(())
    }
}

impl<'t> Loc<'t> {
    fn read(from: &mut Lexer<'t>, position: usize, start: usize) -> Result<Self> {
        let place = Place::read(from)?;
        let mut inlined = None;
        if from.take(b',')? {
            let expected = "`function_name LABEL, inlined_at FILE LINE COLUMN`";
            keyword(from, "function_name", expected)?;
            let label = from.expect(Kind::Word, expected)?;
            let addend = if from.take(b'+')? { from.number(expected)? } else { 0 };
            from.expect(Kind::Symbol(b','), expected)?;
            keyword(from, "inlined_at", expected)?;
            let call = Place::read(from)?;
            inlined = Some(Inlined { function: (label.text, addend), label_at: label.span.start, call });
        }
        Ok(Self { position, place, inlined, span: Span { start, end: from.offset() } })
    }
}

impl Place {
    fn read(from: &mut Lexer<'_>) -> Result<Self> {
        Ok(Self { file: from.number(PLACE)?, line: from.number(PLACE)?, column: from.number(PLACE)? })
    }
}

fn keyword(from: &mut Lexer<'_>, word: &str, expected: &str) -> Result<()> {
    let token = from.expect(Kind::Word, expected)?;
    if token.text == word { Ok(()) } else { Err(from.unexpected(token.span.start, expected)) }
}

/// Moves after the `;` that ends a statement.
fn skip(from: &mut Lexer<'_>, first: Token<'_>) -> Result<()> {
    let mut depth = 0u32;
    loop {
        match from.next_delimiter()? {
            Some(b'{') => depth += 1,
            Some(b'}') if depth > 0 => depth -= 1,
            Some(b';') if depth == 0 => return Ok(()),
            None | Some(b'}') => {
                return Err(from.error(first.span.start, "statement ends without `;`"));
            }
            Some(_) => {}
        }
    }
}

/// Returns whether a word names a variable, and not a register or a number.
fn is_identifier(word: &str) -> bool {
    word != "_" && word.starts_with(|first: char| first.is_ascii_alphabetic() || matches!(first, '_' | '$'))
}
