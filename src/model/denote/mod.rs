//! A location's meaning: bits of storage.
//!
//! This module alone defines what [`Node`]s mean, in terms of storage and bits, independent of DWARF, so that
//! [`check`](crate::check) can compare the definition with the evaluation of the emitted bytes.
//!
//! *Storage* is a sequence of numbered bits: a register, an address space (one per lane, if the space is private to
//! lanes), constant bytes, or undefined. A location is a storage and a bit number in it. The *slice* of a location from
//! bit `from` with `bits` bits is a list of spans; each span is consecutive bits in one storage. A little-endian machine
//! numbers bits from the least significant of each byte. A big-endian machine numbers bits in memory and in constant bytes
//! from the most significant, and bits in a register or a value from the least significant, as DWARF 5 section 2.6.1.2
//! does; an object starts with its most significant bit, so that the first bits of a register's span are the last that
//! the slice has:
//!
//! | location | its slice |
//! |---|---|
//! | `register(r)` | bits `from…` of register `r` |
//! | `lane(r, k)` | bits `k·w + from…` of `r`, with `w` the bits per lane |
//! | `per_lane(r)` | the same with the current lane for `k` |
//! | `memory(s, a)` | bits `8·a + from…` in space `s`; the current lane's, if the space is private to lanes |
//! | `stack_slot(n)` | the private memory's slice at `stack_address(n)`: the [`Stack`]'s base plus `n` |
//! | `l.offset(n)`, `l.bit_offset(n)` | `l`'s slice from `from + 8·n`, `from + n` |
//! | `parts(…)` | each part's bits, in order, that are in `from…from + bits` |
//! | `b.overlay(a, o, n)` | `b`'s bits below `o` and from `o + n` on; between them, `a`'s from 0 on |
//! | `select(m, z, o, w, n)` | per element, `o`'s bits if the element's bit in `m` is 1, otherwise `z`'s |
//! | `l.extend(w, n)` | bit `i` is `l`'s bit `i mod w` |
//! | `implicit(b)`, `value(v)` | the bits themselves |
//! | `pointer_to(x, n)` | the bits of a pointer to `x` plus `n`, which have no numeric value |
//! | `call(p)` | the slice of procedure `p`'s location |
//! | `cfa()` | the slice at the function's canonical frame address, from [`MachineContents::cfa`] |
//! | `thread_local(n)` | memory's slice in the default space at [`MachineContents::thread_local`] plus `n` |
//! | `undefined()` | undefined bits |
//! | `expr(e)` | not defined |
//!
//! A location has a meaning only as a whole: each offset stays inside its storage, each part contains the bits that are
//! taken from it, and each number can be computed. Otherwise the location has no meaning, even if the requested bits
//! are elsewhere. [`Builder`](crate::build::Builder) rejects locations that are always outside their storage, so the
//! rule here concerns offsets that are known only at run time.

mod frame;
mod lanes;
mod numbers;
mod whole;

use core::cell::RefCell;
use core::fmt;

use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use crate::model::ids::{FunctionId, LocId, ProcedureId, VariableId};
use crate::model::nodes::Node;
use crate::model::postfix::Nodes;
use crate::model::tree::{At, Tree};
use crate::model::{Module, Stack};
use crate::op::Reg;
use crate::target::{ByteOrder, Per, SpaceId};

/// A stopped program's contents, on which locations depend.
pub trait MachineContents {
    /// Returns `bits` (1 to 64) bits of a register from bit `from` on. `None` if they cannot be read.
    fn register(&self, reg: Reg, from: u64, bits: u32) -> Option<u64>;

    /// Returns the contents of a register with at most 64 bits on entry to the function. `None` if unknown.
    fn entry_register(&self, reg: Reg) -> Option<u64> {
        let _ = reg;
        None
    }

    /// Returns the number that the caller passed for a parameter. `None` if unknown.
    fn passed_value(&self, parameter: VariableId) -> Option<u64> {
        let _ = parameter;
        None
    }

