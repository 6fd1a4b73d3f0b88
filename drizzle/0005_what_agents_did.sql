CREATE TABLE "agent_call_log" (
	"grant_id" uuid NOT NULL,
	"called_at" timestamp (3) with time zone NOT NULL,
	"id" uuid NOT NULL,
	"tool" text NOT NULL,
	"seed_id" uuid,
	"code" text NOT NULL,
	CONSTRAINT "agent_call_log_grant_id_called_at_id_pk" PRIMARY KEY("grant_id","called_at","id")
);
--> statement-breakpoint
CREATE TABLE "agent_grant_places" (
	"grant_id" uuid NOT NULL,
	"address" text NOT NULL,
	"first_seen_at" timestamp (3) with time zone NOT NULL,
	"last_seen_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "agent_grant_places_grant_id_address_pk" PRIMARY KEY("grant_id","address")
);
--> statement-breakpoint
ALTER TABLE "agent_call_log" ADD CONSTRAINT "agent_call_log_grant_id_agent_grants_id_fk" FOREIGN KEY ("grant_id") REFERENCES "public"."agent_grants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_grant_places" ADD CONSTRAINT "agent_grant_places_grant_id_agent_grants_id_fk" FOREIGN KEY ("grant_id") REFERENCES "public"."agent_grants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "agent_call_log_called_at_idx" ON "agent_call_log" USING btree ("called_at");