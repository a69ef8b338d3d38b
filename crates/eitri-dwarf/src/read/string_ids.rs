//! String numbers: equal strings have the same number.

use hashbrown::HashMap;

use super::recurring::Recurring;
use super::value::Str;

/// String number.
pub type StringId = u32;

/// Numbers of strings, from 0 on.
#[derive(Debug, Default)]
pub struct StringIds<'r> {
    /// String addresses, because most equal strings are the same string in the file.
    addresses: Recurring<usize>,
    /// Numbers of the strings at these addresses.
    at_addresses: Vec<StringId>,
    by_bytes: HashMap<&'r [u8], StringId>,
    all: Vec<&'r [u8]>,
}

impl<'r> StringIds<'r> {
    /// Returns a string's number.
    #[doc(hidden)]
    pub fn of(&mut self, string: Str<'r>) -> StringId {
        let (address, is_new) = self.addresses.add(string.address());
        if is_new {
            let number = self.of_bytes(string.bytes());
            self.at_addresses.push(number);
        }
        self.at_addresses[address]
    }

    /// Returns the number of a string with these bytes.
    #[doc(hidden)]
    pub fn of_bytes(&mut self, bytes: &'r [u8]) -> StringId {
        let next = self.all.len() as StringId;
        let number = *self.by_bytes.entry(bytes).or_insert(next);
        if number == next {
            self.all.push(bytes);
        }
        number
    }

    /// Returns the bytes of all strings, by number.
    #[doc(hidden)]
    pub fn bytes(&self) -> &[&'r [u8]] {
        &self.all
    }
}
