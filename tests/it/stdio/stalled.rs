//! A client that takes nothing of what is written: others of its calls go on, and it is given up in
//! the end.

use std::io;
use std::time::Duration;

use portcullis::layers::Mode;
use portcullis::service::Limits;
use portcullis::service::handler::State;
use portcullis::{Gate, Operation, Registry, Stack};
use tokio::time::{Instant, sleep};

use crate::support::Probe;
use crate::support::message::{modern, request};
use crate::support::stdio::Pipe;

use super::{call, cancel, id};

const MIB: usize = 1024 * 1024;

fn gate() -> (Gate, Probe) {
    let probe = Probe::default();
    let hang = async |State(probe): State<Probe>| {
        let _inside = probe.enter();
        std::future::pending::<()>().await;
    };
    let registry = Registry::builder()
        .state(probe.clone())
        .operation(Operation::new("long").handler(async || "x".repeat(MIB)))
        .operation(Operation::new("hang").handler(hang))
        .build()
        .unwrap();
    let limits = Limits::default().write_stall_ms(10_000);
    let stack = Stack::new(registry).mode(Mode::Plain).limits(limits);
    (stack.build().unwrap(), probe)
}

/// Contract: case S04.
#[tokio::test(start_paused = true)]
async fn a_client_that_reads_late_gets_everything() {
    let (gate, probe) = gate();
    let mut pipe = Pipe::with_room(&gate, 1024);
    pipe.write(&call("\"hang\"", "hang", "{}")).await;
    probe.begun.reach(1).await;
    for n in 0..50 {
        pipe.write(&call(&n.to_string(), "long", "{}")).await;
    }
    // What is written now is read, although nothing can be answered.
    for n in 50..60 {
        pipe.write(&request(&n.to_string(), "ping", "")).await;
    }
    pipe.write(&cancel("\"hang\"")).await;
    probe.ended.reach(1).await;
    sleep(Duration::from_secs(5)).await;
    let mut answered = Vec::new();
    for _ in 0..60 {
        let line = pipe.line().await;
        answered.push(id(&line).as_u64().unwrap());
        assert!(answered.last() >= Some(&50) || line.len() > MIB);
    }
    answered.sort_unstable();
    assert!(answered.into_iter().eq(0..60));
    let (rest, ended) = pipe.close().await;
    assert_eq!(rest, [""; 0]);
    ended.unwrap();
}

/// Contract: case S04.
#[tokio::test(start_paused = true)]
async fn a_client_that_never_reads_is_given_up() {
    let (gate, probe) = gate();
    let mut pipe = Pipe::with_room(&gate, 1024);
    pipe.write(&call("1", "hang", "{}")).await;
    probe.begun.reach(1).await;
    let started = Instant::now();
    pipe.write(&call("2", "long", "{}")).await;
    // It goes on asking: what cannot be answered is refused, and then waits.
    for n in 3..40 {
        pipe.write(&modern(&n.to_string(), "tools/list", "")).await;
    }
    let ended = (&mut pipe.running).await.unwrap().unwrap_err();
    assert_eq!(ended.kind(), io::ErrorKind::TimedOut);
    assert_eq!(started.elapsed(), Duration::from_secs(10));
    probe.ended.reach(1).await;
}
