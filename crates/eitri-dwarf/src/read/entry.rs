//! View of an entry, with access to its attributes and relatives.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::slice;

use gimli::{Abbreviation, AttributeSpecification, DwAt, DwTag, Reader, UnitOffset, constants as dw};

use super::dwarf::{Dwarf, Node};
use super::lists::{ListEntry, ListKind};
use super::pcs::EntryPosition;
use super::shape::{Shape, Step};
use super::unit::{Contents, Unit};
use super::units::read;
use super::value::{ADDRX_OFFSET, Attribute, ResolvedValue, Slice, Str, reference, resolve};
use crate::error::{Error, Result};

/// Maximum length of a reference chain: more than any file needs, and an end for cyclic chains.
const MOST_STEPS: usize = 16;

/// A debugging information entry (DIE): a tag, attributes, and children.
#[derive(Clone, Copy)]
pub struct Entry<'r, 'o> {
    pub(super) dwarf: &'r Dwarf<'o>,
    pub(super) node: &'r Node,
    pub(super) index: u32,
    /// Unit index.
    pub(super) unit: u32,
}

impl<'r, 'o> Entry<'r, 'o> {
    /// Returns the entry in the same unit with an index among all entries.
    #[inline]
    pub(super) fn at_index(self, index: u32) -> Option<Self> {
        Some(Self { node: self.dwarf.node(index)?, index, ..self })
    }

    /// Returns the index after the last descendant.
    #[inline]
    pub(super) fn end(self) -> u32 {
        self.index + 1 + self.node.descendants
    }

    /// Returns the entry's file.
    pub fn dwarf(self) -> &'r Dwarf<'o> {
        self.dwarf
    }

    /// Returns the entry's unit.
    #[inline]
    pub fn unit(self) -> &'r Unit<'o> {
        &self.dwarf.units[self.unit as usize]
    }

    /// Returns the index among all [entries](Dwarf::entries), counted from 0.
    pub fn index(self) -> usize {
        self.index as usize
    }

    /// Returns the offset in bytes, counted as described at [`Dwarf`].
    pub fn offset(self) -> u64 {
        self.unit().offset + u64::from(self.node.offset)
    }

    /// Returns the size in bytes, with the descendants.
    pub fn bytes(self) -> u64 {
        let next = self.dwarf.node(self.end());
        let is_inside = self.unit().contents.entries.contains(&self.end());
        let end = next
            .filter(|_| is_inside)
            .map_or(self.unit().contents.bytes.len() as u64, |next| next.offset.into());
        end.saturating_sub(self.node.offset.into())
    }

    /// Returns the abbreviation's code. DWARF 5 section 7.5.2.
    pub fn abbreviation(self) -> u64 {
        self.node.code.into()
    }

    /// Returns the tag.
    #[inline]
    pub fn tag(self) -> DwTag {
        // The reader knows the abbreviation.
        self.declaration().map_or(DwTag(0), Abbreviation::tag)
    }

