-- Trusted since PostgreSQL 13: the owner of a database may create it.
CREATE EXTENSION IF NOT EXISTS unaccent;--> statement-breakpoint
CREATE TABLE "search_entries" (
	"workspace_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"id" uuid NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"words" tsvector NOT NULL,
	CONSTRAINT "search_entries_id_workspace_id_pk" PRIMARY KEY("id","workspace_id")
);--> statement-breakpoint
-- The words of a text as the search compares them: without accents, in lower case, separated at everything that is
-- neither a letter nor a digit, at most 64 characters of each. What is stored and what is asked for both come from here.
-- The separators are code points, so that the locale of the database does not matter. In PL/pgSQL, which keeps its plans:
-- a function in SQL would be planned anew for each row.
CREATE FUNCTION search_words(body text) RETURNS text[] LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
  RETURN array(
    SELECT DISTINCT left(word, 64)
    FROM regexp_split_to_table(
      lower(unaccent(body)),
      '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u00d7\u00f7\u2000-\u206f\u2190-\u2bff\u3000-\u303f\ufe00-\ufe0f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]+'
    ) AS word
    WHERE word <> ''
  );
END
$$;--> statement-breakpoint
-- What the words of a workspace and of a kind begin with in the index, where those of one are apart from all others. A
-- collision of these digits costs time, but shows nothing: workspaces are compared too.
CREATE FUNCTION search_scope(workspace_id uuid, kind text, in_title boolean) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT right(workspace_id::text, 8) || CASE WHEN in_title THEN upper(left(kind, 1)) ELSE left(kind, 1) END
$$;--> statement-breakpoint
-- The words of what can be found, those of its title twice: as such, and as words of the whole.
CREATE FUNCTION search_keys(workspace_id uuid, kind text, title text, body text) RETURNS tsvector LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
  RETURN array_to_tsvector(array(
    SELECT search_scope(workspace_id, kind, true) || word FROM unnest(search_words(title)) AS word
    UNION
    SELECT search_scope(workspace_id, kind, false) || word FROM unnest(search_words(concat_ws(' ', title, body))) AS word
  ));
