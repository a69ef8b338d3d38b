//! Operations on composites (A.2.5.4.4.6, and DWARF 6's pieces).

use super::super::fault::{Fault, brief, ill_formed, limit, unsupported};
use super::super::location::{Composite, Location, SingleLocation, Storage, narrowed};
use super::super::machine::byte_order;
use super::super::run::Run;
use super::super::stack::{Element, pointer_misused};
use crate::error::Count;
use crate::op::Dialect;

impl Run<'_, '_> {
    /// Adds a part with `bits` bits to the incomplete composite, or starts a composite.
    pub(super) fn piece(&mut self, bits: u128, offset: Option<u64>) -> Result<(), Fault> {
        if self.is_draft() {
            return self.draft_piece(bits, offset);
        }
        // An empty piece on an empty stack starts a composite; on a composite it extends the composite.
        let is_empty = self.peek(0).is_none();
        let part = match self.peek(0) {
            None => Location::undefined(),
            Some(Element::Location(top)) if top.is_incomplete() => Location::undefined(),
            Some(_) => self.pop_location()?,
        };
        let part = self.moved_part(part, bits, offset)?;
        let has_base =
            !is_empty && matches!(self.peek(0), Some(Element::Location(top)) if top.is_incomplete());
        if !has_base {
            // Incomplete: it stays open until an operation other than a piece uses it.
            self.push(Location::from(Composite::empty()));
        }
        self.append(part, bits)
    }

    /// Adds a piece by DWARF 6's rules, without incomplete composites: to the composite below the piece's location.
    /// The other cases exist only for DWARF 5 expressions.
    fn draft_piece(&mut self, bits: u128, offset: Option<u64>) -> Result<(), Fault> {
        let is_composite = |element: Option<&Element>| {
            matches!(element, Some(Element::Location(location))
                if matches!(location.single().map(|place| &place.storage), Some(Storage::Composite(_))))
        };
        let part = match (self.peek(1).is_some(), self.peek(0)) {
            (true, _) if is_composite(self.peek(1)) => self.pop_location()?,
            (true, _) => {
                return Err(ill_formed(
                    "a piece needs a composite below its location: another element is below it",
                ));
            }
            (false, None) => {
                self.push_draft_composite();
                Location::undefined()
            }
            (false, top) if is_composite(top) => Location::undefined(),
            (false, _) => {
                let part = self.pop_location()?;
                self.push_draft_composite();
                part
            }
        };
        let part = self.moved_part(part, bits, offset)?;
        self.append(part, bits)
    }

    /// Moves a part to a bit piece's offset, which is meaningless without storage. The standard counts it from the least
    /// significant bit of known bytes (DWARF 5, 2.6.1.2), as in a register. In the extension it is the offset of a
    /// location.
    fn moved_part(&self, part: Location, bits: u128, offset: Option<u64>) -> Result<Location, Fault> {
        let Some(Storage::Implicit(implicit)) = part.single().map(|place| &place.storage) else {
            return moved(part, offset);
        };
        // Bits of a number are numbered from the least significant in any case.
        let is_other_end = self.machine.is_big_endian()
            && !implicit.is_big_number()
            && matches!(self.scope.encoding.dialect, Dialect::Dwarf5 | Dialect::Dwarf6);
        let Some(offset) = offset.filter(|_| is_other_end) else {
            return moved(part, offset);
        };
        let size = part.remaining().unwrap_or_else(|| implicit.size().into());
        let skip = size.checked_sub(bits).and_then(|rest| rest.checked_sub(offset.into()));
        match skip.and_then(|skip| i128::try_from(skip).ok()) {
            Some(skip) => part.moved(skip),
            None => Err(ill_formed(format!(
                "bit piece of {bits} at bit {offset} ends after its value of {size}",
                bits = Count(bits, "bit"),
                size = Count(size, "bit")
            ))),
        }
    }

    pub(super) fn composite(&mut self) -> Result<(), Fault> {
        self.push_draft_composite();
        Ok(())
    }

    /// Pushes an empty DWARF 6 composite, which is always complete and can always grow.
    fn push_draft_composite(&mut self) {
        self.push(Location::from(Composite::empty().open()));
    }

    /// Adds a part to the composite on top.
    fn append(&mut self, part: Location, bits: u128) -> Result<(), Fault> {
        let max_bits = self.largest_storage();
        let max_parts = self.limits.parts;
        let mut top = self.pop()?;
        if let Element::Location(location) = &mut top {
            if self.is_draft() {
                // Other elements can share such a composite, and must not change.
                self.charge(location.parts() as u64 / 4)?;
            }
            let composite =
                location.composite_mut().ok_or_else(|| ill_formed("a piece needs a composite"))?;
            composite.push(part, bits, max_bits, max_parts)?;
        }
        self.push(top);
        Ok(())
    }

