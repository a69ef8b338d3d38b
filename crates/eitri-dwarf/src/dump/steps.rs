//! Traces an evaluation step by step.
//!
//! ```text
//! depth  offset  operation  stack, top first  read
//!                           (empty)
//! 0      0x0     regx v3    > v3
//! 0      0x3     push_lane  > 0x5             lane: 5
//!                             v3
//! ```

use core::fmt;

use super::descriptions::Descriptions;
use super::watch::{Asked, Watched};
use crate::eval::{
    Body, Class, Context, Element, Evaluator, Fault, Location, LocationListEntry, Machine, Storage,
};
use crate::op::{Decoder, Encoder, Encoding, Op, text};
use crate::read::PcNotation;
use crate::target::Target;

/// Maximum number of recorded steps; later steps are counted.
const MOST_STEPS: usize = 1000;
/// Maximum total [`weight`] of the recorded stacks.
const MOST_KEPT: u64 = 1 << 20;
/// Maximum number of stack elements printed.
const MOST_ELEMENTS: usize = 32;

/// An executed operation.
#[derive(Debug, Clone)]
pub struct PrintedStep {
    /// Nesting depth of the expression: 0 for the evaluated expression; 1 for a location list's entry.
    pub depth: u32,
    /// Offset from the expression's start to the operation, in bytes.
    pub offset: usize,
    /// The operation as [text].
    pub operation: String,
    /// The stack after the operation, bottom first. If the expression has a separate stack, that stack.
    pub stack: Vec<Element>,
    /// Queries to the machine, with the answers.
    pub asked: Vec<Asked>,
    /// Number of bits in the previously topmost location that the operation uses, as a part or to read them.
    pub(super) takes: Option<u128>,
    /// Whether the operation reorders elements.
    pub(super) exchanges: bool,
}

/// A traced evaluation. Printed as a table.
#[derive(Debug, Clone)]
pub struct Steps<'t> {
    /// The evaluated expressions, as [text]; for a location list all entries, with their bounds.
    pub expressions: Vec<String>,
    /// The initial stack, bottom first.
    pub initial: Vec<Element>,
    /// The executed operations, in order: at most the first 1000, and fewer if their stacks are very large.
    pub steps: Vec<PrintedStep>,
    /// Number of steps that were not recorded.
    pub more: usize,
    /// Queries after the last successful operation, made by the operation that failed or by the conversion of the
    /// result.
    pub asked: Vec<Asked>,
    /// The evaluation's result.
    pub result: Result<Element, Fault>,
    pub(super) words: Descriptions<'t>,
}

/// Evaluates an attribute's value and records each step. Registers and spaces are printed with the target's names.
///
/// Expressions are evaluated as by [`Evaluator::traced`], location lists as by [`Evaluator::list_traced`].
///
/// ```
/// use eitri_dwarf::dump::steps;
/// use eitri_dwarf::eval::{Body, Context, Snapshot};
/// use eitri_dwarf::op::{Dialect, Encoding, text};
/// use eitri_dwarf::target::Target;
///
/// let target = Target::named("amdgpu-gfx1030-wave32")?;
/// let encoding = Encoding::new(8, Dialect::Llvm);
/// let expr = text::parse("regx v3; push_lane; lit4; mul; offset", encoding, Some(&target))?;
/// let mut machine = Snapshot::default();
/// (machine.lane, machine.lanes) = (Some(5), Some(32));
/// let context = Context::new(encoding, &target);
/// let run = steps(Body::Expression(expr.bytes()), &machine, &context, Some(&target));
/// assert_eq!(run.steps[1].operation, "push_lane");
/// assert!(run.to_string().ends_with("result: v3 + 20 bytes\n"));
/// # Ok::<(), eitri_dwarf::Error>(())
/// ```
pub fn steps<'t>(
    body: Body<'_>,
    machine: &dyn Machine,
    context: &Context<'_>,
    target: Option<&'t Target>,
) -> Steps<'t> {
    steps_in(body, machine, context, target, PcNotation::default())
}

