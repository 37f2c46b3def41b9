//! The files and hosts that rules name, for enforcement by the kernel and a proxy.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::path_pattern::PathPattern;
use super::pattern::Pattern;
use super::rule::{FileUse, Specifier};
use super::{Behavior, Rule, Rules};

/// The files below a directory to which a deny rule applies.
#[derive(Debug, Clone)]
pub struct DeniedFiles {
    /// The rule as written.
    pub rule: String,
    /// The use that is denied.
    pub denied: FileUse,
    /// The directory. Its links are not followed.
    pub directory: PathBuf,
    below: Arc<Pattern>,
}

/// A rule for files.
struct FileRule<'a> {
    rule: &'a Rule,
    file_use: FileUse,
    pattern: &'a PathPattern,
}

impl DeniedFiles {
    /// Creates a denial of the files below a directory that a pattern in the syntax of `.gitignore` matches. `rule` is
    /// the text for messages.
    ///
    /// # Errors
    /// The reason why the pattern is invalid.
    pub fn new(
        rule: String,
        denied: FileUse,
        directory: PathBuf,
        pattern: &str,
    ) -> Result<Self, String> {
        let below = Arc::new(Pattern::from_path(pattern)?);
        Ok(Self {
            rule,
            denied,
            directory,
            below,
        })
    }

    /// Returns the path before the first name with a wildcard, and whether the pattern has none.
    pub fn literal_start(&self) -> (PathBuf, bool) {
        let (start, is_whole) = self.below.literal_start();
        (self.directory.join(start), is_whole)
    }

    /// Whether the pattern matches a path, which is relative to the directory. It does not match what a matching
    /// directory contains.
    pub fn covers(&self, below: &Path) -> bool {
        self.below.covers(&below.to_string_lossy())
    }
}

impl Rules {
    /// Returns the files to which the deny rules `Read(...)` and `Edit(...)` apply. The session works in
    /// `working_directories` and starts in the first.
    pub fn denied_files(
        &self,
        home: Option<&Path>,
        working_directories: &[PathBuf],
    ) -> Vec<DeniedFiles> {
        let denials = self.file_rules(Behavior::Deny).flat_map(|denying| {
            let roots = denying.pattern.roots(home, working_directories);
            roots.into_iter().map(move |root| DeniedFiles {
                rule: denying.rule.text.clone(),
                denied: denying.file_use,
                directory: root.to_owned(),
                below: Arc::clone(&denying.pattern.below),
            })
        });
        denials.collect()
    }

    /// Returns the texts of the deny rules for files below the home directory.
    pub fn rules_below_home(&self) -> impl Iterator<Item = &str> {
        let rules = self.file_rules(Behavior::Deny);
        let below_home = rules.filter(|rule| rule.pattern.is_below_home());
        below_home.map(|rule| &*rule.rule.text)
    }

    /// Returns the directories of the allow rules `Edit(DIRECTORY/**)`.
    pub fn editable_directories(
        &self,
        home: Option<&Path>,
        working_directories: &[PathBuf],
    ) -> Vec<PathBuf> {
        let rules = self.file_rules(Behavior::Allow);
        let edits = rules.filter(|rule| rule.file_use == FileUse::Changing);
        let directories = edits.filter_map(|FileRule { pattern, .. }| {
            let below = pattern.below.directory()?;
            let roots = pattern.roots(home, working_directories);
            Some(roots.into_iter().map(move |root| root.join(&below)))
        });
        directories.flatten().collect()
    }

    /// Returns the domain patterns of the rules `WebFetch(domain:…)` with a behavior, in lower case.
    pub fn domains(&self, behavior: Behavior) -> impl Iterator<Item = String> {
        let rules = self.with_behavior(behavior);
        rules.filter_map(|rule| match &rule.specifier {
            Specifier::Domain(pattern) => Some(pattern.text.clone()),
            _ => None,
        })
    }

    /// Returns the rules `Read(…)` and `Edit(…)` with a behavior.
    fn file_rules(&self, behavior: Behavior) -> impl Iterator<Item = FileRule<'_>> {
        self.with_behavior(behavior)
            .filter_map(|rule| match rule.specifier {
                Specifier::Files(file_use, ref pattern) => Some(FileRule {
                    rule,
                    file_use,
                    pattern,
                }),
                _ => None,
            })
    }
}
