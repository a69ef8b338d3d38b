//! Variables in scope at a pc, with their locations there.

use std::borrow::Cow;
use std::sync::Arc;

use gimli::constants as dw;
use hashbrown::{HashMap, HashSet};

use super::members::{Members, is_code_scope, is_variable};
use super::scopes::{CodeScope, CodeScopes};
use crate::error::{Error, ErrorKind};
use crate::op::text;
use crate::read::{Entry, ListEntry, ResolvedValue};
use crate::target::Target;

/// Variables, parameters and constants of the scopes with code at a pc.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ScopeVariables<'r, 'o> {
    /// The scopes, the innermost first.
    pub scopes: CodeScopes<'r, 'o>,
    /// The variables, those of the innermost scope first, and those of a scope in file order.
    pub variables: Vec<ScopeVariable<'r, 'o>>,
}

/// A variable in scope at a pc, with its location there.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ScopeVariable<'r, 'o> {
    /// The entry: a variable, a parameter or a constant. If the inlined call, or the function, has no entry for the
    /// variable, it is the entry of the abstract instance: compilers omit a variable that is optimized out, and write
    /// the location of a static variable there.
    pub entry: Entry<'r, 'o>,
    /// The entry that has the location: `entry`, or an entry whose attributes it [inherits](Entry::inherited). The unit of
    /// this entry is the unit of the expression.
    pub located: Entry<'r, 'o>,
    /// Entry of the innermost [scope](CodeScope) around the variable. `None` outside all functions.
    pub scope: Option<Entry<'r, 'o>>,
    /// Whether a variable of a scope inside this scope has the same name, in the same [frame](CodeScopes::frames): a caller's
    /// variable is not shadowed by one of an inlined function. A variable without a location in a block without pcs does not
    /// shadow: compilers keep such blocks for code that they removed, and nothing says that the pc is in the block. It is
    /// itself shadowed by a variable of this name in any scope of the frame.
    pub is_shadowed: bool,
    /// The location at the pc.
    pub location: CurrentLocation<'o>,
    /// The error of the location, or of a part of its list. `location` is what can be read.
    pub problem: Option<Error>,
    /// Number of blocks around the variable in its scope, because they have no pcs.
    pub(in crate::read) blocks: usize,
}