    /// Returns the abbreviation's declaration.
    #[inline]
    fn declaration(self) -> Option<&'r Abbreviation> {
        self.dwarf.tables[self.unit().contents.table as usize].get(self.abbreviation())
    }

    /// Returns the number of ancestors; 0 for a unit's first entry. The time grows with the number.
    pub fn depth(self) -> usize {
        std::iter::successors(self.parent(), |entry| entry.parent()).count()
    }

    /// Returns the parent.
    pub fn parent(self) -> Option<Self> {
        let after = self.node.after_parent;
        if after == 0 { None } else { self.at_index(self.index - after) }
    }

    /// Returns the children, in order.
    ///
    /// ```
    /// # use eitri_dwarf::read::{Dwarf, Object};
    /// # let bytes = include_bytes!("../../data/squares.o");
    /// # let object = Object::read(bytes)?;
    /// # let dwarf = Dwarf::read(&object)?;
    /// let squares = dwarf.entry_at(0x44).expect("the function");
    /// // Two parameters, a variable, and a block with further entries.
    /// let offsets: Vec<u64> = squares.children().map(|child| child.offset()).collect();
    /// assert_eq!(offsets, [0x53, 0x5d, 0x66, 0x6f]);
    /// # Ok::<(), eitri_dwarf::Error>(())
    /// ```
    pub fn children(self) -> impl Iterator<Item = Self> + use<'r, 'o> {
        let mut next = self.index + 1;
        let end = self.end();
        std::iter::from_fn(move || {
            if next >= end {
                return None;
            }
            let child = self.at_index(next)?;
            next = child.end();
            Some(child)
        })
    }

    /// Returns the members and base classes that are in each object of a structure, class or union, after removing
    /// qualifiers, in order: without static members, functions and types. [`member_location`](crate::eval::member_location)
    /// locates them.
    pub fn members(self) -> impl Iterator<Item = Self> + use<'r, 'o> {
        let is_member = |child: &Self| match child.tag() {
            dw::DW_TAG_inheritance => true,
            // Before DWARF 5, a static member is a member that is a declaration.
            dw::DW_TAG_member => !child.has(dw::DW_AT_external) && !child.has(dw::DW_AT_declaration),
            _ => false,
        };
        self.unqualified().into_iter().flat_map(Self::children).filter(is_member)
    }

    /// Returns all descendants, parents before children.
    pub fn descendants(self) -> impl ExactSizeIterator<Item = Self> + use<'r, 'o> {
        Entries::new(self.dwarf, self.index + 1..self.end(), self.unit)
    }

    /// Returns the attributes, in order.
    #[inline]
    pub fn attributes(self) -> Attributes<'r, 'o> {
        Attributes { entry: self, specs: self.specs().iter(), rest: self.encoded() }
    }

    /// Returns the attribute names, in order, without decoding the values.
    pub fn names(self) -> impl ExactSizeIterator<Item = DwAt> + use<'r, 'o> {
        self.specs().iter().map(AttributeSpecification::name)
    }

    /// Whether the entry has an attribute. The value is not decoded.
    pub fn has(self, name: DwAt) -> bool {
        self.names().any(|known| known == name)
    }

    /// Returns the attribute bytes, and what comes after them in the unit.
    #[inline]
    fn encoded(self) -> Slice<'o> {
        let mut rest = self.unit().contents.bytes;
        // Skips the abbreviation code, which the reader has decoded.
        if rest.skip(self.node.offset as usize).and_then(|()| rest.skip_leb128()).is_err() {
            rest.empty();
        }
        rest
    }

    /// Returns the attribute decoder.
    #[inline]
    fn raw(self) -> Raw<'r, 'o> {
        let Contents { table, forms, .. } = self.unit().contents;
        Raw::new(self.encoded(), forms, &self.dwarf.tables[table as usize], UnitOffset(0))
    }

    /// Returns the abbreviation's shape, with the attributes that are wanted.
    #[doc(hidden)]
    pub fn shape_with(self, is_wanted: impl Fn(&AttributeSpecification) -> bool) -> Shape {
        let mut shape = Shape::new(self.specs(), self.unit().contents.forms, is_wanted);
        let wanted = shape.read.iter().rposition(|step| step.is_wanted).map_or(0, |last| last + 1);
        shape.read.truncate(wanted);
        shape
    }

    /// Calls a function for each attribute in an abbreviation's shape, in order. Attributes are passed by reference,
    /// because copying them at once would wait for the parts that were just written.
    #[inline]
    #[doc(hidden)]
    pub fn each_of(self, shape: &Shape, mut each: impl FnMut(Unresolved<'_, 'r, 'o>)) {
        let mut rest = self.encoded();
        let forms = self.unit().contents.forms;
        let table = &self.dwarf.tables[self.unit().contents.table as usize];
        for Step { skipped, spec, is_wanted } in &shape.read {
            let skip = rest.skip(*skipped);
            let before = rest;
            let Ok(read) = skip.and_then(|()| read(&mut rest, forms, table, *spec)) else { return };
            let contents = &self.unit().contents;
            if !contents.unreadable.is_empty() && contents.unreadable(&before, &rest).is_some() {
                continue;
            }
            if *is_wanted {
                each(Unresolved { entry: self, spec: *spec, read: &read });
            }
        }
    }

    /// Returns the names and forms of the abbreviation's attributes.
    #[doc(hidden)]
    pub fn specs(self) -> &'r [AttributeSpecification] {
        self.declaration().map_or(&[][..], Abbreviation::attributes)
    }

    /// Returns the value of the first attribute with this name.
    ///
    /// ```
    /// # use eitri_dwarf::read::{Dwarf, Object, ResolvedValue};
    /// # use gimli::{DW_AT_high_pc, DW_AT_low_pc};
    /// # let bytes = include_bytes!("../../data/squares.o");
    /// # let object = Object::read(bytes)?;
    /// # let dwarf = Dwarf::read(&object)?;
    /// let squares = dwarf.entry_at(0x44).expect("the function");
    /// // Indices are resolved: the address comes from `.debug_addr`. A constant `DW_AT_high_pc` is
    /// // a size.
    /// let start = dwarf.address_in("squares", 0)?;
    /// assert_eq!(squares.attr(DW_AT_low_pc), Some(ResolvedValue::Address(start)));
    /// assert_eq!(squares.attr(DW_AT_high_pc), Some(ResolvedValue::Unsigned(0x26)));
    /// # Ok::<(), eitri_dwarf::Error>(())
    /// ```
    pub fn attr(self, name: DwAt) -> Option<ResolvedValue<'o>> {
        let specs = self.declaration()?.attributes();
        let index = specs.iter().position(|spec| spec.name() == name)?;
        if !self.unit().contents.unreadable.is_empty() {
            return Some(self.checked(&specs[..=index])?.unwrap_or(ResolvedValue::Unreadable));
        }
        let mut raw = self.raw();
        let value = match raw.skip_attributes(&specs[..index]) {
            Ok(()) if specs[index].form() != ADDRX_OFFSET => {
                raw.read_attribute(specs[index]).ok()?.raw_value()
            }
            _ => return Some(self.checked(&specs[..=index])?.unwrap_or(ResolvedValue::Unreadable)),
        };
        Some(resolve(self.dwarf, self.unit(), specs[index], value).unwrap_or(ResolvedValue::Unreadable))
    }

    /// Returns the error for the first attribute with this name, if its value cannot be read.
    pub fn problem(self, name: DwAt) -> Option<Error> {
        let specs = self.specs();
        let index = specs.iter().position(|spec| spec.name() == name)?;
        let error = self.checked(&specs[..=index])?.err()?;
        let (section, offset) = self.dwarf.place(self.offset());
        Some(error.in_section(section).at_offset(offset).or_at(self.place()))
    }

    /// Reads attributes, and returns the last attribute's value or error. Unlike `gimli`'s reader it knows all forms,
    /// and fields that cannot be read.
    fn checked(self, specs: &[AttributeSpecification]) -> Option<Result<ResolvedValue<'o>>> {
        let mut rest = self.encoded();
        let contents = &self.unit().contents;
        let table = &self.dwarf.tables[contents.table as usize];
        let mut last = None;
        for &spec in specs {
            let before = rest;
            let raw = read(&mut rest, contents.forms, table, spec).ok()?;
            last = Some((spec, raw, contents.unreadable(&before, &rest)));
        }
        let (spec, raw, unreadable) = last?;
        Some(match unreadable {
            Some(field) => Err(field.error.clone()),
            None => resolve(self.dwarf, self.unit(), spec, raw.raw_value()),
        })
    }

    /// Returns a numeric attribute's value, if it is not negative.
    ///
    /// ```
    /// # use eitri_dwarf::read::{Dwarf, Object};
    /// # let bytes = include_bytes!("../../data/squares.o");
    /// # let object = Object::read(bytes)?;
    /// # let dwarf = Dwarf::read(&object)?;
    /// let squares = dwarf.entry_at(0x44).expect("the function");
    /// assert_eq!(squares.number(gimli::DW_AT_decl_line), Some(6));
    /// # Ok::<(), eitri_dwarf::Error>(())
    /// ```
    pub fn number(self, name: DwAt) -> Option<u64> {
        self.attr(name)?.unsigned()
    }

    /// Returns the entry to which an attribute refers, by offset or signature.
    ///
    /// ```
    /// # use eitri_dwarf::read::{Dwarf, Object};
    /// # let bytes = include_bytes!("../../data/squares.o");
    /// # let object = Object::read(bytes)?;
    /// # let dwarf = Dwarf::read(&object)?;
    /// // The inlined call refers to the function that was inlined.
    /// let call = dwarf.entry_at(0x7e).expect("an inlined call");
    /// let square = call.reference(gimli::DW_AT_abstract_origin).expect("its origin");
    /// assert_eq!(square.offset(), 0x27);
    /// # Ok::<(), eitri_dwarf::Error>(())
    /// ```
    pub fn reference(self, name: DwAt) -> Option<Self> {
        self.referred(self.attr(name)?)
    }

    /// Returns the entry to which a value refers.
    #[doc(hidden)]
    pub fn referred(self, value: ResolvedValue<'o>) -> Option<Self> {
        match value {
            ResolvedValue::Reference(offset) => self.dwarf.entry_at(offset),
            ResolvedValue::Signature(signature) => self.dwarf.type_of_signature(signature),
            _ => None,
        }
    }

    /// Returns the value of an attribute that the entry itself has, or its abstract instance (`DW_AT_abstract_origin`)
    /// or declaration (`DW_AT_specification`), and so on.
    ///
    /// ```
    /// # use eitri_dwarf::read::{Dwarf, Object};
    /// # use gimli::{DW_AT_location, DW_AT_name};
    /// # let bytes = include_bytes!("../../data/squares.o");
    /// # let object = Object::read(bytes)?;
    /// # let dwarf = Dwarf::read(&object)?;
    /// // `x` of an inlined call: the location is its own, the name is that of the abstract
    /// // instance.
    /// let x = dwarf.entry_at(0x8b).expect("a parameter");
    /// assert!(x.attr(DW_AT_location).is_some() && x.attr(DW_AT_name).is_none());
    /// assert_eq!(x.inherited(DW_AT_name).and_then(|name| name.text()).as_deref(), Some("x"));
    /// # Ok::<(), eitri_dwarf::Error>(())
    /// ```
    pub fn inherited(self, name: DwAt) -> Option<ResolvedValue<'o>> {
        self.inherited_from(name).map(|inherited| inherited.1)
    }

    /// Returns the value of an attribute that can be [inherited](Self::inherited), and the entry that has it.
    pub(crate) fn inherited_from(self, name: DwAt) -> Option<(Self, ResolvedValue<'o>)> {
        self.completions().find_map(|entry| Some((entry, entry.attr(name)?)))
    }

    /// Returns the entry, and the entries from which it inherits: its abstract instance (`DW_AT_abstract_origin`) or declaration
    /// (`DW_AT_specification`), and so on.
    #[doc(hidden)]
    pub fn completions(self) -> impl Iterator<Item = Self> {
        core::iter::successors(Some(self), |entry| entry.completed()).take(MOST_STEPS)
    }

    /// Returns the declaration's file number, and the entry that has it, because the number counts files in that
    /// entry's unit.
    #[doc(hidden)]
    pub fn declared_file(self) -> Option<(Self, u64)> {
        let (entry, file) = self.inherited_from(dw::DW_AT_decl_file)?;
        Some((entry, file.unsigned()?))
    }

    /// Returns the source position of the declaration, the entry's own or [inherited](Self::inherited), or that of a type in a
    /// type unit. `None` without a file and a line. Each call reads the header of a line program.
    ///
    /// # Errors
    /// The errors that [`Dwarf::lines`] returns.
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri_dwarf::read::{Dwarf, Object};
    /// # let bytes = include_bytes!("../../data/squares.o");
    /// # let object = Object::read(bytes)?;
    /// # let dwarf = Dwarf::read(&object)?;
    /// let squares = dwarf.entry_at(0x44).expect("the function");
    /// let position = squares.declared_at()?.expect("a position");
    /// assert!(position.to_string().starts_with("/src/squares.c:6"));
    /// # Ok::<(), eitri_dwarf::Error>(())
    /// ```
    pub fn declared_at(self) -> Result<Option<EntryPosition>> {
        let known = |entry: Self| entry.has_inherited(dw::DW_AT_decl_line);
        let entry = self.signed().filter(|_| !known(self)).unwrap_or(self);
        let number =
            |name| entry.inherited(name).and_then(|value| value.unsigned()).filter(|number| *number > 0);
        let file = match entry.declared_file() {
            Some((owner, file)) => {
                let program = owner.dwarf.lines(owner.unit()).map_err(|error| error.or_at(self.place()))?;
                program.and_then(|program| program.full_path(file, owner.unit().comp_dir.as_deref()))
            }
            None => None,
        };
        let [line, column] = [dw::DW_AT_decl_line, dw::DW_AT_decl_column].map(number);
        Ok((file.is_some() || line.is_some()).then_some(EntryPosition { file, line, column }))
    }

    /// Returns the entry that this entry completes: its abstract instance or declaration.
    pub(super) fn completed(self) -> Option<Self> {
        let origin = self.reference(dw::DW_AT_abstract_origin);
        origin.or_else(|| self.reference(dw::DW_AT_specification))
    }

    /// Calls `each` with each attribute's name and value, and then with those of each attribute that may be
    /// [inherited](Self::inherited). A value is `None` if it refers to what the file does not have.
    #[doc(hidden)]
    pub fn each_with_inherited(self, mut each: impl FnMut(DwAt, Option<ResolvedValue<'o>>)) {
        let mut entry = self;
        for _ in 0..MOST_STEPS {
            let mut rest = entry.encoded();
            let unit = entry.unit();
            let table = &entry.dwarf.tables[unit.contents.table as usize];
            for &spec in entry.specs() {
                let before = rest;
                let read = read(&mut rest, unit.contents.forms, table, spec).ok();
                let is_readable =
                    unit.contents.unreadable.is_empty() || unit.contents.unreadable(&before, &rest).is_none();
                let read = read.filter(|_| is_readable);
                let value = read.map(|read| resolve(entry.dwarf, unit, spec, read.raw_value()));
                each(spec.name(), value.and_then(Result::ok));
            }
            let has_origin = entry.has(dw::DW_AT_abstract_origin) || entry.has(dw::DW_AT_specification);
            let Some(completed) = has_origin.then(|| entry.completed()).flatten() else { return };
            entry = completed;
        }
    }

    /// Returns whether the entry has the attribute, or [inherits](Self::inherited) it. The value is not decoded.
    pub fn has_inherited(self, name: DwAt) -> bool {
        self.completions().any(|entry| entry.has(name))
    }

    /// Returns the name, the entry's own or [inherited](Self::inherited); for a declaration of a type that a type unit
    /// defines, the name there.
    pub fn name(self) -> Option<Cow<'o, str>> {
        match self.inherited(dw::DW_AT_name) {
            Some(name) => name.text(),
            None => self.signed()?.attr(dw::DW_AT_name)?.text(),
        }
    }

    /// Returns the type's entry, the entry's own or [inherited](Self::inherited). A type in a type unit is the entry there,
    /// not a declaration with its signature. Any other declaration may have a [`definition`](Self::definition).
    pub fn ty(self) -> Option<Self> {
        let ty = self.referred(self.inherited(dw::DW_AT_type)?)?;
        Some(ty.signed().unwrap_or(ty))
    }

    /// Returns the start address: `DW_AT_low_pc`.
    pub fn low_pc(self) -> Option<u64> {
        match self.attr(dw::DW_AT_low_pc)? {
            ResolvedValue::Address(address) => Some(address),
            _ => None,
        }
    }

    /// Returns the code's pc ranges in file order: from `DW_AT_low_pc` to `DW_AT_high_pc`, or the ranges in
    /// `DW_AT_ranges`. A range can be empty or reversed in the file. DWARF 5 section 2.17.
    ///
    /// # Errors
    /// The errors that [`List`](super::List) returns, and the error of an attribute that cannot be read.
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri_dwarf::read::{Dwarf, Object};
    /// # let bytes = include_bytes!("../../data/squares.o");
    /// # let object = Object::read(bytes)?;
    /// # let dwarf = Dwarf::read(&object)?;
    /// let call = dwarf.entry_at(0x7e).expect("an inlined call");
    /// let start = dwarf.address_in("squares", 0)?;
    /// assert_eq!(call.ranges()?, [start + 0x13..start + 0x16]);
    /// # Ok::<(), eitri_dwarf::Error>(())
    /// ```
    pub fn ranges(self) -> Result<Vec<Range<u64>>> {
        let mut ranges = Vec::new();
        self.read_ranges(&mut ranges).map(|()| ranges)
    }

    /// Appends the code's pc ranges, as [`ranges`](Self::ranges) returns them: before an error, those before it.
    pub(super) fn read_ranges(self, into: &mut Vec<Range<u64>>) -> Result<()> {
        let unreadable = |name| self.problem(name).map_or(Ok(()), Err);
        match self.attr(dw::DW_AT_ranges) {
            Some(ResolvedValue::RngList(offset)) => {
                for entry in self.dwarf.ranges(self.unit(), offset)? {
                    let entry = entry?;
                    into.push(entry.start..entry.end);
                }
                return Ok(());
            }
            Some(ResolvedValue::Unreadable) => return unreadable(dw::DW_AT_ranges),
            _ => {}
        }
        let low = match self.attr(dw::DW_AT_low_pc) {
            Some(ResolvedValue::Address(low)) => low,
            Some(ResolvedValue::Unreadable) => return unreadable(dw::DW_AT_low_pc),
            _ => return Ok(()),
        };
        let high = match self.attr(dw::DW_AT_high_pc) {
            Some(ResolvedValue::Address(high)) => Some(high),
            Some(ResolvedValue::Unreadable) => return unreadable(dw::DW_AT_high_pc),
            Some(size) => size.unsigned().map(|size| low.wrapping_add(size)),
            None => None,
        };
        into.extend(high.map(|high| low..high));
        Ok(())
    }

    /// Returns the error for a start address that is in another file.
    pub(super) fn unknown_address(self) -> Option<Error> {
        match self.attr(dw::DW_AT_low_pc)? {
            ResolvedValue::AddressIndex(index) | ResolvedValue::AddressIndexOffset(index, _) => {
                self.dwarf.address(self.unit(), index).err()
            }
            _ => None,
        }
    }

    /// Returns an attribute's locations: the entries of its location list, or a single entry for all pcs if it is an
    /// expression. `None` if the attribute is missing or a constant.
    ///
    /// # Errors
    /// The errors that [`List`](super::List) returns.
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri_dwarf::op::text;
    /// # use eitri_dwarf::read::{Dwarf, Object};
    /// # let bytes = include_bytes!("../../data/squares.o");
    /// # let object = Object::read(bytes)?;
    /// # let dwarf = Dwarf::read(&object)?;
    /// let count = dwarf.entry_at(0x5d).expect("a parameter");
    /// let list = count.locations(gimli::DW_AT_location)?.expect("a location");
    /// let pc = dwarf.address_in("squares", 0x13)?;
    /// let entry = list.iter().find(|entry| entry.covers(pc)).expect("an entry for this pc");
    /// // DW_OP_reg2 is rcx.
    /// let target = object.target(None);
    /// assert_eq!(text::print(entry.expr, count.unit().encoding, target.as_ref()), "reg rcx");
    /// # Ok::<(), eitri_dwarf::Error>(())
    /// ```
    pub fn locations(self, name: DwAt) -> Result<Option<Vec<ListEntry<'o>>>> {
        match self.attr(name) {
            Some(ResolvedValue::LocList(offset)) => {
                let mut list = Vec::new();
                let read = self.dwarf.read_locations(self.unit(), offset, &mut list);
                read.map(|()| Some(list)).map_err(|error: Error| error.or_at(self.place()))
            }
            Some(ResolvedValue::Expr(expr)) => Ok(Some(Vec::from([ListEntry {
                offset: self.offset(),
                kind: ListKind::Default,
                start: 0,
                end: 0,
                expr,
            }]))),
            Some(ResolvedValue::Unreadable) => self.problem(name).map_or(Ok(None), Err),
            _ => Ok(None),
        }
    }

    /// Returns the unit's names, function and variable that contain the entry, for messages.
    pub fn place(self) -> crate::error::At {
        let mut place =
            crate::error::At { unit: self.unit().name.as_deref().map(String::from), ..Default::default() };
        let mut entry = Some(self);
        while let Some(scope) = entry {
            crate::work::step();
            let name = || scope.name().map(String::from);
            match scope.tag() {
                dw::DW_TAG_variable | dw::DW_TAG_formal_parameter | dw::DW_TAG_constant => {
                    place.variable = place.variable.take().or_else(name);
                }
                dw::DW_TAG_subprogram => place.function = place.function.take().or_else(name),
                _ => {}
            }
            entry = scope.parent();
        }
        place
    }
}

