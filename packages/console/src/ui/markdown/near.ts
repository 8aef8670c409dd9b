// Says when an element comes near to what is in view.

/** About two screens. */
const margin = "1500px";

const waiting = new WeakMap<Element, () => void>();
let observer: IntersectionObserver | undefined;

/** Calls `then` once, when the element is nearly in view. The returned function forgets it. */
export function whenNear(element: Element, then: () => void): () => void {
  // One for all: long chats have hundreds.
  observer ??= new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        observer?.unobserve(target);
        waiting.get(target)?.();
      }
    },
    { rootMargin: `${margin} 0px` },
  );
  const seen = observer;
  waiting.set(element, then);
  seen.observe(element);
  return () => seen.unobserve(element);
}
