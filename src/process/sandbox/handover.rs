//! Messages between processes of a sandbox, which may carry a listening socket: it stays in its network namespace.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::TcpListener;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// Maximum length of a message, in bytes. The system does not divide one of this length.
const MAX_MESSAGE: usize = 16 * 1024;

/// The space for one descriptor.
const SPACE: usize = rustix::cmsg_space!(ScmRights(1));

/// Sends a message, which is not empty.
///
/// # Errors
/// The other process has ended.
pub(super) fn send(
    socket: &UnixStream,
    message: &str,
    listener: Option<&TcpListener>,
) -> io::Result<()> {
    let descriptors: Vec<_> = listener.iter().map(|listener| listener.as_fd()).collect();
    let mut space = [MaybeUninit::uninit(); SPACE];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(&descriptors));
    }
    let message = message.as_bytes();
    let message = message.get(..MAX_MESSAGE).unwrap_or(message);
    sendmsg(
        socket,
        &[IoSlice::new(message)],
        &mut control,
        SendFlags::NOSIGNAL,
    )?;
    Ok(())
}

/// Waits for a message.
///
/// # Errors
/// The other process has ended.
pub(super) fn receive(socket: &UnixStream) -> io::Result<(String, Option<TcpListener>)> {
    let mut message = vec![0; MAX_MESSAGE];
    let mut space = [MaybeUninit::uninit(); SPACE];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = rustix::io::retry_on_intr(|| {
        let buffers = &mut [IoSliceMut::new(&mut message)];
        recvmsg(socket, buffers, &mut control, RecvFlags::CMSG_CLOEXEC)
    })?;
    if received.bytes == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    message.truncate(received.bytes);
    let descriptor = control.drain().find_map(|part| match part {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    let message = String::from_utf8_lossy(&message).into_owned();
    Ok((message, descriptor.map(TcpListener::from)))
}
