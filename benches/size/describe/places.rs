//! Addresses and expressions.

use eitri::Result;
use eitri::model::{Entity, Loc, Symbol, Val};
use eitri::op::{Decoder, Expr, Op, Slot};
use eitri::read::{ElfSymbolKind, Entry, ResolvedValue};
use eitri::target::SpaceId;
use gimli::constants as dw;

use super::Describer;

impl<'r, 'o> Describer<'r, 'o> {
    /// The symbol that contains an address, and the offset from it in bytes. Other addresses count from the section
    /// symbol, which every object has.
    pub(super) fn symbol_at(&mut self, address: u64) -> (Symbol, u64) {
        let is_there = |symbol: &&eitri::read::ElfSymbol<'_>| {
            let kind = matches!(symbol.kind, ElfSymbolKind::Func | ElfSymbolKind::Object);
            kind && symbol.is_defined && (symbol.address..symbol.address + symbol.size).contains(&address)
        };
        let symbol = self.object.symbols().iter().find(is_there);
        let (name, start) = match symbol {
            Some(symbol) => (symbol.name.as_ref(), symbol.address),
            None => {
                let in_it = |section: &&eitri::read::ElfSection<'_>| {
                    section.is_loaded()
                        && (section.address..section.address + section.size).contains(&address)
                };
                let section = self.object.sections().iter().find(in_it).expect("an address in a section");
                (section.name.as_ref(), section.address)
            }
        };
        (self.m.symbol(name), address - start)
    }

    /// The location of an expression; `None` if the builder cannot express it.
    pub(super) fn loc(&mut self, expr: &[u8]) -> Result<Option<Loc>> {
        let encoding = self.of.encoding;
        let ops = Decoder::new(expr, encoding).collect::<Result<Vec<_>>>()?;
        let address = |index| self.dwarf.address(self.of, index);
        match ops.iter().map(|one| one.op).collect::<Vec<_>>()[..] {
            [Op::Addrx { index }] => {
                let (symbol, by) = self.symbol_at(address(index)?);
                return Ok(Some(Loc::memory(SpaceId::DEFAULT, Val::address(symbol, by as i64))));
            }
            [Op::Addrx { index }, Op::StackValue {}] => {
                let (symbol, by) = self.symbol_at(address(index)?);
                return Ok(Some(Loc::value(Val::address(symbol, by as i64))));
            }
            // The index of an address in another space cannot be resolved here.
            ref ops if ops.iter().any(|op| matches!(op, Op::Addrx { .. })) => return Ok(None),
            _ => {}
        }
        let mut out = Expr::build(encoding);
        let mut entities = Vec::new();
        for (index, one) in ops.iter().enumerate() {
            let Some(ty) = named_type(&one.op) else {
                let end = ops.get(index + 1).map_or(expr.len(), |next| next.offset);
                out.ops().raw(&expr[one.offset..end]);
                continue;
            };
            let entry = self.dwarf.entry_at(self.of.offset + ty).expect("a base type");
            out.refer(one.op, Slot(entities.len() as u32));
            entities.push(Entity::Type(self.ty(entry)?));
        }
        let expr = out.finish()?;
        Ok(Some(Loc::expr(self.m.expr(expr, &entities)?)))
    }

    /// A call expression as a number; `None` if the builder cannot express it in equally many bytes.
    pub(super) fn number(&self, expr: &[u8]) -> Result<Option<Val>> {
        let encoding = self.of.encoding;
        let ops: Vec<Op<'_>> = Decoder::new(expr, encoding).map(|one| Ok(one?.op)).collect::<Result<_>>()?;
        Ok(match ops[..] {
            [Op::ConstU { value }] => Some(Val::constant(value)),
            [Op::BregX { reg, offset }] => Some(Val::register(reg).plus(offset)),
            [Op::EntryValue { expr }] => {
                match Decoder::new(expr, encoding).next().transpose()?.map(|one| one.op) {
                    Some(Op::RegX { reg }) => Some(Val::entry_value(reg)),
                    _ => None,
                }
            }
            _ => None,
        })
    }

    /// The called address. LLVM writes the register that contains the address, rather than the contents.
    pub(super) fn target(&self, expr: &[u8]) -> Result<Option<Val>> {
        let mut ops = Decoder::new(expr, self.of.encoding);
        match (ops.next().transpose()?.map(|one| one.op), ops.is_at_end()) {
            (Some(Op::RegX { reg }), true) => Ok(Some(Val::register(reg))),
            _ => self.number(expr),
        }
    }

    /// Location of a variable.
    pub(super) fn place(&mut self, entry: Entry<'r, 'o>) -> Result<Place> {
        match entry.attr(dw::DW_AT_location) {
            Some(ResolvedValue::Expr(expr)) => Ok(self.loc(expr)?.map_or(Place::None, Place::Always)),
            Some(ResolvedValue::LocList(_)) => {
                let mut live = Vec::new();
                for one in entry.locations(dw::DW_AT_location)?.unwrap_or_default() {
                    assert!(!one.is_default(), "an entry for all other pcs");
                    if let Some(loc) = self.loc(one.expr)? {
                        live.push((one.start..one.end, loc));
                    }
                }
                Ok(Place::Live(live))
            }
            _ => Ok(match entry.attr(dw::DW_AT_const_value) {
                Some(ResolvedValue::Signed(value)) => Place::Constant(value.to_le_bytes().to_vec()),
                Some(ResolvedValue::Unsigned(value)) => Place::Constant(value.to_le_bytes().to_vec()),
                Some(ResolvedValue::Block(bytes)) => Place::Constant(bytes.to_vec()),
                _ => Place::None,
            }),
        }
    }
}

/// Location of a variable, by address.
pub(super) enum Place {
    None,
    Always(Loc),
    Live(Vec<(std::ops::Range<u64>, Loc)>),
    /// The variable's value, at least as many bytes as its type has.
    Constant(Vec<u8>),
}

/// The type that an operation refers to.
pub fn named_type(op: &Op<'_>) -> Option<u64> {
    match *op {
        Op::Convert { ty } | Op::Reinterpret { ty } => Some(ty).filter(|&ty| ty != 0),
        Op::ConstType { ty, .. } | Op::RegvalType { ty, .. } => Some(ty),
        Op::DerefType { ty, .. } | Op::XderefType { ty, .. } => Some(ty),
        _ => None,
    }
}
