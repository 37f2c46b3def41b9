//! Suggestions for misspelled names.

/// Returns the most similar candidate: it differs only in letter case, or in at most a third of its letters.
pub fn find_similar<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let wanted = name.to_lowercase();
    let distances = candidates.into_iter().map(|candidate| {
        let distance = strsim::osa_distance(&wanted, &candidate.to_lowercase());
        (distance, candidate)
    });
    let (_, similar) = distances
        .filter(|(distance, candidate)| *distance <= candidate.chars().count() / 3)
        .min_by_key(|(distance, _)| *distance)?;
    Some(similar)
}
