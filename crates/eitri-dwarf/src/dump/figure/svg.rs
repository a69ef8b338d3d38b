//! SVG writer.

use core::fmt::{Display, Write};

use super::style::{CHAR_TENTHS, FONT};

/// Writes an SVG document, element by element. Lengths are in whole pixels.
#[derive(Debug, Default)]
pub(super) struct Svg {
    out: String,
    depth: usize,
}

/// Escapes XML characters, and removes characters that XML forbids.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.chars().try_for_each(|char| match char {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '"' => f.write_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => Ok(()),
            char if char.is_control() => f.write_char(' '),
            char => f.write_char(char),
        })
    }
}

/// Returns a text's width in whole pixels, rounded up.
pub(super) fn width(text: &str, size: usize) -> usize {
    (text.chars().count() * size * CHAR_TENTHS).div_ceil(100)
}

/// Shortens a text with an ellipsis to at most `pixels` pixels.
pub(super) fn fit(text: &str, size: usize, pixels: usize) -> String {
    let most = (pixels * 100 / (size * CHAR_TENTHS)).max(1);
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain("…".chars()).collect()
}

/// Breaks a text into lines with at most `pixels` pixels, at blanks where possible.
pub(super) fn wrap(text: &str, size: usize, pixels: usize) -> Vec<String> {
    let most = (pixels * 100 / (size * CHAR_TENTHS)).max(1);
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let used = lines.last().map_or(0, |line| line.chars().count());
        if used > 0 && used + 1 + word.chars().count() > most {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.iter().map(|line| fit(line, size, pixels)).collect()
}

impl Svg {
    fn line_start(&mut self) {
        self.out.extend(core::iter::repeat_n(' ', self.depth * 2));
    }

    /// Writes an empty element with attributes.
    pub fn element(&mut self, name: &str, attributes: &[(&str, &dyn Display)]) {
        self.start(name, attributes);
        self.out.push_str("/>\n");
    }

    fn start(&mut self, name: &str, attributes: &[(&str, &dyn Display)]) {
        self.line_start();
        let _ = write!(self.out, "<{name}");
        for (key, value) in attributes {
            let _ = write!(self.out, " {key}=\"{}\"", Escaped(&value.to_string()));
        }
    }

    /// Writes an element with children.
    pub fn within(&mut self, name: &str, attributes: &[(&str, &dyn Display)], then: impl FnOnce(&mut Self)) {
        self.start(name, attributes);
        self.out.push_str(">\n");
        self.depth += 1;
        then(self);
        self.depth -= 1;
        self.line_start();
        let _ = writeln!(self.out, "</{name}>");
    }

    pub fn rect(
        &mut self,
        (x, y): (usize, usize),
        (width, height): (usize, usize),
        more: &[(&str, &dyn Display)],
    ) {
        let own: [(&str, &dyn Display); 4] = [("x", &x), ("y", &y), ("width", &width), ("height", &height)];
        self.element("rect", &[&own, more].concat());
    }

    /// Writes text at a point on its baseline; `anchor` is `start`, `middle` or `end`.
    pub fn text(&mut self, (x, y): (usize, usize), anchor: &str, size: usize, fill: &str, text: &str) {
        self.styled((x, y), anchor, size, fill, &[], text);
    }

    pub fn bold(&mut self, at: (usize, usize), anchor: &str, size: usize, fill: &str, text: &str) {
        self.styled(at, anchor, size, fill, &[("font-weight", &"bold")], text);
    }

    /// Writes upward text from a point on its baseline.
    pub fn upright(&mut self, (x, y): (usize, usize), size: usize, fill: &str, text: &str) {
        let turned = format!("rotate(-90 {x} {y})");
        self.styled((x, y), "start", size, fill, &[("transform", &turned)], text);
    }

    fn styled(
        &mut self,
        (x, y): (usize, usize),
        anchor: &str,
        size: usize,
        fill: &str,
        more: &[(&str, &dyn Display)],
        text: &str,
    ) {
        let mut attributes: Vec<(&str, &dyn Display)> = vec![("x", &x), ("y", &y)];
        if anchor != "start" {
            attributes.push(("text-anchor", &anchor));
        }
        attributes.extend([("font-size", &size as &dyn Display), ("fill", &fill)]);
        attributes.extend_from_slice(more);
        self.start("text", &attributes);
        let _ = writeln!(self.out, ">{}</text>", Escaped(text));
    }

    /// The document, with patterns and a background.
    pub fn finish(self, width: usize, height: usize, title: &str, background: &str) -> String {
        let mut page = Self::default();
        let view = format!("0 0 {width} {height}");
        let attributes: [(&str, &dyn Display); 6] = [
            ("xmlns", &"http://www.w3.org/2000/svg"),
            ("width", &width),
            ("height", &height),
            ("viewBox", &view),
            ("font-family", &FONT),
            ("xml:space", &"preserve"),
        ];
        page.within("svg", &attributes, |svg| {
            svg.line_start();
            let _ = writeln!(svg.out, "<title>{}</title>", Escaped(title));
            svg.rect((0, 0), (width, height), &[("fill", &background)]);
            svg.out.push_str(&self.out);
        });
        page.out
    }
}
