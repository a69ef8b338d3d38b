//! Nodes as text: `per_lane(v3)`, `memory(5, plus(register(s33), 16))`.

use eitri::model::Node;
use eitri::op::Reg;
use eitri::target::Target;

/// Returns the text of a location.
pub fn text(nodes: &[Node<'_>], target: &Target) -> String {
    let mut texts: Vec<String> = Vec::new();
    for node in nodes {
        let name = |reg: Reg| target.register(reg).map_or("?".into(), |register| register.name().to_string());
        let (count, key, fields): (usize, &str, Vec<String>) = match *node {
            Node::Register(reg) => (0, "register", vec![name(reg)]),
            Node::Lane(reg, lane) => (0, "lane", vec![name(reg), lane.to_string()]),
            Node::PerLane(reg) => (0, "per_lane", vec![name(reg)]),
            Node::Memory(space) => (1, "memory", vec![format!("@{}", space.0)]),
            Node::Offset(bytes) => (1, "offset", vec![bytes.to_string()]),
            Node::BitOffset(bits) => (1, "bit_offset", vec![bits.to_string()]),
            Node::OffsetBy => (2, "offset_by", vec![]),
            Node::BitOffsetBy => (2, "bit_offset_by", vec![]),
            Node::Part(bits) => (1, "part", vec![bits.to_string()]),
            Node::Parts(count) => (count as usize, "parts", vec![]),
            Node::Overlay => (4, "overlay", vec![]),
            Node::Select { bits, count } => (3, "select", vec![bits.to_string(), count.to_string()]),
            Node::Extend { bits, count } => (1, "extend", vec![bits.to_string(), count.to_string()]),
            Node::Implicit(bytes) => (0, "implicit", vec![hex(bytes)]),
            Node::Value => (1, "value", vec![]),
            Node::PointerTo(_, bytes) => (0, "pointer_to", vec![bytes.to_string()]),
            Node::Call(_) => (0, "call", vec![]),
            Node::Cfa => (0, "cfa", vec![]),
            Node::ThreadLocal => (1, "thread_local", vec![]),
            Node::Undefined => (0, "undefined", vec![]),
            Node::Expr(_) => (0, "expr", vec![]),
            Node::Const(value) => (0, "", vec![value.to_string()]),
            Node::Address(_, bytes) => (0, "address", vec![bytes.to_string()]),
            Node::LinkAddress(address) => (0, "link_address", vec![format!("{address:#x}")]),
            Node::StackAddress(bytes) => (0, "stack_address", vec![bytes.to_string()]),
            Node::Read(bits) => (1, "read", vec![bits.to_string()]),
            Node::ReadRegister(reg) => (0, "contents", vec![name(reg)]),
            Node::EntryRegister(reg) => (0, "entry_value", vec![name(reg)]),
            Node::PassedValue(_) => (0, "passed_value", vec![]),
            Node::LaneIndex => (0, "lane_index", vec![]),
            Node::Plus(by) => (1, "plus", vec![by.to_string()]),
            Node::Add => (2, "add", vec![]),
            Node::Sub => (2, "sub", vec![]),
            Node::Mul => (2, "mul", vec![]),
            Node::And => (2, "and", vec![]),
            Node::Or => (2, "or", vec![]),
            Node::Xor => (2, "xor", vec![]),
            Node::Shl => (2, "shl", vec![]),
            Node::Shr => (2, "shr", vec![]),
            Node::Shra => (2, "shra", vec![]),
            Node::Neg => (1, "neg", vec![]),
            Node::Not => (1, "not", vec![]),
            Node::AddressOf => (1, "address_of", vec![]),
            Node::Div => (2, "div", vec![]),
            Node::Mod => (2, "mod", vec![]),
            Node::Eq => (2, "eq", vec![]),
            Node::Ne => (2, "ne", vec![]),
            Node::Lt => (2, "lt", vec![]),
            Node::Le => (2, "le", vec![]),
            Node::If => (3, "if", vec![]),
        };
        let mut operands = texts.split_off(texts.len() - count);
        operands.extend(fields);
        texts.push(match key {
            "" => operands.concat(),
            _ if operands.is_empty() => key.into(),
            _ => format!("{key}({})", operands.join(", ")),
        });
    }
    texts.join(" ")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
