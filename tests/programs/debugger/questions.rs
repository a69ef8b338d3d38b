//! Questions for debuggers where the program stops, with expected answers.

use super::ask::Debugger;

/// An expected answer, compared without white space and brackets.
#[derive(Debug, Clone, Copy)]
pub enum Says {
    /// A value after `=`, at the end.
    Value(&'static str),
    /// Text anywhere in the answer.
    Words(&'static str),
    /// The variable is not available.
    Gone,
    /// A complaint with this text, without an answer.
    Complaint(&'static str),
}

/// A question in the notation of each debugger, with its answer; `None` for a debugger that is not asked.
#[derive(Debug, Clone)]
pub struct Question {
    pub gdb: Option<(String, Says)>,
    pub lldb: Option<(String, Says)>,
    /// First DWARF version that can encode the location; before, the variable is omitted.
    pub since: u16,
}

impl Question {
    fn new(gdb: impl Into<String>, lldb: impl Into<String>, says: Says) -> Self {
        Self { gdb: Some((gdb.into(), says)), lldb: Some((lldb.into(), says)), since: 2 }
    }

    fn since(self, version: u16) -> Self {
        Self { since: version, ..self }
    }

    /// Another answer of lldb, which fails once lldb improves.
    fn but_lldb(self, says: Says) -> Self {
        Self { lldb: self.lldb.map(|(question, _)| (question, says)), ..self }
    }

    pub fn of(&self, debugger: Debugger, version: u16) -> Option<(&str, Says)> {
        let (question, says) = match debugger {
            Debugger::Gdb => self.gdb.as_ref(),
            Debugger::Lldb => self.lldb.as_ref(),
        }?;
        Some((question, if version < self.since { Says::Gone } else { *says }))
    }
}

impl Says {
    /// Whether the answer and the complaints match.
    pub fn is(self, answer: &str, complaints: &str) -> bool {
        let plain =
            |text: &str| text.replace('{', "(").replace('}', ")").split_whitespace().collect::<String>();
        let answer = plain(answer);
        match self {
            Self::Value(value) => answer.ends_with(&plain(&format!("={value}"))),
            Self::Words(words) => answer.contains(&plain(words)),
            Self::Gone => NOWHERE.iter().any(|words| answer.contains(&plain(words))),
            Self::Complaint(words) => answer.is_empty() && complaints.contains(words),
        }
    }

    /// The complaint, if one is expected.
    pub fn complaint(self) -> Option<&'static str> {
        match self {
            Self::Complaint(words) => Some(words),
            _ => None,
        }
    }
}

const NOWHERE: [&str; 3] =
    ["<optimized out>", "<variable not available>", "<no location, value may have been"];

fn value(name: &str, value: &'static str) -> Question {
    Question::new(format!("print {name}"), format!("frame variable {name}"), Says::Value(value))
}

fn hex(name: &str, value: &'static str) -> Question {
    Question::new(format!("print/x {name}"), format!("frame variable -f x {name}"), Says::Value(value))
}

fn global(name: &str, value: &'static str) -> Question {
    Question::new(format!("print {name}"), format!("target variable {name}"), Says::Value(value))
}

fn expression(text: &str, value: &'static str) -> Question {
    Question::new(format!("print {text}"), format!("expression {text}"), Says::Value(value))
}

fn ty(gdb: &str, lldb: &str, words: &'static str) -> Question {
    Question::new(format!("ptype {gdb}"), format!("image lookup -t {lldb}"), Says::Words(words))
}

fn line(line: u32, words: &'static str) -> Question {
    Question::new(
        format!("info line {line}"),
        format!("image lookup -f work.c -l {line}"),
        Says::Words(words),
    )
}

fn gdb_only(question: &str, words: &'static str) -> Question {
    Question { gdb: Some((question.into(), Says::Words(words))), lldb: None, since: 2 }
}

fn lldb_only(question: &str, words: &'static str) -> Question {
    Question { gdb: None, lldb: Some((question.into(), Says::Words(words))), since: 2 }
}

/// Questions in the inlined call, then in its caller.
pub fn questions() -> Vec<Question> {
    let in_the_call = [
        Question::new("backtrace", "bt", Says::Words("twice (v=43) at work.c:4")),
        gdb_only("backtrace", "#1 work () at work.c:16"),
        gdb_only("backtrace", "in main () at work.c:21"),
        lldb_only("bt", "work [inlined] twice"),
        lldb_only("bt", "work at work.c:16:5"),
        lldb_only("bt", "main at work.c:21"),
        gdb_only("info frame", "inlined into frame 1"),
        // rdi is 42 + 1.
        value("v", "43"),
        value("doubled", "86").since(4),
        Question::new("up", "up", Says::Words("#1")),
    ];
    let places = [
        value("n", "42"),
        hex("wide", "0x9abcdef012345678"),
        // -7 in memory, and rcx.
        hex("mixed", "0x12345678fffffff9"),
        // rcx, and a number: 42 - 41.
        hex("beside", "0x112345678").since(4).but_lldb(Says::Value("0x0000000112345678")),
        value("spilled", "-7"),
        value("from_base", "-7"),
        // 0x2d5 is 10 11010 101 in binary.
        value("f", "{low = 5, mode = 26, rest = 2}"),
        value("f.mode", "26"),
        // -7 is all ones, and 001 in the lowest bits.
        value("in_frame", "{low = 1, mode = 31, rest = 16777215}"),
        value("in_frame.mode", "31"),
        value("one", "1").since(4),
        // 0x3fc00000: 1.1 in binary, times 2 to the power of 0.
        value("ratio", "1.5"),
        value("next", "43").since(4),
        hex("joined", "0x9abcdef012345678").since(4),
        value("narrow", "22136").since(4), // 0x5678
        hex("node", "0x0").since(4).but_lldb(Says::Value("NULL")),
        Question::new("print gone", "frame variable gone", Says::Gone),
        value("by_variable[0]", "-7"),
        expression("n + by_variable[0]", "35"),
        expression("sizeof(struct node)", "40"),
        global("counter", "77"),
        gdb_only("print TEN", "= 10"),
    ];
    // Limitations of lldb 19.
    let limits = [
        // lldb cannot read a constant as a part.
        hex("padded", "0x112345678")
            .since(4)
            .but_lldb(Says::Words("failed to read memory DW_OP_piece(4) from host")),
        value("shade", "green")
            .since(4)
            .but_lldb(Says::Words("unable to extract DW_OP_bit_piece(bit_size = 27")),
        value("called", "-7").since(3).but_lldb(Says::Words("unimplemented opcode DW_OP_call4")),
        value("*to_n", "42").but_lldb(Says::Words("parent failed to evaluate")),
        // lldb shows zeros for undefined parts.
        Question::new("print/x half", "frame variable -f x half", Says::Gone)
            .but_lldb(Says::Value("0x0000000012345678")),
        // lldb lists DW_TAG_constant as a type.
        global("LIMIT", "1000").but_lldb(Says::Complaint("can't find global variable 'LIMIT'")),
        // The number of elements is `n`; lldb does not compute it.
        expression("sizeof(by_variable)", "168").but_lldb(Says::Complaint("incomplete type 'int[]'")),
        // lldb counts elements from 0, though the lower bound is 1.
        Question::new("print by_number[2][1]", "frame variable by_number[1][1]", Says::Value("-7")),
    ];
    let types = [
        ty("struct flags", "flags", "unsigned int mode : 5;"),
        ty("struct node", "node", "color color;"),
        ty("struct node", "node", "int row[2][3];"),
        ty("enum color", "color", "red, green"),
        gdb_only("ptype enum color", "type = enum color {red, green = 26}"),
        ty("union number", "number", "float f;"),
        Question::new("ptype work", "image lookup -v -n work", Says::Words("int (void)")),
        gdb_only("ptype by_variable", "type = int [42]"),
        gdb_only("ptype by_number", "type = int [2][3]"),
        // 42 elements, and not more.
        lldb_only("frame variable by_variable", "[41] = "),
    ];
    let others = [
        line(13, "work+32"),
        line(4, "work+64"),
        gdb_only("info line 13", "Line 13 of \"work.c\" starts at address"),
        gdb_only("info symbol &counter", "counter in section .data"),
        lldb_only("image lookup -a &counter", "Summary: counter"),
        gdb_only("info address n", "multi-location"),
        gdb_only("info scope work", "Symbol spilled is multi-location"),
        gdb_only("info source", "Producer is eitri."),
    ];
    let in_the_caller = [
        // The pc is in the first of two ranges.
        Question::new("up", "up", Says::Words("main")),
        Question::new("print apart", "frame variable apart", Says::Value("5")).since(4),
    ];
    let in_work = places.into_iter().chain(limits).chain(types).chain(others);
    in_the_call.into_iter().chain(in_work).chain(in_the_caller).collect()
}
