//! A vector: one expression or location list, a stopped machine, and what comes out.

use serde::Deserialize;

use super::cfi::{CfiText, FrameBytes};
use super::expect::{Expect, ExpectText};
use super::found::Found;
use super::list::{self, LoclistText, SectionList};
use super::machine::{Machine, MachineText};
use super::report::{Outcome, Verdict};
use super::target::{Target, TargetText};
use super::unwound::Unwound;
use super::words::{Bytes, Given, Map, Number, Unread, Word, Wrong};
use crate::eval::{Context, Kind, ListEntry, Where};
use crate::op::{COMPACT, Code, Dialect, DraftCodes, Encoding, Name};

/// What is evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// An expression.
    Expression(Vec<u8>),
    /// A location list.
    List(Vec<ListEntry<'static>>),
    /// A location list as it stands in its section.
    Section(SectionList),
    /// Call frame information: the machine is unwound by one frame.
    Frames(FrameBytes),
}

/// A document that a vector can hold in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Document {
    /// The DWARF 5 standard alone.
    Dwarf5,
    /// The DWARF 5 standard, with GNU's operations.
    #[serde(rename = "dwarf5+gnu")]
    Dwarf5Gnu,
    /// Locations on the DWARF stack.
    Stack,
    /// Locations on the DWARF stack, with GNU's operations.
    #[serde(rename = "stack+gnu")]
    StackGnu,
    /// The AMDGPU extension for heterogeneous debugging, which takes in the one before.
    Amdgpu,
    /// The same, with GNU's operations.
    #[serde(rename = "amdgpu+gnu")]
    AmdgpuGnu,
    /// The draft of DWARF 6, with the proposals that the vector names.
    Dwarf6,
}

/// The proposal that a vector of DWARF 6 rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// The decision about it.
    pub status: Status,
    /// The number of the committee's issue, if there is one: `230524.1`.
    pub issue: Option<String>,
}

/// The decision about a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It was voted into the draft.
    Accepted,
    /// It was submitted, and not decided.
    Open,
    /// It is a text of the working group, and was not submitted.
    #[serde(rename = "in progress")]
    InProgress,
    /// It was taken out of the draft.
    Removed,
}

/// A vector, with everything that it depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vector {
    /// Its name, unique in its file.
    pub name: String,
    /// What it shows.
    pub doc: Option<String>,
    /// The section that decides it.
    pub spec: Option<String>,
    /// The documents that it holds in.
    pub valid_in: Vec<Document>,
    /// The proposal that it rests on, with [`Dialect::Dwarf6`].
    pub proposal: Option<Proposal>,
    /// Which registers and address spaces there are.
    pub target: Target,
    /// The stopped program.
    pub machine: Machine,
    /// How the operations are encoded.
    pub encoding: Encoding,
    /// What is evaluated.
    pub body: Body,
    /// What kind of result is wanted.
    pub kind: Kind,
    /// Where the expression stands.
    pub place: Where,
    /// How many bits are read at the location that comes out.
    pub read: u128,
    /// The bytes to store there after reading.
    pub write: Option<Vec<u8>>,
    /// What the specification says comes out.
    pub expect: Expect,
}

/// The object of a vector.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct VectorText {
    pub name: String,
    doc: Option<String>,
    spec: Option<String>,
    valid_in: Option<Vec<Document>>,
    status: Option<Status>,
    issue: Option<String>,
    #[serde(default)]
    pub target: Given<TargetText>,
    #[serde(default)]
    pub machine: Given<MachineText>,
    dialect: Word<Dialect>,
    opcodes: Option<Map<String, Number<u8>>>,
    expr: Option<Bytes>,
    loclist: Option<LoclistText>,
    cfi: Option<CfiText>,
    #[serde(default)]
    result: KindText,
    #[serde(default, rename = "where")]
    place: PlaceText,
    read: Option<Unread>,
    write: Option<Bytes>,
    expect: ExpectText,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase", expecting = "a word")]
