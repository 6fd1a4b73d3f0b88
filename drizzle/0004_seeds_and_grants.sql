CREATE TABLE "agent_grants" (
	"id" uuid PRIMARY KEY NOT NULL,
	"client_id" text NOT NULL,
	"client_name" text NOT NULL,
	"client_uri" text,
	"workspace_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"scopes" text[] NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"last_used_at" timestamp (3) with time zone,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"revoked_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "evidence" (
	"id" uuid PRIMARY KEY NOT NULL,
	"seed_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"verdict" text NOT NULL,
	"summary" text NOT NULL,
	"source_url" text,
	"author_user_id" uuid,
	"author_name" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "seed_participants" (
	"seed_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"workspace_id" uuid NOT NULL,
	"joined_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "seed_participants_seed_id_user_id_pk" PRIMARY KEY("seed_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "seeds" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"title" text NOT NULL,
	"summary" text NOT NULL,
	"problem" text,
	"audience" text,
	"hypothesis" text,
	"success_criteria" text[] DEFAULT '{}' NOT NULL,
	"status" text NOT NULL,
	"created_by_user_id" uuid,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "agent_grants" ADD CONSTRAINT "agent_grants_membership_fk" FOREIGN KEY ("workspace_id","user_id") REFERENCES "public"."memberships"("workspace_id","user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "evidence" ADD CONSTRAINT "evidence_seed_id_seeds_id_fk" FOREIGN KEY ("seed_id") REFERENCES "public"."seeds"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "evidence" ADD CONSTRAINT "evidence_author_user_id_users_id_fk" FOREIGN KEY ("author_user_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "seed_participants" ADD CONSTRAINT "seed_participants_seed_id_seeds_id_fk" FOREIGN KEY ("seed_id") REFERENCES "public"."seeds"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "seed_participants" ADD CONSTRAINT "seed_participants_membership_fk" FOREIGN KEY ("workspace_id","user_id") REFERENCES "public"."memberships"("workspace_id","user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "seeds" ADD CONSTRAINT "seeds_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "seeds" ADD CONSTRAINT "seeds_created_by_user_id_users_id_fk" FOREIGN KEY ("created_by_user_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "agent_grants_of_person_idx" ON "agent_grants" USING btree ("workspace_id","user_id","created_at","id");--> statement-breakpoint
CREATE INDEX "agent_grants_by_workspace_idx" ON "agent_grants" USING btree ("workspace_id","created_at","id") WHERE "agent_grants"."revoked_at" is null;--> statement-breakpoint
CREATE INDEX "agent_grants_by_client_idx" ON "agent_grants" USING btree ("client_id");--> statement-breakpoint
CREATE INDEX "evidence_by_seed_idx" ON "evidence" USING btree ("seed_id","created_at","id");--> statement-breakpoint
CREATE INDEX "evidence_by_verdict_idx" ON "evidence" USING btree ("seed_id","verdict");--> statement-breakpoint
CREATE INDEX "seed_participants_membership_idx" ON "seed_participants" USING btree ("workspace_id","user_id");--> statement-breakpoint
CREATE INDEX "seeds_by_workspace_idx" ON "seeds" USING btree ("workspace_id","created_at","id");--> statement-breakpoint
CREATE INDEX "seeds_by_status_idx" ON "seeds" USING btree ("workspace_id","status","created_at","id");--> statement-breakpoint
CREATE INDEX "seeds_by_change_idx" ON "seeds" USING btree ("workspace_id","updated_at","id");