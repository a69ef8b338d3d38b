//! Vectors: an expression or location list, a stopped machine, and the expected result.

use super::cfi::{CfiText, FrameBytes};
use super::expect::{Expect, ExpectText};
use super::found::Found;
use super::list::{self, LoclistText, SectionList};
use super::machine::{MachineText, VectorMachine};
use super::report::{VectorOutcome, Verdict};
use super::target::{TargetText, VectorTarget};
use super::unwound::Unwound;
use super::values::{Bytes, Given, Map, Number, Unread, Word, Wrong, choice, objects};
use crate::eval::{Context, ExpressionSite, LocationListEntry, ResultKind};
use crate::op::{COMPACT, Dialect, DraftCodes, Encoding, Opcode, OperationName};
use crate::target::ByteOrder;

/// A vector's subject.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VectorBody {
    /// An expression.
    Expression(Vec<u8>),
    /// A location list.
    List(Vec<LocationListEntry<'static>>),
    /// A location list as a section's bytes.
    Section(SectionList),
    /// Call frame information, to unwind the machine by one frame.
    Frames(FrameBytes),
}

choice! {
    /// A document that a vector can be valid in.
    #[non_exhaustive]
    pub enum Document {
        /// DWARF 5 only.
        Dwarf5 "dwarf5",
        /// DWARF 5 with GNU's operations.
        Dwarf5Gnu "dwarf5+gnu",
        /// Locations on the DWARF stack.
        Stack "stack",
        /// Locations on the DWARF stack, with GNU's operations.
        StackGnu "stack+gnu",
        /// The AMDGPU extension for heterogeneous debugging, which includes locations on the DWARF stack.
        Amdgpu "amdgpu",
        /// The AMDGPU extension with GNU's operations.
        AmdgpuGnu "amdgpu+gnu",
        /// The DWARF 6 draft, with the vector's proposal.
        Dwarf6 "dwarf6",
    }
}

/// The proposal that a DWARF 6 vector depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Proposal {
    /// Decision on the proposal.
    pub status: Status,
    /// The committee's issue number, if any: `230524.1`.
    pub issue: Option<String>,
}

choice! {
    /// Decision on a proposal.
    #[non_exhaustive]
    pub enum Status {
        /// Voted into the draft.
        Accepted "accepted",
        /// Submitted and undecided.
        Open "open",
        /// A working group text that is not submitted.
        InProgress "in progress",
        /// Removed from the draft.
        Removed "removed",
    }
}

/// A vector with everything that it depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Vector {
    /// Name, unique in the file.
    pub name: String,
    /// Description.
    pub doc: Option<String>,
    /// Section in the specification that decides the result.
    pub spec: Option<String>,
    /// Documents in which the vector is valid.
    pub valid_in: Vec<Document>,
    /// Proposal that the vector depends on, with [`Dialect::Dwarf6`].
    pub proposal: Option<Proposal>,
    /// Registers and address spaces.
    pub target: VectorTarget,
    /// Stopped program.
    pub machine: VectorMachine,
    /// Operation encoding.
    pub encoding: Encoding,
    /// What is evaluated.
    pub body: VectorBody,
    /// Requested result kind.
    pub kind: ResultKind,
    /// The expression's site in the file.
    pub place: ExpressionSite,
    /// Number of bits to read at the resulting location.
    pub read: u128,
    /// Bytes to store there after reading.
    pub write: Option<Vec<u8>>,
    /// Result that the specification requires.
    pub expect: Expect,
}

objects! {
    "vector"
    /// A vector's JSON object.
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
        #[serde(default)]
        place as "where": PlaceText,
        read: Option<Unread>,
        write: Option<Bytes>,
        expect: ExpectText,
    } rules {
        "oneOf": [{"required": ["expr"]}, {"required": ["loclist"]}, {"required": ["cfi"]}],
        "dependentRequired": {"issue": ["status"]}
    }
}

choice! {
    enum KindText = Location {
        Location "location",
        Value "value",
        Any "any",
    }
}

choice! {
    enum PlaceText = Location {
        Location "location",
        Cfi "cfi",
    }
}

