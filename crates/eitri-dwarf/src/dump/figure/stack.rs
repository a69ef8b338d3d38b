//! Draws the stack as boxes, its top above.

use core::fmt::Display;

use super::super::descriptions::{Descriptions, size};
use super::ruler::label_of_place;
use super::style::{
    BACKGROUND, BOX_GAP, BOX_PADDING, EDGES, FILLS, INK, LINE, MUTED, RULE, SMALL, STACK_WIDTH, TEXT, TOP,
};
use super::svg::{Svg, fit};
use crate::error::Count;
use crate::eval::{Element, SingleLocation, Storage};

/// Maximum number of boxes, and of lines in a box.
const MOST_BOXES: usize = 12;
const MOST_LINES: usize = 12;

/// A line in a box: text, and a coloured label.
struct Line {
    label: String,
    color: usize,
    text: String,
    is_muted: bool,
}

/// Draws a stack with its upper left corner at a point. Returns the vertical position at which the stack ends.
pub(super) fn draw(
    svg: &mut Svg,
    (x, mut y): (usize, usize),
    stack: &[Element],
    words: Descriptions<'_>,
) -> usize {
    if stack.is_empty() {
        svg.text((x, y + LINE - 4), "start", TEXT, MUTED, "(empty)");
        return y + LINE;
    }
    for (index, element) in stack.iter().rev().take(MOST_BOXES).enumerate() {
        let lines = lines(element, words);
        let height = lines.len() * LINE + 2 * BOX_PADDING;
        let is_top = index == 0;
        let (fill, stroke, thickness) = if is_top { (TOP, INK, 2) } else { (BACKGROUND, RULE, 1) };
        let style: [(&str, &dyn Display); 5] = [
            ("class", &if is_top { "top" } else { "element" }),
            ("rx", &3),
            ("fill", &fill),
            ("stroke", &stroke),
            ("stroke-width", &thickness),
        ];
        svg.rect((x, y), (STACK_WIDTH, height), &style);
        for (number, line) in lines.iter().enumerate() {
            let middle = y + BOX_PADDING + number * LINE;
            let mut left = x + 8;
            if !line.label.is_empty() {
                let badge: [(&str, &dyn Display); 3] =
                    [("rx", &2), ("fill", &FILLS[line.color]), ("stroke", &EDGES[line.color])];
                svg.rect((left, middle + 2), (18, LINE - 4), &badge);
                svg.bold((left + 9, middle + LINE - 6), "middle", SMALL, INK, &line.label);
                left += 26;
            }
            let text = fit(&line.text, TEXT, x + STACK_WIDTH - left - 6);
            svg.text(
                (left, middle + LINE - 5),
                "start",
                TEXT,
                if line.is_muted { MUTED } else { INK },
                &text,
            );
        }
        y += height + BOX_GAP;
    }
    if stack.len() > MOST_BOXES {
        let text = format!("… {} more", stack.len() - MOST_BOXES);
        svg.text((x, y + LINE - 4), "start", TEXT, MUTED, &text);
        y += LINE;
    }
    y
}

fn lines(element: &Element, words: Descriptions<'_>) -> Vec<Line> {
    let plain = |text: String| Line { label: String::new(), color: 0, text, is_muted: false };
    let muted = |text: String| Line { is_muted: true, ..plain(text) };
    let location = match element {
        Element::Value(value) => return vec![plain(value.to_string())],
        Element::Location(location) => location,
    };
    let Some(place) = location.single() else {
        let line = |(index, place): (usize, &SingleLocation)| Line {
            label: label_of_place(Some(index)),
            ..plain(words.place(place))
        };
        let mut places: Vec<&SingleLocation> = location.places().collect();
        // The ruler order.
        places.sort_unstable();
        return places.into_iter().enumerate().take(MOST_LINES).map(line).collect();
    };
    let Storage::Composite(composite) = &place.storage else { return vec![plain(words.place(place))] };
    let parts = composite.parts();
    let mut lines = Vec::new();
    if place.offset != 0 {
        lines.push(muted(format!("from {} on in", size(place.offset))));
    }
    lines.extend(parts.iter().enumerate().take(MOST_LINES).map(|(index, part)| Line {
        label: (index + 1).to_string(),
        color: index % FILLS.len(),
        ..plain(words.part(part))
    }));
    if parts.len() > MOST_LINES {
        lines.push(muted(format!("… {} in all", Count(parts.len(), "part"))));
    }
    if !composite.is_complete() {
        lines.push(muted("incomplete".into()));
    } else if parts.is_empty() {
        lines.push(muted("composite without parts".into()));
    }
    lines
}
