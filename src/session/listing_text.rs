//! Lists many sessions and formats each one as soon as it is read.

use std::ops::Range;
use std::path::PathBuf;

use super::each::each;
use super::listing::{Listed, Listing, ThreadNames, in_order};
use super::{Found, SessionError};

/// Appends one session to a buffer.
pub type WriteListed<'a, Failure> = dyn Fn(Listed, &mut Vec<u8>) -> Result<(), Failure> + Sync + 'a;

/// Lists the sessions among `files`, formatted by `write`, with the files that could not be read.
/// Ignores the limit of the filter.
///
/// Each session is formatted by the thread that read it. Keeping thousands of them in memory to
/// format them later takes longer than formatting.
///
/// # Errors
/// The first error of `write`.
pub fn list_as_text<Failure: Send>(
    files: &[Found],
    listing: &Listing,
    write: &WriteListed<'_, Failure>,
) -> Result<(Texts, Vec<(PathBuf, SessionError)>), Failure> {
    let names = ThreadNames::default();
    let (looked, texts) = each(files, listing.jobs, &|file, text: &mut Vec<u8>| {
        let looked = listing.look(&file.path, file.context, &names);
        looked.map(|session| {
            session.map(|session| {
                let (activity, start) = (session.activity(), text.len());
                write(*session, text).map(|()| (activity, start..text.len()))
            })
        })
    });
    let mut places = Vec::new();
    let mut failed = Vec::new();
    for looked in looked {
        let path = files[looked.item].path.as_path();
        match looked.output {
            Ok(Some(written)) => {
                let (activity, place) = written?;
                places.push((activity, path, (looked.worker, place)));
            }
            Ok(None) | Err(SessionError::Unknown) => {}
            Err(error) => failed.push((path.to_owned(), error)),
        }
    }
    failed.sort_by(|(one, _), (other, _)| one.cmp(other));
    places.sort_unstable_by(|(one, one_path, _), (other, other_path, _)| {
        in_order((*one, one_path), (*other, other_path))
    });
    let places = places.into_iter().map(|(_, _, place)| place).collect();
    Ok((Texts { texts, places }, failed))
}

/// Formatted sessions, most recently active first.
#[derive(Debug)]
pub struct Texts {
    /// The buffer of each thread.
    texts: Vec<Vec<u8>>,
    /// The thread and the range in its buffer.
    places: Vec<(usize, Range<usize>)>,
}

impl Texts {
    /// The texts, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let text = |(worker, place): &(usize, Range<usize>)| &self.texts[*worker][place.clone()];
        self.places.iter().map(text)
    }
}
