//! Statements about the code of functions, and descriptions with the locations that follow from them.

use hashbrown::HashMap;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::choices::ExecOf;
use super::ids::Known;
use super::later::Later;
use super::lists::Elements;
use super::place::{self, at};
use super::read::{Reader, WHAT, finish};
use super::statement::{
    AssignOf, CodeOf, DescribeVariable, InstructionOf, PlaceOf, Ref, Statement, ValueOf, VariableFacts,
};
use super::values::{Number, Signed, Text};
use crate::build::{BlockId, ControlFlow, ExecWrite, MaskId};
use crate::error::{Error, ErrorKind, Named, Result};
use crate::model::{FunctionId, Module, VariableId};
use crate::near::nearest;
use crate::track::{Code, Instruction, Keep, Place, ValueId};

/// Code of a function, and the number of its statement.
#[derive(Debug)]
pub(super) struct Coded<'a> {
    index: usize,
    function: FunctionId,
    code: Code,
    /// Ids of variables.
    variables: Vec<(VariableId, Ref<'a>)>,
}

/// Result of [`locate`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// The description with the locations.
    pub text: String,
    /// Assignments of values that some path of a lane does not define, as text.
    pub unproven: Vec<String>,
}

/// Derives the locations of variables from the statements about code, and appends them to a
/// [description](crate::json): a statement `describe_variable` for each variable that has some.
///
/// # Errors
/// The errors of [`Code::from_json`] and of [`Code::track`]; and
/// [`ErrorKind::BadArgument`] for a variable that has locations already, or a description without such statements.
pub fn locate(text: impl AsRef<[u8]>, keep: Keep) -> Result<Located> {
    let text = place::utf8(WHAT, text.as_ref())?;
    let mut reader = super::read::read(text, None)?;
    let coded = core::mem::take(&mut reader.coded);
    if coded.is_empty() {
        let what = "locations follow from statements `code`: the description has no such statement";
        return Err(at(Error::bad_argument(what), place::of_key(text, "describe")));
    }
    // First the module without the locations, then with them.
    let module = finish(text, reader.builder)?;
    let mut builder = super::read::read(text, None)?.builder;
    let mut unproven = Vec::new();
    for one in &coded {
        let of = |error: Error| {
            let error = error.or_at(module.at_scope(module.function(one.function).scope));
            at(error, place::of_statement(text, one.index))
        };
        for (variable, id) in &one.variables {
            if module.always(*variable).is_some() || !module.live(*variable).is_empty() {
                let what = "a variable whose locations are derived has no others";
                return Err(of(Error::bad_argument(format!("{what}: `{}` has some", &**id))));
            }
        }
        let tracked = one.code.track().map_err(of)?;
        unproven.extend(tracked.unproven().iter().map(|one| {
            let at = module.at_variable(one.variable, Some(one.pc..one.pc + 1));
            format!("{at}: the assigned value is not defined on each path of a lane")
        }));
        tracked.describe(&mut builder, keep).map_err(of)?;
    }
    let module = finish(text, builder)?;
    let text = appended(text, &module, &coded)?;
    // References in locations of the compiler's own may have other ids in the text.
    if Module::from_json(&text)? != module {
        let what = "locations that refer to other entities, in a description that is appended to";
        return Err(ErrorKind::Unsupported(what.into()).into());
    }
    Ok(Located { text, unproven })
}

/// The list of statements in a description.
#[derive(Deserialize)]
struct List<'a> {
    #[serde(borrow)]
    describe: &'a RawValue,
}

