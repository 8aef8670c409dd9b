// Tokens around the text for the user, which some servers leave in it: they are dropped, and what is between them is
// the text.

export interface Frame {
  /** What begins the text. It counts only where no text has come since the start or other markup. */
  readonly opens: readonly string[];
  /** What ends it. It counts only after one of the opens. */
  readonly closes: readonly string[];
}

/** What ends a message or begins the next. It is dropped after calls and thinking; elsewhere the text may be about it. */
export const turnTokens: readonly string[] = [
  ..."<|im_end|> <|eot_id|> <|eom_id|> <|endoftext|> <|end_of_text|> <end_of_turn> <turn|> <|call|>".split(
    " ",
  ),
  ..."<|END_OF_TURN_TOKEN|> <|START_OF_TURN_TOKEN|> <|CHATBOT_TOKEN|>".split(" "),
  ..."<｜end▁of▁sentence｜> <｜Assistant｜>".split(" "),
];

export const knownFrames: readonly Frame[] = [
  // gpt-oss. The header of a message to itself says nothing.
  {
    opens: ["final", "commentary", "commentary to=assistant"].flatMap((channel) =>
      ["", "<|start|>assistant"].map(
        (start) => `${start}<|channel|>${channel}${channel.endsWith("assistant") ? "" : "<|message|>"}`,
      ),
    ),
    closes: ["<|end|>", "<|return|>"],
  },
  // Cohere.
  { opens: ["<|START_RESPONSE|>"], closes: ["<|END_RESPONSE|>", "<|END_OF_TURN_TOKEN|>"] },
  { opens: ["<|START_TEXT|>"], closes: ["<|END_TEXT|>", "<|END_OF_TURN_TOKEN|>"] },
  { opens: ["<|CHATBOT_TOKEN|>"], closes: ["<|END_OF_TURN_TOKEN|>"] },
  // Kimi K3.
  {
    opens: ["<|open|>response<|sep|>"],
    closes: ["<|close|>response<|sep|>", "<|close|>message<|sep|>", "<|end_of_msg|>"],
  },
  // Muse.
  { opens: ["to=user<|message|>", "<|start|>assistant to=user<|message|>"], closes: ["<|eom|>", "<|eot|>"] },
  // Inkling.
  { opens: ["<|content_text|>", "<|message_model|><|content_text|>"], closes: ["<|end_message|>"] },
  // Solar.
  { opens: ["<|begin|>assistant<|content|>", "<|content|>"], closes: ["<|end|>"] },
];
