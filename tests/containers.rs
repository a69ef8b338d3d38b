//! The promise: objects in archives, bundles and host objects are found, and damaged containers are errors.

use crate::common::tools;

use std::borrow::Cow;
use std::path::Path;
use std::process::Command;

use eitri::emit::Section;
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::read::Object;
use eitri::read::containers::{ContainerMember, members, readable_members};
use eitri::target::Target;
use tools::{Folder, Tool};

fn file(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(crate::common::ROOT).join("tests/objects/containers").join(name)).expect("a file")
}

/// Names and processors of the members.
fn processors(bytes: &[u8]) -> Vec<(String, Option<&'static str>)> {
    let all = members(bytes).expect("it is read").expect("a container");
    let processor = |member: &ContainerMember<'_>| {
        let bytes = member.bytes.as_deref().expect("contents");
        Object::read(bytes).expect("an object").gfx().map(|gfx| gfx.name())
    };
    all.iter().map(|member| (member.name.clone(), processor(member))).collect()
}

#[test]
fn members_are_those_that_the_tools_put_in() {
    let bundle = [
        ("hipv4-amdgcn-amd-amdhsa--gfx900".to_owned(), Some("gfx900")),
        ("hipv4-amdgcn-amd-amdhsa--gfx1030".to_owned(), Some("gfx1030")),
    ];
    assert_eq!(processors(&file("k06.hipfb")), bundle);
    assert_eq!(processors(&file("host_with_hip_fatbin.o")), bundle);
    let archive = [("k01_saxpy.gfx900.O2.hsaco", Some("gfx900")), ("k06_calls.gfx900.O2.o", Some("gfx900"))];
    assert_eq!(processors(&file("k01_k06.a")), archive.map(|(name, gfx)| (name.to_owned(), gfx)));
}

#[test]
fn ordinary_files_are_not_containers() {
    for bytes in [&b""[..], b"text", b"\x7fELF"] {
        assert!(!matches!(members(bytes), Ok(Some(_))), "{bytes:?}");
    }
    let object = include_bytes!("../examples/data/uspill.o");
    assert_eq!(members(object).expect("it is read"), None);
}

/// A member of an archive: the header with a name and a size, and the contents.
fn member(name: &str, contents: &[u8]) -> Vec<u8> {
    let header = format!("{name:16}{:12}{:6}{:6}{:8}{:10}`\n", 0, 0, 0, 644, contents.len());
    let mut bytes = [header.as_bytes(), contents].concat();
    if bytes.len() % 2 == 1 {
        bytes.push(b'\n');
    }
    bytes
}

#[test]
fn names_of_bsd_and_of_thin_archives_are_read() {
    let bsd = [
        &b"!<arch>\n"[..],
        &member("#1/12", b"__.SYMDEF\0\0\0abcd"),
        &member("#1/8", b"long\0\0\0\0first"),
        &member("b.o", b"second!"),
    ]
    .concat();
    let expected = [("long", &b"first"[..]), ("b.o", b"second!")];
    let all = members(&bsd).expect("it is read").expect("an archive");
    let found: Vec<_> =
        all.iter().map(|one| (one.name.as_str(), one.bytes.as_deref().expect("bytes"))).collect();
    assert_eq!(found, expected);
    let names = b"folder/a-long-name.o/\n";
    let mut reference = member("/0", &[0; 400]);
    reference.truncate(60);
    let thin = [&b"!<thin>\n"[..], &member("//", names), &reference].concat();
    let all = members(&thin).expect("it is read").expect("an archive");
    let name = "folder/a-long-name.o".into();
    assert_eq!(all, [ContainerMember { name, bytes: None, is_compressed: false }]);
}

/// A zlib stream with one stored block. RFC 1950 and RFC 1951.
fn stored(data: &[u8]) -> Vec<u8> {
    let mut a = 1u32;
    let mut b = 0u32;
    for byte in data {
        a = (a + u32::from(*byte)) % 65521;
        b = (b + a) % 65521;
    }
    let length = u16::try_from(data.len()).expect("a short block");
    [&[0x78, 1, 1][..], &length.to_le_bytes(), &(!length).to_le_bytes(), data, &(b << 16 | a).to_be_bytes()]
        .concat()
}

