ALTER TABLE "seeds" ADD COLUMN "question" text;--> statement-breakpoint
ALTER TABLE "seeds" ADD COLUMN "decide_by" date;--> statement-breakpoint
CREATE INDEX "seeds_due_idx" ON "seeds" USING btree ("workspace_id","decide_by") WHERE "seeds"."decide_by" is not null;--> statement-breakpoint
-- As before, but for questions of seeds.
CREATE OR REPLACE VIEW search_sources AS
  SELECT workspace_id, 'seed' AS kind, id, id AS seed_id, created_at AS at, title,
    concat_ws(' ', summary, problem, audience, hypothesis, array_to_string(success_criteria, ' '), question) AS body
  FROM seeds WHERE deleted_at IS NULL
  UNION ALL
  SELECT seeds.workspace_id, 'evidence', evidence.id, seeds.id, evidence.created_at, '', evidence.summary
  FROM evidence JOIN seeds ON seeds.id = evidence.seed_id
  WHERE seeds.deleted_at IS NULL AND evidence.withdrawn_at IS NULL
  UNION ALL
  SELECT seeds.workspace_id, 'comment', comments.id, seeds.id, comments.created_at, '',
    -- Of a mention, only the name is to be found, which for people is not in the text.
    regexp_replace(comments.body, '\((?:user|agent):[0-9a-f-]{36}\)', '', 'g')
  FROM comments JOIN seeds ON seeds.id = comments.seed_id
  WHERE seeds.deleted_at IS NULL
  UNION ALL
  SELECT memberships.workspace_id, 'person', users.id, NULL, memberships.joined_at, users.name, users.email
  FROM memberships JOIN users ON users.id = memberships.user_id
  UNION ALL
  SELECT workspace_id, 'team', id, NULL, created_at, name, '' FROM teams
  UNION ALL
  SELECT workspace_id, 'invited', id, NULL, created_at, '', email FROM invites WHERE state = 'open';--> statement-breakpoint
DROP TRIGGER search_follow ON seeds;--> statement-breakpoint
CREATE TRIGGER search_follow AFTER INSERT OR DELETE
  OR UPDATE OF title, summary, problem, audience, hypothesis, success_criteria, question, deleted_at
  ON seeds FOR EACH ROW EXECUTE FUNCTION search_follow('seed');
