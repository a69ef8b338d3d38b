//! How much memory is in use at most, and how often it is asked for.

#![allow(unsafe_code, reason = "an allocator cannot be written without")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering::Relaxed};

/// The system's allocator, which counts when it is told to: counting costs the side that allocates most.
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

// SAFETY: every call goes to the system's allocator as it came.
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

/// What a run took.
pub struct Peak {
    /// Bytes in use at most, at once.
    pub peak: usize,
    /// Bytes written.
    pub written: usize,
}

impl Peak {
    /// How many bytes were in use for each that was written.
    pub fn ratio(&self) -> f64 {
        self.peak as f64 / self.written as f64
    }
}

/// The most memory that is in use while `run`, which gives the number of bytes it wrote, runs.
pub fn peak_of(run: impl FnOnce() -> usize) -> Peak {
    LIVE.store(0, Relaxed);
    PEAK.store(0, Relaxed);
    IS_COUNTING.store(true, Relaxed);
    let written = run();
    IS_COUNTING.store(false, Relaxed);
    Peak { peak: PEAK.load(Relaxed) as usize, written }
}

/// How often `run` asks for memory, more of it or anew.
#[allow(dead_code, reason = "some count bytes only")]
pub fn allocations_of(run: impl FnOnce()) -> usize {
    ALLOCATIONS.store(0, Relaxed);
    IS_COUNTING.store(true, Relaxed);
    run();
    IS_COUNTING.store(false, Relaxed);
    ALLOCATIONS.load(Relaxed)
}
