ALTER TABLE "oauth_records" ADD COLUMN "uses" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "oauth_records" ADD COLUMN "granted_at" timestamp (3) with time zone;--> statement-breakpoint
-- The form of `hashClientSecret`. The release before refuses these clients: after a rollback they register again.
UPDATE "oauth_records" SET "payload" = jsonb_set("payload", '{client_secret}', to_jsonb('sha256:' || encode(sha256(convert_to("payload" ->> 'client_secret', 'UTF8')), 'hex'))) WHERE "kind" = 'Client' AND jsonb_exists("payload", 'client_secret');--> statement-breakpoint
UPDATE "oauth_records" SET "granted_at" = "used"."at" FROM (SELECT "client_id", max(coalesce("last_used_at", "created_at")) AS "at" FROM "agent_grants" GROUP BY "client_id") AS "used" WHERE "kind" = 'Client' AND "key" = "used"."client_id";
