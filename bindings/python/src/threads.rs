//! The library's threads in a Python process.

use std::num::NonZero;
use std::sync::OnceLock;

use rayon::ThreadPoolBuilder;

/// Returns the number of threads for a call: the requested number, or the number that the system runs at a time. The
/// first call starts rayon's global pool.
///
/// A process that Python forks has the pool without its threads, so that it would wait for ever: it gets a single
/// thread.
pub fn threads(requested: Option<usize>) -> usize {
    static POOL: OnceLock<(u32, usize)> = OnceLock::new();
    if requested.is_some_and(|requested| requested < 2) {
        return 1;
    }
    let (process, threads) = *POOL.get_or_init(|| {
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
        let is_started =
            threads == 1 || ThreadPoolBuilder::new().num_threads(threads - 1).build_global().is_ok();
        (std::process::id(), if is_started { threads } else { 1 })
    });
    if process == std::process::id() { requested.unwrap_or(threads).min(threads) } else { 1 }
}
