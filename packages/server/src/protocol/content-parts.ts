// The parts that the content of a message, or the output of a tool, may have.

import { z } from "zod";
import { openUnion } from "./open-union.ts";

const inputText = z.looseObject({ type: z.literal("input_text"), text: z.string() });
const outputText = z.looseObject({ type: z.literal("output_text"), text: z.string() });
/** Not of this API, but of its neighbour; clients mix them up, and it is clear what is meant. */
const plainText = z.looseObject({ type: z.literal("text"), text: z.string() });
const refusal = z.looseObject({ type: z.literal("refusal"), refusal: z.string() });

/** Some clients send the URL as an object. */
const inputImage = z
  .looseObject({
    type: z.literal("input_image"),
    image_url: z.union([z.string(), z.looseObject({ url: z.string() })]).nullish(),
    file_id: z.string().nullish(),
    detail: z.enum(["low", "high", "auto", "original"]).nullish(),
  })
  .refine(({ image_url, file_id }) => (image_url ?? file_id) != null, {
    error: "a URL, or a data URL",
    path: ["image_url"],
  });

const inputFile = z.looseObject({
  type: z.literal("input_file"),
  file_data: z.string().nullish(),
  file_id: z.string().nullish(),
  file_url: z.string().nullish(),
  filename: z.string().nullish(),
});

const knownParts = [inputText, outputText, plainText, refusal, inputImage, inputFile] as const;

/** A part of a content. Types that are not known are kept as they are. */
export const contentPart = openUnion(z.discriminatedUnion("type", knownParts));

export const content = z.union([z.string(), z.array(contentPart)]);
