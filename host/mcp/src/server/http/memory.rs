//! The memory that requests in work take, shared among clients.
//!
//! What a request takes is estimated from its text: the bytes, which every reader on the way to
//! the tool copies, and its values, which take many times their text. The estimate is at the
//! upper end; what matters is that a client that sends the worst is the one that has to wait.

use bytes::{Bytes, BytesMut};
use http::StatusCode;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use toolbay_contract::JsonSize;

use super::super::house::Principal;
use super::limits::{
    BODY_TIME, DEEPEST, MEMORY, MEMORY_OF_BYTE, MEMORY_OF_OBJECT, MEMORY_OF_ONE, MEMORY_OF_VALUE,
    MOST_BYTES, MOST_VALUES,
};
use super::shares::{Share, Shares};

/// What is counted: small enough that a small request costs little, large enough for a `u32`.
const UNIT: usize = 16 << 10;

pub(super) struct Memory {
    shares: Shares,
}

/// A body, and the memory that it will take.
pub(super) struct Weighed {
    pub(super) bytes: Bytes,
    pub(super) share: Share,
}

/// Why a body is not taken.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unbearable {
    /// It is more than one may be.
    Large(String),
    /// The client has too much in work.
    NoMemory,
    /// It breaks off, or nests too deep.
    Bad(String),
    Slow,
}

impl Unbearable {
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::Large(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::NoMemory => StatusCode::TOO_MANY_REQUESTS,
            Self::Bad(_) => StatusCode::BAD_REQUEST,
            Self::Slow => StatusCode::REQUEST_TIMEOUT,
        }
    }

    pub(super) fn sentence(&self) -> String {
        match self {
            Self::Large(what) | Self::Bad(what) => what.clone(),
            Self::NoMemory => "the requests of this client that are in work hold as much as they \
                               may; wait until some of them are answered"
                .into(),
            Self::Slow => format!("the body did not come within {BODY_TIME:?}"),
        }
    }
}

impl Memory {
    pub(super) fn new(clients: usize) -> Self {
        let units = |bytes: usize| bytes / UNIT;
        let most_of_one = u32::try_from(units(MEMORY_OF_ONE)).unwrap_or(u32::MAX);
        Self {
            shares: Shares::new(clients, most_of_one, units(MEMORY)),
        }
    }

    /// The whole body, if it comes in time and there is memory for it and for what it becomes.
    pub(super) async fn collected(
        &self,
        whose: Principal,
        mut body: Incoming,
    ) -> Result<Weighed, Unbearable> {
        let announced = body.size_hint().lower();
        let announced = usize::try_from(announced).unwrap_or(usize::MAX);
        let reading = async {
            let weighed = self.read(whose, &mut body, announced).await;
            if let Err(Unbearable::NoMemory) = &weighed {
                // Whoever is still sending would not hear why.
                drain(&mut body).await;
            }
            weighed
        };
        let read = tokio::time::timeout(BODY_TIME, reading).await;
        read.unwrap_or(Err(Unbearable::Slow))
    }

    async fn read(
        &self,
        whose: Principal,
        body: &mut Incoming,
        announced: usize,
    ) -> Result<Weighed, Unbearable> {
        let too_large = || Unbearable::Large(format!("a body has {MOST_BYTES} bytes at most"));
        if announced > MOST_BYTES {
            return Err(too_large());
        }
        let first = self.units(announced, JsonSize::default());
        let share = self.shares.take_some(whose, first);
        let mut share = share.ok_or(Unbearable::NoMemory)?;
        // Grows as bytes come, not as they are announced.
        let mut bytes = BytesMut::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| Unbearable::Bad("the body broke off".into()))?;
            let Ok(data) = frame.into_data() else {
                continue;
            };
            if bytes.len() + data.len() > MOST_BYTES {
                return Err(too_large());
            }
            bytes.extend_from_slice(&data);
            if !share.grow_to(self.units(bytes.len(), JsonSize::default())) {
                return Err(Unbearable::NoMemory);
            }
        }
        let size = looked_at(&bytes)?;
        if !share.grow_to(self.units(bytes.len(), size)) {
            return Err(Unbearable::NoMemory);
        }
        Ok(Weighed {
            bytes: bytes.freeze(),
            share,
        })
    }

    /// What is asked for; one client can always have it when nothing else of it is in work.
    fn units(&self, bytes: usize, size: JsonSize) -> usize {
        let objects = size.objects.saturating_mul(MEMORY_OF_OBJECT);
        let values = size.values.saturating_mul(MEMORY_OF_VALUE);
        let all = bytes.saturating_mul(MEMORY_OF_BYTE) + objects + values;
        all.div_ceil(UNIT).clamp(1, self.shares.most_of_one())
    }
}

/// Whether a text may be read at all.
fn looked_at(text: &[u8]) -> Result<JsonSize, Unbearable> {
    let size = JsonSize::of(text);
    if size.depth > DEEPEST {
        let text = format!("more than {DEEPEST} arrays and objects inside each other");
        return Err(Unbearable::Bad(text));
    }
    let within = size.within(MOST_VALUES);
    within.map_err(|error| Unbearable::Large(error.to_string()))
}

/// Takes a body off the connection without keeping it.
async fn drain(body: &mut Incoming) {
    let mut left = MOST_BYTES;
    while let Some(Ok(frame)) = body.frame().await {
        let length = frame.data_ref().map_or(0, Bytes::len);
        let Some(less) = left.checked_sub(length) else {
            return;
        };
        left = less;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_refused_for_its_depth_and_its_values() {
        let deep = "[".repeat(DEEPEST + 1);
        assert!(matches!(
            looked_at(deep.as_bytes()),
            Err(Unbearable::Bad(_))
        ));
        let many = ",".repeat(MOST_VALUES + 1);
        assert!(matches!(
            looked_at(many.as_bytes()),
            Err(Unbearable::Large(_))
        ));
        let most = ",".repeat(MOST_VALUES) + &format!("\"{}\"", "{,:".repeat(1 << 20));
        assert_eq!(looked_at(most.as_bytes()).unwrap().values, MOST_VALUES);
    }

    #[test]
    fn the_worst_requests_of_one_client_leave_another_its_part() {
        let memory = Memory::new(2);
        let worst = JsonSize {
            values: MOST_VALUES,
            objects: MOST_VALUES / 3,
            depth: 3,
        };
        let take = |client: usize, units: usize| {
            std::iter::from_fn(|| memory.shares.take_some(Principal(client), units))
                .take(1000)
                .collect::<Vec<_>>()
        };
        let units = memory.units(MOST_BYTES, worst);
        let held = take(0, units);
        assert!(!held.is_empty(), "one is always possible");
        assert!(held.len() * units <= MEMORY_OF_ONE / UNIT);
        // A hundred small ones of another pass nevertheless.
        let small = memory.units(10_000, JsonSize::default());
        assert!(take(1, small).len() >= 100);
    }
}
