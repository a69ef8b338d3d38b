//! Damaged input gives an error or facts, never a panic, in reasonable time.

use eitri::dump::{DumpOptions, dump};
use eitri::op::{Dialect, Encoding};
use eitri::read::{
    Dwarf, ElfSection, FrameSection, LineProgram, ListFormat, ListKind, Object, RawList, ReadOptions,
    ResolvedValue, Sections,
};
use gimli::Format;
use proptest::prelude::*;

use crate::common::with;
use crate::reader::attributes::{Contents, Form, sections_of, write};
use crate::reader::bytes::Bytes;
use crate::reader::compiled::{CLANG, CLANGXX, GCC, GXX, LLC, compile, sources};
use crate::reader::objects::{FORM, for_amdgpu, object};

/// Reads and prints everything, also as split units.
fn use_up(bytes: &[u8]) {
    let Ok(object) = Object::read(bytes) else { return };
    let _ = (object.wave(), object.target(None), object.symbol("kernel"));
    if let Ok(dwarf) = Dwarf::read(&object) {
        dump(&object, &dwarf, None, {
            let mut options = DumpOptions::default();
            options.verbose = true;
            options
        });
        ask(&dwarf);
        if let Ok(split) = Dwarf::read_split(&dwarf, &object) {
            dump(&object, &split, None, {
                let mut options = DumpOptions::default();
                options.verbose = false;
                options
            });
        }
    }
}

fn ask(dwarf: &Dwarf<'_>) {
    for entry in dwarf.entries() {
        let _ = (entry.ranges(), entry.place(), entry.ty(), entry.children().count());
        for attribute in entry.attributes() {
            let found = entry.locations(attribute.name);
            // A whole list has the entries that are read one by one.
            if let (ResolvedValue::LocList(offset), value) = (attribute.value, entry.attr(attribute.name))
                && value == Some(attribute.value)
            {
                let list = dwarf.locations(entry.unit(), offset);
                let one_by_one = list.and_then(|list| list.collect::<Result<Vec<_>, _>>());
                assert_eq!(found.ok().flatten(), one_by_one.ok());
            }
        }
    }
    for unit in dwarf.units() {
        if let Ok(Some(program)) = dwarf.lines(unit) {
            let _ = program.rows().count();
        }
        if let Ok(Some(macros)) = dwarf.macros(unit) {
            let _ = macros.entries().count();
        }
    }
    for section in [FrameSection::Debug, FrameSection::Eh] {
        if let Ok(frames) = dwarf.frames(section) {
            let _ = (frames.row_at(0x4000), frames.row_at(0x1_0000));
        }
    }
    for index in dwarf.names().unwrap_or_default() {
        let _ = (index.find(b"main"), index.find(b"one"));
    }
}

/// Compiled objects with all sections that the reader knows; none without the tools.
fn compiled() -> Vec<Vec<u8>> {
    let folder = sources();
    let mut all = Vec::new();
    for (tool, source, flags) in [
        (GXX, "types.cpp", "-c -O1 -gdwarf-4 -fdebug-types-section"),
        (CLANGXX, "types.cpp", "-c -O1 -gdwarf-5 -fdebug-types-section -gsplit-dwarf=single -gpubnames"),
        (CLANGXX, "types.cpp", "-c -O1 -gdwarf-4 -gpubnames -gdwarf-aranges -gdwarf64"),
        (CLANGXX, "types.cpp", "-c -O1 -gdwarf-5 --target=s390x-linux-gnu"),
        (GCC, "macros.c", "-c -g3 -gdwarf-5 -O1"),
        (CLANG, "frames.c", "-c -O1 -gdwarf-5 -fno-asynchronous-unwind-tables -gz=zlib"),
        (CLANG, "frames.c", "-c -O1 -gdwarf-5 -gz=zstd"),
    ] {
        let Some(path) = compile(tool, folder.path(), source, flags, "a.o") else { continue };
        all.push(std::fs::read(path).unwrap());
    }
    let flags = "-S -emit-llvm -gdwarf-5 -gpubnames";
    if compile(CLANGXX, folder.path(), "types.cpp", flags, "a.ll").is_some()
        && let Some(path) = compile(
            LLC,
            folder.path(),
            "a.ll",
            "-accel-tables=Dwarf -generate-type-units -filetype=obj",
            "b.o",
        )
    {
        all.push(std::fs::read(path).unwrap());
    }
    all
}

