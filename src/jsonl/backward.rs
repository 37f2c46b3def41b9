//! Lines of a file from its end to its start, in constant memory whatever the file's size.
//!
//! Windows are taken backwards, but searched forwards: the forward finder is several times as fast
//! as the reverse one.

use std::borrow::Borrow;
use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::ops::Range;

use memchr::memmem::Finder;
use memchr::{memchr, memrchr, memrchr_iter};

use super::fixed_file::{FixedFile, read_at};
use super::reader::LONGEST_LINE;
use super::side_by_side::{Cut, last_on_lines, search_windows};

/// The size of the very first window, in bytes: what is looked for often stands at the end.
const FIRST_WINDOW: u64 = 16 * 1024;

/// How far the second window goes, in bytes from the end: as far as those look who read the last
/// lines before, so that it is there already.
const NEAR: u64 = 64 * 1024;

/// The size of the next windows, in bytes: they stay in a core's cache.
const SMALL_WINDOW: u64 = 128 * 1024;

/// The size of windows once the search goes on for long, in bytes, of all threads together: worth
/// mappings, and all that is in memory at a time. They begin at multiples of their size, since the
/// system maps the large pages of its cache at once where they are not cut.
const LARGE_WINDOWS: u64 = 8 * 1024 * 1024;

/// The smallest of them, in bytes: as large as the largest pages.
const LARGE_WINDOW: u64 = 2 * 1024 * 1024;

/// How far a search goes before windows become large, in bytes.
const LONG_WAY: u64 = 2 * 1024 * 1024;

/// How far one thread searches before others help, in bytes: starting them must be worth it.
const WAY_ALONE: u64 = 16 * 1024 * 1024;

/// Longer lines are not handed to searchers, in bytes. What one looks for by its needle are small
/// records; a large one holds the needle in somebody's text.
const LONGEST_HIT: u64 = 4 * 1024 * 1024;

/// A line that holds the needle.
#[derive(Debug, Clone, Copy)]
pub struct Hit<'a> {
    /// The line without its newline.
    pub line: &'a [u8],
    /// Where it starts in the file, in bytes.
    pub offset: u64,
}

/// How far a search goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Onward {
    /// No further.
    Stop,
    /// As far as the needle stands at this place or behind it, in bytes from the start of the file.
    DownTo(u64),
    /// To the start of the file, or as far as was said before.
    Further,
}

