//! Reads and searches the lines of a file from its end to its start, in constant memory.
//!
//! Windows are read from the end but searched forwards: the forward finder is several times as fast as the
//! reverse one.

use std::borrow::Borrow;
use std::fs::File;
use std::io;
use std::ops::Range;

use memchr::{memchr, memrchr, memrchr_iter};

use super::fixed_file::{FixedFile, fill_at};
use super::piece::Prefilter;
use super::reader::MAX_LINE_BYTES;

/// Size of the first window, in bytes. Matches are often near the end.
const FIRST_WINDOW: u64 = 16 * 1024;

/// Distance of the second window's start from the end of the file, in bytes. Callers that read the last lines
/// first have read this much.
const SECOND_WINDOW_START: u64 = 64 * 1024;

/// Size of the next windows, in bytes: fits into a core's cache.
const SMALL_WINDOW: u64 = 128 * 1024;

/// Size of windows after [`LARGE_WINDOW_AFTER`], in bytes: large enough for mappings. Windows are aligned to
/// their size, so that the kernel can map large pages.
const LARGE_WINDOW: u64 = 8 * 1024 * 1024;

/// Distance from the end of the file after which windows are large, in bytes.
const LARGE_WINDOW_AFTER: u64 = 2 * 1024 * 1024;

/// Maximum length of a matching line, in bytes. Longer lines are skipped: all wanted records are shorter, and a
/// longer one only quotes a needle.
const MAX_HIT_BYTES: u64 = 4 * 1024 * 1024;

/// A line that contains a needle.
#[derive(Debug, Clone, Copy)]
pub struct Hit<'a> {
    /// The line without its newline.
    pub line: &'a [u8],
    /// The byte offset of the line in the file.
    pub offset: u64,
}

/// Continuation of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchControl {
    /// The search ends.
    Stop,
    /// The search continues down to this byte offset.
    DownTo(u64),
    /// The search continues to the start of the file, or to the offset of an earlier `DownTo`.
    Continue,
}

