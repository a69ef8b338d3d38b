//! All expressions of objects.

use std::collections::BTreeMap;

use eitri::eval::{DebugInfo, ResultKind};
use eitri::model::Stack;
use eitri::op::{Dialect, text};
use eitri::read::{Dwarf, Entry, Object, ResolvedValue};
use gimli::constants as dw;

use super::compare::{Case, Failure, compare, imported};

/// Numbers of expressions, by outcome.
#[derive(Debug, Default)]
pub struct Counts {
    pub all: u64,
    pub typed: u64,
    /// Expressions that always fail, and have no location.
    pub meaningless: u64,
    /// Expressions that the machines gave a location at least once.
    pub proven: u64,
    pub reasons: BTreeMap<String, (u64, String)>,
    pub differences: Vec<String>,
}

/// Attributes whose expressions are numbers.
fn kind(name: gimli::DwAt) -> Option<ResultKind> {
    match name {
        dw::DW_AT_location | dw::DW_AT_frame_base | dw::DW_AT_static_link | dw::DW_AT_return_addr => {
            Some(ResultKind::Location)
        }
        dw::DW_AT_call_value
        | dw::DW_AT_GNU_call_site_value
        | dw::DW_AT_upper_bound
        | dw::DW_AT_lower_bound
        | dw::DW_AT_count
        | dw::DW_AT_byte_size
        | dw::DW_AT_call_target
        | dw::DW_AT_GNU_call_site_target
        | dw::DW_AT_call_data_value => Some(ResultKind::Value),
        _ => None,
    }
}

fn expression<'o>(value: ResolvedValue<'o>, version: u16) -> Option<&'o [u8]> {
    match value {
        ResolvedValue::Expr(expr) => Some(expr),
        ResolvedValue::Block(expr) if version < 4 => Some(expr),
        _ => None,
    }
}

/// Counts and compares the expressions of an object.
pub fn count(object: &Object<'_>, counts: &mut Counts) -> eitri::Result<()> {
    let dwarf = Dwarf::read(object)?;
    let info = DebugInfo::new(&dwarf);
    let Some(target) = info.target(object) else { return Ok(()) };
    let mut known = std::collections::BTreeSet::new();
    let mut functions: Vec<Entry<'_, '_>> = Vec::new();
    for entry in dwarf.entries() {
        functions.retain(|function| {
            function.depth() < entry.depth() && function.unit().offset == entry.unit().offset
        });
        // A file does not name its dialect. Offsets from the frame base are added to an address on CPUs.
        let dialect = if target.lanes() == 1 { Dialect::Dwarf5 } else { Dialect::Llvm };
        let encoding = entry.unit().encoding.with_dialect(dialect);
        if entry.tag() == dw::DW_TAG_subprogram {
            functions.push(entry);
        }
        let function = functions.last();
        let base = function.and_then(|function| function.attr(dw::DW_AT_frame_base));
        let frame_base = base.and_then(|base| expression(base, encoding.version));
        for attribute in entry.attributes() {
            let Some(kind) = kind(attribute.name) else { continue };
            let mut exprs = Vec::new();
            match entry.attr(attribute.name) {
                Some(ResolvedValue::LocList(_)) => {
                    let list = entry.locations(attribute.name)?.unwrap_or_default();
                    exprs.extend(list.iter().map(|entry| entry.expr));
                }
                Some(value) => exprs.extend(expression(value, encoding.version)),
                None => {}
            }
            let ty = entry.ty().or_else(|| entry.reference(dw::DW_AT_abstract_origin)?.ty());
            let is_object =
                attribute.name == dw::DW_AT_location && entry.tag() != dw::DW_TAG_call_site_parameter;
            let bits = ty.and_then(|ty| ty.size_bits()).filter(|_| is_object);
            for expr in exprs {
                let is_frame_base = attribute.name == dw::DW_AT_frame_base;
                let frame_base = frame_base.filter(|_| !is_frame_base);
                let stack = stack(&target, frame_base, encoding);
                let class = entry.number(dw::DW_AT_address_class);
                let space = class.filter(|_| target.has_lane_expressions());
                let space = space.and_then(|class| target.space_of_class(class)).map(|space| space.id);
                let case = Case {
                    expr,
                    encoding,
                    target: &target,
                    info: Some(&info),
                    unit: entry.unit().offset,
                    bits,
                    frame_base,
                    stack,
                    space,
                    kind,
                    has_constant_symbols: false,
                };
                counts.all += 1;
                examine(&case, counts, known.insert((expr, entry.unit().offset, bits, frame_base)));
            }
        }
    }
    Ok(())
}

fn stack(target: &eitri::target::Target, frame_base: Option<&[u8]>, encoding: eitri::op::Encoding) -> Stack {
    let mut stack = Stack::kernel(target);
    let base = frame_base.and_then(|base| eitri::op::Decoder::new(base, encoding).next()?.ok());
    if let Some(eitri::op::Op::RegX { reg }) = base.map(|base| base.op)
        && target.gfx().is_some()
    {
        stack.base = Some(reg);
    }
    stack
}

fn examine(case: &Case<'_>, counts: &mut Counts, is_new: bool) {
    let text = || text::print(case.expr, case.encoding, Some(case.target)).replace('\n', "; ");
    match imported(case) {
        Ok(imported) => {
            counts.typed += 1;
            if !is_new {
                return;
            }
            match compare(case, &imported) {
                Ok(meanings) => counts.proven += u64::from(meanings > 0),
                Err(difference) => {
                    let bits = case.bits;
                    counts.differences.push(format!(
                        "{} ({bits:?} bits): {:?}\n  {difference}",
                        text(),
                        imported.nodes()
                    ));
                }
            }
        }
        Err(failure) => {
            let reason = match failure {
                Failure::Untyped(untyped) => {
                    counts.meaningless += u64::from(untyped.reason.is_meaningless());
                    format!(
                        "{}{}",
                        untyped.operation.map(|op| format!("`{op}`: ")).unwrap_or_default(),
                        untyped.reason
                    )
                }
                Failure::Refused(error) => format!("refused: {error}"),
            };
            let known = counts.reasons.entry(reason).or_insert_with(|| (0, text()));
            known.0 += 1;
        }
    }
}
