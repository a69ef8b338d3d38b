//! Writing texts, and finding their lines.

/// Writes a number. Formatting would take most of a section's time.
pub(super) fn decimal(out: &mut String, number: u64) {
    out.push_str(itoa::Buffer::new().format(number));
}

/// Number of decimal digits.
pub(super) const fn digits(number: u64) -> usize {
    match number {
        0..10 => 1,
        10..100 => 2,
        100..1000 => 3,
        _ => 3 + digits(number / 1000),
    }
}

/// Returns a line's start if only blanks are between it and an offset. The search stays within the blanks, because a
/// text can be one long line.
pub(super) fn line_start(text: &str, at: usize) -> Option<usize> {
    let before = text[..at].trim_end_matches([' ', '\t', '\r', '\x0c']);
    (before.is_empty() || before.ends_with('\n')).then_some(before.len())
}
