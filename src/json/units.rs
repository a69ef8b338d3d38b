//! Units, files, namespaces, blocks, inlined calls and macros.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::facts::{Outcome, facts, kind};
use super::ids::Known;
use super::language;
use super::objects::objects;
use super::reader::Reader;
use super::schema::{self, HasSchema, Schemas};
use super::shape::Shaped;
use super::values::{Bytes, Line, Named, Number, Pcs, Ref, Text};
use super::words::Word;
use crate::error::{Count, Error, Result};
use crate::model::entities::{file_properties, scope_properties, unit_properties};
use crate::model::{FileId, Macro, NamespaceKind, ScopeId, UnitId};

unit_properties! {
    facts UnitFacts of |known, id: UnitId| known.module.unit(id), set UnitId: [by describe_unit],
    object Unit { name: Text<'a> } { id: Text<'a> }
    object DescribeUnit { unit: Ref<'a> } {}
}
file_properties! {
    facts FileFacts of |known, id: FileId| known.module.file(id), set FileId: [by id],
    object File { unit: Ref<'a>, name: Text<'a> } { id: Text<'a> }
}
scope_properties! {
    facts ScopeFacts of |known, id: ScopeId| known.module.scope(id), set ScopeId: [by id],
    object DescribeScope { scope: Ref<'a> } {}
}
objects! {
    Namespace { r#in: Ref<'a> } {
        name: Text<'a>,
        inline: bool,
        /// Kind of the scope, where it is not a namespace, or a namespace without a name that is not inline.
        kind: Word<NamespaceKind>,
        id: Text<'a>,
    }
    Block { r#in: Ref<'a>, pcs: Vec<Pcs> } { id: Text<'a> }
    InlinedBlock { r#in: Ref<'a>, origin: Ref<'a>, pcs: Vec<Pcs> } { id: Text<'a> }
    Inlined { r#in: Ref<'a>, function: Ref<'a>, pcs: Vec<Pcs>, call: Line<'a> } { id: Text<'a> }
    Macros { unit: Ref<'a>, macros: Vec<MacroStep<'a>> } {}
}

impl<'a> Unit<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let unit = reader.builder.unit(&self.name);
        reader.add_unit(unit, self.id.as_ref(), &self.name)?;
        self.facts().describe(reader, unit, unit)
    }
}

impl<'a> DescribeUnit<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let unit = reader.unit(&self.unit)?;
        self.facts().describe(reader, unit, unit)
    }
}

impl<'a> File<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let unit = reader.unit(&self.unit)?;
        let directory = self.directory.take();
        let file = reader.builder.file(unit, &self.name, directory.as_deref())?;
        reader.names.files.add(file, self.id.as_ref(), Some((unit, &self.name)))?;
        self.facts().describe(reader, file, unit)
    }

    pub fn write(known: &'a Known<'a>, id: FileId) -> Self {
        let file = known.module.file(id);
        let json =
            Self::new(known.unit_ref(file.unit), known.text(file.name)).with(FileFacts::new(known, id));
        Self {
            directory: file.directory.map(|directory| known.text(directory)),
            id: known.file_id(id),
            ..json
        }
    }
}

impl<'a> DescribeScope<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let (scope, unit) = reader.scope_and_unit(&self.scope)?;
        self.facts().describe(reader, scope, unit)
    }
}

impl<'a> Namespace<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let scope = reader.scope(&self.r#in)?;
        let kind = match (&self.name, self.inline, self.kind) {
            (_, Some(_), Some(_)) => {
                return Err(Error::bad_argument("namespace has `inline` and `kind`; expected one of them"));
            }
            (_, None, Some(Word(kind))) => kind,
            (None, Some(false), None) => {
                return Err(Error::bad_argument(
                    "namespace without a name has `inline` false; such a namespace is always inline",
                ));
            }
            (None, _, None) | (_, Some(true), None) => NamespaceKind::Inline,
            (Some(_), _, None) => NamespaceKind::Namespace,
        };
        let namespace = reader.builder.namespace_of(scope, self.name.as_deref(), kind)?;
        reader.add_scope(namespace, self.id.as_ref(), self.name.as_ref())
    }
}

