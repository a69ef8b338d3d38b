//! Suggestions of known names for a misspelled word.

/// Maximum number of equally near names to suggest; more give no suggestion.
const MOST: usize = 3;
/// Maximum number of changed characters between a word and a suggestion.
const FARTHEST: usize = 3;

/// Returns the end of a message about an unknown word: `; did you mean ...?`, or nothing if no name is similar.
#[cfg(any(feature = "json", test))]
#[cold]
pub(crate) fn suggestion<N: AsRef<str>>(word: &str, names: impl IntoIterator<Item = N>) -> String {
    suggestion_of(&nearest(word, names))
}

/// Returns the known names nearest to an unknown word, if they are similar and few.
///
/// The nearest names have the fewest changes (a character inserted, deleted, replaced, or two exchanged), ignoring case
/// and all characters other than letters and digits.
#[cold]
pub(crate) fn nearest<N: AsRef<str>>(word: &str, names: impl IntoIterator<Item = N>) -> Vec<String> {
    let plain = folded(word);
    let most = (plain.len() / 3).clamp(1, FARTHEST);
    let (mut nearest, mut found) = (most, Vec::new());
    for name in names {
        let (name, other) = (name.as_ref(), self::folded(name.as_ref()));
        if plain.is_empty() || plain.len().abs_diff(other.len()) > nearest {
            continue;
        }
        let distance = strsim::osa_distance(&plain, &other);
        if distance < nearest {
            (nearest, found) = (distance, Vec::new());
        }
        if distance == nearest && !found.iter().any(|known| known == name) {
            found.push(name.to_owned());
        }
    }
    if found.len() > MOST { Vec::new() } else { found }
}

/// Returns the end of a message that suggests these names.
#[cold]
pub(crate) fn suggestion_of(names: &[impl AsRef<str>]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{}`", name.as_ref())).collect();
    match quoted.is_empty() {
        true => String::new(),
        false => format!("; did you mean {}?", quoted.join(" or ")),
    }
}

/// Returns the first 64 letters and digits, in lower case: names are shorter.
fn folded(word: &str) -> String {
    word.chars().filter(|char| char.is_alphanumeric()).take(64).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::suggestion;

    #[test]
    fn the_nearest_are_suggested() {
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
