//! Calls with their arguments: DWARF 5 section 3.4, and GNU's entries before DWARF 5.

use gimli::{DwAt, constants as dw};

use super::importer::{Importer, Place, refused};
use super::parts::Border;
use super::scopes::call_line;
use super::unimported::UnimportedReason;
use crate::build::ArgumentBuilder;
use crate::error::Error;
use crate::model::{AttributeOwner, CallId, Loc, Val};
use crate::op::{Decoder, Op};
use crate::read::{Entry, ResolvedValue};

/// Imports a call.
pub(super) fn call<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>) {
    let Some(around) = importer.place(entry) else { return };
    let is_gnu = entry.tag() == dw::DW_TAG_GNU_call_site;
    let returns = if is_gnu { dw::DW_AT_low_pc } else { dw::DW_AT_call_return_pc };
    // A call is identified by its pcs: without them it says nothing.
    let return_pc = importer.instruction(entry, returns, around);
    let call_pc = importer.instruction(entry, dw::DW_AT_call_pc, around);
    if return_pc.is_none() && call_pc.is_none() {
        return importer.leave_entry(entry, UnimportedReason::NoCode);
    }
    let id = match importer.m.call(around.scope) {
        Ok(call) => call.id(),
        Err(error) => return importer.leave_entry(entry, refused(error)),
    };
    importer.own(entry, AttributeOwner::Call(id));
    if let Some(pc) = return_pc {
        let set = importer.m.describe_call(id).and_then(|mut call| call.returns_to(pc).map(drop));
        importer.accept(entry, returns, set);
    }
    if let Some(pc) = call_pc {
        let set = importer.m.describe_call(id).and_then(|mut call| call.at(pc).map(drop));
        importer.accept(entry, dw::DW_AT_call_pc, set);
    }
    importer.frames.at_call = frame_base(importer, around, call_pc, return_pc);
    callee(importer, entry, id, is_gnu);
    for name in [dw::DW_AT_call_tail_call, dw::DW_AT_GNU_tail_call] {
        if importer.flag(entry, name)
            && let Ok(mut call) = importer.m.describe_call(id)
        {
            call.tail();
        }
    }
    if entry.has(dw::DW_AT_call_line)
        && let Some(line) = call_line(importer, entry)
    {
        let set = importer.m.describe_call(id).and_then(|mut call| call.line(line).map(drop));
        importer.accept(entry, dw::DW_AT_call_line, set);
    }
    targets(importer, entry, id);
    let mut arguments = 0;
    for part in entry.children() {
        if matches!(part.tag(), dw::DW_TAG_call_site_parameter | dw::DW_TAG_GNU_call_site_parameter) {
            argument(importer, part, id, is_gnu, &mut arguments);
        }
    }
    importer.frames.at_call = None;
}

/// Returns the frame base at a call, in a function that has frame bases by pc.
fn frame_base<'o>(
    importer: &Importer<'_, 'o>,
    around: Place<'o>,
    call_pc: Option<u64>,
    return_pc: Option<u64>,
) -> Option<&'o [u8]> {
    let bases = importer.frames.bases.get(&around.function?)?;
    // The call instruction ends before the return pc.
    let pc = call_pc.or_else(|| return_pc?.checked_sub(1))?;
    let (_, expr) = bases.iter().find(|(pcs, _)| pcs.contains(&pc))?;
    Some(expr)
}

fn callee<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>, id: CallId, is_gnu: bool) {
    let name = if is_gnu { dw::DW_AT_abstract_origin } else { dw::DW_AT_call_origin };
    let Some(callee) = importer.refer(entry, name) else { return };
    match importer.known_function(callee) {
        Some(function) => {
            let set = importer.m.describe_call(id).and_then(|mut call| call.calls(function).map(drop));
            importer.accept(entry, name, set);
        }
        None => importer.leave(entry, name, UnimportedReason::MissingReference),
    }
}

