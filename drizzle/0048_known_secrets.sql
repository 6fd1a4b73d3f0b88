ALTER TABLE "agent_grants" ADD COLUMN "shown_to_user_id" uuid;--> statement-breakpoint
ALTER TABLE "agent_grants" ADD COLUMN "former_secret_hash" text;--> statement-breakpoint
ALTER TABLE "agent_grants" ADD COLUMN "former_secret_until" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "agent_grants" ADD COLUMN "former_shown_to_user_id" uuid;--> statement-breakpoint
ALTER TABLE "webhook_former_secrets" ADD COLUMN "shown_to_user_id" uuid;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "shown_to_user_id" uuid;--> statement-breakpoint
ALTER TABLE "agent_grants" ADD CONSTRAINT "agent_grants_shown_to_user_id_users_id_fk" FOREIGN KEY ("shown_to_user_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_grants" ADD CONSTRAINT "agent_grants_former_shown_to_user_id_users_id_fk" FOREIGN KEY ("former_shown_to_user_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_former_secrets" ADD CONSTRAINT "webhook_former_secrets_shown_to_user_id_users_id_fk" FOREIGN KEY ("shown_to_user_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_shown_to_user_id_users_id_fk" FOREIGN KEY ("shown_to_user_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "agent_grants_shown_to_idx" ON "agent_grants" USING btree ("shown_to_user_id") WHERE "agent_grants"."shown_to_user_id" is not null;--> statement-breakpoint
CREATE INDEX "agent_grants_former_shown_to_idx" ON "agent_grants" USING btree ("former_shown_to_user_id") WHERE "agent_grants"."former_shown_to_user_id" is not null;--> statement-breakpoint
CREATE INDEX "webhook_former_secrets_shown_to_idx" ON "webhook_former_secrets" USING btree ("shown_to_user_id");--> statement-breakpoint
CREATE INDEX "webhooks_shown_to_idx" ON "webhooks" USING btree ("shown_to_user_id");--> statement-breakpoint
-- Who was shown the secret is in the newest event of it, and when.
UPDATE "webhooks" SET "secret_created_at" = shown.at, "shown_to_user_id" = (SELECT "id" FROM "users" WHERE "id" = shown.actor)
FROM "webhooks" AS "same", LATERAL (
  SELECT "created_at" AS at, "actor_user_id" AS actor FROM "events"
  WHERE "events"."workspace_id" = "same"."workspace_id" AND "events"."target_id" = "same"."id"
    AND "events"."type" IN ('webhook.created', 'webhook.secret_rotated')
  ORDER BY "events"."created_at" DESC, "events"."id" DESC LIMIT 1
) AS shown
WHERE "webhooks"."id" = "same"."id";