impl VectorText {
    /// Resolves the vector with its target and machine.
    pub fn resolve(&self, target: VectorTarget, machine: VectorMachine) -> Result<Vector, Wrong> {
        let Word(dialect) = self.dialect;
        let mut encoding = target.encoding(dialect);
        if let Some(Map(opcodes)) = &self.opcodes {
            if dialect != Dialect::Dwarf6 {
                return Err(Wrong::new("`opcodes` is only valid in the dialect `dwarf6`").under("opcodes"));
            }
            for (name, code) in opcodes {
                let Some(Number(code)) = *code else { continue };
                let draft = supplied(encoding.draft, name, code);
                encoding.draft = draft.map_err(|what| Wrong::new(what).under(name).under("opcodes"))?;
            }
        }
        let body = match (&self.expr, &self.loclist, &self.cfi) {
            (Some(Bytes(expr)), None, None) => VectorBody::Expression(expr.clone()),
            (None, Some(LoclistText::Entries(list)), None) => {
                let entries = list::entries(list, machine.base_address, encoding.address_bytes);
                VectorBody::List(entries.map_err(|wrong| wrong.under("loclist"))?)
            }
            (None, Some(LoclistText::Section(section)), None) => VectorBody::Section(section.resolve()),
            (None, None, Some(cfi)) => {
                self.check_frames(&machine)?;
                VectorBody::Frames(cfi.resolve())
            }
            _ => {
                return Err(Wrong::new(
                    "vector has nothing to evaluate, or several things; expected one of `expr`, `loclist` and `cfi`",
                ));
            }
        };
        let valid_in = match &self.valid_in {
            Some(documents) if documents.is_empty() => {
                return Err(Wrong::new("vector is valid in no document; expected at least one document")
                    .under("valid_in"));
            }
            Some(documents) => documents.clone(),
            None => documents(dialect).to_vec(),
        };
        let read = self.read.as_ref().map_or(Ok(0), |read| {
            read.natural()?.as_u128().ok_or_else(|| Wrong::new("number does not fit in 128 bits"))
        });
        let read = read.map_err(|wrong| wrong.under("read"))?;
        let expect = match &body {
            VectorBody::Frames(_) => self.expect.resolve_unwound(&target),
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
                KindText::Location => ResultKind::Location,
                KindText::Value => ResultKind::Value,
                KindText::Any => ResultKind::Any,
            },
            place: match self.place {
                PlaceText::Location => ExpressionSite::Location,
                PlaceText::Cfi => ExpressionSite::Cfi,
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
    /// Checks that a vector with `cfi` does not provide the result in its machine.
    fn check_frames(&self, machine: &VectorMachine) -> Result<(), Wrong> {
        let snapshot = &machine.snapshot;
        let given = [
            ("cfa", snapshot.cfa.is_some()),
            ("callers", !snapshot.callers.is_empty()),
            ("frame_base", snapshot.frame_base.is_some()),
            ("frame", machine.frame != 0),
        ];
        if let Some((key, _)) = given.iter().find(|(_, is_given)| *is_given) {
            return Err(Wrong::new("key is given, but a vector with `cfi` computes its value")
                .under(key)
                .under("machine"));
        }
        match (&self.read, &self.write) {
            (Some(_), _) => Err(Wrong::new("vector with `cfi` cannot read").under("read")),
            (_, Some(_)) => Err(Wrong::new("vector with `cfi` cannot write").under("write")),
            _ => Ok(()),
        }
    }

    fn proposal(&self, dialect: Dialect) -> Result<Option<Proposal>, Wrong> {
        let issue = self.issue.clone();
        match (self.status, dialect) {
            (Some(_), dialect) if dialect != Dialect::Dwarf6 => {
                Err(Wrong::new("`status` is only valid in the dialect `dwarf6`").under("status"))
            }
            (None, _) if issue.is_some() => {
                Err(Wrong::new("`issue` is given without a `status`").under("issue"))
            }
            (Some(Status::Accepted | Status::Open), _) if issue.is_none() => {
                Err(Wrong::new("submitted proposal has no `issue`").under("status"))
            }
            (status, _) => Ok(status.map(|status| Proposal { status, issue })),
        }
    }
}

/// Returns the default documents for vectors in a dialect.
fn documents(dialect: Dialect) -> &'static [Document] {
    match dialect {
        Dialect::Dwarf5 => &[Document::Dwarf5, Document::Stack, Document::Amdgpu],
        Dialect::Llvm | Dialect::Legacy => &[Document::Amdgpu],
        Dialect::Dwarf6 => &[Document::Dwarf6],
    }
}

/// Adds a draft operation's number.
fn supplied(draft: DraftCodes, name: &str, code: u8) -> Result<DraftCodes, String> {
    // Numbers that the draft assigns cannot be replaced.
    let operation = OperationName::parse(name).filter(|name| name.row().six == Opcode::Unassigned);
    let operation = operation
        .ok_or_else(|| format!("`{name}` is not an operation without a number; expected an operation that the draft does not number"))?;
    // A code is taken if any operation has it in the standard, in the draft, or by an earlier key.
    let is_of = |known: &OperationName| {
        let row = known.row();
        row.std == Opcode::Is(code) || row.six == Opcode::Is(code) || draft.get(*known) == Some(code)
    };
    let other = OperationName::ALL.iter().find(|known| is_of(known)).map(|known| known.row().text);
    let compact = COMPACT.iter().find(|family| (family.first..=family.last()).contains(&code));
    match other.or(compact.map(|family| family.text)) {
        Some(other) => Err(format!("opcode {code:#04x} already encodes `{other}`")),
        None if code == 0 => Err("opcode is 0; expected 1 to 255".into()),
        None => Ok(draft.with(operation, code)),
    }
}

/// Maximum size of a result's text in bytes. Without a limit a report would be large, because it has every vector's
/// text.
const LONGEST_TEXT: usize = 1 << 16;

impl Vector {
    /// Returns the evaluation context.
    pub fn context(&self) -> Context<'_> {
        let context = self.machine.context(self.encoding, &self.target);
        context.with_kind(self.kind).with_place(self.place)
    }

