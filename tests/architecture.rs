//! Modules import only modules above them in `docs/architecture.md`.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::fs;
use std::path::{Path, PathBuf};

/// The modules, in the order of the page.
fn modules() -> Vec<String> {
    let page = fs::read_to_string("docs/architecture.md").unwrap();
    let table = page.split("## ").find(|part| part.starts_with("Modules"));
    let rows = table.unwrap().lines();
    let names = rows.filter_map(|row| row.strip_prefix("| `")?.split('`').next());
    // A second table is about files.
    let modules = names.filter(|name| !name.contains('/'));
    modules.map(str::to_owned).collect()
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries
        .flat_map(|entry| match entry.path() {
            path if path.is_dir() => sources(&path),
            path => vec![path],
        })
        .filter(|path| path.extension().is_some_and(|end| end == "rs"))
        .collect()
}

/// Tests may use what they like.
fn is_test(path: &Path) -> bool {
    let stem = path.file_stem().unwrap().to_str().unwrap();
    stem == "tests" || stem.ends_with("_tests") || stem.starts_with("test_")
}

/// The modules that a source names outside of its tests.
fn named_in(source: &str) -> Vec<&str> {
    let code = source.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let lines = code.lines().filter(|line| !line.trim().starts_with("//"));
    lines
        .flat_map(|line| line.split("crate::").skip(1))
        .filter_map(|path| {
            path.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
                .next()
        })
        .collect()
}

#[test]
fn every_folder_is_a_module() {
    let mut folders: Vec<String> = fs::read_dir("src")
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_dir() && entry.file_name() != "bin")
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    let mut modules = modules();
    folders.sort();
    modules.sort();
    assert_eq!(folders, modules);
}

#[test]
fn modules_import_only_modules_above_them() {
    let modules = modules();
    let mut wrong = Vec::new();
    for (place, module) in modules.iter().enumerate() {
        for path in sources(&Path::new("src").join(module)) {
            let source = fs::read_to_string(&path).unwrap();
            let below = |name: &&str| modules[place + 1..].iter().any(|module| module == name);
            for name in named_in(&source).into_iter().filter(below) {
                if !is_test(&path) {
                    wrong.push(format!("{} imports {name}", path.display()));
                }
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}
