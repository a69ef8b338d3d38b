//! Call frame information rows, as text: `7+16`, `offset(-8)`.

use core::fmt::{self, Display};
use core::str::FromStr;
use std::collections::BTreeMap;

use super::bytes::Hex;
use super::values::{Bytes, Column, Map, Offset, Parsed, objects};
use crate::read::{CfaRule, FrameRow, RegisterRule};

/// A row in an FDE's table: the rules for a pc range.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VectorRow {
    /// First pc, and the pc after the last.
    pub pcs: (u64, u64),
    /// Canonical frame address rule.
    pub cfa: RowCfa,
    /// Register rules, by DWARF number.
    pub rules: BTreeMap<u64, RowRule>,
}

/// Canonical frame address rule: DWARF 5 section 6.4.1.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RowCfa {
    /// Undefined by all instructions so far.
    Unset,
    /// A register's contents plus an offset.
    Register {
        /// The register's DWARF number.
        register: u64,
        /// Offset in bytes.
        offset: i64,
        /// Address space number; 0 is the default space.
        space: u64,
    },
    /// An expression's result.
    Expression(Vec<u8>),
}

/// Register rule: DWARF 5 section 6.4.1.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RowRule {
    /// The register cannot be recovered.
    Undefined,
    /// The register has not changed.
    SameValue,
    /// The register is saved at this offset in bytes from the canonical frame address.
    Offset(i64),
    /// The value is the canonical frame address plus this offset in bytes.
    ValOffset(i64),
    /// The register is saved in the register with this DWARF number.
    Register(u64),
    /// The register is saved at the expression's result.
    Expression(Vec<u8>),
    /// The value is the expression's result.
    ValExpression(Vec<u8>),
}

impl From<CfaRule<'_>> for RowCfa {
    fn from(rule: CfaRule<'_>) -> Self {
        match rule {
            CfaRule::Unset => Self::Unset,
            CfaRule::Register { register, offset, space } => {
                Self::Register { register: register.0, offset, space: space.unwrap_or(0) }
            }
            CfaRule::Expression(expr) => Self::Expression(expr.to_vec()),
        }
    }
}

impl From<RegisterRule<'_>> for RowRule {
    fn from(rule: RegisterRule<'_>) -> Self {
        match rule {
            RegisterRule::Undefined => Self::Undefined,
            RegisterRule::SameValue => Self::SameValue,
            RegisterRule::Offset(by) => Self::Offset(by),
            RegisterRule::ValOffset(by) => Self::ValOffset(by),
            RegisterRule::Register(from) => Self::Register(from.0),
            RegisterRule::Expression(expr) => Self::Expression(expr.to_vec()),
            RegisterRule::ValExpression(expr) => Self::ValExpression(expr.to_vec()),
        }
    }
}

impl VectorRow {
    /// Returns a row's part inside its FDE's code; `None` if that part is empty.
    pub(super) fn of(row: &FrameRow<'_>, code: (u64, u64)) -> Option<Self> {
        // The program may advance past the FDE's code; such a row applies to no pc.
        let pcs = (row.start.max(code.0), row.end.min(code.1));
        let rules = || row.rules.iter().map(|&(register, rule)| (register.0, rule.into())).collect();
        (pcs.0 < pcs.1).then(|| Self { pcs, cfa: row.cfa.into(), rules: rules() })
    }
}

/// Parses bytes, with or without blanks.
fn bytes(text: &str) -> Option<Vec<u8>> {
    Bytes::parse(text).map(|Bytes(bytes)| bytes)
}

/// Parses a byte distance; a positive number's sign is optional.
fn signed(text: &str) -> Option<i64> {
    text.bytes().last()?.is_ascii_digit().then(|| text.parse().ok())?
}

super::values::textual! {
    RowCfa: "^(none|expr [0-9a-fA-F ]*|([0-9]+|0x[0-9a-fA-F]+)[+-][0-9]+( space ([0-9]+|0x[0-9a-fA-F]+))?)$";
    RowRule: "^(undefined|same_value|(val_)?offset\\([+-]?[0-9]+\\)|register\\(([0-9]+|0x[0-9a-fA-F]+)\\)\
        |(val_)?expression\\([0-9a-fA-F ]*\\))$";
}

