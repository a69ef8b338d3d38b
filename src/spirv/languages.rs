//! Source languages (core specification, section 3.2) and the equivalent DWARF languages.

use super::{Enumeration, Set};
use crate::model::{CompileUnit, Language};

/// Names in the core specification and in version 200 of `NonSemantic.Shader.DebugInfo`, with the DWARF language. DWARF
/// lacks `HERO_C`, `NZSL`, `WGSL`, `Slang`, `Pred` and `ApilaJai`.
const LANGUAGES: [(&str, Language); 28] = [
    ("ESSL", Language::GLSL_ES),
    ("GLSL", Language::GLSL),
    ("OpenCL_C", Language::OPENCL_C),
    ("OpenCL_CPP", Language::OPENCL_CPP),
    ("HLSL", Language::HLSL),
    ("CPP_for_OpenCL", Language::CPP_FOR_OPENCL),
    ("SYCL", Language::SYCL),
    ("Zig", Language::ZIG),
    ("Rust", Language::RUST),
    ("Python", Language::PYTHON),
    ("Julia", Language::JULIA),
    ("D", Language::D),
    ("Fortran77", Language::FORTRAN77),
    ("Fortran90", Language::FORTRAN90),
    ("Fortran95", Language::FORTRAN95),
    ("Fortran2003", Language::FORTRAN03),
    ("Fortran2008", Language::FORTRAN08),
    ("Fortran2018", Language::FORTRAN18),
    ("C", Language::C),
    ("C99", Language::C99),
    ("C11", Language::C11),
    ("C17", Language::C17),
    ("CPP", Language::CPP),
    ("CPP03", Language::CPP03),
    ("CPP11", Language::CPP11),
    ("CPP14", Language::CPP14),
    ("CPP17", Language::CPP17),
    ("CPP20", Language::CPP20),
];

/// Returns a DWARF language's number in a set.
pub fn number(language: Language, set: Set) -> Option<u32> {
    let (name, _) = LANGUAGES.into_iter().find(|(_, it)| *it == language)?;
    // Version 200 numbers a core language again, and its readers know only the new number, which comes last.
    Enumeration::Language.entries(set).filter(|&(_, it)| it == name).last().map(|(number, _)| number)
}

/// Returns the DWARF language for a number in a set.
pub fn language(number: u32, set: Set) -> Option<Language> {
    let name = Enumeration::Language.name(number, set)?;
    LANGUAGES.into_iter().find(|(it, _)| *it == name).map(|(_, language)| language)
}

/// Whether functions of a unit can lack a prototype, by the language that the set has for the unit.
pub fn has_prototypes(unit: &CompileUnit, set: Set) -> bool {
    unit.has_prototypes() && unit.language.is_some_and(|language| number(language, set).is_some())
}