    /// Returns how many bits to write: the number to read if that takes as many bytes as are given to write, otherwise
    /// all bits in these bytes.
    pub fn write_bits(&self) -> u64 {
        let given = self.write.as_ref().map_or(0, |bytes| bytes.len() as u64 * 8);
        match u64::try_from(self.read) {
            Ok(read) if read.div_ceil(8) * 8 == given => read,
            _ => given,
        }
    }

    /// Compares any evaluator's result with the expectation.
    ///
    /// ```
    /// use eitri::conform::{Found, Read, VectorFile, Verdict};
    /// use eitri::eval::{Element, Location, read_bits};
    /// use eitri::op::Reg;
    ///
    /// let file = VectorFile::from_json(r#"{"format": "eitri-vectors-1", "target": {"name": "x86_64"},
    ///     "machine": {"registers": {"0": "a0 a1"}}, "vectors": [{"name": "register", "dialect": "dwarf5",
    ///     "expr": "50", "read": 16, "expect": {"location": "reg:0", "bytes": "a0 a1"}}]}"#)?;
    /// let vector = file.vectors().next().expect("one vector");
    /// // The result of another evaluator for `vector.body` on `vector.machine`:
    /// let location = Location::register(Reg(0), 64);
    /// let read = read_bits(&location, 16, &vector.machine.snapshot).map(Read::Bits);
    /// let found = Found { result: Ok(Element::Location(location)), read: Some(read), written: None };
    /// assert_eq!(vector.compare(&found).verdict, Verdict::Passed);
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn compare(&self, found: &Found) -> VectorOutcome {
        let before = &self.machine.snapshot;
        let verdict = match &self.expect.unwound {
            None => found.verdict(&self.expect, before, self.read),
            Some(_) => Verdict::Unsupported,
        };
        self.outcome(verdict, found.to_text(before, LONGEST_TEXT), || found.to_json(before))
    }

    /// Compares any unwinder's result with the expectation.
    pub fn compare_unwound(&self, found: &Unwound) -> VectorOutcome {
        let unwound = self.expect.unwound.as_ref();
        let is_big_endian = self.machine.snapshot.big_endian;
        let order = if is_big_endian { ByteOrder::Big } else { ByteOrder::Little };
        let verdict = unwound.map_or(Verdict::Unsupported, |expected| expected.verdict(found, order));
        self.outcome(verdict, found.to_text(LONGEST_TEXT), || found.to_json())
    }

    fn outcome(&self, verdict: Verdict, found: String, answer: impl FnOnce() -> String) -> VectorOutcome {
        VectorOutcome {
            name: self.name.clone(),
            verdict,
            expected: self.expect.to_string(),
            // A truncated text means that the answer would be too long as well.
            answer: (found.len() < LONGEST_TEXT).then(answer),
            found,
        }
    }
}
