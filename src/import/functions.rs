//! Functions: DWARF 5 section 3.3. An abstract instance and its only instance are one function; several instances, and a
//! declaration and its definition, are functions beside it.

use gimli::{DwAt, constants as dw};

use super::form::ImportedExpressions;
use super::importer::{Body, Importer, Place, refused};
use super::node::{Class, class};
use super::unimported::UnimportedReason;
use super::{instances, types};
use crate::attributes::{DW_AT_LLVM_LANES, DW_AT_LLVM_LANES_AMD, DW_CC_LLVM_DEVICE_KERNEL};
use crate::model::{AttributeOwner, Defaulted, DescribedCalls, FunctionId, Virtuality};
use crate::read::{Entry, ResolvedValue};

/// `DW_AT_virtuality`: DWARF 5 table 7.18.
const VIRTUALITIES: [(u64, Option<Virtuality>); 3] = [
    (dw::DW_VIRTUALITY_none.0 as u64, None),
    (dw::DW_VIRTUALITY_virtual.0 as u64, Some(Virtuality::Virtual)),
    (dw::DW_VIRTUALITY_pure_virtual.0 as u64, Some(Virtuality::Pure)),
];

/// `DW_AT_defaulted`: DWARF 5 table 7.24.
const DEFAULTED: [(u64, Option<Defaulted>); 3] = [
    (dw::DW_DEFAULTED_no.0 as u64, None),
    (dw::DW_DEFAULTED_in_class.0 as u64, Some(Defaulted::InClass)),
    (dw::DW_DEFAULTED_out_of_class.0 as u64, Some(Defaulted::OutOfClass)),
];

/// Attributes that tell which calls are described, and GNU's before DWARF 5.
const DESCRIBED_CALLS: [(DwAt, DescribedCalls); 6] = [
    (dw::DW_AT_call_all_source_calls, DescribedCalls::Source),
    (dw::DW_AT_GNU_all_source_call_sites, DescribedCalls::Source),
    (dw::DW_AT_call_all_calls, DescribedCalls::All),
    (dw::DW_AT_GNU_all_call_sites, DescribedCalls::All),
    (dw::DW_AT_call_all_tail_calls, DescribedCalls::Tail),
    (dw::DW_AT_GNU_all_tail_call_sites, DescribedCalls::Tail),
];

/// `DW_AT_LLVM_lanes`, by LLVM's registry and by AMD's debuggers.
const LANES: [DwAt; 2] = [DW_AT_LLVM_LANES, DW_AT_LLVM_LANES_AMD];

/// Makes a function with its code. Its properties follow when their types exist.
pub(super) fn make<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>) {
    let Some(around) = types::around_part(importer, entry) else { return };
    let mut origin = importer.refer(entry, dw::DW_AT_abstract_origin);
    let mut instance = None;
    if let Some(abstract_instance) = origin {
        let known = importer.known_function(abstract_instance);
        let only = importer.made.instances.get(&abstract_instance.offset()).copied();
        match (known, importer.made.scopes.get(&abstract_instance.offset()).copied()) {
            (Some(function), Some(place)) if only == Some(entry) => {
                importer.import(entry);
                importer.made.functions.insert(entry.offset(), function);
                importer.made.scopes.insert(entry.offset(), place);
                return;
            }
            (Some(function), _) => {
                let made = importer.m.function_instance(around.scope, function).map(|function| function.id());
                instance = importer.accept(entry, dw::DW_AT_abstract_origin, made);
                origin = origin.filter(|_| instance.is_none());
            }
            (None, _) => importer.leave(entry, dw::DW_AT_abstract_origin, UnimportedReason::MissingReference),
        }
    }
    let Some(function) = instance.or_else(|| new(importer, entry, origin, around)) else { return };
    importer.own(entry, AttributeOwner::Function(function));
    let code = instances::last(importer, entry);
    let place = code_of(importer, code.unwrap_or(entry), function);
    importer.made.functions.insert(entry.offset(), function);
    importer.made.scopes.insert(entry.offset(), place);
    importer.made.bodies.push(Body { function, entry, code, origin });
}

