//! Meaning of a frame: the locations of the canonical frame address and of the caller's registers.

use super::numbers::number_in;
use super::{DescribedStorage, MachineContents, NoMeaning, StorageSpan};
use crate::model::ids::FunctionId;
use crate::model::{Column, FrameRule, Module, Node};
use crate::op::Reg;
use crate::target::{ByteOrder, SpaceId};

impl Module {
    /// Returns the spans of a frame column at a pc, in bytes from the function start: the first byte at the canonical
    /// frame address, or a caller's register, of which memory has the thread's part where an
    /// [expression belongs to one thread](crate::target::Target::has_lane_expressions). Spans depend on the model alone, not on emitted bytes.
    ///
    /// A register without a rule is unchanged if the calling convention [preserves](crate::target::Target::preserved_bits)
    /// it, and undefined if not, unless the frame has
    /// [`UnspecifiedRegisters::SameValue`](crate::target::UnspecifiedRegisters::SameValue). But [`Target::cfa_register`](crate::target::Target::cfa_register) without a rule is the
    /// canonical frame address.
    ///
    /// # Errors
    /// The reason why the column has no meaning with these contents; [`NoMeaning::Unreadable`] for the canonical frame
    /// address if the frame has no rules.
    pub fn denote_frame(
        &self,
        function: FunctionId,
        pc: u64,
        column: Column,
        contents: &dyn MachineContents,
    ) -> Result<Vec<StorageSpan>, NoMeaning> {
        let frame = InFrame { module: self, function, pc, contents };
        let rule = self.frame_rule(function, column, pc);
        let bits = self.ruled_bits(column, rule).ok_or(NoMeaning::Malformed)?;
        if let Some(rule) = rule {
            let meaning = self.denote(Some(function), rule.loc, bits.into(), &frame);
            return meaning.map_err(|why| match why {
                NoMeaning::Unreadable(_) if self.has_raw_rule(function, pc) => NoMeaning::Raw,
                why => why,
            });
        }
        let storage = match column {
            Column::Cfa => return Err(NoMeaning::Unreadable("the frame's address".into())),
            Column::Register(reg) if self.target.cfa_register() == Some(reg) => {
                // By the calling convention this register's value in the caller is the canonical frame address itself.
                let cfa = self.denote_frame(function, pc, Column::Cfa, contents)?;
                match cfa.first() {
                    Some(StorageSpan {
                        storage: DescribedStorage::Memory(SpaceId::DEFAULT, None),
                        from,
                        ..
                    }) => {
                        let address = (from / 8) as u64;
                        let size = usize::from(self.target.address_bytes());
                        DescribedStorage::Implicit(match self.target.byte_order() {
                            ByteOrder::Little => address.to_le_bytes()[..size].to_vec(),
                            ByteOrder::Big => address.to_be_bytes()[8 - size..].to_vec(),
                        })
                    }
                    _ => return Err(NoMeaning::Part("the frame's address is not a number".into())),
                }
            }
            Column::Register(reg) => {
                // A convention may preserve only a register's low bits; the remaining bits are lost.
                let preserved = self.functions[function].unruled_bits(&self.target, reg).unwrap_or(0);
                let kept =
                    StorageSpan { storage: DescribedStorage::Register(reg), from: 0, bits: preserved.into() };
                let lost = StorageSpan {
                    storage: DescribedStorage::Undefined,
                    from: 0,
                    bits: (bits - preserved).into(),
                };
                return Ok([kept, lost].into_iter().filter(|span| span.bits > 0).collect());
            }
        };
        Ok(vec![StorageSpan { storage, from: 0, bits: bits.into() }])
    }
}

impl Module {
    /// Returns the number of bits that a column's rule locates; `None` if the target lacks the register. Where an expression
    /// belongs to one thread, memory has the thread's part of a register.
    pub(crate) fn ruled_bits(&self, column: Column, rule: Option<&FrameRule>) -> Option<u32> {
        let Column::Register(reg) = column else {
            // The first byte identifies the canonical frame address, whatever is stored there.
            return Some(8);
        };
        let register = self.target.register(reg)?;
        let root = rule.and_then(|rule| self.nodes(rule.loc).last());
        let is_part = self.target.has_lane_expressions()
            && !matches!(root, None | Some(Node::Register(_) | Node::Undefined));
        Some(if is_part { register.lane_bits() } else { register.bits })
    }

    /// Whether a rule at a pc is a raw expression, so that what depends on the rule cannot be read.
    fn has_raw_rule(&self, function: FunctionId, pc: u64) -> bool {
        let rules = self.frame(function).iter().filter(|rule| rule.pcs().contains(&pc));
        rules.flat_map(|rule| self.nodes(rule.loc)).any(|node| matches!(node, Node::Expr(_)))
    }
}

/// A stopped program's contents, as frame rules read them.
struct InFrame<'m> {
    module: &'m Module,
    function: FunctionId,
    pc: u64,
    contents: &'m dyn MachineContents,
}

impl MachineContents for InFrame<'_> {
    fn register(&self, reg: Reg, from: u64, bits: u32) -> Option<u64> {
        self.contents.register(reg, from, bits)
    }

    /// Returns the register's value in the caller, read at its location in the frame.
    fn entry_register(&self, reg: Reg) -> Option<u64> {
        let column = Column::Register(reg);
        let spans = self.module.denote_frame(self.function, self.pc, column, self.contents).ok()?;
        number_in(&spans, self.contents, self.module.target.byte_order()).ok()
    }

    fn cfa(&self) -> Option<StorageSpan> {
        let spans = self.module.denote_frame(self.function, self.pc, Column::Cfa, self.contents).ok()?;
        spans.into_iter().next()
    }

    fn memory(&self, space: SpaceId, lane: Option<u32>, from: u128, bits: u32) -> Option<u64> {
        self.contents.memory(space, lane, from, bits)
    }

    fn lane(&self) -> Option<u32> {
        self.contents.lane()
    }

    fn symbol(&self, name: &str) -> Option<u64> {
        self.contents.symbol(name)
    }

    fn load_bias(&self) -> u64 {
        self.contents.load_bias()
    }
}
