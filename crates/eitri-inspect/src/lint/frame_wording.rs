//! Rules of frames in words.

use eitri_dwarf::op::{Encoding, Reg, text};
use eitri_dwarf::read::{CfaRule, RegisterRule};
use eitri_dwarf::target::Target;

/// Names of registers, and encoding of expressions, in the words for rules.
pub(crate) struct RuleWording<'a> {
    pub(crate) target: Option<&'a Target>,
    pub(crate) encoding: Encoding,
}

impl RuleWording<'_> {
    pub(crate) fn register(&self, reg: Reg) -> String {
        let known = self.target.and_then(|target| target.register(reg));
        known.map_or_else(|| format!("register {}", reg.0), |known| known.name().to_string())
    }

    /// Describes the rule of the canonical frame address.
    pub(crate) fn cfa(&self, rule: CfaRule<'_>) -> String {
        match rule {
            CfaRule::Unset => "no rule".into(),
            CfaRule::Register { register, offset, .. } => format!("{}{offset:+}", self.register(register)),
            CfaRule::Expression(expr) => text::print(expr, self.encoding, self.target),
        }
    }

    /// Describes the rule of a register.
    pub(crate) fn rule(&self, rule: RegisterRule<'_>) -> String {
        match rule {
            RegisterRule::Undefined => "undefined".into(),
            RegisterRule::SameValue => "unchanged".into(),
            RegisterRule::Offset(offset) => format!("stored at the canonical frame address{offset:+}"),
            RegisterRule::ValOffset(offset) => format!("the canonical frame address{offset:+}"),
            RegisterRule::Register(from) => format!("in {}", self.register(from)),
            RegisterRule::Expression(expr) => {
                format!("stored at {}", text::print(expr, self.encoding, self.target))
            }
            RegisterRule::ValExpression(expr) => text::print(expr, self.encoding, self.target),
        }
    }
}
