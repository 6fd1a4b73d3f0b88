DROP INDEX "invites_open_email_key";--> statement-breakpoint
DROP INDEX "users_email_key";--> statement-breakpoint
ALTER TABLE "account_tokens" ADD COLUMN "email" text;--> statement-breakpoint
ALTER TABLE "invites" ADD COLUMN "canonical_email" text;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "canonical_email" text;--> statement-breakpoint
CREATE UNIQUE INDEX "invites_open_canonical_email_key" ON "invites" USING btree ("workspace_id","canonical_email") WHERE "invites"."state" = 'open';--> statement-breakpoint
CREATE UNIQUE INDEX "users_canonical_email_key" ON "users" USING btree ("canonical_email");