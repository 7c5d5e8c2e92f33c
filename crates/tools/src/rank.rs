//! Ranks sections of documentation sites and passages of files for a query: BM25F, and how much of the query a section and
//! its heading cover.
//!
//! A term's weight is the sum of its counts in the three fields, each normalized by the field's average length; it then
//! saturates once, so that a word in both heading and text counts as one word. Filler words of questions (`how do i`)
//! count little compared with others. A word that does not occur anywhere is replaced by similar ones.

use std::collections::{HashMap, HashSet};

/// Heading, headings above, text.
pub const FIELDS: usize = 3;
const WEIGHTS: [f32; FIELDS] = [4.0, 1.5, 1.0];
/// How strongly a field's length lowers its weight.
const LENGTH: [f32; FIELDS] = [0.6, 0.3, 0.7];
const SATURATION: f32 = 1.2;
/// The bonus of a section that matches the whole query, and of one whose heading matches it.
const COVERED: f32 = 0.8;
const HEADING: f32 = 1.2;
/// The weight of filler words compared with others, and of common words of prose.
const IDLE: f32 = 0.15;
const COMMON: f32 = 0.4;
/// The weight of a name that two words of the query may mean.
const MEANT: f32 = 0.3;
/// The weight of a similar word.
const NEAR: f32 = 0.5;
const MAX_NEAR: usize = 6;
/// Number of best sections of which one may cover the query, and how much each unit of the query's weight that it leaves out
/// lowers the fit.
const FIT_OF: usize = 10;
const UNCOVERED: f32 = 0.1;
/// Maximum number of terms of a query that are used.
const MAX_TERMS: usize = 40;

/// Fewer removed sections are not worth deleting their postings.
const MAX_REMOVED: usize = 1_000;

/// Filler words of questions, in the form that `words` returns.
const IDLE_WORDS: &str = "\
    a about an and are as at be by can could do doe does explain find for from get give happen has have how i if \
    in is it its me mean my need of on or please should show so tell that the their there these thi this to use \
    using want was we what when where which who why will with would you your work way make some any into than \
    then between";

/// Filler words of German, French, Spanish, Portuguese, Italian and Russian, likewise: those of a question (`wie kann ich`).
/// Texts about a subject hardly have them, so a section with one of them would seem to be about it. Articles need no list, as a
/// site of the language is full of them, and many are names or terms elsewhere (`die`, `mit`, `un`, `la`).
const IDLE_WORDS_ELSEWHERE: &str = "\
    aber alle ao auch bei bitte cela cette che chi como cosa cuando cuál cuándo cómo damit dass doit \
    donde dónde eine einem einen einer esta este esto está etwa faire fait fazer faço für geht gibt gli \
    habe haben hacer ho ich ihr isso ist je kann kannst kein keine können könnte mein meine meinem \
    meinen meiner mes meu mia mich minha muss muy más möchte nach nel nicht noch nous nur não oder ohne \
    onde où pas perché peut peux pode porque posso pourquoi puede puedo può qu qual quale quand quando \
    quel quelle quero questa questo quiero quoi qué quê schon sie sind sobre soll sono sont sui tengo \
    tenho veux voglio voudrai vous wann warum welch welche welcher wenn wer werden wie wieso wir wird wo \
    zu zum zur ça è é über а в где для если и из к как когда мне могу можно мои мой моя на не но нужно \
    по почему с у что это я";

/// Words of everyday prose, likewise: a visitor's sentence has several, and they say little about what is asked.
const COMMON_WORDS: &str = "\
    able actually after again all already also always am another anyone anything around away back because been \
    before being better big bit both but came cannot come couldn did didn different doesn doing don done down \
    each else even ever every everyone everything exactly few fine first go going gone good got gotten had hand \
    happening he help her here him his instead isn just keep kind know later let like little ll long look \
    looking lot many may maybe might more most much must myself never no nobody not nothing now off often okay \
    old once one only other our out over own part people place possible put quite rather re really right said \
    same saw say see seem shall she since somebody somehow someone something sometime somewhere still such \
    suddenly supposed sure take them they thing think though through time together too took tried try trying two \
    under until up us ve very wa wasn well went were while whole without won wondering wouldn wrong yet";

