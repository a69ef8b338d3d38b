//! Calls of the C functions with any arguments that a caller can make without lying about memory: handles that live, are
//! freed, are of another type or NULL; wrong texts; callbacks that fail and call again.

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};

use eitri_c::*;

/// Bytes that choose.
struct Choices<'d>(&'d [u8]);

impl<'d> Choices<'d> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    fn below(&mut self, count: usize) -> usize {
        usize::from(self.byte()) % count
    }

    fn bytes(&mut self) -> &'d [u8] {
        let count = usize::from(self.byte()).min(self.0.len());
        let (bytes, rest) = self.0.split_at(count);
        self.0 = rest;
        bytes
    }
}

const TARGETS: [&str; 4] = ["amdgpu-gfx1030-wave32", "x86_64", "nvptx64", "nowhere"];
const CONSUMERS: [Option<&str>; 5] = [None, Some("llvm"), Some("dwarf2"), Some("dwarf5"), Some("gdb")];
const STATEMENTS: [&str; 8] = [
    r#"{"unit": {"name": "a"}}"#,
    r#"{"base_type": {"unit": "a", "name": "int", "encoding": "signed", "bits": 32}}"#,
    r#"{"function": {"in": "a", "name": "f", "code": {"symbol": "f", "bytes": 64}}}"#,
    r#"{"variable": {"in": "f", "name": "n", "type": "int", "live": [[0, 64, {"value": 7}]]}}"#,
    r#"{"variable": {"in": "f", "name": "r", "type": "int", "live": [[0, 64, {"register": "s4"}]]}}"#,
    r#"[{"unit": {"name": "b"}}, {"unit": {"name": "c"}}]"#,
    r#"{"rows": {"function": "f", "rows": [[0, "a", 1]]}}"#,
    r#"{"label": 1}"#,
];

/// Number of functions that are chosen from; the statements have several numbers.
pub const FUNCTIONS: usize = 20;

/// All handles so far, living or not, as addresses.
#[derive(Default)]
struct Handles {
    all: Vec<*mut c_void>,
    buffers: Vec<*mut eitri_buffer>,
    modules: Vec<*mut eitri_module>,
}

/// Results of callbacks, and the library's handle that they call with.
struct Context {
    answer: c_int,
    module: *mut eitri_module,
}

extern "C" fn message(context: *mut c_void, message: *const c_char) -> c_int {
    // SAFETY: the context of this call, and a text from the library.
    let (context, text) = unsafe { (&*context.cast::<Context>(), std::ffi::CStr::from_ptr(message)) };
    assert!(text.to_str().is_ok());
    context.answer
}

extern "C" fn finding(context: *mut c_void, finding: *const eitri_finding) -> c_int {
    // SAFETY: the context of this call, and a finding from the library.
    let (context, finding) = unsafe { (&*context.cast::<Context>(), &*finding) };
    assert!(!finding.code.is_null() && !finding.message.is_null());
    context.answer
}

extern "C" fn section(context: *mut c_void, section: *const eitri_section) -> c_int {
    // SAFETY: the context of this call, and a section from the library.
    let (context, section) = unsafe { (&*context.cast::<Context>(), &*section) };
    assert!(!section.name.is_null());
    let mut json = null_mut();
    // SAFETY: the module is a handle or was one.
    unsafe { eitri_module_to_json(context.module, &raw mut json, null_mut()) };
    eitri_buffer_free(json);
    context.answer
}

extern "C" fn write(context: *mut c_void, _: *const c_char, _: usize) -> c_int {
    // SAFETY: the context of this call.
    unsafe { &*context.cast::<Context>() }.answer
}

extern "C" fn register(
    context: *mut c_void,
    number: u64,
    _: u32,
    _: u32,
    into: *mut u8,
    size: usize,
) -> c_int {
    // SAFETY: the library's bytes and the context of this call.
    unsafe {
        std::slice::from_raw_parts_mut(into, size).fill(number as u8);
        (*context.cast::<Context>()).answer
    }
}

extern "C" fn memory(
    context: *mut c_void,
    _: u64,
    _: i64,
    address: u64,
    into: *mut u8,
    size: usize,
) -> c_int {
    // SAFETY: the library's bytes and the context of this call.
    unsafe {
        std::slice::from_raw_parts_mut(into, size).fill(address as u8);
        (*context.cast::<Context>()).answer
    }
}

/// A node of any kind; most are a register or a constant.
fn any_node(choices: &mut Choices<'_>) -> eitri_node {
    let kind = if choices.below(2) == 0 { EITRI_NODE_REGISTER } else { choices.below(64) as u32 };
    eitri_node { kind, number: choices.byte().into(), other: i64::from(choices.byte()) - 128 }
}

