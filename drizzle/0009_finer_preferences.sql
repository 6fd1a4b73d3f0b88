ALTER TABLE "users" ADD COLUMN "notify_mentions" text DEFAULT 'mail' NOT NULL;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "notify_digest" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "notify_role_changes" text DEFAULT 'mail' NOT NULL;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "notify_accepted_invites" text DEFAULT 'mail' NOT NULL;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "notify_agents" text DEFAULT 'mail' NOT NULL;