//! Raw expressions. Their keys are rows of [`alternatives`](super::choices); the calls of the builder are here.

use super::ids::Known;
use super::read::Reader;
use super::statement::Expression;
use super::values::Bytes;
use crate::error::Result;
use crate::model::{Entity, ExprId, UnitId};
use crate::op::{self, Dialect, Encoding, Expr, FixupKind, Slot};

/// A raw expression of a description.
pub(super) enum Raw {
    /// Bytes, and fix-ups with their offsets and the referenced entities.
    Bytes(Bytes, Vec<(u32, FixupKind, Entity)>),
    /// Operations as text. It is read only: the module has their bytes.
    Text(String, Dialect),
}

/// Makes the module's expression for one of a description.
pub(super) fn read<'a>(reader: &mut Reader<'a>, unit: UnitId, mut json: Expression<'a>) -> Result<ExprId> {
    match json.choose(reader, unit)? {
        Raw::Bytes(Bytes(bytes), filled) => {
            let filled = (0..).map(Slot).zip(filled);
            let fill = |(slot, (offset, kind, entity))| (op::Fixup { offset, kind, slot }, entity);
            let (fixups, entities): (Vec<_>, Vec<_>) = filled.map(fill).unzip();
            reader.builder.expr(Expr::with_fixups(bytes, fixups)?, &entities)
        }
        Raw::Text(text, dialect) => {
            let target = reader.builder.target();
            let encoding = Encoding::new(target.address_bytes(), dialect);
            let encoding = Encoding { big_endian: target.is_big_endian(), ..encoding };
            let expr = op::text::parse(&text, encoding, Some(target))?;
            reader.builder.expr(expr, &[])
        }
    }
}

/// Makes the description's expression for one of the module.
pub(super) fn write<'m>(known: &'m Known<'m>, id: ExprId) -> Expression<'m> {
    let (expr, entities) = known.module.expr(id);
    let filled = expr.fixups().iter().map(|it| (it.offset, it.kind, entities[it.slot.0 as usize]));
    Expression::new().chosen(known, &Raw::Bytes(Bytes(expr.bytes().to_vec()), filled.collect()))
}