/// Adds a function, a declaration or a definition.
///
/// * `origin` – the abstract instance of a further instance, which has the properties of the abstract instance.
fn new<'d, 'o>(
    importer: &mut Importer<'d, 'o>,
    entry: Entry<'d, 'o>,
    origin: Option<Entry<'d, 'o>>,
    around: Place<'o>,
) -> Option<FunctionId> {
    let is_declaration = importer.flag(entry, dw::DW_AT_declaration);
    let specification = importer.refer(origin.unwrap_or(entry), dw::DW_AT_specification);
    let declaration = specification.and_then(|declared| importer.known_function(declared));
    if let Some(declaration) = declaration {
        if is_declaration {
            importer.leave(entry, dw::DW_AT_declaration, UnimportedReason::NoProperty);
        }
        match importer.m.function_definition(around.scope, declaration) {
            Ok(function) => return Some(function.id()),
            Err(error) => importer.leave(entry, dw::DW_AT_specification, refused(error)),
        }
    } else if specification.is_some() {
        importer.leave(entry, dw::DW_AT_specification, UnimportedReason::MissingReference);
    }
    // Without its declaration, a definition has the properties that it inherits.
    let name = entry.name().unwrap_or_default();
    importer.mark(entry, dw::DW_AT_name);
    let made = if is_declaration {
        importer.m.function_declaration(around.scope, &name)
    } else {
        importer.m.function(around.scope, &name)
    };
    made.map(|function| function.id()).map_err(|error| importer.leave_entry(entry, refused(error))).ok()
}

/// Whether a frame base is the frame in a thread's local memory, which the writer has for functions of NVIDIA's targets.
fn is_local_frame(importer: &Importer<'_, '_>, bytes: &[u8]) -> bool {
    importer.target.has_lane_expressions() && bytes == [dw::DW_OP_call_frame_cfa.0]
}

/// Sets a function's code, and returns its scope.
fn code_of<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>, function: FunctionId) -> Place<'o> {
    let scope = importer.m.described().function(function).scope;
    let frame_base = match entry.attr(dw::DW_AT_frame_base) {
        Some(ResolvedValue::Expr(bytes)) => Some(bytes),
        _ => None,
    };
    if frame_base.is_some_and(|bytes| is_local_frame(importer, bytes))
        && let Ok(mut of) = importer.m.describe_function(function)
    {
        of.stack_at_zero();
    }
    let none = Place { scope, function: Some(function), base: None, bytes: 0, is_inlined: false, frame_base };
    if !super::node::PCS.iter().any(|&name| entry.has(name)) {
        return none;
    }
    importer.mark_all(entry, &super::node::PCS);
    let ranges = match entry.ranges() {
        Ok(ranges) => ranges,
        Err(error) => {
            importer.leave_pcs(entry, UnimportedReason::Unreadable(error));
            return none;
        }
    };
    if ranges.is_empty() {
        importer.leave_pcs(entry, UnimportedReason::EmptyPcs);
        return none;
    }
    let parts = importer.set_code(entry, function, ranges);
    let bytes = importer.m.described().function(function).bytes;
    Place { base: parts.first().map(|part| part.start), bytes, ..none }
}

/// Sets the properties of all functions that were made so far. Their types can add further functions.
pub(super) fn properties<'d, 'o>(importer: &mut Importer<'d, 'o>) {
    while let Some(body) = importer.made.bodies.pop() {
        let Body { function, entry, code, origin } = body;
        // The code can have another name than its abstract instance, as constructors and destructors of g++ have.
        let mut chain: Vec<_> = instances::chain(importer, entry).collect();
        while let Some(instance) = chain.pop() {
            linkage_name(importer, instance, function);
        }
        for from in core::iter::once(entry).chain(origin) {
            importer.want_type(from);
            if let Some(ty) = importer.refer_to_type(from, dw::DW_AT_type) {
                let set = importer
                    .m
                    .describe_function(function)
                    .and_then(|mut entity| entity.returns(ty).map(drop));
                importer.accept(from, dw::DW_AT_type, set);
            }
            declared(importer, from, function);
            inline(importer, from, function);
            flags(importer, from, function);
        }
        inherited_type(importer, origin.unwrap_or(entry), function);
        calls(importer, entry, function);
        if let Some(code) = code {
            calls(importer, code, function);
            flags(importer, code, function);
        }
        let mut templates = 0;
        for part in entry.children() {
            if part.tag() == dw::DW_TAG_unspecified_parameters {
                importer.import(part);
                if let Ok(mut of) = importer.m.describe_function(function) {
                    of.variadic();
                }
            }
            types::template(importer, part, &super::types::TemplateOwner::Function(function), &mut templates);
        }
    }
}

