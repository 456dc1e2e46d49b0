//! Panics of the store become errors.
//!
//! fjall and the crates below it trust what passed their checksums, and some of what has none; where that is damaged they
//! may panic. Such a panic says that something stored makes no sense, and is told as damage. A panic of our own code is a
//! fault of ours and goes on.

use std::any::Any;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, resume_unwind, set_hook, take_hook};
use std::sync::{Mutex, Once};

use crate::error::{Result, damaged};
use crate::locked;

/// Crates whose panics are told as damage, as their sources are named in a path.
const STORE: [&str; 3] = ["fjall-", "lsm-tree-", "sfa-"];
/// The last panic in one of them: what it said, and where.
static LAST: Mutex<Option<(String, String)>> = Mutex::new(None);
static HOOKED: Once = Once::new();

fn said(payload: &dyn Any) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default()
}

fn note(info: &PanicHookInfo<'_>, before: &dyn Fn(&PanicHookInfo<'_>)) {
    let place = info.location().map_or_else(String::new, ToString::to_string);
    if place.split(['/', '\\']).any(|part| STORE.iter().any(|name| part.starts_with(name))) {
        *locked(&LAST) = Some((said(info.payload()), place));
    } else {
        before(info);
    }
}

/// Does what works on the store; a panic of the store is damage.
pub fn guarded<R>(work: impl FnOnce() -> Result<R>) -> Result<R> {
    HOOKED.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| note(info, &*before)));
    });
    let panic = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => return result,
        Err(panic) => panic,
    };
    let own = said(&*panic);
    let last = locked(&LAST).take_if(|(what, _)| *what == own);
    match last {
        Some((what, _)) => Err(damaged(format!("the store cannot make sense of it ({what})"))),
        None => resume_unwind(panic),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_our_own_goes_on() {
        let own = catch_unwind(|| guarded::<()>(|| panic!("our own fault")));
        assert_eq!(said(&*own.unwrap_err()), "our own fault");
    }
}
