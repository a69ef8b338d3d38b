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
        let parts = rest.chunks(first.len().max(1));
        let started: Vec<_> = parts.map(|part| scope.spawn(move || text(part))).collect();
        print(out, first);
        for one in started {
            out.push_str(&one.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::append;

    #[test]
    fn parts_are_in_order() {
        let print =
            |out: &mut String, items: &[u32]| items.iter().for_each(|one| *out += &format!("{one}\n"));
        for count in [0, 1, 2, 1023, 5001] {
            let items: Vec<u32> = (0..count).collect();
            let (mut parts, mut whole) = (String::from("head\n"), String::from("head\n"));
            append(&mut parts, &items, 1 << 10, print);
            print(&mut whole, &items);
            assert_eq!(parts, whole);
        }
    }
}
