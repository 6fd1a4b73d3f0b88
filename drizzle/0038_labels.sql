-- Before all else: reads of seeds wait for the new columns, for a moment.
LOCK TABLE seeds IN ACCESS EXCLUSIVE MODE;--> statement-breakpoint
CREATE TABLE "labels" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "seeds" ADD COLUMN "team_id" uuid;--> statement-breakpoint
ALTER TABLE "seeds" ADD COLUMN "label_ids" uuid[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "labels" ADD CONSTRAINT "labels_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "labels_name_key" ON "labels" USING btree ("workspace_id",lower("name"));--> statement-breakpoint
CREATE INDEX "labels_by_workspace_idx" ON "labels" USING btree ("workspace_id","created_at","id");--> statement-breakpoint
CREATE INDEX "seeds_by_team_idx" ON "seeds" USING btree ("workspace_id","team_id") WHERE "seeds"."team_id" is not null;