    /// Returns the function's canonical frame address, as the span of its first bit. `None` if unknown.
    fn cfa(&self) -> Option<StorageSpan> {
        None
    }

    /// Returns the address of the object's thread-local storage in the current thread. `None` if unknown.
    fn thread_local(&self) -> Option<u64> {
        None
    }

    /// Returns `bits` (1 to 64) bits of a space's memory from bit `from` on. `lane` is given for a space that is
    /// private to lanes. `None` if they cannot be read.
    ///
    /// On a big-endian target bit 0 is the most significant of the first byte, and the first bit is the number's most
    /// significant.
    fn memory(&self, space: SpaceId, lane: Option<u32>, from: u128, bits: u32) -> Option<u64>;

    /// The current lane, counted from 0; `None` without one.
    fn lane(&self) -> Option<u32>;

    /// Returns a symbol's address in the file.
    fn symbol(&self, name: &str) -> Option<u64>;

    /// Difference in bytes between addresses in memory and in the file.
    fn load_bias(&self) -> u64 {
        0
    }
}

/// Consecutive bits in one storage.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorageSpan {
    /// The storage.
    pub storage: DescribedStorage,
    /// Number of the first bit, counted from 0. In memory, 8 times the address.
    pub from: u128,
    /// Number of bits.
    pub bits: u64,
}

/// Storage that contains bits.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DescribedStorage {
    /// A register.
    Register(Reg),
    /// Memory in a space; the lane's memory, for a space private to lanes.
    Memory(SpaceId, Option<u32>),
    /// Constant bits, in the bytes that memory would have. On a big-endian target unused bits are the last byte's least
    /// significant.
    Implicit(Vec<u8>),
    /// A pointer to a variable, plus bytes.
    Pointer(VariableId, i64),
    /// Undefined.
    Undefined,
}

/// Reason why a location has no meaning with the given contents.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoMeaning {
    /// The location is a raw expression, which the model gives no meaning.
    Raw,
    /// The location depends on the current lane, and there is none.
    NoLane,
    /// The location depends on contents that cannot be read.
    Unreadable(String),
    /// The location, or one that it is computed from, is outside its storage.
    OutOfBounds(String),
    /// The location, or a location that it is computed from, is past the last address in its space, where an encoding's
    /// addresses can wrap.
    OutOfMemory(String),
    /// Another part of the location has no meaning.
    Part(String),
    /// The nodes do not form a location.
    Malformed,
}

impl NoMeaning {
    /// Returns whether the location, or a part of it, is outside its storage or cannot be computed: no bit has a
    /// meaning.
    pub(crate) fn is_outside(&self) -> bool {
        matches!(self, Self::OutOfBounds(_) | Self::OutOfMemory(_) | Self::Part(_))
    }
}

impl fmt::Display for NoMeaning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Raw => f.write_str("a raw expression has no meaning of its own"),
            Self::NoLane => f.write_str("it depends on the lane, and no lane asks"),
            Self::Unreadable(what) => write!(f, "{what} cannot be read"),
            Self::Part(why) => write!(f, "a part of it means nothing: {why}"),
            Self::OutOfBounds(what) | Self::OutOfMemory(what) => write!(f, "it goes past the end of {what}"),
            Self::Malformed => f.write_str("its nodes form no location"),
        }
    }
}

impl core::error::Error for NoMeaning {}

/// Maximum depth of procedure calls. The limit bounds the stack, because a procedure may call itself.
const MAX_DEPTH: u32 = 64;

impl Module {
    /// Returns the spans of a location's first `bits` bits, for code of `function`. Spans depend on the model alone,
    /// not on emitted bytes.
    ///
    /// # Errors
    /// The reason why the location has no meaning with these contents.
    pub fn denote(
        &self,
        function: Option<FunctionId>,
        loc: LocId,
        bits: u64,
        contents: &dyn MachineContents,
    ) -> Result<Vec<StorageSpan>, NoMeaning> {
        self.denote_nodes(function, self.nodes(loc), bits, contents)
    }

