//! Path patterns, as in `Read(~/.ssh/**)`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use globset::GlobBuilder;
use regex::bytes::{RegexSet, RegexSetBuilder};

use super::Behavior;
use super::named_file::NamedFile;
use super::path_context::{PathContext, ResolvedPath};
use super::patterns::{GAP, GLOB, Wildcard, escaped};

/// The source of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleSource {
    /// The flag, or the file as it was named.
    pub name: String,
    /// The base directory of paths with a leading `/`.
    pub anchor: PathBuf,
}

/// The path pattern of a rule.
#[derive(Debug, Clone)]
pub(super) struct PathPattern {
    anchor: Anchor,
    /// Globs relative to the anchor: for the file itself, and for its contents if it is a
    /// directory.
    globs: Globs,
    /// Whether a file matches if the globs are too large to be compiled.
    without_globs: bool,
    /// The same with `*` for each glob construct: `**/` matching no directory, and matching some.
    outlines: [String; 2],
    /// Whether it may match inside an unknown directory. Names of files cannot.
    may_be_directory: bool,
}

/// Globs that are compiled when they are first used, since most rules are about other calls.
#[derive(Debug, Clone)]
struct Globs {
    /// A regular expression for each glob.
    parts: Vec<String>,
    /// One automaton for all, made while it is searched. A `GlobSet` builds an automaton for each of many globs, which
    /// takes longer than a call is decided.
    set: OnceLock<Option<RegexSet>>,
}

impl Globs {
    fn new(parts: Vec<String>) -> Self {
        let set = OnceLock::new();
        Self { parts, set }
    }

    /// Returns the set of all globs; `None` if it is too large.
    fn set(&self) -> Option<&RegexSet> {
        let compiled = || {
            let mut set = RegexSetBuilder::new(&self.parts);
            set.dot_matches_new_line(true).build().ok()
        };
        self.set.get_or_init(compiled).as_ref()
    }
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
        let below = if is_anchored || below.contains('/') {
            below.to_owned()
        } else {
            format!("**/{below}")
        };
        // In `.gitignore`, braces are literal.
        let literal_braces = below.replace('{', "\\{").replace('}', "\\}");
        let mut parts = Vec::new();
        for pattern in [&literal_braces, &format!("{literal_braces}/**")] {
            let glob = GlobBuilder::new(pattern)
                .literal_separator(true)
                .backslash_escape(true)
                .build()
                .map_err(|error| error.kind().to_string())?;
            parts.push(glob.regex().to_owned());
        }
        Ok(Self {
            anchor,
            globs: Globs::new(parts),
            without_globs: !allows,
            outlines: ["", "*/"].map(|between| outline(&below.replace("**/", between))),
            may_be_directory,
        })
    }

    fn roots<'a>(&'a self, context: &PathContext<'a>) -> Vec<&'a Path> {
        let request = context.request;
        let directories = request.working_directories.iter().map(PathBuf::as_path);
        match &self.anchor {
            Anchor::Root => vec![Path::new("/")],
            Anchor::Home => request.home.into_iter().collect(),
            Anchor::Source(directory) => vec![directory],
            Anchor::WorkingDirectory => directories.take(1).collect(),
            Anchor::AllWorkingDirectories => {
                let mut roots: Vec<&Path> = directories.collect();
                if !roots.contains(&request.directory) {
                    roots.push(request.directory);
                }
                roots
            }
        }
    }

    /// Whether a path, before or after following links, is below an anchor and satisfies
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

    /// Whether it matches a path before or after following links.
    fn covers(&self, path: &Path, context: &PathContext<'_>) -> bool {
        self.any_below(path, context, |below| {
            let globs = self.globs.set();
            globs.map_or(self.without_globs, |globs| globs.is_match(bytes(below)))
        })
    }

    /// Whether it allows a file: it must match both before and after following links.
    pub(super) fn allows(&self, path: &ResolvedPath, context: &PathContext<'_>) -> bool {
        let real = path.real.as_ref();
        self.covers(&path.name, context)
            && real.is_some_and(|real| **real == *path.name || self.covers(real, context))
    }

    /// Whether it restricts a file: it must match before or after following links.
    pub(super) fn restricts(&self, path: &ResolvedPath, context: &PathContext<'_>) -> bool {
        let real = path.real.as_ref();
        self.covers(&path.name, context)
            || real.is_some_and(|real| **real != *path.name && self.covers(real, context))
    }

    /// Whether it may restrict a file named in a command line.
    pub(super) fn may_restrict(&self, file: &NamedFile, context: &PathContext<'_>) -> bool {
        let path = match file {
            NamedFile::Known(path) => return self.restricts(path, context),
            NamedFile::Outlined(path) => path,
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
        self.roots(context).into_iter().any(|root| {
            let root = escaped(&root.to_string_lossy());
            self.outlines.iter().any(|outline| {
                let itself = format!("{}/{outline}", root.trim_end_matches('/'));
                may_cover(&itself)
                    || (self.is_directory_of(path) && may_cover(&format!("{itself}/*")))
            })
        })
    }

    /// Whether it may match below the directory of a path with gaps.
    fn is_directory_of(&self, path: &str) -> bool {
        self.may_be_directory || !path.contains(GAP)
    }
}

