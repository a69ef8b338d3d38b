use gimli::{EndianSlice, RunTimeEndian};

use super::*;
use crate::emit::sample::{Folder, LLVM_DWARFDUMP, READELF, Tool, formats, linked, sample, section};

/// `b` and `B` have the same hash: 5381 * 33 + 98 = 177671; `a` has 177670.
#[test]
fn one_unit_by_hand() {
    let names = ["b", "B", "a"].into_iter().zip(5..).map(|(text, offset)| IndexName { text, offset });
    let entry =
        |name, tag, offset, parent| IndexEntry { name, tag, unit: IndexUnit::Compile(0), offset, parent };
    let entries = [
        entry(2, dw::DW_TAG_namespace, 0x20, Parent::NotIndexed),
        entry(0, dw::DW_TAG_variable, 0x22, Parent::Entry(0)),
        entry(1, dw::DW_TAG_variable, 0x30, Parent::Unknown),
        entry(2, dw::DW_TAG_variable, 0x40, Parent::Entry(1)),
    ];
    let index = NameIndex {
        format: Format::SMALL,
        compile_units: &[0x1000],
        local_type_units: &[],
        foreign_type_units: &[],
        names: &names.collect::<Vec<_>>(),
        entries: &entries,
    };
    let mut out = vec![0xee];
    let mut relocations = Vec::new();
    index.write(&mut out, &mut relocations).expect("is small");
    #[rustfmt::skip]
    let expected = [
        0xee, 142, 0, 0, 0, 5, 0, 0, 0,
        // One compile unit, no type units, two buckets, three names, size of the abbreviations, size of the
        // augmentation.
        1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 23, 0, 0, 0, 8, 0, 0, 0,
        b'L', b'L', b'V', b'M', b'0', b'7', b'0', b'0',
        0, 0, 0, 0,
        // 177670 is in bucket 0; 177671 is in bucket 1, starting with the second name.
        1, 0, 0, 0, 2, 0, 0, 0,
        0x06, 0xb6, 2, 0, 0x07, 0xb6, 2, 0, 0x07, 0xb6, 2, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        // The list of `a` has 5 bytes for its first entry, 9 for the second and 1 for the end.
        0, 0, 0, 0, 15, 0, 0, 0, 25, 0, 0, 0,
        // Namespace with `DW_IDX_die_offset` as `ref4` and `DW_IDX_parent` as `flag_present`; variables.
        1, 0x39, 3, 0x13, 4, 0x19, 0, 0,
        2, 0x34, 3, 0x13, 4, 0x13, 0, 0,
        3, 0x34, 3, 0x13, 0, 0,
        0,
        1, 0x20, 0, 0, 0, 2, 0x40, 0, 0, 0, 15, 0, 0, 0, 0,
        2, 0x22, 0, 0, 0, 0, 0, 0, 0, 0,
        3, 0x30, 0, 0, 0, 0,
    ];
    assert_eq!(out, expected);
    let relocation = |offset, name, addend| Relocation {
        offset,
        bytes: 4,
        target: RelocationTarget::Section(name),
        addend,
    };
    let expected = [
        relocation(45, ".debug_info", 0x1000),
        relocation(69, ".debug_str", 7),
        relocation(73, ".debug_str", 5),
        relocation(77, ".debug_str", 6),
    ];
    assert_eq!(relocations, expected);
}

#[test]
fn buckets_follow_the_hashes() {
    let count = |hashes: core::ops::Range<u32>| bucket_count(&hashes.collect::<Vec<_>>());
    assert_eq!(
        (count(0..0), count(0..16), count(0..17), count(0..1024), count(0..1025)),
        (0, 16, 8, 512, 256)
    );
    assert_eq!(bucket_count(&[7, 7, 7]), 1);
}