/// A variable's location at a pc.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum CurrentLocation<'o> {
    /// An expression for all pcs. An empty expression is the location of a variable that is optimized out.
    Expression(&'o [u8]),
    /// Entries of the location list: those with the pc, or else the default entries. Several are several locations at the
    /// same time. DWARF 5 section 2.6.2.
    Entries(Arc<[ListEntry<'o>]>),
    /// No location, but a constant: `DW_AT_const_value`.
    Constant(ResolvedValue<'o>),
    /// No entry of the location list has the pc.
    OutsideList,
    /// Neither a location nor a constant: the variable is optimized out.
    Missing,
    /// A declaration; the definition is outside the scope.
    Declared,
    /// A location that cannot be read: [`problem`](ScopeVariable::problem) has the error.
    Unreadable,
}

impl CurrentLocation<'_> {
    /// Whether the variable has no location at the pc, so that a debugger prints "optimized out": there is no location attribute,
    /// no list entry covers the pc, or the expressions are empty. DWARF 5 sections 2.6.1.1.4 and 4.1.
    pub fn is_undefined(&self) -> bool {
        match self {
            Self::Missing | Self::OutsideList | Self::Expression([]) => true,
            Self::Entries(entries) => entries.iter().all(|entry| entry.expr.is_empty()),
            _ => false,
        }
    }
}

impl<'r, 'o> ScopeVariables<'r, 'o> {
    /// Returns the variables of some of the scopes, such as those of a [frame](CodeScopes::frames).
    pub fn in_scopes(&self, scopes: &[CodeScope<'r, 'o>]) -> impl Iterator<Item = &ScopeVariable<'r, 'o>> {
        let is_wanted = |variable: &&ScopeVariable<'r, 'o>| {
            scopes.iter().any(|scope| variable.scope == Some(scope.entry))
        };
        self.variables.iter().filter(is_wanted)
    }
}

impl<'r, 'o> ScopeVariable<'r, 'o> {
    /// Returns the name.
    pub fn name(&self) -> Option<Cow<'o, str>> {
        self.entry.name()
    }

    /// Returns the type's entry.
    pub fn ty(&self) -> Option<Entry<'r, 'o>> {
        self.entry.ty()
    }

    /// Returns the location at the pc as text: the expressions of all locations, the constant, or why there is neither. With a
    /// target, registers have names.
    ///
    /// ```
    /// # use eitri_dwarf::read::{Dwarf, Object};
    /// # let bytes = include_bytes!("../../../data/squares.o");
    /// # let object = Object::read(bytes)?;
    /// # let dwarf = Dwarf::read(&object)?;
    /// # let target = object.target(None);
    /// let pc = dwarf.address_in("squares", 0x13)?;
    /// let total = dwarf.variable_named("total", Some(pc))?;
    /// assert_eq!(total.location_text(target.as_ref()), "reg rax");
    /// let y = &dwarf.variables_at(pc).variables[1];
    /// assert_eq!(y.location_text(target.as_ref()), "optimized out");
    /// # Ok::<(), eitri_dwarf::Error>(())
    /// ```
    pub fn location_text(&self, target: Option<&Target>) -> String {
        let print = |expr: &[u8]| text::print(expr, self.located.unit().encoding, target);
        match &self.location {
            CurrentLocation::Expression([]) | CurrentLocation::Missing => "optimized out".into(),
            CurrentLocation::Expression(expr) => print(expr),
            CurrentLocation::Entries(entries) => {
                let print = |entry: &ListEntry<'_>| match entry.expr {
                    [] => "optimized out".into(),
                    expr => print(expr),
                };
                entries.iter().map(print).collect::<Vec<_>>().join(" | ")
            }
            CurrentLocation::Constant(ResolvedValue::Unsigned(number)) => format!("constant {number}"),
            CurrentLocation::Constant(ResolvedValue::Signed(number)) => format!("constant {number}"),
            CurrentLocation::Constant(ResolvedValue::Wide(number)) => format!("constant {number:#x}"),
            CurrentLocation::Constant(ResolvedValue::Block(bytes)) => format!("constant bytes {bytes:02x?}"),
            CurrentLocation::Constant(ResolvedValue::String(text)) => {
                format!("constant {:?}", String::from_utf8_lossy(text.bytes()))
            }
            CurrentLocation::Constant(value) => format!("constant {value:?}"),
            CurrentLocation::OutsideList => "no location at this pc".into(),
            CurrentLocation::Declared => "declaration".into(),
            CurrentLocation::Unreadable => match &self.problem {
                Some(problem) => format!("location that cannot be read: {problem}"),
                None => "location that cannot be read".into(),
            },
        }
    }

    /// Whether the variable has no location at the pc, and is in a block without pcs, whose code can have been removed.
    pub(in crate::read) fn is_in_removed_block(&self) -> bool {
        self.blocks > 0 && self.location.is_undefined()
    }

    /// Returns a variable outside all functions at a pc.
    pub(in crate::read) fn outside_functions(entry: Entry<'r, 'o>, pc: Option<u64>) -> Self {
        Locations { pc, lists: HashMap::new() }.variable(entry, None, 0)
    }
}