    pub(super) fn piece_end(&mut self) -> Result<(), Fault> {
        let mut top = self.pop()?;
        match &mut top {
            Element::Location(location) if location.is_incomplete() => {
                if let Some(composite) = location.incomplete() {
                    composite.complete();
                }
            }
            _ => {
                return Err(ill_formed(format!(
                    "end of a composite without an incomplete composite (R A.2.5.4.4.6): {}",
                    brief(&top)
                )));
            }
        }
        self.push(top);
        Ok(())
    }

    /// Counts the parts to be constructed against all limits, before they take memory.
    fn charge_parts(&mut self, count: u64) -> Result<(), Fault> {
        if count > self.limits.parts.into() {
            return Err(limit(format!(
                "a composite has too many parts: {count}",
                count = Count(count, "part")
            )));
        }
        self.charge(count)
    }

    pub(super) fn extend(&mut self, bits: u64, count: u64) -> Result<(), Fault> {
        let location = self.pop_location()?;
        if bits == 0 || count == 0 {
            return Err(ill_formed(format!(
                "the location is extended to {count} of {bits}; expected at least 1 part of 1 bit (R A.2.5.4.4.6)",
                count = Count(count, "part"),
                bits = Count(bits, "bit")
            )));
        }
        self.charge_parts(count.saturating_mul(location.places().count() as u64))?;
        self.push_parts((0..count).map(|_| Ok((location.clone(), bits.into()))))
    }

    pub(super) fn select_bit_piece(&mut self, bits: u64, count: u64) -> Result<(), Fault> {
        let mask = self.pop_value()?;
        if mask.as_pointer().is_some() {
            return Err(pointer_misused());
        }
        if !mask.ty().is_integral() {
            return Err(ill_formed(format!("mask {mask} does not have an integral type")));
        }
        let ones = self.pop_location()?;
        let zeros = self.pop_location()?;
        if bits == 0 || count == 0 || mask.ty().size() < count {
            return Err(ill_formed(format!(
                "mask of {} selects {count} of {bits}; expected a bit for each part, and at least one part with bits",
                Count(mask.ty().size(), "bit"),
                count = Count(count, "part"),
                bits = Count(bits, "bit")
            )));
        }
        self.charge_parts(count)?;
        let order = byte_order(self.machine);
        self.push_parts((0..count).map(|index| {
            let chosen = if mask.bit(index) { &ones } else { &zeros };
            let distance = i128::from(index) * i128::from(bits);
            // Narrowed, because thousands of parts would otherwise share deep composites.
            Ok((narrowed(chosen.clone().moved(distance)?, bits.into(), order), bits.into()))
        }))
    }

    /// Pushes a complete composite with these parts.
    fn push_parts(
        &mut self,
        parts: impl Iterator<Item = Result<(Location, u128), Fault>>,
    ) -> Result<(), Fault> {
        let max_bits = self.largest_storage();
        let max_parts = self.limits.parts;
        let mut composite = Composite::empty();
        for part in parts {
            let (location, bits) = part?;
            composite.push(location, bits, max_bits, max_parts)?;
        }
        composite.complete();
        self.push(Location::from(if self.is_draft() { composite.open() } else { composite }));
        Ok(())
    }

    /// Lays a location over part of another location. Offset and size count units of `unit` bits.
    pub(super) fn overlay(&mut self, unit: i128) -> Result<(), Fault> {
        let size = self.pop_signed()?;
        let offset = self.pop_signed()?;
        let over = self.pop_location()?;
        let base = self.pop_location()?;
        // The bound keeps sums of two such numbers within 128 bits.
        let in_bits = |number: i128| number.checked_mul(unit).filter(|&bits| bits.unsigned_abs() < 1 << 120);
        let bits = in_bits(size).and_then(|bits| u128::try_from(bits).ok());
        let (Some(size), Some(offset)) = (bits, in_bits(offset)) else {
            return Err(ill_formed(format!(
                "the size or the offset of an overlay is out of range: {size} at {offset}"
            )));
        };
        if self.is_draft() {
            return self.draft_overlay(base, over, offset, size);
        }
        let Ok(offset) = u128::try_from(offset) else {
            return Err(ill_formed(format!("overlay at bit {offset} begins before its base")));
        };
        if size == 0 {
            self.push(base);
            return Ok(());
        }
        // Undefined storage has no size; as a base it is as large as any storage.
        let remaining = base.remaining().unwrap_or_else(|| self.largest_storage());
        let end = offset + size;
        if end > remaining {
            return Err(ill_formed(format!(
                "overlay of {size} at bit {offset} ends after its base of {remaining}",
                remaining = Count(remaining, "bit"),
                size = Count(size, "bit")
            )));
        }
        // The whole base is hidden, so that no composite is needed.
        if size == remaining {
            self.push(over);
            return Ok(());
        }
        let rest = match remaining - end {
            0 => None,
            rest => Some((base.clone().moved(end as i128)?, rest)),
        };
        let before = (offset > 0).then_some((base, offset));
        let parts = [before, Some((over, size)), rest];
        self.push_parts(parts.into_iter().flatten().map(Ok))
    }

