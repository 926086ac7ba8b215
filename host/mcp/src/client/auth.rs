//! Who may use a server over HTTP: OAuth, and the place where its tokens are kept.