    /// Returns the storage of the first `bits` bits of a location that the module may lack.
    pub(crate) fn denote_nodes(
        &self,
        function: Option<FunctionId>,
        nodes: Nodes<'_>,
        bits: u64,
        contents: &dyn MachineContents,
    ) -> Result<Vec<StorageSpan>, NoMeaning> {
        let meaning = Meaning::new(self, nodes, self.stack_of(function), 0)?;
        Ok(meaning.spans(bits, contents)?.into_vec())
    }

    /// Returns a location's meaning for code of `function`, with any contents.
    ///
    /// # Errors
    /// [`NoMeaning::Malformed`].
    pub(crate) fn meaning(&self, function: Option<FunctionId>, loc: LocId) -> Result<Meaning<'_>, NoMeaning> {
        Meaning::new(self, self.nodes(loc), self.stack_of(function), 0)
    }

    /// Returns the stack frame for code of `function`, or for code outside functions.
    pub(crate) fn stack_of(&self, function: Option<FunctionId>) -> Stack {
        function.map_or_else(|| Stack::kernel(&self.target), |function| self.functions[function].stack)
    }
}

/// A slice's spans: usually one or two.
pub(crate) type Spans = SmallVec<[StorageSpan; 2]>;

/// A location that is read once and then evaluated with many contents.
pub(crate) struct Meaning<'m> {
    module: &'m Module,
    tree: Tree<'m>,
    root: At,
    stack: Stack,
    /// Number of procedure calls around it.
    depth: u32,
}

impl<'m> Meaning<'m> {
    fn new(module: &'m Module, nodes: Nodes<'m>, stack: Stack, depth: u32) -> Result<Self, NoMeaning> {
        if depth > MAX_DEPTH {
            return Err(NoMeaning::Malformed);
        }
        let mut tree = Tree::default();
        let root = tree.read(nodes).ok_or(NoMeaning::Malformed)?;
        Ok(Self { module, tree, root, stack, depth })
    }

    /// Returns the spans of the location's first `bits` bits.
    ///
    /// # Errors
    /// The reason why the location has no meaning with these contents.
    pub(crate) fn spans(&self, bits: u64, contents: &dyn MachineContents) -> Result<Spans, NoMeaning> {
        let denote = Denote { of: self, contents, calls: &Calls::default() };
        let mut spans = Spans::new();
        denote.slice(self.root, Slice::first(bits), &mut spans)?;
        denote.is_whole()?;
        Ok(spans)
    }
}

/// A location's meaning with given contents.
struct Denote<'m> {
    of: &'m Meaning<'m>,
    contents: &'m dyn MachineContents,
    calls: &'m Calls,
}

/// Results of procedure calls with the same contents. Procedures that each call the one before several times would
/// otherwise take time exponential in their number.
#[derive(Default)]
struct Calls {
    /// Slices, by procedure.
    slices: RefCell<HashMap<(ProcedureId, Slice), Spans>>,
    /// Procedures with a meaning as a whole.
    whole: RefCell<HashSet<ProcedureId>>,
}