/// An entry's attribute whose value is not resolved.
#[derive(Debug, Clone, Copy)]
pub struct Unresolved<'a, 'r, 'o> {
    entry: Entry<'r, 'o>,
    spec: AttributeSpecification,
    read: &'a gimli::Attribute<Slice<'o>>,
}

impl<'o> Unresolved<'_, '_, 'o> {
    #[inline]
    #[doc(hidden)]
    pub fn name(self) -> DwAt {
        self.read.name()
    }

    /// Returns the value.
    #[inline]
    #[doc(hidden)]
    pub fn value(self) -> Option<ResolvedValue<'o>> {
        resolve(self.entry.dwarf, self.entry.unit(), self.spec, self.read.raw_value()).ok()
    }

    /// Returns the string.
    #[inline]
    #[doc(hidden)]
    pub fn string(self) -> Option<Str<'o>> {
        self.value()?.string()
    }

    /// Returns the offset of the entry to which the attribute refers by offset.
    #[inline]
    #[doc(hidden)]
    pub fn reference(self) -> Option<u64> {
        reference(self.entry.dwarf, self.entry.unit(), &self.read.raw_value())
    }
}

/// Attribute decoder.
type Raw<'r, 'o> = gimli::EntriesRaw<'r, Slice<'o>>;

/// An entry's attributes, in order.
///
/// The reader checked the attributes: decoding does not fail.
#[derive(Debug, Clone)]
pub struct Attributes<'r, 'o> {
    entry: Entry<'r, 'o>,
    /// The rest, undecoded.
    specs: slice::Iter<'r, AttributeSpecification>,
    rest: Slice<'o>,
}

