//! Locations as text, in the words of [`Loc`]'s methods.

use core::fmt::{self, Display};

use smallvec::SmallVec;

use super::Module;
use super::ids::{ExprId, VariableId};
use super::loc::{Loc, Symbol};
use super::nodes::{Form, Kind, Node, Number, Operand};
use super::postfix::Nodes;
use super::tree::{At, Tree};
use crate::op::Reg;
use crate::target::SpaceId;

impl Loc {
    /// Formats the location with the names of registers, address spaces, variables, procedures and symbols.
    ///
    /// The text has the methods that make the location, with their arguments; a number in an argument is decimal. It is
    /// for people: the [description's format](crate::json) is the form that can be read back.
    ///
    /// ```
    /// use eitri::build::Builder;
    /// use eitri::model::{Loc, Val};
    /// use eitri::target::{SpaceId, Target};
    ///
    /// let gpu = Target::named("amdgpu-gfx1030-wave32")?;
    /// let (s4, v40) = (gpu.sgpr(4)?, gpu.vgpr(40)?);
    /// let module = Builder::new(gpu).finish()?;
    ///
    /// let spilled = Loc::parts([(Loc::lane(v40, 7), 32), (Loc::register(s4), 32)]);
    /// assert_eq!(spilled.in_names(&module).to_string(), "parts((lane(v40, 7), 32), (register(s4), 32))");
    /// let pointed = Loc::memory(SpaceId::DEFAULT, Val::lane_index().mul(Val::constant(8)));
    /// assert_eq!(pointed.in_names(&module).to_string(), "memory(global, mul(lane_index, 8))");
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn in_names<'a>(&'a self, module: &'a Module) -> impl Display + 'a {
        named(self.0.nodes(), module)
    }
}

/// Formats a location's nodes with names.
pub(super) fn named<'a>(nodes: Nodes<'a>, module: &'a Module) -> impl Display + 'a {
    NamedNodes { nodes, module }
}

/// A location's nodes, printed with names.
struct NamedNodes<'a> {
    nodes: Nodes<'a>,
    module: &'a Module,
}

impl Display for NamedNodes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut tree = Tree::default();
        match tree.read(self.nodes.clone()) {
            Some(root) => Printer { module: self.module, tree: &tree }.node(f, root),
            // A location that the builder would refuse.
            None => f.write_str("malformed"),
        }
    }
}

struct Printer<'t, 'm> {
    module: &'m Module,
    tree: &'t Tree<'m>,
}

impl Printer<'_, '_> {
    /// Prints a node. Recursion is bounded, because the builder limits a location's depth.
    fn node(&self, f: &mut fmt::Formatter<'_>, at: At) -> fmt::Result {
        let node = self.tree.node(at);
        let row = node.row();
        match (node, &row.form) {
            (Node::Const(value), _) => write!(f, "{value}"),
            (Node::Part(bits), _) => {
                f.write_str("(")?;
                self.node(f, self.tree.last(at))?;
                write!(f, ", {bits})")
            }
            (_, Form::Operands(operands)) => {
                let nodes = self.tree.operands(at);
                let key = match node {
                    // The same node, made by the method that says that all lanes are meant.
                    Node::Register(reg) if self.is_vector(reg) => "whole",
                    _ => row.key,
                };
                self.list(f, key, operands.iter(), |f, operand| self.operand(f, node, &nodes, operand))
            }
            (_, Form::Parts) => {
                let nodes = self.tree.operands(at);
                self.list(f, row.key, nodes.iter(), |f, &part| self.node(f, part))
            }
            (_, Form::Bare | Form::Word | Form::List(_)) => f.write_str(row.key),
        }
    }

    fn is_vector(&self, reg: Reg) -> bool {
        self.module.target().register(reg).is_some_and(|register| register.is_vector())
    }

    fn list<T>(
        &self,
        f: &mut fmt::Formatter<'_>,
        key: &str,
        items: impl Iterator<Item = T>,
        print: impl Fn(&mut fmt::Formatter<'_>, T) -> fmt::Result,
    ) -> fmt::Result {
        write!(f, "{key}(")?;
        for (index, item) in items.enumerate() {
            f.write_str(if index == 0 { "" } else { ", " })?;
            print(f, item)?;
        }
        f.write_str(")")
    }

    fn operand(
        &self,
        f: &mut fmt::Formatter<'_>,
        node: Node<'_>,
        nodes: &SmallVec<[At; 8]>,
        operand: &Operand,
    ) -> fmt::Result {
        let module = self.module;
        let number = || node.numbers().1[operand.at.min(1)];
        match operand.kind {
            Kind::Node(_) => self.node(f, nodes[operand.at]),
            Kind::Bytes => match node {
                Node::Implicit(bytes) => bytes_text(f, bytes),
                _ => Ok(()),
            },
            Kind::Register => match module.target().register(Reg::of(number())) {
                Some(register) => write!(f, "{}", register.name()),
                None => write!(f, "register {}", number()),
            },
            Kind::Space => match module.target().space(SpaceId::of(number())) {
                Some(space) => f.write_str(&space.name),
                None => write!(f, "space {}", number()),
            },
            Kind::Variable => match module.variable(VariableId::of(number())).name {
                Some(name) => f.write_str(module.string(name)),
                None => write!(f, "variable {}", number()),
            },
            Kind::Procedure => write!(f, "procedure {}", number()),
            Kind::Symbol => f.write_str(module.symbol_name(Symbol::of(number()))),
            Kind::Expression => bytes_text(f, module.expr(ExprId::of(number())).0.bytes()),
            // Half is an operand of a shorthand, which no node is.
            Kind::Half => Ok(()),
            Kind::Unsigned32 | Kind::Unsigned => write!(f, "{}", number()),
            Kind::Signed => write!(f, "{}", i64::of(number())),
        }
    }
}

fn bytes_text(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    for (index, byte) in bytes.iter().enumerate() {
        write!(f, "{}{byte:02x}", if index == 0 { "" } else { " " })?;
    }
    Ok(())
}
