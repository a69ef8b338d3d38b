//! The promise: the registers that an instruction writes are those that LLVM's disassembler prints as its destinations,
//! and its length is the same. An opcode that is not in the table has unknown destinations.

#[path = "common/tools.rs"]
#[allow(dead_code, reason = "this test uses a part")]
mod tools;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use eitri::read::Object;
use eitri::target::code::{InstructionSet, RegisterKind};
use eitri::target::{Target, Wave};
use tools::Tool;

/// Objects for AMD GPUs in the tests, and in the folder that the variable `EITRI_OBJECTS` names.
fn objects() -> Vec<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/objects");
    let mut folders = vec![own];
    folders.extend(std::env::var_os("EITRI_OBJECTS").map(PathBuf::from));
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path())
        {
            match entry.extension().and_then(|end| end.to_str()) {
                _ if entry.is_dir() => folders.push(entry),
                Some("hsaco" | "o") => files.push(entry),
                _ => {}
            }
        }
    }
    files.sort();
    files
}

/// The operands of these are all sources.
fn has_no_destination(name: &str) -> bool {
    let starts = [
        "s_cmp",
        "s_bitcmp",
        "s_waitcnt",
        "s_branch",
        "s_cbranch",
        "s_endpgm",
        "s_barrier",
        "s_nop",
        "s_setpc",
        "s_setreg",
        "s_sleep",
        "s_clause",
        "s_delay_alu",
        "s_inst_prefetch",
        "s_code_end",
        "s_sendmsg",
        "s_setprio",
        "s_dcache",
        "s_set_",
        "s_trap",
        "s_sethalt",
        "s_icache",
        "ds_write",
        "ds_store",
        "exp",
        "buffer_wb",
        "buffer_inv",
        "buffer_gl",
        "v_nop",
        "s_wait_idle",
        "s_round",
        "s_denorm",
        "s_version",
        "s_endpgm",
    ];
    starts.iter().any(|start| name.starts_with(start)) || name.contains("_store_")
}

/// Registers of a printed operand, as kind, first and count.
fn register(text: &str) -> Option<(RegisterKind, u16, u16)> {
    let text = text.trim().trim_end_matches(".l").trim_end_matches(".h");
    match text {
        "vcc" => return Some((RegisterKind::Scalar, 106, 2)),
        "vcc_lo" => return Some((RegisterKind::Scalar, 106, 1)),
        "vcc_hi" => return Some((RegisterKind::Scalar, 107, 1)),
        "exec" => return Some((RegisterKind::Scalar, 126, 2)),
        "exec_lo" => return Some((RegisterKind::Scalar, 126, 1)),
        "exec_hi" => return Some((RegisterKind::Scalar, 127, 1)),
        "flat_scratch" => return Some((RegisterKind::Scalar, 102, 2)),
        "flat_scratch_lo" => return Some((RegisterKind::Scalar, 102, 1)),
        "flat_scratch_hi" => return Some((RegisterKind::Scalar, 103, 1)),
        _ => {}
    }
    let kind = match text.as_bytes().first()? {
        b's' => RegisterKind::Scalar,
        b'v' => RegisterKind::Vector,
        b'a' => RegisterKind::Accumulator,
        _ => return None,
    };
    let rest = &text[1..];
    if let Ok(number) = rest.parse() {
        return Some((kind, number, 1));
    }
    let (first, last) = rest.strip_prefix('[')?.strip_suffix(']')?.split_once(':')?;
    let (first, last): (u16, u16) = (first.parse().ok()?, last.parse().ok()?);
    Some((kind, first, last - first + 1))
}

