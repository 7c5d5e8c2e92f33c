//! The place of plans (steps, dependencies, the context of each step). Nothing is in it yet. PURE -> engine.