/// A bundle with one member.
fn bundle() -> Vec<u8> {
    [
        &b"__CLANG_OFFLOAD_BUNDLE__"[..],
        &1u64.to_le_bytes(),
        &64u64.to_le_bytes(),
        &5u64.to_le_bytes(),
        &4u64.to_le_bytes(),
        b"gfx9",
        &[0; 4],
        b"hello",
    ]
    .concat()
}

/// The bundle, compressed.
fn compressed(version: u16) -> Vec<u8> {
    let bundle = bundle();
    let data = stored(&bundle);
    let size = bundle.len() as u64;
    let total = |head: usize| (head + data.len()) as u64;
    let sizes = match version {
        1 => (size as u32).to_le_bytes().to_vec(),
        2 => [(total(24) as u32).to_le_bytes(), (size as u32).to_le_bytes()].concat(),
        _ => [total(32).to_le_bytes(), size.to_le_bytes()].concat(),
    };
    [&b"CCOB"[..], &version.to_le_bytes(), &0u16.to_le_bytes(), &sizes, &[7; 8], &data].concat()
}

/// The member of the bundle.
fn hello() -> ContainerMember<'static> {
    ContainerMember { name: "gfx9".into(), bytes: Some(Cow::Borrowed(b"hello")), is_compressed: false }
}

#[test]
fn compressed_bundles_of_each_version_are_read() {
    for version in 1..=3 {
        let file = compressed(version);
        let all = members(&file).expect("it is read").expect("a bundle");
        assert_eq!(all, [hello()], "version {version}");
        for at in 0..file.len() {
            let mut changed = file.clone();
            changed[at] ^= 0xff;
            let _ = members(&changed);
        }
    }
    assert!(members(b"CCOB\x04\0\0\0").is_err());
}

/// A host object with a section of this name.
fn host(name: &'static str, bytes: Vec<u8>) -> Vec<u8> {
    let section = Section { name, bytes, relocations: Vec::new(), is_strings: false, group: None };
    new_object(&Target::x86_64(), &ObjectCode::text(vec![0x90; 4]), &[section]).expect("an object")
}

/// Bundles in a host object are aligned to a page each, compressed or not.
#[test]
fn compressed_bundles_in_host_objects_are_read() {
    let mut section = compressed(2);
    for next in [bundle(), compressed(3)] {
        section.resize(section.len().next_multiple_of(4096), 0);
        section.extend(next);
    }
    let object = host(".hip_fatbin", section);
    let all = members(&object).expect("it is read").expect("a container");
    assert_eq!(all, [hello(), hello(), hello()]);
}

/// LLVM's offload binary: header, entry, strings, image. Clang documentation, Offload Binary.
fn offload_binary(processor: &str, image: &[u8]) -> Vec<u8> {
    const STRINGS: u64 = 32 + 40;
    let texts = ["triple", "amdgcn-amd-amdhsa", "arch", processor];
    let mut table = Vec::new();
    let mut characters = Vec::new();
    for text in texts {
        // Offsets of a key and its value.
        table.extend((STRINGS + 32 + characters.len() as u64).to_le_bytes());
        characters.extend([text.as_bytes(), &[0]].concat());
    }
    characters.resize(characters.len().next_multiple_of(8), 0);
    let start = STRINGS + 32 + characters.len() as u64;
    let size = (start + image.len() as u64).next_multiple_of(8);
    let header = [size, 32, 40].map(u64::to_le_bytes).concat();
    // An object for HIP, no flags.
    let entry = [
        &[1, 0, 4, 0, 0, 0, 0, 0][..],
        &[STRINGS, 2, start, image.len() as u64].map(u64::to_le_bytes).concat(),
    ];
    let mut all =
        [&[0x10, 0xff, 0x10, 0xad, 1, 0, 0, 0][..], &header, &entry.concat(), &table, &characters, image]
            .concat();
    all.resize(size as usize, 0);
    all
}