fn targets<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>, id: CallId) {
    let names = [
        (dw::DW_AT_call_target, false),
        (dw::DW_AT_GNU_call_site_target, false),
        (dw::DW_AT_call_target_clobbered, true),
        (dw::DW_AT_GNU_call_site_target_clobbered, true),
    ];
    for (name, is_clobbered) in names {
        let Some(value) = importer.take(entry, name) else { continue };
        let ResolvedValue::Expr(bytes) = value else {
            importer.leave(entry, name, UnimportedReason::class(value, "an expression"));
            continue;
        };
        let contents = register_contents(importer, entry, bytes);
        match contents.map_or_else(|| importer.value(entry, bytes), Ok) {
            Ok(value) => {
                let set = importer.m.describe_call(id).and_then(|mut call| {
                    if is_clobbered {
                        call.clobbered_target(value).map(drop)
                    } else {
                        call.target(value).map(drop)
                    }
                });
                importer.accept(entry, name, set);
            }
            Err(reason) => importer.leave(entry, name, reason),
        }
    }
}

/// Returns the contents of the register whose location clang writes as a target. The expression computes an address (DWARF 5
/// section 3.4.1), and gdb reads the register, too.
fn register_contents<'o>(importer: &Importer<'_, 'o>, entry: Entry<'_, 'o>, bytes: &[u8]) -> Option<Val> {
    let mut operations = Decoder::new(bytes, entry.unit().encoding);
    let Op::RegX { reg } = operations.next()?.ok()?.op else { return None };
    let register = importer.target.register(reg).filter(|_| operations.is_at_end())?;
    let is_address = !register.is_vector() && register.bits == u32::from(importer.target.address_bytes()) * 8;
    (is_address && !importer.target.has_lane_expressions()).then(|| Val::register(reg))
}

fn argument<'d, 'o>(
    importer: &mut Importer<'d, 'o>,
    part: Entry<'d, 'o>,
    id: CallId,
    is_gnu: bool,
    count: &mut u32,
) {
    let location = match importer.take(part, dw::DW_AT_location) {
        Some(ResolvedValue::Expr(bytes)) => importer.location(part, bytes).map(Some),
        Some(value) => Err(UnimportedReason::class(value, "an expression")),
        None => Ok(None),
    };
    let location = match location {
        Ok(location) => location,
        Err(reason) => return importer.leave_entry(part, reason),
    };
    let name = if is_gnu { dw::DW_AT_abstract_origin } else { dw::DW_AT_call_parameter };
    let parameter = importer.take(part, name).map(|value| importer.variable_at(part, value));
    let known = parameter.as_ref().and_then(|parameter| parameter.as_ref().ok().copied());
    let values = argument_values(importer, part);
    let made = importer.m.describe_call(id).and_then(|mut call| {
        let (mut argument, refusal) = match (&location, known) {
            (Some(location), known) => {
                let mut argument = call.argument(location)?;
                let refusal = known.and_then(|known| argument.parameter(known).err());
                (argument, refusal)
            }
            // An argument that the compiler removed is identified by its parameter.
            (None, Some(known)) => (call.removed_argument(known)?, None),
            (None, None) => {
                return Err(Error::bad_argument("the argument has neither a location nor a known parameter"));
            }
        };
        Ok((refusal, values.set(&mut argument)))
    });
    let (no_parameter, no_value) = match made {
        Ok(refusals) => refusals,
        Err(error) => return importer.leave_entry(part, refused(error)),
    };
    importer.own(part, AttributeOwner::Argument(id, *count));
    *count += 1;
    if let Some(error) = no_value {
        importer.list(part, None, refused(error));
    }
    if let Some(reason) = no_parameter.map(refused).or(parameter.and_then(Result::err)) {
        importer.leave(part, name, reason);
    }
}

