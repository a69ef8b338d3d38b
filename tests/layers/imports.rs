//! Imports of the sources: every path of a `use` tree, an expression, a type or a macro's tokens, made absolute.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path as File;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemImpl, ItemMod, ItemUse, Macro, Type, UseTree};

/// Names from the crate's root on: `["spirv", "check", "body"]`.
pub type Path = Vec<String>;

/// A path from its text.
pub fn path(text: &str) -> Path {
    text.split("::").map(str::to_owned).collect()
}

/// Modules of the crate, and the paths that each of them names.
#[derive(Default)]
pub struct Imports {
    /// Modules, with the absolute paths that their code names. Code under `#[cfg(test)]` is not in them.
    pub modules: BTreeMap<Path, BTreeSet<Path>>,
    /// Names that a `use` gives to items of other modules, by module.
    aliases: BTreeMap<Path, Path>,
    /// Types as named by an `impl` without a trait, with the module of the `impl`.
    impls: BTreeSet<(Path, Path)>,
}

impl Imports {
    /// Reads a crate whose root is the file `root`, with `name` as the path of its root module.
    pub fn read(&mut self, root: &File, name: &[&str]) {
        let at: Path = name.iter().map(|name| (*name).to_owned()).collect();
        let folder = root.parent().expect("a file is in a folder");
        self.file(root, folder, at.clone(), &at);
    }

    fn file(&mut self, file: &File, folder: &File, at: Path, root: &Path) {
        for at in self.source(&fs::read_to_string(file).expect("a source file"), at, root) {
            let below = folder.join(at.last().expect("a module has a name"));
            let inner = [below.with_extension("rs"), below.join("mod.rs")];
            let file = inner.iter().find(|file| file.is_file()).expect("the module has a file");
            self.file(file, &below, at, root);
        }
    }

    /// Reads the source of a module. Returns the modules in files of their own.
    pub fn source(&mut self, text: &str, at: Path, root: &Path) -> Vec<Path> {
        let tree = syn::parse_file(text).unwrap_or_else(|error| panic!("{}: {error}", at.join("::")));
        self.modules.entry(at.clone()).or_default();
        let mut inside = Inside { imports: self, at, root: root.clone(), files: Vec::new() };
        inside.visit_file(&tree);
        inside.files
    }

    /// The paths that lead to an item, from one `use` to the next: the path named, and the item's own at the end.
    pub fn steps(&self, path: &Path) -> Vec<Path> {
        let mut steps = vec![path.clone()];
        // Each step leads from a module to another, and no `use` leads back.
        while let Some(next) = self.step(steps.last().expect("has one")).filter(|next| !steps.contains(next))
        {
            steps.push(next);
        }
        steps
    }

    /// Types of the crate, by their own paths, with the modules in which they have inherent methods.
    pub fn inherent(&self) -> BTreeMap<Path, BTreeSet<Path>> {
        let mut types: BTreeMap<Path, BTreeSet<Path>> = BTreeMap::new();
        for (ty, module) in &self.impls {
            let own = self.steps(ty).pop().expect("has one");
            types.entry(own).or_default().insert(module.clone());
        }
        types
    }

    fn step(&self, path: &Path) -> Option<Path> {
        (1..=path.len()).find_map(|length| {
            let (head, tail) = path.split_at(length);
            let is_module = self.modules.contains_key(head);
            let target = self.aliases.get(head).filter(|target| !is_module && *target != head)?;
            Some([target, tail].concat())
        })
    }
}

/// A module whose items are visited.
struct Inside<'a> {
    imports: &'a mut Imports,
    at: Path,
    root: Path,
    /// Modules in files of their own.
    files: Vec<Path>,
}

