//! The cost of a batch of requests: estimated before the first one, and limited while they are sent.

use std::fmt;
use std::sync::Mutex;

use crate::client::model::{Delivery, Provider, Request};
use crate::io::Lock;
use crate::message::Usage;
use crate::session::Prices;
use crate::text::{format_count, format_dollars, format_number};

/// Assumed number of bytes of a request per token.
const TOKEN_BYTES: usize = 4;

/// An estimate for requests: their number, their tokens and their cost. The input has one token per `TOKEN_BYTES` of the
/// bodies; replies have their maximum length.
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
        // Priced one by one, because tokens of long prompts may cost more.
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

/// Formats an amount of US dollars: below one dollar with four decimals, rounded up.
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
    /// Creates a limit in US dollars with nothing spent.
    pub fn new(dollars: f64, prices: Prices) -> Self {
        Self {
            dollars,
            prices,
            spent: Mutex::default(),
        }
    }

    /// Returns the cost of the requests so far, in US dollars.
    pub fn spent(&self) -> f64 {
        *self.spent.lock_anyway()
    }

    /// Whether the requests cost more than the limit, so that no more may be sent. Requests under way still add to the cost.
    pub fn is_exceeded(&self) -> bool {
        self.spent() > self.dollars
    }

    /// Adds the cost of a request: of the reported tokens, or else its estimate.
    pub(super) fn add(&self, request: &Request, provider: &dyn Provider, usage: Option<&Usage>) {
        let model = provider.name();
        let estimate_cost = || {
            let mut estimate = Estimate::default();
            estimate.add(request, provider, &self.prices);
            estimate.dollars()
        };
        let cost = usage.map_or_else(estimate_cost, |usage| self.prices.cost(model, usage));
        *self.spent.lock_anyway() += cost.unwrap_or_default();
    }
}
