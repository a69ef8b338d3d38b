//! A unit's expressions and location lists: DWARF 5 sections 2.5, 2.6 and 7.7.3.

use core::ops::Range;

use super::entry_numbers::EntryNumbers;
use super::homes::Homes;
use super::lists::{ABSOLUTE, Base, Code, address_key, addresses, begin, end, patch_length};
use super::loc::{Extent, Facts, Key, Lowering, References, Sink, append};
use super::units::Units;
use crate::consumer::{Consumer, Policy};
use crate::emit::addr::{AddressKey, Addresses};
use crate::emit::format::Format;
use crate::emit::info::Pending;
use crate::emit::lists::{Contents, Lists};
use crate::error::{Construct, Error, Result};
use crate::model::{Address, FrameBase, FunctionId, Live, LocId, Module, Node, Stack, UnitId, VariableId};
use crate::omission::{Omission, Property, Subject};
use crate::op::write_ulebs;

/// Separate expression, with references relative to its start.
pub(super) type Expression = (Vec<u8>, Vec<Pending>);

/// Pcs at which registers of the map are used.
struct Mapped {
    function: FunctionId,
    pcs: Range<u64>,
    /// Whether local memory is a spill slot.
    has_spills: bool,
}

/// Encoder for a unit's expressions and location lists.
pub(super) struct Expressions<'u> {
    pub(super) module: &'u Module,
    pub(super) consumer: &'u Consumer,
    pub(super) policy: Policy,
    format: Format,
    pub(super) lowering: Lowering<'u>,
    /// Unit entries, for references.
    pub(super) numbers: EntryNumbers<'u>,
    pub(super) addresses: Addresses,
    pub(super) loclists: Lists,
    /// Expression encoded last, with references relative to its start.
    pub(super) last: Expression,
    pub(super) omissions: Vec<Omission>,
    /// Registers of the map, for a consumer that has the map.
    pub(super) homes: Homes,
}

impl<'u> Expressions<'u> {
    pub(super) fn new(units: &'u Units<'u>, unit: UnitId) -> Self {
        Self {
            module: units.module,
            consumer: units.consumer,
            policy: units.policy,
            format: units.format,
            lowering: Lowering::new(units.module, units.consumer),
            numbers: EntryNumbers::new(units, unit),
            addresses: Addresses::default(),
            loclists: Lists::empty(units.format),
            last: Default::default(),
            omissions: Vec::new(),
            homes: Homes::default(),
        }
    }

    /// Encodes an attribute's or procedure's expression, which applies at all pcs.
    pub(super) fn encode(
        &mut self,
        stack: Stack,
        write: impl FnOnce(&mut Lowering<'u>, &mut Sink<'_>) -> Result<()>,
    ) -> Result<()> {
        self.encode_within(Extent::AllPcs, None, stack, &mut Facts::default(), write)
    }

    fn encode_within(
        &mut self,
        extent: Extent,
        mapped: Option<Mapped>,
        stack: Stack,
        facts: &mut Facts,
        write: impl FnOnce(&mut Lowering<'u>, &mut Sink<'_>) -> Result<()>,
    ) -> Result<()> {
        let (out, pending) = &mut self.last;
        out.clear();
        pending.clear();
        let uses = self.homes.count();
        let homes = mapped.map(|mapped| self.homes.at(mapped.function, mapped.pcs, mapped.has_spills));
        let references = References { addresses: &mut self.addresses, pending, facts, homes };
        let sink = &mut Sink { out, references, entries: &self.numbers, stack, extent };
        let written = write(&mut self.lowering, sink);
        if written.is_err() {
            self.homes.truncate(uses);
        }
        written
    }

    /// Encodes an expression to be used later.
    pub(super) fn encode_apart(
        &mut self,
        stack: Stack,
        write: impl FnOnce(&mut Lowering<'u>, &mut Sink<'_>) -> Result<()>,
    ) -> Result<Expression> {
        self.encode(stack, write)?;
        Ok(core::mem::take(&mut self.last))
    }

    /// Encodes a location to be used later.
    pub(super) fn detached(&mut self, loc: LocId, stack: Stack) -> Result<Expression> {
        self.encode_apart(stack, |lowering, sink| lowering.lower(loc, None, sink))
    }

    /// Encodes a value's number, to be used later.
    pub(super) fn detached_number(&mut self, loc: LocId, stack: Stack) -> Result<Expression> {
        self.encode_apart(stack, |lowering, sink| lowering.number(loc, sink))
    }

