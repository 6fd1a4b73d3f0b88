ALTER TABLE "webhooks" ADD COLUMN "format" text;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "seed_ids" uuid[] DEFAULT '{}' NOT NULL;