impl FromStr for RowCfa {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = || {
            if text == "none" {
                return Some(Self::Unset);
            }
            if let Some(expr) = text.strip_prefix("expr ") {
                return bytes(expr).map(Self::Expression);
            }
            let (place, space) = text.split_once(" space ").unwrap_or((text, "0"));
            let sign = place.find(['+', '-'])?;
            let Column(register) = place[..sign].parse().ok()?;
            let Column(space) = space.parse().ok()?;
            Some(Self::Register { register, offset: signed(&place[sign..])?, space })
        };
        parsed().ok_or_else(|| {
            format!("`{text}` is not a canonical frame address; expected `7+16`, `7-8`, `7+16 space 6`, `expr HEX` or `none`")
        })
    }
}

impl FromStr for RowRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = || {
            let Some((name, operand)) = text.split_once('(') else {
                return match text {
                    "undefined" => Some(Self::Undefined),
                    "same_value" => Some(Self::SameValue),
                    _ => None,
                };
            };
            let operand = operand.strip_suffix(')')?;
            match name {
                "offset" => signed(operand).map(Self::Offset),
                "val_offset" => signed(operand).map(Self::ValOffset),
                "register" => operand.parse().ok().map(|Column(register)| Self::Register(register)),
                "expression" => bytes(operand).map(Self::Expression),
                "val_expression" => bytes(operand).map(Self::ValExpression),
                _ => None,
            }
        };
        parsed().ok_or_else(|| {
            format!(
                "`{text}` is not a rule; expected `undefined`, `same_value`, `offset(-8)`, `val_offset(16)`, \
                 `register(3)`, `expression(HEX)` or `val_expression(HEX)`"
            )
        })
    }
}

impl Display for RowCfa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unset => f.write_str("none"),
            Self::Register { register, offset, space: 0 } => write!(f, "{register}{offset:+}"),
            Self::Register { register, offset, space } => write!(f, "{register}{offset:+} space {space}"),
            Self::Expression(expr) => write!(f, "expr {}", Hex(expr)),
        }
    }
}

impl Display for RowRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undefined => f.write_str("undefined"),
            Self::SameValue => f.write_str("same_value"),
            Self::Offset(by) => write!(f, "offset({by})"),
            Self::ValOffset(by) => write!(f, "val_offset({by})"),
            Self::Register(from) => write!(f, "register({from})"),
            Self::Expression(expr) => write!(f, "expression({})", Hex(expr)),
            Self::ValExpression(expr) => write!(f, "val_expression({})", Hex(expr)),
        }
    }
}

impl Display for VectorRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pcs: (start, end), cfa, rules } = self;
        write!(f, "{start:#x}..{end:#x}: {cfa}")?;
        rules.iter().try_for_each(|(register, rule)| write!(f, ", {register} {rule}"))
    }
}

objects! {
    "row"
    /// An element in `rows`.
    pub(super) struct RowText {
        pcs: (Parsed<Offset>, Parsed<Offset>),
        cfa: Parsed<RowCfa>,
        rules: Map<Column, Parsed<RowRule>>,
    }
}

impl RowText {
    /// Resolves the row, or describes the error.
    pub fn resolve(&self) -> Result<VectorRow, String> {
        let (Parsed(Offset(start)), Parsed(Offset(end))) = self.pcs;
        if start >= end {
            return Err(format!("row {start:#x}..{end:#x} is empty; expected a start before the end"));
        }
        let Map(rules) = &self.rules;
        let rule = |(register, rule): (&Column, &Option<Parsed<RowRule>>)| {
            let rule = rule.as_ref().ok_or_else(|| format!("register {} has no rule", register.0))?;
            Ok((register.0, rule.0.clone()))
        };
        Ok(VectorRow {
            pcs: (start, end),
            cfa: self.cfa.0.clone(),
            rules: rules.iter().map(rule).collect::<Result<_, String>>()?,
        })
    }
}
