//! Checks a location in the call that attaches it to an entity.

use smallvec::SmallVec;

use super::ids::{entity_text, known, known_symbol};
use crate::error::{Count, Error, ErrorKind, Feature, Quantity, Result};
use crate::model::{Entity, EntityId, Loc, Module, Node, Nodes, ProcedureId, SecondaryMap, UnitId};
use crate::op::{Expr, FixupKind, Reg};
use crate::target::{Register, Space, SpaceId, Target};

/// How many bits the storage has before and after a piece of it, where known. Each piece of each location has a room;
/// it is two words, so that it is passed in registers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    /// Bits before the piece, with the flag [`ALL_LANES`].
    before: u64,
    /// Bits after the piece; [`u64::MAX`] if unknown.
    after: u64,
}

/// Flag: the piece is all lanes of a vector register. No storage has this many bits.
const ALL_LANES: u64 = 1 << 63;

// Unknown sizes are the largest numbers, so that every comparison with a need succeeds without a branch.
pub(super) const UNKNOWN: Room = Room { before: ALL_LANES - 1, after: u64::MAX };

impl Room {
    /// Returns a room with `before` and `after` bits around a piece of storage.
    #[inline]
    pub(super) fn around(before: u64, after: u64) -> Self {
        Self { before: before.min(ALL_LANES - 1), after }
    }

    #[inline]
    fn before(self) -> u64 {
        self.before & !ALL_LANES
    }

    #[inline]
    pub(super) fn after(self) -> Option<u64> {
        (self.after != u64::MAX).then_some(self.after)
    }

    #[inline]
    fn is_all_lanes(self) -> bool {
        self.before & ALL_LANES != 0
    }

    /// Returns the same room, flagged as all lanes if `other` is.
    #[inline]
    fn lanes_as(self, other: Self) -> Self {
        Self { before: self.before | other.before & ALL_LANES, ..self }
    }
}

/// Facts about a location that its users need.
#[derive(Debug, Clone, Copy)]
pub(super) struct Checked {
    pub(super) room: Room,
    /// The last vector register that the location names as a whole.
    vector: Reg,
    /// Whether the location depends on the function start's stack frame.
    pub(super) has_slot: bool,
    /// Whether the location references another entity.
    has_names: bool,
}

impl Default for Checked {
    fn default() -> Self {
        Self { room: UNKNOWN, vector: Reg(0), has_slot: false, has_names: false }
    }
}

impl Checked {
    /// Returns the bits in the storage from the location on, if the location is valid in every unit and for every size
    /// up to these bits.
    #[inline]
    pub(super) fn room_anywhere(&self) -> Option<u64> {
        (!self.has_names && !self.room.is_all_lanes()).then_some(self.room.after)
    }
}

/// Facts about each procedure.
pub(super) type Procedures = SecondaryMap<ProcedureId, Checked>;

/// Stack of pieces with its top in registers: most locations have one piece at a time.
struct Places {
    top: Room,
    has_top: bool,
    below: SmallVec<[Room; 8]>,
}

impl Places {
    #[inline]
    fn new() -> Self {
        Self { top: UNKNOWN, has_top: false, below: SmallVec::new() }
    }

    #[inline]
    fn push(&mut self, place: Room) {
        if self.has_top {
            push_below(&mut self.below, self.top);
        }
        (self.top, self.has_top) = (place, true);
    }

    #[inline]
    fn pop(&mut self) -> Room {
        if !self.has_top {
            return pop_below(&mut self.below);
        }
        self.has_top = false;
        self.top
    }
}

fn push_below(below: &mut SmallVec<[Room; 8]>, place: Room) {
    below.push(place);
}

fn pop_below(below: &mut SmallVec<[Room; 8]>) -> Room {
    below.pop().unwrap_or(UNKNOWN)
}

fn room(bits: u64) -> Room {
    Room::around(0, bits)
}

