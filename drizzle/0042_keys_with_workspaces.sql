-- The locks first, before the work. Changes wait for the indexes, and reads do not.
LOCK TABLE evidence, comments, invites, teams IN SHARE MODE;--> statement-breakpoint
-- Of a team of another workspace nobody was ever told, and nobody joined it.
DELETE FROM invite_teams USING invites, teams
WHERE invites.id = invite_teams.invite_id AND teams.id = invite_teams.team_id AND teams.workspace_id <> invites.workspace_id;--> statement-breakpoint
UPDATE invite_teams SET workspace_id = invites.workspace_id FROM invites
WHERE invites.id = invite_teams.invite_id AND invite_teams.workspace_id IS NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "evidence_of_workspace_key" ON "evidence" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "comments_of_workspace_key" ON "comments" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "invites_of_workspace_key" ON "invites" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "teams_of_workspace_key" ON "teams" USING btree ("workspace_id","id");