    /// Returns the start address of code, or address 0 if the code has none.
    pub(super) fn code(&mut self, address: Option<Address>) -> Code {
        let key = address_key(address);
        // Address indices begin with DWARF 5.
        let index = if self.format.version >= 5 { self.addresses.index(key) } else { 0 };
        Code { key, index }
    }

    /// Encodes a variable's only location. Returns facts about it if the consumer can express it.
    pub(super) fn location(
        &mut self,
        variable: VariableId,
        loc: LocId,
        pcs: Option<Range<u64>>,
        bits: Option<u64>,
        stack: Stack,
    ) -> Result<Option<Facts>> {
        let extent = if pcs.is_some() { Extent::SomePcs } else { Extent::AllPcs };
        let mut facts = Facts::default();
        let lower = |lowering: &mut Lowering<'u>, sink: &mut Sink<'_>| lowering.lower(loc, bits, sink);
        let mapped = self.mapped(variable, pcs.clone());
        match self.encode_within(extent, mapped, stack, &mut facts, lower) {
            Ok(()) => Ok(Some(facts)),
            Err(error) => {
                let subject = Subject::Variable(variable);
                self.omit(subject, Property::Location, pcs, error).map(|()| None)
            }
        }
    }

    /// Encodes a property that is a location. Returns whether the consumer can express it.
    pub(super) fn location_of(
        &mut self,
        subject: Subject,
        property: Property,
        loc: LocId,
        bits: Option<u64>,
    ) -> Result<bool> {
        self.property(subject, property, |lowering, sink| lowering.lower(loc, bits, sink))
    }

    /// Encodes a property that is a number. Returns whether the consumer can express it.
    pub(super) fn number_of(&mut self, subject: Subject, property: Property, number: LocId) -> Result<bool> {
        self.property(subject, property, |lowering, sink| lowering.number(number, sink))
    }

    fn property(
        &mut self,
        subject: Subject,
        property: Property,
        write: impl FnOnce(&mut Lowering<'u>, &mut Sink<'_>) -> Result<()>,
    ) -> Result<bool> {
        match self.encode(stack_of(self.module, subject), write) {
            Ok(()) => Ok(true),
            Err(error) => self.omit(subject, property, None, error).map(|()| false),
        }
    }

    /// Records a property that the consumer cannot express. Returns other errors, and with [`Policy::Strict`] every
    /// error.
    pub(super) fn omit(
        &mut self,
        subject: Subject,
        property: Property,
        pcs: Option<Range<u64>>,
        error: Error,
    ) -> Result<()> {
        let why = error.or_at(subject.at(self.module).with(|context| context.pcs = pcs.clone()));
        if self.policy == Policy::Strict {
            return Err(why);
        }
        self.omissions.push(Omission::inexpressible(subject, property, pcs, why)?);
        Ok(())
    }

    /// Appends a variable's location list. Returns the list's index and facts about its locations, or `None` if every
    /// entry was omitted.
    pub(super) fn location_list(
        &mut self,
        variable: VariableId,
        bits: Option<u64>,
        stack: Stack,
        base: Base,
    ) -> Result<Option<(u64, Facts)>> {
        let key = self.lowering.key(bits, stack);
        let encode = |lowering: &mut Lowering<'u>, live: &Live, sink: &mut Sink<'_>| {
            lowering.lower_anew(live.loc, bits, key, sink)
        };
        let omit = |unit: &mut Self, live: &Live, error| {
            unit.omit(Subject::Variable(variable), Property::Location, Some(live.pcs()), error)
        };
        let pcs = |live: &Live| live.start..live.end;
        let head = |live: &Live| (pcs(live), key.map(|key| (live.loc, key)));
        let lives = self.module.live(variable);
        // A variable can have several locations at the same pcs. A consumer that reads one space for each variable
        // takes only one.
        let is_one_of_several = self.consumer.attributes.variable_space.is_some()
            && lives.windows(2).any(|two| pcs(&two[0]) == pcs(&two[1]));
        if is_one_of_several {
            let first = self.first_locations(variable, lives, bits, stack);
            self.list_of(&first, head, (Some(variable), stack, base), encode, omit)
        } else {
            self.list_of(lives, head, (Some(variable), stack, base), encode, omit)
        }
    }

