//! Peak memory and number of allocations.

#![allow(unsafe_code, reason = "an allocator cannot be written without")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering::Relaxed};

/// The system's allocator with counters, which are enabled on demand: counting slows down the side with more
/// allocations.
pub struct Counting;

static IS_COUNTING: AtomicBool = AtomicBool::new(false);
static LIVE: AtomicIsize = AtomicIsize::new(0);
static PEAK: AtomicIsize = AtomicIsize::new(0);
static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

fn count(bytes: isize) {
    if IS_COUNTING.load(Relaxed) {
        if bytes > 0 {
            ALLOCATIONS.fetch_add(1, Relaxed);
        }
        let live = LIVE.fetch_add(bytes, Relaxed) + bytes;
        PEAK.fetch_max(live, Relaxed);
    }
}

// SAFETY: every call is passed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        count(bytes as isize - layout.size() as isize);
        unsafe { System.realloc(at, layout, bytes) }
    }
}

/// Memory use of a run.
pub struct Peak {
    /// Maximum number of bytes in use.
    pub peak: usize,
    /// Number of bytes written.
    pub written: usize,
    /// Number of allocations and reallocations.
    #[allow(dead_code, reason = "some count bytes only")]
    pub allocations: usize,
}

impl Peak {
    /// Peak memory per byte written.
    pub fn ratio(&self) -> f64 {
        self.peak as f64 / self.written as f64
    }
}

/// Memory use of `run`, which returns the number of bytes it wrote.
pub fn peak_of(run: impl FnOnce() -> usize) -> Peak {
    LIVE.store(0, Relaxed);
    PEAK.store(0, Relaxed);
    ALLOCATIONS.store(0, Relaxed);
    IS_COUNTING.store(true, Relaxed);
    let written = run();
    IS_COUNTING.store(false, Relaxed);
    Peak { peak: PEAK.load(Relaxed) as usize, written, allocations: ALLOCATIONS.load(Relaxed) }
}

/// Number of allocations and reallocations of `run`.
#[allow(dead_code, reason = "some count bytes only")]
pub fn allocations_of(run: impl FnOnce()) -> usize {
    ALLOCATIONS.store(0, Relaxed);
    IS_COUNTING.store(true, Relaxed);
    run();
    IS_COUNTING.store(false, Relaxed);
    ALLOCATIONS.load(Relaxed)
}
