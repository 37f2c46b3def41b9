//! What a call touches; the scheduler's only input.

use std::path::{Path, PathBuf};

/// A set of places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Touch {
    /// No place at all.
    Nothing,
    /// No file, but what the calls after this one depend on: the shell's working directory.
    Session,
    /// These files, or everything below these directories; absolute, lexically normalised.
    Paths(Vec<PathBuf>),
    /// Anything.
    World,
}

/// What a call reads and what it writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// What it looks at.
    pub reads: Touch,
    /// What it changes.
    pub writes: Touch,
}

impl Access {
    /// Touches nothing.
    pub fn nothing() -> Self {
        Self {
            reads: Touch::Nothing,
            writes: Touch::Nothing,
        }
    }

    /// Reads one place, writes none.
    pub fn reads(path: impl Into<PathBuf>) -> Self {
        Self {
            reads: Touch::Paths(vec![path.into()]),
            writes: Touch::Nothing,
        }
    }

    /// Reads anything, writes nothing.
    pub fn reads_world() -> Self {
        Self {
            reads: Touch::World,
            writes: Touch::Nothing,
        }
    }

    /// Reads and writes one place.
    pub fn writes(path: impl Into<PathBuf>) -> Self {
        let paths = Touch::Paths(vec![path.into()]);
        Self {
            reads: paths.clone(),
            writes: paths,
        }
    }

    /// May do anything. A call whose analysis fails counts as this.
    pub fn world() -> Self {
        Self {
            reads: Touch::World,
            writes: Touch::World,
        }
    }

    /// Reads anything, and decides where the next call begins.
    pub fn moves() -> Self {
        Self {
            reads: Touch::World,
            writes: Touch::Session,
        }
    }

    /// Whether it changes no file: what permission is about.
    pub fn is_read_only(&self) -> bool {
        self.writes == Touch::Session || self.writes.is_nothing()
    }

    /// Whether it changes nothing that another call could notice: what the schedule is about.
    pub fn is_unnoticed(&self) -> bool {
        self.writes.is_nothing()
    }

    /// Whether two calls must not run at the same time: one writes something the other touches.
    pub fn conflicts_with(&self, other: &Self) -> bool {
        self.writes.overlaps(&other.writes)
            || self.writes.overlaps(&other.reads)
            || self.reads.overlaps(&other.writes)
    }
}

impl Touch {
    /// Whether it is no place.
    fn is_nothing(&self) -> bool {
        match self {
            Self::Nothing => true,
            Self::Paths(paths) => paths.is_empty(),
            Self::Session | Self::World => false,
        }
    }

    /// Whether two sets have a place in common. A directory contains what is below it.
    pub fn overlaps(&self, other: &Self) -> bool {
        match (self, other) {
            (some, other) if some.is_nothing() || other.is_nothing() => false,
            (Self::Paths(some), Self::Paths(others)) => some
                .iter()
                .any(|path| others.iter().any(|other| related(path, other))),
            // Every path may be relative to where the session is.
            _ => true,
        }
    }
}

fn related(some: &Path, other: &Path) -> bool {
    some.starts_with(other) || other.starts_with(some)
}
