//! Text for many items, written on several threads.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};

use super::threads::threads;

/// Number of lines in a piece.
const PIECE: usize = 1 << 8;

/// Passes the items' text, in order, to a function in pieces for consecutive items, which several threads write.
/// `lines` is about the number of lines; `begin` creates a thread's printer.
pub fn text<T: Sync, P: FnMut(&mut String, &T)>(
    items: &[T],
    lines: usize,
    begin: impl Fn() -> P + Sync,
    mut take: impl FnMut(&str),
) {
    let size = items.len().div_ceil(lines.div_ceil(PIECE).max(1)).max(1);
    let pieces: Vec<&[T]> = items.chunks(size).collect();
    let threads = threads().min(pieces.len());
    if threads < 2 {
        let mut print = begin();
        let mut text = String::new();
        for piece in pieces {
            piece.iter().for_each(|item| print(&mut text, item));
            take(&text);
            text.clear();
        }
        return;
    }
    let next = AtomicUsize::new(0);
    // Memory from texts that were taken: releasing memory that another thread allocated would wait for that thread's
    // allocations.
    let spare = Mutex::new(Vec::<String>::new());
    let spare = || spare.lock().unwrap_or_else(PoisonError::into_inner);
    // Makes the next piece, and returns it with its index.
    let make = |print: &mut P| {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let piece = pieces.get(index)?;
        let mut text = spare().pop().unwrap_or_default();
        piece.iter().for_each(|item| print(&mut text, item));
        Some((index, text))
    };
    let (send, made) = mpsc::channel();
    rayon::in_place_scope(|scope| {
        for send in (1..threads).map(|_| send.clone()) {
            let make = &make;
            let begin = &begin;
            scope.spawn(move |_| {
                let mut print = begin();
                while let Some(piece) = make(&mut print) {
                    // The receiver is there until all pieces are.
                    let _ = send.send(piece);
                }
            });
        }
        drop(send);
        let mut print = begin();
        let mut waiting = BTreeMap::new();
        let mut taken = 0;
        // A thread that has not begun writes no piece.
        while taken < pieces.len() {
            let Some((index, text)) = make(&mut print).or_else(|| made.recv().ok()) else { break };
            waiting.insert(index, text);
            waiting.extend(made.try_iter());
            while let Some(mut text) = waiting.remove(&taken) {
                take(&text);
                taken += 1;
                text.clear();
                spare().push(text);
            }
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
            let mut parts = String::new();
            let mut whole = String::new();
            text(&items, 1 << 10, begin, |piece| parts += piece);
            items.iter().for_each(|item| begin()(&mut whole, item));
            assert_eq!(parts, whole);
        }
    }
}
