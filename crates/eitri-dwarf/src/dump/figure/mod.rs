//! Figures for an evaluation: a panel for each step, with the stack on the left and the storages on the right, as byte
//! rulers. Also the chart for a wave's lanes.

mod lanes;
mod panel;
mod ruler;
mod stack;
mod style;
mod svg;

use core::fmt::Display;
use core::ops::Range;

pub use self::lanes::lane_chart;
use self::panel::{Fill, Reading};
use self::ruler::{HEIGHT, Ruler, Shown};
use self::style::{
    BACKGROUND, CELL, HEADER, INK, LINE, MARGIN, MUTED, PANEL_GAP, RULE, SMALL, STACK_WIDTH, TEXT, WIDTH,
    WRONG,
};
use self::svg::{Svg, fit, wrap};
use super::steps::Steps;
use super::watch::Asked;
use crate::eval::machine::byte_order;
use crate::eval::{Architecture, Element, Machine, Storage};
use crate::target::ByteOrder;

/// Maximum number of panels.
const MOST_PANELS: usize = 60;
/// Maximum number of rulers in a panel.
const MOST_RULERS: usize = 12;

/// Draws an evaluation as SVG: a panel for each step, and a panel for the result.
///
/// The left side of a panel shows the stack, with its top above. The right side shows a byte ruler for each storage
/// that the topmost location is in, or that the step read. Denoted bits are filled. Composite parts have the same
/// colours and numbers as in the stack, and letters distinguish simultaneous locations. Bytes that were read have a
/// dashed outline. Undefined and implicit storage are hatched. Irrelevant bytes are omitted.
///
/// The filled size is the size for which the location is used: see [`Steps::bits_at`]. `bits` is the size of the
/// described object; if no size is known, only the start is marked. Bytes are labelled with their values in the
/// machine.
///
/// The output is deterministic.
pub fn figure(
    steps: &Steps<'_>,
    machine: &dyn Machine,
    target: &dyn Architecture,
    bits: Option<u64>,
) -> String {
    let panels = panels(steps, target, bits, byte_order(machine));
    let rulers = rulers(&panels);
    let widest = rulers.iter().map(|ruler| ruler.width).max().unwrap_or(0);
    let left = MARGIN + STACK_WIDTH + 2 * MARGIN;
    let width = WIDTH.max(left + widest + 2 * MARGIN);
    let mut svg = Svg::default();
    patterns(&mut svg);
    let mut y = MARGIN;
    for expression in &steps.expressions {
        for line in wrap(expression, TEXT, width - 2 * MARGIN) {
            y += LINE;
            svg.bold((MARGIN, y), "start", TEXT, INK, &line);
        }
    }
    y += MARGIN;
    for panel in &panels {
        let line: [(&str, &dyn Display); 5] =
            [("x1", &MARGIN), ("y1", &y), ("x2", &(width - MARGIN)), ("y2", &y), ("stroke", &RULE)];
        svg.element("line", &line);
        svg.within("g", &[("class", &"panel")], |svg| {
            svg.bold((MARGIN, y + 18), "start", TEXT, INK, &fit(&panel.title, TEXT, STACK_WIDTH));
            let read = fit(&panel.note, SMALL, width - left - MARGIN);
            svg.text((left, y + 18), "start", SMALL, MUTED, &read);
            y += HEADER;
            let mut bottom = match &panel.stack {
                Ok(stack) => stack::draw(svg, (MARGIN, y), stack, steps.words),
                Err(fault) => {
                    let mut y = y;
                    for line in wrap(fault, TEXT, width - 2 * MARGIN) {
                        y += LINE;
                        svg.text((MARGIN, y), "start", TEXT, WRONG, &line);
                    }
                    y
                }
            };
            let shown = Shown { fills: &panel.fills, readings: &panel.readings, starts: &panel.starts };
            let mut right = y;
            for ruler in rulers.iter().filter(|ruler| panel.touches(&ruler.storage)).take(MOST_RULERS) {
                ruler.draw(svg, (left, right), &shown, steps.words, machine);
                right += HEIGHT;
            }
            bottom = bottom.max(right);
            y = bottom + PANEL_GAP;
        });
    }
    let title = steps.expressions.join(" | ");
    svg.finish(width, y, &title, BACKGROUND)
}

/// Contents of a panel.
struct Panel {
    title: String,
    /// Describes the data that the step read.
    note: String,
    /// The stack, or the reason for its absence.
    stack: Result<Vec<Element>, String>,
    fills: Vec<Fill>,
    readings: Vec<Reading>,
    starts: Vec<(Storage, u128)>,
}

impl Panel {
    fn new(title: String, steps: &Steps<'_>, asked: &[Asked], target: &dyn Architecture) -> Self {
        let asked_words: Vec<String> = asked.iter().map(|query| steps.words.asked(query)).collect();
        let note = if asked.is_empty() { String::new() } else { format!("read  {}", asked_words.join("; ")) };
        let address_bits = |space| Some(target.space(space)?.address_bits);
        let readings = panel::readings(asked, |reg| target.register_bits(reg), address_bits);
        Self { title, note, stack: Ok(Vec::new()), fills: Vec::new(), readings, starts: Vec::new() }
    }