/// A deterministic pseudo-random number per step.
fn scatter(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*state >> 33) as usize
}

#[test]
fn damaged_objects_of_compilers_are_read_or_refused() {
    let mut state = 1;
    for bytes in compiled() {
        // Some lengths only, as reading takes long. The tables of the ELF file are at its end.
        for end in (0..bytes.len()).step_by(97) {
            use_up(&bytes[..end]);
        }
        let sections: Vec<_> = {
            // Compressed sections are refused without the feature.
            let Ok(object) = Object::read(&bytes) else { continue };
            let is_debug = |name: &str| name.starts_with(".debug_") || name == ".eh_frame";
            let start = bytes.as_ptr() as usize;
            let inside = |section: &ElfSection<'_>| {
                // Decompressed or relocated contents are not in the file's bytes.
                let from = (section.data.as_ptr() as usize).wrapping_sub(start);
                (from < bytes.len()).then(|| from..from + section.data.len())
            };
            let sections = object.sections().iter().filter(|section| is_debug(&section.name));
            sections.filter_map(inside).filter(|range| !range.is_empty()).collect()
        };
        for round in 0..400 {
            let mut damaged = bytes.clone();
            for _ in 0..1 + round % 4 {
                // Half of the changes in sections without relocations, the others anywhere.
                let at = match sections.get(scatter(&mut state) % (2 * sections.len().max(1))) {
                    Some(range) => range.start + scatter(&mut state) % range.len(),
                    None => scatter(&mut state) % damaged.len(),
                };
                damaged[at] =
                    if round % 2 == 0 { scatter(&mut state) as u8 } else { damaged[at] ^ 1 << (round % 8) };
            }
            use_up(&damaged);
        }
    }
}

/// Every byte of sections encoded by hand is changed.
#[test]
fn damaged_sections_are_read_or_refused() {
    for style in Bytes::all() {
        let whole = tables(&style);
        let bytes = object(FORM());
        let elf = Object::read(&bytes).unwrap();
        let mut state = 7;
        for section in 0..whole.len() {
            let mut damaged = whole.clone();
            for end in 0..whole[section].len() {
                damaged[section].truncate(whole[section].len() - end);
                use_tables(&style, &elf, &damaged, true);
            }
            for at in 0..whole[section].len() {
                for byte in [0, 1, 0x7f, 0xff, scatter(&mut state) as u8] {
                    damaged[section].clone_from(&whole[section]);
                    damaged[section][at] = byte;
                    use_tables(&style, &elf, &damaged, true);
                }
            }
        }
    }
}

