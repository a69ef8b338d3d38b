//! Variables, parameters and constants: DWARF 5 sections 3.3.4, 4.1 and 5.7.7.

use gimli::{DwAt, constants as dw};

use super::decoded::has_any;
use super::importer::{Importer, Made, Place, refused};
use super::types::{self, ACCESSIBILITIES, MEMORY_SPACES};
use super::unimported::UnimportedReason;
use crate::attributes::DW_AT_LLVM_MEMORY_SPACE;
use crate::model::{
    AttributeOwner, BaseEncoding, Loc, Node, ScopeKind, TypeId, TypeKind, VariableId, VariableKind,
};
use crate::read::{Entry, ResolvedValue};

/// Makes a variable, without its locations.
pub(super) fn make<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>) {
    let Some(around) = types::around_part(importer, entry) else { return };
    importer.decoded.decode(entry);
    if let Some(known) = known(importer, entry, around) {
        importer.mark(entry, dw::DW_AT_abstract_origin);
        repeats_declaration(importer, entry, known);
        importer.own(entry, AttributeOwner::Variable(known));
        importer.made.variables.insert(entry.offset(), known);
        importer.made.located.push((known, entry));
        return;
    }
    let made = new(importer, entry, around);
    let Some(variable) = made else { return };
    importer.own(entry, AttributeOwner::Variable(variable));
    importer.made.variables.insert(entry.offset(), variable);
    importer.made.located.push((variable, entry));
    properties(importer, entry, variable);
    // A variable that does not refer to its origin has the properties of the origin.
    let data = importer.m.described().variable(variable);
    let is_alone = data.origin.is_none() && data.specification.is_none();
    let origin = importer.decoded.reference(entry, dw::DW_AT_abstract_origin).filter(|_| is_alone);
    if let Some(origin) = origin {
        properties(importer, origin, variable);
    }
}

/// Returns the variable of an abstract instance, for its entry in the instance with code.
fn known<'d, 'o>(importer: &Importer<'d, 'o>, entry: Entry<'d, 'o>, around: Place<'o>) -> Option<VariableId> {
    let origin = importer.decoded.reference(entry, dw::DW_AT_abstract_origin)?;
    let known = importer.known_variable(origin)?;
    let module = importer.m.described();
    let function = module.function_of(module.variable(known).scope);
    (function.is_some() && function == around.function && !around.is_inlined).then_some(known)
}

fn new<'d, 'o>(
    importer: &mut Importer<'d, 'o>,
    entry: Entry<'d, 'o>,
    around: Place<'o>,
) -> Option<VariableId> {
    let origin = importer.refer(entry, dw::DW_AT_abstract_origin);
    if let Some(origin) = origin {
        match importer.known_variable(origin) {
            Some(known) => {
                match importer.m.inlined_variable(around.scope, known).map(|variable| variable.id()) {
                    Ok(variable) => {
                        repeats_declaration(importer, entry, known);
                        return Some(completed_type(importer, entry, variable));
                    }
                    Err(error) => importer.leave(entry, dw::DW_AT_abstract_origin, refused(error)),
                }
            }
            None => importer.leave(entry, dw::DW_AT_abstract_origin, UnimportedReason::MissingReference),
        }
    }
    if let Some(declared) = importer.refer(entry, dw::DW_AT_specification) {
        match importer.known_variable(declared) {
            Some(known) => match importer.m.definition(around.scope, known).map(|variable| variable.id()) {
                Ok(variable) => return Some(completed_type(importer, entry, variable)),
                Err(error) => importer.leave(entry, dw::DW_AT_specification, refused(error)),
            },
            None => importer.leave(entry, dw::DW_AT_specification, UnimportedReason::MissingReference),
        }
    }
    // Without the entry that it completes, a variable has the properties that it inherits.
    let name = importer.decoded.attr(entry, dw::DW_AT_name).map_or_else(|| entry.name(), ResolvedValue::text);
    let name = name.unwrap_or_default();
    importer.mark(entry, dw::DW_AT_name);
    let own_type = importer.decoded.attr(entry, dw::DW_AT_type).map(|ty| entry.referred(ty));
    let ty = own_type.map_or_else(|| entry.ty(), |ty| ty.map(|ty| ty.signed().unwrap_or(ty)));
    let inherited = ty.and_then(|ty| importer.known_type(ty));
    let ty = match inherited {
        Some(ty) => {
            importer.mark(entry, dw::DW_AT_type);
            ty
        }
        None => importer.type_of(entry)?,
    };
    let function = around.function.map(|function| importer.m.described().function(function));
    if function.is_some_and(|function| function.is_declaration) && entry.tag() != dw::DW_TAG_formal_parameter
    {
        importer.leave_entry(entry, UnimportedReason::NoProperty);
        return None;
    }
    let is_in_type = matches!(importer.m.described().scope(around.scope).kind, ScopeKind::Type(_));
    let mut is_declaration = importer.flag(entry, dw::DW_AT_declaration);
    // gfortran declares the variables of a namelist, and has their locations.
    if is_declaration && around.function.is_some() && entry.has(dw::DW_AT_location) {
        is_declaration = false;
        importer.leave(entry, dw::DW_AT_declaration, UnimportedReason::DeclarationOfLocated);
    }
    let kind = match entry.tag() {
        // A parameter in a block, where a debugger sees a variable.
        dw::DW_TAG_formal_parameter if takes_parameters(importer, around) => VariableKind::Parameter,
        dw::DW_TAG_formal_parameter => {
            importer.list(entry, None, UnimportedReason::AsVariable);
            VariableKind::Variable
        }
        dw::DW_TAG_constant => VariableKind::Constant,
        _ => VariableKind::Variable,
    };
    let made = match kind {
        VariableKind::Variable if is_declaration && !is_in_type => {
            importer.m.declared_variable(around.scope, &name, ty)
        }
        VariableKind::Parameter => importer.m.parameter(around.scope, &name, ty),
        VariableKind::Constant => importer.m.named_constant(around.scope, &name, ty),
        VariableKind::Variable => importer.m.variable(around.scope, &name, ty),
    };
    let made = made.map(|variable| variable.id());
    made.map_err(|error| importer.leave_entry(entry, refused(error))).ok()
}