    /// The panel with a stack, whose topmost location has `bits` bits.
    fn with(mut self, stack: Vec<Element>, bits: Option<u128>, order: ByteOrder) -> Self {
        if let Some(top) = panel::top(&stack) {
            if let Some(bits) = bits {
                self.fills = panel::parts(top);
                self.fills.extend(panel::fills(top, bits, order));
            }
            self.starts = if bits.is_none() { panel::starts(top) } else { Vec::new() };
        }
        self.stack = Ok(stack);
        self
    }

    fn touches(&self, storage: &Storage) -> bool {
        self.touched().any(|(touched, _)| touched == storage)
    }

    /// Storages, each with the bytes that are filled or read.
    fn touched(&self) -> impl Iterator<Item = (&Storage, Range<u128>)> {
        let fills = self.fills.iter().map(|fill| {
            let end = fill.from.saturating_add(fill.bits).div_ceil(8);
            (&fill.storage, fill.from / 8..end)
        });
        let starts = self.starts.iter().map(|(storage, bit)| (storage, bit / 8..bit / 8 + 1));
        let read = self.readings.iter().map(|read| (&read.storage, read.from..read.from + read.bytes));
        fills.chain(starts).chain(read)
    }
}

fn panels(steps: &Steps<'_>, target: &dyn Architecture, bits: Option<u64>, order: ByteOrder) -> Vec<Panel> {
    let mut panels = Vec::new();
    if !steps.initial.is_empty() {
        panels.push(Panel::new("start".into(), steps, &[], target).with(steps.initial.clone(), None, order));
    }
    for (index, step) in steps.steps.iter().enumerate().take(MOST_PANELS) {
        let depth = "› ".repeat(step.depth.min(8) as usize);
        let title = format!("{}  {depth}{}", index + 1, step.operation);
        let panel = Panel::new(title, steps, &step.asked, target);
        panels.push(panel.with(step.stack.clone(), steps.bits_at(index, bits), order));
    }
    let more = steps.steps.len().saturating_sub(MOST_PANELS) + steps.more;
    // The last step often has only the result on its stack.
    let bits_of_result =
        steps.result.as_ref().ok().and_then(|element| Steps::bits_of(element, bits.map(Into::into)));
    if let (Some(last), Some(step), Ok(found)) = (panels.last_mut(), steps.steps.last(), &steps.result)
        && (more, step.depth, &step.stack[..]) == (0, 0, core::slice::from_ref(found))
        && steps.asked.is_empty()
        && steps.bits_at(steps.steps.len() - 1, bits) == bits_of_result
    {
        last.title.push_str("  (result)");
        return panels;
    }
    let rest = if more == 0 { String::new() } else { format!(" after {more} more steps") };
    panels.push(match &steps.result {
        Ok(element) => {
            let panel = Panel::new(format!("result{rest}"), steps, &steps.asked, target);
            panel.with(vec![element.clone()], bits_of_result, order)
        }
        Err(fault) => {
            let panel = Panel::new(format!("fault{rest}"), steps, &steps.asked, target);
            Panel { stack: Err(steps.words.fault(fault)), ..panel }
        }
    });
    panels
}

/// A ruler for each storage, in order of appearance, the same in all panels.
fn rulers(panels: &[Panel]) -> Vec<Ruler> {
    let mut touched: Vec<(&Storage, Vec<Range<u128>>)> = Vec::new();
    for (storage, bytes) in panels.iter().flat_map(Panel::touched) {
        match touched.iter_mut().find(|(known, _)| *known == storage) {
            Some((_, all)) => all.push(bytes),
            None => touched.push((storage, vec![bytes])),
        }
    }
    touched.into_iter().map(|(storage, bytes)| Ruler::new(storage.clone(), &bytes)).collect()
}

/// Patterns for undefined and implicit storage.
fn patterns(svg: &mut Svg) {
    let pattern = |svg: &mut Svg, id: &str, path: &str, color: &str| {
        let attributes: [(&str, &dyn Display); 4] =
            [("id", &id), ("width", &8), ("height", &8), ("patternUnits", &"userSpaceOnUse")];
        svg.within("pattern", &attributes, |svg| {
            svg.rect((0, 0), (8, 8), &[("fill", &CELL)]);
            svg.element("path", &[("d", &path), ("stroke", &color), ("stroke-width", &1)]);
        });
    };
    svg.within("defs", &[], |svg| {
        pattern(svg, "undefined", "M 0 8 L 8 0 M -2 2 L 2 -2 M 6 10 L 10 6", MUTED);
        pattern(svg, "implicit", "M 2 0 L 2 8 M 6 0 L 6 8", MUTED);
    });
}