/// Checks that registers, lanes, spaces and entities exist and that sizes fit: each part its storage, and the whole
/// location its required `bits`, where known. Rejects fewer bits than all lanes of a vector register, because the lane
/// would be unknown. The room around the canonical frame address is known.
///
/// The nodes are read once, with each piece's room on a stack; numbers are not on it.
#[inline]
pub(super) fn check_in(
    module: &Module,
    procedures: &Procedures,
    unit: UnitId,
    all: Nodes<'_>,
    bits: Option<u64>,
    what: &str,
    frame: Room,
) -> Result<Checked> {
    let target = &module.target;
    let nodes = all.clone();
    if nodes.at_most() > MAX_LEVELS && levels(nodes.clone()) > MAX_LEVELS {
        return Err(too_deep(levels(nodes)));
    }
    // A memory's size is unknown, and the default space always exists.
    if let Some((reg, _)) = nodes.memory_at_register()
        && target.register(reg).is_some_and(|register| (1..=64).contains(&register.bits))
    {
        return Ok(Checked::default());
    }
    node_by_node(module, procedures, unit, all, bits, what, frame)
}

/// Checks any location that is not too deep.
#[inline(always)]
fn node_by_node(
    module: &Module,
    procedures: &Procedures,
    unit: UnitId,
    all: Nodes<'_>,
    bits: Option<u64>,
    what: &str,
    frame: Room,
) -> Result<Checked> {
    let target = &module.target;
    let mut nodes = all.clone();
    let mut places = Places::new();
    let mut has_slot = false;
    let mut has_names = false;
    let mut whole = Reg(0);
    // The register that the location so far consists of.
    let mut last = None;
    loop {
        // Numbers need no room. Their count shows below where a node's last numbers begin.
        let numbers = nodes.at_most();
        nodes.skip_pure();
        let Some(node) = nodes.next() else { break };
        let place = match node {
            Node::Register(reg) => {
                let register = register(module, reg)?;
                let room = room(register.bits.into());
                if register.is_vector() {
                    whole = reg;
                    Room { before: ALL_LANES, ..room }
                } else {
                    room
                }
            }
            Node::Lane(reg, lane) => {
                let register = vector(module, reg)?;
                if lane >= register.lanes {
                    return Err(
                        ErrorKind::LaneOutOfWave { lane: lane.into(), wave: register.lanes.into() }.into()
                    );
                }
                room(register.lane_bits().into())
            }
            Node::PerLane(reg) => room(vector(module, reg)?.lane_bits().into()),
            Node::StackAddress(_) => {
                if target.space(SpaceId::PRIVATE_LANE).is_none() {
                    return Err(lacks(target, Feature::LaneScratch, "a stack slot"));
                }
                has_slot = true;
                continue;
            }
            // How much memory follows an address is known only at run time, unless the space has a size.
            Node::Memory(id) => match space(module, id)?.bytes {
                None => UNKNOWN,
                Some(bytes) => within(module, id, bytes, all.last_words(numbers), nodes.at_most())?,
            },
            Node::Offset(bytes) => match bytes.checked_mul(8) {
                Some(bits) => moved(target, places.pop(), bits, last)?,
                None => return Err(far(bytes)),
            },
            Node::BitOffset(bits) => moved(target, places.pop(), bits, last)?,
            Node::OffsetBy | Node::BitOffsetBy => {
                places.pop();
                UNKNOWN
            }
            Node::Part(bits) => {
                takes(target, whole, "a part", places.pop(), some(bits, Quantity::PartBits)?)?;
                room(bits)
            }
            Node::Parts(count) => {
                let mut total = 0u64;
                for _ in 0..count {
                    // Parts come off the stack from the last to the first; only their sum matters.
                    let part = places.pop().after;
                    let sum = || u128::from(total) + u128::from(part);
                    total =
                        total.checked_add(part).ok_or_else(|| too_large(Quantity::CompositeBits, sum()))?;
                }
                room(some(total, Quantity::CompositeBits)?)
            }
            Node::Overlay => {
                // Constants show before run time whether the overlay fits; computed numbers do not.
                let above = places.pop();
                let below = places.pop();
                if let Some((offset, size)) = last_constants(all.last_words(numbers), nodes.at_most()) {
                    takes(target, whole, "the overlay", above, size)?;
                    fits("the overlay", below, offset.saturating_add(size))?;
                }
                below
            }
            Node::Select { bits, count } => {
                let total = elements(bits, count)?;
                if count > 64 {
                    return Err(
                        ErrorKind::DoesNotFit { what: "the mask".into(), needs: count, has: 64 }.into()
                    );
                }
                // Each element is at the offset that it would have if all came from this piece.
                let last = places.pop();
                let zero = places.pop();
                fits("a vector", last, total)?;
                fits("a vector", zero, total)?;
                room(total).lanes_as(last).lanes_as(zero)
            }
            Node::Extend { bits, count } => {
                takes(target, whole, "an element", places.pop(), bits)?;
                room(elements(bits, count)?)
            }
            Node::Implicit(bytes) => room(8 * bytes.len() as u64),
            Node::Value => room(u64::from(target.address_bytes()) * 8),
            Node::PointerTo(variable, by) => {
                has_names = true;
                named(module, unit, Node::PointerTo(variable, by))?;
                room(u64::from(target.address_bytes()) * 8)
            }
            Node::Call(procedure) => {
                has_names = true;
                named(module, unit, Node::Call(procedure))?;
                let called = procedures[procedure];
                has_slot |= called.has_slot;
                if called.room.is_all_lanes() {
                    whole = called.vector;
                }
                called.room
            }
            Node::Expr(expr) => {
                has_names = true;
                named(module, unit, Node::Expr(expr))?;
                UNKNOWN
            }
            Node::Cfa => frame,
            Node::Undefined | Node::ThreadLocal => UNKNOWN,
            Node::AddressOf => {
                places.pop();
                continue;
            }
            Node::Address(symbol, by) => {
                has_names = true;
                named(module, unit, Node::Address(symbol, by))?;
                continue;
            }
            Node::PassedValue(parameter) => {
                has_names = true;
                named(module, unit, Node::PassedValue(parameter))?;
                continue;
            }
            Node::Read(bits) => {
                number(Quantity::ReadBits, bits)?;
                takes(target, whole, "the number read from a location", places.pop(), bits.into())?;
                continue;
            }
            Node::LaneIndex if target.lanes() == 1 => {
                return Err(lacks(target, Feature::Lanes, "the current lane"));
            }
            Node::ReadRegister(reg) | Node::EntryRegister(reg) => {
                let register = register(module, reg)?;
                if register.is_vector() {
                    return Err(which_lane(target, REGISTER_VALUE, reg, register.lane_bits().into()));
                }
                number(Quantity::RegisterBits, register.bits)?;
                continue;
            }
            _ => continue,
        };
        last = match node {
            Node::Register(reg) => Some(reg),
            _ => None,
        };
        places.push(place);
    }
    let room = places.pop();
    if let Some(bits) = bits {
        takes(target, whole, what, room, bits)?;
    }
    Ok(Checked { room, vector: whole, has_slot, has_names })
}

