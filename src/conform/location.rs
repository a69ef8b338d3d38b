//! Text form of locations: [`parse`] reads the text that [`Location`]'s `Display` prints.
//!
//! ```
//! use eitri::conform::location::parse;
//! use eitri::target::Target;
//!
//! // An object in two locations at once: from bit 36 of a register on, and in memory. Both
//! // have the same bits.
//! let location = parse("reg:17+36 | mem:0:0x10", &Target::x86_64())?;
//! assert_eq!(location.places().count(), 2);
//! # Ok::<(), String>(())
//! ```

use core::str::FromStr;

use super::target::VectorTarget;
use super::values::{self, Bytes, Natural};
use crate::error::Count;
use crate::eval::{
    Architecture, Composite, Element, ImplicitPointer, Location, SingleLocation, Storage, Value,
};
use crate::op::Reg;
use crate::target::{Per, SpaceId};

/// Parses a location's text form. The architecture provides register sizes and address space sizes.
///
/// ```
/// use eitri::conform::location;
/// use eitri::target::Target;
///
/// let text = "[reg:0/32, undefined/8, (mem:0:0x10 | reg:17+36)/24]+16";
/// let location = location::parse(text, &Target::x86_64())?;
/// assert_eq!(location.to_string(), text);
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// Describes the syntax error, or the register or address space that the architecture does not have.
pub fn parse(text: &str, architecture: &dyn Architecture) -> Result<Location, String> {
    text.parse::<LocationText>()?.resolve(architecture)
}

/// Parses a stack element: a number, which is a value of the generic type (`31`, `0x1f`), or a location.
///
/// ```
/// use eitri::conform::{VectorTarget, location};
/// use eitri::target::Target;
///
/// let target = VectorTarget::from(Target::x86_64());
/// assert_eq!(location::parse_element("0x1f", &target)?, location::parse_element("31", &target)?);
/// assert!(location::parse_element("mem:0:0x1g", &target).is_err());
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// The errors that [`parse`] returns.
pub fn parse_element(text: &str, target: &VectorTarget) -> Result<Element, String> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    match number {
        Some(number) => Ok(Element::Value(Value::generic(number, target.address_bytes()))),
        None => parse(text, target).map(Element::Location),
    }
}

/// A parsed location, without sizes: a single location, or several at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LocationText(Vec<Place>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    storage: Named,
    /// Offset in bits.
    by: u128,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Named {
    Memory { space: values::Named, address: u64, lane: Option<u32> },
    Register(values::Named),
    Implicit(Vec<u8>),
    Pointer { entry: u64, by: i64 },
    Undefined,
    Parts(Vec<(LocationText, u128)>),
}

/// A store's target: `reg:N`, or the byte `mem:SPACE:ADDRESS` or `mem:SPACE:ADDRESS@LANE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stored {
    Register(Reg),
    Memory { space: SpaceId, address: u64, lane: Option<u32> },
}

/// Maximum nesting depth of composites, which protects the stack.
const MAX_DEPTH: usize = 64;

/// Maximum number of simultaneous locations in a text.
const MAX_PLACES: usize = 256;

impl FromStr for LocationText {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut reader = Reader { text, at: 0, depth: 0 };
        let location = reader.location()?;
        if !reader.rest().is_empty() {
            return Err(reader.expected("the end of the location, ` | ` or `+BITS`"));
        }
        Ok(location)
    }
}

super::values::textual! { LocationText: "^ *(\\[|undefined|mem:|reg:|implicit:|implptr:)"; }

impl Stored {
    /// Parses a store's target.
    ///
    /// # Errors
    /// A message if the text is not such a target, or names a register or space that the architecture does not have.
    pub fn parse(text: &str, architecture: &dyn Architecture) -> Result<Self, String> {
        let LocationText(places) = text.parse()?;
        match places.as_slice() {
            [Place { storage: Named::Register(reg), by: 0 }] => {
                Ok(Self::Register(reg.register(architecture)?))
            }
            [Place { storage: Named::Memory { space, address, lane }, by: 0 }] => {
                Ok(Self::Memory { space: space.space(architecture)?, address: *address, lane: *lane })
            }
            _ => {
                Err(format!("`{text}` is not a register or memory; expected `reg:N` or `mem:SPACE:ADDRESS`"))
            }
        }
    }

