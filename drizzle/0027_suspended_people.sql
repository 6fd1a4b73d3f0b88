ALTER TABLE "users" ADD COLUMN "suspended_at" timestamp (3) with time zone;--> statement-breakpoint
-- Without statistics of the column, the planner would take almost everybody for suspended.
ANALYZE "users";