/// The images of offload binaries in a host object; LLVM reads the binaries as having the same processors.
#[test]
fn offload_binaries_in_host_objects_are_read() {
    let archive = file("k01_k06.a");
    let images = members(&archive).expect("it is read").expect("an archive");
    let image = |index: usize| images[index].bytes.as_deref().expect("contents");
    let binaries = [offload_binary("gfx900", image(0)), offload_binary("gfx90a", image(1))];
    let object = host(".llvm.offloading", binaries.concat());
    let all = members(&object).expect("it is read").expect("a container");
    let found: Vec<_> = all.iter().map(|one| (one.name.as_str(), one.bytes.as_deref())).collect();
    let expected =
        [("amdgcn-amd-amdhsa-gfx900", Some(image(0))), ("amdgcn-amd-amdhsa-gfx90a", Some(image(1)))];
    assert_eq!(found, expected);
    let folder = Folder::new();
    for (binary, processor) in binaries.iter().zip(["gfx900", "gfx90a"]) {
        let path = folder.file(processor, binary).display().to_string();
        let Some(ran) = Tool::new("llvm-objdump-19", "llvm-19").run(&["--offloading", &path]) else { return };
        let listed = ran.clean();
        assert!(listed.contains(processor) && listed.contains("amdgcn-amd-amdhsa"), "{listed}");
    }
}

/// A wrong size of an offload binary does not hide the next one.
#[test]
fn sizes_of_offload_binaries_are_right() {
    let [first, second] = ["gfx900", "gfx90a"].map(|processor| offload_binary(processor, &[7; 13]));
    let with_size = |size: usize| {
        let mut both = [&first[..], &second].concat();
        both[8..16].copy_from_slice(&(size as u64).to_le_bytes());
        members(&host(".llvm.offloading", both)).map(|all| all.map_or(0, |all| all.len()))
    };
    assert_eq!(with_size(first.len()).expect("both are read"), 2);
    // A binary without an image has no member; its offset of an image is 0.
    let mut empty = offload_binary("gfx900", &[]);
    empty[56..64].fill(0);
    let object = host(".llvm.offloading", [&empty[..], &second].concat());
    assert_eq!(members(&object).expect("it is read").map(|all| all.len()), Some(1));
    for size in (0..first.len() + second.len() + 8).filter(|size| *size != first.len()) {
        // Up to seven bytes of padding can belong to either: the image ends three bytes before the binary does.
        match with_size(size) {
            Ok(count) => assert!(count == 2 && (first.len() - 3..first.len()).contains(&size), "{size}"),
            Err(error) => assert!(error.to_string().contains("offload binary"), "{size}: {error}"),
        }
    }
}

/// NVIDIA's fat binary: a header of 16 bytes, and for each cubin one of 64 bytes, with kind, size and processor.
fn fat_binary(cubins: &[(u32, &[u8])]) -> Vec<u8> {
    let entry = |(sm, data): &(u32, &[u8])| {
        let header = [&2_u16.to_le_bytes()[..], &[1, 1], &64_u32.to_le_bytes()].concat();
        let size = (data.len() as u64).to_le_bytes();
        let mut all = [&header[..], &size, &[0; 12], &sm.to_le_bytes()].concat();
        all.resize(64, 0);
        all.extend_from_slice(data);
        all
    };
    let entries = cubins.iter().map(entry).collect::<Vec<_>>().concat();
    let header = [0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0];
    [&header[..], &(entries.len() as u64).to_le_bytes(), &entries].concat()
}

/// A fat binary can be a file of its own: nvcc writes one with `--fatbin`.
#[test]
fn fat_binary_alone_is_a_container() {
    let cubin = [b"\x7fELF".as_slice(), &[7; 12]].concat();
    let fat = fat_binary(&[(80, &cubin), (90, &[0x28, 0xb5, 0x2f, 0xfd])]);
    let all = members(&fat).expect("it is read").expect("a container");
    let found: Vec<_> = all.iter().map(|one| (&*one.name, one.bytes.as_deref(), one.is_compressed)).collect();
    assert_eq!(found, [("sm_80", Some(&cubin[..]), false), ("sm_90", None, true)]);
}

