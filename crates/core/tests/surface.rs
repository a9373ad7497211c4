//! The public interface does not change unnoticed: every line of `public.txt` must be true of the source;
//! additional items are permitted. For an intended change: `UPDATE_PUBLIC=1 cargo test -p noregret --test
//! surface`, and a line in `CHANGELOG.md`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use quote::ToTokens;
use syn::{Attribute, Fields, ImplItem, Item, TraitItem, Visibility};

/// The modules whose interface is stable. The others are documented, and may change with the learners.
const STABLE: &[&str] = &[
    "algorithm",
    "capability",
    "example",
    "learner",
    "merge",
    "model",
    "parallel",
    "param",
    "prediction",
    "problem",
    "registry",
    "rng",
    "state",
];

#[test]
fn the_listed_interface_is_unchanged() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = BTreeSet::new();
    for module in STABLE {
        let file = source.join(format!("{module}.rs"));
        let file = if file.exists() { file } else { source.join(module).join("mod.rs") };
        list(&file, module, &mut found);
    }
    // Items that `merge` and `registry` re-export.
    list(&source.join("merge/how.rs"), "merge", &mut found);
    list(&source.join("entry.rs"), "registry", &mut found);
    // Items that the root re-exports.
    let root = parsed(&source.join("lib.rs"));
    for item in root.items {
        if let Item::Use(item) = &item
            && public(&item.vis)
        {
            found.extend(names(&item.tree).into_iter().map(|name| format!("use noregret::{name}")));
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/public.txt");
    if std::env::var_os("UPDATE_PUBLIC").is_some() {
        fs::write(&path, found.iter().map(|line| format!("{line}\n")).collect::<String>())
            .expect("own folder");
    }
    let promised = fs::read_to_string(&path).expect("part of the repository");
    let gone: Vec<_> = promised.lines().filter(|line| !found.contains(*line)).collect();
    assert!(gone.is_empty(), "changed, but listed in {}:\n{}", path.display(), gone.join("\n"));
    assert!(promised.lines().count() > 200, "the list is complete");
}

fn parsed(path: &Path) -> syn::File {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let text = text(attribute);
        text.contains("doc (hidden)") || text.contains("cfg (test)")
    })
}

/// Tokens as one line.
fn text(tokens: impl ToTokens) -> String {
    tokens.to_token_stream().to_string()
}

/// The names that a `use` ends in.
fn names(tree: &syn::UseTree) -> Vec<String> {
    match tree {
        syn::UseTree::Path(path) => names(&path.tree),
        syn::UseTree::Name(name) => vec![name.ident.to_string()],
        syn::UseTree::Rename(name) => vec![name.rename.to_string()],
        syn::UseTree::Group(group) => group.items.iter().flat_map(names).collect(),
        syn::UseTree::Glob(_) => vec!["*".to_owned()],
    }
}

/// Adds a line for every public item of the file at `path`.
fn list(path: &Path, module: &str, found: &mut BTreeSet<String>) {
    let fields = |fields: &Fields| {
        let public: Vec<_> = fields.iter().filter(|field| public(&field.vis)).collect();
        public.iter().map(|field| format!("{} : {}", text(&field.ident), text(&field.ty))).collect::<Vec<_>>()
    };
    for item in parsed(path).items {
        match &item {
            Item::Fn(item) if public(&item.vis) && !hidden(&item.attrs) => {
                found.insert(format!("{module}: {}", text(&item.sig)));
            }
            Item::Const(item) if public(&item.vis) => {
                found.insert(format!("{module}: const {} : {}", item.ident, text(&item.ty)));
            }
            Item::Static(item) if public(&item.vis) => {
                found.insert(format!("{module}: static {} : {}", item.ident, text(&item.ty)));
            }
            Item::Type(item) if public(&item.vis) => {
                found.insert(format!("{module}: type {} = {}", item.ident, text(&item.ty)));
            }
            Item::Use(item) if public(&item.vis) => {
                found.extend(names(&item.tree).into_iter().map(|name| format!("{module}: use {name}")));
            }
            Item::Struct(item) if public(&item.vis) => {
                let name = format!("{}{}", item.ident, text(&item.generics));
                found.insert(format!("{module}: struct {name}"));
                found.extend(fields(&item.fields).iter().map(|field| format!("{module}: {name} . {field}")));
            }
            Item::Enum(item) if public(&item.vis) => {
                for variant in &item.variants {
                    let shape: Vec<_> = variant
                        .fields
                        .iter()
                        .map(|field| format!("{} {}", text(&field.ident), text(&field.ty)))
                        .collect();
                    found.insert(format!("{module}: {}::{} {shape:?}", item.ident, variant.ident));
                }
            }
            Item::Trait(item) if public(&item.vis) => {
                for member in &item.items {
                    let line = match member {
                        TraitItem::Fn(method) => text(&method.sig),
                        TraitItem::Const(constant) => {
                            format!("const {} : {}", constant.ident, text(&constant.ty))
                        }
                        TraitItem::Type(of) => format!("type {}", of.ident),
                        _ => continue,
                    };
                    found.insert(format!("{module}: {}::{line}", item.ident));
                }
            }
            Item::Impl(item) if item.trait_.is_none() => {
                for member in &item.items {
                    if let ImplItem::Fn(method) = member
                        && public(&method.vis)
                        && !hidden(&method.attrs)
                    {
                        found.insert(format!("{module}: {}::{}", text(&item.self_ty), text(&method.sig)));
                    }
                }
            }
            Item::Impl(item) => {
                let (_, of, _) = item.trait_.as_ref().expect("the arm above");
                found.insert(format!("{module}: {} is {}", text(&item.self_ty), text(of)));
            }
            _ => {}
        }
    }
}
