//! `session search --rank`: prints the sessions that match some words best.

use super::hits::{HitDetail, HitPrinter};
use super::source::MatchArguments;
use crate::cmd::{Form, Globals, InputErrors, Status, UsageError, output};
use crate::io::Io;
use crate::records::SessionRankedRecord;
use crate::session::search::{QueryWords, RankedSession, rank_all};
use crate::session::{Depth, session_description};
use crate::view::ProgressLine;

/// Number of sessions, unless `--limit` is given.
const DEFAULT_LIMIT: usize = 10;

/// Prints the best sessions, at most `limit`.
///
/// # Errors
/// There are no words, or writing failed.
pub(crate) fn rank(
    words: &str,
    matching: &MatchArguments,
    limit: Option<usize>,
    form: Form,
    globals: &Globals,
    io: &mut Io,
) -> anyhow::Result<Status> {
    let Some(words) = QueryWords::new(words) else {
        return Err(UsageError::new("no words to search for").into());
    };
    let mut listing = matching.listing(Depth::Ends, io.clock.as_ref());
    let mut errors = InputErrors::new(&io.messages);
    matching.source.check_roots(&mut errors);
    let candidates = matching.source.candidates(&io.environment);
    let progress = ProgressLine::of_sessions("searching", candidates.len(), io);
    listing.examined = progress.done();
    let limit = limit.unwrap_or(DEFAULT_LIMIT);
    let (ranked, failed) = rank_all(&candidates, &listing, &words, limit);
    drop(progress);
    errors.report_all(failed);
    if candidates.is_empty() && form == Form::Text {
        matching.source.note_none(0, io);
    }
    let status = errors.outcome(Status::negative_if(ranked.is_empty()));
    match form {
        Form::Text => {
            let mut printer = HitPrinter::new(form, HitDetail::Hits, globals, io)?;
            for RankedSession {
                session, passage, ..
            } in ranked
            {
                printer.session(*session, None)?;
                if let Some(passage) = passage {
                    printer.hit(passage)?;
                }
            }
            printer.finish()?;
        }
        Form::Jsonl => {
            let mut writer = output::writer(form, io)?;
            for (rank, ranked) in (1..).zip(ranked) {
                writer.record(&record(rank, ranked, words.as_slice()))?;
            }
            writer.flush()?;
        }
    }
    Ok(status)
}

fn record(rank: u64, ranked: RankedSession, words: &[String]) -> SessionRankedRecord {
    let session = *ranked.session;
    let time = session.facts.last_activity.map(|time| time.to_string());
    let (line, role, block, snippet) = match ranked.passage {
        Some(hit) => (
            hit.line,
            Some(hit.role),
            Some(hit.place),
            Some(hit.excerpt.text()),
        ),
        None => (None, None, None, None),
    };
    SessionRankedRecord {
        rank,
        score: (ranked.score * 1000.0).round() / 1000.0,
        words: ranked
            .words
            .into_iter()
            .map(|word| words[word].clone())
            .collect(),
        about: session_description(session.path, session.agent, session.facts),
        last_activity: time,
        line,
        role,
        block,
        snippet,
    }
}
