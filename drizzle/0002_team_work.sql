CREATE TABLE "comment_mentions" (
	"comment_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	CONSTRAINT "comment_mentions_comment_id_user_id_pk" PRIMARY KEY("comment_id","user_id")
);--> statement-breakpoint
CREATE TABLE "comments" (
	"id" uuid PRIMARY KEY NOT NULL,
	"seed_id" uuid NOT NULL,
	"evidence_id" uuid,
	"body" text NOT NULL,
	"author_user_id" uuid,
	"author_name" text NOT NULL,
	"agent_name" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"edited_at" timestamp (3) with time zone
);--> statement-breakpoint
CREATE TABLE "invite_teams" (
	"invite_id" uuid NOT NULL,
	"team_id" uuid NOT NULL,
	CONSTRAINT "invite_teams_invite_id_team_id_pk" PRIMARY KEY("invite_id","team_id")
);--> statement-breakpoint
CREATE TABLE "notification_digests" (
	"user_id" uuid PRIMARY KEY NOT NULL,
	"sent_at" timestamp (3) with time zone NOT NULL
);--> statement-breakpoint
CREATE TABLE "notifications" (
	"user_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"workspace_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"seed_id" uuid,
	"comment_id" uuid,
	"actor_user_id" uuid,
	"actor_name" text NOT NULL,
	"agent_name" text,
	"data" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"read_at" timestamp (3) with time zone,
	"mailed_at" timestamp (3) with time zone,
	CONSTRAINT "notifications_user_id_id_pk" PRIMARY KEY("user_id","id")
);--> statement-breakpoint
CREATE TABLE "seed_followers" (
	"seed_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"workspace_id" uuid NOT NULL,
	CONSTRAINT "seed_followers_seed_id_user_id_pk" PRIMARY KEY("seed_id","user_id")
);--> statement-breakpoint
-- Locked in the order in which changes lock them: seeds, evidence, memberships.
ALTER TABLE "seeds" ADD COLUMN "lead_user_id" uuid, ADD COLUMN "deleted_at" timestamp (3) with time zone, ADD COLUMN "supports_count" integer DEFAULT 0 NOT NULL, ADD COLUMN "contradicts_count" integer DEFAULT 0 NOT NULL, ADD COLUMN "neutral_count" integer DEFAULT 0 NOT NULL, ADD COLUMN "comment_count" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "evidence" ADD COLUMN "edited_at" timestamp (3) with time zone, ADD COLUMN "withdrawn_at" timestamp (3) with time zone, ADD COLUMN "withdrawn_by_user_id" uuid, ADD COLUMN "withdrawn_by_name" text, ADD COLUMN "withdrawn_reason" text;--> statement-breakpoint
DROP INDEX "evidence_by_verdict_idx";--> statement-breakpoint
CREATE INDEX "seeds_by_lead_idx" ON "seeds" USING btree ("workspace_id","lead_user_id") WHERE "seeds"."lead_user_id" is not null;--> statement-breakpoint
CREATE INDEX "seeds_deleted_idx" ON "seeds" USING btree ("deleted_at") WHERE "seeds"."deleted_at" is not null;--> statement-breakpoint
CREATE INDEX "evidence_withdrawn_by_idx" ON "evidence" USING btree ("withdrawn_by_user_id") WHERE "evidence"."withdrawn_by_user_id" is not null;--> statement-breakpoint
ALTER TABLE "comments" ADD CONSTRAINT "comments_seed_id_seeds_id_fk" FOREIGN KEY ("seed_id") REFERENCES "public"."seeds"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "notifications" ADD CONSTRAINT "notifications_seed_id_seeds_id_fk" FOREIGN KEY ("seed_id") REFERENCES "public"."seeds"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "seed_followers" ADD CONSTRAINT "seed_followers_seed_id_seeds_id_fk" FOREIGN KEY ("seed_id") REFERENCES "public"."seeds"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "comments" ADD CONSTRAINT "comments_evidence_id_evidence_id_fk" FOREIGN KEY ("evidence_id") REFERENCES "public"."evidence"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "comment_mentions" ADD CONSTRAINT "comment_mentions_comment_id_comments_id_fk" FOREIGN KEY ("comment_id") REFERENCES "public"."comments"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "notifications" ADD CONSTRAINT "notifications_comment_id_comments_id_fk" FOREIGN KEY ("comment_id") REFERENCES "public"."comments"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "comment_mentions" ADD CONSTRAINT "comment_mentions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "comments" ADD CONSTRAINT "comments_author_user_id_users_id_fk" FOREIGN KEY ("author_user_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "notification_digests" ADD CONSTRAINT "notification_digests_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "notifications" ADD CONSTRAINT "notifications_actor_user_id_users_id_fk" FOREIGN KEY ("actor_user_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "evidence" ADD CONSTRAINT "evidence_withdrawn_by_user_id_users_id_fk" FOREIGN KEY ("withdrawn_by_user_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "notifications" ADD CONSTRAINT "notifications_membership_fk" FOREIGN KEY ("workspace_id","user_id") REFERENCES "public"."memberships"("workspace_id","user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
-- Only the lead becomes null, not the workspace.
ALTER TABLE "seeds" ADD CONSTRAINT "seeds_lead_fk" FOREIGN KEY ("workspace_id","lead_user_id") REFERENCES "public"."memberships"("workspace_id","user_id") ON DELETE set null ("lead_user_id") ON UPDATE no action;--> statement-breakpoint
-- Whoever takes part in a seed or created it follows it. Memberships cannot end meanwhile: the foreign keys lock them.
INSERT INTO "seed_followers" ("seed_id", "user_id", "workspace_id")
	SELECT "seed_id", "user_id", "workspace_id" FROM "seed_participants"
	UNION
	SELECT "seeds"."id", "user_id", "seeds"."workspace_id" FROM "seeds"
		JOIN "memberships" ON "memberships"."workspace_id" = "seeds"."workspace_id" AND "user_id" = "created_by_user_id";--> statement-breakpoint
ALTER TABLE "seed_followers" ADD CONSTRAINT "seed_followers_membership_fk" FOREIGN KEY ("workspace_id","user_id") REFERENCES "public"."memberships"("workspace_id","user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invite_teams" ADD CONSTRAINT "invite_teams_invite_id_invites_id_fk" FOREIGN KEY ("invite_id") REFERENCES "public"."invites"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invite_teams" ADD CONSTRAINT "invite_teams_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "comment_mentions_user_id_idx" ON "comment_mentions" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "comments_by_seed_idx" ON "comments" USING btree ("seed_id","created_at","id");--> statement-breakpoint
CREATE INDEX "comments_by_evidence_idx" ON "comments" USING btree ("evidence_id","created_at","id") WHERE "comments"."evidence_id" is not null;--> statement-breakpoint
CREATE INDEX "comments_author_idx" ON "comments" USING btree ("author_user_id");--> statement-breakpoint
CREATE INDEX "invite_teams_team_id_idx" ON "invite_teams" USING btree ("team_id");--> statement-breakpoint
CREATE INDEX "notifications_by_user_idx" ON "notifications" USING btree ("user_id","created_at","id");--> statement-breakpoint
CREATE INDEX "notifications_unread_idx" ON "notifications" USING btree ("user_id","created_at","id") WHERE "notifications"."read_at" is null;--> statement-breakpoint
CREATE INDEX "notifications_unmailed_idx" ON "notifications" USING btree ("created_at") WHERE "notifications"."mailed_at" is null;--> statement-breakpoint
CREATE INDEX "notifications_membership_idx" ON "notifications" USING btree ("workspace_id","user_id");--> statement-breakpoint
CREATE INDEX "notifications_seed_id_idx" ON "notifications" USING btree ("seed_id") WHERE "notifications"."seed_id" is not null;--> statement-breakpoint
CREATE INDEX "notifications_comment_id_idx" ON "notifications" USING btree ("comment_id") WHERE "notifications"."comment_id" is not null;--> statement-breakpoint
CREATE INDEX "notifications_actor_idx" ON "notifications" USING btree ("actor_user_id");--> statement-breakpoint
CREATE INDEX "notifications_created_at_idx" ON "notifications" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "seed_followers_membership_idx" ON "seed_followers" USING btree ("workspace_id","user_id");--> statement-breakpoint
ALTER TABLE "agent_grants" ADD COLUMN "consent_version" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
UPDATE "seeds" SET "supports_count" = counted.supports, "contradicts_count" = counted.contradicts, "neutral_count" = counted.neutral
FROM (
	SELECT "seed_id", count(*) FILTER (WHERE "verdict" = 'supports') AS supports,
		count(*) FILTER (WHERE "verdict" = 'contradicts') AS contradicts, count(*) FILTER (WHERE "verdict" = 'neutral') AS neutral
	FROM "evidence" GROUP BY "seed_id"
) AS counted WHERE "seeds"."id" = counted."seed_id";--> statement-breakpoint
-- Keep the numbers of evidence and comments of a seed. Triggers, since the version before adds evidence too. One update for
-- each statement; whoever changes evidence or comments has locked the seed.
CREATE FUNCTION count_evidence() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
  UPDATE seeds SET supports_count = supports_count + sign * counted.supports,
    contradicts_count = contradicts_count + sign * counted.contradicts, neutral_count = neutral_count + sign * counted.neutral
  FROM (
    SELECT seed_id, count(*) FILTER (WHERE verdict = 'supports') AS supports,
      count(*) FILTER (WHERE verdict = 'contradicts') AS contradicts, count(*) FILTER (WHERE verdict = 'neutral') AS neutral
    FROM changed WHERE withdrawn_at IS NULL GROUP BY seed_id
  ) AS counted WHERE seeds.id = counted.seed_id;
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER count_evidence_added AFTER INSERT ON evidence REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_evidence();--> statement-breakpoint
CREATE TRIGGER count_evidence_deleted AFTER DELETE ON evidence REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_evidence();--> statement-breakpoint
-- Of a piece of evidence that was corrected or withdrawn.
CREATE FUNCTION recount_evidence() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  counted boolean := OLD.withdrawn_at IS NULL;
  now_counts boolean := NEW.withdrawn_at IS NULL;
BEGIN
  UPDATE seeds SET
    supports_count = supports_count + (now_counts AND NEW.verdict = 'supports')::int - (counted AND OLD.verdict = 'supports')::int,
    contradicts_count = contradicts_count + (now_counts AND NEW.verdict = 'contradicts')::int - (counted AND OLD.verdict = 'contradicts')::int,
    neutral_count = neutral_count + (now_counts AND NEW.verdict = 'neutral')::int - (counted AND OLD.verdict = 'neutral')::int
  WHERE id = NEW.seed_id;
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER recount_evidence AFTER UPDATE OF verdict, withdrawn_at ON evidence FOR EACH ROW
  WHEN ((OLD.verdict, OLD.withdrawn_at) IS DISTINCT FROM (NEW.verdict, NEW.withdrawn_at)) EXECUTE FUNCTION recount_evidence();--> statement-breakpoint
CREATE FUNCTION count_comments() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE seeds SET comment_count = comment_count + CASE TG_OP WHEN 'INSERT' THEN counted.n ELSE -counted.n END
  FROM (SELECT seed_id, count(*) AS n FROM changed GROUP BY seed_id) AS counted WHERE seeds.id = counted.seed_id;
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER count_comments_added AFTER INSERT ON comments REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_comments();--> statement-breakpoint
CREATE TRIGGER count_comments_deleted AFTER DELETE ON comments REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_comments();
