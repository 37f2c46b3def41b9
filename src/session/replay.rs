//! Replays a log whose rows change what was there before. Pure.

use std::collections::HashMap;

use super::gemini::Step;
use super::lines::Place;
use super::plan::Pick;

/// The messages that are there now.
#[derive(Debug, Default)]
pub(super) struct Replay {
    rows: Vec<Pick>,
    by_id: HashMap<String, usize>,
    replaced: u64,
}

impl Replay {
    /// Takes the next row.
    pub(super) fn apply(&mut self, step: Step, place: Place) {
        match step {
            Step::Put(id) => self.put(id, Pick { place, item: 0 }),
            Step::Reset(ids) => {
                self.replaced += self.rows.len() as u64;
                self.rows.clear();
                self.by_id.clear();
                for (item, id) in (0..).zip(ids) {
                    self.put(id, Pick { place, item });
                }
            }
            Step::RewindTo(id) => {
                if let Some(at) = self.by_id.get(&id).copied() {
                    self.replaced += (self.rows.len() - at) as u64;
                    self.rows.truncate(at);
                    self.by_id.retain(|_, place| *place < at);
                }
            }
            Step::Nothing => {}
        }
    }

    /// A row that is written again counts as its last writing, at its first place.
    fn put(&mut self, id: String, pick: Pick) {
        if id.is_empty() {
            self.rows.push(pick);
            return;
        }
        if let Some(at) = self.by_id.get(&id) {
            self.rows[*at] = pick;
        } else {
            self.by_id.insert(id, self.rows.len());
            self.rows.push(pick);
        }
    }

    /// Where the messages stand, in order, and how many others were dropped.
    pub(super) fn finish(self) -> (Vec<Pick>, u64) {
        (self.rows, self.replaced)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_replace_each_other() {
        let put = |id: &str| Step::Put(id.to_owned());
        let reset = |ids: &[&str]| Step::Reset(ids.iter().map(|id| (*id).to_owned()).collect());
        let rewind = |id: &str| Step::RewindTo(id.to_owned());
        let rows: [(&[Step], &[(u64, u32)]); 6] = [
            (&[put("a"), put("b"), put("a")], &[(2, 0), (1, 0)]),
            (&[put("a"), reset(&["b", "a"])], &[(1, 0), (1, 1)]),
            (&[put("a"), reset(&["b"]), put("b")], &[(2, 0)]),
            (
                &[put("a"), put("b"), rewind("b"), put("c")],
                &[(0, 0), (3, 0)],
            ),
            (&[put("a"), rewind("x")], &[(0, 0)]),
            (&[put("a"), put("b"), rewind("a"), put("b")], &[(3, 0)]),
        ];
        for (steps, expected) in rows {
            let mut replay = Replay::default();
            for (offset, step) in (0..).zip(steps) {
                let place = Place {
                    offset,
                    length: 1,
                    index: 0,
                };
                replay.apply(step.clone(), place);
            }
            let (picks, _) = replay.finish();
            let picks: Vec<_> = picks
                .iter()
                .map(|pick| (pick.place.offset, pick.item))
                .collect();
            assert_eq!(picks, expected, "{steps:?}");
        }
    }
}
