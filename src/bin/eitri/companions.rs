//! The file with the debug information of an object that lacks it, as gdb finds it.

use std::path::{Path, PathBuf};

use eitri::read::Companions;

use super::containers::Inside;
use super::contents::Contents;
use super::output::say_line;

/// Folder of debug information that a system installs.
const SYSTEM: &str = "/usr/lib/debug";

/// Returns an object with the contents of the file that has its debug information, if the object lacks it. Lines on
/// standard error name a file that is used, is missing, or is not read. `file` is the path of the object.
pub fn described(file: &Path, object: Inside) -> Inside {
    let Inside { name, bytes } = object;
    // The reader of the object reports the error.
    let Some(companions) = is_elf(&bytes).then(|| Companions::read(&bytes).ok()).flatten() else {
        return Inside { name, bytes };
    };
    if companions.has_debug_information {
        if let Some(other) = &companions.supplementary {
            say_line(format_args!(
                "note: {name}: the supplementary file `{other}` is not read: it has names and entries of the object"
            ));
        }
        return Inside { name, bytes };
    }
    for path in places(file, &companions) {
        let Ok(found) = Contents::of_regular(&path) else { continue };
        if is_of(&found, &companions) {
            let path = path.display();
            say_line(format_args!("note: {name}: the debug information is that of {path}"));
            return Inside { name, bytes: found };
        }
    }
    if let Some((other, _)) = &companions.debug_link {
        say_line(format_args!(
            "note: {name}: the debug information is in the file `{other}`, which is not found"
        ));
    }
    Inside { name, bytes }
}

fn is_elf(bytes: &[u8]) -> bool {
    super::hints::is_elf(bytes)
}

/// Returns the places of the file: by its build id, beside the object, and in the system's folder.
fn places(file: &Path, companions: &Companions) -> Vec<PathBuf> {
    let mut places = Vec::new();
    if let Some([first, rest @ ..]) = companions.build_id.as_deref() {
        let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
        places.push(Path::new(SYSTEM).join(format!(".build-id/{first:02x}/{rest}.debug")));
    }
    // The name is one without a folder. Standard input has no folder.
    let link = companions.debug_link.as_ref().and_then(|(link, _)| Path::new(link).file_name());
    let folder = file.parent().filter(|_| file.as_os_str() != "-");
    if let Some((link, folder)) = link.zip(folder) {
        places.extend([folder.join(link), folder.join(".debug").join(link)]);
        let whole = if folder.as_os_str().is_empty() { Path::new(".") } else { folder }.canonicalize().ok();
        let below = whole.as_deref().and_then(|whole| whole.strip_prefix("/").ok());
        places.extend(below.map(|below| Path::new(SYSTEM).join(below).join(link)));
    }
    places
}

/// Whether a file has the build id of the object, or else, if one of them has none, the sum that the object has for it.
fn is_of(found: &Contents, companions: &Companions) -> bool {
    let Ok(other) = Companions::read(found) else { return false };
    other.has_debug_information
        && match (&companions.build_id, &other.build_id) {
            (Some(one), Some(other)) => one == other,
            _ => companions.debug_link.as_ref().is_some_and(|(_, sum)| crc32fast::hash(found) == *sum),
        }
}
