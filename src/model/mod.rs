//! Model providers: a request goes in, a whole reply or the reason of a failure comes out.
//! [`Provider`] hides the differences between APIs from other rooms.

mod adaptation;
mod connect;
mod exchange;
mod failure;
mod key;
mod listener;
mod name;
mod pace;
mod presets;
mod provider;
mod recording;
mod remote;
mod reply;
mod retry;
mod server_error;
mod settings;
mod settle;
mod transport;

#[cfg(test)]
mod encode_tests;
#[cfg(test)]
mod provider_tests;
#[cfg(test)]
mod test_samples;
#[cfg(test)]
mod test_server;
#[cfg(test)]
mod test_socks_server;

pub use crate::api::{
    Answer, Api, Attempts, Delivery, Dialect, DialectOverrides, Function, PromptId, Request,
    SharedPrefix, Thinking, Turn,
};
pub use crate::assemble::{ReplyPart, without_think_tags};
pub use connect::{Connector, KeyCheck, ModelWorld, Unconnectable};
pub use failure::{Cut, Failure, Refused, Retryability, Silence};
pub use key::KeySource;
pub use name::{ModelName, RemoteModel, UnknownModel};
pub use pace::Pace;
pub use presets::{known_for, known_providers};
pub use provider::{Event, Model, Provider};
pub use recording::{Recorder, UnusableRecording};
pub use reply::{Input, Reply, ToolCall};
pub use retry::RetryPolicy;
pub use settings::{ChosenModel, ModelSettings, ProviderSettings};
