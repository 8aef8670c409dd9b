// A chat without messages: what to say first.

const ideas = [
  "What is 25 + 17?",
  "Which tools can you use?",
  "Write a haiku about a loop, as a code block.",
];

export interface EmptyChatProps {
  readonly hasModels: boolean;
  readonly onSend: (text: string) => void;
}

export function EmptyChat({ hasModels, onSend }: EmptyChatProps) {
  if (!hasModels)
    return (
      <div class="empty chat-empty">
        <h2>No model answers</h2>
        <p>Start your model server, or pull a model into it. The home page shows which servers were asked.</p>
      </div>
    );
  return (
    <div class="empty chat-empty">
      <h2>What would you like to know?</h2>
      <p>Answers stream in with everything the model did: its thoughts, its calls and their results.</p>
      <div class="row chat-ideas">
        {ideas.map((idea) => (
          <button key={idea} class="button" type="button" onClick={() => onSend(idea)}>
            {idea}
          </button>
        ))}
      </div>
    </div>
  );
}
