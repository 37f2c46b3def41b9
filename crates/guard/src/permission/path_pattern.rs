//! Path patterns, as in `Read(~/.ssh/**)`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use super::path_context::{PathContext, ResolvedPath, has_gap};
use super::pattern::{GAP, Pattern};
use super::{Behavior, Request};

/// The source of a rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleSource {
    /// The option, or the path of the file as given by the user.
    pub name: String,
    /// The base directory of paths with a leading `/`.
    pub anchor: PathBuf,
}

/// The path pattern of a rule. A pattern for a directory also matches its contents.
#[derive(Debug, Clone)]
pub(super) struct PathPattern {
    anchor: Anchor,
    /// The pattern of paths relative to the anchor.
    pub(super) below: Arc<Pattern>,
    /// Whether it may name a directory, so that it matches the files below.
    may_be_directory: bool,
    /// Text that all matching paths contain, which rules out most others cheaply.
    literal: String,
}

/// Names of files that [`Path::extension`] takes for names without an extension.
const PLAIN_FILES: &[&str] = &[".env", ".envrc", ".netrc", ".npmrc", ".pgpass", ".pypirc"];

/// The base directory of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Anchor {
    Root,
    Home,
    Source(PathBuf),
    /// The directory where the session started, for allow rules.
    WorkingDirectory,
    /// Each working directory, for deny and ask rules.
    AllWorkingDirectories,
}

impl PathPattern {
    /// Parses a pattern in `.gitignore` syntax with one of four anchors: `//` for the root, `~/`
    /// for the home directory, `/` for the directory of the rule's source, none for the working
    /// directory.
    ///
    /// # Errors
    /// The reason why the pattern is invalid.
    pub(super) fn parse(
        pattern: &str,
        behavior: Behavior,
        source: &RuleSource,
    ) -> Result<Self, String> {
        let allows = behavior == Behavior::Allow;
        let mut is_anchored = true;
        let (anchor, below) = if let Some(below) = pattern.strip_prefix("//") {
            (Anchor::Root, below)
        } else if let Some(below) = pattern.strip_prefix('/') {
            (Anchor::Source(source.anchor.clone()), below)
        } else if pattern == "~" || pattern.starts_with("~/") {
            (Anchor::Home, pattern.trim_start_matches(['~', '/']))
        } else if allows {
            let here = pattern.strip_prefix("./");
            is_anchored = here.is_some();
            (Anchor::WorkingDirectory, here.unwrap_or(pattern))
        } else {
            is_anchored = false;
            let below = pattern.strip_prefix("./").unwrap_or(pattern);
            (Anchor::AllWorkingDirectories, below)
        };
        let mut below = below.trim_matches('/');
        if below.split('/').any(|name| name == "..") {
            return Err("a path pattern cannot contain `..`".to_owned());
        }
        if pattern.starts_with('!') {
            return Err("a path pattern cannot start with `!`".to_owned());
        }
        if !allows {
            // A directory is as restricted as its contents, so `dir/**` also matches the directory.
            below = below.strip_suffix("/**").unwrap_or(below);
        }
        let last = Path::new(below).file_name();
        let name = last.and_then(OsStr::to_str).unwrap_or(below);
        let is_file = PLAIN_FILES.contains(&name) || Path::new(name).extension().is_some();
        let may_be_directory = !is_file || pattern.ends_with('/') || pattern.ends_with("/**");
        let text = if is_anchored || below.contains('/') {
            below.to_owned()
        } else {
            format!("**/{below}")
        };
        let mut literals = text.trim_start_matches("**/").split(['*', '?', '[', '\\']);
        Ok(Self {
            anchor,
            below: Arc::new(Pattern::from_path(&text)?),
            may_be_directory,
            literal: literals.next().unwrap_or_default().to_owned(),
        })
    }

    /// Whether it matches a path, or if that has a gap, a path for which it may stand.
    fn covers(&self, path: &Path, context: &PathContext<'_>) -> bool {
        let text = path.to_string_lossy();
        let has_gap = has_gap(path);
        if !has_gap && !text.contains(&self.literal) {
            return false;
        }
        let is_file_in_gap = !self.may_be_directory && text.contains(GAP);
        let is_covered = |root: &Path| {
            if !has_gap {
                let relative = path.strip_prefix(root);
                return relative.is_ok_and(|path| self.below.may_contain(&path.to_string_lossy()));
            }
            let pattern = self.below.below(&root.to_string_lossy());
            if is_file_in_gap {
                // The gap is not below the file.
                return pattern.may_cover(&text)
                    || pattern.may_contain(text.split(GAP).next().unwrap_or_default());
            }
            pattern.may_contain(&text)
        };
        let Request {
            home,
            working_directories,
            directory,
            ..
        } = context.request;
        let mut roots = self.roots(*home, working_directories);
        roots.extend((self.anchor == Anchor::AllWorkingDirectories).then_some(directory));
        roots.into_iter().any(|root| {
            let leads_to_covered = |real: Rc<Path>| *real != *root && is_covered(&real);
            is_covered(root) || context.real_path(root).is_some_and(leads_to_covered)
        })
    }

    /// Whether it allows a file: it must match both before and after following links.
    pub(super) fn allows(&self, path: &ResolvedPath, context: &PathContext<'_>) -> bool {
        let real = path.real.as_ref();
        !path.has_gap
            && self.covers(&path.name, context)
            && real.is_some_and(|real| **real == *path.name || self.covers(real, context))
    }

    /// Returns the directories that are its anchors; none if it is relative to an unknown home directory.
    pub(super) fn roots<'a>(
        &'a self,
        home: Option<&'a Path>,
        working_directories: &'a [PathBuf],
    ) -> Vec<&'a Path> {
        let directories = working_directories.iter().map(PathBuf::as_path);
        match &self.anchor {
            Anchor::Root => vec![Path::new("/")],
            Anchor::Home => home.into_iter().collect(),
            Anchor::Source(directory) => vec![directory],
            Anchor::WorkingDirectory => directories.take(1).collect(),
            Anchor::AllWorkingDirectories => directories.collect(),
        }
    }

    /// Whether it names files below the home directory.
    pub(super) fn is_below_home(&self) -> bool {
        matches!(self.anchor, Anchor::Home)
    }

    /// Whether it restricts a file: it matches before or after following links.
    pub(super) fn restricts(&self, path: &ResolvedPath, context: &PathContext<'_>) -> bool {
        path.has_name(|path| self.covers(path, context))
    }
}
