//! Source languages: section 3.2 of the core specification, and the languages of DWARF that they are.

use super::Set;
use crate::model::Language;

/// Numbers of the core specification, with DWARF's language. DWARF lacks `HERO_C`, `NZSL`, `WGSL` and `Slang`.
const LANGUAGES: [(u32, Language); 9] = [
    (1, Language::GLSL_ES),
    (2, Language::GLSL),
    (3, Language::OPENCL_C),
    (4, Language::OPENCL_CPP),
    (5, Language::HLSL),
    (6, Language::CPP_FOR_OPENCL),
    (7, Language::SYCL),
    (12, Language::ZIG),
    (13, Language::RUST),
];

/// Numbers that version 200 of `NonSemantic.Shader.DebugInfo` adds.
const LATER: [(u32, Language); 20] = [
    (200, Language::PYTHON),
    (201, Language::JULIA),
    (202, Language::RUST),
    (203, Language::D),
    (204, Language::FORTRAN77),
    (205, Language::FORTRAN90),
    (206, Language::FORTRAN95),
    (207, Language::FORTRAN03),
    (208, Language::FORTRAN08),
    (209, Language::FORTRAN18),
    (210, Language::C),
    (211, Language::C99),
    (212, Language::C11),
    (213, Language::C17),
    (214, Language::CPP),
    (215, Language::CPP03),
    (216, Language::CPP11),
    (217, Language::CPP14),
    (218, Language::CPP17),
    (219, Language::CPP20),
];

/// Numbers of a set, those that it adds first: its readers know no other number of the language.
fn of(set: Set) -> impl Iterator<Item = (u32, Language)> {
    let later: &[_] = if set == Set::Shader200 { &LATER } else { &[] };
    later.iter().chain(&LANGUAGES).copied()
}

/// Returns the number of a language of DWARF in a set.
pub fn number(language: Language, set: Set) -> Option<u32> {
    of(set).find(|(_, it)| *it == language).map(|(number, _)| number)
}

/// Returns DWARF's language of a number in a set.
pub fn language(number: u32, set: Set) -> Option<Language> {
    of(set).find(|(it, _)| *it == number).map(|(_, language)| language)
}
