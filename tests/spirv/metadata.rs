//! LLVM debug metadata, as LLVM's translator makes it when it reads a SPIR-V module back.
//!
//! Nodes are parsed from the text of `llvm-dis-15`; [`facts`] converts them to plain facts.

mod check;
pub mod facts;
mod types;

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::Path;

use facts::Program;

use crate::spirv::bytes;
use crate::spirv::tools::{Folder, Ran, Tool};

const LLVM_SPIRV: Tool = Tool::new("llvm-spirv-15", "llvm-spirv-15");
const LLVM_DIS: Tool = Tool::new("llvm-dis-15", "llvm-15");

/// Text of the translated module, or the failed run of the translator or the disassembler.
pub fn translated(words: &[u32]) -> Option<Result<String, Ran>> {
    let folder = Folder::new();
    let module = folder.file("a.spv", bytes(words));
    let bitcode = folder.path().join("a.bc");
    let arguments: [&OsStr; 4] = ["-r".as_ref(), module.as_os_str(), "-o".as_ref(), bitcode.as_os_str()];
    let ran = LLVM_SPIRV.run(&arguments)?;
    if !ran.succeeded || !ran.errors.is_empty() {
        return Some(Err(ran));
    }
    let ran = disassembled(&bitcode)?;
    Some(if ran.succeeded && ran.errors.is_empty() { Ok(ran.out) } else { Err(ran) })
}

/// Facts of the translated module, which must not cause complaints.
pub fn read_back(words: &[u32]) -> Option<Program> {
    Some(Program::read(&translated(words)?.unwrap_or_else(|ran| panic!("{ran}"))))
}

pub fn disassembled(bitcode: &Path) -> Option<Ran> {
    LLVM_DIS.run(&[bitcode.as_os_str(), "-o".as_ref(), "-".as_ref()])
}

/// Value of a field.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    /// The node with this number.
    Named(u32),
    /// An inline node.
    Node(Node),
    Text(String),
    /// A number, an enumerant, flags, or a value of the program, as text.
    Word(String),
}

/// A node: `!DIFile(filename: "a.cl", ...)`, or a list, without a kind, `!{!1, !2}`.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    pub kind: String,
    /// Fields; elements of a list have an empty name.
    pub fields: Vec<(String, Value)>,
}

/// All nodes of a module, by number.
#[derive(Debug)]
pub struct Nodes(HashMap<u32, Node>);

impl Nodes {
    /// Parses the nodes in lines such as `!12 = distinct !DISubprogram(...)`.
    pub fn read(text: &str) -> Self {
        let node = |line: &str| {
            let (number, node) = line.strip_prefix('!')?.split_once(" = ")?;
            let number = number.parse().ok()?;
            match Cursor(node.strip_prefix("distinct ").unwrap_or(node)).value() {
                Value::Node(node) => Some((number, node)),
                _ => None,
            }
        };
        Self(text.lines().filter_map(node).collect())
    }

    pub fn get(&self, number: u32) -> &Node {
        self.0.get(&number).unwrap_or_else(|| panic!("!{number} is not there"))
    }

    /// Numbers of the nodes of a kind, in ascending order.
    pub fn of_kind(&self, kind: &str) -> Vec<u32> {
        let numbers = self.0.iter().filter(|(_, node)| node.kind == kind).map(|(&number, _)| number);
        let mut numbers: Vec<_> = numbers.collect();
        numbers.sort_unstable();
        numbers
    }

    /// The node that a field refers to.
    pub fn named<'n>(&'n self, node: &'n Node, field: &str) -> Option<&'n Node> {
        match node.field(field)? {
            Value::Named(number) => Some(self.get(*number)),
            Value::Node(node) => Some(node),
            _ => None,
        }
    }

    /// Nodes of the list that a field refers to; `None` for null elements.
    pub fn list<'n>(&'n self, node: &'n Node, field: &str) -> Vec<Option<&'n Node>> {
        let list = self.named(node, field);
        let elements = list.into_iter().flat_map(|list| &list.fields);
        let element = |(_, value): &'n (String, Value)| match value {
            Value::Named(number) => Some(self.get(*number)),
            Value::Node(node) => Some(node),
            _ => None,
        };
        elements.map(element).collect()
    }
}

