//! The format's `machine`: a stopped program.

use std::collections::{BTreeMap, BTreeSet};

use super::element::ElementText;
use super::frame::{CallerText, CfaText, FrameBaseText};
use super::layers::{Item, Layer, Layers, all, last};
use super::list::{self, ListText};
use super::location::{LocationText, check_lane};
use super::target::VectorTarget;
use super::types::{TypeKey, TypeText};
use super::values::{Bytes, Given, Map, Named, Number, Offset, Parsed, Wrong, objects};
use crate::error::{Count, Result};
use crate::eval::{Architecture, Context, Element, OwnedBody, Snapshot};
use crate::op::Encoding;

/// A stopped program, with the parts of the context that belong to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VectorMachine {
    /// Program state.
    pub snapshot: Snapshot,
    /// Current frame: 0 is the innermost.
    pub frame: u32,
    /// Current unit: its offset in `.debug_info`.
    pub unit: u64,
    /// The current unit's base address.
    pub base_address: Option<u64>,
    /// Initial stack, bottom first.
    pub initial: Vec<Element>,
}

impl VectorMachine {
    /// Reads a `machine` object, for a target.
    ///
    /// ```
    /// use eitri::conform::VectorMachine;
    /// use eitri::op::Reg;
    /// use eitri::target::Target;
    ///
    /// let text = r#"{"registers": {"6": "00 10 00 00 00 00 00 00"}, "pc": "0x40", "cfa": "0x1010"}"#;
    /// let machine = VectorMachine::from_json(text, &Target::x86_64().into())?;
    /// assert_eq!(machine.snapshot.registers[&Reg(6)][1], 0x10);
    /// assert_eq!(machine.snapshot.pc, Some(0x40));
    /// # Ok::<(), eitri::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Malformed`](crate::error::ErrorKind::Malformed) and [`Truncated`](crate::error::ErrorKind::Truncated), with
    /// the [position](crate::error::At::json) in the text, if the object violates the format, or refers to a name that
    /// the target does not have.
    pub fn from_json(text: impl AsRef<[u8]>, target: &VectorTarget) -> Result<Self> {
        super::file::parse(text.as_ref(), "the machine", |object: MachineText| {
            let layers = Layers(vec![Layer { object: &object, path: Vec::new() }]);
            Self::of(&layers, target)
        })
    }

    /// Returns the context for evaluating a location on this machine, outside call frame information.
    pub fn context<'a>(&'a self, encoding: Encoding, target: &'a dyn Architecture) -> Context<'a> {
        Context::new(encoding, target).with_unit(self.unit).with_frame(self.frame).with_initial(&self.initial)
    }

    /// Sets the pc of the current frame. Returns whether the machine has the frame.
    #[must_use]
    pub fn set_pc(&mut self, pc: u64) -> bool {
        let known = match self.frame.checked_sub(1) {
            None => Some(&mut self.snapshot.pc),
            Some(caller) => self.snapshot.callers.get_mut(caller as usize).map(|caller| &mut caller.pc),
        };
        known.map(|known| *known = Some(pc)).is_some()
    }
}

objects! {
    "machine"
    /// The `machine` object.
    #[derive(Default)]
    #[serde(default)]
    pub(super) struct MachineText {
        registers: Given<Map<Named, Bytes>>,
        memory: Given<Vec<MemoryText>>,
        lane: Given<Number<u64>>,
        iteration: Given<Number<u64>>,
        lanes: Given<Number<u64>>,
        iterations: Given<Number<u64>>,
        pc: Given<Parsed<Offset>>,
        frame: Given<Number<u32>>,
        callers: Given<Vec<CallerText>>,
        cfa: Given<Parsed<CfaText>>,
        frame_base: Given<FrameBaseText>,
        object: Given<Parsed<LocationText>>,
        initial_stack: Given<Vec<ElementText>>,
        tls: Given<Parsed<Offset>>,
        load_bias: Given<Parsed<Offset>>,
        debug_addr: Given<Vec<Parsed<Offset>>>,
        base_address: Given<Parsed<Offset>>,
        types: Given<Map<TypeKey, TypeText>>,
        entries: Given<Map<Offset, EntryText>>,
        unit: Given<Parsed<Offset>>,
    }
}

