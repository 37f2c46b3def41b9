//! Lines and labels in the order in which they go out. Pure: times go in.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// What goes out.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Out<Label> {
    /// Bytes of the input.
    Bytes(Vec<u8>),
    /// A label.
    Label(Label),
    /// A label that was not ready in time, by the number of its batch.
    Late(u64),
}

/// Lines and labels that wait to go out.
#[derive(Debug)]
pub(super) struct Queue<Label> {
    hold: Duration,
    slots: VecDeque<Slot<Label>>,
    bytes: usize,
    /// Since when the first slot has held up what follows it.
    held_since: Option<Instant>,
}

#[derive(Debug)]
enum Slot<Label> {
    Bytes(Vec<u8>),
    Waiting(u64),
    /// Nothing, if there is no label after all.
    Ready(Option<Label>),
}

impl<Label> Queue<Label> {
    /// Nothing waits. No line is held up by one label for longer than `hold`.
    pub(super) fn new(hold: Duration) -> Self {
        Self {
            hold,
            slots: VecDeque::new(),
            bytes: 0,
            held_since: None,
        }
    }

    /// Bytes of the input come next.
    pub(super) fn push_bytes(&mut self, bytes: Vec<u8>) {
        self.bytes += bytes.len();
        self.slots.push_back(Slot::Bytes(bytes));
    }

    /// The label of this batch comes next, once it is ready.
    pub(super) fn push_waiting(&mut self, batch: u64) {
        self.slots.push_back(Slot::Waiting(batch));
    }

    /// A label that is ready comes next.
    pub(super) fn push_ready(&mut self, label: Option<Label>) {
        self.slots.push_back(Slot::Ready(label));
    }

    /// The label of a batch is ready, or there will be none. Returns whether its place was waiting.
    pub(super) fn settle(&mut self, batch: u64, label: Option<Label>) -> bool {
        let slot = self
            .slots
            .iter_mut()
            .find(|slot| matches!(slot, Slot::Waiting(waiting) if *waiting == batch));
        match slot {
            Some(slot) => {
                *slot = Slot::Ready(label);
                true
            }
            None => false,
        }
    }

    /// What goes out now, if anything does.
    pub(super) fn pop(&mut self, now: Instant) -> Option<Out<Label>> {
        loop {
            match self.slots.front()? {
                Slot::Waiting(batch) => {
                    let batch = *batch;
                    let since = *self.held_since.get_or_insert(now);
                    if now.duration_since(since) < self.hold {
                        return None;
                    }
                    self.slots.pop_front();
                    self.held_since = None;
                    return Some(Out::Late(batch));
                }
                Slot::Bytes(_) | Slot::Ready(_) => self.held_since = None,
            }
            match self.slots.pop_front()? {
                Slot::Bytes(bytes) => {
                    self.bytes -= bytes.len();
                    return Some(Out::Bytes(bytes));
                }
                Slot::Ready(Some(label)) => return Some(Out::Label(label)),
                Slot::Ready(None) => {}
                Slot::Waiting(_) => return None,
            }
        }
    }

    /// When the first slot is given up, if it holds something up.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.held_since.map(|since| since + self.hold)
    }

    /// How many labels are not ready.
    pub(super) fn waiting(&self) -> usize {
        let waiting = self
            .slots
            .iter()
            .filter(|slot| matches!(slot, Slot::Waiting(_)));
        waiting.count()
    }

    /// How many bytes of the input wait.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Gives up all labels that are not ready.
    pub(super) fn give_up(&mut self) {
        for slot in &mut self.slots {
            if matches!(slot, Slot::Waiting(_)) {
                *slot = Slot::Ready(None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HOLD: Duration = Duration::from_secs(5);

    fn at(start: Instant, seconds: u64) -> Instant {
        start + Duration::from_secs(seconds)
    }

    #[test]
    fn a_label_keeps_its_place_for_a_while() {
        let start = Instant::now();
        let mut queue: Queue<&str> = Queue::new(HOLD);
        queue.push_bytes(vec![1]);
        queue.push_waiting(0);
        queue.push_bytes(vec![2]);
        assert_eq!(queue.pop(start), Some(Out::Bytes(vec![1])));
        assert_eq!(queue.pop(start), None);
        assert_eq!(queue.deadline(), Some(at(start, 5)));
        assert!(queue.settle(0, Some("a")));
        assert_eq!(queue.pop(at(start, 1)), Some(Out::Label("a")));
        assert_eq!(queue.pop(at(start, 1)), Some(Out::Bytes(vec![2])));
        queue.push_waiting(1);
        queue.push_bytes(vec![3]);
        assert_eq!(queue.pop(at(start, 2)), None);
        assert_eq!(queue.pop(at(start, 7)), Some(Out::Late(1)));
        assert!(!queue.settle(1, Some("b")));
        assert_eq!(queue.pop(at(start, 7)), Some(Out::Bytes(vec![3])));
    }

    proptest! {
        #[test]
        fn order_is_kept_and_no_byte_is_lost(steps in prop::collection::vec((0_u8..4, 0_u64..9), 0..60)) {
            let start = Instant::now();
            let mut queue: Queue<u64> = Queue::new(HOLD);
            let (mut pushed, mut popped, mut labels) = (Vec::new(), Vec::new(), Vec::new());
            let (mut batch, mut now) = (0, 0);
            for (step, number) in steps {
                match step {
                    0 => {
                        let byte = u8::try_from(number).unwrap();
                        pushed.push(byte);
                        queue.push_bytes(vec![byte]);
                    }
                    1 => {
                        queue.push_waiting(batch);
                        batch += 1;
                    }
                    2 => {
                        queue.settle(number, Some(number));
                    }
                    _ => now += number,
                }
                while let Some(out) = queue.pop(at(start, now)) {
                    match out {
                        Out::Bytes(bytes) => popped.extend(bytes),
                        Out::Label(label) | Out::Late(label) => labels.push(label),
                    }
                }
            }
            queue.give_up();
            while let Some(out) = queue.pop(at(start, now)) {
                if let Out::Bytes(bytes) = out {
                    popped.extend(bytes);
                }
            }
            prop_assert_eq!(pushed, popped);
            prop_assert!(labels.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }
}
