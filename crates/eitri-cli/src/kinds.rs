//! Kinds of files that are not ELF objects: what a file is, by its first bytes, and what to do with it.

use std::path::Path;

use super::Failure;
use super::containers::file_name;

/// Kind of file that is no object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// Name, with an article.
    pub name: &'static str,
    /// The command for such a file, or the way to make an object from it.
    pub advice: &'static str,
}

/// Kind with the first bytes of its files.
type Row = (&'static [&'static [u8]], Kind);

const SPIRV: &str = "`eitri lint` diagnoses its debug instructions, `eitri check` validates them, and `eitri dump` prints them";
const BITCODE: &str = "no command reads it: `llc -filetype=obj` makes an object file";
const MACH_O: &str = "no command reads it: only ELF objects, and containers of ELF objects, are read";
const COFF: &str = MACH_O;

/// Kinds that their first bytes identify.
const BY_START: &[Row] = &[
    (&[b"\x03\x02\x23\x07", b"\x07\x23\x02\x03"], Kind { name: "a SPIR-V module", advice: SPIRV }),
    // LLVM's wrapper of bitcode has a magic number, too.
    (&[b"BC\xc0\xde", b"\xde\xc0\x17\x0b"], Kind { name: "LLVM bitcode", advice: BITCODE }),
    (&[b"; ModuleID", b"source_filename = "], Kind { name: "LLVM assembly", advice: BITCODE }),
    (
        &[b"\xfe\xed\xfa\xce", b"\xce\xfa\xed\xfe", b"\xfe\xed\xfa\xcf", b"\xcf\xfa\xed\xfe"],
        Kind { name: "a Mach-O file", advice: MACH_O },
    ),
    (&[b"\xca\xfe\xba\xbe", b"\xca\xfe\xba\xbf"], Kind { name: "a universal Mach-O file", advice: MACH_O }),
    (&[b"MZ"], Kind { name: "a PE file (COFF)", advice: COFF }),
    (&[b"Microsoft C/C++ MSF 7.00"], Kind { name: "a program database (PDB)", advice: COFF }),
    (&[b"\0asm"], Kind { name: "a WebAssembly module", advice: MACH_O }),
    (
        &[b"DXBC"],
        Kind {
            name: "a DXIL container",
            advice: "no command reads it: `dxc -spirv` makes a SPIR-V module, which `eitri check` takes",
        },
    ),
    (&[b"MTLB"], Kind { name: "a Metal library", advice: MACH_O }),
    (
        &[b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ"],
        Kind { name: "a compressed file", advice: "decompress it first" },
    ),
];

const DESCRIPTION: Kind = Kind {
    name: "a description or other JSON",
    advice: "`eitri emit` and `eitri check` take a description as the first argument",
};

const COFF_OBJECT: Kind = Kind { name: "a COFF object", advice: COFF };

impl Kind {
    /// Returns what a file is that begins with these bytes; `None` for an object, and if nothing tells.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let by_start =
            BY_START.iter().find(|(starts, _)| starts.iter().any(|start| bytes.starts_with(start)));
        if let Some((_, kind)) = by_start {
            return Some(*kind);
        }
        if is_coff(bytes) {
            return Some(COFF_OBJECT);
        }
        bytes.trim_ascii_start().starts_with(b"{").then_some(DESCRIPTION)
    }
}

/// Whether a COFF object begins with the bytes: a machine, sections, and no optional header, which only a linked file
/// has; or the header of an object with many sections. (PE format, sections "COFF File Header" and `/bigobj`.)
fn is_coff(bytes: &[u8]) -> bool {
    let half =
        |offset: usize| bytes.get(offset..offset + 2).map(|half| u16::from_le_bytes([half[0], half[1]]));
    let is_machine = |machine: Option<u16>| matches!(machine, Some(0x14c | 0x8664 | 0x1c4 | 0xaa64));
    let is_big = half(0) == Some(0) && half(2) == Some(0xffff) && is_machine(half(6));
    let is_plain = is_machine(half(0)) && half(2).is_some_and(|sections| sections > 0) && half(16) == Some(0);
    is_big || is_plain
}

/// Returns the failure for a file that is no object, if its first bytes tell what it is.
pub fn refused(file: &Path, name: &str, bytes: &[u8]) -> Option<Failure> {
    let kind = Kind::of(bytes)?;
    let name = if name.is_empty() { file_name(file) } else { name.to_owned() };
    Some(
        Failure::line(format_args!("{name}: this is {}; expected an ELF object", kind.name)).and(kind.advice),
    )
}
