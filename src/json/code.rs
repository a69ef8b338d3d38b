//! Statements about functions' code.

use hashbrown::{DefaultHashBuilder, HashMap};
use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::loc::{self, Loc};
use super::objects::objects;
use super::reader::{Coded, Reader};
use super::schema::{self, HasSchema, Schemas};
use super::shape::Shaped;
use super::values::{Bytes, Named, Number, Pcs, Ref, Signed, Text};
use crate::build::{BlockId, ControlFlow, ExecWrite, MaskId};
use crate::error::{self, Error, ErrorKind, Result};
use crate::model::VariableId;
use crate::near::nearest;
use crate::track::{CodeEffects, InstructionEffects, Place, ValueId};

objects! {
    /// What a function's instructions do to storage, and assignments to its variables.
    CodeOf { function: Ref<'a>, blocks: Vec<Pcs> } {
        edges: Vec<(u32, u32)>, wave_edges: Vec<(u32, u32)>, lane_edges: Vec<(u32, u32)>,
        exec: Vec<(Number, Number, ExecOf<'a>)>, places: Vec<(Text<'a>, Loc<'a>)>, values: Vec<ValueOf<'a>>,
        entry: Vec<(Ref<'a>, Vec<PlaceOf<'a>>)>, instructions: Vec<InstructionOf<'a>>,
        incoming: Vec<(u32, Ref<'a>, Ref<'a>)>, assign: Vec<AssignOf<'a>>,
        homes: Vec<(Number, Number, Ref<'a>, Loc<'a>)>,
    }
    /// A value, a constant, or a block parameter.
    ValueOf { id: Text<'a> } { bits: u32, constant: Bytes, block: u32 }
    /// An instruction, or several that form one step.
    InstructionOf { pcs: Pcs } {
        define: Vec<(Ref<'a>, Vec<PlaceOf<'a>>)>, redefine: Vec<(Ref<'a>, Vec<PlaceOf<'a>>)>,
        define_copy: Vec<(Ref<'a>, Vec<PlaceOf<'a>>, Vec<PlaceOf<'a>>)>,
        copy: Vec<(Vec<PlaceOf<'a>>, Vec<PlaceOf<'a>>)>, copy_uniform: Vec<(Vec<PlaceOf<'a>>, Vec<PlaceOf<'a>>)>,
        clobber: Vec<PlaceOf<'a>>, all_lanes: bool, several: bool,
    }
    /// Variable's value from a pc on.
    AssignOf { at: Number, variable: Ref<'a> } { value: Ref<'a>, bits: (u32, u32), contents: Vec<PlaceOf<'a>>, of: (Ref<'a>, u32) }
    /// Storage of the wave or of each lane: one of the first keys, and perhaps some of its bits.
    PlaceOf {} {
        register: Named<'a>, per_lane: Named<'a>, lane: (Named<'a>, u32), stack_slot: Signed, lane_bit: Named<'a>,
        own: Ref<'a>, from: u32, bits: u32,
    }
}

/// [`ExecWrite`].
#[derive(Debug, Serialize, Deserialize)]
#[serde(
    remote = "Self",
    rename = "an effect on EXEC",
    rename_all = "snake_case",
    bound(deserialize = "'de: 'a")
)]
pub(super) enum ExecOf<'a> {
    Save(Text<'a>),
    And(Text<'a>),
    AndNot(Text<'a>),
    Else(Text<'a>),
    Restore(Text<'a>),
}

impl<'de: 'a, 'a> Deserialize<'de> for ExecOf<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::deserialize(Shaped(from))
    }
}

impl Serialize for ExecOf<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, to)
    }
}

impl HasSchema for ExecOf<'_> {
    fn schema(to: &mut Schemas) -> Value {
        to.named("ExecOf", |to| {
            let keys = ["save", "and", "and_not", "else", "restore"];
            schema::choice(keys.map(|key| (key, vec![Text::schema(to)])))
        })
    }
}

/// Ids in one statement.
struct Ids<'a> {
    values: HashMap<Text<'a>, ValueId>,
    places: HashMap<Text<'a>, Place>,
    blocks: Vec<BlockId>,
    variables: IndexMap<VariableId, Ref<'a>, DefaultHashBuilder>,
}

