// Rust with generics, closures and inlined iterators. usage: busy SECONDS, of CPU time
use std::collections::HashMap;

extern "C" {
    fn clock() -> i64; // us of CPU time, where CLOCKS_PER_SEC is what POSIX says
}

#[inline(never)]
fn count_words<'a>(words: impl Iterator<Item = &'a str>) -> HashMap<&'a str, usize> {
    let mut counts = HashMap::new();
    for word in words {
        *counts.entry(word).or_insert(0) += 1;
    }
    counts
}

#[inline(never)]
fn round(text: &str) -> usize {
    count_words(text.split(' ')).values().map(|n| n * n).sum()
}

fn main() {
    let seconds: f64 = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(1.0);
    let text: String = (0..2000).map(|i| format!("word{} ", i % 37)).collect();
    let end = (seconds * 1e6) as i64;
    let mut total = 0;
    while unsafe { clock() } < end {
        total += round(&text);
    }
    println!("{total}");
}
