CREATE TABLE "webhook_former_secrets" (
	"id" uuid PRIMARY KEY NOT NULL,
	"webhook_id" uuid NOT NULL,
	"sealed_secret" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"signs_until" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "secret_created_at" timestamp (3) with time zone DEFAULT now() NOT NULL;--> statement-breakpoint
-- That of rotated webhooks is set by the next migration.
UPDATE "webhooks" SET "secret_created_at" = "created_at";--> statement-breakpoint
ALTER TABLE "webhook_former_secrets" ADD CONSTRAINT "webhook_former_secrets_webhook_id_webhooks_id_fk" FOREIGN KEY ("webhook_id") REFERENCES "public"."webhooks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "webhook_former_secrets_webhook_id_idx" ON "webhook_former_secrets" USING btree ("webhook_id");