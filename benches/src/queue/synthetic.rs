//! A tree that is nowhere: what is left are the costs of sharing it out.

use std::hint::black_box;
use std::io;
use std::time::Instant;

use super::{Job, Work};

/// So many directories are in each, as far as there are so many.
const FAN_OUT: u64 = 16;
const FAN_OUT_BITS: u32 = FAN_OUT.trailing_zeros();

/// A tree of directories that are numbers, filled level by level.
#[derive(Debug, Clone, Copy)]
pub struct Synthetic {
    directories: u64,
    /// How long a directory is computed at, in turns of a loop.
    turns: u64,
}

/// A directory of it.
#[derive(Debug, Clone, Copy)]
pub struct Numbered {
    place: u128,
    index: u64,
    depth: u32,
}

impl Synthetic {
    /// So many directories, each of which takes about so many nanoseconds to walk.
    pub fn new(directories: u64, nanos: u64) -> Self {
        let turns = if nanos == 0 { 0 } else { turns_in(nanos) };
        Self { directories, turns }
    }
}

fn spin(turns: u64) {
    for turn in 0..turns {
        black_box(turn);
    }
}

/// The fastest of some tries: anything else may have run meanwhile.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss
)]
fn turns_in(nanos: u64) -> u64 {
    const TURNS: u64 = 100_000;
    let time = || {
        let start = Instant::now();
        spin(TURNS);
        start.elapsed()
    };
    let fastest = (0..20).map(|_| time()).min().unwrap_or_default();
    let per_turn = (fastest.as_secs_f64() * 1e9 / TURNS as f64).max(0.01);
    (nanos as f64 / per_turn) as u64
}

impl Job for Numbered {
    fn place(&self) -> u128 {
        self.place
    }
}

impl Work for Synthetic {
    type Job = Numbered;
    type Tools = ();

    fn root(&self) -> io::Result<Numbered> {
        Ok(Numbered {
            place: 0,
            index: 0,
            depth: 0,
        })
    }

    fn walk(&self, job: &Numbered, (): &mut (), found: &mut Vec<Numbered>) -> io::Result<u64> {
        spin(self.turns);
        let depth = job.depth + 1;
        let shift = u128::BITS.saturating_sub(depth * FAN_OUT_BITS);
        let first = job.index * FAN_OUT + 1;
        for index in first..(first + FAN_OUT).min(self.directories) {
            let place = job.place + (u128::from(index - first) << shift);
            found.push(Numbered {
                place,
                index,
                depth,
            });
        }
        Ok(found.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_in_pre_order() {
        let work = Synthetic::new(5_000, 0);
        let (mut stack, mut found) = (vec![work.root().unwrap()], Vec::new());
        let (mut last, mut count) = (None, 0);
        while let Some(job) = stack.pop() {
            assert!(last < Some((job.place, job.depth)), "{job:?}");
            last = Some((job.place, job.depth));
            count += 1;
            work.walk(&job, &mut (), &mut found).unwrap();
            stack.extend(found.drain(..).rev());
        }
        assert_eq!(count, 5_000);
    }
}
