//! A machine as plain data.

use std::collections::BTreeMap;

use super::lists::LocationListEntry;
use super::location::Location;
use super::machine::{Body, CallValue, Machine, ReferencedEntry, Unavailable};
use super::value::BaseType;
use super::write::MachineMut;
use crate::error::Count;
use crate::op::Reg;
use crate::target::SpaceId;

/// An outer frame's state in a [`Snapshot`].
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Caller {
    /// Program location: the call.
    pub pc: Option<u64>,
    /// Canonical frame address.
    pub cfa: Option<Location>,
    /// Its registers' locations; missing registers are undefined.
    pub registers: BTreeMap<Reg, Location>,
}

/// An entry's location or constant in a [`Snapshot`]: an owned [`Body`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OwnedBody {
    /// An expression.
    Expression(Vec<u8>),
    /// A location list.
    List(Vec<LocationListEntry<'static>>),
    /// A constant, in memory order.
    Constant(Vec<u8>),
    /// No location or constant.
    #[default]
    Nothing,
}

impl OwnedBody {
    fn as_body(&self) -> Body<'_> {
        match self {
            Self::Expression(expr) => Body::Expression(expr),
            Self::List(entries) => Body::List(entries),
            Self::Constant(bytes) => Body::Constant(bytes),
            Self::Nothing => Body::Nothing,
        }
    }
}

/// A machine as plain data, for tests and for recorded states.
///
/// ```
/// use eitri_dwarf::eval::{Context, Evaluator, Machine, Snapshot, read_bits};
/// use eitri_dwarf::op::{Dialect, Encoding, Reg, text};
/// use eitri_dwarf::target::Target;
///
/// let target = Target::x86_64();
/// let encoding = Encoding::new(8, Dialect::Llvm);
/// let mut machine = Snapshot::default();
/// machine.registers.insert(Reg(0), vec![1, 2, 3, 4, 5, 6, 7, 8]);
///
/// let expr = text::parse("regx rax; lit2; offset", encoding, Some(&target))?;
/// let context = Context::new(encoding, &target);
/// let location = Evaluator::new().location(expr.bytes(), &machine, &context)?;
/// assert_eq!(location.to_string(), "reg:0+16");
/// assert_eq!(read_bits(&location, 16, &machine)?.bytes, [3, 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snapshot {
    /// Register contents in the innermost frame, least significant byte first. Missing registers are unavailable.
    pub registers: BTreeMap<Reg, Vec<u8>>,
    /// Memory by space, lane (in spaces where each lane has its own) and address. Missing bytes are not mapped.
    pub memory: BTreeMap<(SpaceId, Option<u32>), BTreeMap<u64, u8>>,
    /// Whether numbers have their most significant byte first.
    pub big_endian: bool,
    /// The current lane.
    pub lane: Option<u64>,
    /// Lane count; `None` means 1.
    pub lanes: Option<u64>,
    /// The iteration in focus.
    pub iteration: Option<u64>,
    /// Iteration count; `None` means 1.
    pub iterations: Option<u64>,
    /// The innermost frame's program location.
    pub pc: Option<u64>,
    /// The innermost frame's canonical frame address.
    pub cfa: Option<Location>,
    /// `DW_AT_frame_base` for the subprograms in all frames, and their unit.
    pub frame_base: Option<(OwnedBody, u64)>,
    /// Outer frames, starting with frame 1.
    pub callers: Vec<Caller>,
    /// The current object.
    pub object: Option<Location>,
    /// Where thread-local storage starts.
    pub tls: Option<u64>,
    /// By how many bytes the file is loaded above its addresses.
    pub load_bias: u64,
    /// Addresses in `.debug_addr`, for all units.
    pub debug_addr: Vec<u64>,
    /// Base types, by their unit's offset and their offset in it.
    pub types: BTreeMap<(u64, u64), BaseType>,
    /// Entries by their offset in `.debug_info`, each with its unit.
    pub entries: BTreeMap<u64, (OwnedBody, u64)>,
    /// Values passed by the innermost frame's caller, by parameter offset: an expression, and its unit.
    pub call_values: BTreeMap<u64, (Vec<u8>, u64)>,
    /// Variable types, by the variables' entry offsets.
    pub variable_types: BTreeMap<u64, BaseType>,
}

impl Snapshot {
    /// Stores bytes in memory, replacing existing bytes. Addresses do not wrap around.
    pub fn store(&mut self, space: SpaceId, lane: Option<u32>, address: u64, bytes: &[u8]) {
        let memory = self.memory.entry((space, lane)).or_default();
        memory.extend((address..=u64::MAX).zip(bytes.iter().copied()));
    }

    fn caller(&self, frame: u32) -> Option<&Caller> {
        self.callers.get((frame as usize).checked_sub(1)?)
    }
}

