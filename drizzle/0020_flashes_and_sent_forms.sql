CREATE TABLE "flashes" (
	"id_hash" "bytea" PRIMARY KEY NOT NULL,
	"session_id" uuid NOT NULL,
	"sealed" "bytea" NOT NULL,
	"is_once" boolean NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sent_forms" (
	"form_hash" "bytea" PRIMARY KEY NOT NULL,
	"session_id" uuid NOT NULL,
	"location" text,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "flashes" ADD CONSTRAINT "flashes_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sent_forms" ADD CONSTRAINT "sent_forms_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "flashes_session_id_idx" ON "flashes" USING btree ("session_id");--> statement-breakpoint
CREATE INDEX "flashes_expires_at_idx" ON "flashes" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "sent_forms_session_id_idx" ON "sent_forms" USING btree ("session_id");--> statement-breakpoint
CREATE INDEX "sent_forms_expires_at_idx" ON "sent_forms" USING btree ("expires_at");