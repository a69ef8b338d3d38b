//! A picture of a kernel: the places of each variable by pc, and the lanes that run there.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::Compiled;
use crate::front::Source;
use crate::input::{Input, waves};
use crate::prove::{Place, Prover, with_debug_info};

/// Pixels: of a pc of 4 bytes, of a column, of a lane, and around all.
const ROW: usize = 6;
const COLUMN: usize = 18;
const LANE: usize = 5;
const MARGIN: usize = 12;
/// Pixels of names and of lines of the source.
const HEAD: usize = 130;
const TEXT: usize = 330;

/// Kinds of places, with their colours.
const KINDS: [(&str, &str); 5] = [
    ("scalar register", "#1f5fbf"),
    ("lane of a vector register", "#7a3fb0"),
    ("vector register", "#2b8a3e"),
    ("scratch memory", "#b3470b"),
    ("constant", "#868e96"),
];

fn kind(place: Place) -> usize {
    match place {
        Place::Scalar(_) => 0,
        Place::Lane(..) => 1,
        Place::Row(_) => 2,
        Place::Scratch(_) => 3,
        Place::Constant(_) => 4,
    }
}

/// Returns an SVG picture.
///
/// # Errors
/// Debug information that cannot be read.
pub fn draw(source: &Source, compiled: &Compiled<'_>) -> Result<String, String> {
    with_debug_info(compiled, |info| drawn(source, compiled, &Prover::new(source, compiled, info)?))
}

fn drawn(source: &Source, compiled: &Compiled<'_>, prover: &Prover<'_>) -> Result<String, String> {
    let words = prover.program().instructions.len();
    let ran = lanes(source, compiled, prover)?;
    // One column for each component of a variable that has a place somewhere.
    let mut columns: BTreeMap<_, Vec<(usize, Vec<Place>)>> = BTreeMap::new();
    for word in 0..words {
        for (slot, places) in prover.claimed(word).chunk_by(|a, b| a.0 == b.0).map(|all| (all[0].0, all)) {
            columns.entry(slot).or_default().push((word, places.iter().map(|one| one.1).collect()));
        }
    }
    let width = 2 * MARGIN + TEXT + COLUMN * columns.len() + MARGIN + 32 * LANE;
    let height = 2 * MARGIN + HEAD + ROW * words + 24;
    let top = MARGIN + HEAD;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"DejaVu Sans Mono, Menlo, monospace\" font-size=\"9\">\n\
         <title>Places of the variables of {name}</title>\n<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n",
        name = escape(&source.name)
    );
    for (n, (name, colour)) in KINDS.iter().enumerate() {
        let y = MARGIN + 12 * n;
        _ = writeln!(
            out,
            "<rect x=\"{MARGIN}\" y=\"{y}\" width=\"9\" height=\"9\" fill=\"{colour}\"/>\
             <text x=\"{}\" y=\"{}\" fill=\"#1a1a1a\">{name}</text>",
            MARGIN + 14,
            y + 8
        );
    }
    // Lines of the source where statements begin.
    let mut last = (0, 0);
    for (pc, line) in prover.statements() {
        let y = top + ROW * pc as usize / 4;
        if line != last.0 && y >= last.1 + 10 {
            last = (line, y);
            let text = source.text.lines().nth(line as usize - 1).unwrap_or("").trim();
            let short: String = text.chars().take(46).collect();
            _ = writeln!(
                out,
                "<text x=\"{MARGIN}\" y=\"{}\" fill=\"#5f6368\">{line:>3} {}</text>\
                 <line x1=\"{}\" x2=\"{}\" y1=\"{y}\" y2=\"{y}\" stroke=\"#e4e6e9\"/>",
                y + 8,
                escape(&short),
                MARGIN + TEXT - 40,
                width - MARGIN
            );
        }
    }
    for (n, (slot, at)) in columns.iter().enumerate() {
        let x = MARGIN + TEXT + COLUMN * n;
        let name = escape(&prover.title(*slot));
        _ = writeln!(
            out,
            "<text x=\"{0}\" y=\"{1}\" fill=\"#1a1a1a\" transform=\"rotate(-60 {0} {1})\">{name}</text>",
            x + 6,
            top - 4
        );
        // Ranges with the same places are one rectangle for each place.
        for run in at.chunk_by(|a, b| a.0 + 1 == b.0 && a.1 == b.1) {
            let places = &run[0].1;
            let each = (COLUMN - 4) / places.len().min(COLUMN - 4);
            for (k, &place) in places.iter().enumerate().take((COLUMN - 4) / each.max(1)) {
                let y = top + ROW * run[0].0;
                let height = ROW * run.len();
                _ = writeln!(
                    out,
                    "<rect x=\"{}\" y=\"{y}\" width=\"{each}\" height=\"{height}\" fill=\"{}\"><title>{place:?}</title></rect>",
                    x + k * each,
                    KINDS[kind(place)].1
                );
            }
        }
    }
    let x = width - MARGIN - 32 * LANE;
    _ = writeln!(out, "<text x=\"{x}\" y=\"{}\" fill=\"#1a1a1a\">lanes 0 to 31</text>", top - 4);
    for (word, mask) in ran.iter().enumerate().filter(|(_, mask)| **mask != 0) {
        let mut lane = 0;
        while lane < 32 {
            let of = |lane: usize| mask >> lane & 1 == 1;
            let end = (lane..32).find(|&next| of(next) != of(lane)).unwrap_or(32);
            if of(lane) {
                _ = writeln!(
                    out,
                    "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{ROW}\" fill=\"#495057\"/>",
                    x + LANE * lane,
                    top + ROW * word,
                    LANE * (end - lane)
                );
            }
            lane = end;
        }
    }
    out += "</svg>\n";
    Ok(out)
}

/// The lanes of the first wave that run each instruction, in one run.
fn lanes(source: &Source, compiled: &Compiled<'_>, prover: &Prover<'_>) -> Result<Vec<u32>, String> {
    let program = prover.program();
    let mut ran = vec![0; program.instructions.len()];
    let mut shared = Input::random(source, compiled, 1).memory(source, compiled);
    let mut waves = waves(source, [0; 3], &mut shared);
    program.run(&mut waves, &mut shared, |n, wave, _| {
        let word = wave.pc as usize / 4;
        let words = program.instructions[word].as_ref().map_or(1, |one| one.words);
        ran[word..word + words].iter_mut().filter(|_| n == 0).for_each(|mask| *mask |= wave.exec);
        Ok(true)
    })?;
    Ok(ran)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
