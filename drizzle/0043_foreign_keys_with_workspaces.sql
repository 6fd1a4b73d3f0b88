-- The locks first: reads wait for a moment.
LOCK TABLE seeds, evidence, comments, invites, teams, agent_requests, attachments, evidence_seen, invite_teams, notifications, seed_followers, seed_participants, team_members
  IN ACCESS EXCLUSIVE MODE;--> statement-breakpoint
ALTER TABLE "invite_teams" ALTER COLUMN "workspace_id" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "evidence" ADD CONSTRAINT "evidence_of_workspace_key" UNIQUE USING INDEX "evidence_of_workspace_key";--> statement-breakpoint
ALTER TABLE "comments" ADD CONSTRAINT "comments_of_workspace_key" UNIQUE USING INDEX "comments_of_workspace_key";--> statement-breakpoint
ALTER TABLE "invites" ADD CONSTRAINT "invites_of_workspace_key" UNIQUE USING INDEX "invites_of_workspace_key";--> statement-breakpoint
ALTER TABLE "teams" ADD CONSTRAINT "teams_of_workspace_key" UNIQUE USING INDEX "teams_of_workspace_key";--> statement-breakpoint
ALTER TABLE "agent_requests" DROP CONSTRAINT "agent_requests_comment_id_comments_id_fk";--> statement-breakpoint
ALTER TABLE "agent_requests" DROP CONSTRAINT "agent_requests_answer_comment_id_comments_id_fk";--> statement-breakpoint
ALTER TABLE "attachments" DROP CONSTRAINT "attachments_evidence_id_evidence_id_fk";--> statement-breakpoint
ALTER TABLE "attachments" DROP CONSTRAINT "attachments_comment_id_comments_id_fk";--> statement-breakpoint
ALTER TABLE "comments" DROP CONSTRAINT "comments_evidence_id_evidence_id_fk";--> statement-breakpoint
ALTER TABLE "invite_teams" DROP CONSTRAINT "invite_teams_invite_id_invites_id_fk";--> statement-breakpoint
ALTER TABLE "invite_teams" DROP CONSTRAINT "invite_teams_team_id_teams_id_fk";--> statement-breakpoint
ALTER TABLE "notifications" DROP CONSTRAINT "notifications_seed_id_seeds_id_fk";--> statement-breakpoint
ALTER TABLE "notifications" DROP CONSTRAINT "notifications_comment_id_comments_id_fk";--> statement-breakpoint
ALTER TABLE "evidence_seen" DROP CONSTRAINT "evidence_seen_evidence_id_evidence_id_fk";--> statement-breakpoint
ALTER TABLE "seed_followers" DROP CONSTRAINT "seed_followers_seed_id_seeds_id_fk";--> statement-breakpoint
ALTER TABLE "seed_participants" DROP CONSTRAINT "seed_participants_seed_id_seeds_id_fk";--> statement-breakpoint
ALTER TABLE "seeds" DROP CONSTRAINT "seeds_merged_into_seed_id_seeds_id_fk";--> statement-breakpoint
ALTER TABLE "team_members" DROP CONSTRAINT "team_members_team_id_teams_id_fk";--> statement-breakpoint
ALTER TABLE "agent_requests" ADD CONSTRAINT "agent_requests_comment_fk" FOREIGN KEY ("workspace_id","comment_id") REFERENCES "public"."comments"("workspace_id","id") ON DELETE cascade ON UPDATE no action NOT VALID;--> statement-breakpoint
ALTER TABLE "agent_requests" ADD CONSTRAINT "agent_requests_answer_fk" FOREIGN KEY ("workspace_id","answer_comment_id") REFERENCES "public"."comments"("workspace_id","id") ON DELETE set null ("answer_comment_id") ON UPDATE no action NOT VALID;--> statement-breakpoint
ALTER TABLE "attachments" ADD CONSTRAINT "attachments_evidence_fk" FOREIGN KEY ("workspace_id","evidence_id") REFERENCES "public"."evidence"("workspace_id","id") ON DELETE cascade ON UPDATE no action NOT VALID;--> statement-breakpoint
ALTER TABLE "attachments" ADD CONSTRAINT "attachments_comment_fk" FOREIGN KEY ("workspace_id","comment_id") REFERENCES "public"."comments"("workspace_id","id") ON DELETE cascade ON UPDATE no action NOT VALID;--> statement-breakpoint
ALTER TABLE "comments" ADD CONSTRAINT "comments_evidence_fk" FOREIGN KEY ("workspace_id","evidence_id") REFERENCES "public"."evidence"("workspace_id","id") ON DELETE cascade ON UPDATE no action NOT VALID;--> statement-breakpoint
ALTER TABLE "invite_teams" ADD CONSTRAINT "invite_teams_invite_fk" FOREIGN KEY ("workspace_id","invite_id") REFERENCES "public"."invites"("workspace_id","id") ON DELETE cascade ON UPDATE no action NOT VALID;--> statement-breakpoint
ALTER TABLE "invite_teams" ADD CONSTRAINT "invite_teams_team_fk" FOREIGN KEY ("workspace_id","team_id") REFERENCES "public"."teams"("workspace_id","id") ON DELETE cascade ON UPDATE no action NOT VALID;--> statement-breakpoint
ALTER TABLE "notifications" ADD CONSTRAINT "notifications_seed_fk" FOREIGN KEY ("workspace_id","seed_id") REFERENCES "public"."seeds"("workspace_id","id") ON DELETE cascade ON UPDATE no action NOT VALID;--> statement-breakpoint
ALTER TABLE "notifications" ADD CONSTRAINT "notifications_comment_fk" FOREIGN KEY ("workspace_id","comment_id") REFERENCES "public"."comments"("workspace_id","id") ON DELETE cascade ON UPDATE no action NOT VALID;--> statement-breakpoint
ALTER TABLE "evidence_seen" ADD CONSTRAINT "evidence_seen_evidence_fk" FOREIGN KEY ("workspace_id","evidence_id") REFERENCES "public"."evidence"("workspace_id","id") ON DELETE cascade ON UPDATE no action NOT VALID;--> statement-breakpoint
ALTER TABLE "seed_followers" ADD CONSTRAINT "seed_followers_seed_fk" FOREIGN KEY ("workspace_id","seed_id") REFERENCES "public"."seeds"("workspace_id","id") ON DELETE cascade ON UPDATE no action NOT VALID;--> statement-breakpoint
ALTER TABLE "seed_participants" ADD CONSTRAINT "seed_participants_seed_fk" FOREIGN KEY ("workspace_id","seed_id") REFERENCES "public"."seeds"("workspace_id","id") ON DELETE cascade ON UPDATE no action NOT VALID;--> statement-breakpoint
ALTER TABLE "seeds" ADD CONSTRAINT "seeds_merged_into_fk" FOREIGN KEY ("workspace_id","merged_into_seed_id") REFERENCES "public"."seeds"("workspace_id","id") ON DELETE cascade ON UPDATE no action NOT VALID;--> statement-breakpoint
ALTER TABLE "team_members" ADD CONSTRAINT "team_members_team_fk" FOREIGN KEY ("workspace_id","team_id") REFERENCES "public"."teams"("workspace_id","id") ON DELETE cascade ON UPDATE no action NOT VALID;
