//! Binding objects, read as [`Binding`] calls and written from it.

use super::super::objects::objects;
use super::super::values::{Line, Named, Ref, Text};
use super::values::{IndexBy, Sums};
#[cfg(feature = "spirv")]
use {
    super::super::ids::Known,
    super::super::position,
    super::super::values::Signed,
    super::binder::{Binder, Placed},
    super::codes::{BoundCode, BoundStatement, codes, languages},
    crate::error::{Error, Result},
    crate::spirv::{Binding, Id, Interpretation, Position, Provider, Statement},
};

objects! {
    /// A SPIR-V module's ids and positions, for the description's entities.
    Bound {} {
        /// Identifies the module's debug information: 32 lowercase hexadecimal digits, or more.
        build_identifier: Text<'a>,
        /// Different sources may have the build identifier.
        shared_identifier: bool,
        /// Location of separate debug information.
        storage_path: Text<'a>,
        /// Units, each with its language's number in SPIR-V.
        languages: Vec<(Ref<'a>, u32)>,
        /// Variables outside functions, each with its `OpVariable` or constant.
        globals: Vec<(Ref<'a>, Named<'a>)>,
        /// Functions.
        functions: Vec<BoundFunction<'a>>,
    }
    /// A function's `OpFunction`, and statements about positions in it, in their order.
    BoundFunction { id: Named<'a> } {
        /// The described function. Without one, lines are in files of the first unit.
        function: Ref<'a>,
        at: Vec<BoundPosition<'a>>,
    }
    /// A position: one of `start`, `before`, `after`. The other keys apply from there on.
    BoundPosition {} {
        /// The start of the block with this label.
        start: Named<'a>,
        /// Before an instruction in a block: the label, and the index counted from 0.
        before: (Named<'a>, u32),
        /// After the instruction that defines the id.
        after: Named<'a>,
        /// The scope: a function, block or inlined call.
        scope: Ref<'a>,
        /// No scope.
        no_scope: bool,
        /// The line.
        line: Line<'a>,
        /// No line.
        no_line: bool,
        /// A variable in memory.
        declare: (Ref<'a>, ProvidedBy<'a>),
        /// Values of a variable; without any, the variable is unavailable.
        value: (Ref<'a>, Vec<ProvidedBy<'a>>),
    }
    /// An id that provides a variable or a part of it.
    ProvidedBy { id: Named<'a> } {
        /// The id is the variable's address.
        pointer: bool,
        /// The address's storage class.
        space: u32,
        /// Number added to the value or the address, or several.
        plus: Sums,
        /// Exactly these operations: names, each with its operands.
        operations: Vec<(Text<'a>, Vec<u32>)>,
        /// Indexes of the variable's part: numbers, or ids whose values are the indexes.
        part: Vec<IndexBy<'a>>,
        /// First bit and end of the value's bits.
        taken: (u32, u32),
        /// First bit and end of the variable's bits.
        bits: (u32, u32),
    }
}

#[cfg(feature = "spirv")]
impl<'a> Bound<'a> {
    /// Adds everything to the binding.
    pub fn read(self, binder: &mut Binder<'_, 'a>) -> Result<()> {
        if self.shared_identifier.is_some() && self.build_identifier.is_none() {
            return Err(Error::bad_argument(
                "`shared_identifier` stands alone; expected a `build_identifier`, which may be shared",
            ));
        }
        if let Some(identifier) = self.build_identifier {
            binder.binding.build_identifier(&identifier, self.shared_identifier == Some(true));
        }
        if let Some(path) = self.storage_path {
            binder.binding.storage_path(&path);
        }
        if let Some(languages) = self.languages {
            let languages =
                languages.into_iter().map(|(unit, number)| Ok((binder.reader.unit(&unit)?, number)));
            for (unit, number) in languages.collect::<Result<Vec<_>>>()? {
                binder.binding.language(unit, number);
            }
        }
        if let Some(globals) = self.globals {
            let globals = globals
                .into_iter()
                .map(|(variable, id)| Ok((binder.reader.variable(&variable)?, binder.id(&id)?)));
            for (variable, id) in globals.collect::<Result<Vec<_>>>()? {
                binder.binding.global(variable, id);
            }
        }
        self.functions.into_iter().flatten().try_for_each(|function| function.read(binder))
    }

    pub fn write(known: &'a Known<'a>, binding: &'a Binding) -> Result<Self> {
        let mut json = Self::new();
        if let Some((identifier, is_shared)) = binding.build_id() {
            json.build_identifier = Some(identifier.into());
            json.shared_identifier = is_shared.then_some(true);
        }
        json.storage_path = binding.stored_at().map(Text::from);
        json.languages =
            list(languages(known.module, binding).map(|(unit, number)| (known.unit_ref(unit), number)));
        let globals = known.module.variables().filter_map(|(variable, _)| {
            Some((known.variable_ref(variable), written_id(binding.global_id(variable)?)))
        });
        json.globals = list(globals);
        let functions =
            codes(binding, known.module)?.into_iter().map(|code| BoundFunction::write(known, code));
        json.functions = list(functions.collect::<Result<Vec<_>>>()?.into_iter());
        Ok(json)
    }
}

#[cfg(feature = "spirv")]
impl<'a> BoundFunction<'a> {
    fn read(self, binder: &mut Binder<'_, 'a>) -> Result<()> {
        let id = binder.id(&self.id)?;
        binder.unit = Binder::first();
        if let Some(name) = self.function {
            let (function, unit) = binder.reader.function(&name)?;
            binder.binding.function(function, id);
            let once = binder.binding.check_once(binder.reader.builder.described());
            once.map_err(|error| position::in_part(error, binder.text, &name))?;
            binder.unit = unit;
        }
        self.at.into_iter().flatten().try_for_each(|position| position.read(binder, id))
    }

    fn write(known: &'a Known<'a>, code: BoundCode<'_>) -> Result<Self> {
        let positions = code.statements.into_iter().map(|statement| BoundPosition::write(known, &statement));
        Ok(Self {
            function: code.function.map(|function| known.function_ref(function)),
            at: list(positions.collect::<Result<Vec<_>>>()?.into_iter()),
            ..Self::new(written_id(code.code))
        })
    }
}

#[cfg(feature = "spirv")]
impl<'a> BoundPosition<'a> {
    fn read(self, binder: &mut Binder<'_, 'a>, function: Id) -> Result<()> {
        let mut placed = Placed::default();
        if let Some(label) = self.start {
            placed.place(Position::start(function, binder.id(&label)?))?;
        }
        if let Some((label, index)) = self.before {
            placed.place(Position::before(function, binder.id(&label)?, index))?;
        }
        if let Some(id) = self.after {
            placed.place(Position::after(binder.id(&id)?))?;
        }
        if let Some(scope) = self.scope {
            let scope = binder.reader.scope(&scope)?;
            binder.binding.scope(placed.position()?, scope);
        }
        if self.no_scope == Some(true) {
            binder.binding.no_scope(placed.position()?);
        }
        if let Some(line) = self.line {
            let line = binder.reader.line(binder.unit, &line)?;
            binder.binding.line(placed.position()?, line);
        }
        if self.no_line == Some(true) {
            binder.binding.no_line(placed.position()?);
        }
        if let Some((variable, provider)) = self.declare {
            let variable = binder.reader.variable(&variable)?;
            let provider = provider.read(binder)?;
            binder.binding.declare(placed.position()?, variable, provider);
        }
        if let Some((variable, providers)) = self.value {
            let variable = binder.reader.variable(&variable)?;
            let providers = providers.into_iter().map(|provider| provider.read(binder));
            let providers = providers.collect::<Result<Vec<_>>>()?;
            binder.binding.value(placed.position()?, variable, &providers);
        }
        // A statement without other keys still needs exactly one position.
        placed.position().map(drop)
    }

    fn write(known: &'a Known<'a>, bound: &BoundStatement<'_>) -> Result<Self> {
        let mut json = Self::new();
        match bound.at {
            Position::Start { block, .. } => json.start = Some(written_id(block)),
            Position::Before { block, instruction, .. } => {
                json.before = Some((written_id(block), instruction));
            }
            Position::After(id) => json.after = Some(written_id(id)),
        }
        match bound.statement {
            Statement::Scope(Some(scope)) => json.scope = Some(known.scope_ref(scope)),
            Statement::Scope(None) => json.no_scope = Some(true),
            Statement::Line(Some(line)) => json.line = Some(known.line(line)),
            Statement::Line(None) => json.no_line = Some(true),
            Statement::Declare { variable, provider } => {
                let provider = ProvidedBy::write(&bound.providers[provider as usize])?;
                json.declare = Some((known.variable_ref(variable), provider));
            }
            Statement::Value { variable, provider, count } => {
                let providers = &bound.providers[provider as usize..][..count as usize];
                let providers = providers.iter().map(ProvidedBy::write).collect::<Result<Vec<_>>>()?;
                json.value = Some((known.variable_ref(variable), providers));
            }
        }
        Ok(json)
    }
}

#[cfg(feature = "spirv")]
impl<'a> ProvidedBy<'a> {
    fn read(self, binder: &Binder<'_, 'a>) -> Result<Provider> {
        let id = binder.id(&self.id)?;
        let has_other_keys =
            self.pointer == Some(true) || self.plus.is_some() || self.space.is_some() || self.taken.is_some();
        if self.operations.is_some() && has_other_keys {
            return Err(Error::bad_argument(
                "`operations` stands beside other keys of the expression; expected no `pointer`, `space`, `plus` or `taken`",
            ));
        }
        if self.space.is_some() && self.pointer != Some(true) {
            return Err(Error::bad_argument(
                "`space` stands without `pointer`; expected an id that is the variable's address",
            ));
        }
        let mut provider =
            if self.pointer == Some(true) { Provider::pointer(id) } else { Provider::value(id) };
        if let Some(space) = self.space {
            provider = provider.in_space(space);
        }
        if let Some(plus) = self.plus {
            provider = plus.numbers()?.into_iter().fold(provider, Provider::plus);
        }
        if let Some(operations) = self.operations {
            let operations = operations.iter().map(|(name, operands)| binder.operation(name, operands));
            provider = Provider::expression(id, &operations.collect::<Result<Vec<_>>>()?);
        }
        if let Some(part) = self.part {
            let indexes = part.into_iter().map(|index| index.read(binder)).collect::<Result<Vec<_>>>()?;
            provider = indexes.into_iter().fold(provider, Provider::indexed);
        }
        if let Some(taken) = self.taken {
            provider = provider.taken(range(taken)?);
        }
        if let Some(bits) = self.bits {
            provider = provider.bits(range(bits)?);
        }
        Ok(provider)
    }

    fn write(provider: &Provider) -> Result<Self> {
        let mut json = Self::new(written_id(provider.id()));
        if let Interpretation::Pointer(space) = provider.interpretation() {
            json.pointer = Some(true);
            json.space = space;
        }
        json.part = list(provider.indexes().iter().copied().map(IndexBy::write));
        if provider.is_expression() {
            let operations = provider.operations(false).into_iter();
            let operations =
                operations.map(|operation| (operation.name().into(), operation.operands().collect()));
            json.operations = Some(operations.collect());
            return Ok(json);
        }
        let sums = provider.sums();
        if !sums.is_empty() {
            json.plus = Some(Sums(sums.into_iter().map(Signed).collect()));
        }
        if let Some((start, size)) = provider.taken_bits() {
            json.taken = Some(pair(start..start.saturating_add(size))?);
        }
        json.bits = provider.selected_bits().map(pair).transpose()?;
        Ok(json)
    }
}

#[cfg(feature = "spirv")]
fn written_id(id: Id) -> Named<'static> {
    Named::Number(id.0.into())
}

/// Collects a list, unless it is empty.
#[cfg(feature = "spirv")]
fn list<T>(items: impl Iterator<Item = T>) -> Option<Vec<T>> {
    Some(items.collect::<Vec<_>>()).filter(|items| !items.is_empty())
}

/// Converts the first bit and the end of bits from JSON, unless they are empty.
#[cfg(feature = "spirv")]
fn range((start, end): (u32, u32)) -> Result<core::ops::Range<u32>> {
    if start < end {
        return Ok(start..end);
    }
    Err(Error::bad_argument(format!("bit range {start} to {end} is empty; expected an end after the start")))
}

/// Converts bits to JSON, unless they are empty.
#[cfg(feature = "spirv")]
fn pair(bits: core::ops::Range<u32>) -> Result<(u32, u32)> {
    let bits = range((bits.start, bits.end))?;
    Ok((bits.start, bits.end))
}
