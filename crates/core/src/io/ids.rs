//! Sources of ids; injectable.

use std::sync::atomic::{AtomicU64, Ordering};

use uuid::Uuid;

/// A source of new ids.
pub trait Ids: std::fmt::Debug + Send + Sync {
    /// Returns a version 4 UUID.
    fn uuid(&self) -> Uuid;
}

/// Random ids, from the system.
#[derive(Debug, Default)]
pub struct RandomIds;

impl Ids for RandomIds {
    fn uuid(&self) -> Uuid {
        Uuid::new_v4()
    }
}

/// Reproducible ids (`TURNPIPE_ID_SEED`): the same seed gives the same sequence.
#[derive(Debug)]
pub struct SeededIds {
    state: AtomicU64,
}

impl SeededIds {
    /// Starts the sequence of `seed`.
    pub fn new(seed: u64) -> Self {
        Self {
            state: AtomicU64::new(seed),
        }
    }

    /// Starts the sequence of `seed` for one stage of a pipeline; each stage gets different ids.
    pub fn for_stage(seed: u64, stage: &str) -> Self {
        let salt = stage.bytes().fold(0_u64, |salt, byte| {
            (salt ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self::new(seed ^ salt)
    }

    /// Returns the next number of `SplitMix64`.
    fn next(&self) -> u64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut word = self
            .state
            .fetch_add(STEP, Ordering::Relaxed)
            .wrapping_add(STEP);
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }
}

impl Ids for SeededIds {
    fn uuid(&self) -> Uuid {
        let mut bytes = [0_u8; 16];
        for half in bytes.chunks_exact_mut(8) {
            half.copy_from_slice(&self.next().to_le_bytes());
        }
        uuid::Builder::from_random_bytes(bytes).into_uuid()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_ids() {
        let (a, b) = (SeededIds::new(7), SeededIds::new(7));
        let first: Vec<_> = (0..4).map(|_| a.uuid()).collect();
        let second: Vec<_> = (0..4).map(|_| b.uuid()).collect();
        assert_eq!(first, second);
        assert_ne!(first[0], first[1]);
        assert_eq!(first[0].get_version_num(), 4);
    }

    #[test]
    fn stages_of_a_pipeline_get_different_ids() {
        let (one, other) = (
            SeededIds::for_stage(7, "run-tools"),
            SeededIds::for_stage(7, "session append"),
        );
        assert_ne!(one.uuid(), other.uuid());
    }

    #[test]
    fn random_ids_differ() {
        assert_ne!(RandomIds.uuid(), RandomIds.uuid());
    }
}