    /// Checks that `bytes` bytes fit the target.
    ///
    /// # Errors
    /// Describes the register or address range that the architecture does not have.
    pub fn check(&self, bytes: usize, architecture: &dyn Architecture) -> Result<(), String> {
        match *self {
            Self::Register(reg) => {
                let bits = architecture.register_bits(reg);
                let bits = bits.ok_or_else(|| format!("the target has no register {}", reg.0))?;
                if bits.div_ceil(8) as usize == bytes {
                    return Ok(());
                }
                Err(format!(
                    "{bytes} given for a register of {bits}",
                    bits = Count(bits, "bit"),
                    bytes = Count(bytes, "byte")
                ))
            }
            Self::Memory { space, lane, .. } => {
                let layout = architecture.space(space);
                let layout = layout.ok_or_else(|| format!("the target has no address space {}", space.0))?;
                check_lane(space, layout.per, lane)
            }
        }
    }
}

impl core::fmt::Display for Stored {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Register(reg) => write!(f, "reg:{}", reg.0),
            Self::Memory { space, address, lane } => {
                write!(f, "mem:{}:{address:#x}", space.0)?;
                lane.map_or(Ok(()), |lane| write!(f, "@{lane}"))
            }
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn expected(&self, what: &str) -> String {
        match self.rest() {
            "" => format!("`{}` ends too early; expected {what}", self.text),
            rest => format!("`{}` is invalid at `{rest}`; expected {what}", self.text),
        }
    }

    fn blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start_matches(' ').len();
    }

    /// Consumes the token if it comes next. Returns whether it did.
    fn eat(&mut self, token: &str) -> bool {
        let is_next = self.rest().starts_with(token);
        self.at += if is_next { token.len() } else { 0 };
        is_next
    }

    fn need(&mut self, token: &str) -> Result<(), String> {
        if self.eat(token) { Ok(()) } else { Err(self.expected(&format!("`{token}`"))) }
    }

    /// Consumes the following letters and digits.
    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let len = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
        self.at += len;
        &rest[..len]
    }

    fn number<T: TryFrom<u128>>(&mut self, what: &str) -> Result<T, String> {
        let start = self.at;
        let number = Natural::parse(self.word()).and_then(|number| number.as_u128()?.try_into().ok());
        number.ok_or_else(|| {
            self.at = start;
            self.expected(what)
        })
    }

    /// Parses a number or a name.
    fn named(&mut self, what: &str) -> Result<values::Named, String> {
        let start = self.at;
        let rest = self.rest();
        let is_part = |char: char| char.is_alphanumeric() || char == '_';
        let word = &rest[..rest.find(|char| !is_part(char)).unwrap_or(rest.len())];
        self.at += word.len();
        word.parse().map_err(|_| {
            self.at = start;
            self.expected(what)
        })
    }

    fn location(&mut self) -> Result<LocationText, String> {
        let mut places = vec![self.place()?];
        loop {
            let end = self.at;
            self.blanks();
            if !self.eat("|") {
                // Blanks before the end belong to the enclosing text, such as a composite.
                self.at = end;
                return Ok(LocationText(places));
            }
            self.blanks();
            places.push(self.place()?);
            // Bounds the time that a comparison of two locations takes.
            if places.len() > MAX_PLACES {
                return Err(
                    self.expected(&format!("the end of a location of at most {MAX_PLACES} single locations"))
                );
            }
        }
    }

    fn place(&mut self) -> Result<Place, String> {
        let mut place = Place { storage: self.storage()?, by: 0 };
        while self.eat("+") {
            let by: u128 = self.number("a number of bits")?;
            place.by = place.by.checked_add(by).ok_or_else(|| self.expected("a smaller number of bits"))?;
        }
        Ok(place)
    }

    fn storage(&mut self) -> Result<Named, String> {
        if self.eat("[") {
            return self.parts();
        }
        let start = self.at;
        match self.word() {
            "undefined" => Ok(Named::Undefined),
            "mem" => {
                self.need(":")?;
                let space = self.named("the number or the name of an address space")?;
                self.need(":")?;
                let address = self.number("an address")?;
                let lane = if self.eat("@") { Some(self.number("a lane")?) } else { None };
                Ok(Named::Memory { space, address, lane })
            }
            "reg" => {
                self.need(":")?;
                Ok(Named::Register(self.named("the DWARF number or the name of a register")?))
            }
            "implicit" => {
                self.need(":")?;
                // Blanks are allowed between and after bytes.
                let digits = |char: char| char.is_ascii_hexdigit() || char == ' ';
                let text = self.rest();
                let text = text[..text.len() - text.trim_start_matches(digits).len()].trim_end_matches(' ');
                let bytes = Bytes::parse(text);
                let Bytes(bytes) =
                    bytes.ok_or_else(|| self.expected("bytes of two hexadecimal digits each"))?;
                self.at += text.len();
                Ok(Named::Implicit(bytes))
            }
            "implptr" => {
                self.need(":")?;
                let entry = self.number("the offset of an entry")?;
                self.need(":")?;
                let is_negative = self.eat("-");
                let bytes: u64 = self.number("a number of bytes")?;
                // The sign is applied before the conversion, because -2^63 fits 64 bits and 2^63 does not.
                let by = if is_negative { -i128::from(bytes) } else { bytes.into() };
                let by = by.try_into().map_err(|_| self.expected("a number of bytes that fits 64 bits"))?;
                Ok(Named::Pointer { entry, by })
            }
            _ => {
                self.at = start;
                Err(self.expected("`mem:`, `reg:`, `implicit:`, `implptr:`, `undefined` or `[`"))
            }
        }
    }

    /// Parses the parts up to the closing bracket.
    fn parts(&mut self) -> Result<Named, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.expected(&format!("a composite of at most {MAX_DEPTH} levels")));
        }
        let mut parts = Vec::new();
        self.blanks();
        if !self.eat("]") {
            loop {
                self.blanks();
                // Only simultaneous locations need parentheses inside a composite.
                let location = if self.eat("(") {
                    self.blanks();
                    let location = self.location()?;
                    self.blanks();
                    self.need(")")?;
                    location
                } else {
                    LocationText(vec![self.place()?])
                };
                self.need("/")?;
                parts.push((location, self.number("a number of bits")?));
                self.blanks();
                if !self.eat(",") {
                    self.need("]")?;
                    break;
                }
            }
        }
        self.depth -= 1;
        Ok(Named::Parts(parts))
    }
}

