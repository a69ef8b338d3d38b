//! Errors for unknown names of targets, registers and spaces, with suggestions of similar names.

use super::{Gfx, RegisterNames, Target, Wave};
use crate::error::{Count, Error, ErrorKind};
use crate::near::{meant, suggestion};

/// Error for an unknown name of a target. Suggests the same processor in each wave size that it runs, or else the
/// nearest names.
#[cold]
pub(super) fn unknown_target(name: &str) -> Error {
    let lower = name.to_ascii_lowercase();
    let rest = lower.strip_prefix("amdgpu-").unwrap_or(&lower);
    let (processor, wave) = match rest.rsplit_once("-wave") {
        Some((processor, lanes)) => {
            (processor, Wave::ALL.into_iter().find(|w| lanes == w.lanes().to_string()))
        }
        None => (rest, None),
    };
    let near = match Gfx::named(processor) {
        Some(gfx) => meant(&targets(gfx, wave)),
        None => suggestion(name, Target::all().map(|target| target.name().to_owned())),
    };
    ErrorKind::UnknownTarget(format!("`{name}`{near}")).into()
}

/// Returns the names of a processor's targets: only with this wave size if the processor runs it, or else with all.
fn targets(gfx: Gfx, wave: Option<Wave>) -> Vec<String> {
    let wave = wave.filter(|wave| gfx.runs(*wave));
    let waves = Wave::ALL.into_iter().filter(|one| wave.is_none_or(|wave| wave == *one) && gfx.runs(*one));
    waves.map(|wave| format!("amdgpu-{}-wave{}", gfx.name(), wave.lanes())).collect()
}

/// Error for a wave size that a processor does not run.
#[cold]
pub(super) fn unknown_wave(gfx: Gfx, wave: Wave) -> Error {
    let near = meant(&targets(gfx, Some(wave)));
    ErrorKind::UnknownTarget(format!("{} with waves of {}{near}", gfx.name(), Count(wave.lanes(), "lane")))
        .into()
}

/// Error for an unknown name of an address space.
#[cold]
pub(super) fn unknown_space(target: &Target, name: &str) -> Error {
    let near = suggestion(name, target.spaces().iter().map(|space| &space.name));
    ErrorKind::UnknownSpace(format!("`{name}` ({}){near}", target.name())).into()
}

/// Prefixes of registers in assemblers and manuals, with the prefixes used here.
const LONG: [(&str, &str); 4] = [("sgpr", "s"), ("vgpr", "v"), ("agpr", "a"), ("accvgpr", "a")];

/// Error for an unknown name of a register. Suggests the register for another spelling (`S4`, `sgpr4`, `v[3]`, `%rax`),
/// the first and last register if only the number is wrong, or else the nearest names.
#[cold]
pub(super) fn unknown_register(target: &Target, name: &str) -> Error {
    let plain: String = name.chars().filter(|char| char.is_ascii_alphanumeric() || *char == '_').collect();
    let plain = plain.to_ascii_lowercase();
    let short = LONG.iter().find_map(|(long, short)| {
        let digits = plain.strip_prefix(long)?.trim_start_matches('_');
        is_number(digits).then(|| format!("{short}{digits}"))
    });
    let plain = short.unwrap_or(plain);
    let near = match (target.find(&plain), numbered(target, &plain)) {
        (Some(_), _) => meant(&[&plain]),
        (None, Some((first, last))) => format!("; the target has `{first}` to `{last}`"),
        (None, None) => suggestion(
            name,
            target.0.registers.iter().flat_map(|range| match &range.names {
                RegisterNames::Listed(names) => &names[..],
                RegisterNames::Numbered { .. } | RegisterNames::Packed { .. } => &[],
            }),
        ),
    };
    ErrorKind::UnknownRegister(format!("`{name}` ({}){near}", target.name())).into()
}

fn is_number(digits: &str) -> bool {
    !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
}

/// Returns the first and last register with the prefix of a name.
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
