//! Chunks chosen by what the collection says of them: those in a given set, or those outside it.
//!
//! *SPEX* (Bernstein and Zobel 2004) keeps the chunks that several pages have; *rare chunks* (Heintze 1996) those that
//! few have, which are all but the frequent ones. Cost: one look-up a token.

use crate::batch::Shingling;
use crate::statistics::numbers::Numbers;

/// Appends the page's chunks that are (`inside`) or are not among `members`. `chunks` is a buffer.
pub fn select(
    tokens: &[u64],
    windows: Shingling,
    members: Numbers<'_>,
    inside: bool,
    chunks: &mut Vec<u64>,
    out: &mut Vec<u64>,
) {
    windows.fill(tokens, chunks);
    out.extend(chunks.iter().filter(|&&chunk| members.find(chunk).is_some() == inside));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::numbers::directory;

    #[test]
    fn inside_and_outside_are_the_two_halves() {
        let windows = Shingling { k: 2, rabin: false };
        let tokens = [1, 2, 3, 1, 2, 4];
        let mut all = Vec::new();
        windows.fill(&tokens, &mut all);
        let mut members = vec![all[0], all[1]];
        members.sort_unstable();
        let directory = directory(&members);
        let members = Numbers::new(&members, &directory).expect("its own directory");
        let select = |inside| {
            let mut out = Vec::new();
            select(&tokens, windows, members, inside, &mut Vec::new(), &mut out);
            out
        };
        assert_eq!(select(true), [all[0], all[1], all[3]]);
        assert_eq!(select(false), [all[2], all[4]]);
    }
}
