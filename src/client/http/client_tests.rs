use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::*;
use crate::client::http::{Address, Engine, MessageSender, Proxies, Secret};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/tls")
        .join(name)
}

/// Serves one request over TLS if the client trusts its certificate.
fn encrypted_server(certificate: &str) -> (u16, JoinHandle<()>) {
    let certificates = CertificateDer::pem_file_iter(data(certificate)).unwrap();
    let certificates = certificates.collect::<Result<Vec<_>, _>>().unwrap();
    let key = PrivateKeyDer::from_pem_file(data("server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(certificates, key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let thread = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let connection = ServerConnection::new(Arc::new(config)).unwrap();
        let mut stream = StreamOwned::new(connection, stream);
        let mut request = Vec::new();
        let mut buffer = [0; 1024];
        while !request.ends_with(b"{}") {
            match stream.read(&mut buffer) {
                Ok(count) if count > 0 => request.extend_from_slice(&buffer[..count]),
                // A client that does not trust the certificate closes the connection.
                _ => return,
            }
        }
        let answer = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok";
        stream.write_all(answer).unwrap();
        stream.conn.send_close_notify();
        // The client may have closed the connection.
        let _ = stream.flush();
    });
    (port, thread)
}

fn send(settings: HttpSettings, url: &str) -> Result<String, HttpFailure> {
    let client = Client::new(settings);
    let outgoing = Outgoing {
        address: Address::parse(url).unwrap(),
        headers: Vec::new(),
        body: "{}".to_owned(),
    };
    let task = |_: MessageSender<()>| async move {
        let mut response = client.send(&outgoing).await?;
        let mut body = Vec::new();
        while let Some(piece) = response.next_piece().await? {
            body.extend_from_slice(&piece);
        }
        Ok(String::from_utf8(body).unwrap())
    };
    Engine::default().run(task, |()| ()).unwrap()
}

#[test]
fn only_the_configured_extra_authority_is_trusted() {
    for (extra, replaced) in [
        (Some(data("authority.pem")), None),
        (None, Some(data("authority.pem"))),
    ] {
        let (port, server) = encrypted_server("server.pem");
        let settings = HttpSettings {
            extra_certificates: extra,
            certificate_file: replaced,
            ..HttpSettings::default()
        };
        let answer = send(settings, &format!("https://localhost:{port}/"));
        assert_eq!(answer, Ok("ok".to_owned()));
        server.join().unwrap();
    }
    // The store has another authority: for a certificate of a private authority, and for one that is its own.
    for (certificate, store) in [
        ("server.pem", "server.pem"),
        ("self_signed_leaf.pem", "authority.pem"),
    ] {
        let (port, server) = encrypted_server(certificate);
        let settings = HttpSettings {
            certificate_file: Some(data(store)),
            ..HttpSettings::default()
        };
        let refused = send(settings, &format!("https://localhost:{port}/")).unwrap_err();
        assert!(
            matches!(refused, HttpFailure::Unreachable { .. }),
            "{refused:?}"
        );
        let advice = "the authority (CA) of the server's certificate is unknown; set its file in `SSL_CERT_FILE`";
        assert!(refused.to_string().contains(advice), "{refused}");
        server.join().unwrap();
    }
}

#[test]
fn a_server_that_is_its_own_authority_is_refused_with_a_hint() {
    let (port, server) = encrypted_server("self_signed.pem");
    let settings = HttpSettings {
        extra_certificates: Some(data("self_signed.pem")),
        ..HttpSettings::default()
    };
    let refused = send(settings, &format!("https://localhost:{port}/")).unwrap_err();
    assert!(refused.to_string().contains("CA:FALSE"), "{refused}");
    server.join().unwrap();
}

#[test]
fn certificates_are_read_only_for_encrypted_connections() {
    let nothing = || HttpSettings {
        certificate_file: Some("/nonexistent/roots.pem".into()),
        ..HttpSettings::default()
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let plain = send(nothing(), &format!("http://127.0.0.1:{port}/"));
    assert!(
        matches!(plain, Err(HttpFailure::Unreachable { .. })),
        "{plain:?}"
    );
    let encrypted = send(nothing(), &format!("https://127.0.0.1:{port}/"));
    assert!(
        matches!(encrypted, Err(HttpFailure::Unusable { .. })),
        "{encrypted:?}"
    );
    let missing = HttpSettings {
        extra_certificates: Some("/nonexistent/ca.pem".into()),
        ..HttpSettings::default()
    };
    let told = send(missing, &format!("https://127.0.0.1:{port}/")).unwrap_err();
    assert!(
        told.to_string()
            .starts_with("certificates in /nonexistent/ca.pem: "),
        "{told}"
    );
}

#[test]
fn a_proxy_without_a_usable_address_is_not_repeated() {
    let settings = HttpSettings {
        proxies: Proxies {
            http: Some(Secret::new("nonsense://canary:canary@ x")),
            ..Proxies::default()
        },
        ..HttpSettings::default()
    };
    let told = send(settings, "http://gpu.internal/").unwrap_err();
    assert_eq!(told.to_string(), "the http proxy has no usable address");
}
