//! A bar on a terminal for work that takes longer than a second.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// How long work may take without a bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// Counts sessions, and shows how many are done. Where standard error is no terminal, nothing is shown.
#[derive(Debug)]
pub struct Progress {
    began: Instant,
    total: u64,
    done: AtomicU64,
    bar: OnceLock<ProgressBar>,
}

impl Progress {
    /// Begins to count to `total`.
    pub fn new(total: usize) -> Self {
        Self { began: Instant::now(), total: total as u64, done: AtomicU64::new(0), bar: OnceLock::new() }
    }

    /// One more is done.
    pub fn step(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if self.total > 1 && self.began.elapsed() > PATIENCE {
            let style = || ProgressStyle::with_template("{bar:30} {pos}/{len} sessions, {eta} to go");
            let new =
                || ProgressBar::new(self.total).with_style(style().unwrap_or_else(|_| ProgressStyle::default_bar()));
            self.bar.get_or_init(new).set_position(done);
        }
    }

    /// Takes the bar away.
    pub fn end(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}
