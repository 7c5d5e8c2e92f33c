// Only types: see the declarations beside this file.
export {};
