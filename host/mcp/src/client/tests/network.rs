//! Servers behind addresses.
