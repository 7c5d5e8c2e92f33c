//! The skills of the user: what each may do, on and off, and the ways to add one.

use std::sync::Arc;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use turnwise_content::format::{bytes, counted, one_line};
use turnwise_engine::SkillScript;
use turnwise_engine::hidden::visible;
use turnwise_view::skills::{KeptSkill, SkillFault};

use crate::components::icon::{self, Icon, icon};
use crate::components::reactive::{flag, reactive};
use crate::state::App;
use crate::text::pieces;

/// Longest description that is shown; the reader cuts those of skills.
const DESCRIPTION: usize = 1_024;
/// The skill that the app comes with (`www/package/skills`).
const SHIPPED: &str = "research-documents";
const SITE: &str = "skills-site";

pub fn skills(app: App) -> impl IntoView {
    let summary = move || {
        app.own_skills().skills.with(|all| match (all.iter().filter(|one| !one.off).count(), all.len()) {
            (_, 0) => String::new(),
            (on, all) => format!("{on} of {all} on"),
        })
    };
    let list = For(ForProps::builder()
        .each(move || app.own_skills().skills.get())
        .key(|one| (one.skill.name.clone(), one.added_ms))
        .children(move |one| row(app, &one))
        .build());
    html::fieldset().class("group").child((
        html::legend().child(("Skills ", html::span().class("fact").child(reactive(summary)))),
        html::div().class("skills").child((
            question(app),
            html::ul().attr("aria-label", "Your skills").child(list),
            zone(app),
            remarks(app),
            site(app),
            html::p().class("fact").child(
                "A skill is text by somebody else: it can instruct the model, so add those that you trust. Its scripts run in a \
                 sandbox without network and page, and what they call needs the permissions of the run.",
            ),
        )),
    ))
}

/// Asks about a folder or an archive that was dropped.
fn question(app: App) -> impl IntoView {
    let button = move |class, text, as_skill| {
        html::button().r#type("button").class(class).on(ev::click, move |_| app.take_dropped(as_skill)).child(text)
    };
    reactive(move || {
        app.own_skills().page.asked.get().map(|name| {
            html::div().class("asked").attr("role", "group").attr("aria-label", "What was dropped").child((
                html::p().child((html::b().child(visible(&name).into_owned()), " holds a skill. What shall it be?")),
                html::div().class("row").child((
                    button("btn primary", "Add as a skill", Some(true)),
                    button("btn quiet", "Add as files for the agent", Some(false)),
                    button("btn bare", "Cancel", None),
                )),
            ))
        })
    })
}

fn zone(app: App) -> impl IntoView {
    let button = |symbol, text, folder| {
        html::button()
            .r#type("button")
            .class("btn quiet")
            .on(ev::click, move |_| app.choose_skill(folder))
            .child((icon(symbol), text))
    };
    let some = Memo::new(move |_| app.own_skills().skills.with(|all| !all.is_empty()));
    let has_shipped =
        Memo::new(move |_| app.own_skills().skills.with(|all| all.iter().any(|one| one.skill.name == SHIPPED)));
    let intro = move || {
        (!some.get()).then(|| {
            html::p().child(
                "A skill is a folder with instructions for one kind of work (SKILL.md), and files and scripts for it. The model sees \
                 its name and description, and reads the rest when a task needs it.",
            )
        })
    };
    let shipped = move || {
        (!has_shipped.get()).then(|| {
            html::button()
                .r#type("button")
                .class(if some.get() { "btn quiet" } else { "btn primary" })
                .attr("title", "Answers from your files, with the passages that support each finding")
                .on(ev::click, move |_| app.add_shipped_skill())
                .child((icon(Icon::Plus), "Add “research-documents”"))
        })
    };
    html::div().class("zone").child((
        reactive(intro),
        html::div().class("row").child((
            reactive(shipped),
            button(Icon::Files, "Choose a folder", true),
            button(Icon::File, "Choose files", false),
        )),
        html::p().child("Or drop a folder, a .zip, a .skill or a .tgz here."),
    ))
}

/// Says what was not added, or not as it is.
fn remarks(app: App) -> impl IntoView {
    let page = app.own_skills().page;
    html::div().class("remarks").attr("role", "status").child(reactive(move || {
        if page.busy.get() {
            return html::p().class("fact").child("Reading\u{2026}").into_any();
        }
        page.remarks.with(|all| {
            let each = all.iter().map(|one| html::li().child(visible(one).into_owned())).collect::<Vec<_>>();
            (!each.is_empty()).then(|| html::ul().class("wrong").child(each)).into_any()
        })
    }))
}

