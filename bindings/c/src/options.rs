//! Options of functions that write and rewrite.

use std::ffi::{c_char, c_void};

use eitri::consumer::Additions;
use eitri::emit::elf::{Compression, Existing};
use eitri::lower::{Consumer, Policy};
use eitri::model::Warning;
use eitri::omission::Omission;
use eitri::output::OutputOptions;
use eitri::target::Target;

use crate::error::Failure;
use crate::finding::{Callback, eitri_message_callback};
use crate::input::optional_text;

/// Omit what the consumer's format cannot express, and pass it to `omitted`. Without this flag it is an error.
pub const EITRI_PARTIAL: u32 = 1 << 0;
/// Replace debug information that the object already has. Without this flag it is an error. For `eitri_attach`.
pub const EITRI_REPLACE: u32 = 1 << 1;
/// Write 64-bit DWARF.
pub const EITRI_DWARF64: u32 = 1 << 2;
/// Add DWARF 5's name index, `.debug_names`.
pub const EITRI_NAMES: u32 = 1 << 3;
/// Add `.debug_pubnames` and `.debug_pubtypes`.
pub const EITRI_PUBNAMES: u32 = 1 << 4;
/// Add `.debug_aranges`.
pub const EITRI_ARANGES: u32 = 1 << 5;
/// Put named structures and enumerations into type units, in DWARF 4 and 5.
pub const EITRI_TYPE_UNITS: u32 = 1 << 6;
/// Compress debug sections by zlib.
pub const EITRI_ZLIB: u32 = 1 << 7;
/// Compress debug sections by zstd.
pub const EITRI_ZSTD: u32 = 1 << 8;
/// Write what lint proves wrong as it was meant, as far as the code proves it; remove it otherwise. For `eitri_rewrite`.
pub const EITRI_FIX: u32 = 1 << 9;
/// Remove what belongs to code that is not in the linked object. For `eitri_rewrite`.
pub const EITRI_GC: u32 = 1 << 10;
/// Describe equal types of all units once. For `eitri_rewrite`.
pub const EITRI_DEDUPE: u32 = 1 << 11;
/// Remove also types, constants and extensions that nothing uses after that. For `eitri_spirv_strip`.
pub const EITRI_ALL: u32 = 1 << 12;

/// Flags of functions that write a description, into nothing that has one.
const WRITTEN: u32 = EITRI_PARTIAL
    | EITRI_DWARF64
    | EITRI_NAMES
    | EITRI_PUBNAMES
    | EITRI_ARANGES
    | EITRI_TYPE_UNITS
    | EITRI_ZLIB
    | EITRI_ZSTD;
/// Flags of `eitri_rewrite`.
const REWRITTEN: u32 = EITRI_FIX | EITRI_GC | EITRI_DEDUPE | EITRI_NAMES;

/// Options for writing debug information. NULL instead of a structure, and a structure in which all fields but `size` are 0, are
/// the defaults.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct eitri_options {
    /// `sizeof(eitri_options)`.
    pub size: usize,
    /// Name of the consumer: "llvm", "rocgdb", "rocgdb-legacy", "cuda-gdb", "dwarf2" to "dwarf5". NULL is "cuda-gdb" on
    /// NVIDIA's targets, "dwarf5" on CPUs, "llvm" on all others, and for `eitri_rewrite` a consumer that reads what the producer wrote.
    pub consumer: *const c_char,
    /// For `eitri_rewrite`: the target, where the object does not state it: a name or a JSON object, as for
    /// `eitri_description_new`. NULL is the object's.
    pub target: *const c_char,
    /// EITRI_PARTIAL and the other flags, combined by |.
    pub flags: u32,
    /// Gets what the output lacks: what the consumer's format cannot express, and for `eitri_rewrite` also what is not
    /// imported.
    pub omitted: eitri_message_callback,
    /// Gets valid statements that can be mistakes, in the form "kind: message". For `eitri_emit` and `eitri_attach`.
    pub warned: eitri_message_callback,
    /// Gets what `eitri_rewrite` changed.
    pub changed: eitri_message_callback,
    /// First argument of the callbacks.
    pub context: *mut c_void,
}

/// Options whose texts have been read.
pub(crate) struct Options<'a> {
    consumer: Option<&'a str>,
    target: Option<&'a str>,
    pub flags: u32,
    pub omitted: Callback<unsafe extern "C" fn(*mut c_void, *const c_char) -> i32>,
    pub warned: Callback<unsafe extern "C" fn(*mut c_void, *const c_char) -> i32>,
    pub changed: Callback<unsafe extern "C" fn(*mut c_void, *const c_char) -> i32>,
}

