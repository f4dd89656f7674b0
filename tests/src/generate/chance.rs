//! What is left to chance, all of it from one seed: texts, ids, numbers and times.

use std::ops::Range;

use fastrand::Rng;

/// Words that texts are made of: prose and code, other scripts, and what JSON has to escape.
const WORDS: &[&str] = &[
    "the",
    "a",
    "of",
    "to",
    "and",
    "is",
    "in",
    "that",
    "it",
    "for",
    "was",
    "with",
    "on",
    "this",
    "be",
    "not",
    "from",
    "tree",
    "branch",
    "apple",
    "pear",
    "basket",
    "ladder",
    "harvest",
    "ripe",
    "orchard",
    "count",
    "weigh",
    "sort",
    "fn",
    "let",
    "mut",
    "pub",
    "struct",
    "enum",
    "match",
    "=>",
    "->",
    "{",
    "}",
    "(",
    ")",
    "self.",
    "Ok(())",
    "return",
    "if",
    "else",
    "while",
    "&str",
    "u64",
    "Vec<u8>",
    "0x1f",
    "42",
    "3.14",
    "== 0",
    "//",
    "\"name\":",
    "\"ripe\"",
    "C:\\fruit\\bin",
    "\\n",
    "\t",
    "\u{1b}[32mok\u{1b}[0m",
    "</li>",
    "Größe",
    "été",
    "niño",
    "Øre",
    "яблоко",
    "りんご",
    "苹果",
    "תפוח",
    "→",
    "✓",
    "🍏",
    "…",
];

/// Bytes of text that all texts are cut from.
const POOL: usize = 256 * 1024;

/// 2026-03-01T09:00:00Z in milliseconds.
const START: i64 = 1_772_355_600_000;

/// A seeded source of everything that differs from record to record.
#[derive(Debug)]
pub(super) struct Chance {
    rng: Rng,
    pool: String,
    clock: i64,
}

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let mut pool = String::with_capacity(POOL + 64);
        let mut column = 0;
        while pool.len() < POOL {
            let word = WORDS[rng.usize(..WORDS.len())];
            pool.push_str(word);
            column += word.len() + 1;
            if column < 40 + rng.usize(..60) {
                pool.push(' ');
            } else {
                column = 4 * rng.usize(..4);
                pool.push('\n');
                pool.extend(std::iter::repeat_n(' ', column));
            }
        }
        Self { rng, pool, clock: START }
    }

    /// A number of the range.
    pub(super) fn number(&mut self, range: Range<u64>) -> u64 {
        self.rng.u64(range)
    }

    /// Whether something happens that does so in this many of a hundred cases.
    pub(super) fn percent(&mut self, percent: u64) -> bool {
        self.rng.u64(..100) < percent
    }

    /// One of the items, each as likely as its weight says.
    pub(super) fn weighted<T: Copy>(&mut self, items: &[(T, u64)]) -> T {
        let sum: u64 = items.iter().map(|(_, weight)| weight).sum();
        let mut left = self.rng.u64(..sum);
        for &(item, weight) in items {
            if left < weight {
                return item;
            }
            left -= weight;
        }
        unreachable!("a number below the sum of the weights ends within one")
    }

    /// A text of about that many bytes, at most 256 KB.
    pub(super) fn text(&mut self, bytes: Range<usize>) -> String {
        let length = self.rng.usize(bytes).min(POOL / 2);
        let start = self.pool.floor_char_boundary(self.rng.usize(..POOL / 2));
        let end = self.pool.floor_char_boundary(start + length);
        self.pool[start..end].to_owned()
    }

    /// A text on one line.
    pub(super) fn words(&mut self, bytes: Range<usize>) -> String {
        self.text(bytes).replace('\n', " ")
    }

    /// What a tool shows: 1 to 50 KB, and each doubling as likely as the next.
    pub(super) fn body(&mut self) -> String {
        let bytes = (1000.0 * 50_f64.powf(self.rng.f64())) as usize;
        self.text(bytes..bytes + 1)
    }

    /// That many hexadecimal digits.
    pub(super) fn hex(&mut self, digits: usize) -> String {
        let mut hex = String::with_capacity(digits + 16);
        while hex.len() < digits {
            hex.push_str(&format!("{:016x}", self.rng.u64(..)));
        }
        hex.truncate(digits);
        hex
    }

    /// A random UUID.
    pub(super) fn uuid(&mut self) -> String {
        let hex = self.hex(30);
        format!("{}-{}-4{}-8{}-{}", &hex[..8], &hex[8..12], &hex[12..15], &hex[15..18], &hex[18..])
    }

    /// A time somewhat after the last one.
    pub(super) fn time(&mut self) -> String {
        self.clock += self.rng.i64(20..8000);
        let time = jiff::Timestamp::from_millisecond(self.clock).expect("a clock that starts in 2026");
        format!("{time:.3}")
    }
}

/// A text as JSON.
pub(super) fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text is JSON")
}
