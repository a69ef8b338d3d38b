//! SPIR-V modules: debug instructions added and removed.

use std::path::Path;

use eitri::error::{ErrorKind, Present};
use eitri::model::Module;
use eitri::omission::Omission;
use eitri::spirv::{self, Binding, Checked, DescribedModule, Mode, Source};

use super::{Failure, input, of};

/// A module to be described, and the caller's knowledge of it.
pub struct Request<'r> {
    pub module: &'r Path,
    pub reader: Option<&'r str>,
    pub source: Option<&'r Path>,
    pub language: Option<u32>,
    pub replace: bool,
}

/// A module with debug instructions.
pub struct Attached {
    pub bytes: Vec<u8>,
    pub omissions: Vec<Omission>,
    pub checked: Checked,
}

/// Describes a module and attaches the description.
pub fn attach(request: &Request<'_>) -> Result<Attached, Failure> {
    let file = request.module;
    let words = words(file)?;
    if let Some(name) = debug_set(&words).map_err(of(file))?.filter(|_| !request.replace) {
        let what = Present::Instructions(name);
        let there = of(file)(ErrorKind::AlreadyPresent(what).into());
        return Err(there.and("--replace removes them first"));
    }
    let text = |path: &Path| {
        String::from_utf8(input(path)?)
            .map_err(|_| of(path)(ErrorKind::BadArgument("a source is text in UTF-8".into()).into()))
    };
    let source = Source {
        path: request.source.map(|path| path.display().to_string()),
        text: request.source.map(text).transpose()?,
        language: request.language,
    };
    let described = spirv::describe(&words, &source).map_err(of(file))?;
    drop(words);
    let DescribedModule { words, module, binding, mut omissions, .. } = described;
    let mode = mode(request.reader, &module)?;
    let attached = spirv::attach(&words, &module, &binding, &mode).map_err(of(file))?;
    drop(words);
    let checked = attached.check(&module, &binding, &mode).map_err(of(file))?;
    omissions.extend(attached.omissions);
    Ok(Attached { bytes: bytes(&attached.words), omissions, checked })
}

/// The name of a set of debug instructions, known or not, that a module has instructions of.
fn debug_set(words: &[u32]) -> eitri::Result<Option<String>> {
    let facts = spirv::read(words)?;
    let known = facts.iter().next().map(|fact| fact.set.name().to_owned());
    Ok(known.or_else(|| facts.layout().unknown_sets().map(|(_, name, _)| name.to_owned()).next()))
}

/// Attaches a description with its binding to a module.
pub fn emit(description: &Path, module: &Path, reader: Option<&str>) -> Result<Attached, Failure> {
    let words = words(module)?;
    let (described, binding) = Binding::from_json(input(description)?, &words).map_err(of(description))?;
    let mode = mode(reader, &described)?;
    let attached = spirv::attach(&words, &described, &binding, &mode).map_err(of(module))?;
    let checked = attached.check(&described, &binding, &mode).map_err(of(module))?;
    Ok(Attached { bytes: bytes(&attached.words), omissions: attached.omissions, checked })
}

/// The mode of a reader; without one, that of the target.
fn mode(reader: Option<&str>, described: &Module) -> Result<Mode, Failure> {
    Ok(match reader {
        Some(name) => Mode::named(name)?,
        None if described.target().is_shader() => Mode::vulkan(),
        None => Mode::opencl(),
    })
}

/// The words of the module in a file.
pub fn words(file: &Path) -> Result<Vec<u32>, Failure> {
    spirv::from_bytes(&input(file)?).map_err(of(file))
}

/// Words as bytes, the least significant one first.
pub fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
