//! One call of the HTTP service, without a socket: how long it takes.

use std::error::Error;
use std::fs;
use std::hint::black_box;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request};
use http_body_util::{BodyExt as _, Full};
use portcullis::{Gate, Http};
use tokio::time::Instant;
use tower::Service as _;

/// Calls the service with a scenario's body and headers.
///
/// One call has to succeed. With `calls`, that many follow it, and that is all. Without, prints the
/// median and the best time of a call in nanoseconds, and the length of its answer.
pub(crate) async fn run(
    gate: &Gate,
    directory: &str,
    scenario: &str,
    calls: Option<u32>,
) -> Result<(), Box<dyn Error>> {
    let body = Bytes::from(fs::read(format!("{directory}/{scenario}.body"))?);
    let mut headers = vec![(
        http::header::HOST,
        HeaderValue::from_static("127.0.0.1:3000"),
    )];
    for line in fs::read_to_string(format!("{directory}/{scenario}.hdr"))?.lines() {
        let (name, value) = line
            .split_once(": ")
            .ok_or("a header has a name and a value")?;
        headers.push((HeaderName::try_from(name)?, HeaderValue::try_from(value)?));
    }
    let http = gate.http();
    let (status, answer) = call(&http, &body, &headers).await?;
    if status != 200 || !is_result(&answer) {
        return Err(format!("{status}: {}", String::from_utf8_lossy(&answer)).into());
    }

    if let Some(calls) = calls {
        for _ in 0..calls {
            black_box(call(&http, &body, &headers).await?);
        }
        return Ok(());
    }
    let warm = Instant::now();
    let mut calls = 0_u32;
    while warm.elapsed().as_millis() < 150 {
        black_box(call(&http, &body, &headers).await?);
        calls += 1;
    }
    let calls = (calls / 3).max(1);
    let mut times = Vec::new();
    for _ in 0..15 {
        let start = Instant::now();
        for _ in 0..calls {
            black_box(call(&http, &body, &headers).await?);
        }
        times.push(start.elapsed() / calls);
        tokio::task::yield_now().await;
    }
    times.sort();
    println!(
        "INPROC {scenario} {} {} {}",
        times[7].as_nanos(),
        times[0].as_nanos(),
        answer.len()
    );
    Ok(())
}

/// Whether an answer is neither an error nor the failure of a tool.
fn is_result(answer: &[u8]) -> bool {
    let reply = serde_json::from_slice::<serde_json::Value>(answer).unwrap_or_default();
    reply["result"].is_object() && reply["result"]["isError"] != true
}

async fn call(
    http: &Http,
    body: &Bytes,
    headers: &[(HeaderName, HeaderValue)],
) -> Result<(u16, Bytes), Box<dyn Error>> {
    let mut request = Request::post("/").body(Full::new(body.clone()))?;
    for (name, value) in headers {
        request.headers_mut().insert(name.clone(), value.clone());
    }
    let response = http.clone().call(request).await?;
    let status = response.status().as_u16();
    let answer = response
        .into_body()
        .collect()
        .await
        .map_err(|error| error as Box<dyn Error>)?;
    Ok((status, answer.to_bytes()))
}
