// What the second version adds: columns for lists of runs, and traces.

/** `s`: the quoted name of the schema. Rows of older nodes have only the defaults. */
export const listTables = (s: string): string => `
ALTER TABLE ${s}.responses
  ADD COLUMN title text COLLATE "C",
  ADD COLUMN source text COLLATE "C",
  -- Null for a response that is a thread itself.
  ADD COLUMN thread_id text COLLATE "C";
UPDATE ${s}.responses SET thread_id = conversation_id WHERE conversation_id IS NOT NULL;
WITH RECURSIVE chained (key, id, root) AS (
  SELECT key, id, coalesce(thread_id, id) FROM ${s}.responses WHERE previous_response_id IS NULL
  UNION ALL
  SELECT r.key, r.id, coalesce(r.thread_id, c.root) FROM chained c
    JOIN ${s}.responses r ON r.previous_response_id = c.id)
UPDATE ${s}.responses r SET thread_id = c.root FROM chained c
  WHERE r.key = c.key AND r.previous_response_id IS NOT NULL AND r.thread_id IS DISTINCT FROM c.root;
CREATE INDEX responses_by_source ON ${s}.responses (owner, source, created_at_ms, id) WHERE source IS NOT NULL;
CREATE INDEX responses_by_thread ON ${s}.responses (owner, thread_id) WHERE thread_id IS NOT NULL;

-- All events of a commit in one row.
CREATE TABLE ${s}.traces (
  response_key bigint NOT NULL,
  first integer NOT NULL,
  last integer NOT NULL,
  lines text NOT NULL,
  PRIMARY KEY (response_key, last)
);

-- They go with their response, also when an older node removes it.
CREATE FUNCTION ${s}.remove_traces_v1() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM ${s}.traces WHERE response_key IN (SELECT key FROM removed);
  RETURN NULL;
END $$;
CREATE TRIGGER remove_traces AFTER DELETE ON ${s}.responses REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION ${s}.remove_traces_v1();
`;
