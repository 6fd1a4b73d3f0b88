-- In one order, before all else: reads of seeds wait for the new columns, for a moment.
LOCK TABLE seeds IN ACCESS EXCLUSIVE MODE;--> statement-breakpoint
LOCK TABLE evidence, comments, seed_participants IN SHARE ROW EXCLUSIVE MODE;--> statement-breakpoint
CREATE TABLE "seed_moves" (
	"seed_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"part_id" uuid NOT NULL,
	"criterion_ids" uuid[],
	CONSTRAINT "seed_moves_seed_id_kind_part_id_pk" PRIMARY KEY("seed_id","kind","part_id")
);--> statement-breakpoint
ALTER TABLE "seeds" ADD COLUMN "merged_into_seed_id" uuid;--> statement-breakpoint
ALTER TABLE "seeds" ADD COLUMN "merged_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "seeds" ADD COLUMN "merged_by_user_id" uuid;--> statement-breakpoint
ALTER TABLE "seed_moves" ADD CONSTRAINT "seed_moves_seed_id_seeds_id_fk" FOREIGN KEY ("seed_id") REFERENCES "public"."seeds"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "seeds" ADD CONSTRAINT "seeds_merged_into_seed_id_seeds_id_fk" FOREIGN KEY ("merged_into_seed_id") REFERENCES "public"."seeds"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "seeds" ADD CONSTRAINT "seeds_merged_by_user_id_users_id_fk" FOREIGN KEY ("merged_by_user_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "seeds_merged_into_idx" ON "seeds" USING btree ("merged_into_seed_id","merged_at") WHERE "seeds"."merged_into_seed_id" is not null;--> statement-breakpoint
CREATE INDEX "seeds_merged_by_idx" ON "seeds" USING btree ("merged_by_user_id") WHERE "seeds"."merged_by_user_id" is not null;--> statement-breakpoint
-- Keep the numbers and times of both seeds when evidence, comments or participants move to another seed, all of a statement in
-- one direction. Of other updates, as many rows of a seed come as go, and nothing is counted here. Both seeds were locked before.
-- One update for each statement: by row, each would add a version of the row of the seed.
CREATE FUNCTION count_moved_evidence() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE seeds SET supports_count = supports_count + counted.supports,
    contradicts_count = contradicts_count + counted.contradicts, neutral_count = neutral_count + counted.neutral,
    last_evidence_at = (SELECT max(created_at) FROM evidence WHERE seed_id = seeds.id AND withdrawn_at IS NULL),
    activity_at = greatest(activity_at, now())
  FROM (
    SELECT seed_id, coalesce(sum(sign) FILTER (WHERE verdict = 'supports' AND withdrawn_at IS NULL), 0) AS supports,
      coalesce(sum(sign) FILTER (WHERE verdict = 'contradicts' AND withdrawn_at IS NULL), 0) AS contradicts,
      coalesce(sum(sign) FILTER (WHERE verdict = 'neutral' AND withdrawn_at IS NULL), 0) AS neutral
    FROM (
      SELECT seed_id, verdict, withdrawn_at, -1 AS sign FROM former
      UNION ALL SELECT seed_id, verdict, withdrawn_at, 1 FROM changed
    ) AS placed GROUP BY seed_id HAVING sum(sign) <> 0
  ) AS counted WHERE seeds.id = counted.seed_id;
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER count_evidence_moved AFTER UPDATE ON evidence REFERENCING OLD TABLE AS former NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_moved_evidence();--> statement-breakpoint
CREATE FUNCTION count_moved_comments() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE seeds SET comment_count = comment_count + counted.n,
    last_comment_at = (SELECT max(created_at) FROM comments WHERE seed_id = seeds.id),
    activity_at = greatest(activity_at, now())
  FROM (
    SELECT seed_id, sum(sign) AS n
    FROM (SELECT seed_id, -1 AS sign FROM former UNION ALL SELECT seed_id, 1 FROM changed) AS placed
    GROUP BY seed_id HAVING sum(sign) <> 0
  ) AS counted WHERE seeds.id = counted.seed_id;
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER count_comments_moved AFTER UPDATE ON comments REFERENCING OLD TABLE AS former NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_moved_comments();--> statement-breakpoint
CREATE FUNCTION count_moved_participants() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE seeds SET participant_count = participant_count + counted.n, activity_at = greatest(activity_at, now())
  FROM (
    SELECT seed_id, sum(sign) AS n
    FROM (SELECT seed_id, -1 AS sign FROM former UNION ALL SELECT seed_id, 1 FROM changed) AS placed
    GROUP BY seed_id HAVING sum(sign) <> 0
  ) AS counted WHERE seeds.id = counted.seed_id;
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER count_participants_moved AFTER UPDATE ON seed_participants REFERENCING OLD TABLE AS former NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_moved_participants();--> statement-breakpoint
-- Of what moves between a seed that is found and one that is not. Otherwise its words are not made again.
CREATE FUNCTION search_follow_move() RETURNS trigger LANGUAGE plpgsql
SET enable_seqscan = off SET enable_mergejoin = off SET enable_hashjoin = off AS $$
BEGIN
  DELETE FROM search_entries WHERE id IN (
    SELECT changed.id FROM changed JOIN seeds ON seeds.id = changed.seed_id WHERE seeds.deleted_at IS NOT NULL
  );
  INSERT INTO search_entries (workspace_id, kind, id, at, words)
  SELECT found.workspace_id, found.kind, found.id, found.at, search_keys(found.workspace_id, found.kind, found.title, found.body)
  FROM changed, LATERAL (SELECT * FROM search_sources WHERE kind = TG_ARGV[0] AND search_sources.id = changed.id OFFSET 0) AS found
  WHERE NOT EXISTS (SELECT FROM search_entries WHERE search_entries.id = changed.id)
  ON CONFLICT (id, workspace_id) DO NOTHING;
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER search_follow_move AFTER UPDATE ON evidence REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION search_follow_move('evidence');--> statement-breakpoint
CREATE TRIGGER search_follow_move AFTER UPDATE ON comments REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION search_follow_move('comment');