impl Attributes<'_, '_> {
    /// Returns the offset of the next value from the start of the section: at the end, that of the next entry. The value of
    /// `DW_FORM_indirect` begins with its form.
    #[doc(hidden)]
    pub fn offset(&self) -> u64 {
        let unit = self.entry.unit();
        unit.offset + (unit.contents.bytes.len() - self.rest.len()) as u64
    }
}

impl<'o> Iterator for Attributes<'_, 'o> {
    type Item = Attribute<'o>;

    #[inline]
    fn next(&mut self) -> Option<Attribute<'o>> {
        let &spec = self.specs.next()?;
        // Inlined, so that the match on the form and the match on the decoded value become a single match.
        let Entry { dwarf, .. } = self.entry;
        let unit = self.entry.unit();
        let table = &dwarf.tables[unit.contents.table as usize];
        let before = self.rest;
        let raw = read(&mut self.rest, unit.contents.forms, table, spec).ok()?;
        let is_readable =
            unit.contents.unreadable.is_empty() || unit.contents.unreadable(&before, &self.rest).is_none();
        let value = if is_readable {
            resolve(dwarf, unit, spec, raw.raw_value()).unwrap_or(ResolvedValue::Unreadable)
        } else {
            ResolvedValue::Unreadable
        };
        let form = if spec.form() == ADDRX_OFFSET { ADDRX_OFFSET } else { raw.form() };
        Some(Attribute { name: spec.name(), form, value })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.specs.size_hint()
    }
}

