//! Where the values of a scanned text are: sixteen bytes for each value and each member name.
//!
//! Entries stand in document order. A container is followed by its content; `next` of a value is
//! the entry behind it and everything in it. In an object, names and values alternate, and `next`
//! of a name holds its fingerprint, since the entry behind a name is always the one after it.
//! Objects with more than sixteen members also get a hash table of their names: it finds duplicates
//! in linear time and stays as the table for lookups.

use std::hash::BuildHasher;
use std::sync::LazyLock;

use super::strings;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `false`
    False,
    /// `true`
    True,
    /// A number, whatever its size.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// No entry.
pub(super) const NONE: u32 = u32::MAX;

/// One value or member name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// First byte, the quote of a string included.
    pub(super) start: u32,
    /// Behind the last byte.
    pub(super) end: u32,
    /// See the module docs.
    pub(super) next: u32,
    /// Kind, a flag and the number of elements or members.
    meta: u32,
}

/// Everything the scan found out about a text.
#[derive(Debug)]
pub(super) struct Index {
    pub(super) entries: Vec<Entry>,
    /// The names of wide objects: slots with a name's entry plus one, or zero.
    slots: Vec<u32>,
    tables: Vec<Table>,
    /// The entry of the first name found to repeat another of its object.
    pub(super) duplicate: u32,
    /// The length of the text.
    text: usize,
}

#[derive(Clone, Copy, Debug)]
struct Table {
    first_slot: u32,
    mask: u32,
}

impl Entry {
    pub(super) fn new(kind: Kind, start: usize, end: usize) -> Self {
        Self {
            start: offset(start),
            end: offset(end),
            next: NONE,
            meta: kind as u32,
        }
    }

    pub(super) fn kind(self) -> Kind {
        match self.meta & KIND_MASK {
            0 => Kind::Null,
            1 => Kind::False,
            2 => Kind::True,
            3 => Kind::Number,
            4 => Kind::String,
            5 => Kind::Array,
            _ => Kind::Object,
        }
    }

    /// A string: it has escapes. A number: it has a fraction or an exponent. An object: it has a
    /// table of names.
    pub(super) fn flag(self) -> bool {
        self.meta & FLAG != 0
    }

    pub(super) fn set_flag(&mut self, on: bool) {
        if on {
            self.meta |= FLAG;
        }
    }

    /// How many elements or members a container has.
    pub(super) fn count(self) -> usize {
        (self.meta >> COUNT_SHIFT) as usize
    }

    /// The same as a number of entries.
    pub(super) fn meta_count(self) -> u32 {
        self.meta >> COUNT_SHIFT
    }

    pub(super) fn set_count(&mut self, count: u32) {
        self.meta = (self.meta & (KIND_MASK | FLAG)) | count << COUNT_SHIFT;
    }

    pub(super) fn text(self, text: &str) -> &str {
        &text[self.start as usize..self.end as usize]
    }

    /// The content of a string, without its quotes.
    pub(super) fn content(self, text: &str) -> &str {
        &text[self.start as usize + 1..self.end as usize - 1]
    }

    fn is_named(self, text: &str, name: &str) -> bool {
        let content = self.content(text);
        if self.flag() {
            strings::decode(content) == name
        } else {
            content == name
        }
    }
}

impl Index {
    pub(super) fn with_room_for(text: usize) -> Self {
        Self {
            entries: Vec::with_capacity(most(text).min(text / 8 + 8).min(FIRST_ROOM)),
            slots: Vec::new(),
            tables: Vec::new(),
            duplicate: NONE,
            text,
        }
    }

    pub(super) fn push(&mut self, entry: Entry) -> u32 {
        let at = self.entries.len();
        if at == self.entries.capacity() {
            self.make_room(entry.start as usize);
        }
        self.entries.push(entry);
        offset(at)
    }

    /// Makes room for several times as many entries, or for all the rest of the text can have.
    ///
    /// Each step is a quarter of the next, and the last is what the whole text needs at most: while
    /// entries are moved there for the last time, they take up a quarter more than that.
    #[cold]
    fn make_room(&mut self, start: usize) {
        let at = self.entries.len();
        let mut step = most(self.text);
        while step / 4 >= (2 * at).max(FIRST_ROOM) {
            step /= 4;
        }
        let room = step.min(at + most(self.text - start)).max(at + 1);
        self.entries.reserve_exact(room - at);
    }

    /// Gives back most of the room, if most of it was not needed.
    pub(super) fn give_back_room(&mut self) {
        let room = self.entries.capacity();
        if room > MANY && room / 4 > self.entries.len() {
            self.entries.shrink_to_fit();
        }
    }