    /// Applies the DWARF 6 proposal's rules: the base's whole storage is kept, including bits before the base
    /// location, and is extended by undefined bits where it is too short.
    fn draft_overlay(
        &mut self,
        base: Location,
        over: Location,
        offset: i128,
        size: u128,
    ) -> Result<(), Fault> {
        let Some(place) = base.single().cloned() else {
            return Err(unsupported("an overlay on several single locations, by the rules of DWARF 6"));
        };
        // Offsets count from the base location, and its storage begins earlier.
        let start = place.offset.checked_add_signed(offset).ok_or_else(|| {
            ill_formed(format!(
                "overlay at bit {offset} from bit {} begins before the storage of its base",
                place.offset
            ))
        })?;
        let from = place.offset;
        let base_size = place.storage.size().unwrap_or_else(|| self.largest_storage());
        if size == 0 && start <= base_size {
            self.push(base);
            return Ok(());
        }
        let from_bit = |offset| Location::from(SingleLocation { storage: place.storage.clone(), offset });
        let end = start + size;
        let parts = [
            (from_bit(0), start.min(base_size)),
            (Location::undefined(), start.saturating_sub(base_size)),
            (over, size),
            (from_bit(end), base_size.saturating_sub(end)),
        ];
        self.push_parts(parts.into_iter().filter(|(_, bits)| *bits > 0).map(Ok))?;
        self.move_top(i128::try_from(from).ok())
    }
}

/// Returns the location `bits` bits further, if the operation has an offset.
fn moved(location: Location, bits: Option<u64>) -> Result<Location, Fault> {
    match bits {
        Some(bits) => location.moved(bits.into()),
        None => Ok(location),
    }
}

/// Operations without a number in any dialect cannot occur in an expression, but have semantics.
#[cfg(test)]
mod tests {
    use super::super::super::fast::Slots;
    use super::super::super::{Context, Element, Fault, Limits, Location, Snapshot, Value};
    use super::Run;
    use crate::op::{Dialect, Encoding, Op, Reg};
    use crate::target::{SpaceId, Target};

    fn after(initial: Vec<Element>, op: &Op<'_>) -> Result<String, Fault> {
        let target = Target::named("amdgpu-gfx1030-wave32").map_err(|_| super::ill_formed("target"))?;
        let context = Context::new(Encoding::new(8, Dialect::Llvm), &target);
        let machine = Snapshot { iteration: Some(2), iterations: Some(4), ..Snapshot::default() };
        let mut stack = initial;
        let mut slots = Slots::new();
        let mut run = Run::new(&mut stack, &mut slots, Limits::default(), &machine, &context, None);
        run.operation(op)?;
        Ok(run.pop()?.to_string())
    }

    fn overlay(base: Location, over: Location, offset: u64, size: u64, op: &Op<'_>) -> String {
        let number = |number| Element::Value(Value::generic(number, 8));
        let initial = vec![base.into(), over.into(), number(offset), number(size)];
        after(initial, op).unwrap_or_else(|fault| fault.class.to_string())
    }

    #[test]
    fn overlays_of_the_extension() {
        let scalar = || Location::register(Reg(32), 32);
        let other = || Location::register(Reg(33), 32);
        let bytes = |offset, size| overlay(scalar(), other(), offset, size, &Op::Overlay {});
        assert_eq!(bytes(1, 2), "[reg:32/8, reg:33/16, reg:32+24/8]");
        assert_eq!(bytes(0, 2), "[reg:33/16, reg:32+16/16]");
        assert_eq!(bytes(2, 2), "[reg:32/16, reg:33/16]");
        assert_eq!(bytes(0, 4), "reg:33");
        assert_eq!(bytes(3, 0), "reg:32");
        assert_eq!(bytes(3, 2), "ill-formed", "beyond the base");
        assert_eq!(bytes(u64::MAX, 2), "ill-formed", "-1");
        assert_eq!(overlay(scalar(), other(), 3, 5, &Op::BitOverlay {}), "[reg:32/3, reg:33/5, reg:32+8/24]");
        let wide = Location::register(Reg(1536), 1024);
        assert_eq!(overlay(wide, other(), 0, 5, &Op::Overlay {}), "ill-formed", "beyond what is laid over");
        let moved = scalar().moved(16).unwrap_or_else(|_| Location::undefined());
        assert_eq!(overlay(moved, other(), 1, 1, &Op::Overlay {}), "[reg:32+16/8, reg:33/8]");
    }

    #[test]
    fn operations_without_a_number() {
        assert_eq!(after(vec![], &Op::PushIteration {}), Ok("0x2".to_string()));
        let space = Element::Value(Value::generic(3, 8));
        let pointer = Op::AspaceImplicitPointer { entry: 0x40, offset: -4 };
        assert_eq!(after(vec![space], &pointer), Ok("implptr:0x40:-4".to_string()));
        let space = Element::Location(Location::memory(SpaceId::DEFAULT, 64, 99));
        assert!(after(vec![space], &pointer).is_err_and(|fault| fault.rule.contains("no address space")));
    }
}
