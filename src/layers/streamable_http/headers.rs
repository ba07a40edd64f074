//! What a client accepts.

use http::HeaderMap;
use http::header::ACCEPT;

/// Which of the two kinds of answers a client takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Accepted {
    pub(super) json: bool,
    pub(super) events: bool,
}

/// What the `Accept` lines say together; nothing if neither kind is accepted.
pub(super) fn accepted(headers: &HeaderMap) -> Option<Accepted> {
    let both = Accepted {
        json: true,
        events: true,
    };
    let lines = headers.get_all(ACCEPT);
    let mut few = lines.iter();
    match (few.next(), few.next()) {
        (None, _) => return Some(both),
        // What nearly every client sends, word for word.
        (Some(line), None) if line == USUAL => return Some(both),
        _ => {}
    }
    let mut json = Best::default();
    let mut events = Best::default();
    for line in lines {
        for range in line.to_str().unwrap_or_default().split(',') {
            json.consider(range, "application", "json");
            events.consider(range, "text", "event-stream");
        }
    }
    let accepted = Accepted {
        json: json.wanted,
        events: events.wanted,
    };
    (accepted.json || accepted.events).then_some(accepted)
}

/// The most specific range that matches a media type decides, and in it the quality.
#[derive(Default)]
struct Best {
    specificity: u8,
    wanted: bool,
}

impl Best {
    fn consider(&mut self, range: &str, kind: &str, subtype: &str) {
        let (range, parameters) = range.split_once(';').unwrap_or((range, ""));
        let Some((wanted_kind, wanted_subtype)) = range.trim().split_once('/') else {
            return;
        };
        let specificity = match (wanted_kind, wanted_subtype) {
            ("*", "*") => 1,
            (k, "*") if k.eq_ignore_ascii_case(kind) => 2,
            (k, s) if k.eq_ignore_ascii_case(kind) && s.eq_ignore_ascii_case(subtype) => 3,
            _ => return,
        };
        if specificity >= self.specificity {
            let wanted = !is_unwanted(parameters);
            // Of two equal ranges one that wants it is enough.
            self.wanted = wanted || (specificity == self.specificity && self.wanted);
            self.specificity = specificity;
        }
    }
}

/// Whether the parameters say `q=0`, in any spelling of zero.
fn is_unwanted(parameters: &str) -> bool {
    parameters.split(';').any(|parameter| {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let value = value.trim();
        name.trim().eq_ignore_ascii_case("q")
            && value.starts_with('0')
            && value.bytes().all(|b| matches!(b, b'0' | b'.'))
    })
}

const USUAL: &str = "application/json, text/event-stream";

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &[&str]) -> Option<(bool, bool)> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(ACCEPT, line.parse().unwrap());
        }
        accepted(&headers).map(|accepted| (accepted.json, accepted.events))
    }

    /// Contract: case H01.
    #[test]
    fn ranges_are_understood_not_searched() {
        let both = Some((true, true));
        assert_eq!(of(&[]), both);
        assert_eq!(of(&["application/json, text/event-stream"]), both);
        assert_eq!(of(&["text/event-stream, application/json"]), both);
        assert_eq!(of(&["application/json,text/event-stream"]), both);
        assert_eq!(of(&["*/*"]), both);
        assert_eq!(of(&["application/*;q=0.8, text/*"]), both);
        assert_eq!(
            of(&["APPLICATION/JSON, Text/Event-Stream;charset=utf-8"]),
            both
        );
        assert_eq!(of(&["application/json", "text/event-stream"]), both);
        assert_eq!(of(&["application/json"]), Some((true, false)));
        assert_eq!(of(&["text/event-stream"]), Some((false, true)));
        assert_eq!(of(&["*/*, application/json;q=0"]), Some((false, true)));
        assert_eq!(of(&["application/json;q=0, */*"]), Some((false, true)));
        assert_eq!(
            of(&["application/json;q=0, text/event-stream;q=0.000"]),
            None
        );
        assert_eq!(of(&["application/jsonp, text/event-streaming"]), None);
        assert_eq!(of(&["text/html", ""]), None);
        assert_eq!(
            of(&["application/json;q=0.001, text/html"]),
            Some((true, false))
        );
    }
}
