//! Where the strings of a JSON text end, found sixty-four bytes at a time.
//!
//! In the texts of logs escapes stand close together, so a search that stops at each of them is slow. Here each block of
//! bytes becomes a few words with a bit for each byte, and what a backslash does to the byte behind it is worked out on
//! those.

/// Bytes to a block: a bit of a word for each.
const BLOCK: usize = 64;
/// Blocks that are looked at before their bits are used.
const BLOCKS: usize = 32;

/// The marks of a text, made as far as they are needed; what is asked for lies ever further on.
pub(crate) struct Marks<'t> {
    bytes: &'t [u8],
    look: Look,
    /// The first block that is marked, and the one behind the last.
    first: usize,
    next: usize,
    /// Quotes that are not escaped.
    quotes: [u64; BLOCKS],
    backslashes: [u64; BLOCKS],
    /// Whether the next block's first byte is escaped.
    carry: bool,
    has_odd_escape: bool,
}

/// Marks some blocks of a text, the first of them given; `None` where a control character or an escape stands that a tree
/// does not take.
type Look = fn(&mut Marks<'_>) -> Option<()>;

/// What is seen of a block.
struct Seen {
    quotes: u64,
    backslashes: u64,
    has_control: bool,
}

/// Looks at the bytes of a block side by side.
trait Eye {
    fn see(block: &[u8; BLOCK]) -> Seen;

    /// Which of the bytes that are asked for make an escape of a letter: `"\\bfnrt`; others may be told as well.
    fn letters(block: &[u8; BLOCK], asked: u64) -> u64;
}

impl<'t> Marks<'t> {
    pub(crate) fn of(bytes: &'t [u8]) -> Self {
        Self {
            bytes,
            look: look_of_this_machine(),
            first: 0,
            next: 0,
            quotes: [0; BLOCKS],
            backslashes: [0; BLOCKS],
            carry: false,
            has_odd_escape: false,
        }
    }

    /// Where the string ends that has a first byte, or its end, at `from`; and whether escapes stand before.
    #[inline]
    pub(crate) fn string_end(&mut self, from: usize) -> Option<(usize, bool)> {
        let (mut block, mut wanted) = (from / BLOCK, u64::MAX << (from % BLOCK));
        let mut escapes = 0;
        loop {
            while block >= self.next {
                (self.look)(self)?;
            }
            let (quotes, backslashes) = (self.quotes[block - self.first], self.backslashes[block - self.first]);
            let end = quotes & wanted;
            if end != 0 {
                let before = (end & end.wrapping_neg()) - 1;
                escapes |= backslashes & wanted & before;
                return Some((block * BLOCK + end.trailing_zeros() as usize, escapes != 0));
            }
            escapes |= backslashes & wanted;
            (block, wanted) = (block + 1, u64::MAX);
        }
    }

    /// Whether an escape was come by that need not be one, or could be a shorter one.
    pub(crate) fn has_odd_escape(&self) -> bool {
        self.has_odd_escape
    }

    /// See [`Look`].
    #[inline(always)]
    fn look<E: Eye>(&mut self) -> Option<()> {
        let start = self.next * BLOCK;
        let rest = self.bytes.get(start..).filter(|rest| !rest.is_empty())?;
        let (blocks, cut) = rest.as_chunks::<BLOCK>();
        self.first = self.next;
        for block in blocks.iter().take(BLOCKS) {
            self.mark::<E>(block)?;
        }
        if blocks.len() < BLOCKS && !cut.is_empty() {
            let mut block = [b' '; BLOCK];
            block[..cut.len()].copy_from_slice(cut);
            self.mark::<E>(&block)?;
        }
        Some(())
    }

    #[inline(always)]
    fn mark<E: Eye>(&mut self, block: &[u8; BLOCK]) -> Option<()> {
        let seen = E::see(block);
        let (escaped, carry) = escaped_by(seen.backslashes, self.carry);
        self.carry = carry;
        let odd = escaped & !E::letters(block, escaped);
        if odd != 0 {
            self.check(odd)?;
        }
        if seen.has_control {
            return None;
        }
        let at = self.next - self.first;
        (self.quotes[at], self.backslashes[at]) = (seen.quotes & !escaped, seen.backslashes);
        self.next += 1;
        Some(())
    }

    /// Looks at other escapes: `\/`, and those that name a character by its digits, and not half of one.
    #[cold]
    fn check(&mut self, mut odd: u64) -> Option<()> {
        while odd != 0 {
            let at = self.next * BLOCK + odd.trailing_zeros() as usize;
            odd &= odd - 1;
            if self.bytes.get(at) == Some(&b'/') {
                self.has_odd_escape = true;
                continue;
            }
            let digits = self.bytes.get(at..at + 5)?.strip_prefix(b"u")?;
            let is_half = matches!(digits, [b'd' | b'D', b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F', ..]);
            if is_half || !digits.iter().all(u8::is_ascii_hexdigit) {
                return None;
            }
            // Control characters that have no letter.
            let is_needed = matches!(
                digits,
                [b'0', b'0', b'0', b'0'..=b'7' | b'b' | b'e' | b'f'] | [b'0', b'0', b'1', b'0'..=b'9' | b'a'..=b'f']
            );
            self.has_odd_escape |= !is_needed;
        }
        Some(())
    }
}

/// Which bytes the backslashes of a block escape, and whether they escape the one behind it; `carry` says that the first
/// byte is escaped from before.
fn escaped_by(backslashes: u64, carry: bool) -> (u64, bool) {
    /// Every second byte, from the first.
    const EVEN: u64 = u64::MAX / 3;
    let first = u64::from(carry);
    // Of backslashes side by side the first escapes, and every second one from there.
    let open = backslashes & !first;
    let starts = open & !(open << 1);
    // A one added where a run starts is carried through all of it.
    let from_even = open & !open.wrapping_add(starts & EVEN);
    let escaping = (from_even & EVEN) | (open & !from_even & !EVEN);
    (first | escaping << 1, escaping >> (BLOCK - 1) == 1)
}

fn look_of_this_machine() -> Look {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        return wide::look;
    }
    |marks| marks.look::<Narrow>()
}

/// Eight bytes at a time, on any machine.
struct Narrow;

impl Narrow {
    const ONES: u64 = u64::MAX / 255;

    /// A bit for each byte of the word that is zero, the first byte's the lowest.
    fn zeros(word: u64) -> u64 {
        const LOW: u64 = Narrow::ONES * 0x7f;
        let zeros = !(((word & LOW) + LOW) | word | LOW);
        // Gathers the highest bits of the bytes in the last byte.
        (zeros >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
    }
}

impl Eye for Narrow {
    fn see(block: &[u8; BLOCK]) -> Seen {
        let mut seen = Seen { quotes: 0, backslashes: 0, has_control: false };
        for (nth, word) in block.as_chunks::<8>().0.iter().enumerate() {
            let word = u64::from_le_bytes(*word);
            seen.quotes |= Self::zeros(word ^ (Self::ONES * u64::from(b'"'))) << (8 * nth);
            seen.backslashes |= Self::zeros(word ^ (Self::ONES * u64::from(b'\\'))) << (8 * nth);
            seen.has_control |= Self::zeros(word & (Self::ONES * 0xe0)) != 0;
        }
        seen
    }

    fn letters(block: &[u8; BLOCK], asked: u64) -> u64 {
        let (mut letters, mut left) = (0, asked);
        while left != 0 {
            let at = left.trailing_zeros();
            let is_letter = matches!(block[at as usize], b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't');
            letters |= u64::from(is_letter) << at;
            left &= left - 1;
        }
        letters
    }
}

/// Thirty-two bytes at a time.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "compares thirty-two bytes in one instruction")]
mod wide {
    use std::arch::x86_64::{
        __m256i, _mm_loadu_si128, _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256,
        _mm256_min_epu8, _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8, _mm256_setzero_si256,
        _mm256_shuffle_epi8, _mm256_srli_epi16,
    };

    use super::{BLOCK, Eye, Marks, Seen};

    /// As it is chosen where the machine can do it.
    pub(super) fn look(marks: &mut Marks<'_>) -> Option<()> {
        #[target_feature(enable = "avx2")]
        fn look(marks: &mut Marks<'_>) -> Option<()> {
            marks.look::<Wide>()
        }
        // SAFETY: this function is chosen where these instructions were found.
        unsafe { look(marks) }
    }

    /// Used by [`look`] only. What it calls is inlined there, where the instructions are allowed; a closure would not be.
    struct Wide;

    impl Wide {
        /// The `nth` half of a block.
        #[inline(always)]
        fn half(block: &[u8; BLOCK], nth: usize) -> __m256i {
            let half = &block[32 * nth..32 * nth + 32];
            // SAFETY: the half is as long as what is loaded, and `look` has made sure of the instructions.
            unsafe { _mm256_loadu_si256(half.as_ptr().cast()) }
        }

        /// A bit for each byte that is all ones, the first byte's the lowest.
        #[inline(always)]
        fn bits(low: __m256i, high: __m256i) -> u64 {
            // SAFETY: `look` has made sure of the instructions.
            let (low, high) = unsafe { (_mm256_movemask_epi8(low), _mm256_movemask_epi8(high)) };
            u64::from(low.cast_unsigned()) | u64::from(high.cast_unsigned()) << 32
        }

        #[inline(always)]
        fn equal(low: __m256i, high: __m256i, byte: u8) -> u64 {
            // SAFETY: as above.
            unsafe {
                let byte = _mm256_set1_epi8(byte.cast_signed());
                Self::bits(_mm256_cmpeq_epi8(low, byte), _mm256_cmpeq_epi8(high, byte))
            }
        }

        /// All ones in bytes of control characters.
        #[inline(always)]
        fn controls(half: __m256i) -> __m256i {
            // SAFETY: as above.
            unsafe { _mm256_cmpeq_epi8(_mm256_min_epu8(half, _mm256_set1_epi8(0x1f)), half) }
        }

        /// All ones in bytes that are no letters: each letter has one bit that both its halves stand for, of which the
        /// higher one is 2, 5, 6 or 7.
        #[inline(always)]
        fn others(half: __m256i) -> __m256i {
            const QUOTE: i8 = 1;
            const BACKSLASH: i8 = 2;
            const BFN: i8 = 4;
            const RT: i8 = 8;
            #[rustfmt::skip]
            const LOWER: [i8; 16] = [
                0, 0, QUOTE | BFN | RT, 0, RT, 0, BFN, 0, 0, 0, 0, 0, BACKSLASH, 0, BFN, 0,
            ];
            const HIGHER: [i8; 16] = [0, 0, QUOTE, 0, 0, BACKSLASH, BFN, RT, 0, 0, 0, 0, 0, 0, 0, 0];
            // SAFETY: as above; the tables are as long as what is loaded.
            unsafe {
                let lower = _mm256_broadcastsi128_si256(_mm_loadu_si128(LOWER.as_ptr().cast()));
                let higher = _mm256_broadcastsi128_si256(_mm_loadu_si128(HIGHER.as_ptr().cast()));
                let half_byte = _mm256_set1_epi8(0xf);
                let low = _mm256_shuffle_epi8(lower, _mm256_and_si256(half, half_byte));
                let high = _mm256_and_si256(_mm256_srli_epi16(half, 4), half_byte);
                let both = _mm256_and_si256(low, _mm256_shuffle_epi8(higher, high));
                _mm256_cmpeq_epi8(both, _mm256_setzero_si256())
            }
        }
    }

    impl Eye for Wide {
        #[inline(always)]
        fn see(block: &[u8; BLOCK]) -> Seen {
            let (low, high) = (Self::half(block, 0), Self::half(block, 1));
            // SAFETY: as above.
            let controls = unsafe { _mm256_movemask_epi8(_mm256_or_si256(Self::controls(low), Self::controls(high))) };
            Seen {
                quotes: Self::equal(low, high, b'"'),
                backslashes: Self::equal(low, high, b'\\'),
                has_control: controls != 0,
            }
        }

        #[inline(always)]
        fn letters(block: &[u8; BLOCK], _: u64) -> u64 {
            !Self::bits(Self::others(Self::half(block, 0)), Self::others(Self::half(block, 1)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Byte by byte, and without any block.
    fn string_end(bytes: &[u8], from: usize) -> Option<(usize, bool)> {
        let (mut at, mut has_escapes) = (from, false);
        while bytes.get(at)? != &b'"' {
            has_escapes |= bytes[at] == b'\\';
            at += if bytes[at] == b'\\' { 2 } else { 1 };
        }
        Some((at, has_escapes))
    }

    fn looks() -> [Look; 2] {
        [look_of_this_machine(), |marks| marks.look::<Narrow>()]
    }

    /// Every string of a text that begins within one, by each way of looking.
    #[track_caller]
    fn check(text: &[u8]) {
        for look in looks() {
            let mut marks = Marks { look, ..Marks::of(text) };
            let mut from = 0;
            loop {
                let expected = string_end(text, from);
                assert_eq!(marks.string_end(from), expected, "{:?} from {from}", text.escape_ascii().to_string());
                let Some((end, _)) = expected else { break };
                from = end + 1;
            }
        }
    }

    #[test]
    fn the_ends_of_strings_are_found_wherever_they_and_their_escapes_stand() {
        for before in 0..140 {
            for backslashes in 0..5 {
                for after in [0, 1, 62, 63, 64, 65, 5000] {
                    let runs = ["x".repeat(before), "\\".repeat(backslashes), "\"".repeat(2), "y".repeat(after)];
                    check(format!("{}\"\\n\"", runs.concat()).as_bytes());
                }
            }
        }
        check(&b"\\\\".repeat(5000));
        check(&[&b"\\".repeat(127)[..], b"\"\"a\\\"\""].concat());
    }

    #[test]
    fn bytes_that_differ_in_a_bit_are_no_marks() {
        let others: Vec<u8> = (b' '..=255).filter(|byte| !b"\"\\".contains(byte)).collect();
        for at in 0..130 {
            let mut text = others.repeat(1);
            text.rotate_left(at);
            text.insert(at, b'"');
            check(&text);
        }
    }

    /// Whether the marks of a text are made by each way of looking.
    #[track_caller]
    fn is_taken(text: &[u8]) -> bool {
        let taken = looks().map(|look| Marks { look, ..Marks::of(text) }.string_end(0).is_some());
        assert_eq!(taken[0], taken[1], "{:?}", text.escape_ascii().to_string());
        taken[0]
    }

    #[test]
    fn only_escapes_that_a_tree_takes_are_passed() {
        for before in [0, 5, 61, 62, 63, 64, 65, 2046, 2047] {
            let text = |escape: &[u8]| [&b"z".repeat(before)[..], escape, b"\""].concat();
            for byte in 0..=255 {
                assert_eq!(is_taken(&text(&[b'\\', byte])), b"\"\\/bfnrt".contains(&byte), "{before} {byte}");
                let is_plain = byte >= b' ' && byte != b'\\';
                assert_eq!(is_taken(&text(&[byte])), is_plain, "{before} {byte}");
            }
            for (escape, expected) in [
                ("u00e9", true),
                ("uD7Ff", true),
                ("ue000", true),
                ("ud800", false),
                ("uDfff", false),
                ("u00g0", false),
                ("u123", false),
                ("u", false),
            ] {
                assert_eq!(is_taken(&text(format!("\\{escape}").as_bytes())), expected, "{before} {escape}");
            }
        }
    }
}