/// The command opens fat binaries. It does not rewrite their cubins, and names each of them.
#[test]
fn cubins_in_fat_binaries_are_read_and_stay() {
    let cubin =
        std::fs::read(Path::new(crate::common::ROOT).join("tests/objects/typed.cubin")).expect("a file");
    let fat = fat_binary(&[(89, &cubin)]);
    let folder = Folder::new();
    folder.file("host.o", host(".nv_fatbin", fat.clone()));
    folder.file("code.fatbin", fat);
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_eitri"));
        let ran = command.current_dir(folder.path()).args(arguments).output().expect("it runs");
        let [out, errors] = [ran.stdout, ran.stderr].map(|text| String::from_utf8(text).expect("text"));
        (ran.status.code(), out, errors)
    };
    for file in ["host.o", "code.fatbin"] {
        let (code, out, errors) = run(&["stats", file]);
        assert!(code == Some(0) && out.contains(&format!("{file}(sm_89)")), "{file}: {out}{errors}");
        let (code, out, errors) = run(&["rewrite", file, "-o", "new"]);
        let lines = [
            format!("skipped: {file}(sm_89): objects in NVIDIA's fat binaries are not rewritten"),
            format!("eitri: {file}: no object that can be rewritten has debug information"),
        ];
        assert_eq!((code, &*out), (Some(2), ""), "{errors}");
        assert_eq!(errors.lines().collect::<Vec<_>>(), lines, "{file}");
        assert!(!folder.path().join("new").exists());
    }
}

/// A wrong size of a fat binary does not hide the next one, and zeros are between them alone.
#[test]
fn sizes_of_fat_binaries_are_right() {
    let cubin = [b"\x7fELF".as_slice(), &[7; 12]].concat();
    let [first, second] = [80, 90].map(|sm| fat_binary(&[(sm, &cubin)]));
    let names = |section: Vec<u8>| {
        let object = host(".nv_fatbin", section);
        let all = members(&object)?.unwrap_or_default();
        Ok::<_, eitri::Error>(all.into_iter().map(|one| one.name).collect::<Vec<_>>())
    };
    let both = [&first[..], &[0; 8], &second].concat();
    assert_eq!(names(both.clone()).expect("both are read"), ["sm_80", "sm_90"]);
    assert_eq!(names([&both[..], &[0; 5]].concat()).expect("zeros are no binary"), ["sm_80", "sm_90"]);
    let with = |at: usize, byte: u8| {
        let mut changed = both.clone();
        changed[at] = byte;
        names(changed).map_err(|error| error.to_string())
    };
    // The first byte of the second binary.
    let error = with(first.len() + 8, 0x51).expect_err("it is no fat binary");
    assert!(error.contains("a fat binary begins with") && error.contains(".nv_fatbin"), "{error}");
    // Sizes of the first one: its header is 16 bytes, and what follows belongs to it up to its size.
    for size in (0..=0xff_u8).filter(|size| usize::from(*size) != first.len() - 16) {
        // Up to eight zeros between them can belong to either.
        match with(8, size) {
            Ok(names) => assert!(names.len() == 2 || names.is_empty(), "{size}: {names:?}"),
            Err(error) => assert!(error.contains("fat binary"), "{size}: {error}"),
        }
    }
    // Without a header, the next binary would be this one.
    let mut empty = both.clone();
    empty[6..16].fill(0);
    let error = names(empty).expect_err("it has no header").to_string();
    assert!(error.contains("fat binary header has 0 bytes; expected at least 16"), "{error}");
}

/// The sections of a host object, and the members before an error, are read apart.
#[test]
fn members_before_an_error_are_read() {
    let junk = b"junk, not an offload binary";
    let mut sections = Vec::new();
    for (name, bytes) in [(".hip_fatbin", bundle()), (".llvm.offloading", junk.to_vec())] {
        sections.push(Section { name, bytes, relocations: Vec::new(), is_strings: false, group: None });
    }
    let object = |sections: &[Section]| {
        new_object(&Target::x86_64(), &ObjectCode::text(vec![0x90; 4]), sections).expect("an object")
    };
    let bytes = object(&sections);
    let (all, errors) = readable_members(&bytes).expect("a container");
    assert_eq!(all, [hello()]);
    let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
    let [error] = &errors[..] else { panic!("{errors:?}") };
    assert!(error.starts_with("section .llvm.offloading, offset 0x0: "), "{error}");
    assert!(members(&bytes).is_err());
    // Nothing but bundles and padding is in the section of HIP.
    for (bytes, is_error) in
        [(vec![0; 64], false), (junk.to_vec(), true), ([&[0; 8][..], junk].concat(), true)]
    {
        sections.truncate(1);
        sections[0].bytes = bytes;
        let bytes = object(&sections);
        let errors = readable_members(&bytes).map_or(0, |found| found.1.len());
        assert_eq!(errors, usize::from(is_error));
    }
    let archive = [&b"!<arch>\n"[..], &member("a.o/", b"junk"), b"no header"].concat();
    let (all, errors) = readable_members(&archive).expect("a container");
    assert_eq!((all.len(), all[0].name.as_str(), errors.len()), (1, "a.o", 1));
}