/// What a query found.
#[derive(Debug, Default, PartialEq)]
pub struct Ranking {
    /// All sections that contain any of the terms with their scores, best first.
    pub sections: Vec<(u32, f32)>,
    /// How well the best one fits, whatever the query's length: about 0.5 where its words only occur somewhere, 2 where a
    /// section is about it.
    pub fit: f32,
}

/// The terms and their postings.
#[derive(Debug, Default)]
pub struct Ranks {
    terms: HashMap<String, Vec<Posting>>,
    /// Terms by their stem.
    stems: HashMap<String, Vec<String>>,
    lengths: HashMap<u32, [u32; FIELDS]>,
    totals: [u64; FIELDS],
    /// Removed sections whose postings are still there.
    removed: usize,
}

#[derive(Clone, Copy, Debug)]
struct Posting {
    section: u32,
    counts: [u16; FIELDS],
}

#[derive(Clone, Copy, Debug, Default)]
struct Score {
    sum: f32,
    /// Weight of the query's terms that occur anywhere in the section, and in its heading.
    covered: f32,
    in_heading: f32,
    /// Number of different terms of the heading that are in the query.
    heading_terms: u32,
}

impl Ranks {
    pub fn add(&mut self, section: u32, fields: [&[String]; FIELDS]) {
        let mut counts: HashMap<&str, [u16; FIELDS]> = HashMap::new();
        let mut lengths = [0; FIELDS];
        for (field, words) in fields.iter().enumerate() {
            for word in *words {
                if let Some(count) = counts.entry(word).or_default().get_mut(field) {
                    *count = count.saturating_add(1);
                }
            }
            // A heading's length is its number of different words.
            let length = if field == 0 { words.iter().collect::<HashSet<_>>().len() } else { words.len() };
            if let (Some(own), Some(total)) = (lengths.get_mut(field), self.totals.get_mut(field)) {
                *own = u32::try_from(length).unwrap_or(u32::MAX);
                *total += length as u64;
            }
        }
        for (term, counts) in counts {
            if !self.terms.contains_key(term) {
                self.stems.entry(stem(term).to_owned()).or_default().push(term.to_owned());
            }
            self.terms.entry(term.to_owned()).or_default().push(Posting { section, counts });
        }
        self.lengths.insert(section, lengths);
    }

    /// Removes a section. Its postings are skipped, and deleted once most sections are removed ones: a file may change often.
    pub fn remove(&mut self, section: u32) {
        let Some(lengths) = self.lengths.remove(&section) else { return };
        for (total, own) in self.totals.iter_mut().zip(lengths) {
            *total = total.saturating_sub(u64::from(own));
        }
        self.removed += 1;
        if self.removed > self.lengths.len() + MAX_REMOVED {
            self.terms.retain(|_, postings| {
                postings.retain(|posting| self.lengths.contains_key(&posting.section));
                !postings.is_empty()
            });
            self.stems.retain(|_, terms| {
                terms.retain(|term| self.terms.contains_key(term));
                !terms.is_empty()
            });
            self.removed = 0;
        }
    }

    /// The number of sections that contain the term; removed ones do not count.
    fn sections_with(&self, term: &str) -> usize {
        let postings = self.terms.get(term).into_iter().flatten();
        postings.filter(|posting| self.lengths.contains_key(&posting.section)).count()
    }