/// Evaluates an attribute's value as [`steps`] does. Pcs are written as in an object.
pub fn steps_in<'t>(
    body: Body<'_>,
    machine: &dyn Machine,
    context: &Context<'_>,
    target: Option<&'t Target>,
    pcs: PcNotation<'t>,
) -> Steps<'t> {
    let words = Descriptions { target, pcs };
    let list = match body {
        Body::List(entries) => entries.to_vec(),
        Body::EncodedList(list) => {
            let entries = list.entries(context.encoding, |index| machine.debug_addr(context.unit, index));
            match entries.collect::<Result<Vec<_>, Fault>>() {
                Ok(entries) => entries,
                Err(fault) => return Steps::without(context, words, Err(fault)),
            }
        }
        Body::Expression(expr) => vec![LocationListEntry { bounds: None, expr: expr.into() }],
        Body::Constant(bytes) => {
            let location = Element::Location(Location::implicit(bytes));
            let result = finished(location, machine, context);
            return Steps::without(context, words, result);
        }
        Body::Nothing => {
            let result = finished(Element::Location(Location::undefined()), machine, context);
            return Steps::without(context, words, result);
        }
        Body::Unreadable => {
            let fault = Fault::new(Class::Evaluation, "the location cannot be read");
            return Steps::without(context, words, Err(fault));
        }
    };
    let is_list = !matches!(body, Body::Expression(_));
    let expressions: Vec<&[u8]> = list.iter().map(|entry| &*entry.expr).collect();
    let watched = Watched::new(machine);
    let mut steps = Vec::new();
    let mut more = 0;
    let mut kept = 0;
    let mut trace = |step: crate::eval::Step<'_>| {
        let asked = watched.take();
        kept += step.stack.iter().map(weight).sum::<u64>();
        if steps.len() == MOST_STEPS || kept > MOST_KEPT {
            more += 1;
            return;
        }
        let own = if step.depth == u32::from(is_list) { &expressions[..] } else { &[] };
        steps.push(PrintedStep {
            depth: step.depth,
            offset: step.offset,
            operation: operation(step.op, step.offset, own, context.encoding, target),
            stack: step.stack.to_vec(),
            asked,
            takes: match step.op {
                Op::Piece { bytes } => u128::from(bytes).checked_mul(8),
                Op::BitPiece { bits, offset: 0 } => Some(bits.into()),
                Op::Deref {} => Some(u128::from(context.encoding.address_bytes) * 8),
                Op::DerefSize { bytes } | Op::DerefType { bytes, .. } => Some(u128::from(bytes) * 8),
                _ => None,
            },
            exchanges: matches!(step.op, Op::Swap {} | Op::Rot {}),
        });
    };
    let mut evaluator = Evaluator::new();
    let result = if is_list {
        let result = evaluator.list_traced(&list, &watched, context, &mut trace);
        result.and_then(|location| finished(Element::Location(location), machine, context))
    } else {
        evaluator.traced(expressions[0], &watched, context, &mut trace)
    };
    let asked = watched.take();
    let initial = if is_list { Vec::new() } else { context.initial.to_vec() };
    let print = |entry: &LocationListEntry<'_>| {
        let expr = text::print(&entry.expr, context.encoding, target);
        match (is_list, entry.bounds) {
            (false, _) => expr,
            (true, None) => format!("default: {expr}"),
            (true, Some((start, end))) => format!("{}: {expr}", pcs.pcs(&(start..end))),
        }
    };
    let expressions = list.iter().map(print).collect();
    Steps { expressions, initial, steps, more, asked, result, words }
}

/// Returns an element's approximate memory: the number of simultaneous locations, or of 64-bit words in a value.
fn weight(element: &Element) -> u64 {
    match element {
        Element::Value(value) => 1 + value.ty().size() / 64,
        Element::Location(location) => location.places().count() as u64,
    }
}

/// Converts an element to the kind of result that the context requests.
fn finished(element: Element, machine: &dyn Machine, context: &Context<'_>) -> Result<Element, Fault> {
    Evaluator::new().evaluate(&[], machine, &Context { initial: &[element], ..*context })
}

/// Returns the operation as text, with the spelling in the given expressions if it occurs there.
fn operation(op: Op<'_>, offset: usize, of: &[&[u8]], encoding: Encoding, target: Option<&Target>) -> String {
    let spelled = of.iter().find_map(|expr| {
        let mut decoder = Decoder::new(expr, encoding);
        decoder.seek(offset);
        let decoded = decoder.next()?.ok()?;
        (decoded.op == op).then(|| &expr[offset..decoder.offset()])
    });
    let mut bytes = Vec::new();
    let bytes = spelled.unwrap_or_else(|| {
        Encoder::new(&mut bytes, encoding).op(op);
        &bytes
    });
    text::print(bytes, encoding, target)
}

impl<'t> Steps<'t> {
    /// A trace without operations, with the given result.
    fn without(context: &Context<'_>, words: Descriptions<'t>, result: Result<Element, Fault>) -> Self {
        Self {
            expressions: Vec::new(),
            initial: context.initial.to_vec(),
            steps: Vec::new(),
            more: 0,
            asked: Vec::new(),
            result,
            words,
        }
    }

    /// Returns each step's operation, the stack after it (top first) and the queries, as text.
    pub fn texts(&self) -> impl Iterator<Item = (&str, Vec<String>, Vec<String>)> {
        let words = self.words;
        self.steps.iter().map(move |step| {
            let stack =
                step.stack.iter().rev().take(MOST_ELEMENTS).map(|element| words.element(element)).collect();
            let asked = step.asked.iter().map(|query| words.asked(query)).collect();
            (&*step.operation, stack, asked)
        })
    }

    /// Returns the result as text, or the fault.
    pub fn result_text(&self) -> String {
        match &self.result {
            Ok(element) => self.words.element(element),
            Err(fault) => self.words.fault(fault),
        }
    }

