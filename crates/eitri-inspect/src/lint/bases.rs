//! Findings about what the location of a frame depends on: the frame base of a function, and the rules of its call frame
//! information.

use hashbrown::HashSet;

use super::codes::Code;
use super::contexts::{self, Needs};
use super::file::File;
use super::shape::{self, Number, Place, Shape};
use super::witness::Site;
use eitri_dwarf::op::{Encoding, Reg};
use eitri_dwarf::read::{CfaRule, FrameRow, Rule};

/// A finding: code, and the meaning as written.
pub(super) type Wrong = (Code, String);

/// Returns the finding about a frame base.
pub(super) fn frame_base(file: &File<'_, '_>, shape: &Shape) -> Option<Wrong> {
    expression(file, shape).or_else(|| contexts::kind(file, "the frame base", shape, Needs::Base))
}

/// Rules of a frame that have no finding so far. A rule is in many rows.
#[derive(Debug, Default)]
pub(super) struct Known<'f> {
    /// Register of the canonical frame address.
    cfa: Option<Reg>,
    expressions: HashSet<(Site, &'f [u8])>,
}

/// Returns the finding about a row of rules.
pub(super) fn row<'f>(
    file: &File<'_, '_>,
    encoding: Encoding,
    row: &FrameRow<'f>,
    known: &mut Known<'f>,
) -> Option<Wrong> {
    let of = |(code, written): Wrong, what: &str| (code, format!("{what}: {written}"));
    let mut judge = |expr: &'f [u8], site, needs| {
        if !known.expressions.insert((site, expr)) {
            return None;
        }
        let shape = shape::of(&[site.operations(), expr].concat(), encoding, &|_| None);
        expression(file, &shape)
            // An expression of a frame has no unit.
            .or_else(|| contexts::failure(file, expr, site, 0, encoding))
            .or_else(|| contexts::kind(file, "the result", &shape, needs))
    };
    let cfa = match row.cfa {
        CfaRule::Register { register, .. } if known.cfa.replace(register) != Some(register) => {
            unknown(file, register)
        }
        CfaRule::Expression(expr) => judge(expr, Site::FrameAddress, Needs::Address),
        _ => None,
    };
    if let Some(wrong) = cfa {
        return Some(of(wrong, "the rule of the canonical frame address"));
    }
    row.rules.iter().find_map(|&(register, rule)| {
        let wrong = match rule {
            Rule::Register(other) => unknown(file, other),
            Rule::Expression(expr) => judge(expr, Site::Rule, Needs::Anything),
            Rule::ValExpression(expr) => judge(expr, Site::ValueRule, Needs::Anything),
            _ => None,
        };
        wrong.map(|wrong| of(wrong, &format!("the rule of {}", file.name(register))))
    })
}

/// Returns the finding about an expression that no machine of the target can evaluate.
pub(super) fn expression(file: &File<'_, '_>, shape: &Shape) -> Option<Wrong> {
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
