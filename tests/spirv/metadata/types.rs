//! Types, as text.

use super::{Node, Nodes};

/// Text of a type. A structure is expanded once; within itself it is referred to by name.
pub fn text(nodes: &Nodes, of: Option<&Node>) -> String {
    Types { nodes, open: Vec::new() }.text(of)
}

struct Types<'n> {
    nodes: &'n Nodes,
    /// Structures that are being expanded.
    open: Vec<&'n Node>,
}

impl<'n> Types<'n> {
    fn text(&mut self, of: Option<&'n Node>) -> String {
        let Some(node) = of else { return "void".into() };
        let name = node.text("name");
        let tag = node.text("tag");
        let size = node.number("size");
        let base = |types: &mut Self| types.text(types.nodes.named(node, "baseType"));
        match (&node.kind[..], tag) {
            ("DIBasicType", "DW_TAG_unspecified_type") => format!("unspecified {name}"),
            ("DIBasicType", _) => format!("{name}:{size} {}", after(node.text("encoding"), "DW_ATE_")),
            ("DISubroutineType", _) => {
                let mut types = self.nodes.list(node, "types").into_iter();
                let result = self.text(types.next().flatten());
                let parameters: Vec<_> = types.map(|it| self.text(it)).collect();
                format!("({}) -> {result}", parameters.join(", "))
            }
            (_, "DW_TAG_typedef") => format!("{} = {}", qualified(self.nodes, node), base(self)),
            (_, "DW_TAG_pointer_type" | "DW_TAG_reference_type" | "DW_TAG_rvalue_reference_type") => {
                let what = after(tag, "DW_TAG_").trim_end_matches("_type");
                let space = node.text("dwarfAddressSpace");
                let space = if space.is_empty() { String::new() } else { format!(" of space {space}") };
                format!("{what}:{size}{space} to {}", base(self))
            }
            (_, "DW_TAG_ptr_to_member_type") => {
                let class = self.nodes.named(node, "extraData").map_or("", |class| class.text("name"));
                format!("pointer to member of {class}: {}", base(self))
            }
            (_, "DW_TAG_array_type") => {
                let counts: Vec<_> =
                    self.nodes.list(node, "elements").into_iter().map(|it| self.count(it)).collect();
                let what = if node.has("flags", "DIFlagVector") { "vector" } else { "array" };
                format!("{what}{}:{size} of {}", counts.concat(), base(self))
            }
            (_, "DW_TAG_enumeration_type") => {
                let class = if node.has("flags", "DIFlagEnumClass") { " class" } else { "" };
                let list = self.nodes.list(node, "elements");
                let values: Vec<_> = list
                    .into_iter()
                    .flatten()
                    .map(|it| format!("{} = {}", it.text("name"), it.text("value")))
                    .collect();
                let name = qualified(self.nodes, node);
                format!("enum{class} {name}:{size} {{ {} }} of {}", values.join(", "), base(self))
            }
            ("DICompositeType", _) => self.composite(node),
            ("DIDerivedType", _) if tag.ends_with("_type") => {
                format!("{} {}", after(tag, "DW_TAG_").trim_end_matches("_type"), base(self))
            }
            _ => panic!("{node:?} is no type"),
        }
    }

    /// Text of a number of elements: `[4]`, `[n]` for a variable, or `[]` for an unknown number.
    fn count(&self, range: Option<&'n Node>) -> String {
        let of = |range| match self.nodes.named(range, "count") {
            Some(variable) => variable.text("name"),
            None => range.text("count"),
        };
        let count = range.map_or("", of);
        if count == "-1" { "[]".into() } else { format!("[{count}]") }
    }

    fn composite(&mut self, node: &'n Node) -> String {
        let (what, size) =
            (after(node.text("tag"), "DW_TAG_").trim_end_matches("_type"), node.number("size"));
        let name = qualified(self.nodes, node);
        if self.open.iter().any(|open| std::ptr::eq(*open, node)) {
            return format!("{what} {name}");
        }
        if node.has("flags", "DIFlagFwdDecl") {
            return format!("{what} {name} declared");
        }
        self.open.push(node);
        let members: Vec<_> = self
            .nodes
            .list(node, "elements")
            .into_iter()
            .flatten()
            .map(|member| self.member(member))
            .collect();
        self.open.pop();
        let parameters = template(self.nodes, node);
        format!("{what} {name}{parameters}:{size} {{ {} }}", members.join("; "))
    }

    fn member(&mut self, node: &'n Node) -> String {
        let access = access(node);
        let base = |types: &mut Self| types.text(types.nodes.named(node, "baseType"));
        let name = node.text("name");
        let offset = node.number("offset");
        let size = node.number("size");
        match (&node.kind[..], node.text("tag")) {
            ("DISubprogram", _) => {
                let types = self.text(self.nodes.named(node, "type"));
                format!("{access}{name}{types} line {}", node.number("line"))
            }
            (_, "DW_TAG_inheritance") => format!("{access}base at {offset}: {}", base(self)),
            (_, "DW_TAG_member") if node.has("flags", "DIFlagStaticMember") => {
                format!("{access}static {name} = {}: {}", node.text("extraData"), base(self))
            }
            (_, "DW_TAG_member") => {
                format!("{access}{name}:{size} at {offset} line {}: {}", node.number("line"), base(self))
            }
            // A nested type.
            _ => self.text(Some(node)),
        }
    }
}

fn access(node: &Node) -> &'static str {
    let all = [("DIFlagPublic", "public "), ("DIFlagProtected", "protected "), ("DIFlagPrivate", "private ")];
    all.iter().find(|(flag, _)| node.has("flags", flag)).map_or("", |(_, text)| text)
}

/// Text of template parameters: `<T = float:32 float, N: int:32 signed = i32 4>`; empty without parameters.
pub fn template(nodes: &Nodes, of: &Node) -> String {
    let parameters: Vec<_> =
        nodes.list(of, "templateParams").into_iter().flatten().map(|it| parameter(nodes, it)).collect();
    if parameters.is_empty() { String::new() } else { format!("<{}>", parameters.join(", ")) }
}

fn parameter(nodes: &Nodes, node: &Node) -> String {
    let name = node.text("name");
    let of = || text(nodes, nodes.named(node, "type"));
    match (&node.kind[..], node.text("tag")) {
        ("DITemplateTypeParameter", _) => format!("{name} = {}", of()),
        (_, "DW_TAG_GNU_template_template_param") => format!("template {name} = {}", node.text("value")),
        (_, "DW_TAG_GNU_template_parameter_pack") => {
            let list = nodes.list(node, "value");
            let all: Vec<_> = list.into_iter().flatten().map(|it| parameter(nodes, it)).collect();
            format!("{name}... = {{{}}}", all.join(", "))
        }
        _ => format!("{name}: {} = {}", of(), node.text("value")),
    }
}

/// A name, qualified by namespaces and classes.
pub fn qualified(nodes: &Nodes, node: &Node) -> String {
    let name = Some(node.text("name")).filter(|name| !name.is_empty()).unwrap_or("(unnamed)");
    match nodes.named(node, "scope") {
        Some(scope) if matches!(&scope.kind[..], "DINamespace" | "DICompositeType" | "DISubprogram") => {
            format!("{}::{name}", qualified(nodes, scope))
        }
        _ => name.into(),
    }
}

fn after<'t>(text: &'t str, prefix: &str) -> &'t str {
    text.strip_prefix(prefix).unwrap_or(text)
}
