-- For searching the directory by any part of a name or an address. Trusted: needs no superuser.
CREATE EXTENSION IF NOT EXISTS pg_trgm;
--> statement-breakpoint
CREATE TABLE "invite_tokens" (
	"token_hash" "bytea" PRIMARY KEY NOT NULL,
	"invite_id" uuid NOT NULL
);
--> statement-breakpoint
CREATE TABLE "invites" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"email" text NOT NULL,
	"role" text NOT NULL,
	"state" text NOT NULL,
	"invited_by_user_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"last_sent_at" timestamp (3) with time zone,
	"search_text" text GENERATED ALWAYS AS (lower(email)) STORED
);
--> statement-breakpoint
CREATE TABLE "team_members" (
	"team_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"workspace_id" uuid NOT NULL,
	"added_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "team_members_team_id_user_id_pk" PRIMARY KEY("team_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "teams" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "search_text" text GENERATED ALWAYS AS (lower(name || ' ' || email)) STORED;--> statement-breakpoint
ALTER TABLE "invite_tokens" ADD CONSTRAINT "invite_tokens_invite_id_invites_id_fk" FOREIGN KEY ("invite_id") REFERENCES "public"."invites"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invites" ADD CONSTRAINT "invites_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invites" ADD CONSTRAINT "invites_invited_by_user_id_users_id_fk" FOREIGN KEY ("invited_by_user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "team_members" ADD CONSTRAINT "team_members_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "team_members" ADD CONSTRAINT "team_members_membership_fk" FOREIGN KEY ("workspace_id","user_id") REFERENCES "public"."memberships"("workspace_id","user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "teams" ADD CONSTRAINT "teams_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "invite_tokens_invite_id_idx" ON "invite_tokens" USING btree ("invite_id");--> statement-breakpoint
CREATE UNIQUE INDEX "invites_open_email_key" ON "invites" USING btree ("workspace_id",lower("email")) WHERE "invites"."state" = 'open';--> statement-breakpoint
CREATE INDEX "invites_open_idx" ON "invites" USING btree ("workspace_id","created_at","id") WHERE "invites"."state" = 'open';--> statement-breakpoint
CREATE INDEX "invites_search_text_idx" ON "invites" USING gin ("search_text" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "team_members_membership_idx" ON "team_members" USING btree ("workspace_id","user_id");--> statement-breakpoint
CREATE INDEX "team_members_by_team_idx" ON "team_members" USING btree ("team_id","added_at","user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "teams_name_key" ON "teams" USING btree ("workspace_id",lower("name"));--> statement-breakpoint
CREATE INDEX "teams_by_workspace_idx" ON "teams" USING btree ("workspace_id","created_at","id");--> statement-breakpoint
CREATE INDEX "events_by_type_idx" ON "events" USING btree ("workspace_id","type","created_at","id");--> statement-breakpoint
CREATE INDEX "events_by_actor_idx" ON "events" USING btree ("workspace_id","actor_user_id","created_at","id");--> statement-breakpoint
CREATE INDEX "memberships_by_workspace_idx" ON "memberships" USING btree ("workspace_id","joined_at","user_id");--> statement-breakpoint
CREATE INDEX "users_search_text_idx" ON "users" USING gin ("search_text" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "workspaces_allowed_domains_idx" ON "workspaces" USING gin ("allowed_domains");