//! A reader of event streams, written from the standard that browsers follow.

/// The data of the events in a stream that has ended.
pub(super) fn events(stream: &[u8]) -> Vec<String> {
    let text = std::str::from_utf8(stream).expect("a stream of events is UTF-8");
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (mut events, mut data) = (Vec::new(), String::new());
    for line in lines(text) {
        if line.is_empty() {
            if let Some(whole) = data.strip_suffix('\n') {
                events.push(whole.to_owned());
            }
            data.clear();
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        if field == "data" {
            data.push_str(value.strip_prefix(' ').unwrap_or(value));
            data.push('\n');
        }
    }
    events
}

/// Lines end with a carriage return, a line feed, or both; a last one that does not end is none.
fn lines(mut text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    while let Some(end) = text.find(['\r', '\n']) {
        let (line, rest) = text.split_at(end);
        lines.push(line);
        text = match rest.strip_prefix("\r\n") {
            Some(rest) => rest,
            None => &rest[1..],
        };
    }
    lines
}
