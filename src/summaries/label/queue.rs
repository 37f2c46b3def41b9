//! Lines of a stream and the labels between them, in output order. Pure: the caller passes the time.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The next output.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Output<Label> {
    /// Bytes of the input.
    Bytes(Vec<u8>),
    /// A label.
    Label(Label),
    /// The label of this batch was not ready in time.
    Late(u64),
}

/// Lines and labels that wait for output.
#[derive(Debug)]
pub(super) struct Queue<Label> {
    hold: Duration,
    slots: VecDeque<Slot<Label>>,
    bytes: usize,
}

#[derive(Debug)]
enum Slot<Label> {
    Bytes(Vec<u8>),
    /// The label of this batch, dropped at the given time. Later lines arrived after it, so no line
    /// waits longer than `hold`, however many labels precede it.
    Waiting(u64, Instant),
    Ready(Label),
}

impl<Label> Queue<Label> {
    /// Creates an empty queue. No line waits longer than `hold`.
    pub(super) fn new(hold: Duration) -> Self {
        Self {
            hold,
            slots: VecDeque::new(),
            bytes: 0,
        }
    }

    /// Appends bytes of the input.
    pub(super) fn push_bytes(&mut self, bytes: Vec<u8>) {
        self.bytes += bytes.len();
        self.slots.push_back(Slot::Bytes(bytes));
    }

    /// Reserves a position for the label of a batch that is not ready.
    pub(super) fn push_waiting(&mut self, batch: u64, now: Instant) {
        self.slots.push_back(Slot::Waiting(batch, now + self.hold));
    }

    /// Appends a label that is ready.
    pub(super) fn push_ready(&mut self, label: Label) {
        self.slots.push_back(Slot::Ready(label));
    }

    /// Sets the label of a batch at its position, or appends it if the queue no longer waits for it. Returns whether the
    /// label was in time.
    pub(super) fn add(&mut self, batch: u64, label: Label) -> bool {
        let slot = self
            .slots
            .iter_mut()
            .find(|slot| matches!(slot, Slot::Waiting(waiting, _) if *waiting == batch));
        let is_awaited = slot.is_some();
        match slot {
            Some(slot) => *slot = Slot::Ready(label),
            None => self.push_ready(label),
        }
        is_awaited
    }

    /// Returns the next output that is due.
    pub(super) fn pop(&mut self, now: Instant) -> Option<Output<Label>> {
        if self.deadline().is_some_and(|deadline| now < deadline) {
            return None;
        }
        Some(match self.slots.pop_front()? {
            Slot::Waiting(batch, _) => Output::Late(batch),
            Slot::Bytes(bytes) => {
                self.bytes -= bytes.len();
                Output::Bytes(bytes)
            }
            Slot::Ready(label) => Output::Label(label),
        })
    }

    /// Returns the time at which the first slot is dropped, if it waits for a label.
    pub(super) fn deadline(&self) -> Option<Instant> {
        match self.slots.front()? {
            Slot::Waiting(_, deadline) => Some(*deadline),
            Slot::Bytes(_) | Slot::Ready(_) => None,
        }
    }

    /// Returns the number of labels that are not ready.
    pub(super) fn waiting(&self) -> usize {
        let waiting = self
            .slots
            .iter()
            .filter(|slot| matches!(slot, Slot::Waiting(..)));
        waiting.count()
    }

    /// Returns the number of bytes of the input in the queue.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether the queue is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Stops waiting for labels.
    pub(super) fn drop_waiting(&mut self) {
        self.slots.retain(|slot| !matches!(slot, Slot::Waiting(..)));
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
        queue.push_waiting(0, start);
        queue.push_bytes(vec![2]);
        assert_eq!(queue.pop(start), Some(Output::Bytes(vec![1])));
        assert_eq!(queue.pop(start), None);
        assert_eq!(queue.deadline(), Some(at(start, 5)));
        assert!(queue.add(0, "a"));
        assert_eq!(queue.pop(at(start, 1)), Some(Output::Label("a")));
        assert_eq!(queue.pop(at(start, 1)), Some(Output::Bytes(vec![2])));
        queue.push_waiting(1, at(start, 2));
        queue.push_bytes(vec![3]);
        assert_eq!(queue.pop(at(start, 2)), None);
        assert_eq!(queue.pop(at(start, 7)), Some(Output::Late(1)));
        assert!(!queue.add(1, "b"));
        assert_eq!(queue.pop(at(start, 7)), Some(Output::Bytes(vec![3])));
        assert_eq!(queue.pop(at(start, 7)), Some(Output::Label("b")));
    }

    #[test]
    fn waits_for_several_labels_do_not_add_up() {
        let start = Instant::now();
        let mut queue: Queue<&str> = Queue::new(HOLD);
        for batch in 0..20 {
            queue.push_waiting(batch, start);
            queue.push_bytes(vec![1]);
        }
        assert_eq!(queue.pop(at(start, 4)), None);
        let mut outputs = 0;
        while queue.pop(at(start, 5)).is_some() {
            outputs += 1;
        }
        assert_eq!(outputs, 40);
    }

    proptest! {
        #[test]
        fn order_is_kept_and_neither_a_byte_nor_a_label_is_lost(
            steps in prop::collection::vec((0_u8..4, 0_u64..9), 0..60),
        ) {
            let start = Instant::now();
            let mut queue: Queue<u64> = Queue::new(HOLD);
            let (mut pushed, mut popped) = (Vec::new(), Vec::new());
            let (mut added, mut labels, mut late) = (Vec::new(), Vec::new(), Vec::new());
            let (mut batch, mut now) = (0, 0);
            for (step, number) in steps {
                match step {
                    0 => {
                        let byte = u8::try_from(number).unwrap();
                        pushed.push(byte);
                        queue.push_bytes(vec![byte]);
                    }
                    1 => {
                        queue.push_waiting(batch, at(start, now));
                        batch += 1;
                    }
                    2 if number < batch && !added.contains(&number) => {
                        let is_late = !queue.add(number, number);
                        prop_assert_eq!(is_late, late.contains(&number));
                        added.push(number);
                    }
                    _ => now += number,
                }
                while let Some(out) = queue.pop(at(start, now)) {
                    match out {
                        Output::Bytes(bytes) => popped.extend(bytes),
                        Output::Label(label) => labels.push(label),
                        Output::Late(batch) => late.push(batch),
                    }
                }
            }
            queue.drop_waiting();
            while let Some(out) = queue.pop(at(start, now)) {
                match out {
                    Output::Bytes(bytes) => popped.extend(bytes),
                    Output::Label(label) => labels.push(label),
                    Output::Late(_) => prop_assert!(false, "nothing waits"),
                }
            }
            prop_assert_eq!(pushed, popped);
            let in_time = labels.iter().filter(|label| !late.contains(label));
            prop_assert!(in_time.is_sorted());
            added.sort_unstable();
            labels.sort_unstable();
            prop_assert_eq!(added, labels);
        }
    }
}