/// Takes the declaration that an instance repeats: a variable of another unit that the inlined function declares.
fn repeats_declaration<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>, origin: VariableId) {
    if importer.m.described().variable(origin).is_declaration {
        importer.mark(entry, dw::DW_AT_declaration);
    }
}

/// Sets the type that an entry has instead of the type of the entry that it completes: an array that is declared without a
/// bound. Returns the variable.
fn completed_type<'d, 'o>(
    importer: &mut Importer<'d, 'o>,
    entry: Entry<'d, 'o>,
    variable: VariableId,
) -> VariableId {
    if let Some(ty) = importer.refer_to_type(entry, dw::DW_AT_type) {
        let set = importer
            .m
            .describe_variable(variable)
            .and_then(|mut builder| builder.completed_type(ty).map(drop));
        importer.accept(entry, dw::DW_AT_type, set);
    }
    variable
}

fn takes_parameters(importer: &Importer<'_, '_>, around: Place<'_>) -> bool {
    matches!(
        importer.m.described().scope(around.scope).kind,
        ScopeKind::Function(_) | ScopeKind::Inlined { .. }
    )
}

/// Attributes of few variables.
const RARE: [DwAt; 6] = [
    dw::DW_AT_artificial,
    dw::DW_AT_external,
    DW_AT_LLVM_MEMORY_SPACE,
    dw::DW_AT_accessibility,
    dw::DW_AT_linkage_name,
    dw::DW_AT_MIPS_linkage_name,
];

/// Sets the properties that do not depend on pcs.
fn properties<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>, variable: VariableId) {
    let line = importer.declared(entry);
    if has_any(entry, &RARE) {
        rare_properties(importer, entry, variable);
    }
    if let (Some(line), Ok(mut builder)) = (line, importer.m.describe_variable(variable)) {
        builder.declared(line);
    }
}

fn rare_properties<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>, variable: VariableId) {
    let artificial = importer.flag(entry, dw::DW_AT_artificial);
    let external = importer.flag(entry, dw::DW_AT_external);
    let memory = importer.coded(entry, DW_AT_LLVM_MEMORY_SPACE, &MEMORY_SPACES);
    let accessibility = importer.coded(entry, dw::DW_AT_accessibility, &ACCESSIBILITIES);
    let mut linkage = None;
    for name in [dw::DW_AT_linkage_name, dw::DW_AT_MIPS_linkage_name] {
        match (importer.text(entry, name), &linkage) {
            (Some(_), Some(_)) => importer.leave(entry, name, UnimportedReason::NoProperty),
            (Some(text), None) => linkage = Some(text),
            (None, _) => {}
        }
    }
    let Ok(mut builder) = importer.m.describe_variable(variable) else { return };
    if artificial {
        builder.artificial();
    }
    if external {
        builder.external();
    }
    if let Some(memory) = memory {
        builder.memory_space(memory);
    }
    if let Some(accessibility) = accessibility {
        builder.accessibility(accessibility);
    }
    if let Some(name) = linkage {
        builder.linkage_name(&name);
    }
}

