//! Omissions: described properties that an output or an import lacks or changes.
//!
//! An omission is data: a typed subject, a property, a reason. Only `Display` makes English, so that no verdict depends
//! on text.
//!
//! ```
//! # use eitri::build::Builder;
//! # use eitri::model::{BaseEncoding, Loc};
//! # use eitri::target::Target;
//! # use eitri::lower::{Consumer, Policy, lower};
//! # let gpu = Target::named("amdgpu-gfx1030-wave32")?;
//! # let (v3, v4) = (gpu.vgpr(3)?, gpu.vgpr(4)?);
//! # let mut m = Builder::new(gpu);
//! # let unit = m.unit("scale.cl");
//! # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
//! # let kernel = m.function(unit, "scale")?.code("scale", 0x28).kernel().id();
//! # m.variable(kernel, "x", int)?.live(0x04..0x28, Loc::per_lane(v3))?;
//! # let module = m.finish()?;
//! // Standard DWARF has no operation for the current lane.
//! let written = lower(&module, &Consumer::dwarf5(), Policy::Partial)?;
//! for omission in &written.omissions {
//!     // For programs, and for people.
//!     println!("{:?} {:?}", omission.subject, omission.property);
//!     println!("{omission}");
//! }
//! assert_eq!(written.omissions[0].pcs, Some(0x04..0x28));
//! # Ok::<(), eitri::Error>(())
//! ```

#[cfg(feature = "spirv")]
mod names;
mod property;
mod reason;
mod subject;
#[cfg(feature = "spirv")]
mod unimported;

use core::fmt;
use core::ops::Range;

pub use property::Property;
pub use reason::Reason;
pub use subject::{Subject, TemplateOwner};
#[cfg(feature = "spirv")]
pub use unimported::Unimported;

use reason::Clause;

use crate::error::{At, Error, ErrorKind, Result};
#[cfg(feature = "spirv")]
use crate::model::Module;
use crate::model::VariableId;

/// A property that was omitted, or encoded differently from its description.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Omission {
    /// The entity that has the property.
    pub subject: Subject,
    /// The property.
    pub property: Property,
    /// The reason, with the encoding that replaces the property, if any.
    pub reason: Reason,
    /// Half-open pc range, in bytes from the function start; `None` where the property does not depend on the pc.
    pub pcs: Option<Range<u64>>,
    /// Names for the message.
    pub names: Names,
}

/// Names for messages. No verdict depends on them.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    /// The unit, function, variable, or instruction.
    pub at: At,
    /// The subject's name, where `at` does not have it.
    pub subject: String,
    /// Name of the entity that the reason references, or the consumer's name.
    pub object: String,
}

impl Omission {
    /// Makes the omission for a location, rule or number that the consumer cannot express.
    ///
    /// # Errors
    /// Errors that have any other kind.
    pub(crate) fn inexpressible(
        subject: Subject,
        property: Property,
        pcs: Option<Range<u64>>,
        error: Error,
    ) -> Result<Self> {
        let ErrorKind::Inexpressible { what, consumer } = error.kind() else { return Err(error) };
        let names = Names { at: error.at().clone(), object: consumer.clone(), ..Names::default() };
        Ok(Self { subject, property, reason: Reason::Inexpressible(what.clone()), pcs, names })
    }

    /// Makes the omission for a property that the instruction set or the mode cannot encode.
    #[cfg(feature = "spirv")]
    pub(crate) fn of_module(module: &Module, subject: Subject, property: Property, reason: Reason) -> Self {
        let names =
            Names { at: subject.at(module), subject: subject.name(module), object: reason.object(module) };
        Self { subject, property, reason, pcs: None, names }
    }

    /// The variable that is the subject.
    pub fn variable(&self) -> Option<VariableId> {
        match self.subject {
            Subject::Variable(variable) => Some(variable),
            _ => None,
        }
    }

    /// The message without the names in `at`.
    pub(crate) fn text(&self) -> String {
        let Self { property, reason, names: Names { subject, object, .. }, .. } = self;
        let mut text = String::new();
        for part in [subject.clone(), property.to_string()].into_iter().filter(|part| !part.is_empty()) {
            text += &part;
            text += ": ";
        }
        text + &Clause { reason, object }.to_string()
    }

    /// Returns the error that the policy [`Strict`](crate::lower::Policy::Strict) reports instead of the omission.
    pub fn error(&self) -> Option<Error> {
        let Reason::Inexpressible(what) = &self.reason else { return None };
        let kind = ErrorKind::Inexpressible { what: what.clone(), consumer: self.names.object.clone() };
        Some(Error::new(kind).or_at(self.names.at.clone()))
    }
}

impl fmt::Display for Omission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = &self.names.at;
        if let Some(error) = self.error() {
            return error.fmt(f);
        }
        // Omissions that concern the whole module have no names in `at`.
        if *at != At::default() {
            write!(f, "{at}: ")?;
        }
        f.write_str(&self.text())
    }
}
