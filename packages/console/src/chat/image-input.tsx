// The images of a message that is being written: chosen, pasted or dropped.

import { type Signal, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { messageOf } from "../api/api.ts";
import { Icon } from "../ui/icon.tsx";
import { maxImages, readImage } from "./images.ts";

export interface ImageInput {
  readonly images: Signal<readonly string[]>;
  readonly problem: Signal<string | undefined>;
  add(files: readonly File[]): Promise<void>;
}

export function useImageInput(first: readonly string[] = []): ImageInput {
  const images = useSignal<readonly string[]>(first);
  const problem = useSignal<string | undefined>(undefined);
  const add = async (files: readonly File[]) => {
    problem.value = undefined;
    for (const file of files) {
      if (images.peek().length >= maxImages) {
        problem.value = `A message takes at most ${maxImages} images.`;
        return;
      }
      try {
        images.value = [...images.peek(), await readImage(file)];
      } catch (error) {
        problem.value = messageOf(error);
      }
    }
  };
  return { images, problem, add };
}

export function ImageList({ input: { images, problem } }: { readonly input: ImageInput }) {
  return (
    <>
      {images.value.length > 0 && (
        <ul class="row image-list" aria-label="Images of the message">
          {images.value.map((url, index) => (
            <li key={url}>
              <img src={url} alt={`Number ${index + 1}`} />
              <button
                class="button"
                type="button"
                aria-label={`Remove image ${index + 1}`}
                onClick={() => {
                  images.value = images.peek().filter((_, other) => other !== index);
                }}
              >
                <Icon name="close" />
              </button>
            </li>
          ))}
        </ul>
      )}
      <div role="alert">{problem.value !== undefined && <p class="notice bad">{problem}</p>}</div>
    </>
  );
}

export function ImageButton({ input }: { readonly input: ImageInput }) {
  const chooser = useRef<HTMLInputElement>(null);
  return (
    <>
      <button
        class="button quiet"
        type="button"
        aria-label="Add images"
        title="Add images (or paste or drop them)"
        onClick={() => chooser.current?.click()}
      >
        <Icon name="image" />
      </button>
      <input
        ref={chooser}
        class="visually-hidden"
        type="file"
        accept="image/png,image/jpeg,image/webp,image/gif"
        multiple
        tabIndex={-1}
        aria-label="Image files"
        onChange={(event) => {
          const files = [...(event.currentTarget.files ?? [])];
          event.currentTarget.value = ""; // so that the same one can be chosen again
          void input.add(files);
        }}
      />
    </>
  );
}
