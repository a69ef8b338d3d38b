//! Locations from nodes in postfix order.

use smallvec::SmallVec;

use super::loc::Loc;
use super::nodes::{Node, Sort};
use super::postfix::Postfix;
use crate::error::{Error, Result};

/// Kind of a complete subtree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Made {
    Loc,
    Val,
    /// An operand of [`Node::Parts`] alone.
    Part,
}

impl Made {
    fn of(sort: Sort) -> Self {
        match sort {
            Sort::Loc => Self::Loc,
            Sort::Val => Self::Val,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Loc => "a location",
            Self::Val => "a number",
            Self::Part => "a part",
        }
    }
}

/// Makes the location with these nodes, as [`nodes`](Loc::nodes) lists them: a node's operands come before it.
///
/// ```
/// use eitri::model::{Loc, Node, Val};
/// use eitri::op::Reg;
/// use eitri::target::SpaceId;
///
/// let nodes = [Node::ReadRegister(Reg(6)), Node::Plus(-16), Node::Memory(SpaceId::DEFAULT)];
/// assert_eq!(Loc::try_from(&nodes[..])?, Loc::memory(SpaceId::DEFAULT, Val::register(Reg(6)).plus(-16)));
/// // A register is a location, and the address is a number.
/// assert!(Loc::try_from(&[Node::Register(Reg(6)), Node::Memory(SpaceId::DEFAULT)][..]).is_err());
/// # Ok::<(), eitri::Error>(())
/// ```
impl TryFrom<&[Node<'_>]> for Loc {
    type Error = Error;

    /// # Errors
    /// [`ErrorKind::BadArgument`](crate::error::ErrorKind::BadArgument) with the node's index, counted from 0, where a node
    /// lacks an operand or has a wrong one, and where the nodes are not one location.
    fn try_from(nodes: &[Node<'_>]) -> Result<Self> {
        let mut stack = SmallVec::<[Made; 16]>::new();
        let mut made = Postfix::new();
        for (index, node) in nodes.iter().enumerate() {
            let result = match *node {
                Node::Parts(count) => {
                    for _ in 0..count {
                        take(&mut stack, Made::Part, index)?;
                    }
                    Made::Loc
                }
                _ => {
                    let (sort, operands) = node.sorts();
                    for operand in operands.iter().rev() {
                        take(&mut stack, Made::of(*operand), index)?;
                    }
                    if matches!(node, Node::Part(_)) { Made::Part } else { Made::of(sort) }
                }
            };
            stack.push(result);
            // A distance of 0 is the same location.
            if !matches!(node, Node::Offset(0) | Node::BitOffset(0)) {
                made.push(*node);
            }
        }
        match stack[..] {
            [Made::Loc] => Ok(Self(made)),
            [only] => Err(Error::bad_argument(format!("the nodes are {}; expected a location", only.name()))),
            _ => Err(Error::bad_argument(format!(
                "the nodes are {} locations or numbers; expected one location",
                stack.len()
            ))),
        }
    }
}

/// Takes a node's last operand.
fn take(stack: &mut SmallVec<[Made; 16]>, expected: Made, index: usize) -> Result<()> {
    let found = stack.pop();
    if found == Some(expected) {
        return Ok(());
    }
    let found = found.map_or("nothing", Made::name);
    Err(Error::bad_argument(format!("operand of node {index} is {found}; expected {}", expected.name())))
}
