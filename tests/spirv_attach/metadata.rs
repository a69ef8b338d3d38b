//! Metadata of the module itself: emitted, refused, and read back.

use eitri::spirv::{Binding, Mode, Set, import, print, read, validate};
use pretty_assertions::assert_eq;

use crate::spirv_attach::support::Case;

const DIGITS: &str = "00112233445566778899aabbccddeeff0";

fn bound_with(case: &Case, may_be_shared: bool) -> Binding {
    let mut binding = case.bound();
    binding.build_identifier(DIGITS, may_be_shared).storage_path("debug/a.spv");
    binding
}

#[test]
fn supported_metadata_is_written_and_read_back() {
    let case = Case::new();
    for may_be_shared in [false, true] {
        let attached = case.attach(&bound_with(&case, may_be_shared), &Mode::exact(Set::Shader));
        assert_eq!(attached.detach().expect("is whole"), case.words);
        let facts = read(&attached.words).expect("reads");
        assert!(validate(&facts).is_clean());
        let text = print(&facts, Default::default());
        let flags = if may_be_shared { "IdentifierPossibleDuplicates" } else { "None" };
        let is_there =
            |one: &str, other: &str| text.lines().any(|it| it.contains(one) && it.ends_with(other));
        assert!(is_there(&format!("{DIGITS:?}"), &format!("({flags})")), "{text}");
        assert!(is_there("DebugStoragePath", "\"debug/a.spv\""), "{text}");
        assert!(
            attached
                .check(&case.module, &bound_with(&case, may_be_shared), &Mode::exact(Set::Shader))
                .expect("is read")
                .differences
                .is_empty()
        );
        let other =
            attached.check(&case.module, &bound_with(&case, !may_be_shared), &Mode::exact(Set::Shader));
        assert_eq!(other.expect("is read").differences.len(), 1);
        let imported = import(&facts, case.module.target()).expect("is imported");
        assert_eq!(imported.binding.build_id(), Some((DIGITS, may_be_shared)));
        assert_eq!(imported.binding.stored_at(), Some("debug/a.spv"));
    }
}

#[test]
fn unsupported_metadata_is_listed() {
    let case = Case::new();
    let left = |binding: &Binding| -> Vec<String> {
        let attached = case.attach(binding, &Mode::exact(Set::OpenCl));
        attached.omissions.iter().map(|left| left.to_string()).collect()
    };
    let before = left(&case.bound());
    let mut after = left(&bound_with(&case, false));
    after.retain(|what| !before.contains(what));
    let expected = [
        "the module: build identifier: no operand encodes this",
        "the module: storage path: no operand encodes this",
    ];
    assert_eq!(after, expected);
}

#[test]
fn invalid_identifiers_and_paths_are_refused() {
    let case = Case::new();
    let with = |say: &dyn Fn(&mut Binding)| {
        let mut binding = case.bound();
        say(&mut binding);
        case.refused(&binding)
    };
    for digits in
        ["", "0011223344556677", "00112233445566778899AABBCCDDEEFF", "00112233445566778899aabbccddeef "]
    {
        assert_eq!(
            with(&|it| _ = it.build_identifier(digits, false)),
            format!("the build identifier {digits:?} is not 32 or more lowercase hexadecimal digits"),
        );
    }
    assert_eq!(with(&|it| _ = it.storage_path("a\0b")), "the storage path \"a\\0b\" contains a zero byte");
}
