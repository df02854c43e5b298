//! What many cores would do, from what two do.
//!
//! A walk is taken for a closed queueing network: each core computes at a directory for some time and
//! then needs each of some stations, such as a lock, that serve one core at a time. Mean value analysis
//! (Reiser and Lavenberg, 1980) gives how many directories pass through in a nanosecond.

/// How many times faster so many cores are than one that needs `alone` nanoseconds for a directory.
///
/// Each directory takes `work` nanoseconds that cores spend side by side, and at each station the
/// given nanoseconds, where they queue.
#[allow(clippy::cast_precision_loss)]
pub fn speed_up(cores: usize, alone: f64, work: f64, stations: &[f64]) -> f64 {
    let mut queued = vec![0.0; stations.len()];
    let mut rate = 0.0;
    for count in 1..=cores {
        let times: Vec<f64> = stations
            .iter()
            .zip(&queued)
            .map(|(service, others)| service * (1.0 + others))
            .collect();
        rate = count as f64 / (work + times.iter().sum::<f64>());
        for (queued, time) in queued.iter_mut().zip(times) {
            *queued = rate * time;
        }
    }
    rate * alone
}

/// How many directories a core has to take at a time so that one queue with a cost of `fixed`
/// nanoseconds for each taking and `each` for each directory reaches the speed-up `wanted`; `None` if
/// no number does.
#[allow(clippy::cast_precision_loss)]
pub fn batch(
    cores: usize,
    alone: f64,
    work: f64,
    (fixed, each): (f64, f64),
    wanted: f64,
) -> Option<usize> {
    (1..=4096).find(|&count| {
        let station = fixed / count as f64 + each;
        speed_up(cores, alone, work, &[station]) >= wanted
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(value: f64, expected: f64) {
        assert!(
            (value / expected - 1.0).abs() < 0.01,
            "{value}, not {expected}"
        );
    }

    #[test]
    fn without_stations_all_cores_count() {
        assert_near(speed_up(64, 1_000.0, 1_000.0, &[]), 64.0);
    }

    #[test]
    fn a_station_is_the_limit() {
        assert_near(speed_up(1, 1_100.0, 1_000.0, &[100.0]), 1.0);
        assert_near(speed_up(256, 1_100.0, 1_000.0, &[100.0]), 11.0);
        let slower = speed_up(256, 1_100.0, 1_000.0, &[100.0, 200.0]);
        assert_near(slower, 5.5);
    }

    /// The closed form for one station: the share of time in which it has nothing to do.
    #[test]
    fn one_station_is_the_machine_repairman() {
        for cores in [1, 8, 30] {
            let (work, service) = (1_000.0, 100.0);
            let (mut term, mut sum) = (1.0, 1.0);
            for left in (1..=cores).rev() {
                term *= f64::from(left) * service / work;
                sum += term;
            }
            let expected = (1.0 - 1.0 / sum) / service * (work + service);
            let cores = usize::try_from(cores).unwrap();
            assert_near(speed_up(cores, work + service, work, &[service]), expected);
        }
    }

    #[test]
    fn batches_help_as_far_as_what_each_costs() {
        let batch = |wanted| batch(64, 1_000.0, 1_000.0, (100.0, 10.0), wanted);
        assert_eq!(batch(1.0), Some(1));
        assert!(batch(50.0).unwrap() > 4);
        assert_eq!(batch(63.0), None);
    }
}