impl<'a> Options<'a> {
    /// # Safety
    /// `options` is NULL, or points to a structure with its size, whose texts nobody changes during `'a`.
    unsafe fn read(options: *const eitri_options, flags: u32) -> Result<Self, Failure> {
        let none = eitri_options {
            size: size_of::<eitri_options>(),
            consumer: std::ptr::null(),
            target: std::ptr::null(),
            flags: 0,
            omitted: None,
            warned: None,
            changed: None,
            context: std::ptr::null_mut(),
        };
        let options = if options.is_null() {
            none
        } else {
            if !options.is_aligned() {
                return Err(Failure::argument(format!("`options` is at {options:p}, which is not aligned")));
            }
            // SAFETY: the size is the first field in every version.
            let size = unsafe { (&raw const (*options).size).read() };
            if size != size_of::<eitri_options>() {
                let expected = size_of::<eitri_options>();
                return Err(Failure::argument(format!(
                    "`options` has the size {size}; expected sizeof(eitri_options), {expected}"
                )));
            }
            // SAFETY: of the caller, and the size is right.
            unsafe { options.read() }
        };
        if options.flags & !flags != 0 {
            let unknown = options.flags & !flags;
            return Err(Failure::argument(format!(
                "`options` has the flags {unknown:#x}, which this function does not take"
            )));
        }
        Ok(Self {
            // SAFETY: of the caller.
            consumer: unsafe { optional_text(options.consumer, "options.consumer") }?,
            // SAFETY: of the caller.
            target: unsafe { optional_text(options.target, "options.target") }?,
            flags: options.flags,
            omitted: Callback::new("omitted", options.omitted, options.context),
            warned: Callback::new("warned", options.warned, options.context),
            changed: Callback::new("changed", options.changed, options.context),
        })
    }

    /// Reads options of a function that writes a description.
    ///
    /// # Safety
    /// The conditions of [`read`](Self::read).
    pub unsafe fn writing(options: *const eitri_options) -> Result<Self, Failure> {
        // SAFETY: of the caller.
        unsafe { Self::read(options, WRITTEN) }?.without_target()
    }

    /// Reads options of a function that writes a description into an object.
    ///
    /// # Safety
    /// The conditions of [`read`](Self::read).
    pub unsafe fn attaching(options: *const eitri_options) -> Result<Self, Failure> {
        // SAFETY: of the caller.
        unsafe { Self::read(options, WRITTEN | EITRI_REPLACE) }?.without_target()
    }

    /// Refuses a target: a module has it already.
    fn without_target(self) -> Result<Self, Failure> {
        match self.target {
            Some(target) => Err(Failure::argument(format!(
                "`options.target` is \"{target}\"; expected NULL, because the module has a target"
            ))),
            None => Ok(self),
        }
    }

    /// Reads options of `eitri_rewrite`.
    ///
    /// # Safety
    /// The conditions of [`read`](Self::read).
    pub unsafe fn rewriting(options: *const eitri_options) -> Result<Self, Failure> {
        // SAFETY: of the caller.
        unsafe { Self::read(options, REWRITTEN) }
    }

    pub fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// Returns the chosen consumer.
    pub fn chosen(&self) -> Result<Option<Consumer>, Failure> {
        Ok(self.consumer.map(Consumer::named).transpose()?)
    }

    /// Returns the consumer for a target, with the tables that the flags add.
    pub fn consumer(&self, target: &Target) -> Result<Consumer, Failure> {
        Ok(Consumer::chosen(self.consumer, target)?.with(Additions {
            dwarf64: self.has(EITRI_DWARF64),
            names: self.has(EITRI_NAMES),
            pubnames: self.has(EITRI_PUBNAMES),
            aranges: self.has(EITRI_ARANGES),
            type_units: self.has(EITRI_TYPE_UNITS),
            split: false,
        }))
    }

    /// Returns the target that a caller gives for an object.
    pub fn target(&self) -> Result<Option<Target>, Failure> {
        Ok(self.target.map(eitri::json::target).transpose()?)
    }

    pub fn policy(&self) -> Policy {
        Policy::partial(self.has(EITRI_PARTIAL))
    }

    /// Returns how a module is written.
    pub fn output(&self) -> Result<OutputOptions<'static>, Failure> {
        let mut output = OutputOptions::default();
        output.policy = self.policy();
        output.existing = if self.has(EITRI_REPLACE) { Existing::Replace } else { Existing::Refuse };
        output.compression = self.compression()?;
        output.has_warnings = self.warned.is_set();
        Ok(output)
    }

    /// Passes what an output lacks, and what can be a mistake in it, to the callbacks.
    ///
    /// # Safety
    /// The callbacks take the context.
    pub unsafe fn tell(&self, omissions: &[Omission], warnings: &[Warning]) -> Result<(), Failure> {
        for omission in omissions {
            // SAFETY: of the caller.
            unsafe { self.omitted.message(omission.to_string()) }?;
        }
        for warning in warnings {
            // SAFETY: of the caller.
            unsafe { self.warned.message(format!("{}: {warning}", warning.kind().name())) }?;
        }
        Ok(())
    }

    pub fn compression(&self) -> Result<Compression, Failure> {
        match (self.has(EITRI_ZLIB), self.has(EITRI_ZSTD)) {
            (false, false) => Ok(Compression::None),
            (true, false) => Ok(Compression::Zlib),
            (false, true) => Ok(Compression::Zstd),
            (true, true) => {
                Err(Failure::argument("`options` has EITRI_ZLIB and EITRI_ZSTD; expected one of them"))
            }
        }
    }
}
