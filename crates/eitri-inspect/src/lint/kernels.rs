//! Kernels in AMD's code objects: the descriptor, and the metadata note (AMDGPU back end user guide, "Kernel
//! Descriptor" and "Code Object V3 and Above Metadata").

use hashbrown::HashMap;

use eitri_dwarf::read::Object;

/// An explicit argument: offset and size in bytes in the kernarg segment.
pub(super) type Argument = (u64, u64);

/// A kernel.
#[derive(Debug)]
pub(super) struct Kernel {
    /// Code address.
    pub(super) address: u64,
    /// Scratch bytes for each lane.
    pub(super) scratch_bytes: u32,
    /// First of the two scalar registers that hold the kernarg segment's address.
    pub(super) kernarg: Option<u16>,
    pub(super) arguments: Vec<Argument>,
}

/// Returns the kernels by address.
pub(super) fn read(object: &Object<'_>) -> Vec<Kernel> {
    let notes = object.sections().iter().filter(|section| section.kind == SHT_NOTE);
    let metadata = notes.filter_map(|section| metadata(&section.data)).flatten();
    // If several kernels share a name, the first counts.
    let mut arguments = HashMap::new();
    for (name, explicit) in metadata {
        arguments.entry(name).or_insert(explicit);
    }
    let kernels = object.symbols().iter().filter_map(|symbol| {
        let address = object.symbol_address(symbol.name.strip_suffix(".kd")?)?;
        let section = object.sections().get(symbol.section?)?;
        let start = usize::try_from(symbol.address.checked_sub(section.address)?).ok()?;
        let bytes = section.data.get(start..start.checked_add(64)?)?;
        let scratch_bytes = u32::from_le_bytes(bytes[4..8].try_into().ok()?);
        let properties = u16::from_le_bytes(bytes[56..58].try_into().ok()?);
        // The preloaded registers are in this order: scratch buffer, dispatch packet, queue, kernarg segment.
        let count = |bit: u16, registers: u16| (properties >> bit & 1) * registers;
        let kernarg = (properties & 8 != 0).then(|| count(0, 4) + count(1, 2) + count(2, 2));
        let arguments = arguments.get(&*symbol.name).cloned().unwrap_or_default();
        Some(Kernel { address, scratch_bytes, kernarg, arguments })
    });
    let mut kernels: Vec<_> = kernels.collect();
    kernels.sort_unstable_by_key(|kernel| kernel.address);
    kernels
}

const SHT_NOTE: u32 = 7;
const NT_AMDGPU_METADATA: u32 = 32;

/// Returns the kernel symbols in a note section, with their explicit arguments.
fn metadata(notes: &[u8]) -> Option<Vec<(String, Vec<Argument>)>> {
    let mut rest = notes;
    loop {
        let word = |offset: usize| Some(u32::from_le_bytes(rest.get(offset..offset + 4)?.try_into().ok()?));
        let name = word(0)? as usize;
        let size = word(4)? as usize;
        let kind = word(8)?;
        let start = 12usize.checked_add(name.checked_next_multiple_of(4)?)?;
        let bytes = rest.get(start..start.checked_add(size)?)?;
        if kind == NT_AMDGPU_METADATA && rest.get(12..12 + name)? == b"AMDGPU\0" {
            return kernels(&Item::read(&mut { bytes }, DEEPEST)?);
        }
        rest = rest.get(start.checked_add(size.checked_next_multiple_of(4)?)?..)?;
    }
}

fn kernels(metadata: &Item<'_>) -> Option<Vec<(String, Vec<Argument>)>> {
    let Item::Array(kernels) = metadata.get("amdhsa.kernels")? else { return None };
    let kernel = |kernel: &Item<'_>| {
        let Item::Text(symbol) = kernel.get(".symbol")? else { return None };
        let mut arguments = Vec::new();
        if let Some(Item::Array(items)) = kernel.get(".args") {
            for item in items {
                let Some(Item::Text(kind)) = item.get(".value_kind") else { return None };
                if kind.starts_with("hidden_") {
                    break;
                }
                let number = |name| match item.get(name) {
                    Some(Item::Number(number)) => Some(*number),
                    _ => None,
                };
                arguments.push((number(".offset")?, number(".size")?));
            }
        }
        Some(((*symbol).to_owned(), arguments))
    };
    Some(kernels.iter().filter_map(kernel).collect())
}

/// A MessagePack item, if the metadata can contain its kind.
#[derive(Debug)]
enum Item<'b> {
    Number(u64),
    Text(&'b str),
    Array(Vec<Item<'b>>),
    Map(Vec<(Item<'b>, Item<'b>)>),
    Other,
}

/// Limit on nested items, which bounds the recursion.
const DEEPEST: u32 = 16;

impl<'b> Item<'b> {
    fn get(&self, key: &str) -> Option<&Self> {
        let Self::Map(pairs) = self else { return None };
        let pair = pairs.iter().find(|(name, _)| matches!(name, Self::Text(name) if *name == key));
        pair.map(|pair| &pair.1)
    }

    /// Reads an item from the start of the bytes.
    fn read(bytes: &mut &'b [u8], depth: u32) -> Option<Self> {
        let depth = depth.checked_sub(1)?;
        let head = *take(bytes, 1)?.first()?;
        Some(match head {
            0..=0x7f => Self::Number(head.into()),
            0x80..=0x8f => Self::map(bytes, u64::from(head & 15), depth)?,
            0x90..=0x9f => Self::array(bytes, u64::from(head & 15), depth)?,
            0xa0..=0xbf => Self::text(bytes, u64::from(head & 31))?,
            0xc0 | 0xc2 | 0xc3 | 0xe0..=0xff => Self::Other,
            0xcc..=0xcf => Self::Number(number(bytes, 1 << (head - 0xcc))?),
            0xd0..=0xd3 => {
                take(bytes, 1 << (head - 0xd0))?;
                Self::Other
            }
            0xd9..=0xdb => {
                let length = number(bytes, 1 << (head - 0xd9))?;
                Self::text(bytes, length)?
            }
            0xdc | 0xdd => {
                let length = number(bytes, 2 << (head - 0xdc))?;
                Self::array(bytes, length, depth)?
            }
            0xde | 0xdf => {
                let length = number(bytes, 2 << (head - 0xde))?;
                Self::map(bytes, length, depth)?
            }
            // Bytes, floating point numbers and extensions do not occur.
            _ => return None,
        })
    }

    fn text(bytes: &mut &'b [u8], length: u64) -> Option<Self> {
        let text = take(bytes, usize::try_from(length).ok()?)?;
        Some(core::str::from_utf8(text).map_or(Self::Other, Self::Text))
    }

    fn array(bytes: &mut &'b [u8], length: u64, depth: u32) -> Option<Self> {
        // Each item has at least a byte, so that a wrong length ends at the first missing byte.
        (0..length).map(|_| Self::read(bytes, depth)).collect::<Option<_>>().map(Self::Array)
    }

    fn map(bytes: &mut &'b [u8], length: u64, depth: u32) -> Option<Self> {
        let pair = |_| Some((Self::read(bytes, depth)?, Self::read(bytes, depth)?));
        (0..length).map(pair).collect::<Option<_>>().map(Self::Map)
    }
}

fn take<'b>(bytes: &mut &'b [u8], length: usize) -> Option<&'b [u8]> {
    let (first, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(first)
}

/// Reads a big-endian number.
fn number(bytes: &mut &[u8], length: usize) -> Option<u64> {
    Some(take(bytes, length)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}