/// Returns the variables of scopes.
pub(in crate::read) fn variables_of<'r, 'o>(mut scopes: CodeScopes<'r, 'o>) -> ScopeVariables<'r, 'o> {
    let mut locations = Locations { pc: Some(scopes.pc), lists: HashMap::new() };
    let mut variables: Vec<ScopeVariable<'r, 'o>> = Vec::new();
    // Nested calls of one function repeat its variables. A small file could otherwise exhaust the memory.
    let entries = scopes.first().map_or(0, |scope| scope.entry.dwarf.entries().len());
    let mut room = entries.saturating_mul(16).saturating_add(0x10000);
    // A frame is an instance of a function, and calls in it are other instances.
    for frame in scopes.frames() {
        let mut completed = None;
        let mut names = HashSet::new();
        let outside = variables.len();
        for scope in frame {
            let first = variables.len();
            let add = |(entry, blocks)| locations.variable(entry, Some(scope.entry), blocks);
            let own = Members::of_scope(scope.entry).filter(|(member, _)| is_variable(member.tag()));
            match scope.entry.reference(dw::DW_AT_abstract_origin) {
                None => variables.extend(own.map(add)),
                Some(origin) => {
                    let completed = completed.get_or_insert_with(|| {
                        frame.last().map_or_else(HashSet::new, |outermost| completed_by(outermost.entry))
                    });
                    let members = with_omitted(own, origin, completed);
                    room = room.saturating_sub(members.len());
                    if room > 0 {
                        variables.extend(members.into_iter().map(add));
                    }
                }
            }
            // Blocks without pcs are inside the rest of the scope.
            variables[first..].sort_by_key(|variable| std::cmp::Reverse(variable.blocks));
            for same in variables[first..].chunk_by_mut(|left, right| left.blocks == right.blocks) {
                let is_known = |name: Option<Cow<'o, str>>| name.is_some_and(|name| names.contains(&name));
                same.iter_mut().for_each(|variable| variable.is_shadowed = is_known(variable.name()));
                let certain = same.iter().filter(|variable| !variable.is_in_removed_block());
                names.extend(certain.filter_map(ScopeVariable::name));
            }
        }
        for variable in variables[outside..].iter_mut().filter(|variable| variable.is_in_removed_block()) {
            variable.is_shadowed |= variable.name().is_some_and(|name| names.contains(&name));
        }
    }
    if room == 0 {
        let problem = "the inlined calls at the pc have too many variables of their functions";
        scopes.errors.push(ErrorKind::TooLarge(problem.into()).into());
    }
    ScopeVariables { scopes, variables }
}

/// Returns the variables of a scope with those of its abstract instance that it lacks, each before the variables that come
/// later in the abstract instance. Adds these to the completed entries.
fn with_omitted<'r, 'o>(
    own: impl Iterator<Item = (Entry<'r, 'o>, usize)>,
    origin: Entry<'r, 'o>,
    completed: &mut HashSet<u64>,
) -> Vec<(Entry<'r, 'o>, usize)> {
    let is_omitted = |member: &Entry<'_, '_>| is_variable(member.tag()) && completed.insert(member.offset());
    let members = Members::of_abstract(origin).map(|(member, _)| member);
    let mut omitted = members.filter(is_omitted).collect::<Vec<_>>().into_iter().peekable();
    let mut all = Vec::new();
    for (variable, blocks) in own {
        // Entries of the abstract instance are in the order of their offsets.
        if let Some(place) = variable.reference(dw::DW_AT_abstract_origin).map(Entry::offset) {
            let is_before = |member: &Entry<'r, 'o>| (origin.offset()..place).contains(&member.offset());
            while let Some(member) = omitted.next_if(is_before) {
                all.push((member, 0));
            }
        }
        all.push((variable, blocks));
    }
    all.extend(omitted.map(|member| (member, 0)));
    all
}

/// Returns the offsets of the abstract entries that entries of a function or an inlined call complete. Nested calls and
/// functions are other instances.
fn completed_by(instance: Entry<'_, '_>) -> HashSet<u64> {
    let mut completed = HashSet::new();
    let mut next = instance.index + 1;
    while next < instance.end() {
        crate::work::step();
        let Some(entry) = instance.at_index(next) else { break };
        let is_other = matches!(entry.tag(), dw::DW_TAG_subprogram | dw::DW_TAG_inlined_subroutine);
        next = if is_other { entry.end() } else { next + 1 };
        if is_variable(entry.tag()) {
            completed.extend(entry.reference(dw::DW_AT_abstract_origin).map(Entry::offset));
        }
    }
    completed
}

/// Locations at a pc.
struct Locations<'o> {
    pc: Option<u64>,
    /// Locations by the offset of their list, and of their unit: optimized code has many variables with one list.
    lists: HashMap<(u64, u64), (CurrentLocation<'o>, Option<Error>)>,
}

