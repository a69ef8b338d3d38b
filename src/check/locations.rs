//! Where variables are: what the model denotes against what the evaluator finds.

use super::compare::Compare;
use super::machine;
use super::report::{Finding, Kind};
use super::witness::{self, Fill, Stopped};
use crate::error::At;
use crate::eval::{self, Context, ImplicitBits, ImplicitPointer, Location, SingleLocation};
use crate::model::{FunctionId, LocId, NoMeaning, Span, Storage, VariableId};
use crate::op::{Encoder, text};
use crate::read::{Entry, Value};
use crate::target::{SpaceId, Target};

/// A location by its bits, in every place.
type Spans = Vec<eval::Span>;

impl<'a, 'o> Compare<'a, 'o> {
    /// Compares a variable's location at every witness.
    pub(super) fn location(&mut self, id: VariableId, entry: Entry<'a, 'o>, function: Option<FunctionId>) {
        let module = self.module;
        let start = function.map(|function| self.address(function).unwrap_or(0));
        let size = function.map_or(1, |function| module.function(function).bytes);
        let mut bounds: Vec<u64> =
            module.live(id).iter().flat_map(|live| [live.pcs().start, live.pcs().end]).collect();
        if let (Some(start), Some(entries)) = (start, self.lists.get(&entry.offset())) {
            let found: Vec<(u64, u64)> = entries.iter().filter_map(|entry| entry.bounds).collect();
            for &(first, end) in &found {
                bounds.extend([first.wrapping_sub(start), end.wrapping_sub(start)]);
                if first >= end || first < start || end > start.wrapping_add(size) {
                    let text = format!("{:#x}..{:#x}", first.wrapping_sub(start), end.wrapping_sub(start));
                    let expected = format!("a range in 0x0..{size:#x}");
                    self.find(Kind::Range, module.at_variable(id, None), expected, text);
                }
            }
        }
        let lanes = witness::lanes(&module.target);
        let mut is_unproven = false;
        for pc in witness::pcs(bounds, size) {
            for &lane in &lanes {
                for fill in Fill::ALL {
                    let witness = Witness { pc, start, lane, fill };
                    match self.at_witness(id, entry, function, witness) {
                        Ok(()) => self.report.locations += 1,
                        Err(Unproven::Raw) => is_unproven = true,
                        Err(Unproven::LeftOut) => {}
                        // One finding says enough of a variable at a pc.
                        Err(Unproven::Different(finding)) => {
                            let is_known = self
                                .report
                                .findings
                                .last()
                                .is_some_and(|last| last.at == finding.at && last.kind == finding.kind);
                            if !is_known {
                                self.report.findings.push(*finding);
                            }
                        }
                    }
                }
            }
        }
        if is_unproven {
            self.report.unproven.push((id, module.at_variable(id, None)));
        }
    }

    fn at_witness(
        &mut self,
        id: VariableId,
        entry: Entry<'a, 'o>,
        function: Option<FunctionId>,
        witness: Witness,
    ) -> Result<(), Unproven> {
        let module = self.module;
        let variable = module.variable(id);
        // Of something without a size, the first byte is compared.
        let bits = module.ty(variable.ty).bits().unwrap_or(8);
        let expected = self.expected(id, function, bits, witness);
        let found = self.found(entry, bits, function, witness, None);
        let may_be_left_out = self.may_be_left_out(id, witness);
        let at = || {
            let pcs = witness.start.map(|_| witness.pc..witness.pc + 1);
            At { pcs, ..module.at_variable(id, None) }
        };
        let mut finding = |kind, expected: String, found: String| {
            // Once more, to tell how it came about.
            let mut trace = Vec::new();
            let _ = self.found(entry, bits, function, witness, Some(&mut trace));
            let lane = (module.target.lanes() > 1).then_some(witness.lane);
            Unproven::Different(Box::new(Finding { kind, at: at(), lane, expected, found, trace }))
        };
        match (expected, found) {
            (Err(NoMeaning::Raw), _) => Err(Unproven::Raw),
            // Where the model's location lies outside of its storage, so must the object's.
            (Err(_), Err(_)) => Ok(()),
            (Err(why), Ok(found)) => Err(finding(Kind::Location, format!("nothing: {why}"), show(&found))),
            (Ok(expected), Err(fault)) => {
                if fault.is_none() && may_be_left_out {
                    return Err(Unproven::LeftOut);
                }
                let found = fault.map_or_else(|| "no location".into(), |fault| fault.to_string());
                Err(finding(Kind::Evaluation, show(&expected), found))
            }
            (Ok(expected), Ok(found)) if eval::same(&expected, &found) => Ok(()),
            (Ok(expected), Ok(found)) => {
                let is_nowhere = found.iter().all(|span| span.places.iter().all(is_undefined));
                if is_nowhere && may_be_left_out {
                    return Err(Unproven::LeftOut);
                }
                Err(finding(Kind::Location, show(&expected), show(&found)))
            }
        }
    }