/// Sets the locations and values of all variables that were made so far, when all entities exist.
pub(super) fn located<'d, 'o>(importer: &mut Importer<'d, 'o>) {
    for (variable, entry) in core::mem::take(&mut importer.made.located) {
        const_value(importer, entry, variable);
        location(importer, entry, variable);
    }
}

fn const_value<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>, variable: VariableId) {
    let name = dw::DW_AT_const_value;
    if !entry.has(name) {
        return;
    }
    let ty = importer.m.described().variable(variable).ty;
    if let Err(reason) = has_room(importer, variable, true) {
        return importer.leave(entry, name, reason);
    }
    match importer.const_value(entry, ty) {
        Ok(bytes) => {
            importer.made.placed.insert(variable);
            let set = importer
                .m
                .describe_variable(variable)
                .and_then(|mut entity| entity.const_value(&bytes).map(drop));
            importer.accept(entry, name, set);
        }
        Err(reason) => importer.leave(entry, name, reason),
    }
}

fn location<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>, variable: VariableId) {
    let name = dw::DW_AT_location;
    let Some(value) = importer.take(entry, name) else { return };
    if let Err(reason) = has_room(importer, variable, false) {
        return importer.leave(entry, name, reason);
    }
    importer.made.placed.insert(variable);
    match value {
        ResolvedValue::Expr(bytes) => match importer.location_at_pcs(entry, bytes) {
            Ok(loc) => {
                class(importer, entry, &loc);
                let around = importer.place(entry);
                let pcs = 0..around.map_or(0, |around| around.bytes);
                let locs = core::slice::from_ref(&loc);
                if around.is_some_and(|around| {
                    super::live::in_homes(importer, entry, variable, &around, &pcs, locs)
                }) {
                    return;
                }
                let set = always(importer, variable, loc);
                // A location that does not fit the variable is kept as the file has it.
                let set = set.or_else(|error| match importer.raw(entry, bytes) {
                    Ok(expr) => always(importer, variable, Loc::expr(expr)),
                    Err(_) => Err(error),
                });
                importer.accept(entry, name, set);
            }
            Err(reason) => importer.leave(entry, name, reason),
        },
        ResolvedValue::LocList(offset) => super::live::list(importer, entry, variable, offset),
        value => {
            importer.leave(entry, name, UnimportedReason::class(value, "an expression or a location list"));
        }
    }
}

/// Takes the class of a variable's memory if the location states it, too: the address space, or a register.
fn class<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>, loc: &Loc) {
    // NVIDIA's class of registers.
    const REGISTER: u64 = 2;
    let is_stated = match importer.class_space(entry) {
        Some(space) => loc.nodes().any(|node| node == Node::Memory(space)),
        None => {
            entry.number(dw::DW_AT_address_class) == Some(REGISTER)
                && matches!(loc.nodes().collect::<Vec<_>>()[..], [Node::PerLane(_) | Node::Register(_)])
        }
    };
    if is_stated {
        importer.mark(entry, dw::DW_AT_address_class);
    }
}

fn always(importer: &mut Importer<'_, '_>, variable: VariableId, loc: Loc) -> crate::Result<()> {
    importer.m.describe_variable(variable).and_then(|mut entity| entity.always(loc).map(drop))
}

/// Whether a variable can have a location or a value, and has none yet.
fn has_room(importer: &Importer<'_, '_>, variable: VariableId, is_constant: bool) -> Made<()> {
    let module = importer.m.described();
    let data = module.variable(variable);
    let function = module.function_of(data.scope).map(|function| module.function(function));
    // A declaration has a value, as that of a constant of C++, but no location.
    let is_static = data.is_declaration || matches!(module.scope(data.scope).kind, ScopeKind::Type(_));
    if function.is_some_and(|function| function.is_declaration) || is_static && !is_constant {
        return Err(UnimportedReason::DeclarationLocation);
    }
    if importer.made.placed.contains(&variable) {
        return Err(UnimportedReason::SecondLocation);
    }
    Ok(())
}

