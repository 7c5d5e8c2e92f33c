//! The services of the user: what each may do, where its calls go and with which key, and the ways to add one.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::HtmlInputElement;

use turnwise_content::format::{counted, one_line};
use turnwise_engine::hidden::visible;
use turnwise_view::services::{AuthKind, KeptService, ReadService, ServerVariable, ServiceOperation, ServiceServer};

use crate::browser::dom;
use crate::components::icon::{self, Icon, icon};
use crate::components::reactive::{flag, reactive};
use crate::state::App;

const ADDRESS: &str = "services-address";
/// Operations that are listed; the others are found by words.
const LISTED: usize = 100;
/// From so many operations on, there is a field for words.
const MANY: usize = 12;
/// Faults that are listed.
const FAULTS: usize = 20;

pub fn services(app: App) -> AnyView {
    let summary = move || {
        app.services().kept.with(|all| match (all.iter().filter(|one| !one.off).count(), all.len()) {
            (_, 0) => String::new(),
            (on, all) => format!("{on} of {all} on"),
        })
    };
    let list = For(ForProps::builder()
        .each(move || app.services().kept.with(|all| all.iter().map(|one| one.id.clone()).collect::<Vec<_>>()))
        .key(Clone::clone)
        .children(move |id| row(app, id))
        .build());
    html::fieldset().class("group").child((
        html::legend().child(("Services ", html::span().class("fact").child(reactive(summary)))),
        html::div().class("skills openapi").child((
            html::ul().attr("aria-label", "Your services").child(list),
            zone(app),
            at_address(app),
            remark(app),
            html::p().class("fact").child(
                "What a service answers is text of others: it can mislead the model. What changes something asks for each call, \
                 unless you answer for more; a key goes to the service's own address only.",
            ),
        )),
    )).into_any()
}

fn zone(app: App) -> AnyView {
    let some = Memo::new(move |_| app.services().kept.with(|all| !all.is_empty()));
    let intro = move || {
        (!some.get()).then(|| {
            html::p().child(
                "A service with an OpenAPI document (3.0 or 3.1, JSON or YAML): runs can call those of its operations that you \
                 choose.",
            )
        })
    };
    html::div()
        .class("zone")
        .child((
            reactive(intro),
            html::div().class("row").child(
                html::button()
                    .r#type("button")
                    .class("btn quiet")
                    .on(ev::click, move |_| choose(app))
                    .child((icon(Icon::File), "Choose a document")),
            ),
            html::p().child("Or drop a .json or a .yaml here."),
        ))
        .into_any()
}

/// Has the user choose a file.
fn choose(app: App) {
    let Ok(input) = dom::element("input").dyn_into::<HtmlInputElement>() else { return };
    input.set_type("file");
    let chosen = input.clone();
    let picked = Closure::once_into_js(move || {
        if let Some(file) = chosen.files().and_then(|list| list.get(0)) {
            app.add_service_file(file.name(), file.into());
        }
    });
    let _ = input.add_event_listener_with_callback("change", picked.unchecked_ref());
    input.click();
}

fn at_address(app: App) -> AnyView {
    let address = RwSignal::new(String::new());
    let add = move || {
        let given = address.get_untracked().trim().to_owned();
        if !given.is_empty() {
            app.add_service_at(given);
        }
    };
    html::div()
        .class("input")
        .child((
            html::label().r#for(ADDRESS).child("From an address"),
            html::div().class("beside").child((
                html::input()
                    .r#type("text")
                    .id(ADDRESS)
                    .attr("inputmode", "url")
                    .attr("placeholder", "https://example.org/openapi.json")
                    .attr("autocomplete", "off")
                    .attr("spellcheck", "false")
                    .attr("aria-describedby", "services-address-help")
                    .on(ev::input, move |event| address.set(event_target_value(&event)))
                    .on(ev::keydown, move |event| {
                        if event.key() == "Enter" {
                            add();
                        }
                    }),
                html::button().r#type("button").class("btn quiet").on(ev::click, move |_| add()).child("Add it"),
            )),
            html::p()
                .class("help")
                .id("services-address-help")
                .child("Read once, now. The document is kept in this browser."),
        ))
        .into_any()
}

/// Says why nothing was added.
fn remark(app: App) -> AnyView {
    let store = app.services();
    html::div()
        .class("remarks")
        .attr("role", "status")
        .child(reactive(move || {
            if store.busy.get() {
                return html::p().class("fact").child("Reading\u{2026}").into_any();
            }
            store.remark.get().map(|text| html::p().class("wrong").child(visible(&text).into_owned())).into_any()
        }))
        .into_any()
}

