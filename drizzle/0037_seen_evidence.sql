-- In one order, before all else: reads of evidence wait for the new column, for a moment.
LOCK TABLE memberships IN SHARE ROW EXCLUSIVE MODE;--> statement-breakpoint
LOCK TABLE evidence IN ACCESS EXCLUSIVE MODE;--> statement-breakpoint
CREATE TABLE "evidence_seen" (
	"evidence_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"workspace_id" uuid NOT NULL,
	"seen_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "evidence_seen_evidence_id_user_id_pk" PRIMARY KEY("evidence_id","user_id")
);
--> statement-breakpoint
ALTER TABLE "evidence" ADD COLUMN "seen_by_count" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "evidence_seen" ADD CONSTRAINT "evidence_seen_evidence_id_evidence_id_fk" FOREIGN KEY ("evidence_id") REFERENCES "public"."evidence"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "evidence_seen" ADD CONSTRAINT "evidence_seen_membership_fk" FOREIGN KEY ("workspace_id","user_id") REFERENCES "public"."memberships"("workspace_id","user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "evidence_seen_membership_idx" ON "evidence_seen" USING btree ("workspace_id","user_id");--> statement-breakpoint
-- Keeps `seen_by_count`. One update for each statement, which locks the evidence in one order: who is removed may have seen much.
CREATE FUNCTION count_evidence_seen() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
  PERFORM FROM evidence WHERE id IN (SELECT evidence_id FROM changed) ORDER BY id FOR NO KEY UPDATE;
  UPDATE evidence SET seen_by_count = seen_by_count + sign * counted.n
  FROM (SELECT evidence_id, count(*) AS n FROM changed GROUP BY evidence_id) AS counted
  WHERE evidence.id = counted.evidence_id;
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER count_evidence_seen_added AFTER INSERT ON evidence_seen REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_evidence_seen();--> statement-breakpoint
CREATE TRIGGER count_evidence_seen_deleted AFTER DELETE ON evidence_seen REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_evidence_seen();
