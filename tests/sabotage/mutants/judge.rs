//! Facts of a mutant as LLVM's dumper prints them, and the reasons why other bytes can be the same facts.

use eitri::emit::Section;
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::target::Target;
use object::{Object, ObjectSection, ObjectSymbol};

use crate::common::tools::{Folder, Tool};

const DWARFDUMP: Tool = Tool::new("llvm-dwarfdump-19", "llvm-19");
const LLVM_OBJCOPY: Tool = Tool::new("llvm-objcopy-19", "llvm-19");

/// Sections to print. Strings, abbreviations, addresses and lists appear where an entry refers to them.
const PRINTED: [&str; 10] = [
    "--debug-info",
    "--debug-types",
    "--debug-line",
    "--debug-frame",
    "--eh-frame",
    "--debug-aranges",
    "--debug-names",
    "--debug-macro",
    "--debug-pubnames",
    "--debug-pubtypes",
];

/// Prints what LLVM reads in a file; `None` without the program.
pub fn facts(folder: &Folder, file: &[u8]) -> Option<String> {
    let bytes = match core::str::from_utf8(file) {
        Ok(text) if !text.starts_with('\x7f') => object(text),
        _ => decompressed(folder, file)?,
    };
    let (bytes, relocations) = relocated(&bytes);
    let path = folder.file("file", bytes);
    let path = path.to_str().expect("a path");
    let arguments: Vec<&str> = PRINTED.into_iter().chain([path]).collect();
    let ran = DWARFDUMP.run(&arguments)?;
    Some(ran.out + &ran.errors + &relocations)
}

/// Machines of ELF; the other byte of the number is 0.
const X86_64: u8 = 62;
const S390: u8 = 22;
const AMDGPU: u8 = 224;

/// The object without compression.
fn decompressed(folder: &Folder, file: &[u8]) -> Option<Vec<u8>> {
    let object = object::File::parse(file).expect("an object");
    let mut packed = file.to_vec();
    let mut is_compressed = false;
    for section in object.sections() {
        let format = section.compressed_file_range().map(|range| range.format);
        if !format.is_ok_and(|format| format != object::CompressionFormat::None) {
            continue;
        }
        is_compressed = true;
        // Of the header's fields, the alignment is no fact of the contents. ELF, "Section Compression".
        if let Some((start, _)) = section.file_range() {
            let align = start as usize + 16;
            packed[align..align + 8].copy_from_slice(&1u64.to_le_bytes());
        }
    }
    if !is_compressed {
        return Some(packed);
    }
    let [from, to] = ["packed", "unpacked"].map(|name| folder.file(name, &packed));
    let paths = [&from, &to].map(|path| path.to_str().expect("a path"));
    let ran = LLVM_OBJCOPY.run(&["--decompress-debug-sections", paths[0], paths[1]])?;
    // What cannot be decompressed is printed as it is.
    Some(if ran.succeeded { std::fs::read(to).expect("the object") } else { packed })
}

/// The object with the value of each relocation with an addend in its field, because the dumper resolves only some of the
/// relocations, and the relocations as text.
fn relocated(file: &[u8]) -> (Vec<u8>, String) {
    let object = object::File::parse(file).expect("an object");
    let mut relocated = file.to_vec();
    let mut lines = Vec::new();
    for section in object.sections() {
        let Some((start, size)) = section.file_range() else { continue };
        for (offset, relocation) in section.relocations() {
            let object::RelocationFlags::Elf { r_type } = relocation.flags() else { continue };
            let symbol = match relocation.target() {
                object::RelocationTarget::Symbol(index) => object.symbol_by_index(index).ok(),
                _ => None,
            };
            let address = symbol.as_ref().map_or(0, |symbol| symbol.address());
            let value = address.wrapping_add_signed(relocation.addend());
            let to = symbol.and_then(|symbol| object.section_by_index(symbol.section_index()?).ok());
            let to = to.map(|section| section.name().map(str::to_owned));
            let name = section.name();
            lines.push(format!(
                "relocation of {name:?} at {offset:#x}, type {} to {to:?}, {value:#x}\n",
                r_type.0
            ));
            // R_X86_64_64, _32 and _32S, R_390_64 and _32, R_AMDGPU_ABS64 and _ABS32.
            let bytes = match (file[18].max(file[19]), r_type.0) {
                (X86_64, 1) | (S390, 22) | (AMDGPU, 3) => 8,
                (X86_64, 10 | 11) | (S390, 4) | (AMDGPU, 6) => 4,
                _ => continue,
            };
            if offset.checked_add(bytes).is_none_or(|end| end > size) {
                continue;
            }
            let at = (start + offset) as usize;
            let field = &mut relocated[at..at + bytes as usize];
            if object.is_little_endian() {
                field.copy_from_slice(&value.to_le_bytes()[..bytes as usize]);
            } else {
                field.copy_from_slice(&value.to_be_bytes()[8 - bytes as usize..]);
            }
        }
    }
    lines.sort_unstable();
    (relocated, lines.concat())
}

