//! How fast a client may ask: a bucket of requests that fills up again.

use std::time::{Duration, Instant};

use super::quotas::HttpQuotas;

pub(super) struct Rate {
    per_second: f64,
    burst: f64,
    left: f64,
    counted: Instant,
}

impl Rate {
    pub(super) fn new(quotas: &HttpQuotas, now: Instant) -> Self {
        let burst = f64::from(quotas.request_burst.max(1));
        Self {
            per_second: f64::from(quotas.requests_per_second.max(1)),
            burst,
            left: burst,
            counted: now,
        }
    }

    /// Takes one request out of the bucket, or says after what time there is one.
    pub(super) fn take(&mut self, now: Instant) -> Result<(), Duration> {
        let since = now.saturating_duration_since(self.counted).as_secs_f64();
        self.counted = self.counted.max(now);
        self.left = (self.left + since * self.per_second).min(self.burst);
        if self.left < 1.0 {
            let missing = (1.0 - self.left) / self.per_second;
            return Err(Duration::from_secs_f64(missing));
        }
        self.left -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_as_long_as_it_is_told_gets_a_request() {
        let start = Instant::now();
        let quotas = HttpQuotas {
            requests_per_second: 4,
            request_burst: 3,
            ..HttpQuotas::default()
        };
        let mut rate = Rate::new(&quotas, start);
        let mut now = start;
        for round in 0..20 {
            let taken = (0..10).filter(|_| rate.take(now).is_ok()).count();
            // At first what may come at once, then one for each wait.
            assert_eq!(taken, if round == 0 { 3 } else { 1 }, "{round}");
            let wait = rate.take(now).unwrap_err();
            assert!(wait <= Duration::from_millis(250), "{wait:?}");
            now += wait + Duration::from_micros(1);
        }
        // However long nothing came, no more than that comes at once.
        now += Duration::from_secs(3600);
        assert_eq!((0..10).filter(|_| rate.take(now).is_ok()).count(), 3);
        // A clock that stands or goes back gives nothing.
        assert!(rate.take(start).is_err());
    }
}