/// Adds a variable with nodes that can be wrong.
///
/// # Safety
/// `error` can be written to.
unsafe fn add_variable(
    description: *mut eitri_description,
    nodes: &[eitri_node],
    choices: &mut Choices<'_>,
    error: *mut *mut eitri_error,
) -> eitri_result {
    let start = choices.byte().into();
    let live = eitri_live { start, end: 8, nodes: nodes.as_ptr(), nodes_count: nodes.len() };
    let is_live = choices.below(2) == 0;
    let variable = eitri_variable {
        size: size_of::<eitri_variable>() - usize::from(choices.below(16) == 0),
        scope: [c"f", c"a"][choices.below(2)].as_ptr(),
        name: c"x".as_ptr(),
        r#type: [c"int", c"none"][choices.below(2)].as_ptr(),
        id: [null(), c"x".as_ptr()][choices.below(2)],
        is_parameter: choices.byte() % 2,
        file: [null(), c"a".as_ptr()][choices.below(2)],
        line: 1,
        column: 0,
        always: nodes.as_ptr(),
        always_count: if is_live { 0 } else { nodes.len() },
        live: &raw const live,
        live_count: is_live.into(),
    };
    // SAFETY: of the caller; the pointers are to local variables and texts.
    unsafe { eitri_description_variable(description, &raw const variable, error) }
}

impl Handles {
    fn choose<T>(&self, choices: &mut Choices<'_>, own: &[*mut T]) -> *mut T {
        match choices.below(8) {
            0 => null_mut(),
            // Of any type, living or not.
            1 if !self.all.is_empty() => self.all[choices.below(self.all.len())].cast(),
            _ if !own.is_empty() => own[choices.below(own.len())],
            _ => null_mut(),
        }
    }

    fn buffer(&mut self, buffer: *mut eitri_buffer) {
        if !buffer.is_null() {
            self.all.push(buffer.cast());
            self.buffers.push(buffer);
        }
    }

    fn module(&mut self, module: *mut eitri_module) {
        if !module.is_null() {
            self.all.push(module.cast());
            self.modules.push(module);
        }
    }
}

