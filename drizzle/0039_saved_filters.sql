CREATE TABLE "saved_filters" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"owner_user_id" uuid,
	"shared_by_user_id" uuid,
	"name" text NOT NULL,
	"filters" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "saved_filters" ADD CONSTRAINT "saved_filters_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "saved_filters" ADD CONSTRAINT "saved_filters_owner_fk" FOREIGN KEY ("workspace_id","owner_user_id") REFERENCES "public"."memberships"("workspace_id","user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "saved_filters" ADD CONSTRAINT "saved_filters_shared_by_fk" FOREIGN KEY ("workspace_id","shared_by_user_id") REFERENCES "public"."memberships"("workspace_id","user_id") ON DELETE set null ("shared_by_user_id") ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "saved_filters_own_name_key" ON "saved_filters" USING btree ("workspace_id","owner_user_id",lower("name"));--> statement-breakpoint
CREATE UNIQUE INDEX "saved_filters_shared_name_key" ON "saved_filters" USING btree ("workspace_id",lower("name")) WHERE "saved_filters"."owner_user_id" is null;--> statement-breakpoint
CREATE INDEX "saved_filters_owner_idx" ON "saved_filters" USING btree ("owner_user_id","workspace_id") WHERE "saved_filters"."owner_user_id" is not null;--> statement-breakpoint
CREATE INDEX "saved_filters_shared_by_idx" ON "saved_filters" USING btree ("shared_by_user_id","workspace_id") WHERE "saved_filters"."shared_by_user_id" is not null;