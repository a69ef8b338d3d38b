//! Source languages: a number `DW_LANG_*`, or the name without the prefix. [`name`] is the table for both directions.

use super::values::Named;
use crate::error::{self, ErrorKind, Result};
use crate::model::Language;

/// Reads a language.
pub(super) fn read(language: &Named<'_>) -> Result<Language> {
    let languages = || (0..=u16::MAX).map(Language);
    let (language, text) = match language {
        Named::Number(number) => (u16::try_from(*number).ok().map(Language), number.to_string()),
        Named::Text(text) => (languages().find(|&known| name(known) == Some(&**text)), text.to_string()),
    };
    language.ok_or_else(|| {
        let nearest = crate::near::nearest(&text, languages().filter_map(name));
        ErrorKind::UnknownName { kind: error::Named::Language, name: text, nearest }.into()
    })
}

/// Writes a language.
pub(super) fn write(language: Language) -> Named<'static> {
    name(language).map_or(Named::Number(language.0.into()), |name| Named::Text(name.into()))
}

/// Returns a language's name, without the prefix.
fn name(language: Language) -> Option<&'static str> {
    let known = gimli::DwLang(language.0).static_string().and_then(|name| name.strip_prefix("DW_LANG_"));
    // Languages newer than DWARF 5 have the registry's names.
    known.or_else(|| NEWER.iter().find(|&&(newer, _)| newer == language).map(|&(_, name)| name))
}

const NEWER: &[(Language, &str)] = &[
    (Language::HIP, "HIP"),
    (Language::ASSEMBLY, "Assembly"),
    (Language::C_SHARP, "C_sharp"),
    (Language::MOJO, "Mojo"),
    (Language::GLSL, "GLSL"),
    (Language::GLSL_ES, "GLSL_ES"),
    (Language::HLSL, "HLSL"),
    (Language::OPENCL_CPP, "OpenCL_CPP"),
    (Language::CPP_FOR_OPENCL, "CPP_for_OpenCL"),
    (Language::SYCL, "SYCL"),
    (Language::METAL, "Metal"),
];
