//! Work on a file's units, divided among threads.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gimli::DebugInfo;

use super::Unit;
use super::dwarf::Dwarf;
use super::units::Reader;
use crate::error::{Error, ErrorKind, Result};

/// Calls a function for each input: for the first input on this thread, for each later input on a pool thread of the
/// crate rayon. Pool threads wait for work, because a new thread can stand still for some milliseconds on the processor
/// of this thread, while another processor is idle.
pub fn each<I: Clone + Send, O: Send>(inputs: &[I], call: impl Fn(I) -> O + Sync) -> Vec<O> {
    let (first, others) = match inputs {
        [] | [_] => return inputs.iter().cloned().map(call).collect(),
        [first, others @ ..] => (first.clone(), others),
    };
    let mut outputs: Vec<_> = others.iter().map(|_| None).collect();
    let call = &call;
    let first = rayon::in_place_scope(|scope| {
        for (input, output) in others.iter().cloned().zip(&mut outputs) {
            scope.spawn(move |_| *output = Some(call(input)));
        }
        call(first)
    });
    std::iter::once(first).chain(outputs.into_iter().flatten()).collect()
}

/// Calls two functions, on a thread each if there are several.
pub fn both<A, B: Send>(
    threads: usize,
    first: impl FnOnce() -> A,
    second: impl FnOnce() -> B + Send,
) -> (A, B) {
    if threads < 2 {
        return (first(), second());
    }
    let mut output = None;
    let first = rayon::in_place_scope(|scope| {
        scope.spawn(|_| output = Some(second()));
        first()
    });
    (first, output.expect("a scope ends after its threads"))
}

/// Indices of consecutive units for a thread. Another thread can take the last units away.
#[derive(Debug)]
pub struct Units<'a> {
    /// The units, unless another thread takes some.
    pub range: Range<usize>,
    rest: &'a Rest,
    thread: usize,
}

/// Units that are not taken yet, for each thread.
type Rest = Mutex<Vec<Range<usize>>>;

/// Locks the remaining units. A panic on another thread is reported when it ends.
fn lock(rest: &Rest) -> MutexGuard<'_, Vec<Range<usize>>> {
    rest.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Iterator for Units<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        lock(self.rest)[self.thread].next()
    }
}

