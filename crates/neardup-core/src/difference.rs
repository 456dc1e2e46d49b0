//! Term difference of two token sequences: |A| + |B| − 2·LCS (Henzinger 2006 §3; what `diff` counts).
//!
//! The longest common subsequence by bit-parallel dynamic programming (Hyyrö 2004): 64 tokens of A in a register,
//! B streams past, the carry of each step is handed to the next 64. Common ends are cut off first, so two pages
//! that differ in a line cost little more than a comparison. Where in the 64 a token stands is asked of a table that
//! fits the nearest cache. Cost: O(|A|·|B| / 64) time, O(|A| + |B|) memory.

/// Tokens of one sequence that have no counterpart in the other, both ways; a replaced token counts 2.
pub fn term_difference(a: &[u64], b: &[u64]) -> usize {
    let ends = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[ends..], &b[ends..]);
    let ends = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[..a.len() - ends], &b[..b.len() - ends]);
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    a.len() + b.len() - 2 * common_subsequence(short, long)
}

fn common_subsequence(rows: &[u64], columns: &[u64]) -> usize {
    let mut carries = vec![false; columns.len()];
    let mut length = 0;
    for block in rows.chunks(64) {
        let places = Places::new(block);
        let mut state = u64::MAX;
        for (&token, carry) in columns.iter().zip(&mut carries) {
            let matches = state & places.of(token);
            let (sum, over) = state.overflowing_add(matches);
            let (sum, over_again) = sum.overflowing_add(u64::from(*carry));
            *carry = over | over_again;
            state = sum | (state & !matches);
        }
        let used = if block.len() == 64 { u64::MAX } else { (1 << block.len()) - 1 };
        length += (!state & used).count_ones() as usize;
    }
    length
}

/// Where each token of a block of at most 64 stands in it, as bits.
struct Places {
    tokens: [u64; SLOTS],
    /// 0 marks a free slot.
    bits: [u64; SLOTS],
}

/// Four times a block, so that looking for what is not there ends soon.
const SLOTS: usize = 256;

impl Places {
    fn new(block: &[u64]) -> Self {
        let mut places = Places { tokens: [0; SLOTS], bits: [0; SLOTS] };
        for (at, &token) in block.iter().enumerate() {
            let slot = places.slot(token);
            places.tokens[slot] = token;
            places.bits[slot] |= 1 << at;
        }
        places
    }

    /// The slot of a token, or the free one where it would be.
    #[inline(always)]
    fn slot(&self, token: u64) -> usize {
        let mut slot = token as usize % SLOTS;
        while self.bits[slot] != 0 && self.tokens[slot] != token {
            slot = (slot + 1) % SLOTS;
        }
        slot
    }

    #[inline(always)]
    fn of(&self, token: u64) -> u64 {
        self.bits[self.slot(token)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive(a: &[u64], b: &[u64]) -> usize {
        let mut row = vec![0usize; b.len() + 1];
        for x in a {
            let mut diagonal = 0;
            for (at, y) in b.iter().enumerate() {
                let above = row[at + 1];
                row[at + 1] = if x == y { diagonal + 1 } else { above.max(row[at]) };
                diagonal = above;
            }
        }
        a.len() + b.len() - 2 * row[b.len()]
    }

    proptest! {
        #[test]
        fn agrees_with_the_table(
            a in proptest::collection::vec(0u64..6, 0..300),
            b in proptest::collection::vec(0u64..6, 0..300),
        ) {
            prop_assert_eq!(term_difference(&a, &b), naive(&a, &b));
        }
    }

    #[test]
    fn a_replaced_token_counts_two() {
        assert_eq!(term_difference(&[1, 2, 3], &[1, 9, 3]), 2);
        assert_eq!(term_difference(&[1, 2, 3], &[1, 2, 3]), 0);
        assert_eq!(term_difference(&[], &[4, 5]), 2);
    }
}