objects! {
    "memory"
    struct MemoryText {
        space: Parsed<Named>,
        address: Parsed<Offset>,
        bytes: Bytes,
        lane: Option<Number<u32>>,
    }
}

objects! {
    "entry"
    /// An entry that expressions refer to.
    struct EntryText {
        expr: Option<Bytes>,
        loclist: Option<Vec<ListText>>,
        const_value: Option<Bytes>,
        unit: Option<Parsed<Offset>>,
    }
}

impl VectorMachine {
    pub(super) fn of(layers: &Layers<'_, MachineText>, target: &VectorTarget) -> Result<Self, Wrong> {
        let unit = last!(layers, unit).map_or(0, |item| item.value.0.0);
        let base_address = last!(layers, base_address).map(|item| item.value.0.0);
        let mut snapshot = Snapshot::default();
        snapshot.big_endian = target.is_big_endian();
        snapshot.lane = last!(layers, lane).map(|item| item.value.0);
        snapshot.lanes = last!(layers, lanes).map(|item| item.value.0);
        snapshot.iteration = last!(layers, iteration).map(|item| item.value.0);
        snapshot.iterations = last!(layers, iterations).map(|item| item.value.0);
        snapshot.pc = last!(layers, pc).map(|item| item.value.0.0);
        snapshot.tls = last!(layers, tls).map(|item| item.value.0.0);
        snapshot.load_bias = last!(layers, load_bias).map_or(0, |item| item.value.0.0);
        registers(&mut snapshot, &all!(layers, registers), target)?;
        for item in all!(layers, memory) {
            for (index, memory) in item.value.iter().enumerate() {
                let stored = store(&mut snapshot, memory, item.is_own, target);
                stored.map_err(|what| item.wrong(Wrong::new(what).at(index)))?;
            }
        }
        if let Some(item) = last!(layers, cfa) {
            snapshot.cfa = Some(item.value.0.resolve(target).map_err(|what| item.error(what))?);
        }
        if let Some(item) = last!(layers, object) {
            snapshot.object = Some(item.value.0.resolve(target).map_err(|what| item.error(what))?);
        }
        if let Some(Bytes(expr)) = last!(layers, frame_base).and_then(|item| item.value.expr.as_ref()) {
            snapshot.frame_base = Some((OwnedBody::Expression(expr.clone()), unit));
        }
        if let Some(item) = last!(layers, callers) {
            let callers =
                item.value.iter().enumerate().map(|(index, caller)| {
                    caller.resolve(target).map_err(|wrong| item.wrong(wrong.at(index)))
                });
            snapshot.callers = callers.collect::<Result<_, _>>()?;
        }
        if let Some(item) = last!(layers, debug_addr) {
            snapshot.debug_addr = item.value.iter().map(|address| address.0.0).collect();
        }
        for item in all!(layers, types) {
            for (key, ty) in &item.value.0 {
                let ty = ty.as_ref().map_or(Ok(None), TypeText::base_type);
                match ty.map_err(|what| item.wrong(Wrong::new(what).under(key)))? {
                    Some(ty) => snapshot.types.insert(key.place(unit), ty),
                    None => snapshot.types.remove(&key.place(unit)),
                };
            }
        }
        for item in all!(layers, entries) {
            for (&Offset(offset), entry) in &item.value.0 {
                let entry = entry.as_ref().map(|entry| entry.resolve(unit, base_address, target));
                let located = |wrong: Wrong| item.wrong(wrong.under(format_args!("{offset:#x}")));
                match entry.transpose().map_err(located)? {
                    Some(entry) => snapshot.entries.insert(offset, entry),
                    None => snapshot.entries.remove(&offset),
                };
            }
        }
        let mut initial = Vec::new();
        if let Some(item) = last!(layers, initial_stack) {
            for (index, element) in item.value.iter().enumerate() {
                let element = element.resolve(target);
                initial.push(element.map_err(|what| item.wrong(Wrong::new(what).at(index)))?);
            }
        }
        let frame = last!(layers, frame).map_or(0, |item| item.value.0);
        Ok(Self { snapshot, frame, unit, base_address, initial })
    }
}

