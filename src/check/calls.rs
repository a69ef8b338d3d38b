//! Calls and what they give to the callee: DWARF 5 section 3.4, and what GNU's tools write before.

use std::rc::Rc;

use gimli::{DwAt, DwTag, constants as dw};

use super::attributes::only;
use super::compare::{Compare, Origin};
use super::entries::{CALL_LINE, Children, flag};
use super::expressions::{Difference, Said};
use super::machine::Asked;
use super::report::Kind;
use super::words::{Hex, Words as _};
use crate::error::At;
use crate::lower::Whose;
use crate::model::{Argument, Call, CallId, FunctionId, LocId};
use crate::read::{Entry, Value};

/// The tags and attributes of calls: those of DWARF 5, or GNU's.
struct Words {
    call: DwTag,
    argument: DwTag,
    /// The pc after the call; where it is; both in one, in GNU's.
    return_pc: DwAt,
    pc: Option<DwAt>,
    callee: DwAt,
    target: DwAt,
    clobbered: DwAt,
    tail: DwAt,
    parameter: DwAt,
    value: DwAt,
    data_location: Option<DwAt>,
    data_value: DwAt,
}

const DWARF5: Words = Words {
    call: dw::DW_TAG_call_site,
    argument: dw::DW_TAG_call_site_parameter,
    return_pc: dw::DW_AT_call_return_pc,
    pc: Some(dw::DW_AT_call_pc),
    callee: dw::DW_AT_call_origin,
    target: dw::DW_AT_call_target,
    clobbered: dw::DW_AT_call_target_clobbered,
    tail: dw::DW_AT_call_tail_call,
    parameter: dw::DW_AT_call_parameter,
    value: dw::DW_AT_call_value,
    data_location: Some(dw::DW_AT_call_data_location),
    data_value: dw::DW_AT_call_data_value,
};

const GNU: Words = Words {
    call: DwTag(0x4109),
    argument: DwTag(0x410a),
    return_pc: dw::DW_AT_low_pc,
    pc: None,
    callee: dw::DW_AT_abstract_origin,
    target: DwAt(0x2113),
    clobbered: DwAt(0x2114),
    tail: DwAt(0x2115),
    parameter: dw::DW_AT_abstract_origin,
    value: DwAt(0x2111),
    data_location: None,
    data_value: DwAt(0x2112),
};

impl<'a, 'o> Compare<'a, 'o> {
    /// Whether calls are written as GNU's tools did before DWARF 5 had them.
    pub(super) fn has_gnu_calls(&self) -> bool {
        self.consumer.version < 5
    }

