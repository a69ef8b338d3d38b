//! Names that are like a word that is not one of them.

/// The number of equally near names that are suggested at most. If more are as near, none is.
const MOST: usize = 3;
/// Changes of one character that separate a word from a name which is suggested for it.
const FARTHEST: usize = 3;

/// The end of a message about a word: `; did you mean ...?`, empty if no name is like it.
///
/// The nearest names are those with the fewest changes (a character more, less, other, or two exchanged), without
/// regard to case and to characters that are neither letters nor digits.
#[cold]
pub(crate) fn suggestion<N: AsRef<str>>(word: &str, names: impl IntoIterator<Item = N>) -> String {
    let plain = plain(word);
    let most = (plain.len() / 3).clamp(1, FARTHEST);
    let (mut nearest, mut found) = (most, Vec::new());
    for name in names {
        let (name, other) = (name.as_ref(), self::plain(name.as_ref()));
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
    meant(if found.len() > MOST { &[] } else { &found })
}

/// The end of a message that suggests these names.
#[cold]
pub(crate) fn meant(names: &[impl AsRef<str>]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{}`", name.as_ref())).collect();
    match quoted.is_empty() {
        true => String::new(),
        false => format!("; did you mean {}?", quoted.join(" or ")),
    }
}

/// The letters and digits, in lower case. Of a longer word only the beginning: no name is so long.
fn plain(word: &str) -> String {
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
        // None of many is meant.
        assert_eq!(suggestion("s1", ["s0", "s2", "s3", "s4"]), "");
        assert_eq!(suggestion("s1", ["s0", "s2", "s0"]), "; did you mean `s0` or `s2`?");
    }
}