/// Sets the type of a definition that has the type of its declaration, whose type may not be known when the definition is
/// made.
fn inherited_type<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>, function: FunctionId) {
    let data = importer.m.described().function(function);
    if data.specification.is_none() || data.returns.is_some() {
        return;
    }
    let declaration = entry.reference(dw::DW_AT_specification);
    let Some((declaration, ty)) = declaration.zip(entry.ty()) else { return };
    importer.want_type(declaration);
    let known = importer.known_type(ty);
    if let (Some(ty), Ok(mut of)) = (known, importer.m.describe_function(function)) {
        // A type that is refused is listed with the declaration.
        drop(of.returns(ty).map(drop));
    }
}

/// Sets names and lines.
fn declared<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>, function: FunctionId) {
    linkage_name(importer, entry, function);
    let line = importer.declared(entry);
    let data = importer.m.described().function(function);
    if data.specification.is_none() && data.origin.is_none() {
        importer.prototyped(entry);
        if importer.is_unprototyped(entry)
            && let Ok(mut of) = importer.m.describe_function(function)
        {
            of.unprototyped();
        }
    }
    if let (Some(line), Ok(mut of)) = (line, importer.m.describe_function(function)) {
        of.declared(line);
    }
}

fn linkage_name<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>, function: FunctionId) {
    for name in [dw::DW_AT_linkage_name, dw::DW_AT_MIPS_linkage_name] {
        let Some(text) = importer.text(entry, name) else { continue };
        if let Some(known) = importer.m.described().function(function).linkage_name {
            let known = importer.m.described().string(known);
            if known != text {
                let reason = UnimportedReason::OtherName(text.into_owned(), known.into());
                importer.leave(entry, name, reason);
            }
        } else if let Ok(mut of) = importer.m.describe_function(function) {
            of.linkage_name(&text);
        }
    }
}

/// Lists whether functions are inlined, where the inlined calls of all units do not show it.
pub(super) fn inlined(importer: &mut Importer<'_, '_>) {
    for (key, function) in core::mem::take(&mut importer.code.inline) {
        let Some(entry) = importer.dwarf.entry_at(key) else { continue };
        let Some(number) = entry.number(dw::DW_AT_inline) else { continue };
        let function = importer.m.described().function(function);
        // A declaration does not say it.
        if !function.is_declaration && number & 1 != u64::from(function.is_inlined) {
            let calls = if function.is_inlined { "an inlined call" } else { "no inlined call" };
            let expected = format!("{}, because there is {calls} of the function", number ^ 1);
            importer.list(entry, Some(dw::DW_AT_inline), UnimportedReason::OtherValue(number, expected));
        }
    }
}

/// Sets whether a function is declared inline. Whether it is inlined, inlined calls show.
fn inline<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>, function: FunctionId) {
    let codes = [(0, false), (1, false), (2, true), (3, true)];
    if importer.coded(entry, dw::DW_AT_inline, &codes) == Some(true)
        && let Ok(mut of) = importer.m.describe_function(function)
    {
        of.declared_inline();
    }
}

