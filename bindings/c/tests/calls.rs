//! Random calls of the C functions.

mod fuzz;

/// The next number of a sequence: xorshift.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[test]
fn any_calls_end_in_results() {
    let mut state = 0x9e37_79b9_7f4a_7c15;
    let mut successes = [0; fuzz::FUNCTIONS];
    for _ in 0..2000 {
        let size = 16 + next(&mut state) % 1200;
        let data: Vec<u8> = (0..size).map(|_| next(&mut state) as u8).collect();
        for (all, new) in successes.iter_mut().zip(fuzz::call_any(&data)) {
            *all += new;
        }
    }
    // Each function succeeds as well; attaching needs code, which no call makes.
    let never: Vec<usize> = (0..successes.len()).filter(|&function| successes[function] == 0).collect();
    assert_eq!(never, [10], "{successes:?}");
}
