//! A recording used as a model.

use std::sync::Arc;

use super::play::Recording;
use crate::http::Outgoing;
use crate::io::CancelToken;
use crate::model::remote::Remote;
use crate::model::{Delivery, Failure, Provider, Reply, ReplyEvent, Request};

/// Replays recorded models. The first model with the same recorded request is used.
pub(in crate::model) struct Replayed {
    pub(in crate::model) recording: Arc<Recording>,
    /// The recorded models; at least one.
    pub(in crate::model) models: Vec<Remote>,
}

impl Replayed {
    fn model_for(&self, request: &Request, delivery: Delivery) -> Result<&Remote, Failure> {
        let form = |model: &Remote| {
            let shared = &model.shared;
            shared.outgoing(&shared.dialect(), request, delivery)
        };
        let forms: Vec<Outgoing> = self.models.iter().map(form).collect();
        let mut models = self.models.iter().zip(&forms);
        let known = models.find(|(_, form)| self.recording.knows(form));
        known
            .map(|(model, _)| model)
            .ok_or_else(|| self.recording.not_recorded(&forms))
    }
}

impl Provider for Replayed {
    fn name(&self) -> &str {
        self.models.first().map_or("", Remote::name)
    }

    fn ask(
        &self,
        request: &Request,
        delivery: Delivery,
        stop: &CancelToken,
        sink: &mut dyn FnMut(ReplyEvent),
    ) -> Result<Reply, Failure> {
        let model = self.model_for(request, delivery)?;
        model.ask(request, delivery, stop, sink)
    }

    fn body(&self, request: &Request, delivery: Delivery) -> String {
        let model = self
            .model_for(request, delivery)
            .ok()
            .or(self.models.first());
        model.map_or_else(String::new, |model| model.body(request, delivery))
    }
}
