//! The paths in the key `sandbox` of settings files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::permission::{RuleSource, normalise};

/// The files that an entry of a list of paths names: `/x` and `//x` from the root, `~/x` from home, `./x` and `x` from
/// the project of the file, else from its directory. In permission rules, `/x` has another meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxPath {
    /// The directory that the pattern is relative to. Links are not resolved.
    pub directory: PathBuf,
    /// The pattern, with the wildcards of permission rules; empty for the directory itself.
    pub pattern: PathBuf,
    /// The file of the entry.
    pub source: Arc<RuleSource>,
}

impl SandboxPath {
    /// Parses an entry.
    ///
    /// # Errors
    /// The reason why the entry names no files.
    pub(super) fn parse(
        text: &str,
        source: &Arc<RuleSource>,
        home: Option<&Path>,
    ) -> Result<Self, String> {
        let (start, below) = if text.starts_with('/') {
            (Path::new("/"), text)
        } else if text == "~" || text.starts_with("~/") {
            let home = home.ok_or_else(|| format!("`{text}`: the home directory is not known"))?;
            (home, &text[1..])
        } else {
            (source.anchor.as_path(), text)
        };
        // A rule for a directory also applies to its contents.
        let trimmed = below.trim_end_matches('/');
        let entry = trimmed.strip_suffix("/**").unwrap_or(trimmed);
        let path = normalise(&start.join(entry.trim_start_matches('/')));
        let mut split = start
            .ancestors()
            .map(|above| (above, path.strip_prefix(above)));
        let found = split.find_map(|(above, below)| Some((above, below.ok()?)));
        let (directory, pattern) = found.unwrap_or((start, &path));
        Ok(Self {
            directory: directory.to_owned(),
            pattern: pattern.to_owned(),
            source: Arc::clone(source),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_absolute_or_relative_to_home_or_the_project() {
        let source = Arc::new(RuleSource {
            name: "settings.json".to_owned(),
            anchor: "/srv/[p]".into(),
        });
        let home = Some(Path::new("/home/u"));
        let rows = [
            ("/", "/", ""),
            ("/**", "/", ""),
            ("//", "/", ""),
            ("/tmp/build", "/", "tmp/build"),
            ("//tmp/build", "/", "tmp/build"),
            ("/tmp//build/", "/", "tmp/build"),
            ("/tmp/build/**", "/", "tmp/build"),
            ("/tmp/build/**/", "/", "tmp/build"),
            ("/tmp/../etc/./x", "/", "etc/x"),
            ("/../..", "/", ""),
            ("~", "/home/u", ""),
            ("~/", "/home/u", ""),
            ("~/**", "/home/u", ""),
            ("~/.ssh", "/home/u", ".ssh"),
            ("~/.ssh/id_*", "/home/u", ".ssh/id_*"),
            ("~/../other", "/home", "other"),
            ("~other/x", "/srv/[p]", "~other/x"),
            ("", "/srv/[p]", ""),
            (".", "/srv/[p]", ""),
            ("./", "/srv/[p]", ""),
            ("./**", "/srv/[p]", ""),
            ("./dist", "/srv/[p]", "dist"),
            ("dist/", "/srv/[p]", "dist"),
            (".env*", "/srv/[p]", ".env*"),
            ("**/*.pem", "/srv/[p]", "**/*.pem"),
            ("..", "/srv", ""),
            ("../shared/", "/srv", "shared"),
            ("a/../../shared", "/srv", "shared"),
        ];
        for (text, directory, pattern) in rows {
            let path = SandboxPath::parse(text, &source, home).unwrap();
            let expected = SandboxPath {
                directory: directory.into(),
                pattern: pattern.into(),
                source: Arc::clone(&source),
            };
            assert_eq!(path, expected, "{text}");
        }
        let homeless = SandboxPath::parse("~/x", &source, None).unwrap_err();
        assert_eq!(homeless, "`~/x`: the home directory is not known");
    }
}