impl Denote<'_> {
    fn slice(&self, at: At, slice: Slice, out: &mut Spans) -> Result<(), NoMeaning> {
        let tree = &self.of.tree;
        let Slice { from, bits, .. } = slice;
        match tree.node(at) {
            Node::Register(reg) => self.register(reg, 0, None, slice.in_number(), bits, out),
            Node::Lane(reg, lane) => self.lane(reg, lane, slice.in_number(), bits, out),
            // Without a current lane, a location in it has no meaning.
            Node::PerLane(reg) => self.lane(reg, self.asking_lane()?, slice.in_number(), bits, out),
            Node::Memory(space) => self.memory(space, self.address(space, tree.last(at))?, from, bits, out),
            Node::Offset(by) => self.slice(tree.last(at), slice.moved(8 * i128::from(by)), out),
            Node::BitOffset(by) => self.slice(tree.last(at), slice.moved(by.into()), out),
            Node::OffsetBy => {
                let (loc, by) = tree.two(at);
                self.slice(loc, slice.moved(8 * i128::from(self.number(by)? as i64)), out)
            }
            Node::BitOffsetBy => {
                let (loc, by) = tree.two(at);
                self.slice(loc, slice.moved((self.number(by)? as i64).into()), out)
            }
            Node::Part(_) => self.slice(tree.last(at), slice, out),
            Node::Parts(_) => {
                let parts = tree.operands(at);
                let pieces = parts.iter().map(|&part| match tree.node(part) {
                    Node::Part(bits) => (part, 0, bits),
                    _ => (part, 0, 0),
                });
                self.sequence(pieces, "the parts", from, bits, out)
            }
            Node::Overlay => {
                let operands = tree.operands(at);
                let [below, above, offset, size] = operands[..] else { return Err(NoMeaning::Malformed) };
                let offset = self.number(offset)?;
                let size = self.number(size)?;
                let past =
                    offset.checked_add(size).ok_or_else(|| NoMeaning::OutOfBounds("the overlay".into()))?;
                // After the overlay the base continues with the bit after the hidden bits.
                let rest = match self.order() {
                    // Where the base ends does not matter: its bits are in the order of the slice.
                    ByteOrder::Little => None,
                    ByteOrder::Big => self.bits_of(below),
                };
                let rest = rest.map_or(u64::MAX - past, |bits| bits.saturating_sub(past));
                let pieces = [(below, 0, offset), (above, 0, size), (below, past.into(), rest)];
                self.sequence(pieces, "the overlay", from, bits, out)
            }
            Node::Select { bits: size, count } => {
                let operands = tree.operands(at);
                let [zero, one, mask] = operands[..] else { return Err(NoMeaning::Malformed) };
                let mask = self.number(mask)?;
                self.elements(from, bits, size, count, &mut |element, from, bits| {
                    // A mask has at most 64 bits, so that all later elements come from `zero`.
                    let chosen = if element < 64 && mask >> element & 1 == 1 { one } else { zero };
                    let part = self.part(from, bits, size);
                    self.slice(chosen, part.moved(i128::from(element) * i128::from(size)), out)
                })
            }
            Node::Extend { bits: size, count } => {
                self.elements(from, bits, size, count, &mut |_, from, bits| {
                    self.slice(tree.last(at), self.part(from, bits, size), out)
                })
            }
            Node::Implicit(bytes) => {
                let first = inside(from, bits, 8 * bytes.len() as u128, || "the constant".into())? as usize;
                self.push(out, implicit(bytes, first, bits, self.order()));
                Ok(())
            }
            Node::Value => {
                // A value has the size of an address, like the generic type in DWARF expressions.
                let size = u64::from(self.of.module.target.address_bytes()) * 8;
                let value = self.number(tree.last(at))?;
                let first = inside(slice.in_number(), bits, size.into(), || "the constant".into())? as u64;
                self.push(
                    out,
                    match self.order() {
                        ByteOrder::Little => {
                            implicit(&value.to_le_bytes(), first as usize, bits, ByteOrder::Little)
                        }
                        ByteOrder::Big => {
                            let skip = 64 - first - bits;
                            implicit(&value.to_be_bytes(), skip as usize, bits, ByteOrder::Big)
                        }
                    },
                );
                Ok(())
            }
            Node::PointerTo(variable, by) => {
                let size = u64::from(self.of.module.target.address_bytes()) * 8;
                let from = inside(from, bits, size.into(), || "the pointer".into())?;
                self.push(out, StorageSpan { storage: DescribedStorage::Pointer(variable, by), from, bits });
                Ok(())
            }
            Node::Call(procedure) => {
                for span in self.called(procedure, slice)? {
                    self.push(out, span);
                }
                Ok(())
            }
            Node::Cfa => self.cfa(from, bits, out),
            Node::ThreadLocal => {
                // Symbols there are offsets from the storage's start, which the load bias does not move.
                let offset = self.address(SpaceId::LOCAL, tree.last(at))?;
                let start = self.contents.thread_local();
                let start = start.ok_or_else(|| NoMeaning::Unreadable("thread-local storage".into()))?;
                self.memory(SpaceId::DEFAULT, start.wrapping_add(offset), from, bits, out)
            }
            Node::Undefined => {
                self.push(out, StorageSpan { storage: DescribedStorage::Undefined, from: 0, bits });
                Ok(())
            }
            Node::Expr(_) => Err(NoMeaning::Raw),
            _ => Err(NoMeaning::Malformed),
        }
    }

    /// Returns a procedure's slice.
    fn called(&self, procedure: ProcedureId, slice: Slice) -> Result<Spans, NoMeaning> {
        if let Some(known) = self.calls.slices.borrow().get(&(procedure, slice)) {
            return Ok(known.clone());
        }
        crate::work::step();
        let loc = self.of.module.procedures.get(procedure).ok_or(NoMeaning::Malformed)?.loc;
        let nodes = self.of.module.nodes(loc);
        let meaning = Meaning::new(self.of.module, nodes, self.of.stack, self.of.depth + 1)?;
        let denote = Denote { of: &meaning, ..*self };
        let mut spans = Spans::new();
        denote.slice(meaning.root, slice, &mut spans)?;
        // The called location must be whole too, even in the bits that this slice does not use.
        if !self.calls.whole.borrow().contains(&procedure) {
            denote.is_whole()?;
            self.calls.whole.borrow_mut().insert(procedure);
        }
        self.calls.slices.borrow_mut().insert((procedure, slice), spans.clone());
        Ok(spans)
    }

    /// Appends the slice's bits from consecutive pieces, each given as location, first bit and size.
    fn sequence(
        &self,
        pieces: impl IntoIterator<Item = (At, i128, u64)>,
        name: &str,
        mut from: i128,
        mut bits: u64,
        out: &mut Spans,
    ) -> Result<(), NoMeaning> {
        if from < 0 {
            return Err(NoMeaning::OutOfBounds(name.into()));
        }
        for (loc, first, size) in pieces {
            if from < size.into() && bits > 0 {
                let here = bits.min((i128::from(size) - from) as u64);
                self.slice(loc, self.part(from, here, size).moved(first), out)?;
                bits -= here;
                from = 0;
            } else if from >= size.into() {
                // The slice begins after this piece.
                from -= i128::from(size);
            }
        }
        if bits == 0 { Ok(()) } else { Err(NoMeaning::OutOfBounds(name.into())) }
    }

    /// Calls `each` with the number, first bit and size of each element's bits in the slice.
    fn elements(
        &self,
        from: i128,
        bits: u64,
        size: u64,
        count: u64,
        each: &mut dyn FnMut(u64, i128, u64) -> Result<(), NoMeaning>,
    ) -> Result<(), NoMeaning> {
        let total = u128::from(size) * u128::from(count);
        let mut from = inside(from, bits, total, || "the elements".into())? as u64;
        let end = from + bits;
        while from < end {
            let element = from / size;
            let within = from % size;
            let here = (size - within).min(end - from);
            each(element, within.into(), here)?;
            from += here;
        }
        Ok(())
    }

    fn cfa(&self, from: i128, bits: u64, out: &mut Spans) -> Result<(), NoMeaning> {
        let cfa = self.contents.cfa().ok_or_else(|| NoMeaning::Unreadable("the frame's address".into()))?;
        // By definition the canonical frame address is in memory.
        let DescribedStorage::Memory(space, lane) = cfa.storage else { return Err(NoMeaning::Malformed) };
        let space_of = self.of.module.target.space(space).ok_or(NoMeaning::Malformed)?;
        let name = || format!("space {}", space_of.name);
        let from =
            inside(from.saturating_add_unsigned(cfa.from), bits, 8u128 << space_of.address_bits, name)?;
        self.push(out, StorageSpan { storage: DescribedStorage::Memory(space, lane), from, bits });
        Ok(())
    }

    fn asking_lane(&self) -> Result<u32, NoMeaning> {
        self.contents.lane().ok_or(NoMeaning::NoLane)
    }

    fn lane(&self, reg: Reg, lane: u32, from: i128, bits: u64, out: &mut Spans) -> Result<(), NoMeaning> {
        let width = self.of.module.target.register(reg).ok_or(NoMeaning::Malformed)?.lane_bits();
        self.register(reg, u64::from(lane) * u64::from(width), Some(width), from, bits, out)
    }

    /// Appends a register's bits from `first` on, within `width` bits if given.
    fn register(
        &self,
        reg: Reg,
        first: u64,
        width: Option<u32>,
        from: i128,
        bits: u64,
        out: &mut Spans,
    ) -> Result<(), NoMeaning> {
        let register = self.of.module.target.register(reg).ok_or(NoMeaning::Malformed)?;
        let size = u64::from(width.unwrap_or(register.bits));
        let name = || format!("{}{}", if width.is_some() { "a lane of " } else { "" }, register.name());
        let from = inside(from, bits, size.into(), name)? + u128::from(first);
        self.push(out, StorageSpan { storage: DescribedStorage::Register(reg), from, bits });
        Ok(())
    }

    fn memory(
        &self,
        space: SpaceId,
        address: u64,
        from: i128,
        bits: u64,
        out: &mut Spans,
    ) -> Result<(), NoMeaning> {
        let space = self.of.module.target.space(space).ok_or(NoMeaning::Malformed)?;
        let lane = if space.per == Per::Lane { Some(self.asking_lane()?) } else { None };
        // The address is taken modulo the space's size; only bits past the last address are outside.
        let address = address & (u64::MAX >> (64 - space.address_bits));
        let size = 8u128 << space.address_bits;
        let from = inside(from + 8 * i128::from(address), bits, size, String::new)
            .map_err(|_| NoMeaning::OutOfMemory(format!("space {}", space.name)))?;
        self.push(out, StorageSpan { storage: DescribedStorage::Memory(space.id, lane), from, bits });
        Ok(())
    }

    fn order(&self) -> ByteOrder {
        self.of.module.target.byte_order()
    }

    /// Returns a location's size in bits; `None` for memory, for what a procedure returns, and after a number of bytes.
    fn bits_of(&self, at: At) -> Option<u64> {
        let tree = &self.of.tree;
        let target = &self.of.module.target;
        let moved = |bits: Option<u64>, by: i128| {
            bits.and_then(|bits| u64::try_from(i128::from(bits).saturating_sub(by)).ok())
        };
        match tree.node(at) {
            Node::Register(reg) => target.register(reg).map(|register| register.bits.into()),
            Node::Lane(reg, _) | Node::PerLane(reg) => {
                target.register(reg).map(|register| register.lane_bits().into())
            }
            Node::Value | Node::PointerTo(..) => Some(u64::from(target.address_bytes()) * 8),
            Node::Implicit(bytes) => Some(8 * bytes.len() as u64),
            Node::Part(bits) => Some(bits),
            Node::Parts(_) => {
                let parts = tree.operands(at);
                let mut sizes = parts.iter().map(|&part| match tree.node(part) {
                    Node::Part(bits) => bits,
                    _ => 0,
                });
                sizes.try_fold(0u64, u64::checked_add)
            }
            Node::Extend { bits, count } | Node::Select { bits, count } => bits.checked_mul(count),
            Node::Overlay => self.bits_of(tree.operands(at)[0]),
            Node::Offset(by) => moved(self.bits_of(tree.last(at)), 8 * i128::from(by)),
            Node::BitOffset(by) => moved(self.bits_of(tree.last(at)), by.into()),
            _ => None,
        }
    }

    /// Returns `bits` bits from bit `from` on in a part with `size` bits.
    fn part(&self, from: i128, bits: u64, size: u64) -> Slice {
        let flip = match self.order() {
            ByteOrder::Little => 0,
            // Where the part ends is unknown: it ends with these bits.
            ByteOrder::Big if size > u64::MAX / 2 => -from,
            ByteOrder::Big => i128::from(size) - 2 * from - i128::from(bits),
        };
        Slice { from, bits, flip }
    }

    /// Appends a span, merged with the last one if they are adjacent.
    fn push(&self, out: &mut Spans, span: StorageSpan) {
        if span.bits == 0 {
            return;
        }
        if let Some(last) = out.last_mut()
            && last.storage == span.storage
        {
            let (low, high) = match (&span.storage, self.order()) {
                (DescribedStorage::Register(_), ByteOrder::Big) => (&span, &*last),
                _ => (&*last, &span),
            };
            let goes_on = match last.storage {
                // Constant spans are not merged, because each span's bytes begin at bit 0.
                DescribedStorage::Implicit(_) => false,
                DescribedStorage::Undefined => true,
                _ => high.from == low.from + u128::from(low.bits),
            };
            if goes_on {
                last.from = last.from.min(span.from);
                last.bits = last.bits.saturating_add(span.bits);
                return;
            }
        }
        out.push(span);
    }
}