/// Returns the last two numbers before a node, if both are constants. `rest` is the number of words after the node.
fn last_constants(mut numbers: Nodes<'_>, rest: usize) -> Option<(u64, u64)> {
    // The third node is the overlay itself, after its two numbers.
    let mut last = [None; 3];
    while numbers.at_most() > rest {
        last = [last[1], last[2], numbers.next()];
    }
    match last {
        [Some(Node::Const(offset)), Some(Node::Const(size)), _] => Some((offset, size)),
        _ => None,
    }
}

/// Returns the room at a constant address in a space of `bytes` bytes, and refuses an address outside the space. `rest` is
/// the number of words after the node.
fn within(module: &Module, id: SpaceId, bytes: u64, mut numbers: Nodes<'_>, rest: usize) -> Result<Room> {
    let mut last = [None; 2];
    while numbers.at_most() > rest {
        last = [last[1], numbers.next()];
    }
    let [Some(Node::Const(address)), _] = last else { return Ok(UNKNOWN) };
    match bytes.checked_sub(address) {
        None | Some(0) => {
            let name = module.target.space(id).map_or("", |space| &*space.name);
            let what = format!(
                "address {address:#x} is outside the {name} memory of {target}, which has {bytes:#x}",
                bytes = Count(bytes, "byte"),
                target = module.target.name()
            );
            Err(Error::bad_argument(what))
        }
        Some(after) => Ok(Room::around(8 * address, 8 * after)),
    }
}

