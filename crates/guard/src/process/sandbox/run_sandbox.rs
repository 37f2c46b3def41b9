//! The sandbox of a run: namespaces with masks, which are created again when the files to mask have changed.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr};
use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use rustix::process::Pid;

use super::child::spawn_restricted;
use super::helper::{MaskedNamespace, PROCESSES_GAP, PROGRAM, RUN_ARGUMENT};
use super::init::Processes;
use super::mask::{FileId, Mask, MaskKind};
use super::namespace::SandboxPolicy;
use super::privilege::Privilege;
use super::restrictions::Restrictions;
use super::sandbox_error::SandboxError;
use super::workspace::{Workspace, keep_outermost};
use crate::process::Variables;
use crate::process::confinement::WorkspaceEnforced;
use crate::process::network::Network;
use crate::process::start::{Start, c_string};
use turnpipe_core::io::Lock;

/// The files to mask for a child that is about to start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MaskList {
    /// The masks, in the order in which they are mounted.
    pub masks: Vec<Mask>,
    /// A number that changes if the same paths need new masks: other files have these names, or other file systems are
    /// mounted.
    pub version: u64,
    /// Files in a workspace that determine what programs outside run.
    pub protected: BTreeMap<PathBuf, Option<FileId>>,
}

/// Maximum number of attempts to create namespaces.
const MAX_ATTEMPTS: usize = 4;

/// Finds the files to mask.
pub trait MaskSource: Debug + Send + Sync {
    /// Returns the masks for the files that exist now.
    fn list(&self) -> MaskList;
}

/// The sandbox of a run. A mask covers the file that had the name when it was mounted, so the files are searched before
/// each child, and new namespaces are created if they have changed.
#[derive(Debug)]
pub struct Sandbox {
    source: Box<dyn MaskSource>,
    variables: Variables,
    workspace: Option<Workspace>,
    /// The binary whose helper creates the namespaces.
    program: PathBuf,
    /// The first [`MaskList::protected`].
    first_protected: OnceLock<BTreeMap<PathBuf, Option<FileId>>>,
    current: Mutex<Option<CurrentNamespace>>,
}

/// The namespaces for the next child.
#[derive(Debug)]
struct CurrentNamespace {
    list: MaskList,
    namespace: Arc<MaskedNamespace>,
    /// The previous namespaces, whose proxy a child may still use.
    _earlier: Option<Arc<MaskedNamespace>>,
}

impl Sandbox {
    /// Creates a sandbox. The first child creates the namespaces. Children get the `variables` that they do not have.
    pub fn new(source: impl MaskSource + 'static, variables: Variables) -> Self {
        Self {
            source: Box::new(source),
            variables,
            workspace: None,
            program: PathBuf::from(PROGRAM),
            first_protected: OnceLock::new(),
            current: Mutex::default(),
        }
    }

    /// Sets the binary of turnpipe, for a program that is not turnpipe.
    #[must_use]
    pub fn with_program(self, program: PathBuf) -> Self {
        Self { program, ..self }
    }

    /// Sets the workspace of children outside the lane, who get all `variables`. The caller keeps the directory for
    /// temporary files.
    #[must_use]
    pub fn with_workspace(self, workspace: Workspace) -> Self {
        Self {
            workspace: Some(workspace),
            ..self
        }
    }

    /// Returns the path outside a workspace of a temporary file in it.
    pub fn private_path(&self, path: &Path) -> Option<PathBuf> {
        self.workspace.as_ref()?.private_path(path)
    }

    /// Whether a call that no rule matches needs no approval: it can change files only in the workspace and reach only
    /// chosen domains, and no earlier call has created files that determine what programs outside run.
    pub fn needs_no_approval(&self) -> bool {
        self.workspace_enforced()
            .is_some_and(|enforced| enforced.network != Network::On && enforced.isolates_processes)
            && self.new_protected().is_empty()
    }

    /// Returns the files that determine what programs run and that are new since the first child, also those at the path
    /// of another file.
    pub fn new_protected(&self) -> Vec<PathBuf> {
        let list = self.source.list();
        let first = self.first_protected.get_or_init(|| list.protected.clone());
        let protected = list.protected.into_iter();
        let new = protected.filter(|(path, file)| first.get(path) != Some(file));
        keep_outermost(new.map(|(path, _)| path).collect())
    }

    pub(super) fn has_workspace(&self) -> bool {
        self.workspace.is_some()
    }

