//! Calls run side by side; what must not wait does not; there are only so many of them.

use std::time::Duration;

use portcullis::layers::Mode;
use portcullis::service::Limits;
use portcullis::{Operation, Registry, Stack};
use tokio::io::AsyncWriteExt as _;

use crate::support::message::{META, handshake, request, tool};
use crate::support::stdio::Pipe;
use crate::support::{Probe, fixture, gate};

use super::{call, cancel, code, id};

/// A gate with other limits.
fn limited(limits: Limits) -> (portcullis::Gate, Probe) {
    let (registry, probe) = fixture();
    (
        Stack::new(registry)
            .mode(Mode::Plain)
            .limits(limits)
            .build()
            .unwrap(),
        probe,
    )
}

/// Contract: P-5, M-002, M-112.
#[tokio::test]
async fn a_slow_call_delays_no_other() {
    let (gate, probe) = gate();
    let mut pipe = Pipe::open(&gate);
    pipe.write(&call("1", "hang", "{}")).await;
    pipe.write(&call("2", "nap", r#"{"ms":30}"#)).await;
    pipe.write(&call("3", "echo", r#"{"text":"hi"}"#)).await;
    assert_eq!(id(&pipe.line().await), 3);
    assert_eq!(id(&pipe.line().await), 2);
    for n in 10..20 {
        pipe.write(&call(&n.to_string(), "nap", r#"{"ms":1}"#))
            .await;
    }
    let mut answered = Vec::new();
    for _ in 0..10 {
        answered.push(id(&pipe.line().await).as_i64().unwrap());
    }
    answered.sort_unstable();
    assert_eq!(answered, (10..20).collect::<Vec<_>>());
    assert_eq!(
        probe.begun.get() - probe.ended.get(),
        1,
        "the slow one still runs"
    );
}

/// Sent at once, and read at last: many more than may run or wait, and none is refused.
#[tokio::test]
async fn quick_calls_that_come_together_are_all_served() {
    let (gate, probe) = gate();
    let mut pipe = Pipe::open(&gate);
    pipe.write(&call("0", "tally_bump", "{}")).await;
    assert_eq!(id(&pipe.line().await), 0);
    let burst: Vec<_> = (1..=150)
        .map(|n| call(&n.to_string(), "tally_bump", "{}"))
        .collect();
    for _ in 0..10 {
        pipe.write(&burst.join("\n")).await;
        for _ in 1..=150 {
            let line = pipe.line().await;
            assert!(line.contains("result"), "{line}");
        }
    }
    assert_eq!(probe.tally.get(), 1501);
}

/// Contract: case S04.
#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_piles_up_little_and_loses_nothing() {
    const CALLS: u64 = 2000;
    let (gate, probe) = gate();
    let mut pipe = Pipe::with_room(&gate, 4096);
    let (input, output) = (&mut pipe.input, &mut pipe.output);
    let writing = async {
        for n in 0..CALLS {
            let line = call(&n.to_string(), "tally_bump", "{}") + "\n";
            input.write_all(line.as_bytes()).await.unwrap();
        }
    };
    let reading = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        // 64 in the queue, 64 that found it full, and what fits the pipe and its writer.
        assert!(
            (64..400).contains(&probe.tally.get()),
            "{}",
            probe.tally.get()
        );
        for _ in 0..CALLS {
            let line = output.next().await.unwrap();
            assert!(line.contains("result"), "{line}");
        }
    };
    tokio::join!(writing, reading);
    assert_eq!(probe.tally.get() as u64, CALLS);
}

/// Contract: M-002.
#[tokio::test]
async fn an_id_can_be_used_again_once_it_is_answered_and_not_before() {
    let (gate, probe) = gate();
    let mut pipe = Pipe::open(&gate);
    pipe.write(&call("7", "hang", "{}")).await;
    probe.begun.reach(1).await;
    let refused = pipe.ask(&call("7", "tally_bump", "{}")).await;
    assert_eq!((code(&refused), id(&refused)), (-32600, 7.into()));
    assert_eq!(code(&pipe.ask(&call("\"7\"", "tally_bump", "{}")).await), 0);
    pipe.write(&cancel("7")).await;
    probe.ended.reach(1).await;
    assert_eq!(code(&pipe.ask(&call("7", "tally_bump", "{}")).await), 0);
    assert_eq!(probe.tally.get(), 2);
}

/// Contract: M-002.
#[tokio::test]
async fn a_call_that_is_parked_has_its_id_already() {
    let (gate, probe) = limited(Limits::default().connection_calls(1));
    let mut pipe = Pipe::open(&gate);
    pipe.write(&call("1", "hang", "{}")).await;
    probe.begun.reach(1).await;
    pipe.write(&call("2", "tally_bump", "{}")).await;
    let refused = pipe.ask(&call("2", "tally_bump", "{}")).await;
    assert_eq!((code(&refused), id(&refused)), (-32600, 2.into()));
    pipe.write(&cancel("1")).await;
    let answer = pipe.line().await;
    assert_eq!((code(&answer), id(&answer)), (0, 2.into()));
    assert_eq!(probe.tally.get(), 1);
}

/// Contract: P-93, M-112.
#[tokio::test]
async fn a_cancelled_call_stops_and_is_not_heard_of_again() {
    let (gate, probe) = gate();
    let mut pipe = Pipe::open(&gate);
    pipe.write(&call("1", "hang", "{}")).await;
    pipe.write(&call("2", "nap", r#"{"ms":20}"#)).await;
    probe.begun.reach(2).await;
    pipe.write(&cancel("1")).await;
    probe.ended.reach(1).await;
    // Of calls nobody made, of calls that have ended, and of nothing that could be one.
    for other in ["1", "404", "\"2\"", "null", "{}", "1.5"] {
        pipe.write(&cancel(other)).await;
    }
    pipe.write(&crate::support::message::notification(
        "notifications/cancelled",
        "",
    ))
    .await;
    assert_eq!(id(&pipe.line().await), 2);
    let (rest, ended) = pipe.close().await;
    assert_eq!((rest, probe.finished.get()), (vec![], 1));
    ended.unwrap();
}

/// Contract: P-93.
#[tokio::test]
async fn messages_of_a_call_end_with_it() {
    let (gate, probe) = gate();
    let mut pipe = Pipe::open(&gate);
    let params = format!(
        r#"{{"_meta":{{{META},"progressToken":"t"}},"name":"murmur","arguments":{{"steps":2}}}}"#
    );
    pipe.write(&request("1", "tools/call", &params)).await;
    assert!(
        pipe.line()
            .await
            .contains(r#""progressToken":"t","progress":1"#)
    );
    assert!(
        pipe.line()
            .await
            .contains(r#""progressToken":"t","progress":2"#)
    );
    assert_eq!(id(&pipe.line().await), 1);

    // A call that never stops sending, until it is told to.
    pipe.write(&call("2", "flood", "{}")).await;
    for _ in 0..3 {
        assert!(pipe.line().await.contains("notifications/flood"));
    }
    pipe.write(&cancel("2")).await;
    pipe.write(&call("3", "tally_read", "{}")).await;
    let mut late = 0;
    while pipe.line().await.contains("notifications/flood") {
        late += 1;
    }
    probe.ended.reach(1).await;
    // What was on its way when the call was cancelled may still arrive.
    assert!(late <= 80, "{late}");
    let (rest, _) = pipe.close().await;
    assert_eq!(rest, [""; 0]);
}

#[tokio::test]
async fn calls_beyond_those_that_run_are_parked_and_then_refused() {
    let (gate, probe) = limited(Limits::default().connection_calls(2).parked_calls(2));
    let mut pipe = Pipe::open(&gate);
    for id in ["1", "2"] {
        pipe.write(&call(id, "hang", "{}")).await;
    }
    probe.begun.reach(2).await;
    pipe.write(&call("3", "tally_bump", "{}")).await;
    pipe.write(&call("4", "tally_bump", "{}")).await;
    let refused = pipe.ask(&call("5", "tally_bump", "{}")).await;
    assert_eq!((code(&refused), id(&refused)), (-32603, 5.into()));
    assert!(refused.contains(r#""code":"overloaded""#), "{refused}");
    // One that is parked can be cancelled, which makes room for another.
    pipe.write(&cancel("3")).await;
    pipe.write(&call("6", "echo", r#"{"text":"hi"}"#)).await;
    assert_eq!(probe.tally.get(), 0);
    pipe.write(&cancel("1")).await;
    assert_eq!(id(&pipe.line().await), 4);
    assert_eq!(id(&pipe.line().await), 6);
    assert_eq!(probe.tally.get(), 1);
    pipe.write(&cancel("2")).await;
    let (rest, _) = pipe.close().await;
    assert_eq!(rest, [""; 0]);
}

#[tokio::test]
async fn calls_that_are_parked_are_bounded_by_size_as_well() {
    let limits = Limits::default().connection_calls(1).parked_bytes(1000);
    let (gate, probe) = limited(limits);
    let mut pipe = Pipe::open(&gate);
    pipe.write(&call("1", "hang", "{}")).await;
    probe.begun.reach(1).await;
    let long = call(
        "2",
        "echo",
        &format!(r#"{{"text":"{}"}}"#, "x".repeat(1000)),
    );
    assert_eq!(code(&pipe.ask(&long).await), -32603);
    pipe.write(&call("3", "tally_bump", "{}")).await;
    pipe.write(&cancel("1")).await;
    assert_eq!(id(&pipe.line().await), 3);
}

#[tokio::test]
async fn what_is_sent_along_with_the_handshake_waits_for_it() {
    let (gate, _probe) = gate();
    let mut pipe = Pipe::open(&gate);
    let shake = request("1", "initialize", &handshake("2024-11-05"));
    let ask = |id: &str| request(id, "tools/call", &tool("version", "{}"));
    let all = [shake, ask("2"), ask("3"), call("4", "version", "{}")].join("\n") + "\n";
    pipe.write_bytes(all.as_bytes()).await;
    assert_eq!(id(&pipe.line().await), 1);
    for (expected, version) in [(2, "2024-11-05"), (3, "2024-11-05"), (4, "2026-07-28")] {
        let line = pipe.line().await;
        assert_eq!(id(&line), expected);
        assert!(line.contains(version), "{line}");
    }
}

/// A client that writes and never reads: what it writes must not pile up in the server.
#[tokio::test(start_paused = true)]
async fn malformed_messages_do_not_pile_up() {
    const MANY: usize = 5000;
    let (gate, _probe) = limited(Limits::default().connection_calls(4).parked_calls(4));
    let mut pipe = Pipe::with_room(&gate, 1024);
    let malformed = [
        r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#,
        r#"{"jsonrpc":"2.0","id":1}"#,
        "7",
    ];
    let mut written = 0;
    let writing = async {
        for line in malformed.iter().cycle().take(MANY) {
            pipe.write(line).await;
            written += 1;
        }
    };
    // Time passes when there is nothing left to do.
    let taken = tokio::time::timeout(Duration::from_secs(1), writing).await;
    assert!(taken.is_err(), "the server took all of it");
    assert!(written < 300, "{written}");
    // The rest of the line that was begun is lost with it.
    let Pipe {
        mut input,
        mut output,
        ..
    } = pipe;
    let last = format!("\n{}\n", call("\"last\"", "tally_read", "{}"));
    let writing = tokio::spawn(async move { input.write_all(last.as_bytes()).await });
    let mut line = output.next().await.unwrap();
    while id(&line) != "last" {
        assert!(code(&line) < 0, "{line}");
        line = output.next().await.unwrap();
    }
    assert_eq!(code(&line), 0);
    writing.await.unwrap().unwrap();
}

/// Contract: P-92.
#[tokio::test]
async fn responses_nobody_asked_for_are_let_pass() {
    let (gate, _probe) = gate();
    let mut pipe = Pipe::open(&gate);
    for response in [
        r#"{"jsonrpc":"2.0","id":"srv-404","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
    ] {
        pipe.write(response).await;
    }
    assert_eq!(id(&pipe.ask(&call("1", "tally_read", "{}")).await), 1);
    let (rest, _) = pipe.close().await;
    assert_eq!(rest, [""; 0]);
}

/// A handler that blocks its thread, against the rules, keeps no other call from running.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_blocks_its_thread_harms_itself_alone() {
    let (release, wait) = std::sync::mpsc::channel::<()>();
    let wait = std::sync::Arc::new(std::sync::Mutex::new(wait));
    let wedge = Operation::new("wedge").handler(move || {
        let wait = std::sync::Arc::clone(&wait);
        async move {
            let _ = wait.lock().unwrap().recv();
            "let go"
        }
    });
    let echo = Operation::new("echo").handler(|| async { "hi" });
    let registry = Registry::builder()
        .operation(wedge)
        .operation(echo)
        .build()
        .unwrap();
    let gate = Stack::new(registry).mode(Mode::Plain).build().unwrap();
    let mut pipe = Pipe::open(&gate);
    pipe.write(&call("1", "wedge", "{}")).await;
    for id in 2..5 {
        assert_eq!(
            super::id(&pipe.ask(&call(&id.to_string(), "echo", "{}")).await),
            id
        );
    }
    release.send(()).unwrap();
    assert_eq!(id(&pipe.line().await), 1);
}
