//! `man`: the manual pages. `schema`: the JSON Schemas of the records.

use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::Context;
use clap::{Args, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::commands::{Globals, Run, Status, UsageError, output};
use crate::io::Io;
use crate::records::{record_names, schema};

/// Write manual pages
///
/// Writes `turnpipe.1` and one page per command, such as `turnpipe-check-text.1`.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe man man1")]
pub(crate) struct ManArguments {
    /// The output directory; it is created if needed
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

impl Run for ManArguments {
    fn run(self, globals: &Globals, _: &mut Io) -> anyhow::Result<Status> {
        write_all((globals.parser)(), &self.directory)?;
        Ok(Status::Done)
    }
}

/// Writes the pages of `parser`.
fn write_all(mut parser: Command, directory: &Path) -> anyhow::Result<()> {
    parser.build();
    fs::create_dir_all(directory)
        .and_then(|()| write_pages(parser, directory))
        .with_context(|| {
            let directory = directory.display();
            format!("cannot write manual pages to `{directory}`")
        })
}

/// Writes the pages of a command and its subcommands.
fn write_pages(command: Command, directory: &Path) -> io::Result<()> {
    // A page omits the text of options that `-h` does not list.
    let command = command.mut_args(|argument| argument.hide_short_help(false));
    for subcommand in command.get_subcommands() {
        write_pages(subcommand.clone(), directory)?;
    }
    let mut page = Vec::new();
    let after = command.get_after_long_help().map(ToString::to_string);
    let is_group = command.has_subcommands();
    let man = Man::new(command);
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if is_group {
        man.render_subcommands_section(&mut page)?;
    }
    format_sections(&after.unwrap_or_default()).to_writer(&mut page)?;
    fs::write(directory.join(man.get_filename()), page)
}

/// Returns the sections of the help after the options: headings that end in a colon, each followed
/// by text.
fn format_sections(help: &str) -> Roff {
    let mut roff = Roff::new();
    for line in help.lines() {
        match line.strip_suffix(':').filter(|line| !line.starts_with(' ')) {
            Some(heading) => {
                roff.control("SH", [heading.to_uppercase().as_str()]);
                roff.control("nf", []);
            }
            None => {
                roff.text([roman(line)]);
            }
        }
    }
    roff
}

/// Print the JSON Schema of a record
///
/// Without a name, prints all names, one per line. Within a version (`"v":1`), records only gain fields,
/// so schemas allow unknown fields.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe schema
  turnpipe schema title")]
pub(crate) struct SchemaArguments {
    /// The `type` of the record, e.g. `session_hit`, or its `subtype` if the type is `system`
    record: Option<String>,
}

impl Run for SchemaArguments {
    fn run(self, _: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let text = match self.record {
            None => record_names().join("\n") + "\n",
            Some(name) => {
                let schema = schema(&name).ok_or_else(|| new_unknown_error(&name))?;
                format!("{schema:#}\n")
            }
        };
        output::print(io, &text)?;
        Ok(Status::Done)
    }
}

fn new_unknown_error(name: &str) -> UsageError {
    UsageError::new(format!("schema: unknown record `{name}`"))
        .with_hint("`turnpipe schema` lists them")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::cli;
    use crate::commands::command::Definitions;

    #[test]
    fn every_subcommand_has_a_page() {
        let directory = tempfile::tempdir().unwrap();
        let below = directory.path().join("man1");
        write_all(cli::parser(Definitions::Eager), &below).unwrap();
        let page = |name| fs::read_to_string(below.join(name)).unwrap();
        assert!(page("turnpipe.1").contains("turnpipe\\-check"));
        assert!(page("turnpipe-check-text.1").contains("\\-\\-kind"));
        for (name, heading) in [
            ("turnpipe-check-text.1", "EXAMPLES"),
            ("turnpipe.1", "\"EXIT STATUS\""),
            ("turnpipe.1", "FILES"),
            ("turnpipe.1", "ENVIRONMENT"),
        ] {
            assert!(
                page(name).contains(&format!("\n.SH {heading}\n")),
                "{heading}"
            );
        }
    }

    /// Returns a command and its subcommands at all levels.
    fn all_commands(command: &Command) -> Vec<&Command> {
        let below = command.get_subcommands().flat_map(all_commands);
        std::iter::once(command).chain(below).collect()
    }

    #[test]
    fn every_argument_has_the_text_of_its_help() {
        let directory = tempfile::tempdir().unwrap();
        let mut parser = cli::parser(Definitions::Eager);
        write_all(parser.clone(), directory.path()).unwrap();
        parser.build();
        let mut count = 0;
        for command in all_commands(&parser) {
            let name = Man::new(command.clone()).get_filename();
            let page = fs::read_to_string(directory.path().join(&name)).unwrap();
            let options = page.split("\n.SH SUBCOMMANDS\n").next().unwrap();
            // A heading, then the text.
            let entries: Vec<_> = options.split(".TP\n").skip(1).collect();
            let arguments = command.get_arguments();
            let visible: Vec<_> = arguments.filter(|one| !one.is_hide_set()).collect();
            assert_eq!(entries.len(), visible.len(), "{name}");
            count += visible.len();
            for argument in visible {
                let help = argument.get_long_help().or(argument.get_help()).unwrap();
                let mut text = Roff::new();
                text.text([roman(help.to_string())]);
                let text = text.to_roff().replace('\'', "\\*(Aq");
                let option = argument.get_long().unwrap_or_default().replace('-', "\\-");
                let has_text = |entry: &&str| {
                    let parts = entry.split_once('\n');
                    parts.is_some_and(|(heading, body)| {
                        heading.contains(&option) && body.starts_with(&text)
                    })
                };
                assert!(entries.iter().any(has_text), "{name}: {text}");
            }
        }
        assert!(count > 100, "{count} arguments");
    }

    #[test]
    fn a_directory_that_cannot_be_made_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let directory = file.path().join("man1");
        let error = write_all(cli::parser(Definitions::Eager), &directory).unwrap_err();
        assert!(format!("{error:#}").starts_with("cannot write manual pages to `/"));
    }
}