/// One service, as it is kept and as it was read.
#[derive(Clone, Copy)]
struct Row {
    app: App,
    id: StoredValue<String>,
    kept: Memo<KeptService>,
    read: Memo<ReadService>,
}

impl Row {
    fn change(self, change: impl FnOnce(&mut KeptService)) {
        self.app.change_service(&self.id.get_value(), change);
    }

    fn id(self, part: &str) -> String {
        format!("service-{}-{part}", self.id.get_value())
    }

    fn title(self) -> String {
        let title = self.read.with(|read| read.title.clone());
        if title.is_empty() {
            self.kept.with(|kept| visible(&kept.from).into_owned())
        } else {
            visible(&title).into_owned()
        }
    }
}

fn row(app: App, id: String) -> AnyView {
    let (of_kept, of_read) = (id.clone(), id.clone());
    let kept = Memo::new(move |_| {
        app.services().kept.with(|all| all.iter().find(|one| one.id == of_kept).cloned()).unwrap_or_default()
    });
    let read = Memo::new(move |_| {
        let all = app.services().offered;
        all.with(|all| all.services.iter().find(|one| one.id == of_read).cloned()).unwrap_or_default()
    });
    let row = Row { app, id: StoredValue::new(id), kept, read };
    let opened = RwSignal::new(false);
    let summary = move || {
        let (error, facts) = read.with(|read| (!read.error.is_empty(), kept.with(|kept| kept.summary(read))));
        if error { "cannot be used".to_owned() } else { facts }
    };
    html::li()
        .class("skill")
        .child((
            html::div().class("check").child((
                html::input()
                    .r#type("checkbox")
                    .id(row.id("on"))
                    .prop("checked", flag(move || kept.with(|kept| !kept.off)))
                    .on(ev::change, move |event| {
                        let on = event_target_checked(&event);
                        row.change(|one| one.off = !on);
                    }),
                html::label().r#for(row.id("on")).child(reactive(move || row.title())),
                html::span().class("help").child(reactive(move || {
                    read.with(|read| match read.address.is_empty() {
                        true => String::new(),
                        false => format!("{} {}", read.address, read.version),
                    })
                })),
            )),
            html::button()
                .r#type("button")
                .class("btn bare square")
                .attr(
                    "aria-label",
                    crate::components::reactive::attribute(move || format!("Remove the service {}", row.title())),
                )
                .attr("title", "Remove")
                .on(ev::click, move |_| app.remove_service(&row.id.get_value(), &untrack(|| row.title())))
                .child(icon(Icon::Trash)),
            html::details().child((
                html::summary().on(ev::click, move |_| opened.set(true)).child((
                    icon::chevron(),
                    "What it may do",
                    html::span().class("fact").child(reactive(summary)),
                )),
                reactive(move || opened.get().then(|| details(row))),
            )),
        ))
        .into_any()
}

fn details(row: Row) -> AnyView {
    let Row { kept, read, .. } = row;
    let error = Memo::new(move |_| read.with(|read| read.error.clone()));
    let faults = Memo::new(move |_| read.with(|read| read.faults.clone()));
    let from = kept.with_untracked(|kept| visible(&kept.from).into_owned());
    html::div()
        .class("skill-details")
        .child((
            reactive(move || {
                error.with(|error| {
                    (!error.is_empty()).then(|| html::p().class("wrong").child(visible(error).into_owned()))
                })
            }),
            html::h3().class("over").child("Operations"),
            operations(row),
            html::h3().class("over").child("Where its calls go"),
            server(row),
            auth(row),
            reactive(move || {
                faults.with(|faults| {
                    let rows = faults
                        .iter()
                        .take(FAULTS)
                        .map(|fault| html::li().child(visible(&fault.sentence()).into_owned()));
                    let rows = rows.collect::<Vec<_>>();
                    let more = faults.len().saturating_sub(FAULTS) as u64;
                    (!rows.is_empty()).then(|| {
                        (
                            html::h3().class("over").child("What of the document is wrong or not supported"),
                            html::ul().class("faults").child(rows),
                            (more > 0).then(|| html::p().class("fact").child(format!("And {more} more."))),
                        )
                    })
                })
            }),
            html::p().class("fact").child(format!("From {from}")),
        ))
        .into_any()
}

