//! Which words stand twice: the items of a log hold what was said, and events say it again.
//!
//! An event stands within moments of its item, before or after it. So words are matched within a stretch: what the
//! assistant says between two messages of the user, and what the user says between two responses. What the harness says
//! in an event only is so neither hidden nor taken over by a model that says the same in a later turn. A prompt is
//! matched across stretches where its own has none: to tell a human's words twice would be worse.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_128;

use crate::content::Content;

/// Who said words that may stand twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaker {
    User,
    Assistant,
}

/// The part of a session within which an event repeats its item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// Messages in the user's position so far.
    pub(crate) inputs: u64,
    /// Responses so far.
    pub(crate) responses: u64,
}

/// Words of items, each of which one event repeats.
#[derive(Debug, Default)]
pub(crate) struct Repeats {
    /// How often items hold words that no event has repeated yet, by words and stretch.
    items: HashMap<u128, u32>,
    /// How often events say a user's words, by words and stretch.
    events: HashMap<u128, u32>,
    /// How often a user's words stand in items that no event of their stretch repeats.
    spare: HashMap<u128, u32>,
    /// How often items hold a thought.
    thoughts: HashMap<u128, u32>,
}

impl Repeats {
    /// Learns what an item says.
    pub(crate) fn learn_item(&mut self, speaker: Speaker, content: &Content<'_>, at: Stretch) {
        // An event shows all texts of an item, or one; it never shows what stands for an image.
        let texts = content.texts.join("\n");
        let whole = [&*content.text, &texts];
        let mut said: Vec<_> = content.texts.iter().map(|text| &**text).chain(whole).map(digest).collect();
        said.sort_unstable();
        said.dedup();
        for words in said {
            self.learn_words(speaker, words, at);
        }
    }

    /// Learns a thought.
    pub(crate) fn learn_thought(&mut self, text: &str) {
        *self.thoughts.entry(digest(text)).or_default() += 1;
    }

    fn learn_words(&mut self, speaker: Speaker, words: u128, at: Stretch) {
        let place = place(speaker, words, at);
        let items = self.items.entry(place).or_default();
        *items += 1;
        if speaker == Speaker::User && *items > self.events.get(&place).copied().unwrap_or(0) {
            *self.spare.entry(words).or_default() += 1;
        }
    }

    /// Learns that an event says a user's words.
    pub(crate) fn learn_event(&mut self, words: &str, at: Stretch) {
        let words = digest(words);
        let place = place(Speaker::User, words, at);
        let events = self.events.entry(place).or_default();
        *events += 1;
        if *events <= self.items.get(&place).copied().unwrap_or(0)
            && let Some(spare) = self.spare.get_mut(&words)
        {
            *spare -= 1;
        }
    }

    /// Whether an event only repeats the words of an item; each item is repeated once.
    pub(crate) fn repeats(&mut self, speaker: Speaker, words: &str, at: Stretch) -> bool {
        let words = digest(words);
        take_one(&mut self.items, place(speaker, words, at))
            || (speaker == Speaker::User && take_one(&mut self.spare, words))
    }

    /// Whether an event only repeats a thought.
    pub(crate) fn repeats_thought(&mut self, text: &str) -> bool {
        take_one(&mut self.thoughts, digest(text))
    }

    /// Of events in which the assistant says `words`, the last that repeats no item.
    pub(crate) fn last_alone(&self, words: &str, events: impl IntoIterator<Item = (u64, Stretch)>) -> Option<u64> {
        let (words, mut said) = (digest(words), HashMap::<u128, u32>::new());
        let mut alone = None;
        for (event, at) in events {
            let place = place(Speaker::Assistant, words, at);
            let said = said.entry(place).or_default();
            *said += 1;
            if *said > self.items.get(&place).copied().unwrap_or(0) {
                alone = Some(event);
            }
        }
        alone
    }
}

