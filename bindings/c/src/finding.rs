//! Callbacks: messages, findings, bytes.

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::null;

use eitri::check::CheckFinding;
use eitri::json::write_finding;
use eitri::lint::{Level, LintFinding};
use eitri::spirv::ValidationFinding;

use crate::error::Failure;
use crate::input::c_text;

/// A callback that gets a message. NULL takes no messages.
pub type eitri_message_callback =
    Option<unsafe extern "C" fn(context: *mut c_void, message: *const c_char) -> c_int>;

/// A callback that gets a finding. NULL takes no findings.
pub type eitri_finding_callback =
    Option<unsafe extern "C" fn(context: *mut c_void, finding: *const eitri_finding) -> c_int>;

/// A callback that gets the next bytes of an output.
pub type eitri_write_callback =
    Option<unsafe extern "C" fn(context: *mut c_void, data: *const c_char, size: usize) -> c_int>;

/// Level of a finding.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum eitri_level {
    /// Worth knowing; not wrong.
    EITRI_NOTE = 0,
    /// May mislead.
    EITRI_WARNING = 1,
    /// Wrong.
    EITRI_WRONG = 2,
}

/// A finding of `eitri_check`, `eitri_lint` or `eitri_spirv_check`. Texts are NULL where they are unknown.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct eitri_finding {
    /// Level. What `eitri_check` finds is EITRI_WRONG.
    pub level: eitri_level,
    /// Code of the finding, such as "register-as-memory".
    pub code: *const c_char,
    /// The whole finding in one line, or more with evidence.
    pub message: *const c_char,
    /// The whole finding as a JSON object, by the schema `finding`; NULL from other functions than `eitri_lint`.
    pub json: *const c_char,
    /// Name of the compilation unit.
    pub unit: *const c_char,
    /// Name of the function.
    pub function: *const c_char,
    /// Name of the variable, parameter or constant.
    pub variable: *const c_char,
    /// Section of the object.
    pub section: *const c_char,
    /// Whether `pcs_start` and `pcs_end` are known.
    pub has_pcs: bool,
    /// Whether `offset` is known.
    pub has_offset: bool,
    /// Start of the half-open pc range: an address in the object from `eitri_lint`, bytes from the function's start from
    /// `eitri_check`.
    pub pcs_start: u64,
    /// End of the pc range.
    pub pcs_end: u64,
    /// Offset in bytes from the start of the section; in words from the start of a SPIR-V module.
    pub offset: u64,
}

/// A caller's function with its first argument.
pub(crate) struct Callback<F> {
    name: &'static str,
    function: Option<F>,
    context: *mut c_void,
}

impl<F> Callback<F> {
    pub fn new(name: &'static str, function: Option<F>, context: *mut c_void) -> Self {
        Self { name, function, context }
    }

    pub fn is_set(&self) -> bool {
        self.function.is_some()
    }

    /// Calls the function, if there is one.
    fn call(&self, call: impl FnOnce(&F, *mut c_void) -> c_int) -> Result<(), Failure> {
        match self.function.as_ref().map_or(0, |function| call(function, self.context)) {
            0 => Ok(()),
            number => Err(Failure::Callback(self.name, number)),
        }
    }
}

impl Callback<unsafe extern "C" fn(*mut c_void, *const c_char) -> c_int> {
    /// # Safety
    /// The function takes the context.
    pub unsafe fn message(&self, message: impl Into<String>) -> Result<(), Failure> {
        let message = c_text(message);
        // SAFETY: of the caller.
        self.call(|function, context| unsafe { function(context, message.as_ptr()) })
    }
}

impl Callback<unsafe extern "C" fn(*mut c_void, *const c_char, usize) -> c_int> {
    /// # Safety
    /// The function takes the context.
    pub unsafe fn write(&self, bytes: &[u8]) -> Result<(), Failure> {
        // SAFETY: of the caller.
        self.call(|function, context| unsafe { function(context, bytes.as_ptr().cast(), bytes.len()) })
    }
}

impl Callback<unsafe extern "C" fn(*mut c_void, *const eitri_finding) -> c_int> {
    /// # Safety
    /// The function takes the context.
    pub unsafe fn finding(&self, finding: Finding) -> Result<(), Failure> {
        let text = |text: &Option<CString>| text.as_ref().map_or(null(), |text| text.as_ptr());
        let (pcs_start, pcs_end) = finding.pcs.unwrap_or_default();
        let finding = &finding;
        let passed = eitri_finding {
            level: finding.level,
            code: finding.code.as_ptr(),
            message: finding.message.as_ptr(),
            json: text(&finding.json),
            unit: text(&finding.unit),
            function: text(&finding.function),
            variable: text(&finding.variable),
            section: text(&finding.section),
            has_pcs: finding.pcs.is_some(),
            has_offset: finding.offset.is_some(),
            pcs_start,
            pcs_end,
            offset: finding.offset.unwrap_or_default(),
        };
        // SAFETY: of the caller.
        self.call(|function, context| unsafe { function(context, &raw const passed) })
    }
}

/// A finding's texts for C.
pub(crate) struct Finding {
    level: eitri_level,
    code: CString,
    message: CString,
    json: Option<CString>,
    unit: Option<CString>,
    function: Option<CString>,
    variable: Option<CString>,
    section: Option<CString>,
    pcs: Option<(u64, u64)>,
    offset: Option<u64>,
}

impl From<&CheckFinding> for Finding {
    fn from(finding: &CheckFinding) -> Self {
        let at = &finding.at;
        let text = |text: &Option<String>| text.clone().map(c_text);
        Self {
            level: eitri_level::EITRI_WRONG,
            code: c_text(finding.kind.name()),
            message: c_text(finding.to_string()),
            json: None,
            unit: text(&at.unit),
            function: text(&at.function),
            variable: text(&at.variable),
            section: text(&at.section),
            pcs: at.pcs.as_ref().map(|pcs| (pcs.start, pcs.end)),
            offset: at.offset,
        }
    }
}

impl Finding {
    /// A finding of lint in an object with a name.
    pub fn of_lint(finding: &LintFinding, name: &str) -> Self {
        Self {
            level: match finding.level {
                Level::Error => eitri_level::EITRI_WRONG,
                Level::Warning => eitri_level::EITRI_WARNING,
                _ => eitri_level::EITRI_NOTE,
            },
            code: c_text(finding.code.name()),
            message: c_text(finding.to_string()),
            json: Some(c_text(write_finding(finding, name))),
            unit: finding.unit.as_deref().map(c_text),
            function: finding.function.as_deref().map(c_text),
            variable: finding.variable.as_deref().map(c_text),
            section: Some(c_text(&*finding.section)),
            pcs: finding.pcs.as_ref().map(|pcs| (pcs.start, pcs.end)),
            offset: Some(finding.offset),
        }
    }

    /// A finding about a SPIR-V module.
    pub fn of_module(finding: &ValidationFinding, level: eitri_level) -> Self {
        Self {
            level,
            code: c_text(finding.rule.name()),
            message: c_text(finding.to_string()),
            json: None,
            unit: None,
            function: None,
            variable: None,
            section: None,
            pcs: None,
            offset: finding.at.word.map(|word| word as u64),
        }
    }
}
