//! The other processes of this system, with what they have open.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The processes of this system except this one, read one after the other. Empty without `/proc`.
#[derive(Debug, Default)]
pub(crate) struct RunningProcesses {
    processes: BTreeMap<i32, Process>,
}

#[derive(Debug)]
struct Process {
    parent: i32,
    start_time: SystemTime,
}

impl RunningProcesses {
    /// Reads the processes.
    #[cfg(target_os = "linux")]
    pub(crate) fn read() -> Self {
        use turnpipe_core::process_table::{clock_ticks, read_table};
        let own = i32::try_from(std::process::id()).unwrap_or(0);
        let ticks_per_second = rustix::param::clock_ticks_per_second().max(1);
        let (now_ticks, now) = (clock_ticks(), SystemTime::now());
        let to_time = |ticks: u64| {
            let age_millis =
                now_ticks.saturating_sub(ticks).saturating_mul(1000) / ticks_per_second;
            let age = std::time::Duration::from_millis(age_millis);
            now.checked_sub(age).unwrap_or(now)
        };
        let table = read_table().into_iter();
        let others = table.filter(|(pid, stat)| *pid != own && !stat.has_ended());
        let processes = others.map(|(pid, stat)| {
            let (parent, start_time) = (stat.parent, to_time(stat.start_time));
            (pid, Process { parent, start_time })
        });
        Self {
            processes: processes.collect(),
        }
    }

    /// Reads no processes: this system does not show them as files.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn read() -> Self {
        Self::default()
    }

    /// Returns the ids of the processes, in order.
    pub(crate) fn ids(&self) -> impl Iterator<Item = i32> {
        self.processes.keys().copied()
    }

    /// Returns the time at which a process started.
    pub(crate) fn start_time(&self, pid: i32) -> Option<SystemTime> {
        Some(self.processes.get(&pid)?.start_time)
    }

    /// Whether process `pid` is process `from` or descends from it.
    pub(crate) fn is_descendant(&self, pid: i32, from: i32) -> bool {
        let find_parent = |pid: &i32| Some(self.processes.get(pid)?.parent);
        // A chain of parents can be a cycle, since the processes were not read at once.
        let mut chain = std::iter::successors(Some(pid), find_parent).take(self.processes.len());
        chain.any(|pid| pid == from)
    }

    /// Returns the arguments of a process, the program first. Empty if they cannot be read.
    pub(crate) fn read_arguments(pid: i32) -> Vec<String> {
        let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let arguments = bytes.split(|byte| *byte == 0);
        arguments
            .map(|argument| String::from_utf8_lossy(argument).into_owned())
            .collect()
    }

    /// Returns the working directory of a process.
    pub(crate) fn read_directory(pid: i32) -> Option<PathBuf> {
        fs::read_link(format!("/proc/{pid}/cwd")).ok()
    }

    /// Returns the metadata of the regular files that a process has open.
    pub(crate) fn list_open_files(pid: i32) -> impl Iterator<Item = Metadata> {
        let files = fs::read_dir(Path::new("/proc").join(pid.to_string()).join("fd"));
        let files = files.into_iter().flatten().flatten();
        files.filter_map(|file| fs::metadata(file.path()).ok().filter(Metadata::is_file))
    }
}
