ALTER TABLE "memberships" ADD COLUMN "last_activity_at" timestamp (3) with time zone;--> statement-breakpoint
UPDATE memberships SET last_activity_at = newest.at
FROM (
  SELECT workspace_id, actor_user_id, max(created_at) AS at FROM events
  WHERE readers = 'everybody' AND actor_user_id IS NOT NULL GROUP BY workspace_id, actor_user_id
) AS newest
WHERE newest.workspace_id = memberships.workspace_id AND newest.actor_user_id = memberships.user_id;
