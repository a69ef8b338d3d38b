//! Text of many items, made on several threads.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::thread;

/// Number of bytes from which on a text is passed on.
const PIECE: usize = 1 << 16;

/// Passes the text of items, in order, to a function in pieces: of consecutive parts of them on a thread each, if the text
/// has many lines. `begin` makes the printer of the items of a part.
pub fn text<T: Sync, P: FnMut(&mut String, &T)>(
    items: &[T],
    lines: usize,
    begin: impl Fn() -> P + Sync,
    mut take: impl FnMut(&str),
) {
    let threads = match lines {
        0..1024 => 1,
        _ => thread::available_parallelism().map_or(1, NonZero::get),
    };
    let (first, others) = items.split_at(items.len().div_ceil(threads));
    let text = &|part: &[T]| {
        let (mut text, mut print) = (String::new(), begin());
        part.iter().for_each(|item| print(&mut text, item));
        text
    };
    thread::scope(|scope| {
        let parts = others.chunks(first.len().max(1));
        let started: Vec<_> = parts.map(|part| scope.spawn(move || text(part))).collect();
        let (mut text, mut print) = (String::new(), begin());
        for item in first {
            print(&mut text, item);
            if text.len() >= PIECE {
                take(&text);
                text.clear();
            }
        }
        take(&text);
        for one in started {
            take(&one.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn parts_are_in_order() {
        let begin = || |out: &mut String, item: &u32| *out += &format!("{item}\n");
        for count in [0, 1, 2, 1023, 50_001] {
            let items: Vec<u32> = (0..count).collect();
            let (mut parts, mut whole) = (String::new(), String::new());
            text(&items, 1 << 10, begin, |piece| parts += piece);
            items.iter().for_each(|item| begin()(&mut whole, item));
            assert_eq!(parts, whole);
        }
    }
}