/// Describes a register's value in messages.
const REGISTER_VALUE: &str = "the number read from a register";

/// Maximum nesting depth of nodes in a location: its users recurse once per level.
pub(crate) const MAX_LEVELS: usize = 128;

/// Error for a location with more than [`MAX_LEVELS`] levels.
pub(crate) fn too_deep(levels: usize) -> Error {
    Error::limit(Quantity::LocationLevels, 0..=MAX_LEVELS as u128, levels as u128)
}

/// Error for a target without a feature.
pub(super) fn lacks(target: &Target, feature: Feature, needed_by: &str) -> Error {
    ErrorKind::TargetLacks { feature, needed_by: needed_by.into(), target: target.name().into() }.into()
}

fn levels(nodes: Nodes<'_>) -> usize {
    let mut levels: Vec<usize> = Vec::new();
    for node in nodes {
        // In postfix order the last entries are the operands' levels.
        let operands = levels.split_off(levels.len().saturating_sub(node.arity()));
        levels.push(1 + operands.into_iter().max().unwrap_or(0));
    }
    levels.pop().unwrap_or(0)
}

/// Refuses a node's entity if it does not exist, or if it belongs to another unit and the node references it by an offset
/// within this unit. This is a separate function because most locations name no entity.
fn named(module: &Module, unit: UnitId, node: Node<'_>) -> Result<()> {
    match node {
        Node::PointerTo(variable, _) => {
            known(module.variables.is_valid(variable), || module.unknown(variable))
        }
        Node::PassedValue(parameter) => {
            let variable = module.variables.get(parameter);
            let is_here = variable.is_some_and(|variable| module.scopes[variable.scope].unit == unit);
            known(is_here, || module.unknown_in(parameter, " of this unit"))
        }
        Node::Call(procedure) => {
            let called = module.procedures.get(procedure);
            let is_there = called.is_some_and(|called| called.unit == unit);
            known(is_there, || module.unknown_in(procedure, " of this unit"))
        }
        Node::Expr(expr) => {
            known(expr.index() < module.exprs.len(), || module.unknown(expr))?;
            entities(module, unit, module.expr(expr))
        }
        Node::Address(symbol, _) => known_symbol(module, symbol),
        _ => Ok(()),
    }
}

/// Error for a location with another builder's id.
pub(super) fn other_builder(loc: &Loc) -> Error {
    let mut names = loc.nodes().filter_map(|node| match node {
        Node::PointerTo(variable, _) | Node::PassedValue(variable) => Some(variable.to_string()),
        Node::Call(procedure) => Some(procedure.to_string()),
        Node::Expr(expr) => Some(expr.to_string()),
        Node::Address(symbol, _) => Some(format!("symbol {}", symbol.0)),
        _ => None,
    });
    // Only the location as a whole keeps the builder, so that it is not known which of several ids is wrong.
    let name = match (names.next(), names.next()) {
        (Some(name), None) => name,
        _ => "an id in the location".into(),
    };
    ErrorKind::OtherBuilder(name).into()
}

