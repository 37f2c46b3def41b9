//! The tools of a configuration.

use super::UsageError;
use crate::config::Settings;
use crate::tools::Registry;

/// The built-in tools and those of the configured manifests.
///
/// # Errors
/// A manifest cannot be used.
pub(super) fn registry(settings: &Settings) -> Result<Registry, UsageError> {
    let mut registry = Registry::builtin();
    for manifest in &settings.manifests {
        registry
            .add_manifest(manifest)
            .map_err(|error| UsageError::new(error.to_string()))?;
    }
    Ok(registry)
}
