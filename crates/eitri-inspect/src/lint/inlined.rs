//! Inlined calls around variables.

use std::fmt;
use std::sync::Arc;

/// Names of the inlined calls around a variable. Findings share the calls that are around several of them, so that the
/// memory of findings does not grow with the depth of calls.
#[derive(Clone, Default)]
pub struct InlinedCalls(Option<Arc<Call>>);

struct Call {
    name: Box<str>,
    around: InlinedCalls,
}

impl InlinedCalls {
    /// Returns these calls with one in the innermost of them.
    pub(super) fn with(self, name: &str) -> Self {
        Self(Some(Arc::new(Call { name: name.into(), around: self })))
    }

    /// Returns the names of the inlined functions, the outermost first.
    pub fn names(&self) -> Vec<&str> {
        let calls = std::iter::successors(self.0.as_deref(), |call| call.around.0.as_deref());
        let mut names: Vec<_> = calls.map(|call| &*call.name).collect();
        names.reverse();
        names
    }
}

impl Drop for InlinedCalls {
    fn drop(&mut self) {
        // Calls can be nested more deeply than a recursive drop of them allows.
        let mut next = self.0.take();
        while let Some(call) = next {
            next = Arc::into_inner(call).and_then(|mut call| call.around.0.take());
        }
    }
}

impl PartialEq for InlinedCalls {
    fn eq(&self, other: &Self) -> bool {
        self.names() == other.names()
    }
}

impl Eq for InlinedCalls {}

impl fmt::Debug for InlinedCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