/// Sets registers. For each register, the bytes in the last object with this register apply.
///
/// The file's object, which applies to all vectors, may have registers that one vector's target lacks.
fn registers(
    snapshot: &mut Snapshot,
    items: &[Item<'_, Map<Named, Bytes>>],
    target: &VectorTarget,
) -> Result<(), Wrong> {
    let mut last = BTreeMap::new();
    for item in items {
        let mut given = BTreeSet::new();
        for (named, bytes) in &item.value.0 {
            let wrong = |what: String| item.wrong(Wrong::new(what).under(named));
            let reg = match named.register(target) {
                Ok(reg) => reg,
                Err(what) if item.is_own => return Err(wrong(what)),
                Err(_) => continue,
            };
            // A name and a number can denote one register.
            if !given.insert(reg) {
                return Err(wrong(format!("register {} occurs twice", reg.0)));
            }
            last.insert(reg, (item, named, bytes));
        }
    }
    for (reg, (item, named, bytes)) in last {
        let Some(Bytes(bytes)) = bytes else { continue };
        let wrong = |what: String| item.wrong(Wrong::new(what).under(named));
        match target.register_bits(reg) {
            Some(bits) if bytes.len() as u64 > u64::from(bits.div_ceil(8)) => {
                return Err(wrong(format!(
                    "{} given for a register of {bits}",
                    Count(bytes.len(), "byte"),
                    bits = Count(bits, "bit")
                )));
            }
            None if item.is_own => return Err(wrong(format!("the target has no register {}", reg.0))),
            _ => snapshot.registers.insert(reg, bytes.clone()),
        };
    }
    Ok(())
}

/// Sets memory.
fn store(
    snapshot: &mut Snapshot,
    memory: &MemoryText,
    is_own: bool,
    target: &VectorTarget,
) -> Result<(), String> {
    let MemoryText { space: Parsed(space), address: Parsed(Offset(address)), bytes: Bytes(bytes), lane } =
        memory;
    let id = match space.space(target) {
        Ok(id) => id,
        Err(what) if is_own => return Err(what),
        Err(_) => return Ok(()),
    };
    let lane = lane.map(|lane| lane.0);
    match target.space(id) {
        None if is_own => return Err(format!("the target has no address space {space}")),
        None => {}
        Some(layout) => {
            check_lane(id, layout.per, lane)?;
            let end = u128::from(*address) + bytes.len() as u128;
            // The end may be the first address that does not exist.
            if end > 1 << layout.address_bits {
                return Err(format!("bytes extend past the end of address space {space}"));
            }
        }
    }
    snapshot.store(id, lane, *address, bytes);
    Ok(())
}

impl EntryText {
    /// The entry's attribute value and its unit.
    fn resolve(
        &self,
        current_unit: u64,
        base_address: Option<u64>,
        target: &VectorTarget,
    ) -> Result<(OwnedBody, u64), Wrong> {
        let body = match (&self.expr, &self.loclist, &self.const_value) {
            (Some(Bytes(expr)), None, None) => OwnedBody::Expression(expr.clone()),
            (None, Some(list), None) => {
                let entries = list::entries(list, base_address, target.address_bytes());
                OwnedBody::List(entries.map_err(|wrong| wrong.under("loclist"))?)
            }
            (None, None, Some(Bytes(bytes))) => OwnedBody::Constant(bytes.clone()),
            (None, None, None) => OwnedBody::Nothing,
            _ => return Err(Wrong::new("entry has more than one of `expr`, `loclist` and `const_value`")),
        };
        Ok((body, self.unit.as_ref().map_or(current_unit, |unit| unit.0.0)))
    }
}