fn flags<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>, function: FunctionId) {
    let external = importer.flag(entry, dw::DW_AT_external);
    let noreturn = importer.flag(entry, dw::DW_AT_noreturn);
    let main = importer.flag(entry, dw::DW_AT_main_subprogram);
    let explicit = importer.flag(entry, dw::DW_AT_explicit);
    let deleted = importer.flag(entry, dw::DW_AT_deleted);
    let accessibility = importer.coded(entry, dw::DW_AT_accessibility, &types::ACCESSIBILITIES);
    let virtuality = importer.coded(entry, dw::DW_AT_virtuality, &VIRTUALITIES).flatten();
    let defaulted = importer.coded(entry, dw::DW_AT_defaulted, &DEFAULTED).flatten();
    let convention = importer.number(entry, dw::DW_AT_calling_convention);
    let lanes = u64::from(importer.m.target().lanes());
    for name in LANES {
        if lanes > 1 && importer.has_number(entry, name, lanes) {
            importer.mark(entry, name);
        }
    }
    let is_gpu = lanes > 1;
    let Ok(mut of) = importer.m.describe_function(function) else { return };
    if external {
        of.external();
    }
    if noreturn {
        of.noreturn();
    }
    if main {
        of.main();
    }
    if explicit {
        of.explicit();
    }
    if deleted {
        of.deleted();
    }
    accessibility.map(|accessibility| of.accessibility(accessibility));
    virtuality.map(|virtuality| of.virtuality(virtuality));
    defaulted.map(|defaulted| of.defaulted(defaulted));
    match convention {
        None => {}
        Some(number) if is_gpu && number == u64::from(DW_CC_LLVM_DEVICE_KERNEL) => {
            of.kernel();
        }
        Some(number) => match u8::try_from(number) {
            Ok(number) => {
                of.convention(number);
            }
            Err(_) => {
                let reason = UnimportedReason::ValueRange(number.into());
                importer.leave(entry, dw::DW_AT_calling_convention, reason);
            }
        },
    }
}

fn calls<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>, function: FunctionId) {
    let mut known = importer.m.described().function(function).calls;
    for (name, calls) in DESCRIBED_CALLS {
        if !importer.flag(entry, name) {
            continue;
        }
        // Calls that are described completely include tail calls.
        match known {
            None => known = Some(calls),
            Some(known) if known == calls || calls == DescribedCalls::Tail => {}
            Some(_) => importer.leave(entry, name, UnimportedReason::NoProperty),
        }
    }
    if let (Some(calls), Ok(mut of)) = (known, importer.m.describe_function(function)) {
        of.describes(calls);
    }
}

/// Sets the properties that have expressions or refer to variables, when all entities exist.
pub(super) fn located<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>) {
    let Some(&function) = importer.made.functions.get(&entry.offset()) else { return };
    if entry.has(dw::DW_AT_inline) {
        importer.code.inline.push((entry.offset(), function));
    }
    for name in [dw::DW_AT_frame_base, dw::DW_AT_static_link, dw::DW_AT_vtable_elem_location] {
        let Some(value) = importer.take(entry, name) else { continue };
        if let (dw::DW_AT_frame_base, ResolvedValue::LocList(offset)) = (name, value) {
            frame_bases(importer, entry, function, offset);
            continue;
        }
        let ResolvedValue::Expr(bytes) = value else {
            importer.leave(entry, name, UnimportedReason::class(value, "an expression"));
            continue;
        };
        if name == dw::DW_AT_frame_base && importer.is_unread_cfa(entry, bytes) {
            importer.frames.by_rules.insert(function, entry.offset());
            continue;
        }
        if name == dw::DW_AT_frame_base && is_local_frame(importer, bytes) {
            continue;
        }
        let loc = match importer.location(entry, bytes) {
            Ok(loc) => loc,
            Err(reason) => {
                importer.leave(entry, name, reason);
                continue;
            }
        };
        let set = importer.m.describe_function(function).and_then(|mut entity| match name {
            dw::DW_AT_frame_base => entity.frame_base(&loc).map(drop),
            dw::DW_AT_static_link => entity.static_link(&loc).map(drop),
            _ => entity.vtable_elem_location(&loc).map(drop),
        });
        importer.accept(entry, name, set);
    }
    if let Some(parameter) = importer.take(entry, dw::DW_AT_object_pointer) {
        let name = dw::DW_AT_object_pointer;
        match importer.variable_at(entry, parameter) {
            Ok(parameter) => {
                let set = importer
                    .m
                    .describe_function(function)
                    .and_then(|mut entity| entity.object_pointer(parameter).map(drop));
                importer.accept(entry, name, set);
            }
            Err(reason) => importer.leave(entry, name, reason),
        }
    }
    if let Some(place) = importer.made.scopes.get(&entry.offset()).copied() {
        importer.entry_pc(entry, place.scope, place);
    }
}

