//! Windows of a file searched on several threads, and handed over in order, the last one first.

use std::borrow::Borrow;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use memchr::memchr;
use memchr::memmem::Finder;

use super::backward::start_of_window;
use super::fixed_file::FixedFile;

/// How many stretches of a thread may wait to be taken.
const WAITING: usize = 2;

/// How often stretches are doubled: up to 16 windows.
const LONGEST_STRETCH_DOUBLED: usize = 4;

/// A window of the file.
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
    let threads = file.threads().get();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let lanes: Vec<Receiver<io::Result<Vec<Searched>>>> = (0..threads)
            .map(|number| {
                let (sender, receiver) = sync_channel(WAITING);
                let mut lane = Lane {
                    bytes: file.beside(),
                    finder,
                    cut,
                    is_over: &is_over,
                };
                let stretches = stretches(threads).skip(number).step_by(threads);
                scope.spawn(move || lane.search(stretches, &sender));
                receiver
            })
            .collect();
        let result = visit_in_order(&lanes, visit);
        is_over.store(true, Ordering::Relaxed);
        result
    })
}

fn visit_in_order(
    lanes: &[Receiver<io::Result<Vec<Searched>>>],
    visit: &mut dyn FnMut(Searched) -> io::Result<bool>,
) -> io::Result<()> {
    for lane in lanes.iter().cycle() {
        let Ok(stretch) = lane.recv() else {
            return Ok(());
        };
        for searched in stretch? {
            if !visit(searched)? {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Windows, by their numbers, that a thread searches before it tells what it found. They become more
/// and more: threads that wait for each other often take longer than what lies between.
fn stretches(threads: usize) -> impl Iterator<Item = Range<u64>> {
    let mut begin = 0;
    (0..).map(move |number: usize| {
        let round = (number / threads).min(LONGEST_STRETCH_DOUBLED);
        let stretch = begin..begin + (1 << round);
        begin = stretch.end;
        stretch
    })
}

/// What one thread does.
struct Lane<'a> {
    bytes: FixedFile<&'a File>,
    finder: &'a Finder<'a>,
    cut: Cut,
    /// Nobody wants to know more.
    is_over: &'a AtomicBool,
}

impl Lane<'_> {
    fn search(
        &mut self,
        stretches: impl Iterator<Item = Range<u64>>,
        sender: &SyncSender<io::Result<Vec<Searched>>>,
    ) {
        for stretch in stretches {
            let windows = stretch.map_while(|number| self.cut.window(number));
            let searched: io::Result<Vec<Searched>> = windows
                .take_while(|_| !self.is_over.load(Ordering::Relaxed))
                .map(|window| search_window(&mut self.bytes, self.finder, window))
                .collect();
            let is_end = searched.as_ref().is_ok_and(Vec::is_empty);
            if is_end || sender.send(searched).is_err() {
                return;
            }
        }
    }
}

fn search_window(
    bytes: &mut FixedFile<&File>,
    finder: &Finder<'_>,
    window: Range<u64>,
) -> io::Result<Searched> {
    let overlap = (finder.needle().len() as u64).saturating_sub(1);
    let (start, end) = (window.start, window.end);
    let places = last_on_lines(finder, bytes.window(start..end + overlap)?);
    Ok(Searched {
        end,
        places: places.into_iter().map(|at| start + at as u64).collect(),
    })
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

    #[test]
    fn stretches_follow_each_other_and_become_longer() {
        let stretches: Vec<_> = stretches(2).take(11).collect();
        assert!(stretches.is_sorted_by(|one, next| one.end == next.start));
        let lengths: Vec<u64> = stretches
            .iter()
            .map(|range| range.end - range.start)
            .collect();
        assert_eq!(lengths, [1, 1, 2, 2, 4, 4, 8, 8, 16, 16, 16]);
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