/// Calls functions as the data says. Nothing may crash, and each error has a message. Returns the number of successes of
/// each function.
pub fn call_any(data: &[u8]) -> [u64; FUNCTIONS] {
    let mut successes = [0; FUNCTIONS];
    let mut choices = Choices(data);
    let mut handles = Handles::default();
    let mut descriptions: Vec<*mut eitri_description> = Vec::new();
    // A module to begin with, without which most calls have nothing to work on.
    if choices.below(4) > 0 {
        let list = format!("[{}]", STATEMENTS[..4].join(","));
        let (mut description, mut module) = (null_mut(), null_mut());
        // SAFETY: the texts and places are there.
        unsafe {
            eitri_description_new(c"x86_64".as_ptr(), &raw mut description, null_mut());
            eitri_description_add(description, list.as_ptr().cast(), list.len(), null_mut());
            eitri_description_finish(description, &raw mut module, null_mut());
        }
        descriptions.push(description);
        handles.module(module);
    }
    for _ in 0..64 {
        if choices.0.is_empty() {
            break;
        }
        let mut error = null_mut();
        let module = handles.choose(&mut choices, &handles.modules);
        let mut context = Context { answer: c_int::from(choices.byte() % 3), module };
        let context = (&raw mut context).cast();
        let target = CString::new(TARGETS[choices.below(TARGETS.len())]).expect("no NUL");
        let consumer =
            CONSUMERS[choices.below(CONSUMERS.len())].map(|name| CString::new(name).expect("no NUL"));
        let consumer = consumer.as_ref().map_or(null(), |name| name.as_ptr());
        let form = choices.below(16);
        let options = eitri_options {
            size: if form == 0 { 3 } else { size_of::<eitri_options>() },
            consumer,
            target: if form == 1 { target.as_ptr() } else { null() },
            flags: if choices.below(2) == 0 { 0 } else { 1 << choices.below(16) },
            omitted: Some(message),
            warned: Some(message),
            changed: Some(message),
            context,
        };
        let bytes = match choices.below(3) {
            0 => choices.bytes().to_vec(),
            _ => {
                let buffer = handles.choose(&mut choices, &handles.buffers);
                let (data, size) = (eitri_buffer_data(buffer), eitri_buffer_size(buffer));
                // SAFETY: the buffer's bytes, if it lives.
                let mut bytes = if data.is_null() {
                    Vec::new()
                } else {
                    unsafe { std::slice::from_raw_parts(data, size) }.to_vec()
                };
                if choices.below(2) == 0 && !bytes.is_empty() {
                    let at = usize::from(choices.byte()) * 31 % bytes.len();
                    bytes[at] ^= 1 << choices.below(8);
                }
                bytes
            }
        };
        let (data, size) = (bytes.as_ptr().cast::<c_char>(), bytes.len());
        let mut buffer = null_mut();
        let mut made = null_mut();
        let function = choices.below(FUNCTIONS);
        // SAFETY: texts, sizes and places are right; handles are those of the library, in any state.
        let result = unsafe {
            match function {
                0 => {
                    let mut description = null_mut();
                    let result = eitri_description_new(target.as_ptr(), &raw mut description, &raw mut error);
                    if !description.is_null() {
                        handles.all.push(description.cast());
                        descriptions.push(description);
                    }
                    result
                }
                1..=5 => {
                    let description = handles.choose(&mut choices, &descriptions);
                    let text = STATEMENTS[choices.below(STATEMENTS.len())];
                    eitri_description_add(description, text.as_ptr().cast(), text.len(), &raw mut error)
                }
                6 => {
                    let description = handles.choose(&mut choices, &descriptions);
                    eitri_description_finish(description, &raw mut made, &raw mut error)
                }
                7 => eitri_module_from_json(data, size, &raw mut made, &raw mut error),
                8 => eitri_module_to_json(module, &raw mut buffer, &raw mut error),
                9 => eitri_emit(module, &raw const options, &raw mut buffer, &raw mut error),
                10 => eitri_attach(module, data, size, &raw const options, &raw mut buffer, &raw mut error),
                11 => {
                    let mut counts = std::mem::MaybeUninit::uninit();
                    eitri_check(
                        module,
                        data,
                        size,
                        &raw const options,
                        Some(finding),
                        context,
                        counts.as_mut_ptr(),
                        &raw mut error,
                    )
                }
                12 => eitri_lint(data, size, null(), Some(finding), context, &raw mut error),
                13 => eitri_dump(data, size, 0, Some(write), context, &raw mut error),
                14 => {
                    let target = options.target;
                    eitri_import(data, size, target, Some(message), context, &raw mut made, &raw mut error)
                }
                15 => eitri_rewrite(data, size, &raw const options, &raw mut buffer, &raw mut error),
                16 => {
                    let machine = eitri_machine {
                        size: size_of::<eitri_machine>(),
                        context,
                        read_register: Some(register),
                        read_memory: Some(memory),
                        read_cfa: None,
                        lane: choices.byte().into(),
                        pc: 0,
                        load_bias: 0,
                        has_lane: choices.byte() % 2,
                        has_pc: 0,
                    };
                    let bits = u64::from(choices.byte());
                    eitri_evaluate(
                        data.cast(),
                        size,
                        target.as_ptr(),
                        consumer,
                        &raw const machine,
                        bits,
                        &raw mut buffer,
                        &raw mut error,
                    )
                }
                17 => {
                    let description = handles.choose(&mut choices, &descriptions);
                    let nodes: Vec<eitri_node> =
                        (0..choices.below(4)).map(|_| any_node(&mut choices)).collect();
                    add_variable(description, &nodes, &mut choices, &raw mut error)
                }
                18 => eitri_stats_json(data, size, null(), &raw mut buffer, &raw mut error),
                _ => eitri_emit_sections(module, &raw const options, Some(section), context, &raw mut error),
            }
        };
        assert_eq!(result == eitri_result::EITRI_OK, error.is_null());
        assert_ne!(result, eitri_result::EITRI_INTERNAL);
        successes[function] += u64::from(result == eitri_result::EITRI_OK);
        if !error.is_null() {
            assert!(!eitri_error_message(error).is_null() && !eitri_error_kind(error).is_null());
            eitri_error_free(error);
        }
        handles.buffer(buffer);
        handles.module(made);
        if choices.below(8) == 0 {
            eitri_module_free(handles.choose(&mut choices, &handles.modules));
            eitri_buffer_free(handles.choose(&mut choices, &handles.buffers));
            eitri_description_free(handles.choose(&mut choices, &descriptions));
        }
    }
    descriptions.into_iter().for_each(|description| eitri_description_free(description));
    handles.modules.into_iter().for_each(|module| eitri_module_free(module));
    handles.buffers.into_iter().for_each(|buffer| eitri_buffer_free(buffer));
    successes
}
