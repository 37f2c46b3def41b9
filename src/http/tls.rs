//! Certificates that TLS connections trust.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

use super::{HttpFailure, HttpSettings};

/// Returns a configuration without certificates, for unencrypted connections. Reads no files.
pub(super) fn without_roots() -> Result<ClientConfig, HttpFailure> {
    with_store(RootCertStore::empty())
}

/// Returns a configuration that trusts the system's certificates, or their replacement, and the extra ones.
/// Parses a few hundred kilobytes.
///
/// # Errors
/// A configured file cannot be read, or no certificates were found.
pub(super) fn with_roots(settings: &HttpSettings) -> Result<ClientConfig, HttpFailure> {
    let mut store = RootCertStore::empty();
    if let Some(path) = &settings.extra_certificates {
        let unusable = |reason: String| {
            HttpFailure::unusable(format!("certificates in {}: {reason}", path.display()))
        };
        let before = store.len();
        let certificates =
            CertificateDer::pem_file_iter(path).map_err(|error| unusable(error.to_string()))?;
        for certificate in certificates {
            let certificate = certificate.map_err(|error| unusable(error.to_string()))?;
            store
                .add(certificate)
                .map_err(|error| unusable(error.to_string()))?;
        }
        if store.len() == before {
            return Err(unusable("none found".to_owned()));
        }
    }
    let system = match (&settings.certificate_file, &settings.certificate_directory) {
        (None, None) => rustls_native_certs::load_native_certs(),
        (file, directory) => {
            rustls_native_certs::load_certs_from_paths(file.as_deref(), directory.as_deref())
        }
    };
    // System stores often have old certificates that cannot be parsed.
    store.add_parsable_certificates(system.certs);
    if store.is_empty() {
        let why = system.errors.first().map(ToString::to_string);
        let why = why.unwrap_or_else(|| "the system has no certificates".to_owned());
        return Err(HttpFailure::unusable(format!(
            "no root certificates: {why}"
        )));
    }
    with_store(store)
}

fn with_store(store: RootCertStore) -> Result<ClientConfig, HttpFailure> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| HttpFailure::unusable(format!("tls: {error}")))?;
    Ok(builder.with_root_certificates(store).with_no_client_auth())
}