impl ExactSizeIterator for Attributes<'_, '_> {}

/// Entries in file order.
#[derive(Clone)]
pub(super) struct Entries<'r, 'o> {
    dwarf: &'r Dwarf<'o>,
    rest: Range<u32>,
    /// Unit index of the next entry, or of an earlier unit without further entries.
    unit: u32,
}

impl<'r, 'o> Entries<'r, 'o> {
    pub(super) fn new(dwarf: &'r Dwarf<'o>, rest: Range<u32>, unit: u32) -> Self {
        Self { dwarf, rest, unit }
    }
}

impl<'r, 'o> Iterator for Entries<'r, 'o> {
    type Item = Entry<'r, 'o>;

    #[inline]
    fn next(&mut self) -> Option<Entry<'r, 'o>> {
        let index = self.rest.next()?;
        while index >= self.dwarf.units.get(self.unit as usize)?.contents.entries.end {
            self.unit += 1;
        }
        Some(Entry { dwarf: self.dwarf, node: self.dwarf.node(index)?, index, unit: self.unit })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.rest.size_hint()
    }
}

impl ExactSizeIterator for Entries<'_, '_> {}

impl PartialEq for Entry<'_, '_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.dwarf, other.dwarf) && self.index == other.index
    }
}

impl fmt::Debug for Entry<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Entry({:#x}, {}, {:?})", self.offset(), self.tag(), self.name())
    }
}