/// Destinations of a printed instruction.
fn printed(gfx: &str, name: &str, operands: &str) -> Vec<(RegisterKind, u16, u16)> {
    if let Some((x, y)) = operands.split_once("::") {
        let (other, operands) = y.trim().split_once(' ').expect("an instruction");
        return [printed(gfx, name, x), printed(gfx, other, operands)].concat();
    }
    // From gfx10 on, these write `exec` alone.
    let is_to_exec = name.starts_with("v_cmpx") && !gfx.starts_with("gfx9");
    if has_no_destination(name) || is_to_exec {
        return Vec::new();
    }
    // An atomic operation has a destination only if it returns the old value.
    if name.contains("_atomic_") && !operands.contains("glc") && !operands.contains("sc0") {
        return Vec::new();
    }
    if name.starts_with("ds_")
        && !["rtn", "read", "load", "permute", "swizzle", "append", "consume"]
            .iter()
            .any(|part| name.contains(part))
    {
        return Vec::new();
    }
    let operands: Vec<&str> = operands.split(',').collect();
    let has_mask =
        ["v_div_scale", "v_mad_u64_u32", "v_mad_i64_i32"].iter().any(|start| name.starts_with(start))
            || name.starts_with("v_") && name.contains("_co_")
            || ["v_addc_u32", "v_subb_u32", "v_subbrev_u32"].iter().any(|start| name.starts_with(start));
    let count = if has_mask { 2 } else { 1 };
    operands.iter().take(count).filter_map(|operand| register(operand)).collect()
}

/// Registers that an instruction writes without printing them as a destination.
fn is_implied(name: &str, register: (RegisterKind, u16, u16)) -> bool {
    let (kind, first, _) = register;
    kind == RegisterKind::Scalar
        && match first {
            126 => name.contains("exec") || name.starts_with("v_cmpx"),
            106 => name.starts_with("v_cmp"),
            _ => false,
        }
}

#[test]
fn destinations_are_those_of_the_disassembler() {
    const OBJDUMP: Tool = Tool::new("llvm-objdump-19", "llvm-19");
    let mut known = 0;
    let mut unknown = BTreeMap::<String, u32>::new();
    let mut wrong = Vec::new();
    for file in objects() {
        let bytes = std::fs::read(&file).expect("an object");
        let Ok(object) = Object::read(&bytes) else { continue };
        let Some(gfx) = object.gfx() else { continue };
        let wave = if Target::amdgpu(gfx, Wave::W32).is_ok() { Wave::W32 } else { Wave::W64 };
        let set = InstructionSet::of(gfx, wave).expect("gfx9 to gfx11");
        let Some(listing) = OBJDUMP.run(&[OsStr::new("-d"), file.as_os_str()]) else { return };
        for line in listing.out.lines() {
            let Some((text, comment)) = line.strip_prefix('\t').and_then(|line| line.split_once("//")) else {
                continue;
            };
            let Some((at, words)) = comment.trim().split_once(": ") else { continue };
            let words: Vec<u32> = words
                .split_whitespace()
                .map_while(|word| (word.len() == 8).then(|| u32::from_str_radix(word, 16).ok()).flatten())
                .collect();
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let (name, operands) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
            // Padding is printed as a number of instructions, or data.
            if words.is_empty() || name.starts_with('.') {
                continue;
            }
            let place = format!("{}: {at}: {text}", file.display());
            let Some(found) = set.decode(&bytes) else {
                wrong.push(format!("{place}: not decoded"));
                continue;
            };
            if usize::from(found.bytes) != bytes.len() {
                wrong.push(format!("{place}: {} bytes", found.bytes));
            }
            // Newer processors spell some names with more underscores.
            if let Some(found) =
                found.name.filter(|found| !name.replace('_', "").starts_with(&found.replace('_', "")))
            {
                wrong.push(format!("{place}: name {found}"));
            }
            let Some(writes) = found.writes else {
                *unknown.entry(format!("{} {name}", gfx.name())).or_default() += 1;
                continue;
            };
            known += 1;
            let mut writes: Vec<_> = writes.iter().map(|one| (one.kind, one.first, one.count)).collect();
            let mut expected = printed(gfx.name(), name, operands);
            // Null and M0 are not registers of the program.
            writes.retain(|one| !(one.0 == RegisterKind::Scalar && matches!(one.1, 124 | 125)));
            let missing: Vec<_> = expected.iter().filter(|one| !writes.contains(one)).copied().collect();
            expected.retain(|one| writes.contains(one));
            let more: Vec<_> =
                writes.iter().filter(|one| !expected.contains(one) && !is_implied(name, **one)).collect();
            if !missing.is_empty() || !more.is_empty() {
                wrong.push(format!("{place}: missing {missing:?}, more {more:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
    assert!(known > 5_000, "{known}");
    let count: u32 = unknown.values().sum();
    assert!(count * 100 < known, "{count} of {known} are not known: {unknown:?}");
}
