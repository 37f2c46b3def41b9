//! Removes sessions that are not in use.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::archive::ArchiveDir;
use super::bundle::Bundle;
use super::copy::Problem;
use super::select::Selected;
use crate::files::open::Identity;
use crate::list::in_use::{IN_USE, SessionUsers};
use turnpipe_core::message::SessionId;
use turnpipe_formats::records::{RemovalOutcome, SessionRemovedRecord};

/// The outcome for one session.
#[derive(Debug, Default)]
pub struct Removed {
    /// The number of files.
    pub files: u64,
    /// Their size in bytes.
    pub bytes: u64,
    /// The outcome.
    pub outcome: RemovalOutcome,
    /// The reason to keep the session.
    pub reason: Option<Problem>,
}

impl Removed {
    /// Returns the reason why the removal failed.
    pub fn failure(&self) -> Option<&Problem> {
        let is_failure = self.outcome == RemovalOutcome::Failed;
        self.reason.as_ref().filter(|_| is_failure)
    }

    fn with_reason(self, outcome: RemovalOutcome, reason: Problem) -> Self {
        Self {
            outcome,
            reason: Some(reason),
            ..self
        }
    }

    /// Returns the record of the session.
    pub fn to_record(&self, bundle: &Bundle, archive: Option<&ArchiveDir>) -> SessionRemovedRecord {
        let archive = archive.map(|dir| bundle.target(dir.path()).display().to_string());
        SessionRemovedRecord {
            session_id: bundle.facts.session_id.clone().map(SessionId),
            agent: bundle.agent.name().to_owned(),
            path: bundle.path.display().to_string(),
            archive,
            outcome: self.outcome,
            reason: self.reason.as_ref().map(ToString::to_string),
            files: self.files,
            bytes: self.bytes,
        }
    }
}

/// Removes selected sessions, in their order.
#[derive(Debug)]
pub struct Removal<'a> {
    selected: &'a Selected,
    /// The sessions that are removed, or still to be removed.
    pending_paths: HashSet<&'a Path>,
    users: SessionUsers,
    now: SystemTime,
    archive: Option<&'a ArchiveDir>,
    is_real: bool,
}

impl<'a> Removal<'a> {
    /// Prepares to remove sessions if `is_real`. With an `archive`, archives each first, with the sessions that it
    /// continues, and removes it only if all of that can be read back.
    pub fn new(
        selected: &'a Selected,
        now: SystemTime,
        archive: Option<&'a ArchiveDir>,
        is_real: bool,
    ) -> Self {
        let paths = selected.bundles.iter().map(|bundle| bundle.path.as_path());
        Self {
            selected,
            pending_paths: paths.collect(),
            users: SessionUsers::read(),
            now,
            archive,
            is_real,
        }
    }

    /// Removes the next session, with everything that belongs to it.
    pub fn remove(&mut self, bundle: &Bundle) -> Removed {
        let removed = self.try_remove(bundle);
        if removed.reason.is_some() {
            self.pending_paths.remove(bundle.path.as_path());
        }
        removed
    }

    fn try_remove(&self, bundle: &Bundle) -> Removed {
        let mut removed = Removed::default();
        if !self.is_real {
            removed.outcome = RemovalOutcome::WouldRemove;
        }
        if bundle.is_stored() {
            let reason = Problem::new(
                &bundle.path,
                "is a part of a database; its agent removes it",
            );
            return removed.with_reason(RemovalOutcome::Skipped, reason);
        }
        let (mut problem, mut in_use) = (
            bundle.problems.first().cloned(),
            self.find_continuation(bundle),
        );
        let mut files = Vec::new();
        for path in &bundle.files {
            match fs::symlink_metadata(path) {
                Ok(file) => {
                    removed.files += 1;
                    removed.bytes += file.len();
                    in_use = in_use.or_else(|| find_use(path, &file, &self.users, self.now));
                    files.push((path, file));
                }
                Err(error) => problem = Some(Problem::new(path, error)),
            }
        }
        if let Some(reason) = in_use {
            return removed.with_reason(RemovalOutcome::InUse, reason);
        }
        if problem.is_none() && self.is_real {
            problem = self.remove_files(bundle, &files).err();
        }
        match problem {
            Some(reason) => removed.with_reason(RemovalOutcome::Failed, reason),
            None => removed,
        }
    }

    /// Returns the reason to keep a session or an earlier file of its thread: another session continues it.
    fn find_continuation(&self, bundle: &Bundle) -> Option<Problem> {
        let earlier = self.selected.bundles.iter().filter(|part| {
            part.facts.session_id == bundle.facts.session_id
                && bundle.ancestors.contains(&part.path)
        });
        std::iter::once(bundle).chain(earlier).find_map(|part| {
            let mut paths = part.continued_by.iter();
            let path = paths.find(|path| !self.pending_paths.contains(path.as_path()))?;
            let reason = format!("is continued by {}", path.display());
            Some(Problem::new(&part.path, reason))
        })
    }

    fn remove_files(&self, bundle: &Bundle, files: &[(&PathBuf, Metadata)]) -> Result<(), Problem> {
        if let Some(archive) = self.archive {
            let all = self.selected.with_bases();
            let bases = all.filter(|base| bundle.ancestors.contains(&base.path));
            for part in bases.chain([bundle]) {
                let mut archived = archive.archive(part);
                if let Some(problem) = archived.problems.pop() {
                    return Err(problem);
                }
                archive.check_archived(part)?;
            }
        }
        // The session comes last, so that a killed run can be repeated.
        for (path, before) in files {
            let to_problem = |error| Problem::for_output(path, error);
            let current = fs::symlink_metadata(path).map_err(to_problem)?;
            let state = |file: &Metadata| {
                (
                    Identity::from_metadata(file),
                    file.len(),
                    file.modified().ok(),
                )
            };
            if state(&current) != state(before) {
                return Err(Problem::new(path, "changed meanwhile"));
            }
            fs::remove_file(path).map_err(to_problem)?;
        }
        for dir in bundle.dirs.iter().rev() {
            fs::remove_dir(dir).map_err(|error| Problem::for_output(dir, error))?;
        }
        Ok(())
    }
}

/// Returns the reason why a file counts as in use.
fn find_use(
    path: &Path,
    file: &Metadata,
    users: &SessionUsers,
    now: SystemTime,
) -> Option<Problem> {
    let age = file
        .modified()
        .ok()
        .and_then(|modified| now.duration_since(modified).ok());
    if age.is_none_or(|age| age < IN_USE) {
        return Some(Problem::new(path, "changed within the last ten minutes"));
    }
    let is_open = users.is_open(file);
    is_open.then(|| Problem::new(path, "is open in a process"))
}