    /// How much memory this takes up.
    pub(super) fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>()
            + self.slots.capacity() * size_of::<u32>()
            + self.tables.capacity() * size_of::<Table>()
    }

    /// The position of the entry that is pushed next.
    pub(super) fn next_position(&self) -> u32 {
        offset(self.entries.len())
    }

    /// Ends the container `at`, which has `count` elements or members; the container around it.
    pub(super) fn close(&mut self, at: u32, end: usize, count: u32) -> u32 {
        let next = self.next_position();
        let entry = &mut self.entries[at as usize];
        entry.end = offset(end);
        entry.set_count(count);
        std::mem::replace(&mut entry.next, next)
    }

    /// Looks for duplicates among the names of a closed object.
    pub(super) fn check_names(&mut self, text: &str, object: u32) {
        let count = self.entries[object as usize].count();
        if count > NARROW {
            self.tabulate(text, object, count);
        } else if self.may_repeat(object, count) {
            self.compare_names(text, object, count);
        }
    }

    /// The value of the member `name`; of several, the first.
    pub(super) fn member(&self, text: &str, object: u32, name: &str) -> Option<u32> {
        let entry = self.entries[object as usize];
        if entry.flag() {
            return self.member_by_table(text, object, name);
        }
        let wanted = strings::fingerprint(name.as_bytes());
        let mut key = object + 1;
        for _ in 0..entry.count() {
            let candidate = self.entries[key as usize];
            if candidate.next == wanted && candidate.is_named(text, name) {
                return Some(key + 1);
            }
            key = self.entries[key as usize + 1].next;
        }
        None
    }

    fn member_by_table(&self, text: &str, object: u32, name: &str) -> Option<u32> {
        let table = self.tables[self.entries[object as usize + 1].next as usize];
        let mut probe = hash(name);
        loop {
            match self.slots[table.slot(probe)] {
                0 => return None,
                key if self.entries[key as usize - 1].is_named(text, name) => return Some(key),
                _ => probe = probe.wrapping_add(1),
            }
        }
    }

    /// Whether two fingerprints fall on the same bit, which those of equal names do.
    fn may_repeat(&self, object: u32, count: usize) -> bool {
        let mut seen = 0_u128;
        let mut key = object + 1;
        for _ in 0..count {
            let bit = 1 << (self.entries[key as usize].next & 127);
            if seen & bit != 0 {
                return true;
            }
            seen |= bit;
            key = self.entries[key as usize + 1].next;
        }
        false
    }

    /// Compares each name with those before it: quick for the few members most objects have. Where
    /// different names have one fingerprint, somebody may want many of them compared.
    fn compare_names(&mut self, text: &str, object: u32, count: usize) {
        let mut seen = [(0, 0); NARROW];
        let mut key = object + 1;
        for at in 0..count {
            let print = self.entries[key as usize].next;
            for &(earlier_print, earlier) in &seen[..at] {
                if earlier_print != print {
                    continue;
                }
                if !self.same_name(text, earlier, key) {
                    return self.tabulate(text, object, count);
                }
                self.duplicate = self.duplicate.min(key);
            }
            seen[at] = (print, key);
            key = self.entries[key as usize + 1].next;
        }
    }

    /// Puts the names of a wide object into a table of their own.
    fn tabulate(&mut self, text: &str, object: u32, count: usize) {
        let size = (count + count / 2).next_power_of_two();
        let table = Table {
            first_slot: offset(self.slots.len()),
            mask: offset(size - 1),
        };
        let length = self.slots.len() + size;
        if length > self.slots.capacity() {
            // Not twice as much: it counts against the message, and there may be many wide objects.
            let room = length.max(self.slots.capacity() / 4 * 5);
            self.slots.reserve_exact(room - self.slots.len());
        }
        self.slots.resize(length, 0);
        let mut decoded = String::new();
        let mut key = object + 1;
        for _ in 0..count {
            let entry = self.entries[key as usize];
            let mut probe = match entry.content(text) {
                escaped if entry.flag() => hash(strings::decode_into(escaped, &mut decoded)),
                content => hash(content),
            };
            loop {
                let slot = table.slot(probe);
                match self.slots[slot] {
                    0 => {
                        self.slots[slot] = key + 1;
                        break;
                    }
                    taken if self.same_name(text, taken - 1, key) => {
                        self.duplicate = self.duplicate.min(key);
                        break;
                    }
                    _ => probe = probe.wrapping_add(1),
                }
            }
            key = self.entries[key as usize + 1].next;
        }
        self.entries[object as usize].set_flag(true);
        self.entries[object as usize + 1].next = offset(self.tables.len());
        self.tables.push(table);
    }

    fn same_name(&self, text: &str, one: u32, other: u32) -> bool {
        let (one, other) = (self.entries[one as usize], self.entries[other as usize]);
        let same: fn(&str, &str) -> bool = match (one.flag(), other.flag()) {
            (false, false) => |one, other| one == other,
            _ => strings::same,
        };
        one.next == other.next && same(one.content(text), other.content(text))
    }
}

impl Table {
    fn slot(self, probe: u32) -> usize {
        (self.first_slot + (probe & self.mask)) as usize
    }
}

/// No text of this length has more entries: every two values need a separator between them,
/// whatever else they need.
fn most(text: usize) -> usize {
    text / 2 + 1
}

/// A hash that a peer cannot predict: names made to collide elsewhere do not collide here.
fn hash(name: &str) -> u32 {
    static SEED: LazyLock<foldhash::quality::RandomState> = LazyLock::new(Default::default);
    (SEED.hash_one(name) >> 32) as u32
}

/// Longer texts are refused before an offset is made.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the scan refuses texts beyond 256 MiB"
)]
fn offset(value: usize) -> u32 {
    value as u32
}

const KIND_MASK: u32 = 0b111;
const FLAG: u32 = 0b1000;
const COUNT_SHIFT: u32 = 4;
/// The most members whose names are compared one by one.
const NARROW: usize = 16;
/// Entries that a small message needs.
const FIRST_ROOM: usize = 64;
/// Entries that are worth being given back.
const MANY: usize = 4096;
