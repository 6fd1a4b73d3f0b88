ALTER TABLE "webhooks" ADD COLUMN "team_ids" uuid[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "label_ids" uuid[] DEFAULT '{}' NOT NULL;