//! The table of properties of units, functions, variables and calls: one row each.
//!
//! | column | meaning |
//! |---|---|
//! | doc comment | that of the field, of the builder's method, and of the key in the [format](crate::json) |
//! | kind | `flag`; `text`; `word`: a value of an enumeration; `number`; `own`: read and written by hand |
//! | key | the key in a description; for plain properties also the builder's method |
//! | `=> field` | the field of the entity, or of its part `in member` |
//! | `(attribute)` | the flag in DWARF |
//!
//! A plain row generates the field, its default (absent), the method, canonical equality, JSON in and out, the schema,
//! and the page. Fields without a row are declared at the entity, with hand-written methods and JSON.

/// Calls a macro with the properties of units.
macro_rules! unit_properties { ($use:ident $($with:tt)*) => { $use! { $($with)*
    /// Directory of the compilation.
    [text] directory => directory;
    /// Name and version of the compiler.
    [text] producer => producer;
    /// Arguments of the compiler, as one text. In DWARF they are at the end of the producer, after a space.
    [text] command_line => command_line;
    /// Has optimized code. DWARF has no attribute for it.
    [flag] optimized => is_optimized;
    /// Source language: the name in a `DW_LANG_*`, or its number.
    [own Named<'a>] language;
    /// Version of the language as DWARF 6 numbers it, `VVMM` or `YYYYRR`, where the language does not imply it.
    [number u32] language_version => language_version;
    /// File of the split unit, relative to the directory of the compilation.
    [own Text<'a>] split_name;
} } }

/// Calls a macro with the properties of functions.
macro_rules! function_properties { ($use:ident $($with:tt)*) => { $use! { $($with)*
    /// Code: at a symbol or an address, and its bytes. Without it the function is inlined or declared only.
    [own Code<'a>] code;
    /// Linkage name, where it differs from the name.
    [text] linkage_name => linkage_name;
    /// Type of the result.
    [own Ref<'a>] returns;
    /// Line of the declaration.
    [own Line<'a>] declared;
    /// Line where the body begins, in the file of the declaration.
    [own u32] body_line;
    /// Is visible outside of the unit. DWARF 5 section 3.3.1.
    [flag] external => is_external (DW_AT_external);
    /// Is launched by the host, with a stack frame at address 0 of private memory.
    [own bool] kernel;
    /// Stack frame in private memory.
    [own Stack<'a>] stack;
    /// Takes more arguments than it has parameters. DWARF 5 section 3.3.1.2, `DW_TAG_unspecified_parameters`.
    [flag] variadic => is_variadic;
    /// Never returns. DWARF 5 section 3.3.1.
    [flag] noreturn => is_noreturn (DW_AT_noreturn);
    /// Is the main subprogram. DWARF 5 section 3.3.1.
    [flag] main => is_main (DW_AT_main_subprogram);
    /// Calling convention, a number `DW_CC_*`, where it differs from the target's default. DWARF 5 section 3.3.1.1.
    [number u8] convention => convention;
    /// Is declared inline. Inlined calls show whether it is inlined. DWARF 5 section 3.3.8.1.
    [flag] declared_inline => is_declared_inline;
    /// Accessibility of a member function. DWARF 5 section 2.8.
    [word Accessibility] accessibility in member => accessibility;
    /// Virtuality of a member function. DWARF 5 section 5.7.8.
    [word Virtuality] virtuality in member => virtuality;
    /// Is `explicit`: not used for implicit conversions. DWARF 5 section 5.7.8.
    [flag] explicit in member => is_explicit (DW_AT_explicit);
    /// Is deleted: a member function that cannot be called. DWARF 5 section 5.7.8.
    [flag] deleted in member => is_deleted (DW_AT_deleted);
    /// Position of the `= default` of a member function. DWARF 5 section 5.7.8.
    [word Defaulted] defaulted in member => defaulted;
    /// Parameter that is a member function's object.
    [own Ref<'a>] object_pointer;
    /// Location of the frame base.
    [own Loc<'a>] frame_base;
    /// Location of the frame base of the enclosing function.
    [own Loc<'a>] static_link;
    /// Kind of calls that are described completely. DWARF 5 section 3.3.1.4.
    [own Word<DescribedCalls>] describes_calls;
} } }

/// Calls a macro with the properties of variables.
macro_rules! variable_properties { ($use:ident $($with:tt)*) => { $use! { $($with)*
    /// Line of the declaration.
    [own Line<'a>] declared;
    /// Is made by the compiler.
    [flag] artificial => is_artificial;
    /// Is visible outside of the unit.
    [flag] external => is_external;
    /// Memory space in the source: OpenCL's `local`, HIP's `__shared__`.
    [word MemorySpace] memory_space => memory_space;
    /// Accessibility of a static member, where it is not the language's default.
    [word Accessibility] accessibility => accessibility;
    /// Linkage name, where it differs from the name.
    [text] linkage_name => linkage_name;
    /// Locations by pc.
    [own Later<'a, Live<'a>>] live;
    /// Location at all pcs.
    [own Loc<'a>] always;
    /// Value of a variable without a location, the lowest byte first.
    [own Bytes] const_value;
} } }

/// Calls a macro with the properties of calls.
macro_rules! call_properties { ($use:ident $($with:tt)*) => { $use! { $($with)*
    /// Return pc: the pc after the call.
    [own Number] returns_to;
    /// Pc of the call instruction.
    [own Number] at;
    /// Called function.
    [own Ref<'a>] calls;
    /// Address of an indirect call.
    [own Val<'a>] target;
    /// Address of an indirect call, computed from operands that the callee may change.
    [own Val<'a>] clobbered_target;
    /// Is a jump: the callee returns to the caller of the function.
    [flag] tail => is_tail;
    /// Line of the call.
    [own Line<'a>] line;
} } }

pub(crate) use {call_properties, function_properties, unit_properties, variable_properties};

/// An entity: required fields, fields with the default of their type, and properties.
macro_rules! entity { (
    $(#[$meta:meta])*
    pub struct $name:ident { $($(#[$known_meta:meta])* $known_visible:vis $known:ident: $known_type:ty,)* }
    default { $($(#[$more_meta:meta])* $more_visible:vis $more:ident: $more_type:ty,)* }
    $(
        #[doc = $doc:literal] $kind:tt $key:ident $(=> $field:ident $(($attribute:ident))?)?
        $(in member => $inner:ident $(($inner_attribute:ident))?)?;
    )*
) => {
    $(#[$meta])*
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct $name {
        $($(#[$known_meta])* $known_visible $known: $known_type,)*
        $($(#[doc = $doc] pub $field: $crate::model::entities::field!($kind),)?)*
        $($(#[$more_meta])* $more_visible $more: $more_type,)*
    }

    impl $name {
        /// Flags of the entity's DWARF entry, in the order of the entry.
        #[allow(dead_code, reason = "each entity has it")]
        pub(crate) const FLAGS: &'static [(gimli::DwAt, fn(&Self) -> bool)] = &[
            $($($((gimli::$attribute, |entity| entity.$field),)?)?)*
            $($($((gimli::$inner_attribute, |entity| entity.member.$inner),)?)?)*
        ];

        /// An entity without properties.
        pub(crate) fn new($($known: $known_type),*) -> Self {
            Self { $($known,)* $($($field: Default::default(),)?)* $($more: Default::default(),)* }
        }
    }

    impl $crate::model::equality::Store for $name {
        fn store(&mut self, to: &mut $crate::model::equality::Canonical<'_>) {
            $(self.$known.store(to);)*
            $($(self.$field.store(to);)?)*
            $(self.$more.store(to);)*
        }
    }
} }

/// The properties of an entity's part `member`.
macro_rules! member { (
    $(#[$meta:meta])*
    pub struct $name:ident;
    $(
        #[doc = $doc:literal] $kind:tt $key:ident $(=> $field:ident $(($attribute:ident))?)?
        $(in member => $inner:ident $(($inner_attribute:ident))?)?;
    )*
) => {
    $(#[$meta])*
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub struct $name {
        $($(#[doc = $doc] pub $inner: $crate::model::entities::field!($kind),)?)*
    }

    impl $crate::model::equality::Store for $name {
        fn store(&mut self, to: &mut $crate::model::equality::Canonical<'_>) {
            $($(self.$inner.store(to);)?)*
        }
    }
} }

/// The type of a property's field.
macro_rules! field {
    ([flag]) => { bool };
    ([text]) => { Option<$crate::model::StringId> };
    ([$kind:ident $type:ty]) => { Option<$type> };
}
pub(super) use {entity, field, member};
