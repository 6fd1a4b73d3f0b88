CREATE TABLE "attachments" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"name" text NOT NULL,
	"type" text NOT NULL,
	"bytes" integer NOT NULL,
	"width" integer,
	"height" integer,
	"sha256" "bytea" NOT NULL,
	"key" text NOT NULL,
	"thumbnail_key" text,
	"text" text,
	"created_by_user_id" uuid,
	"created_at" timestamp (3) with time zone NOT NULL,
	"seed_id" uuid,
	"evidence_id" uuid,
	"comment_id" uuid,
	"position" smallint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "workspace_storage" (
	"workspace_id" uuid PRIMARY KEY NOT NULL,
	"attachment_bytes" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "attachments" ADD CONSTRAINT "attachments_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "attachments" ADD CONSTRAINT "attachments_created_by_user_id_users_id_fk" FOREIGN KEY ("created_by_user_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "attachments" ADD CONSTRAINT "attachments_evidence_id_evidence_id_fk" FOREIGN KEY ("evidence_id") REFERENCES "public"."evidence"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "attachments" ADD CONSTRAINT "attachments_comment_id_comments_id_fk" FOREIGN KEY ("comment_id") REFERENCES "public"."comments"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "attachments" ADD CONSTRAINT "attachments_seed_fk" FOREIGN KEY ("workspace_id","seed_id") REFERENCES "public"."seeds"("workspace_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workspace_storage" ADD CONSTRAINT "workspace_storage_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "attachments_by_workspace_idx" ON "attachments" USING btree ("workspace_id","created_at","id");--> statement-breakpoint
CREATE INDEX "attachments_by_seed_idx" ON "attachments" USING btree ("seed_id") WHERE "attachments"."seed_id" is not null;--> statement-breakpoint
CREATE INDEX "attachments_of_seed_idx" ON "attachments" USING btree ("seed_id") WHERE "attachments"."evidence_id" is null and "attachments"."comment_id" is null;--> statement-breakpoint
CREATE INDEX "attachments_by_evidence_idx" ON "attachments" USING btree ("evidence_id") WHERE "attachments"."evidence_id" is not null;--> statement-breakpoint
CREATE INDEX "attachments_by_comment_idx" ON "attachments" USING btree ("comment_id") WHERE "attachments"."comment_id" is not null;--> statement-breakpoint
CREATE INDEX "attachments_unused_idx" ON "attachments" USING btree ("created_at") WHERE "attachments"."seed_id" is null;--> statement-breakpoint
CREATE INDEX "attachments_creator_idx" ON "attachments" USING btree ("created_by_user_id","id");--> statement-breakpoint
-- Keeps how many bytes the files of a workspace have, and hands the stored files of deleted rows to the clean-up of files.
CREATE FUNCTION count_attachments() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO workspace_storage (workspace_id, attachment_bytes)
    SELECT workspace_id, sum(bytes) FROM changed GROUP BY workspace_id
    ON CONFLICT (workspace_id) DO UPDATE SET attachment_bytes = workspace_storage.attachment_bytes + excluded.attachment_bytes;
  ELSE
    UPDATE workspace_storage SET attachment_bytes = attachment_bytes - counted.bytes
    FROM (SELECT workspace_id, sum(bytes) AS bytes FROM changed GROUP BY workspace_id) AS counted
    WHERE counted.workspace_id = workspace_storage.workspace_id;
    UPDATE pictures SET unused_since = 'epoch'
    WHERE key IN (SELECT key FROM changed UNION ALL SELECT thumbnail_key FROM changed WHERE thumbnail_key IS NOT NULL);
  END IF;
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER count_attachments_added AFTER INSERT ON attachments REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_attachments();--> statement-breakpoint
CREATE TRIGGER count_attachments_deleted AFTER DELETE ON attachments REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_attachments();
--> statement-breakpoint
-- The files of evidence and comments follow these to another seed.
CREATE FUNCTION move_attachments() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_TABLE_NAME = 'evidence' THEN
    UPDATE attachments SET seed_id = NEW.seed_id WHERE evidence_id = NEW.id;
  ELSE
    UPDATE attachments SET seed_id = NEW.seed_id WHERE comment_id = NEW.id;
  END IF;
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER move_attachments AFTER UPDATE OF seed_id ON evidence FOR EACH ROW
  WHEN (OLD.seed_id <> NEW.seed_id) EXECUTE FUNCTION move_attachments();--> statement-breakpoint
CREATE TRIGGER move_attachments AFTER UPDATE OF seed_id ON comments FOR EACH ROW
  WHEN (OLD.seed_id <> NEW.seed_id) EXECUTE FUNCTION move_attachments();--> statement-breakpoint
-- As before, but for the files of seeds, evidence and comments: their names, and the beginnings of their texts. Of all files
-- together so much that no entry is larger than a `tsvector` may be.
CREATE OR REPLACE VIEW search_sources AS
  SELECT workspace_id, 'seed' AS kind, id, id AS seed_id, created_at AS at, title,
    concat_ws(' ', summary, problem, audience, hypothesis, array_to_string(success_criteria, ' '), question, (
      SELECT left(string_agg(concat_ws(' ', files.name, files.text), ' ' ORDER BY files.position, files.id), 20000)
      FROM attachments AS files
      WHERE files.seed_id = seeds.id AND files.evidence_id IS NULL AND files.comment_id IS NULL
    )) AS body
  FROM seeds WHERE deleted_at IS NULL
  UNION ALL
  SELECT seeds.workspace_id, 'evidence', evidence.id, seeds.id, evidence.created_at, '',
    concat_ws(' ', evidence.summary, (
      SELECT left(string_agg(concat_ws(' ', files.name, files.text), ' ' ORDER BY files.position, files.id), 20000)
      FROM attachments AS files WHERE files.evidence_id = evidence.id
    ))
  FROM evidence JOIN seeds ON seeds.id = evidence.seed_id
  WHERE seeds.deleted_at IS NULL AND evidence.withdrawn_at IS NULL
  UNION ALL
  SELECT seeds.workspace_id, 'comment', comments.id, seeds.id, comments.created_at, '',
    -- Of a mention, only the name is to be found, which for people is not in the text.
    concat_ws(' ', regexp_replace(comments.body, '\((?:user|agent):[0-9a-f-]{36}\)', '', 'g'), (
      SELECT left(string_agg(concat_ws(' ', files.name, files.text), ' ' ORDER BY files.position, files.id), 20000)
      FROM attachments AS files WHERE files.comment_id = comments.id
    ))
  FROM comments JOIN seeds ON seeds.id = comments.seed_id
  WHERE seeds.deleted_at IS NULL
  UNION ALL
  SELECT memberships.workspace_id, 'person', users.id, NULL, memberships.joined_at, users.name, users.email
  FROM memberships JOIN users ON users.id = memberships.user_id
  UNION ALL
  SELECT workspace_id, 'team', id, NULL, created_at, name, '' FROM teams
  UNION ALL
  SELECT workspace_id, 'invited', id, NULL, created_at, '', email FROM invites WHERE state = 'open';--> statement-breakpoint
-- Of what files were attached to or deleted from, once for all files of a statement. It has an entry unless it cannot be found:
-- inserting one would fail for a workspace that is deleted with everything in it.
CREATE FUNCTION search_follow_files() RETURNS trigger LANGUAGE plpgsql
SET enable_seqscan = off SET enable_mergejoin = off SET enable_hashjoin = off AS $$
DECLARE
  of_seeds uuid[];
  of_evidence uuid[];
  of_comments uuid[];
BEGIN
  IF TG_OP = 'UPDATE' THEN
    SELECT array_agg(DISTINCT after.seed_id) FILTER (WHERE after.evidence_id IS NULL AND after.comment_id IS NULL),
      array_agg(DISTINCT after.evidence_id), array_agg(DISTINCT after.comment_id)
    INTO of_seeds, of_evidence, of_comments
    FROM after JOIN before ON before.id = after.id WHERE after.seed_id IS DISTINCT FROM before.seed_id;
  ELSE
    SELECT array_agg(DISTINCT seed_id) FILTER (WHERE evidence_id IS NULL AND comment_id IS NULL),
      array_agg(DISTINCT evidence_id), array_agg(DISTINCT comment_id)
    INTO of_seeds, of_evidence, of_comments
    FROM before WHERE seed_id IS NOT NULL;
  END IF;
  UPDATE search_entries SET words = search_keys(source.workspace_id, source.kind, source.title, source.body)
  FROM search_sources AS source
  WHERE source.kind = 'seed' AND source.id = ANY (of_seeds)
    AND search_entries.id = source.id AND search_entries.workspace_id = source.workspace_id;
  UPDATE search_entries SET words = search_keys(source.workspace_id, source.kind, source.title, source.body)
  FROM search_sources AS source
  WHERE source.kind = 'evidence' AND source.id = ANY (of_evidence)
    AND search_entries.id = source.id AND search_entries.workspace_id = source.workspace_id;
  UPDATE search_entries SET words = search_keys(source.workspace_id, source.kind, source.title, source.body)
  FROM search_sources AS source
  WHERE source.kind = 'comment' AND source.id = ANY (of_comments)
    AND search_entries.id = source.id AND search_entries.workspace_id = source.workspace_id;
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER search_follow_attached AFTER UPDATE ON attachments REFERENCING OLD TABLE AS before NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION search_follow_files();--> statement-breakpoint
CREATE TRIGGER search_follow_deleted AFTER DELETE ON attachments REFERENCING OLD TABLE AS before
  FOR EACH STATEMENT EXECUTE FUNCTION search_follow_files();