/// Frames, names, address ranges, public names, macros.
fn tables(style: &Bytes) -> Vec<Vec<u8>> {
    let mut cie = style.empty();
    cie.offset(u64::MAX).u8s([4]).string("").u8s([8, 0]).uleb(4).sleb(-8).uleb(16).u8s([0x0c, 7, 8, 0x90, 1]);
    let mut fde = style.empty();
    fde.offset(0)
        .u64(0x4000)
        .u64(0x1000)
        .u8s([0x41, 0x0e, 16, 0x0a, 0x02, 9, 0x10, 4, 2, 0x77, 8, 0x0b, 0xd0]);
    let mut debug_frame = style.empty();
    debug_frame.unit(&cie).unit(&fde);
    let mut cie = style.empty();
    cie.u32(0).u8s([1]).string("zPLR").uleb(1).sleb(-4).u8s([14]).uleb(7).u8s([0x9b, 1, 0, 0, 0, 0x1b, 0x1b]);
    let mut fde = style.empty();
    let header = if style.is_long { 12 } else { 4 };
    fde.u32((cie.len() + 2 * header) as u32).u32(0x20).u32(0x40).uleb(4).u32(9).u8s([0x41, 0x0c, 7, 8]);
    let mut eh_frame = style.empty();
    eh_frame.unit(&cie).unit(&fde).u32(0);
    let mut index = style.empty();
    let abbreviations = [7, 0x2e, 1, 0x0b, 3, 0x13, 4, 0x19, 0, 0, 0];
    index.u16(5).u16(0);
    for count in [1, 0, 1, 1, 1, abbreviations.len() as u32, 4] {
        index.u32(count);
    }
    index.u8s(b"[x]\0").offset(0).u64(0xfeed).u32(1).u32(eitri::read::name_hash(b"one")).offset(1).offset(0);
    index.u8s(abbreviations).uleb(7).u8s([0]).u32(0x44).uleb(0);
    let mut debug_names = style.empty();
    debug_names.unit(&index);
    let mut set = style.empty();
    set.u16(2).offset(0).u8s([8, 0]);
    while !(header + set.len()).is_multiple_of(16) {
        set.u8s([0]);
    }
    set.u64(0x4000).u64(0x20).u64(0).u64(0);
    let mut debug_aranges = style.empty();
    debug_aranges.unit(&set);
    let mut set = style.empty();
    set.u16(2).offset(0).offset(0x99).offset(0x1b).u8s([0xb0]).string("f").offset(0);
    let mut debug_gnu_pubnames = style.empty();
    debug_gnu_pubnames.unit(&set);
    let mut list = style.empty();
    list.u16(5).u8s([6 | u8::from(style.is_long)]).offset(0).u8s([1, 0xe5]).uleb(2).u8s([0x08, 0x09]);
    list.u8s([1, 3]).string("A 1").u8s([3, 0, 2, 5, 7]).offset(1).u8s([7]).offset(0).u8s([0xe5]);
    list.string("vendor").uleb(2).u8s([0, 0, 4, 11, 1, 0, 0]);
    let mut table = style.empty();
    table.u16(5).u16(0).offset(1).offset(1);
    let mut debug_str_offsets = style.empty();
    debug_str_offsets.unit(&table);
    // A unit with macros, whose strings are in its `.debug_str_offsets`.
    let abbrev = vec![1, 0x11, 0, 0x79, 0x17, 0x72, 0x17, 0, 0, 0];
    let mut unit = style.empty();
    unit.u16(5).u8s([1, 8]).offset(0).u8s([1]).offset(0).offset(if style.is_long { 16 } else { 8 });
    let mut info = style.empty();
    info.unit(&unit);
    [
        debug_frame,
        eh_frame,
        debug_names,
        debug_aranges,
        debug_gnu_pubnames,
        list,
        debug_str_offsets,
        info,
        Bytes { bytes: abbrev, ..Bytes::default() },
    ]
    .map(|one| one.bytes)
    .into()
}

fn use_tables(style: &Bytes, elf: &Object<'_>, tables: &[Vec<u8>], verbose: bool) -> Option<String> {
    let sections = with::<Sections>(|sections| {
        sections.big_endian = style.big_endian;
        sections.debug_frame = &tables[0];
        sections.eh_frame = &tables[1];
        sections.debug_names = &tables[2];
        sections.debug_aranges = &tables[3];
        sections.debug_gnu_pubnames = &tables[4];
        sections.debug_macro = &tables[5];
        sections.debug_str_offsets = &tables[6];
        sections.debug_info = &tables[7];
        sections.debug_abbrev = &tables[8];
        sections.debug_str = b"\0one\0";
    });
    let dwarf = Dwarf::from_sections(sections, &ReadOptions::new()).ok()?;
    ask(&dwarf);
    Some(dump(elf, &dwarf, None, {
        let mut options = DumpOptions::default();
        options.verbose = verbose;
        options
    }))
}