/// Error for an id that no value or storage in the statement has.
fn unknown<T>(kind: &'static str, id: &Text<'_>, known: &HashMap<Text<'_>, T>) -> Error {
    let mut nearest = nearest(id, known.keys().map(|id| &**id));
    nearest.sort_unstable();
    ErrorKind::UnknownName { kind: error::Named::Described(kind), name: id.to_string(), nearest }.into()
}

/// Error for an id that two values or storages have.
fn twice(kind: &'static str, id: &Text<'_>) -> Error {
    ErrorKind::DuplicateName { kind: error::Named::Described(kind), name: id.to_string() }.into()
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
        code(reader, self)
    }
}

/// Applies a statement about a function's code.
fn code<'a>(reader: &mut Reader<'a>, json: CodeOf<'a>) -> Result<()> {
    let (function, unit) = reader.function(&json.function)?;
    if reader.coded.contains_key(&function) {
        let what =
            format!("`{}` has a second statement `code`; expected one for each function", &*json.function);
        return Err(Error::bad_argument(what));
    }
    let mut flow = ControlFlow::new();
    let blocks: Vec<BlockId> =
        json.blocks.iter().map(|&(Number(start), Number(end))| flow.block(start..end)).collect();
    let values = HashMap::new();
    let places = HashMap::new();
    let mut ids = Ids { values, places, blocks, variables: IndexMap::default() };
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
        // Masks have no statement: the first use of a name adds the mask.
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
    let target = reader.builder.described().target().clone();
    let mut code = CodeEffects::new(&target, flow);
    for (id, loc) in json.places.unwrap_or_default() {
        let loc = loc::whole(reader, unit, &loc)?;
        let place = code.place(&loc)?;
        if ids.places.insert(id.clone(), place).is_some() {
            return Err(twice("place of this code", &id));
        }
    }
    // Values come before everything that references them by id.
    for value in json.values.unwrap_or_default() {
        ids.add(&mut code, value)?;
    }
    for (value, places) in json.entry.unwrap_or_default() {
        let places = read_places(reader, &ids, places)?;
        code.entry(ids.value(&value)?, &places)?;
    }
    for instruction in json.instructions.unwrap_or_default() {
        read_instruction(reader, &ids, &mut code, instruction)?;
    }
    for (from, parameter, value) in json.incoming.unwrap_or_default() {
        code.incoming(ids.block(from)?, ids.value(&parameter)?, ids.value(&value)?)?;
    }
    for assign in json.assign.unwrap_or_default() {
        read_assign(reader, &mut ids, &mut code, assign)?;
    }
    for (Number(start), Number(end), id, loc) in json.homes.unwrap_or_default() {
        let variable = tracked(reader, &mut ids, &id)?;
        let loc = loc::whole(reader, unit, &loc)?;
        code.home(start..end, variable, &loc)?;
    }
    // Locations are derived later, from the finished module; here the statement is only read.
    let index = reader.index;
    reader.coded.insert(function, Coded { index, code, variables: ids.variables });
    Ok(())
}

fn tracked<'a>(reader: &Reader<'a>, ids: &mut Ids<'a>, id: &Ref<'a>) -> Result<VariableId> {
    let variable = reader.names.variables.find((), id)?;
    ids.variables.entry(variable).or_insert_with(|| id.clone());
    Ok(variable)
}

fn read_instruction<'a>(
    reader: &mut Reader<'a>,
    ids: &Ids<'a>,
    code: &mut CodeEffects,
    json: InstructionOf<'a>,
) -> Result<()> {
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
    let mut effects: InstructionEffects<'_> = match several {
        Some(true) => code.instructions(start..end),
        _ => code.instruction(start..end),
    };
    if let Some(places) = clobber {
        effects.clobber(&read_places(reader, ids, places)?)?;
    }
    for (value, to) in define.unwrap_or_default() {
        effects.define(ids.value(&value)?, &read_places(reader, ids, to)?)?;
    }
    for (value, to) in redefine.unwrap_or_default() {
        effects.redefine(ids.value(&value)?, &read_places(reader, ids, to)?)?;
    }
    for (value, from, to) in define_copy.unwrap_or_default() {
        effects.define_copy(
            ids.value(&value)?,
            &read_places(reader, ids, from)?,
            &read_places(reader, ids, to)?,
        )?;
    }
    for (from, to) in copy.unwrap_or_default() {
        effects.copy(&read_places(reader, ids, from)?, &read_places(reader, ids, to)?)?;
    }
    for (from, to) in copy_uniform.unwrap_or_default() {
        effects.copy_uniform(&read_places(reader, ids, from)?, &read_places(reader, ids, to)?)?;
    }
    if all_lanes == Some(true) {
        effects.all_lanes();
    }
    Ok(())
}

