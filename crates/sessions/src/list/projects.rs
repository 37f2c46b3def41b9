//! Projects: the directories of one repository, by what sessions recorded and by the files of git.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use crate::files::repository::{GitRepository, KnownDirectory, inspect_directories};
use turnpipe_formats::agent::Facts;

/// What agents record as the branch if there is none.
const DETACHED: &str = "HEAD";

/// Branches that many repositories have.
const USUAL_BRANCHES: [&str; 5] = ["main", "master", "dev", "develop", "trunk"];

/// The project of each directory in which a session started.
#[derive(Debug, Default)]
pub struct Projects {
    directories: BTreeMap<PathBuf, KnownDirectory>,
    /// The keys of directories that no longer exist, by what other sessions and work trees show.
    known: BTreeMap<PathBuf, String>,
    /// The remotes of git directories without one, by what sessions in them recorded.
    remotes: HashMap<PathBuf, String>,
    /// The main directories of each project, by how well they name it: one per clone.
    roots: BTreeMap<String, BTreeSet<(bool, usize, String)>>,
    home: Option<PathBuf>,
}

/// The facts that show the project of a session.
struct ProjectSigns {
    directory: PathBuf,
    remote: Option<String>,
    repository: Option<PathBuf>,
    branch: Option<String>,
}

impl ProjectSigns {
    fn from_facts(facts: &Facts) -> Option<Self> {
        let to_absolute =
            |path: &String| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
        Some(Self {
            directory: facts.first_cwd.as_ref().and_then(to_absolute)?,
            remote: facts.remote.as_deref().and_then(shorten_remote),
            repository: facts.repository.as_ref().and_then(to_absolute),
            branch: facts.branch.clone(),
        })
    }
}

impl Projects {
    /// Inspects the directories of the sessions with these facts. `home` is the home directory of the user.
    pub(crate) fn from_facts(facts: &[Facts], home: Option<&Path>) -> Self {
        let signs: Vec<ProjectSigns> = facts.iter().filter_map(ProjectSigns::from_facts).collect();
        let mut projects = Self {
            home: home.map(Path::to_owned),
            ..Self::default()
        };
        let directories = signs.iter().flat_map(|one| {
            let paths = [Some(&one.directory), one.repository.as_ref()];
            paths.into_iter().flatten().cloned()
        });
        projects.directories = inspect_directories(directories.collect::<BTreeSet<_>>(), home);
        for one in &signs {
            if let (Some(remote), Some(found)) =
                (&one.remote, projects.find_repository(&one.directory))
            {
                let git = found.git.clone();
                projects
                    .remotes
                    .entry(git)
                    .or_insert_with(|| remote.clone());
            }
        }
        let found = projects
            .directories
            .values()
            .filter_map(|known| known.repository.as_ref());
        for found in found.cloned().collect::<Vec<_>>() {
            let key = projects.to_repository_key(&found);
            let root = found.root.display().to_string();
            let roots = projects.roots.entry(key.clone()).or_default();
            roots.insert((found.root == found.git, root.len(), root));
            let trees = found
                .linked
                .into_iter()
                .map(|(_, tree)| (tree, key.clone()));
            projects.known.extend(trees);
        }
        for one in &signs {
            if let Some(key) = projects.find_recorded_key(one) {
                projects.add(one, &key);
            }
        }
        for one in &signs {
            // Nothing else is known of the recorded root.
            if let (Some(root), None) = (&one.repository, projects.find_key(one)) {
                projects.add(one, &root.display().to_string());
            }
        }
        projects
    }

    /// Adds the repository that a session recorded.
    fn add(&mut self, signs: &ProjectSigns, key: &str) {
        let directories = [Some(&signs.directory), signs.repository.as_ref()];
        for directory in directories.into_iter().flatten().cloned() {
            self.known
                .entry(directory)
                .or_insert_with(|| key.to_owned());
        }
    }

    /// Returns the name of a session's project: the main directory or the remote of the repository, or else the
    /// recorded directory.
    pub fn name(&self, facts: &Facts) -> Option<String> {
        let directory = facts.first_cwd.as_ref().or(facts.cwd_hash.as_ref());
        let key = ProjectSigns::from_facts(facts).and_then(|signs| self.find_key(&signs));
        let root = key.as_ref().and_then(|key| self.roots.get(key)?.first());
        let name = root.map(|(.., root)| root.clone());
        name.or(key).or(directory.cloned())
    }

