//! Writes bindings: the inverse of reading.

use core::ops::Range;
use std::io::Write;

use hashbrown::{HashMap, HashSet};

use super::super::ids::Known;
use super::super::values::{Named, Signed, Text};
use super::super::write;
use super::{Bound, BoundFunction, BoundPosition, IndexBy, ProvidedBy, Sums};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{FunctionId, Module, UnitId};
use crate::spirv::{Binding, DebugOperation, Id, Index, Interpretation, Position, Provider, Statement};

impl Binding {
    /// Writes the [description](crate::json) of a module with this binding, from which [`from_json`](Self::from_json)
    /// makes an equal module and binding. Ids are written as numbers.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`](crate::error::ErrorKind::BadArgument) for a line in a file of another unit than the
    /// function's, and for bits that end at their start; [`ErrorKind::UnknownId`](crate::error::ErrorKind::UnknownId) for
    /// an entity that the module lacks.
    pub fn to_json(&self, module: &Module) -> Result<String> {
        let mut out = Vec::new();
        self.write_json(module, &mut out)?;
        String::from_utf8(out).map_err(|_| Error::malformed("JSON is UTF-8"))
    }

    /// Writes the same, with each statement of the description on a line.
    ///
    /// # Errors
    /// The errors of [`to_json`](Self::to_json), and [`ErrorKind::Io`](crate::error::ErrorKind::Io).
    pub fn write_json(&self, module: &Module, to: impl Write) -> Result<()> {
        self.statements().iter().try_for_each(|(_, statement)| is_of(module, statement))?;
        let function =
            self.functions.iter().find(|(id, code)| code.is_some() && !module.functions.is_valid(*id));
        let global = self.globals.iter().find(|(id, code)| code.is_some() && !module.variables.is_valid(*id));
        let unknown = function.map(|it| it.0.to_string()).or(global.map(|it| it.0.to_string()));
        if let Some(id) = unknown {
            return Err(ErrorKind::UnknownId(id).into());
        }
        let statements = || self.statements().iter().map(|(_, statement)| statement);
        let globals = module.variables.keys().filter(|&id| self.global_id(id).is_some());
        let variables = statements().filter_map(|it| it.variable()).chain(globals);
        let scopes = statements().filter_map(|it| match it {
            Statement::Scope(scope) => *scope,
            _ => None,
        });
        let known = Known::new(module).referenced(variables, scopes);
        let bound = bound(self, &known)?;
        write::module(&known, Some(("spirv", &bound)), to)
    }
}

/// Checks that the entities of a statement are the module's.
fn is_of(module: &Module, statement: &Statement) -> Result<()> {
    let unknown = |id: &dyn core::fmt::Display| Err(ErrorKind::UnknownId(id.to_string()).into());
    match statement {
        Statement::Scope(Some(scope)) if !module.scopes.is_valid(*scope) => unknown(scope),
        Statement::Line(Some(line)) if !module.files.is_valid(line.file) => unknown(&line.file),
        it => match it.variable() {
            Some(variable) if !module.variables.is_valid(variable) => unknown(&variable),
            _ => Ok(()),
        },
    }
}

fn id(id: Id) -> Named<'static> {
    Named::Number(id.0.into())
}

fn bound<'m>(binding: &'m Binding, known: &Known<'m>) -> Result<Bound<'m>> {
    let module = known.module;
    let mut bound = Bound::new();
    if let Some((digits, may_be_shared)) = binding.build_id() {
        bound.build_identifier = Some(digits.into());
        bound.shared_identifier = may_be_shared.then_some(true);
    }
    bound.storage_path = binding.stored_at().map(Text::from);
    let languages =
        module.units().filter_map(|(unit, _)| Some((known.unit_ref(unit), binding.language_number(unit)?)));
    bound.languages = some(languages.collect());
    let globals = module
        .variables()
        .filter_map(|(variable, _)| Some((known.variable_ref(variable), id(binding.global_id(variable)?))));
    bound.globals = some(globals.collect());
    bound.functions = some(functions(binding, known)?);
    Ok(bound)
}

fn some<T>(list: Vec<T>) -> Option<Vec<T>> {
    Some(list).filter(|list| !list.is_empty())
}