    /// Appends the location list of a function's frame bases. Returns the list's index, or `None` if every entry was
    /// omitted.
    pub(super) fn frame_base_list(
        &mut self,
        function: FunctionId,
        stack: Stack,
        base: Base,
    ) -> Result<Option<u64>> {
        let encode = |lowering: &mut Lowering<'u>, base: &FrameBase, sink: &mut Sink<'_>| {
            lowering.lower(base.loc, None, sink)
        };
        let omit = |unit: &mut Self, base: &FrameBase, error| {
            unit.omit(Subject::Function(function), Property::Frame, Some(base.pcs()), error)
        };
        let head = |base: &FrameBase| (base.start..base.end, None);
        let bases = self.module.functions[function].frame_bases();
        let list = self.list_of(bases, head, (None, stack, base), encode, omit)?;
        Ok(list.map(|(list, _)| list))
    }

    /// Returns one location for each pc range: the first that is expressible, or else the first, whose error then
    /// becomes the omission.
    fn first_locations(
        &mut self,
        variable: VariableId,
        all: &[Live],
        bits: Option<u64>,
        stack: Stack,
    ) -> Vec<Live> {
        let facts = &mut Facts::default();
        let mut first = Vec::new();
        for same in all.chunk_by(|a, b| (a.start, a.end) == (b.start, b.end)) {
            let is_expressible = |live: &&Live| {
                let lower =
                    |lowering: &mut Lowering<'u>, sink: &mut Sink<'_>| lowering.lower(live.loc, bits, sink);
                let uses = self.homes.count();
                let mapped = self.mapped(variable, Some(live.pcs()));
                let is_expressible = self.encode_within(Extent::SomePcs, mapped, stack, facts, lower).is_ok();
                self.homes.truncate(uses);
                is_expressible
            };
            first.extend(same.iter().find(is_expressible).or(same.first()).cloned());
        }
        first
    }

    /// Returns where the registers of a variable's location are mapped, for a consumer with a map: at some pcs, or in the
    /// whole function.
    fn mapped(&self, variable: VariableId, pcs: Option<Range<u64>>) -> Option<Mapped> {
        if !self.consumer.expressions.has_register_map {
            return None;
        }
        let module = self.module;
        let function = module.function_of(module.variables[variable].scope)?;
        let pcs = pcs.unwrap_or(0..module.functions[function].bytes);
        let is_elsewhere = |live: &Live| !module.nodes(live.loc).any(|node| matches!(node, Node::Memory(_)));
        Some(Mapped { function, pcs, has_spills: module.live(variable).iter().any(is_elsewhere) })
    }

