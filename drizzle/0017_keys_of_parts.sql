-- The locks first, before the work.
LOCK TABLE seeds, evidence, comments IN ACCESS EXCLUSIVE MODE;--> statement-breakpoint
ALTER TABLE "evidence" ALTER COLUMN "workspace_id" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "comments" ALTER COLUMN "workspace_id" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "seeds" ADD CONSTRAINT "seeds_of_workspace_key" UNIQUE("workspace_id","id");--> statement-breakpoint
ALTER TABLE "evidence" DROP CONSTRAINT "evidence_seed_id_seeds_id_fk";--> statement-breakpoint
ALTER TABLE "comments" DROP CONSTRAINT "comments_seed_id_seeds_id_fk";--> statement-breakpoint
ALTER TABLE "evidence" ADD CONSTRAINT "evidence_seed_fk" FOREIGN KEY ("workspace_id","seed_id") REFERENCES "public"."seeds"("workspace_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "comments" ADD CONSTRAINT "comments_seed_fk" FOREIGN KEY ("workspace_id","seed_id") REFERENCES "public"."seeds"("workspace_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "comments_by_workspace_idx" ON "comments" USING btree ("workspace_id","created_at","id");--> statement-breakpoint
CREATE INDEX "comments_of_agents_idx" ON "comments" USING btree ("workspace_id","created_at","id") WHERE "comments"."agent_name" is not null;--> statement-breakpoint
CREATE INDEX "comments_edited_idx" ON "comments" USING btree ("workspace_id","edited_at") WHERE "comments"."edited_at" is not null;
