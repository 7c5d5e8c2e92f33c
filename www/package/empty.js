// Types only: see the declarations next to this file.
export {};