    /// Appends a location list of a variable, or of something else. `head` returns an entry's range, and its location
    /// if the expression may be known; `encode` appends the expression, and `omit` handles an error from `encode`. Returns the list's index and facts
    /// about its locations, or `None` if every entry was omitted.
    pub(super) fn list_of<T>(
        &mut self,
        all: &[T],
        head: impl Fn(&T) -> (Range<u32>, Option<(LocId, Key)>),
        (variable, stack, base): (Option<VariableId>, Stack, Base),
        encode: impl Fn(&mut Lowering<'u>, &T, &mut Sink<'_>) -> Result<()>,
        mut omit: impl FnMut(&mut Self, &T, Error) -> Result<()>,
    ) -> Result<Option<(u64, Facts)>> {
        let facts = &mut Facts::default();
        let module = self.module;
        let format = self.format;
        let is_five = format.version >= 5;
        let start = self.loclists.bytes.len();
        let lists = &mut self.loclists;
        // A single entry from the function's start takes fewer bytes without a base address.
        let is_one_from_0 = matches!(all, [one] if head(one).0.start == 0);
        // Entries that contain their start address need no base address.
        let own = match base {
            Base::Parts(_) => is_five || self.consumer.is_split,
            Base::Address(_) if self.consumer.is_split && !self.consumer.lists.has_split_offsets => true,
            Base::Address(_) => is_five && is_one_from_0,
            Base::Unit => false,
        };
        // DWARF 2 lacks base address selection entries. A list needs one only in a unit whose base is 0.
        let is_absolute = !is_five && (self.consumer.lists.has_absolute_bounds || format.version == 2);
        let absolute = match base {
            Base::Parts(_) => !own,
            Base::Address(_) => is_absolute,
            Base::Unit => false,
        };
        // Address of a pc at which an entry begins.
        let key_at = |pc: u32| match base {
            Base::Parts(id) => address_key(module.functions[id].address_at(pc.into())),
            Base::Address(Code { key: AddressKey { symbol, addend }, .. }) => {
                AddressKey { symbol, addend: addend.wrapping_add(pc.into()) }
            }
            Base::Unit => ABSOLUTE.key,
        };
        let mut contents = match (absolute, own) {
            (true, _) => Contents::Pending,
            (false, true) => Contents::Final,
            (false, false) => begin(lists, base, gimli::DW_LLE_base_addressx.0, module),
        };
        let mapped = variable.and_then(|variable| self.mapped(variable, Some(0..0)));
        let lists = &mut self.loclists;
        let first = lists.bytes.len();
        let first_pending = lists.pending.len();
        for one in all {
            let (pcs, known) = head(one);
            // A remembered expression has its length in one byte, as in DWARF 5. Older lists have two bytes for it.
            let known = known.filter(|_| is_five).and_then(|(loc, key)| self.lowering.memo.get(loc, key));
            let out = &mut self.loclists.bytes;
            let entry = out.len();
            if own {
                let numbers = [self.addresses.index(key_at(pcs.start)), (pcs.end - pcs.start).into()];
                write_ulebs(out, [gimli::DW_LLE_startx_length.0], numbers);
            } else if is_five {
                write_ulebs(out, [gimli::DW_LLE_offset_pair.0], [pcs.start.into(), pcs.end.into()]);
            } else if absolute {
                let code = Code { key: key_at(pcs.start), index: 0 };
                addresses(&mut self.loclists, code, 0..(pcs.end - pcs.start).into(), module);
            } else {
                format.fixed(out, pcs.start.into(), format.address_bytes);
                format.fixed(out, pcs.end.into(), format.address_bytes);
            }
            let out = &mut self.loclists.bytes;
            if let Some(known) = known {
                append(known, out);
                continue;
            }
            // An entry that turns out too long below is omitted, and an omitted entry adds no facts.
            let facts_before = *facts;
            let length = out.len();
            // The length is known only after the expression. One byte is enough for most, so expressions rarely
            // move.
            if is_five {
                out.push(0);
            } else {
                format.half(out, 0);
            }
            let pending = &mut self.loclists.pending;
            let first_pending = pending.len();
            let uses = self.homes.count();
            let homes = mapped.as_ref().map(|&Mapped { function, has_spills, .. }| {
                self.homes.at(function, pcs.start.into()..pcs.end.into(), has_spills)
            });
            let references = References { addresses: &mut self.addresses, pending, facts, homes };
            let extent = Extent::SomePcs;
            let mut sink = Sink { out, references, entries: &self.numbers, stack, extent };
            if let Err(error) = encode(&mut self.lowering, one, &mut sink) {
                self.loclists.truncate(entry);
                self.homes.truncate(uses);
                omit(self, one, error)?;
                continue;
            }
            let lists = &mut self.loclists;
            // A length in more than one byte moves the expression, and with it the fields that are filled in later.
            let moved = if is_five {
                patch_length(&mut lists.bytes, length)
            } else {
                let bytes = lists.bytes.len() - length - 2;
                if u16::try_from(bytes).is_err() {
                    let error = self.consumer.inexpressible(Construct::LongLocation(bytes));
                    self.loclists.truncate(entry);
                    self.homes.truncate(uses);
                    *facts = facts_before;
                    omit(self, one, error)?;
                    continue;
                }
                format.patch(&mut lists.bytes, length, bytes as u64, 2);
                0
            };
            lists.pending[first_pending..].iter_mut().for_each(|field| field.at += moved);
        }
        let lists = &mut self.loclists;
        // Without entries, the base address entry is removed as well, with its relocations.
        if lists.bytes.len() == first {
            lists.bytes.truncate(start);
            lists.relocations.retain(|relocation| relocation.offset < start as u64);
            return Ok(None);
        }
        end(lists, gimli::DW_LLE_end_of_list.0);
        // While a field is not filled in, equal bytes do not mean equal lists, so the list is not merged.
        if lists.pending.len() > first_pending {
            contents = Contents::Pending;
        }
        Ok(Some((lists.end(start, contents), *facts)))
    }
}

/// Stack frame for an entity's locations: the enclosing function's, or a kernel's outside functions.
pub(super) fn stack_of(module: &Module, subject: Subject) -> Stack {
    let function = subject.scope(module).and_then(|scope| module.function_of(scope));
    function.map_or_else(|| Stack::kernel(&module.target), |function| module.functions[function].stack)
}
