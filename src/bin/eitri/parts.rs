//! Text of many items, made on several threads.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::thread;

/// Appends the text of items, in order: of consecutive parts of them on a thread each, if the text has many lines.
pub fn append<T: Sync>(
    out: &mut String,
    items: &[T],
    lines: usize,
    print: impl Fn(&mut String, &[T]) + Sync,
) {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    if lines < 1 << 10 || threads < 2 {
        return print(out, items);
    }
    let (first, rest) = items.split_at(items.len().div_ceil(threads));
    let text = &|part: &[T]| {
        let mut text = String::new();
        print(&mut text, part);
        text
    };
    thread::scope(|scope| {
        let parts = rest.chunks(first.len());
        let started: Vec<_> = parts.map(|part| scope.spawn(move || text(part))).collect();
        print(out, first);
        for one in started {
            out.push_str(&one.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
    });
}
