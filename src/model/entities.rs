//! Tables of entity properties: units, files, scopes, types, members, dimensions, template parameters, functions,
//! variables, calls, imports, labels and regions. A property has one row.
//!
//! | column | meaning |
//! |---|---|
//! | doc comment | documents the field, the builder's method, and the key in the [format](crate::json) |
//! | kind | the field's type and its form in a description, below |
//! | since | the first version with the property |
//! | key | the key in a description; also the builder's method, unless the row has `by` |
//! | `=> field` | the entity's field, or a field of its part `in member`; its default is absent, false or zero |
//! | `by method` | the builder's hand-written method, which checks its argument |
//! | `(attribute, spirv bit)` | the flag in DWARF, and its bit in SPIR-V's debug info flags |
//!
//! | kind | field | in a description |
//! |---|---|---|
//! | `flag` | `bool` | `true` |
//! | `text`, `word T`, `number T`, `long`, `signed`, `md5`, `language` | an optional value | the value |
//! | `zero T` | a number, 0 for none | the number |
//! | `line`, `type`, `function`, `variable` | an optional reference | the reference |
//! | `loc`, `val` | an optional location | the location; its number |
//! | `place A`, `length A`, `attribute A` | none: in the list of [attributes](super::Module::attributes) | the location; the number; the value |
//! | `by T` | declared at the entity | a `T`, with the conversions of its `Property` |
//! | `initial T` | declared at the entity | a `T`, an argument of the method that makes the entity |
//!
//! A row generates the field, its default, canonical equality, JSON in and out, the schema, and the page; for units,
//! types, members, functions, variables and calls also the plain method of the builder. Only a function's flag with an
//! attribute is also emitted and compared; any other property is written in `lower`, and compared in `check::tree`.

/// Calls a macro with unit properties.
macro_rules! unit_properties { ($use:ident $($with:tt)*) => { $use! { $($with)*
    /// Compilation directory.
    [text] "0.1" directory => directory;
    /// Compiler name and version.
    [text] "0.1" producer => producer;
    /// Compiler arguments, as one text. In DWARF they are at the end of the producer, after a space.
    [text] "0.1" command_line => command_line;
    /// Has optimized code: in DWARF, LLVM's attribute `DW_AT_APPLE_optimized`.
    [flag] "0.1" optimized => is_optimized;
    /// Source language: the name in a `DW_LANG_*`, or its number.
    [language] "0.1" language => language by language;
    /// Language version as DWARF 6 numbers it, `VVMM` or `YYYYRR`, where the language does not imply it.
    [number u32] "0.1" language_version => language_version;
    /// File of the split unit, relative to the compilation directory.
    [text] "0.1" split_name => split_name by split_name;
} } }

