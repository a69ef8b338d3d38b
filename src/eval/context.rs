//! What an evaluation depends on, apart from the machine (A.2.5.1).

use super::location::Location;
use super::machine::Architecture;
use super::stack::Element;
use crate::op::Encoding;

/// What kind of result is wanted (A.2.5.1, "current result kind").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// A location. An empty stack gives the undefined one.
    #[default]
    Location,
    /// A value.
    Value,
    /// Whatever is on top. An empty stack gives the undefined location.
    Any,
}

/// Where an expression stands. Call frame information does not allow all operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Where {
    /// In an attribute or a location list.
    #[default]
    Location,
    /// In call frame information.
    Cfi,
}

/// The current object of an expression (A.2.5.1): what `DW_OP_push_object_address` pushes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CurrentObject<'a> {
    /// What [`Machine::object`](super::Machine::object) answers.
    #[default]
    OfMachine,
    /// This one.
    Is(&'a Location),
    /// None: it is an evaluation error to ask for it.
    Unspecified,
}

/// What an evaluation depends on, apart from the machine (A.2.5.1).
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// How operations are encoded, and the size of the generic type.
    pub encoding: Encoding,
    /// Which registers and address spaces there are.
    pub target: &'a dyn Architecture,
    /// The unit that contains the expression: the offset of its header in `.debug_info`.
    pub unit: u64,
    /// The frame, 0 the innermost.
    pub frame: u32,
    /// What is on the stack at first, the bottom first.
    pub initial: &'a [Element],
    /// The current object.
    pub object: CurrentObject<'a>,
    /// What kind of result is wanted.
    pub kind: Kind,
    /// Where the expression stands.
    pub place: Where,
}

impl core::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Context")
            .field("encoding", &self.encoding)
            .field("unit", &self.unit)
            .field("frame", &self.frame)
            .field("initial", &self.initial)
            .field("object", &self.object)
            .field("kind", &self.kind)
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

impl<'a> Context<'a> {
    /// A location is wanted, of the first unit, in the innermost frame, with an empty stack.
    pub fn new(encoding: Encoding, target: &'a dyn Architecture) -> Self {
        let (kind, place) = (Kind::Location, Where::Location);
        Self {
            encoding,
            target,
            unit: 0,
            frame: 0,
            initial: &[],
            object: CurrentObject::OfMachine,
            kind,
            place,
        }
    }
}
