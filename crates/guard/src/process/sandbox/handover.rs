//! Messages between processes of a sandbox. They may carry a listening socket, which stays in its network namespace.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::TcpListener;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;

use rustix::net;

/// Size of a control message with one descriptor, in bytes.
const CONTROL_BYTES: usize = rustix::cmsg_space!(ScmRights(1));

/// Sends a message, which must not be empty.
///
/// # Errors
/// The other process has ended.
pub(super) fn send(to: &UnixStream, text: &str, listener: Option<&TcpListener>) -> io::Result<()> {
    let descriptor = listener.map(|listener| [listener.as_fd()]);
    let mut control_space = [MaybeUninit::uninit(); CONTROL_BYTES];
    let mut control = net::SendAncillaryBuffer::new(&mut control_space);
    if let Some(descriptor) = &descriptor {
        control.push(net::SendAncillaryMessage::ScmRights(descriptor));
    }
    let message = [IoSlice::new(text.as_bytes())];
    net::sendmsg(to, &message, &mut control, net::SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Waits for a message of at most 16 KiB. An empty one means that the other process has ended.
///
/// # Errors
/// As the system reports.
pub(super) fn receive(socket: &UnixStream) -> io::Result<(String, Option<TcpListener>)> {
    let mut bytes = vec![0; 16 * 1024];
    let mut control_space = [MaybeUninit::uninit(); CONTROL_BYTES];
    let mut control = net::RecvAncillaryBuffer::new(&mut control_space);
    let received = rustix::io::retry_on_intr(|| {
        let buffers = &mut [IoSliceMut::new(&mut bytes)];
        net::recvmsg(socket, buffers, &mut control, net::RecvFlags::CMSG_CLOEXEC)
    })?;
    bytes.truncate(received.bytes);
    let descriptor = control.drain().find_map(|part| match part {
        net::RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    let message = String::from_utf8_lossy(&bytes).into_owned();
    Ok((message, descriptor.map(TcpListener::from)))
}
