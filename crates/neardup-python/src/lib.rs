//! `neardup._native`: the kernels of `neardup-core` for Python. Arrow for text and lists, NumPy for fixed-width
//! fingerprints, always in batches; arguments are checked here, the GIL is released in [`arrays::detached`].

use pyo3::prelude::*;

/// See `docs/dependencies.md`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod archive;
mod arrays;
mod compute;
mod content;
mod delimited;
mod errors;
mod exact;
mod fingerprints;
mod index;
mod index_pages;
mod lines;
mod matching;
mod page_files;
mod pages;
mod pairs;
mod pass;
mod plan;
mod postings;
mod rules;
mod signals;
mod sketches;
mod statistics;
mod structure;
mod study;
mod terms;
mod unpacked;

#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::archive::{PyFramed, RecordPage, WarcLoaded, WarcPages, WarcReader};
    #[pymodule_export]
    use crate::compute::compute;
    #[pymodule_export]
    use crate::content::{content_streams, stream_cells, stream_labels};
    #[pymodule_export]
    use crate::delimited::{DelimitedRows, WrongRows, read_delimited, wrong_rows};
    #[pymodule_export]
    use crate::errors::{BodyError, CallError, DamagedError, LockedError, NotAPage, StoreError};
    #[pymodule_export]
    use crate::exact::{SampleIndex, all_pairs, cosines};
    #[pymodule_export]
    use crate::fingerprints::{pairs_of_keys, parities, pieces};
    #[pymodule_export]
    use crate::index::{IndexAnswers, IndexMatches, IndexStore, site_hashes, token_identities};
    #[pymodule_export]
    use crate::index_pages::PageReader;
    #[pymodule_export]
    use crate::lines::{LineBlock, LineBlocks, LineStretch, ParsedLines, array_begins, cut_lines};
    #[pymodule_export]
    use crate::matching::RulePairs;
    #[pymodule_export]
    use crate::page_files::read_plain_files;
    #[pymodule_export]
    use crate::pages::{links, page_url, repeated_rows, site_of, terms, url_hashes};
    #[pymodule_export]
    use crate::pairs::{
        agreeing_bits, align, components, diameters, direct_removal, equal_columns, identity_sets, jaccard,
        spanning_forest, term_difference, united,
    };
    #[pymodule_export]
    use crate::pass::{PageTask, PagesRead};
    #[pymodule_export]
    use crate::plan::{Plan, RuleFindings};
    #[pymodule_export]
    use crate::postings::{Postings, build_postings};
    #[pymodule_export]
    use crate::signals::{anatomy, compressed_sizes, snippets};
    #[pymodule_export]
    use crate::sketches::{PrefixProfile, group_columns, interval_probability};
    #[pymodule_export]
    use crate::statistics::{NumberTable, Repeats};
    #[pymodule_export]
    use crate::structure::{noise_names, page_structure, place_names, term_noise};
    #[pymodule_export]
    use crate::study::{ParagraphSteps, bag_names, bow_tie, crawl, growth, page_paragraphs};
    #[pymodule_export]
    use crate::terms::page_terms;
    #[pymodule_export]
    use crate::unpacked::{Piece, Unpacked, compression_of, too_long};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        use neardup_core::{format, unicode};
        module.add("FORMAT_VERSION", format::FORMAT_VERSION)?;
        module.add("FEW_ENTRIES", neardup_engine::matching::FEW)?;
        module.add("MIN_TOKENS", format::MIN_TOKENS)?;
        module.add("UNICODE_VERSION", unicode::UNICODE_VERSION)?;
        Ok(())
    }
}