/// gimli finds every entry by name, in units of all kinds.
#[test]
fn gimli_finds_each_entry() {
    for (offset_bytes, big_endian) in [(4, false), (4, true), (8, false), (8, true)] {
        let format = Format { offset_bytes, big_endian, ..Format::SMALL };
        let texts: Vec<String> = (0..100).map(|n| format!("Größe{n}")).collect();
        let mut str = vec![0];
        let mut names = Vec::new();
        for text in &texts {
            names.push(IndexName { text, offset: str.len() as u64 });
            str.extend_from_slice(text.as_bytes());
            str.push(0);
        }
        // More units than fit a byte.
        let units: Vec<u64> = (0..300).map(|n| n * 0x100).collect();
        let entries: Vec<IndexEntry> = (0..500u32)
            .map(|n| IndexEntry {
                name: n * 7 % 100,
                tag: dw::DW_TAG_variable,
                unit: match n % 3 {
                    0 => IndexUnit::Compile(n % 300),
                    1 => IndexUnit::LocalType(n % 2),
                    _ => IndexUnit::ForeignType(n % 4),
                },
                offset: n + 11,
                parent: match n % 5 {
                    0 => Parent::Unknown,
                    1 => Parent::NotIndexed,
                    _ => Parent::Entry(499 - n),
                },
            })
            .collect();
        let index = NameIndex {
            format,
            compile_units: &units,
            local_type_units: &[0x10_0000, 0x10_0100],
            foreign_type_units: &[1, 2, 3, u64::MAX],
            names: &names,
            entries: &entries,
        };
        let mut out = Vec::new();
        let mut relocations = Vec::new();
        index.write(&mut out, &mut relocations).expect("is small");
        let out = linked(format, out, &relocations);

        let endian = if big_endian { RunTimeEndian::Big } else { RunTimeEndian::Little };
        let section = gimli::DebugNames::new(&out, endian);
        let strings = gimli::DebugStr::from(EndianSlice::new(&str, endian));
        let header = section.headers().next().expect("a header").expect("one");
        assert_eq!(header.augmentation_string().expect("one").slice(), b"LLVM0700");
        let read = header.index().expect("an index");
        assert_eq!(read.bucket_count(), 50);
        let mut count = 0;
        for (number, text) in (0..).zip(&texts) {
            let mut by_hash = read.find_by_hash(hash::hash(text)).expect("a bucket");
            let mut same = Vec::new();
            while let Some(name) = by_hash.next().expect("a name") {
                if read.name_string(name, &strings).expect("a string").slice() == text.as_bytes() {
                    same.push(name);
                }
            }
            let [name] = same[..] else { panic!("`{text}` is there {} times", same.len()) };
            let mut read_entries = read.name_entries(name).expect("entries");
            for entry in entries.iter().filter(|entry| entry.name == number) {
                let read_entry = read_entries.next().expect("an entry").expect("one more");
                assert_eq!(read_entry.die_offset(), Ok(Some(gimli::UnitOffset(entry.offset as usize))));
                let unit = (read_entry.compile_unit(&read), read_entry.type_unit(&read));
                let expected = match entry.unit {
                    IndexUnit::Compile(n) => (Ok(Some(gimli::DebugInfoOffset(n as usize * 0x100))), Ok(None)),
                    IndexUnit::LocalType(n) => {
                        let offset = gimli::DebugInfoOffset(0x10_0000 + 0x100 * n as usize);
                        (Ok(None), Ok(Some(gimli::NameTypeUnit::Local(offset))))
                    }
                    IndexUnit::ForeignType(n) => {
                        let signature = gimli::DebugTypeSignature(index.foreign_type_units[n as usize]);
                        (Ok(None), Ok(Some(gimli::NameTypeUnit::Foreign(signature))))
                    }
                };
                assert_eq!(unit, expected);
                let parent = read_entry.parent().expect("a parent").map(|parent| {
                    let parent = read.name_entry(parent?).expect("an entry");
                    Some(parent.die_offset().expect("an offset").expect("one").0)
                });
                let expected = match entry.parent {
                    Parent::Unknown => None,
                    Parent::NotIndexed => Some(None),
                    Parent::Entry(parent) => Some(Some(entries[parent as usize].offset as usize)),
                };
                assert_eq!(parent, expected);
                count += 1;
            }
            assert!(read_entries.next().expect("the end").is_none());
        }
        assert_eq!(count, 500);
    }
}

