//! Encodes and decodes a policy for a helper.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::mask::{FileId, Mask, MaskKind};
use super::namespace::SandboxPolicy;
use super::workspace::Workspace;
use crate::process::network::{Domains, Network};

// The letters of the entries of a workspace. Those of masks are different.
const WRITABLE: u8 = b'w';
const TEMPORARY: u8 = b't';
const NETWORK: u8 = b'n';
const ALLOWED: u8 = b'a';
const DENIED: u8 = b'x';
const REQUIRED: u8 = b'r';

/// The letter of an entry with the device and inode of the file of the next mask.
const FILE: u8 = b'i';

/// Encodes a policy: the number of bytes, and for each entry a letter, a path or a pattern, and a NUL byte.
pub(super) fn encode_policy(policy: &SandboxPolicy) -> Vec<u8> {
    let mut entries = Vec::new();
    let mut add = |letter: u8, path: &Path| {
        entries.push(letter);
        entries.extend(path.as_os_str().as_bytes());
        entries.push(0);
    };
    for mask in &policy.masks {
        if let Some(FileId { device, inode }) = mask.file {
            add(FILE, format!("{device} {inode}").as_ref());
        }
        add(mask.kind.letter(), &mask.path);
    }
    if let Some(workspace) = &policy.workspace {
        add(TEMPORARY, &workspace.temporary);
        for path in &workspace.writable {
            add(WRITABLE, path);
        }
        let Domains { allowed, denied } = &workspace.domains;
        for (letter, patterns) in [(ALLOWED, allowed), (DENIED, denied)] {
            for pattern in patterns {
                add(letter, pattern.as_ref());
            }
        }
        if workspace.network == Network::On {
            add(NETWORK, Path::new(""));
        }
        if workspace.is_required {
            add(REQUIRED, Path::new(""));
        }
    }
    [&entries.len().to_ne_bytes()[..], &entries].concat()
}

/// Reads a policy that [`encode_policy`] has written.
///
/// # Errors
/// The input ends early, or is not a policy.
pub(super) fn read_policy(input: &mut impl io::Read) -> io::Result<SandboxPolicy> {
    let mut length = [0; size_of::<usize>()];
    input.read_exact(&mut length)?;
    let mut entries = vec![0; usize::from_ne_bytes(length)];
    input.read_exact(&mut entries)?;
    let mut policy = SandboxPolicy::default();
    let mut workspace = Workspace::default();
    let mut file = None;
    for entry in entries.split(|byte| *byte == 0) {
        let [letter, bytes @ ..] = entry else {
            continue;
        };
        let text = || String::from_utf8(bytes.to_owned()).map_err(|_| io::ErrorKind::InvalidData);
        let path = PathBuf::from(OsStr::from_bytes(bytes));
        match *letter {
            WRITABLE => workspace.writable.push(path),
            TEMPORARY => workspace.temporary = path,
            NETWORK => workspace.network = Network::On,
            ALLOWED => {
                workspace.network = Network::Domains;
                workspace.domains.allowed.push(text()?);
            }
            DENIED => workspace.domains.denied.push(text()?),
            REQUIRED => workspace.is_required = true,
            FILE => {
                let numbers = text()?;
                let pair = numbers.split_once(' ');
                let parsed = pair.map(|(device, inode)| (device.parse(), inode.parse()));
                let Some((Ok(device), Ok(inode))) = parsed else {
                    return Err(io::ErrorKind::InvalidData.into());
                };
                file = Some(FileId { device, inode });
            }
            letter => {
                let kind = MaskKind::from_letter(letter).ok_or(io::ErrorKind::InvalidData)?;
                let file = file.take();
                policy.masks.push(Mask { kind, path, file });
            }
        }
    }
    policy.workspace = (workspace.temporary != Path::new("")).then_some(workspace);
    Ok(policy)
}
