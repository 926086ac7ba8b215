//! The requests of each client: how fast they come, and how many are under way.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::super::house::Principal;
use super::quotas::HttpQuotas;
use super::rate::Rate;

pub(super) struct Requests {
    quotas: HttpQuotas,
    clients: Vec<Client>,
}

struct Client {
    rate: Mutex<Rate>,
    places: Arc<Semaphore>,
}

/// A request under way.
pub(super) struct UnderWay {
    _place: OwnedSemaphorePermit,
}

/// What a client has too much of.
pub(super) enum Excess {
    Rate { per_second: u32, wait: Duration },
    Count { most: u32 },
}

impl Requests {
    pub(super) fn new(clients: usize, quotas: &HttpQuotas) -> Self {
        let now = Instant::now();
        let client = |_| Client {
            rate: Mutex::new(Rate::new(quotas, now)),
            places: Arc::new(Semaphore::new(quotas.max_requests as usize)),
        };
        Self {
            quotas: *quotas,
            clients: (0..clients).map(client).collect(),
        }
    }

    pub(super) fn begin(&self, whose: Principal) -> Result<UnderWay, Excess> {
        let most = self.quotas.max_requests;
        let client = self.clients.get(whose.0).ok_or(Excess::Count { most })?;
        let mut rate = client.rate.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = rate.take(Instant::now());
        drop(rate);
        taken.map_err(|wait| Excess::Rate {
            per_second: self.quotas.requests_per_second,
            wait,
        })?;
        let place = client.places.clone().try_acquire_owned();
        let place = place.map_err(|_| Excess::Count { most })?;
        Ok(UnderWay { _place: place })
    }
}
