//! gdb's interface to JITs: a list of objects in memory, and a function in which the debugger has a breakpoint.
//! Debugging with GDB, chapter "JIT Compilation Interface". lldb has the same interface.
#![allow(unsafe_code, reason = "the interface is two symbols, of which one is a list of pointers")]

use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};

use eitri::emit::elf::{CodeContents, CodeSection, ObjectCode, new_object};
use eitri::target::Target;

/// `struct jit_code_entry`.
#[repr(C)]
struct Entry {
    next: *mut Entry,
    previous: *mut Entry,
    object: *const u8,
    bytes: u64,
}

/// `struct jit_descriptor`.
#[repr(C)]
struct Descriptor {
    version: u32,
    action: u32,
    relevant: *mut Entry,
    first: *mut Entry,
}

/// `JIT_REGISTER_FN`.
const REGISTER: u32 = 1;

#[unsafe(no_mangle)]
static mut __jit_debug_descriptor: Descriptor =
    Descriptor { version: 1, action: 0, relevant: null_mut(), first: null_mut() };

/// A debugger stops here, and reads the descriptor.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn __jit_debug_register_code() {
    // An empty function with effects that the compiler does not know, so that no call is removed.
    std::hint::black_box(());
}

/// One thread changes the list at a time.
static LIST: Mutex<()> = Mutex::new(());

/// Returns an object for code in memory, to which debug sections can be added. It has a section for each function,
/// given by its address and its size in bytes, because lldb looks for the sections that contain an address.
pub fn object(target: &Target, functions: &[(u64, usize)]) -> eitri::Result<Vec<u8>> {
    let sections = functions.iter().enumerate().map(|(index, &(_, bytes))| {
        CodeSection::new(format!(".text.{index}"), CodeContents::Code, vec![0; bytes], 1)
    });
    let mut code = ObjectCode::default();
    code.sections = sections.collect();
    let mut object = new_object(target, &code, &[])?;
    // The ELF header: `e_type`, and `e_shoff`, from which the section headers are 64 bytes each, the first unused.
    const ET_EXEC: u16 = 2;
    object[16..18].copy_from_slice(&ET_EXEC.to_le_bytes());
    let headers = u64::from_le_bytes(object[40..48].try_into().expect("8 bytes")) as usize;
    for (header, &(address, _)) in object[headers..].chunks_exact_mut(64).skip(1).zip(functions) {
        // `sh_type`: the contents are in the process and not in the object. `sh_addr`.
        const SHT_NOBITS: u32 = 8;
        header[4..8].copy_from_slice(&SHT_NOBITS.to_le_bytes());
        header[16..24].copy_from_slice(&address.to_le_bytes());
    }
    Ok(object)
}

/// Gives an object in memory to the debugger, for the rest of the process.
pub fn register(object: Vec<u8>) {
    let object: &'static [u8] = object.leak();
    let entry =
        Entry { next: null_mut(), previous: null_mut(), object: object.as_ptr(), bytes: object.len() as u64 };
    let entry = Box::into_raw(Box::new(entry));
    let _guard = LIST.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: The list is changed under the lock alone, and its entries live as long as the process.
    unsafe {
        let list = &raw mut __jit_debug_descriptor;
        let first = (*list).first;
        (*entry).next = first;
        if let Some(first) = first.as_mut() {
            first.previous = entry;
        }
        (*list).first = entry;
        (*list).relevant = entry;
        (*list).action = REGISTER;
    }
    __jit_debug_register_code();
}

/// Calls a compiled function without parameters.
///
/// # Safety
/// `code` is the finished code of such a function that returns an `i32`, with the calling convention of C.
pub unsafe fn call(code: *const u8) -> i32 {
    // SAFETY: The caller guarantees it.
    let function = unsafe { std::mem::transmute::<*const u8, extern "C" fn() -> i32>(code) };
    function()
}