impl LocationText {
    /// Returns the location on an architecture.
    ///
    /// # Errors
    /// Describes the register or address space that the architecture does not have.
    pub fn resolve(&self, architecture: &dyn Architecture) -> Result<Location, String> {
        let mut places = self.0.iter().map(|place| place.resolve(architecture));
        // A parsed location contains at least one element.
        let first = places.next().unwrap_or_else(|| Ok(Location::undefined()))?;
        places.try_fold(first, |location, place| Ok(location.and(place?)))
    }
}

impl Place {
    fn resolve(&self, architecture: &dyn Architecture) -> Result<Location, String> {
        let mut moved = self.by;
        let storage = match &self.storage {
            Named::Undefined => Storage::Undefined,
            &Named::Memory { ref space, address, lane } => {
                let id = space.space(architecture)?;
                let layout = architecture.space(id);
                let layout = layout.ok_or_else(|| format!("the target has no address space {space}"))?;
                check_lane(id, layout.per, lane)?;
                // In a 64-bit space, where the shift has no result, every address fits.
                if address.checked_shr(layout.address_bits).unwrap_or(0) != 0 {
                    let bits = layout.address_bits;
                    return Err(format!(
                        "address {address:#x} does not fit space {space}, whose addresses have {bits}",
                        bits = Count(bits, "bit")
                    ));
                }
                // Memory's bits count from address 0, so that the address is an offset.
                let bits = u128::from(address) * 8;
                moved = moved.checked_add(bits).ok_or("bit offset does not fit 128 bits")?;
                Storage::Memory { space: id, address_bits: layout.address_bits, lane }
            }
            Named::Register(named) => {
                let reg = named.register(architecture)?;
                let bits = architecture.register_bits(reg);
                let bits = bits.ok_or_else(|| format!("the target has no register {}", reg.0))?;
                Storage::Register { reg, frame: 0, bits }
            }
            Named::Implicit(bytes) => return moved_by(Location::implicit(bytes), moved),
            &Named::Pointer { entry, by } => {
                let space = SpaceId::DEFAULT;
                let bits = architecture.space(space).map_or(64, |layout| layout.address_bits);
                Storage::ImplicitPointer(ImplicitPointer { entry, by, space, bits })
            }
            Named::Parts(parts) => {
                let parts = parts.iter().map(|(part, bits)| Ok((part.resolve(architecture)?, *bits)));
                let parts = parts.collect::<Result<Vec<_>, String>>()?;
                return moved_by(Composite::of(parts).map_err(|fault| fault.rule)?.into(), moved);
            }
        };
        moved_by(SingleLocation { storage, offset: 0 }.into(), moved)
    }
}

/// Checks that a lane is given exactly for memory per lane.
pub(super) fn check_lane(SpaceId(space): SpaceId, per: Per, lane: Option<u32>) -> Result<(), String> {
    match (per, lane) {
        (Per::Lane, None) => Err(format!("lane is missing, because address space {space} is per lane")),
        (Per::Process | Per::Thread, Some(_)) => {
            Err(format!("lane is given, but address space {space} is not per lane"))
        }
        _ => Ok(()),
    }
}

fn moved_by(location: Location, by: u128) -> Result<Location, String> {
    if by == 0 {
        return Ok(location);
    }
    let by = i128::try_from(by).map_err(|_| "bit offset does not fit 128 bits")?;
    location.moved(by).map_err(|fault| fault.rule.into_owned())
}