/// Calls a macro with function properties.
macro_rules! function_properties { ($use:ident $($with:tt)*) => { $use! { $($with)*
    /// Code: at a symbol or an address, and its bytes. Without it the function is inlined or declared only.
    [by Code<'a>] "0.1" code;
    /// Linkage name, where it differs from the name.
    [text] "0.1" linkage_name => linkage_name;
    /// Result type.
    [type] "0.1" returns => returns by returns;
    /// Line of the declaration.
    [line] "0.1" declared => line by declared;
    /// Line where the body begins, in the declaration's file. DWARF has no attribute for it.
    [zero u32] "0.1" body_line => body_line by body_line;
    /// Is visible outside the unit. DWARF 5 section 3.3.1.
    [flag] "0.1" external => is_external (DW_AT_external);
    /// Is launched by the host, with a stack frame at private memory's address 0, and without a caller.
    [flag] "0.1" kernel => is_kernel by kernel;
    /// Has no entry: code that nothing else describes, with its rows and frame. It has no name, and nothing is in it.
    [flag] "0.1" undescribed => is_undescribed;
    /// Stack frame in private memory.
    [by Stack<'a>] "0.1" stack;
    /// Takes more arguments than it has parameters. DWARF 5 section 3.3.1.2, `DW_TAG_unspecified_parameters`.
    [flag] "0.1" variadic => is_variadic;
    /// Has no prototype, in a language whose functions can have one: C, OpenCL C. DWARF 5 section 3.3.1.
    [flag] "0.1" unprototyped => is_unprototyped;
    /// Does not return. DWARF 5 section 3.3.1.
    [flag] "0.1" noreturn => is_noreturn (DW_AT_noreturn);
    /// Is the main subprogram. DWARF 5 section 3.3.1.
    [flag] "0.1" main => is_main (DW_AT_main_subprogram);
    /// Calling convention, a number `DW_CC_*`, where it differs from the target's default. DWARF 5 section 3.3.1.1.
    [number u8] "0.1" convention => convention;
    /// Is declared inline. Inlined calls show whether it is inlined. DWARF 5 section 3.3.8.1.
    [flag] "0.1" declared_inline => is_declared_inline;
    /// Member function's accessibility. DWARF 5 section 2.8.
    [word Accessibility] "0.1" accessibility in member => accessibility;
    /// Member function's virtuality. DWARF 5 section 5.7.8.
    [word Virtuality] "0.1" virtuality in member => virtuality;
    /// Is `explicit`: not used for implicit conversions. DWARF 5 section 5.7.8.
    [flag] "0.1" explicit in member => is_explicit (DW_AT_explicit, spirv 6);
    /// Is deleted: a member function that cannot be called. DWARF 5 section 5.7.8.
    [flag] "0.1" deleted in member => is_deleted (DW_AT_deleted);
    /// Position of a member function's `= default`. DWARF 5 section 5.7.8.
    [word Defaulted] "0.1" defaulted in member => defaulted;
    /// Location of a virtual member function's slot in the table of virtual functions. DWARF 5 section 5.7.8.
    [place DW_AT_vtable_elem_location] "0.1" vtable_elem_location;
    /// Parameter that is a member function's object.
    [variable] "0.1" object_pointer => object_pointer by object_pointer;
    /// Frame base location.
    [loc] "0.1" frame_base => frame_base by frame_base;
    /// Frame base locations by pc, where the location is not the same at all pcs.
    [by FrameBases<'a>] "0.1" frame_bases;
    /// Location of the enclosing function's frame base.
    [loc] "0.1" static_link => static_link by static_link;
    /// Kind of calls that are described completely. DWARF 5 section 3.3.1.4.
    [word DescribedCalls] "0.1" describes_calls => calls by describes;
} } }

/// Calls a macro with variable properties.
macro_rules! variable_properties { ($use:ident $($with:tt)*) => { $use! { $($with)*
    /// Line of the declaration.
    [line] "0.1" declared => line by declared;
    /// Is generated by the compiler.
    [flag] "0.1" artificial => is_artificial;
    /// Is visible outside the unit.
    [flag] "0.1" external => is_external;
    /// Memory space in the source: OpenCL's `local`, HIP's `__shared__`.
    [word MemorySpace] "0.1" memory_space => memory_space;
    /// Static member's accessibility, where it is not the language's default.
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

/// Calls a macro with call properties.
macro_rules! call_properties { ($use:ident $($with:tt)*) => { $use! { $($with)*
    /// Return pc: the pc after the call.
    [long] "0.1" returns_to => return_pc by returns_to;
    /// Pc of the call instruction.
    [long] "0.1" at => pc by at;
    /// Called function.
    [function] "0.1" calls => callee by calls;
    /// Address for an indirect call.
    [val] "0.1" target => target by target;
    /// Address for an indirect call, computed from operands that the callee may change.
    [val] "0.1" clobbered_target => clobbered_target by clobbered_target;
    /// Is a jump: the callee returns to the function's caller.
    [flag] "0.1" tail => is_tail;
    /// Call line.
    [line] "0.1" line => line by line;
} } }

/// Calls a macro with file properties.
macro_rules! file_properties { ($use:ident $($with:tt)*) => { $use! { $($with)*
    /// Directory, relative to the compilation directory.
    [initial Text<'a>] "0.1" directory;
    /// MD5 sum of the text. Either all files in a unit have one, or none.
    [md5] "0.1" md5 => md5 by file_md5;
    /// Text to embed in the line table.
    [text] "0.1" source => source by file_source;
} } }

/// Calls a macro with scope properties.
macro_rules! scope_properties { ($use:ident $($with:tt)*) => { $use! { $($with)*
    /// Line where a block or a namespace begins.
    [line] "0.1" begins => line by begins;
    /// Entry pc, in bytes from the function start, where it is not the scope's lowest pc.
    [long] "0.1" entry_pc => entry_pc by entry_pc;
    /// Discriminator: an inlined call's number among the calls on its line; a block's, which its instructions have.
    [zero u32] "0.1" discriminator => discriminator by discriminator;
} } }

/// Calls a macro with type properties that are set after the type was added.
macro_rules! type_properties { ($use:ident $($with:tt)*) => { $use! { $($with)*
    /// Scope of the declaration, where it is not the unit.
    [by Text<'a>] "0.1" r#in;
    /// Line of the declaration.
    [line] "0.1" declared => line by declared;
    /// Alignment in bytes, where the source declares one. DWARF 5 section 2.24.
    [long] "0.1" alignment => alignment by alignment;
    /// Function type without a prototype, in a language whose functions can have one: C, OpenCL C. DWARF 5 section 5.10.
    [flag] "0.1" unprototyped => is_unprototyped by unprototyped;
    /// How a structure, class or union is passed to functions. DWARF 5 section 5.7.1.1.
    [by Word<Passed>] "0.1" passed;
    /// Location of the data of an object that describes it. DWARF 5 section 5.18.1.
    [place DW_AT_data_location] "0.1" data_location;
    /// Number other than 0 if an object's data is allocated. DWARF 5 section 5.18.2.
    [attribute DW_AT_allocated] "0.1" allocated;
    /// Number other than 0 if a pointer is associated with data. DWARF 5 section 5.18.2.
    [attribute DW_AT_associated] "0.1" associated;
    /// Number of dimensions of an array that is known at run time. DWARF 5 section 5.18.3.
    [attribute DW_AT_rank] "0.1" rank;
    /// Location of a string's length, or the variable that has it. DWARF 5 section 5.11.
    [attribute DW_AT_string_length] "0.1" string_length;
    /// Size in bytes of the number at the location of a string's length. DWARF 5 section 5.11.
    [length DW_AT_string_length_byte_size] "0.1" string_length_bytes;
    /// Size in bytes of an object, where it is not constant. DWARF 5 section 2.21.
    [attribute DW_AT_byte_size] "0.1" size;
    /// Least value of a subrange. DWARF 5 section 5.13.
    [attribute DW_AT_lower_bound] "0.1" lower_bound;
    /// Greatest value of a subrange. DWARF 5 section 5.13.
    [attribute DW_AT_upper_bound] "0.1" upper_bound;
    /// Location of the member that a pointer to a member refers to. DWARF 5 section 5.14.
    [place DW_AT_use_location] "0.1" use_location;
} } }

/// Calls a macro with properties of type and variant members.
macro_rules! member_properties { ($use:ident $($with:tt)*) => { $use! { $($with)*
    /// Name; without it the member is anonymous.
    [initial Text<'a>] "0.1" name;
    /// Bytes from the object start.
    [initial Number] "0.1" offset;
    /// Bit field's distance from the object start, in bits.
    [initial Number] "0.1" offset_bits;
    /// Bit field's size in bits.
    [initial Number] "0.1" bits;
    /// Accessibility, where it is not the language's default. DWARF 5 section 2.8.
    [word Accessibility] "0.1" accessibility => accessibility;
    /// Is mutable in constant objects. DWARF 5 section 5.7.6.
    [flag] "0.1" mutable => is_mutable;
    /// Is generated by the compiler.
    [flag] "0.1" artificial => is_artificial;
    /// Line of the declaration.
    [line] "0.1" declared => line by declared;
} } }

/// Calls a macro with properties of array dimensions.
macro_rules! dimension_properties { ($use:ident $($with:tt)*) => { $use! { $($with)*
    /// Element count.
    [initial Number] "0.1" count;
    /// Variable whose value is the element count.
    [initial Ref<'a>] "0.1" variable;
    /// Computed element count.
    [initial Val<'a>] "0.1" value;
    /// First element's index, where it is not the language's default (0 for C and most languages).
    [signed] "0.1" lower => lower by from;
    /// Index type.
    [type] "0.1" index => index by index;
} } }

/// Calls a macro with template parameter properties.
#[cfg(feature = "json")]
macro_rules! template_properties { ($use:ident $($with:tt)*) => { $use! { $($with)*
    /// Name; without it the parameter is unnamed.
    [initial Text<'a>] "0.1" name;
    /// The argument is the parameter's default.
    [flag] "0.1" default => is_default by default;
} } }

/// Calls a macro with import properties.
macro_rules! import_properties { ($use:ident $($with:tt)*) => { $use! { $($with)*
    /// Imported function.
    [initial Ref<'a>] "0.1" function;
    /// Imported variable.
    [initial Ref<'a>] "0.1" variable;
    /// Imported type.
    [initial Ref<'a>] "0.1" r#type;
    /// Imported data member: its structure, class or union, and its index in the members.
    [initial (Ref<'a>, u32)] "0.1" member;
    /// Imported enumerator: its enumeration, and its index in the enumerators.
    [initial (Ref<'a>, u32)] "0.1" enumerator;
    /// Imported namespace.
    [initial Ref<'a>] "0.1" namespace;
    /// Namespace whose names are imported.
    [initial Ref<'a>] "0.1" all_of;
    /// Name in the importing scope, where it differs.
    [text] "0.1" name => name by name;
    /// Line of the import.
    [line] "0.1" declared => line by declared;
} } }

/// Calls a macro with label properties.
macro_rules! label_properties { ($use:ident $($with:tt)*) => { $use! { $($with)*
    /// Pc in bytes from the function start, unless the optimizer removed the label.
    [long] "0.1" at => pc by at;
    /// Line of the declaration.
    [line] "0.1" declared => line by declared;
} } }

/// Calls a macro with region properties.
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

/// An entity: required fields, fields with their type's default, and properties.
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
        /// Flags in the entity's DWARF entry, in the entry's order.
        #[allow(dead_code, reason = "each entity has it")]
        pub(crate) const FLAGS: &'static [(gimli::DwAt, fn(&Self) -> bool)] = &[
            $($($((gimli::$attribute, |entity| entity.$field),)?)?)*
            $($($((gimli::$inner_attribute, |entity| entity.member.$inner),)?)?)*
        ];

        /// Flags in SPIR-V's debug info flags, each with its key and bit.
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

/// Properties of an entity's part `member`.
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

/// Type of a property's field.
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
