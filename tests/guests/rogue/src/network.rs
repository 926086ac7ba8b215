//! Calling out: TCP, UDP and names.

use std::net::{IpAddr, TcpListener, TcpStream, ToSocketAddrs, UdpSocket};

use serde_json::json;
use toolbay_sdk::Result as CallResult;

use crate::report::{Report, Told, told_io};

pub fn dial(host: &str, port: u16) -> CallResult {
    let mut report = Report::default();
    let resolved = (host, port)
        .to_socket_addrs()
        .map(|found| json!(found.map(|address| address.to_string()).collect::<Vec<_>>()))
        .map_err(|error| told_io(&error));
    if host.parse::<IpAddr>().is_ok() {
        // Needs no look-up, so it proves nothing.
        report.note_neutral("resolve", resolved);
    } else {
        report.note("resolve", resolved);
    }
    report.note("tcp-connect", TcpStream::connect((host, port)).told());
    report.note("tcp-listen", TcpListener::bind("127.0.0.1:0").told());
    report.note(
        "tcp-listen-everywhere",
        TcpListener::bind("0.0.0.0:0").told(),
    );
    let socket = UdpSocket::bind("0.0.0.0:0");
    let sent = match &socket {
        Ok(socket) => socket.send_to(b"hello", (host, port)).told(),
        Err(error) => Err(told_io(error)),
    };
    report.note("udp-bind", socket.told());
    report.note("udp-send", sent);
    report.into_result()
}