/// An object with the debug sections of a PTX text, for a reader of objects. Labels become addresses in their order.
fn object(text: &str) -> Vec<u8> {
    const NAMES: [&str; 4] = [".debug_abbrev", ".debug_info", ".debug_loc", ".debug_str"];
    let mut sections: Vec<Section> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix(".section\t") {
            let name = NAMES.into_iter().find(|known| *known == name).expect("a section that is written");
            let (bytes, relocations) = (Vec::new(), Vec::new());
            sections.push(Section { name, bytes, relocations, is_strings: false, group: None });
        }
        let Some(section) = sections.last_mut() else { continue };
        for (directive, bytes) in [(".b8\t", 1), (".b16\t", 2), (".b32\t", 4), (".b64\t", 8)] {
            let Some(numbers) = line.strip_prefix(directive) else { continue };
            for number in numbers.split(',') {
                section.bytes.extend_from_slice(&value(number).to_le_bytes()[..bytes]);
            }
        }
    }
    new_object(&Target::x86_64(), &ObjectCode::text(vec![0]), &sections).expect("an object")
}

/// A number: a literal, an offset in a section, or a label.
fn value(text: &str) -> u64 {
    if let Ok(number) = text.parse() {
        return number;
    }
    let (name, offset) = text.split_once('+').unwrap_or((text, "0"));
    let offset: u64 = offset.parse().unwrap_or(0);
    let base = match name.strip_prefix("$L__eitri_").map(str::parse::<u64>) {
        Some(Ok(number)) => 0x1_0000 + 0x10 * number,
        _ if name.starts_with(".debug") => 0,
        _ if name == "k" => 0x1_0000,
        _ => {
            name.bytes().fold(0x4000_0000, |sum, byte| sum * 31 % 0x4000_0000 + 0x4000_0000 + u64::from(byte))
        }
    };
    base + offset
}

/// Changed bytes of a section.
pub struct Change<'s> {
    pub section: &'s str,
    /// Position, original byte and other byte.
    pub bytes: Vec<(usize, u8, u8)>,
}

/// A reason why two texts have the same facts: a sentence of a specification, paraphrased, and a line without what the
/// sentence declares meaningless; `None` for a line that has no fact.
type Reason = (&'static str, fn(&str, &Change<'_>) -> Option<String>);

/// The reasons, in the order in which they are tried, each together with those before it.
#[rustfmt::skip]
const REASONS: &[Reason] = &[
    ("7.5.4: any number but 0 is a true flag", flags),
    ("6.2.4: numbers from which the program computes the same rows", line_header),
    ("6.4.1: factors by which the instructions compute the same rows", factors),
    ("6.4.2.6: a nop has no effect, so that its byte can be the end of a longer number", nops),
    ("2.3 and 7.5.2: a shorter last attribute leaves zeros of the longer one, and these are null entries", null_entries),
    ("7.5.5: a constant below 64 is one and the same byte as data1, udata and sdata", constants),
    ("psABI: R_X86_64_32S stores the bytes of R_X86_64_32; a later relocation overwrites what a wider one wrote; two offsets of one string", relocations),
    ("7.5.5 and 6.1.1.4.8: an index below 128 is one and the same byte as data1 and udata", name_indexes),
    ("A.2.5.4.4.7: what a register was on entry, if the ABI preserves it and no rule changes it, is what it is", entry_registers),
    ("A.2.5.4.4.6: of an element that comes more often, as many are read as the wave has lanes", extended),
    ("A.6.4.2.2: an offset of 0 is 0 with and without the factor and the sign", zero_offsets),
    ("7.5.5: in a split unit's file, whose unit is at 0, an offset in the section is the offset in the unit", section_offsets),
];

/// Single mutants that mean the same, though the other reader reads on where it should not: section, change, reason.
const KNOWN: &[(&str, (usize, u8, u8), &str)] = &[(
    ".debug_frame",
    (0x30, 0x64, 0x60),
    "a shorter entry leaves zeros that are no entry: readelf and gdb go on after them, as after a linker's padding",
)];

