//! Lowering one module after the other.

use std::sync::Mutex;

use super::link::Linker;
use super::lowered::LoweredUnit;
use super::units::{Scratch, Units, invalid};
use crate::consumer::{Consumer, Policy};
use crate::emit::Section;
use crate::error::{Conflict, ErrorKind, Identity, Result};
use crate::model::Module;
use crate::omission::Omission;
use crate::target::Target;

/// Lowering for a program in several modules, each of which can be dropped before the next is described.
///
/// Peak memory holds the sections and the largest module, instead of all modules. References between units, such as
/// [`Loc::pointer_to`](crate::model::Loc::pointer_to), are within a module. [`check`](crate::check()) compares one
/// module with that module's sections: lower it by itself to check it.
///
/// The sections equal those of one module with the same units, with these exceptions: common frame entries that contain
/// a symbol address are repeated for each module, so are the type units' abbreviations, and `.debug_str` has the name
/// index's names module by module.
///
/// ```
/// # use eitri::{build::Builder, lower::{Consumer, Policy, Stream, lower}, target::Target};
/// let consumer = Consumer::dwarf5();
/// let mut stream = Stream::new(&consumer, Policy::Strict);
/// for name in ["a.c", "b.c", "c.c"] {
///     let mut m = Builder::new(Target::x86_64());
///     m.unit(name);
///     stream.push(&m.finish()?)?;
/// }
///
/// let mut m = Builder::new(Target::x86_64());
/// for name in ["a.c", "b.c", "c.c"] {
///     m.unit(name);
/// }
/// assert_eq!(stream.finish()?, lower(&m.finish()?, &consumer, Policy::Strict)?.sections);
/// # Ok::<(), eitri::Error>(())
/// ```
pub struct Stream<'c> {
    consumer: &'c Consumer,
    policy: Policy,
    /// Linker for the modules so far, and their target.
    so_far: Option<(Linker, Target)>,
    /// Tables that the last module left.
    scratch: Vec<Scratch>,
}

impl core::fmt::Debug for Stream<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Stream").field("consumer", self.consumer).finish_non_exhaustive()
    }
}

impl<'c> Stream<'c> {
    /// Returns a stream without modules.
    pub fn new(consumer: &'c Consumer, policy: Policy) -> Self {
        Self { consumer, policy, so_far: None, scratch: Vec::new() }
    }

    /// Lowers a module's units. Returns this module's omissions. Modules of
    /// [one builder](crate::build::Builder::hand_over) are lowered faster.
    ///
    /// # Errors
    /// The errors of [`lower`](super::lower()); [`ErrorKind::WrongTarget`] where the target differs from the earlier
    /// modules' target; [`ErrorKind::InvalidConsumer`] for split units, whose file names are unique only within a
    /// module, and for line directives, whose file numbers are. After an error the stream is incomplete.
    pub fn push(&mut self, module: &Module) -> Result<Vec<Omission>> {
        let mut units = units(module, self.consumer, self.policy)?;
        units.scratch = Mutex::new(core::mem::take(&mut self.scratch));
        let linker = self.linker(&units)?;
        units.push_all(linker)?;
        let omissions = linker.take_omissions();
        self.scratch = units.scratch.into_inner().unwrap_or_default();
        // Locations belong to one module, so the expressions are forgotten; the memory stays.
        self.scratch.iter_mut().for_each(|scratch| scratch.memo.clear());
        Ok(omissions)
    }

    /// Lowers a module's units, to be [appended](Self::append): without a stream, so that threads can describe and
    /// lower modules side by side.
    ///
    /// ```
    /// # use eitri::{build::Builder, lower::{Consumer, Policy, Stream}, target::Target};
    /// let consumer = &Consumer::dwarf5();
    /// let lowered = std::thread::scope(|scope| {
    ///     let threads = ["a.c", "b.c"].map(|name| {
    ///         scope.spawn(move || {
    ///             let mut m = Builder::new(Target::x86_64());
    ///             m.unit(name);
    ///             let module = m.finish()?;
    ///             let units = Stream::lower(&module, consumer, Policy::Strict)?;
    ///             Ok::<_, eitri::Error>((module, units))
    ///         })
    ///     });
    ///     threads.map(|thread| thread.join().unwrap())
    /// });
    /// let mut stream = Stream::new(consumer, Policy::Strict);
    /// for result in lowered {
    ///     let (module, units) = result?;
    ///     stream.append(&module, units)?;
    /// }
    /// assert!(!stream.finish()?.is_empty());
    /// # Ok::<(), eitri::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`push`](Self::push), except for a different target.
    pub fn lower(module: &Module, consumer: &Consumer, policy: Policy) -> Result<Vec<LoweredUnit>> {
        let units = units(module, consumer, policy)?;
        module.units().map(|(id, _)| units.lower(id)).collect()
    }

    /// Appends a module's [lowered](Self::lower) units, for the stream's consumer and policy. The bytes are those that
    /// [`push`](Self::push) appends. Returns this module's omissions.
    ///
    /// # Errors
    /// The errors of [`push`](Self::push); [`ErrorKind::UnknownId`] where one of the module's units is missing.
    pub fn append(&mut self, module: &Module, lowered: Vec<LoweredUnit>) -> Result<Vec<Omission>> {
        let units = units(module, self.consumer, self.policy)?;
        let linker = self.linker(&units)?;
        linker.append_all(&units, lowered)?;
        Ok(linker.take_omissions())
    }

    /// Returns the linker for another module's units.
    fn linker(&mut self, units: &Units<'_>) -> Result<&mut Linker> {
        let target = &units.module.target;
        let (linker, before) = match &mut self.so_far {
            Some((linker, before)) => {
                linker.begin_module(units.module);
                (linker, &*before)
            }
            none => {
                let (linker, before) = none.insert((Linker::new(units), target.clone()));
                (linker, &*before)
            }
        };
        if before != target {
            let [expected, actual] = [before, target].map(|it| Identity::Name(it.name().into()));
            return Err(ErrorKind::WrongTarget { target: before.name().into(), expected, actual }.into());
        }
        Ok(linker)
    }

    /// Returns the debug sections of all modules, with relocations; none without a module.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] where a section does not fit the 32-bit DWARF format.
    pub fn finish(self) -> Result<Vec<Section>> {
        self.so_far.map_or(Ok(Vec::new()), |(linker, _)| Ok(linker.finish()?.sections))
    }
}

/// Returns a module's units, as one module among several.
fn units<'m>(module: &'m Module, consumer: &'m Consumer, policy: Policy) -> Result<Units<'m>> {
    if consumer.is_split {
        return Err(invalid(Conflict::SplitStream));
    }
    if consumer.has_line_directives {
        return Err(invalid(Conflict::DirectivesStream));
    }
    let mut units = Units::new(module, consumer, policy)?;
    units.shared.has_others = true;
    Ok(units)
}
