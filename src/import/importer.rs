//! The importer's state: the file and unit that are imported, the entities that exist, and access to attributes.
//!
//! Unless they are [shared](UnitTypes), a unit of the model has all functions and types that it refers to. An entry
//! that another unit refers to, as in type units, partial units and link-time optimization, is imported again for that
//! unit. Therefore entities are known by the offset of their entry, for one unit at a time.

use core::ops::Range;
use std::borrow::Cow;
use std::collections::BTreeMap;

use gimli::{DwAt, constants as dw};
use hashbrown::{HashMap, HashSet};

use super::completed;
use super::decoded::{Decoded, has_any};
use super::discarded::Discarded;
use super::entries::ImportedEntries;
use super::homes::Homes;
use super::node::{Key, Node};
use super::recurring::Expressions;
use super::shared::UnitTypes;
use super::sources::Sources;
use super::symbols::Symbols;
use super::taken::Taken;
use super::unimported::{UnimportedFact, UnimportedReason};
use crate::build::Builder;
use crate::error::Error;
use crate::model::{
    AttributeOwner, FunctionId, ProcedureId, ScopeId, SourceLine, TypeId, UnitId, VariableId,
};
use crate::read::{Dwarf, Entry, ResolvedValue, Unit};
use crate::target::Target;

/// Average number of copies of each entry for further units, and of each frame for further functions, that an import may
/// make. Without this limit, a small file could take unlimited memory.
pub(super) const MOST_COPIES: usize = 8;

/// A result with the reason why there is none.
pub(super) type Made<T> = Result<T, UnimportedReason>;

/// Returns the reason for a fact that the builder refuses.
pub(super) fn refused(error: Error) -> UnimportedReason {
    UnimportedReason::Refused(error)
}

/// A scope with what the pcs in it depend on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'o> {
    pub scope: ScopeId,
    /// Function with the code.
    pub function: Option<FunctionId>,
    /// Address of the function's code, if it has code; of the first part.
    pub base: Option<u64>,
    /// Size of the function's code in bytes; with several parts, the end of the pcs.
    pub bytes: u64,
    /// Whether the scope is an inlined call, or in an inlined call.
    pub is_inlined: bool,
    /// The function's frame base, if it is the same at all pcs.
    pub frame_base: Option<&'o [u8]>,
}

/// A function with its entries.
#[derive(Debug, Clone, Copy)]
pub(super) struct Body<'d, 'o> {
    pub function: FunctionId,
    /// The entry that describes the function.
    pub entry: Entry<'d, 'o>,
    /// The entry of the instance with the code, if the first entry is an abstract instance.
    pub code: Option<Entry<'d, 'o>>,
    /// The abstract instance, if the function is not an instance of it although the entry is.
    pub origin: Option<Entry<'d, 'o>>,
}

/// Parts of types and functions, in the order of their entries.
#[derive(Default)]
pub(super) struct IndexedParts<'d, 'o> {
    /// Each data member's index in its type, for types to whose members something refers.
    pub members: HashMap<Key, (TypeId, u32)>,
    /// These types, by their entries.
    pub types: HashSet<Key>,
    /// Each parameter's previous parameter, for functions whose parameters were looked at.
    pub previous: HashMap<Key, Option<Entry<'d, 'o>>>,
}

/// Declarations of types.
#[derive(Default)]
pub(super) struct Declarations<'d, 'o> {
    /// Types of the unit that complete a declaration, by the offset of the declaration.
    pub completions: HashMap<Key, Entry<'d, 'o>>,
    /// Types that complete a declaration in a class, with the declaration, if their class is not known yet.
    pub nested: Vec<(Entry<'d, 'o>, TypeId)>,
    /// Declarations of types of type units, with the parts that only this unit has, by the entries of the types.
    pub again: HashMap<Key, Place<'o>>,
}

