//! Functions, their code addresses, stack frames and line rows.

use super::attributes;
use super::facts::{Outcome, Property, facts, kind};
use super::ids::Known;
use super::later::Later;
use super::lists::{Elements, LocAt, Row, each};
use super::loc::{self, Loc};
use super::objects::objects;
use super::reader::Reader;
use super::values::{Line, Named, Number, Ref, Text};
use super::words::Word;
use crate::error::{Error, Result};
use crate::model::entities::function_properties;
use crate::model::{
    self, Accessibility, Address, Defaulted, DescribedCalls, FileId, FrameBase, FunctionId, UnitId,
    Virtuality,
};
use crate::target::Scaling;

/// A function's frame bases.
pub(super) type FrameBases<'a> = Later<'a, Elements<'a, LocAt<'a, FrameBase>>>;

objects! {
    /// Code address: a symbol and an offset in bytes, or an address. `parts` are further parts of the code.
    Code { bytes: Number } { symbol: Text<'a>, offset: Number, address: Number, parts: Vec<CodePart<'a>> }
    /// A part of the code, with its first pc, and its address as for code.
    CodePart { from: Number, bytes: Number } { symbol: Text<'a>, offset: Number, address: Number }
    /// A stack frame.
    Stack {} { base: Named<'a>, scaling: Word<Scaling>, at_zero: bool }
    Rows { function: Ref<'a>, rows: Later<'a, Elements<'a, Row<'a>>> } {}
}
function_properties! {
    facts FunctionFacts of |known, id: FunctionId| known.module.function(id), set FunctionId: [by describe_function],
    object Function { r#in: Ref<'a>, name: Text<'a> } { declaration: bool, id: Text<'a> }
    object FunctionDefinition { r#in: Ref<'a>, declaration: Ref<'a> } { id: Text<'a> }
    object FunctionInstance { r#in: Ref<'a>, origin: Ref<'a> } { id: Text<'a> }
    object DescribeFunction { function: Ref<'a> } {}
}

impl<'a> Function<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let (scope, unit) = reader.scope_and_unit(&self.r#in)?;
        let function = if self.declaration == Some(true) {
            reader.builder.function_declaration(scope, &self.name)?.id()
        } else {
            reader.builder.function(scope, &self.name)?.id()
        };
        reader.add_function(function, self.id.as_ref(), Some(&self.name))?;
        self.facts().describe(reader, function, unit)
    }
}

impl<'a> FunctionDefinition<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let (scope, unit) = reader.scope_and_unit(&self.r#in)?;
        let (declaration, _) = reader.function(&self.declaration)?;
        let function = reader.builder.function_definition(scope, declaration)?.id();
        reader.add_function(function, self.id.as_ref(), None)?;
        self.facts().describe(reader, function, unit)
    }
}

impl<'a> FunctionInstance<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let (scope, unit) = reader.scope_and_unit(&self.r#in)?;
        let (origin, _) = reader.function(&self.origin)?;
        let function = reader.builder.function_instance(scope, origin)?.id();
        reader.add_function(function, self.id.as_ref(), None)?;
        self.facts().describe(reader, function, unit)
    }
}

impl<'a> DescribeFunction<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let (function, unit) = reader.function(&self.function)?;
        self.facts().describe(reader, function, unit)
    }
}

/// The address and the size.
impl<'a> Property<'a, FunctionId> for Code<'a> {
    fn read(self, reader: &mut Reader<'a>, id: FunctionId, _: UnitId) -> Result<()> {
        let Number(bytes) = self.bytes;
        match (self.symbol, self.offset, self.address) {
            (Some(symbol), offset, None) => {
                let offset = offset.map_or(0, |Number(offset)| offset);
                reader.builder.describe_function(id)?.code_from(&symbol, offset, bytes);
            }
            (None, None, Some(Number(address))) => {
                reader.builder.describe_function(id)?.address(Address::Constant(address), bytes);
            }
            _ => return Err(Error::bad_argument(KEYS)),
        }
        for part in self.parts.unwrap_or_default() {
            let CodePart { from: Number(from), bytes: Number(bytes), symbol, offset, address, .. } = part;
            let address = match (symbol, offset, address) {
                (Some(symbol), offset, None) => {
                    let offset = offset.map_or(0, |Number(offset)| offset);
                    Address::Symbol(reader.builder.symbol(&symbol), offset)
                }
                (None, None, Some(Number(address))) => Address::Constant(address),
                _ => return Err(Error::bad_argument(KEYS)),
            };
            let pcs = from..from.saturating_add(bytes);
            reader.builder.describe_function(id)?.code_part(pcs, address)?;
        }
        Ok(())
    }

    fn write(known: &'a Known<'a>, id: FunctionId) -> Option<Self> {
        let mut parts = known.module.function(id).code_parts();
        let first = parts.next()?;
        let mut json = Self::new(Number(first.bytes()));
        (json.symbol, json.offset, json.address) = address(known, first.address);
        let further: Vec<_> = parts
            .map(|part| {
                let (symbol, offset, address) = address(known, part.address);
                let new = CodePart::new(Number(part.pcs.start), Number(part.bytes()));
                CodePart { symbol, offset, address, ..new }
            })
            .collect();
        json.parts = Some(further).filter(|further| !further.is_empty());
        Some(json)
    }
}