/// Shows the lines that hold `needle` to `visit`, the last one first. Lines of more than 4 MiB are
/// passed over.
///
/// # Errors
/// Reading failed.
pub fn search_backward<Source: Borrow<File>>(
    file: &mut FixedFile<Source>,
    needle: &[u8],
    visit: &mut dyn FnMut(Hit<'_>) -> Onward,
) -> io::Result<()> {
    let finder = Finder::new(needle);
    // A needle may lie across the end of a window.
    let overlap = (needle.len() as u64).saturating_sub(1);
    let length = file.length();
    let mut search = Search {
        floor: 0,
        visited: length + 1,
        barren: 0..0,
    };
    let mut end = length;
    while end > search.floor {
        if length - end >= WAY_ALONE && file.threads().get() > 1 {
            file.release();
            return search.side_by_side(file, &finder, end, visit);
        }
        let start = match length - end {
            0 => end.saturating_sub(FIRST_WINDOW),
            way if way < NEAR => length.saturating_sub(NEAR),
            way if way < LONG_WAY => end.saturating_sub(SMALL_WINDOW),
            _ => start_of_window(end, large_window(file.threads())),
        };
        let (window, handle) = file.window_of_file(start..(end + overlap).min(length))?;
        for hit in last_on_lines(&finder, window).into_iter().rev() {
            if !search.at(window, handle, start, hit, length, visit)? {
                return Ok(());
            }
        }
        end = start;
    }
    Ok(())
}

/// The size of one of the large windows of so many threads, in bytes: a power of two.
fn large_window(threads: NonZeroUsize) -> u64 {
    let threads = threads.get() as u64;
    let share = LARGE_WINDOWS / threads.min(LARGE_WINDOWS).next_power_of_two();
    share.max(LARGE_WINDOW)
}

/// Where the window starts that ends at `end`: at a multiple of `size`, in bytes.
pub(super) fn start_of_window(end: u64, size: u64) -> u64 {
    end.saturating_sub(1) / size * size
}

struct Search {
    /// Needles before this place are of no interest.
    floor: u64,
    /// Where the line starts that was visited last.
    visited: u64,
    /// A stretch without a newline, too long for a hit.
    barren: Range<u64>,
}

/// What a needle at some place means.
enum Interest {
    /// Its line is to be visited.
    Some,
    /// Its line was visited, or is too long.
    None,
    /// So far one does not look any more.
    Over,
}

impl Search {
    /// Visits the line around the needle at `hit` in the window that starts at `start`; false once
    /// the search is over.
    fn at(
        &mut self,
        window: &[u8],
        handle: &File,
        start: u64,
        hit: usize,
        length: u64,
        visit: &mut dyn FnMut(Hit<'_>) -> Onward,
    ) -> io::Result<bool> {
        let place = start + hit as u64;
        match self.interest(place) {
            Interest::Over => return Ok(false),
            Interest::None => return Ok(true),
            Interest::Some => {}
        }
        let inner_start = memrchr(b'\n', &window[..hit]).map(|at| at + 1);
        let inner_end = memchr(b'\n', &window[hit..]).map(|at| hit + at);
        let (Some(from), Some(to)) = (inner_start, inner_end) else {
            return self.at_place(handle, place, length, visit);
        };
        self.visited = start + from as u64;
        Ok(self.goes_on(visit(Hit {
            line: &window[from..to],
            offset: self.visited,
        })))
    }

    /// The same for a needle whose line is yet to be read.
    fn at_place(
        &mut self,
        handle: &File,
        place: u64,
        length: u64,
        visit: &mut dyn FnMut(Hit<'_>) -> Onward,
    ) -> io::Result<bool> {
        match self.interest(place) {
            Interest::Over => return Ok(false),
            Interest::None => return Ok(true),
            Interest::Some => {}
        }
        let Some(line) = self.line_around(handle, place, length)? else {
            return Ok(true);
        };
        self.visited = line.start;
        let mut bytes = vec![0; usize::try_from(line.end - line.start).unwrap_or(0)];
        let filled = read_at(handle, &mut bytes, line.start)?;
        Ok(self.goes_on(visit(Hit {
            line: &bytes[..filled],
            offset: self.visited,
        })))
    }

    fn interest(&self, place: u64) -> Interest {
        if place < self.floor {
            Interest::Over
        } else if place >= self.visited || self.barren.contains(&place) {
            Interest::None
        } else {
            Interest::Some
        }
    }

    /// Whether the search goes on after a visit that ended so.
    fn goes_on(&mut self, onward: Onward) -> bool {
        if let Onward::DownTo(floor) = onward {
            self.floor = self.floor.max(floor);
        }
        onward != Onward::Stop
    }

    /// Searches what lies before `end` on several threads.
    fn side_by_side<Source: Borrow<File>>(
        &mut self,
        file: &FixedFile<Source>,
        finder: &Finder<'_>,
        end: u64,
        visit: &mut dyn FnMut(Hit<'_>) -> Onward,
    ) -> io::Result<()> {
        let (handle, length) = (file.file(), file.length());
        let cut = Cut {
            end,
            size: large_window(file.threads()),
        };
        search_windows(file, finder, cut, &mut |searched| {
            if searched.end <= self.floor {
                return Ok(false);
            }
            for place in searched.places.into_iter().rev() {
                if !self.at_place(handle, place, length, visit)? {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }

    /// Where the line around `place` stands; `None` if it is too long.
    fn line_around(
        &mut self,
        handle: &File,
        place: u64,
        length: u64,
    ) -> io::Result<Option<Range<u64>>> {
        let mut buffer = vec![0; 64 * 1024];
        let mut from = place;
        let start = loop {
            if from == 0 {
                break 0;
            }
            if place - from > LONGEST_HIT {
                self.barren = from..place + 1;
                return Ok(None);
            }
            let step = from.min(buffer.len() as u64);
            let piece = &mut buffer[..usize::try_from(step).unwrap_or(0)];
            let filled = read_at(handle, piece, from - step)?;
            if let Some(at) = memrchr(b'\n', &piece[..filled]) {
                break from - step + at as u64 + 1;
            }
            from -= step;
        };
        let mut to = place;
        loop {
            if to - start > LONGEST_HIT {
                self.barren = start..to;
                return Ok(None);
            }
            let filled = read_at(handle, &mut buffer, to)?;
            let rest = usize::try_from(length - to).unwrap_or(usize::MAX);
            let piece = &buffer[..filled.min(rest)];
            if let Some(at) = memchr(b'\n', piece) {
                return Ok(Some(start..to + at as u64));
            }
            if piece.is_empty() {
                return Ok(Some(start..to));
            }
            to += piece.len() as u64;
        }
    }
}

/// Is shown a line and where it stands; answers whether the one before it is wanted, too.
pub type VisitLine<'a> = dyn FnMut(Range<u64>, Option<&[u8]>) -> bool + 'a;

/// Shows the lines to `visit`, the last one first, until it answers false: where each stands, and the
/// line itself, unless it is too long to be looked into. Both include the newline, which the last
/// line of a file may lack.
///
/// # Errors
/// Reading failed.
pub fn lines_backward<Source: Borrow<File>>(
    file: &mut FixedFile<Source>,
    visit: &mut VisitLine<'_>,
) -> io::Result<()> {
    let length = file.length();
    if length == 0 {
        return Ok(());
    }
    let mut lines = Lines {
        end: length,
        crossing: Vec::new(),
        visit,
    };
    // The newline at the very end starts no line.
    let mut end = length - 1;
    let mut size = FIRST_WINDOW;
    while end > 0 {
        let start = end.saturating_sub(size);
        let behind = if end + 1 == length { length } else { end };
        let (window, handle) = file.window_of_file(start..behind)?;
        let inner = usize::try_from(end - start).unwrap_or(usize::MAX);
        for newline in memrchr_iter(b'\n', &window[..inner.min(window.len())]) {
            let line_start = start + newline as u64 + 1;
            if !lines.next(line_start, window, start, handle)? {
                return Ok(());
            }
        }
        end = start;
        size = (2 * size).min(SMALL_WINDOW);
    }
    let (window, handle) = file.window_of_file(0..lines.end.min(size))?;
    lines.next(0, window, 0, handle)?;
    Ok(())
}

/// The lines of a file from its end.
struct Lines<'a, 'b> {
    /// Where the line before the last one ends.
    end: u64,
    /// A line that lies in more than one window.
    crossing: Vec<u8>,
    visit: &'a mut VisitLine<'b>,
}

impl Lines<'_, '_> {
    /// Shows the line that starts at `from`, from the window that starts at `start` if it is in it;
    /// false if that was the last one that is wanted.
    fn next(&mut self, from: u64, window: &[u8], start: u64, handle: &File) -> io::Result<bool> {
        let place = from..std::mem::replace(&mut self.end, from);
        let length = usize::try_from(place.end - from).unwrap_or(usize::MAX);
        if length > LONGEST_LINE {
            return Ok((self.visit)(place, None));
        }
        let inside = usize::try_from(from - start).unwrap_or(usize::MAX);
        if let Some(line) = inside
            .checked_add(length)
            .and_then(|to| window.get(inside..to))
        {
            return Ok((self.visit)(place, Some(line)));
        }
        self.crossing.resize(length, 0);
        let filled = read_at(handle, &mut self.crossing, from)?;
        Ok((self.visit)(place, Some(&self.crossing[..filled])))
    }
}

#[cfg(test)]
#[path = "backward_tests.rs"]
mod tests;
