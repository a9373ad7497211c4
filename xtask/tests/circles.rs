//! Files that import each other in circles can only be understood together: they stay few and small.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

/// The sources of the packages.
fn packages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let crates = read_dir(root.join("crates")).expect("crates");
    let crates = crates.map(|entry| entry.expect("an entry").path().join("src"));
    crates.chain(["bindings/python/src", "experiments/src"].map(|folder| root.join(folder))).collect()
}

/// A module's path from the root of its package.
type Module = Vec<String>;

/// The code of every file without comments and tests, by its module.
fn modules(folder: &Path, above: &Module, found: &mut BTreeMap<Module, String>) {
    for entry in read_dir(folder).expect("a folder") {
        let path: PathBuf = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let mut module = above.clone();
        if !["mod", "lib"].contains(&name.as_str()) {
            module.push(name.clone());
        }
        if path.is_dir() {
            modules(&path, &module, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") && name != "tests" {
            let text = read_to_string(&path).expect("a file");
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
            let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
            found.insert(module, lines.flat_map(|line| [line, "\n"]).collect());
        }
    }
}

/// The paths that the tree of an import names, below `above`.
fn leaves(above: &[String], tree: &str, paths: &mut Vec<Module>) {
    let (path, list) = tree.split_once('{').map_or((tree, None), |(path, list)| (path, Some(list)));
    let names = path.split("::").map(|name| name.split(" as ").next().unwrap_or_default().trim());
    let names = names.filter(|name| !name.is_empty() && *name != "self").map(str::to_owned);
    let path: Module = above.iter().cloned().chain(names).collect();
    let Some(list) = list else { return paths.push(path) };
    let (mut depth, mut begin) = (0, 0);
    for (at, sign) in list.char_indices() {
        match sign {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                if !list[begin..at].trim().is_empty() {
                    leaves(&path, &list[begin..at], paths);
                }
                begin = at + 1;
            }
            _ => {}
        }
    }
}

/// What `module` imports with `keyword`, as paths from the root of its package.
fn imports(module: &Module, code: &str, keyword: &str) -> Vec<Module> {
    let mut paths = Vec::new();
    for tree in code.split(&format!("\n{keyword} ")).skip(1) {
        leaves(&[], tree.split(';').next().unwrap_or_default(), &mut paths);
    }
    let from_root = |path: Module| {
        let ups = path.iter().take_while(|name| *name == "super").count();
        match path.first().map(String::as_str) {
            Some("crate") => path[1..].to_vec(),
            Some("super") => [&module[..module.len().saturating_sub(ups)], &path[ups..]].concat(),
            _ => [&module[..], &path[..]].concat(),
        }
    };
    paths.into_iter().map(from_root).collect()
}

/// The module that defines the last name of `path`, behind those that only hand it on.
fn definer(all: &BTreeMap<Module, String>, path: &Module, steps: usize) -> Option<Module> {
    let depth = (0..=path.len()).rev().find(|depth| all.contains_key(&path[..*depth]))?;
    let (module, rest) = (path[..depth].to_vec(), &path[depth..]);
    let handed_on = ["pub use", "pub(crate) use", "pub(super) use"].map(|keyword| {
        let hands_on = |whole: &Module| !rest.is_empty() && whole.last() == rest.first();
        imports(&module, &all[&module], keyword).into_iter().find(hands_on)
    });
    match handed_on.into_iter().flatten().next() {
        Some(next) if steps > 0 && next != *path => definer(all, &next, steps - 1),
        // What another package defines.
        _ => (depth > 0).then_some(module),
    }
}

/// The modules that are reached from `from`.
fn reached(arrows: &BTreeMap<Module, BTreeSet<Module>>, from: &Module) -> BTreeSet<Module> {
    let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(module) = next.pop() {
        for to in arrows.get(module).into_iter().flatten() {
            if seen.insert(to.clone()) {
                next.push(to);
            }
        }
    }
    seen
}

/// What each module of the package in `folder` imports. A module may know those below it, which are parts of
/// it.
fn arrows(folder: &Path) -> BTreeMap<Module, BTreeSet<Module>> {
    let mut all = BTreeMap::new();
    modules(folder, &Module::new(), &mut all);
    let of = |(module, code): (&Module, &String)| {
        let imported = imports(module, code, "use").into_iter().filter_map(|path| definer(&all, &path, 8));
        (module.clone(), imported.filter(|to| !to.starts_with(module)).collect())
    };
    all.iter().map(of).collect()
}

#[test]
fn few_files_import_each_other() {
    let mut circles: BTreeSet<BTreeSet<String>> = BTreeSet::new();
    let mut arrows_of_all = 0;
    for package in packages() {
        let arrows = arrows(&package);
        arrows_of_all += arrows.values().map(BTreeSet::len).sum::<usize>();
        let reach: BTreeMap<&Module, BTreeSet<Module>> =
            arrows.keys().map(|module| (module, reached(&arrows, module))).collect();
        for (module, there) in reach.iter().filter(|(module, there)| there.contains(**module)) {
            let back = there.iter().filter(|to| reach[to].contains(*module));
            circles.insert(back.map(|to| format!("{}/{}", package.display(), to.join("/"))).collect());
        }
    }
    assert!(arrows_of_all > 1000, "imports are found: {arrows_of_all}");
    assert!(circles.len() <= 4, "{circles:#?}");
    assert!(circles.iter().all(|files| files.len() <= 3), "{circles:#?}");
}

/// Data flow one way through the folders of a package, but for readers that find a log in what they read, and
/// for what the log of a model is about.
#[test]
fn folders_import_each_other_one_way() {
    for (package, known) in
        [("cli", &[][..]), ("serve", &[("model", "store")]), ("stream", &[("decisions", "read")])]
    {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates").join(package).join("src");
        let arrows = arrows(&folder);
        let between = |(from, to): (&Module, &BTreeSet<Module>)| -> Vec<(String, String)> {
            to.iter().filter_map(|to| Some((from.first()?.clone(), to.first()?.clone()))).collect()
        };
        let all: BTreeSet<(String, String)> = arrows.iter().flat_map(between).collect();
        let is_back = |(from, to): &&(String, String)| from < to && all.contains(&(to.clone(), from.clone()));
        let both: Vec<(&str, &str)> = all.iter().filter(is_back).map(|(from, to)| (&**from, &**to)).collect();
        assert_eq!(both, known, "{package}");
    }
}
