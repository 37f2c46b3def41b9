//! Turns tables of words into sorted arrays, so that a process that looks up a few words builds no maps of all.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::io;
use std::path::PathBuf;

use toml::Value;

#[path = "src/tool_facts/rows.rs"]
mod rows;
#[path = "src/shell/rows.rs"]
mod table_rows;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=src/shell/rows.rs");
    println!("cargo::rerun-if-changed=src/shell/tables");
    println!("cargo::rerun-if-changed=src/tool_facts");
    println!("cargo::rerun-if-changed=src/text/secrets.toml");
    for table in ["commands", "git", "wrappers", "launchers"] {
        commands(table)?;
    }
    tools()?;
    secrets()
}

fn write(name: &str, expression: &str) -> io::Result<()> {
    let directory: PathBuf = env::var_os("OUT_DIR").unwrap_or_default().into();
    fs::write(directory.join(name).with_extension("rs"), expression)
}

/// Writes a table of commands by their names.
fn commands(table: &str) -> io::Result<()> {
    let text = fs::read_to_string(format!("src/shell/tables/{table}.txt"))?;
    let rows = table_rows::Rows::parse(&text).map_err(io::Error::other)?;
    let names: Vec<_> = rows.names.into_iter().collect();
    let count = rows.lines.len();
    let rows = rows.lines.iter();
    let rows = rows.map(|lines| format!("Row::new(&{lines:?}),\n"));
    let rows = rows.collect::<String>();
    let table_text = format!(
        "{{ static ROWS: [Row; {count}] = [{rows}]; Table {{ names: &{names:?}, rows: &ROWS }} }}"
    );
    write(&format!("shell-{table}"), &table_text)
}

/// Writes the tools by their names in lower case, and the names of parameters by their meaning.
fn tools() -> io::Result<()> {
    let mut tools = BTreeMap::new();
    let mut parameters: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for row in rows::rows() {
        let (first, names) = row.split_first().unwrap_or((&"", &[]));
        if let Some(meaning) = first.strip_suffix(':') {
            let (letter, rest) = meaning.split_at(1);
            let meaning = letter.to_ascii_uppercase() + rest;
            parameters.entry(meaning).or_default().extend(names);
        } else if *first != "run" {
            let name = names.first().unwrap_or(&"");
            let tool = format!("AgentTool {{ name: {name:?}, purpose: Purpose::{first} }}");
            for other in names {
                let key = other.to_ascii_lowercase();
                tools.entry(key).or_insert_with(|| tool.clone());
            }
        }
    }
    let tools = tools
        .iter()
        .map(|(key, tool)| format!("({key:?}, {tool}),\n"));
    write("tools", &format!("&[{}]", tools.collect::<String>()))?;
    let parameters = parameters.iter();
    let parameters =
        parameters.map(|(meaning, names)| format!("(Parameter::{meaning}, &{names:?}),\n"));
    write(
        "parameters",
        &format!("&[{}]", parameters.collect::<String>()),
    )
}
/// Writes the names and shapes of secrets. Patterns become expressions that compile them.
fn secrets() -> io::Result<()> {
    let text = fs::read_to_string("src/text/secrets.toml")?;
    let table: toml::Table = toml::from_str(&text).map_err(io::Error::other)?;
    let list = |name: &str| table[name].as_array().into_iter().flatten();
    let compiled = |pattern: String| format!("LazyLock::new(|| compile({pattern:?}))");
    let (mut shapes, mut names, mut beginnings) = (String::new(), String::new(), Vec::new());
    for (number, shape) in list("shape").enumerate() {
        let at: Vec<&str> = string(&shape["at"]).split(' ').collect();
        let mut rest = string(&shape["rest"]).to_owned();
        for fragment in list("fragments") {
            rest = rest.replace(string(&fragment[0]), string(&fragment[1]));
        }
        let is_any_case = rest.contains("(?i)");
        let is_before = shape.get("is_before").is_some();
        let anchor = if is_before { "" } else { "^" };
        let rest = compiled(format!("{anchor}(?:{rest})"));
        shapes.extend([format!(
            "Shape {{ at: &{at:?}, rest: {rest}, is_any_case: {is_any_case}, is_before: {is_before} }},\n"
        )]);
        beginnings.extend(at.iter().map(|at| (at.to_ascii_lowercase(), Some(number))));
    }
    for row in list("names") {
        let (class, patterns) = (string(&row["class"]), row["patterns"].as_array());
        let patterns: Vec<&str> = patterns.into_iter().flatten().map(string).collect();
        let pattern = compiled(format!("(?s)^(?:{})$", patterns.join("|")));
        let (letter, rest) = class.split_at(1);
        let letter = letter.to_ascii_uppercase();
        names.extend([format!("(NameClass::{letter}{rest}, {pattern}),\n")]);
    }
    let parts = string(&table["parts"]).split(' ');
    beginnings.extend(parts.map(|part| (part.to_owned(), None)));
    let beginnings = group(&beginnings);
    let endings = compiled(format!("(?:_(?:{}))+$", string(&table["endings"])));
    let placeholders: Vec<&str> = list("placeholders").map(string).collect();
    let placeholder = compiled(format!("(?is)^(?:{})$", placeholders.join("|")));
    let (shape_count, name_count) = (list("shape").count(), list("names").count());
    write(
        "secrets",
        &format!(
            "{{ static SHAPES: [Shape; {shape_count}] = [{shapes}];\n\
             static NAMES: [(NameClass, LazyLock<Regex>); {name_count}] = [{names}];\n\
             Secrets {{ beginnings: {beginnings}, shapes: &SHAPES, names: &NAMES,\n\
             endings: {endings}, placeholder: {placeholder} }} }}"
        ),
    )
}

fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns the beginnings of secrets, each with the number of its shape, by the classes of their last two bytes.
fn group(beginnings: &[(String, Option<usize>)]) -> String {
    let mut groups: BTreeMap<(u8, u8), Vec<_>> = BTreeMap::new();
    for beginning in beginnings {
        if let [.., before, last] = beginning.0.as_bytes() {
            groups.entry((*before, *last)).or_default().push(beginning);
        }
    }
    let bytes: BTreeSet<u8> = groups
        .keys()
        .flat_map(|(before, last)| [*before, *last])
        .collect();
    let mut classes = [0; 256];
    for (byte, class) in bytes.iter().zip(1_u8..) {
        classes[usize::from(*byte)] = class;
        classes[usize::from(byte.to_ascii_uppercase())] = class;
    }
    let mut group_of = vec![[0; 64]; 64];
    let mut rows = "&[],\n".to_owned();
    for (((before, last), mut group), number) in groups.into_iter().zip(1_u8..) {
        let class = |byte: u8| usize::from(classes[usize::from(byte)]);
        group_of[class(before)][class(last)] = number;
        group.sort_by_key(|(text, _)| Reverse(text.len()));
        let group = group.into_iter();
        let group =
            group.map(|(text, shape)| format!("Beginning {{ text: {text:?}, shape: {shape:?} }},"));
        rows.extend([format!("&[{}],\n", group.collect::<String>())]);
    }
    format!("Beginnings {{ classes: {classes:?}, group_of: {group_of:?}, groups: &[{rows}] }}")
}
