//! Turns tables of words into sorted arrays, so that a process that looks up a few words builds no maps of all.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io;
use std::path::PathBuf;

#[path = "src/tool_facts/rows.rs"]
mod rows;
#[path = "src/shell/rows.rs"]
mod table_rows;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=src/shell/rows.rs");
    println!("cargo::rerun-if-changed=src/shell/tables");
    println!("cargo::rerun-if-changed=src/tool_facts");
    println!("cargo::rerun-if-changed=src/permission/tables/programs.txt");
    for table in ["commands", "git", "network", "wrappers", "launchers"] {
        commands(table)?;
    }
    tools()?;
    programs()
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

#[derive(Default)]
struct Programs<'a> {
    names: Vec<&'a str>,
    prefixes: Vec<&'a str>,
    marks: BTreeMap<&'a str, Vec<&'a str>>,
}

/// Writes the programs of each property.
fn programs() -> io::Result<()> {
    let text = fs::read_to_string("src/permission/tables/programs.txt")?;
    let mut properties: BTreeMap<&str, Programs<'_>> = BTreeMap::new();
    for (row, words) in text.lines().filter_map(|line| line.split_once(": ")) {
        if row.starts_with('#') {
            continue;
        }
        let words = words.split_whitespace();
        if let Some((property, program)) = row.split_once(' ') {
            let programs = properties.entry(property).or_default();
            programs.marks.entry(program).or_default().extend(words);
            continue;
        }
        let programs = properties.entry(row).or_default();
        for word in words {
            match word.strip_suffix('*') {
                Some(prefix) => programs.prefixes.push(prefix),
                None => programs.names.push(word),
            }
        }
    }
    for (
        property,
        Programs {
            mut names,
            prefixes,
            marks,
        },
    ) in properties
    {
        names.sort_unstable();
        names.dedup();
        let marks = marks
            .iter()
            .map(|(program, marks)| format!("({program:?}, &{marks:?}),\n"));
        let marks: String = marks.collect();
        write(
            property,
            &format!(
                "Programs {{ names: &{names:?}, prefixes: &{prefixes:?}, marks: &[{marks}] }}"
            ),
        )?;
    }
    Ok(())
}
