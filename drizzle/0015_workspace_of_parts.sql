-- The workspace of evidence and comments, which was that of their seed alone. Three migrations, so that no long work happens
-- under the lock of a table that is read: the columns, which take a moment; the rows of before; keys and indexes.
ALTER TABLE "evidence" ADD COLUMN "workspace_id" uuid;--> statement-breakpoint
ALTER TABLE "comments" ADD COLUMN "workspace_id" uuid;--> statement-breakpoint
-- For the version before, which does not know the columns.
CREATE FUNCTION give_workspace_of_seed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.workspace_id := (SELECT workspace_id FROM seeds WHERE id = NEW.seed_id);
  RETURN NEW;
END
$$;--> statement-breakpoint
CREATE TRIGGER workspace_of_seed BEFORE INSERT ON evidence FOR EACH ROW WHEN (NEW.workspace_id IS NULL)
  EXECUTE FUNCTION give_workspace_of_seed();--> statement-breakpoint
CREATE TRIGGER workspace_of_seed BEFORE INSERT ON comments FOR EACH ROW WHEN (NEW.workspace_id IS NULL)
  EXECUTE FUNCTION give_workspace_of_seed();
