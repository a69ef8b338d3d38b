//! The tables of properties of entities: units, files, scopes, types, members, dimensions, template parameters, functions,
//! variables, calls, imports, labels and regions. A property has one row.
//!
//! | column | meaning |
//! |---|---|
//! | doc comment | that of the field, of the builder's method, and of the key in the [format](crate::json) |
//! | kind | the type of the field and its form in a description, below |
//! | since | the first version with the property |
//! | key | the key in a description; also the builder's method, unless the row has `by` |
//! | `=> field` | the field of the entity, or of its part `in member`; its default is absent, false or zero |
//! | `by method` | the hand-written method of the builder, which checks its argument |
//! | `(attribute, spirv bit)` | the flag in DWARF, and its bit in the debug info flags of SPIR-V |
//!
//! | kind | field | in a description |
//! |---|---|---|
//! | `flag` | `bool` | `true` |
//! | `text`, `word T`, `number T`, `long`, `signed`, `md5`, `language` | an optional value | the value |
//! | `zero T` | a number, 0 for none | the number |
//! | `line`, `type`, `function`, `variable` | an optional reference | the reference |
//! | `loc`, `val` | an optional location | the location; its number |
//! | `by T` | declared at the entity | a `T`, with the conversions of its `Property` |
//! | `initial T` | declared at the entity | a `T`, an argument of the method that makes the entity |
//!
//! A row generates the field, its default, canonical equality, JSON in and out, the schema, and the page; for units,
//! types, members, functions, variables and calls also the plain method of the builder. Only a function's flag with an
//! attribute is also emitted and compared; any other property is written in `lower`, and compared in `check::tree`.

/// Calls a macro with the properties of units.
macro_rules! unit_properties { ($use:ident $($with:tt)*) => { $use! { $($with)*
    /// Directory of the compilation.
    [text] "0.1" directory => directory;
    /// Name and version of the compiler.
    [text] "0.1" producer => producer;
    /// Arguments of the compiler, as one text. In DWARF they are at the end of the producer, after a space.
    [text] "0.1" command_line => command_line;
    /// Has optimized code: in DWARF, LLVM's attribute `DW_AT_APPLE_optimized`.
    [flag] "0.1" optimized => is_optimized;
    /// Source language: the name in a `DW_LANG_*`, or its number.
    [language] "0.1" language => language by language;
    /// Version of the language as DWARF 6 numbers it, `VVMM` or `YYYYRR`, where the language does not imply it.
    [number u32] "0.1" language_version => language_version;
    /// File of the split unit, relative to the directory of the compilation.
    [text] "0.1" split_name => split_name by split_name;
} } }

