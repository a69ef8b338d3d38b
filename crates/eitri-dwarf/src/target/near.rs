//! Errors for unknown target, register and space names, with suggestions of similar names.

use super::{Gfx, Reg, RegisterNames, Target, Wave};
use crate::error::{Error, ErrorKind};
use crate::near;

/// Returns the error for an unknown target name. Suggests the same processor with each wave size that it runs, or else the
/// nearest names.
pub(super) fn unknown_target(name: &str) -> Error {
    let lower = name.to_ascii_lowercase();
    let rest = lower.strip_prefix("amdgpu-").unwrap_or(&lower);
    let (processor, wave) = match rest.rsplit_once("-wave") {
        Some((processor, lanes)) => {
            (processor, Wave::ALL.into_iter().find(|w| lanes == w.lanes().to_string()))
        }
        None => (rest, None),
    };
    let nearest = match Gfx::named(processor) {
        Some(gfx) => targets(gfx, wave),
        None => near::nearest(name, Target::all().map(|target| target.name().to_owned())),
    };
    ErrorKind::UnknownTarget { name: name.into(), nearest }.into()
}

/// Returns the names of a processor's targets: only with this wave size if the processor runs it, or else with each.
fn targets(gfx: Gfx, wave: Option<Wave>) -> Vec<String> {
    let wave = wave.filter(|wave| gfx.runs(*wave));
    let waves = Wave::ALL.into_iter().filter(|size| wave.is_none_or(|wave| wave == *size) && gfx.runs(*size));
    waves.map(|wave| target_name(gfx, wave)).collect()
}

fn target_name(gfx: Gfx, wave: Wave) -> String {
    format!("amdgpu-{}-wave{}", gfx.name(), wave.lanes())
}

/// Returns the error for a wave size that a processor does not run.
pub(super) fn unknown_wave(gfx: Gfx, wave: Wave) -> Error {
    ErrorKind::UnknownTarget { name: target_name(gfx, wave), nearest: targets(gfx, Some(wave)) }.into()
}

/// Returns the error for an unknown address space name.
pub(super) fn unknown_space(target: &Target, name: &str) -> Error {
    let nearest = near::nearest(name, target.spaces().iter().map(|space| &space.name));
    missing_space(target, name, nearest)
}

fn missing_space(target: &Target, name: &str, nearest: Vec<String>) -> Error {
    let known = target.spaces().iter().map(|space| space.name.to_string()).collect();
    ErrorKind::UnknownSpace { name: name.into(), target: target.name().into(), nearest, known }.into()
}

impl Target {
    /// Returns the error for an unknown register number.
    #[doc(hidden)]
    pub fn unknown_register(&self, Reg(number): Reg) -> Error {
        ErrorKind::UnknownRegister {
            name: number.to_string(),
            target: self.name().into(),
            nearest: Vec::new(),
            bounds: None,
        }
        .into()
    }

    /// Returns the error for an unknown address space number, or a name that only other targets have.
    #[doc(hidden)]
    pub fn unknown_space(&self, name: &str) -> Error {
        missing_space(self, name, Vec::new())
    }
}

/// Register prefixes in assemblers and manuals, with the prefixes used here.
const LONG: [(&str, &str); 4] = [("sgpr", "s"), ("vgpr", "v"), ("agpr", "a"), ("accvgpr", "a")];

/// Returns the error for an unknown register name. Suggests the register in another spelling (`S4`, `sgpr4`, `v[3]`,
/// `%rax`), or the first and last register if only the number is wrong, or else the nearest names.
pub(super) fn unknown_register(target: &Target, name: &str) -> Error {
    let plain: String = name.chars().filter(|char| char.is_ascii_alphanumeric() || *char == '_').collect();
    let plain = plain.to_ascii_lowercase();
    let short = LONG.iter().find_map(|(long, short)| {
        let digits = plain.strip_prefix(long)?.trim_start_matches('_');
        is_number(digits).then(|| format!("{short}{digits}"))
    });
    let plain = short.unwrap_or(plain);
    let listed = target.0.registers.iter().flat_map(|range| match &range.names {
        RegisterNames::Individual(names) => &names[..],
        RegisterNames::Numbered { .. } | RegisterNames::Packed { .. } => &[],
    });
    let (nearest, bounds) = match (target.find(&plain), numbered(target, &plain)) {
        (Some(_), _) => (vec![plain], None),
        (None, Some(bounds)) => (Vec::new(), Some(bounds)),
        (None, None) => (near::nearest(name, listed), None),
    };
    ErrorKind::UnknownRegister { name: name.into(), target: target.name().into(), nearest, bounds }.into()
}

fn is_number(digits: &str) -> bool {
    !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
}

/// Returns the first and last register with a name's prefix.
fn numbered(target: &Target, name: &str) -> Option<(String, String)> {
    let letters = name.trim_end_matches(|char: char| char.is_ascii_digit());
    let bounds = target.0.registers.iter().filter_map(|range| match &range.names {
        RegisterNames::Numbered { prefix, first } if prefix == letters => {
            Some((*first, first + range.count - 1))
        }
        _ => None,
    });
    let (first, last) = bounds.reduce(|(first, last), (from, to)| (first.min(from), last.max(to)))?;
    is_number(&name[letters.len()..]).then(|| (format!("{letters}{first}"), format!("{letters}{last}")))
}
