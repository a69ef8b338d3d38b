//! What version 101 of the set for shaders adds, described again.

use eitri::model::TypeKind;
use eitri::spirv::{Field, Name, raise, read};
use eitri::target::Target;

use crate::assemble::assemble;
use crate::shader101;

/// What version 101 adds, and a matrix: described, or listed.
#[test]
fn types_of_shaders() {
    let words = assemble(&shader101()).words;
    let facts = read(&words).expect("reads");
    let raised = raise(&facts, &Target::x86_64()).expect("is raised");
    let of = |name: Name| facts.iter().find(|fact| fact.name() == Some(name)).expect("is there").at;
    let left = |word: usize| -> Vec<&str> {
        let of_it = raised.left_out.iter().filter(|left| left.at.word == Some(word));
        of_it.map(|left| left.what.as_str()).collect()
    };
    let kinds = || raised.module.types().map(|(_, ty)| ty.kind());
    let is_matrix =
        |kind: &&TypeKind| matches!(kind, TypeKind::Matrix { count: 4, is_column_major: true, .. });
    assert_eq!((kinds().filter(is_matrix).count(), left(of(Name::TypeMatrix))), (1, vec![]));
    // It is as long as a specialization constant says.
    assert_eq!(left(of(Name::TypeVectorId)), ["it is not described: its length is not known"]);
    let is_opaque = |kind: &&TypeKind| matches!(kind, TypeKind::Unspecified { .. });
    assert!(kinds().any(|kind| is_opaque(&kind)));
    let what = "only that it is a type is described: which invocation has what of it is not known";
    assert_eq!(left(of(Name::TypeCooperativeMatrix)), [what]);
    let basic = facts.iter().find(|fact| fact.operand(Field::FpEncoding).is_some()).expect("is there").at;
    assert_eq!(left(basic), ["only its name is described, and not that it is a number of Float8E4M3EXT"]);
    assert_eq!(raised.binding.build_id(), Some(("0123456789abcdef0123456789abcdef", true)));
    assert_eq!(raised.binding.stored_at(), Some("debug/a.spv"));

    let long = shader101().replace("%float %spec\n", "%float %u8\n");
    let words = assemble(&long).words;
    let raised = raise(&read(&words).expect("reads"), &Target::x86_64()).expect("is raised");
    let mut kinds = raised.module.types().map(|(_, ty)| ty.kind());
    assert!(kinds.any(|kind| matches!(kind, TypeKind::Vector { count: 8, .. })));
    assert!(raised.left_out.iter().any(|left| left.what == "that its length is an id"));
}
