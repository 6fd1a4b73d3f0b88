-- Reads go on until the indexes are dropped, which is quick; changes wait.
LOCK TABLE events IN SHARE ROW EXCLUSIVE MODE;--> statement-breakpoint
UPDATE "events" SET "readers" = CASE WHEN "type" LIKE 'integration.%' THEN 'grantors' ELSE 'managers' END
WHERE "type" IN ('invite.created', 'invite.resent', 'invite.revoked', 'invite.declined', 'invite.role_changed', 'webhook.created', 'webhook.updated', 'webhook.deleted', 'webhook.secret_rotated', 'webhook.tested', 'webhook.redelivered', 'webhook.disabled', 'integration.granted', 'integration.changed', 'integration.used', 'integration.revoked')
  AND "readers" = 'everybody';--> statement-breakpoint
CREATE INDEX "events_for_everybody_idx" ON "events" USING btree ("workspace_id","created_at","id") WHERE "events"."readers" = 'everybody';--> statement-breakpoint
CREATE INDEX "events_for_everybody_by_actor_idx" ON "events" USING btree ("workspace_id","actor_user_id","created_at","id") WHERE "events"."readers" = 'everybody';--> statement-breakpoint
CREATE INDEX "events_for_grantors_idx" ON "events" USING btree ("target_id","created_at","id") WHERE "events"."readers" = 'grantors';--> statement-breakpoint
-- The version before reads the same events by its other indexes.
DROP INDEX "events_for_all_idx";--> statement-breakpoint
DROP INDEX "events_for_all_by_actor_idx";--> statement-breakpoint
DROP INDEX "events_by_grant_idx";
