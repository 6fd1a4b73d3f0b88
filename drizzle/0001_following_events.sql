CREATE TABLE "webhook_deliveries" (
	"webhook_id" uuid NOT NULL,
	"event_id" uuid NOT NULL,
	"type" text NOT NULL,
	"status" text NOT NULL,
	"attempts" integer NOT NULL,
	"last_status" integer,
	"last_error" text,
	"next_attempt_at" timestamp (3) with time zone,
	"leased_until" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	"delivered_at" timestamp (3) with time zone,
	CONSTRAINT "webhook_deliveries_webhook_id_event_id_pk" PRIMARY KEY("webhook_id","event_id")
);--> statement-breakpoint
CREATE TABLE "webhooks" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"url" text NOT NULL,
	"description" text,
	"types" text[] DEFAULT '{}' NOT NULL,
	"sealed_secret" "bytea" NOT NULL,
	"previous_sealed_secret" "bytea",
	"previous_secret_until" timestamp (3) with time zone,
	"disabled_reason" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"last_delivery_at" timestamp (3) with time zone,
	"last_failure_at" timestamp (3) with time zone,
	"failing_since" timestamp (3) with time zone,
	"slowed_count" integer DEFAULT 0 NOT NULL,
	"paused_until" timestamp (3) with time zone,
	"deleted_at" timestamp (3) with time zone
);--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_webhook_id_webhooks_id_fk" FOREIGN KEY ("webhook_id") REFERENCES "public"."webhooks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "webhook_deliveries_by_webhook_idx" ON "webhook_deliveries" USING btree ("webhook_id","created_at","event_id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_by_status_idx" ON "webhook_deliveries" USING btree ("webhook_id","status","created_at","event_id") WHERE "webhook_deliveries"."status" <> 'delivered';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_due_idx" ON "webhook_deliveries" USING btree ("webhook_id","next_attempt_at") WHERE "webhook_deliveries"."status" = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_leased_idx" ON "webhook_deliveries" USING btree ("webhook_id","leased_until") WHERE "webhook_deliveries"."leased_until" is not null;--> statement-breakpoint
CREATE INDEX "webhooks_by_workspace_idx" ON "webhooks" USING btree ("workspace_id","created_at","id");--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "expires_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "access" text DEFAULT 'full' NOT NULL;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "workspace_ids" uuid[];--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "rotated_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "expiry_notice_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "api_keys_expiry_notice_idx" ON "api_keys" USING btree ("expiry_notice_at") WHERE "api_keys"."expiry_notice_at" is not null and "api_keys"."revoked_at" is null;--> statement-breakpoint
CREATE TABLE "event_positions" (
	"workspace_id" uuid PRIMARY KEY NOT NULL,
	"last" bigint NOT NULL
);--> statement-breakpoint
-- Before the lock on events, since changes write to workspaces first.
ALTER TABLE "event_positions" ADD CONSTRAINT "event_positions_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
-- Locks the table until the end of the migration, so that no event is added while the existing ones are numbered.
DROP INDEX "events_for_all_idx";--> statement-breakpoint
DROP INDEX "events_for_all_by_actor_idx";--> statement-breakpoint
ALTER TABLE "events" ADD COLUMN "data" jsonb DEFAULT '{}'::jsonb NOT NULL, ADD COLUMN "seed_id" uuid, ADD COLUMN "position" bigint;--> statement-breakpoint
UPDATE "events" SET
	"position" = "numbered"."position",
	"seed_id" = CASE "target_type"
		WHEN 'seed' THEN "target_id"
		WHEN 'evidence' THEN (SELECT "evidence"."seed_id" FROM "evidence" WHERE "evidence"."id" = "target_id")
	END
FROM (SELECT "id", row_number() OVER (PARTITION BY "workspace_id" ORDER BY "created_at", "id") AS "position" FROM "events") AS "numbered"
WHERE "numbered"."id" = "events"."id";--> statement-breakpoint
ALTER TABLE "events" ALTER COLUMN "position" SET NOT NULL;--> statement-breakpoint
INSERT INTO "event_positions" SELECT "workspace_id", max("position") FROM "events" GROUP BY "workspace_id";--> statement-breakpoint
CREATE UNIQUE INDEX "events_position_key" ON "events" USING btree ("workspace_id","position");--> statement-breakpoint
CREATE INDEX "events_by_seed_idx" ON "events" USING btree ("workspace_id","seed_id","created_at","id") WHERE "events"."seed_id" is not null;--> statement-breakpoint
CREATE INDEX "events_for_all_idx" ON "events" USING btree ("workspace_id","created_at","id") WHERE "events"."type" not in ('invite.created', 'invite.resent', 'invite.revoked', 'invite.declined', 'invite.role_changed', 'webhook.created', 'webhook.updated', 'webhook.deleted', 'webhook.secret_rotated', 'webhook.tested', 'webhook.redelivered', 'webhook.disabled', 'integration.granted', 'integration.changed', 'integration.used', 'integration.revoked');--> statement-breakpoint
CREATE INDEX "events_for_all_by_actor_idx" ON "events" USING btree ("workspace_id","actor_user_id","created_at","id") WHERE "events"."type" not in ('invite.created', 'invite.resent', 'invite.revoked', 'invite.declined', 'invite.role_changed', 'webhook.created', 'webhook.updated', 'webhook.deleted', 'webhook.secret_rotated', 'webhook.tested', 'webhook.redelivered', 'webhook.disabled', 'integration.granted', 'integration.changed', 'integration.used', 'integration.revoked');--> statement-breakpoint
-- Not in the service: older versions of it insert events during an upgrade. The workspace is locked first, as by those who
-- delete it, and as the foreign key of the event does later: nothing is waited for once the position is locked.
CREATE FUNCTION "give_event_position"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	UPDATE "public"."event_positions" SET "last" = "last" + 1
		WHERE "workspace_id" = (SELECT "id" FROM "public"."workspaces" WHERE "id" = NEW."workspace_id" FOR KEY SHARE)
		RETURNING "last" INTO NEW."position";
	IF NOT FOUND THEN
		INSERT INTO "public"."event_positions" AS "counted" ("workspace_id", "last") VALUES (NEW."workspace_id", 1)
			ON CONFLICT ("workspace_id") DO UPDATE SET "last" = "counted"."last" + 1
			RETURNING "last" INTO NEW."position";
	END IF;
	RETURN NEW;
END
$$;--> statement-breakpoint
-- Events that are restored keep their positions.
CREATE TRIGGER "events_position" BEFORE INSERT ON "events" FOR EACH ROW WHEN (NEW."position" IS NULL) EXECUTE FUNCTION "give_event_position"();
