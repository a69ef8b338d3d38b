//! Names of debug sections.

use crate::emit::elf::CubinLayer;
use crate::read::Object;

pub(super) const INFO: &str = ".debug_info";
pub(super) const ABBREVIATIONS: &str = ".debug_abbrev";
pub(super) const LINES: &str = ".debug_line";
pub(super) const PTX_LINES: &str = ".nv_debug_line_sass";
pub(super) const FRAMES: &str = ".debug_frame";
pub(super) const LOCATIONS: &str = ".debug_loc";
pub(super) const RANGES: &str = ".debug_ranges";
pub(super) const STRINGS: &str = ".debug_str";
pub(super) const NAMES: &str = ".debug_pubnames";
pub(super) const TYPE_NAMES: &str = ".debug_pubtypes";
pub(super) const ADDRESS_RANGES: &str = ".debug_aranges";
/// ptxas writes a single zero.
pub(super) const MACROS: &str = ".debug_macinfo";

/// Returns the name that a section has in the file: that of a Mercury copy has a prefix.
pub(super) fn in_file(object: &Object<'_>, name: &str) -> String {
    let layer = if object.is_mercury() { CubinLayer::Copies } else { CubinLayer::Originals };
    layer.section_name(name)
}
