//! Turns a panic into a message before it reaches the boundary, where it would end the process.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs `body`; a panic becomes `Err` with its message and place.
///
/// Within `body` the plugin's own panic hook stays silent, so that the message is reported once, by the host.
pub(crate) fn guard<T>(body: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if GUARDED.get() {
                PLACE.with(|slot| *slot.borrow_mut() = info.location().map(ToString::to_string));
            } else {
                previous(info);
            }
        }));
    });
    let outer = GUARDED.replace(true);
    let caught = panic::catch_unwind(AssertUnwindSafe(body));
    GUARDED.set(outer);
    caught.map_err(|payload| {
        let message = message(&*payload);
        // The payload's destructor is the plugin's code and may panic again; a leak is the smaller harm.
        std::mem::forget(payload);
        match PLACE.with(|slot| slot.borrow_mut().take()) {
            Some(place) => format!("{message} (at {place})"),
            None => message,
        }
    })
}

fn message(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "a panic without a message".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::guard;

    #[test]
    fn a_panic_becomes_its_message_and_place() {
        let caught = guard(|| panic!("out of {}", "luck")).map(|(): ()| ());
        let message = caught.expect_err("the body panicked");
        assert!(message.starts_with("out of luck (at "), "{message}");
        assert!(message.contains("guard.rs"), "{message}");
    }

    #[test]
    fn a_payload_that_panics_when_dropped_is_never_dropped() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("dropped");
            }
        }
        let caught = guard(|| std::panic::panic_any(Bomb)).map(|(): ()| ());
        assert!(caught.expect_err("the body panicked").starts_with("a panic without a message"));
    }

    #[test]
    fn a_body_that_returns_is_left_alone() {
        assert_eq!(guard(|| 7), Ok(7));
    }
}
