//! Expression contexts other than variable locations: the initial stack, and the required kind of result.

use gimli::{DwAt, DwForm, DwTag, constants as dw};

use super::codes::LintCode;
use super::file::File;
use super::shape::{self, LocationShape, Number, PartShape, Shape};
use super::witness::{Machines, Site};
use crate::walk::LANE_PC;
use eitri_dwarf::error::Count;
use eitri_dwarf::op::{Encoding, Reg};
use eitri_dwarf::read::is_expression_form;

/// A finding: code, and the meaning as written.
pub(super) type Wrong = (LintCode, String);

/// Required kind of result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    /// A value, or any location.
    Anything,
    /// A location, which can be changed.
    Location,
    /// An address: memory, or a register, which by convention is its contents.
    Base,
    /// An address.
    Address,
    /// An address, or a table index.
    Entry,
    /// A vector with an address for each lane.
    Lanes,
}

/// Returns the context of an attribute's expression; `None` if the attribute is not diagnosed here.
fn context(name: DwAt) -> Option<(Site, Needs)> {
    Some(match name {
        dw::DW_AT_data_member_location => (Site::Object, Needs::Address),
        dw::DW_AT_vtable_elem_location => (Site::Object, Needs::Entry),
        dw::DW_AT_use_location => (Site::PointerAndObject, Needs::Address),
        dw::DW_AT_data_location => (Site::Location, Needs::Address),
        dw::DW_AT_static_link => (Site::Location, Needs::Base),
        dw::DW_AT_return_addr => (Site::Location, Needs::Location),
        // The location of a call's argument: `has` excludes variables.
        dw::DW_AT_location => (Site::Location, Needs::Location),
        dw::DW_AT_string_length
        | dw::DW_AT_byte_size
        | dw::DW_AT_bit_size
        | dw::DW_AT_byte_stride
        | dw::DW_AT_bit_stride
        | dw::DW_AT_lower_bound
        | dw::DW_AT_upper_bound
        | dw::DW_AT_count
        | dw::DW_AT_rank
        | dw::DW_AT_allocated
        | dw::DW_AT_associated
        | dw::DW_AT_call_value
        | dw::DW_AT_call_target
        | dw::DW_AT_call_target_clobbered
        | dw::DW_AT_call_data_location
        | dw::DW_AT_call_data_value
        | dw::DW_AT_GNU_call_site_value
        | dw::DW_AT_GNU_call_site_target
        | dw::DW_AT_GNU_call_site_target_clobbered
        | dw::DW_AT_GNU_call_site_data_value => (Site::Value, Needs::Anything),
        name if LANE_PC.contains(&name) => (Site::Location, Needs::Lanes),
        _ => return None,
    })
}

/// Whether an entry's attribute with this form can have an expression, or a list of expressions, that is diagnosed here.
pub(super) fn has(tag: DwTag, name: DwAt, form: DwForm) -> bool {
    let is_argument = matches!(tag, dw::DW_TAG_call_site_parameter | dw::DW_TAG_GNU_call_site_parameter);
    is_expression_form(form) && context(name).is_some() && (name != dw::DW_AT_location || is_argument)
}

/// Returns the finding about an attribute's expression.
pub(super) fn attribute(
    file: &File<'_, '_>,
    name: DwAt,
    expr: &[u8],
    unit: u64,
    encoding: Encoding,
    address: &dyn Fn(u64) -> Option<u64>,
) -> Option<Wrong> {
    let (site, needs) = context(name).filter(|_| !expr.is_empty())?;
    let attribute = if LANE_PC.contains(&name) { "DW_AT_LLVM_lane_pc".to_owned() } else { name.to_string() };
    let shape = shape::analyze(&[site.operations(), expr].concat(), encoding, address);
    let wrong = expression(file, &shape)
        .or_else(|| failure(file, expr, site, unit, encoding))
        .map(|(code, written)| (code, format!("{attribute}: {written}")));
    wrong.or_else(|| kind(file, &attribute, &shape, needs)).or_else(|| {
        matches!(name, dw::DW_AT_call_target | dw::DW_AT_GNU_call_site_target)
            .then(|| overwritten(file, &attribute, &shape))?
    })
}

/// Returns the finding about a call target in the register that the call itself overwrites with the return address.
fn overwritten(file: &File<'_, '_>, attribute: &str, shape: &Shape) -> Option<Wrong> {
    let is_link = |number: &Number| matches!(number, Number::Register(reg, _) if file.is_link(*reg));
    let register = shape.parts.iter().find_map(|part| match &part.place {
        LocationShape::Register(reg, _) => Some(*reg).filter(|reg| file.is_link(*reg)),
        LocationShape::Value(number) | LocationShape::Memory { address: number, .. } => {
            match number.find(&is_link)? {
                Number::Register(reg, _) => Some(*reg),
                _ => None,
            }
        }
        _ => None,
    })?;
    let written =
        format!("{attribute} is in {}, which the call sets to the return address", file.name(register));
    Some((LintCode::CallTargetOverwritten, written))
}

