-- Only what is quick, since reads wait for it too; the next two migrations fill the columns while reads go on.
LOCK TABLE seeds, evidence, comments, seed_participants, events IN ACCESS EXCLUSIVE MODE;--> statement-breakpoint
ALTER TABLE "seeds" ADD COLUMN "participant_count" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "seeds" ADD COLUMN "last_evidence_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "seeds" ADD COLUMN "last_comment_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "seeds" ADD COLUMN "activity_at" timestamp (3) with time zone;--> statement-breakpoint
-- Keep the numbers of a seed, the times of its newest evidence and comment, and the time of its last activity. Triggers, since
-- the version before writes these tables too. One update for each statement. What has no time of its own happens now.
CREATE OR REPLACE FUNCTION count_evidence() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
  UPDATE seeds SET supports_count = supports_count + sign * counted.supports,
    contradicts_count = contradicts_count + sign * counted.contradicts, neutral_count = neutral_count + sign * counted.neutral,
    last_evidence_at = CASE TG_OP WHEN 'INSERT' THEN greatest(last_evidence_at, counted.newest)
      ELSE (SELECT max(created_at) FROM evidence WHERE seed_id = seeds.id AND withdrawn_at IS NULL) END,
    activity_at = greatest(activity_at, CASE TG_OP WHEN 'INSERT' THEN counted.newest ELSE now() END)
  FROM (
    SELECT seed_id, count(*) FILTER (WHERE verdict = 'supports') AS supports, max(created_at) AS newest,
      count(*) FILTER (WHERE verdict = 'contradicts') AS contradicts, count(*) FILTER (WHERE verdict = 'neutral') AS neutral
    FROM changed WHERE withdrawn_at IS NULL GROUP BY seed_id
  ) AS counted WHERE seeds.id = counted.seed_id;
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION recount_evidence() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  counted boolean := OLD.withdrawn_at IS NULL;
  now_counts boolean := NEW.withdrawn_at IS NULL;
BEGIN
  UPDATE seeds SET
    supports_count = supports_count + (now_counts AND NEW.verdict = 'supports')::int - (counted AND OLD.verdict = 'supports')::int,
    contradicts_count = contradicts_count + (now_counts AND NEW.verdict = 'contradicts')::int - (counted AND OLD.verdict = 'contradicts')::int,
    neutral_count = neutral_count + (now_counts AND NEW.verdict = 'neutral')::int - (counted AND OLD.verdict = 'neutral')::int,
    last_evidence_at = CASE WHEN counted = now_counts THEN last_evidence_at
      ELSE (SELECT max(created_at) FROM evidence WHERE seed_id = NEW.seed_id AND withdrawn_at IS NULL) END,
    activity_at = greatest(activity_at, NEW.withdrawn_at, NEW.edited_at)
  WHERE id = NEW.seed_id;
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION count_comments() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE seeds SET comment_count = comment_count + CASE TG_OP WHEN 'INSERT' THEN counted.n ELSE -counted.n END,
    last_comment_at = CASE TG_OP WHEN 'INSERT' THEN greatest(last_comment_at, counted.newest)
      ELSE (SELECT max(created_at) FROM comments WHERE seed_id = seeds.id) END,
    activity_at = greatest(activity_at, CASE TG_OP WHEN 'INSERT' THEN counted.newest ELSE now() END)
  FROM (SELECT seed_id, count(*) AS n, max(created_at) AS newest FROM changed GROUP BY seed_id) AS counted
  WHERE seeds.id = counted.seed_id;
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE FUNCTION count_participants() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE seeds SET participant_count = participant_count + CASE TG_OP WHEN 'INSERT' THEN counted.n ELSE -counted.n END,
    activity_at = greatest(activity_at, CASE TG_OP WHEN 'INSERT' THEN counted.newest ELSE now() END)
  FROM (SELECT seed_id, count(*) AS n, max(joined_at) AS newest FROM changed GROUP BY seed_id) AS counted
  WHERE seeds.id = counted.seed_id;
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER count_participants_added AFTER INSERT ON seed_participants REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_participants();--> statement-breakpoint
CREATE TRIGGER count_participants_deleted AFTER DELETE ON seed_participants REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_participants();--> statement-breakpoint
CREATE FUNCTION follow_activity() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    NEW.activity_at := coalesce(NEW.activity_at, NEW.updated_at);
  ELSE
    NEW.activity_at := greatest(OLD.activity_at, NEW.updated_at,
      CASE WHEN (OLD.deleted_at, OLD.lead_user_id) IS DISTINCT FROM (NEW.deleted_at, NEW.lead_user_id) THEN now() END);
  END IF;
  RETURN NEW;
END
$$;--> statement-breakpoint
CREATE TRIGGER follow_activity BEFORE INSERT OR UPDATE OF updated_at, deleted_at, lead_user_id ON seeds
  FOR EACH ROW EXECUTE FUNCTION follow_activity();--> statement-breakpoint
-- Existing rows have the default without being written. It goes at once: what a version does not name, the trigger gives.
ALTER TABLE "events" ADD COLUMN "readers" text DEFAULT 'everybody' NOT NULL;--> statement-breakpoint
ALTER TABLE "events" ALTER COLUMN "readers" DROP DEFAULT;--> statement-breakpoint
-- For events of the version before, which knows just these types. What nobody knows is for managers.
CREATE FUNCTION give_event_readers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.readers := CASE
    WHEN NEW.type LIKE 'integration.%' THEN 'grantors'
    WHEN NEW.type = 'invite.accepted' OR split_part(NEW.type, '.', 1) IN ('workspace', 'member', 'team', 'seed', 'evidence', 'comment')
      THEN 'everybody'
    ELSE 'managers'
  END;
  RETURN NEW;
END
$$;--> statement-breakpoint
CREATE TRIGGER events_readers BEFORE INSERT ON events FOR EACH ROW WHEN (NEW.readers IS NULL) EXECUTE FUNCTION give_event_readers();
