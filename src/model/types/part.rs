//! Object parts: members and elements.

use super::{Count, Elements, TypeKind};
use crate::error::{Error, Result};
use crate::model::{Module, TypeId};

/// An object part: the object itself, a member, an element, or a part of these.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    /// The part's type; for an array with only some dimensions selected, the array's type.
    ty: TypeId,
    /// Number of the array's dimensions that are selected.
    dimensions: usize,
    /// The part's row-major index over the selected dimensions; `None` where an index is unknown.
    number: Option<u64>,
    /// Bit field's size in bits.
    field_bits: Option<u64>,
    /// Distance in bits from the object start to the type; `None` where an index is unknown.
    offset_bits: Option<u64>,
}

impl Part {
    /// The object.
    pub fn whole(ty: TypeId) -> Self {
        Self { ty, dimensions: 0, number: Some(0), field_bits: None, offset_bits: Some(0) }
    }

    /// The type, without typedefs and qualifiers.
    pub fn named(&self, module: &Module) -> TypeId {
        let mut ty = self.ty;
        while let TypeKind::Typedef { of: Some(of), .. } | TypeKind::Qualified { of: Some(of), .. } =
            module.ty(ty).kind()
        {
            ty = *of;
        }
        ty
    }

    /// Returns the part's size in bits by its type: without padding at the end, then with it.
    pub fn sizes(&self, module: &Module) -> [Option<u64>; 2] {
        let ty = module.ty(self.ty);
        match self.field_bits {
            Some(bits) => [Some(bits); 2],
            None if self.dimensions > 0 => [self.stride_bits(module); 2],
            None => [ty.value_bits(), ty.bits()],
        }
    }

    /// Returns the distance from the object start in bits; `None` where an index or a size is unknown.
    pub fn offset_bits(&self, module: &Module) -> Option<u64> {
        match (self.dimensions, self.number?) {
            (0, _) | (_, 0) => self.offset_bits,
            (_, number) => self.offset_bits?.checked_add(number.checked_mul(self.stride_bits(module)?)?),
        }
    }

    /// Selects a member or element, counted from 0; `None` is an unknown index. Returns `None` where the types do not
    /// describe the members: a structure without members, with base classes or with variants, or a type that has only a
    /// name.
    ///
    /// # Errors
    /// [`BadArgument`](crate::error::ErrorKind::BadArgument) if the part has no such member or element.
    pub fn select(mut self, module: &Module, index: Option<u64>) -> Result<Option<Self>> {
        self.ty = self.named(module);
        let missing = |has: u64, index: u64| {
            let called = module.called(self.ty);
            Err(Error::bad_argument(format!(
                "index {index} is out of range for {called}, which has {} or {}",
                crate::error::Count(has, "member"),
                if has == 1 { "element" } else { "elements" }
            )))
        };
        let (of, count, stride) = match module.ty(self.ty).kind() {
            TypeKind::Unspecified { .. }
            | TypeKind::CooperativeMatrix { .. }
            | TypeKind::String { .. }
            | TypeKind::Subrange { .. }
            | TypeKind::Set { .. } => {
                return Ok(None);
            }
            TypeKind::Composite(composite) => {
                let is_known = composite.bases.is_empty() && composite.variant_parts.is_empty();
                let (Some(index), true, false) = (index, is_known, composite.members.is_empty()) else {
                    return Ok(None);
                };
                let member = usize::try_from(index).ok().and_then(|index| composite.members.get(index));
                let Some(member) = member else { return missing(composite.members.len() as u64, index) };
                let offset_bits = self.offset_bits.and_then(|bits| bits.checked_add(member.offset_bits));
                return Ok(Some(Self { field_bits: member.bits, offset_bits, ..Self::whole(member.ty) }));
            }
            TypeKind::Array { of, dimensions, .. } => {
                let Some(dimension) = dimensions.get(self.dimensions) else { return Ok(None) };
                let count = match dimension.count {
                    Count::Fixed(count) => Some(count),
                    Count::Unknown | Count::Variable(_) | Count::Value(_) => None,
                };
                // Dimensions are selected one at a time: the index so far counts rows of this dimension.
                let before = match self.dimensions {
                    0 => Some(0),
                    _ => self.number.and_then(|number| number.checked_mul(count?)),
                };
                self.number = before.zip(index).and_then(|(before, index)| before.checked_add(index));
                self.dimensions += 1;
                if let Some((has, index)) = count.zip(index).filter(|(has, index)| index >= has) {
                    return missing(has, index);
                }
                if self.dimensions < dimensions.len() {
                    return Ok(Some(self));
                }
                return Ok(Some(Self { offset_bits: self.offset_bits(module), ..Self::whole(*of) }));
            }
            kind => match kind.elements() {
                Some(Elements { of, count, stride_bits }) => (of, count, stride_bits),
                None => {
                    let what = format!("{} has no members or elements", module.called(self.ty));
                    return Err(Error::bad_argument(what));
                }
            },
        };
        if let Some(index) = index.filter(|&index| index >= count) {
            return missing(count, index);
        }
        // An unknown index or size makes the offset unknown, but the part's type stays known.
        let offset_bits = self.offset_bits.zip(index).zip(stride.or(module.ty(of).bits()));
        let offset_bits =
            offset_bits.and_then(|((offset, index), bits)| offset.checked_add(index.checked_mul(bits)?));
        Ok(Some(Self { offset_bits, ..Self::whole(of) }))
    }

    /// Returns the distance between the array's parts in bits.
    fn stride_bits(&self, module: &Module) -> Option<u64> {
        let TypeKind::Array { of, dimensions, stride_bits } = module.ty(self.ty).kind() else { return None };
        // The distance is the product of the dimensions that are not selected yet.
        let element = stride_bits.or(module.ty(*of).bits())?;
        dimensions.get(self.dimensions..)?.iter().try_fold(element, |bits, dimension| match dimension.count {
            Count::Fixed(count) => bits.checked_mul(count),
            Count::Unknown | Count::Variable(_) | Count::Value(_) => None,
        })
    }
}
