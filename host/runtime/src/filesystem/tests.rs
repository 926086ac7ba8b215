//! Drives the interface as a guest does, without a guest: each case calls the generated host
//! traits on a real folder and looks at the answer, the disk and the audit log.

mod changing;
mod fencing;
mod folder;
mod hosting;
mod linking;
mod moving;
mod opening;
mod posix;
mod replacing;
mod session;
mod stat;
mod streams;
mod surveying;
