//! Messages between processes of a sandbox, which may carry a listening socket: it stays in its network namespace.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::TcpListener;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;

use rustix::net;

/// The space for one descriptor.
const SPACE: usize = rustix::cmsg_space!(ScmRights(1));

/// Sends a message, which is not empty.
///
/// # Errors
/// The other process has ended.
pub(super) fn send(to: &UnixStream, text: &str, listener: Option<&TcpListener>) -> io::Result<()> {
    let descriptor = listener.map(|listener| [listener.as_fd()]);
    let mut space = [MaybeUninit::uninit(); SPACE];
    let mut control = net::SendAncillaryBuffer::new(&mut space);
    if let Some(descriptor) = &descriptor {
        control.push(net::SendAncillaryMessage::ScmRights(descriptor));
    }
    let message = [IoSlice::new(text.as_bytes())];
    net::sendmsg(to, &message, &mut control, net::SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Waits for a message. An empty one means that the other process has ended.
///
/// # Errors
/// As the system reports.
pub(super) fn receive(socket: &UnixStream) -> io::Result<(String, Option<TcpListener>)> {
    let mut message = vec![0; 16 * 1024];
    let mut space = [MaybeUninit::uninit(); SPACE];
    let mut control = net::RecvAncillaryBuffer::new(&mut space);
    let received = rustix::io::retry_on_intr(|| {
        let buffers = &mut [IoSliceMut::new(&mut message)];
        net::recvmsg(socket, buffers, &mut control, net::RecvFlags::CMSG_CLOEXEC)
    })?;
    message.truncate(received.bytes);
    let descriptor = control.drain().find_map(|part| match part {
        net::RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    let message = String::from_utf8_lossy(&message).into_owned();
    Ok((message, descriptor.map(TcpListener::from)))
}
