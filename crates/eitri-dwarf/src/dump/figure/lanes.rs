//! Lane chart for a wave: a column for each stop, a row for each lane.

use core::fmt::Display;
use std::collections::BTreeSet;

use super::super::lanes::{GROUP, LaneStop, Lanes, SourcePosition, Standing};
use super::style::{
    ACTIVE, BACKGROUND, BOX_GAP, CELL, EDGES, FILLS, GROUP_GAP, INK, LANE, LINE, MARGIN, MUTED, RULE, SMALL,
    STOP, TEXT, WRONG,
};
use super::svg::{Svg, width, wrap};

/// Column heading.
const AXES: &str = "pc, line";

/// Draws the positions of a wave's lanes as SVG: a column for each stop, a row for each lane, lane 0 at the top.
///
/// Active lanes are filled. Waiting lanes have an outline, and a colour and a letter for each location. Lanes without a
/// position are blank. The pc and the line are above each column, and the legend for the locations is below the chart.
///
/// The output is deterministic.
pub fn lane_chart(lanes: &Lanes) -> String {
    let title = lanes.title();
    let labels = labels(lanes);
    let widest = |texts: &[String], size| texts.iter().map(|text| width(text, size)).max().unwrap_or(0);
    let left = MARGIN + width(AXES, SMALL) + BOX_GAP;
    let legend = lanes.legend();
    let meanings: Vec<String> = legend.iter().map(|(_, meaning)| meaning.clone()).collect();
    let right = left + lanes.stops.len() * STOP;
    let page = [right, MARGIN + 2 * STOP + widest(&meanings, TEXT), MARGIN + width(&title, TEXT)];
    let page = page.into_iter().max().unwrap_or(0) + MARGIN;

    let mut svg = Svg::default();
    svg.bold((MARGIN, MARGIN + TEXT), "start", TEXT, INK, &title);
    let head = MARGIN + LINE + widest(&labels, SMALL) + 2 * BOX_GAP;
    let row = |lane: usize| head + BOX_GAP + lane * LANE + lane / GROUP * GROUP_GAP;
    svg.text((left - BOX_GAP, head), "end", SMALL, MUTED, AXES);
    for lane in 0..lanes.lanes as usize {
        let style: [(&str, &dyn Display); 3] = [("class", &"lane"), ("data-lane", &lane), ("fill", &CELL)];
        svg.rect((left, row(lane)), (right - left, LANE - 1), &style);
        if lane % GROUP == 0 {
            let name = if lane == 0 { "lane 0".into() } else { lane.to_string() };
            svg.text((left - BOX_GAP, row(lane) + SMALL - 1), "end", SMALL, MUTED, &name);
        }
    }
    let mut faults = Vec::new();
    for (index, (stop, label)) in lanes.stops.iter().zip(&labels).enumerate() {
        let x = left + index * STOP;
        let pc = format!("{:#x}", stop.pc);
        svg.within("g", &[("class", &"stop"), ("data-pc", &pc)], |svg| {
            let color = if stop.lanes.is_ok() { INK } else { WRONG };
            svg.upright((x + (STOP + SMALL) / 2 - 1, head), SMALL, color, label);
            match &stop.lanes {
                Ok(standing) => blocks(svg, lanes, standing, |lane| (x, row(lane))),
                Err(fault) => faults.push(format!("fault at {pc}: {fault}")),
            }
        });
    }
    // Draws lines between adjacent lanes that have the same status.
    let between = (1..lanes.lanes as usize).filter(|lane| lane % GROUP != 0);
    let between: Vec<String> = between.map(|lane| format!("M {left} {} H {right}", row(lane) - 1)).collect();
    let between = between.join(" ");
    svg.element("path", &[("d", &between), ("stroke", &BACKGROUND), ("stroke-opacity", &0.5)]);
    let mut y = row(lanes.lanes as usize) + MARGIN;
    for (standing, meaning) in legend {
        svg.within("g", &[("class", &"meaning")], |svg| {
            block(svg, lanes, standing, (MARGIN, y), 1);
            svg.text((MARGIN + STOP + BOX_GAP, y + SMALL), "start", TEXT, INK, &meaning);
        });
        y += LINE;
    }
    for line in faults.iter().flat_map(|fault| wrap(fault, TEXT, page - 2 * MARGIN)) {
        svg.text((MARGIN, y + SMALL), "start", TEXT, WRONG, &line);
        y += LINE;
    }
    svg.finish(page, y + MARGIN, &title, BACKGROUND)
}

/// Returns the stop labels: pc and line, with the file unless all lines are in a single file.
fn labels(lanes: &Lanes) -> Vec<String> {
    let files: BTreeSet<&str> = lanes.lines.values().map(|line| &*line.file).collect();
    let label = |stop: &LaneStop| match lanes.lines.get(&stop.pc) {
        None => format!("{:#x}", stop.pc),
        Some(SourcePosition { line, .. }) if files.len() == 1 => format!("{:#x} {line}", stop.pc),
        Some(SourcePosition { file, line }) => {
            format!("{:#x} {}:{line}", stop.pc, file.rsplit('/').next().unwrap_or(file))
        }
    };
    lanes.stops.iter().map(label).collect()
}

/// Draws the lanes at a stop: consecutive lanes in a group with the same status form a block.
fn blocks(svg: &mut Svg, lanes: &Lanes, standing: &[Standing], at: impl Fn(usize) -> (usize, usize)) {
    for (group, members) in standing.chunks(GROUP).enumerate() {
        let mut lane = group * GROUP;
        for alike in members.chunk_by(PartialEq::eq) {
            if alike[0] != Standing::Nowhere {
                block(svg, lanes, alike[0], at(lane), alike.len());
            }
            lane += alike.len();
        }
    }
}

/// Draws a block that is `high` lanes high.
fn block(svg: &mut Svg, lanes: &Lanes, standing: Standing, (x, y): (usize, usize), high: usize) {
    let (class, fill, edge) = match standing {
        Standing::Active => ("active", ACTIVE, ACTIVE),
        Standing::Nowhere => ("nowhere", CELL, RULE),
        Standing::Waits(pc) => {
            let place = lanes.places.partition_point(|&place| place < pc);
            // The first colour is reserved for active lanes.
            let color = 1 + place % (FILLS.len() - 1);
            ("waits", FILLS[color], EDGES[color])
        }
    };
    let style: [(&str, &dyn Display); 3] = [("class", &class), ("fill", &fill), ("stroke", &edge)];
    svg.rect((x + 1, y), (STOP - 2, high * LANE - 1), &style);
    if let Standing::Waits(_) = standing {
        let middle = y + (high - 1) / 2 * LANE;
        svg.bold((x + STOP / 2, middle + SMALL - 1), "middle", SMALL, INK, &lanes.mark(standing).to_string());
    }
}
