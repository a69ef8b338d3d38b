//! The walk over a unit's entries, which lint, stats and report share.
//!
//! [`walk`] passes each entry to a [`Visit`] in file order, and keeps the scopes around the entry: entries whose
//! children are not complete yet. Debug information is inherited from scope to scope, so each scope holds the function
//! around its children with the frame base, the number of inlined calls between the function and the children, and what
//! the visitor keeps for them, such as pc ranges. A scope is left as soon as its last descendant was visited, so that
//! memory depends on entry depth, not on entry count.
//!
//! Location lists are read into memory that the visitor reuses. Optimized code has many variables that reference the
//! same long list: [`Scopes::list_key`] identifies the list in its scope, so that visitors examine it once.

use gimli::{DwAt, constants as dw};
use hashbrown::HashMap;

use eitri_dwarf::error::Result;
use eitri_dwarf::read::{Dwarf, Entry, ListEntry, ListKind, ResolvedValue, Unit};

/// `DW_AT_LLVM_lane_pc` numbers: LLVM's registry specifies the first, AMD's documents the second.
pub(crate) const LANE_PC: [DwAt; 2] = [DwAt(0x3e12), DwAt(0x3e0b)];

/// A location list's offset, and the index of the innermost entry around the variable.
pub(crate) type ListKey = (u64, usize);

/// Units that share a line program: the first unit stands for all of them where rows are counted or diagnosed. It is a
/// type unit only if all are, because a type unit has no code.
#[derive(Debug, Default)]
pub(crate) struct LinePrograms(HashMap<u64, u64>);

impl LinePrograms {
    pub(crate) fn new(dwarf: &Dwarf<'_>) -> Self {
        let mut first = HashMap::new();
        let (types, others): (Vec<_>, Vec<_>) =
            dwarf.units().iter().partition(|unit| unit.signature.is_some());
        for unit in others.into_iter().chain(types) {
            if let Some(program) = unit.stmt_list {
                first.entry(program).or_insert(unit.offset);
            }
        }
        Self(first)
    }

    /// Whether a unit is the first unit with its line program.
    pub(crate) fn has_first(&self, unit: &Unit<'_>) -> bool {
        unit.stmt_list.is_some_and(|program| self.0.get(&program) == Some(&unit.offset))
    }
}

/// Visits a unit's entries.
pub(crate) trait Visit<'r, 'o: 'r> {
    /// Function around entries. A copy is kept for each scope in the function.
    type Function: Clone;
    /// What the visitor keeps for an entry's children.
    type Scope;

    /// Returns the scopes around the current entry.
    fn scopes(&mut self) -> &mut Scopes<Self::Function, Self::Scope>;

    /// Visits an entry. Returns its children's scope, if they need a scope.
    fn enter(&mut self, entry: Entry<'r, 'o>) -> Option<(Inside<Self::Function>, Self::Scope)>;

    /// Ends a scope after its entry's last descendant.
    fn leave(&mut self, _scope: Scope<Self::Function, Self::Scope>) {}
}

/// The code to which an entry's children belong.
pub(crate) enum Inside<F> {
    /// A function; `None` for a declaration or an abstract instance, which has no code.
    Function(Option<F>),
    /// An inlined call.
    Call,
    /// The same code as the entry.
    Same,
}

/// Entry whose descendants are being visited.
pub(crate) struct Scope<F, S> {
    index: usize,
    /// Index of the entry after the last descendant.
    end: usize,
    /// Function around the descendants, if it has code.
    pub(crate) function: Option<F>,
    /// Number of inlined calls between the function and the descendants.
    pub(crate) calls: u32,
    pub(crate) own: S,
}

/// Scopes around an entry, the innermost last.
pub(crate) struct Scopes<F, S>(Vec<Scope<F, S>>);

impl<F, S> Default for Scopes<F, S> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<F: Clone, S> Scopes<F, S> {
    #[inline]
    pub(crate) fn innermost(&self) -> Option<&Scope<F, S>> {
        self.0.last()
    }

    #[inline]
    pub(crate) fn innermost_mut(&mut self) -> Option<&mut Scope<F, S>> {
        self.0.last_mut()
    }

