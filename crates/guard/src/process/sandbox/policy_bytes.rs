//! A policy as a helper reads it.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::mask::{Mask, MaskKind};
use super::namespace::SandboxPolicy;
use super::workspace::Workspace;
use crate::process::network::{Domains, Network};

// The letters of the parts of a workspace. Masks have others.
const WRITABLE: u8 = b'w';
const TEMPORARY: u8 = b't';
const NETWORK: u8 = b'n';
const ALLOWED: u8 = b'a';
const DENIED: u8 = b'x';
const REQUIRED: u8 = b'r';

/// The letter of the device and inode of the file of the next mask.
const FILE: u8 = b'i';

/// Returns a policy as a helper reads it: the number of bytes, and for each entry a letter, a path or a
/// pattern, and a NUL byte.
pub(super) fn encode_policy(policy: &SandboxPolicy) -> Vec<u8> {
    let mut list = Vec::new();
    let mut add = |letter: u8, path: &Path| {
        list.push(letter);
        list.extend(path.as_os_str().as_bytes());
        list.push(0);
    };
    for mask in &policy.masks {
        if let Some((device, inode)) = mask.file {
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
    [&list.len().to_ne_bytes()[..], &list].concat()
}

/// Reads a policy.
///
/// # Errors
/// The input ends early, or is no policy.
pub(super) fn read_policy(input: &mut impl io::Read) -> io::Result<SandboxPolicy> {
    let mut length = [0; size_of::<usize>()];
    input.read_exact(&mut length)?;
    let mut list = vec![0; usize::from_ne_bytes(length)];
    input.read_exact(&mut list)?;
    let mut policy = SandboxPolicy::default();
    let mut workspace = Workspace::default();
    let mut file = None;
    for entry in list.split(|byte| *byte == 0) {
        let Some((letter, path)) = entry.split_first() else {
            continue;
        };
        let pattern = || String::from_utf8(path.to_owned()).map_err(|_| io::ErrorKind::InvalidData);
        let path = PathBuf::from(OsStr::from_bytes(path));
        match *letter {
            WRITABLE => workspace.writable.push(path),
            TEMPORARY => workspace.temporary = path,
            NETWORK => workspace.network = Network::On,
            ALLOWED => {
                workspace.network = Network::Domains;
                workspace.domains.allowed.push(pattern()?);
            }
            DENIED => workspace.domains.denied.push(pattern()?),
            REQUIRED => workspace.is_required = true,
            FILE => {
                let numbers = pattern()?;
                let numbers = numbers.split_once(' ');
                let numbers = numbers.map(|(device, inode)| (device.parse(), inode.parse()));
                let Some((Ok(device), Ok(inode))) = numbers else {
                    return Err(io::ErrorKind::InvalidData.into());
                };
                file = Some((device, inode));
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
