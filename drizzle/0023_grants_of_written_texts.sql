ALTER TABLE "comments" ADD COLUMN "grant_id" uuid;--> statement-breakpoint
ALTER TABLE "seeds" ADD COLUMN "grant_id" uuid;