-- Beside reads and changes, which go on.
ALTER TABLE "agent_requests" VALIDATE CONSTRAINT "agent_requests_comment_fk";--> statement-breakpoint
ALTER TABLE "agent_requests" VALIDATE CONSTRAINT "agent_requests_answer_fk";--> statement-breakpoint
ALTER TABLE "attachments" VALIDATE CONSTRAINT "attachments_evidence_fk";--> statement-breakpoint
ALTER TABLE "attachments" VALIDATE CONSTRAINT "attachments_comment_fk";--> statement-breakpoint
ALTER TABLE "comments" VALIDATE CONSTRAINT "comments_evidence_fk";--> statement-breakpoint
ALTER TABLE "invite_teams" VALIDATE CONSTRAINT "invite_teams_invite_fk";--> statement-breakpoint
ALTER TABLE "invite_teams" VALIDATE CONSTRAINT "invite_teams_team_fk";--> statement-breakpoint
ALTER TABLE "notifications" VALIDATE CONSTRAINT "notifications_seed_fk";--> statement-breakpoint
ALTER TABLE "notifications" VALIDATE CONSTRAINT "notifications_comment_fk";--> statement-breakpoint
ALTER TABLE "evidence_seen" VALIDATE CONSTRAINT "evidence_seen_evidence_fk";--> statement-breakpoint
ALTER TABLE "seed_followers" VALIDATE CONSTRAINT "seed_followers_seed_fk";--> statement-breakpoint
ALTER TABLE "seed_participants" VALIDATE CONSTRAINT "seed_participants_seed_fk";--> statement-breakpoint
ALTER TABLE "seeds" VALIDATE CONSTRAINT "seeds_merged_into_fk";--> statement-breakpoint
ALTER TABLE "team_members" VALIDATE CONSTRAINT "team_members_team_fk";
