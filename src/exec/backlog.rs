//! Input that was read and is not passed on yet.

use std::collections::VecDeque;

use super::intake::{Credit, Item};

/// The runner's end of the input.
pub(super) struct Backlog {
    items: VecDeque<Item>,
    credit: Credit,
    has_ended: bool,
}

impl Backlog {
    pub(super) fn new(credit: Credit) -> Self {
        Self {
            items: VecDeque::new(),
            credit,
            has_ended: false,
        }
    }

    pub(super) fn extend(&mut self, items: Vec<Item>) {
        self.items.extend(items);
    }

    /// The input is at its end.
    pub(super) fn end(&mut self) {
        self.has_ended = true;
    }

    pub(super) fn front(&self) -> Option<&Item> {
        self.items.front()
    }

    /// The next item; the reader may read as much more.
    pub(super) fn pop(&mut self) -> Option<Item> {
        let item = self.items.pop_front()?;
        self.credit.give_back(item.piece.raw().len());
        Some(item)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Whether nothing more comes.
    pub(super) fn is_done(&self) -> bool {
        self.has_ended && self.items.is_empty()
    }
}