enum KindText {
    #[default]
    Location,
    Value,
    Any,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase", expecting = "a word")]
enum PlaceText {
    #[default]
    Location,
    Cfi,
}

impl VectorText {
    /// The vector, with the target and the machine that it has.
    pub fn resolve(&self, target: Target, machine: Machine) -> Result<Vector, Wrong> {
        let Word(dialect) = self.dialect;
        let mut encoding = target.encoding(dialect);
        if let Some(Map(opcodes)) = &self.opcodes {
            if dialect != Dialect::Dwarf6 {
                return Err(Wrong::new("numbers are supplied only with `dwarf6`").under("opcodes"));
            }
            for (name, code) in opcodes {
                let Some(Number(code)) = *code else { continue };
                let draft = supplied(encoding.draft, name, code);
                encoding.draft = draft.map_err(|what| Wrong::new(what).under(name).under("opcodes"))?;
            }
        }
        let body = match (&self.expr, &self.loclist, &self.cfi) {
            (Some(Bytes(expr)), None, None) => Body::Expression(expr.clone()),
            (None, Some(LoclistText::Entries(list)), None) => {
                let entries = list::entries(list, machine.base_address, encoding.address_bytes);
                Body::List(entries.map_err(|wrong| wrong.under("loclist"))?)
            }
            (None, Some(LoclistText::Section(section)), None) => Body::Section(section.resolve()),
            (None, None, Some(cfi)) => {
                self.check_frames(&machine)?;
                Body::Frames(cfi.resolve())
            }
            _ => return Err(Wrong::new("a vector has one of `expr`, `loclist` and `cfi`")),
        };
        let valid_in = match &self.valid_in {
            Some(documents) if documents.is_empty() => {
                return Err(Wrong::new("a vector holds in one document at least").under("valid_in"));
            }
            Some(documents) => documents.clone(),
            None => documents(dialect).to_vec(),
        };
        let read = self.read.as_ref().map_or(Ok(0), |read| {
            read.natural()?.as_u128().ok_or_else(|| Wrong::new("a number of up to 128 bits is expected"))
        });
        let read = read.map_err(|wrong| wrong.under("read"))?;
        let expect = match &body {
            Body::Frames(_) => self.expect.resolve_unwound(&target),
            _ => self.expect.resolve(&target, self.write.is_some()),
        };
        Ok(Vector {
            name: self.name.clone(),
            doc: self.doc.clone(),
            spec: self.spec.clone(),
            valid_in,
            proposal: self.proposal(dialect)?,
            encoding,
            body,
            kind: match self.result {
                KindText::Location => Kind::Location,
                KindText::Value => Kind::Value,
                KindText::Any => Kind::Any,
            },
            place: match self.place {
                PlaceText::Location => Where::Location,
                PlaceText::Cfi => Where::Cfi,
            },
            read,
            write: self.write.as_ref().map(|Bytes(bytes)| bytes.clone()),
            expect: expect.map_err(|wrong| wrong.under("expect"))?,
            target,
            machine,
        })
    }
}

impl VectorText {
    /// Checks that a vector with `cfi` does not give what it asks for.
    fn check_frames(&self, machine: &Machine) -> Result<(), Wrong> {
        let snapshot = &machine.snapshot;
        let given = [
            ("cfa", snapshot.cfa.is_some()),
            ("callers", !snapshot.callers.is_empty()),
            ("frame_base", snapshot.frame_base.is_some()),
            ("frame", machine.frame != 0),
        ];
        if let Some((key, _)) = given.iter().find(|(_, is_given)| *is_given) {
            return Err(Wrong::new("a vector with `cfi` asks for it").under(key).under("machine"));
        }
        match (&self.read, &self.write) {
            (Some(_), _) => Err(Wrong::new("a vector with `cfi` reads nothing").under("read")),
            (_, Some(_)) => Err(Wrong::new("a vector with `cfi` writes nothing").under("write")),
            _ => Ok(()),
        }
    }

    fn proposal(&self, dialect: Dialect) -> Result<Option<Proposal>, Wrong> {
        let issue = self.issue.clone();
        match (self.status, dialect) {
            (Some(_), dialect) if dialect != Dialect::Dwarf6 => {
                Err(Wrong::new("proposals are those of `dwarf6`").under("status"))
            }
            (None, _) if issue.is_some() => Err(Wrong::new("an issue has a `status`").under("issue")),
            (Some(Status::Accepted | Status::Open), _) if issue.is_none() => {
                Err(Wrong::new("a proposal that was submitted has an `issue`").under("status"))
            }
            (status, _) => Ok(status.map(|status| Proposal { status, issue })),
        }
    }
}

/// The documents in which vectors of a dialect hold that name none.
fn documents(dialect: Dialect) -> &'static [Document] {
    match dialect {
        Dialect::Dwarf5 => &[Document::Dwarf5, Document::Stack, Document::Amdgpu],
        Dialect::Llvm | Dialect::Legacy => &[Document::Amdgpu],
        Dialect::Dwarf6 => &[Document::Dwarf6],
    }
}

