//! Inlined calls around variables.

use std::fmt;
use std::sync::Arc;

/// Limit on the names that are printed for a finding: the output does not grow with the square of the calls' depth.
const MOST_NAMES: usize = 64;

/// Names of the inlined calls around a variable. Findings share the calls around several variables, so that memory does
/// not grow with call depth.
#[derive(Clone, Default)]
pub struct InlinedCalls(Option<Arc<Call>>);

struct Call {
    name: Box<str>,
    around: InlinedCalls,
}

impl InlinedCalls {
    /// Returns these calls with a further call inside the innermost.
    #[doc(hidden)]
    pub fn with(self, name: &str) -> Self {
        Self(Some(Arc::new(Call { name: name.into(), around: self })))
    }

    /// Returns the inlined functions' names, the outermost first. Of more than 64 calls, the outer ones are left out, and
    /// the first name is `…`.
    pub fn names(&self) -> Vec<&str> {
        let mut calls = self.calls();
        let mut names: Vec<_> = calls.by_ref().take(MOST_NAMES).collect();
        if calls.next().is_some() {
            names.push("…");
        }
        names.reverse();
        names
    }

    /// Returns all names, the innermost first.
    fn calls(&self) -> impl Iterator<Item = &str> {
        let calls = std::iter::successors(self.0.as_deref(), |call| call.around.0.as_deref());
        calls.map(|call| &*call.name)
    }
}

impl Drop for InlinedCalls {
    fn drop(&mut self) {
        // Calls can be nested too deeply for a recursive drop.
        let mut next = self.0.take();
        while let Some(call) = next {
            next = Arc::into_inner(call).and_then(|mut call| call.around.0.take());
        }
    }
}

impl PartialEq for InlinedCalls {
    fn eq(&self, other: &Self) -> bool {
        self.calls().eq(other.calls())
    }
}

impl Eq for InlinedCalls {}

impl fmt::Debug for InlinedCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
