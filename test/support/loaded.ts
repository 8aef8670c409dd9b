// A module with a state, by which `fresh-modules.ts` sees whether it is loaded anew.
export const loaded = { before: false };
