CREATE TABLE "seed_import_slices" (
	"import_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"rows" jsonb,
	"seed_ids" uuid[] DEFAULT '{}' NOT NULL,
	"is_undone" boolean DEFAULT false NOT NULL,
	CONSTRAINT "seed_import_slices_import_id_number_pk" PRIMARY KEY("import_id","number")
);
--> statement-breakpoint
CREATE TABLE "seed_imports" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"state" text NOT NULL,
	"created_by_user_id" uuid,
	"created_at" timestamp (3) with time zone NOT NULL,
	"finished_at" timestamp (3) with time zone,
	"content" text,
	"mapping" jsonb,
	"total" integer DEFAULT 0 NOT NULL,
	"done" integer DEFAULT 0 NOT NULL,
	"faulty_count" integer DEFAULT 0 NOT NULL,
	"faults" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"undone_by_user_id" uuid,
	"kept_count" integer,
	"removed_count" integer
);
--> statement-breakpoint
ALTER TABLE "seed_import_slices" ADD CONSTRAINT "seed_import_slices_import_id_seed_imports_id_fk" FOREIGN KEY ("import_id") REFERENCES "public"."seed_imports"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "seed_imports" ADD CONSTRAINT "seed_imports_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "seed_imports" ADD CONSTRAINT "seed_imports_created_by_user_id_users_id_fk" FOREIGN KEY ("created_by_user_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "seed_imports" ADD CONSTRAINT "seed_imports_undone_by_user_id_users_id_fk" FOREIGN KEY ("undone_by_user_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "seed_imports_by_workspace_idx" ON "seed_imports" USING btree ("workspace_id","created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "seed_imports_in_progress_key" ON "seed_imports" USING btree ("workspace_id") WHERE "seed_imports"."state" in ('running', 'undoing');--> statement-breakpoint
CREATE INDEX "seed_imports_age_idx" ON "seed_imports" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "seed_imports_creator_idx" ON "seed_imports" USING btree ("created_by_user_id") WHERE "seed_imports"."created_by_user_id" is not null;--> statement-breakpoint
CREATE INDEX "seed_imports_undoer_idx" ON "seed_imports" USING btree ("undone_by_user_id") WHERE "seed_imports"."undone_by_user_id" is not null;