/// The functions with their statements. A function recurs where the statements of several alternate.
fn functions<'m>(binding: &Binding, known: &Known<'m>) -> Result<Vec<BoundFunction<'m>>> {
    let module = known.module;
    let all = module.functions().filter_map(|(of, _)| Some((binding.function_id(of)?, of)));
    let mut unwritten: Vec<(Id, FunctionId)> = all.collect();
    let described: HashMap<Id, FunctionId> = unwritten.iter().rev().copied().collect();
    let function = |code, of: Option<FunctionId>| {
        let mut bound = BoundFunction::new(id(code));
        bound.function = of.map(|of| known.function_ref(of));
        bound
    };
    let (mut written, mut codes, mut last) = (Vec::new(), HashSet::new(), None);
    for &(at, statement) in binding.statements() {
        let code = match at {
            Position::Start { function, .. } | Position::Before { function, .. } => function,
            // The position does not depend on the function.
            Position::After(after) => last.or(unwritten.first().map(|it| it.0)).unwrap_or(after),
        };
        let of = described.get(&code).copied();
        if last != Some(code) {
            written.push(function(code, of));
            last = Some(code);
            codes.insert(code);
        }
        if let Statement::Line(Some(line)) = statement {
            let unit = of.map_or(UnitId::from_u32(0), |of| module.scope(module.function(of).scope).unit);
            if module.file(line.file).unit != unit {
                let file = module.string(module.file(line.file).name);
                let what = format!("a line of {code} is in `{file}`, a file of another unit");
                return Err(Error::bad_argument(what));
            }
        }
        if let Some(function) = written.last_mut() {
            let mut bound = position(at);
            add(&mut bound, binding, known, statement)?;
            function.at.get_or_insert_default().push(bound);
        }
    }
    unwritten.retain(|&(code, of)| described.get(&code) != Some(&of) || !codes.contains(&code));
    written.extend(unwritten.into_iter().map(|(code, of)| function(code, Some(of))));
    Ok(written)
}

fn position<'a>(position: Position) -> BoundPosition<'a> {
    let mut bound = BoundPosition::new();
    match position {
        Position::Start { block, .. } => bound.start = Some(id(block)),
        Position::Before { block, instruction, .. } => bound.before = Some((id(block), instruction)),
        Position::After(after) => bound.after = Some(id(after)),
    }
    bound
}

fn add<'m>(
    bound: &mut BoundPosition<'m>,
    binding: &Binding,
    known: &Known<'m>,
    statement: Statement,
) -> Result<()> {
    let providers = binding.providers();
    match statement {
        Statement::Scope(Some(scope)) => bound.scope = Some(known.scope_ref(scope)),
        Statement::Scope(None) => bound.no_scope = Some(true),
        Statement::Line(Some(line)) => bound.line = Some(known.line(line)),
        Statement::Line(None) => bound.no_line = Some(true),
        Statement::Declare { variable, provider } => {
            bound.declare = Some((known.variable_ref(variable), provided_by(&providers[provider as usize])?));
        }
        Statement::Value { variable, provider, count } => {
            let all = providers[provider as usize..][..count as usize].iter().map(provided_by);
            bound.value = Some((known.variable_ref(variable), all.collect::<Result<_>>()?));
        }
    }
    Ok(())
}

fn provided_by<'a>(provider: &Provider) -> Result<ProvidedBy<'a>> {
    let mut by = ProvidedBy::new(id(provider.id()));
    by.part = some(provider.indexes().iter().map(index).collect());
    let selected = provider.selected_bits().map(bits).transpose()?;
    match provider.interpretation() {
        Interpretation::Expression => {
            let all = provider.operations(false);
            by.operations = Some(all.iter().map(|it| (it.name().into(), it.operands().to_vec())).collect());
            return Ok(by);
        }
        Interpretation::Pointer(space) => (by.pointer, by.space) = (Some(true), space),
        Interpretation::Value => {}
    }
    by.bits = selected;
    by.plus = some(sums(provider.steps())).map(Sums);
    let taken = provider.taken_bits().map(|(start, size)| bits(start..start.saturating_add(size)));
    by.taken = taken.transpose()?;
    Ok(by)
}

/// The numbers that [`Provider::plus`] added.
fn sums(mut steps: &[DebugOperation]) -> Vec<Signed> {
    let mut all = Vec::new();
    loop {
        let (number, rest) = match *steps {
            [DebugOperation::PlusUconst(number), ref rest @ ..] => (i64::from(number), rest),
            [DebugOperation::Constu(number), DebugOperation::Minus, ref rest @ ..] => {
                (-i64::from(number), rest)
            }
            _ => return all,
        };
        all.push(Signed(number));
        steps = rest;
    }
}

fn index<'a>(index: &Index) -> IndexBy<'a> {
    match *index {
        Index::Number(number) => IndexBy::Number(number),
        Index::Id(of) => IndexBy::Id(id(of)),
    }
}

fn bits(bits: Range<u32>) -> Result<(u32, u32)> {
    match bits.start < bits.end {
        true => Ok((bits.start, bits.end)),
        false => Err(Error::bad_argument(format!("bits end at their start: {} to {}", bits.start, bits.end))),
    }
}
