//! Findings that arguments and configuration choose: lists, patterns, and the level of each code.

use std::collections::BTreeMap;

use eitri::lint::{Level, LintCode, LintFinding};
use globset::{Glob, GlobMatcher};
use hashbrown::HashMap;

/// Characters that only a pattern has.
const WILD: [char; 4] = ['*', '?', '[', '{'];

/// Parts of a list, separated by commas outside brackets: a function's name can have commas in its argument list.
pub fn parts(text: &str) -> Vec<&str> {
    let mut depth = 0usize;
    let mut parts = Vec::new();
    let mut start = 0;
    for (index, char) in text.char_indices() {
        match char {
            '(' | '<' | '[' | '{' => depth += 1,
            ')' | '>' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// Returns the matcher of a pattern; `None` for a plain name, and for a name that is no valid pattern.
fn pattern(text: &str) -> Option<GlobMatcher> {
    text.contains(WILD).then(|| Glob::new(text).ok()).flatten().map(|glob| glob.compile_matcher())
}

/// Function names in an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names(pub Vec<String>);

impl Names {
    /// Reads a list of names or patterns.
    pub fn parse(text: &str) -> Result<Self, String> {
        match parts(text) {
            names if names.is_empty() => Err("a function name is expected".into()),
            names => Ok(Self(names.into_iter().map(String::from).collect())),
        }
    }
}

/// Names and patterns of functions.
#[derive(Debug)]
pub struct Functions {
    /// Names and patterns as given.
    pub names: Vec<String>,
    patterns: HashMap<String, GlobMatcher>,
}

impl Functions {
    pub fn new(all: &[Names]) -> Self {
        let names: Vec<String> = all.iter().flat_map(|names| names.0.iter().cloned()).collect();
        let patterns = names.iter().filter_map(|name| Some((name.clone(), pattern(name)?))).collect();
        Self { names, patterns }
    }

    /// Whether a name or pattern means a function. A name such as `operator[]` means itself even if it is also a pattern.
    pub fn is_match(&self, wanted: &str, name: &str) -> bool {
        wanted == name || self.patterns.get(wanted).is_some_and(|pattern| pattern.is_match(name))
    }
}

/// Findings that a word chooses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chosen {
    Code(LintCode),
    /// The codes that a pattern matches.
    Pattern(Vec<LintCode>),
    Level(Level),
}

impl Chosen {
    /// Reads a code, a level, or a pattern of codes.
    pub fn parse(word: &str) -> Result<Self, String> {
        if let Some(code) = LintCode::named(word) {
            return Ok(Self::Code(code));
        }
        if let Some(level) = Level::ALL.into_iter().find(|level| level.name() == word) {
            return Ok(Self::Level(level));
        }
        let Some(pattern) = pattern(word) else {
            return Err(format!(
                "no code or level has the name `{word}`; `eitri lint --codes` lists the codes, and the levels are \
                 note, warning and error"
            ));
        };
        let codes: Vec<_> =
            LintCode::ALL.iter().copied().filter(|code| pattern.is_match(code.name())).collect();
        if codes.is_empty() { Err(format!("no code matches `{word}`")) } else { Ok(Self::Pattern(codes)) }
    }
}

/// Findings in an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choices(Vec<Chosen>);

impl Choices {
    /// Reads a list of codes, levels and patterns.
    pub fn parse(text: &str) -> Result<Self, String> {
        match parts(text) {
            words if words.is_empty() => Err("a code or level is expected".into()),
            words => Ok(Self(words.into_iter().map(Chosen::parse).collect::<Result<_, _>>()?)),
        }
    }

    /// Returns the choices in several arguments.
    pub fn joined(all: &[Self]) -> impl Iterator<Item = &Chosen> {
        all.iter().flat_map(|choices| &choices.0)
    }
}

/// Treatment of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Omit,
    Report(Level),
}

impl Action {
    /// Reads `allow` or a level.
    pub fn parse(word: &str) -> Result<Self, String> {
        if word == "allow" {
            return Ok(Self::Omit);
        }
        let level = Level::ALL.into_iter().find(|level| level.name() == word);
        level.map(Self::Report).ok_or_else(|| format!("`{word}`: expected allow, note, warning or error"))
    }
}

/// Actions from one source: the command line, or a configuration. A code precedes a pattern, and a pattern a level.
#[derive(Debug, Default)]
pub struct Actions {
    codes: BTreeMap<LintCode, Action>,
    patterns: BTreeMap<LintCode, Action>,
    levels: BTreeMap<Level, Action>,
}

impl Actions {
    /// Adds an action. Returns a code for which a different action was added before, with equal precedence.
    pub fn add(&mut self, chosen: &Chosen, action: Action) -> Option<LintCode> {
        let (to, codes) = match chosen {
            Chosen::Code(code) => (&mut self.codes, std::slice::from_ref(code)),
            Chosen::Pattern(codes) => (&mut self.patterns, &codes[..]),
            Chosen::Level(level) => {
                self.levels.entry(*level).or_insert(action);
                return None;
            }
        };
        let mut other = None;
        for code in codes {
            if *to.entry(*code).or_insert(action) != action {
                other = Some(*code);
            }
        }
        other
    }

    /// Returns the action for a finding.
    pub fn action(&self, finding: &LintFinding) -> Option<Action> {
        self.of_code(finding.code).or_else(|| self.levels.get(&finding.level).copied())
    }

    /// Returns the action for a code, by its name or a pattern.
    pub fn of_code(&self, code: LintCode) -> Option<Action> {
        self.codes.get(&code).or_else(|| self.patterns.get(&code)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::{Functions, Names, parts};

    #[test]
    fn commas_in_brackets_do_not_separate() {
        assert_eq!(parts("a, b,,c"), ["a", "b", "c"]);
        assert_eq!(parts("f<int, float>(a, b),{x,y}*,g"), ["f<int, float>(a, b)", "{x,y}*", "g"]);
        assert!(parts(" , ").is_empty());
    }

    #[test]
    fn names_that_look_like_patterns_mean_themselves() {
        for (wanted, name, expected) in [
            ("k*", "k04", true),
            ("k*", "ak", false),
            ("operator[]", "operator[]", true),
            ("operator*", "operator*", true),
            ("v::operator[]", "v::operatora", false),
            ("{scan,sort}_?", "sort_1", true),
            ("[", "[", true),
        ] {
            let functions = Functions::new(&[Names(vec![wanted.into()])]);
            assert_eq!(functions.is_match(wanted, name), expected, "{wanted} {name}");
        }
    }
}
