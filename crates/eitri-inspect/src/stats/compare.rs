//! Coverage in two builds, matched by the functions' linkage names.

use std::collections::BTreeMap;

use super::coverage::Coverage;
use super::statistics::Statistics;

/// A function's coverage in two builds. Without a name, the coverage of all variables.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The function's linkage name, or else its name; `None` for all variables in the files.
    pub function: Option<String>,
    /// Coverage in the older build; `None` if it lacks the function.
    pub old: Option<Coverage>,
    /// Coverage in the newer build; `None` if it lacks the function.
    pub new: Option<Coverage>,
}

impl Change {
    /// Returns the sound part of the scopes in the new build, in percent of the old build's: 0 where the new build has
    /// no variables in scopes. `None` where the function is not in both builds, or has no sound location in the old
    /// build.
    pub fn percent(&self) -> Option<f64> {
        let part = |coverage: Coverage| coverage.percent().unwrap_or(0.0);
        let old = part(self.old?);
        let new = part(self.new?);
        (old > 0.0).then(|| 100.0 * new / old)
    }
}

/// Compares two builds' coverage, by the functions' linkage names. Functions with the same name are summed. The first
/// element is for all variables.
///
/// ```
/// # use eitri_inspect::stats::{StatsOptions, compare, stats};
/// # let old = include_bytes!("../../data/squares.o");
/// # let mut new = old.to_vec();
/// // In the new build, the location of `from` is `DW_OP_plus`, which fails on every machine.
/// new[0x17d + 0x55] = 0x22;
/// let options = StatsOptions::default();
/// let changes = compare(&stats(old, &options)?, &stats(&new, &options)?);
/// // The first change is that of all variables.
/// let [old, new] = [changes[0].old, changes[0].new].map(Option::unwrap);
/// // `from` is in scope in all 38 bytes of the function.
/// assert_eq!((old.sound, new.sound), (149, 149 - 38));
/// # Ok::<(), eitri_dwarf::Error>(())
/// ```
pub fn compare(old: &Statistics, new: &Statistics) -> Vec<Change> {
    let sums = |statistics: &Statistics| {
        let mut sums: BTreeMap<String, Coverage> = BTreeMap::new();
        for function in &statistics.functions {
            *sums.entry(function.symbol_name().to_owned()).or_default() += function.coverage;
        }
        sums
    };
    let first = sums(old);
    let mut second = sums(new);
    let whole = |statistics: &Statistics| Some(statistics.variables.coverage);
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
