-- Reads go on; changes of seeds wait.
LOCK TABLE seeds IN SHARE ROW EXCLUSIVE MODE;--> statement-breakpoint
UPDATE seeds SET criteria = criteria_of(success_criteria, '[]') WHERE success_criteria <> '{}' AND criteria = '[]';--> statement-breakpoint
CREATE INDEX "seeds_reminders_idx" ON "seeds" USING btree ("decide_by","id") WHERE "seeds"."decide_by" is distinct from "seeds"."reminded_for";--> statement-breakpoint
CREATE INDEX "seeds_silent_idx" ON "seeds" USING btree ("workspace_id",coalesce("last_evidence_at", "created_at")) WHERE "seeds"."status" not in ('validated', 'dropped');