/// The reason for a reordered set.
const SETS: &str = "6.4.1: the rules of a row are a set, without an order";

/// Whether a line is an attribute, with its value in parentheses.
fn attribute(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.trim_start().split_once('\t')?;
    name.starts_with("DW_AT_").then_some((name, value.strip_prefix('(')?.strip_suffix(')')?))
}

fn flags(line: &str, _: &Change<'_>) -> Option<String> {
    const FLAGS: [&str; 9] = [
        "DW_AT_external",
        "DW_AT_declaration",
        "DW_AT_artificial",
        "DW_AT_prototyped",
        "DW_AT_is_optional",
        "DW_AT_variable_parameter",
        "DW_AT_enum_class",
        "DW_AT_noreturn",
        "DW_AT_main_subprogram",
    ];
    match attribute(line) {
        Some((name, value)) if FLAGS.contains(&name) => {
            Some(format!("{name} {}", !["0x00", "false"].contains(&value)))
        }
        _ => Some(line.into()),
    }
}

fn line_header(line: &str, _: &Change<'_>) -> Option<String> {
    const NUMBERS: [&str; 5] =
        ["default_is_stmt: ", "line_base: ", "line_range: ", "min_inst_length: ", "max_ops_per_inst: "];
    (!NUMBERS.iter().any(|name| line.trim_start().starts_with(name))).then(|| line.into())
}

fn factors(line: &str, _: &Change<'_>) -> Option<String> {
    let is = |name: &str| line.trim_start().starts_with(name);
    (!["Code alignment factor: ", "Data alignment factor: "].into_iter().any(is)).then(|| line.into())
}

fn nops(line: &str, _: &Change<'_>) -> Option<String> {
    (!line.trim_start().starts_with("DW_CFA_nop")).then(|| line.into())
}

fn null_entries(line: &str, _: &Change<'_>) -> Option<String> {
    (!line.ends_with(" NULL")).then(|| line.into())
}

/// A line with numbers instead of names, without the names of types, which are those of other entries.
fn constants(line: &str, change: &Change<'_>) -> Option<String> {
    // In a text, the second digits of 11, 13 and 15.
    let is_text = change.section == "text";
    let forms = if is_text { b"135" } else { b"\x0b\x0d\x0f" };
    let are_constants = change.bytes.iter().all(|(_, old, new)| forms.contains(old) && forms.contains(new));
    let is_abbreviation = is_text || change.section.starts_with(".debug_abbrev");
    let Some((name, value)) = attribute(line).filter(|_| is_abbreviation && are_constants) else {
        return Some(line.into());
    };
    let value = value.split(" \"").next().unwrap_or_default();
    // For unsigned forms, the dumper looks numbers of files up, and adds a size of code to its start.
    let is_looked_up = ["DW_AT_decl_file", "DW_AT_call_file", "DW_AT_high_pc"].contains(&name);
    let named = (0..=u16::MAX).find(|&number| {
        let names = [
            gimli::DwLang(number).static_string(),
            gimli::DwAte(number as u8).static_string().filter(|_| number < 256),
            gimli::DwInl(number as u8).static_string().filter(|_| number < 256),
            gimli::DwCc(number as u8).static_string().filter(|_| number < 256),
            gimli::DwAccess(number as u8).static_string().filter(|_| number < 256),
            gimli::DwVirtuality(number as u8).static_string().filter(|_| number < 256),
            gimli::DwDefaulted(number as u8).static_string().filter(|_| number < 256),
        ];
        names.contains(&Some(value))
    });
    let hexadecimal = || value.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
    let number = named.map(u64::from).or_else(hexadecimal).map(|number| number.to_string());
    Some(format!("{name} {}", if is_looked_up { "" } else { number.as_deref().unwrap_or(value) }))
}

/// A relocation without its size, by which the values were relocated, and without the offset of a string, which is printed
/// where the field is.
fn relocations(line: &str, _: &Change<'_>) -> Option<String> {
    if !line.starts_with("relocation of ") {
        return Some(line.into());
    }
    let sizes = [(" type 11 ", " type 10 "), (" type 1 ", " type 10 "), (" type 3 ", " type 6 ")];
    let line = sizes.iter().fold(line.to_owned(), |line, (from, to)| line.replace(from, to));
    match line.split_once("_str\")), ") {
        Some((field, _)) => Some(field.into()),
        None => Some(line),
    }
}

