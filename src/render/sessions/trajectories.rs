//! Sessions as trajectories, each with its subagents and images.

use std::collections::HashSet;
use std::error::Error;
use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::export_folder::ExportFolder;
use crate::agent::{Facts, NamedRoots};
use crate::message::{Media, Thread, Usage};
use crate::render::{
    Subagent, TrajectoryAgent, TrajectoryContext, TrajectoryHead, TrajectoryWriter,
};
use crate::session::ListedSession;
use crate::session::Prices;
use crate::session::Scope;
use crate::session::Session;
use crate::session::SessionError;
use crate::session::Tally;
use crate::session::subagent_files;
use crate::text::sha256;

/// The directory of images, next to the trajectories.
const IMAGES: &str = "images";

/// The trajectory of the subagents whose messages are in the file of their session.
const SUBAGENTS: &str = "subagents";

/// A trajectory to write.
struct Trajectory<'a> {
    listed: &'a ListedSession,
    session: Session,
    /// Its id, if it is embedded.
    id: Option<&'a str>,
    /// The messages to write, or all.
    thread: Option<Thread>,
    /// The tokens of its steps.
    own: Usage,
    /// The tokens of the whole trajectory; `None` if they are not written.
    total: Option<Usage>,
}

/// The reason why a trajectory cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum TrajectoryError {
    /// The session cannot be read.
    #[error(transparent)]
    Read(SessionError),
    /// Writing failed.
    #[error(transparent)]
    Write(#[from] io::Error),
}

impl TrajectoryError {
    fn read(error: impl Into<SessionError>) -> Self {
        Self::Read(error.into())
    }
}

/// Settings to write trajectories.
pub struct Trajectories<'a> {
    /// The prices of requests.
    pub prices: &'a Prices,
    /// The directory of the images.
    pub folder: &'a ExportFolder,
    /// The agents of the configuration.
    pub named_roots: &'a NamedRoots,
    /// Whether secrets are replaced.
    pub redact: bool,
    /// Returns the sessions that a session continues, oldest first.
    pub ancestors: &'a dyn Fn(&Session, &Facts) -> Vec<Session>,
}

