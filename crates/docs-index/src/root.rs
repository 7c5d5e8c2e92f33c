//! The root of a site whose generator is not known: the page's own folder, or one above it that its links show to be of
//! the same project. The pages of neighbouring projects on the same host are not part of the site.

use std::collections::{HashMap, HashSet};

use super::marks::value;
use super::url;

/// Links beyond this number say nothing new.
const MAX_LINKS: usize = 2_000;

/// The likely root of the site that a page belongs to; it ends with `/`. `base`: what its links are relative to.
///
/// From the page's folder upwards, a folder above is chosen as long as a considerable part of the links lead into it. A
/// folder that contains scripts or styles of the page is a project of its own. A single link into a folder beside it is
/// no evidence: that is how projects link to their neighbours.
#[must_use]
pub fn root(page: &str, base: &str, html: &str) -> String {
    let mut root = url::folder(page);
    let here = url::key(page);
    let hrefs: Vec<&str> = attributes(html, "<a ", "href").take(MAX_LINKS).collect();
    let joined = hrefs.iter().filter_map(|href| url::join(base, href)).map(|link| url::page(&link));
    let links: HashSet<String> =
        joined.filter(|link| url::same_origin(page, link) && url::is_page(link) && url::key(link) != here).collect();
    let climbs = hrefs.iter().any(|href| href.starts_with("../"));
    let assets = attributes(html, "<link ", "href").chain(attributes(html, "<script ", "src"));
    let assets: Vec<String> = assets
        .filter_map(|href| url::join(base, href))
        .map(|asset| url::page(&asset))
        .filter(|asset| asset.ends_with(".css") || asset.ends_with(".js"))
        .collect();
    let mut folder = root.clone();
    while let Some(above) = above(&folder) {
        if assets.iter().any(|asset| url::below(&root, asset)) {
            break;
        }
        let own = links.iter().filter(|link| url::below(&root, link)).count();
        let (many, single) = beside(&links, &above, &root);
        let home = links.iter().any(|link| url::key(link) == url::key(&above));
        let alone = own == 0 && (many + single >= 2 || climbs && many + single + usize::from(home) > 0);
        if alone || many >= 2 && many * 3 >= own || own > 0 && many + single >= own * 4 {
            root.clone_from(&above);
        } else if own > 0 {
            break;
        }
        folder = above;
    }
    root
}

fn above(folder: &str) -> Option<String> {
    let parent = url::folder(folder.strip_suffix('/')?);
    (parent.len() < folder.len() && url::parts(&parent).is_some()).then_some(parent)
}

/// The number of links below `above` and not below `root`: files in `above` and folders that several links lead into, and
/// folders that one link leads into.
fn beside(links: &HashSet<String>, above: &str, root: &str) -> (usize, usize) {
    let mut folders: HashMap<&str, usize> = HashMap::new();
    let mut many = 0;
    for link in links.iter().filter(|link| url::below(above, link) && !url::below(root, link)) {
        let rest = link.strip_prefix(above).unwrap_or_default();
        match rest.split_once('/') {
            Some((folder, _)) => *folders.entry(folder).or_default() += 1,
            None if rest.is_empty() || url::key(link) == url::key(above) => {}
            None if rest.contains('.') => many += 1,
            None => *folders.entry(rest).or_default() += 1,
        }
    }
    let single = folders.values().filter(|count| **count == 1).count();
    (many + folders.values().filter(|count| **count > 1).sum::<usize>(), single)
}

/// The values of an attribute in all tags that begin with `open`.
fn attributes<'a>(html: &'a str, open: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    html.split(open).skip(1).filter_map(move |tail| value(tail.split('>').next()?, name))
}
