ALTER TABLE "agent_requests" ADD COLUMN "is_untold" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "agent_requests_untold_idx" ON "agent_requests" USING btree ("id") WHERE "agent_requests"."is_untold";--> statement-breakpoint
-- As before, and what is cancelled gets its event by a job: a trigger cannot append one.
CREATE OR REPLACE FUNCTION cancel_requests_of_grant() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE agent_requests SET state = 'cancelled', is_untold = true
  WHERE grant_id = OLD.id AND state = 'waiting'
    AND (TG_OP = 'DELETE' OR NEW.revoked_at IS NOT NULL OR asked_by_user_id IS DISTINCT FROM OLD.user_id);
  IF FOUND THEN PERFORM graphile_worker.add_job('tell_cancelled_requests'); END IF;
  RETURN NULL;
END
$$;--> statement-breakpoint
-- As before, and what a person asked who may not ask any more, or what waits for the agents of one for whom they may not answer.
CREATE OR REPLACE FUNCTION cancel_requests_of_asker() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE agent_requests SET state = 'cancelled', is_untold = true
  WHERE workspace_id = OLD.workspace_id AND state = 'waiting'
    AND (asked_by_user_id = OLD.user_id OR TG_OP = 'UPDATE' AND for_user_id = OLD.user_id);
  IF FOUND THEN PERFORM graphile_worker.add_job('tell_cancelled_requests'); END IF;
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER requests_of_viewer AFTER UPDATE OF role ON memberships FOR EACH ROW
  WHEN (NEW.role = 'viewer' AND OLD.role <> 'viewer') EXECUTE FUNCTION cancel_requests_of_asker();
