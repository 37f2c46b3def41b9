//! Imports go one way: between modules by the table in `docs/architecture.md`, and between the files
//! of a module.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

/// A folder of modules, and the name of one in it.
type Module = (String, String);

/// Returns the modules, in the order of the page.
fn modules() -> Vec<Module> {
    let page = fs::read_to_string("docs/architecture.md").unwrap();
    let tables = page.split("\n### ").skip(1);
    let modules = tables.flat_map(|table| {
        let table = table.split("\n## ").next().unwrap();
        let folder = table.lines().next().unwrap();
        let folder = ROOTS.iter().find(|root| root.starts_with(folder));
        let rows = table.lines();
        let names = rows.filter_map(|row| row.strip_prefix("| `")?.split('`').next());
        names.map(move |name| (folder.unwrap().to_string(), name.to_owned()))
    });
    modules.collect()
}

/// Folders of modules, one per package.
const ROOTS: [&str; 5] = [
    "src",
    "crates/core/src",
    "crates/formats/src",
    "crates/guard/src",
    "crates/sessions/src",
];

/// Returns the source files of both packages.
fn all_sources() -> Vec<PathBuf> {
    let roots = ROOTS.iter().map(Path::new);
    roots.flat_map(sources).collect()
}

/// Returns the path of a source file from the folder of its package's modules.
fn package_dir(file: &Path) -> &Path {
    let found = ROOTS.iter().find_map(|root| file.strip_prefix(root).ok());
    found.unwrap()
}

/// Returns the module that a file belongs to: that of its directory, or of the one above.
fn module_of(file: &Path, modules: &[Module]) -> Module {
    let root = ROOTS.iter().find(|root| file.starts_with(root)).unwrap();
    let path = package_dir(file).with_extension("");
    let listed = path.ancestors().find_map(|path| {
        let module = (root.to_string(), path.to_str().unwrap().to_owned());
        modules.contains(&module).then_some(module)
    });
    listed.unwrap_or((root.to_string(), "(none of the page)".to_owned()))
}

fn sources(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    let mut paths: Vec<PathBuf> = entries
        .flat_map(|entry| match entry.path() {
            path if path.is_dir() => sources(&path),
            path => vec![path],
        })
        .filter(|path| path.extension().is_some_and(|end| end == "rs"))
        .collect();
    paths.sort();
    paths
}

/// Tests may import anything.
fn is_test(path: &Path) -> bool {
    let stem = path.file_stem().unwrap().to_str().unwrap();
    stem == "tests" || stem.ends_with("_tests") || stem.starts_with("test_")
}

