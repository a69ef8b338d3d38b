//! The format's stack elements.

use serde::Deserialize;

use serde_json::json;

use super::location::LocationText;
use super::target::VectorTarget;
use super::types::ValueType;
use super::values::{Bytes, Natural, Parsed, objects};
use crate::error::{Count, Result};
use crate::eval::{BaseType, Element, Value};
use crate::json::schema::{HasSchema, Schemas};

objects! {
    "element"
    /// A stack element.
    pub(super) struct ElementText {
        value: Option<ValueText>,
        ty as "type": Option<ValueType>,
        location: Option<Parsed<LocationText>>,
    }
}

/// A number, or bytes, depending on the type.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "a number, or text, is expected")]
enum ValueText {
    Number(u64),
    Text(String),
}

impl HasSchema for ValueText {
    fn schema(_: &mut Schemas) -> serde_json::Value {
        json!({"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string"}]})
    }
}

impl ElementText {
    pub fn resolve(&self, target: &VectorTarget) -> Result<Element, String> {
        match self {
            Self { value: None, ty: None, location: Some(Parsed(location)) } => {
                Ok(Element::Location(location.resolve(target)?))
            }
            Self { value: Some(value), ty: None, location: None } => {
                let natural = match value {
                    ValueText::Number(number) => Some(*number),
                    ValueText::Text(text) if text.starts_with("0x") => {
                        Natural::parse(text).and_then(|number| number.as_u128()?.try_into().ok())
                    }
                    ValueText::Text(_) => None,
                };
                let generic = BaseType::generic(target.address_bytes());
                let fits = |number: &u64| generic.size() >= 64 || number >> generic.size() == 0;
                let number = natural.filter(fits);
                let number =
                    number.ok_or("a `value` of the generic type is text like \"0x1f\" that fits the type")?;
                Ok(Element::Value(Value::new(generic, number)))
            }
            Self { value: Some(ValueText::Text(text)), ty: Some(ValueType(ty)), location: None } => {
                let bytes = Bytes::parse(text);
                let Bytes(mut bytes) =
                    bytes.ok_or("a `value` of a type is bytes of two hexadecimal digits each")?;
                if bytes.len() as u64 != ty.size().div_ceil(8) {
                    return Err(format!(
                        "a `value` has the size of its type: {} given for {}",
                        Count(bytes.len(), "byte").are(),
                        Count(ty.size(), "bit")
                    ));
                }
                if target.is_big_endian() {
                    bytes.reverse();
                }
                Ok(Element::Value(Value::from_bytes(*ty, &bytes)))
            }
            _ => Err("an element has a `value`, perhaps with a `type`, or a `location`".into()),
        }
    }
}
