//! Text for compared values in findings.

use std::borrow::Cow;

use gimli::{DwAt, DwTag, DwUt};

use super::files::Source;
use crate::dump::names;
use crate::error::Count;
use crate::model::VariantValues;
use crate::op::Encoding;
use crate::read::{Entry, NameParent, NameUnit, ResolvedValue};

/// Value that can be expected or found.
pub(super) trait Describe {
    fn describe(&self) -> String;
}

macro_rules! describe { ($($type:ty: |$value:ident| $words:expr;)*) => { $(
    impl Describe for $type {
        fn describe(&self) -> String {
            let $value = self;
            $words
        }
    }
)* } }
describe! {
    u8: |number| number.to_string();
    u16: |number| number.to_string();
    u32: |number| number.to_string();
    i32: |number| number.to_string();
    u64: |number| number.to_string();
    i128: |number| number.to_string();
    usize: |number| number.to_string();
    bool: |is| if *is { "yes" } else { "no" }.into();
    str: |text| format!("`{}`", text.escape_debug());
    String: |text| text.as_str().describe();
    Cow<'_, str>: |text| (**text).describe();
    DwTag: |tag| names::tag(*tag).into_owned();
    DwAt: |attribute| names::attribute(*attribute, &ResolvedValue::Other).into_owned();
    DwUt: |kind| kind.static_string().map_or_else(|| format!("DW_UT_{:#x}", kind.0), Into::into);
    Hex: |number| format!("{:#x}", number.0);
    VariantValues: |values| match values {
        VariantValues::Single(value) => value.to_string(),
        VariantValues::Range(first, last) => format!("{first} to {last}"),
    };
    Encoding: |encoding| {
        let Encoding { address_bytes, offset_bytes, version, .. } = encoding;
        format!("DWARF {version} with addresses of {address_bytes} and offsets of {offset_bytes}", address_bytes = Count(*address_bytes, "byte"))
    };
    Entry<'_, '_>: |entry| {
        let name = entry.name().map(|name| format!(" {}", name.describe())).unwrap_or_default();
        format!("{}{name} at {:#x}", entry.tag().describe(), entry.offset())
    };
    NameUnit: |unit| match unit {
        NameUnit::Compile(offset) => format!("the unit at {offset:#x}"),
        NameUnit::Type(offset) => format!("the type unit at {offset:#x}"),
        NameUnit::Foreign { signature, .. } => format!("the type unit of signature {signature:#018x}"),
    };
    NameParent: |parent| match parent {
        NameParent::Unknown => "nothing of its parent".into(),
        NameParent::NotIndexed => "a parent that is not indexed".into(),
        NameParent::Entry(offset) => format!("the parent at {offset:#x} of the index"),
    };
    ResolvedValue<'_>: |value| match value {
        ResolvedValue::Unsigned(number) => number.to_string(),
        ResolvedValue::Signed(number) => number.to_string(),
        ResolvedValue::Wide(number) => number.to_string(),
        ResolvedValue::Address(address) => format!("address {address:#x}"),
        ResolvedValue::Unreadable => String::from("a value that cannot be read"),
        ResolvedValue::AddressIndex(index) => format!("address {index} of a table"),
        ResolvedValue::AddressIndexOffset(index, offset) => format!("address {index} of a table + {offset:#x}"),
        ResolvedValue::String(string) => string.text().describe(),
        ResolvedValue::Reference(offset) => format!("the entry at {offset:#x}"),
        ResolvedValue::Signature(signature) => format!("the type of signature {signature:#018x}"),
        ResolvedValue::Expr(_) => "an expression".into(),
        ResolvedValue::LocList(offset) => format!("a location list at {offset:#x}"),
        ResolvedValue::RngList(offset) => format!("a range list at {offset:#x}"),
        ResolvedValue::LineProgram(offset) => format!("a line program at {offset:#x}"),
        ResolvedValue::Offset(offset) => format!("offset {offset:#x}"),
        ResolvedValue::Flag(is) => is.describe(),
        ResolvedValue::Block(bytes) => Count(bytes.len(), "byte").to_string(),
        ResolvedValue::Other => "something in a supplementary file".into(),
        _ => "a value of an unknown form".into(),
    };
    Source<'_>: |source| {
        let (directory, name, md5) = source;
        let directory = if directory.is_empty() { String::new() } else { format!("{directory}/") };
        let sum = |md5: &[u8; 16]| md5.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let md5 = md5.as_ref().map(|md5| format!(" with MD5 sum {}", sum(md5))).unwrap_or_default();
        format!("{}{md5}", format!("{directory}{name}").describe())
    };
}

/// Name for an attribute whose value is an expression or a location list, whether it is present or not.
pub(super) fn of_location(attribute: DwAt) -> Cow<'static, str> {
    names::attribute(attribute, &ResolvedValue::Expr(&[]))
}

/// Offset or address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hex(pub u64);

impl<T: Describe + ?Sized> Describe for &T {
    fn describe(&self) -> String {
        (**self).describe()
    }
}

impl<T: Describe> Describe for Option<T> {
    fn describe(&self) -> String {
        self.as_ref().map_or_else(|| "none".into(), Describe::describe)
    }
}

impl<T: Describe> Describe for [T] {
    fn describe(&self) -> String {
        match self {
            [] => "none".into(),
            all => all.iter().map(Describe::describe).collect::<Vec<_>>().join(", "),
        }
    }
}

impl<T: Describe> Describe for Vec<T> {
    fn describe(&self) -> String {
        self.as_slice().describe()
    }
}

impl<T: Describe, const N: usize> Describe for [T; N] {
    fn describe(&self) -> String {
        self.as_slice().describe()
    }
}

/// An entry's tag and name, and whether the entry is an inline namespace.
impl Describe for (DwTag, Cow<'_, str>, bool) {
    fn describe(&self) -> String {
        let (tag, name, is_inline) = self;
        format!("{}{} {}", if *is_inline { "inline " } else { "" }, tag.describe(), name.describe())
    }
}

/// Name and value.
impl<T: Describe> Describe for (String, T) {
    fn describe(&self) -> String {
        format!("{} of {}", self.0.describe(), self.1.describe())
    }
}
