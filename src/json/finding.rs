//! Findings of `lint`, each an object of JSON.

use serde::Serialize;
use serde_json::{Value, json};

use super::schema::{self, HasSchema, Schemas};
use crate::lint::{Code, Finding, Level};

/// Declares objects that are written, with their schemas. All keys are there; `null` stands for no value. Keys are in
/// the order of the alphabet.
macro_rules! written { ($($(#[$doc:meta])* $name:ident<$life:lifetime> {
    $($key:ident: $type:ty, $about:literal;)*
})*) => { $(
    $(#[$doc])*
    #[derive(Debug, Serialize)]
    struct $name<$life> { $($key: $type),* }

    impl<$life> HasSchema for $name<$life> {
        fn schema(to: &mut Schemas) -> Value {
            schema::object([$((
                stringify!($key), schema::about(<$type>::schema(to), $about, ""), false,
            )),*])
        }
    }
)* } }
written! {
    /// A finding.
    Line<'f> {
        code: CodeName, "Code: `eitri lint --explain CODE` explains it.";
        declared: Option<Declared<'f>>, "Declaration of the variable, or of the function.";
        evidence: &'f [String], "Facts of the file, as text.";
        expression: Option<Fault<'f>>, "The expression.";
        file: &'f str, "Name of the file as given.";
        fingerprint: Fingerprint, "64 bits: the same in a build with other addresses.";
        function: Option<&'f str>, "Name of the function.";
        inlined: Vec<&'f str>, "Names of inlined functions around the variable, the outermost first.";
        level: LevelName, "Weight of the finding.";
        meant: Option<&'f str>, "Intended meaning, where it can be inferred.";
        offset: u64, "Offset in the section, in bytes.";
        pcs: Option<(Hexadecimal, Hexadecimal)>, "Start and end; the end is exclusive.";
        section: &'f str, "Section of the mistake.";
        split: Option<&'f str>, "Name of the file of split units that has the unit.";
        unit: Option<&'f str>, "Name of the compilation unit.";
        variable: Option<&'f str>, "Name of the variable or parameter.";
        version: Version, "Version of the format: another number means other fields.";
        written: &'f str, "Meaning of the information as written.";
    }
    /// A declaration in the source.
    Declared<'f> {
        file: &'f str, "";
        line: u64, "";
    }
    /// An expression with a mistake.
    Fault<'f> {
        fault: (u64, u64), "Start and end of the operations at fault, in bytes of the text.";
        text: &'f str, "The operations.";
    }
}

/// Declares types of one value, each with its schema; JSON has the value itself.
macro_rules! values { ($($(#[$doc:meta])* $name:ident($type:ty): $schema:expr;)*) => { $(
    $(#[$doc])*
    #[derive(Debug, Serialize)]
    struct $name($type);

    impl HasSchema for $name {
        fn schema(_: &mut Schemas) -> Value {
            $schema
        }
    }
)* } }
values! {
    /// Name of a code.
    CodeName(&'static str): schema::one_of_words(Code::ALL.iter().map(|code| code.name()));
    /// Name of a level.
    LevelName(&'static str): schema::one_of_words(Level::ALL.map(Level::name));
    /// Number in hexadecimal.
    Hexadecimal(String): schema::string("^0x[0-9a-f]{1,16}$");
    /// Number of 64 bits in hexadecimal, with all its digits.
    Fingerprint(String): schema::string("^[0-9a-f]{16}$");
    /// Version of the format.
    Version(u8): json!({"const": VERSION});
}

/// Version of the format; another has other keys.
const VERSION: u8 = 1;

/// Makes the schema of a finding.
pub(crate) fn finding_schema(to: &mut Schemas) -> Value {
    Line::schema(to)
}

impl Finding {
    /// Writes the finding as an object of JSON on one line, valid by [`Schema::Finding`](crate::schema::Schema).
    ///
    /// # Panics
    /// Never: the keys are text.
    pub fn to_json(&self, file: &str) -> String {
        let hexadecimal = |number: u64| Hexadecimal(format!("{number:#x}"));
        let line = Line {
            code: CodeName(self.code.name()),
            declared: self.declared.as_ref().map(|(file, line)| Declared { file, line: *line }),
            evidence: &self.evidence,
            expression: self.expression.as_ref().map(|expression| Fault {
                fault: (expression.fault.start as u64, expression.fault.end as u64),
                text: &expression.text,
            }),
            file,
            fingerprint: Fingerprint(format!("{:016x}", self.fingerprint())),
            function: self.function.as_deref(),
            inlined: self.inlined.names(),
            level: LevelName(self.level.name()),
            meant: self.meant.as_deref(),
            offset: self.offset,
            pcs: self.pcs.as_ref().map(|pcs| (hexadecimal(pcs.start), hexadecimal(pcs.end))),
            section: &self.section,
            split: self.split.as_deref(),
            unit: self.unit.as_deref(),
            variable: self.variable.as_deref(),
            version: Version(VERSION),
            written: &self.written,
        };
        serde_json::to_string(&line).expect("the keys are text")
    }
}