impl Node {
    pub fn field(&self, name: &str) -> Option<&Value> {
        self.fields.iter().find(|field| field.0 == name).map(|field| &field.1)
    }

    /// Number of the node that a field refers to.
    pub fn number_of(&self, field: &str) -> Option<u32> {
        match self.field(field) {
            Some(Value::Named(number)) => Some(*number),
            _ => None,
        }
    }

    /// A text or a word; empty for a missing field.
    pub fn text(&self, field: &str) -> &str {
        match self.field(field) {
            Some(Value::Text(text) | Value::Word(text)) => text,
            _ => "",
        }
    }

    /// A number; 0 for a missing field, as LLVM omits zeros.
    pub fn number(&self, field: &str) -> u64 {
        let text = self.text(field);
        if text.is_empty() { 0 } else { text.parse().unwrap_or_else(|_| panic!("{field}: {text}")) }
    }

    /// Whether a flag is set.
    pub fn has(&self, field: &str, flag: &str) -> bool {
        self.text(field).split(" | ").any(|it| it == flag)
    }
}

/// The rest of a line.
struct Cursor<'t>(&'t str);

impl Cursor<'_> {
    fn value(&mut self) -> Value {
        self.0 = self.0.trim_start();
        let Some(rest) = self.0.strip_prefix('!') else {
            return match self.0.strip_prefix('"') {
                Some(rest) => self.string(rest),
                None => self.word(),
            };
        };
        if let Some(text) = rest.strip_prefix('"') {
            return self.string(text);
        }
        let end = rest.find(|char: char| !char.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let name = &rest[..end];
        self.0 = &rest[end..];
        match name.parse() {
            Ok(number) => Value::Named(number),
            Err(_) => Value::Node(Node { kind: name.into(), fields: self.fields() }),
        }
    }

    /// Parses the fields of a node, including the brackets.
    fn fields(&mut self) -> Vec<(String, Value)> {
        let mut fields = Vec::new();
        self.0 = &self.0[1..];
        loop {
            self.0 = self.0.trim_start_matches([' ', ',']);
            if let Some(rest) = self.0.strip_prefix([')', '}']) {
                self.0 = rest;
                return fields;
            }
            assert!(!self.0.is_empty(), "a node has no end: {fields:?}");
            let end = self.0.find(|char: char| !char.is_ascii_alphanumeric()).unwrap_or(self.0.len());
            let mut name = String::new();
            if end > 0
                && let Some(rest) = self.0[end..].strip_prefix(": ")
            {
                name = self.0[..end].into();
                self.0 = rest;
            }
            fields.push((name, self.value()));
        }
    }

    /// Parses a string after its opening quotation mark. `\22` is a character.
    fn string(&mut self, text: &str) -> Value {
        let end = text.find('"').expect("the string has an end");
        let mut bytes = Vec::new();
        let mut rest = &text.as_bytes()[..end];
        while let [byte, after @ ..] = rest {
            let digits = after.get(..2).and_then(|digits| str::from_utf8(digits).ok());
            let escaped = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
            let (left, byte) = match (byte, escaped) {
                (b'\\', Some(escaped)) => (&after[2..], escaped),
                // An escaped backslash.
                (b'\\', None) => (&after[1..], b'\\'),
                _ => (after, *byte),
            };
            bytes.push(byte);
            rest = left;
        }
        self.0 = self.0[self.0.len() - (text.len() - end - 1)..].trim_start();
        Value::Text(String::from_utf8(bytes).expect("is text"))
    }

    /// Parses any other value, up to the following comma or bracket.
    fn word(&mut self) -> Value {
        let mut depth = 0;
        let mut is_quoted = false;
        let end = self.0.find(|char| {
            match char {
                '"' => is_quoted = !is_quoted,
                _ if is_quoted => {}
                '(' | '[' | '{' | '<' => depth += 1,
                ',' | ')' | '}' if depth == 0 => return true,
                ')' | ']' | '}' | '>' => depth -= 1,
                _ => {}
            }
            false
        });
        let (word, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        self.0 = rest;
        match word.trim() {
            "null" => Value::Null,
            word => Value::Word(word.into()),
        }
    }
}
