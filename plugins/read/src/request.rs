//! What a call asks for: the input as written, and the request as understood.

use serde::Deserialize;

/// Lines (or cells) that a call shows when it names no limit: enough for most
/// source files as a whole.
const DEFAULT_LIMIT: u64 = 2_000;

#[derive(Debug, Deserialize)]
pub struct Input {
    pub file_path: String,
    pub offset: Option<u64>,
    pub limit: Option<u64>,
    pub pages: Option<String>,
}

/// Which lines or cells, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub first: u64,
    pub limit: u64,
}

/// Which pages, counted from 1; without an end, up to the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pages {
    pub first: usize,
    pub last: Option<usize>,
}

#[derive(Debug)]
pub struct Request {
    pub window: Window,
    pub pages: Option<Pages>,
    offset: Option<u64>,
    limit: Option<u64>,
}

impl Request {
    /// Understands an input, or says in a sentence why it makes no sense.
    pub fn of(input: &Input) -> Result<Self, String> {
        if input.file_path.trim().is_empty() {
            return Err("file_path is empty; name the file to read".into());
        }
        let pages = match input.pages.as_deref().map(str::trim) {
            None | Some("") => None,
            Some(text) => Some(parse_pages(text).ok_or_else(|| {
                format!("pages is \"{text}\", but must be one page such as \"3\" or a range such as \"1-5\"")
            })?),
        };
        Ok(Self {
            window: Window {
                first: input.offset.unwrap_or(1).max(1),
                limit: input.limit.unwrap_or(DEFAULT_LIMIT).max(1),
            },
            pages,
            offset: input.offset,
            limit: input.limit,
        })
    }

    /// Names the part that was asked for, to recognise a repeated call.
    ///
    /// An offset of 1 and none at all differ on purpose: whoever lost the text
    /// from the conversation can ask for it again in the other way.
    pub fn key(&self) -> String {
        let number = |value: Option<u64>| value.map_or("default".into(), |value| value.to_string());
        let pages = match self.pages {
            None => "default".into(),
            Some(Pages { first, last: None }) => format!("{first}-"),
            Some(Pages {
                first,
                last: Some(last),
            }) => format!("{first}-{last}"),
        };
        format!(
            "offset {}, limit {}, pages {pages}",
            number(self.offset),
            number(self.limit)
        )
    }

    /// How to word a call that shows the same part although nothing changed.
    pub fn other_wording(&self) -> &'static str {
        match (self.pages, self.offset) {
            (Some(_), _) => "ask for another page range",
            (None, None) => "read it with offset 1",
            (None, Some(1)) => "read it without an offset",
            (None, Some(_)) => "read it with another offset or limit",
        }
    }
}

fn parse_pages(text: &str) -> Option<Pages> {
    let number = |text: &str| text.trim().parse::<usize>().ok().filter(|page| *page > 0);
    match text.split_once('-') {
        None => number(text).map(|page| Pages {
            first: page,
            last: Some(page),
        }),
        Some((first, last)) if last.trim().is_empty() => Some(Pages {
            first: number(first)?,
            last: None,
        }),
        Some((first, last)) => {
            let (first, last) = (number(first)?, number(last)?);
            (first <= last).then_some(Pages {
                first,
                last: Some(last),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_ranges_are_understood_or_refused() {
        let range = |first, last| Some(Pages { first, last });
        for (text, wanted) in [
            ("3", range(3, Some(3))),
            ("1-5", range(1, Some(5))),
            (" 2 - 4 ", range(2, Some(4))),
            ("7-", range(7, None)),
            ("0", None),
            ("5-1", None),
            ("-3", None),
            ("a", None),
            ("1,2", None),
        ] {
            assert_eq!(parse_pages(text.trim()), wanted, "{text}");
        }
    }

    #[test]
    fn an_explicit_first_line_is_another_request_than_none() {
        let request = |offset| {
            Request::of(&Input {
                file_path: "/a".into(),
                offset,
                limit: None,
                pages: None,
            })
            .unwrap()
        };
        assert_ne!(request(None).key(), request(Some(1)).key());
        assert_eq!(request(None).window, request(Some(1)).window);
    }

    #[test]
    fn blank_paths_and_bad_pages_are_refused() {
        for (file_path, pages) in [(" ", None), ("/a.pdf", Some("x"))] {
            let input = Input {
                file_path: file_path.into(),
                offset: None,
                limit: None,
                pages: pages.map(Into::into),
            };
            assert!(Request::of(&input).is_err(), "{file_path}");
        }
    }
}