    fn words(&self) -> &'static Words {
        if self.has_gnu_calls() { &GNU } else { &DWARF5 }
    }

    fn at_call(&self, call: &Call) -> At {
        let pcs = call.pc.or(call.return_pc).map(|pc| pc..pc.saturating_add(1));
        At { pcs, ..self.module.at_scope(call.scope) }
    }

    /// A call in the code of a function: of several in a scope, those in the order of the module.
    pub(super) fn call(&mut self, id: CallId, function: FunctionId, children: &mut Children<'a, 'o>) {
        let words = self.words();
        let call = self.module.call(id);
        let at = self.at_call(call);
        let Some(found) = children.take(words.call, "", false) else {
            return self.find(Kind::MissingEntry, at, "a call", "none");
        };
        self.report.entries += 1;
        let of_call = [words.return_pc, words.callee, words.target, words.clobbered, words.tail];
        let is_allowed =
            |name: DwAt| of_call.contains(&name) || words.pc == Some(name) || CALL_LINE.contains(&name);
        if let Err((expected, found)) = only(found, is_allowed) {
            self.find(Kind::Attribute, at.clone(), expected, found);
        }
        match words.pc {
            Some(pc) => {
                self.pc(found, words.return_pc, Some(function), call.return_pc, &at);
                self.pc(found, pc, Some(function), call.pc, &at);
            }
            None => self.pc(found, words.return_pc, Some(function), call.return_pc.or(call.pc), &at),
        }
        let callee = call.callee.map_or(Origin::Nothing, Origin::Function);
        self.refers(found, words.callee, callee, &at);
        self.same(&at, &words.tail.words(), &call.is_tail, &flag(found, words.tail));
        self.source_line(found, &at, call.line, CALL_LINE);
        self.calls.push((id, found));
    }

    /// The expressions of a call, and its arguments.
    pub(super) fn call_expressions(&mut self, id: CallId, entry: Entry<'a, 'o>) {
        let words = self.words();
        let module = self.module;
        let call = module.call(id);
        let at = self.at_call(call);
        let Some(function) = module.function_of(call.scope) else { return };
        let pc = call.pc.or(call.return_pc).unwrap_or(0);
        let said = |loc, is_number| Said { function: Some(function), pc, loc, is_number };
        let mut left = self.left_out_of(Whose::Call(id));
        for (name, loc) in [(words.target, call.target), (words.clobbered, call.clobbered_target)] {
            match loc {
                None => {
                    let is_there = entry.attr(name).is_some();
                    self.same(&at, &name.words(), &false, &is_there);
                }
                Some(_) if left > 0 && entry.attr(name).is_none() => left -= 1,
                Some(loc) => self.said(said(loc, true), entry, name, &at),
            }
        }
        let mut found = entry.children().peekable();
        for argument in module.arguments(id) {
            let difference = match found.peek() {
                Some(&one) => self.argument(argument, one, &said, &at).err(),
                None => Some((Kind::MissingEntry, "an argument of a call".into(), "none".into())),
            };
            match difference {
                None => drop(found.next()),
                Some(_) if left > 0 => left -= 1,
                Some((kind, expected, text)) => {
                    self.find(kind, at.clone(), expected, text);
                    found.next();
                }
            }
        }
        for child in found {
            self.unexpected(child, at.clone());
        }
    }

    /// What is different in an argument.
    fn argument(
        &mut self,
        argument: &Argument,
        entry: Entry<'a, 'o>,
        said: &dyn Fn(LocId, bool) -> Said,
        at: &At,
    ) -> Result<(), Difference> {
        let words = self.words();
        if entry.tag() != words.argument || entry.children().next().is_some() {
            return Err((Kind::MissingEntry, format!("a {}", words.argument.words()), entry.words()));
        }
        let of_argument = [dw::DW_AT_location, words.parameter, words.value, words.data_value];
        only(entry, |name| of_argument.contains(&name) || words.data_location == Some(name))
            .map_err(|(expected, found)| (Kind::Attribute, expected, found))?;
        self.report.entries += 1;
        let told = [
            (Some(dw::DW_AT_location), Some(argument.location), false),
            (Some(words.value), argument.value, true),
            (words.data_location, argument.data_location, false),
            (Some(words.data_value), argument.data_value, true),
        ];
        let mut unproven = Vec::new();
        for (name, loc, is_number) in told {
            let Some(name) = name else { continue };
            match loc {
                Some(loc) => {
                    let said = said(loc, is_number);
                    unproven.push((self.same_expression(said, entry, name, &Asked::default())?, name));
                }
                None if entry.attr(name).is_some() => {
                    return Err((Kind::Attribute, format!("no {}", name.words()), entry.attr(name).words()));
                }
                None => {}
            }
        }
        let parameter = argument.parameter.and_then(|parameter| {
            let index = Rc::clone(&self.index);
            let function = self.module.function_of(self.module.variable(parameter).scope)?;
            let has_abstract = index.inlined[function] || self.module.function(function).address.is_none();
            if has_abstract { self.variable_origins[parameter] } else { self.variables[parameter] }
        });
        let found = entry.attr(words.parameter).map(|value| match value {
            Value::Reference(offset) => *offset,
            _ => u64::MAX,
        });
        if parameter != found {
            return Err((
                Kind::Attribute,
                format!("{} {}", words.parameter.words(), parameter.map(Hex).words()),
                found.map(Hex).words(),
            ));
        }
        for (obstacle, name) in unproven {
            self.unproven(obstacle, format!("{} of an argument", name.words()), at);
        }
        Ok(())
    }
}
