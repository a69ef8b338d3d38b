//! Numbers and values that something besides a variable has: what the model denotes against what the evaluator
//! finds, in machines that are stopped anywhere.

use gimli::constants as dw;

use super::ValueOf;
use crate::check::compare::Compare;
use crate::check::locations::Witness;
use crate::check::machine::{self, Asked};
use crate::check::places::{Spans, show};
use crate::check::report::{Kind, Obstacle, Unproven};
use crate::check::witness::{self, Fill};
use crate::check::words::Words;
use crate::error::At;
use crate::eval::{self, Context, Fault, Location};
use crate::lower::Whose;
use crate::model::NoMeaning;
use crate::read::Value;

impl<'a, 'o> Compare<'a, 'o> {
    /// Compares a value with that of an entry, wherever the machine is stopped.
    pub(super) fn value(&mut self, value: ValueOf<'a, 'o>, at: &At) {
        let places = [dw::DW_AT_const_value, dw::DW_AT_location];
        let names = value.attribute.as_ref().map_or(&places[..], core::slice::from_ref);
        let said = names.iter().filter(|&&name| value.entry.attr(name).is_some()).count();
        if said == 0 && self.untold.contains(&value.whose) {
            return;
        }
        if said != 1 {
            return self.find(
                Kind::Type,
                at.clone(),
                "one value",
                format!("{said} in {}", value.entry.words()),
            );
        }
        // What has no bits is all the same.
        let bits = value.bits.unwrap_or(8);
        if bits == 0 {
            return;
        }
        let asked = Asked::default();
        let (mut unproven, mut is_proven) = (None, false);
        for (index, &lane) in witness::lanes(&self.module.target).iter().enumerate() {
            // What did not ask for the lane is the same in all of them.
            if index > 0 && !asked.lane.get() {
                break;
            }
            for fill in Fill::ALL {
                let witness = Witness { pc: 0, start: None, lane, fill };
                let expected = match self.denoted(value, bits, witness, &asked) {
                    Ok(expected) => expected,
                    Err(NoMeaning::Raw) => {
                        unproven = Some(Obstacle::Raw);
                        continue;
                    }
                    // A value that the model cannot read cannot be compared.
                    Err(_) => continue,
                };
                let found = self.read_value(value, bits, witness, &asked);
                if found.as_ref().is_ok_and(|found| eval::same(&expected, found)) {
                    is_proven = true;
                    continue;
                }
                let found = match found {
                    Ok(found) => show(&found),
                    Err(fault) => fault.map_or_else(|| "no value".into(), |fault| fault.to_string()),
                };
                return self.find(Kind::Type, at.clone(), show(&expected), found);
            }
        }
        match unproven.or((!is_proven).then_some(Obstacle::Outside)) {
            None => self.report.locations += 1,
            Some(why) => {
                let variable = match value.whose {
                    Whose::Variable(id) => Some(id),
                    _ => None,
                };
                let what =
                    format!("{} `{}`", value.entry.tag().words(), value.entry.name().unwrap_or_default());
                self.report.unproven.push(Unproven { variable, at: at.clone(), what: Some(what), why });
            }
        }
    }

    /// What the model says.
    fn denoted(
        &self,
        value: ValueOf<'a, 'o>,
        bits: u64,
        witness: Witness,
        asked: &Asked,
    ) -> Result<Spans, NoMeaning> {
        let module = self.module;
        let scope = match value.whose {
            Whose::Lanes(scope) => scope,
            Whose::Type(id) => module.ty(id).scope(),
            Whose::Variable(id) => module.variable(id).scope,
            Whose::Function(id) | Whose::Frame(id, _) => module.function(id).scope,
            Whose::Call(id) => module.call(id).scope,
        };
        let symbol = |name: &str| Some(self.object.symbol(name)?.address);
        let contents = self.contents(witness, &symbol, asked);
        let spans = module.denote(module.function_of(scope), value.loc, bits, &contents)?;
        Ok(spans.iter().map(|span| self.span(span)).collect())
    }

    /// What the object says. `Err(None)` if it says nothing.
    fn read_value(
        &mut self,
        value: ValueOf<'a, 'o>,
        bits: u64,
        witness: Witness,
        asked: &Asked,
    ) -> Result<Spans, Option<Fault>> {
        let target = &self.module.target;
        let machine = machine::Stopped {
            target,
            info: &self.info,
            fill: witness.fill,
            lane: (target.lanes() > 1).then_some(witness.lane),
            lanes: target.lanes().into(),
            pc: None,
            load_bias: self.load_bias,
            asked,
            patch: None,
        };
        let entry = value.entry;
        let unit = entry.unit();
        let context = Context { unit: unit.offset, ..Context::new(unit.encoding, target) };
        let location = match value.attribute {
            Some(name) => {
                let Some(Value::Expr(expr)) = entry.attr(name) else { return Err(None) };
                let number = self.evaluator.value(expr, &machine, &context).map_err(Some)?;
                Location::implicit(&number.as_u64().ok_or(None)?.to_le_bytes())
            }
            None => match entry.attr(dw::DW_AT_location) {
                Some(Value::Expr(expr)) => self.evaluator.location(expr, &machine, &context).map_err(Some)?,
                Some(_) => return Err(None),
                None => Location::implicit(&self.const_value(entry).ok_or(None)?),
            },
        };
        eval::spans(&location, bits.into()).map_err(Some)
    }
}
