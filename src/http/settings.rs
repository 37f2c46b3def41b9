//! What can be configured about requests.

use std::path::PathBuf;
use std::time::Duration;

use super::Proxies;

/// How all requests are made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HttpSettings {
    /// Which proxies they go through.
    pub proxies: Proxies,
    /// A PEM file with certificates that are trusted besides those of the system.
    pub extra_certificates: Option<PathBuf>,
    /// The PEM file that stands in the place of the system's certificates.
    pub certificate_file: Option<PathBuf>,
    /// The directory that stands in the place of the system's certificates.
    pub certificate_directory: Option<PathBuf>,
    /// How long anything may take.
    pub limits: TimeLimits,
}

/// How long a request may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLimits {
    /// To the connection.
    pub connect: Duration,
    /// Between two pieces of an answer, and to the first.
    pub idle: Duration,
    /// In all, with all that is tried again.
    pub total: Duration,
}

impl Default for TimeLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            // A local server may have to load the model first.
            idle: Duration::from_mins(2),
            total: Duration::from_mins(5),
        }
    }
}
