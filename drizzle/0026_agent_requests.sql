CREATE TABLE "agent_requests" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"comment_id" uuid NOT NULL,
	"grant_id" uuid NOT NULL,
	"agent_name" text NOT NULL,
	"for_user_id" uuid,
	"asked_by_user_id" uuid,
	"state" text NOT NULL,
	"reason" text,
	"answer_comment_id" uuid,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "agent_requests_comment_grant_key" UNIQUE("comment_id","grant_id")
);
--> statement-breakpoint
ALTER TABLE "agent_grants" ADD COLUMN "members_may_ask" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "agent_requests" ADD CONSTRAINT "agent_requests_comment_id_comments_id_fk" FOREIGN KEY ("comment_id") REFERENCES "public"."comments"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_requests" ADD CONSTRAINT "agent_requests_for_user_id_users_id_fk" FOREIGN KEY ("for_user_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_requests" ADD CONSTRAINT "agent_requests_asked_by_user_id_users_id_fk" FOREIGN KEY ("asked_by_user_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_requests" ADD CONSTRAINT "agent_requests_answer_comment_id_comments_id_fk" FOREIGN KEY ("answer_comment_id") REFERENCES "public"."comments"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "agent_requests_by_workspace_idx" ON "agent_requests" USING btree ("workspace_id","created_at","id");--> statement-breakpoint
CREATE INDEX "agent_requests_waiting_idx" ON "agent_requests" USING btree ("grant_id","created_at") WHERE "agent_requests"."state" = 'waiting';--> statement-breakpoint
CREATE INDEX "agent_requests_expiring_idx" ON "agent_requests" USING btree ("expires_at") WHERE "agent_requests"."state" = 'waiting';--> statement-breakpoint
CREATE INDEX "agent_requests_asker_idx" ON "agent_requests" USING btree ("asked_by_user_id","created_at");--> statement-breakpoint
CREATE INDEX "agent_requests_for_user_idx" ON "agent_requests" USING btree ("for_user_id");--> statement-breakpoint
CREATE INDEX "agent_requests_answer_idx" ON "agent_requests" USING btree ("answer_comment_id") WHERE "agent_requests"."answer_comment_id" is not null;--> statement-breakpoint
-- What waits for an agent whose access ends is cancelled, however it ends; so is what others asked of one that is no longer theirs.
CREATE FUNCTION cancel_requests_of_grant() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE agent_requests SET state = 'cancelled'
  WHERE grant_id = OLD.id AND state = 'waiting'
    AND (TG_OP = 'DELETE' OR NEW.revoked_at IS NOT NULL OR asked_by_user_id IS DISTINCT FROM OLD.user_id);
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER requests_of_ended_grant AFTER DELETE ON agent_grants FOR EACH ROW EXECUTE FUNCTION cancel_requests_of_grant();--> statement-breakpoint
CREATE TRIGGER requests_of_revoked_grant AFTER UPDATE ON agent_grants FOR EACH ROW
  WHEN ((OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL) OR (OLD.members_may_ask AND NOT NEW.members_may_ask))
  EXECUTE FUNCTION cancel_requests_of_grant();--> statement-breakpoint
-- What a person asked who is no longer in the workspace is cancelled.
CREATE FUNCTION cancel_requests_of_asker() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE agent_requests SET state = 'cancelled'
  WHERE asked_by_user_id = OLD.user_id AND workspace_id = OLD.workspace_id AND state = 'waiting';
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER requests_of_leaver AFTER DELETE ON memberships FOR EACH ROW EXECUTE FUNCTION cancel_requests_of_asker();
--> statement-breakpoint
-- As before, but for mentions of agents.
CREATE OR REPLACE VIEW search_sources AS
  SELECT workspace_id, 'seed' AS kind, id, id AS seed_id, created_at AS at, title,
    concat_ws(' ', summary, problem, audience, hypothesis, array_to_string(success_criteria, ' ')) AS body
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
  SELECT workspace_id, 'invited', id, NULL, created_at, '', email FROM invites WHERE state = 'open';
