//! The state of the features: each has a store of its own, in its own folder, made when it is first asked for. The page knows
//! none of them by name, so that a feature can be removed with its folder.

use std::any::Any;

use leptos::prelude::*;

use crate::state::App;

/// The stores that have been asked for. A page has a dozen, so they are searched one after another.
#[derive(Clone, Copy, Debug)]
pub struct Stores {
    made: StoredValue<Vec<Box<dyn Any>>, LocalStorage>,
    /// Signals live as long as their owner: that of the page, not that of the component that asks first.
    owner: StoredValue<Owner, LocalStorage>,
}

impl Default for Stores {
    fn default() -> Self {
        let owner = StoredValue::new_local(Owner::current().unwrap_or_default());
        Stores { made: StoredValue::new_local(Vec::new()), owner }
    }
}

impl App {
    /// Returns the store of a feature. Its folder has a method with a name for it.
    pub fn store<S: Copy + Default + 'static>(&self) -> S {
        let Stores { made, owner } = self.stores;
        let found = made.with_value(|made| made.iter().find_map(|store| store.downcast_ref::<S>()).copied());
        found.unwrap_or_else(|| {
            let store = owner.with_value(|owner| owner.with(S::default));
            made.update_value(|made| made.push(Box::new(store)));
            store
        })
    }
}
