//! Compiles WGSL to SPIR-V with types, variables, scopes and lines for debuggers: `NonSemantic.Shader.DebugInfo.100`,
//! which RenderDoc and Nsight show.
//!
//! ```sh
//! cargo run -- shaders/blur.wgsl blur.spv
//! ```
//!
//! naga writes names and lines; eitri makes the debug instructions of them. Copy `compile` and `with_debug_info`.

use std::error::Error;
use std::path::Path;

use eitri::spirv::{self, Mode, ModuleSource};
use naga::back::spv;
use naga::front::wgsl;
use naga::valid::{Capabilities, ValidationFlags, Validator};

/// WGSL in SPIR-V's list of source languages.
const WGSL: u32 = 10;

/// Compiles WGSL to SPIR-V with the names and lines of the source.
fn compile(text: &str, path: &str) -> Result<Vec<u32>, Box<dyn Error>> {
    let module = wgsl::parse_str(text).map_err(|error| error.emit_to_string_with_path(text, path))?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::all())
        .validate(&module)
        .map_err(|error| error.emit_to_string_with_path(text, path))?;
    let mut options = spv::Options {
        // Vulkan 1.1 and later.
        lang_version: (1, 3),
        debug_info: Some(spv::DebugInfo {
            source_code: text,
            file_name: path,
            // Validators from before 2024 reject WGSL in an `OpSource`; the debug instructions have it.
            language: spv::SourceLanguage::Unknown,
        }),
        ..spv::Options::default()
    };
    options.flags |= spv::WriterFlags::DEBUG;
    Ok(spv::write_vec(&module, &info, &options, None)?)
}

/// Adds debug instructions, and proves them: they are read back and compared with the description.
fn with_debug_info(words: &[u32], text: &str, path: &str) -> eitri::Result<Vec<u32>> {
    let source = { let mut source = ModuleSource::default(); source.path = Some(path.into()); source.text = Some(text.into()); source.language = Some(WGSL); source };
    // A compiler that knows more changes the description and the binding here, by the ids of the output.
    let described = spirv::describe(words, &source)?;
    let mode = Mode::vulkan();
    let attached = spirv::attach(&described.words, &described.module, &described.binding, &mode)?;
    for omission in &attached.omissions {
        eprintln!("{path}: omitted: {omission}");
    }
    let checked = attached.check(&described.module, &described.binding, &mode)?;
    assert!(checked.is_clean(), "{path}: {checked}");
    Ok(attached.words)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [from, to] = &arguments[..] else { return Err("usage: wgsl-debug SHADER.wgsl OUT.spv".into()) };
    let text = std::fs::read_to_string(from)?;
    let path = std::path::absolute(Path::new(from))?;
    let path = path.to_string_lossy();
    let words = with_debug_info(&compile(&text, &path)?, &text, &path)?;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    std::fs::write(to, bytes)?;
    Ok(())
}
