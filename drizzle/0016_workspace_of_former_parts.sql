-- Evidence first, as changes lock them. Only changes of these rows wait, and nothing that is new.
UPDATE evidence SET workspace_id = seeds.workspace_id FROM seeds
WHERE seeds.id = evidence.seed_id AND evidence.workspace_id IS NULL;--> statement-breakpoint
UPDATE comments SET workspace_id = seeds.workspace_id FROM seeds
WHERE seeds.id = comments.seed_id AND comments.workspace_id IS NULL;
