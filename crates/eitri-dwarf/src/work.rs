//! Steps of work, counted in debug builds for tests: unlike times, they are equal on all machines.

#[cfg(debug_assertions)]
std::thread_local! {
    static STEPS: core::cell::Cell<u64> = const { core::cell::Cell::new(0) };
}

/// Counts a step: an entry, a rule or an instruction that is visited.
#[inline]
pub fn step() {
    #[cfg(debug_assertions)]
    STEPS.set(STEPS.get() + 1);
}

/// Returns the number of steps that `run` takes in this thread.
#[cfg(debug_assertions)]
pub fn steps(run: impl FnOnce()) -> u64 {
    let before = STEPS.get();
    run();
    STEPS.get() - before
}
