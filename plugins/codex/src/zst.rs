//! A compressed rollout as the bytes it stands for.
//!
//! Codex compresses rollouts that nobody touched for a week. Memory is bounded by the window of the frame, which may be
//! up to 128 MiB and is 2 MiB as Codex writes it. Of a damaged file, what was decoded before the damage is handed out, and
//! the reader is told where it ends.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// First bytes of a frame.
pub(crate) const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// The header of an empty raw block that is the last of its frame, and room for the checksum that may follow it.
const LAST_BLOCK: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

/// Reads the content of all frames of `input`, one after the other.
pub(crate) struct Frames<R> {
    input: R,
    decoder: FrameDecoder,
    state: State,
    damage: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before a frame, or behind the last.
    Between,
    /// Within a frame.
    Within,
    /// What was decoded before the damage is still to be handed out.
    Damaged,
    End,
}

impl<R: BufRead> Frames<R> {
    /// Reads `input`.
    pub(crate) fn new(input: R) -> Self {
        Self { input, decoder: FrameDecoder::new(), state: State::Between, damage: None }
    }

    /// What is wrong with the file, when all that can be read of it was.
    pub(crate) fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    fn step(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.state {
            State::End => Ok(0),
            State::Damaged => {
                let read = self.decoder.read(buffer)?;
                if read == 0 {
                    self.state = State::End;
                }
                Ok(read)
            }
            State::Between => {
                self.begin()?;
                Ok(0)
            }
            State::Within => {
                if self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                    let decoded = self.decoder.decode_blocks(&mut self.input, BlockDecodingStrategy::UptoBlocks(1));
                    if let Err(err) = decoded {
                        self.salvage(&err);
                    }
                    return Ok(0);
                }
                let read = self.decoder.read(buffer)?;
                if read == 0 && self.decoder.is_finished() {
                    let (stated, found) =
                        (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum());
                    if stated.is_some() && stated != found {
                        self.damage = Some("its checksum does not fit its content".to_owned());
                    }
                    self.state = State::Between;
                }
                Ok(read)
            }
        }
    }

    /// Begins the next frame, if there is one.
    fn begin(&mut self) -> io::Result<()> {
        if self.input.fill_buf()?.is_empty() {
            self.state = State::End;
            return Ok(());
        }
        match self.decoder.reset(&mut self.input) {
            Ok(()) => self.state = State::Within,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                let skipped = io::copy(&mut (&mut self.input).take(length.into()), &mut io::sink())?;
                if skipped < u64::from(length) {
                    self.damage = Some("it ends within a frame".to_owned());
                }
            }
            Err(err) => {
                self.damage = Some(reason(&err));
                self.state = State::End;
            }
        }
        Ok(())
    }

    /// Closes a broken frame, so that the decoder lets go of what it keeps for the blocks that will not come.
    fn salvage(&mut self, err: &FrameDecoderError) {
        self.damage = Some(reason(err));
        let closed = self.decoder.decode_blocks(&LAST_BLOCK[..], BlockDecodingStrategy::UptoBlocks(1));
        self.state = if closed.is_ok() { State::Damaged } else { State::End };
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let read = self.step(buffer)?;
            if read > 0 || self.state == State::End {
                return Ok(read);
            }
        }
    }
}

fn reason(err: &FrameDecoderError) -> String {
    let mut cause: &dyn std::error::Error = err;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    let is_cut = cause.downcast_ref::<io::Error>().is_some_and(|err| err.kind() == io::ErrorKind::UnexpectedEof);
    if is_cut { "it ends within a frame".to_owned() } else { cause.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    fn text() -> Vec<u8> {
        (0..100_000_u32).flat_map(|n| format!("line {}\n", n.wrapping_mul(2_654_435_761)).into_bytes()).collect()
    }

    fn compressed(content: &[u8]) -> Vec<u8> {
        compress_to_vec(content, CompressionLevel::Fastest)
    }

    #[track_caller]
    fn read(input: &[u8]) -> (Vec<u8>, Option<String>) {
        let mut frames = Frames::new(input);
        let mut content = Vec::new();
        frames.read_to_end(&mut content).expect("reading from memory");
        (content, frames.damage().map(str::to_owned))
    }

    #[test]
    fn a_frame_is_its_content() {
        let text = text();
        assert_eq!(read(&compressed(&text)), (text, None));
        assert_eq!(read(&compressed(b"")), (Vec::new(), None));
        assert_eq!(read(b""), (Vec::new(), None));
    }

    #[test]
    fn several_frames_are_one_content_and_skippable_ones_are_none() {
        let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
        let input = [compressed(b"one\n"), skippable.clone(), compressed(b"two\n")].concat();
        assert_eq!(read(&input), (b"one\ntwo\n".to_vec(), None));
        let cut = &skippable[..9];
        assert_eq!(read(cut), (Vec::new(), Some("it ends within a frame".to_owned())));
    }

    #[test]
    fn of_a_cut_file_everything_before_the_cut_block_is_read() {
        let text = text();
        let whole = compressed(&text);
        let (content, damage) = read(&whole[..whole.len() / 2]);
        assert_eq!(damage.as_deref(), Some("it ends within a frame"));
        assert!(content.len() > text.len() / 4 && text.starts_with(&content), "{} bytes", content.len());
    }

    #[test]
    fn no_cut_and_no_changed_byte_makes_it_panic() {
        let whole = compressed(&text()[..4000]);
        for cut in 0..whole.len() {
            read(&whole[..cut]);
        }
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0x55;
            read(&changed);
        }
    }

    #[test]
    fn a_checksum_that_does_not_fit_is_told() {
        let mut input = compressed(b"some words that are told\n");
        let last = input.len() - 1;
        input[last] ^= 1;
        assert_eq!(read(&input).1.as_deref(), Some("its checksum does not fit its content"));
    }

    #[test]
    fn what_is_no_frame_is_damage() {
        assert!(read(b"{\"type\":1}\n").1.is_some());
    }
}