/// Calls a macro with the properties of functions.
macro_rules! function_properties { ($use:ident $($with:tt)*) => { $use! { $($with)*
    /// Code: at a symbol or an address, and its bytes. Without it the function is inlined or declared only.
    [by Code<'a>] "0.1" code;
    /// Linkage name, where it differs from the name.
    [text] "0.1" linkage_name => linkage_name;
    /// Type of the result.
    [type] "0.1" returns => returns by returns;
    /// Line of the declaration.
    [line] "0.1" declared => line by declared_at;
    /// Line where the body begins, in the file of the declaration. DWARF has no attribute for it.
    [zero u32] "0.1" body_line => body_line by body_line;
    /// Is visible outside the unit. DWARF 5 section 3.3.1.
    [flag] "0.1" external => is_external (DW_AT_external);
    /// Is launched by the host, with a stack frame at address 0 of private memory.
    [flag] "0.1" kernel => is_kernel by kernel;
    /// Stack frame in private memory.
    [by Stack<'a>] "0.1" stack;
    /// Takes more arguments than it has parameters. DWARF 5 section 3.3.1.2, `DW_TAG_unspecified_parameters`.
    [flag] "0.1" variadic => is_variadic;
    /// Does not return. DWARF 5 section 3.3.1.
    [flag] "0.1" noreturn => is_noreturn (DW_AT_noreturn);
    /// Is the main subprogram. DWARF 5 section 3.3.1.
    [flag] "0.1" main => is_main (DW_AT_main_subprogram);
    /// Calling convention, a number `DW_CC_*`, where it differs from the target's default. DWARF 5 section 3.3.1.1.
    [number u8] "0.1" convention => convention;
    /// Is declared inline. Inlined calls show whether it is inlined. DWARF 5 section 3.3.8.1.
    [flag] "0.1" declared_inline => is_declared_inline;
    /// Accessibility of a member function. DWARF 5 section 2.8.
    [word Accessibility] "0.1" accessibility in member => accessibility;
    /// Virtuality of a member function. DWARF 5 section 5.7.8.
    [word Virtuality] "0.1" virtuality in member => virtuality;
    /// Is `explicit`: not used for implicit conversions. DWARF 5 section 5.7.8.
    [flag] "0.1" explicit in member => is_explicit (DW_AT_explicit, spirv 6);
    /// Is deleted: a member function that cannot be called. DWARF 5 section 5.7.8.
    [flag] "0.1" deleted in member => is_deleted (DW_AT_deleted);
    /// Position of the `= default` of a member function. DWARF 5 section 5.7.8.
    [word Defaulted] "0.1" defaulted in member => defaulted;
    /// Parameter that is a member function's object.
    [variable] "0.1" object_pointer => object_pointer by object_pointer;
    /// Location of the frame base.
    [loc] "0.1" frame_base => frame_base by frame_base;
    /// Location of the frame base of the enclosing function.
    [loc] "0.1" static_link => static_link by static_link;
    /// Kind of calls that are described completely. DWARF 5 section 3.3.1.4.
    [word DescribedCalls] "0.1" describes_calls => calls by describes;
} } }

/// Calls a macro with the properties of variables.
macro_rules! variable_properties { ($use:ident $($with:tt)*) => { $use! { $($with)*
    /// Line of the declaration.
    [line] "0.1" declared => line by declared_at;
    /// Is generated by the compiler.
    [flag] "0.1" artificial => is_artificial;
    /// Is visible outside the unit.
    [flag] "0.1" external => is_external;
    /// Memory space in the source: OpenCL's `local`, HIP's `__shared__`.
    [word MemorySpace] "0.1" memory_space => memory_space;
    /// Accessibility of a static member, where it is not the language's default.
    [word Accessibility] "0.1" accessibility => accessibility;
    /// Linkage name, where it differs from the name.
    [text] "0.1" linkage_name => linkage_name;
    /// Value of a variable without a location, the lowest byte first.
    [by Bytes] "0.1" const_value;
    /// Location at all pcs.
    [by Loc<'a>] "0.1" always;
    /// Locations by pc.
    [by LiveRanges<'a>] "0.1" live;
} } }

/// Calls a macro with the properties of calls.
macro_rules! call_properties { ($use:ident $($with:tt)*) => { $use! { $($with)*
    /// Return pc: the pc after the call.
    [long] "0.1" returns_to => return_pc by returns_to;
    /// Pc of the call instruction.
    [long] "0.1" at => pc by at;
    /// Called function.
    [function] "0.1" calls => callee by calls;
    /// Address of an indirect call.
    [val] "0.1" target => target by target;
    /// Address of an indirect call, computed from operands that the callee may change.
    [val] "0.1" clobbered_target => clobbered_target by clobbered_target;
    /// Is a jump: the callee returns to the caller of the function.
    [flag] "0.1" tail => is_tail;
    /// Line of the call.
    [line] "0.1" line => line by line;
} } }

/// Calls a macro with the properties of files.
macro_rules! file_properties { ($use:ident $($with:tt)*) => { $use! { $($with)*
    /// Directory, relative to that of the compilation.
    [initial Text<'a>] "0.1" directory;
    /// MD5 sum of the text. Either all files of a unit have one, or none.
    [md5] "0.1" md5 => md5 by file_md5;
    /// Text to embed in the line table.
    [text] "0.1" source => source by file_source;
} } }

/// Calls a macro with the properties of scopes.
macro_rules! scope_properties { ($use:ident $($with:tt)*) => { $use! { $($with)*
    /// Line where a block or a namespace begins.
    [line] "0.1" begins => line by begins;
    /// Entry pc, in bytes from the start of the function, where it is not the scope's lowest pc.
    [long] "0.1" entry_pc => entry_pc by entry_pc;
    /// Discriminator: of an inlined call, its number among the calls of its line; of a block, that of its instructions.
    [zero u32] "0.1" discriminator => discriminator by discriminator;
} } }

/// Calls a macro with the properties of types that are set after the type was made.
macro_rules! type_properties { ($use:ident $($with:tt)*) => { $use! { $($with)*
    /// Scope of the declaration, where it is not the unit.
    [by Text<'a>] "0.1" r#in;
    /// Line of the declaration.
    [line] "0.1" declared => line by declared_at;
    /// Alignment in bytes, where the source declares one. DWARF 5 section 2.24.
    [long] "0.1" alignment => alignment by alignment;
    /// Passing of a structure, class or union to functions. DWARF 5 section 5.7.1.1.
    [by Word<Passed>] "0.1" passed;
} } }

/// Calls a macro with the properties of members of types and variants.
macro_rules! member_properties { ($use:ident $($with:tt)*) => { $use! { $($with)*
    /// Name; without it the member is anonymous.
    [initial Text<'a>] "0.1" name;
    /// Bytes from the start of the object.
    [initial Number] "0.1" offset;
    /// Bits of a bit field from the start of the object.
    [initial Number] "0.1" offset_bits;
    /// Size of a bit field in bits.
    [initial Number] "0.1" bits;
    /// Accessibility, where it is not the language's default. DWARF 5 section 2.8.
    [word Accessibility] "0.1" accessibility => accessibility;
    /// Is mutable in constant objects. DWARF 5 section 5.7.6.
    [flag] "0.1" mutable => is_mutable;
    /// Is generated by the compiler.
    [flag] "0.1" artificial => is_artificial;
    /// Line of the declaration.
    [line] "0.1" declared => line by declared_at;
} } }

/// Calls a macro with the properties of dimensions of arrays.
macro_rules! dimension_properties { ($use:ident $($with:tt)*) => { $use! { $($with)*
    /// Number of elements.
    [initial Number] "0.1" count;
    /// Variable whose value is the number of elements.
    [initial Ref<'a>] "0.1" variable;
    /// Computed number of elements.
    [initial Val<'a>] "0.1" value;
    /// Index of the first element, where it is not the language's default (0 for C and most languages).
    [signed] "0.1" lower => lower by from;
    /// Type of an index.
    [type] "0.1" index => index by index;
} } }

/// Calls a macro with the properties of template parameters.
#[cfg(feature = "json")]
macro_rules! template_properties { ($use:ident $($with:tt)*) => { $use! { $($with)*
    /// Name; without it the parameter is unnamed.
    [initial Text<'a>] "0.1" name;
    /// The argument is the parameter's default.
    [flag] "0.1" default => is_default by default;
} } }

/// Calls a macro with the properties of imports.
macro_rules! import_properties { ($use:ident $($with:tt)*) => { $use! { $($with)*
    /// Imported function.
    [initial Ref<'a>] "0.1" function;
    /// Imported variable.
    [initial Ref<'a>] "0.1" variable;
    /// Imported type.
    [initial Ref<'a>] "0.1" r#type;
    /// Imported namespace.
    [initial Ref<'a>] "0.1" namespace;
    /// Namespace whose names are imported.
    [initial Ref<'a>] "0.1" all_of;
    /// Name in the importing scope, where it differs.
    [text] "0.1" name => name by name;
    /// Line of the import.
    [line] "0.1" declared => line by declared_at;
} } }

/// Calls a macro with the properties of labels.
macro_rules! label_properties { ($use:ident $($with:tt)*) => { $use! { $($with)*
    /// Pc in bytes from the start of the function, unless the optimizer removed the label.
    [long] "0.1" at => pc by at;
    /// Line of the declaration.
    [line] "0.1" declared => line by declared_at;
} } }

/// Calls a macro with the properties of regions.
macro_rules! region_properties { ($use:ident $($with:tt)*) => { $use! { $($with)*
    /// Enclosing region.
    [initial Ref<'a>] "0.1" inside;
} } }

#[cfg(feature = "json")]
pub(crate) use template_properties;
pub(crate) use {
    call_properties, dimension_properties, file_properties, function_properties, import_properties,
    label_properties, member_properties, region_properties, scope_properties, type_properties,
    unit_properties, variable_properties,
};

/// An entity: required fields, fields with the default of their type, and properties.
macro_rules! entity { (
    ($visible:vis)
    $(#[$meta:meta])*
    pub struct $name:ident { $($(#[$known_meta:meta])* $known_visible:vis $known:ident: $known_type:ty,)* }
    default { $($(#[$more_meta:meta])* $more_visible:vis $more:ident: $more_type:ty,)* }
    $(
        #[doc = $doc:literal] $kind:tt $since:literal $key:ident
        $(=> $field:ident $(by $method:ident)? $(($attribute:ident $(, spirv $bit:literal)?))?)?
        $(in member => $inner:ident $(($inner_attribute:ident $(, spirv $inner_bit:literal)?))?)?;
    )*
) => {
    $(#[$meta])*
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct $name {
        $($(#[$known_meta])* $known_visible $known: $known_type,)*
        $($(#[doc = $doc] $visible $field: $crate::model::entities::field!($kind),)?)*
        $($(#[$more_meta])* $more_visible $more: $more_type,)*
    }

    impl $name {
        /// Flags of the entity's DWARF entry, in the order of the entry.
        #[allow(dead_code, reason = "each entity has it")]
        pub(crate) const FLAGS: &'static [(gimli::DwAt, fn(&Self) -> bool)] = &[
            $($($((gimli::$attribute, |entity| entity.$field),)?)?)*
            $($($((gimli::$inner_attribute, |entity| entity.member.$inner),)?)?)*
        ];

        /// Flags in the debug info flags of SPIR-V, each with its key and bit.
        #[cfg(feature = "spirv")]
        #[allow(dead_code, reason = "each entity has it")]
        pub(crate) const SPIRV_FLAGS: &'static [(&'static str, u32, fn(&Self) -> bool)] = &[
            $($($($((stringify!($key), 1 << $bit, |entity| entity.$field),)?)?)?)*
            $($($($((stringify!($key), 1 << $inner_bit, |entity| entity.member.$inner),)?)?)?)*
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
        #[doc = $doc:literal] $kind:tt $since:literal $key:ident
        $(=> $field:ident $(by $method:ident)? $(($attribute:ident $(, spirv $bit:literal)?))?)?
        $(in member => $inner:ident $(($inner_attribute:ident $(, spirv $inner_bit:literal)?))?)?;
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
    ([zero $type:ty]) => { $type };
    ([text]) => { Option<$crate::model::StringId> };
    ([long]) => { Option<u64> };
    ([signed]) => { Option<i64> };
    ([md5]) => { Option<[u8; 16]> };
    ([language]) => { Option<$crate::model::Language> };
    ([line]) => { Option<$crate::model::SourceLine> };
    ([type]) => { Option<$crate::model::TypeId> };
    ([function]) => { Option<$crate::model::FunctionId> };
    ([variable]) => { Option<$crate::model::VariableId> };
    ([loc]) => { Option<$crate::model::LocId> };
    ([val]) => { Option<$crate::model::LocId> };
    ([$kind:ident $type:ty]) => { Option<$type> };
}
pub(super) use {entity, field, member};
