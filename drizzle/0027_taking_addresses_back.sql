ALTER TABLE "former_emails" ADD COLUMN "canonical_email" text;--> statement-breakpoint
ALTER TABLE "former_emails" ADD COLUMN "token_hash" "bytea";--> statement-breakpoint
CREATE INDEX "former_emails_canonical_email_idx" ON "former_emails" USING btree ("canonical_email");--> statement-breakpoint
ALTER TABLE "former_emails" ADD CONSTRAINT "former_emails_token_hash_key" UNIQUE("token_hash");