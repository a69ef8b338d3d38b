//! New contents of a section.

use super::image::{Image, unsupported};
use crate::error::{Count, ErrorKind, Named, Result};
use crate::near::nearest;

/// Replaces the contents of the only section with a name, and keeps everything else.
///
/// # Errors
/// The object has no such section, or several; the section is loaded in a linked object, where its contents cannot have
/// another size; the errors of [`attach`](super::attach) for an object that is malformed or not supported.
pub fn replace_contents(object: &[u8], name: &str, contents: Vec<u8>) -> Result<Vec<u8>> {
    let mut image = Image::parse(object)?;
    let mut named =
        (0..image.sections.len()).filter(|&index| *image.sections[index].name == *name.as_bytes());
    let index = named.next();
    let other = named.next();
    let Some(index) = index else {
        let names = image.sections.iter().map(|section| section.display_name().into_owned());
        let nearest = nearest(name, names.collect::<Vec<_>>());
        return Err(ErrorKind::UnknownName { kind: Named::Section, name: name.into(), nearest }.into());
    };
    if other.is_some() {
        return Err(ErrorKind::DuplicateName { kind: Named::Section, name: name.into() }.into());
    }
    let is_linked = image.is_linked();
    let section = &mut image.sections[index];
    if !section.has_contents() {
        return Err(unsupported("section has no contents").in_section(name));
    }
    if is_linked && section.is_loaded() {
        let old = section.contents.len();
        let new = contents.len();
        if old != new {
            let text = format!(
                "new contents have {}; expected {}, because the section is loaded",
                Count(new, "byte"),
                Count(old, "byte")
            );
            return Err(unsupported(text).in_section(name));
        }
        let start = section.header.sh_offset as usize;
        let mut bytes = object.to_vec();
        bytes[start..start + new].copy_from_slice(&contents);
        return Ok(bytes);
    }
    section.replace(contents);
    image.write()
}
