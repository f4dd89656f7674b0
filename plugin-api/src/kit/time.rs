//! Time stamps as documents want them: RFC 3339 in UTC.

use jiff::Timestamp;

/// The first and the last time seen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Span(Option<(Timestamp, Timestamp)>);

impl Span {
    /// Takes one more time stamp into account; a text that is none is passed over.
    pub fn see(&mut self, text: &str) {
        let Ok(time) = text.parse::<Timestamp>() else { return };
        self.0 = Some(self.0.map_or((time, time), |(first, last)| (first.min(time), last.max(time))));
    }

    /// The earliest time seen.
    pub fn first(&self) -> Option<String> {
        self.0.map(|(first, _)| utc(first))
    }

    /// The latest time seen.
    pub fn last(&self) -> Option<String> {
        self.0.map(|(_, last)| utc(last))
    }
}

/// The time stamp of a count of milliseconds since 1970; `None` beyond the years that RFC 3339 can write.
pub fn from_millis(milliseconds: i64) -> Option<String> {
    Timestamp::from_millisecond(milliseconds).ok().map(utc)
}

/// With a fraction of 0, 3, 6 or 9 digits, whichever is the shortest that holds it.
fn utc(time: Timestamp) -> String {
    match time.subsec_nanosecond() {
        0 => format!("{time:.0}"),
        nanos if nanos % 1_000_000 == 0 => format!("{time:.3}"),
        nanos if nanos % 1_000 == 0 => format!("{time:.6}"),
        _ => format!("{time:.9}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_in_utc_whatever_the_order_and_the_offsets() {
        let mut span = Span::default();
        assert_eq!((span.first(), span.last()), (None, None));
        for text in ["2026-05-04T10:15:31.400+02:00", "yesterday", "", "2026-05-04T08:15:00Z"] {
            span.see(text);
        }
        assert_eq!(span.first().as_deref(), Some("2026-05-04T08:15:00Z"));
        assert_eq!(span.last().as_deref(), Some("2026-05-04T08:15:31.400Z"));
    }

    #[test]
    fn fractions_have_none_three_six_or_nine_digits() {
        for (text, written) in [
            ("2026-05-04T08:15:00.1Z", "2026-05-04T08:15:00.100Z"),
            ("2026-05-04T08:15:00.1234Z", "2026-05-04T08:15:00.123400Z"),
            ("2026-05-04T08:15:00.1234567Z", "2026-05-04T08:15:00.123456700Z"),
        ] {
            let mut span = Span::default();
            span.see(text);
            assert_eq!(span.first().as_deref(), Some(written));
        }
    }

    #[test]
    fn milliseconds_become_a_time_stamp_where_there_is_one() {
        assert_eq!(from_millis(1_772_355_600_000).as_deref(), Some("2026-03-01T09:00:00Z"));
        assert_eq!(from_millis(i64::MAX), None);
    }
}