/// Values of an argument in the caller.
struct ArgumentValues {
    value: Option<Val>,
    /// Value of the object to which the argument points, with the object's location if the argument is not its address.
    pointee: Option<(Option<Loc>, Val)>,
}

impl ArgumentValues {
    /// Sets the values. Returns why a value is refused.
    fn set(self, argument: &mut ArgumentBuilder<'_>) -> Option<Error> {
        let refused = self.value.and_then(|value| argument.value(value).err());
        let pointee = self.pointee.and_then(|(location, value)| match location {
            Some(location) => argument.points_to(&location, value).err(),
            None => argument.points_to_value(value).err(),
        });
        refused.or(pointee)
    }
}

/// Takes the values of an argument.
fn argument_values<'d, 'o>(importer: &mut Importer<'d, 'o>, part: Entry<'d, 'o>) -> ArgumentValues {
    let value = expression(importer, part, [dw::DW_AT_call_value, dw::DW_AT_GNU_call_site_value]);
    let value = value.and_then(|(name, bytes)| {
        importer.value(part, bytes).map_err(|why| importer.leave(part, name, why)).ok()
    });
    let location = expression(importer, part, [dw::DW_AT_call_data_location; 2]);
    let location = location.and_then(|(name, bytes)| {
        let location = importer.location(part, bytes).map_err(|why| importer.leave(part, name, why)).ok();
        Some((name, location?))
    });
    let data = expression(importer, part, [dw::DW_AT_call_data_value, dw::DW_AT_GNU_call_site_data_value]);
    let data = data.and_then(|(name, bytes)| {
        let value = importer.value(part, bytes).map_err(|why| importer.leave(part, name, why)).ok();
        Some((name, value?))
    });
    let pointee = match (location, data) {
        (location, Some((_, value))) => Some((location.map(|(_, location)| location), value)),
        // The location of an object without a value says nothing.
        (Some((name, _)), None) => {
            importer.leave(part, name, UnimportedReason::NoProperty);
            None
        }
        (None, None) => None,
    };
    ArgumentValues { value, pointee }
}

/// Takes the expression of the first attribute that an entry has.
fn expression<'d, 'o>(
    importer: &mut Importer<'d, 'o>,
    part: Entry<'d, 'o>,
    names: [DwAt; 2],
) -> Option<(DwAt, &'o [u8])> {
    let name = names.into_iter().find(|&name| part.has(name))?;
    match importer.take(part, name)? {
        ResolvedValue::Expr(bytes) => Some((name, bytes)),
        value => {
            importer.leave(part, name, UnimportedReason::class(value, "an expression"));
            None
        }
    }
}

impl<'d, 'o> Importer<'d, 'o> {
    /// Takes an address as a pc of the function around it, if an instruction can begin or end there. A return pc can be
    /// the function's end.
    fn instruction(&mut self, entry: Entry<'d, 'o>, name: DwAt, around: Place<'o>) -> Option<u64> {
        let border = if name == dw::DW_AT_call_pc { Border::Start } else { Border::End };
        let pc = self.pc(entry, name, around, border)?;
        let step = u64::from(self.m.target().min_instruction_bytes());
        if pc.is_multiple_of(step) || pc == around.bytes {
            return Some(pc);
        }
        self.leave(entry, name, UnimportedReason::Misaligned);
        None
    }

    /// Takes an address as a pc of the function around it.
    pub(super) fn pc(
        &mut self,
        entry: Entry<'d, 'o>,
        name: DwAt,
        around: Place<'o>,
        border: Border,
    ) -> Option<u64> {
        let address = self.take_as(entry, name, "an address", |value| match value {
            ResolvedValue::Address(address) => Some(address),
            _ => None,
        })?;
        let pc = self.pc_of(&around, address, border);
        if pc.is_none() {
            let has_code = around.base.is_some();
            let reason = if has_code { UnimportedReason::OtherCode } else { UnimportedReason::NoCode };
            self.leave(entry, name, reason);
        }
        pc
    }
}