/// Entities of the current unit, by their entries.
#[derive(Default)]
pub(super) struct Entities<'d, 'o> {
    /// Nodes that are made, refused or in progress.
    pub seen: HashSet<Node>,
    pub types: HashMap<Key, TypeId>,
    /// Types that entries share, or that are described.
    pub used: HashSet<TypeId>,
    pub scopes: HashMap<Key, Place<'o>>,
    pub functions: HashMap<Key, FunctionId>,
    pub variables: HashMap<Key, VariableId>,
    /// Procedures; `None` for a procedure that is not made, or in progress.
    pub procedures: HashMap<Key, Option<ProcedureId>>,
    /// Variables with a location or a value.
    pub placed: HashSet<VariableId>,
    /// Entries of a function's only instance, by the entries of its abstract instance.
    pub instances: HashMap<Key, Entry<'d, 'o>>,
    /// Blocks of abstract instances, by the blocks that are their instances with code without referring to them.
    pub unnamed: HashMap<Key, Entry<'d, 'o>>,
    /// Calls in the instance with code, by the entries of the same calls in the abstract instance.
    pub repeated: HashMap<Key, Entry<'d, 'o>>,
    /// Parts of entities by their order.
    pub indexed: IndexedParts<'d, 'o>,
    /// Structures, classes and unions whose members are not imported yet.
    pub composites: Vec<(Entry<'d, 'o>, TypeId)>,
    pub declarations: Declarations<'d, 'o>,
    /// Functions whose properties are not imported yet.
    pub bodies: Vec<Body<'d, 'o>>,
    /// Variables whose locations are not imported yet.
    pub located: Vec<(VariableId, Entry<'d, 'o>)>,
    /// Entries of other units that were imported for this unit, and whose parts are not imported yet.
    pub copied: Vec<Entry<'d, 'o>>,
    /// Entries of other units whose parts are imported.
    pub copies: Vec<Entry<'d, 'o>>,
    /// Types with expressions that are not imported yet.
    pub described: Vec<Entry<'d, 'o>>,
}

/// Part of a function's code, by its address.
#[derive(Debug, Clone, Copy)]
pub(super) struct Code {
    pub start: u64,
    pub end: u64,
    pub function: FunctionId,
    /// The function's pc at the start.
    pub pc: u64,
}

impl Code {
    /// Returns the addresses of a function's pcs; `None` if they are not in this part.
    pub fn addresses(&self, pcs: &Range<u64>) -> Option<Range<u64>> {
        let address = |pc: u64| self.start.checked_add(pc.checked_sub(self.pc)?);
        let addresses = address(pcs.start)?..address(pcs.end)?;
        (addresses.end <= self.end).then_some(addresses)
    }
}

/// Code of functions so far.
#[derive(Default)]
pub(super) struct FunctionCode {
    /// Code of all functions.
    pub all: Vec<Code>,
    /// Functions whose entries tell whether they are inlined.
    pub inline: Vec<(Key, FunctionId)>,
    /// Parts of the functions whose code has several, sorted by their addresses.
    pub parts: HashMap<FunctionId, Vec<Code>>,
}

/// Frame bases as expressions, by pc.
pub(super) type FrameBases<'o> = Vec<(Range<u64>, &'o [u8])>;

/// Frames of functions, where they decide what other facts mean.
#[derive(Default)]
pub(super) struct FunctionFrames<'o> {
    /// Addresses at which frames begin, sorted, once they are needed.
    pub starts: Option<Vec<u64>>,
    /// Frame bases by pc, in ascending order.
    pub bases: HashMap<FunctionId, FrameBases<'o>>,
    /// Functions whose frame base is the canonical frame address, for a reader without an operation for it: the rules of the
    /// frame become the frame bases. With the offset of the entry.
    pub by_rules: BTreeMap<FunctionId, u64>,
    /// The frame base at the call that is imported, if it is not the same at all pcs.
    pub at_call: Option<&'o [u8]>,
}

/// Attributes that no property encodes.
#[derive(Default)]
pub(super) struct Extras {
    /// Entities and parts that can have such attributes, by their entries.
    pub owners: HashMap<Key, AttributeOwner>,
    /// Attributes that were added to an entity of a unit, by entry.
    pub added: HashSet<(Key, DwAt)>,
    /// Number of functions whose lane pcs the builder refused.
    pub refused_lanes: usize,
}

/// Entries to import.
pub(super) struct Chosen<'d> {
    /// Names of the functions; all if it is empty.
    pub only: &'d [String],
    /// Entries that are not in the object.
    pub discarded: Discarded,
    /// Whether functions share the sequences of rows that they have in the file.
    pub has_sequences: bool,
}

