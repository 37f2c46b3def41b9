//! Gates: conditions that fail a command.

use crate::commands::Status;
use crate::io::Io;
use crate::records::GateResult;

/// Parses an amount of US dollars.
pub(crate) fn parse_amount(text: &str) -> Result<f64, &'static str> {
    let amount = text.parse().ok();
    amount
        .filter(|amount: &f64| amount.is_finite() && *amount >= 0.0)
        .ok_or("not an amount of US dollars, such as 20 or 2.50")
}

/// Reports the gates that failed. Returns the exit status.
pub(crate) fn report_failed_gates(gates: &[GateResult], io: &Io) -> Status {
    let mut status = Status::Done;
    for gate in gates.iter().filter(|gate| !gate.passed) {
        let problem = format!("gate failed: {}: {}", gate.gate, gate.message);
        io.messages.error(&problem);
        status = Status::GateFailed;
    }
    status
}
