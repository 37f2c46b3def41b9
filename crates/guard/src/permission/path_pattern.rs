//! Path patterns, as in `Read(~/.ssh/**)`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Behavior;
use super::glob::Glob;
use super::named_file::NamedFile;
use super::path_context::{PathContext, ResolvedPath};
use super::wildcard::{GAP, GLOB, Wildcard, escaped};

/// The source of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleSource {
    /// The flag, or the file as it was named.
    pub name: String,
    /// The base directory of paths with a leading `/`.
    pub anchor: PathBuf,
}

/// The path pattern of a rule. A pattern for a directory also matches its contents.
#[derive(Debug, Clone)]
pub(super) struct PathPattern {
    anchor: Anchor,
    /// Relative to the anchor.
    glob: Arc<Glob>,
    /// The text of the glob.
    text: String,
    /// Whether it may match inside an unknown directory. Names of files cannot.
    may_be_directory: bool,
}

fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

/// Names without an extension that are files.
const FILES: &[&str] = &[".env", ".envrc", ".netrc", ".npmrc", ".pgpass", ".pypirc"];

/// The base directory of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Anchor {
    Root,
    Home,
    Source(PathBuf),
    /// The directory where the session started. Restrictions apply in all working directories.
    WorkingDirectory,
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
        let name = Path::new(below)
            .file_name()
            .and_then(OsStr::to_str)
            .unwrap_or(below);
        let is_file = FILES.contains(&name) || Path::new(name).extension().is_some();
        let may_be_directory = !is_file || pattern.ends_with('/') || pattern.ends_with("/**");
        let text = if is_anchored || below.contains('/') {
            below.to_owned()
        } else {
            format!("**/{below}")
        };
        Ok(Self {
            anchor,
            glob: Arc::new(Glob::parse(&text)?),
            text,
            may_be_directory,
        })
    }

    /// Whether it matches a path before or after following links.
    fn covers(&self, path: &Path, context: &PathContext<'_>) -> bool {
        let is_covered = |below: &Path| self.glob.covers(bytes(below));
        self.anchor.any_below(path, context, is_covered)
    }

    /// Whether it allows a file: it must match both before and after following links.
    pub(super) fn allows(&self, path: &ResolvedPath, context: &PathContext<'_>) -> bool {
        let real = path.real.as_ref();
        self.covers(&path.name, context)
            && real.is_some_and(|real| **real == *path.name || self.covers(real, context))
    }

    /// Returns the directories below which it names files.
    pub(super) fn roots<'a>(
        &'a self,
        home: Option<&'a Path>,
        working_directories: &'a [PathBuf],
        directory: &'a Path,
    ) -> Vec<&'a Path> {
        self.anchor.roots_in(home, working_directories, directory)
    }

    /// Whether it names files below the home directory.
    pub(super) fn is_below_home(&self) -> bool {
        matches!(self.anchor, Anchor::Home)
    }

    /// Returns the glob below these directories.
    pub(super) fn glob(&self) -> &Arc<Glob> {
        &self.glob
    }

    /// Whether it restricts a file: it must match before or after following links.
    pub(super) fn restricts(&self, path: &ResolvedPath, context: &PathContext<'_>) -> bool {
        path.any_name(|path| self.covers(path, context))
    }

    /// Whether it restricts a file named in a command line, or one of the files that a glob may name.
    pub(super) fn may_restrict(&self, file: &NamedFile, context: &PathContext<'_>) -> bool {
        let path = match file {
            NamedFile::Known(path) => return self.restricts(path, context),
            NamedFile::Glob(path) => path,
        };
        // Everything in a restricted directory is restricted.
        let known = path.split([GAP, GLOB]).next().unwrap_or_default();
        let directory = known
            .rsplit_once('/')
            .map_or("", |(directory, _)| directory);
        if self.covers(Path::new(directory), context) {
            return true;
        }
        let may_cover = |pattern: &str| Wildcard::parse(pattern).may_cover(path);
        let outlines = self.outlines();
        self.anchor.roots(context).into_iter().any(|root| {
            let root = escaped(&root.to_string_lossy());
            outlines.iter().any(|outline| {
                let itself = format!("{}/{outline}", root.trim_end_matches('/'));
                may_cover(&itself)
                    || (self.may_be_directory || !path.contains(GAP))
                        && may_cover(&format!("{itself}/*"))
            })
        })
    }

    /// Returns the glob with `*` for each construct: `**/` matching no directory, and matching some.
    fn outlines(&self) -> [String; 2] {
        ["", "*/"].map(|between| outline(&self.text.replace("**/", between)))
    }
}

impl Anchor {
    fn roots<'a>(&'a self, context: &PathContext<'a>) -> Vec<&'a Path> {
        let request = context.request;
        self.roots_in(request.home, request.working_directories, request.directory)
    }

    fn roots_in<'a>(
        &'a self,
        home: Option<&'a Path>,
        working_directories: &'a [PathBuf],
        directory: &'a Path,
    ) -> Vec<&'a Path> {
        let directories = working_directories.iter().map(PathBuf::as_path);
        match self {
            Self::Root => vec![Path::new("/")],
            Self::Home => home.into_iter().collect(),
            Self::Source(directory) => vec![directory],
            Self::WorkingDirectory => directories.take(1).collect(),
            Self::AllWorkingDirectories => {
                let mut roots: Vec<&Path> = directories.collect();
                if !roots.contains(&directory) {
                    roots.push(directory);
                }
                roots
            }
        }
    }

    /// Whether a path, before or after following links, is below the anchor and satisfies
    /// `is_wanted`.
    fn any_below(
        &self,
        path: &Path,
        context: &PathContext<'_>,
        mut is_wanted: impl FnMut(&Path) -> bool,
    ) -> bool {
        self.roots(context).into_iter().any(|root| {
            path.strip_prefix(root).is_ok_and(&mut is_wanted)
                || context.real(root).is_some_and(|real| {
                    &*real != root && path.strip_prefix(&*real).is_ok_and(&mut is_wanted)
                })
        })
    }
}

/// Returns a glob with `*` for each part that is not literal.
fn outline(glob: &str) -> String {
    let mut outline = String::new();
    let mut rest = glob.to_owned();
    while let Some(at) = rest.find(['?', '[']) {
        let end = if rest[at..].starts_with('[') {
            rest[at..].find(']').map_or(rest.len(), |end| at + end + 1)
        } else {
            at + 1
        };
        outline.push_str(&rest[..at]);
        outline.push('*');
        rest.drain(..end);
    }
    outline + &rest
}