fn operations(row: Row) -> AnyView {
    let Row { kept, read, .. } = row;
    let all = Memo::new(move |_| read.with(|read| read.operations.clone()));
    let words = RwSignal::new(String::new());
    let choose = move |text: &'static str, chosen: fn(&ServiceOperation) -> bool| {
        html::button()
            .r#type("button")
            .class("btn quiet small")
            .on(ev::click, move |_| {
                let keys =
                    all.with_untracked(|all| all.iter().filter(|one| chosen(one)).map(ServiceOperation::key).collect());
                row.change(|one| one.chosen = Some(keys));
            })
            .child(text)
    };
    let many = Memo::new(move |_| all.with(|all| all.len() >= MANY));
    let filter = move || {
        many.get().then(|| {
            html::div().class("input").child((
                html::label().r#for(row.id("words")).child("Find operations"),
                html::input()
                    .r#type("text")
                    .id(row.id("words"))
                    .attr("autocomplete", "off")
                    .on(ev::input, move |event| words.set(event_target_value(&event).to_lowercase())),
            ))
        })
    };
    let list = move || {
        let words: Vec<String> = words.with(|words| words.split_whitespace().map(ToOwned::to_owned).collect());
        let found = all.with(|all| {
            let is_found = |one: &&ServiceOperation| {
                let text = format!("{} {} {}", one.key(), one.name, one.description).to_lowercase();
                words.iter().all(|word| text.contains(word))
            };
            all.iter().filter(is_found).cloned().collect::<Vec<_>>()
        });
        let more = found.len().saturating_sub(LISTED) as u64;
        let none = found.is_empty().then(|| html::p().class("fact").child("No operation."));
        let rows = found.into_iter().take(LISTED).map(|one| operation(row, &one)).collect::<Vec<_>>();
        let more = (more > 0).then(|| {
            html::p()
                .class("fact")
                .child(format!("{} are not listed: find them by words.", counted(more, "more operation")))
        });
        (none, html::ul().class("operations").attr("aria-label", "Operations").child(rows), more)
    };
    (
        html::div().class("row").child((
            choose("Those that only read", |one| one.read_only),
            choose("All", |_| true),
            choose("None", |_| false),
        )),
        reactive(filter),
        reactive(list),
        html::div().class("check").child((
            html::input()
                .r#type("checkbox")
                .id(row.id("unasked"))
                .prop("checked", flag(move || kept.with(|kept| kept.reads_unasked)))
                .on(ev::change, move |event| {
                    let on = event_target_checked(&event);
                    row.change(|one| one.reads_unasked = on);
                }),
            html::label().r#for(row.id("unasked")).child("Those that only read run without asking"),
            html::span().class("help").child("The others ask before each call."),
        )),
    )
        .into_any()
}

fn operation(row: Row, one: &ServiceOperation) -> AnyView {
    let Row { kept, read, .. } = row;
    let (key, id) = (one.key(), row.id(&one.name));
    let what = one_line(&one.description, 200);
    let acts = if one.read_only { "only reads" } else { "may change something" };
    let shown = one.clone();
    html::li()
        .child(
            html::div().class("check").child((
                html::input()
                    .r#type("checkbox")
                    .id(id.clone())
                    .prop("checked", flag(move || kept.with(|kept| kept.offers(&shown))))
                    .on(ev::change, move |event| {
                        let on = event_target_checked(&event);
                        read.with_untracked(|read| row.change(|kept| kept.choose(read, &key, on)));
                    }),
                html::label().r#for(id).child((
                    html::code().child(visible(&one.key()).into_owned()),
                    // To screen readers, too, these are words of their own.
                    " ",
                    html::span()
                        .class("tag")
                        .attr("data-acts", if one.read_only { "reads" } else { "writes" })
                        .child(acts),
                    one.deprecated.then(|| (" ", html::span().class("tag").child("deprecated"))),
                )),
                html::span().class("help").child(visible(&what).into_owned()),
            )),
        )
        .into_any()
}