    /// Returns the size in bits of the object at the topmost location after a step, if it is known. For a composite
    /// this is its remaining size. For any other location it is the size that the next operation on this stack position
    /// uses, to make a part or to read; if the location stays to the end, it is the size of the whole object, if that
    /// is given.
    pub fn bits_at(&self, step: usize, object: Option<u64>) -> Option<u128> {
        let top = self.steps.get(step)?.stack.last()?;
        Self::bits_of(top, self.wanted(step, object))
    }

    /// Returns the size in bits of the object at an element that is used with `wanted` bits.
    pub(super) fn bits_of(element: &Element, wanted: Option<u128>) -> Option<u128> {
        let Element::Location(location) = element else { return None };
        let left = location.remaining();
        if let Some(Storage::Composite(_)) = location.single().map(|place| &place.storage) {
            return left;
        }
        let bits = wanted?;
        Some(left.map_or(bits, |left| left.min(bits)))
    }

    /// Returns how many bits of the topmost element are used after a step: by the next operation that makes it a part
    /// or reads it; if the element stays to the end, the object's size.
    fn wanted(&self, step: usize, object: Option<u64>) -> Option<u128> {
        let PrintedStep { depth, ref stack, .. } = self.steps[step];
        let height = stack.len();
        let mut before = height;
        // Deeper steps belong to the calling operation.
        for next in self.steps[step + 1..].iter().filter(|next| next.depth <= depth) {
            if next.depth < depth {
                return object.map(Into::into);
            }
            if before == height && next.takes.is_some() {
                return next.takes;
            }
            if next.exchanges {
                return None;
            }
            before = next.stack.len();
            if before < height || matches!(next.stack[height - 1], Element::Value(_)) {
                return None;
            }
        }
        object.map(Into::into)
    }
}

impl fmt::Display for Steps<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.words;
        let stack = |stack: &[Element]| -> Vec<String> {
            let elements = stack.iter().rev().take(MOST_ELEMENTS);
            let mut lines: Vec<String> =
                elements.flat_map(|element| words.lines(element)).map(|line| format!("  {line}")).collect();
            if stack.len() > MOST_ELEMENTS {
                lines.push(format!("  … {} more", stack.len() - MOST_ELEMENTS));
            }
            match lines.first_mut() {
                Some(top) => top.replace_range(..1, ">"),
                None => lines.push("(empty)".into()),
            }
            lines
        };
        let asked =
            |queries: &[Asked]| -> Vec<String> { queries.iter().map(|query| words.asked(query)).collect() };
        let cell = |text: &str| vec![text.to_owned()];
        let mut rows = vec![["depth", "offset", "operation", "stack, top first", "read"].map(cell)];
        rows.push([cell(""), cell(""), cell(""), stack(&self.initial), Vec::new()]);
        for step in &self.steps {
            let operation =
                format!("{:width$}{}", "", step.operation, width = 2 * step.depth.min(8) as usize);
            rows.push([
                cell(&step.depth.to_string()),
                cell(&format!("{:#x}", step.offset)),
                vec![operation],
                stack(&step.stack),
                asked(&step.asked),
            ]);
        }
        if self.more > 0 {
            rows.push([cell(""), cell(""), cell(&format!("… {} more", self.more)), Vec::new(), Vec::new()]);
        }
        if !self.asked.is_empty() {
            let heading = if self.result.is_ok() { "(result)" } else { "(failed)" };
            rows.push([cell(""), cell(""), cell(heading), Vec::new(), asked(&self.asked)]);
        }
        table(f, &rows)?;
        match &self.result {
            Ok(element) => writeln!(f, "result: {}", words.lines(element).join("\n      ")),
            Err(fault) => writeln!(f, "fault: {}", words.fault(fault)),
        }
    }
}

/// Maximum column width, so that a single long text does not widen the table.
const WIDEST: usize = 60;

pub(super) fn table<const N: usize>(f: &mut fmt::Formatter<'_>, rows: &[[Vec<String>; N]]) -> fmt::Result {
    let width = |column: usize| {
        let lines = rows.iter().flat_map(|row| &row[column]);
        lines.map(|line| line.chars().count()).filter(|&width| width <= WIDEST).max().unwrap_or(0)
    };
    let widths: [usize; N] = core::array::from_fn(width);
    for row in rows {
        let height = row.iter().map(Vec::len).max().unwrap_or(0);
        for index in 0..height {
            let line = row.iter().zip(widths).fold(String::new(), |mut line, (cell, width)| {
                let text = cell.get(index).map_or("", String::as_str);
                line.push_str(text);
                let padding = (width + 2).saturating_sub(text.chars().count()).max(2);
                line.extend(core::iter::repeat_n(' ', padding));
                line
            });
            writeln!(f, "{}", line.trim_end())?;
        }
    }
    Ok(())
}
