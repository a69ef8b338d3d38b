//! Sizes and colours of figures, all in one place. Lengths are in pixels.

/// The width of the page, unless rulers need more.
pub(super) const WIDTH: usize = 960;
/// Around everything, and between columns.
pub(super) const MARGIN: usize = 16;

pub(super) const FONT: &str = "DejaVu Sans Mono, Menlo, Consolas, monospace";
/// The size of text, and of what stands beside it.
pub(super) const TEXT: usize = 12;
pub(super) const SMALL: usize = 10;
/// The width of a character, in tenths of a pixel for each pixel of the size of the text.
pub(super) const CHAR_TENTHS: usize = 61;

/// The stack.
pub(super) const STACK_WIDTH: usize = 330;
/// A line of text in a box of the stack.
pub(super) const LINE: usize = 18;
pub(super) const BOX_PADDING: usize = 5;
pub(super) const BOX_GAP: usize = 4;
/// The line above a panel that names the operation.
pub(super) const HEADER: usize = 26;
/// Under a panel.
pub(super) const PANEL_GAP: usize = 14;

/// A bit and a byte of a ruler.
pub(super) const BIT: usize = 3;
pub(super) const BYTE: usize = 8 * BIT;
pub(super) const CELL_HEIGHT: usize = 24;
/// Where a ruler leaves bytes out.
pub(super) const GAP: usize = 28;
/// Above the cells: the name of the storage; and what is filled.
pub(super) const NAME_HEIGHT: usize = 16;
pub(super) const MARK_HEIGHT: usize = 14;
/// Under the cells: ticks and their numbers.
pub(super) const TICK_HEIGHT: usize = 24;

/// A lane and a stop of a chart, and what is between groups of lanes.
pub(super) const LANE: usize = 12;
pub(super) const STOP: usize = 20;
pub(super) const GROUP_GAP: usize = 4;

pub(super) const BACKGROUND: &str = "#ffffff";
pub(super) const INK: &str = "#1a1a1a";
pub(super) const MUTED: &str = "#5f6368";
pub(super) const RULE: &str = "#c8ccd0";
pub(super) const CELL: &str = "#f7f8f9";
pub(super) const TOP: &str = "#fffbea";
pub(super) const WRONG: &str = "#a3302a";

/// Fills of what is denoted: the first where there are no parts, then of the parts in turn. After Okabe and Ito,
/// lightened so that text can be read on them: people who do not tell all colours can tell these.
pub(super) const FILLS: [&str; 7] =
    ["#8cc5ee", "#f2c14e", "#5cc2a0", "#e89a63", "#dfa6c6", "#f3ea78", "#b3b9c0"];
/// Lines around these, in the same order.
pub(super) const EDGES: [&str; 7] =
    ["#0072b2", "#b57a00", "#00795a", "#b04a00", "#a34f80", "#9a8f00", "#4a5058"];
/// Lanes that are active.
pub(super) const ACTIVE: &str = EDGES[0];
/// Around what was read.
pub(super) const READ: &str = "#1a1a1a";
