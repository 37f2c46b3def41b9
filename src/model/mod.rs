//! Model providers: a request in neutral form goes in, a whole reply or a reason comes out.
//!
//! What is asked, and what the answer is good for, is not known here; neither are files of
//! sessions. [`Provider`] is all that other rooms see of an API.

mod failure;
mod name;
mod prompt_id;
mod provider;
mod reply;
mod request;
mod stop;
mod structured;

pub use failure::{Cut, Failure, Prospect, Silence};
pub use name::{ModelName, RemoteModel, UnknownModel};
pub use prompt_id::PromptId;
pub use provider::{Delivery, Event, Model, Provider};
pub use reply::{Finish, Input, Reply, ToolCall};
pub use request::{Answer, Attempts, Function, Request, SharedPrefix, Speaker, Thinking, Turn};
pub use stop::Stop;
pub use structured::Unstructured;
