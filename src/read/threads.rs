//! Work on the units of a file, divided among threads.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use gimli::DebugInfo;

use super::Unit;
use super::dwarf::{Dwarf, Node};
use super::units::Reader;
use crate::error::{Error, ErrorKind, Result};

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

/// Calls a function for each of several inputs on a number of threads: each takes the next input when it has finished one.
pub(crate) fn queue<I: Clone + Send + Sync, O: Send>(
    inputs: &[I],
    threads: usize,
    call: impl Fn(I) -> O + Sync,
) -> Vec<O> {
    let next = AtomicUsize::new(0);
    let take = || {
        let number = next.fetch_add(1, Ordering::Relaxed);
        Some((number, call(inputs.get(number)?.clone())))
    };
    let workers = vec![(); threads.min(inputs.len()).max(1)];
    let all = each(&workers, |()| std::iter::from_fn(take).collect::<Vec<_>>());
    let mut all: Vec<_> = all.into_iter().flatten().collect();
    all.sort_unstable_by_key(|one| one.0);
    all.into_iter().map(|one| one.1).collect()
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

impl<'o> Reader<'_, 'o> {
    /// Reads the units of `.debug_info` in consecutive chunks of about one size, each on a thread, and joins them.
    pub(super) fn read_on(self, threads: usize) -> Result<Dwarf<'o>> {
        let sections = self.dwarf.sections;
        let info = DebugInfo::from(sections.slice(sections.debug_info));
        let mut ends = Vec::new();
        let (mut headers, mut next) = (info.units(), 0);
        while let Ok(Some(header)) = headers.next() {
            let rest = sections.debug_info.get(next..).unwrap_or_default();
            next += header.length_including_self().min(rest.len());
            ends.push(next);
        }
        // One after the other, the first error is found; types refer to units before.
        if next != sections.debug_info.len() || ends.len() < threads || !sections.debug_types.is_empty() {
            return self.read();
        }
        let size = next / threads + 1;
        let mut bounds: Vec<usize> = (1..threads).map(|number| number * size).collect();
        bounds
            .iter_mut()
            .for_each(|bound| *bound = ends[ends.partition_point(|end| *end < *bound).min(ends.len() - 1)]);
        bounds.push(next);
        bounds.dedup();
        let (dialect, draft) = (self.dialect, self.draft);
        let mut start = 0;
        let spans: Vec<_> = bounds.iter().map(|&end| std::mem::replace(&mut start, end)..end).collect();
        let parts = each(&spans, |span| {
            let mut reader = Reader::new(sections, dialect, draft);
            reader.chunk(span).map(|()| reader.dwarf)
        });
        let mut dwarf = self.dwarf;
        for part in parts {
            let part = part?;
            let too_many =
                || Error::new(ErrorKind::TooLarge("the file has more than 4294967294 entries".into()));
            let node = u32::try_from(dwarf.nodes.len()).map_err(|_| too_many())?;
            let table = dwarf.tables.len() as u32;
            if u32::try_from(dwarf.nodes.len() + part.nodes.len()).is_err() {
                return Err(too_many());
            }
            // The first part is joined without a copy.
            if dwarf.nodes.is_empty() {
                (dwarf.nodes, dwarf.units, dwarf.tables) = (part.nodes, part.units, part.tables);
                continue;
            }
            dwarf.nodes.reserve_exact(part.nodes.len());
            dwarf.nodes.extend(part.nodes.into_iter().map(|one| Node {
                parent: one.parent + node,
                end: one.end + node,
                ..one
            }));
            dwarf.units.extend(part.units.into_iter().map(|mut unit| {
                unit.contents.entries = unit.contents.entries.start + node..unit.contents.entries.end + node;
                unit.contents.table += table;
                unit
            }));
            dwarf.tables.extend(part.tables);
        }
        Ok(dwarf.with_signatures())
    }

    /// Reads the units within a span of `.debug_info`.
    fn chunk(&mut self, span: Range<usize>) -> Result<()> {
        let sections = self.dwarf.sections;
        let info = DebugInfo::from(sections.slice(sections.debug_info));
        let mut headers = info.units();
        let mut at = 0;
        while let Some(header) =
            headers.next().map_err(|error| self.broken(error, "a unit header", at as u64))?
        {
            let rest = sections.debug_info.get(at..).unwrap_or_default();
            let end = at + header.length_including_self().min(rest.len());
            if at >= span.end {
                break;
            }
            if at >= span.start {
                self.unit(header, rest, at as u64)?;
            }
            at = end;
        }
        Ok(())
    }
}
