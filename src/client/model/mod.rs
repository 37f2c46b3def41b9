//! Model providers: send a request, return a complete reply or a failure. [`Provider`] hides the
//! differences between APIs from other modules.

mod adaptation;
mod connect;
mod exchange;
mod failure;
mod key;
mod outcome;
mod pace;
mod provider;
mod recording;
mod remote;
mod reply;
mod retry;
mod server_error;
mod transport;

#[cfg(test)]
mod encode_tests;
#[cfg(test)]
mod provider_tests;
#[cfg(test)]
mod recording_tests;
#[cfg(test)]
mod test_samples;
#[cfg(test)]
mod test_server;
#[cfg(test)]
mod test_socks_server;

pub use crate::api::{
    Api, Attempts, Delivery, Dialect, DialectOverrides, Function, OutputSchema, PromptId,
    ReplyForm, Request, SharedPrefix, Thinking, Turn,
};
pub use crate::assemble::{ReplyPart, split_think_tags};
pub use connect::{ConnectError, Connector, KeyCheck, ModelDeps};
pub use failure::{EmptyReply, Failure, RefusalScope, Retryability};
pub use key::{KeySource, guess_provider, known_providers};
pub use pace::Pace;
pub use provider::{
    ChosenModel, InvalidModelName, Model, ModelName, ModelSettings, Provider, ProviderSettings,
    RemoteModel, ReplyEvent,
};
pub use recording::{Recorder, RecordingError};
pub use reply::{CallInput, Reply, ReplyCall};
pub use retry::RetryPolicy;
pub use server_error::parse_failure;
