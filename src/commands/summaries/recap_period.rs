//! The recap of a period or a project: one text about all selected sessions.

use std::ops::ControlFlow;
use std::sync::Arc;

use jiff::Timestamp;

use crate::commands::error::ModelFailures;
use crate::commands::model_arguments::new_nothing_to_send_error;
use crate::commands::summaries::per_session::{PerSessionArguments, Runner, SessionOutput};
use crate::commands::summaries::recap::new_recap_record;
use crate::commands::{Form, InputErrors, Status, UsageError, output};
use crate::io::Io;
use crate::records::{RecapRecord, ReportedSession, SessionReportRecord};
use crate::render::{ProgressLine, Style, recap_page, recap_sums};
use crate::session::{CallEvent, Depth, discover_paths, visit_all_calls};
use crate::summaries::{Asker, Estimate, GeneratedText, ReportBuilder, Text, TextEngine};

impl Runner {
    /// Prints one recap of the period over the sessions that the arguments select.
    ///
    /// # Errors
    /// The arguments are invalid, or reading or writing failed.
    pub(crate) fn recap_period(
        &self,
        arguments: &PerSessionArguments,
        style: Style,
        io: &mut Io,
    ) -> anyhow::Result<Status> {
        let is_dry_run = arguments.side.model.dry_run;
        let asker = match &self.driver.generator.engine {
            TextEngine::Model(asker) => Some(asker),
            _ if is_dry_run => return Err(new_nothing_to_send_error().into()),
            TextEngine::Rules | TextEngine::None => None,
        };
        let mut errors = InputErrors::new(&io.messages);
        let report = self.report_on_period(arguments, &mut errors, io)?;
        if report.sessions.is_empty() || self.stop.stop.is_cancelled() {
            if !errors.any && report.sessions.is_empty() {
                arguments.source.report_none_found(0, io);
            }
            return Ok(self.stop.or(errors.to_status(Status::Done)));
        }
        let zone = io.clock.time_zone();
        let sums = recap_sums(&report);
        let digest = recap_page(&report, &zone, None);
        let mut failures = ModelFailures::new(&io.messages);
        let text = match asker {
            None => Ok(Text::builtin(sums)),
            Some(asker) => {
                if let Some(status) = self.announce_period(asker, &digest, is_dry_run, io)? {
                    return Ok(errors.to_status(status));
                }
                let _progress = ProgressLine::new_spinner(self.work, io);
                self.driver.generator.period_text(&digest)
            }
        };
        let written = usize::from(text.is_ok());
        if let Err(no_text) = &text
            && let Some(failure) = &no_text.failure
        {
            failures.report(failure);
        }
        if self.form == Form::Jsonl {
            let output = SessionOutput {
                is_alone: true,
                path: None,
                session_id: None,
                result: text.map(GeneratedText::from),
            };
            let record = RecapRecord {
                sessions: report.sessions,
                ..new_recap_record(output, self)
            };
            output::print_records(&[record], io)?;
        } else {
            let recap = text.ok().filter(|_| asker.is_some());
            let line = recap.map(|text| format!("{}\n\n", style.recap_line(&text.text)));
            let page = recap_page(&report, &zone, io.terminal.columns);
            output::print(io, &(line.unwrap_or_default() + &page))?;
        }
        let outcome = Status::negative_if(arguments.side.exit_status && written == 0);
        Ok(self
            .stop
            .or(failures.outcome(written, false, errors.to_status(outcome))))
    }

    /// Reports on the sessions of a period, sorted by project and time. Only messages, calls and requests in it count.
    fn report_on_period(
        &self,
        arguments: &PerSessionArguments,
        errors: &mut InputErrors,
        io: &Io,
    ) -> anyhow::Result<SessionReportRecord> {
        let source = &arguments.source;
        source.check_roots(errors);
        let mut listing = source.listing(Depth::Ends);
        arguments.apply(&mut listing.selection, io.clock.as_ref());
        listing.learn_projects(&source.candidates(&io.environment));
        let files = source.sessions(&listing, io);
        let candidates = discover_paths(files.iter().map(|files| files.path.clone()));
        let selection = &listing.selection;
        let since = selection.since.unwrap_or(Timestamp::MIN);
        let period = since..selection.until.unwrap_or(Timestamp::MAX);
        let mut builder = ReportBuilder::new(period, Vec::new(), io.environment.clone())?;
        builder.projects = Arc::clone(&selection.projects);
        let progress = ProgressLine::for_sessions("reading", candidates.len(), io);
        visit_all_calls(&candidates, &listing, &mut |event| {
            match event {
                CallEvent::Session(listed) => {
                    progress.advance();
                    let path = listed.path.clone();
                    let here = Some(path.clone());
                    if let Err(no_text) = builder.add_session(*listed, &source.named_roots, here) {
                        let problem = UsageError::new(no_text.error.unwrap_or_default());
                        errors.report(path.display(), &problem);
                    }
                }
                CallEvent::Call(call) => builder.add_call(&call),
                CallEvent::Failed { path, error } => errors.report_all(vec![(path, error)]),
            }
            if self.stop.stop.is_cancelled() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        let (mut report, _) = builder.finish(&self.prices);
        let sessions = &mut report.sessions;
        sessions.sort_by(|one, other| {
            let key = |session: &ReportedSession| {
                let project = session.project.clone();
                let (started, path) = (session.started.clone(), session.about.path.clone());
                (project.is_none(), project, started, path)
            };
            key(one).cmp(&key(other))
        });
        Ok(report)
    }

    /// Prints the request with `--dry-run`, and its estimate. Returns the exit status if the request must not be sent.
    fn announce_period(
        &self,
        asker: &Asker,
        digest: &str,
        is_dry_run: bool,
        io: &mut Io,
    ) -> anyhow::Result<Option<Status>> {
        let request = self.driver.generator.period_request(digest);
        let mut estimate = Estimate::default();
        if is_dry_run {
            let mut writer = output::open_record_writer(io)?;
            self.print_request(asker, &request, &mut estimate, &mut writer)?;
            writer.flush()?;
        } else {
            estimate.add(&request, &*asker.provider, &self.prices);
        }
        let status = self.check_estimate(&estimate, is_dry_run, io);
        Ok(status.or(is_dry_run.then_some(Status::Done)))
    }
}
