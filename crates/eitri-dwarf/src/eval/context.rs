//! The context of an evaluation, apart from the machine (A.2.5.1).

use super::architecture::Architecture;
use super::location::Location;
use super::stack::Element;
use crate::error::{Error, Result};
use crate::op::Encoding;

/// Required result kind (A.2.5.1, "current result kind").
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResultKind {
    /// A location. An empty stack results in the undefined location.
    #[default]
    Location,
    /// A value.
    Value,
    /// The top element, whether location or value. An empty stack results in the undefined location.
    Any,
}

impl ResultKind {
    /// Names that [`named`](Self::named) takes.
    pub const NAMES: [&'static str; 3] = ["location", "value", "any"];

    /// Returns the kind with a name from [`NAMES`](Self::NAMES).
    ///
    /// # Errors
    /// [`BadArgument`](crate::error::ErrorKind::BadArgument) with the known names.
    pub fn named(name: &str) -> Result<Self> {
        Ok(match name {
            "location" => Self::Location,
            "value" => Self::Value,
            "any" => Self::Any,
            _ => {
                let problem = format!("the kind of the result is `{name}`; expected location, value or any");
                return Err(Error::bad_argument(problem));
            }
        })
    }
}

/// Where an expression is. Call frame information does not allow all operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ExpressionSite {
    /// Attribute or location list.
    #[default]
    Location,
    /// Call frame information.
    Cfi,
}

/// An expression's current object (A.2.5.1), as pushed by `DW_OP_push_object_address`.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CurrentObject<'a> {
    /// The result of [`Machine::object`](super::Machine::object).
    #[default]
    OfMachine,
    /// The expression's object.
    Is(&'a Location),
    /// No object: its use is an evaluation error.
    Unspecified,
}

/// The context of an evaluation, apart from the machine (A.2.5.1).
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Context<'a> {
    /// Encoding of operations, with the size of the generic type.
    pub encoding: Encoding,
    /// Registers and address spaces.
    pub target: &'a dyn Architecture,
    /// The expression's unit: its header's offset in `.debug_info`.
    pub unit: u64,
    /// The expression's frame, 0 the innermost.
    pub frame: u32,
    /// Initial stack, bottom first.
    pub initial: &'a [Element],
    /// The current object.
    pub object: CurrentObject<'a>,
    /// Required result kind.
    pub kind: ResultKind,
    /// Whether the expression is in an attribute or in call frame information.
    pub place: ExpressionSite,
}

impl<'a> Context<'a> {
    /// Returns the context in the unit whose header is at this offset in `.debug_info`.
    #[must_use]
    pub fn with_unit(self, unit: u64) -> Self {
        Self { unit, ..self }
    }

    /// Returns the context in a frame, 0 the innermost.
    #[must_use]
    pub fn with_frame(self, frame: u32) -> Self {
        Self { frame, ..self }
    }

    /// Returns the context with an initial stack, bottom first.
    #[must_use]
    pub fn with_initial(self, initial: &'a [Element]) -> Self {
        Self { initial, ..self }
    }

    /// Returns the context with a current object.
    #[must_use]
    pub fn with_object(self, object: CurrentObject<'a>) -> Self {
        Self { object, ..self }
    }

    /// Returns the context with a required result kind.
    #[must_use]
    pub fn with_kind(self, kind: ResultKind) -> Self {
        Self { kind, ..self }
    }

    /// Returns the context of an expression that is there.
    #[must_use]
    pub fn with_place(self, place: ExpressionSite) -> Self {
        Self { place, ..self }
    }
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
    /// Returns a context for a location in the first unit, in the innermost frame, with an empty stack.
    ///
    /// ```
    /// # use eitri_dwarf::eval::{Context, CurrentObject, Evaluator, Location, Snapshot};
    /// # use eitri_dwarf::op::{Dialect, Encoding, text};
    /// # use eitri_dwarf::target::{SpaceId, Target};
    /// # let target = Target::x86_64();
    /// # let encoding = Encoding::new(8, Dialect::Dwarf5);
    /// // The data of a Fortran array: `DW_AT_data_location` reads the address in the descriptor,
    /// // which is the object.
    /// let mut machine = Snapshot::default();
    /// machine.store(SpaceId::DEFAULT, None, 0x7000, &0x9000_u64.to_le_bytes());
    /// let descriptor = Location::memory(SpaceId::DEFAULT, 64, 0x7000);
    /// let expr = text::parse("push_object_address; deref", encoding, None)?;
    /// let context = Context::new(encoding, &target).with_object(CurrentObject::Is(&descriptor));
    /// let data = Evaluator::new().location(expr.bytes(), &machine, &context)?;
    /// assert_eq!(data.to_string(), "mem:0:0x9000");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(encoding: Encoding, target: &'a dyn Architecture) -> Self {
        let kind = ResultKind::Location;
        let place = ExpressionSite::Location;
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
