//! Findings about what the location of a frame depends on: the frame base of a function, and the rules of its call frame
//! information.

use gimli::constants as dw;

use super::codes::Code;
use super::file::File;
use super::shape::{self, Number, Place, Shape};
use crate::error::Count;
use crate::op::{Encoding, Reg};
use crate::read::{CfaRule, FrameRow, Rule};

/// A finding: code, and the meaning as written.
pub(super) type Wrong = (Code, String);

/// Returns the finding about a frame base.
pub(super) fn frame_base(file: &File<'_, '_>, shape: &Shape) -> Option<Wrong> {
    if let Some(wrong) = expression(file, shape) {
        return Some(wrong);
    }
    let kind = match &shape.parts[..] {
        [] => return None,
        [_, _, ..] => Count(shape.parts.len(), "piece").to_string(),
        [part] => match &part.place {
            Place::Value(number) => format!("a value without a place, {}", described(file, number)?),
            Place::Implicit(bytes) => format!("a value of {}", Count(bytes.len(), "byte")),
            Place::Memory { space: None, address: Number::Known(address) } => {
                return Some((Code::ConstantAsAddress, format!("the frame base is memory at {address:#x}")));
            }
            _ => return None,
        },
    };
    Some((Code::WrongKind, format!("the frame base is {kind}")))
}

/// Returns the finding about a row of rules; `last` is the register of the last row's canonical frame address.
pub(super) fn row(
    file: &File<'_, '_>,
    encoding: Encoding,
    row: &FrameRow<'_>,
    last: &mut Option<Reg>,
) -> Option<Wrong> {
    let of = |(code, written): Wrong, what: &str| (code, format!("{what}: {written}"));
    let cfa = match row.cfa {
        CfaRule::Register { register, .. } if last.replace(register) != Some(register) => {
            unknown(file, register)
        }
        CfaRule::Expression(expr) => expression(file, &shape::of(expr, encoding, &|_| None)),
        _ => None,
    };
    if let Some(wrong) = cfa {
        return Some(of(wrong, "the rule of the canonical frame address"));
    }
    row.rules.iter().find_map(|&(register, rule)| {
        let wrong = match rule {
            Rule::Register(other) => unknown(file, other),
            Rule::Expression(expr) | Rule::ValExpression(expr) => {
                // The initial stack contains the canonical frame address.
                let whole = [&[dw::DW_OP_call_frame_cfa.0], expr].concat();
                expression(file, &shape::of(&whole, encoding, &|_| None))
            }
            _ => None,
        };
        wrong.map(|wrong| of(wrong, &format!("the rule of {}", file.name(register))))
    })
}

/// Returns the finding about an expression that no machine of the target can evaluate.
fn expression(file: &File<'_, '_>, shape: &Shape) -> Option<Wrong> {
    let ill_formed = |(_, rule): &(usize, String)| {
        (Code::IllFormed, format!("the expression cannot be evaluated: {rule}"))
    };
    if let Some(error) = &shape.error {
        return Some(ill_formed(error));
    }
    let unknown_register = shape.parts.iter().find_map(|part| {
        let number = match &part.place {
            Place::Register(reg, _) => return unknown(file, *reg),
            Place::Memory { address, .. } => address,
            Place::Value(number) => number,
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

fn unknown(file: &File<'_, '_>, reg: Reg) -> Option<Wrong> {
    let is_known = file.target.as_ref().is_none_or(|target| target.register(reg).is_some());
    (!is_known).then(|| (Code::UnknownRegister, format!("the target has no register {}", reg.0)))
}

fn described(file: &File<'_, '_>, number: &Number) -> Option<String> {
    Some(match number {
        Number::Known(value) => format!("{value:#x}"),
        Number::Register(reg, by) => format!("{}{by:+}", file.name(*reg)),
        Number::Other => return None,
        _ => "computed".into(),
    })
}
