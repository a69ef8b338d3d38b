//! `lint` findings, each a JSON object.

use serde::Serialize;
use serde_json::{Value, json};

use super::schema::{self, HasSchema, Schemas};
use crate::error::PcText;
use crate::lint::{Level, LintCode, LintFinding};

/// A finding. All keys are present, in alphabetical order; `null` stands for no value.
#[derive(Debug, Serialize)]
struct Line<'f> {
    code: &'static str,
    declared: Option<Declared<'f>>,
    evidence: &'f [String],
    expression: Option<Fault<'f>>,
    file: &'f str,
    fingerprint: String,
    function: Option<&'f str>,
    function_pcs: Option<FunctionPcs<'f>>,
    inlined: Vec<&'f str>,
    level: &'static str,
    meant: Option<&'f str>,
    offset: u64,
    pcs: Option<(String, String)>,
    section: &'f str,
    shape: Option<String>,
    split: Option<&'f str>,
    unit: Option<&'f str>,
    variable: Option<&'f str>,
    version: u8,
    written: &'f str,
}

/// A declaration in the source.
#[derive(Debug, Serialize)]
struct Declared<'f> {
    file: &'f str,
    line: u64,
}

/// Pcs from the start of a function's code.
#[derive(Debug, Serialize)]
pub(super) struct FunctionPcs<'f> {
    function: &'f str,
    pcs: (String, String),
}

impl<'f> FunctionPcs<'f> {
    /// Returns the pcs of a function; `None` for addresses.
    pub(super) fn new(pcs: &'f PcText<'_>) -> Option<Self> {
        let (function, pcs) = pcs.in_function()?;
        Some(Self { function, pcs: (format!("{:#x}", pcs.start), format!("{:#x}", pcs.end)) })
    }
}

/// An expression with a mistake.
#[derive(Debug, Serialize)]
struct Fault<'f> {
    fault: (u64, u64),
    text: &'f str,
}

/// Version of the format, which changes whenever the keys change.
const VERSION: u8 = 3;

/// Description of the key `function_pcs`.
pub(super) const FUNCTION_PCS: &str = "In a cubin, the same pcs from the start of the function's code, as NVIDIA's tools print \
                                       them; `pcs` has the addresses that the reader assigns.";

/// Returns the schema of a half-open range of addresses.
pub(super) fn pcs_schema() -> Value {
    let pc = schema::string("^0x[0-9a-f]{1,16}$");
    schema::list(vec![pc.clone(), pc])
}

/// Returns the schema of [`FunctionPcs`].
pub(super) fn function_pcs_schema(to: &mut Schemas) -> Value {
    let name = <&str>::schema(to);
    let name = schema::about(name, "Name of the function's code section after `.text.`.", "");
    schema::object([("function", name, false), ("pcs", pcs_schema(), false)])
}

/// Returns a finding's schema: a key for each field in [`Line`], with its description.
pub(crate) fn finding_schema(to: &mut Schemas) -> Value {
    let codes = schema::one_of_words(LintCode::ALL.iter().map(|code| code.name()));
    let levels = schema::one_of_words(Level::ALL.map(Level::name));
    let text = <&str>::schema(to);
    let texts = <&[String]>::schema(to);
    let number = u64::schema(to);
    let pcs = pcs_schema();
    let function_pcs = function_pcs_schema(to);
    let declared = schema::object([("file", text.clone(), false), ("line", number.clone(), false)]);
    let fault = schema::about(
        schema::list(vec![number.clone(), number.clone()]),
        "Start and end of the operations at fault, in bytes of the text.",
        "",
    );
    let operations = schema::about(text.clone(), "The operations.", "");
    let expression = schema::object([("fault", fault, false), ("text", operations, false)]);
    let maybe = |schema: &Value| json!({"anyOf": [schema, {"type": "null"}]});
    let keys = [
        ("code", codes, "Code: `eitri lint --explain CODE` explains it."),
        ("declared", maybe(&declared), "Declaration of the variable, or of the function."),
        ("evidence", texts.clone(), "Facts of the file, as text."),
        ("expression", maybe(&expression), "The expression."),
        ("file", text.clone(), "Name of the file as given."),
        (
            "fingerprint",
            schema::string("^[0-9a-f]{16}$"),
            "64 bits: the same in another build of the source.",
        ),
        ("function", maybe(&text), "Name of the function."),
        ("function_pcs", maybe(&function_pcs), FUNCTION_PCS),
        ("inlined", texts, "Names of inlined functions around the variable, the outermost first."),
        ("level", levels, "Weight of the finding."),
        ("meant", maybe(&text), "Intended meaning, where it can be inferred."),
        ("offset", number, "Offset in the section, in bytes."),
        ("pcs", maybe(&pcs), "Start and end; the end is exclusive."),
        ("section", text.clone(), "Section of the mistake."),
        ("shape", maybe(&text), "Operations of the expression without their operands."),
        ("split", maybe(&text), "Name of the file of split units that has the unit."),
        ("unit", maybe(&text), "Name of the compilation unit."),
        ("variable", maybe(&text), "Name of the variable or parameter."),
        ("version", json!({"const": VERSION}), "Version of the format: another number means other fields."),
        ("written", text, "Meaning of the information as written."),
    ];
    schema::object(keys.map(|(key, schema, about)| (key, schema::about(schema, about, ""), false)))
}

/// Writes a `lint` finding as a JSON object on one line, valid by [`Schema::Finding`](crate::schema::Schema).
///
/// # Panics
/// Never: the keys are text.
pub fn write_finding(finding: &LintFinding, file: &str) -> String {
    let hexadecimal = |number: u64| format!("{number:#x}");
    let line = Line {
        code: finding.code.name(),
        declared: finding.declared.as_ref().map(|(file, line)| Declared { file, line: *line }),
        evidence: &finding.evidence,
        expression: finding.expression.as_ref().map(|expression| Fault {
            fault: (expression.fault.start as u64, expression.fault.end as u64),
            text: &expression.text,
        }),
        file,
        fingerprint: format!("{:016x}", finding.fingerprint()),
        function: finding.function.as_deref(),
        function_pcs: finding.function_pcs.as_ref().and_then(FunctionPcs::new),
        inlined: finding.inlined.names(),
        level: finding.level.name(),
        meant: finding.meant.as_deref(),
        offset: finding.offset,
        pcs: finding.pcs.as_ref().map(|pcs| (hexadecimal(pcs.start), hexadecimal(pcs.end))),
        section: &finding.section,
        shape: finding.shape(),
        split: finding.split.as_deref(),
        unit: finding.unit.as_deref(),
        variable: finding.variable.as_deref(),
        version: VERSION,
        written: &finding.written,
    };
    serde_json::to_string(&line).expect("the keys are text")
}
