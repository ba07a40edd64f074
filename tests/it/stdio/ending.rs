//! When the client closes its side the server answers what it can, and ends in time.

use std::sync::{Arc, Mutex};

use portcullis::layers::Mode;
use portcullis::service::Limits;
use portcullis::{Gate, Operation, Registry, Stack};

use crate::support::stdio::Pipe;
use crate::support::{Probe, fixture, gate, soon};

use super::{call, code, id};

/// A gate that gives calls this long when the input has ended.
fn patient(milliseconds: u64) -> (Gate, Probe) {
    let (registry, probe) = fixture();
    let limits = Limits::default().eof_drain_ms(milliseconds);
    (
        Stack::new(registry)
            .mode(Mode::Plain)
            .limits(limits)
            .build()
            .unwrap(),
        probe,
    )
}

/// Contract: P-94, M-111, case S01.
#[tokio::test]
async fn calls_under_way_are_answered_before_the_end() {
    let (gate, _probe) = gate();
    let mut pipe = Pipe::open(&gate);
    pipe.write(&call("1", "nap", r#"{"ms":50}"#)).await;
    pipe.write(&call("2", "nap", r#"{"ms":1}"#)).await;
    let (rest, ended) = pipe.close().await;
    ended.unwrap();
    assert_eq!(rest.iter().map(|line| id(line)).collect::<Vec<_>>(), [2, 1]);
}

/// Contract: P-94, case S01.
#[tokio::test]
async fn those_that_are_parked_are_answered_too() {
    let (registry, _probe) = fixture();
    let limits = Limits::default().connection_calls(1);
    let gate = Stack::new(registry)
        .mode(Mode::Plain)
        .limits(limits)
        .build()
        .unwrap();
    let mut pipe = Pipe::open(&gate);
    for id in 1..=5 {
        pipe.write(&call(&id.to_string(), "nap", r#"{"ms":5}"#))
            .await;
    }
    let (rest, ended) = pipe.close().await;
    ended.unwrap();
    assert_eq!(
        rest.iter().map(|line| id(line)).collect::<Vec<_>>(),
        [1, 2, 3, 4, 5]
    );
}

/// Contract: P-94, case S01.
#[tokio::test]
async fn nothing_at_all_is_an_end_as_well() {
    let (gate, _probe) = gate();
    let (rest, ended) = Pipe::open(&gate).close().await;
    assert_eq!(rest, [""; 0]);
    ended.unwrap();
}

/// Contract: case S01.
#[tokio::test]
async fn an_end_within_a_line_is_one_parse_error_at_most() {
    let (gate, probe) = gate();
    let mut pipe = Pipe::open(&gate);
    pipe.write(&call("1", "tally_read", "{}")).await;
    let whole = call("2", "tally_bump", "{}");
    pipe.write_bytes(&whole.as_bytes()[..whole.len() / 2]).await;
    let (rest, ended) = pipe.close().await;
    ended.unwrap();
    let mut codes: Vec<_> = rest.iter().map(|line| code(line)).collect();
    codes.sort_unstable();
    assert_eq!((codes, probe.tally.get()), (vec![-32700, 0], 0));
}

/// Contract: P-94, case S01.
#[tokio::test]
async fn calls_that_take_too_long_are_cancelled() {
    let (gate, probe) = patient(50);
    let mut pipe = Pipe::open(&gate);
    pipe.write(&call("1", "nap", r#"{"ms":600000}"#)).await;
    pipe.write(&call("2", "hang", "{}")).await;
    probe.begun.reach(2).await;
    let (rest, ended) = pipe.close().await;
    ended.unwrap();
    probe.ended.reach(2).await;
    assert_eq!((rest, probe.finished.get()), (vec![], 0));
}

/// A handler on a thread of its own cannot be interrupted; the end does not wait for it.
///
/// Contract: P-94, case S01.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_that_ignores_its_cancellation_does_not_hold_up_the_end() {
    for blocks in [Blocks::APoolThread, Blocks::AWorkerThread] {
        let (release, wait) = std::sync::mpsc::channel::<()>();
        let (gate, begun) = wedged(blocks, wait);
        let mut pipe = Pipe::open(&gate);
        pipe.write(&call("1", "wedge", "{}")).await;
        begun.begun.reach(1).await;
        let (rest, ended) = pipe.close().await;
        assert_eq!(rest, [""; 0], "{blocks:?}");
        ended.unwrap();
        drop(release);
    }
}

#[derive(Clone, Copy, Debug)]
enum Blocks {
    APoolThread,
    AWorkerThread,
}

/// A gate with an operation that blocks until the other end of the channel is dropped.
fn wedged(blocks: Blocks, wait: std::sync::mpsc::Receiver<()>) -> (Gate, Probe) {
    let wait = Arc::new(Mutex::new(wait));
    let probe = Probe::default();
    let block = {
        let probe = probe.clone();
        move || {
            let _inside = probe.enter();
            let _ = wait.lock().unwrap().recv();
            "let go"
        }
    };
    let wedge = Operation::new("wedge");
    let wedge = match blocks {
        Blocks::APoolThread => wedge.blocking(block),
        Blocks::AWorkerThread => wedge.handler(move || {
            let block = block.clone();
            async move { block() }
        }),
    };
    let registry = Registry::builder().operation(wedge).build().unwrap();
    let limits = Limits::default().eof_drain_ms(50);
    (
        Stack::new(registry)
            .mode(Mode::Plain)
            .limits(limits)
            .build()
            .unwrap(),
        probe,
    )
}

/// Contract: P-94.
#[tokio::test]
async fn a_client_that_stops_reading_does_not_hold_up_the_end() {
    let (gate, probe) = patient(50);
    let mut pipe = Pipe::with_room(&gate, 1024);
    pipe.write(&call("1", "flood", "{}")).await;
    probe.begun.reach(1).await;
    let Pipe {
        input,
        output,
        running,
    } = pipe;
    drop(input);
    let ended = soon("the end of the server", running).await.unwrap();
    probe.ended.reach(1).await;
    drop((ended, output));
}

#[tokio::test]
async fn a_client_that_goes_away_ends_the_server() {
    let (gate, probe) = patient(50);
    let mut pipe = Pipe::open(&gate);
    pipe.write(&call("1", "hang", "{}")).await;
    probe.begun.reach(1).await;
    let Pipe {
        input,
        output,
        running,
    } = pipe;
    drop((input, output));
    let _ = soon("the end of the server", running).await.unwrap();
    probe.ended.reach(1).await;
}
