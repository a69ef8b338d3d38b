//! Coverage of two builds, matched by the linkage names of functions.

use std::collections::BTreeMap;

use super::coverage::Coverage;
use super::statistics::Statistics;

/// Coverage of a function in two builds; of all variables without a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Linkage name of the function, or else its name; `None` for all variables of the files.
    pub function: Option<String>,
    /// Coverage in the older build; `None` if it lacks the function.
    pub old: Option<Coverage>,
    /// Coverage in the newer build; `None` if it lacks the function.
    pub new: Option<Coverage>,
}

impl Change {
    /// Returns the sound part of the scopes of the new build, in percent of the old one's: 0 where the new build has no
    /// variables in scopes. `None` where the function is not in both builds, or has no sound location in the old one.
    pub fn percent(&self) -> Option<f64> {
        let part = |one: Coverage| if one.scope > 0 { one.sound as f64 / one.scope as f64 } else { 0.0 };
        let old = part(self.old?);
        let new = part(self.new?);
        (old > 0.0).then(|| 100.0 * new / old)
    }
}

/// Compares the coverage of two builds, by the linkage names of functions. Functions of one name are summed. The first
/// element is for all variables.
pub fn compare(old: &Statistics, new: &Statistics) -> Vec<Change> {
    let sums = |of: &Statistics| {
        let mut sums: BTreeMap<String, Coverage> = BTreeMap::new();
        for one in &of.functions {
            *sums.entry(one.symbol_name().to_owned()).or_default() += one.coverage;
        }
        sums
    };
    let first = sums(old);
    let mut second = sums(new);
    let whole = |of: &Statistics| Some(of.variables.coverage);
    let mut changes = vec![Change { function: None, old: whole(old), new: whole(new) }];
    for (name, old) in first {
        let new = second.remove(&name);
        changes.push(Change { function: Some(name), old: Some(old), new });
    }
    changes.extend(second.into_iter().map(|(name, new)| Change {
        function: Some(name),
        old: None,
        new: Some(new),
    }));
    changes
}
