//! What the browser shows when a login is over, or when somebody else knocked.
//!
//! Nothing of a request appears on a page, so there is nothing to smuggle in.

/// One page for each way it can go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Page {
    Done,
    Failed,
    NotAwaited,
    NotHere,
    NotAllowed,
    NotUnderstood,
    TooLarge,
}

impl Page {
    fn status(self) -> &'static str {
        match self {
            Self::Done => "200 OK",
            Self::Failed | Self::NotAwaited | Self::NotUnderstood => "400 Bad Request",
            Self::NotHere => "404 Not Found",
            Self::NotAllowed => "405 Method Not Allowed",
            Self::TooLarge => "431 Request Header Fields Too Large",
        }
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Done => (
                "You are logged in",
                "You can close this page and go back to where you came from.",
            ),
            Self::Failed => (
                "The login failed",
                "The reason stands where you started it. You can close this page.",
            ),
            Self::NotAwaited => (
                "Nobody waits for this",
                "This is not the answer to the login that is under way. It was ignored.",
            ),
            Self::NotHere | Self::NotAllowed | Self::NotUnderstood | Self::TooLarge => (
                "There is nothing here",
                "This port waits for the end of a login, and for nothing else.",
            ),
        }
    }

    /// The whole answer. No script runs on it, nothing is loaded, nobody learns the address
    /// with the code in it, and no cache keeps it.
    pub(super) fn response(self) -> String {
        let (title, text) = self.words();
        let body = format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{title}</title>\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n<style>\n\
             body {{ font: 1.1rem/1.5 system-ui, sans-serif; max-width: 30rem; margin: 20vh auto; padding: 0 1rem; color: #222; background: #fafafa }}\n\
             h1 {{ font-size: 1.5rem; font-weight: 600 }}\n\
             @media (prefers-color-scheme: dark) {{ body {{ color: #ddd; background: #1c1c1c }} }}\n\
             </style>\n<h1>{title}</h1>\n<p>{text}</p>\n</html>\n"
        );
        format!(
            "HTTP/1.1 {}\r\n\
             Content-Type: text/html; charset=utf-8\r\n\
             Content-Length: {}\r\n\
             Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'\r\n\
             Referrer-Policy: no-referrer\r\n\
             X-Content-Type-Options: nosniff\r\n\
             Cache-Control: no-store\r\n\
             Connection: close\r\n\r\n{body}",
            self.status(),
            body.len()
        )
    }
}
