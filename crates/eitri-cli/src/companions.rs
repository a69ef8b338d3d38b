//! Files that hold an object's debug information, as gdb finds them: all of it, or the part that several objects share.

use std::path::{Path, PathBuf};

use eitri::Result;
use eitri::read::{Companions, Object};
use eitri::target::Target;

use super::containers::Inside;
use super::contents::Contents;
use super::output::say_line;

/// Folder in which a system installs debug information.
const SYSTEM: &str = "/usr/lib/debug";

/// An object with its debug information.
pub struct Described {
    /// Object name.
    pub name: String,
    /// Contents of the object, or of the file that holds its debug information.
    pub bytes: Contents,
    /// Contents of the supplementary file.
    pub supplementary: Option<Contents>,
}

impl Described {
    /// Reads the object, for a target that can have a machine unknown to the library.
    pub fn read(&self, target: Option<&Target>) -> Result<Object<'_>> {
        Object::read_with(&self.bytes, self.supplementary(), target)
    }

    /// Returns the supplementary file's contents.
    pub fn supplementary(&self) -> Option<&[u8]> {
        self.supplementary.as_deref()
    }
}

/// Returns an object with the contents of its supplementary file, and, if the object lacks debug information, of the
/// file that holds it. Lines on standard error name a file that is used, is missing, or belongs to different objects.
/// `file` is the object's path.
pub fn described(file: &Path, object: Inside) -> Described {
    let Inside { name, bytes } = object;
    // The object's reader reports the error.
    let Some(companions) = is_elf(&bytes).then(|| Companions::read(&bytes).ok()).flatten() else {
        return Described { name, bytes, supplementary: None };
    };
    if companions.has_debug_information {
        let supplementary = supplementary(file, &name, &companions);
        return Described { name, bytes, supplementary };
    }
    for path in places(file, &companions) {
        let Ok(found) = Contents::of_regular(&path) else { continue };
        if is_of(&found, &companions) {
            let shown = path.display();
            say_line(format_args!("note: {name}: the debug information is that of {shown}"));
            let own = Companions::read(&found).ok();
            let supplementary = own.and_then(|own| supplementary(&path, &name, &own));
            return Described { name, bytes: found, supplementary };
        }
    }
    if let Some((other, _)) = &companions.debug_link {
        say_line(format_args!(
            "note: {name}: the debug information is in the file `{other}`, which is not found"
        ));
    }
    Described { name, bytes, supplementary: None }
}

/// Returns the supplementary file for the object `name` in `file`, which has these bytes.
pub fn supplementary_file(file: &Path, name: &str, bytes: &[u8]) -> Option<Contents> {
    let companions = is_elf(bytes).then(|| Companions::read(bytes).ok()).flatten()?;
    supplementary(file, name, &companions)
}

/// Whether an object has debug information, or cannot be read, which its reader reports.
pub fn may_have_debug_information(bytes: &[u8]) -> bool {
    Companions::read(bytes).map_or(true, |companions| companions.has_debug_information)
}

/// Returns the supplementary file for the object `name`, whose debug information is in `file`.
fn supplementary(file: &Path, name: &str, companions: &Companions) -> Option<Contents> {
    let (other, id) = companions.supplementary.as_ref()?;
    // The name is absolute, or relative to the file. The file can be a symbolic link, so its real folder is tried too.
    let real = file.canonicalize().ok();
    let folders = [Some(file), real.as_deref()].into_iter().flatten().filter_map(Path::parent);
    let beside = folders.filter(|_| file.as_os_str() != "-").map(|folder| folder.join(other));
    let absolute = Some(PathBuf::from(other)).filter(|path| path.is_absolute());
    let mut refused = None;
    for path in absolute.into_iter().chain(beside).chain(of_build_id(id)) {
        let Ok(found) = Contents::of_regular(&path) else { continue };
        match Companions::read(&found).and_then(|read| companions.check_supplementary(&read)) {
            Ok(()) => return Some(found),
            Err(error) => drop(refused.get_or_insert_with(|| format!("{}: {error}", path.display()))),
        }
    }
    let why = refused.unwrap_or_else(|| "it is not found".into());
    say_line(format_args!(
        "note: {name}: the supplementary file `{other}`, which has names and entries of the object, is not read: {why}"
    ));
    None
}

/// Returns the path that a file with a build id has in the system's folder.
fn of_build_id(id: &[u8]) -> Option<PathBuf> {
    let [first, rest @ ..] = id else { return None };
    let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(Path::new(SYSTEM).join(format!(".build-id/{first:02x}/{rest}.debug")))
}

fn is_elf(bytes: &[u8]) -> bool {
    super::hints::is_elf(bytes)
}

/// Returns the paths at which the file can be: by its build id, beside the object, and in the system's folder.
fn places(file: &Path, companions: &Companions) -> Vec<PathBuf> {
    let mut places: Vec<_> = companions.build_id.as_deref().and_then(of_build_id).into_iter().collect();
    // A debug link is a file name without a folder. Standard input has no folder to search.
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

/// Whether a file belongs to the object: both have the same build id, or, if a build id is missing, the file has the
/// checksum in the object's debug link.
fn is_of(found: &Contents, companions: &Companions) -> bool {
    let Ok(other) = Companions::read(found) else { return false };
    other.has_debug_information
        && match (&companions.build_id, &other.build_id) {
            (Some(one), Some(other)) => one == other,
            _ => companions.debug_link.as_ref().is_some_and(|(_, sum)| crc32fast::hash(found) == *sum),
        }
}