    fn may_be_left_out(&self, id: VariableId, witness: Witness) -> bool {
        self.left_out
            .iter()
            .any(|one| one.variable == id && one.pcs.as_ref().is_none_or(|pcs| pcs.contains(&witness.pc)))
    }

    /// What the model says.
    fn expected(
        &self,
        id: VariableId,
        function: Option<FunctionId>,
        bits: u64,
        witness: Witness,
    ) -> Result<Spans, NoMeaning> {
        let module = self.module;
        let symbol = |name: &str| self.object.symbol_address(name);
        let contents = Stopped { fill: witness.fill, lane: Some(witness.lane), symbol: &symbol };
        let live =
            module.live(id).iter().filter(|live| live.pcs().contains(&witness.pc)).map(|live| live.loc);
        let places: Vec<LocId> = module.always(id).into_iter().chain(live).collect();
        let denoted: Result<Vec<Vec<Span>>, NoMeaning> =
            places.iter().map(|&loc| module.denote(function, loc, bits, &contents)).collect();
        let denoted = denoted?;
        if denoted.is_empty() {
            return Ok(vec![eval::Span { bits: bits.into(), places: vec![nowhere()] }]);
        }
        // Cut where any of the places is cut.
        let mut cuts: Vec<u64> = Vec::new();
        for spans in &denoted {
            let mut at = 0;
            cuts.extend(spans.iter().map(|span| {
                at += span.bits;
                at
            }));
        }
        cuts.sort_unstable();
        cuts.dedup();
        let mut from = 0;
        let mut all = Vec::new();
        for end in cuts {
            let mut places = Vec::new();
            for spans in &denoted {
                places.extend(self.place(spans, from, end - from));
            }
            places.sort_unstable();
            places.dedup();
            all.push(eval::Span { bits: (end - from).into(), places });
            from = end;
        }
        Ok(all)
    }

    /// The place of bits that lie in one of the spans.
    fn place(&self, spans: &[Span], mut from: u64, bits: u64) -> Option<SingleLocation> {
        let span = spans.iter().find(|span| {
            let is_it = from < span.bits;
            from = if is_it { from } else { from - span.bits };
            is_it
        })?;
        let target = &self.module.target;
        let offset = span.from + u128::from(from);
        let storage = match &span.storage {
            Storage::Register(reg) => {
                eval::Storage::Register { reg: *reg, frame: 0, bits: target.register(*reg)?.bits }
            }
            Storage::Memory(space, lane) => eval::Storage::Memory {
                space: *space,
                address_bits: target.space(*space)?.address_bits,
                lane: *lane,
            },
            Storage::Implicit(bytes) => {
                let mut moved = vec![0; bits.div_ceil(8) as usize];
                for index in 0..bits as usize {
                    let bit = from as usize + index;
                    moved[index / 8] |= (bytes[bit / 8] >> (bit % 8) & 1) << (index % 8);
                }
                let storage = eval::Storage::Implicit(ImplicitBits::new(&moved, bits));
                return Some(SingleLocation { storage, offset: 0 });
            }
            Storage::Pointer(variable, by) => eval::Storage::ImplicitPointer(ImplicitPointer {
                entry: *self.variables.get(variable)?,
                by: *by,
                space: SpaceId::DEFAULT,
                bits: u32::from(target.address_bytes()) * 8,
            }),
            Storage::Undefined => return Some(nowhere()),
        };
        Some(SingleLocation { storage, offset })
    }

