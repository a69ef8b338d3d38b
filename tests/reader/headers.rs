//! Headers of line programs: permitted forms of the components of an entry, and refused ones. DWARF 5 section 6.2.4.

use eitri::read::{Dwarf, LineProgram, Object, Sections};

use crate::common::with;
use crate::reader::bytes::Bytes;
use crate::reader::compiled::{CLANG, GCC, compile, sources};
use crate::reader::tools::Tool;

const RUSTC: Tool = Tool::new("rustc", "rustc");

const PATH: u16 = 1;
const DIRECTORY: u16 = 2;
const TIME: u16 = 3;
const SIZE: u16 = 4;
const MD5: u16 = 5;
const LLVM_SOURCE: u16 = 0x2001;

/// Forms of vendor-defined content, DWARF 5 section 6.2.4.2: blocks, data, a flag, signed and unsigned LEB128, a
/// section offset, and all forms of strings.
const VENDOR_FORMS: [u16; 21] = [
    0x0a, 0x03, 0x04, 0x09, 0x0b, 0x05, 0x06, 0x07, 0x1e, 0x0c, 0x0d, 0x0f, 0x17, 0x08, 0x0e, 0x1f, 0x1a,
    0x25, 0x26, 0x27, 0x28,
];

/// A header of version 5: two directories and one file, whose components have these forms.
struct Header {
    segment_bytes: u8,
    directories: Vec<(u16, u16)>,
    directory_count: u64,
    files: Vec<(u16, u16)>,
    file_count: u64,
}

impl Default for Header {
    fn default() -> Self {
        Self {
            segment_bytes: 0,
            directories: vec![(PATH, 0x08)],
            directory_count: 2,
            files: vec![(PATH, 0x08), (DIRECTORY, 0x0f)],
            file_count: 1,
        }
    }
}

/// A component in this form: a string at offset 1 of its section, or the number 1.
fn part(out: &mut Bytes, form: u16) {
    match form {
        0x08 => out.string("one"),
        0x0b | 0x0c => out.u8s([1]),
        0x25 => out.u8s([0]),
        0x05 | 0x26 => out.u16(1),
        0x27 => out.int(3, 0),
        0x06 | 0x28 => out.u32(1),
        0x07 => out.u64(1),
        0x1a | 0x1b => out.uleb(0),
        0x0e | 0x1f | 0x17 => out.offset(1),
        0x0d => out.sleb(1),
        0x0f => out.uleb(1),
        0x0a | 0x09 => out.u8s([1, 7]),
        0x03 => out.u16(1).u8s([7]),
        0x04 => out.u32(1).u8s([7]),
        0x1e => out.u8s([0x5a; 16]),
        _ => out,
    };
}

impl Header {
    fn write(&self, style: &Bytes) -> Bytes {
        let mut tables = style.empty();
        tables.u8s([1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1]);
        for (format, count) in [(&self.directories, self.directory_count), (&self.files, self.file_count)] {
            tables.u8s([format.len() as u8]);
            for &(name, form) in format {
                tables.uleb(name.into()).uleb(form.into());
            }
            tables.uleb(count);
            for _ in 0..count {
                format.iter().for_each(|&(_, form)| part(&mut tables, form));
            }
        }
        let mut header = style.empty();
        header.u16(5).u8s([8, self.segment_bytes]).offset(tables.len()).u8s(&tables.bytes);
        let mut section = style.empty();
        section.unit(&header);
        section
    }

