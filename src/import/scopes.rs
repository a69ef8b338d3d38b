//! Namespaces, blocks and inlined calls: DWARF 5 sections 3.2.2, 3.3.8 and 3.5.

use core::ops::Range;

use gimli::constants as dw;

use super::importer::{Importer, Place, refused};
use super::instances;
use super::node::{Class, PCS, class};
use super::parts::Border;
use super::unimported::UnimportedReason;
use crate::model::{AttributeOwner, NamespaceKind, ScopeKind, SourceLine};
use crate::read::{Entry, ResolvedValue};

/// Makes a namespace, a block or an inlined call.
pub(super) fn make<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>) {
    let Some(around) = importer.place(entry) else { return };
    match entry.tag() {
        dw::DW_TAG_namespace => {
            let inherited = entry.inherited(dw::DW_AT_export_symbols);
            let is_inline = importer.flag(entry, dw::DW_AT_export_symbols)
                || matches!(inherited, Some(ResolvedValue::Flag(true)));
            let kind = if is_inline { NamespaceKind::Inline } else { NamespaceKind::Namespace };
            namespace(importer, entry, around, kind);
        }
        dw::DW_TAG_module => namespace(importer, entry, around, NamespaceKind::Module),
        dw::DW_TAG_namelist => namespace(importer, entry, around, NamespaceKind::Namelist),
        dw::DW_TAG_common_block => namespace(importer, entry, around, NamespaceKind::CommonBlock),
        dw::DW_TAG_lexical_block => block(importer, entry, around),
        dw::DW_TAG_inlined_subroutine => inlined(importer, entry, around),
        // The model has no such scope: what is in it is in the scope around it.
        _ => {
            importer.leave_entry(entry, UnimportedReason::NoEntity(entry.tag()));
            importer.made.scopes.insert(entry.offset(), around);
        }
    }
}

fn namespace<'d, 'o>(
    importer: &mut Importer<'d, 'o>,
    entry: Entry<'d, 'o>,
    around: Place<'o>,
    kind: NamespaceKind,
) {
    // Link-time optimization has the namespaces around a variable again, without their names.
    let origin = importer.refer(entry, dw::DW_AT_abstract_origin);
    let name = importer.text(entry, dw::DW_AT_name).or_else(|| origin?.name());
    let scope = match importer.m.namespace_of(around.scope, name.as_deref(), kind) {
        Ok(scope) => scope,
        Err(error) => return importer.leave_entry(entry, refused(error)),
    };
    importer.own(entry, AttributeOwner::Scope(scope));
    importer.made.scopes.insert(entry.offset(), Place { scope, ..around });
    // A type unit declares the namespaces around its type, and g++ those around a declaration of the type.
    if entry.tag() == dw::DW_TAG_namespace {
        importer.mark(entry, dw::DW_AT_declaration);
    }
    if let Some(line) = importer.declared(entry).or_else(|| importer.declared(origin?)) {
        let set = importer.m.begins(scope, line);
        importer.accept(entry, dw::DW_AT_decl_line, set);
    }
}