/// Sizes and offsets beyond the file are errors; no change of one byte causes a panic.
#[test]
fn damaged_containers_are_errors() {
    for name in ["k01_k06.a", "k06.hipfb"] {
        let bytes = file(name);
        for length in (0..bytes.len()).step_by(97) {
            let _ = members(&bytes[..length]);
        }
        assert!(members(&bytes[..bytes.len() / 2]).is_err(), "{name}");
        // The headers.
        for at in 0..400 {
            for by in [1, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[at] ^= by;
                let _ = members(&changed);
            }
        }
    }
}

/// The cubins in the host object of nvcc are those that cuobjdump extracts from it. Compressed ones have names alone.
#[test]
fn cubins_of_fat_binaries_are_those_that_cuobjdump_extracts() {
    let nvcc = Tool::new("nvcc", "nvidia-cuda-nvcc of PyPI");
    let cuobjdump = Tool::new("cuobjdump", "nvidia-cuda-cuobjdump of PyPI");
    let folder = Folder::new();
    let source = "__global__ void k(int *p, int n) { int i = threadIdx.x; if (i < n) p[i] = i * n; }\n";
    let source = folder.file("k.cu", source).display().to_string();
    let object = folder.path().join("k.o").display().to_string();
    let codes = ["-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=sm_90"];
    let compile = |more: &[&str]| {
        let all: Vec<&str> =
            codes.iter().chain(["-G", "-c", &source, "-o", &object].iter()).copied().collect();
        Some(nvcc.run(&[&all, more].concat())?.clean())
    };
    if compile(&["--no-compress"]).is_none() {
        return;
    }
    let bytes = std::fs::read(&object).expect("an object");
    let all = members(&bytes).expect("it is read").expect("a container");
    let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["sm_80", "sm_90"]);
    for ContainerMember { name, bytes, .. } in &all {
        let bytes = bytes.as_deref().expect("contents");
        let report = eitri::lint::lint(bytes, &eitri::lint::LintOptions::default()).expect("it is read");
        assert_eq!((report.functions, report.entries > 0), (1, true), "{name}");
        let Some(listed) = cuobjdump.run(&["-lelf", &object]) else { return };
        let listed = listed.clean();
        let file = listed.split_whitespace().find(|word| word.ends_with(&format!("{name}.cubin")));
        let file = file.unwrap_or_else(|| panic!("{name}: {listed}"));
        // The tool extracts to the current folder.
        let Some(ran) = cuobjdump.run_in(folder.path(), &["-xelf", file, &object]) else { return };
        assert!(ran.succeeded, "{ran}");
        let extracted = std::fs::read(folder.path().join(file)).expect("a cubin");
        // Members are padded to eight bytes.
        let padding = bytes.strip_prefix(&extracted[..]).expect("the bytes are those of cuobjdump");
        assert!(padding.len() < 8 && padding.iter().all(|byte| *byte == 0), "{name}: {padding:?}");
    }
    compile(&[]).expect("the compiler is there");
    let bytes = std::fs::read(&object).expect("an object");
    let named = |name: &str| ContainerMember { name: name.into(), bytes: None, is_compressed: true };
    assert_eq!(members(&bytes).expect("it is read"), Some(vec![named("sm_80"), named("sm_90")]));
    // The command skips no member in silence.
    let run = |more: &[&str]| {
        let eitri = std::process::Command::new(env!("CARGO_BIN_EXE_eitri"));
        let output = { eitri }.arg("lint").args(more).arg(&object).output().expect("it runs");
        (output.status.code(), String::from_utf8(output.stderr).expect("text"))
    };
    let line = |name| format!("skipped: {object}({name}): the member is compressed\n");
    assert_eq!(run(&[]), (Some(0), line("sm_80") + &line("sm_90")));
    let (code, error) = run(&["--member", "sm_90"]);
    assert_eq!((code, error.contains("(sm_90): the member is compressed")), (Some(2), true), "{error}");
}