    /// Ranks the sections for a query. `names` are terms that the query may also mean.
    pub fn rank(&self, query: &[String], names: &[String]) -> Ranking {
        let mut terms: Vec<&str> = Vec::new();
        for term in query {
            if !terms.contains(&term.as_str()) && terms.len() < MAX_TERMS {
                terms.push(term);
            }
        }
        let only_idle = terms.iter().all(|term| weight_of(term) < 1.0);
        let mut scores: HashMap<u32, Score> = HashMap::new();
        let mut asked = 0.0;
        for term in &terms {
            asked += self.count(term, if only_idle { 1.0 } else { weight_of(term) }, &mut scores);
        }
        let said = asked;
        for name in names.iter().take(MAX_TERMS).filter(|name| self.sections_with(name) > 0 && !query.contains(name)) {
            asked += self.count(name, MEANT, &mut scores);
        }
        let covered = |(section, _): &(u32, f32)| scores.get(section).map_or(0.0, |score| score.covered);
        let mut sections: Vec<(u32, f32)> =
            scores.iter().map(|(section, score)| (*section, self.total(*section, *score, asked))).collect();
        sort_best_first(&mut sections);
        let most_covered = sections.iter().take(FIT_OF).map(covered).fold(0.0, f32::max);
        let best = sections.first().map_or(0.0, |(_, score)| *score);
        let fit = if said > 0.0 { best / said - UNCOVERED * (said - most_covered).max(0.0) } else { 0.0 };
        Ranking { sections, fit }
    }

    /// Whether a word, or another form of it, occurs anywhere. Filler words count as known.
    pub fn knows(&self, term: &str) -> bool {
        weight_of(term) < 1.0
            || self.sections_with(term) > 0
            || self.stems.get(stem(term)).into_iter().flatten().any(|other| self.sections_with(other) > 0)
    }

    fn total(&self, section: u32, score: Score, asked: f32) -> f32 {
        let share = |part: f32| if asked > 0.0 { (part / asked).min(1.0) } else { 0.0 };
        let length = self.lengths.get(&section).map_or(1, |[heading, ..]| (*heading).max(1));
        let said = (score.heading_terms as f32 / length as f32).min(1.0);
        score.sum * (1.0 + COVERED * share(score.covered) + HEADING * said * share(score.in_heading))
    }

    /// Adds the value of a query term to the scores; returns the highest value it can have.
    fn count(&self, term: &str, weight: f32, scores: &mut HashMap<u32, Score>) -> f32 {
        // Per section, the best of the term and its substitutes.
        let mut found: HashMap<u32, (f32, bool)> = HashMap::new();
        let mut most = 0.0_f32;
        for (stand_in, worth) in self.stand_ins(term) {
            let Some(postings) = self.terms.get(&stand_in) else { continue };
            let live = self.sections_with(&stand_in);
            let all = self.lengths.len().max(1) as f32;
            let rarity = (1.0 + (all - live as f32 + 0.5) / (live as f32 + 0.5)).ln();
            most = most.max(rarity * worth);
            for posting in postings {
                let Some(lengths) = self.lengths.get(&posting.section) else { continue };
                let value = rarity * worth * self.saturated(posting, lengths);
                let in_heading = posting.counts.first().is_some_and(|count| *count > 0);
                let entry = found.entry(posting.section).or_default();
                *entry = (entry.0.max(value), entry.1 || in_heading);
            }
        }
        if found.is_empty() {
            // A word that does not occur anywhere is still part of the query.
            return weight * (1.0 + self.lengths.len().max(1) as f32).ln() * 0.5;
        }
        for (section, (value, in_heading)) in found {
            let score = scores.entry(section).or_default();
            score.sum += weight * value;
            score.covered += weight * most;
            if in_heading {
                score.in_heading += weight * most;
                score.heading_terms += 1;
            }
        }
        weight * most
    }

    fn saturated(&self, posting: &Posting, lengths: &[u32; FIELDS]) -> f32 {
        let all = self.lengths.len().max(1) as f32;
        let fields = posting.counts.iter().zip(lengths).zip(self.totals).zip(WEIGHTS).zip(LENGTH);
        let count: f32 = fields
            .map(|((((count, length), total), weight), strictness)| {
                let usual = (total as f32 / all).max(1.0);
                weight * f32::from(*count) / (1.0 - strictness + strictness * *length as f32 / usual)
            })
            .sum();
        count * (SATURATION + 1.0) / (count + SATURATION)
    }