/// A set of patterns that is searched for possible matches in one pass.
#[derive(Debug, Default)]
pub(super) struct PathUnion {
    /// One set per anchor; `None` if any pattern may match any file.
    unions: Option<Vec<Union>>,
}

#[derive(Debug)]
struct Union {
    pattern: PathPattern,
    /// Keys of the patterns that the globs come from.
    keys: Vec<usize>,
}

impl PathUnion {
    /// Builds a set from patterns with keys.
    pub(super) fn of<'a>(patterns: impl Iterator<Item = (usize, &'a PathPattern)>) -> Self {
        let mut unions: Vec<Union> = Vec::new();
        for (key, pattern) in patterns {
            let parts = &pattern.globs.parts;
            let keys = std::iter::repeat_n(key, parts.len());
            let same = |union: &&mut Union| union.pattern.anchor == pattern.anchor;
            match unions.iter_mut().find(same) {
                Some(union) => {
                    union.pattern.globs.parts.extend(parts.iter().cloned());
                    union.keys.extend(keys);
                }
                None => unions.push(Union {
                    pattern: PathPattern {
                        globs: Globs::new(parts.clone()),
                        without_globs: true,
                        ..pattern.clone()
                    },
                    keys: keys.collect(),
                }),
            }
        }
        Self {
            unions: Some(unions),
        }
    }

    /// Whether it has no patterns.
    pub(super) fn is_empty(&self) -> bool {
        self.unions.as_ref().is_some_and(Vec::is_empty)
    }

    /// Whether one of the patterns may match a file.
    pub(super) fn may_cover(&self, path: &ResolvedPath, context: &PathContext<'_>) -> bool {
        self.unions.as_ref().is_none_or(|unions| {
            let mut patterns = unions.iter().map(|union| &union.pattern);
            patterns.any(|pattern| pattern.restricts(path, context))
        })
    }

    /// Whether the pattern with this key may match a file name.
    pub(super) fn covering(
        &self,
        path: &Path,
        context: &PathContext<'_>,
    ) -> impl Fn(usize) -> bool {
        let keys = self.unions.as_ref().map(|unions| {
            let mut keys = Vec::new();
            for union in unions {
                union.pattern.any_below(path, context, |below| {
                    match union.pattern.globs.set() {
                        Some(globs) => {
                            let globs = globs.matches(bytes(below)).into_iter();
                            keys.extend(globs.filter_map(|glob| union.keys.get(glob)));
                        }
                        None => keys.extend(&union.keys),
                    }
                    false
                });
            }
            keys
        });
        move |key| keys.as_ref().is_none_or(|keys| keys.contains(&&key))
    }

    /// Whether one of the patterns may match a file of a command line.
    pub(super) fn may_restrict(&self, file: &NamedFile, context: &PathContext<'_>) -> bool {
        match file {
            NamedFile::Known(path) => self.may_cover(path, context),
            NamedFile::Outlined(_) => self.unions.as_ref().is_none_or(|unions| !unions.is_empty()),
        }
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
