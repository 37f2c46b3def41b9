//! Addresses of hosts, from the system's own C library.
//!
//! Ours may be linked in, and would load the modules that `/etc/nsswitch.conf` names (mDNS,
//! systemd-resolved, containers of this machine) into it, which is safe only where the system's
//! library is of exactly its version. So the system's own `getent` is asked, whichever way this
//! program is linked: then tests and program look names up alike. Ports are not known here.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use rustix::process::{Pid, PidfdFlags, WaitId, WaitIdOptions, pidfd_open, waitid};
use tokio::net::lookup_host;
use tokio::net::unix::pipe::Receiver;
use tokio::task::spawn_blocking;

/// The exit status that says that there is no such host.
const NOT_FOUND: i32 = 2;

/// The longest answer that is read, in bytes; what goes beyond is left.
const LONGEST_ANSWER: usize = 64 << 10;

/// Finds the addresses of hosts.
#[derive(Debug, Clone)]
pub(super) struct SystemResolver {
    /// The program that is asked.
    program: Arc<OsStr>,
}

/// A host has no addresses.
#[derive(Debug, thiserror::Error)]
enum HostFailure {
    #[error("cannot find the host {0}")]
    Unknown(String),
    #[error("cannot find the host {0}: {1}")]
    LookUp(String, io::Error),
}

/// What a program says of a host.
#[derive(Debug)]
enum Answer {
    /// At least one address.
    Addresses(Vec<SocketAddr>),
    NotFound,
    /// It does not know the question, or says nothing that makes sense.
    None,
}

impl SystemResolver {
    /// Asks `getent`.
    pub(super) fn new() -> Self {
        Self::asking("getent")
    }

    /// Asks another program in its place.
    fn asking(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().into(),
        }
    }

    async fn addresses(&self, name: &str) -> Result<Vec<SocketAddr>, HostFailure> {
        if let Some(addresses) = without_looking_up(name) {
            return Ok(addresses);
        }
        match ask(&self.program, name).await {
            Ok(Answer::Addresses(addresses)) => Ok(addresses),
            Ok(Answer::NotFound) => Err(HostFailure::Unknown(name.to_owned())),
            // The C library in this program then reads `/etc/hosts` and asks name servers.
            Ok(Answer::None) | Err(_) => match lookup_host((name, 0)).await {
                Ok(addresses) => Ok(addresses.collect()),
                Err(error) => Err(HostFailure::LookUp(name.to_owned(), error)),
            },
        }
    }
}

impl Resolve for SystemResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let resolver = self.clone();
        Box::pin(async move {
            let addresses = resolver.addresses(name.as_str()).await?;
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

/// Addresses of what is one already (SOCKS proxies ask for those too), and of this machine by its
/// fixed name. `getent` leaves out the IPv6 one where no other IPv6 address is in use, and servers
/// may listen on that one only.
fn without_looking_up(name: &str) -> Option<Vec<SocketAddr>> {
    let literal = name
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(name);
    if let Ok(address) = literal.parse::<IpAddr>() {
        return Some(vec![SocketAddr::new(address, 0)]);
    }
    let name = name.strip_suffix('.').unwrap_or(name);
    let (_, last_label) = name.rsplit_once('.').unwrap_or(("", name));
    last_label.eq_ignore_ascii_case("localhost").then(|| {
        let addresses: [IpAddr; 2] = [Ipv6Addr::LOCALHOST.into(), Ipv4Addr::LOCALHOST.into()];
        addresses.map(|address| SocketAddr::new(address, 0)).into()
    })
}

/// Asks the program. It is ended when nobody waits for the answer any more.
///
/// # Errors
/// It cannot be started, or not be listened to.
async fn ask(program: &OsStr, name: &str) -> io::Result<Answer> {
    let child = Command::new(program)
        // No name is taken for an option.
        .args(["ahosts", "--", name])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut asked = Asked(child);
    let output = asked.output().await?;
    let addresses = parse(&output, index_of_interface);
    if !addresses.is_empty() {
        return Ok(Answer::Addresses(addresses));
    }
    Ok(match asked.exit_code().await? {
        Some(NOT_FOUND) => Answer::NotFound,
        _ => Answer::None,
    })
}

/// A program that was asked. It does not outlive this.
struct Asked(Child);

impl Asked {
    /// What it prints until it closes its output, or has said enough.
    async fn output(&mut self) -> io::Result<Vec<u8>> {
        let Some(stdout) = self.0.stdout.take() else {
            return Ok(Vec::new());
        };
        let pipe = Receiver::from_owned_fd(stdout.into())?;
        let mut output = Vec::new();
        let mut piece = [0; 4096];
        while output.len() < LONGEST_ANSWER {
            pipe.readable().await?;
            match pipe.try_read(&mut piece) {
                Ok(0) => break,
                Ok(count) => output.extend_from_slice(&piece[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(output)
    }

    /// How it ended, as soon as it has; `None` if by a signal.
    async fn exit_code(&mut self) -> io::Result<Option<i32>> {
        let process = pidfd_open(Pid::from_child(&self.0), PidfdFlags::empty())?;
        // The thread only watches, and sees the end that dropping this makes, too.
        let watch = move || {
            let until = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            waitid(WaitId::PidFd(process.as_fd()), until)
        };
        spawn_blocking(watch).await.map_err(io::Error::other)??;
        Ok(self.0.wait()?.code())
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        // Without effect on one that was waited for.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The addresses that begin the lines of `getent ahosts`, in their order, each once, without a
/// port. `index_of` knows the number of a network interface. A line without an end is not whole,
/// and one without an address is passed over.
fn parse(output: &[u8], index_of: impl Fn(&str) -> Option<u32>) -> Vec<SocketAddr> {
    let end = memchr::memrchr(b'\n', output).unwrap_or(0);
    let mut seen = HashSet::new();
    String::from_utf8_lossy(&output[..end])
        .lines()
        .filter_map(|line| address(line.split_ascii_whitespace().next()?, &index_of))
        .filter(|address| seen.insert(*address))
        .collect()
}

/// An address as `getent` writes it: one that means something on one interface only names it.
fn address(word: &str, index_of: impl Fn(&str) -> Option<u32>) -> Option<SocketAddr> {
    let Some((address, interface)) = word.split_once('%') else {
        let address: IpAddr = word.parse().ok()?;
        return Some(SocketAddr::new(address.to_canonical(), 0));
    };
    let index = interface.parse().ok().or_else(|| index_of(interface))?;
    Some(SocketAddrV6::new(address.parse().ok()?, 0, 0, index).into())
}

fn index_of_interface(name: &str) -> Option<u32> {
    let is_path = name.contains('/') || name.starts_with('.');
    let number = (!is_path).then(|| fs::read_to_string(format!("/sys/class/net/{name}/ifindex")));
    number?.ok()?.trim().parse().ok()
}

#[cfg(test)]
#[path = "resolver_tests.rs"]
mod tests;