/// Imports the units of a file.
pub(super) struct Importer<'d, 'o> {
    pub m: Builder,
    pub target: Target,
    pub expressions: Expressions<'o>,
    pub symbols: &'d Symbols<'o>,
    pub chosen: Chosen<'d>,
    /// Number of entries that may still be imported again for another unit.
    pub room: usize,
    pub facts: Vec<UnimportedFact>,
    pub dwarf: &'d Dwarf<'o>,
    /// The entry that is imported.
    pub decoded: Decoded<'d, 'o>,
    pub taken: Taken,
    /// The current unit.
    pub info: &'d Unit<'o>,
    pub unit: UnitId,
    pub made: Entities<'d, 'o>,
    pub sources: Sources<'o>,
    pub code: FunctionCode,
    pub frames: FunctionFrames<'o>,
    /// Homes of PTX registers.
    pub homes: Homes<'o>,
    pub extras: Extras,
    /// Entities of all units so far, by their entries.
    pub entries: ImportedEntries,
    pub types: UnitTypes<'o>,
}

impl<'d, 'o> Importer<'d, 'o> {
    /// Whether entities of the unit are not complete.
    pub(super) fn has_more(&self) -> bool {
        let Entities { composites, bodies, copied, .. } = &self.made;
        !(composites.is_empty() && bodies.is_empty() && copied.is_empty())
    }

    /// Whether an entry belongs to the file that is imported, and not to its supplementary file.
    pub(super) fn is_own(&self, entry: Entry<'d, 'o>) -> bool {
        core::ptr::eq(entry.dwarf(), self.dwarf)
    }