/// Sets the frame bases of a function with a location list at an offset, as gcc writes it for DWARF 2.
fn frame_bases<'d, 'o>(
    importer: &mut Importer<'d, 'o>,
    entry: Entry<'d, 'o>,
    function: FunctionId,
    offset: u64,
) {
    let name = dw::DW_AT_frame_base;
    let mut list = Vec::new();
    if let Err(error) = entry.dwarf().read_locations(entry.unit(), offset, &mut list) {
        return importer.leave(entry, name, UnimportedReason::Unreadable(error.or_at(entry.place())));
    }
    let around = importer.made.scopes.get(&entry.offset()).copied();
    let Some(around @ Place { base: Some(_), .. }) = around else {
        return importer.leave(entry, name, UnimportedReason::NoCode);
    };
    for item in list {
        let pcs = if item.is_default() {
            Some(0..around.bytes)
        } else {
            importer.pcs_of(&around, &(item.start..item.end))
        };
        let reason = match (item.start.cmp(&item.end), pcs) {
            (core::cmp::Ordering::Equal, _) if !item.is_default() => UnimportedReason::EmptyPcs,
            (core::cmp::Ordering::Greater, _) if !item.is_default() => UnimportedReason::ReversedPcs,
            (_, None) => UnimportedReason::OtherCode,
            (_, Some(pcs)) => {
                importer.frames.bases.entry(function).or_default().push((pcs.clone(), item.expr));
                let set = importer.location(entry, item.expr).and_then(|loc| {
                    let described = importer.m.describe_function(function);
                    described.and_then(|mut of| of.frame_base_at(pcs, &loc).map(drop)).map_err(refused)
                });
                match set {
                    Ok(()) => continue,
                    Err(reason) => reason,
                }
            }
        };
        importer.leave(entry, name, reason);
    }
}

impl<'d, 'o> Importer<'d, 'o> {
    /// Whether a frame base is the canonical frame address, and the reader has no operation for it.
    fn is_unread_cfa(&self, entry: Entry<'d, 'o>, bytes: &[u8]) -> bool {
        let raw = self.expressions.form != ImportedExpressions::Typed;
        raw && bytes == [dw::DW_OP_call_frame_cfa.0] && self.prefers_nodes(entry.unit().encoding, bytes)
    }

    /// Whether an attribute has a number.
    fn has_number(&self, entry: Entry<'d, 'o>, name: DwAt, number: u64) -> bool {
        entry.has(name) && entry.number(name) == Some(number)
    }

    /// Whether a function or function type lacks a prototype, where the language allows it. In other languages, a prototype
    /// is an attribute without a property.
    pub(super) fn is_unprototyped(&self, entry: Entry<'d, 'o>) -> bool {
        let flag = entry.inherited(dw::DW_AT_prototyped);
        let is_prototyped = matches!(flag, Some(ResolvedValue::Flag(true) | ResolvedValue::Unsigned(1)));
        self.has_prototypes() && !is_prototyped
    }

    /// Takes a prototype, which the model derives from the language.
    pub(super) fn prototyped(&mut self, entry: Entry<'d, 'o>) {
        if self.has_prototypes() {
            self.flag(entry, dw::DW_AT_prototyped);
        }
    }

    fn has_prototypes(&self) -> bool {
        self.m.described().unit(self.unit).has_prototypes()
    }
}

/// Whether an entry is a function that is selected, or is in such a function.
pub(super) fn is_selected(only: &[String], entry: Entry<'_, '_>) -> bool {
    let names = [dw::DW_AT_name, dw::DW_AT_linkage_name, dw::DW_AT_MIPS_linkage_name];
    let has = |name| entry.inherited(name).and_then(ResolvedValue::text);
    class(entry) == Class::Scope
        && entry.tag() == dw::DW_TAG_subprogram
        && names.into_iter().filter_map(has).any(|name| only.iter().any(|known| *known == name))
}