END
$$;--> statement-breakpoint
-- Asks for all words of a text: for words that begin with them, or for these words. Null for a text without words.
CREATE FUNCTION search_query(workspace_id uuid, kind text, in_title boolean, is_prefix boolean, asked text) RETURNS tsquery LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT string_agg('''' || search_scope(workspace_id, kind, in_title) || word || '''' || CASE WHEN is_prefix THEN ':*' ELSE '' END, ' & ')::tsquery
  FROM unnest(search_words(asked)) AS word
$$;--> statement-breakpoint
-- What can be found. Evidence that was withdrawn, and all of deleted seeds, cannot.
CREATE VIEW search_sources AS
  SELECT workspace_id, 'seed' AS kind, id, id AS seed_id, created_at AS at, title,
    concat_ws(' ', summary, problem, audience, hypothesis, array_to_string(success_criteria, ' ')) AS body
  FROM seeds WHERE deleted_at IS NULL
  UNION ALL
  SELECT seeds.workspace_id, 'evidence', evidence.id, seeds.id, evidence.created_at, '', evidence.summary
  FROM evidence JOIN seeds ON seeds.id = evidence.seed_id
  WHERE seeds.deleted_at IS NULL AND evidence.withdrawn_at IS NULL
  UNION ALL
  SELECT seeds.workspace_id, 'comment', comments.id, seeds.id, comments.created_at, '',
    -- Of a mention, only the name is to be found, which is not in the text.
    regexp_replace(comments.body, '\(user:[0-9a-f-]{36}\)', '', 'g')
  FROM comments JOIN seeds ON seeds.id = comments.seed_id
  WHERE seeds.deleted_at IS NULL
  UNION ALL
  SELECT memberships.workspace_id, 'person', users.id, NULL, memberships.joined_at, users.name, users.email
  FROM memberships JOIN users ON users.id = memberships.user_id
  UNION ALL
  SELECT workspace_id, 'team', id, NULL, created_at, name, '' FROM teams;--> statement-breakpoint
-- Until the triggers are there, nothing changes what can be found; it can be read.
LOCK TABLE seeds, evidence, comments, teams, memberships, users IN SHARE ROW EXCLUSIVE MODE;--> statement-breakpoint
INSERT INTO search_entries (workspace_id, kind, id, at, words)
SELECT workspace_id, kind, id, at, search_keys(workspace_id, kind, title, body) FROM search_sources;--> statement-breakpoint
ALTER TABLE "search_entries" ADD CONSTRAINT "search_entries_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "search_entries_newest_idx" ON "search_entries" USING btree ("workspace_id","kind","at","id");--> statement-breakpoint
CREATE INDEX "search_entries_words_idx" ON "search_entries" USING gin ("words") WITH (gin_pending_list_limit=256);--> statement-breakpoint
-- Keeps the entries of a table. Triggers, since the version before writes these tables too. A statement for each kind:
-- with a parameter for the kind, PostgreSQL would plan it anew for each row. A conflict is that of two changes at once, such
-- as a person who is renamed while they join: both insert the same.
CREATE FUNCTION search_follow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    DELETE FROM search_entries WHERE id = OLD.id;
  END IF;
  IF TG_OP = 'DELETE' THEN
    NULL;
  ELSIF TG_ARGV[0] = 'seed' THEN
    INSERT INTO search_entries (workspace_id, kind, id, at, words)
    SELECT workspace_id, kind, id, at, search_keys(workspace_id, kind, title, body)
    FROM search_sources WHERE kind = 'seed' AND id = NEW.id
    ON CONFLICT (id, workspace_id) DO UPDATE SET at = excluded.at, words = excluded.words;
  ELSIF TG_ARGV[0] = 'evidence' THEN
    INSERT INTO search_entries (workspace_id, kind, id, at, words)
    SELECT workspace_id, kind, id, at, search_keys(workspace_id, kind, title, body)
    FROM search_sources WHERE kind = 'evidence' AND id = NEW.id
    ON CONFLICT (id, workspace_id) DO UPDATE SET at = excluded.at, words = excluded.words;
  ELSIF TG_ARGV[0] = 'comment' THEN
    INSERT INTO search_entries (workspace_id, kind, id, at, words)
    SELECT workspace_id, kind, id, at, search_keys(workspace_id, kind, title, body)
    FROM search_sources WHERE kind = 'comment' AND id = NEW.id
    ON CONFLICT (id, workspace_id) DO UPDATE SET at = excluded.at, words = excluded.words;
  ELSIF TG_ARGV[0] = 'person' THEN
    INSERT INTO search_entries (workspace_id, kind, id, at, words)
    SELECT workspace_id, kind, id, at, search_keys(workspace_id, kind, title, body)
    FROM search_sources WHERE kind = 'person' AND id = NEW.id
    ON CONFLICT (id, workspace_id) DO UPDATE SET at = excluded.at, words = excluded.words;
  ELSIF TG_ARGV[0] = 'team' THEN
    INSERT INTO search_entries (workspace_id, kind, id, at, words)
    SELECT workspace_id, kind, id, at, search_keys(workspace_id, kind, title, body)
    FROM search_sources WHERE kind = 'team' AND id = NEW.id
    ON CONFLICT (id, workspace_id) DO UPDATE SET at = excluded.at, words = excluded.words;
  END IF;
  RETURN NULL;
END
$$;--> statement-breakpoint
-- Of what belongs to a seed that was deleted or restored.
CREATE FUNCTION search_follow_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM search_entries WHERE id IN (
    SELECT id FROM evidence WHERE seed_id = NEW.id UNION ALL SELECT id FROM comments WHERE seed_id = NEW.id
  );
  INSERT INTO search_entries (workspace_id, kind, id, at, words)
  SELECT workspace_id, kind, id, at, search_keys(workspace_id, kind, title, body)
  FROM search_sources WHERE kind IN ('evidence', 'comment') AND seed_id = NEW.id
  ON CONFLICT (id, workspace_id) DO UPDATE SET at = excluded.at, words = excluded.words;
  RETURN NULL;
END
$$;--> statement-breakpoint
-- Of people, who have an entry in each of their workspaces.
CREATE FUNCTION search_follow_membership() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    DELETE FROM search_entries WHERE id = OLD.user_id AND workspace_id = OLD.workspace_id;
  ELSE
    INSERT INTO search_entries (workspace_id, kind, id, at, words)
    SELECT workspace_id, kind, id, at, search_keys(workspace_id, kind, title, body)
    FROM search_sources WHERE kind = 'person' AND id = NEW.user_id AND workspace_id = NEW.workspace_id
    ON CONFLICT (id, workspace_id) DO UPDATE SET at = excluded.at, words = excluded.words;
  END IF;
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER search_follow AFTER INSERT OR DELETE OR UPDATE OF title, summary, problem, audience, hypothesis, success_criteria, deleted_at
  ON seeds FOR EACH ROW EXECUTE FUNCTION search_follow('seed');--> statement-breakpoint
CREATE TRIGGER search_follow_deletion AFTER UPDATE OF deleted_at ON seeds FOR EACH ROW
  WHEN (OLD.deleted_at IS DISTINCT FROM NEW.deleted_at) EXECUTE FUNCTION search_follow_deletion();--> statement-breakpoint
CREATE TRIGGER search_follow AFTER INSERT OR DELETE OR UPDATE OF summary, withdrawn_at
  ON evidence FOR EACH ROW EXECUTE FUNCTION search_follow('evidence');--> statement-breakpoint
CREATE TRIGGER search_follow AFTER INSERT OR DELETE OR UPDATE OF body
  ON comments FOR EACH ROW EXECUTE FUNCTION search_follow('comment');--> statement-breakpoint
CREATE TRIGGER search_follow AFTER INSERT OR DELETE OR UPDATE OF name
  ON teams FOR EACH ROW EXECUTE FUNCTION search_follow('team');--> statement-breakpoint
CREATE TRIGGER search_follow AFTER INSERT OR DELETE
  ON memberships FOR EACH ROW EXECUTE FUNCTION search_follow_membership();--> statement-breakpoint
CREATE TRIGGER search_follow AFTER UPDATE OF name, email ON users FOR EACH ROW
  WHEN (OLD.name IS DISTINCT FROM NEW.name OR OLD.email IS DISTINCT FROM NEW.email) EXECUTE FUNCTION search_follow('person');
