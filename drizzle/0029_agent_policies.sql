CREATE TABLE "agent_policies" (
	"workspace_id" uuid PRIMARY KEY NOT NULL,
	"is_on" boolean NOT NULL,
	"scopes" text[] NOT NULL,
	"clients" text[] NOT NULL,
	"consent_version" integer NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "agent_grants" ADD COLUMN "asserted_issuer" text;--> statement-breakpoint
ALTER TABLE "agent_grants" ADD COLUMN "may_return" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "agent_policies" ADD CONSTRAINT "agent_policies_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "agent_policies_clients_idx" ON "agent_policies" USING gin ("clients");