    /// What the object says. `Err(None)` if it says nothing.
    fn found(
        &mut self,
        entry: Entry<'a, 'o>,
        bits: u64,
        function: Option<FunctionId>,
        witness: Witness,
        trace: Option<&mut Vec<String>>,
    ) -> Result<Spans, Option<eval::Fault>> {
        let target = &self.module.target;
        let unit = entry.unit();
        let machine = machine::Stopped {
            target,
            dwarf: self.dwarf,
            lists: &self.lists,
            fill: witness.fill,
            lane: (target.lanes() > 1).then_some(witness.lane),
            lanes: self.lanes(entry, function),
            pc: witness.start.map(|start| start.wrapping_add(witness.pc)),
        };
        let context = Context { unit: unit.offset, ..Context::new(unit.encoding, target) };
        let location = match entry.attr(gimli::DW_AT_location) {
            Some(Value::Expr(expr)) => match trace {
                None => self.evaluator.location(expr, &machine, &context).map_err(Some)?,
                Some(trace) => {
                    let mut step = |step: eval::Step<'_>| trace.push(told(&step, &context, target));
                    match self.evaluator.traced(expr, &machine, &context, &mut step).map_err(Some)? {
                        eval::Element::Location(location) => location,
                        eval::Element::Value(_) => return Err(None),
                    }
                }
            },
            Some(Value::LocList(_)) => {
                let entries = self.lists.get(&entry.offset()).ok_or(None)?;
                match trace {
                    None => self.evaluator.list(entries, &machine, &context).map_err(Some)?,
                    Some(trace) => {
                        let mut step = |step: eval::Step<'_>| trace.push(told(&step, &context, target));
                        self.evaluator.list_traced(entries, &machine, &context, &mut step).map_err(Some)?
                    }
                }
            }
            _ => match entry.attr(gimli::DW_AT_const_value) {
                Some(Value::Block(bytes)) => Location::implicit(bytes),
                Some(Value::Unsigned(value)) => Location::implicit(&value.to_le_bytes()),
                Some(Value::Signed(value)) => Location::implicit(&value.to_le_bytes()),
                _ => return Ok(vec![eval::Span { bits: bits.into(), places: vec![nowhere()] }]),
            },
        };
        eval::spans(&location, bits.into()).map_err(Some)
    }

    /// How many lanes the function's entry says it has. A consumer that is not told of lanes knows them.
    fn lanes(&self, entry: Entry<'a, 'o>, function: Option<FunctionId>) -> u64 {
        let lanes = u64::from(self.module.target.lanes());
        let (Some(attribute), Some(_)) = (self.consumer.lanes, function) else { return lanes };
        let subprogram = core::iter::successors(Some(entry), |entry| entry.parent())
            .find(|entry| entry.tag() == gimli::DW_TAG_subprogram);
        subprogram.and_then(|entry| entry.number(attribute)).unwrap_or(1)
    }
}

/// Where and when it is asked.
#[derive(Debug, Clone, Copy)]
struct Witness {
    /// Bytes from the start of the function.
    pc: u64,
    /// The address of the function; `None` outside of one.
    start: Option<u64>,
    lane: u32,
    fill: Fill,
}

/// Why a witness proves nothing.
enum Unproven {
    Raw,
    LeftOut,
    Different(Box<Finding>),
}

fn nowhere() -> SingleLocation {
    SingleLocation { storage: eval::Storage::Undefined, offset: 0 }
}

fn is_undefined(place: &SingleLocation) -> bool {
    place.storage == eval::Storage::Undefined
}

/// A step of an evaluation as text: the operation, and the stack after it.
fn told(step: &eval::Step<'_>, context: &Context<'_>, target: &Target) -> String {
    let mut bytes = Vec::new();
    Encoder::new(&mut bytes, context.encoding).op(step.op);
    let stack: Vec<String> = step.stack.iter().map(ToString::to_string).collect();
    let op = text::print(&bytes, context.encoding, Some(target));
    format!("{:#04x} {op} -> {}", step.offset, stack.join(", "))
}

/// Spans as text.
fn show(spans: &[eval::Span]) -> String {
    let places = |span: &eval::Span| {
        let places: Vec<String> =
            span.places.iter().map(|place| Location::from(place.clone()).to_string()).collect();
        places.join(" | ")
    };
    match spans {
        [span] => places(span),
        _ => {
            let parts: Vec<String> =
                spans.iter().map(|span| format!("{}/{}", places(span), span.bits)).collect();
            format!("[{}]", parts.join(", "))
        }
    }
}