impl Inside<'_> {
    fn name(&mut self, path: &[String]) {
        if let Some(path) = self.absolute(path) {
            self.imports.modules.entry(self.at.clone()).or_default().insert(path);
        }
    }

    /// The path from the root, of a path that begins with a keyword or with the name of a library.
    fn absolute(&self, path: &[String]) -> Option<Path> {
        let mut base = match path.first()?.as_str() {
            "crate" => self.root.clone(),
            "eitri" | "eitri_dwarf" | "eitri_inspect" => Vec::new(),
            "self" | "super" if path.len() > 1 => self.at.clone(),
            _ => return None,
        };
        for name in path.iter().skip(usize::from(!matches!(path[0].as_str(), "super"))) {
            match name.as_str() {
                "super" => drop(base.pop()),
                _ => base.push(name.clone()),
            }
        }
        Some(base)
    }

    fn tree(&mut self, tree: &UseTree, mut path: Path) {
        match tree {
            UseTree::Path(inner) => {
                path.push(inner.ident.to_string());
                self.tree(&inner.tree, path);
            }
            UseTree::Group(group) => group.items.iter().for_each(|inner| self.tree(inner, path.clone())),
            UseTree::Glob(_) => self.name(&path),
            UseTree::Name(name) => self.leaf(path, name.ident.to_string(), None),
            UseTree::Rename(rename) => {
                self.leaf(path, rename.ident.to_string(), Some(rename.rename.to_string()));
            }
        }
    }

    fn leaf(&mut self, mut path: Path, name: String, rename: Option<String>) {
        let given = match name.as_str() {
            "self" => path.last().expect("`self` is in braces").clone(),
            _ => {
                path.push(name.clone());
                name
            }
        };
        self.name(&path);
        let mut alias = self.at.clone();
        alias.push(rename.unwrap_or(given));
        // A path without a keyword begins at a module of this one, or is another crate's.
        let target = self.absolute(&path).unwrap_or_else(|| [&self.at[..], &path].concat());
        self.imports.aliases.insert(alias, target);
    }

    /// Names the paths among a macro's tokens.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path = Path::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if colons != 2 {
                        self.name(&std::mem::take(&mut path));
                    }
                    path.push(name.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                // A visibility, `pub(in crate::room)`, imports nothing.
                TokenTree::Group(group) if is_visibility(group.stream()) => {}
                TokenTree::Group(group) => {
                    // The tree of a `use` inside of a macro: the room is in front of the braces.
                    self.name(&std::mem::take(&mut path));
                    self.tokens(group.stream());
                }
                _ => self.name(&std::mem::take(&mut path)),
            }
        }
        self.name(&path);
    }
}

/// Whether the tokens in parentheses after `pub` restrict the visibility to a path.
fn is_visibility(tokens: TokenStream) -> bool {
    matches!(tokens.into_iter().next(), Some(TokenTree::Ident(first)) if first == "in")
}

impl<'ast> Visit<'ast> for Inside<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes: &[Attribute] = match item {
            Item::Mod(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            _ => &[],
        };
        if !attributes.iter().any(is_test) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        self.at.push(item.ident.to_string());
        self.imports.modules.entry(self.at.clone()).or_default();
        match &item.content {
            None => self.files.push(self.at.clone()),
            Some((_, items)) => items.iter().for_each(|item| self.visit_item(item)),
        }
        self.at.pop();
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.tree(&item.tree, Vec::new());
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        if let (None, Type::Path(ty)) = (&item.trait_, &*item.self_ty) {
            let names: Path = ty.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            let ty = self.absolute(&names).unwrap_or_else(|| [&self.at[..], &names].concat());
            self.imports.impls.insert((ty, self.at.clone()));
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Path = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.name(&names);
        visit::visit_path(self, path);
    }

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_macro(&mut self, invocation: &'ast Macro) {
        self.tokens(invocation.tokens.clone());
        visit::visit_macro(self, invocation);
    }
}

/// Whether an item is compiled for tests only.
fn is_test(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && attribute.parse_args::<syn::Path>().is_ok_and(|condition| condition.is_ident("test"))
}