/// The skills that a site offers.
fn site(app: App) -> impl IntoView {
    let address = RwSignal::new(String::new());
    let look = move || {
        let site = address.get_untracked().trim().to_owned();
        if !site.is_empty() && !app.own_skills().page.busy.get_untracked() {
            app.find_skills(site);
        }
    };
    let found = move || {
        app.own_skills().page.offered.get().map(|found| {
            let none = found.offered.is_empty().then(|| html::p().class("fact").child("This site offers no skills."));
            let more = (found.more > 0).then(|| {
                html::p().class("fact").child(format!("{} are not listed.", counted(found.more, "more skill")))
            });
            let rows = found.offered.into_iter().enumerate().map(|(place, one)| {
                let origin = web_sys::Url::new(&one.url).map(|url| url.host()).unwrap_or_default();
                let (url, name) = (one.url, visible(&one_line(&one.name, 80)).into_owned());
                let label = format!("Add: {name}");
                html::li().child((
                    html::span().class("words").child((
                        html::b().child(name),
                        html::span().child(visible(&one_line(&one.description, DESCRIPTION)).into_owned()),
                        html::span().class("fact").child(format!("from {origin}")),
                    )),
                    html::button()
                        .r#type("button")
                        .class("btn quiet small")
                        .attr("aria-label", label)
                        .on(ev::click, move |_| app.add_offered_skill(place, url.clone()))
                        .child("Add"),
                ))
            });
            let rows = rows.collect::<Vec<_>>();
            let list = html::ul().class("offers").attr("aria-label", "Skills of this site").child(rows);
            (none, list, more)
        })
    };
    html::div().class("input").child((
        html::label().r#for(SITE).child("From a site"),
        html::div().class("beside").child((
            html::input()
                .r#type("text")
                .id(SITE)
                .attr("inputmode", "url")
                .attr("placeholder", "example.org")
                .attr("autocomplete", "off")
                .attr("aria-describedby", "skills-site-help")
                .prop("value", address)
                .on(ev::input, move |event| address.set(event_target_value(&event)))
                .on(ev::keydown, move |event| {
                    if event.key() == "Enter" {
                        look();
                    }
                }),
            html::button()
                .r#type("button")
                .class("btn quiet")
                .on(ev::click, move |_| look())
                .child("List its skills"),
        )),
        html::p().class("help").id("skills-site-help").child(
            "Reads /.well-known/agent-skills/index.json of the site. A skill is loaded when you add it, and has to have the \
             digest that is listed.",
        ),
        reactive(found),
    ))
}

fn row(app: App, one: &Arc<KeptSkill>) -> impl IntoView + use<> {
    let name = one.skill.name.clone();
    let id = format!("skill-{name}");
    let (shown, switched, removed) = (name.clone(), name.clone(), name.clone());
    let is_on =
        move || app.own_skills().skills.with(|all| all.iter().any(|other| other.skill.name == shown && !other.off));
    let opened = RwSignal::new(false);
    let more = {
        let one = Arc::clone(one);
        move || opened.get().then(|| details(&one))
    };
    html::li().class("skill").child((
        html::div().class("check").child((
            html::input()
                .r#type("checkbox")
                .id(id.clone())
                .prop("checked", flag(is_on))
                .on(ev::change, move |event| app.switch_skill(&switched, event_target_checked(&event))),
            html::label().r#for(id).child(visible(&name).into_owned()),
            html::span().class("help").child(visible(&one_line(&one.skill.description, DESCRIPTION)).into_owned()),
        )),
        html::button()
            .r#type("button")
            .class("btn bare square")
            .attr("aria-label", format!("Remove the skill {name}"))
            .attr("title", "Remove")
            .on(ev::click, move |_| app.remove_skill(&removed))
            .child(icon(Icon::Trash)),
        html::details().child((
            html::summary().on(ev::click, move |_| opened.set(true)).child((
                icon::chevron(),
                "What it may do",
                html::span().class("fact").child(one.summary()),
            )),
            reactive(more),
        )),
    ))
}

/// What a skill may do, its files, and what was wrong with it.
fn details(one: &KeptSkill) -> impl IntoView + use<> {
    let skill = &one.skill;
    let scripts = skill.scripts.iter().map(script).collect::<Vec<_>>();
    let not_run: Vec<&str> = one.not_run().collect();
    let files = skill.files.iter().map(|(path, text)| file(path, text, not_run.contains(&path.as_str())));
    let files = std::iter::once(file("SKILL.md", &skill.instructions, false)).chain(files).collect::<Vec<_>>();
    let binary = skill.binary.iter().map(|path| {
        html::li().class("unread").child((html::code().child(visible(path).into_owned()), tag("not a text, not kept")))
    });
    let faults = one.faults.iter().map(|fault| html::li().child(visible(&SkillFault::sentence(fault)).into_owned()));
    let faults = faults.collect::<Vec<_>>();
    html::div().class("skill-details").child((
        html::p().child(one.calls()),
        (!scripts.is_empty())
            .then(|| (html::h3().class("over").child("Scripts, each a tool"), html::ul().child(scripts))),
        html::h3().class("over").child("Files"),
        html::ul().child((files, binary.collect::<Vec<_>>())),
        (!faults.is_empty()).then(|| {
            (html::h3().class("over").child("Remarks of the reader"), html::ul().class("faults").child(faults))
        }),
        html::p().class("fact").child(format!("From {}", visible(&one.from))),
    ))
}

fn script(one: &SkillScript) -> impl IntoView + use<> {
    let said = one_line(&one.description, 300);
    html::li().child((
        html::code().child(one.tool.clone()),
        one.may_finish.then(|| tag("may end the run")),
        (!said.is_empty()).then(|| html::span().class("fact").child(visible(&said).into_owned())),
    ))
}

/// A file of a skill, which can be read.
fn file(path: &str, text: &str, is_not_run: bool) -> impl IntoView + use<> {
    let opened = RwSignal::new(false);
    let content: Arc<str> = text.into();
    html::li().child(html::details().child((
        html::summary().on(ev::click, move |_| opened.set(true)).child((
            icon::chevron(),
            html::code().child(visible(path).into_owned()),
            is_not_run.then(|| tag("does not run here")),
            html::span().class("fact").child(bytes(text.len() as u64)),
        )),
        reactive(move || opened.get().then(|| html::pre().attr("tabindex", "0").child(pieces::text(&content)))),
    )))
}

fn tag(text: &'static str) -> impl IntoView {
    html::span().class("tag").child(text)
}