/// Problem with the keys of an address.
const KEYS: &str =
    "code has an invalid combination of keys; expected `symbol` with an optional `offset`, or `address`";

/// Keys of an address: symbol, offset and number.
type AddressKeys<'a> = (Option<Text<'a>>, Option<Number>, Option<Number>);

fn address<'a>(known: &'a Known<'a>, address: Address) -> AddressKeys<'a> {
    match address {
        Address::Symbol(symbol, offset) => {
            (Some(known.text(symbol.0)), Some(offset).filter(|&offset| offset != 0).map(Number), None)
        }
        Address::Constant(address) => (None, None, Some(Number(address))),
    }
}

/// The frame bases by pc.
impl<'a> Property<'a, FunctionId> for FrameBases<'a> {
    fn read(self, reader: &mut Reader<'a>, id: FunctionId, unit: UnitId) -> Result<()> {
        let Later::Text(bases) = self else { return Ok(()) };
        reader.part(bases, |reader, json| {
            each(reader, unit, json, |reader, LocAt { start, end, loc, .. }: LocAt<'_, FrameBase>| {
                reader.builder.describe_function(id)?.frame_base_at(start.0..end.0, &loc).map(drop)
            })
        })
    }

    fn write(known: &'a Known<'a>, id: FunctionId) -> Option<Self> {
        let bases = known.module.function(id).frame_bases();
        (!bases.is_empty()).then_some(Later::Model(Elements { known, items: bases }))
    }
}

impl<'a> Property<'a, FunctionId> for Stack<'a> {
    fn read(self, reader: &mut Reader<'a>, id: FunctionId, _: UnitId) -> Result<()> {
        if let Some(base) = self.base {
            let base = reader.register(&base)?;
            reader.builder.describe_function(id)?.stack_base(base).outcome()?;
        }
        if let Some(Word(scaling)) = self.scaling {
            reader.builder.describe_function(id)?.scaling(scaling).outcome()?;
        }
        if self.at_zero == Some(true) {
            reader.builder.describe_function(id)?.stack_at_zero().outcome()?;
        }
        Ok(())
    }

    fn write(known: &'a Known<'a>, id: FunctionId) -> Option<Self> {
        let function = known.module.function(id);
        let stack = function.stack;
        let scaling = Some(stack.scaling).filter(|&scaling| scaling != known.module.target.scaling());
        let json = Self {
            base: stack.base.map(|base| known.register(base)),
            scaling: scaling.map(Word),
            at_zero: function.is_stack_at_zero.then_some(true),
            ..Self::new()
        };
        let is_default = json.base.is_none() && json.scaling.is_none() && json.at_zero.is_none();
        (!is_default).then_some(json)
    }
}

impl<'a> Rows<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let (function, unit) = reader.function(&self.function)?;
        let Later::Text(rows) = self.rows else { return Ok(()) };
        // The previous row's file, which is usually the next row's too: a reference is resolved only if it differs.
        let mut last: Option<(Ref<'a>, FileId)> = None;
        let add = |reader: &mut Reader<'a>, row: Row<'a>| {
            let file = match &last {
                Some((name, file)) if *name == row.file => *file,
                _ => {
                    let file = reader.file(unit, &row.file)?;
                    last = Some((row.file, file));
                    file
                }
            };
            let plain = model::LineTableRow::new(row.pc.0, file, row.line).column(row.column.unwrap_or(0));
            reader.builder.row(function, row.facts.map_or(plain, |facts| facts.row(plain)))
        };
        reader.part(rows, |reader, json| each(reader, unit, json, add))
    }

    pub fn write(known: &'a Known<'a>, id: FunctionId) -> Self {
        let rows = Later::Model(Elements { known, items: known.module.rows(id) });
        Self::new(known.function_ref(id), rows)
    }
}