    /// Returns how the workspace of the last child is enforced.
    pub(super) fn workspace_enforced(&self) -> Option<WorkspaceEnforced> {
        let workspace = self.workspace.as_ref()?;
        let current = self.current.lock_anyway();
        Some(WorkspaceEnforced {
            network: workspace.network,
            isolates_processes: current.as_ref()?.namespace.sees_processes.is_none(),
        })
    }

    /// Checks that children can be started in the sandbox. Returns a gap in the enforcement, on one line. Must not be
    /// called on the first thread of a process that adopts orphans.
    ///
    /// # Errors
    /// The kernel refuses a namespace, or a mask.
    pub fn check(&self) -> Result<Option<String>, SandboxError> {
        let namespace = self.current_namespace()?;
        let gap = namespace.sees_processes.as_ref();
        Ok(gap.map(|reason| format!("{PROCESSES_GAP}: {reason}")))
    }

    /// Returns the files and directories that cannot be changed or read.
    pub fn protected_files(&self) -> Vec<PathBuf> {
        let masks = self.source.list().masks.into_iter();
        let protecting = masks.filter(|mask| mask.kind != MaskKind::Pinned);
        protecting.map(|mask| mask.path).collect()
    }

    /// Returns namespaces for the files that exist now. Tries several times, since files may be moved while masks are
    /// mounted.
    fn current_namespace(&self) -> Result<Arc<MaskedNamespace>, SandboxError> {
        let mut attempts = (1..MAX_ATTEMPTS).map(|_| self.update_namespace());
        attempts
            .find_map(Result::ok)
            .map_or_else(|| self.update_namespace(), Ok)
    }

    /// Returns the current namespaces, which are created again if the files to mask have changed.
    fn update_namespace(&self) -> Result<Arc<MaskedNamespace>, SandboxError> {
        let list = self.source.list();
        self.first_protected.get_or_init(|| list.protected.clone());
        let mut current = self.current.lock_anyway();
        if let Some(current) = &*current
            && current.list == list
        {
            return Ok(Arc::clone(&current.namespace));
        }
        let policy = SandboxPolicy {
            masks: list.masks.clone(),
            workspace: self.workspace.clone(),
        };
        let namespace = Arc::new(MaskedNamespace::new(&self.program, &policy)?);
        let earlier = current.take().map(|current| current.namespace);
        *current = Some(CurrentNamespace {
            list,
            namespace: Arc::clone(&namespace),
            _earlier: earlier,
        });
        Ok(namespace)
    }

    /// Starts a child.
    ///
    /// # Errors
    /// The sandbox cannot be entered, or the program cannot be executed.
    pub(in crate::process) fn start(
        &self,
        restrictions: &Restrictions,
        mut start: Start,
    ) -> io::Result<Pid> {
        self.set_variables(&mut start)?;
        let namespace = self.current_namespace().map_err(io::Error::other)?;
        spawn_restricted(Some(&namespace), Some(restrictions), &start)
    }

    /// Starts a child in a pid namespace of its own. The child is a helper that runs the program.
    ///
    /// # Errors
    /// The sandbox cannot be entered.
    pub(in crate::process) fn start_in_workspace(&self, mut start: Start) -> io::Result<Pid> {
        self.set_variables(&mut start)?;
        let namespace = self.current_namespace().map_err(io::Error::other)?;
        let helper = c_string(self.program.as_os_str())?;
        let program = std::mem::replace(&mut start.program, helper);
        let privilege = Privilege::from_process().name();
        let processes = match namespace.sees_processes {
            Some(_) => Processes::All,
            None => Processes::Own,
        };
        let fixed = ["turnpipe", RUN_ARGUMENT, privilege, processes.name()].map(OsStr::new);
        let words: Vec<CString> = fixed.into_iter().map(c_string).collect::<io::Result<_>>()?;
        let first = words.into_iter().chain([start.directory.clone(), program]);
        start.arguments.splice(0..0, first);
        spawn_restricted(Some(&namespace), None, &start)
    }

    /// Sets the variables of a child. In a workspace, they replace those of the child.
    fn set_variables(&self, start: &mut Start) -> io::Result<()> {
        for (name, value) in self.variables.iter() {
            if self.workspace.is_some() || !start.has_variable(name) {
                start.set_variable(name, value)?;
            }
        }
        Ok(())
    }
}