/// Appends the locations of variables to the list of statements.
fn appended(text: &str, module: &Module, coded: &[Coded<'_>]) -> Result<String> {
    let known = Known::new(module);
    let mut statements = String::new();
    for (variable, id) in coded.iter().flat_map(|one| &one.variables) {
        let live = module.live(*variable);
        if live.is_empty() {
            continue;
        }
        let facts = VariableFacts {
            live: Some(Later::Model(Elements { known: &known, of: live })),
            ..Default::default()
        };
        let variable = Text(id.to_string().into());
        let statement = Statement::DescribeVariable(DescribeVariable::new(variable).with(facts));
        let json = serde_json::to_string(&statement)
            .map_err(|error| Error::malformed(error.to_string()).caused_by(error))?;
        statements += &format!(",\n{json}");
    }
    let list: List<'_> =
        serde_json::from_str(text).map_err(|error| Error::malformed(error.to_string()).caused_by(error))?;
    // The list is a part of the text.
    let end = list.describe.get().as_ptr() as usize + list.describe.get().len() - 1 - text.as_ptr() as usize;
    Ok(format!("{}{statements}\n{}", text[..end].trim_end(), &text[end..]))
}

/// Reads a description with its statements about code.
pub(super) fn read(text: &[u8]) -> Result<(Module, Vec<Code>)> {
    let text = place::utf8(WHAT, text)?;
    let mut reader = super::read::read(text, None)?;
    let coded = core::mem::take(&mut reader.coded);
    Ok((finish(text, reader.builder)?, coded.into_iter().map(|one| one.code).collect()))
}

/// Ids of one statement.
struct Ids<'a> {
    values: HashMap<Text<'a>, ValueId>,
    places: HashMap<Text<'a>, Place>,
    blocks: Vec<BlockId>,
    variables: Vec<(VariableId, Ref<'a>)>,
}

/// Error for an id of no value or place of the statement.
fn unknown<T>(kind: &'static str, id: &Text<'_>, known: &HashMap<Text<'_>, T>) -> Error {
    let mut nearest = nearest(id, known.keys().map(|id| &**id));
    nearest.sort_unstable();
    ErrorKind::UnknownName { kind: Named::Described(kind), name: id.to_string(), nearest }.into()
}

/// Error for an id of two values or places.
fn twice(kind: &'static str, id: &Text<'_>) -> Error {
    ErrorKind::DuplicateName { kind: Named::Described(kind), name: id.to_string() }.into()
}

impl<'a> Ids<'a> {
    fn value(&self, id: &Text<'a>) -> Result<ValueId> {
        self.values.get(id).copied().ok_or_else(|| unknown("value of this code", id, &self.values))
    }

    fn block(&self, index: u32) -> Result<BlockId> {
        let missing = || ErrorKind::UnknownId(format!("block {index} of this code")).into();
        self.blocks.get(index as usize).copied().ok_or_else(missing)
    }
}

impl<'a> CodeOf<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        reader.code(self)
    }
}

impl<'a> Reader<'a> {
    /// Applies a statement about the code of a function.
    fn code(&mut self, json: CodeOf<'a>) -> Result<()> {
        let (function, unit) = self.function(&json.function)?;
        if self.coded.iter().any(|one| one.function == function) {
            let what = "a function has one statement `code`";
            return Err(Error::bad_argument(format!("{what}: `{}` has another", &*json.function)));
        }
        let mut flow = ControlFlow::new();
        let blocks: Vec<BlockId> =
            json.blocks.iter().map(|&(Number(start), Number(end))| flow.block(start..end)).collect();
        let (values, places) = (HashMap::new(), HashMap::new());
        let mut ids = Ids { values, places, blocks, variables: Vec::new() };
        for (from, to) in json.edges.unwrap_or_default() {
            flow.edge(ids.block(from)?, ids.block(to)?);
        }
        for (from, to) in json.wave_edges.unwrap_or_default() {
            flow.wave_edge(ids.block(from)?, ids.block(to)?);
        }
        for (from, to) in json.lane_edges.unwrap_or_default() {
            flow.lane_edge(ids.block(from)?, ids.block(to)?);
        }
        let mut masks: HashMap<Text<'a>, MaskId> = HashMap::new();
        for (Number(start), Number(end), write) in json.exec.unwrap_or_default() {
            let mut mask = |name| *masks.entry(name).or_insert_with(|| flow.mask(&[]));
            let write = match write {
                ExecOf::Save(name) => ExecWrite::Save(mask(name)),
                ExecOf::And(name) => ExecWrite::And(mask(name)),
                ExecOf::AndNot(name) => ExecWrite::AndNot(mask(name)),
                ExecOf::Else(name) => ExecWrite::Else(mask(name)),
                ExecOf::Restore(name) => ExecWrite::Restore(mask(name)),
            };
            flow.write(start..end, write);
        }
        let target = self.builder.described().target().clone();
        let mut code = Code::new(&target, flow);
        for (id, loc) in json.places.unwrap_or_default() {
            let loc = self.whole(unit, &loc)?;
            let place = code.place(&loc)?;
            if ids.places.insert(id.clone(), place).is_some() {
                return Err(twice("place of this code", &id));
            }
        }
        for value in json.values.unwrap_or_default() {
            ids.add(&mut code, value)?;
        }
        for (value, places) in json.entry.unwrap_or_default() {
            let places = self.places(&ids, places)?;
            code.entry(ids.value(&value)?, &places)?;
        }
        for instruction in json.instructions.unwrap_or_default() {
            self.instruction(&ids, &mut code, instruction)?;
        }
        for (from, parameter, value) in json.incoming.unwrap_or_default() {
            code.incoming(ids.block(from)?, ids.value(&parameter)?, ids.value(&value)?)?;
        }
        for assign in json.assign.unwrap_or_default() {
            self.assign(&mut ids, &mut code, assign)?;
        }
        for (Number(start), Number(end), id, loc) in json.homes.unwrap_or_default() {
            let (variable, loc) = (self.tracked(&mut ids, &id)?, self.whole(unit, &loc)?);
            code.home(start..end, variable, &loc)?;
        }
        let index = self.index;
        self.coded.push(Coded { index, function, code, variables: ids.variables });
        Ok(())
    }

    fn tracked(&self, ids: &mut Ids<'a>, id: &Ref<'a>) -> Result<VariableId> {
        let variable = self.names.variables.find((), id)?;
        if !ids.variables.iter().rev().any(|(known, _)| *known == variable) {
            ids.variables.push((variable, id.clone()));
        }
        Ok(variable)
    }

