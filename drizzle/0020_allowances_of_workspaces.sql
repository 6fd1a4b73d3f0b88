CREATE TABLE "workspace_allowances" (
	"workspace_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"action" text NOT NULL,
	"allowed_until" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "workspace_allowances_workspace_id_user_id_action_pk" PRIMARY KEY("workspace_id","user_id","action")
);
--> statement-breakpoint
ALTER TABLE "workspace_allowances" ADD CONSTRAINT "workspace_allowances_membership_fk" FOREIGN KEY ("workspace_id","user_id") REFERENCES "public"."memberships"("workspace_id","user_id") ON DELETE cascade ON UPDATE no action;