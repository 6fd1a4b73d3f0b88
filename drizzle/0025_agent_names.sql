ALTER TABLE "evidence" ADD COLUMN "agent_name" text;--> statement-breakpoint
ALTER TABLE "seeds" ADD COLUMN "agent_name" text;--> statement-breakpoint
-- What agents wrote before. Grants are deleted with the membership, and the name with them.
UPDATE "seeds" SET "agent_name" = coalesce("agent_grants"."client_name", 'An unnamed application') FROM "events" LEFT JOIN "agent_grants" ON "agent_grants"."id" = "events"."grant_id" WHERE "events"."type" = 'seed.created' AND "events"."actor_type" = 'agent' AND "events"."target_id" = "seeds"."id";--> statement-breakpoint
UPDATE "evidence" SET "agent_name" = coalesce("agent_grants"."client_name", 'An unnamed application') FROM "events" LEFT JOIN "agent_grants" ON "agent_grants"."id" = "events"."grant_id" WHERE "events"."type" = 'evidence.added' AND "events"."actor_type" = 'agent' AND "events"."target_id" = "evidence"."id";
