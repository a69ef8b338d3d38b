//! Findings about the size of a place, beside that of the type.

use super::codes::Code;
use super::details::Details;
use super::file::Kind;
use super::places::{Findings, Located, Type};
use super::shape::{Number, Part, Place, Selected};
use crate::error::Count;

impl Located<'_, '_, '_> {
    /// Appends findings about the size of the place.
    pub(super) fn sizes(&self, all: &mut Findings) {
        let Some(Type { entry, bits, is_base }) = self.ty else { return };
        let parts = &self.shape.parts;
        let is_stored = |part: &Part| {
            let place = &part.place;
            matches!(place, Place::Register(..) | Place::Memory { .. } | Place::Value(_) | Place::Implicit(_))
        };
        let end = parts.last().map_or(0, |part| part.operations.end);
        if is_base && bits == Some(0) {
            let is_register = |part: &Part| match &part.place {
                Place::Register(..) => true,
                Place::Value(number) => {
                    number.find(&|number| matches!(number, Number::Register(..))).is_some()
                        || part.bits.is_some()
                }
                _ => part.bits.is_some(),
            };
            if parts.iter().any(is_register) {
                let count: u64 = parts.iter().filter_map(|part| part.bits).sum();
                all.push(self.judged(Code::ZeroSizeType, &(0..end), || {
                    let name = entry.name().unwrap_or_default();
                    let pieces = (count > 0).then(|| format!("the pieces have {}", Count(count / 8, "byte")));
                    Details::new("a place for a value of 0 bytes")
                        .evidence([format!("the base type `{name}` has 0 bytes")])
                        .evidence(pieces)
                }));
            }
            return;
        }
        let Some(bits) = bits.filter(|bits| *bits > 0) else { return };
        let size = || format!("the type has {}", Count(bits.div_ceil(8), "byte"));
        let pieces: Option<u64> = parts.iter().map(|part| part.bits).sum();
        match pieces {
            Some(pieces) if pieces > bits.next_multiple_of(8) => {
                let written = || format!("pieces of {}", Count(pieces / 8, "byte"));
                let details = || Details::new(written()).evidence([size()]);
                all.push(self.judged(Code::PiecesBeyondType, &(0..end), details));
            }
            Some(_) => {
                let short = parts.iter().find_map(|part| {
                    let has = self.storage(part)?;
                    part.bits.filter(|bits| *bits > has).map(|bits| (part, bits, has))
                });
                if let Some((part, bits, has)) = short {
                    all.push(self.judged(Code::StorageTooShort, &part.operations, || {
                        let written = format!("a piece of {}", Count(bits.div_ceil(8), "byte"));
                        let storage = format!("the storage has {}", Count(has / 8, "byte"));
                        Details::new(written).evidence([storage])
                    }));
                }
            }
            None => {
                let place = parts.first().filter(|part| is_stored(part));
                if let Some(has) = place.and_then(|part| self.storage(part)).filter(|has| *has < bits) {
                    let written = || format!("a place of {}", Count(has / 8, "byte"));
                    let details = || Details::new(written()).evidence([size()]);
                    all.push(self.judged(Code::StorageTooShort, &(0..end), details));
                }
            }
        }
    }

    /// Returns the bits of the storage of a place, if they are known.
    fn storage(&self, part: &Part) -> Option<u64> {
        let target = self.file.target.as_ref();
        match &part.place {
            Place::Value(number) => {
                let is_other =
                    number.find(&|number| matches!(number, Number::Computed(_) | Number::Other)).is_some();
                (!is_other && !self.shape.has_types).then(|| u64::from(self.encoding.address_bytes) * 8)
            }
            Place::Implicit(bytes) => Some(bytes.len() as u64 * 8),
            Place::Register(reg, Selected::Nothing) => {
                let register = target.and_then(|target| target.register(*reg))?;
                // Registers of PTX have sizes of their own, which the target does not have.
                let is_known =
                    self.file.kind == Kind::Cpu || self.file.kind == Kind::Amd && !register.is_vector();
                is_known.then(|| u64::from(register.bits))
            }
            _ => None,
        }
    }
}