/// Rejects other units' entities that an expression references by an offset in the unit.
fn entities(module: &Module, unit: UnitId, (expr, entities): (&Expr, &[Entity])) -> Result<()> {
    for fixup in expr.fixups() {
        let (FixupKind::Entry { .. } | FixupKind::Type { .. }) = fixup.kind else { continue };
        let entity = entities[fixup.slot.0 as usize];
        let owner = match entity {
            Entity::Variable(id) => module.scopes[module.variables[id].scope].unit,
            Entity::Type(id) => module.types[id].unit,
            Entity::Procedure(id) => module.procedures[id].unit,
            Entity::Symbol(..) => continue,
        };
        known(owner == unit, || {
            ErrorKind::UnknownId(format!("{} of this unit", entity_text(module, entity)))
        })?;
    }
    Ok(())
}

#[inline]
pub(super) fn register(module: &Module, reg: Reg) -> Result<Register<'_>> {
    module.target.register(reg).ok_or_else(|| module.target.unknown_register(reg))
}

/// Rejects a register that is not a scalar register with at most 64 bits.
pub(crate) fn scalar(target: &Target, reg: Reg) -> Result<()> {
    let Some(register) = target.register(reg) else {
        return Err(target.unknown_register(reg));
    };
    if register.is_vector() || register.bits > 64 {
        let name = register.name();
        let bits = crate::error::Count(register.bits, "bit");
        let what = format!("{name} has {bits}; expected a scalar register of at most 64 bits for an address");
        return Err(Error::bad_argument(what));
    }
    Ok(())
}

fn vector(module: &Module, reg: Reg) -> Result<Register<'_>> {
    let register = register(module, reg)?;
    if register.is_vector() {
        return Ok(register);
    }
    let name = register.name();
    Err(match module.target.lanes() {
        1 => lacks(&module.target, Feature::Lanes, &format!("a lane of register {name}")),
        _ => Error::bad_argument(format!("{name} is a scalar register; expected a vector register")),
    })
}

#[inline]
pub(super) fn space(module: &Module, id: SpaceId) -> Result<&Space> {
    match module.target.space(id) {
        Some(space) => Ok(space),
        None => Err(module.target.unknown_space(id.to_string().trim_matches('`'))),
    }
}

/// Error for a byte offset whose bit count exceeds the limit.
fn far(bytes: i64) -> Error {
    let most = i64::MAX as u128;
    Error::limit(Quantity::Offset, 0..=most, 8 * u128::from(bytes.unsigned_abs()))
}

/// Returns the room at an offset. `register` is the register that is moved from, if the location is one.
fn moved(target: &Target, from: Room, bits: i64, register: Option<Reg>) -> Result<Room> {
    // Memory at the address in a register is another location, and the usual intention.
    let outside = |needs, has| {
        let register = register.and_then(|reg| target.register(reg));
        match register.map(|register| register.name()) {
            Some(name) => {
                does_not_fit(&format!("the offset within register {name}, not in memory,"), needs, has)
            }
            None => does_not_fit("the offset", needs, has),
        }
    };
    let Some(after) = from.after() else { return Ok(UNKNOWN) };
    let distance = bits.unsigned_abs();
    if bits < 0 {
        let before = from.before().checked_sub(distance).ok_or_else(|| outside(distance, from.before()))?;
        return Ok(Room { before, after: after.saturating_add(distance) }.lanes_as(from));
    }
    // A piece is inside its storage, not just after the end.
    if distance >= after {
        return Err(outside(distance.saturating_add(1), after));
    }
    Ok(Room::around(from.before().saturating_add(distance), after - distance).lanes_as(from))
}

/// Rejects more bits than there are, or fewer than all lanes of a vector register.
#[inline]
fn takes(target: &Target, vector: Reg, what: &str, place: Room, needs: u64) -> Result<()> {
    if place.is_all_lanes() && needs < place.after {
        return Err(which_lane(target, what, vector, needs));
    }
    fits(what, place, needs)
}