/// Calls a function for consecutive parts of the units on a number of threads. A thread without units takes half the
/// units that another thread has left. `begin` creates a thread's state for its first units. Returns the states, which
/// depend on the units that each thread had, and the results in unit order.
pub fn share<S: Send, O: Send>(
    units: &[Unit<'_>],
    threads: usize,
    begin: impl Fn(&[Unit<'_>]) -> S + Sync,
    call: impl Fn(&mut S, Units<'_>) -> O + Sync,
) -> (Vec<S>, Vec<O>) {
    let parts = parts(&sizes(units), threads);
    let numbers: Vec<usize> = (0..parts.len()).collect();
    let rest = Mutex::new(parts.clone());
    let outcomes = each(&numbers, |thread| {
        let mut range = parts[thread].clone();
        let mut state = begin(&units[range.clone()]);
        let mut results = Vec::new();
        while !range.is_empty() {
            results.push((range.start, call(&mut state, Units { range, rest: &rest, thread })));
            let mut rest = lock(&rest);
            let Some(longest) = rest.iter_mut().max_by_key(|range| range.len()) else { break };
            range = longest.start + longest.len() / 2..longest.end;
            longest.end = range.start;
            rest[thread] = range.clone();
        }
        (state, results)
    });
    let (states, results): (Vec<_>, Vec<_>) = outcomes.into_iter().unzip();
    let mut results: Vec<_> = results.into_iter().flatten().collect();
    results.sort_unstable_by_key(|result| result.0);
    (states, results.into_iter().map(|result| result.1).collect())
}

/// Returns the sizes of units in bytes.
fn sizes(units: &[Unit<'_>]) -> Vec<u64> {
    units.iter().map(|unit| unit.end - unit.offset).collect()
}

/// Divides units with these sizes, in bytes, into consecutive parts with about the same size, at most one for each
/// thread, and returns their indices.
fn parts(sizes: &[u64], threads: usize) -> Vec<Range<usize>> {
    divided(sizes, sizes.iter().sum::<u64>().div_ceil(threads.max(1) as u64))
}

/// Divides units into consecutive chunks with at least a number of bytes, except the last, and returns their indices.
pub fn chunks(units: &[Unit<'_>], each: u64) -> Vec<Range<usize>> {
    divided(&sizes(units), each)
}

fn divided(sizes: &[u64], each: u64) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut sum = 0;
    for (index, size) in sizes.iter().enumerate() {
        sum += size;
        if sum >= each || index + 1 == sizes.len() {
            parts.push(start..index + 1);
            (start, sum) = (index + 1, 0);
        }
    }
    parts
}

impl<'o> Reader<'_, 'o> {
    /// Reads the units in `.debug_info` in consecutive chunks with about the same size, each on a thread, and joins
    /// them.
    pub(super) fn read_on(mut self, threads: usize) -> Result<Dwarf<'o>> {
        let sections = self.dwarf.sections;
        let info = DebugInfo::from(sections.slice(sections.debug_info));
        let mut sizes = Vec::new();
        let mut headers = info.units();
        let mut next = 0;
        while let Ok(Some(header)) = headers.next() {
            let rest = sections.debug_info.get(next..).unwrap_or_default();
            let size = header.length_including_self().min(rest.len());
            next += size;
            sizes.push(size as u64);
        }
        // One after the other, the first error is found; types refer to units before.
        if next != sections.debug_info.len() || sizes.len() < threads || !sections.debug_types.is_empty() {
            return self.read();
        }
        let dialect = self.dialect;
        let draft = self.draft;
        let supplementary = self.dwarf.supplementary.clone();
        let mut start = 0;
        let span = |units: Range<usize>| {
            let bytes: u64 = sizes[units].iter().sum();
            let end = start + bytes as usize;
            std::mem::replace(&mut start, end)..end
        };
        let spans: Vec<_> = parts(&sizes, threads).into_iter().map(span).collect();
        let parts = each(&spans, |span| {
            let mut reader = Reader::new(sections, dialect, draft);
            reader.dwarf.supplementary.clone_from(&supplementary);
            reader.chunk(span).map(|()| reader.dwarf)
        });
        let dwarf = &mut self.dwarf;
        for part in parts {
            let part = part?;
            // The first part has the indices that it has in the file.
            if dwarf.units.is_empty() {
                (dwarf.nodes, dwarf.units, dwarf.tables) = (part.nodes, part.units, part.tables);
                continue;
            }
            let node = dwarf.count();
            let table = dwarf.tables.len() as u32;
            if u32::try_from(node as usize + part.nodes.len()).is_err() {
                let text = "the file has more than 4294967294 entries".into();
                return Err(Error::new(ErrorKind::TooLarge(text)));
            }
            dwarf.later.push((node, part.nodes));
            dwarf.units.extend(part.units.into_iter().map(|mut unit| {
                unit.contents.entries = unit.contents.entries.start + node..unit.contents.entries.end + node;
                unit.contents.table += table;
                unit
            }));
            dwarf.tables.extend(part.tables);
        }
        self.finish()
    }

    /// Reads the units within a span of `.debug_info`.
    fn chunk(&mut self, span: Range<usize>) -> Result<()> {
        let sections = self.dwarf.sections;
        let info = DebugInfo::from(sections.slice(sections.debug_info));
        let mut headers = info.units();
        let mut start = 0;
        while let Some(header) =
            headers.next().map_err(|error| self.broken(error, "a unit header", start as u64))?
        {
            let rest = sections.debug_info.get(start..).unwrap_or_default();
            let end = start + header.length_including_self().min(rest.len());
            if start >= span.end {
                break;
            }
            if start >= span.start {
                self.unit(header, rest, start as u64)?;
            }
            start = end;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::{each, share};
    use crate::op::{Dialect, DraftCodes};
    use crate::read::Sections;
    use crate::read::dwarf::Dwarf;
    use crate::read::units::Reader;

    /// Units of DWARF 4 with no entries.
    fn units(count: usize, with: impl FnOnce(&Dwarf<'_>)) {
        let info = [8, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 0].repeat(count);
        let sections = Sections { debug_info: &info, debug_abbrev: &[0], ..Sections::default() };
        let dwarf = Reader::new(sections, Dialect::Llvm, DraftCodes::NONE).read().expect("units");
        assert_eq!(dwarf.units.len(), count);
        with(&dwarf);
    }

    #[test]
    fn equal_units_are_divided_evenly() {
        for (count, threads, expected) in [(58, 2, [29, 29].as_slice()), (9, 2, &[5, 4]), (12, 3, &[4, 4, 4])]
        {
            units(count, |dwarf| {
                let (counts, _) = share(&dwarf.units, threads, |units| units.len(), |_, units| units.count());
                assert_eq!(counts, expected);
            });
        }
    }

    /// While a thread is at its first unit, the other thread takes all units except this unit. It has a single state
    /// for them.
    #[test]
    fn a_thread_takes_the_units_of_another() {
        units(9, |dwarf| {
            let barrier = Barrier::new(2);
            let (states, found) = share(
                &dwarf.units,
                2,
                |units| (units.len(), 0),
                |state, units| {
                    let read = units.inspect(|unit| {
                        state.1 += 1;
                        // The last unit to be read by the other thread, which takes the last half each time.
                        if [0, 1].contains(unit) {
                            barrier.wait();
                        }
                    });
                    read.collect::<Vec<_>>()
                },
            );
            assert_eq!(states, [(5, 1), (4, 8)]);
            assert_eq!(found.concat(), (0..9).collect::<Vec<_>>());
        });
    }

    #[test]
    fn results_are_in_the_order_of_the_inputs() {
        assert_eq!(each(&[3, 1, 2], |input| 10 * input), [30, 10, 20]);
        assert_eq!(each(&[] as &[u32], |input| input), [0; 0]);
    }
}