    fn instruction(&mut self, ids: &Ids<'a>, code: &mut Code, json: InstructionOf<'a>) -> Result<()> {
        let InstructionOf {
            pcs,
            define,
            redefine,
            define_copy,
            copy,
            copy_uniform,
            clobber,
            all_lanes,
            several,
            ..
        } = json;
        let (Number(start), Number(end)) = pcs;
        let mut at: Instruction<'_> = match several {
            Some(true) => code.instructions(start..end),
            _ => code.instruction(start..end),
        };
        if let Some(places) = clobber {
            at.clobber(&self.places(ids, places)?)?;
        }
        for (value, to) in define.unwrap_or_default() {
            at.define(ids.value(&value)?, &self.places(ids, to)?)?;
        }
        for (value, to) in redefine.unwrap_or_default() {
            at.redefine(ids.value(&value)?, &self.places(ids, to)?)?;
        }
        for (value, from, to) in define_copy.unwrap_or_default() {
            at.define_copy(ids.value(&value)?, &self.places(ids, from)?, &self.places(ids, to)?)?;
        }
        for (from, to) in copy.unwrap_or_default() {
            at.copy(&self.places(ids, from)?, &self.places(ids, to)?)?;
        }
        for (from, to) in copy_uniform.unwrap_or_default() {
            at.copy_uniform(&self.places(ids, from)?, &self.places(ids, to)?)?;
        }
        if all_lanes == Some(true) {
            at.all_lanes();
        }
        Ok(())
    }

    fn assign(&mut self, ids: &mut Ids<'a>, code: &mut Code, json: AssignOf<'a>) -> Result<()> {
        let (Number(pc), variable) = (json.at, self.tracked(ids, &json.variable)?);
        match (json.value, json.bits, json.contents, json.of) {
            (Some(value), None, None, None) => code.assign(pc, variable, ids.value(&value)?),
            (Some(value), Some((start, end)), None, None) => {
                code.assign_bits(pc, variable, start..end, ids.value(&value)?)
            }
            (None, None, Some(places), None) => {
                code.assign_contents(pc, variable, &self.places(ids, places)?)
            }
            (None, Some((start, end)), None, Some((other, first))) => {
                let other = self.tracked(ids, &other)?;
                code.assign_variable(pc, variable, start..end, other, first)
            }
            (None, None, None, None) => code.unassign(pc, variable),
            _ => Err(Error::bad_argument(
                "a variable is assigned a `value`, perhaps for some `bits`, the `contents` of places, or `bits` `of` \
                 another variable",
            )),
        }
    }

    fn places(&mut self, ids: &Ids<'a>, json: Vec<PlaceOf<'a>>) -> Result<Vec<Place>> {
        json.into_iter().map(|place| self.tracked_place(ids, place)).collect()
    }

    fn tracked_place(&mut self, ids: &Ids<'a>, json: PlaceOf<'a>) -> Result<Place> {
        let PlaceOf { register, per_lane, lane, stack_slot, lane_bit, own, from, bits, .. } = json;
        let mut found: Vec<Place> = Vec::new();
        if let Some(name) = register {
            found.push(Place::register(self.register(&name)?));
        }
        if let Some(name) = per_lane {
            found.push(Place::per_lane(self.register(&name)?));
        }
        if let Some((name, lane)) = lane {
            found.push(Place::lane(self.register(&name)?, lane));
        }
        if let Some(Signed(offset)) = stack_slot {
            found.push(Place::stack_slot(offset));
        }
        if let Some(name) = lane_bit {
            found.push(Place::lane_bit(self.register(&name)?));
        }
        if let Some(id) = own {
            found.push(*ids.places.get(&id).ok_or_else(|| unknown("place of this code", &id, &ids.places))?);
        }
        let [place] = found[..] else {
            let what =
                "a place has one of the keys `register`, `per_lane`, `lane`, `stack_slot`, `lane_bit`, `own`";
            return Err(Error::bad_argument(format!("{what}: this one has {}", found.len())));
        };
        Ok(place.bits_from(from.unwrap_or(0), bits))
    }
}

impl<'a> Ids<'a> {
    fn add(&mut self, code: &mut Code, json: ValueOf<'a>) -> Result<()> {
        let value = match (json.bits, json.constant, json.block) {
            (Some(bits), None, None) => code.value(bits),
            (None, Some(bytes), None) => code.constant(&bytes.0),
            (Some(bits), None, Some(block)) => code.merged(self.block(block)?, bits),
            _ => {
                let what = "a value has a number of `bits`, and perhaps the `block` of which it is a parameter, or is a \
                    `constant`";
                return Err(Error::bad_argument(format!("{what}: `{}`", &*json.id)));
            }
        };
        match self.values.insert(json.id.clone(), value) {
            None => Ok(()),
            Some(_) => Err(twice("value of this code", &json.id)),
        }
    }
}