fn read_assign<'a>(
    reader: &mut Reader<'a>,
    ids: &mut Ids<'a>,
    code: &mut CodeEffects,
    json: AssignOf<'a>,
) -> Result<()> {
    let (Number(pc), variable) = (json.at, tracked(reader, ids, &json.variable)?);
    // Each combination is another call; the schema cannot express that the keys exclude each other.
    match (json.value, json.bits, json.contents, json.of) {
        (Some(value), None, None, None) => code.assign(pc, variable, ids.value(&value)?),
        (Some(value), Some((start, end)), None, None) => {
            code.assign_bits(pc, variable, start..end, ids.value(&value)?)
        }
        (None, None, Some(places), None) => {
            code.assign_contents(pc, variable, &read_places(reader, ids, places)?)
        }
        (None, Some((start, end)), None, Some((other, first))) => {
            let other = tracked(reader, ids, &other)?;
            code.assign_variable(pc, variable, start..end, other, first)
        }
        (None, None, None, None) => code.unassign(pc, variable),
        _ => Err(Error::bad_argument(
            "assignment has an invalid combination of keys; expected `value` with optional `bits`, `contents`, or `bits` \
             and `of`",
        )),
    }
}

fn read_places<'a>(reader: &mut Reader<'a>, ids: &Ids<'a>, json: Vec<PlaceOf<'a>>) -> Result<Vec<Place>> {
    json.into_iter().map(|place| tracked_place(reader, ids, place)).collect()
}

fn tracked_place<'a>(reader: &mut Reader<'a>, ids: &Ids<'a>, json: PlaceOf<'a>) -> Result<Place> {
    let PlaceOf { register, per_lane, lane, stack_slot, lane_bit, own, from, bits, .. } = json;
    let mut places: Vec<Place> = Vec::new();
    if let Some(name) = register {
        places.push(Place::register(reader.register(&name)?));
    }
    if let Some(name) = per_lane {
        places.push(Place::per_lane(reader.register(&name)?));
    }
    if let Some((name, lane)) = lane {
        places.push(Place::lane(reader.register(&name)?, lane));
    }
    if let Some(Signed(offset)) = stack_slot {
        places.push(Place::stack_slot(offset));
    }
    if let Some(name) = lane_bit {
        places.push(Place::lane_bit(reader.register(&name)?));
    }
    if let Some(id) = own {
        places.push(*ids.places.get(&id).ok_or_else(|| unknown("place of this code", &id, &ids.places))?);
    }
    let [place] = places[..] else {
        return Err(Error::bad_argument(format!(
            "place has {} keys for its storage; expected one of `register`, `per_lane`, `lane`, `stack_slot`, \
             `lane_bit`, `own`",
            places.len()
        )));
    };
    Ok(place.bits_from(from.unwrap_or(0), bits))
}

impl<'a> Ids<'a> {
    fn add(&mut self, code: &mut CodeEffects, json: ValueOf<'a>) -> Result<()> {
        let value = match (json.bits, json.constant, json.block) {
            (Some(bits), None, None) => code.value(bits),
            (None, Some(bytes), None) => code.constant(&bytes.0),
            (Some(bits), None, Some(block)) => code.merged(self.block(block)?, bits),
            _ => {
                return Err(Error::bad_argument(format!(
                    "value `{}` has an invalid combination of keys; expected `bits` with an optional `block`, or \
                     `constant`",
                    &*json.id
                )));
            }
        };
        match self.values.insert(json.id.clone(), value) {
            None => Ok(()),
            Some(_) => Err(twice("value of this code", &json.id)),
        }
    }
}
