//! Files of line tables before DWARF 5: DWARF 3 section 6.2.4. Attached entries refer to them by number.

use super::bytes::{u16_at, u32_at};
use crate::error::{Count, Error, ErrorKind, Result};
use crate::op::read_uleb;
use object::Endianness;

const SECTION: &str = ".debug_line";

/// A file's directory and name. Without a directory, the file is in the compilation directory.
type SourceFile<'t> = (&'t [u8], &'t [u8]);

/// Refuses files of added line programs that the only existing program does not have under the same numbers.
///
/// # Errors
/// [`ErrorKind::BadArgument`] with the file; [`ErrorKind::Malformed`] or [`ErrorKind::Unsupported`] for a table that is
/// damaged, of another version or in the 64-bit format, and for several existing programs.
pub(super) fn compare(order: Endianness, existing: &[u8], added: &[u8]) -> Result<()> {
    let known = programs(order, existing)?;
    let [known] = &known[..] else {
        let count = Count(known.len(), "program");
        let what = format!("existing line table has {count}; expected one, to which the added entries refer");
        return Err(Error::new(ErrorKind::Unsupported(what)).in_section(SECTION));
    };
    for files in programs(order, added)? {
        for (number, file) in (1..).zip(&files) {
            let same = known.get(number - 1);
            if same != Some(file) {
                let text = |(directory, name): &SourceFile<'_>| {
                    format!("`{}` in `{}`", String::from_utf8_lossy(name), String::from_utf8_lossy(directory))
                };
                let existing = same.map_or_else(|| "no such file".into(), text);
                let what = format!("file {number} is {}; the existing line table has {existing}", text(file));
                return Err(Error::bad_argument(what).in_section(SECTION));
            }
        }
    }
    Ok(())
}

/// Returns the files of each program.
fn programs(order: Endianness, bytes: &[u8]) -> Result<Vec<Vec<SourceFile<'_>>>> {
    let mut programs = Vec::new();
    let mut start = 0;
    while start < bytes.len() {
        let at = |error: Error| error.in_section(SECTION).at_offset(start as u64);
        let cut = || Error::from(ErrorKind::Truncated("a line program".into()));
        let length = bytes.get(start..start + 4).ok_or_else(cut).map_err(at)?;
        let length = u32_at(order, length, 0) as usize;
        let program = bytes[start + 4..].get(..length).ok_or_else(cut).map_err(at)?;
        programs.push(files(order, program).map_err(at)?);
        start += 4 + length;
    }
    Ok(programs)
}

/// Returns a program's files. `program` begins after its length.
fn files(order: Endianness, program: &[u8]) -> Result<Vec<SourceFile<'_>>> {
    /// Version, header length, and the fields up to the number of opcodes.
    const FIXED: usize = 11;
    let cut = || Error::from(ErrorKind::Truncated("the header of a line program".into()));
    let fixed = program.get(..FIXED).ok_or_else(cut)?;
    let version = u16_at(order, fixed, 0);
    if !matches!(version, 2 | 3) {
        let what = format!("line table of version {version}; expected 2 or 3");
        return Err(ErrorKind::Unsupported(what).into());
    }
    let header = 6 + u32_at(order, fixed, 2) as usize;
    let rest = program.get(..header).ok_or_else(cut)?;
    let opcodes = usize::from(fixed[FIXED - 1].max(1) - 1);
    let mut rest = rest.get(FIXED + opcodes..).ok_or_else(cut)?;
    let mut directories = vec![&[][..]];
    loop {
        match string(&mut rest).ok_or_else(cut)? {
            [] => break,
            directory => directories.push(directory),
        }
    }
    let mut files = Vec::new();
    loop {
        let name = match string(&mut rest).ok_or_else(cut)? {
            [] => return Ok(files),
            name => name,
        };
        // The directory; the time of the last change, and the size.
        let mut numbers = [0; 3];
        for number in &mut numbers {
            let (value, end) = read_uleb(rest, 0).ok_or_else(cut)?;
            *number = value;
            rest = &rest[end..];
        }
        let directory = usize::try_from(numbers[0]).ok().and_then(|index| directories.get(index));
        let directory = directory.ok_or_else(|| {
            Error::malformed(format!(
                "file {} is in directory {}, which is not listed",
                files.len() + 1,
                numbers[0]
            ))
        })?;
        files.push((*directory, name));
    }
}

/// Takes a string that ends with a zero byte.
fn string<'t>(rest: &mut &'t [u8]) -> Option<&'t [u8]> {
    let end = rest.iter().position(|byte| *byte == 0)?;
    let (text, after) = rest.split_at(end);
    *rest = &after[1..];
    Some(text)
}