#[test]
fn sections_that_are_whole_are_printed() {
    for style in Bytes::all() {
        let bytes = object(FORM());
        let elf = Object::read(&bytes).unwrap();
        let text = use_tables(&style, &elf, &tables(&style), true).unwrap();
        assert!(!text.contains('<'), "{text}");
        for part in [
            "string offsets: version 5 @0x0 base @0x",
            "  DW_CFA_advance_loc 4 @0x",
            " hash 0x",
            " entry +0x44",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let text = use_tables(&style, &elf, &tables(&style), false).unwrap();
        let text = text.replacen(", 64-bit format", "", 1);
        // The pcs of `.eh_frame` are relative to their fields, 8 bytes later per length field in the 64-bit format.
        let [start, lsda] = if style.is_long { [0x41 + 16, 0x33 + 16] } else { [0x41, 0x33] };
        let eh_frame = format!(
            "[{start:#x}, {:#x}) lsda {lsda:#x}\n  {:<12} cfa=unset\n  {:<12} cfa=reg7+8\n",
            start + 0x40,
            format!("{start:#x}"),
            format!("{:#x}", start + 1)
        );
        pretty_assertions::assert_eq!(text, PRINTED.replace("EH_FRAME\n", &eh_frame));
    }
}

/// Expected text for [`tables`], derived by hand.
const PRINTED: &str = r#"addresses: the object is not linked; its sections are assumed to be at
  0x10000 .text.other
  0x12000 .text.kernel

unit: DWARF 5, addresses of 8 bytes
DW_TAG_compile_unit
  DW_AT_macros: offset
  DW_AT_str_offsets_base: offset
macros: version 5
  3: define A 1
  0: file 2
    7: define one
    import of a list above
    opcode 0xe5
  end
  1: define one

frames: .debug_frame
[0x4000, 0x5000)
  0x4000       cfa=reg7+8 reg16=[cfa-8]
  0x4004       cfa=reg7+16 reg16=[cfa-8]
  0x4028       cfa=reg7+16 reg16=[cfa-8]

frames: .eh_frame
EH_FRAME

names: version 5, augmentation "[x]"
  compilation unit 0: a unit without name
  type unit 0: foreign, signature 0x000000000000feed
  "one"
    DW_TAG_subprogram but no entry in a unit without name

addresses: a unit without name
  [0x4000, 0x4020)

gnu_pubnames: a unit without name
  "f": no entry (static function)
"#;

#[test]
fn every_prefix_is_read_or_refused() {
    let bytes = object(FORM());
    for end in 0..bytes.len() {
        use_up(&bytes[..end]);
    }
}

#[test]
fn every_prefix_of_a_section_is_read_or_refused() {
    for version in [2, 4, 5] {
        let form = Form::new(version, Format::Dwarf32, 8, false);
        let written = write(form, &Contents::of(version), 0x4000, false);
        let whole = sections_of(form, &written);
        let shorten: [fn(&mut Sections<'_>, usize) -> bool; 7] = [
            |s, end| s.debug_abbrev.get(..end).map(|bytes| s.debug_abbrev = bytes).is_some(),
            |s, end| s.debug_info.get(..end).map(|bytes| s.debug_info = bytes).is_some(),
            |s, end| s.debug_line.get(..end).map(|bytes| s.debug_line = bytes).is_some(),
            |s, end| s.debug_loclists.get(..end).map(|bytes| s.debug_loclists = bytes).is_some(),
            |s, end| s.debug_rnglists.get(..end).map(|bytes| s.debug_rnglists = bytes).is_some(),
            |s, end| s.debug_loc.get(..end).map(|bytes| s.debug_loc = bytes).is_some(),
            |s, end| s.debug_str.get(..end).map(|bytes| s.debug_str = bytes).is_some(),
        ];
        for shorten in shorten {
            for end in 0.. {
                let mut sections = whole;
                if !shorten(&mut sections, end) {
                    break;
                }
                if let Ok(dwarf) = Dwarf::from_sections(sections, &ReadOptions::new()) {
                    ask(&dwarf);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(crate::common::cases::config(1500))]

    #[test]
    fn flipped_bytes_are_read_or_refused(
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        is_amdgpu in any::<bool>(),
        version in 2..=5u16,
    ) {
        let mut bytes = object(Form::new(version, Format::Dwarf32, 8, false));
        if is_amdgpu {
            bytes = for_amdgpu(bytes, 0x36);
        }
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        use_up(&bytes);
    }
}

#[test]
fn a_list_without_end_gives_what_it_has() {
    let encoding = Encoding::new(8, Dialect::Llvm);
    // offset_pair 1, 2 with an empty expression; then an unknown kind.
    let bytes = [4, 1, 2, 0, 0x33];
    let sections = with::<Sections>(|sections| sections.debug_loclists = &bytes);
    let mut list = RawList::new(&sections, ListFormat::Loclists, encoding, 0).unwrap();
    assert_eq!(list.next().unwrap().unwrap().kind, ListKind::Pair { start: 1, end: 2 });
    let error = list.next().unwrap().unwrap_err();
    assert_eq!(error.to_string(), "section .debug_loclists, offset 0x4: unknown kind of list entry 0x33");
    assert!(list.next().is_none());

    let sections = with::<Sections>(|sections| sections.debug_loclists = &bytes[..4]);
    let list = RawList::new(&sections, ListFormat::Loclists, encoding, 0).unwrap();
    let entries: Vec<_> = list.collect();
    assert_eq!(entries.len(), 2);
    let error = entries[1].as_ref().unwrap_err();
    assert_eq!(error.to_string(), "section .debug_loclists, offset 0x4: the bytes end inside a list entry");
    assert!(RawList::new(&sections, ListFormat::Loclists, encoding, 9).is_err());
}

#[test]
fn kinds_by_index_find_their_addresses() {
    // An abbreviation without children, with addr_base and location (sec_offset).
    let abbrev = [1, 0x11, 0, 0x73, 0x17, 0x02, 0x17, 0, 0, 0];
    let info = [17, 0, 0, 0, 5, 0, 1, 8, 0, 0, 0, 0, 1, 8, 0, 0, 0, 0, 0, 0, 0];
    let mut addr = vec![28, 0, 0, 0, 5, 0, 8, 0];
    for address in [0x1000u64, 0x2000, 0x3000] {
        addr.extend(address.to_le_bytes());
    }
    let expr = [1, 0x30];
    let lists = [
        &[2, 0, 1][..],
        &expr,
        &[3, 2, 0x10],
        &expr,
        &[1, 1],
        &[4, 4, 8],
        &expr,
        &[5],
        &expr,
        &[3, 7, 1],
        &expr,
        &[0],
    ]
    .concat();
    let sections = with::<Sections>(|sections| {
        sections.debug_abbrev = &abbrev;
        sections.debug_info = &info;
        sections.debug_addr = &addr;
        sections.debug_loclists = &lists;
    });
    let dwarf = Dwarf::from_sections(sections, &ReadOptions::new()).unwrap();
    let unit = &dwarf.units()[0];
    assert_eq!((unit.bases.addr, dwarf.address(unit, 2).unwrap()), (Some(8), 0x3000));
    let mut list = dwarf.locations(unit, 0).unwrap();
    let mut next = || list.next().unwrap();
    let bounds: Vec<_> = (0..4).map(|_| next().map(|one| (one.start, one.end, one.is_default()))).collect();
    let expected = [(0x1000, 0x2000, false), (0x3000, 0x3010, false), (0x2004, 0x2008, false), (0, 0, true)];
    assert_eq!(bounds.into_iter().collect::<Result<Vec<_>, _>>().unwrap(), expected);
    // Address 7 does not exist.
    let error = next().unwrap_err();
    assert_eq!(error.at().section.as_deref(), Some(".debug_addr"), "{error}");
    assert!(list.next().is_none());
}

/// DWARF 5 section 7.29: a list table's header ends with the number of offsets, and the base is the first offset.
#[test]
fn list_index_past_the_table_is_refused_with_the_number_of_offsets() {
    // DW_AT_loclists_base (sec_offset), and DW_AT_location as loclistx 2.
    let abbrev = [1, 0x11, 0, 0x8c, 0x01, 0x17, 0x02, 0x22, 0, 0, 0];
    let info = [14, 0, 0, 0, 5, 0, 1, 8, 0, 0, 0, 0, 1, 12, 0, 0, 0, 2];
    // Two offsets, and a list with a default entry; its first bytes would be the third offset.
    let mut lists = vec![21, 0, 0, 0, 5, 0, 8, 0, 2, 0, 0, 0, 8, 0, 0, 0, 8, 0, 0, 0];
    lists.extend([5, 1, 0x50, 0, 0]);
    let sections = with::<Sections>(|sections| {
        sections.debug_abbrev = &abbrev;
        sections.debug_info = &info;
        sections.debug_loclists = &lists;
    });
    let error = Dwarf::from_sections(sections, &ReadOptions::new()).unwrap_err();
    let expected = "list index 2 is out of range for a table with 2 offsets";
    assert!(error.to_string().contains(expected), "{error}");
    assert_eq!(error.at().section.as_deref(), Some(".debug_loclists"));
}

#[test]
fn counts_without_contents_take_no_time() {
    // A version 5 header with many directories of an empty format.
    let mut header = vec![1, 1, 1, 0, 1, 1, 0];
    header.extend([0xff; 9]);
    header.push(1);
    let mut bytes = vec![5, 0, 8, 0];
    bytes.extend((header.len() as u32).to_le_bytes());
    bytes.extend(header);
    let bytes = [(bytes.len() as u32).to_le_bytes().to_vec(), bytes].concat();
    let sections = with::<Sections>(|sections| sections.debug_line = &bytes);
    let error = LineProgram::read(&sections, 0, 8).unwrap_err();
    assert!(error.to_string().contains("the entry format is empty"), "{error}");

    // One-byte entries with a thousand attributes of zero bytes.
    let flags: Vec<u8> = std::iter::repeat_n([0x3f, 0x19], 1000).flatten().collect();
    let abbrev = [&[1, 0x11, 0][..], &flags, &[0, 0, 0]].concat();
    let mut info = vec![5, 0, 1, 8, 0, 0, 0, 0];
    info.extend([1; 100_000]);
    let info = [(info.len() as u32).to_le_bytes().to_vec(), info].concat();
    let sections = with::<Sections>(|sections| {
        sections.debug_abbrev = &abbrev;
        sections.debug_info = &info;
    });
    let error = Dwarf::from_sections(sections, &ReadOptions::new()).unwrap_err();
    assert!(error.to_string().contains("too many attributes for the size of the sections"), "{error}");
}

#[test]
fn depth_is_no_danger() {
    let mut expr = Vec::new();
    for _ in 0..20_000 {
        let mut outer = vec![0xa3];
        gimli::leb128::write::unsigned(&mut outer, expr.len() as u64).unwrap();
        outer.extend(&expr);
        expr = outer;
    }
    let text = eitri::op::text::print(&expr, Encoding::new(8, Dialect::Llvm), None);
    assert!(text.starts_with("entry_value (entry_value (") && text.ends_with(&")".repeat(16)));

    // A thousand nested entries.
    let abbrev = [1, 0x11, 1, 0, 0, 0];
    let mut info = vec![5, 0, 1, 8, 0, 0, 0, 0];
    info.extend([1; 1000]);
    let info = [(info.len() as u32).to_le_bytes().to_vec(), info].concat();
    let sections = with::<Sections>(|sections| {
        sections.debug_abbrev = &abbrev;
        sections.debug_info = &info;
    });
    let dwarf = Dwarf::from_sections(sections, &ReadOptions::new()).unwrap();
    assert_eq!(dwarf.entries().map(|entry| entry.depth()).max(), Some(999));
    let bytes = object(FORM());
    let text = dump(&Object::read(&bytes).unwrap(), &dwarf, None, DumpOptions::default());
    assert!(text.lines().all(|line| line.len() < 100));
}
