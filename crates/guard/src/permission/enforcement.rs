//! The files and hosts that rules name, for enforcement on any program.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::path_pattern::PathPattern;
use super::pattern::Pattern;
use super::rule::{FileUse, Specifier};
use super::{Behavior, Rule, Rules};

/// The files below a directory that a deny rule names.
#[derive(Debug, Clone)]
pub struct DeniedFiles {
    /// The rule as written.
    pub rule: String,
    /// The denied use.
    pub denied: FileUse,
    /// The directory. Its links are not followed.
    pub directory: PathBuf,
    below: Arc<Pattern>,
}

impl DeniedFiles {
    /// Returns the files below a directory that a pattern names: all of them if it names a directory. `rule` is for
    /// messages.
    ///
    /// # Errors
    /// The reason why the pattern is invalid.
    pub fn new(
        rule: String,
        denied: FileUse,
        directory: PathBuf,
        pattern: &str,
    ) -> Result<Self, String> {
        let below = Arc::new(Pattern::of_path(pattern)?);
        Ok(Self {
            rule,
            denied,
            directory,
            below,
        })
    }

    /// Returns the path up to the first wildcard, and whether it has none: then the path is all that the rule names.
    pub fn literal_start(&self) -> (PathBuf, bool) {
        let (start, is_whole) = self.below.literal_start();
        (self.directory.join(start), is_whole)
    }

    /// Whether the rule names a file or directory, by its path below the directory. Of what is in a directory that it
    /// names, only the directory itself.
    pub fn is_named(&self, below: &Path) -> bool {
        self.below.covers(&below.to_string_lossy())
    }
}

impl Rules {
    /// Returns the files that deny rules with a path name: `Read(...)` and `Edit(...)`. The session works in
    /// `working_directories` and starts in the first.
    pub fn denied_files(
        &self,
        home: Option<&Path>,
        working_directories: &[PathBuf],
    ) -> Vec<DeniedFiles> {
        let rules = self.of_files(Behavior::Deny);
        let denied = rules.flat_map(|(rule, denied, pattern)| {
            let roots = pattern.roots(home, working_directories);
            roots.into_iter().map(move |root| DeniedFiles {
                rule: rule.text.clone(),
                denied,
                directory: root.to_owned(),
                below: Arc::clone(&pattern.below),
            })
        });
        denied.collect()
    }

    /// Returns the deny rules of files below the home directory, as written.
    pub fn rules_below_home(&self) -> impl Iterator<Item = &str> {
        let rules = self.of_files(Behavior::Deny);
        let rules = rules.filter(|(_, _, pattern)| pattern.is_below_home());
        rules.map(|(rule, _, _)| &*rule.text)
    }

    /// Returns the directories whose files `Edit(DIRECTORY/**)` allow rules name.
    pub fn editable_directories(
        &self,
        home: Option<&Path>,
        working_directories: &[PathBuf],
    ) -> Vec<PathBuf> {
        let rules = self.of_files(Behavior::Allow);
        let edits = rules.filter(|(_, denied, _)| *denied == FileUse::Changing);
        let allowed = edits.filter_map(|(_, _, pattern)| {
            let below = pattern.below.directory()?;
            let roots = pattern.roots(home, working_directories);
            Some(roots.into_iter().map(move |root| root.join(&below)))
        });
        allowed.flatten().collect()
    }

    /// Returns the patterns of `WebFetch(domain:…)` rules with a behavior.
    pub fn domains(&self, behavior: Behavior) -> impl Iterator<Item = String> {
        self.of(behavior).filter_map(|rule| match &rule.specifier {
            Specifier::Domain(pattern) => Some(pattern.text.clone()),
            _ => None,
        })
    }

    /// Returns the rules with a path, and the use of files that each is about.
    fn of_files(&self, behavior: Behavior) -> impl Iterator<Item = (&Rule, FileUse, &PathPattern)> {
        self.of(behavior).filter_map(|rule| match &rule.specifier {
            Specifier::Files(denied, pattern) => Some((rule, *denied, pattern)),
            _ => None,
        })
    }
}
