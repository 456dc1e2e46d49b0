//! Which pairs a rule speaks of: all, those on one site, or those on different sites.

/// The sites of each page, ascending; a page may stand for several copies on several sites. Site 0 is "unknown":
/// different from every site, itself included.
#[derive(Clone, Copy, Debug)]
pub struct Sites<'a> {
    pub offsets: &'a [u64],
    pub values: &'a [u32],
}

impl<'a> Sites<'a> {
    #[inline(always)]
    pub fn of(&self, page: u32) -> &'a [u32] {
        &self.values[self.offsets[page as usize] as usize..self.offsets[page as usize + 1] as usize]
    }

    /// The smallest site both pages are on.
    #[inline(always)]
    pub fn shared(&self, a: u32, b: u32) -> Option<u32> {
        let (mut a, mut b) = (self.of(a), self.of(b));
        while let (Some(&first), Some(&second)) = (a.first(), b.first()) {
            if first == second && first != 0 {
                return Some(first);
            }
            if first <= second {
                a = &a[1..];
            }
            if second <= first {
                b = &b[1..];
            }
        }
        None
    }

    /// Whether some copy of `a` and some copy of `b` are on different sites.
    #[inline(always)]
    pub fn differ(&self, a: u32, b: u32) -> bool {
        let (a, b) = (self.of(a), self.of(b));
        !(a.len() == 1 && a == b && a[0] != 0)
    }
}

/// Which pairs a rule speaks of.
#[derive(Clone, Copy, Debug)]
pub enum Predicate<'a> {
    Any,
    SameSite(Sites<'a>),
    DifferentSite(Sites<'a>),
}

impl Predicate<'_> {
    /// Whether the rule speaks of these two pages.
    #[inline(always)]
    pub fn holds(&self, a: u32, b: u32) -> bool {
        match self {
            Predicate::Any => true,
            Predicate::SameSite(sites) => sites.shared(a, b).is_some(),
            Predicate::DifferentSite(sites) => sites.differ(a, b),
        }
    }
}
