//! Findings about the facts that locate a frame: a function's frame base, and its call frame rules.

use hashbrown::HashSet;

use super::contexts::{self, Needs, Wrong, expression, unknown};
use super::file::File;
use super::shape::{self, Shape};
use super::witness::Site;
use eitri_dwarf::op::{Encoding, Reg};
use eitri_dwarf::read::{CfaRule, FrameRow, RegisterRule};

/// Returns the finding about a frame base.
pub(super) fn frame_base(file: &File<'_, '_>, shape: &Shape) -> Option<Wrong> {
    expression(file, shape).or_else(|| contexts::kind(file, "the frame base", shape, Needs::Base))
}

/// Frame rules without a finding so far. A rule recurs in many rows, and is diagnosed once.
#[derive(Debug, Default)]
pub(super) struct Known<'f> {
    /// Canonical frame address register.
    cfa: Option<Reg>,
    expressions: HashSet<(Site, &'f [u8])>,
}

/// Returns the finding about a rule row.
pub(super) fn row<'f>(
    file: &File<'_, '_>,
    encoding: Encoding,
    row: &FrameRow<'f>,
    known: &mut Known<'f>,
) -> Option<Wrong> {
    let about = |(code, written): Wrong, subject: &str| (code, format!("{subject}: {written}"));
    let mut diagnoser = |expr: &'f [u8], site, needs| {
        if !known.expressions.insert((site, expr)) {
            return None;
        }
        let shape = shape::analyze(&[site.operations(), expr].concat(), encoding, &|_| None);
        expression(file, &shape)
            // A frame expression belongs to no unit.
            .or_else(|| contexts::failure(file, expr, site, 0, encoding))
            .or_else(|| contexts::kind(file, "the result", &shape, needs))
    };
    let cfa = match row.cfa {
        CfaRule::Register { register, .. } if known.cfa.replace(register) != Some(register) => {
            unknown(file, register)
        }
        CfaRule::Expression(expr) => diagnoser(expr, Site::FrameAddress, Needs::Address),
        _ => None,
    };
    if let Some(wrong) = cfa {
        return Some(about(wrong, "the rule for the canonical frame address"));
    }
    row.rules.iter().find_map(|&(register, rule)| {
        let wrong = match rule {
            RegisterRule::Register(other) => unknown(file, other),
            RegisterRule::Expression(expr) => diagnoser(expr, Site::Rule, Needs::Anything),
            RegisterRule::ValExpression(expr) => diagnoser(expr, Site::ValueRule, Needs::Anything),
            _ => None,
        };
        wrong.map(|wrong| about(wrong, &format!("the rule for {}", file.name(register))))
    })
}
