//! Words: valid modules, and errors for others.

use eitri::spirv::{Set, Words, from_bytes, read, validate};
use pretty_assertions::assert_eq;

use crate::spirv::assemble::assemble;
use crate::spirv::{OPENCL, SHADER, bytes};

#[test]
fn read_words_are_written_back() {
    for text in [OPENCL, SHADER] {
        let words = assemble(text).words;
        assert_eq!(read(&words).expect("reads").encode(), words);
    }
}

#[test]
fn files_have_either_order_of_bytes() {
    let words = assemble(OPENCL).words;
    let big: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    assert_eq!(from_bytes(&bytes(&words)).expect("is a module"), words);
    assert_eq!(from_bytes(&big).expect("is a module"), words);
    let swapped: Vec<u32> = words.iter().map(|word| word.swap_bytes()).collect();
    let error = read(&swapped).expect_err("the words are of another machine");
    assert_eq!(error.to_string(), "word 0: the words have their bytes in the other order");
    let error = from_bytes(&bytes(&words)[..words.len() * 4 - 3]).expect_err("a word is not whole");
    assert_eq!(
        error.to_string(),
        format!("word {}: the last word of the module is not whole", words.len() - 1)
    );
}

#[test]
fn invalid_words_are_refused_with_their_index() {
    let header = [0x0723_0203, 0x0001_0100, 0, 10, 0];
    let with = |more: &[u32]| [&header[..], more].concat();
    let cases: &[(Vec<u32>, &str)] = &[
        (vec![], "this is not a SPIR-V module: its first word is not 0x07230203"),
        (vec![1, 2, 3, 4, 5], "this is not a SPIR-V module: its first word is not 0x07230203"),
        (header[..4].to_vec(), "word 4: the words end inside the header"),
        (with(&[0]), "word 5: instruction with opcode 0 has 0 words; expected at least 1"),
        (with(&[1 << 16, 253]), "word 6: instruction with opcode 253 has 0 words; expected at least 1"),
        (with(&[3 << 16 | 19, 1]), "word 5: the words end inside the instruction of opcode 19"),
        (with(&[1 << 16 | 19]), "word 5: instruction with opcode 19 has 1 word; expected at least 2"),
        (with(&[2 << 16 | 43, 1]), "word 5: instruction with opcode 43 has 2 words; expected at least 3"),
        (with(&[3 << 16 | 7, 1, 0x6161_6161]), "word 5: the string has no end"),
        (with(&[4 << 16 | 12, 1, 2, 3]), "word 5: OpExtInst has 4 words; expected at least 5"),
    ];
    for (words, expected) in cases {
        assert_eq!(read(words).expect_err(expected).to_string(), *expected);
    }
    assert!(Words::new(&header).is_ok_and(|words| words.instructions().next().is_none()));
}

/// An unknown instruction may define ids that others refer to.
#[test]
fn instructions_that_are_not_known_are_kept() {
    let unknown =
        OPENCL.replace("%int = OpExtInst %void %dbg DebugTypeBasic %n_int %u32 Signed", "OpUnknown %int 7");
    let words = assemble(&unknown).words;
    let facts = read(&words).expect("reads");
    assert_eq!(facts.encode(), words);
    let report = validate(&facts);
    assert!(report.is_clean(), "{report}");
    assert_eq!(facts.layout().sets().map(|(_, set)| set).collect::<Vec<_>>(), [Set::OpenCl]);
}

/// Distant ids do not take memory in proportion.
#[test]
fn ids_can_be_any_number() {
    let mut words = assemble(OPENCL).words;
    words[3] = u32::MAX;
    words.splice(5..5, [2 << 16 | 73, u32::MAX - 1]);
    let facts = read(&words).expect("reads");
    assert!(facts.layout().definition(eitri::spirv::Id(u32::MAX - 1)).is_some());
    assert!(validate(&facts).is_clean());
}
