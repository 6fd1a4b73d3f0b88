-- Rows of two workspaces cannot refer to each other. Four migrations, so that no long work happens under the lock of a table
-- that is read: a column, which takes a moment; rows and indexes; the keys, for a moment; the rows of before are checked.
ALTER TABLE "invite_teams" ADD COLUMN "workspace_id" uuid;--> statement-breakpoint
-- For the version before, which does not know the column.
CREATE FUNCTION give_workspace_of_invite() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.workspace_id := (SELECT workspace_id FROM invites WHERE id = NEW.invite_id);
  RETURN NEW;
END
$$;--> statement-breakpoint
CREATE TRIGGER workspace_of_invite BEFORE INSERT ON invite_teams FOR EACH ROW WHEN (NEW.workspace_id IS NULL)
  EXECUTE FUNCTION give_workspace_of_invite();
