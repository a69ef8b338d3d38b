//! Hash function for names: DWARF 5 section 7.33.

/// Name hash, case-folded, encoded as UTF-8.
pub(super) fn hash(name: &str) -> u32 {
    let mut hash = 5381u32;
    let mut add = |byte: u8| hash = hash.wrapping_mul(33).wrapping_add(byte.into());
    if name.is_ascii() {
        name.bytes().for_each(|byte| add(byte.to_ascii_lowercase()));
    } else {
        for char in name.chars() {
            fold(char).encode_utf8(&mut [0; 4]).bytes().for_each(&mut add);
        }
    }
    hash
}

/// Simple case folding (status C and S of Unicode's `CaseFolding.txt`), except for `İ` and `ı` of Turkish, which the
/// section folds to `i`.
fn fold(char: char) -> char {
    match char {
        '\u{130}' | '\u{131}' => 'i',
        _ => unicode_case_mapping::case_folded(char)
            .and_then(|folded| char::from_u32(folded.get()))
            .unwrap_or(char),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_ascii_by_hand() {
        assert_eq!(hash(""), 5381);
        // 5381 * 33 + 97
        assert_eq!(hash("a"), 177_670);
        assert_eq!(hash("A"), 177_670);
        // 177670 * 33 + 98
        assert_eq!(hash("aB"), 5_863_208);
        // 5863208 * 33 + 95
        assert_eq!(hash("ab_"), 193_485_959);
        // 193485959 * 33 + 49 = 6385036696, minus 2^32.
        assert_eq!(hash("ab_1"), 2_090_069_400);
        // Only letters are folded.
        assert_ne!(hash("["), hash("{"));
    }

    #[test]
    fn of_other_letters() {
        let same = [
            ("İ", "i"),
            ("ı", "I"),
            ("É", "é"),
            // A final sigma folds to a sigma, a long s to an s.
            ("Σ", "ς"),
            ("ſ", "S"),
            // Simple folding maps one character to one.
            ("ẞ", "ß"),
            ("\u{10400}", "\u{10428}"),
            // KELVIN SIGN
            ("\u{212a}", "k"),
        ];
        for (one, other) in same {
            assert_eq!(hash(one), hash(other), "{one} {other}");
        }
        assert_ne!(hash("ß"), hash("ss"));
        // U+00E9 is c3 a9: (5381 * 33 + 0xc3) * 33 + 0xa9
        assert_eq!(hash("É"), 5_866_513);
    }
}
