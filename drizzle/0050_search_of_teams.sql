-- The words of a team are those of its row. The statement of search_follow reads search_sources, so that a team waited for a
-- lock of the table of seeds.
CREATE FUNCTION search_follow_team() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    DELETE FROM search_entries WHERE id = OLD.id;
    RETURN NULL;
  END IF;
  INSERT INTO search_entries (workspace_id, kind, id, at, words)
  VALUES (NEW.workspace_id, 'team', NEW.id, NEW.created_at, search_keys(NEW.workspace_id, 'team', NEW.name, ''))
  ON CONFLICT (id, workspace_id) DO UPDATE SET at = excluded.at, words = excluded.words
  WHERE search_entries.words <> excluded.words OR search_entries.at <> excluded.at;
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE OR REPLACE TRIGGER search_follow AFTER INSERT OR DELETE OR UPDATE OF name
  ON teams FOR EACH ROW EXECUTE FUNCTION search_follow_team();