/// Returns the source without comments and unit tests.
fn code(source: &str) -> String {
    let tests = source.match_indices("#[cfg(test)]\nmod ");
    let mut inline = tests.filter(|(at, _)| source[*at..].lines().nth(1).unwrap().ends_with('{'));
    let code = &source[..inline.next().map_or(source.len(), |(at, _)| at)];
    let lines = code.lines().filter(|line| !line.trim().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// A path in the source: its segments, with `crate`, `super` and `self` as written.
type Segments = Vec<String>;

/// Returns the paths that `use` declarations import, each with whether it is a re-export, and all
/// other paths that begin with `crate`, `super` or an imported name.
fn paths(code: &str) -> Vec<(Segments, bool)> {
    let mut found = Vec::new();
    let mut rest = String::new();
    for (number, statement) in code.split_inclusive(';').enumerate() {
        let start = statement.rfind("use ").filter(|start| {
            let before = statement[..*start]
                .lines()
                .last()
                .unwrap_or_default()
                .trim();
            before.is_empty() || before.starts_with("pub")
        });
        if let Some(start) = start {
            let is_export = statement[..start].trim_end().ends_with(['b', ')']);
            let tree = statement[start + "use ".len()..].trim_end_matches(';');
            flatten(tree, &[], &mut |path| found.push((path, is_export)));
            rest.push_str(&statement[..start]);
        } else {
            rest.push_str(statement);
        }
        rest.push_str(if number == 0 { "" } else { "\n" });
    }
    let named: HashMap<String, Segments> = found
        .iter()
        .filter_map(|(path, _)| Some((path.last()?.clone(), path.clone())))
        .collect();
    let is_path = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    for word in rest.split(|letter| !is_path(letter)) {
        let Some((first, inner)) = word.split_once("::") else {
            continue;
        };
        let inner = inner.split("::").map(str::to_owned);
        if let "crate" | "super" = first {
            found.push(([first.to_owned()].into_iter().chain(inner).collect(), false));
        } else if let Some(path) = named.get(first) {
            found.push((path.iter().cloned().chain(inner).collect(), false));
        }
    }
    found
}

/// Calls `found` with each path of a `use` tree.
fn flatten(tree: &str, prefix: &[String], found: &mut dyn FnMut(Segments)) {
    let mut depth = 0;
    let mut parts = vec![String::new()];
    for letter in tree.chars() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().unwrap().push(letter);
    }
    for part in parts
        .iter()
        .map(|part| part.trim())
        .filter(|part| !part.is_empty())
    {
        let (path, inner) = part.split_once('{').unwrap_or((part, ""));
        let path = path.split(" as ").next().unwrap();
        let names = path
            .split("::")
            .map(str::trim)
            .filter(|name| !name.is_empty());
        let whole: Vec<String> = prefix
            .iter()
            .cloned()
            .chain(names.map(str::to_owned))
            .collect();
        match inner.strip_suffix('}') {
            Some(inner) => flatten(inner, &whole, found),
            None => found(whole),
        }
    }
}

/// Returns the module path of a file, from the root of its crate.
fn module_path(file: &Path) -> Segments {
    let relative = package_dir(file).with_extension("");
    let mut names: Segments = relative
        .iter()
        .map(|name| name.to_str().unwrap().to_owned())
        .collect();
    if names
        .last()
        .is_some_and(|name| name == "mod" || name == "lib")
    {
        names.pop();
    }
    names
}

/// Returns the absolute form of a path in the file `from`; `None` if it leads out of the crate.
fn absolute_path(path: &[String], from: &[String]) -> Option<Segments> {
    let mut base = match path.first()?.as_str() {
        "crate" => Vec::new(),
        "super" | "self" => from.to_vec(),
        _ => return None,
    };
    let mut names = path.iter().peekable();
    while let Some(name) = names.next_if(|name| matches!(name.as_str(), "crate" | "super" | "self"))
    {
        if name == "super" {
            base.pop();
        }
    }
    Some(base.into_iter().chain(names.cloned()).collect())
}

/// Returns the file that defines what `path` names, following re-exports.
fn defining_file(
    path: &[String],
    files: &HashMap<Segments, PathBuf>,
    exports: &HashMap<Segments, Segments>,
) -> Option<PathBuf> {
    let mut path = path.to_vec();
    for _ in 0..8 {
        let exported = (1..=path.len()).rev().find_map(|end| {
            // A function can have the name of a module.
            let is_module = end < path.len() && files.contains_key(&path[..=end]);
            let target = exports.get(&path[..end]).filter(|_| !is_module)?;
            Some(
                target
                    .iter()
                    .chain(&path[end..])
                    .cloned()
                    .collect::<Segments>(),
            )
        });
        match exported {
            Some(next) if next != path => path = next,
            _ => break,
        }
    }
    (1..=path.len())
        .rev()
        .find_map(|end| files.get(&path[..end]).cloned())
}

/// Returns the files that each file imports.
fn imports() -> BTreeMap<PathBuf, BTreeSet<PathBuf>> {
    let files: Vec<PathBuf> = all_sources()
        .into_iter()
        .filter(|path| !is_test(path) && !path.starts_with("src/bin"))
        .collect();
    let by_module: HashMap<Segments, PathBuf> = files
        .iter()
        .map(|file| (module_path(file), file.clone()))
        .collect();
    let mut exports = HashMap::new();
    let mut named = Vec::new();
    for file in &files {
        let module = module_path(file);
        for (path, is_export) in paths(&code(&fs::read_to_string(file).unwrap())) {
            let is_mod = file.ends_with("mod.rs");
            let target = absolute_path(&path, &module).or_else(|| {
                // In a `mod.rs`, a path may begin with the name of a file.
                let inner: Segments = module.iter().chain(&path).cloned().collect();
                let first = inner.get(..=module.len())?;
                (is_mod && by_module.contains_key(first)).then_some(inner)
            });
            let Some(target) = target else { continue };
            // The files below a `mod.rs` also see what it imports.
            if (is_export || is_mod)
                && let Some(name) = target.last()
            {
                let exported: Segments = module.iter().chain([name]).cloned().collect();
                exports.insert(exported, target.clone());
            }
            if !is_mod {
                named.push((file.clone(), target));
            }
        }
    }
    let mut imports: BTreeMap<PathBuf, BTreeSet<PathBuf>> = BTreeMap::new();
    for (file, target) in named {
        if let Some(other) = defining_file(&target, &by_module, &exports)
            && other != file
            && !other.ends_with("mod.rs")
        {
            imports.entry(file).or_default().insert(other);
        }
    }
    imports
}

/// Returns groups of files that import each other, directly or indirectly.
fn find_cycles(imports: &BTreeMap<PathBuf, BTreeSet<PathBuf>>) -> Vec<BTreeSet<PathBuf>> {
    let reached = |from: &PathBuf| {
        let mut reached = BTreeSet::new();
        let mut open = vec![from];
        while let Some(file) = open.pop() {
            for next in imports.get(file).into_iter().flatten() {
                if reached.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        reached
    };
    let reach: BTreeMap<&PathBuf, BTreeSet<PathBuf>> =
        imports.keys().map(|file| (file, reached(file))).collect();
    let circle = |file: &PathBuf| -> BTreeSet<PathBuf> {
        let others = reach[file].iter();
        others
            .filter(|other| reach.get(other).is_some_and(|back| back.contains(file)))
            .cloned()
            .collect()
    };
    let circles: BTreeSet<BTreeSet<PathBuf>> = imports.keys().map(circle).collect();
    circles
        .into_iter()
        .filter(|circle| circle.len() > 1)
        .collect()
}

/// Whether the name of a file of `dir` is the name of an owner, or begins with it and `_`.
fn is_file_of(file: &Path, dir: &str, owner: &str) -> bool {
    let stem = file.file_stem().unwrap().to_str().unwrap();
    let rest = stem.strip_prefix(owner).filter(|_| file.starts_with(dir));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}

/// Returns the files that contain a word of a list, apart from the files of `dir` that its owner has and from `others`,
/// each with the word.
fn find_strays(words: &[(&str, &str)], dir: &str, others: &[&str]) -> Vec<String> {
    let files: Vec<PathBuf> = all_sources()
        .into_iter()
        .filter(|file| !is_test(file))
        .collect();
    let mut strays = Vec::new();
    for file in files
        .iter()
        .filter(|file| others.iter().all(|other| !file.starts_with(other)))
    {
        let code = code(&fs::read_to_string(file).unwrap());
        for (owner, words) in words
            .iter()
            .filter(|(owner, _)| !is_file_of(file, dir, owner))
        {
            let words = words.split_whitespace().filter(|word| code.contains(word));
            strays.extend(words.map(|word| format!("{}: {word} of {owner}", file.display())));
        }
    }
    strays
}

/// Members and types of the objects of an API.
const API_WORDS: [(&str, &str); 5] = [
    (
        "anthropic",
        "content_block_start content_block_stop input_json_delta signature_delta redacted_thinking server_tool_use",
    ),
    (
        "openai_chat",
        "prompt_tokens_details completion_tokens_details stream_options include_usage max_completion_tokens",
    ),
    (
        "responses",
        "response.completed response.output_item response.output_text input_tokens_details output_tokens_details \
         input_image function_call_output custom_tool_call",
    ),
    (
        "gemini",
        "functionDeclarations functionCall functionResponse thoughtSignature candidatesTokenCount \
         thoughtsTokenCount generationConfig systemInstruction inlineData",
    ),
    ("ollama", "prompt_eval_count eval_count num_ctx"),
];

/// `shape.rs` recognises records of all APIs, and files of agents contain objects of APIs.
#[test]
fn each_api_is_known_in_one_file() {
    let strays = find_strays(
        &API_WORDS,
        "crates/formats/src/api",
        &[
            "crates/formats/src/api/shape.rs",
            "crates/formats/src/agent",
        ],
    );
    assert_eq!(strays, [""; 0]);
}

#[test]
fn every_file_is_in_a_module_and_every_module_exists() {
    let modules = modules();
    let files = all_sources().into_iter();
    let no_module = ["src/lib.rs", "src/bin/turnpipe.rs", "src/client/mod.rs"].map(Path::new);
    let has_no_module = |file: &Path| file.ends_with("src/lib.rs") || no_module.contains(&file);
    let files = files.filter(|file| !is_test(file) && !has_no_module(file));
    let found: BTreeSet<Module> = files.map(|file| module_of(&file, &modules)).collect();
    let listed: BTreeSet<Module> = modules.iter().cloned().collect();
    assert_eq!(found, listed);
}

/// Circles are found between files other than `mod.rs`.
#[test]
fn mod_files_only_declare_and_reexport() {
    let files = all_sources().into_iter();
    for file in files.filter(|file| file.ends_with("mod.rs") && file.components().count() > 2) {
        let source = code(&fs::read_to_string(&file).unwrap());
        let mut words = source.split_whitespace();
        let item =
            words.find(|word| ["fn", "struct", "enum", "trait", "impl", "const"].contains(word));
        assert_eq!(item, None, "{}", file.display());
    }
}

#[test]
fn modules_import_only_modules_above_them() {
    let modules = modules();
    let position = |file: &Path| {
        let own = module_of(file, &modules);
        modules.iter().position(|module| *module == own)
    };
    let mut wrong = Vec::new();
    for (file, others) in imports() {
        for other in others
            .iter()
            .filter(|other| position(other) > position(&file))
        {
            wrong.push(format!("{} imports {}", file.display(), other.display()));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn files_of_a_module_import_each_other_in_one_direction() {
    let circles = find_cycles(&imports());
    let listed: Vec<String> = circles
        .iter()
        .map(|circle| {
            let files = circle.iter().map(|file| file.display().to_string());
            files.collect::<Vec<_>>().join(" ")
        })
        .collect();
    assert_eq!(listed, [""; 0]);
}

/// Members, types and paths of the files of an agent.
const AGENT_WORDS: [(&str, &str); 11] = [
    ("claude", "\".claude file-history cost-state"),
    (
        "codex",
        "\".codex session_meta turn_context response_item event_msg last_token_usage unified_diff thread_name_updated \
         turn.completed state_5",
    ),
    (
        "copilot",
        "\".copilot workspace.name assistant.message fileEdits detailedContent",
    ),
    ("cursor", "\".cursor"),
    ("droid", "\".factory"),
    ("gemini", "\".gemini lastUpdated resultDisplay"),
    ("goose", "usage_ledger frontendToolRequest userVisible"),
    ("kimi", "\".kimi append_loop_event inputOther wire.jsonl"),
    ("opencode", "opencode.db step_finish callID movePath"),
    ("pi", "\".pi/ session_info agent_end stopReason"),
    ("qwen", "\".qwen systemPayload"),
];

/// Members that Claude Code and its forks share, and that turnpipe writes in its own files.
const SHARED_WORDS: [&str; 4] = ["isSidechain", "parentUuid", "customTitle", "projectHash"];

/// `sign.rs` and the outermost members in `envelope.rs` recognise records of all agents.
#[test]
fn each_agent_is_known_in_its_files() {
    let recognised = [
        "crates/formats/src/agent/sign.rs",
        "crates/formats/src/api/envelope.rs",
    ];
    assert_eq!(
        find_strays(&AGENT_WORDS, "crates/formats/src/agent", &recognised),
        [""; 0]
    );
    let shared = SHARED_WORDS.map(|word| ("agents", word));
    let known = [
        "crates/formats/src/agent",
        "crates/formats/src/api/envelope.rs",
    ];
    assert_eq!(
        find_strays(&shared, "crates/formats/src/agent", &known),
        [""; 0]
    );
}

#[test]
fn the_files_that_the_page_names_exist() {
    let page = fs::read_to_string("docs/architecture.md").unwrap();
    let missing: Vec<&str> = page
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|name| name.contains('/') && name.contains('.') && !name.contains(' '))
        .filter(|name| !Path::new(name).exists())
        .filter(|name| !ROOTS.iter().any(|root| Path::new(root).join(name).exists()))
        .collect();
    assert_eq!(missing, [""; 0]);
}

/// Type names that several layers use as their own term.
const SHARED_NAMES: [&str; 1] = ["Request"];

#[test]
fn a_public_type_name_is_defined_in_one_module() {
    let modules = modules();
    let mut owners: BTreeMap<String, BTreeSet<Module>> = BTreeMap::new();
    for path in all_sources() {
        if is_test(&path) || path.ends_with("src/lib.rs") || path.starts_with("src/bin") {
            continue;
        }
        for line in code(&fs::read_to_string(&path).unwrap()).lines() {
            let words: Vec<&str> = line
                .split(|end: char| !(end.is_alphanumeric() || end == '_'))
                .collect();
            let (is_public, rest) = match words.as_slice() {
                ["pub", "crate", "", rest @ ..] | ["pub", rest @ ..] => (true, rest),
                rest => (false, rest),
            };
            if let ["struct" | "enum" | "trait" | "type", name, ..] = rest
                && is_public
                && !SHARED_NAMES.contains(name)
            {
                let module = module_of(&path, &modules);
                owners.entry((*name).to_owned()).or_default().insert(module);
            }
        }
    }
    owners.retain(|_, modules| modules.len() > 1);
    assert!(owners.is_empty(), "{owners:#?}");
}