/// Returns an entry with its unit.
fn entry((body, unit): &(OwnedBody, u64)) -> ReferencedEntry<'_> {
    ReferencedEntry { body: body.as_body(), unit: *unit, encoding: None }
}

impl Machine for Snapshot {
    fn register(&self, reg: Reg, frame: u32, at: u32, into: &mut [u8]) -> Result<(), Unavailable> {
        let bytes = self.registers.get(&reg).filter(|_| frame == 0).ok_or(Unavailable)?;
        let start = at as usize;
        into.copy_from_slice(bytes.get(start..start + into.len()).ok_or(Unavailable)?);
        Ok(())
    }

    fn register_problem(&self, reg: Reg, frame: u32, at: u32) -> Option<String> {
        let bytes = self.registers.get(&reg).filter(|_| frame == 0)?;
        let has = Count(bytes.len(), "byte");
        (at as usize >= bytes.len()).then(|| format!("register {} has {has}; byte {at} was read", reg.0))
    }

    fn memory(
        &self,
        space: SpaceId,
        lane: Option<u32>,
        address: u64,
        into: &mut [u8],
    ) -> Result<(), Unavailable> {
        let memory = self.memory.get(&(space, lane)).ok_or(Unavailable)?;
        let mut expected = Some(address);
        let mut bytes = memory.range(address..);
        for byte in into {
            let (stored, contents) = bytes.next().ok_or(Unavailable)?;
            if Some(*stored) != expected {
                return Err(Unavailable);
            }
            *byte = *contents;
            expected = stored.checked_add(1);
        }
        Ok(())
    }

    fn is_big_endian(&self) -> bool {
        self.big_endian
    }

    fn lane(&self) -> Option<u64> {
        self.lane
    }

    fn lanes(&self) -> u64 {
        self.lanes.unwrap_or(1)
    }

    fn iteration(&self) -> Option<u64> {
        self.iteration
    }

    fn iterations(&self) -> u64 {
        self.iterations.unwrap_or(1)
    }

    fn pc(&self, frame: u32) -> Option<u64> {
        if frame == 0 { self.pc } else { self.caller(frame)?.pc }
    }

    fn cfa(&self, frame: u32) -> Option<Location> {
        if frame == 0 { self.cfa.clone() } else { self.caller(frame)?.cfa.clone() }
    }

    fn frame_base(&self, _frame: u32) -> Option<ReferencedEntry<'_>> {
        self.frame_base.as_ref().map(entry)
    }

    fn saved(&self, reg: Reg, frame: u32) -> Option<Location> {
        let location = self.caller(frame)?.registers.get(&reg);
        Some(location.cloned().unwrap_or_else(Location::undefined))
    }

    fn object(&self) -> Option<Location> {
        self.object.clone()
    }

    fn tls(&self) -> Option<u64> {
        self.tls
    }

    fn load_bias(&self) -> u64 {
        self.load_bias
    }

    fn debug_addr(&self, _unit: u64, index: u64) -> Option<u64> {
        self.debug_addr.get(usize::try_from(index).ok()?).copied()
    }

    fn base_type(&self, unit: u64, offset: u64) -> Option<BaseType> {
        self.types.get(&(unit, offset)).copied()
    }

    fn entry(&self, offset: u64) -> Option<ReferencedEntry<'_>> {
        self.entries.get(&offset).map(entry)
    }

    fn call_value(&self, parameter: u64, frame: u32) -> Option<CallValue<'_>> {
        let (expr, unit) = self.call_values.get(&parameter).filter(|_| frame == 0)?;
        let value = ReferencedEntry { body: Body::Expression(expr), unit: *unit, encoding: None };
        Some(CallValue { value, target: None })
    }

    fn variable_type(&self, offset: u64) -> Option<BaseType> {
        self.variable_types.get(&offset).copied()
    }
}

impl MachineMut for Snapshot {
    fn set_register(&mut self, reg: Reg, frame: u32, at: u32, bytes: &[u8]) -> Result<(), Unavailable> {
        let known = self.registers.get_mut(&reg).filter(|_| frame == 0).ok_or(Unavailable)?;
        let start = at as usize;
        known.get_mut(start..start + bytes.len()).ok_or(Unavailable)?.copy_from_slice(bytes);
        Ok(())
    }

    fn set_memory(
        &mut self,
        space: SpaceId,
        lane: Option<u32>,
        address: u64,
        bytes: &[u8],
    ) -> Result<(), Unavailable> {
        let mut old = vec![0; bytes.len()];
        // Only mapped bytes can be written, and all or none are.
        self.memory(space, lane, address, &mut old)?;
        self.store(space, lane, address, bytes);
        Ok(())
    }
}
