//! Suggestions for misspelled words: the nearest known names.

/// Maximum number of suggested names. If more names are equally near, none is suggested, because the list would not
/// help.
const MOST: usize = 3;
/// Maximum number of changed characters between a word and a suggested name.
const FARTHEST: usize = 3;

/// Returns the end of a message about an unknown word: `; did you mean …?`, or nothing if no name is similar.
pub fn suggestion<N: AsRef<str>>(word: &str, names: impl IntoIterator<Item = N>) -> String {
    suggestion_text(&nearest(word, names))
}

/// Returns the known names that are nearest to an unknown word, if they are similar and few.
///
/// The nearest names need the fewest changes (a character inserted, deleted or replaced, or two exchanged). Case and
/// all characters other than letters and digits are ignored.
pub fn nearest<N: AsRef<str>>(word: &str, names: impl IntoIterator<Item = N>) -> Vec<String> {
    let word = folded(word);
    let mut distance = (word.len() / 3).clamp(1, FARTHEST);
    let mut nearest = Vec::new();
    for name in names {
        let name = name.as_ref();
        let other = folded(name);
        // The difference in length is a lower bound of the distance, and cheaper.
        if word.is_empty() || word.len().abs_diff(other.len()) > distance {
            continue;
        }
        let changes = strsim::osa_distance(&word, &other);
        if changes < distance {
            distance = changes;
            nearest.clear();
        }
        if changes == distance && !nearest.iter().any(|known| known == name) {
            nearest.push(name.to_owned());
        }
    }
    if nearest.len() > MOST { Vec::new() } else { nearest }
}

/// Returns the end of a message that suggests these names.
pub(crate) fn suggestion_text(names: &[impl AsRef<str>]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{}`", name.as_ref())).collect();
    if quoted.is_empty() { String::new() } else { format!("; did you mean {}?", quoted.join(" or ")) }
}

/// Returns the first 64 letters and digits in lower case. Names are shorter, so longer words are cut without loss.
fn folded(word: &str) -> String {
    word.chars().filter(|char| char.is_alphanumeric()).take(64).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::suggestion;

    #[test]
    fn the_nearest_names_are_suggested() {
        let names = ["live", "line", "lanes", "type"];
        for (word, expected) in [
            ("lvie", "; did you mean `live`?"),
            ("tpye", "; did you mean `type`?"),
            ("LIVE", "; did you mean `live`?"),
            ("li_ve", "; did you mean `live`?"),
            ("lixe", "; did you mean `live` or `line`?"),
            ("else", ""),
            ("", ""),
            ("--", ""),
            ("live live live live live", ""),
        ] {
            assert_eq!(suggestion(word, names), expected, "{word}");
        }
        // Four equally near names give no suggestion.
        assert_eq!(suggestion("s1", ["s0", "s2", "s3", "s4"]), "");
        assert_eq!(suggestion("s1", ["s0", "s2", "s0"]), "; did you mean `s0` or `s2`?");
    }
}
