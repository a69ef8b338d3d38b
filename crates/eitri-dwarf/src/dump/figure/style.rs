//! Figure sizes and colours. Lengths are in pixels.

/// Minimum page width; rulers can make the page wider.
pub(super) const WIDTH: usize = 960;
/// Page margin, and distance between columns.
pub(super) const MARGIN: usize = 16;

pub(super) const FONT: &str = "DejaVu Sans Mono, Menlo, Consolas, monospace";
/// Main and secondary text sizes.
pub(super) const TEXT: usize = 12;
pub(super) const SMALL: usize = 10;
/// Character width: in tenths of a pixel, for each pixel of text size.
pub(super) const CHAR_TENTHS: usize = 61;

/// Stack width.
pub(super) const STACK_WIDTH: usize = 330;
/// Height of a text line in a stack box.
pub(super) const LINE: usize = 18;
pub(super) const BOX_PADDING: usize = 5;
pub(super) const BOX_GAP: usize = 4;
/// Height of the panel heading with the operation.
pub(super) const HEADER: usize = 26;
/// Distance below a panel.
pub(super) const PANEL_GAP: usize = 14;

/// Bit and byte width on a ruler.
pub(super) const BIT: usize = 3;
pub(super) const BYTE: usize = 8 * BIT;
pub(super) const CELL_HEIGHT: usize = 24;
/// Width of hidden bytes on a ruler.
pub(super) const GAP: usize = 28;
/// Heights of the storage name and the part labels, above the cells.
pub(super) const NAME_HEIGHT: usize = 16;
pub(super) const MARK_HEIGHT: usize = 14;
/// Height of the numbered ticks below the cells.
pub(super) const TICK_HEIGHT: usize = 24;

/// Lane height and stop width in a chart, and gap between lane groups.
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

/// Fill colours: the first for objects without parts, then a colour for each part in turn. After Okabe and Ito, for
/// readers with colour vision deficiency, lightened because text is on top.
pub(super) const FILLS: [&str; 7] =
    ["#8cc5ee", "#f2c14e", "#5cc2a0", "#e89a63", "#dfa6c6", "#f3ea78", "#b3b9c0"];
/// Outline colours for the fills, in the same order.
pub(super) const EDGES: [&str; 7] =
    ["#0072b2", "#b57a00", "#00795a", "#b04a00", "#a34f80", "#9a8f00", "#4a5058"];
/// Colour for active lanes.
pub(super) const ACTIVE: &str = EDGES[0];
/// Outline for bytes that were read.
pub(super) const READ: &str = "#1a1a1a";
