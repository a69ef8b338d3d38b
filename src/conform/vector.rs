//! A vector: one expression or location list, a stopped machine, and what comes out.

use serde::Deserialize;

use super::expect::{Expect, ExpectText};
use super::found::Found;
use super::list::{self, ListText};
use super::machine::{Machine, MachineText};
use super::report::Outcome;
use super::target::{Target, TargetText};
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
#[serde(deny_unknown_fields)]
pub(super) struct VectorText {
    pub name: String,
    doc: Option<String>,
    spec: Option<String>,
    #[serde(default)]
    pub target: Given<TargetText>,
    #[serde(default)]
    pub machine: Given<MachineText>,
    dialect: Word<Dialect>,
    opcodes: Option<Map<String, Number<u8>>>,
    expr: Option<Bytes>,
    loclist: Option<Vec<ListText>>,
    #[serde(default)]
    result: KindText,
    #[serde(default, rename = "where")]
    place: PlaceText,
    read: Option<Unread>,
    write: Option<Bytes>,
    expect: ExpectText,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum KindText {
    #[default]
    Location,
    Value,
    Any,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
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
        let body = match (&self.expr, &self.loclist) {
            (Some(Bytes(expr)), None) => Body::Expression(expr.clone()),
            (None, Some(list)) => {
                let entries = list::entries(list, machine.base_address, encoding.address_bytes);
                Body::List(entries.map_err(|wrong| wrong.under("loclist"))?)
            }
            _ => return Err(Wrong::new("a vector has one of `expr` and `loclist`")),
        };
        let read = self.read.as_ref().map_or(Ok(0), |read| {
            read.natural()?.as_u128().ok_or_else(|| Wrong::new("a number of up to 128 bits is expected"))
        });
        let read = read.map_err(|wrong| wrong.under("read"))?;
        let expect = self.expect.resolve(&target, self.write.is_some());
        Ok(Vector {
            name: self.name.clone(),
            doc: self.doc.clone(),
            spec: self.spec.clone(),
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
        Outcome {
            name: self.name.clone(),
            verdict: found.verdict(&self.expect, before, self.read),
            expected: self.expect.to_string(),
            found: found.to_text(before, MOST_TOLD),
        }
    }
}
