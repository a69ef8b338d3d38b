//! PTX texts of linked objects: nvlink appends texts of one name, and keeps texts of several names, whose number ptxas computes
//! from the text and the names of its files. A rewrite has an equal text once, and the lines of the PTX refer to it.

use eitri::read::Object;
use eitri::read::nvidia::{PtxText, ptx_lines};

use super::nvlink::{NVLINK, disassembled};
use super::{loaded, rewritten};
use crate::common::cubin::PTXAS;
use crate::common::tools::Folder;

/// A function that several objects can have.
const TEXT: &str = "\
.version 8.0
.target sm_80
.address_size 64
.weak .func (.param .b32 r) twice(.param .b32 a)
{
.reg .b32 %r<4>;
.loc 1 3 1
ld.param.b32 %r1, [a];
add.s32 %r2, %r1, %r1;
.loc 1 4 1
st.param.b32 [r], %r2;
ret;
}
.file 1 \"w.cu\"
";

/// Lines of the section, each with a zero byte: ptxas leaves `.loc` empty, and `.file` out.
fn stored() -> Vec<u8> {
    let lines = TEXT.lines().filter(|line| !line.starts_with(".file"));
    let lines = lines.map(|line| if line.starts_with(".loc") { "" } else { line });
    lines.flat_map(|line| [line.as_bytes(), &[0]].concat()).collect()
}

/// Links objects of texts, by their number; `None` without the tools.
fn linked(processor: &str, texts: &[&str]) -> Option<Vec<u8>> {
    let folder = Folder::new();
    let arch = format!("-arch={processor}");
    let mut words = vec![arch.clone(), "-g".into(), "-o".into(), "linked.cubin".into()];
    for (number, text) in texts.iter().enumerate() {
        let [source, object] = ["ptx", "o"].map(|end| format!("{number}.{end}"));
        folder.file(&source, text);
        PTXAS.run_in(folder.path(), &[&*arch, "-c", "-lineinfo", &source, "-o", &object])?.clean();
        words.push(object);
    }
    NVLINK.run_in(folder.path(), &words)?.clean();
    Some(std::fs::read(folder.path().join("linked.cubin")).expect("a cubin"))
}

/// Contents of the sections with texts.
fn texts(bytes: &[u8]) -> Vec<Vec<u8>> {
    let sections = Object::raw_sections(bytes).expect("sections");
    let texts = sections.iter().filter(|(name, _)| name.starts_with(".nv_debug_ptx_txt"));
    texts.map(|(_, bytes)| bytes.to_vec()).filter(|bytes| !bytes.is_empty()).collect()
}

/// The lines of the PTX, with their pc in the function, in the text that their file names.
fn rows(bytes: &[u8]) -> Vec<(u64, String)> {
    let object = Object::read(bytes).expect("a cubin");
    let start = object.symbol_address("twice").expect("the function");
    let all: Vec<PtxText<'_>> = PtxText::all(&object).filter(|text| text.count() > 0).collect();
    let [text] = &all[..] else { panic!("{} texts", all.len()) };
    let mut rows = Vec::new();
    for program in ptx_lines(&object) {
        let program = program.expect("lines");
        for row in program.rows().map(|row| row.expect("a row")).filter(|row| !row.end_sequence) {
            let section =
                object.section(&program.path(row.file).expect("a file")).expect("the section of the text");
            assert!(section.size > 0, "the lines are those of a text that is gone");
            rows.push((row.address - start, text.line(row.line).expect("a line").into_owned()));
        }
    }
    rows
}

#[test]
fn equal_texts_are_stored_once_with_their_lines() {
    // ptxas takes another number for the text of another file.
    let other = TEXT.replace("w.cu", "v.cu");
    for processor in ["sm_80", "sm_90", "sm_120"] {
        for (all, sizes) in [([TEXT, TEXT, TEXT], vec![3]), ([TEXT, &other, TEXT], vec![2, 1])] {
            let Some(before) = linked(processor, &all) else { return };
            let expected: Vec<Vec<u8>> = sizes.iter().map(|&count| stored().repeat(count)).collect();
            assert_eq!(texts(&before), expected, "{processor}");
            for dedupe in [false, true] {
                let after = rewritten(&before, |options| options.dedupe = dedupe).expect("a cubin").object;
                loaded::are_equal(processor, &before, &after);
                assert_eq!(texts(&after), [stored()], "{processor}");
                let rows = rows(&after);
                assert!(
                    rows.iter().any(|(pc, line)| (*pc, &**line) == (0, "add.s32 %r2, %r1, %r1;")),
                    "{rows:?}"
                );
                let Some(code) = disassembled(&before) else { return };
                pretty_assertions::assert_eq!(disassembled(&after), Some(code), "{processor}");
                let again = rewritten(&after, |options| options.dedupe = dedupe).expect("a cubin");
                assert!(again.object == after && again.changes.is_empty(), "{processor}");
            }
        }
    }
}

/// A text that only begins like another stays.
#[test]
fn different_texts_stay() {
    let other = TEXT.replace("%r1, %r1;", "%r1, %r1;\nadd.s32 %r2, %r2, 5;");
    let Some(before) = linked("sm_80", &[TEXT, &other]) else { return };
    let after = rewritten(&before, |options| options.dedupe = true).expect("a cubin").object;
    assert_eq!(texts(&before), texts(&after));
    assert_eq!(texts(&after).len(), 2);
}
