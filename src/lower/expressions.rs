//! Expressions and location lists of a unit: DWARF 5 sections 2.5, 2.6 and 7.7.3.

use core::ops::Range;

use super::entry_numbers::EntryNumbers;
use super::lists::{ABSOLUTE, Base, Code, addresses, begin, end, patch_length};
use super::loc::{Key, Lowering, Sink, append};
use super::units::Units;
use crate::consumer::{Consumer, Policy};
use crate::emit::addr::{AddressKey, Addresses};
use crate::emit::format::Format;
use crate::emit::info::Pending;
use crate::emit::lists::Lists;
use crate::error::{At, Construct, Error, Result};
use crate::model::{Address, Live, LocId, Module, Stack, UnitId, VariableId};
use crate::omission::{Omission, Property, Subject};
use crate::op::write_ulebs;

/// Separate expression, with references relative to its start.
pub(super) type Expression = (Vec<u8>, Vec<Pending>);

/// Encoder of the expressions of a unit, and of its location lists.
pub(super) struct Expressions<'u> {
    pub(super) module: &'u Module,
    pub(super) consumer: &'u Consumer,
    pub(super) policy: Policy,
    format: Format,
    pub(super) lowering: Lowering<'u>,
    /// Entries of the unit, for references.
    pub(super) numbers: EntryNumbers<'u>,
    pub(super) addresses: Addresses,
    pub(super) loclists: Lists,
    /// Expression encoded last. Its references are in `lowering`.
    pub(super) bytes: Vec<u8>,
    pub(super) omissions: Vec<Omission>,
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
            bytes: Vec::new(),
            omissions: Vec::new(),
        }
    }

    /// Encodes the expression of an attribute or a procedure.
    pub(super) fn encode(
        &mut self,
        stack: Stack,
        write: impl FnOnce(&mut Lowering<'u>, &mut Sink<'_>) -> Result<()>,
    ) -> Result<()> {
        let out = &mut self.bytes;
        out.clear();
        let mut sink = Sink { out, addresses: &mut self.addresses, entries: &self.numbers, stack };
        let result = write(&mut self.lowering, &mut sink);
        if result.is_err() {
            self.lowering.pending.clear();
        }
        result
    }

    /// Encodes an expression to be used later.
    pub(super) fn encode_apart(
        &mut self,
        stack: Stack,
        write: impl FnOnce(&mut Lowering<'u>, &mut Sink<'_>) -> Result<()>,
    ) -> Result<Expression> {
        let mut out = Vec::new();
        let mut sink = Sink { out: &mut out, addresses: &mut self.addresses, entries: &self.numbers, stack };
        let result = write(&mut self.lowering, &mut sink);
        let pending = core::mem::take(&mut self.lowering.pending);
        result.map(|()| (out, pending))
    }

    /// Encodes a location, or the number of a value, to be used later.
    pub(super) fn detached(&mut self, loc: LocId, stack: Stack, is_number: bool) -> Result<Expression> {
        self.encode_apart(stack, |lowering, sink| match is_number {
            true => lowering.number(loc, sink),
            false => lowering.lower(loc, None, false, sink),
        })
    }

    /// Returns the start address of code; address 0 without an address.
    pub(super) fn code(&mut self, address: Option<Address>) -> Code {
        let key = match address {
            Some(Address::Symbol(symbol, addend)) => AddressKey { symbol: Some(symbol.0.as_u32()), addend },
            Some(Address::Constant(addend)) => AddressKey { symbol: None, addend },
            None => ABSOLUTE.key,
        };
        // Address indices begin with DWARF 5.
        let index = if self.format.version >= 5 { self.addresses.index(key) } else { 0 };
        Code { key, index }
    }

    /// Encodes a location that a variable has at all pcs. Returns whether the consumer can express it.
    pub(super) fn location(
        &mut self,
        variable: VariableId,
        loc: LocId,
        pcs: Option<Range<u64>>,
        bits: Option<u64>,
        stack: Stack,
    ) -> Result<bool> {
        self.lowering.has_address = false;
        self.lowering.has_pcs = pcs.is_some();
        let encoded = self.encode(stack, |lowering, sink| lowering.lower(loc, bits, false, sink));
        self.lowering.has_pcs = false;
        match encoded {
            Ok(()) => Ok(true),
            Err(error) => {
                let subject = Subject::Variable(variable);
                self.omit(subject, Property::Location, pcs, error).map(|()| false)
            }
        }
    }

    /// Encodes the location of a property of another entity. Returns whether the consumer can express it.
    pub(super) fn location_of(
        &mut self,
        subject: Subject,
        property: Property,
        loc: LocId,
        bits: Option<u64>,
    ) -> Result<bool> {
        self.property(subject, property, |lowering, sink| lowering.lower(loc, bits, false, sink))
    }

    /// Encodes the number of a property. Returns whether the consumer can express it.
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
    #[cold]
    pub(super) fn omit(
        &mut self,
        subject: Subject,
        property: Property,
        pcs: Option<Range<u64>>,
        error: Error,
    ) -> Result<()> {
        let why = error.or_at(At { pcs: pcs.clone(), ..subject.at(self.module) });
        if self.policy == Policy::Strict {
            return Err(why);
        }
        self.omissions.push(Omission::inexpressible(subject, property, pcs, why)?);
        Ok(())
    }

    /// Appends the location list of a variable. Returns `None` if every entry was omitted.
    pub(super) fn location_list(
        &mut self,
        variable: VariableId,
        bits: Option<u64>,
        stack: Stack,
        base: Base,
    ) -> Result<Option<u64>> {
        let key = self.lowering.key(bits, stack);
        let encode = |lowering: &mut Lowering<'u>, live: &Live, sink: &mut Sink<'_>| {
            lowering.lower_anew(live.loc, bits, false, key, sink)
        };
        let omit = |unit: &mut Self, live: &Live, error| {
            unit.omit(Subject::Variable(variable), Property::Location, Some(live.pcs()), error)
        };
        let pcs = |live: &Live| live.start..live.end;
        let head = |live: &Live| (pcs(live), key.map(|key| (live.loc, key)));
        let all = self.module.live(variable);
        self.lowering.has_pcs = true;
        let is_one_of_several = self.consumer.attributes.variable_space.is_some()
            && all.windows(2).any(|two| pcs(&two[0]) == pcs(&two[1]));
        let written = if is_one_of_several {
            let first = self.first_places(all, bits, stack);
            self.list_of(&first, head, stack, base, encode, omit)
        } else {
            self.list_of(all, head, stack, base, encode, omit)
        };
        self.lowering.has_pcs = false;
        written
    }

    /// Returns the first expressible place of several at once, or else the first place.
    fn first_places(&mut self, all: &[Live], bits: Option<u64>, stack: Stack) -> Vec<Live> {
        let mut first = Vec::new();
        for same in all.chunk_by(|a, b| (a.start, a.end) == (b.start, b.end)) {
            let is_expressible = |live: &&Live| {
                let encoded =
                    self.encode(stack, |lowering, sink| lowering.lower(live.loc, bits, false, sink));
                self.lowering.pending.clear();
                encoded.is_ok()
            };
            first.extend(same.iter().find(is_expressible).or(same.first()).cloned());
        }
        first
    }

    /// Appends a location list. `head` returns the range of an entry, and its location if the expression may be
    /// known; `encode` appends the expression, and `omit` handles an error of `encode`. Returns `None` if every entry
    /// was omitted.
    pub(super) fn list_of<T>(
        &mut self,
        all: &[T],
        head: impl Fn(&T) -> (Range<u32>, Option<(LocId, Key)>),
        stack: Stack,
        base: Base,
        encode: impl Fn(&mut Lowering<'u>, &T, &mut Sink<'_>) -> Result<()>,
        mut omit: impl FnMut(&mut Self, &T, Error) -> Result<()>,
    ) -> Result<Option<u64>> {
        let (module, format) = (self.module, self.format);
        let is_five = format.version >= 5;
        self.lowering.has_address = false;
        let start = self.loclists.bytes.len();
        let lists = &mut self.loclists;
        // A single entry from the function's start takes fewer bytes without a base address.
        let is_one_from_0 = matches!(all, [one] if head(one).0.start == 0);
        // Entries with addresses of their own need no base address.
        let own = match base {
            Base::Address(code) if self.consumer.is_split && !self.consumer.lists.has_split_offsets => {
                Some(code.key)
            }
            Base::Address(code) if is_five && is_one_from_0 => Some(code.key),
            _ => None,
        };
        // DWARF 2 lacks base address selection entries. A list needs one only in a unit whose base is 0.
        let is_absolute = !is_five && (self.consumer.lists.has_absolute_bounds || format.version == 2);
        let absolute = match base {
            Base::Address(code) if is_absolute => Some(code),
            _ => None,
        };
        let is_comparable = absolute.is_none()
            && (own.is_some() || begin(lists, base, gimli::DW_LLE_base_addressx.0, module));
        let first = lists.bytes.len();
        let first_pending = lists.pending.len();
        for one in all {
            let (pcs, known) = head(one);
            let known = known.filter(|_| is_five).and_then(|(loc, key)| self.lowering.memo.get(loc, key));
            let out = &mut self.loclists.bytes;
            let entry = out.len();
            if let Some(AddressKey { symbol, addend }) = own {
                let key = AddressKey { symbol, addend: addend.wrapping_add(pcs.start.into()) };
                let numbers = [self.addresses.index(key), (pcs.end - pcs.start).into()];
                write_ulebs(out, [gimli::DW_LLE_startx_length.0], numbers);
            } else if is_five {
                write_ulebs(out, [gimli::DW_LLE_offset_pair.0], [pcs.start.into(), pcs.end.into()]);
            } else if let Some(code) = absolute {
                addresses(&mut self.loclists, code, pcs.start.into()..pcs.end.into(), module);
            } else {
                format.fixed(out, pcs.start.into(), format.address_bytes);
                format.fixed(out, pcs.end.into(), format.address_bytes);
            }
            let out = &mut self.loclists.bytes;
            if let Some(known) = known {
                append(known, out);
                continue;
            }
            // Addresses of an omitted entry do not count.
            let has_address = self.lowering.has_address;
            let length = out.len();
            if is_five {
                out.push(0);
            } else {
                format.half(out, 0);
            }
            let mut sink = Sink { out, addresses: &mut self.addresses, entries: &self.numbers, stack };
            if let Err(error) = encode(&mut self.lowering, one, &mut sink) {
                self.loclists.truncate(entry);
                self.lowering.has_address = has_address;
                self.lowering.pending.clear();
                omit(self, one, error)?;
                continue;
            }
            let lists = &mut self.loclists;
            let moved = if is_five {
                patch_length(&mut lists.bytes, length)
            } else {
                let bytes = lists.bytes.len() - length - 2;
                if u16::try_from(bytes).is_err() {
                    let error = self.consumer.inexpressible(Construct::LongLocation(bytes));
                    self.loclists.truncate(entry);
                    self.lowering.has_address = has_address;
                    self.lowering.pending.clear();
                    omit(self, one, error)?;
                    continue;
                }
                format.patch(&mut lists.bytes, length, bytes as u64, 2);
                0
            };
            if !self.lowering.pending.is_empty() {
                let pending = self.lowering.pending.drain(..);
                lists.pending.extend(pending.map(|one| Pending { at: one.at + moved, ..one }));
            }
        }
        let lists = &mut self.loclists;
        if lists.bytes.len() == first {
            lists.bytes.truncate(start);
            lists.relocations.retain(|relocation| relocation.offset < start as u64);
            return Ok(None);
        }
        end(lists, gimli::DW_LLE_end_of_list.0);
        let is_settled = lists.pending.len() == first_pending;
        Ok(Some(lists.end(start, is_settled && is_comparable)))
    }
}

/// Stack frame of the function around an entity.
pub(super) fn stack_of(module: &Module, subject: Subject) -> Stack {
    let function = subject.scope(module).and_then(|scope| module.function_of(scope));
    function.map_or_else(|| Stack::kernel(&module.target), |function| module.functions[function].stack)
}
