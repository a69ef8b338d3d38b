//! Source languages: section 3.2 of the core specification, and the languages of DWARF that they are.

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

/// Returns the number of a language of DWARF.
pub fn number(language: Language) -> Option<u32> {
    LANGUAGES.iter().find(|(_, it)| *it == language).map(|&(number, _)| number)
}

/// Returns DWARF's language of a number.
pub fn language(number: u32) -> Option<Language> {
    LANGUAGES.iter().find(|(it, _)| *it == number).map(|&(_, language)| language)
}
