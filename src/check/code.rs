//! Whether the code that a module speaks of is in an object.

use crate::error::{At, Error, Result};
use crate::model::{Address, FunctionId, Module};
use crate::read::{Object, Section};

/// Looks for the code of every function in an object, before debug information is added to that.
///
/// Where code is at a symbol, the object has that, and the code does not go past the end of the section that the
/// symbol is in. The size of the symbol is not compared: it can be another where code was written by hand, or a
/// function has several symbols. A symbol that a relocatable object has but does not define is another object's.
/// Where code is at an address, a linked object has it in one section.
///
/// # Errors
/// [`BadArgument`](crate::error::ErrorKind::BadArgument) with function, symbol and section, of the first function
/// that is not there; those of [`Object::read`].
pub fn check_code(module: &Module, bytes: &[u8]) -> Result<()> {
    let object = Object::read(bytes)?;
    module.functions.keys().try_for_each(|function| is_there(module, &object, function))
}

/// An error unless the object has the code of a function, or that is another object's.
pub(super) fn is_there(module: &Module, object: &Object<'_>, function: FunctionId) -> Result<()> {
    let data = module.function(function);
    let Some(address) = data.address else { return Ok(()) };
    let wrong = |section: Option<&Section<'_>>, what: String| {
        let section = section.map(|section| section.name.clone().into_owned());
        Err(Error::bad_argument(what).or_at(At { section, ..module.at_scope(data.scope) }))
    };
    let (start, section, what) = match address {
        Address::Symbol(symbol, by) => {
            let name = module.symbol_name(symbol);
            let Some(symbol) = object.symbol(name) else {
                return wrong(None, format!("the object has no symbol `{name}`, where its code is"));
            };
            let section = symbol.section.and_then(|section| object.sections().get(section));
            match section {
                Some(_) => {}
                None if object.is_relocatable() || symbol.is_defined => return Ok(()),
                None => {
                    let what = format!("the object does not define the symbol `{name}`, where its code is");
                    return wrong(None, what);
                }
            }
            let what = match by {
                0 => format!("symbol `{name}`"),
                _ => format!("{by:#x} behind symbol `{name}`"),
            };
            (symbol.address.checked_add(by), section, what)
        }
        Address::Constant(_) if object.is_relocatable() => return Ok(()),
        Address::Constant(start) => {
            let is_around = |section: &&Section<'_>| {
                section.is_loaded()
                    && start.checked_sub(section.address).is_some_and(|offset| offset < section.size)
            };
            let what = format!("address {start:#x}");
            let section = object.sections().iter().find(is_around);
            if section.is_none() {
                return wrong(None, format!("no section of the object is at {what}, where its code is"));
            }
            (Some(start), section, what)
        }
    };
    let Some(section) = section else { return Ok(()) };
    let end = start.and_then(|start| start.checked_sub(section.address)?.checked_add(data.bytes));
    match end {
        Some(end) if end <= section.size => Ok(()),
        _ => {
            let (bytes, has) = (data.bytes, section.size);
            let what = format!(
                "{bytes:#x} bytes of code at {what} go past the end of the section, which has {has:#x} bytes"
            );
            wrong(Some(section), what)
        }
    }
}