/// Makes a block. A block of an abstract instance has the pcs of its instance with code.
fn block<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>, around: Place<'o>) {
    let origin = importer.refer(entry, dw::DW_AT_abstract_origin);
    let origin = origin.or_else(|| importer.made.unnamed.get(&entry.offset()).copied());
    let known = origin.and_then(|origin| importer.made.scopes.get(&origin.offset()).copied());
    // An instance of a block of the same function is the block.
    if let Some(known) = known.filter(|known| known.function == around.function && !around.is_inlined) {
        importer.repeat_part(entry, origin);
        importer.made.scopes.insert(entry.offset(), known);
        return;
    }
    let code = instances::last(importer, entry).unwrap_or(entry);
    let ranges = importer.pcs_in(code, around);
    let known = origin.and_then(|origin| importer.known_block(origin));
    let new = |importer: &mut Importer<'d, 'o>, ranges: &[Range<u64>]| match known {
        Some(known) => importer.m.inlined_block(around.scope, known, ranges),
        None => importer.m.block(around.scope, ranges),
    };
    let made = match new(importer, &ranges) {
        Err(error) => {
            // The block's contents do not depend on its pcs.
            importer.leave_pcs(code, refused(error));
            new(importer, &[]).or_else(|error| {
                importer.leave(entry, dw::DW_AT_abstract_origin, refused(error));
                importer.m.block(around.scope, &[])
            })
        }
        made => made,
    };
    let scope = match made {
        Ok(scope) => scope,
        Err(error) => return importer.leave_entry(entry, refused(error)),
    };
    importer.own(entry, AttributeOwner::Scope(scope));
    importer.made.scopes.insert(entry.offset(), Place { scope, ..around });
    if let Some(line) = importer.declared(entry) {
        let set = importer.m.begins(scope, line);
        importer.accept(entry, dw::DW_AT_decl_line, set);
    }
    discriminator(importer, entry, scope);
    importer.entry_pc(code, scope, around);
}

fn inlined<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>, around: Place<'o>) {
    if let Some(&same) = importer.made.repeated.get(&entry.offset()) {
        return instances::repeat_call(importer, entry, same);
    }
    let origin = importer.refer(entry, dw::DW_AT_abstract_origin);
    let function = origin.and_then(|origin| importer.known_function(origin));
    let Some(function) = function else {
        return importer.leave_entry(entry, UnimportedReason::MissingReference);
    };
    let call = call_line(importer, entry);
    let ranges = importer.pcs_in(entry, around);
    let Some(call) = call else { return importer.leave_entry(entry, UnimportedReason::MissingFile(0)) };
    let made = match importer.m.inlined(around.scope, function, &ranges, call) {
        Err(error) => {
            importer.leave_pcs(entry, refused(error));
            importer.m.inlined(around.scope, function, &[], call)
        }
        made => made,
    };
    let scope = match made {
        Ok(scope) => scope,
        Err(error) => return importer.leave_entry(entry, refused(error)),
    };
    importer.own(entry, AttributeOwner::Scope(scope));
    let place = Place { scope, is_inlined: true, ..around };
    importer.made.scopes.insert(entry.offset(), place);
    discriminator(importer, entry, scope);
    importer.entry_pc(entry, scope, place);
}

/// Takes the source line of a call. Without a file it is in the unit's primary file.
pub(super) fn call_line<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>) -> Option<SourceLine> {
    let number = importer.number(entry, dw::DW_AT_call_file);
    let line = importer.word(entry, dw::DW_AT_call_line).unwrap_or(0);
    let column = importer.word(entry, dw::DW_AT_call_column).unwrap_or(0);
    let file = match number {
        Some(number) => {
            let file = importer.file(entry.unit(), number);
            if file.is_none() {
                importer.leave(entry, dw::DW_AT_call_file, UnimportedReason::MissingFile(number));
            }
            file
        }
        None => None,
    };
    let file = file.or_else(|| importer.m.primary_file(importer.unit).ok())?;
    Some(SourceLine::new(file, line).column(column))
}

fn discriminator<'d, 'o>(
    importer: &mut Importer<'d, 'o>,
    entry: Entry<'d, 'o>,
    scope: crate::model::ScopeId,
) {
    if let Some(number) = importer.word(entry, dw::DW_AT_GNU_discriminator) {
        let set = importer.m.discriminator(scope, number);
        importer.accept(entry, dw::DW_AT_GNU_discriminator, set);
    }
}

