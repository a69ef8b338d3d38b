//! Findings about a location whose size differs from the type's size.

use super::codes::LintCode;
use super::details::Details;
use super::file::Architecture;
use super::places::{Findings, Located, Type};
use super::shape::{LocationShape, Number, PartShape, Selected};
use eitri_dwarf::error::Count;

impl Located<'_, '_, '_> {
    /// Appends findings about the location's size.
    pub(super) fn sizes(&self, findings: &mut Findings) {
        let Some(Type { entry, bits, is_base, .. }) = self.ty else { return };
        let parts = &self.shape.parts;
        let end = parts.last().map_or(0, |part| part.operations.end);
        if is_base && bits == Some(0) {
            let is_register = |part: &PartShape| match &part.place {
                LocationShape::Register(..) => true,
                LocationShape::Value(number) => {
                    number.find(&|number| matches!(number, Number::Register(..))).is_some()
                        || part.bits.is_some()
                }
                _ => part.bits.is_some(),
            };
            if parts.iter().any(is_register) {
                let count = parts.iter().filter_map(|part| part.bits).fold(0, u64::saturating_add);
                findings.push(self.diagnosed(LintCode::ZeroSizeType, &(0..end), || {
                    let name = entry.name().unwrap_or_default();
                    let pieces = (count > 0).then(|| format!("the pieces have {}", Count(count / 8, "byte")));
                    Details::new("a location for a 0-byte value")
                        .evidence([format!("the base type `{name}` has 0 bytes")])
                        .evidence(pieces)
                }));
            }
            return;
        }
        let Some(bits) = bits.filter(|bits| *bits > 0) else { return };
        let size = || format!("the type has {}", Count(bits.div_ceil(8), "byte"));
        if parts.iter().all(|part| part.bits.is_some()) {
            let pieces = parts.iter().filter_map(|part| part.bits).fold(0, u64::saturating_add);
            if pieces.div_ceil(8) > bits.div_ceil(8) {
                let written = || format!("pieces of {}", sized(pieces));
                let details = || Details::new(written()).evidence([size()]);
                findings.push(self.diagnosed(LintCode::PiecesBeyondType, &(0..end), details));
            } else if pieces < bits && !parts.is_empty() {
                let written = || format!("pieces of {}", sized(pieces));
                let rest = || format!("{} at the end of the object are undefined", sized(bits - pieces));
                let details = || Details::new(written()).evidence([size(), rest()]);
                findings.push(self.diagnosed(LintCode::PiecesShortOfType, &(0..end), details));
            }
            return;
        }
        let has = parts.first().and_then(|part| self.storage_bits(&part.place));
        if let Some(has) = has.filter(|has| *has < bits) {
            let written = || format!("a location of {}", Count(has / 8, "byte"));
            let details = || Details::new(written()).evidence([size()]);
            findings.push(self.diagnosed(LintCode::StorageTooShort, &(0..end), details));
        }
    }

    /// Appends the finding about the first piece with more bytes than its storage.
    pub(super) fn pieces(&self, findings: &mut Findings) {
        let failure = self.shape.failure.as_ref();
        for part in &self.shape.parts {
            let Some(bits) = part.bits else { return };
            let rule = failure.filter(|failure| failure.0 == part.operations.end).map(|failure| &failure.1);
            let has = self.storage_bits(&part.place);
            let is_short = has.map_or(rule.is_some(), |has| has < bits);
            // Every byte of 0 is 0, also in DWARF 5 readers, which have no rule for the value's size.
            let is_zero = part.place == LocationShape::Value(Number::Known(0))
                && self.file.architecture != Architecture::Amd;
            if is_short && !is_zero {
                let details = || {
                    let storage = has.map(|has| format!("the storage has {}", sized(has)));
                    Details::new(format!("a piece of {}", sized(bits)))
                        .evidence(storage.or_else(|| rule.cloned()))
                };
                findings.push(self.diagnosed(LintCode::StorageTooShort, &part.operations, details));
                return;
            }
        }
    }

    /// Returns the size of a location's storage in bits, if the location alone decides it.
    fn storage_bits(&self, place: &LocationShape) -> Option<u64> {
        match place {
            LocationShape::Value(number) => {
                let is_typed = number.find(&|number| matches!(number, Number::Computed(_) | Number::Other));
                let is_generic = is_typed.is_none() && !self.shape.has_types;
                is_generic.then(|| u64::from(self.encoding.address_bytes) * 8)
            }
            LocationShape::Implicit(bytes) => Some(bytes.len() as u64 * 8),
            LocationShape::Register(reg, Selected::Nothing) => {
                let register = self.file.target.as_ref()?.register(*reg)?;
                // PTX registers have sizes that the target does not list.
                let is_known = match self.file.architecture {
                    Architecture::Cpu => true,
                    Architecture::Amd => !register.is_vector(),
                    _ => false,
                };
                is_known.then(|| register.bits.into())
            }
            _ => None,
        }
    }
}

/// Formats a bit count, in whole bytes if possible.
fn sized(bits: u64) -> String {
    match bits % 8 {
        0 => Count(bits / 8, "byte").to_string(),
        _ => Count(bits, "bit").to_string(),
    }
}