impl<'a> Block<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let scope = reader.scope(&self.r#in)?;
        let made = reader.builder.block(scope, &ranges(&self.pcs));
        let block = reader.with_key("pcs", made)?;
        reader.add_scope(block, self.id.as_ref(), None)
    }
}

impl<'a> InlinedBlock<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let scope = reader.scope(&self.r#in)?;
        let origin = reader.scope(&self.origin)?;
        let made = reader.builder.inlined_block(scope, origin, &ranges(&self.pcs));
        let block = reader.with_key("pcs", made)?;
        reader.add_scope(block, self.id.as_ref(), None)
    }
}

impl<'a> Inlined<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let (scope, unit) = reader.scope_and_unit(&self.r#in)?;
        let function = reader.names.functions.find(unit, &self.function)?;
        let call = reader.line(unit, &self.call)?;
        let made = reader.builder.inlined(scope, function, &ranges(&self.pcs), call);
        let inlined = reader.with_key("pcs", made)?;
        reader.add_scope(inlined, self.id.as_ref(), None)
    }
}

/// Converts pc ranges from JSON.
fn ranges(pcs: &[Pcs]) -> Vec<core::ops::Range<u64>> {
    pcs.iter().map(|(start, end)| start.0..end.0).collect()
}

/// Converts pc ranges to JSON.
pub(super) fn pairs(pcs: &[core::ops::Range<u64>]) -> Vec<Pcs> {
    pcs.iter().map(|pcs| (Number(pcs.start), Number(pcs.end))).collect()
}

impl<'a> Macros<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let unit = reader.unit(&self.unit)?;
        self.macros.iter().try_for_each(|step| step.apply(reader, unit))
    }

    pub fn write(known: &'a Known<'a>, id: UnitId) -> Self {
        let macros = known.module.macros(id).iter().map(|step| MacroStep::write(known, step));
        Self::new(known.unit_ref(id), macros.collect())
    }
}

/// [`Macro`].
#[derive(Debug, Serialize, Deserialize)]
#[serde(remote = "Self", rename = "a macro", rename_all = "snake_case", bound(deserialize = "'de: 'a"))]
pub(super) enum MacroStep<'a> {
    Define(u32, Text<'a>),
    Undefine(u32, Text<'a>),
    File(u32, Ref<'a>),
    EndFile,
}

impl<'de: 'a, 'a> Deserialize<'de> for MacroStep<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::deserialize(Shaped(from))
    }
}

impl Serialize for MacroStep<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, to)
    }
}

impl HasSchema for MacroStep<'_> {
    fn schema(to: &mut Schemas) -> Value {
        to.named("MacroStep", |to| {
            schema::choice([
                ("define", vec![u32::schema(to), Text::schema(to)]),
                ("undefine", vec![u32::schema(to), Text::schema(to)]),
                ("file", vec![u32::schema(to), Ref::schema(to)]),
                ("end_file", vec![]),
            ])
        })
    }
}

impl<'a> MacroStep<'a> {
    fn apply(&self, reader: &mut Reader<'a>, unit: UnitId) -> Result<()> {
        match self {
            Self::Define(line, text) => reader.builder.macros(unit)?.define(*line, text).map(drop),
            Self::Undefine(line, name) => reader.builder.macros(unit)?.undefine(*line, name).map(drop),
            Self::File(line, file) => {
                let file = reader.file(unit, file)?;
                reader.builder.macros(unit)?.file(*line, file).map(drop)
            }
            Self::EndFile => reader.builder.macros(unit)?.end_file().map(drop),
        }
    }

    fn write(known: &Known<'a>, step: &Macro) -> Self {
        match *step {
            Macro::Define { line, text } => Self::Define(line, known.text(text)),
            Macro::Undefine { line, name } => Self::Undefine(line, known.text(name)),
            Macro::File { line, file } => Self::File(line, known.file_ref(file)),
            Macro::EndFile => Self::EndFile,
        }
    }
}
