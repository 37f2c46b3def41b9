//! Lines of a file from its end to its start, in constant memory whatever the file's size.
//!
//! Windows are taken backwards, but searched forwards: the forward finder is several times as fast
//! as the reverse one.

use std::borrow::Borrow;
use std::fs::File;
use std::io;
use std::ops::Range;

use memchr::{memchr, memrchr, memrchr_iter};

use super::fixed_file::{FixedFile, read_at};
use super::prefilter::Prefilter;
use super::reader::LONGEST_LINE;

/// The size of the very first window, in bytes: what is looked for often stands at the end.
const FIRST_WINDOW: u64 = 16 * 1024;

/// How far from the end the second window begins, in bytes. Those who read the last lines first have
/// read that far.
const NEAR: u64 = 64 * 1024;

/// The size of the next windows, in bytes: they stay in a core's cache.
const SMALL_WINDOW: u64 = 128 * 1024;

/// The size of windows once the search has come far, in bytes: large enough for mappings. They begin
/// at multiples of their size, so that the system can map large pages.
const LARGE_WINDOW: u64 = 8 * 1024 * 1024;

/// How far a search goes before windows become large, in bytes.
const LONG_WAY: u64 = 2 * 1024 * 1024;

/// Longer lines are skipped, in bytes. The records that are searched for are small; a large one only
/// quotes a needle.
const LONGEST_HIT: u64 = 4 * 1024 * 1024;

/// A line that holds a needle.
#[derive(Debug, Clone, Copy)]
pub struct Hit<'a> {
    /// The line without its newline.
    pub line: &'a [u8],
    /// Where it starts in the file, in bytes.
    pub offset: u64,
}

/// Whether a search goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchControl {
    /// It ends.
    Stop,
    /// It goes on down to this place, in bytes from the start of the file.
    DownTo(u64),
    /// It goes on to the start of the file, or to the place that was named before.
    Continue,
}

/// Shows the lines that hold one of `needles` to `visit`, the last one first. Lines of more than 4 MiB
/// are skipped.
///
/// # Errors
/// Reading failed.
pub fn search_backward<Source: Borrow<File>>(
    file: &mut FixedFile<Source>,
    needles: &[&str],
    visit: &mut dyn FnMut(Hit<'_>) -> SearchControl,
) -> io::Result<()> {
    let wanted = Prefilter::new(needles).map_err(io::Error::other)?;
    // A needle may lie across the end of a window.
    let longest = needles.iter().map(|needle| needle.len() as u64).max();
    let overlap = longest.unwrap_or(0).saturating_sub(1);
    let length = file.length();
    let mut search = Search {
        floor: 0,
        visited: length + 1,
        barren: 0..0,
    };
    let mut end = length;
    while end > search.floor {
        let start = match length - end {
            0 => end.saturating_sub(FIRST_WINDOW),
            way if way < NEAR => length.saturating_sub(NEAR),
            way if way < LONG_WAY => end.saturating_sub(SMALL_WINDOW),
            _ => (end - 1) / LARGE_WINDOW * LARGE_WINDOW,
        };
        let (window, handle) = file.window_of_file(start..(end + overlap).min(length))?;
        for hit in last_on_lines(&wanted, window).into_iter().rev() {
            if !search.visit_hit(window, handle, start, hit, length, visit)? {
                return Ok(());
            }
        }
        end = start;
    }
    Ok(())
}

/// The last place of a needle on each line of the window.
fn last_on_lines(wanted: &Prefilter, window: &[u8]) -> Vec<usize> {
    let mut places: Vec<usize> = Vec::new();
    let mut from = 0;
    while let Some(place) = wanted.find(window, from) {
        from = place + 1;
        match places.last_mut() {
            Some(last) if memchr(b'\n', &window[*last..place]).is_none() => *last = place,
            _ => places.push(place),
        }
    }
    places
}

struct Search {
    /// Needles before this place do not count.
    floor: u64,
    /// Where the last line starts that was visited.
    visited: u64,
    /// A stretch without a newline, too long for a hit.
    barren: Range<u64>,
}

impl Search {
    /// Visits the line around a needle at `hit` in the window that starts at `start`; false once
    /// the search is over.
    fn visit_hit(
        &mut self,
        window: &[u8],
        handle: &File,
        start: u64,
        hit: usize,
        length: u64,
        visit: &mut dyn FnMut(Hit<'_>) -> SearchControl,
    ) -> io::Result<bool> {
        let place = start + hit as u64;
        if place < self.floor {
            return Ok(false);
        }
        if place >= self.visited || self.barren.contains(&place) {
            return Ok(true);
        }
        let inner_start = memrchr(b'\n', &window[..hit]).map(|at| at + 1);
        let inner_end = memchr(b'\n', &window[hit..]).map(|at| hit + at);
        let mut crossing = Vec::new();
        let line = if let (Some(from), Some(to)) = (inner_start, inner_end) {
            self.visited = start + from as u64;
            &window[from..to]
        } else {
            let Some(line) = self.line_around(handle, place, length)? else {
                return Ok(true);
            };
            self.visited = line.start;
            crossing.resize(usize::try_from(line.end - line.start).unwrap_or(0), 0);
            let filled = read_at(handle, &mut crossing, line.start)?;
            &crossing[..filled]
        };
        let control = visit(Hit {
            line,
            offset: self.visited,
        });
        if let SearchControl::DownTo(floor) = control {
            self.floor = self.floor.max(floor);
        }
        Ok(control != SearchControl::Stop)
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

/// Gets the place of a line and the line; returns whether to go on with the line before it.
pub type VisitLine<'a> = dyn FnMut(Range<u64>, Option<&[u8]>) -> bool + 'a;

/// Shows the lines to `visit`, the last one first, until it returns false: where each stands, and the
/// line itself unless it is too long to be read. Both include the newline, which the last line of a
/// file may lack.
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