/// The numbers of draft operations with one more.
fn supplied(draft: DraftCodes, name: &str, code: u8) -> Result<DraftCodes, String> {
    let found = Name::parse(name).filter(|name| name.row().six == Code::Unassigned);
    let found = found.ok_or_else(|| format!("`{name}` is no operation that the draft gives no number to"))?;
    let is_of = |known: &Name| {
        let row = known.row();
        row.std == Code::Is(code) || row.six == Code::Is(code) || draft.get(*known) == Some(code)
    };
    let other = Name::ALL.iter().find(|known| is_of(known)).map(|known| known.row().text);
    let compact = COMPACT.iter().find(|family| (family.first..=family.last()).contains(&code));
    match other.or(compact.map(|family| family.text)) {
        Some(other) => Err(format!("{code:#04x} is the number of `{other}`")),
        None if code == 0 => Err("0 is no number of an operation".into()),
        None => Ok(draft.with(found, code)),
    }
}

/// So much is told of what was found, in bytes of text. A report has that of every vector.
const MOST_TOLD: usize = 1 << 16;

impl Vector {
    /// The context that it is evaluated in.
    pub fn context(&self) -> Context<'_> {
        let context = self.machine.context(self.encoding, &self.target);
        Context { kind: self.kind, place: self.place, ..context }
    }

    /// How many bits are written: those that are read, if that many are given.
    pub fn write_bits(&self) -> u64 {
        let given = self.write.as_ref().map_or(0, |bytes| bytes.len() as u64 * 8);
        match u64::try_from(self.read) {
            Ok(read) if read.div_ceil(8) * 8 == given => read,
            _ => given,
        }
    }

    /// Compares what an evaluator, of whatever kind, found with what is expected.
    ///
    /// ```
    /// use eitri::conform::{File, Found, Read, Verdict};
    /// use eitri::eval::{Element, Location, read_bits};
    /// use eitri::op::Reg;
    ///
    /// let file = File::from_json(r#"{"format": "eitri-vectors-1", "target": {"name": "x86_64"},
    ///     "machine": {"registers": {"0": "a0 a1"}}, "vectors": [{"name": "register", "dialect": "dwarf5",
    ///     "expr": "50", "read": 16, "expect": {"location": "reg:0", "bytes": "a0 a1"}}]}"#)?;
    /// let vector = file.vectors().next().unwrap();
    /// // What another evaluator says of `vector.body` on `vector.machine`:
    /// let location = Location::register(Reg(0), 64);
    /// let read = read_bits(&location, 16, &vector.machine.snapshot).map(Read::Bits);
    /// let found = Found { result: Ok(Element::Location(location)), read: Some(read), written: None };
    /// assert_eq!(vector.judge(&found).verdict, Verdict::Passed);
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn judge(&self, found: &Found) -> Outcome {
        let before = &self.machine.snapshot;
        let verdict = match &self.expect.unwound {
            None => found.verdict(&self.expect, before, self.read),
            Some(_) => Verdict::Unsupported,
        };
        self.outcome(verdict, found.to_text(before, MOST_TOLD), || found.to_answer(before))
    }

    /// Compares what an unwinder, of whatever kind, found in call frame information with what is expected.
    pub fn judge_unwound(&self, found: &Unwound) -> Outcome {
        let unwound = self.expect.unwound.as_ref();
        let verdict = unwound.map_or(Verdict::Unsupported, |expected| expected.verdict(found));
        self.outcome(verdict, found.to_text(MOST_TOLD), || found.to_answer())
    }

    fn outcome(
        &self,
        verdict: Verdict,
        found: String,
        answer: impl FnOnce() -> serde_json::Value,
    ) -> Outcome {
        Outcome {
            name: self.name.clone(),
            verdict,
            expected: self.expect.to_string(),
            answer: (found.len() < MOST_TOLD).then(answer),
            found,
        }
    }
}
