//! Model providers: a request in neutral form goes in, a whole reply or a reason comes out.
//!
//! What is asked, and what the answer is good for, is not known here; neither are files of
//! sessions. [`Provider`] is all that other rooms see of an API.

mod adaptation;
mod apis;
mod clean;
mod connect;
mod dialect;
mod draft;
mod exchange;
mod failure;
mod key;
mod listener;
mod name;
mod presets;
mod prompt_id;
mod provider;
mod recording;
mod remote;
mod reply;
mod request;
mod retry;
mod server_error;
mod settings;
mod split_text;
mod stop;
mod structured;
mod think_tags;
mod transport;

#[cfg(test)]
mod provider_tests;
#[cfg(test)]
mod socks_server;
#[cfg(test)]
mod test_server;

pub use connect::{Connector, KeyCheck, ModelWorld, Unconnectable};
pub use dialect::{Api, CacheMarks, Dialect, DialectOverrides, ForcedCall, JsonForm, Temperature};
pub use failure::{Cut, Failure, Prospect, Silence};
pub use key::KeySource;
pub use name::{ModelName, RemoteModel, UnknownModel};
pub use presets::known_providers;
pub use prompt_id::PromptId;
pub use provider::{Delivery, Event, Model, Provider};
pub use recording::{Recorder, UnusableRecording};
pub use reply::{Finish, Input, Reply, ToolCall};
pub use request::{Answer, Attempts, Function, Request, SharedPrefix, Thinking, Turn};
pub use retry::{Decision, Retry, RetryPolicy};
pub use settings::{ChosenModel, ModelSettings, ProviderSettings};
pub use stop::Stop;
pub use structured::Unstructured;