/// The index of a unit in a name index without its form.
fn name_indexes(line: &str, change: &Change<'_>) -> Option<String> {
    match line.trim_start().split_once("DW_IDX_compile_unit: ") {
        Some(("", "DW_FORM_data1" | "DW_FORM_udata")) if change.section == ".debug_names" => None,
        Some(("", "0x00")) => Some(line.replace("0x00", "0")),
        Some(("", "0x01")) => Some(line.replace("0x01", "1")),
        _ => Some(line.into()),
    }
}

/// A definition of the canonical frame address without an offset.
fn zero_offsets(line: &str, _: &Change<'_>) -> Option<String> {
    let line = line.replace("DW_CFA_LLVM_def_aspace_cfa_sf:", "DW_CFA_LLVM_def_aspace_cfa:");
    Some(line.replace(" 0 in addrspace", " +0 in addrspace"))
}

/// A reference without the size of its offset.
fn section_offsets(line: &str, change: &Change<'_>) -> Option<String> {
    match attribute(line).and_then(|(name, value)| Some((name, value.strip_prefix("0x")?))) {
        Some((name, offset)) if change.section == ".debug_abbrev.dwo" => {
            Some(format!("{name} {}", offset.trim_start_matches('0')))
        }
        _ => Some(line.into()),
    }
}

/// Sorts neighbouring rules that say of registers that they are undefined.
fn sort_sets(lines: &mut [String]) {
    let is_undefined = |line: &String| line.trim_start().starts_with("DW_CFA_undefined: ");
    for set in lines.chunk_by_mut(|left, right| is_undefined(left) && is_undefined(right)) {
        set.sort_unstable();
    }
}

/// The return address in s30 and s31 without `call_frame_entry_reg`, in the frames of LLVM's older dialect.
fn entry_registers(line: &str, _: &Change<'_>) -> Option<String> {
    let [low, high] = ["DW_OP_regx SGPR30_LO16, DW_OP_piece 0x4", "DW_OP_regx SGPR31_LO16, DW_OP_piece 0x4"];
    let line = line.replace("<decoding error> e6 3f 93 04", high);
    Some(line.replace("<decoding error> e6 3e 93 04 90 3f 93 04", &format!("{low}, {high}")))
}

/// An expression, as bytes, in which `extend` has operands of at most 64 bits and 32 times.
fn extended(line: &str, _: &Change<'_>) -> Option<String> {
    let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    for at in 2..words.len().saturating_sub(1) {
        let code: Vec<&str> = words[..at].iter().map(String::as_str).collect();
        let number = |word: &str| u8::from_str_radix(word.trim_end_matches(')'), 16).ok();
        let at_least =
            |word: &str, least: u8| number(word).is_some_and(|number| (least..0x80).contains(&number));
        let is_undefined = code.ends_with(&["e9", "08", "e9", "0b"]);
        if !code.ends_with(&["e9", "0b"]) || !at_least(&words[at + 1], 0x20) {
            continue;
        }
        if is_undefined && at_least(&words[at], 0x40) {
            words[at] = "40".into();
        }
        if words[at] == "40" {
            let end = if words[at + 1].ends_with(')') { ")" } else { "" };
            words[at + 1] = format!("20{end}");
        }
    }
    Some(words.join(" "))
}

/// Returns why two texts have the same facts, or the first lines that differ.
pub fn reason(original: &str, mutant: &str, change: &Change<'_>) -> Result<&'static str, String> {
    let mut texts = [original, mutant].map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>());
    if texts[0] == texts[1] {
        return Ok("the other reader prints no difference");
    }
    if let [byte] = change.bytes[..]
        && let Some((.., why)) = KNOWN.iter().find(|known| known.0 == change.section && known.1 == byte)
    {
        return Ok(why);
    }
    if change.section.ends_with("_frame") {
        texts.iter_mut().for_each(|text| sort_sets(text));
        if texts[0] == texts[1] {
            return Ok(SETS);
        }
    }
    for (why, without) in REASONS {
        texts = texts.map(|text| text.iter().filter_map(|line| without(line, change)).collect());
        if texts[0] == texts[1] {
            return Ok(why);
        }
    }
    let [old, new] = &texts;
    let differs = |(old, new): &(&String, &String)| old != new;
    let lines = old.iter().zip(new).filter(differs).take(4);
    let lines: Vec<String> = lines.map(|(old, new)| format!("  - {old}\n  + {new}")).collect();
    let last = (old.len() != new.len()).then(|| old.iter().chain(new).next_back()).flatten();
    Err(format!("{}\n  {} and {} lines, {last:?}", lines.join("\n"), old.len(), new.len()))
}
