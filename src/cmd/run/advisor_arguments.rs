//! Arguments of commands that can offer the tool `Advisor`.

use std::sync::Arc;

use clap::Args;

use crate::cmd::run::guards::provider;
use crate::cmd::{Globals, UsageError};
use crate::io::Io;
use crate::model::KeyCheck;
use crate::side::{Advisor, Briefing, Consultant, Cost};
use crate::tools::Registry;

#[derive(Debug, Args)]
pub(crate) struct AdvisorArguments {
    /// Offer the tool `Advisor`, so that the model can ask this other model for advice; `none` omits it
    #[arg(long, value_name = "MODEL", hide_short_help = true)]
    advisor_model: Option<String>,
}

impl AdvisorArguments {
    /// Adds the declaration of the tool if a model is configured for it. Keys are not needed.
    ///
    /// # Errors
    /// As in [`Self::add`].
    pub(crate) fn offer(
        &self,
        registry: Registry,
        globals: &Globals,
        io: &Io,
    ) -> Result<Registry, UsageError> {
        let briefing = Briefing::default();
        self.add(registry, &briefing, |_| (), KeyCheck::Optional, globals, io)
    }

    /// Adds the tool if a model is configured for it.
    ///
    /// # Errors
    /// The model cannot be used, or the tool's name is taken.
    pub(crate) fn add(
        &self,
        mut registry: Registry,
        briefing: &Briefing,
        spent: impl Fn(Cost) + Send + Sync + 'static,
        keys: KeyCheck,
        globals: &Globals,
        io: &Io,
    ) -> Result<Registry, UsageError> {
        let chosen = globals
            .config(&io.environment)?
            .advisor(self.advisor_model.as_deref());
        let provider = chosen.map(|chosen| provider(&chosen, keys, globals, io));
        if let Some(provider) = provider.transpose()?.flatten() {
            let spent = Box::new(spent);
            let advisor = Advisor::new(Consultant { provider, spent }, briefing.clone());
            registry
                .add(vec![(Arc::new(advisor), Vec::new())])
                .map_err(UsageError::reason)?;
        }
        Ok(registry)
    }
}