/// Calls `visit` with the lines that contain one of `needles`, the last one first. Lines of more than 4 MiB are
/// skipped.
///
/// # Errors
/// Reading failed.
pub fn search_backward<Source: Borrow<File>>(
    file: &mut FixedFile<Source>,
    needles: &[&str],
    visit: &mut dyn FnMut(Hit<'_>) -> SearchControl,
) -> io::Result<()> {
    let prefilter = Prefilter::new(needles).map_err(io::Error::other)?;
    // A needle may cross the end of a window.
    let longest = needles.iter().map(|needle| needle.len() as u64).max();
    let overlap = longest.unwrap_or(0).saturating_sub(1);
    let length = file.length();
    let mut search = Search {
        floor: 0,
        last_line_start: length + 1,
        skipped: 0..0,
    };
    let mut end = length;
    while end > search.floor {
        let start = match length - end {
            0 => end.saturating_sub(FIRST_WINDOW),
            distance if distance < SECOND_WINDOW_START => {
                length.saturating_sub(SECOND_WINDOW_START)
            }
            distance if distance < LARGE_WINDOW_AFTER => end.saturating_sub(SMALL_WINDOW),
            _ => (end - 1) / LARGE_WINDOW * LARGE_WINDOW,
        };
        let (window, handle) = file.window_and_file(start..(end + overlap).min(length))?;
        for hit in find_last_per_line(&prefilter, window).into_iter().rev() {
            if !search.visit_hit(window, handle, start, hit, length, visit)? {
                return Ok(());
            }
        }
        end = start;
    }
    Ok(())
}

/// Returns the position of the last needle on each line of the window.
fn find_last_per_line(prefilter: &Prefilter, window: &[u8]) -> Vec<usize> {
    let mut positions: Vec<usize> = Vec::new();
    let mut from = 0;
    while let Some(position) = prefilter.find(window, from) {
        from = position + 1;
        match positions.last_mut() {
            Some(last) if memchr(b'\n', &window[*last..position]).is_none() => *last = position,
            _ => positions.push(position),
        }
    }
    positions
}

struct Search {
    /// Matches before this offset are ignored.
    floor: u64,
    /// The start of the last visited line.
    last_line_start: u64,
    /// A range without a newline that is longer than [`MAX_HIT_BYTES`].
    skipped: Range<u64>,
}

impl Search {
    /// Visits the line around a needle at `hit` in the window that starts at `start`. Returns false if the search
    /// stops.
    fn visit_hit(
        &mut self,
        window: &[u8],
        handle: &File,
        start: u64,
        hit: usize,
        length: u64,
        visit: &mut dyn FnMut(Hit<'_>) -> SearchControl,
    ) -> io::Result<bool> {
        let needle_at = start + hit as u64;
        if needle_at < self.floor {
            return Ok(false);
        }
        if needle_at >= self.last_line_start || self.skipped.contains(&needle_at) {
            return Ok(true);
        }
        let inner_start = memrchr(b'\n', &window[..hit]).map(|at| at + 1);
        let inner_end = memchr(b'\n', &window[hit..]).map(|at| hit + at);
        let mut line_buffer = Vec::new();
        let line = if let (Some(from), Some(to)) = (inner_start, inner_end)
            && (to - from) as u64 <= MAX_HIT_BYTES
        {
            self.last_line_start = start + from as u64;
            &window[from..to]
        } else {
            let Some(line) = self.line_around(handle, needle_at, length)? else {
                return Ok(true);
            };
            self.last_line_start = line.start;
            line_buffer.resize(usize::try_from(line.end - line.start).unwrap_or(0), 0);
            let filled = fill_at(handle, &mut line_buffer, line.start)?;
            &line_buffer[..filled]
        };
        let control = visit(Hit {
            line,
            offset: self.last_line_start,
        });
        if let SearchControl::DownTo(floor) = control {
            self.floor = self.floor.max(floor);
        }
        Ok(control != SearchControl::Stop)
    }

    /// Returns the range of the line around `position`, or `None` if it is longer than [`MAX_HIT_BYTES`].
    fn line_around(
        &mut self,
        handle: &File,
        position: u64,
        length: u64,
    ) -> io::Result<Option<Range<u64>>> {
        let mut buffer = vec![0; 64 * 1024];
        let mut from = position;
        let start = loop {
            if from == 0 {
                break 0;
            }
            if position - from > MAX_HIT_BYTES {
                self.skipped = from..position + 1;
                return Ok(None);
            }
            let step = from.min(buffer.len() as u64);
            let piece = &mut buffer[..usize::try_from(step).unwrap_or(0)];
            let filled = fill_at(handle, piece, from - step)?;
            if let Some(at) = memrchr(b'\n', &piece[..filled]) {
                break from - step + at as u64 + 1;
            }
            from -= step;
        };
        let mut to = position;
        loop {
            if to - start > MAX_HIT_BYTES {
                self.skipped = start..to;
                return Ok(None);
            }
            let filled = fill_at(handle, &mut buffer, to)?;
            let rest = usize::try_from(length - to).unwrap_or(usize::MAX);
            let piece = &buffer[..filled.min(rest)];
            if let Some(at) = memchr(b'\n', piece) {
                let end = to + at as u64;
                return Ok((end - start <= MAX_HIT_BYTES).then_some(start..end));
            }
            if piece.is_empty() {
                return Ok(Some(start..to));
            }
            to += piece.len() as u64;
        }
    }
}

/// Receives the range and text of a line; returns whether to continue with the line before it.
pub type LineVisitor<'a> = dyn FnMut(Range<u64>, Option<&[u8]>) -> bool + 'a;

/// Calls `visit` with the range and text of each line, the last one first, until it returns false. The text is
/// `None` if the line is longer than [`MAX_LINE_BYTES`]. Range and text include the newline, which the last line may lack.
///
/// # Errors
/// Reading failed.
pub fn visit_lines_backward<Source: Borrow<File>>(
    file: &mut FixedFile<Source>,
    visit: &mut LineVisitor<'_>,
) -> io::Result<()> {
    let length = file.length();
    if length == 0 {
        return Ok(());
    }
    let mut lines = Lines {
        end: length,
        line_buffer: Vec::new(),
        visit,
    };
    // Newlines before `end` start lines. One at the end of the file does not.
    let mut end = length - 1;
    let mut size = FIRST_WINDOW;
    while end > 0 {
        let start = end.saturating_sub(size);
        let window_end = if end + 1 == length { length } else { end };
        let (window, handle) = file.window_and_file(start..window_end)?;
        let inner = usize::try_from(end - start).unwrap_or(usize::MAX);
        for newline in memrchr_iter(b'\n', &window[..inner.min(window.len())]) {
            let line_start = start + newline as u64 + 1;
            if !lines.visit_next(line_start, window, start, handle)? {
                return Ok(());
            }
        }
        end = start;
        size = (2 * size).min(SMALL_WINDOW);
    }
    let (window, handle) = file.window_and_file(0..lines.end.min(size))?;
    lines.visit_next(0, window, 0, handle)?;
    Ok(())
}

/// State of [`visit_lines_backward`].
struct Lines<'a, 'b> {
    /// The end of the next line.
    end: u64,
    /// A line that crosses windows.
    line_buffer: Vec<u8>,
    visit: &'a mut LineVisitor<'b>,
}

impl Lines<'_, '_> {
    /// Visits the line that starts at `from`, in the window that starts at `start` if it is inside. Returns false
    /// if the caller wants no more lines.
    fn visit_next(
        &mut self,
        from: u64,
        window: &[u8],
        start: u64,
        handle: &File,
    ) -> io::Result<bool> {
        let range = from..std::mem::replace(&mut self.end, from);
        let length = usize::try_from(range.end - from).unwrap_or(usize::MAX);
        if length > MAX_LINE_BYTES {
            return Ok((self.visit)(range, None));
        }
        let offset_in_window = usize::try_from(from - start).unwrap_or(usize::MAX);
        if let Some(line) = offset_in_window
            .checked_add(length)
            .and_then(|to| window.get(offset_in_window..to))
        {
            return Ok((self.visit)(range, Some(line)));
        }
        self.line_buffer.resize(length, 0);
        let filled = fill_at(handle, &mut self.line_buffer, from)?;
        Ok((self.visit)(range, Some(&self.line_buffer[..filled])))
    }
}

#[cfg(test)]
#[path = "backward_tests.rs"]
mod tests;
