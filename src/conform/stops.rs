//! Files with a stopped program, at one stop or at several.

use serde::de::IgnoredAny;

use serde_json::Value;

use super::layers::{Layer, Layers};
use super::machine::{MachineText, VectorMachine};
use super::target::{TargetText, TargetsText, VectorTarget};
use super::values::{Given, Maybe, Step, Wrong, objects};
use crate::error::{Error, Result};
use crate::json::schema::{HasSchema, Schemas};

objects! {
    "machines"
    /// An object with one or several machines.
    struct MachineFile {
        #[serde(default)]
        targets: Given<TargetsText>,
        #[serde(default)]
        target: Given<TargetText>,
        #[serde(default)]
        machine: Given<MachineText>,
        #[serde(default)]
        stops: Maybe<Vec<MachineText>>,
        #[serde(default)]
        _format as "format": IgnoredAny,
        #[serde(default)]
        _vectors as "vectors": IgnoredAny,
        #[serde(default)]
        _schema as "$schema": IgnoredAny,
    }
}

/// Returns the schema for a file with machines.
pub(crate) fn machine_schema(to: &mut Schemas) -> Value {
    MachineFile::schema(to)
}

impl VectorMachine {
    /// Reads an object with a `machine` and optionally a `target`, in the vector file format; its vectors are ignored.
    /// The target `named` takes precedence over the text's target, and this over `otherwise`.
    ///
    /// ```
    /// use eitri::conform::VectorMachine;
    ///
    /// let text = r#"{"target": {"name": "x86_64"}, "machine": {"pc": "0x40"}}"#;
    /// let (machine, target) = VectorMachine::with_target(text, None, None)?;
    /// assert_eq!((machine.snapshot.pc, target.address_bytes()), (Some(0x40), 8));
    /// # Ok::<(), eitri::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors that [`from_json`](Self::from_json) returns; [`Malformed`](crate::error::ErrorKind::Malformed)
    /// without any target.
    pub fn with_target(
        text: impl AsRef<[u8]>,
        named: Option<VectorTarget>,
        otherwise: Option<VectorTarget>,
    ) -> Result<(Self, VectorTarget)> {
        let (mut machines, target) = Self::stops(text, named, otherwise)?;
        match (machines.pop(), machines.len()) {
            (Some(machine), 0) => Ok((machine, target)),
            (_, others) => Err(Error::malformed(format!("machine has {} stops; expected one", others + 1))),
        }
    }

    /// Reads an object with several consecutive stops in a program: `stops` is a list of machines, each merged into
    /// `machine` as a vector's machine is. Without `stops`, `machine` is the only stop.
    ///
    /// ```
    /// use eitri::conform::VectorMachine;
    ///
    /// let text = r#"{"target": {"name": "x86_64"}, "stops": [{"pc": "0x40"}, {"pc": "0x44"}]}"#;
    /// let (machines, _) = VectorMachine::stops(text, None, None)?;
    /// let pcs: Vec<_> = machines.iter().map(|machine| machine.snapshot.pc).collect();
    /// assert_eq!(pcs, [Some(0x40), Some(0x44)]);
    /// # Ok::<(), eitri::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors that [`with_target`](Self::with_target) returns.
    pub fn stops(
        text: impl AsRef<[u8]>,
        named: Option<VectorTarget>,
        otherwise: Option<VectorTarget>,
    ) -> Result<(Vec<Self>, VectorTarget)> {
        super::file::parse(text.as_ref(), "the machine", |file: MachineFile| {
            let target = match (named, &file.target) {
                (Some(target), _) => target,
                (None, Given::Is(object)) => {
                    let path = vec![Step::Key("target".into())];
                    VectorTarget::of(
                        &Layers(vec![Layer { object, path }]),
                        &VectorTarget::definitions(&file.targets)?,
                    )?
                }
                (None, _) => otherwise.ok_or_else(|| Wrong::new("missing field `target`"))?,
            };
            let common = match &file.machine {
                Given::Is(object) => Some(Layer { object, path: vec![Step::Key("machine".into())] }),
                _ => None,
            };
            let stop = |(index, object)| {
                let own = Layer { object, path: vec![Step::Key("stops".into()), Step::Index(index)] };
                Self::of(&Layers(common.iter().cloned().chain([own]).collect()), &target)
            };
            let machines = match (&common, &file.stops.0[..]) {
                (None, []) => return Err(Wrong::new("missing field `machine` or `stops`")),
                // A file without `stops` is a single stop.
                (Some(machine), []) => vec![Self::of(&Layers(vec![machine.clone()]), &target)?],
                (_, stops) => stops.iter().enumerate().map(stop).collect::<Result<_, Wrong>>()?,
            };
            Ok((machines, target))
        })
    }
}