/// Returns a block with as many bytes as its type: gnat pads texts with zeros to the size of a register, and clang has the 10
/// bytes of x86's `long double` alone.
fn fitted(block: &[u8], bytes: usize, is_float: bool) -> Vec<u8> {
    let mut fitted = block.to_vec();
    let padding = block.get(bytes..).unwrap_or_default();
    if padding.iter().all(|&byte| byte == 0) && (bytes < block.len() || is_float) {
        fitted.resize(bytes, 0);
    }
    fitted
}

impl<'d, 'o> Importer<'d, 'o> {
    /// Returns the variable to which a value refers.
    pub(super) fn variable_at(&mut self, entry: Entry<'d, 'o>, value: ResolvedValue<'o>) -> Made<VariableId> {
        if !matches!(value, ResolvedValue::Reference(_)) {
            return Err(UnimportedReason::class(value, "a reference to a variable"));
        }
        let referred = entry.referred(value);
        let known = referred.and_then(|referred| self.known_variable(referred));
        known.ok_or(UnimportedReason::MissingReference)
    }

    /// Takes a constant with the bytes of its type, the lowest address first.
    pub(super) fn const_value(&mut self, entry: Entry<'d, 'o>, ty: TypeId) -> Made<Vec<u8>> {
        let name = dw::DW_AT_const_value;
        let value = self.take(entry, name).ok_or(UnimportedReason::NoProperty)?;
        let bytes = self.m.described().ty(ty).bits().map(|bits| bits.div_ceil(8));
        let number: i128 = match value {
            ResolvedValue::Block(block) => {
                let Some(bytes) = bytes.and_then(|bytes| usize::try_from(bytes).ok()) else {
                    return Ok(block.to_vec());
                };
                let module = self.m.described();
                let kind = module.unqualified_type(ty).map(|ty| module.ty(ty).kind());
                let is_float =
                    matches!(kind, Some(TypeKind::Base { encoding: BaseEncoding::Float, .. })) && bytes <= 16;
                return Ok(fitted(block, bytes, is_float));
            }
            ResolvedValue::String(text) => return Ok([text.bytes(), &[0]].concat()),
            ResolvedValue::Wide(number) => number as i128,
            ResolvedValue::Unsigned(number) => number.into(),
            ResolvedValue::Signed(number) => number.into(),
            ResolvedValue::Flag(flag) => flag.into(),
            value => return Err(UnimportedReason::class(value, "a number, a text or a block")),
        };
        // A number has its type's size; without a type, as much as the value needs.
        let bytes = bytes.unwrap_or(8);
        if bytes == 0 || bytes > 16 {
            return Err(UnimportedReason::ValueRange(number));
        }
        let bytes = bytes as usize;
        // A negative number in an unsigned form has 64 bits.
        let is_wrapped = bytes < 8 && (1 << 63..1 << 64).contains(&number);
        let all = if is_wrapped { i128::from(number as i64) } else { number }.to_le_bytes();
        let (low, high) = all.split_at(bytes);
        let is_negative = low[bytes - 1] & 0x80 != 0;
        let is_whole =
            high.iter().all(|&byte| byte == 0) || is_negative && high.iter().all(|&byte| byte == 0xff);
        if !is_whole {
            return Err(UnimportedReason::ValueRange(number));
        }
        let mut low = low.to_vec();
        if self.m.target().is_big_endian() {
            low.reverse();
        }
        Ok(low)
    }

    /// Takes a constant whose form can leave its sign open. It is signed if its type is.
    pub(super) fn constant(
        &mut self,
        entry: Entry<'d, 'o>,
        name: DwAt,
        is_signed: Option<bool>,
    ) -> Option<i128> {
        let value = self.take(entry, name)?;
        let form =
            entry.attributes().find(|attribute| attribute.name == name).map(|attribute| attribute.form);
        let bits = match form {
            Some(dw::DW_FORM_data1) => 8,
            Some(dw::DW_FORM_data2) => 16,
            Some(dw::DW_FORM_data4) => 32,
            _ => 64,
        };
        let is_plain = !matches!(form, Some(dw::DW_FORM_udata));
        match value {
            ResolvedValue::Unsigned(number) if is_signed == Some(true) && is_plain => {
                let shift = 64 - bits;
                Some((((number << shift) as i64) >> shift).into())
            }
            ResolvedValue::Unsigned(number) => Some(number.into()),
            // The bits of an unsigned number in a signed form.
            ResolvedValue::Signed(number @ ..0) if is_signed == Some(false) => Some((number as u64).into()),
            ResolvedValue::Signed(number) => Some(number.into()),
            value => {
                self.leave(entry, name, UnimportedReason::class(value, "a number"));
                None
            }
        }
    }
}