    /// Takes an attribute. Lists it, if its value cannot be read.
    pub(super) fn take(&mut self, entry: Entry<'d, 'o>, name: DwAt) -> Option<ResolvedValue<'o>> {
        let (index, value) = self.decoded.find(entry, name)?;
        if matches!(value, ResolvedValue::Unreadable) {
            let why = entry.problem(name).unwrap_or_else(|| Error::bad_argument("value is not readable"));
            self.leave(entry, name, UnimportedReason::Unreadable(why));
            return None;
        }
        self.taken.take_at(entry, index);
        Some(value)
    }

    /// Marks an attribute as taken.
    pub(super) fn mark(&mut self, entry: Entry<'d, 'o>, name: DwAt) {
        self.taken.take(entry, name);
    }

    /// Marks several attributes as taken.
    pub(super) fn mark_all(&mut self, entry: Entry<'d, 'o>, names: &[DwAt]) {
        names.iter().for_each(|&name| self.mark(entry, name));
    }

    /// Marks an entry as imported.
    pub(super) fn import(&mut self, entry: Entry<'d, 'o>) {
        self.taken.import(entry);
    }

    /// Marks an entry as imported, with all below it: what it says, other entries say.
    pub(super) fn repeat(&mut self, entry: Entry<'d, 'o>) {
        for entry in core::iter::once(entry).chain(entry.descendants()) {
            self.repeat_part(entry, None);
        }
    }

    /// Marks an entry as imported, with the attributes that the part of a complete type has, too; all if there is no part.
    pub(super) fn repeat_part(&mut self, entry: Entry<'d, 'o>, part: Option<Entry<'d, 'o>>) {
        self.import(entry);
        for (index, attribute) in entry.attributes().enumerate() {
            if part.is_none_or(|part| completed::says(part, entry, attribute.name, attribute.value)) {
                self.taken.take_at(entry, index);
            }
        }
    }

    /// Marks an entry as imported, which can have attributes that no property encodes.
    pub(super) fn own(&mut self, entry: Entry<'d, 'o>, owner: impl Into<AttributeOwner>) {
        self.import(entry);
        let has_extra = entry.names().enumerate().any(|(index, name)| {
            // Lines are attributes only without a file.
            let is_line = matches!(name, dw::DW_AT_decl_line | dw::DW_AT_decl_column);
            crate::attributes::is_extra(name)
                && self.is_left(entry, index, name)
                && !(is_line && (entry.has(dw::DW_AT_decl_file) || entry.declared_file().is_some()))
        });
        if has_extra {
            self.extras.owners.entry(entry.offset()).or_insert(owner.into());
        }
    }

    /// Lists an attribute that is not imported.
    pub(super) fn leave(&mut self, entry: Entry<'d, 'o>, name: DwAt, reason: UnimportedReason) {
        self.mark(entry, name);
        self.list(entry, Some(name), reason);
    }

    /// Lists an entry that is not imported, with its attributes.
    pub(super) fn leave_entry(&mut self, entry: Entry<'d, 'o>, reason: UnimportedReason) {
        for index in 0..entry.names().len() {
            self.taken.take_at(entry, index);
        }
        self.import(entry);
        self.list(entry, None, reason);
    }

    pub(super) fn list(&mut self, entry: Entry<'d, 'o>, attribute: Option<DwAt>, reason: UnimportedReason) {
        let (section, offset) = entry.dwarf().place(entry.offset());
        let fact = UnimportedFact {
            file: entry.dwarf().supplementary_name().map(String::from),
            unit: entry.unit().name.as_deref().map(String::from),
            tag: Some(entry.tag()),
            attribute,
            ..UnimportedFact::new(section, offset, reason)
        };
        let has_pcs = matches!(&fact.reason, UnimportedReason::Refused(error) if error.at().pcs.is_some());
        let mut code = Vec::new();
        if has_pcs {
            // The entry can be that of the function.
            let own = self.made.scopes.get(&self.representative(entry).offset()).copied();
            code = own.or_else(|| self.place(entry)).map(|place| self.code_of(&place)).unwrap_or_default();
        }
        self.list_fact(fact, &code);
    }

    /// Lists a fact of the unit in another section.
    pub(super) fn list_in(&mut self, section: &'static str, offset: u64, reason: UnimportedReason) {
        let unit = self.info.name.as_deref().map(String::from);
        self.list_fact(UnimportedFact { unit, ..UnimportedFact::new(section, offset, reason) }, &[]);
    }

    /// Lists a fact. A refusal counts pcs in the code of a function.
    pub(super) fn list_fact(&mut self, mut fact: UnimportedFact, code: &[Code]) {
        fact.file = fact.file.or_else(|| self.dwarf.split_file().map(String::from));
        let addresses = |pcs: &Range<u64>| code.iter().find_map(|part| part.addresses(pcs));
        fact.locate(addresses, self.dwarf.pc_notation());
        self.facts.push(fact);
    }

    /// Lists an attribute that the builder refuses.
    pub(super) fn accept<T>(
        &mut self,
        entry: Entry<'d, 'o>,
        name: DwAt,
        result: crate::Result<T>,
    ) -> Option<T> {
        result.map_err(|error| self.leave(entry, name, refused(error))).ok()
    }

    /// Takes a value that `read` accepts; lists any other value.
    ///
    /// * `expected` – what `read` accepts, for people.
    pub(super) fn take_as<T>(
        &mut self,
        entry: Entry<'d, 'o>,
        name: DwAt,
        expected: &'static str,
        read: impl FnOnce(ResolvedValue<'o>) -> Option<T>,
    ) -> Option<T> {
        let value = self.take(entry, name)?;
        let read = read(value);
        if read.is_none() {
            self.leave(entry, name, UnimportedReason::class(value, expected));
        }
        read
    }

    /// Takes a text.
    pub(super) fn text(&mut self, entry: Entry<'d, 'o>, name: DwAt) -> Option<Cow<'o, str>> {
        self.take_as(entry, name, "a text", ResolvedValue::text)
    }

    /// Takes a number.
    pub(super) fn number(&mut self, entry: Entry<'d, 'o>, name: DwAt) -> Option<u64> {
        self.take_as(entry, name, "an unsigned number", ResolvedValue::unsigned)
    }

    /// Takes a number of 32 bits.
    pub(super) fn word(&mut self, entry: Entry<'d, 'o>, name: DwAt) -> Option<u32> {
        let number = self.number(entry, name)?;
        let word = u32::try_from(number).ok();
        if word.is_none() {
            self.leave(entry, name, UnimportedReason::ValueRange(number.into()));
        }
        word
    }

    /// Takes a flag. A flag that is not set is absent.
    pub(super) fn flag(&mut self, entry: Entry<'d, 'o>, name: DwAt) -> bool {
        let flag = self.take_as(entry, name, "a flag, 0 or 1", |value| match value {
            ResolvedValue::Flag(flag) => Some(flag),
            // DWARF 2 producers write a flag as a number, too.
            ResolvedValue::Unsigned(number @ 0..=1) => Some(number != 0),
            _ => None,
        });
        flag == Some(true)
    }

    /// Takes a number that a table converts.
    pub(super) fn coded<T: Copy>(
        &mut self,
        entry: Entry<'d, 'o>,
        name: DwAt,
        codes: &[(u64, T)],
    ) -> Option<T> {
        let number = self.number(entry, name)?;
        let known = codes.iter().find(|&&(code, _)| code == number).map(|&(_, value)| value);
        if known.is_none() {
            self.leave(entry, name, UnimportedReason::ValueRange(number.into()));
        }
        known
    }

    /// Takes an attribute that refers to an entry.
    pub(super) fn refer(&mut self, entry: Entry<'d, 'o>, name: DwAt) -> Option<Entry<'d, 'o>> {
        let value = self.take(entry, name)?;
        let referred = entry.referred(value);
        if referred.is_none() {
            self.leave(entry, name, UnimportedReason::MissingReference);
        }
        referred
    }

    /// Takes an attribute that refers to a type, which is made already; `None` without the attribute, or if the type is
    /// not imported.
    pub(super) fn refer_to_type(&mut self, entry: Entry<'d, 'o>, name: DwAt) -> Option<TypeId> {
        let referred = self.refer(entry, name)?;
        let ty = self.known_type(referred);
        if ty.is_none() {
            self.leave(entry, name, UnimportedReason::MissingReference);
        }
        ty
    }

    /// Takes the type of an entity that must have one. What the file lacks is an unspecified type.
    pub(super) fn type_of(&mut self, entry: Entry<'d, 'o>) -> Option<TypeId> {
        let ty = self.refer_to_type(entry, dw::DW_AT_type);
        if ty.is_some() {
            return ty;
        }
        self.list(entry, None, UnimportedReason::AsUnspecified);
        self.m.unspecified_type(self.unit, "").ok()
    }

    /// Takes the source line of a declaration. Its parts can be those of the entry that this entry completes.
    pub(super) fn declared(&mut self, entry: Entry<'d, 'o>) -> Option<SourceLine> {
        const PARTS: [DwAt; 3] = [dw::DW_AT_decl_file, dw::DW_AT_decl_line, dw::DW_AT_decl_column];
        if !has_any(entry, &PARTS) {
            return None;
        }
        let [file, line, column] = PARTS;
        // A line without a file, as Go writes it, remains an attribute of the entity.
        if !entry.has(file) && entry.declared_file().is_none() {
            return None;
        }
        let own = [self.word(entry, file), self.word(entry, line), self.word(entry, column)];
        let inherited = |name| entry.inherited(name).and_then(ResolvedValue::unsigned);
        let line = own[1].or_else(|| inherited(dw::DW_AT_decl_line)?.try_into().ok()).unwrap_or(0);
        let own_file = own[0].map(|number| (entry, u64::from(number)));
        let place = own_file.or_else(|| entry.declared_file());
        let file = place.and_then(|(of, number)| self.file(of.unit(), number));
        // The file alone repeats that of an entry in another unit, by another number.
        let declared = entry.completions().skip(1).find(|completed| completed.has(dw::DW_AT_decl_line));
        let declared = declared.filter(|declared| declared.unit().offset != entry.unit().offset);
        if let ([Some(_), None, None], Some(declared)) = (own, declared)
            && declared.declared_file().and_then(|(of, number)| self.file(of.unit(), number)) == file
        {
            return None;
        }
        let Some(file) = file else {
            let number = place.map_or(0, |(_, number)| number);
            for (name, _) in PARTS.into_iter().zip(own).filter(|(_, own)| own.is_some()) {
                self.leave(entry, name, UnimportedReason::MissingFile(number));
            }
            return None;
        };
        Some(SourceLine::new(file, line).column(own[2].unwrap_or(0)))
    }
}
