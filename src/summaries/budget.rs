//! The cost of a batch of requests: estimated before the first one, and limited while they are sent.

use std::fmt;
use std::sync::Mutex;

use crate::client::model::{Delivery, Provider, Request};
use crate::io::Lock;
use crate::message::Usage;
use crate::session::Prices;
use crate::text::{format_count, format_dollars, format_number};

/// Bytes of a request per token, which is assumed.
const TOKEN_BYTES: usize = 4;

/// The number of requests and their tokens: a quarter of the bytes of their bodies, and replies of maximum length.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Estimate {
    /// Number of requests.
    pub requests: u64,
    usage: Usage,
    dollars: f64,
    is_unpriced: bool,
}

impl Estimate {
    /// Adds a request to a model.
    pub fn add(&mut self, request: &Request, provider: &dyn Provider, prices: &Prices) {
        let bytes = provider.body(request, Delivery::Whole).len();
        let usage = Usage {
            input: bytes.div_ceil(TOKEN_BYTES) as u64,
            output: u64::from(request.max_output_tokens),
            ..Usage::default()
        };
        self.requests += 1;
        self.usage.input += usage.input;
        self.usage.output += usage.output;
        // Each alone: a long prompt may have another price.
        let cost = prices.cost(provider.name(), &usage);
        self.dollars += cost.unwrap_or_default();
        self.is_unpriced |= cost.is_none();
    }

    /// Returns the cost in US dollars; `None` if the model has no price.
    pub fn dollars(&self) -> Option<f64> {
        (!self.is_unpriced).then_some(self.dollars)
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cost = match self.dollars() {
            Some(dollars) => format!("at most {}", format_amount(dollars)),
            None => "the model has no price".to_owned(),
        };
        write!(
            formatter,
            "{}, about {} tokens (4 bytes each), replies of up to {}: {cost}",
            format_count(self.requests, "request", "requests"),
            format_number(self.usage.input),
            format_number(self.usage.output),
        )
    }
}

/// Formats an amount of US dollars; a small one with more digits than cents, rounded up.
pub fn format_amount(dollars: f64) -> String {
    match dollars {
        0.0 => "$0".to_owned(),
        small if small < 1.0 => format!("${:.4}", (small * 1e4).ceil() / 1e4),
        _ => format_dollars(dollars),
    }
}

/// A limit on the cost of the requests of a command.
#[derive(Debug)]
pub struct CostLimit {
    /// The limit in US dollars.
    pub dollars: f64,
    prices: Prices,
    spent: Mutex<f64>,
}

impl CostLimit {
    /// Creates a limit of which nothing is spent.
    pub fn new(dollars: f64, prices: Prices) -> Self {
        Self {
            dollars,
            prices,
            spent: Mutex::default(),
        }
    }

    /// Returns the US dollars that were spent.
    pub fn spent(&self) -> f64 {
        *self.spent.lock_anyway()
    }

    /// Whether nothing more may be spent. Requests that are being sent may exceed the limit.
    pub fn is_reached(&self) -> bool {
        self.spent() > self.dollars
    }

    /// Adds the cost of a request: of the reported tokens, or else its estimate.
    pub(super) fn add(&self, request: &Request, provider: &dyn Provider, usage: Option<&Usage>) {
        let model = provider.name();
        let estimated = || {
            let mut estimate = Estimate::default();
            estimate.add(request, provider, &self.prices);
            estimate.dollars()
        };
        let cost = usage.map_or_else(estimated, |usage| self.prices.cost(model, usage));
        *self.spent.lock_anyway() += cost.unwrap_or_default();
    }
}
