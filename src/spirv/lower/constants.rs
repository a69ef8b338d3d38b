//! Writes the values of variables and template arguments as constants.

use super::entities::Globals;
use crate::error::Result;
use crate::model::{Module, TypeId, TypeKind, VariableId};
use crate::omission::{Property, Reason, Subject};
use crate::spirv::words::Id;

/// A variable's constant value, if the set can encode it.
pub(super) fn constant_of(out: &mut Globals<'_, '_, '_>, id: VariableId) -> Result<Option<Id>> {
    let module = out.module;
    let Some(bytes) = module.always(id).and_then(|loc| module.constant(loc)) else { return Ok(None) };
    let value = integer(out, module.variables[id].ty, bytes)?;
    if value.is_none() {
        out.omit(Subject::Variable(id), Property::Value, Reason::NotInteger);
    }
    Ok(value)
}

/// An integer constant's id: 32 bits if the type is not larger or its low 32 bits are sufficient, otherwise 64. A
/// negative 64-bit number is thus not mistaken for an unsigned 32-bit number.
pub(super) fn integer(out: &mut Globals<'_, '_, '_>, ty: TypeId, bytes: &[u8]) -> Result<Option<Id>> {
    let module = out.module;
    if bytes.is_empty() || bytes.len() > 8 || !is_integer(module, ty) {
        return Ok(None);
    }
    let mut padded = [0; 8];
    padded[..bytes.len()].copy_from_slice(bytes);
    if module.target.is_big_endian() {
        padded[..bytes.len()].reverse();
    }
    let unused = 64 - 8 * bytes.len() as u32;
    let mut value = u64::from_le_bytes(padded);
    // Sign-extend the number to 64 bits; a number that fits 32 bits stays a 32-bit constant.
    if module.is_signed(ty) == Some(true) {
        value = ((value << unused) as i64 >> unused) as u64;
        if bytes.len() <= 4 {
            value = u64::from(value as u32);
        }
    }
    if !out.writer.has_room(value) {
        return Ok(None);
    }
    out.writer.constant(value).map(Some)
}

/// Whether a type is an integer type.
fn is_integer(module: &Module, mut ty: TypeId) -> bool {
    loop {
        match &module.types[ty].kind {
            TypeKind::Base { encoding, .. } => {
                return !encoding.is_float();
            }
            TypeKind::Pointer { .. } => return true,
            // Types follow their components, so that the loop ends.
            TypeKind::Typedef { of: Some(of), .. } | TypeKind::Qualified { of: Some(of), .. } => ty = *of,
            TypeKind::Enum { of: Some(of), .. } => ty = *of,
            _ => return false,
        }
    }
}