impl<'o> Locations<'o> {
    fn variable<'r>(
        &mut self,
        entry: Entry<'r, 'o>,
        scope: Option<Entry<'r, 'o>>,
        blocks: usize,
    ) -> ScopeVariable<'r, 'o> {
        let inherited = entry.inherited_from(dw::DW_AT_location);
        let (located, location, problem) = match inherited {
            None => {
                let (location, problem) = without_location(entry);
                (entry, location, problem)
            }
            Some((located, value)) => {
                let (location, problem) = self.location(located, value);
                (located, location, problem)
            }
        };
        let problem = problem.map(|error| error.or_at(entry.place()));
        ScopeVariable { entry, located, scope, is_shadowed: false, location, problem, blocks }
    }

    /// Returns the location that an entry has.
    fn location(
        &mut self,
        entry: Entry<'_, 'o>,
        value: ResolvedValue<'o>,
    ) -> (CurrentLocation<'o>, Option<Error>) {
        match value {
            ResolvedValue::Expr(expr) => (CurrentLocation::Expression(expr), None),
            ResolvedValue::LocList(offset) => {
                let key = (offset, entry.unit().offset);
                if !self.lists.contains_key(&key) {
                    self.lists.insert(key, self.entries(entry, offset));
                }
                self.lists[&key].clone()
            }
            ResolvedValue::Unreadable => (CurrentLocation::Unreadable, entry.problem(dw::DW_AT_location)),
            _ => {
                let problem = Error::malformed("the location is neither an expression nor a list");
                let (section, offset) = entry.dwarf.place(entry.offset());
                (CurrentLocation::Unreadable, Some(problem.in_section(section).at_offset(offset)))
            }
        }
    }

    /// Returns the entries of a list in force.
    fn entries(&self, entry: Entry<'_, 'o>, offset: u64) -> (CurrentLocation<'o>, Option<Error>) {
        let mut here = Vec::new();
        let mut default = Vec::new();
        let mut problem = None;
        match entry.dwarf.locations(entry.unit(), offset) {
            Err(error) => problem = Some(error),
            Ok(list) => {
                for entry in list {
                    crate::work::step();
                    match entry {
                        Ok(entry) if entry.is_default() => default.push(entry),
                        Ok(entry) if self.pc.is_some_and(|pc| entry.covers(pc)) => here.push(entry),
                        Ok(_) => {}
                        Err(error) => problem = Some(error),
                    }
                }
            }
        }
        // An entry that cannot be read can have the pc: then the default entries are not in force.
        let in_force = if here.is_empty() && problem.is_none() { default } else { here };
        let location = match (in_force.is_empty(), &problem) {
            (false, _) => CurrentLocation::Entries(in_force.into()),
            (true, None) => CurrentLocation::OutsideList,
            (true, Some(_)) => CurrentLocation::Unreadable,
        };
        (location, problem)
    }
}

/// Returns why an entry has no location, or its constant.
fn without_location<'o>(entry: Entry<'_, 'o>) -> (CurrentLocation<'o>, Option<Error>) {
    match entry.inherited_from(dw::DW_AT_const_value) {
        Some((constant, ResolvedValue::Unreadable)) => {
            (CurrentLocation::Unreadable, constant.problem(dw::DW_AT_const_value))
        }
        Some((_, value)) => (CurrentLocation::Constant(value), None),
        None if entry.has(dw::DW_AT_declaration) => (CurrentLocation::Declared, None),
        None => (CurrentLocation::Missing, None),
    }
}

/// Returns the number of scopes with code around an entry, and whether it can be in scope: parameters of a function type
/// never are.
pub(in crate::read) fn scopes_around(entry: Entry<'_, '_>) -> Option<usize> {
    let mut count = 0;
    let mut around = entry.parent();
    while let Some(scope) = around {
        if scope.tag() == dw::DW_TAG_subroutine_type {
            return None;
        }
        count += usize::from(is_code_scope(scope.tag()));
        around = scope.parent();
    }
    Some(count)
}
