//! Source languages: a number `DW_LANG_*`, or the name without the prefix. [`name`] is the table for both directions.

use std::sync::LazyLock;

use hashbrown::HashMap;

use super::values::Named;
use crate::error::{self, ErrorKind, Result};
use crate::model::Language;

/// Reads a language.
pub(super) fn read(language: &Named<'_>) -> Result<Language> {
    // Names are looked up in a table, because gimli's names are by number, and there are 65536 numbers.
    static BY_NAME: LazyLock<HashMap<&str, Language>> = LazyLock::new(|| {
        // The first language counts where two have one name.
        let languages = (0..=u16::MAX).rev().map(Language);
        languages.filter_map(|language| Some((name(language)?, language))).collect()
    });
    let (language, text) = match language {
        Named::Number(number) => (u16::try_from(*number).ok().map(Language), number.to_string()),
        Named::Text(text) => (BY_NAME.get(&**text).copied(), text.to_string()),
    };
    language.ok_or_else(|| {
        let mut names: Vec<_> = BY_NAME.iter().map(|(&name, &language)| (language.0, name)).collect();
        names.sort_unstable();
        let nearest = crate::near::nearest(&text, names.into_iter().map(|(_, name)| name));
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