    /// Returns the scopes, the innermost first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Scope<F, S>> {
        self.0.iter().rev()
    }

    /// Returns the function around the current entry, if it has code.
    #[inline]
    pub(crate) fn function(&self) -> Option<&F> {
        self.innermost()?.function.as_ref()
    }

    /// Returns the number of inlined calls between the function and the current entry.
    pub(crate) fn calls(&self) -> u32 {
        self.innermost().map_or(0, |scope| scope.calls)
    }

    /// Returns the key of a variable's location list; `None` for other locations, and for a unit's own entry.
    #[inline]
    pub(crate) fn list_key(&self, location: Option<&ResolvedValue<'_>>) -> Option<ListKey> {
        let Some(&ResolvedValue::LocList(offset)) = location else { return None };
        Some((offset, self.innermost()?.index))
    }

    fn open(&mut self, entry: Entry<'_, '_>, inside: Inside<F>, own: S) {
        let (function, calls) = match inside {
            Inside::Function(function) => (function, 0),
            Inside::Call => (self.function().cloned(), self.calls() + 1),
            Inside::Same => (self.function().cloned(), self.calls()),
        };
        self.0.push(Scope { index: entry.index(), end: end(entry), function, calls, own });
    }

    /// Removes the innermost scope if an entry is outside it.
    #[inline]
    fn close_before(&mut self, index: usize) -> Option<Scope<F, S>> {
        self.0.pop_if(|scope| scope.end <= index)
    }
}

/// Returns the index of the entry after an entry's last descendant.
#[inline]
pub(crate) fn end(entry: Entry<'_, '_>) -> usize {
    entry.index() + 1 + entry.descendants().size_hint().0
}

/// Whether an entry has children.
#[inline]
pub(crate) fn has_children(entry: Entry<'_, '_>) -> bool {
    entry.descendants().size_hint().0 > 0
}

/// Visits a unit's entries.
pub(crate) fn walk<'r, 'o: 'r, V: Visit<'r, 'o>>(dwarf: &'r Dwarf<'o>, unit: &Unit<'o>, visitor: &mut V) {
    for entry in dwarf.entries_of(unit) {
        eitri_dwarf::work::step();
        while let Some(scope) = visitor.scopes().close_before(entry.index()) {
            visitor.leave(scope);
        }
        if let Some((inside, own)) = visitor.enter(entry) {
            visitor.scopes().open(entry, inside, own);
        }
    }
    while let Some(scope) = visitor.scopes().close_before(usize::MAX) {
        visitor.leave(scope);
    }
}

/// Reads a variable's location entries into a list. An expression is a list with a single default entry. Returns
/// whether there is a location.
///
/// # Errors
/// A location list that cannot be read, with unit, function and variable. The list contains the entries before the
/// error.
pub(crate) fn read_locations<'o>(
    entry: Entry<'_, 'o>,
    location: Option<&ResolvedValue<'o>>,
    list: &mut Vec<ListEntry<'o>>,
) -> Result<bool> {
    list.clear();
    match location {
        Some(&ResolvedValue::LocList(offset)) => {
            let read = entry.dwarf().read_locations(entry.unit(), offset, list);
            read.map(|()| true).map_err(|error| error.or_at(entry.place()))
        }
        Some(&ResolvedValue::Expr(expr)) => {
            let kind = ListKind::Default;
            list.push(ListEntry { offset: entry.offset(), kind, start: 0, end: 0, expr });
            Ok(true)
        }
        // The file's reader reports unreadable attributes.
        _ => Ok(false),
    }
}

/// Returns the name of the section that contains a unit's location lists.
pub(crate) fn list_section(dwarf: &Dwarf<'_>, unit: &Unit<'_>) -> &'static str {
    dwarf.sections().name(if unit.encoding.version >= 5 { ".debug_loclists" } else { ".debug_loc" })
}

/// Returns where a location entry that [`read_locations`] returned for a variable is, as section and offset: an
/// expression is in the variable's own entry.
pub(crate) fn position(
    variable: Entry<'_, '_>,
    list: &[ListEntry<'_>],
    location: &ListEntry<'_>,
) -> (&'static str, u64) {
    let is_single = location.is_default() && list.len() == 1;
    if is_single && !matches!(variable.attr(dw::DW_AT_location), Some(ResolvedValue::LocList(_))) {
        variable.dwarf().place(location.offset)
    } else {
        (list_section(variable.dwarf(), variable.unit()), location.offset)
    }
}
