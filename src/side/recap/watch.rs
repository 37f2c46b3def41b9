//! Recaps for a user who returns to the terminal.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::gate::{Away, AwayAction, Situation};
use crate::io::{CancelToken, Clock, FocusTerminal};
use crate::side::Excerpt;

/// Interval between reads of the session.
const TICK: Duration = Duration::from_millis(500);

/// The key that ends watching.
const QUIT: u8 = b'q';

/// Watches `terminal` until it is closed, `stop` fires, or the user types `q`. `look` reads the session,
/// `make` makes a recap, and says whether it succeeded, `show` prints it.
///
/// # Errors
/// The terminal cannot be read, or `show` failed.
pub fn watch_terminal<Recap, Error: From<io::Error>>(
    terminal: &mut FocusTerminal,
    away: Duration,
    clock: &Arc<dyn Clock>,
    stop: &CancelToken,
    look: &mut dyn FnMut() -> Option<Excerpt>,
    make: &mut dyn FnMut() -> (Recap, bool),
    show: &mut dyn FnMut(Recap) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut state = Away::new(away);
    // Number of messages at the last recap.
    let mut recapped = None;
    while !stop.is_cancelled() {
        let Some(focused) = terminal.focus(TICK, QUIT)? else {
            return Ok(());
        };
        let Some(excerpt) = look() else {
            continue;
        };
        let situation = Situation {
            now: clock.now(),
            focused,
            idle: excerpt.gate().is_idle(),
            enough_new: excerpt.gate().has_enough_new() && recapped != Some(excerpt.messages()),
        };
        if state.observe(situation) == AwayAction::Start {
            let (recap, is_made) = make();
            if is_made {
                recapped = Some(excerpt.messages());
            }
            let idle = look().is_some_and(|after| after.gate().is_idle());
            if state.finished(idle) {
                show(recap)?;
            }
        }
    }
    Ok(())
}
