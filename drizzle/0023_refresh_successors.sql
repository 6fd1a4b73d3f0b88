DROP INDEX "oauth_records_grant_id_idx";--> statement-breakpoint
ALTER TABLE "oauth_records" ADD COLUMN "generation" integer;--> statement-breakpoint
ALTER TABLE "oauth_records" ADD COLUMN "sealed_successor" "bytea";--> statement-breakpoint
CREATE INDEX "oauth_records_grant_id_generation_idx" ON "oauth_records" USING btree ("grant_id","generation");