    /// The term itself, and others that it may mean.
    fn stand_ins(&self, term: &str) -> Vec<(String, f32)> {
        let mut out = Vec::new();
        if self.sections_with(term) > 0 {
            out.push((term.to_owned(), 1.0));
        }
        let same_stem = self.stems.get(stem(term)).into_iter().flatten();
        let same_stem = same_stem.filter(|other| *other != term && self.sections_with(other) > 0);
        out.extend(same_stem.take(MAX_NEAR).map(|other| (other.clone(), 0.8)));
        if out.is_empty() {
            out.extend(self.near_to(term).into_iter().map(|other| (other, NEAR)));
        }
        out
    }

    /// Indexed words that a query's unknown words may mean.
    pub fn near(&self, query: &[String]) -> Vec<String> {
        let mut near: Vec<String> = Vec::new();
        for term in query.iter().filter(|term| weight_of(term) == 1.0).take(MAX_TERMS) {
            for word in self.near_to(term) {
                if !near.contains(&word) && near.len() < MAX_NEAR {
                    near.push(word);
                }
            }
        }
        near
    }

    fn near_to(&self, term: &str) -> Vec<String> {
        let length = term.chars().count();
        if length < 4 {
            return Vec::new();
        }
        let allowed = if length < 8 { 1 } else { 2 };
        let mut near: Vec<(usize, usize, &String)> = Vec::new();
        for (word, postings) in &self.terms {
            if word.len().abs_diff(term.len()) <= allowed {
                let distance = strsim::osa_distance(word, term);
                if distance <= allowed {
                    near.push((distance, usize::MAX - postings.len(), word));
                }
            } else if length >= 5 && word.len() > 4 && (word.starts_with(term) || term.starts_with(word.as_str())) {
                near.push((3, usize::MAX - postings.len(), word));
            }
        }
        near.retain(|(.., word)| self.sections_with(word) > 0);
        near.sort();
        near.into_iter().take(MAX_NEAR).map(|(_, _, word)| word.clone()).collect()
    }
}

/// Sorts sections by their scores; of equal ones, the one that was added first comes first.
pub fn sort_best_first(sections: &mut [(u32, f32)]) {
    sections.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
}

/// How much a term says about what is asked.
fn weight_of(term: &str) -> f32 {
    match term {
        idle if lists(IDLE_WORDS, idle) || lists(IDLE_WORDS_ELSEWHERE, idle) => IDLE,
        common if lists(COMMON_WORDS, common) => COMMON,
        _ => 1.0,
    }
}

fn lists(words: &str, word: &str) -> bool {
    words.split(' ').any(|listed| listed == word)
}

/// A word without its ending, roughly: `configuring`, `configuration` and `configure` have the same stem.
fn stem(word: &str) -> &str {
    const ENDINGS: &[&str] = &[
        "izations", "ization", "ations", "ation", "ators", "ator", "ating", "ated", "ates", "ate", "ments", "ment",
        "ings", "ing", "ions", "ion", "ers", "er", "ors", "or", "ed", "es", "ly", "able", "ible", "al", "e", "s",
    ];
    if !word.is_ascii() {
        return word;
    }
    let stem = ENDINGS.iter().find_map(|end| word.strip_suffix(end).filter(|stem| stem.len() >= 4)).unwrap_or(word);
    // `running`, `run`: a doubled letter before an ending counts once.
    let mut tail = stem.bytes().rev();
    match (tail.next(), tail.next()) {
        (Some(a), Some(b)) if a == b && a != b's' && a != b'l' && stem.len() > 4 => {
            stem.get(..stem.len() - 1).unwrap_or(stem)
        }
        _ => stem,
    }
}
