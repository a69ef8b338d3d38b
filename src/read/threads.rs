//! Work on the units of a file, divided among threads.

use std::ops::Range;

use super::Unit;

/// Calls a function for each of several inputs: for one on this thread, for more on a thread each.
pub(crate) fn each<I: Clone + Send, O: Send>(inputs: &[I], call: impl Fn(I) -> O + Sync) -> Vec<O> {
    if let [input] = inputs {
        return vec![call(input.clone())];
    }
    std::thread::scope(|scope| {
        let call = &call;
        let started: Vec<_> = inputs.iter().cloned().map(|input| scope.spawn(move || call(input))).collect();
        let finish = |one: std::thread::ScopedJoinHandle<'_, O>| {
            one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        started.into_iter().map(finish).collect()
    })
}

/// Divides units into consecutive parts of about one size, for a number of threads: their indices.
pub(crate) fn parts(units: &[Unit<'_>], threads: usize) -> Vec<Range<usize>> {
    let bytes = units.iter().map(|unit| unit.end - unit.offset).sum::<u64>();
    chunks(units, bytes / threads.max(1) as u64 + 1)
}

/// Divides units into consecutive chunks of at least a number of bytes, but the last: their indices.
pub(crate) fn chunks(units: &[Unit<'_>], each: u64) -> Vec<Range<usize>> {
    let (mut all, mut start, mut sum) = (Vec::new(), 0, 0);
    for (index, unit) in units.iter().enumerate() {
        sum += unit.end - unit.offset;
        if sum >= each || index + 1 == units.len() {
            all.push(start..index + 1);
            (start, sum) = (index + 1, 0);
        }
    }
    all
}
