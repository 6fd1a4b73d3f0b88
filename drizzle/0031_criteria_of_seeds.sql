-- The success criteria with ids and states. Two migrations, so that no long work happens under the lock of a table that is
-- read: what takes a moment, then the rows of before and the indexes.
ALTER TABLE "evidence" ADD COLUMN "criterion_ids" uuid[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "seeds" ADD COLUMN "criteria" jsonb DEFAULT '[]'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "seeds" ADD COLUMN "reminded_for" date;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "notify_decisions" text DEFAULT 'mail' NOT NULL;--> statement-breakpoint
-- The criteria with these texts, in their order: those of before keep their ids and states, of the same text one after the
-- other. The id of a new one is a UUIDv7, as all ids of the service are.
CREATE FUNCTION criteria_of(texts text[], before jsonb) RETURNS jsonb LANGUAGE sql VOLATILE AS $$
  SELECT coalesce(jsonb_agg(jsonb_build_object(
    'id', coalesce(kept.id, encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
      placing substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3) FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid::text),
    'text', given.text,
    'state', coalesce(kept.state, 'open')
  ) ORDER BY given.place), '[]')
  FROM (
    SELECT body AS text, place, row_number() OVER (PARTITION BY body ORDER BY place) AS nth
    FROM unnest(texts) WITH ORDINALITY AS listed(body, place)
  ) AS given
  LEFT JOIN (
    SELECT item ->> 'id' AS id, item ->> 'text' AS text, item ->> 'state' AS state,
      row_number() OVER (PARTITION BY item ->> 'text' ORDER BY place) AS nth
    FROM jsonb_array_elements(before) WITH ORDINALITY AS listed(item, place)
  ) AS kept ON kept.text = given.text AND kept.nth = given.nth
$$;--> statement-breakpoint
-- The version before writes the texts alone.
CREATE FUNCTION keep_criteria() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.success_criteria <> ARRAY(
    SELECT item ->> 'text' FROM jsonb_array_elements(NEW.criteria) WITH ORDINALITY AS listed(item, place) ORDER BY place
  ) THEN
    NEW.criteria := criteria_of(NEW.success_criteria, NEW.criteria);
  END IF;
  RETURN NEW;
END
$$;--> statement-breakpoint
CREATE TRIGGER keep_criteria BEFORE INSERT OR UPDATE OF success_criteria, criteria ON seeds
  FOR EACH ROW EXECUTE FUNCTION keep_criteria();--> statement-breakpoint
-- Evidence speaks to criteria that its seed has. The row of the seed is locked, as for all changes of its evidence.
CREATE FUNCTION forget_criteria() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  kept uuid[] := ARRAY(SELECT (item ->> 'id')::uuid FROM jsonb_array_elements(NEW.criteria) AS item);
BEGIN
  UPDATE evidence SET criterion_ids = ARRAY(
    SELECT id FROM unnest(criterion_ids) WITH ORDINALITY AS listed(id, place) WHERE id = ANY (kept) ORDER BY place
  ) WHERE seed_id = NEW.id AND NOT criterion_ids <@ kept;
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER forget_criteria AFTER UPDATE OF success_criteria, criteria ON seeds FOR EACH ROW
  WHEN (OLD.criteria <> NEW.criteria AND OLD.criteria <> '[]') EXECUTE FUNCTION forget_criteria();
