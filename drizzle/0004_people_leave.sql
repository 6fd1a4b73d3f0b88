CREATE TABLE "leavings" (
	"user_id" uuid PRIMARY KEY NOT NULL,
	"allowed_until" timestamp (3) with time zone,
	"requested_at" timestamp (3) with time zone,
	"token_hash" "bytea",
	CONSTRAINT "leavings_token_hash_key" UNIQUE("token_hash")
);
--> statement-breakpoint
ALTER TABLE "workspace_slugs" ALTER COLUMN "workspace_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "workspaces" ADD COLUMN "deleted_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "workspaces" ADD COLUMN "exported_until" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "leavings" ADD CONSTRAINT "leavings_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "leavings_requested_at_idx" ON "leavings" USING btree ("requested_at");--> statement-breakpoint
CREATE INDEX "evidence_author_idx" ON "evidence" USING btree ("author_user_id","id");--> statement-breakpoint
CREATE INDEX "seeds_creator_idx" ON "seeds" USING btree ("created_by_user_id","id");--> statement-breakpoint
CREATE INDEX "workspaces_deleted_at_idx" ON "workspaces" USING btree ("deleted_at") WHERE "workspaces"."deleted_at" is not null;--> statement-breakpoint
-- Written by hand. Without statistics, PostgreSQL takes nearly all workspaces for deleted, and plans accordingly.
ANALYZE "workspaces";
