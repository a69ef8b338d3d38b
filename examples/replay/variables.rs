//! Variables with the pcs of their scopes, and their values.

use std::collections::BTreeMap;
use std::ops::Range;

use eitri::eval::{Body, Context, CurrentObject, DebugInfo, Evaluator, Machine, WithDebugInfo, read_bits};
use eitri::gimli::constants as dw;
use eitri::read::{Dwarf, Entry, ResolvedValue};
use eitri::target::Target;
use serde_json::{Map, Value, json};

use super::machine::{World, hex};

/// A variable, parameter or constant in code.
pub struct Variable<'r, 'o> {
    pub entry: Entry<'r, 'o>,
    pub name: String,
    /// Name of the innermost function or inlined call.
    pub function: String,
    /// Line of the declaration; 0 if it is not known.
    pub line: u64,
    pub bits: Option<u64>,
    /// Pcs of each scope around it, the innermost first.
    scopes: Vec<Vec<Range<u64>>>,
}

impl Variable<'_, '_> {
    pub fn is_in_scope(&self, pc: u64) -> bool {
        self.scopes.iter().all(|ranges| ranges.iter().any(|range| range.contains(&pc)))
    }

    /// Returns the expressions at a pc in hexadecimal, or which other kind of location there is.
    pub fn expression(&self, pc: u64) -> Value {
        match self.entry.attr(dw::DW_AT_location) {
            Some(ResolvedValue::Expr(expr)) => json!(hex(expr)),
            Some(_) => match self.entry.locations(dw::DW_AT_location) {
                Ok(Some(list)) => {
                    let here = list.iter().filter(|entry| entry.covers(pc));
                    let expressions: Vec<String> = here.map(|entry| hex(entry.expr)).collect();
                    if expressions.is_empty() { Value::Null } else { json!(expressions.join("|")) }
                }
                _ => json!("?"),
            },
            None if self.entry.attr(dw::DW_AT_const_value).is_some() => json!("const"),
            None => Value::Null,
        }
    }
}

/// Returns an entry as a variable, if it is one in code.
fn variable<'r, 'o>(entry: Entry<'r, 'o>) -> Option<Variable<'r, 'o>> {
    let is_variable =
        matches!(entry.tag(), dw::DW_TAG_variable | dw::DW_TAG_formal_parameter | dw::DW_TAG_constant);
    if !is_variable || entry.attr(dw::DW_AT_declaration).is_some() {
        return None;
    }
    let name = entry.name()?.into_owned();
    let mut scopes = Vec::new();
    let mut function = String::new();
    for scope in std::iter::successors(entry.parent(), |scope| scope.parent()) {
        let is_block = scope.tag() == dw::DW_TAG_lexical_block;
        match scope.tag() {
            dw::DW_TAG_subroutine_type => return None,
            dw::DW_TAG_subprogram
            | dw::DW_TAG_inlined_subroutine
            | dw::DW_TAG_lexical_block
            | dw::DW_TAG_entry_point => {}
            _ => continue,
        }
        if function.is_empty() && !is_block {
            function = scope.name().map(|name| name.into_owned()).unwrap_or_default();
        }
        let ranges = scope.ranges().unwrap_or_default();
        match (ranges.is_empty(), is_block) {
            (true, true) => {}
            (true, false) => return None,
            (false, _) => scopes.push(ranges),
        }
    }
    let line = entry.inherited(dw::DW_AT_decl_line).and_then(ResolvedValue::unsigned).unwrap_or(0);
    let bits = entry.ty().and_then(|ty| ty.size_bits());
    (!scopes.is_empty()).then_some(Variable { entry, name, function, line, bits, scopes })
}

pub fn variables<'r, 'o>(dwarf: &'r Dwarf<'o>) -> Vec<Variable<'r, 'o>> {
    dwarf.entries().filter_map(variable).collect()
}

/// Returns the variables in scope at a pc, by name. Of several with a name, the innermost count.
pub fn innermost<'v, 'r, 'o>(
    all: &'v [Variable<'r, 'o>],
    pc: u64,
) -> BTreeMap<&'v str, Vec<&'v Variable<'r, 'o>>> {
    let mut by_name: BTreeMap<&str, Vec<&Variable<'r, 'o>>> = BTreeMap::new();
    for variable in all.iter().filter(|variable| variable.is_in_scope(pc)) {
        let same = by_name.entry(&variable.name).or_default();
        let depth = same.first().map_or(0, |other| other.scopes.len());
        if variable.scopes.len() > depth {
            same.clear();
        }
        if variable.scopes.len() >= depth {
            same.push(variable);
        }
    }
    by_name
}

/// A variable's values by lane.
#[derive(Debug, Default)]
pub struct Answers {
    pub lanes: Map<String, Value>,
    has_failed: bool,
}

impl Answers {
    pub fn add(
        &mut self,
        lane: u64,
        variable: &Variable<'_, '_>,
        info: &DebugInfo<'_, '_>,
        world: &World,
        target: &Target,
    ) {
        let answer = self.answer(variable, info, world, target);
        self.lanes.insert(lane.to_string(), answer);
    }

    fn answer(
        &mut self,
        variable: &Variable<'_, '_>,
        info: &DebugInfo<'_, '_>,
        world: &World,
        target: &Target,
    ) -> Value {
        let context = context(variable, target, 0);
        let whole = WithDebugInfo::new(info, world, context);
        let body = info.body(variable.entry);
        if matches!(body, Body::Nothing) {
            return Value::Null;
        }
        let location = match Evaluator::new().variable_location(body, &whole, &context) {
            Ok(location) => location,
            Err(fault) => return self.failed(&fault.to_string()),
        };
        let bits = variable.bits.unwrap_or(0);
        if bits == 0 {
            return json!({"error": "no size", "at": location.to_string()});
        }
        match read_bits(&location, bits, &whole) {
            Err(fault) => self.failed(&fault.to_string()),
            Ok(read) if read.defined.iter().all(|byte| *byte == 0) => Value::Null,
            Ok(read) if read.defined.iter().all(|byte| *byte == 0xff) => json!({"bytes": hex(&read.bytes)}),
            Ok(read) => json!({"bytes": hex(&read.bytes), "defined": hex(&read.defined)}),
        }
    }

    /// The text of a variable's first failure at a step is enough.
    fn failed(&mut self, text: &str) -> Value {
        if std::mem::replace(&mut self.has_failed, true) {
            json!({"error": 1})
        } else {
            json!({"error": text})
        }
    }
}

/// Returns the context of a variable's location in a frame.
fn context<'t>(variable: &Variable<'_, '_>, target: &'t Target, frame: u32) -> Context<'t> {
    let unit = variable.entry.unit();
    Context::new(unit.encoding, target)
        .with_unit(unit.offset)
        .with_object(CurrentObject::Unspecified)
        .with_frame(frame)
}

/// Returns a variable's bytes in a frame, if all of them are defined.
pub fn value(
    variable: &Variable<'_, '_>,
    info: &DebugInfo<'_, '_>,
    machine: &dyn Machine,
    target: &Target,
    frame: u32,
    world: &World,
) -> Option<Vec<u8>> {
    let context = context(variable, target, frame);
    let whole = WithDebugInfo::new(info, machine, context);
    let body = info.body(variable.entry);
    if matches!(body, Body::Nothing) {
        return None;
    }
    let location = Evaluator::new().variable_location(body, &whole, &context).ok()?;
    let read = read_bits(&location, variable.bits?, world).ok()?;
    read.defined.iter().all(|byte| *byte == 0xff).then(|| read.bytes.to_vec())
}
