//! Numbers in fields that have relocations.

/// Returns a file of 64-bit ELF, least significant byte first, with other numbers in the fields of debug sections that have
/// a relocation with an addend, and the number of fields. `number` is called with the addend.
pub fn with_fields(object: &[u8], number: impl Fn(u64) -> u64) -> (Vec<u8>, usize) {
    let word = |at: usize| u64::from_le_bytes(object[at..at + 8].try_into().expect("8 bytes"));
    let half = |at: usize| u32::from_le_bytes(object[at..at + 4].try_into().expect("4 bytes")) as usize;
    let short = |at: usize| usize::from(u16::from_le_bytes([object[at], object[at + 1]]));
    let header = |index: usize| word(0x28) as usize + 64 * index;
    let names = word(header(short(0x3e)) + 24) as usize;
    let mut changed = object.to_vec();
    let mut count = 0;
    // SHT_RELA.
    for relocations in (0..short(0x3c)).map(header).filter(|at| half(at + 4) == 4) {
        let target = header(half(relocations + 44));
        if !object[names + half(target)..].starts_with(b".debug_") {
            continue;
        }
        let start = word(relocations + 24) as usize;
        for at in (start..start + word(relocations + 32) as usize).step_by(24) {
            // R_CUDA_32 and R_CUDA_64, R_AMDGPU_ABS64 and _ABS32.
            let bytes = match (short(0x12), half(at + 8)) {
                (190, 1) | (224, 6) => 4,
                (190, 2) | (224, 3) => 8,
                other => panic!("a relocation of another type: {other:?}"),
            };
            let field = (word(target + 24) + word(at)) as usize;
            changed[field..field + bytes].copy_from_slice(&number(word(at + 16)).to_le_bytes()[..bytes]);
            count += 1;
        }
    }
    (changed, count)
}
