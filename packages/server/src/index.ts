// Everything that `@rondo/server` offers to programs. A new export is a decision: what stands here stays.
export {};
