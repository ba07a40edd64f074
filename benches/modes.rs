//! What the modes cost, for few operations and for many: `cargo bench --bench modes`.
//!
//! The first of each group is the core without a mode, asked what plain mode asks it.

mod support;

use std::convert::Infallible;
use std::future::ready;
use std::sync::{Arc, Mutex};

use portcullis::layers::{Mode, ModeLayer};
use portcullis::service::{Envelope, McpService, Reply};
use portcullis::wire::Method;
use tower::{Layer, service_fn};

use support::calls::{self, Era, envelope, registry, shown};
use support::clock::Clock;
use support::meter::{Meter, check};

fn main() {
    let mut clock = Clock::new();
    for operations in [3, 1_000] {
        let core = McpService::builder(registry(operations)).build();
        let core = core.expect("the system has randomness");
        let operation = calls::name(operations / 2);
        let call = |mode: &Mode| {
            let params = shown(mode, &operation);
            envelope(Era::Modern, Method::TOOLS_CALL, &params)
        };
        let list = |_: &Mode| envelope(Era::Modern, Method::TOOLS_LIST, "{}");
        clock.group(&format!("modes/list_{operations}"));
        measure(&mut clock, &core, list);
        clock.group(&format!("modes/call_{operations}"));
        measure(&mut clock, &core, call);
        let query = r#"{"query":"give back text"}"#;
        compact(&mut clock, &core, "search_tools", query);
        let name = format!(r#"{{"name":"{operation}"}}"#);
        compact(&mut clock, &core, "get_tool_details", &name);
    }
    clock.report();
}

fn measure(clock: &mut Clock, core: &McpService, request: impl Fn(&Mode) -> Envelope) {
    clock.calls("core", core.clone(), asked_of_core(&request(&Mode::Plain)));
    for mode in [Mode::Plain, Mode::Direct, Mode::default()] {
        let (name, request) = (mode.name(), request(&mode));
        clock.calls(name, ModeLayer::new(mode).layer(core.clone()), request);
    }
}

/// Measures one of the other two tools of compact mode.
fn compact(clock: &mut Clock, core: &McpService, tool: &str, arguments: &str) {
    let params = format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#);
    let request = envelope(Era::Modern, Method::TOOLS_CALL, &params);
    clock.calls(
        tool,
        ModeLayer::new(Mode::default()).layer(core.clone()),
        request,
    );
}

/// What plain mode makes of a request.
fn asked_of_core(request: &Envelope) -> Envelope {
    let asked = Arc::new(Mutex::new(None));
    let keep = Arc::clone(&asked);
    let mut plain = ModeLayer::new(Mode::Plain).layer(service_fn(move |envelope: Envelope| {
        *keep.lock().expect("nothing panics here") = Some(envelope);
        ready(Ok::<_, Infallible>(Reply::accepted()))
    }));
    check("plain mode", &mut plain, request.clone());
    let asked = asked.lock().expect("nothing panics here").take();
    asked.expect("plain mode asks the core")
}