fn take_one(words: &mut HashMap<u128, u32>, key: u128) -> bool {
    match words.get_mut(&key) {
        Some(left) if *left > 0 => {
            *left -= 1;
            true
        }
        _ => false,
    }
}

fn digest(text: &str) -> u128 {
    xxh3_128(text.trim().as_bytes())
}

/// The key of words in the stretch that counts for who says them.
fn place(speaker: Speaker, words: u128, at: Stretch) -> u128 {
    let (speaker, stretch) = match speaker {
        Speaker::User => (0, at.responses),
        Speaker::Assistant => (1, at.inputs),
    };
    let mut key = [0; 25];
    key[..16].copy_from_slice(&words.to_le_bytes());
    key[16..24].copy_from_slice(&stretch.to_le_bytes());
    key[24] = speaker;
    xxh3_128(&key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolpath_plugin_api::kit::field::Field;

    fn at(stretch: u64) -> Stretch {
        Stretch { inputs: stretch, responses: stretch }
    }

    fn item(repeats: &mut Repeats, speaker: Speaker, blocks: &str, stretch: u64) {
        repeats.learn_item(speaker, &Content::of(Field::parse(blocks)), at(stretch));
    }

    #[test]
    fn an_assistants_words_are_repeated_once_an_item_and_in_their_own_stretch() {
        let mut repeats = Repeats::default();
        item(&mut repeats, Speaker::Assistant, r#"["a"]"#, 2);
        assert!(!repeats.repeats(Speaker::Assistant, "a", at(1)));
        assert!(!repeats.repeats(Speaker::User, "a", at(2)));
        assert!(repeats.repeats(Speaker::Assistant, " a\n", at(2)));
        assert!(!repeats.repeats(Speaker::Assistant, "a", at(2)));
    }

    #[test]
    fn an_event_shows_a_text_or_all_of_them_but_no_image() {
        const BLOCKS: &str = r#"["a",{"type":"input_image","image_url":null},"b"]"#;
        for words in ["a", "b", "a\nb", "a\n[image]\nb"] {
            let mut repeats = Repeats::default();
            item(&mut repeats, Speaker::Assistant, BLOCKS, 0);
            assert!(repeats.repeats(Speaker::Assistant, words, at(0)), "{words}");
            assert!(!repeats.repeats(Speaker::Assistant, "[image]", at(0)));
        }
    }

    #[test]
    fn a_prompt_whose_event_stands_elsewhere_is_still_told_once() {
        let mut repeats = Repeats::default();
        item(&mut repeats, Speaker::User, r#"["go on"]"#, 1);
        repeats.learn_event("go on", at(0));
        assert!(repeats.repeats(Speaker::User, "go on", at(0)));
    }

    #[test]
    fn a_prompt_that_only_an_event_holds_does_not_take_the_item_of_a_later_one() {
        for item_first in [true, false] {
            let mut repeats = Repeats::default();
            repeats.learn_event("go on", at(0));
            if item_first {
                item(&mut repeats, Speaker::User, r#"["go on"]"#, 1);
                repeats.learn_event("go on", at(1));
            } else {
                repeats.learn_event("go on", at(1));
                item(&mut repeats, Speaker::User, r#"["go on"]"#, 1);
            }
            assert!(!repeats.repeats(Speaker::User, "go on", at(0)));
            assert!(repeats.repeats(Speaker::User, "go on", at(1)));
        }
    }

    #[test]
    fn the_last_event_that_stands_alone_is_found() {
        let mut repeats = Repeats::default();
        item(&mut repeats, Speaker::Assistant, r#"["x"]"#, 2);
        assert_eq!(repeats.last_alone("x", [(3, at(1)), (9, at(2))]), Some(3));
        assert_eq!(repeats.last_alone("x", [(8, at(2)), (9, at(2))]), Some(9));
        assert_eq!(repeats.last_alone("x", [(9, at(2))]), None);
        assert_eq!(repeats.last_alone("x", []), None);
    }
}
