//! Who may speak to the server.

use std::fmt;
use std::hint::black_box;

use super::super::house::Principal;

/// The shortest token that is taken: nobody guesses so many characters.
const SHORTEST: usize = 20;
/// More clients than one server has.
const MOST: usize = 64;

/// Who may speak to the server.
#[derive(Debug)]
pub enum Access {
    /// Everybody on this machine.
    Open,
    /// Whoever knows one of these.
    Tokens(Tokens),
}

/// The tokens, each a client of its own.
pub struct Tokens {
    all: Vec<Box<[u8]>>,
}

impl fmt::Debug for Tokens {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} tokens", self.all.len())
    }
}

impl Tokens {
    /// One token a line; empty lines and those that begin with `#` are passed over. No error
    /// says what a token is.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut all: Vec<Box<[u8]>> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let token = line.trim();
            if token.is_empty() || token.starts_with('#') {
                continue;
            }
            let line = number + 1;
            if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(format!("line {line}: a token is ASCII without spaces"));
            }
            if token.len() < SHORTEST {
                return Err(format!(
                    "line {line}: a token has {SHORTEST} characters at least, all of them random"
                ));
            }
            if all.iter().any(|other| **other == *token.as_bytes()) {
                return Err(format!("line {line}: this token is there already"));
            }
            all.push(token.as_bytes().into());
        }
        match all.len() {
            0 => Err("there is no token in it".into()),
            1..=MOST => Ok(Self { all }),
            more => Err(format!(
                "{more} tokens, more than the {MOST} that are taken"
            )),
        }
    }

    /// Whose token this is. Takes as long for a wrong one as for a right one.
    fn find(&self, given: &[u8]) -> Option<Principal> {
        let mut found = None;
        for (at, token) in self.all.iter().enumerate() {
            if black_box(same(token, given)) {
                found = Some(Principal(at));
            }
        }
        found
    }
}

/// Looks at every byte, whatever the first ones were.
fn same(token: &[u8], given: &[u8]) -> bool {
    let mut differ = u8::from(token.len() != given.len());
    for (at, byte) in token.iter().enumerate() {
        let other = given.get(at).copied().unwrap_or_default();
        differ = black_box(differ | (byte ^ other));
    }
    differ == 0
}

/// Why somebody is sent away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stranger {
    NoToken,
    WrongToken,
}

impl Access {
    /// How many clients there can be.
    pub(super) fn clients(&self) -> usize {
        match self {
            Self::Open => 1,
            Self::Tokens(tokens) => tokens.all.len(),
        }
    }

    /// Whose request it is, by its `Authorization` headers.
    pub(super) fn of(&self, headers: &http::HeaderMap) -> Result<Principal, Stranger> {
        let tokens = match self {
            Self::Open => return Ok(Principal(0)),
            Self::Tokens(tokens) => tokens,
        };
        let mut given = headers.get_all(http::header::AUTHORIZATION).iter();
        let first = given.next().ok_or(Stranger::NoToken)?;
        if given.next().is_some() {
            return Err(Stranger::WrongToken);
        }
        let text = first.as_bytes();
        let (scheme, token) = text.split_at_checked(7).ok_or(Stranger::WrongToken)?;
        if !scheme.eq_ignore_ascii_case(b"bearer ") {
            return Err(Stranger::NoToken);
        }
        let token = token.trim_ascii();
        tokens.find(token).ok_or(Stranger::WrongToken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "one-token-of-many-characters";
    const TWO: &str = "two-token-of-many-characters";

    fn of(access: &Access, headers: &[&str]) -> Result<usize, Stranger> {
        let mut all = http::HeaderMap::new();
        for value in headers {
            all.append(http::header::AUTHORIZATION, value.parse().unwrap());
        }
        access.of(&all).map(|principal| principal.0)
    }

    #[test]
    fn each_token_is_a_client() {
        let text = format!("# two\n{ONE}\n\n  {TWO}  \n");
        let access = Access::Tokens(Tokens::parse(&text).unwrap());
        assert_eq!(of(&access, &[&format!("Bearer {ONE}")]), Ok(0));
        assert_eq!(of(&access, &[&format!("bearer  {TWO}")]), Ok(1));
        assert_eq!(of(&access, &[]), Err(Stranger::NoToken));
        assert_eq!(of(&access, &["Basic abcdefg"]), Err(Stranger::NoToken));
        for wrong in ["Bearer", "Bearer ", "Bearer one", &format!("Bearer {ONE}x")] {
            assert!(of(&access, &[wrong]).is_err(), "{wrong}");
        }
        let twice = format!("Bearer {ONE}");
        assert_eq!(of(&access, &[&twice, &twice]), Err(Stranger::WrongToken));
        assert!(!format!("{access:?}").contains("token-of"));
    }

    #[test]
    fn weak_and_odd_tokens_are_refused_without_being_repeated() {
        for text in [
            "",
            "# none\n",
            "short",
            &format!("{ONE}\n{ONE}"),
            "with a space in it, long",
        ] {
            let error = Tokens::parse(text).unwrap_err();
            assert!(!error.contains("short") && !error.contains(ONE), "{error}");
        }
        let many: String = (0..100).map(|n| format!("{ONE}{n}\n")).collect();
        assert!(Tokens::parse(&many).is_err());
    }
}
