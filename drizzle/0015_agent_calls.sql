CREATE TABLE "agent_calls" (
	"grant_id" uuid NOT NULL,
	"day" date NOT NULL,
	"tool" text NOT NULL,
	"calls" integer NOT NULL,
	"failures" integer NOT NULL,
	"last_called_at" timestamp (3) with time zone NOT NULL,
	"last_failure" text,
	"last_failure_at" timestamp (3) with time zone,
	CONSTRAINT "agent_calls_grant_id_day_tool_pk" PRIMARY KEY("grant_id","day","tool")
);
--> statement-breakpoint
DROP INDEX "events_for_all_idx";--> statement-breakpoint
DROP INDEX "events_for_all_by_actor_idx";--> statement-breakpoint
DROP INDEX "events_by_grant_idx";--> statement-breakpoint
ALTER TABLE "agent_calls" ADD CONSTRAINT "agent_calls_grant_id_agent_grants_id_fk" FOREIGN KEY ("grant_id") REFERENCES "public"."agent_grants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "events_for_all_idx" ON "events" USING btree ("workspace_id","created_at","id") WHERE "events"."type" not in ('invite.created', 'invite.resent', 'invite.revoked', 'invite.role_changed', 'integration.granted', 'integration.changed', 'integration.used', 'integration.revoked');--> statement-breakpoint
CREATE INDEX "events_for_all_by_actor_idx" ON "events" USING btree ("workspace_id","actor_user_id","created_at","id") WHERE "events"."type" not in ('invite.created', 'invite.resent', 'invite.revoked', 'invite.role_changed', 'integration.granted', 'integration.changed', 'integration.used', 'integration.revoked');--> statement-breakpoint
CREATE INDEX "events_by_grant_idx" ON "events" USING btree ("target_id","created_at","id") WHERE "events"."type" in ('integration.granted', 'integration.changed', 'integration.used', 'integration.revoked');