//! Findings about the size of a place, beside that of the type.

use super::codes::Code;
use super::details::Details;
use super::file::Kind;
use super::places::{Findings, Located, Type};
use super::shape::{Number, Part, Place, Selected};
use crate::error::Count;
use crate::op::Reg;

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
            Some(_) => {}
            None => {
                let place = parts.first().filter(|part| is_stored(part)).map(|part| &part.place);
                let target = self.file.target.as_ref();
                let has = match place {
                    Some(Place::Value(number)) => {
                        let is_typed =
                            number.find(&|number| matches!(number, Number::Computed(_) | Number::Other));
                        is_typed.is_none().then(|| u64::from(self.encoding.address_bytes) * 8)
                    }
                    Some(Place::Implicit(bytes)) => Some(bytes.len() as u64 * 8),
                    Some(Place::Register(reg, Selected::Nothing)) => target
                        .and_then(|target| target.register(*reg))
                        .map(|register| u64::from(register.bits)),
                    _ => None,
                };
                // Registers of PTX have sizes of their own, which the target does not have.
                let is_known = |reg: Reg| {
                    let register = target.and_then(|target| target.register(reg));
                    self.file.kind == Kind::Cpu
                        || self.file.kind == Kind::Amd && register.is_some_and(|one| !one.is_vector())
                };
                let is_scalar = match place {
                    Some(Place::Register(reg, _)) => is_known(*reg),
                    _ => true,
                };
                if let Some(has) = has.filter(|has| *has < bits && is_scalar) {
                    let written = || format!("a place of {}", Count(has / 8, "byte"));
                    let details = || Details::new(written()).evidence([size()]);
                    all.push(self.judged(Code::StorageTooShort, &(0..end), details));
                }
            }
        }
    }
}
