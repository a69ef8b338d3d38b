//! Raw expressions: reading and writing.

use super::choices::{EntityRef, Filled};
use super::ids::Known;
use super::read::Reader;
use super::statement::{Expression, Fixup};
use super::values::{Bytes, Word};
use crate::error::{Error, Result};
use crate::model::{ExprId, UnitId};
use crate::op::{self, Dialect, Encoding, Expr, Slot};

/// Makes the module's expression for one of a description.
pub(super) fn read<'a>(reader: &mut Reader<'a>, unit: UnitId, json: Expression<'a>) -> Result<ExprId> {
    let (bytes, text) = match (json.bytes, json.text, json.dialect) {
        (Some(Bytes(bytes)), None, None) => (bytes, None),
        (None, Some(text), dialect) if json.fixups.is_none() => (Vec::new(), Some((text, dialect))),
        _ => {
            let what =
                "an expression is `bytes`, with or without `fixups`, or `text`, with or without a `dialect`";
            return Err(Error::bad_argument(what));
        }
    };
    if let Some((text, dialect)) = text {
        let target = reader.builder.target();
        let dialect = dialect.map_or(Dialect::Dwarf5, |Word(dialect)| dialect);
        let encoding = Encoding::new(target.address_bytes(), dialect);
        let encoding = Encoding { big_endian: target.is_big_endian(), ..encoding };
        let expr = op::text::parse(&text, encoding, Some(target))?;
        return reader.builder.expr(expr, &[]);
    }
    let (mut fixups, mut entities) = (Vec::new(), Vec::new());
    for mut fixup in json.fixups.unwrap_or_default() {
        let kind = fixup.kind.read(reader, unit)?;
        fixups.push(op::Fixup { offset: fixup.offset, kind, slot: Slot(entities.len() as u32) });
        entities.push(fixup.entity.read(reader, unit)?);
    }
    reader.builder.expr(Expr::with_fixups(bytes, fixups)?, &entities)
}

/// Makes the description's expression for one of the module.
pub(super) fn write<'m>(known: &'m Known<'m>, id: ExprId) -> Expression<'m> {
    let (expr, entities) = known.module.expr(id);
    let fixups = expr.fixups().iter().map(|fixup| {
        let kind = Filled::write(known, &fixup.kind);
        let entity = EntityRef::write(known, &entities[fixup.slot.0 as usize]);
        Fixup::new(fixup.offset, kind, entity)
    });
    let mut json = Expression::new();
    json.bytes = Some(Bytes(expr.bytes().to_vec()));
    json.fixups = Some(fixups.collect::<Vec<_>>()).filter(|fixups| !fixups.is_empty());
    json
}
