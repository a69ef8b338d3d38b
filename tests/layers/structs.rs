//! Numbers of fields of the structs in the sources, also of those in the tokens of macros.

use std::fs;
use std::path::Path as File;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::ItemStruct;
use syn::visit::{self, Visit};

/// Most fields of a struct. A struct with more of them is several things.
const MOST: usize = 20;

/// A struct in the sources.
struct Struct {
    file: String,
    name: String,
    /// Names of the fields, or their numbers.
    fields: Vec<String>,
}

/// The structs in the files of a folder.
fn structs_below(folder: &File, found: &mut Vec<Struct>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("a folder's entry").path();
        if path.is_dir() {
            structs_below(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("a source file");
            structs(&path.display().to_string(), &text, found);
        }
    }
}

/// The structs in a source.
fn structs(file: &str, text: &str, found: &mut Vec<Struct>) {
    let tree = syn::parse_file(text).unwrap_or_else(|error| panic!("{file}: {error}"));
    Structs { file, found }.visit_file(&tree);
}

struct Structs<'a> {
    file: &'a str,
    found: &'a mut Vec<Struct>,
}

impl Structs<'_> {
    fn add(&mut self, name: String, fields: Vec<String>) {
        self.found.push(Struct { file: self.file.to_owned(), name, fields });
    }

    /// Finds `struct Name … { … }` among the tokens of a macro. Rows of other macros inside of the braces, such as
    /// those of the table of properties, are not fields.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut name = None;
        let mut before = None;
        for token in tokens {
            match &token {
                TokenTree::Ident(ident) if before.as_deref() == Some("struct") => {
                    name = Some(ident.to_string())
                }
                TokenTree::Punct(punct) if punct.as_char() == ';' => name = None,
                TokenTree::Group(group) => {
                    if group.delimiter() == Delimiter::Brace
                        && let Some(name) = name.take()
                    {
                        self.add(name, fields(group.stream()));
                    }
                    self.tokens(group.stream());
                }
                _ => {}
            }
            before = Some(token.to_string());
        }
    }
}

/// Names in front of a single colon: each is that of a field.
fn fields(tokens: TokenStream) -> Vec<String> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_colon =
        |token: Option<&TokenTree>| matches!(token, Some(TokenTree::Punct(it)) if it.as_char() == ':');
    let name = |at: usize| match &tokens[at] {
        TokenTree::Ident(name) if is_colon(tokens.get(at + 1)) && !is_colon(tokens.get(at + 2)) => {
            Some(name.to_string())
        }
        _ => None,
    };
    (0..tokens.len()).filter_map(name).collect()
}

impl<'ast> Visit<'ast> for Structs<'_> {
    fn visit_item_struct(&mut self, item: &'ast ItemStruct) {
        let fields = item.fields.iter().zip(0..);
        let name = |(field, index): (&syn::Field, usize)| match &field.ident {
            Some(name) => name.to_string(),
            None => index.to_string(),
        };
        self.add(item.ident.to_string(), fields.map(name).collect());
        visit::visit_item_struct(self, item);
    }

    fn visit_macro(&mut self, invocation: &'ast syn::Macro) {
        self.tokens(invocation.tokens.clone());
    }
}

/// The structs of the library and the command.
fn sources() -> Vec<Struct> {
    let mut found = Vec::new();
    for folder in ["crates", "src"] {
        structs_below(&File::new(crate::common::ROOT).join(folder), &mut found);
    }
    found
}

#[test]
fn no_struct_has_too_many_fields() {
    let mut found = sources();
    // The walk sees all folders, and macros.
    for name in ["Consumer", "Module", "MachineText", "Function"] {
        assert!(found.iter().any(|it| it.name == name && it.fields.len() > 5), "`{name}` is not found");
    }
    found.retain(|it| it.fields.len() > MOST);
    let lines = found.iter().map(|it| format!("{}: `{}` has {} fields", it.file, it.name, it.fields.len()));
    let lines: Vec<_> = lines.collect();
    assert!(lines.is_empty(), "a struct has at most {MOST} fields:\n{}", lines.join("\n"));
}

/// Groups of the fields of `Consumer`.
const GROUPS: [(&str, &str); 6] = [
    ("expressions", "ExpressionForm"),
    ("attributes", "AttributeNumbers"),
    ("entries", "EntryForm"),
    ("lists", "ListForm"),
    ("frames", "FrameForm"),
    ("tables", "Tables"),
];

/// The page of consumers has each field of a consumer once, in the order of the fields.
#[test]
fn each_field_of_a_consumer_is_on_its_page() {
    let mut found = sources();
    found.retain(|it| it.file.contains("/src/consumer/"));
    let fields = |name: &str| &found.iter().find(|it| it.name == name).expect("a struct").fields;
    let names =
        fields("Consumer").iter().flat_map(|field| match GROUPS.iter().find(|(group, _)| group == field) {
            Some((group, of)) => fields(of).iter().map(|field| format!("{group}.{field}")).collect(),
            None => vec![field.clone()],
        });
    let page = fs::read_to_string(File::new(crate::common::ROOT).join("docs/consumers.md"));
    let page = page.expect("the page of consumers");
    let table = page.split("| field | meaning |\n|---|---|\n").nth(1).expect("the table of fields");
    let rows = table.lines().take_while(|line| line.starts_with('|'));
    let listed = rows.flat_map(|row| {
        let cell = row.split('|').nth(1).expect("the cell of the fields");
        cell.split(',').map(|name| name.trim().trim_matches('`').to_owned())
    });
    assert_eq!(listed.collect::<Vec<_>>(), names.collect::<Vec<_>>());
}

#[test]
fn fields_are_counted() {
    let source = "
        struct A { a: u8, b: crate::B<u8, u16>, c: (u8, u8) }
        struct B(u8, u16);
        struct C;
        fn f() { struct D<'a> { d: &'a str } }
        objects! { \"text\" #[doc = \"of\"] pub(super) struct E<T> { e: a::B<C, D>, pub f: T } struct F { g: u8 } }
        macro_rules! m { ($name:ident) => { struct $name { h: u8 } }; }";
    let mut found = Vec::new();
    structs("z", source, &mut found);
    let found: Vec<_> = found.iter().map(|it| format!("{} {}", it.name, it.fields.join(" "))).collect();
    assert_eq!(found, ["A a b c", "B 0 1", "C ", "D d", "E e f", "F g"]);
}