impl<'d, 'o> Importer<'d, 'o> {
    /// The unit's own scope.
    pub(super) fn root(&self) -> Place<'o> {
        let scope = self.m.described().unit(self.unit).scope;
        Place { scope, function: None, base: None, bytes: 0, is_inlined: false, frame_base: None }
    }

    /// Returns the scope around an entry; `None` if it is not imported.
    pub(super) fn place(&self, entry: Entry<'d, 'o>) -> Option<Place<'o>> {
        let parent = entry.parent()?;
        if parent.parent().is_none() {
            return Some(self.root());
        }
        match class(parent) {
            Class::Type | Class::Scope => {
                self.made.scopes.get(&self.representative(parent).offset()).copied()
            }
            Class::Variable | Class::Other => None,
        }
    }

    /// Takes the pc ranges of a scope, in bytes from the start of the function around it.
    pub(super) fn pcs_in(&mut self, entry: Entry<'d, 'o>, around: Place<'o>) -> Vec<Range<u64>> {
        if !PCS.iter().any(|&name| entry.has(name)) {
            return Vec::new();
        }
        self.mark_all(entry, &PCS);
        let ranges = match entry.ranges() {
            Ok(ranges) => ranges,
            Err(error) => {
                self.leave_pcs(entry, UnimportedReason::Unreadable(error));
                return Vec::new();
            }
        };
        if around.base.is_none() {
            self.leave_pcs(entry, UnimportedReason::NoCode);
            return Vec::new();
        }
        let mut inside = Vec::with_capacity(ranges.len());
        // A scope with an empty list has no code, unlike a scope without a list.
        let mut reason = ranges.is_empty().then_some(UnimportedReason::EmptyPcs);
        for range in ranges {
            match range.start.cmp(&range.end) {
                core::cmp::Ordering::Equal => reason = Some(UnimportedReason::EmptyPcs),
                core::cmp::Ordering::Greater => reason = Some(UnimportedReason::ReversedPcs),
                core::cmp::Ordering::Less => match self.pcs_of(&around, &range) {
                    Some(pcs) => inside.push(pcs),
                    None => reason = Some(UnimportedReason::OtherCode),
                },
            }
        }
        // Debuggers do not show what is in a block whose code was removed, and do for a block without pcs.
        let is_empty = matches!(reason, Some(UnimportedReason::EmptyPcs)) && inside.is_empty();
        if is_empty && entry.tag() == dw::DW_TAG_lexical_block {
            return Vec::from([Range::default()]);
        }
        if let Some(reason) = reason {
            self.leave_pcs(entry, reason);
        }
        inside
    }

    /// Lists the pcs of a scope.
    pub(super) fn leave_pcs(&mut self, entry: Entry<'d, 'o>, reason: UnimportedReason) {
        let name = if entry.has(dw::DW_AT_ranges) { dw::DW_AT_ranges } else { dw::DW_AT_low_pc };
        self.leave(entry, name, reason);
    }

    /// Takes the pc at which a scope is entered. Before DWARF 5 it is an address, and then also an offset from the base
    /// address of the scope.
    pub(super) fn entry_pc(&mut self, entry: Entry<'d, 'o>, scope: crate::model::ScopeId, around: Place<'o>) {
        let name = dw::DW_AT_entry_pc;
        let Some(value) = self.take(entry, name) else { return };
        let address = match value {
            crate::read::ResolvedValue::Address(address) => Some(address),
            value => value.unsigned().zip(base(entry)).map(|(offset, base)| base.wrapping_add(offset)),
        };
        let (Some(address), Some(_)) = (address, around.base) else {
            let reason = if around.base.is_none() {
                UnimportedReason::NoCode
            } else {
                UnimportedReason::class(value, "an address or a number")
            };
            return self.leave(entry, name, reason);
        };
        let Some(pc) = self.pc_of(&around, address, Border::Start) else {
            return self.leave(entry, name, UnimportedReason::OtherCode);
        };
        // The lowest pc is the default.
        let module = self.m.described();
        let lowest = match module.scope(scope).kind {
            ScopeKind::Function(_) => Some(0),
            _ => module.ranges(scope).iter().map(|range| range.start).min(),
        };
        if lowest != Some(pc) {
            let set = self.m.entry_pc(scope, pc);
            self.accept(entry, name, set);
        }
    }
}

/// Returns the base address of a scope: DWARF 5 section 2.17.
fn base(entry: Entry<'_, '_>) -> Option<u64> {
    entry.low_pc().or_else(|| Some(entry.ranges().ok()?.first()?.start))
}
