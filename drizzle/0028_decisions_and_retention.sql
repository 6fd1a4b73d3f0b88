ALTER TABLE "event_positions" ADD COLUMN "deleted_until" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "event_positions" ADD COLUMN "deleted_until_id" uuid;--> statement-breakpoint
ALTER TABLE "seeds" ADD COLUMN "status_changed_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "seeds" ADD COLUMN "status_reason" text;--> statement-breakpoint
ALTER TABLE "seeds" ADD COLUMN "status_changed_by_user_id" uuid;--> statement-breakpoint
ALTER TABLE "seeds" ADD COLUMN "status_changed_by_name" text;--> statement-breakpoint
ALTER TABLE "seeds" ADD CONSTRAINT "seeds_status_changed_by_user_id_users_id_fk" FOREIGN KEY ("status_changed_by_user_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "seeds_decider_idx" ON "seeds" USING btree ("status_changed_by_user_id","id") WHERE "seeds"."status_changed_by_user_id" is not null;--> statement-breakpoint
UPDATE seeds SET status_changed_at = newest.at, status_reason = newest.reason,
  status_changed_by_user_id = newest.user_id, status_changed_by_name = newest.name
FROM (
  SELECT changed.seed_id, changed.at, changed.reason, users.id AS user_id,
    CASE WHEN users.id IS NOT NULL THEN changed.name END AS name
  FROM (
    SELECT DISTINCT ON (seed_id) seed_id, created_at AS at, data ->> 'statusReason' AS reason, actor_user_id,
      actor_name AS name
    FROM events
    WHERE type = 'seed.updated' AND seed_id IS NOT NULL AND jsonb_typeof(data -> 'status') = 'object'
    ORDER BY seed_id, position DESC
  ) AS changed
  LEFT JOIN users ON users.id = changed.actor_user_id
) AS newest
WHERE newest.seed_id = seeds.id;--> statement-breakpoint
-- The version before changes a status and nothing else of it: it is not known who did, and why.
CREATE FUNCTION follow_status() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.status_changed_at := NEW.updated_at;
  NEW.status_reason := NULL;
  NEW.status_changed_by_user_id := NULL;
  NEW.status_changed_by_name := NULL;
  RETURN NEW;
END
$$;--> statement-breakpoint
CREATE TRIGGER follow_status BEFORE UPDATE OF status ON seeds FOR EACH ROW
  WHEN (NEW.status <> OLD.status AND NEW.status_changed_at IS NOT DISTINCT FROM OLD.status_changed_at)
  EXECUTE FUNCTION follow_status();