impl Trajectories<'_> {
    /// Writes a session. The trajectories of its subagents, in `started`, are named by `links`.
    ///
    /// # Errors
    /// Reading or writing failed.
    pub fn write(
        &self,
        listed: &ListedSession,
        started: &[Box<ListedSession>],
        links: &[Subagent],
        out: &mut dyn Write,
    ) -> Result<(), TrajectoryError> {
        let counted = subagent_files(&listed.path, listed.agent);
        let mut main = self.open_trajectory(listed, None)?;
        let mut subagents = Vec::new();
        for (subagent, link) in started.iter().zip(links) {
            let trajectory = self.open_trajectory(subagent, Some(&link.page))?;
            if !counted.contains(&subagent.path) {
                main.total = main.total.zip(trajectory.total).map(|(mut all, usage)| {
                    all += usage;
                    all
                });
            }
            subagents.push(trajectory);
        }
        main.thread = (!listed.facts.is_subagent).then_some(Thread::Main);
        let (remaining, is_whole) = self.write_steps(&main, links, out)?;
        if !is_whole {
            let others = Trajectory {
                id: Some(SUBAGENTS),
                thread: Some(Thread::Subagent),
                own: remaining,
                total: None,
                ..main
            };
            subagents.insert(0, others);
        }
        for (index, trajectory) in subagents.iter().enumerate() {
            let separator = if index == 0 {
                ",\n\"subagent_trajectories\":["
            } else {
                ","
            };
            out.write_all(separator.as_bytes())?;
            self.write_steps(trajectory, &[], out)?;
            out.write_all(b"}")?;
        }
        let end = if subagents.is_empty() { "}\n" } else { "]}\n" };
        Ok(out.write_all(end.as_bytes())?)
    }

    fn open_trajectory<'a>(
        &self,
        listed: &'a ListedSession,
        id: Option<&'a str>,
    ) -> Result<Trajectory<'a>, TrajectoryError> {
        let session =
            Session::open_with(&listed.path, self.named_roots).map_err(TrajectoryError::read)?;
        let tally = Tally::from_session(&session, self.prices).map_err(TrajectoryError::read)?;
        let usage = tally.total().spending.usage;
        Ok(Trajectory {
            listed,
            session,
            id,
            thread: None,
            own: usage,
            total: Some(usage),
        })
    }

    /// Writes a trajectory without its end. Returns the tokens that are not assigned to a step, and whether all messages were
    /// written.
    fn write_steps(
        &self,
        trajectory: &Trajectory<'_>,
        links: &[Subagent],
        out: &mut dyn Write,
    ) -> Result<(Usage, bool), TrajectoryError> {
        let context = TrajectoryContext {
            subagents: links,
            save: &|media| self.save_image(media),
            price: &|model, usage| self.prices.cost(model, usage),
        };
        let facts = &trajectory.listed.facts;
        let mut writer =
            TrajectoryWriter::new(out, trajectory_head(trajectory), trajectory.own, context)?;
        let copied = match &facts.forked_from {
            Some(_) => trajectory.session.find_copied_records()?,
            None => HashSet::new(),
        };
        let ancestors = (self.ancestors)(&trajectory.session, facts);
        let (mut is_whole, mut omitted) = (true, 0);
        let last = std::iter::once((&trajectory.session, false));
        for (session, is_ancestor) in ancestors
            .iter()
            .map(|ancestor| (ancestor, true))
            .chain(last)
        {
            let messages = session
                .messages(Scope::Live)
                .map_err(TrajectoryError::read)?;
            omitted += messages.count_omitted();
            for message in messages {
                let mut message = message.map_err(TrajectoryError::read)?;
                if trajectory
                    .thread
                    .is_some_and(|thread| thread != message.thread)
                {
                    is_whole = false;
                    if let (Thread::Subagent, Some(call)) = (message.thread, message.parent_call) {
                        writer.add_subagent_reference(call, SUBAGENTS);
                    }
                    continue;
                }
                let is_copy = |id: &String| copied.contains(id);
                let is_copied = is_ancestor || message.uuid.as_ref().is_some_and(is_copy);
                if self.redact {
                    message.redact();
                }
                writer.add_message(message, is_copied)?;
            }
        }
        Ok((writer.finish(trajectory.total.as_ref(), omitted)?, is_whole))
    }

    /// Saves an image under the hash of its content. Returns its path.
    fn save_image(&self, media: &Media) -> io::Result<Option<String>> {
        let data = media.data.as_ref();
        let Some(data) = data.and_then(|data| STANDARD.decode(data).ok()) else {
            return Ok(None);
        };
        let kind = media.media_type.trim_start_matches("image/");
        let name = format!("{IMAGES}/{}.{kind}", &sha256(&data)[..32]);
        self.folder
            .write(
                &name,
                |mut file| -> Result<(), Box<dyn Error + Send + Sync>> {
                    Ok(file.write_all(&data)?)
                },
            )
            .map_err(io::Error::other)?;
        Ok(Some(name))
    }
}

fn trajectory_head(trajectory: &Trajectory<'_>) -> TrajectoryHead {
    let facts = &trajectory.listed.facts;
    let agent = [("cwd", &facts.first_cwd), ("git_branch", &facts.branch)];
    let title = facts.title.as_ref().map(|title| title.text.clone());
    let about = [("title", &title), ("forked_from", &facts.forked_from)];
    let to_member =
        |(name, value): (&'static str, &Option<String>)| Some((name, json!(value.as_ref()?)));
    TrajectoryHead {
        session_id: facts.session_id.clone(),
        trajectory_id: trajectory.id.map(str::to_owned),
        agent: TrajectoryAgent {
            name: trajectory.listed.agent.name(),
            version: "unknown",
            model_name: facts.model.clone(),
            extra: agent.into_iter().filter_map(to_member).collect(),
        },
        extra: about.into_iter().filter_map(to_member).collect(),
        ..TrajectoryHead::default()
    }
}
