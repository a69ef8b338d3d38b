//! The command's threads.

use std::num::NonZero;
use std::sync::OnceLock;

use rayon::ThreadPoolBuilder;

/// Returns the number of threads that the system runs at a time. The first call starts them: this thread, and rayon's
/// global pool.
pub fn threads() -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    *THREADS.get_or_init(|| {
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
        let is_started =
            threads == 1 || ThreadPoolBuilder::new().num_threads(threads - 1).build_global().is_ok();
        if is_started { threads } else { 1 }
    })
}
