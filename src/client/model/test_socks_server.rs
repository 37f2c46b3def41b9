//! A local SOCKS5 proxy for tests. It connects every client to the same server.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

/// Request of a client.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SocksRequest {
    /// Name and password, if sent.
    pub(super) login: Option<(String, String)>,
    /// Target: `name:port` or `address:port`.
    pub(super) target: String,
}

/// A running proxy and the requests it received.
pub(super) struct SocksServer {
    pub(super) port: u16,
    requests: Receiver<SocksRequest>,
}

/// The authentication method "name and password".
const PASSWORD: u8 = 2;

impl SocksServer {
    /// Connects clients to the server at `port`.
    pub(super) fn with_target(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let own = listener.local_addr().unwrap().port();
        let (sender, requests) = channel();
        std::thread::spawn(move || {
            while let Ok((mut client, _)) = listener.accept() {
                let Ok(said) = read_request(&mut client) else {
                    continue;
                };
                // The test may have ended.
                let _ = sender.send(said);
                let server = TcpStream::connect(("127.0.0.1", port)).unwrap();
                relay(client.try_clone().unwrap(), server.try_clone().unwrap());
                relay(server, client);
            }
        });
        Self {
            port: own,
            requests,
        }
    }

    pub(super) fn next_request(&self) -> SocksRequest {
        self.requests
            .recv_timeout(std::time::Duration::from_secs(20))
            .unwrap()
    }
}

fn read_request(client: &mut TcpStream) -> std::io::Result<SocksRequest> {
    let mut request = SocksRequest::default();
    let [5, ways] = bytes(client)? else {
        panic!("another version");
    };
    let mut offered = vec![0; ways.into()];
    client.read_exact(&mut offered)?;
    if offered.contains(&PASSWORD) {
        client.write_all(&[5, PASSWORD])?;
        let [1] = bytes(client)? else {
            panic!("unknown version of the login");
        };
        request.login = Some((short_text(client)?, short_text(client)?));
        client.write_all(&[1, 0])?;
    } else {
        client.write_all(&[5, 0])?;
    }
    let [5, 1, 0, kind] = bytes(client)? else {
        panic!("expected a connect request");
    };
    let host = match kind {
        1 => std::net::Ipv4Addr::from(bytes::<4>(client)?).to_string(),
        3 => short_text(client)?,
        _ => panic!("unknown address type {kind}"),
    };
    request.target = format!("{host}:{}", u16::from_be_bytes(bytes(client)?));
    client.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0])?;
    Ok(request)
}

fn bytes<const COUNT: usize>(client: &mut TcpStream) -> std::io::Result<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    client.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Returns a text prefixed with its length in one byte.
fn short_text(client: &mut TcpStream) -> std::io::Result<String> {
    let [length] = bytes(client)?;
    let mut text = vec![0; length.into()];
    client.read_exact(&mut text)?;
    Ok(String::from_utf8(text).unwrap())
}

fn relay(mut from: TcpStream, mut to: TcpStream) {
    std::thread::spawn(move || {
        // The client may have closed the connection.
        let _ = std::io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Write);
    });
}