/// LLVM verifies that the index is well-formed and contains every named entry.
#[test]
fn others_read_and_verify() {
    for format in formats(5..=5) {
        let folder = Folder::new();
        let sample = sample(format, &[]);
        let big_endian = format.big_endian;
        let texts = ["kernel0", "kernel1", "int", "ns", "S0", "S1"];
        let mut str = Vec::new();
        let mut names = Vec::new();
        for text in texts {
            names.push(IndexName { text, offset: str.len() as u64 });
            str.extend_from_slice(text.as_bytes());
            str.push(0);
        }
        let mut entries = Vec::new();
        for unit in 0..2 {
            let [function, int, namespace, structure] = sample.entries[unit as usize];
            let first = entries.len() as u32;
            let mut entry = |name, tag, offset, parent| {
                entries.push(IndexEntry { name, tag, unit: IndexUnit::Compile(unit), offset, parent });
            };
            entry(unit, dw::DW_TAG_subprogram, function, Parent::NotIndexed);
            entry(2, dw::DW_TAG_base_type, int, Parent::NotIndexed);
            entry(3, dw::DW_TAG_namespace, namespace, Parent::NotIndexed);
            entry(4 + unit, dw::DW_TAG_structure_type, structure, Parent::Entry(first + 2));
        }
        let units = sample.units.map(|(start, _)| start);
        let index = NameIndex {
            format,
            compile_units: &units,
            local_type_units: &[],
            foreign_type_units: &[],
            names: &names,
            entries: &entries,
        };
        let mut out = Vec::new();
        let mut relocations = Vec::new();
        index.write(&mut out, &mut relocations).expect("is small");
        let more = [section(".debug_names", out, relocations), section(".debug_str", str, Vec::new())];
        let Some(file) = sample.program(more, &folder) else { return };
        if let Some(ran) = LLVM_DWARFDUMP.run(&["--verify".as_ref(), file.as_os_str()]) {
            let text = ran.clean();
            assert!(text.contains("Verifying .debug_names...") && text.contains("No errors."), "{text}");
        }
        if let Some(ran) = LLVM_DWARFDUMP.run(&["--debug-names".as_ref(), file.as_os_str()]) {
            let text = ran.clean();
            assert_eq!(text.matches("DW_IDX_compile_unit: 0x01").count(), 4, "{text}");
            assert_eq!(text.matches("DW_IDX_parent: <parent not indexed>").count(), 6, "{text}");
            assert!(texts.iter().all(|name| text.contains(&format!("\"{name}\""))), "{text}");
        }
        // readelf decodes buckets and hashes in the byte order of the host.
        if big_endian == cfg!(target_endian = "big")
            && let Some(ran) = READELF.run(&["--debug-dump=gdb_index".as_ref(), file.as_os_str()])
        {
            let text = ran.clean();
            assert!(texts.iter().all(|name| text.contains(&format!(" {name}:"))), "{text}");
        }
    }
}

/// Hashes that LLVM computes for names in several alphabets.
#[test]
fn hashes_are_those_of_llvm() {
    let names =
        ["Ünï", "İıi", "ΣΑΣς", "Straße", "ſK", "Ж_щ", "Å1", "ՈՒ", "ᏣᎳᎩ", "ꭰ", "Ⴀა", "ǅǆ", "plain_ASCII"];
    let folder = Folder::new();
    let text: String = names.iter().map(|name| format!("int {name};\n")).collect();
    let source = folder.file("a.c", text);
    let object = folder.path().join("a.o");
    let words = ["--target=x86_64-linux-gnu", "-gdwarf-5", "-gpubnames", "-w", "-c", "-o"];
    let words: Vec<_> =
        words.iter().map(|word| word.as_ref()).chain([object.as_os_str(), source.as_os_str()]).collect();
    let Some(ran) = Tool::new("clang-19", "clang-19").run(&words) else { return };
    ran.clean();
    let Some(ran) = LLVM_DWARFDUMP.run(&["--debug-names".as_ref(), object.as_os_str()]) else { return };
    let text = ran.clean();
    let hashes: Vec<&str> = text.lines().filter_map(|line| line.trim().strip_prefix("Hash: ")).collect();
    assert!(hashes.len() > names.len(), "{text}");
    for name in names {
        let hash = format!("0x{:X}", hash::hash(name));
        assert!(hashes.contains(&&*hash), "{name} {hash}\n{text}");
    }
}
