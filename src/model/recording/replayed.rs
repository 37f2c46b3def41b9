//! A recording as a model.

use std::sync::Arc;

use super::play::Recording;
use crate::http::Outgoing;
use crate::model::remote::Remote;
use crate::model::{Delivery, Event, Failure, Provider, Reply, Request, Stop};

/// Answers as the recorded models did. The first model that was sent the same request answers.
pub(in crate::model) struct Replayed {
    pub(in crate::model) recording: Arc<Recording>,
    /// The recorded models; at least one.
    pub(in crate::model) first: Remote,
    pub(in crate::model) others: Vec<Remote>,
}

impl Replayed {
    fn models(&self) -> impl Iterator<Item = &Remote> {
        std::iter::once(&self.first).chain(&self.others)
    }

    fn model_for(&self, request: &Request, delivery: Delivery) -> Result<&Remote, Failure> {
        let known = |model: &&Remote| {
            let outgoing = model.shared.outgoing(request, delivery);
            self.recording.knows(&outgoing)
        };
        self.models().find(known).ok_or_else(|| {
            let forms: Vec<Outgoing> = self
                .models()
                .map(|model| model.shared.outgoing(request, delivery))
                .collect();
            self.recording.not_recorded(&forms)
        })
    }
}

impl Provider for Replayed {
    fn name(&self) -> &str {
        self.first.name()
    }

    fn complete(&self, request: &Request, stop: &Stop) -> Result<Reply, Failure> {
        self.model_for(request, Delivery::Whole)?
            .complete(request, stop)
    }

    fn stream(
        &self,
        request: &Request,
        stop: &Stop,
        sink: &mut dyn FnMut(Event),
    ) -> Result<Reply, Failure> {
        self.model_for(request, Delivery::Streamed)?
            .stream(request, stop, sink)
    }

    fn body(&self, request: &Request, delivery: Delivery) -> String {
        let model = self.model_for(request, delivery).unwrap_or(&self.first);
        model.body(request, delivery)
    }
}