    /// Returns the texts by which a session's project can be selected, besides the recorded directory.
    pub(crate) fn texts(&self, facts: &Facts) -> Vec<String> {
        let key = ProjectSigns::from_facts(facts).and_then(|signs| self.find_key(&signs));
        let known_roots = key.iter().filter_map(|key| self.roots.get(key));
        let roots = known_roots.flatten().map(|(.., root)| root.clone());
        // Many remotes have the same host, and all git directories a similar name.
        let remote = key
            .as_ref()
            .filter(|key| !self.roots.contains_key(*key) || !key.starts_with('/'));
        let name = remote.map(|key| key.split_once('/').map_or(&**key, |(_, name)| name));
        roots.chain(name.map(str::to_owned)).collect()
    }

    fn find_repository(&self, directory: &Path) -> Option<&GitRepository> {
        self.directories.get(directory)?.repository.as_ref()
    }

    fn to_repository_key(&self, repository: &GitRepository) -> String {
        let recorded = || self.remotes.get(&repository.git).cloned();
        let remote = repository.remote.as_deref().and_then(shorten_remote);
        let git = || repository.git.display().to_string();
        remote.or_else(recorded).unwrap_or_else(git)
    }

    /// Returns the key of a repository that the session recorded, or that its directory still has.
    fn find_recorded_key(&self, signs: &ProjectSigns) -> Option<String> {
        let find_on_disk = |directory: &PathBuf| {
            let found = self.find_repository(directory)?;
            let exists = self.directories[directory].exists && !found.is_missing;
            exists.then(|| self.to_repository_key(found))
        };
        let recorded = || signs.repository.as_ref().and_then(find_on_disk);
        let remote = signs.remote.clone();
        remote
            .or_else(recorded)
            .or_else(|| find_on_disk(&signs.directory))
    }

    fn find_key(&self, signs: &ProjectSigns) -> Option<String> {
        let directory = &signs.directory;
        let find_above = || {
            let is_home = |path: &Path| self.home.iter().any(|home| home.starts_with(path));
            let mut above = directory
                .ancestors()
                .filter(|path| path == directory || !is_home(path));
            above.find_map(|path| self.known.get(path).cloned())
        };
        let find_own = || Some(self.to_repository_key(self.find_repository(directory)?));
        let found = self
            .find_recorded_key(signs)
            .or_else(find_above)
            .or_else(find_own);
        found.or_else(|| self.find_likely(signs))
    }

    /// Returns the only repository from which a missing directory can be: that of a work tree which was moved from
    /// there, or one next to it that has the branch of the session.
    fn find_likely(&self, signs: &ProjectSigns) -> Option<String> {
        let directory = &signs.directory;
        if self
            .directories
            .get(directory)
            .is_none_or(|known| known.exists)
        {
            return None;
        }
        let branch = signs.branch.as_deref().filter(|branch| *branch != DETACHED);
        let is_likely = |repository: &&GitRepository| {
            let has_branch = branch.is_some_and(|branch| repository.has_branch(branch));
            let mut linked = repository.linked.iter();
            let is_moved =
                linked.any(|(name, _)| directory.iter().any(|part| part == name.as_str()));
            let trees = repository.linked.iter().map(|(_, tree)| tree);
            let parents = trees
                .chain([&repository.root])
                .filter_map(|tree| tree.parent());
            let is_beside = parents
                .into_iter()
                .any(|parent| directory.starts_with(parent));
            let is_own = branch.is_some_and(|branch| !USUAL_BRANCHES.contains(&branch));
            is_moved && (branch.is_none() || has_branch) || is_beside && is_own && has_branch
        };
        let known = self.directories.values();
        let known = known.filter_map(|known| known.repository.as_ref());
        let likely = known
            .filter(is_likely)
            .map(|one| self.to_repository_key(one));
        let mut keys = likely.collect::<BTreeSet<String>>().into_iter();
        keys.next().filter(|_| keys.next().is_none())
    }
}

/// Returns the host and the path of a remote in one spelling. `None` for directories.
fn shorten_remote(remote: &str) -> Option<String> {
    let remote = remote.trim().trim_end_matches('/');
    let remote = remote.strip_suffix(".git").unwrap_or(remote);
    let (host, path) = match remote.split_once("://") {
        Some(("file", _)) => return None,
        Some((_, rest)) => rest.split_once('/')?,
        // As `scp` writes it. A drive has one letter.
        None => remote.split_once(':').filter(|(host, _)| host.len() > 1)?,
    };
    let host = host.rsplit('@').next()?;
    let host = host.split_once(':').map_or(host, |(name, _)| name);
    let is_name = !host.is_empty() && !host.contains('/');
    is_name.then(|| format!("{host}/{}", path.trim_matches('/')).to_lowercase())
}
