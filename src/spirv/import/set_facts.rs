//! The instructions from one set, and questions that they answer by themselves.

use super::flags;
use crate::spirv::layout::ModuleLayout;
use crate::spirv::opcodes as op;
use crate::spirv::operand::Field;
use crate::spirv::read::{Fact, Facts};
use crate::spirv::table::{InstructionName, Set};
use crate::spirv::words::Id;

/// The instructions from one set.
#[derive(Clone, Copy)]
pub(super) struct SetFacts<'f, 'a> {
    /// All sets' instructions.
    pub all: &'f Facts<'a>,
    pub set: Set,
}

impl<'f, 'a> SetFacts<'f, 'a> {
    /// The set's instructions, in order.
    pub fn iter(self) -> impl Iterator<Item = Fact<'a>> + use<'f, 'a> {
        self.all.iter().filter(move |fact| fact.set == self.set)
    }

    /// The set's instruction that defines the id.
    pub fn get(self, id: Id) -> Option<Fact<'a>> {
        self.all.get(id).filter(|fact| fact.set == self.set)
    }

    pub fn layout(self) -> &'f ModuleLayout<'a> {
        self.all.layout()
    }

    pub fn number(self, fact: &Fact<'_>, field: Field) -> Option<u64> {
        self.all.number(fact, field)
    }

    /// The number in an operand; 0 if it is unknown or does not fit 32 bits.
    pub fn word(self, fact: &Fact<'_>, field: Field) -> u32 {
        self.number(fact, field).and_then(|number| u32::try_from(number).ok()).unwrap_or_default()
    }

    /// An operand's text; empty if there is none.
    pub fn text(self, fact: &Fact<'_>, field: Field) -> String {
        self.all.text(fact, field).unwrap_or_default()
    }

    /// The instruction that an operand references, if it has this name.
    pub fn named(self, fact: &Fact<'_>, field: Field, name: InstructionName) -> Option<Fact<'a>> {
        self.all.named(fact, field).filter(|named| named.name() == Some(name))
    }

    /// Whether the id is a `DebugInfoNone`, `OpTypeVoid`, or the basic type that stands for `void`.
    pub fn is_nothing(self, id: Id) -> bool {
        let is_none = self.get(id).is_some_and(|fact| match fact.name() {
            Some(InstructionName::InfoNone) => true,
            // Some producers write a basic type without a size, because validators require a type.
            Some(InstructionName::TypeBasic) => {
                self.number(&fact, Field::Size) == Some(0)
                    && self.number(&fact, Field::Encoding) == Some(0)
                    && self.all.text(&fact, Field::Name).as_deref() == Some("void")
            }
            _ => false,
        });
        is_none || self.layout().definition(id).is_some_and(|it| it.opcode() == op::TYPE_VOID)
    }

    /// A template's target; any other id unchanged.
    pub fn not_template(self, id: Id) -> Id {
        let template = self.get(id).filter(|fact| fact.name() == Some(InstructionName::TypeTemplate));
        template.and_then(|template| template.id(Field::Target)).unwrap_or(id)
    }

    pub fn is_static_member(self, fact: &Fact<'_>) -> bool {
        self.word(fact, Field::Flags) & flags::STATIC_MEMBER != 0
    }

    /// A composite type's members, except static members.
    pub fn data_members(self, fact: &Fact<'_>) -> impl Iterator<Item = Fact<'a>> {
        let members = fact.ids(Field::Member).filter_map(move |member| self.get(member));
        members.filter(move |it| it.name() == Some(InstructionName::TypeMember) && !self.is_static_member(it))
    }

    /// Whether a composite type and all its members have size 0, as in glslang's modules. The members' offsets are then
    /// unknown.
    pub fn has_no_layout(self, fact: &Fact<'_>) -> bool {
        let is_zero = |fact: &Fact<'_>, field| self.number(fact, field) == Some(0);
        let mut members = self.data_members(fact);
        is_zero(fact, Field::Size)
            && fact.ids(Field::Member).next().is_some()
            && members.all(|it| is_zero(&it, Field::Size) && is_zero(&it, Field::Offset))
    }

    /// Ids that specify an array's element counts.
    pub fn counted_by(self, array: &Fact<'_>) -> Vec<Id> {
        let subranges = array.ids(Field::Subrange).filter_map(|id| self.get(id));
        let counts = subranges.flat_map(|subrange| subrange.id(Field::Count));
        array.ids(Field::ComponentCount).chain(counts).collect()
    }
}