fn server(row: Row) -> AnyView {
    let Row { kept, read, .. } = row;
    let servers = Memo::new(move |_| read.with(|read| read.servers.clone()));
    let at = Memo::new(move |_| kept.with(|kept| kept.server));
    let own = Memo::new(move |_| servers.with(|all| at.get() >= all.len()));
    let choice = move || {
        let all = servers.get();
        let count = all.len();
        let options = all.into_iter().enumerate().map(|(place, ServiceServer { url, description, .. })| {
            let text = if description.is_empty() { url } else { format!("{url} \u{2013} {description}") };
            html::option()
                .value(place.to_string())
                .prop("selected", flag(move || at.get() == place))
                .child(visible(&text).into_owned())
        });
        html::select()
            .id(row.id("server"))
            .on(ev::change, move |event| {
                let place = event_target_value(&event).parse().unwrap_or_default();
                row.change(|one| one.server = place);
            })
            .child((
                options.collect::<Vec<_>>(),
                html::option()
                    .value(count.to_string())
                    .prop("selected", flag(move || at.get() >= count))
                    .child("Another address"),
            ))
    };
    let own_address = move || {
        own.get().then(|| {
            line(
                row,
                "own",
                "Its address".to_owned(),
                "https://api.example.org",
                move || kept.with(|kept| kept.own_server.clone()),
                move |text| {
                    row.change(|one| one.own_server = text);
                },
            )
        })
    };
    let variables = move || {
        let all = servers.with(|all| all.get(at.get()).map(|one| one.variables.clone())).unwrap_or_default();
        all.into_iter().map(|one| variable(row, one)).collect::<Vec<_>>()
    };
    html::div()
        .class("grid")
        .child((
            html::div().class("input").child((html::label().r#for(row.id("server")).child("Server"), reactive(choice))),
            reactive(own_address),
            reactive(variables),
        ))
        .into_any()
}

fn variable(row: Row, ServerVariable { name, value, description, values }: ServerVariable) -> AnyView {
    let (key, changed) = (name.clone(), name.clone());
    let kept = row.kept;
    let now = move || kept.with(|kept| kept.variables.get(&key).cloned()).unwrap_or_else(|| value.clone());
    let set = move |text: String| {
        row.change(|one| {
            one.variables.insert(changed.clone(), text);
        });
    };
    let id = format!("variable-{name}");
    let label = if description.is_empty() { name } else { format!("{name}: {description}") };
    if values.is_empty() {
        return line(row, &id, visible(&label).into_owned(), "", now, set).into_any();
    }
    let options = values.into_iter().map(|value| {
        let (now, shown) = (now.clone(), visible(&value).into_owned());
        html::option().value(value.clone()).prop("selected", flag(move || now() == value)).child(shown)
    });
    html::div()
        .class("input")
        .child((
            html::label().r#for(row.id(&id)).child(visible(&label).into_owned()),
            html::select()
                .id(row.id(&id))
                .on(ev::change, move |event| set(event_target_value(&event)))
                .child(options.collect::<Vec<_>>()),
        ))
        .into_any()
}

/// A line of text that counts once it is complete: the document is read again with it.
fn line(
    row: Row,
    part: &str,
    label: String,
    example: &'static str,
    now: impl Fn() -> String + Send + 'static,
    set: impl Fn(String) + 'static,
) -> AnyView {
    html::div()
        .class("input")
        .child((
            html::label().r#for(row.id(part)).child(label),
            html::input()
                .r#type("text")
                .id(row.id(part))
                .attr("autocomplete", "off")
                .attr("spellcheck", "false")
                .attr("placeholder", example)
                .prop("value", now)
                .on(ev::change, move |event| set(event_target_value(&event).trim().to_owned())),
        ))
        .into_any()
}

fn auth(row: Row) -> AnyView {
    let Row { app, kept, read, .. } = row;
    let kind = Memo::new(move |_| kept.with(|kept| kept.auth.kind));
    let address = Memo::new(move |_| read.with(|read| read.address.clone()));
    let has_place = Memo::new(move |_| address.with(|address| !address.is_empty()));
    let options = AuthKind::ALL.map(|one| {
        html::option().value(one.as_str()).prop("selected", flag(move || kind.get() == one)).child(one.title())
    });
    let named = move || {
        kind.get().is_named().then(|| {
            let (label, example) = match kind.get() {
                AuthKind::Header => ("Name of the header", "X-API-Key"),
                _ => ("Name of the parameter", "api_key"),
            };
            line(
                row,
                "name",
                label.to_owned(),
                example,
                move || kept.with(|kept| kept.auth.name.clone()),
                move |text| {
                    row.change(|one| one.auth.name = text);
                },
            )
        })
    };
    let key = move || {
        (kind.get() != AuthKind::None && has_place.get())
            .then(|| crate::settings::key::of_service(app, &row.id("key"), "Key", None, move || address.get()))
    };
    html::div()
        .class("grid")
        .child((
            html::div().class("input").child((
                html::label().r#for(row.id("auth")).child("Sent with each call"),
                html::select()
                    .id(row.id("auth"))
                    .on(ev::change, move |event| {
                        let value = event_target_value(&event);
                        let chosen = AuthKind::ALL.into_iter().find(|one| one.as_str() == value).unwrap_or_default();
                        row.change(|one| one.auth.kind = chosen);
                    })
                    .child(options.into_iter().collect_view()),
            )),
            reactive(named),
            reactive(key),
        ))
        .into_any()
}