/// Rejects fewer bits than all lanes of a vector register, because the lane would be unknown.
pub(super) fn known_lane(target: &Target, what: &str, checked: &Checked, needs: u64) -> Result<()> {
    if checked.room.is_all_lanes() && needs < checked.room.after {
        Err(which_lane(target, what, checked.vector, needs))
    } else {
        Ok(())
    }
}

fn which_lane(target: &Target, what: &str, reg: Reg, needs: u64) -> Error {
    let register = target.register(reg);
    let has = register.map_or(0, |register| register.bits.into());
    let register = register.map_or_else(|| reg.0.to_string(), |register| register.name().to_string());
    ErrorKind::WhichLane { what: what.into(), needs, register, has }.into()
}

#[inline]
fn fits(what: &str, place: Room, needs: u64) -> Result<()> {
    // An unknown size is larger than any need.
    if needs <= place.after { Ok(()) } else { Err(does_not_fit(what, needs, place.after)) }
}

fn does_not_fit(what: &str, needs: u64, has: u64) -> Error {
    ErrorKind::DoesNotFit { what: what.into(), needs, has }.into()
}

/// Maximum element count in a row: its meaning is computed element by element.
const MAX_ELEMENTS: u64 = 1 << 16;

fn elements(bits: u64, count: u64) -> Result<u64> {
    let Some(total) = bits.checked_mul(count) else {
        return Err(too_large(Quantity::VectorBits, u128::from(bits) * u128::from(count)));
    };
    if count > MAX_ELEMENTS {
        let most = MAX_ELEMENTS.into();
        let count = count.into();
        return Err(Error::limit(Quantity::VectorElements, 0..=most, count));
    }
    some(total, Quantity::VectorBits)
}

#[inline]
fn number(of: Quantity, bits: u32) -> Result<()> {
    match bits {
        1..=64 => Ok(()),
        _ => Err(Error::limit(of, 1..=64, bits.into())),
    }
}

#[inline]
fn some(bits: u64, of: Quantity) -> Result<u64> {
    if bits == 0 { Err(Error::limit(of, 1..=u128::MAX, 0)) } else { Ok(bits) }
}

fn too_large(of: Quantity, bits: u128) -> Error {
    Error::limit(of, 0..=u64::MAX.into(), bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Builder;
    use crate::model::{Loc, Val};
    use crate::target::{Gfx, Wave};

    #[test]
    fn memory_at_a_register_is_checked_as_other_locations() {
        let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("a target");
        let [s4, v3] = [gpu.sgpr(4), gpu.vgpr(3)].map(core::result::Result::unwrap);
        let mut taken = 0;
        // Scalars, vectors, registers with more bits than an address, and numbers without a register.
        for (target, registers) in [
            (gpu, [s4, v3, Reg(0), Reg(16), Reg(1 << 30)]),
            (Target::x86_64(), [Reg(6), Reg(17), Reg(33), Reg(49), Reg(999)]),
        ] {
            let mut builder = Builder::new(target);
            let unit = builder.unit("u");
            for reg in registers {
                for by in [0, 1, -1, 0x7f, -0x8000, i64::MAX, i64::MIN] {
                    let loc = Loc::memory(SpaceId::DEFAULT, Val::register(reg).plus(by));
                    taken += usize::from(loc.nodes().memory_at_register().is_some());
                    for bits in [None, Some(0), Some(8), Some(1 << 20), Some(u64::MAX)] {
                        let text = |checked: Result<Checked>| format!("{checked:?}");
                        let module = &builder.module;
                        let procedures = &builder.procedures;
                        let expected =
                            node_by_node(module, procedures, unit, loc.nodes(), bits, "it", UNKNOWN);
                        let checked = check_in(module, procedures, unit, loc.nodes(), bits, "it", UNKNOWN);
                        assert_eq!(
                            text(checked),
                            text(expected),
                            "register {reg:?} plus {by}, {bits:?} bits"
                        );
                    }
                }
            }
        }
        assert!(taken > 30, "{taken}");
    }
}
