CREATE TABLE "departures" (
	"workspace_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "departures_workspace_id_user_id_pk" PRIMARY KEY("workspace_id","user_id")
);
--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "first_signed_in_at" timestamp (3) with time zone DEFAULT now();--> statement-breakpoint
-- Whoever is here has been here before. The default of the moment needs no rewriting of the table; later rows have none.
ALTER TABLE "users" ALTER COLUMN "first_signed_in_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "departures" ADD CONSTRAINT "departures_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "departures" ADD CONSTRAINT "departures_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "departures_user_id_idx" ON "departures" USING btree ("user_id");