    fn read<T>(&self, style: &Bytes, ask: impl Fn(&LineProgram<'_>) -> T) -> eitri::Result<T> {
        let section = self.write(style);
        let sections = with::<Sections>(|sections| {
            sections.big_endian = style.big_endian;
            sections.debug_line = &section.bytes;
            sections.debug_str = b"\0one\0";
            sections.debug_line_str = b"\0one\0";
        });
        LineProgram::read(&sections, 0, 8).map(|program| ask(&program))
    }
}

/// Forms that section 6.2.4.1 lists for each component, and LLVM's embedded source.
#[test]
fn parts_have_the_forms_of_the_specification() {
    for style in Bytes::all() {
        for form in [0x08, 0x0e, 0x1f] {
            let header = Header {
                directories: vec![(PATH, form)],
                files: vec![(PATH, form), (DIRECTORY, 0x0b), (LLVM_SOURCE, form)],
                ..Header::default()
            };
            let found = header.read(&style, |program| {
                let file = program.file(0).expect("a file");
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                (program.directory(1).map(text), text(file.path), file.directory, file.source.map(text))
            });
            let one = || "one".to_owned();
            assert_eq!(found.expect("a header"), (Some(one()), one(), 1, Some(one())), "{form:#x}");
        }
        for (name, forms) in [
            (DIRECTORY, &[0x0b, 0x05, 0x0f][..]),
            (TIME, &[0x0f, 0x06, 0x07, 0x09]),
            (SIZE, &[0x0f, 0x0b, 0x05, 0x06, 0x07]),
            (MD5, &[0x1e]),
            (0x2fff, &VENDOR_FORMS),
        ] {
            for &form in forms {
                let header = Header { files: vec![(PATH, 0x08), (name, form)], ..Header::default() };
                let found = header.read(&style, |program| {
                    let file = program.file(0).expect("a file");
                    assert_eq!(file.path, b"one");
                    [file.directory, file.modified, file.size, file.md5.map_or(0, |sum| sum[0].into())]
                });
                let number = |of, value| if name == of { value } else { 0 };
                // The contents of a time in a block are vendor-specific.
                let time = if form == 0x09 { 0 } else { number(TIME, 1) };
                let expected = [number(DIRECTORY, 1), time, number(SIZE, 1), number(MD5, 0x5a)];
                assert_eq!(found.expect("a header"), expected, "{name} {form:#x}");
            }
        }
    }
}

#[test]
fn headers_that_make_no_sense_are_refused() {
    let files = |name, form| vec![(PATH, 0x08), (name, form)];
    let mut all = vec![
        ("a segment selector of 4 bytes", Header { segment_bytes: 4, ..Header::default() }),
        (
            "an empty table with a form that is not known",
            Header { directories: vec![(PATH, 0x77)], directory_count: 0, ..Header::default() },
        ),
        (
            "an empty table with a number for a path",
            Header { directories: vec![(PATH, 0x0f)], directory_count: 0, ..Header::default() },
        ),
        ("a path twice", Header { files: files(PATH, 0x08), ..Header::default() }),
        (
            "a directory twice",
            Header {
                files: [files(DIRECTORY, 0x0b), files(DIRECTORY, 0x0b)].concat()[1..].into(),
                ..Header::default()
            },
        ),
        ("no path", Header { files: vec![(DIRECTORY, 0x0b)], ..Header::default() }),
    ];
    for form in [0x0b, 0x05, 0x06, 0x0d, 0x0f, 0x0a, 0x1e, 0x17] {
        all.push(("a path that is not a string", Header { files: vec![(PATH, form)], ..Header::default() }));
        all.push((
            "a directory that is not a string",
            Header { directories: vec![(PATH, form)], ..Header::default() },
        ));
    }
    for (what, name, forms) in [
        (
            "a directory index of another form",
            DIRECTORY,
            &[0x0d, 0x08, 0x0e, 0x1f, 0x1e, 0x0a, 0x06, 0x07][..],
        ),
        ("a time of another form", TIME, &[0x0d, 0x0b, 0x05, 0x08, 0x1f, 0x1e, 0x0a]),
        ("a size of another form", SIZE, &[0x0d, 0x08, 0x1f, 0x1e, 0x0a]),
        ("a sum of another form", MD5, &[0x0b, 0x0f, 0x08, 0x1f, 0x0a]),
        ("a text that is not a string", LLVM_SOURCE, &[0x0b, 0x0f, 0x0d, 0x1e, 0x0a]),
        ("a form that is not known", 0x2fff, &[0x77]),
    ] {
        all.extend(
            forms.iter().map(|&form| (what, Header { files: files(name, form), ..Header::default() })),
        );
    }
    for style in Bytes::all() {
        for (what, header) in &all {
            let Err(error) = header.read(&style, |_| ()) else { panic!("{what} was read") };
            assert_eq!(error.at().section.as_deref(), Some(".debug_line"), "{what}: {error}");
            assert!(error.at().offset.is_some(), "{what}: {error}");
        }
    }
}

/// Headers of compilers: checksums, embedded source, each version, tables by the compiler and by the assembler.
#[test]
fn headers_of_compilers_are_read() {
    let folder = sources();
    folder.file("a.rs", "pub fn f(n: &mut Vec<u8>) { n.push(1) }\n");
    let mut all: Vec<(Tool, &str, String)> = Vec::new();
    for version in 2..=5 {
        for more in ["", "-gno-as-locview-support -gno-as-loc-support"] {
            all.push((GCC, "macros.c", format!("-c -O1 -gdwarf-{version} {more}")));
        }
        all.push((CLANG, "macros.c", format!("-c -O1 -gdwarf-{version}")));
        all.push((
            RUSTC,
            "a.rs",
            format!("--crate-type=lib --emit=obj -Cdebuginfo=2 -Cdwarf-version={version}"),
        ));
    }
    all.push((CLANG, "macros.c", "-c -O1 -gdwarf-5 -gembed-source".into()));
    all.push((CLANG, "macros.c", "-c -O1 -gdwarf-5 -fno-integrated-as".into()));
    for (tool, source, flags) in all {
        let Some(path) = compile(tool, folder.path(), source, &flags, "a.o") else { return };
        let bytes = std::fs::read(path).expect("the object");
        let object = Object::read(&bytes).expect("the object");
        let dwarf = Dwarf::read(&object).expect("its units");
        for unit in dwarf.units() {
            let program = dwarf.lines(unit).expect("its lines").expect("a line program");
            assert!(!program.files.is_empty() && program.rows().all(|row| row.is_ok()), "{flags}");
            for file in &program.files {
                assert!(
                    file.directory == 0 || program.directory(file.directory).is_some(),
                    "{flags}: {file:?}"
                );
            }
        }
    }
}
