//! The sandbox of a run: namespaces with masks, created again after the files to mask have changed.

use std::fmt::Debug;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use rustix::process::Pid;

use super::child::spawn_restricted;
use super::helper::{MaskedNamespace, PROGRAM};
use super::namespace::{Mask, SandboxError};
use super::restrictions::Restrictions;
use crate::io::Lock;
use crate::process::Variables;
use crate::process::start::Start;

/// The files to mask for a child that is about to start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MaskList {
    /// The masks, in the order in which they are mounted.
    pub masks: Vec<Mask>,
    /// Changes if masks for the same paths are not the same masks any more: other files have these names, or other
    /// file systems are mounted.
    pub version: u64,
}

/// Finds the files to mask.
pub trait MaskSource: Debug + Send + Sync {
    /// Returns the masks for the files that exist now.
    fn list(&self) -> MaskList;
}

/// The sandbox of a run. A mask holds for the file that had its name when it was mounted, so the files are looked for
/// before each child, and other namespaces are created if there are others.
#[derive(Debug)]
pub struct Sandbox {
    source: Box<dyn MaskSource>,
    variables: Variables,
    /// The binary whose helper creates the namespaces.
    program: PathBuf,
    current: Mutex<Option<Current>>,
}

#[derive(Debug)]
struct Current {
    list: MaskList,
    namespace: Arc<MaskedNamespace>,
}

impl Sandbox {
    /// Creates a sandbox. The first child creates its namespaces. Children get `variables` that they do not have.
    pub fn new(source: impl MaskSource + 'static, variables: Variables) -> Self {
        Self {
            source: Box::new(source),
            variables,
            program: PathBuf::from(PROGRAM),
            current: Mutex::default(),
        }
    }

    /// Sets the binary of turnpipe, for a program that is not turnpipe.
    #[must_use]
    pub fn with_program(self, program: PathBuf) -> Self {
        Self { program, ..self }
    }

    /// Checks that children can be started in it. Not on the first thread of a process that adopts orphans.
    ///
    /// # Errors
    /// The kernel refuses a namespace, or a mask.
    pub fn check(&self) -> Result<(), SandboxError> {
        self.namespace().map(|_| ())
    }

    fn namespace(&self) -> Result<Arc<MaskedNamespace>, SandboxError> {
        let list = self.source.list();
        let mut current = self.current.locked();
        if let Some(current) = &*current
            && current.list == list
        {
            return Ok(Arc::clone(&current.namespace));
        }
        let namespace = Arc::new(MaskedNamespace::new(&self.program, &list.masks)?);
        *current = Some(Current {
            list,
            namespace: Arc::clone(&namespace),
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
        for (name, value) in self.variables.iter() {
            if !start.has_variable(name) {
                start.set_variable(name, value)?;
            }
        }
        let namespace = self.namespace().map_err(io::Error::other)?;
        spawn_restricted(Some(&namespace), restrictions, &start)
    }
}
