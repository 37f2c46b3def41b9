//! Windows of a file searched on several threads, and handed over in order, the last one first.

use std::borrow::Borrow;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use memchr::memchr;
use memchr::memmem::Finder;

use super::backward::start_of_window;
use super::fixed_file::FixedFile;

/// How many windows of a thread may wait to be taken.
const WAITING: usize = 2;

/// A stretch of the file.
#[derive(Debug)]
pub(super) struct Searched {
    /// Where it ends, in bytes from the start of the file.
    pub(super) end: u64,
    /// Where the needle stands in it: its last place on each line, in order.
    pub(super) places: Vec<u64>,
}

/// How a file is cut into windows: at multiples of a size, up to some place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    /// Where the last window ends, in bytes.
    pub(super) end: u64,
    /// The size of a window, in bytes.
    pub(super) size: u64,
}

impl Cut {
    /// The window with this number, counted from the end; `None` if the file has fewer.
    fn window(self, number: u64) -> Option<Range<u64>> {
        let last = start_of_window(self.end, self.size);
        let start = last.checked_sub(number.checked_mul(self.size)?)?;
        (self.end > 0).then(|| start..self.end.min(start + self.size))
    }
}

/// Searches the windows on as many threads as `file` allows, until `visit` answers false. A needle
/// belongs to the window that it starts in.
///
/// # Errors
/// Reading failed, or `visit`.
pub(super) fn search_windows<Source: Borrow<File>>(
    file: &FixedFile<Source>,
    finder: &Finder<'_>,
    cut: Cut,
    visit: &mut dyn FnMut(Searched) -> io::Result<bool>,
) -> io::Result<()> {
    let threads = file.threads().get() as u64;
    std::thread::scope(|scope| {
        let lanes: Vec<Receiver<io::Result<Searched>>> = (0..threads)
            .map(|lane| {
                let (sender, receiver) = sync_channel(WAITING);
                let mut bytes = file.beside();
                scope.spawn(move || {
                    let numbers = (lane..).step_by(usize::try_from(threads).unwrap_or(1));
                    search_lane(&mut bytes, finder, cut, numbers, &sender);
                });
                receiver
            })
            .collect();
        // Once this returns, nobody receives any more, which ends the threads.
        for lane in lanes.iter().cycle() {
            match lane.recv() {
                Ok(searched) => {
                    if !visit(searched?)? {
                        return Ok(());
                    }
                }
                Err(_) => return Ok(()),
            }
        }
        Ok(())
    })
}

fn search_lane(
    bytes: &mut FixedFile<&File>,
    finder: &Finder<'_>,
    cut: Cut,
    numbers: impl Iterator<Item = u64>,
    sender: &SyncSender<io::Result<Searched>>,
) {
    let overlap = (finder.needle().len() as u64).saturating_sub(1);
    for number in numbers {
        let Some(window) = cut.window(number) else {
            return;
        };
        let (start, end) = (window.start, window.end);
        let searched = bytes.window(start..end + overlap).map(|window| Searched {
            end,
            places: last_on_lines(finder, window)
                .into_iter()
                .map(|at| start + at as u64)
                .collect(),
        });
        if sender.send(searched).is_err() {
            return;
        }
    }
}

/// The last place of the needle on each line of the window.
pub(super) fn last_on_lines(finder: &Finder<'_>, window: &[u8]) -> Vec<usize> {
    let mut places: Vec<usize> = Vec::new();
    for place in finder.find_iter(window) {
        match places.last_mut() {
            Some(last) if memchr(b'\n', &window[*last..place]).is_none() => *last = place,
            _ => places.push(place),
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::num::NonZeroUsize;

    use proptest::prelude::*;

    use super::*;
    use crate::jsonl::Mapping;

    #[test]
    fn windows_cover_the_file_once() {
        let cut = Cut { end: 10, size: 4 };
        let windows: Vec<_> = (0..).map_while(|number| cut.window(number)).collect();
        assert_eq!(windows, [8..10, 4..8, 0..4]);
        assert_eq!(Cut { end: 0, size: 4 }.window(0), None);
    }

    proptest! {
        #[test]
        fn threads_find_what_one_finds(
            text in "[an\\n]{0,80}",
            size in 1_u64..9,
            threads in 1_usize..5,
            stop_after in 0_usize..90,
        ) {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(text.as_bytes()).unwrap();
            let fixed = FixedFile::new(file, text.len() as u64, Mapping::Refused)
                .with_threads(NonZeroUsize::new(threads).unwrap());
            let finder = Finder::new("an");
            let cut = Cut { end: text.len() as u64, size };
            let (mut ends, mut found) = (Vec::new(), Vec::new());
            search_windows(&fixed, &finder, cut, &mut |searched| {
                ends.push(searched.end);
                found.extend(searched.places.into_iter().rev());
                Ok(ends.len() < stop_after)
            })
            .unwrap();
            prop_assert!(ends.is_sorted_by(|one, next| one > next));
            if stop_after > text.len() {
                // A line that lies in several windows may be told several times.
                let all: Vec<u64> = finder.find_iter(text.as_bytes()).map(|at| at as u64).collect();
                prop_assert!(found.iter().all(|place| all.contains(place)));
                let line = |place: &u64| text[..usize::try_from(*place).unwrap()].matches('\n').count();
                let lines = |places: &[u64]| -> std::collections::BTreeSet<usize> {
                    places.iter().map(line).collect()
                };
                prop_assert_eq!(lines(&found), lines(&all));
            } else {
                prop_assert!(ends.len() <= stop_after.max(1));
            }
        }
    }
}
