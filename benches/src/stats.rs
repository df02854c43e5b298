//! Medians, and intervals for them that assume no distribution.

/// The median; the mean of the two middle values if their number is even.
///
/// NaN if there is none.
pub fn median(values: &[f64]) -> f64 {
    let sorted = sorted(values);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// A median with an interval that holds the true one with probability `coverage`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The median of the sample.
    pub median: f64,
    /// Lower end of the interval: an observed value.
    pub low: f64,
    /// Upper end of the interval: an observed value.
    pub high: f64,
    /// Probability, at least 0.95 unless there are fewer than six values.
    pub coverage: f64,
}

impl Estimate {
    /// The narrowest symmetric interval between order statistics that covers at
    /// least 95 %: whether a value lies below the true median is a fair coin,
    /// so ranks follow the binomial distribution.
    pub fn of(values: &[f64]) -> Self {
        let sorted = sorted(values);
        let n = sorted.len();
        if n == 0 {
            return Self {
                median: f64::NAN,
                low: f64::NAN,
                high: f64::NAN,
                coverage: 0.0,
            };
        }
        // Probability that more than n - rank or fewer than rank + 1 values lie below.
        let outside = |rank: usize| 2.0 * (0..=rank).map(|k| coin(n, k)).sum::<f64>();
        let rank = (0..n.div_ceil(2))
            .take_while(|&rank| outside(rank) <= 0.05)
            .last()
            .unwrap_or(0);
        Self {
            median: median(values),
            low: sorted[rank],
            high: sorted[n - 1 - rank],
            coverage: (1.0 - outside(rank)).max(0.0),
        }
    }

    /// Of the ratios of values that were measured next to each other.
    pub fn of_ratios(values: &[f64], base: &[f64]) -> Self {
        let ratios: Vec<f64> = values
            .iter()
            .zip(base)
            .map(|(value, base)| value / base)
            .collect();
        Self::of(&ratios)
    }
}

/// Probability of `k` heads in `n` throws.
#[allow(clippy::cast_precision_loss)]
fn coin(n: usize, k: usize) -> f64 {
    // By logarithms: 2^-n alone would vanish for large n.
    let log = (0..k)
        .map(|i| ((n - i) as f64 / (i + 1) as f64).ln())
        .sum::<f64>();
    (log - n as f64 * std::f64::consts::LN_2).exp()
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_to(n: i32) -> Vec<f64> {
        (1..=n).rev().map(f64::from).collect()
    }

    #[test]
    fn medians() {
        assert!(median(&[]).is_nan());
        assert!((median(&[3.0, 1.0, 2.0]) - 2.0).abs() < 1e-12);
        assert!((median(&[4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < 1e-12);
    }

    /// Ranks from tables of the sign test.
    #[test]
    fn intervals_have_the_tables_ranks() {
        for (n, low, coverage) in [
            (6, 1.0, 0.969),
            (15, 4.0, 0.965),
            (20, 6.0, 0.959),
            (101, 41.0, 0.954),
        ] {
            let estimate = Estimate::of(&one_to(n));
            assert!((estimate.low - low).abs() < 1e-9, "{n}: {estimate:?}");
            assert!(
                (estimate.high - (f64::from(n) + 1.0 - low)).abs() < 1e-9,
                "{n}: {estimate:?}"
            );
            assert!(
                (estimate.coverage - coverage).abs() < 1e-3,
                "{n}: {estimate:?}"
            );
        }
    }

    #[test]
    fn too_few_values_say_so() {
        let estimate = Estimate::of(&one_to(3));
        assert_eq!((estimate.low, estimate.high), (1.0, 3.0));
        assert!((estimate.coverage - 0.75).abs() < 1e-9);
        assert!(Estimate::of(&[1.0]).coverage.abs() < 1e-9);
    }

    #[test]
    fn ratios_are_paired() {
        let estimate = Estimate::of_ratios(&[2.0, 20.0, 200.0], &[1.0, 10.0, 100.0]);
        assert_eq!(
            (estimate.low, estimate.median, estimate.high),
            (2.0, 2.0, 2.0)
        );
    }
}
