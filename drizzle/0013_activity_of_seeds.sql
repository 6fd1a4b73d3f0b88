-- Reads go on; changes of these tables wait, so that what is counted here is not changed meanwhile.
LOCK TABLE seeds, evidence, comments, seed_participants IN SHARE ROW EXCLUSIVE MODE;--> statement-breakpoint
UPDATE seeds SET participant_count = counted.participants, last_evidence_at = counted.evidence_at, last_comment_at = counted.comment_at,
  activity_at = greatest(activity_at, updated_at, counted.joined_at, counted.evidence_at, counted.comment_at)
FROM (
  SELECT seeds.id, coalesce(joined.n, 0) AS participants, joined.newest AS joined_at, found.newest AS evidence_at, written.newest AS comment_at
  FROM seeds
    LEFT JOIN (SELECT seed_id, count(*) AS n, max(joined_at) AS newest FROM seed_participants GROUP BY seed_id) AS joined
      ON joined.seed_id = seeds.id
    LEFT JOIN (SELECT seed_id, max(created_at) AS newest FROM evidence WHERE withdrawn_at IS NULL GROUP BY seed_id) AS found
      ON found.seed_id = seeds.id
    LEFT JOIN (SELECT seed_id, max(created_at) AS newest FROM comments GROUP BY seed_id) AS written ON written.seed_id = seeds.id
) AS counted WHERE counted.id = seeds.id;--> statement-breakpoint
CREATE INDEX "seeds_by_activity_idx" ON "seeds" USING btree ("workspace_id","activity_at","id");--> statement-breakpoint
ALTER TABLE "seeds" ALTER COLUMN "activity_at" SET NOT NULL;
