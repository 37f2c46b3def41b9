//! The tools of a configuration.

use std::sync::Arc;

use super::UsageError;
use crate::config::Settings;
use crate::tools::{Registry, Tool, load_manifest};

/// The built-in tools and those of the configured manifests.
///
/// # Errors
/// A manifest cannot be used.
pub(super) fn registry(settings: &Settings) -> Result<Registry, UsageError> {
    let mut registry = Registry::builtin();
    for manifest in &settings.manifests {
        let declared =
            load_manifest(manifest).map_err(|error| UsageError::new(error.to_string()))?;
        let tools = declared
            .into_iter()
            .map(|declared| (Arc::new(declared.tool) as Arc<dyn Tool>, declared.aliases))
            .collect();
        registry
            .add(tools)
            .map_err(|error| UsageError::new(format!("{}: {error}", manifest.display())))?;
    }
    Ok(registry)
}