/// Consecutive bits of a location.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Slice {
    /// Number of the first bit.
    from: i128,
    bits: u64,
    /// Distance from `from` to the number of the first bit in a register or a value, whose bits a big-endian machine has
    /// in the opposite order: there, the part's later bits come before the slice. 0 on a little-endian machine.
    flip: i128,
}

impl Slice {
    /// Returns a location's first bits.
    fn first(bits: u64) -> Self {
        Self { from: 0, bits, flip: 0 }
    }

    fn moved(self, by: i128) -> Self {
        Self { from: self.from + by, ..self }
    }

    /// Returns the number of the first bit in a register or a value.
    fn in_number(self) -> i128 {
        self.from + self.flip
    }
}

/// Returns the first bit if the bits are inside a storage with `size` bits.
fn inside(from: i128, bits: u64, size: u128, name: impl Fn() -> String) -> Result<u128, NoMeaning> {
    match u128::try_from(from) {
        Ok(from) if from + u128::from(bits) <= size => Ok(from),
        _ => Err(NoMeaning::OutOfBounds(name())),
    }
}

/// Returns bits of constant bytes, which contain them, moved to bit 0.
fn implicit(bytes: &[u8], from: usize, bits: u64, order: ByteOrder) -> StorageSpan {
    let first = from / 8;
    let skip = from % 8;
    // The byte after the last is missing: the mask below removes its bits.
    let byte = |index: usize| bytes.get(first + index).copied().unwrap_or(0);
    let moved = (0..bits.div_ceil(8) as usize).map(|index| {
        let pair = [byte(index), byte(index + 1)];
        match order {
            ByteOrder::Little => (u16::from_le_bytes(pair) >> skip) as u8,
            ByteOrder::Big => (u16::from_be_bytes(pair) << skip >> 8) as u8,
        }
    });
    let mut moved: Vec<u8> = moved.collect();
    if let Some(last) = moved.last_mut() {
        let unused = bits.wrapping_neg() % 8;
        *last &= match order {
            ByteOrder::Little => 0xff >> unused,
            ByteOrder::Big => 0xff << unused,
        };
    }
    StorageSpan { storage: DescribedStorage::Implicit(moved), from: 0, bits }
}
