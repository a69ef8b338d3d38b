//! Line tables and frames of a cubin that stay, and their copies for nvlink. What cannot be read is refused: debuggers would
//! read it with the added sections, and nvlink copies it, or crashes.

use super::cubin::is_debug_name;
use super::frame_entry::FrameEntry;
use super::image::Image;
use super::line_ops::programs;
use super::mercury::PREFIX;
use crate::error::{Error, ErrorKind, Result};

/// Reads the debug sections that an image has left.
///
/// # Errors
/// [`ErrorKind::Malformed`], [`ErrorKind::Truncated`] or [`ErrorKind::Unsupported`] with section and offset.
pub(super) fn check(image: &Image<'_>) -> Result<()> {
    for section in image.sections.iter().filter(|section| !section.is_loaded()) {
        let name = section.name.strip_prefix(PREFIX.as_bytes()).unwrap_or(&section.name);
        if !is_debug_name(name) {
            continue;
        }
        let read = match name {
            b".debug_line" | b".nv_debug_line_sass" => lines(&section.contents),
            b".debug_frame" => frames(&section.contents),
            _ => Ok(()),
        };
        read.map_err(|error| error.in_section(&section.display_name()))?;
    }
    Ok(())
}

fn lines(bytes: &[u8]) -> Result<()> {
    for program in programs(bytes)? {
        program.files()?;
        let mut at = program.operations.start;
        while at < program.operations.end {
            at = program.operation(at)?.1;
        }
    }
    Ok(())
}

fn frames(bytes: &[u8]) -> Result<()> {
    let mut start = 0;
    while start < bytes.len() {
        let entry = FrameEntry::read(bytes, start).map_err(|error| error.at_offset(start as u64))?;
        match bytes.get(entry.address()) {
            Some(version) if entry.is_common(bytes) && !matches!(version, 1 | 3 | 4) => {
                let text = format!("common frame entry of version {version}; expected 1, 3 or 4");
                return Err(Error::from(ErrorKind::Unsupported(text)).at_offset(entry.address() as u64));
            }
            _ => start = entry.end,
        }
    }
    Ok(())
}
