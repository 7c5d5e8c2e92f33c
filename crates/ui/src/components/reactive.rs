//! Reactive children, attributes and properties in one type each: with a type for each closure, the effect around it and its view are
//! compiled again each time. This made the page's module 15 KB (brotli) smaller.

use std::borrow::Cow;

use leptos::prelude::*;

/// A child that is made again whenever what it read has changed.
pub type Reactive = Box<dyn FnMut() -> AnyView + Send>;

pub fn reactive<V: IntoAny>(mut child: impl FnMut() -> V + Send + 'static) -> Reactive {
    Box::new(move || child().into_any())
}

/// The value of an attribute, set again whenever what it read has changed. `None`: the attribute is not there.
pub type Value = Box<dyn FnMut() -> Option<Cow<'static, str>> + Send>;

pub fn attribute<T: IntoValue>(mut text: impl FnMut() -> T + Send + 'static) -> Value {
    Box::new(move || text().into_value())
}

/// What an attribute can be set to.
pub trait IntoValue {
    fn into_value(self) -> Option<Cow<'static, str>>;
}

impl IntoValue for &'static str {
    fn into_value(self) -> Option<Cow<'static, str>> {
        Some(Cow::Borrowed(self))
    }
}

impl IntoValue for String {
    fn into_value(self) -> Option<Cow<'static, str>> {
        Some(Cow::Owned(self))
    }
}

impl<T: IntoValue> IntoValue for Option<T> {
    fn into_value(self) -> Option<Cow<'static, str>> {
        self.and_then(T::into_value)
    }
}

/// A property that is true or false, set again whenever what it read has changed.
pub type Flag = Box<dyn FnMut() -> bool + Send>;

pub fn flag(is: impl FnMut() -> bool + Send + 'static) -> Flag {
    Box::new(is)
}