/// Returns the finding about an expression that fails at every witness.
pub(super) fn failure(
    file: &File<'_, '_>,
    expr: &[u8],
    site: Site,
    unit: u64,
    encoding: Encoding,
) -> Option<Wrong> {
    let machines = Machines { info: &file.info, target: file.target.as_ref()?, unit, encoding };
    let (_, rule) = machines.failure(expr, site)?;
    Some((LintCode::IllFormed, format!("the expression fails on every machine: {rule}")))
}

/// Returns the finding about a result with the wrong kind for its context.
pub(super) fn kind(file: &File<'_, '_>, subject: &str, shape: &Shape, needs: Needs) -> Option<Wrong> {
    let is_piece = |part: &PartShape| part.bits.is_some();
    let result = match &shape.parts[..] {
        _ if needs == Needs::Anything => return None,
        [] => return None,
        parts if parts.iter().any(is_piece) => match needs {
            Needs::Location | Needs::Lanes => return None,
            _ => Count(parts.len(), "piece").to_string(),
        },
        [part, ..] if needs == Needs::Lanes => lane_result(file, &part.place)?,
        [part, ..] => match &part.place {
            LocationShape::Value(number) => {
                format!("a value without a location, {}", described(file, number)?)
            }
            LocationShape::Implicit(bytes) => format!("a value of {}", Count(bytes.len(), "byte")),
            LocationShape::Register(reg, _) if !matches!(needs, Needs::Base | Needs::Location) => {
                format!("the register {}", file.name(*reg))
            }
            LocationShape::Memory { space: None, address: Number::Known(address) }
                if matches!(needs, Needs::Base | Needs::Address) =>
            {
                return Some((LintCode::ConstantAsAddress, format!("{subject} is memory at {address:#x}")));
            }
            _ => return None,
        },
    };
    Some((LintCode::WrongKind, format!("{subject} is {result}")))
}

/// Describes a location that cannot contain an address for each lane.
fn lane_result(file: &File<'_, '_>, place: &LocationShape) -> Option<String> {
    let target = file.target.as_ref().filter(|target| target.lanes() > 1)?;
    let addresses = Count(target.lanes(), "address");
    let result = match place {
        LocationShape::Value(number) => format!("one value, {}", described(file, number)?),
        LocationShape::Implicit(bytes)
            if (bytes.len() as u64) < u64::from(target.lanes()) * u64::from(target.address_bytes()) =>
        {
            format!("a value of {}", Count(bytes.len(), "byte"))
        }
        LocationShape::Memory { space: None, address: Number::Symbol(address) } if file.is_code(*address) => {
            format!("the code at {}", file.object.pc_notation().pc(*address))
        }
        _ => return None,
    };
    Some(format!("{result}, not a vector of {addresses}"))
}

fn described(file: &File<'_, '_>, number: &Number) -> Option<String> {
    Some(match number {
        Number::Known(value) => format!("{value:#x}"),
        Number::Register(reg, offset) => format!("{}{offset:+}", file.name(*reg)),
        Number::Symbol(address) => file.object.pc_notation().pc(*address).to_string(),
        Number::Other => return None,
        _ => "computed".into(),
    })
}

/// Returns the finding about an expression that no target machine can evaluate.
pub(super) fn expression(file: &File<'_, '_>, shape: &Shape) -> Option<Wrong> {
    let ill_formed = |(_, rule): &(usize, String)| {
        (LintCode::IllFormed, format!("the expression cannot be evaluated: {rule}"))
    };
    if let Some(error) = &shape.error {
        return Some(ill_formed(error));
    }
    let unknown_register = shape.parts.iter().find_map(|part| {
        let number = match &part.place {
            LocationShape::Register(reg, _) => return unknown(file, *reg),
            LocationShape::Memory { address, .. } => address,
            LocationShape::Value(number) => number,
            _ => return None,
        };
        let is_unknown =
            |number: &Number| matches!(number, Number::Register(reg, _) if unknown(file, *reg).is_some());
        match number.find(&is_unknown)? {
            Number::Register(reg, _) => unknown(file, *reg),
            _ => None,
        }
    });
    unknown_register.or_else(|| shape.failure.as_ref().map(ill_formed))
}

/// Returns the finding about a register that the target lacks.
pub(super) fn unknown(file: &File<'_, '_>, reg: Reg) -> Option<Wrong> {
    let is_known = file.target.as_ref().is_none_or(|target| target.register(reg).is_some());
    (!is_known).then(|| (LintCode::UnknownRegister, format!("the target has no register {}", reg.0)))
}
