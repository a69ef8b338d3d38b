//! Finds the lines of declarations in a source text: variables outside all functions, and structure members. Modules
//! without line instructions get lines this way.
//!
//! The rule holds for C, GLSL, HLSL, Slang and WGSL: a declared name is followed by `;`, `,`, `=`, `:`, `[` or, for a
//! block, `{`; a name after `:` is a type. A name that is found nowhere, or in several locations, has no line, because
//! a wrong line is worse than none.

use hashbrown::HashMap;

/// Lines by name, counted from 1; `None` for a name that is declared more than once.
#[derive(Debug, Default)]
pub(super) struct Declarations {
    variables: HashMap<String, Option<u32>>,
    /// By structure and member.
    members: HashMap<(String, String), Option<u32>>,
}

impl Declarations {
    /// Collects the declarations in a text.
    pub fn new(text: &str) -> Self {
        let tokens = tokens(text);
        let mut declarations = Self::default();
        // The names before each open brace, and the number of open parentheses.
        let mut open: Vec<Option<&str>> = Vec::new();
        let mut parentheses: usize = 0;
        // Whether a value or a function's return type follows, which declares nothing.
        let mut named = None;
        let mut is_use = false;
        for (index, &(token, line)) in tokens.iter().enumerate() {
            let before = index.checked_sub(1).map_or("", |before| tokens[before].0);
            let after = tokens.get(index + 1).map_or("", |after| after.0);
            match token {
                "{" => {
                    open.push(named.take().filter(|_| parentheses == 0 && !is_use));
                    is_use = false;
                }
                "}" => drop(open.pop()),
                "(" => (named, parentheses) = (None, parentheses + 1),
                ")" => parentheses = parentheses.saturating_sub(1),
                ";" => (named, is_use) = (None, false),
                "=" | "-" if parentheses == 0 => (named, is_use) = (None, true),
                _ if !is_name(token) || parentheses > 0 || before == ":" || is_use => {}
                _ => {
                    let is_declared = matches!(after, ";" | "," | "=" | ":" | "[" | "{");
                    // The first name before a brace, if a base class or nothing follows it.
                    named = if matches!(after, "{" | ":") { Some(token) } else { named };
                    let lines = match (&open[..], is_declared) {
                        ([], true) => declarations.variables.entry(token.to_owned()),
                        (&[Some(structure)], true) => {
                            // A second declaration makes the name ambiguous.
                            let member = (structure.to_owned(), token.to_owned());
                            declarations
                                .members
                                .entry(member)
                                .and_modify(|known| *known = None)
                                .or_insert(Some(line));
                            continue;
                        }
                        _ => continue,
                    };
                    lines.and_modify(|known| *known = None).or_insert(Some(line));
                }
            }
        }
        declarations
    }

    /// The line that declares a variable outside all functions, or a block.
    pub fn variable(&self, name: &str) -> Option<u32> {
        self.variables.get(name).copied().flatten()
    }

    /// A member's line.
    pub fn member(&self, structure: &str, member: &str) -> Option<u32> {
        self.members.get(&(structure.to_owned(), member.to_owned())).copied().flatten()
    }
}

/// Names and punctuation with their lines, without comments and directives.
fn tokens(text: &str) -> Vec<(&str, u32)> {
    let mut tokens = Vec::new();
    let mut is_comment = false;
    for (line, number) in text.split('\n').zip(1..) {
        let mut rest = line.trim_start();
        // A directive ends with its line.
        if !is_comment && rest.starts_with('#') {
            continue;
        }
        while let Some(first) = rest.chars().next() {
            if is_comment {
                let Some(end) = rest.find("*/") else { break };
                (rest, is_comment) = (&rest[end + 2..], false);
            } else if rest.starts_with("//") {
                break;
            } else if rest.starts_with("/*") {
                (rest, is_comment) = (&rest[2..], true);
            } else {
                let is_part = |char: char| char.is_alphanumeric() || char == '_';
                let end =
                    if is_part(first) { rest.find(|char| !is_part(char)) } else { Some(first.len_utf8()) };
                let (token, after) = rest.split_at(end.unwrap_or(rest.len()));
                if !first.is_whitespace() {
                    tokens.push((token, number));
                }
                rest = after;
            }
        }
    }
    tokens
}

fn is_name(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}
