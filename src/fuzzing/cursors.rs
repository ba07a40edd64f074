//! Cursors of lists: ours are understood wherever the list has gone, and no other is.

use std::ops::Range;
use std::sync::Arc;

use crate::service::{Named, Pager, Principal, Scope, Secret};

use super::halves;

/// The first line says how the list is cut and how a cursor is changed, the second is the caller,
/// and all lines from there on are the list.
pub fn cursors(data: &[u8]) {
    let (changes, rest) = halves(data);
    let (caller, list) = halves(rest);
    let caller = Principal::new(String::from_utf8_lossy(caller));
    let items: Vec<_> = String::from_utf8_lossy(list)
        .lines()
        .take(MOST_ITEMS)
        .enumerate()
        .map(|(at, line)| Arc::new(Item(format!("{at} {line}"))))
        .collect();
    let pager = Pager::new(&secret(1));
    let size = 1 + usize::from(changes.first().copied().unwrap_or(0) % 8);
    let cursors = walk(&pager, &caller, &items, size);

    let page = |pager: &Pager, scope, cursor: &str| pager.page(scope, &items, Some(cursor), size);
    let ours = scope("items", &caller);
    assert!(
        page(&pager, ours, &String::from_utf8_lossy(changes)).is_err(),
        "nobody makes a cursor but the pager"
    );
    let stranger = Principal::new(format!("{}x", caller.subject()));
    let vouched = caller.clone().issuer("somebody");
    for cursor in &cursors {
        let changed = change(cursor, changes);
        assert!(
            changed == *cursor || page(&pager, ours, &changed).is_err(),
            "{changed}"
        );
        for other in [
            scope("other items", &caller),
            scope("items", &stranger),
            scope("items", &vouched),
        ] {
            assert!(page(&pager, other, cursor).is_err(), "{other:?}");
        }
        assert!(page(&Pager::new(&secret(2)), ours, cursor).is_err());
        moved(&pager, ours, &items, cursor, changes);
    }
}

/// Walks over the pages: they hold every item once, in order. The cursors on the way.
fn walk(pager: &Pager, caller: &Principal, items: &[Arc<Item>], size: usize) -> Vec<String> {
    let (mut cursors, mut at) = (Vec::new(), 0);
    loop {
        let cursor = cursors.last().map(String::as_str);
        let page = pager.page(scope("items", caller), items, cursor, size);
        let (Range { start, end }, next) = page.expect("the cursor is ours");
        assert_eq!(start, at);
        assert_eq!(end, (start + size).min(items.len()));
        at = end;
        match next {
            Some(next) => cursors.push(next),
            None => break,
        }
    }
    assert_eq!(at, items.len());
    cursors
}

/// On a list that lost some of its items a page begins behind the last item that was seen.
fn moved(pager: &Pager, scope: Scope<'_>, items: &[Arc<Item>], cursor: &str, changes: &[u8]) {
    let kept = |at: usize| {
        changes
            .get(at % changes.len().max(1))
            .is_none_or(|b| b % 3 > 0)
    };
    let left: Vec<_> = (0..items.len())
        .filter(|at| kept(*at))
        .map(|at| Arc::clone(&items[at]))
        .collect();
    let before = pager
        .page(scope, items, Some(cursor), 1)
        .expect("ours")
        .0
        .start;
    let (after, _) = pager.page(scope, &left, Some(cursor), 1).expect("ours");
    assert!(after.start <= after.end && after.end <= left.len());
    if kept(before - 1) {
        let last = &items[before - 1].0;
        assert_eq!(left[after.start - 1].0, *last);
    }
}

/// A cursor with something else in it: at each byte what `changes` says.
fn change(cursor: &str, changes: &[u8]) -> String {
    let mut bytes = cursor.as_bytes().to_vec();
    for change in changes.chunks_exact(2) {
        let at = usize::from(change[0]) % (bytes.len() + 1);
        match change[1] {
            0x80.. => bytes.truncate(at),
            byte if at == bytes.len() => bytes.push(byte),
            byte => bytes[at] = byte,
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn scope<'a>(list: &'static str, caller: &'a Principal) -> Scope<'a> {
    Scope {
        list,
        principal: Some(caller),
    }
}

fn secret(fill: u8) -> Secret {
    Secret::new(&[fill; Secret::SHORTEST]).expect("it is long enough")
}

struct Item(String);

impl Named for Item {
    const KIND: &'static str = "item";

    fn name(&self) -> &str {
        &self.0
    }
}

const MOST_ITEMS: usize = 40;
