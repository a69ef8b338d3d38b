//! Counts with their nouns and verbs.

use core::fmt;

/// A count with its noun: `1 finding`, `2 findings`, `0 entries`.
#[derive(Debug)]
pub struct Count<N>(pub N, pub &'static str);

impl<N: PartialEq + From<u8>> Count<N> {
    fn is_one(&self) -> bool {
        self.0 == N::from(1)
    }

    /// Adds the verb: `1 bit is`, `2 bits are`.
    #[doc(hidden)]
    pub fn are(self) -> Are<N> {
        Are(self)
    }

    fn noun(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = self.1;
        match (self.is_one(), noun.strip_suffix('y'), noun.ends_with('s')) {
            (true, ..) => write!(f, " {noun}"),
            (false, Some(stem), _) => write!(f, " {stem}ies"),
            (false, None, true) => write!(f, " {noun}es"),
            (false, None, false) => write!(f, " {noun}s"),
        }
    }
}

impl<N: fmt::Display + PartialEq + From<u8>> fmt::Display for Count<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)?;
        self.noun(f)
    }
}

impl<N: fmt::LowerHex + PartialEq + From<u8>> fmt::LowerHex for Count<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(&self.0, f)?;
        self.noun(f)
    }
}

/// A count with its noun and verb.
#[derive(Debug)]
pub struct Are<N>(Count<N>);

impl<N: PartialEq + From<u8>> Are<N> {
    fn verb(&self) -> &'static str {
        if self.0.is_one() { " is" } else { " are" }
    }
}

impl<N: fmt::Display + PartialEq + From<u8>> fmt::Display for Are<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)?;
        f.write_str(self.verb())
    }
}

impl<N: fmt::LowerHex + PartialEq + From<u8>> fmt::LowerHex for Are<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(&self.0, f)?;
        f.write_str(self.verb())
    }
}
